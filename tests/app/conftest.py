"""The app's tests keep results in a store of their own, not in the user's."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def store(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RFF_STORE", f"sqlite:///{tmp_path_factory.mktemp('store') / 'results.sqlite'}")
        yield
