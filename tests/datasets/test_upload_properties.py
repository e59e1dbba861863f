"""Properties of any file, table and choice: read exactly or refused, and finite after preparation."""

from __future__ import annotations

import csv
import io
import unicodedata

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from datasets.tables import preparation, readers
from datasets.tables.cells import MISSING, day as parse_days, number as parse_number
from datasets.tables.table import Limits, UploadError, printable, unique_names

LIMITS = Limits(rows=200, columns=20, cells=2000, cell_characters=200, categories=4, classes=6)
ANY = settings(derandomize=True, deadline=None, database=None, max_examples=150)
ENDINGS = st.sampled_from(["csv", "tsv", "svm", ""])
FINITE = st.floats(allow_nan=False, allow_infinity=False)
CELLS = st.one_of(
    FINITE.map(repr), st.sampled_from([*MISSING, "a", "b", "2020-01-01", "inf", "1e400"]), st.text(max_size=8)
)


def csv_of(rows, delimiter=",") -> str:
    lines = io.StringIO()
    csv.writer(lines, delimiter=delimiter).writerows(rows)
    return lines.getvalue()


@pytest.mark.second
@ANY
@given(
    data=st.one_of(st.binary(max_size=400), st.text(max_size=400).map(lambda text: text.encode("utf-8", "ignore"))),
    ending=ENDINGS,
)
def test_any_bytes_are_read_or_refused_on_one_line(data, ending):
    try:
        table = readers.read(data, f"x.{ending}", LIMITS)
    except UploadError as error:
        assert "\n" not in str(error) and str(error)[-1] in ".?"
    else:
        assert table.n_rows >= LIMITS.fewest_rows and len(table.columns) >= 2


@pytest.mark.second
@ANY
@given(values=st.lists(st.tuples(FINITE, FINITE), min_size=10, max_size=40), delimiter=st.sampled_from(",;\t|"))
def test_finite_numbers_are_read_exactly(values, delimiter):
    table = readers.read(csv_of([("a", "b"), *[(repr(a), repr(b)) for a, b in values]], delimiter), limits=LIMITS)
    found = np.stack([column.values for column in table.columns], axis=1)
    np.testing.assert_array_equal(found, np.array(values))


@pytest.mark.second
@ANY
@given(words=st.lists(st.text(max_size=20), min_size=10, max_size=40))
def test_text_is_read_exactly_except_surrounding_blanks(words):
    words = [word.replace("\r", "").replace("\0", "").encode("utf-8", "ignore").decode().strip() for word in words]
    present = [word for word in words if word.lower() not in MISSING]
    assume(any(parse_number(word) is None and parse_days(word) is None for word in present))
    assume(len({parse_number(word) is None for word in present} | {parse_days(word) is None for word in present}) == 1)
    column = readers.read(csv_of([("w", "y"), *[(word, i) for i, word in enumerate(words)]]), "x.csv", LIMITS).columns[
        0
    ]
    assert column.kind == "text"
    assert [column.categories[code] if code >= 0 else None for code in column.values] == [
        word if word.lower() not in MISSING else None for word in words
    ]


@pytest.mark.slow
@ANY
@given(names=st.lists(st.text(max_size=30), min_size=1, max_size=30))
def test_any_names_become_printable_and_distinct(names):
    found = unique_names(names)
    assert len(set(found)) == len(found) == len(names)
    for name, given_name in zip(found, names, strict=True):
        assert name and all(unicodedata.category(sign)[0] != "C" for sign in name)
        if printable(given_name) == given_name and given_name and names.count(given_name) == 1:
            assert name.startswith(given_name)


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
    names = [f"c{j}" for j in range(len(rows[0]))]
    try:
        table = readers.read(csv_of([names, *rows]), "x.csv", LIMITS)
        target = table.names[target % len(table.columns)]
        columns = [name for name in table.names if name != target]
        dataset = preparation.prepare(table, target, columns, scaling, imputation, task, LIMITS)
        binary = preparation.two_classes(dataset, next(iter(dataset.label_names), None))
        X = preparation.plane(binary).X if dataset.n_features > 1 else dataset.X
    except UploadError as error:
        assert "\n" not in str(error) and str(error)[-1] in ".?"
        return
    assert np.isfinite(dataset.X).all() and np.isfinite(dataset.y).all() and np.isfinite(X).all()
    assert set(np.unique(binary.y)) == {-1, 1}
    if scaling == "standard":
        np.testing.assert_allclose(dataset.X.mean(axis=0), 0, atol=1e-7)
        np.testing.assert_allclose(dataset.X.var(axis=0), 1, atol=1e-7)
    elif scaling == "range":
        assert dataset.X.min() >= 0 and dataset.X.max() <= 1
