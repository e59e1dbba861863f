"""Limits of a public server, each of which a variable sets."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import pytest

from pages.shared.server import limits
from pages.shared.server.limits import ServerLimits

from .sessions import ROOT, logged


@pytest.fixture
def log():
    with logged(limits._log, "%(message)s") as lines:
        yield lines


@pytest.mark.parametrize("one", fields(ServerLimits), ids=lambda one: one.name)
def test_a_variable_sets_its_limit_within_its_range_only(one, log):
    variable, low, high = (one.metadata[name] for name in ("variable", "low", "high"))
    for value in (low, one.default, high):
        assert ServerLimits.from_environment({variable: str(value)}) == replace(ServerLimits(), **{one.name: value})
    assert not log
    bad = [str(low - 1), f"{high:g}1", "", "many", "2.5", "nan", "inf", "-inf", "2 runs"]
    for text in bad:
        assert ServerLimits.from_environment({variable: text}) == ServerLimits()
    assert len(log) == len(bad)
    for text, line in zip(bad, log, strict=True):
        assert line.startswith(f"{variable} is {text!r}; ") and f" {low} to {high}." in line
        assert f"{one.default}, is used." in line and "\n" not in line


def test_an_invalid_variable_leaves_the_others():
    known = ServerLimits.from_environment({"RFF_MAX_COSINES": "3e9", "RFF_CACHE_MB": "lots", "HOME": "7"})
    assert known == replace(ServerLimits(), cosines=3_000_000_000)


def test_the_readme_has_every_variable_with_its_default():
    readme = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    for one in fields(ServerLimits):
        default = "the cores" if one.name in ("scripts", "workers") else one.default
        row = rf"^\| `{one.metadata['variable']}` \| .* \| {default} \|$"
        assert re.search(row, readme, re.MULTILINE), one.name
