"""Regular expressions of the readers take linear time in the length of a cell, measured in counted steps."""

from __future__ import annotations

import ast
import inspect
import re

import pytest
from matching_steps import Steps, TooMany, hostile_cells

from datasets.tables import parquet, preparation, readers, table as tables, transport, uploads

MODULES = (parquet, preparation, readers, tables, transport, uploads)
PATTERNS = {
    f"{module.__name__}.{name}": value
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, re.Pattern)
}
SHORT, LONG = 20, 160  # repeats: at 8 times as many, linear time takes 8 times the steps, quadratic time 64
MOST_TIMES = 16
MOST_STEPS = 100_000  # of the short cells


def grows_faster(pattern: re.Pattern) -> str:
    """A cell whose matching takes more than linear steps, or an empty string."""
    for short, long in zip(hostile_cells(pattern, SHORT), hostile_cells(pattern, LONG), strict=True):
        try:
            found = Steps(pattern, short, most=MOST_STEPS)
            assert found.matches == bool(pattern.fullmatch(short)), short  # the counter agrees with re
            Steps(pattern, long, most=MOST_TIMES * found.count)
        except TooMany:
            return long
    return ""


def test_all_patterns_of_the_readers_are_found():
    assert {"datasets.tables.table._NUMBER", "datasets.tables.table._DATE", "datasets.tables.readers._PAIR"} <= set(
        PATTERNS
    )
    for module in MODULES:  # no pattern is compiled in a function
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."):
                assert ast.unparse(node.func) == "re.compile" and node.col_offset > 0, ast.unparse(node)
    compiled = sum(inspect.getsource(module).count("re.compile(") for module in MODULES)
    assert compiled == len({id(pattern) for pattern in PATTERNS.values()})


@pytest.mark.parametrize("name", PATTERNS)
def test_pattern_takes_linear_steps(name):
    assert not grows_faster(PATTERNS[name])


@pytest.mark.parametrize(
    "pattern",
    [
        r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?",  # 386 digits and an x take 150 000 steps
        r"\s*(\w+)\w*",
        r"(?:a+)+b",
        r"(\S+)\s*\S*:",
        r"(?:x|y)*(?:x|z)*!",
    ],
)
def test_counter_finds_patterns_of_quadratic_time(pattern):
    assert grows_faster(re.compile(pattern, re.ASCII))


@pytest.mark.parametrize("pattern", [r"\d++\.?+\d*+", r"(?>\d+)\.?\d*", r"\d+(?:\.\d*)?", r"[^,]*,[^,]*", r"a{2,5}b?"])
def test_counter_accepts_patterns_of_linear_time(pattern):
    assert not grows_faster(re.compile(pattern))
