"""The app's tests keep results in a store of their own, not in the user's."""

import sys

import pytest


@pytest.fixture(autouse=True)
def main_module():
    """Streamlit puts the page's script in the place of `__main__`; processes that are spawned later would run it."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session", autouse=True)
def store(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RFF_STORE", f"sqlite:///{tmp_path_factory.mktemp('store') / 'results.sqlite'}")
        yield
