"""User-uploaded files: a thousand bad ones are refused in one sentence or read; good ones are read and prepared."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

import numpy as np
import pytest
from bad_files import HOSTILE_NAMES, corpus, good_table, parquet, repeated
from sklearn.decomposition import PCA

from datasets.dataset import Dataset
from datasets.tables import formats, preparation, roles
from datasets.tables.readers import read
from datasets.tables.table import Limits, Table, UploadError, printable, quoted, unique_names
from tests import workbooks


def check_sentence(error: UploadError) -> None:
    text = str(error)
    assert re.fullmatch(r"[A-Z0-9].{15,400}[.?]", text), text  # one sentence on one line
    outside = re.sub("“[^“”]*”", "", text)
    assert "“" not in outside and "”" not in outside, text
    assert all(unicodedata.category(sign) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for sign in text), text
    assert not re.search(r"Traceback|Error\b|Exception|0x[0-9a-f]{6,}", outside), text


def check_table(table: Table, limits: Limits) -> None:
    assert limits.fewest_rows <= table.n_rows <= limits.rows and 2 <= len(table.columns) <= limits.columns + 1
    assert len(set(table.names)) == len(table.names)
    for column in table.columns:
        assert column.name and column.name == printable(column.name, 100) and len(column.values) == table.n_rows
        assert (column.kind == "empty") == (column.n_missing == table.n_rows)
        if column.kind == "text":
            assert column.values.max() < len(column.categories)
        else:
            assert column.values.dtype == np.float64 and not np.isinf(column.values).any()
        assert isinstance(column.shown(0) + column.shown(table.n_rows - 1), str)


def check_dataset(dataset: Dataset, limits: Limits) -> None:
    n, d = dataset.X.shape
    assert dataset.X.dtype == np.float64 and dataset.X.flags.c_contiguous and n * d <= limits.cells
    assert np.isfinite(dataset.X).all() and len(dataset.feature_names) == d >= 1 and len(dataset.y) == n
    if dataset.task == "classification":
        present = set(np.unique(dataset.y).tolist())
        assert present == set(dataset.label_names) and 2 <= len(present) <= limits.classes
    else:
        assert np.isfinite(dataset.y).all() and len(np.unique(dataset.y)) > 1
    for columns in (None, (0, 1)) if d > 1 else ():
        X = preparation.plane(dataset, columns).X
        assert X.shape == (n, 2) and np.isfinite(X).all() and np.abs(X.mean(axis=0)).max() < 1e-6
    for label in list(dataset.label_names)[:3] or [None]:
        binary = preparation.two_classes(dataset, label)
        assert set(np.unique(binary.y)) == {-1, 1} == set(binary.label_names)


@pytest.mark.second
def test_a_thousand_bad_files_are_refused_in_one_sentence_or_read():
    outcomes = Counter()
    for file in corpus():
        limits = Limits(**file.limits)
        try:
            table = read(file.data, file.name, limits)
        except UploadError as error:
            check_sentence(error)
            outcomes["refused"] += 1
            continue
        assert not file.must_refuse, f"{file.label} was read: {file.data[:80]!r}"
        check_table(table, limits)
        outcomes["read"] += 1
        target = roles.suggest_targets(table)[0]
        columns = roles.suggest_columns(table, target)
        for scaling, imputation in (("standard", "fill"), ("range", "drop"), ("none", "fill")):
            try:
                check_dataset(preparation.prepare(table, target, columns, scaling, imputation, limits=limits), limits)
                outcomes["prepared"] += 1
            except UploadError as error:
                check_sentence(error)
    # Enough files pass each stage for its checks to mean something.
    assert outcomes["read"] > 300 and outcomes["refused"] > 400 and outcomes["prepared"] > 500, outcomes


@pytest.mark.parametrize("limit", ["bytes", "columns", "cell_characters", "fewest_rows"])
def test_exceeded_limit_is_named_with_value_and_limit(limit):
    allowed = {"bytes": 100, "columns": 3, "cell_characters": 3, "fewest_rows": 1000}[limit]
    with pytest.raises(UploadError) as caught:
        read(good_table(), "x.csv", Limits(**{limit: allowed}))
    numbers = re.findall(r"\d+(?:\.\d+)?", str(caught.value))
    assert f"{allowed / 1e6:g}" in str(caught.value) if limit == "bytes" else str(allowed) in numbers
    assert len(numbers) >= 2


def of_numbers(form: str, n: int) -> tuple[bytes, str]:
    """A file of numbers i.5, i % 2 and i % 7, and its name."""
    rows = [[i + 0.5, i % 2, i % 7] for i in range(n)]
    if form == "CSV":
        return ("a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)).encode(), "x.csv"
    if form == "svmlight":
        return "".join(f"{a} 1:{b} 2:{c}\n" for a, b, c in rows).encode(), "x.svm"
    if form == "ARFF":
        head = "@relation r\n@attribute a real\n@attribute b real\n@attribute c real\n@data\n"
        return (head + "".join(f"{a},{b},{c}\n" for a, b, c in rows)).encode(), "x.arff"
    if form == "Excel":
        return workbooks.workbook(Data=[["a", "b", "c"], *rows]), "x.xlsx"
    columns = dict(zip("abc", map(list, zip(*rows, strict=True)), strict=True))
    return parquet(columns, row_group_size=300), "x.parquet"


@pytest.mark.parametrize("form", ["CSV", "svmlight", "ARFF", "Excel", "Parquet"])
def test_of_too_many_rows_of_any_format_a_random_part_is_read_with_a_note(form):
    if form == "Excel":
        pytest.importorskip("python_calamine", reason="python-calamine is not installed")
    for limits in (Limits(rows=200), Limits(cells=600)):
        table = read(*of_numbers(form, 1000), limits)
        assert f"Of 1000 rows a random part of 200 was read: at most {limits.rows} rows and" in table.notes[-1]
        rows, odd, week = (column.values for column in table.columns)
        assert table.n_rows == 200 and (np.diff(rows) > 0).all() and 400 < rows.mean() < 600
        assert (odd == (rows - 0.5) % 2).all() and (week == (rows - 0.5) % 7).all()
        whole = read(*of_numbers(form, 200), limits)
        assert whole.n_rows == 200 and not whole.notes


def test_each_row_has_the_same_chance_to_be_read():
    kept = np.zeros(60)
    for seed in range(400):
        kept[formats.random_part(range(60), 20, seed)] += 1
    assert kept.sum() == 400 * 20 and np.abs(kept - 400 / 3).max() < 5 * np.sqrt(400 * 2 / 9)


def test_names_are_printable_and_distinct():
    names = unique_names([*HOSTILE_NAMES, *HOSTILE_NAMES, "", "", "x", "x", "x (2)"])
    assert len(set(names)) == len(names) == 2 * len(HOSTILE_NAMES) + 5
    for name in names:
        assert name and all(unicodedata.category(sign)[0] != "C" for sign in name) and len(name) < 100
    assert "<script>alert(1)</script>" in names  # unchanged: the page escapes it
    assert all(re.fullmatch("“[^“”\n]{0,41}”", quoted(name)) for name in HOSTILE_NAMES)
    assert any("“a”" in note for note in read("a,a,y\n" + "1,2,3\n" * 20).notes)


def test_an_encoding_is_guessed_and_can_be_chosen():
    data = good_table().replace("kind", "größe").encode("cp1252")
    guess = read(data, "x.csv").guesses[0]
    assert (guess.key, guess.taken) == ("encoding", "cp1252") and "read as Windows-1252" in guess.note
    assert guess.others == ("cp1250", "cp1251", "mac_roman")
    other = read(data, "x.csv", choices={"encoding": "mac_roman"})
    assert "grˆ\ufb02e" in other.names and other.guesses[0].taken == "mac_roman"


def test_a_few_texts_among_numbers_are_missing_and_many_make_a_text():
    stray = read("a,y\n" + "1,2\n" * 20 + "oops,3\n").columns[0]
    assert stray.kind == "number" and stray.n_missing == 1 and "“oops”" in stray.note
    many = read("a,y\n" + "1,2\noops,3\n" * 20).columns[0]
    assert many.kind == "text" and "“oops”" in many.note


@pytest.mark.slow
def test_parquet_bomb_is_refused_before_it_expands(monkeypatch):
    bomb = repeated(100_000_000)
    assert len(bomb) < 1_000_000
    with pytest.raises(UploadError, match="200000000 cells; a random part can be read of at most 6250000"):
        read(bomb)
    monkeypatch.setattr(formats, "check_metadata", lambda *_: None)  # rows are bounded whatever it says
    table = read(repeated(3_000_000))
    assert table.n_rows == 20_000 and "Of 3000000 rows a random part of 20000" in table.notes[-1]


# --- preparation ----------------------------------------------------------------------------------------------------


def test_missing_values_are_filled_or_their_rows_dropped():
    rows = (f"{'' if i == 3 else i},{'' if i == 4 else 'ab'[i > 7]},{'' if i == 5 else i % 2}\n" for i in range(20))
    table = read("a,t,y\n" + "".join(rows))
    filled = preparation.prepare(table, "y", ["a", "t"], "none", "fill")
    rest = [i for i in range(20) if i != 5]
    median = np.median([i for i in rest if i != 3])
    np.testing.assert_array_equal(filled.X[:, 0], [median if i == 3 else i for i in rest])
    np.testing.assert_array_equal(filled.X[:, 1], [float(i < 8 and i != 4) for i in rest])
    dropped = preparation.prepare(table, "y", ["a", "t"], "none", "drop")
    np.testing.assert_array_equal(dropped.X[:, 0], [i for i in range(20) if i not in (3, 4, 5)])


@pytest.mark.parametrize("n_values", [2, 3, 20, 21, 300])
def test_text_is_one_hot_up_to_a_limit(n_values):
    words = [f"w{i}" for i in range(n_values) for _ in range(n_values - i if n_values < 50 else 2)]
    table = read("t,y\n" + "".join(f"{word},{i % 2}\n" for i, word in enumerate(words * 4)))
    dataset = preparation.prepare(table, "y", ["t"], "none")
    assert dataset.n_features == (1 if n_values == 2 else min(n_values, 20))
    assert n_values == 2 or (dataset.X.sum(axis=1) == 1).all()
    assert ("share one" in dataset.description) == (n_values > 20)


@pytest.mark.parametrize("imputation", preparation.IMPUTATIONS)
def test_a_random_part_of_the_rows_is_kept_where_all_have_too_many_cells(imputation):
    table = read("t,x,y\n" + "".join(f"w{i % 7},{i if i % 5 else ''},{i % 2}\n" for i in range(400)))
    limits = Limits(cells=800)
    dataset = preparation.prepare(table, "y", ["t", "x"], "none", imputation, limits=limits)
    n_rows = {"fill": 400, "drop": 320}[imputation]
    assert dataset.X.shape == (100, 8) and f"Of {n_rows} rows a random part of 100 was kept" in dataset.description
    x = dataset.X[:, 7]
    assert (np.diff(x[x % 5 > 0]) > 0).sum() > 60 and x.max() > 300 and x.min() < 100  # in their order, from everywhere
    whole = preparation.prepare(table, "y", ["x"], "none", imputation, limits=limits)
    assert whole.n_samples == n_rows and "random part" not in whole.description
    with pytest.raises(UploadError, match="choose fewer columns"):
        preparation.prepare(table, "y", ["t", "x"], limits=Limits(cells=79))


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1.0, 1e150, 1e307])
def test_values_of_any_size_are_scaled(scale):
    x = np.random.default_rng(0).random(50)
    table = read("x,y\n" + "".join(f"{float(v * scale)!r},{i % 2}\n" for i, v in enumerate(x)))
    X = preparation.prepare(table, "y", ["x"], "standard").X[:, 0]
    tolerance = 1e-3 if scale == 1e-320 else 1e-9  # subnormal numbers have few digits
    assert abs(X.mean()) < 1e-9 and abs(X.var() - 1) < 1e-9
    np.testing.assert_allclose(X, (x - x.mean()) / x.std(), atol=tolerance)
    if scale > 1e9:
        with pytest.raises(UploadError, match="without scaling"):
            preparation.prepare(table, "y", ["x"], "none")


def test_task_follows_from_the_target():
    table = read("a,grade,word,size\n" + "".join(f"{i},{i % 3},{'xyz'[i % 3]},{i * 0.37}\n" for i in range(40)))
    grades, words, sizes = (preparation.prepare(table, name, ["a"]) for name in ("grade", "word", "size"))
    assert grades.label_names == {0: "0", 1: "1", 2: "2"} and words.label_names == {0: "x", 1: "y", 2: "z"}
    np.testing.assert_array_equal(grades.y, words.y)
    assert sizes.task == "regression" and sizes.y[2] == 0.74
    assert preparation.prepare(table, "grade", ["a"], task="regression").task == "regression"
    np.testing.assert_array_equal(preparation.two_classes(words, 1).y == 1, words.y == 1)
    np.testing.assert_array_equal(preparation.two_classes(sizes).y == 1, sizes.y > np.median(sizes.y))


def test_plane_matches_principal_components_of_scikit_learn():
    X = np.random.default_rng(1).standard_normal((60, 5)) @ np.diag([5, 3, 1, 1, 1])
    rows = (",".join(map(repr, map(float, row))) + f",{i % 2}\n" for i, row in enumerate(X))
    found = preparation.plane(preparation.prepare(read("a,b,c,d,e,y\n" + "".join(rows)), "y", list("abcde"), "none")).X
    expected = PCA(2, whiten=True).fit_transform(X) * np.sqrt(60 / 59)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-8)


def test_a_column_says_which_rows_belong_together():
    rows = (f"{'uvwx'[i % 4] if i % 9 else ''},{i},{i % 7},{i % 2}\n" for i in range(60))
    table = read("who,a,b,y\n" + "".join(rows))
    dataset = preparation.prepare(table, "y", ["a"], groups="who")
    who = table.column("who").values
    assert len(np.unique(dataset.groups)) == 5 and len(np.unique([dataset.groups, who], axis=1).T) == 5
    assert "belong together: 5 groups" in dataset.description
    assert roles.possible_groups(table, "y") == ["who", "b"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"target": "nothing"}, "no column “nothing”"),
        ({"columns": ["nothing"]}, "no column “nothing”"),
        ({"columns": []}, "No column is chosen"),
        ({"columns": ["y"]}, "is among the columns"),
        ({"scaling": "cube"}, "scaling is 'cube'"),
        ({"imputation": "guess"}, "imputation is 'guess'"),
        ({"target": "name"}, "50 classes"),
        ({"target": "flat"}, "only one class"),
        ({"columns": ["flat"]}, "same value in every row"),
        ({"columns": ["none"]}, "has no value"),
        ({"target": "none"}, "has no value"),
        ({"target": "name", "task": "regression"}, "is text"),
        ({"target": "flat", "task": "regression"}, "same value"),
        ({"columns": ["holes"], "imputation": "drop"}, "rows are left"),
        ({"groups": "a"}, "neither target nor input"),
        ({"groups": "y"}, "neither target nor input"),
        ({"groups": "flat"}, "“flat” makes 1 group of rows; a split needs at least 4"),
    ],
)
def test_invalid_preparations_are_refused(changes, expected):
    lines = "".join(f"{i},name {i},7,,{i if i < 5 else ''},{i % 2}\n" for i in range(100))
    asked = {"target": "y", "columns": ["a"]} | changes
    with pytest.raises(UploadError, match=re.escape(expected)) as caught:
        preparation.prepare(read("a,name,flat,none,holes,y\n" + lines), **asked)
    if "is '" not in expected:
        check_sentence(caught.value)
