"""Properties of any file, table and choice: read exactly or refused, finite after preparation, in linear time."""

from __future__ import annotations

import ast
import csv
import inspect
import io
import pkgutil
import random
import re
import time
from importlib import import_module
from itertools import product

import numpy as np
import pytest
from bad_files import parquet
from hypothesis import given, settings, strategies as st

from datasets import tables
from datasets.tables import preparation, readers
from datasets.tables.cells import MISSING, kind_of
from datasets.tables.table import Limits, UploadError
from tests import workbooks

LIMITS = Limits(rows=200, columns=20, cells=2000, cell_characters=200, categories=4, classes=6)
ANY = settings(derandomize=True, deadline=None, database=None, max_examples=150)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
CELLS = st.one_of(
    FINITE.map(repr), st.sampled_from([*MISSING, "a", "b", "2020-01-01", "inf", "1e400"]), st.text(max_size=8)
)


def csv_of(rows, delimiter=",") -> str:
    lines = io.StringIO()
    csv.writer(lines, delimiter=delimiter).writerows(rows)
    return lines.getvalue()


def is_sentence(error: UploadError) -> bool:
    return "\n" not in str(error) and str(error)[-1] in ".?"


@pytest.mark.second
@ANY
@given(
    data=st.one_of(st.binary(max_size=400), st.text(max_size=400).map(lambda text: text.encode("utf-8", "ignore"))),
    ending=st.sampled_from(["csv", "tsv", "svm", "arff", ""]),
)
def test_any_bytes_are_read_or_refused_on_one_line(data, ending):
    try:
        table = readers.read(data, f"x.{ending}", LIMITS)
    except UploadError as error:
        assert is_sentence(error)
    else:
        assert table.n_rows >= LIMITS.fewest_rows and len(table.columns) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_damaged_workbooks_are_read_or_refused_on_one_line(seed):
    pytest.importorskip("python_calamine", reason="python-calamine is not installed")
    rng = random.Random(seed)
    data = bytearray(workbooks.workbook(Data=[["size", "kind"], *([i * 0.5, "ab"[i % 2]] for i in range(12))]))
    for _ in range(rng.randint(1, 30)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    for broken in (bytes(data), bytes(data[: rng.randrange(4, len(data))])):
        try:
            assert readers.read(broken, "x.xlsx").n_rows >= 10
        except UploadError as error:
            assert is_sentence(error)


@pytest.mark.second
@ANY
@given(
    rows=st.lists(st.tuples(FINITE, st.text(max_size=12), FINITE), min_size=10, max_size=40),
    delimiter=st.sampled_from(",;\t|"),
)
def test_numbers_and_texts_are_read_exactly_except_surrounding_blanks(rows, delimiter):
    rows = [(a, re.sub("[\r\0]", "", word).encode("utf-8", "ignore").decode(), c) for a, word, c in rows]
    lines = csv_of([("a", "word", "c"), *((repr(a), f"w{word}", repr(c)) for a, word, c in rows)], delimiter)
    svm = "".join(f"{a!r} 1:{c!r}\n" for a, _, c in rows)
    file = parquet(
        {"a": [a for a, _, _ in rows], "word": [f"w{word}" for _, word, _ in rows], "c": [c for _, _, c in rows]}
    )
    for data, name in ((lines, "x.csv"), (svm, "x.svm"), (file, "x.parquet")):
        columns = readers.read(data, name, LIMITS, {"missing marks": "only empty cells"}).columns
        assert columns[0].values.tolist() == [a for a, _, _ in rows] and columns[-1].values.tolist() == [
            c for *_, c in rows
        ]
        if len(columns) > 2:
            expected = [f"w{word}".strip() for _, word, _ in rows]
            assert all(kind_of(word) == "text" for word in expected)
            assert [columns[1].categories[code] for code in columns[1].values] == expected


@pytest.mark.second
@ANY
@given(
    rows=st.integers(2, 4).flatmap(
        lambda d: st.lists(st.lists(CELLS, min_size=d, max_size=d), min_size=10, max_size=30)
    ),
    scaling=st.sampled_from(preparation.SCALINGS),
    imputation=st.sampled_from(preparation.IMPUTATIONS),
    task=st.sampled_from([None, "classification", "regression"]),
    target=st.integers(0, 3),
)
def test_any_table_becomes_finite_numbers_or_is_refused(rows, scaling, imputation, task, target):
    try:
        table = readers.read(csv_of([[f"c{j}" for j in range(len(rows[0]))], *rows]), "x.csv", LIMITS)
        target = table.names[target % len(table.columns)]
        columns = [name for name in table.names if name != target]
        dataset = preparation.prepare(table, target, columns, scaling, imputation, task, LIMITS)
        binary = preparation.two_classes(dataset, next(iter(dataset.label_names), None))
        X = preparation.plane(binary).X if dataset.n_features > 1 else dataset.X
    except UploadError as error:
        assert is_sentence(error)
        return
    assert np.isfinite(dataset.X).all() and np.isfinite(dataset.y).all() and np.isfinite(X).all()
    assert set(np.unique(binary.y)) == {-1, 1}
    if scaling == "standard":
        np.testing.assert_allclose(dataset.X.mean(axis=0), 0, atol=1e-7)
        np.testing.assert_allclose(dataset.X.var(axis=0), 1, atol=1e-7)
    elif scaling == "range":
        assert dataset.X.min() >= 0 and dataset.X.max() <= 1


# --- linear time ----------------------------------------------------------------------------------------------------

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
#: Repeats of a sign: exponential time shows at the first, cubic at the second and quadratic at the last.
REPEATS = (22, 200, 3000)
#: For a cell; linear time takes a fifth of a millisecond, quadratic time more than 20.
MOST_SECONDS = 0.005


def is_slow(pattern: re.Pattern) -> bool:
    """Whether a cell is found whose matching takes more than linear time; a new pattern may need more signs."""
    signs = "1a.:-+e xyT\0é,'"
    for before, first, second, last, n in product(
        ("", "1.", "1e", "1:", "2020-01-0", "inf"), signs, signs, ("", *signs), REPEATS
    ):
        cell = before + first * n + second * n + last
        begun = time.process_time()
        pattern.fullmatch(cell)
        middle = time.process_time()
        if middle - begun > MOST_SECONDS:
            pattern.fullmatch(cell)
            if time.process_time() - middle > MOST_SECONDS:
                return True
    return False


def test_no_pattern_is_compiled_in_a_function():
    assert {"datasets.tables.cells.STYLES 2", "datasets.tables.body._TABS 0", "datasets.tables.formats._PAIR 0"} <= set(
        PATTERNS
    )
    calls = (
        node
        for module in MODULES
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Call)
    )
    names = {ast.unparse(node.func) for node in calls}
    assert {name for name in names if name.startswith("re.")} == {"re.compile", "re.escape"}


@pytest.mark.more(after=2)
@pytest.mark.slow
@pytest.mark.parametrize("name", PATTERNS)
def test_pattern_takes_linear_time(name):
    assert not is_slow(PATTERNS[name])


@pytest.mark.slow
@pytest.mark.parametrize("pattern", [r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", r"(?:a+)+b", r"(\S+)\s*\S*:"])
def test_patterns_of_more_than_linear_time_are_found(pattern):
    assert is_slow(re.compile(pattern, re.ASCII))
