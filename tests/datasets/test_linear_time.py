"""Regular expressions of the readers take linear time in the length of a cell."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
import time
from importlib import import_module
from itertools import product

import pytest

from datasets import tables

MODULES = [import_module(f"{tables.__name__}.{module.name}") for module in pkgutil.iter_modules(tables.__path__)]
PATTERNS = {
    f"{module.__name__}.{name} {place}": pattern
    for module in MODULES
    for name, value in vars(module).items()
    for place, pattern in enumerate(
        value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
    )
    if isinstance(pattern, re.Pattern)
}
#: Signs that are repeated, and what a pattern may want before them; a new pattern may need more.
SIGNS = "1a.:-+e xyT\0é,'"
BEGINNINGS = ("", "1.", "1e", "1:", "2020-01-0", "inf")
#: Repeats of a sign: exponential time shows at the first, cubic at the second and quadratic at the last.
REPEATS = (22, 200, 3000)
#: For a cell; linear time takes a fifth of a millisecond, quadratic time more than 20.
MOST_SECONDS = 0.005


def seconds(pattern: re.Pattern, cell: str) -> float:
    """Time of the processor until a cell matches or not."""
    begun = time.process_time()
    pattern.fullmatch(cell)
    return time.process_time() - begun


def slow_cell(pattern: re.Pattern) -> tuple | None:
    """What a cell is made of whose matching takes more than linear time."""
    for before, first, second, last, n in product(BEGINNINGS, SIGNS, SIGNS, ("", *SIGNS), REPEATS):
        cell = before + first * n + second * n + last
        if seconds(pattern, cell) > MOST_SECONDS and seconds(pattern, cell) > MOST_SECONDS:
            return before, first, second, last, n
    return None


def test_all_patterns_of_the_readers_are_found():
    assert {"datasets.tables.cells.STYLES 2", "datasets.tables.cells._DATES 1", "datasets.tables.body._TABS 0"} <= set(
        PATTERNS
    )
    for module in MODULES:  # no pattern is compiled in a function
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."):
                assert ast.unparse(node.func) in ("re.compile", "re.escape"), ast.unparse(node)


@pytest.mark.more(after=2)
@pytest.mark.slow
@pytest.mark.parametrize("name", PATTERNS)
def test_pattern_takes_linear_time(name):
    assert slow_cell(PATTERNS[name]) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern",
    [
        r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?",
        r"\s*(\w+)\w*",
        r"(?:a+)+b",
        r"(\S+)\s*\S*:",
        r"(?:x|y)*(?:x|z)*!",
    ],
)
def test_patterns_of_more_than_linear_time_are_found(pattern):
    assert slow_cell(re.compile(pattern, re.ASCII)) is not None
