"""Fixtures of the app's tests: their own store of results, and the main module."""

import shutil
import sys

import pytest

from pages.components import deferred
from rff_engine.figures import sheet


@pytest.fixture(autouse=True)
def main_module():
    """Restore `__main__`, which Streamlit replaces by the page; spawned processes would run the page."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session", autouse=True)
def whole_pages():
    """Pages with all their parts: nobody scrolls here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deferred, "waits", False)
        yield


@pytest.fixture(scope="session", autouse=True)
def validated_figures():
    """Figures that Plotly validates, as a server's are not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sheet, "validate", lambda validates: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def store(tmp_path_factory, swept_store):
    file = shutil.copy(swept_store, tmp_path_factory.mktemp("store") / "results.sqlite")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RFF_STORE", f"sqlite:///{file}")
        yield
