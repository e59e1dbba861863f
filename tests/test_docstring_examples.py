"""Every public name has an example in its docstring, and all of them run."""

from __future__ import annotations

import doctest
import inspect

import pytest

import rff_engine

PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (rff_engine, rff_engine.bounds, rff_engine.losses)
    for name in module.__all__
    if callable(getattr(module, name))
}


def test_names_of_every_module_are_found():
    assert {"rff_engine.alignment_loss", "rff_engine.bounds.test_set", "rff_engine.losses.hinge"} <= set(PUBLIC)
    assert not any(inspect.ismodule(value) for value in PUBLIC.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLIC)
def test_example_of_the_docstring_runs(name):
    (example,) = doctest.DocTestFinder(recurse=False).find(PUBLIC[name], name, globs={})
    assert example.examples, f"the docstring of {name} has no example"
    printed = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(example, out=printed.append).failed == 0, "".join(printed)
