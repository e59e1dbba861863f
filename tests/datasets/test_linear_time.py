"""The readers take time linear in a cell's length, whatever stands in it: steps are counted, no clock is asked."""

from __future__ import annotations

import ast
import inspect
import re

import pytest
from matching_steps import Steps, TooMany, hostile_cells

from datasets import parquet_reader, preparation, readers, tables, transport, uploads

MODULES = (parquet_reader, preparation, readers, tables, transport, uploads)
PATTERNS = {
    f"{module.__name__}.{name}": value
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, re.Pattern)
}
SHORT, LONG = 20, 160  # repeats: eight times as many may take eight times the steps; quadratic time takes up to 64
MOST_TIMES = 16
MOST_STEPS = 100_000  # of the short ones


def grows_faster(pattern: re.Pattern) -> str:
    """A cell whose matching takes more steps than in proportion to its length, or nothing."""
    for short, long in zip(hostile_cells(pattern, SHORT), hostile_cells(pattern, LONG), strict=True):
        try:
            found = Steps(pattern, short, most=MOST_STEPS)
            assert found.matches == bool(pattern.fullmatch(short)), short  # the counter is right about the pattern
            Steps(pattern, long, most=MOST_TIMES * found.count)
        except TooMany:
            return long
    return ""


def test_the_patterns_of_the_readers_are_found():
    assert {"datasets.tables._NUMBER", "datasets.tables._DATE", "datasets.readers._PAIR"} <= set(PATTERNS)
    for module in MODULES:  # none is hidden in a function
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."):
                assert ast.unparse(node.func) == "re.compile" and node.col_offset > 0, ast.unparse(node)
    compiled = sum(inspect.getsource(module).count("re.compile(") for module in MODULES)
    assert compiled == len({id(pattern) for pattern in PATTERNS.values()})


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_takes_steps_in_proportion_to_the_cell(name):
    assert not grows_faster(PATTERNS[name])


@pytest.mark.parametrize(
    "pattern",
    [
        r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?",  # 386 digits and an x took 150 000 steps
        r"\s*(\w+)\w*",
        r"(?:a+)+b",
        r"(\S+)\s*\S*:",
        r"(?:x|y)*(?:x|z)*!",
    ],
)
def test_the_count_finds_patterns_that_take_more(pattern):
    assert grows_faster(re.compile(pattern, re.ASCII))


@pytest.mark.parametrize("pattern", [r"\d++\.?+\d*+", r"(?>\d+)\.?\d*", r"\d+(?:\.\d*)?", r"[^,]*,[^,]*", r"a{2,5}b?"])
def test_the_count_passes_patterns_that_do_not(pattern):
    assert not grows_faster(re.compile(pattern))
