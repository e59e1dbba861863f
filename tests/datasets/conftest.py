"""Fixtures for the data sets: real data if available, and an empty cache."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import datasets
from datasets import Dataset


@pytest.fixture(scope="session")
def need_data() -> Callable[[str], str]:
    """Skip a test whose data set is missing; fail if RFF_TEST_REQUIRE contains "data"."""

    def need(name: str) -> str:
        if name in datasets.available():
            return name
        reason = f"the files of {name} are missing: set RFF_DATA, or run `python -m datasets fetch {name}`"
        if "data" in os.environ.get("RFF_TEST_REQUIRE", "").replace(",", " ").split():
            pytest.fail(reason)
        pytest.skip(reason)

    return need


@pytest.fixture(scope="session")
def load(need_data) -> Callable[[str], Dataset]:
    """Load a data set once for all tests; skip like `need_data`."""
    loaded: dict[str, Dataset] = {}

    def load_once(name: str) -> Dataset:
        if name not in loaded:
            loaded[name] = datasets.load(need_data(name))
        return loaded[name]

    return load_once


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Path of an empty cache folder, which does not exist yet; RFF_DATA is unset."""
    monkeypatch.delenv("RFF_DATA", raising=False)
    for variable in ("XDG_CACHE_HOME", "WIN_PD_OVERRIDE_LOCAL_APPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "cache"))
    return tmp_path / "cache" / "rff"
