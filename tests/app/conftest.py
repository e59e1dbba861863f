"""Fixtures of the app's tests: their own store of results, and the main module."""

import shutil
import sys

import pytest

from pages.shared import browser, deferred


@pytest.fixture(autouse=True)
def main_module():
    """Restore `__main__`, which Streamlit replaces by the page; spawned processes would run the page."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session", autouse=True)
def whole_pages():
    """Pages with all their parts: nobody scrolls or unfolds here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deferred, "waits", False)
        patch.setattr(browser, "interactive", False)
        yield


@pytest.fixture(scope="session", autouse=True)
def store(request, tmp_path_factory):
    """Their own store, with the run of the first page if any of them is slow: the quick ones open no page."""
    file = tmp_path_factory.mktemp("store") / "results.sqlite"
    if any(item.get_closest_marker("slow") for item in request.session.items):
        shutil.copy(request.getfixturevalue("swept_store"), file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RFF_STORE", f"sqlite:///{file}")
        yield
