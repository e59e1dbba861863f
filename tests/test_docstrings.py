"""Docstrings of public names: numpydoc finds nothing wrong, examples run, and the reference lists every name."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

import pytest
from numpydoc.validate import validate

import rff_engine
from rff_engine import kernels

REFERENCE = Path(__file__).parents[1] / "docs" / "reference" / "index.md"
#: What numpydoc asks for and the house does not: extended summaries, links, verbs, and capitals.
NOT_REQUIRED = {"ES01", "EX01", "PR04", "PR08", "RT03", "SA01", "SS02", "SS05"}
NAMES = [
    f"{module.__name__}.{name}"
    for module in (rff_engine, rff_engine.bounds, rff_engine.losses)
    for name in module.__all__
    if callable(getattr(module, name))
]


def value_of(name: str):
    """The object of a name such as `rff_engine.bounds.test_set`."""
    value = rff_engine
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


def with_methods(name: str):
    """The name, and those of a class's methods that are written here."""
    yield name
    if inspect.isclass(value_of(name)) and not issubclass(value_of(name), tuple):
        for method, function in inspect.getmembers(value_of(name), inspect.isfunction):
            if function.__module__.startswith("rff_engine") and (method[0] != "_" or method == "__call__"):
                yield f"{name}.{method}"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_docstring_is_valid_numpydoc(name):
    for member in with_methods(name):
        errors = {code: said for code, said in validate(member)["errors"] if code not in NOT_REQUIRED}
        if inspect.isclass(value_of(member)) and issubclass(value_of(member), tuple):
            errors.pop("PR01", None)  # its fields have docstrings of their own
        assert errors == {}, member


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_example_of_the_docstring_runs(name):
    (example,) = doctest.DocTestFinder(recurse=False).find(value_of(name), name, globs={})
    assert example.examples, f"the docstring of {name} has no example"
    printed = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(example, out=printed.append).failed == 0, "".join(printed)


def test_reference_lists_every_public_name():
    of_library, _ = REFERENCE.read_text("utf-8").split(".. currentmodule:: rff_datasets")
    listed = re.findall(r"^   ((?:\w+\.)*\w+)$", of_library, re.MULTILINE)
    own = [f"rff_engine.{name}" for name in listed if not name.startswith(("plots.", "studies."))]
    own += [f"rff_engine.{name}" for name in kernels.__all__]  # the line "kernels.*"
    own += [name for name in NAMES if name.startswith("rff_engine.bounds.")]
    assert of_library.count(".*\n") == 2 and sorted(own) == sorted(NAMES)
