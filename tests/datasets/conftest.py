"""What the tests of the data sets share: real data where they are, an empty machine where none may be."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import datasets
from datasets import Dataset


@pytest.fixture(scope="session")
def need_data() -> Callable[[str], str]:
    """Skip a test whose data set is not on this machine; fail where RFF_TEST_REQUIRE asks for "data"."""

    def need(name: str) -> str:
        if name in datasets.available():
            return name
        reason = f"the files of {name} are not here: set RFF_DATA, or run `python -m datasets fetch {name}`"
        if "data" in os.environ.get("RFF_TEST_REQUIRE", "").replace(",", " ").split():
            pytest.fail(reason)
        pytest.skip(reason)

    return need


@pytest.fixture(scope="session")
def load(need_data) -> Callable[[str], Dataset]:
    """Load a data set, once for all tests but for the largest; skip like `need_data`."""
    loaded: dict[str, Dataset] = {}

    def load_once(name: str) -> Dataset:
        if name not in loaded:
            loaded[name] = datasets.load(need_data(name))
        return loaded[name]

    return load_once


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which nothing has been fetched: the cache folder, which does not exist yet."""
    monkeypatch.delenv("RFF_DATA", raising=False)
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "cache"))
    return tmp_path / "cache" / "rff"
