"""User-uploaded files: a thousand bad ones are refused in one sentence or read; good ones are read unchanged."""

from __future__ import annotations

import csv
import io
import random
import re
import unicodedata
from collections import Counter

import numpy as np
import pytest
from bad_files import DATES, HOSTILE_NAMES, corpus, good_table, parquet, repeated

from datasets.dataset import Dataset
from datasets.tables import binary, preparation, roles
from datasets.tables.readers import random_part, read
from datasets.tables.table import Limits, Table, UploadError, printable, quoted, unique_names
from tests import workbooks


@pytest.fixture(scope="session")
def files():
    return list(corpus())


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
        assert 0 <= column.n_missing <= table.n_rows and column.n_values <= table.n_rows
        assert (column.kind == "empty") == (column.n_missing == table.n_rows)
        if column.kind == "text":
            assert column.values.max() < len(column.categories)
        else:
            assert column.values.dtype == np.float64 and not np.isinf(column.values).any()
        for row in (0, table.n_rows - 1):
            assert isinstance(column.shown(row), str)


def check_dataset(dataset: Dataset, limits: Limits) -> None:
    n, d = dataset.X.shape
    assert dataset.X.dtype == np.float64 and dataset.X.flags.c_contiguous and n * d <= limits.cells
    assert np.isfinite(dataset.X).all() and len(dataset.feature_names) == d >= 1 and len(dataset.y) == n
    if dataset.task == "classification":
        present = set(np.unique(dataset.y).tolist())
        assert present == set(dataset.label_names) and 2 <= len(present) <= limits.classes
    else:
        assert np.isfinite(dataset.y).all() and len(np.unique(dataset.y)) > 1


@pytest.mark.second
def test_corpus_has_a_thousand_bad_files(files):
    assert len(files) >= 1000
    assert sum(file.must_refuse for file in files) >= 400
    assert len({(file.data, file.name, str(file.limits)) for file in files}) > 0.9 * len(files)


@pytest.mark.second
def test_bad_files_are_refused_in_one_sentence_or_read(files):
    outcomes = Counter()
    for file in files:
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
        target = roles.suggest_target(table)
        for scaling in preparation.SCALINGS:
            for imputation in preparation.IMPUTATIONS:
                try:
                    columns = roles.suggest_columns(table, target)
                    dataset = preparation.prepare(table, target, columns, scaling, imputation, limits=limits)
                    check_dataset(dataset, limits)
                    if dataset.n_features > 1:
                        check_plane(dataset)
                    check_two_classes(dataset)
                    outcomes["prepared"] += 1
                except UploadError as error:
                    check_sentence(error)
    # Enough files pass each stage for its checks to mean something.
    assert outcomes["read"] > 300 and outcomes["refused"] > 500 and outcomes["prepared"] > 1000


def check_plane(dataset: Dataset) -> None:
    for columns in (None, (0, 1)):
        X = preparation.plane(dataset, columns).X
        assert X.shape == (dataset.n_samples, 2) and np.isfinite(X).all() and np.abs(X.mean(axis=0)).max() < 1e-6


def check_two_classes(dataset: Dataset) -> None:
    for label in list(dataset.label_names)[:3] or [None]:
        binary = preparation.two_classes(dataset, label)
        assert set(np.unique(binary.y)) == {-1, 1} == set(binary.label_names)


@pytest.mark.parametrize("limit", ["bytes", "columns", "cell_characters", "fewest_rows"])
def test_exceeded_limit_is_named_with_value_and_limit(limit):
    allowed = {"bytes": 100, "columns": 3, "cell_characters": 3, "fewest_rows": 1000}[limit]
    with pytest.raises(UploadError) as caught:
        read(good_table(), "x.csv", Limits(**{limit: allowed}))
    numbers = re.findall(r"\d+(?:\.\d+)?", str(caught.value))
    assert f"{allowed / 1e6:g}" in str(caught.value) if limit == "bytes" else str(allowed) in numbers
    assert len(numbers) >= 2


def of_numbers(form: str, n: int) -> tuple[bytes, str]:
    """A file of numbers i.5, i % 2, in CSV as x or y, and i % 7, and its name."""
    rows = [[i + 0.5, i % 2, i % 7] for i in range(n)]
    if form.startswith("CSV"):
        names = "a,b,c\n" if form == "CSV" else ""
        return (names + "".join(f"{a},{'xy'[b]},{c}\n" for a, b, c in rows)).encode(), "x.csv"
    if form == "svmlight":
        return "".join(f"{a} 1:{b} 2:{c}\n" for a, b, c in rows).encode(), "x.svm"
    if form == "Excel":
        return workbooks.workbook(Data=[["a", "b", "c"], *rows]), "x.xlsx"
    columns = dict(zip("abc", map(list, zip(*rows, strict=True)), strict=True))
    return parquet(columns, row_group_size=300), "x.parquet"


@pytest.mark.parametrize(
    "form",
    [
        "CSV",
        "CSV without names",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("svmlight", "Excel", "Parquet")),
    ],
)
@pytest.mark.parametrize("limits", [Limits(rows=200), Limits(cells=600)])
def test_of_too_many_rows_of_any_format_a_random_part_is_read_with_a_note(form, limits):
    if form == "Excel":
        pytest.importorskip("python_calamine", reason="python-calamine is not installed")
    table = read(*of_numbers(form, 1000), limits)
    assert f"Of 1000 rows a random part of 200 was read: at most {limits.rows} rows and" in table.notes[-1]
    rows = table.columns[0].values
    assert table.n_rows == 200 and (np.diff(rows) > 0).all() and 400 < rows.mean() < 600
    y = table.columns[1]
    letters = [y.shown(i) for i in range(200)]
    assert (
        letters in (["01"[i % 2] for i in rows.astype(int)], ["xy"[i % 2] for i in rows.astype(int)])
        and (table.columns[2].values == (rows - 0.5) % 7).all()
    )
    np.testing.assert_array_equal(read(*of_numbers(form, 1000), limits).columns[0].values, rows)
    whole = read(*of_numbers(form, 200), limits)
    assert whole.n_rows == 200 and not whole.notes


def test_a_column_says_which_rows_belong_together():
    lines = "who,a,b,y\n" + "".join(f"{'uvwx'[i % 4] if i % 9 else ''},{i},{i % 7},{i % 2}\n" for i in range(60))
    table = read(lines)
    dataset = preparation.prepare(table, "y", ["a"], groups="who")
    who = table.column("who").values
    assert len(np.unique(dataset.groups)) == 5 and len(np.unique([dataset.groups, who], axis=1).T) == 5
    assert "belong together: 5 groups" in dataset.description
    for columns, target in ((["who"], "y"), (["a"], "who")):
        with pytest.raises(UploadError, match="neither the target nor an input"):
            preparation.prepare(table, target, columns, groups="who")
    with pytest.raises(UploadError, match="“y” makes 2 groups of rows; a split needs at least 4"):
        preparation.prepare(table, "b", ["a"], groups="y")
    assert roles.possible_groups(table, "y") == ["who", "b"]


def test_each_row_has_the_same_chance_to_be_read():
    kept = np.zeros(60)
    for seed in range(400):
        kept[random_part(range(60), 20, seed)] += 1
    assert kept.sum() == 400 * 20 and np.abs(kept - 400 / 3).max() < 5 * np.sqrt(400 * 2 / 9)


def test_good_table_is_read_unchanged():
    table = read(good_table(), "x.csv")
    assert [column.kind for column in table.columns] == ["number", "text", "date", "text"]
    rows = list(csv.reader(io.StringIO(good_table())))[1:]
    for i, row in enumerate(rows):
        assert table.columns[0].values[i] == float(row[0])
        assert [table.columns[j].shown(i) for j in (1, 2, 3)] == row[1:]
    for delimiter in ";\t|":
        again = read(good_table(delimiter=delimiter))
        assert all(np.array_equal(a.values, b.values) for a, b in zip(table.columns, again.columns, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_numbers_of_any_size_are_read_exactly(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 4)) * 10.0 ** rng.integers(-300, 300, size=(30, 4))
    X[rng.random(X.shape) < 0.1] = 0
    X[0], X[1, 0], X[2, 0] = 1.0, 5e-324, -1.7976931348623157e308
    text = "\n".join(["a,b,c,d", *(",".join(map(repr, map(float, row))) for row in X)])
    light = "\n".join(
        f"{float(row[0])!r} " + " ".join(f"{j}:{float(v)!r}" for j, v in enumerate(row) if j) for row in X
    )
    for data, name in ((text, "x.csv"), (light, "x.svm"), (parquet({f"c{j}": x for j, x in enumerate(X.T)}), "x.pq")):
        found = np.stack([column.values for column in read(data, name).columns], axis=1)
        np.testing.assert_array_equal(found, X)


@pytest.mark.parametrize("seed", range(20))
def test_text_of_any_characters_is_read_exactly(seed):
    rng = random.Random(seed)
    letters = "abc,;\t|\"'<>&$%*_`[](){}#\\/äß名👩=+-@ 0\n"
    words = ["first", *("w" + "".join(rng.choices(letters, k=rng.randint(0, 12))) + "w" for _ in range(40))]
    lines = io.StringIO()
    csv.writer(lines).writerows([["word", "y"], *([word, i] for i, word in enumerate(words))])
    for data, name in ((lines.getvalue(), "x.csv"), (parquet({"word": words, "y": list(range(len(words)))}), "x.pq")):
        column = read(data, name).columns[0]
        assert [column.categories[code] for code in column.values] == words


def test_column_names_are_printable_and_distinct():
    names = unique_names([*HOSTILE_NAMES, *HOSTILE_NAMES, "", "", "x", "x", "x (2)"])
    assert len(set(names)) == len(names) == 2 * len(HOSTILE_NAMES) + 5
    for name in names:
        assert name and all(unicodedata.category(sign)[0] != "C" for sign in name) and len(name) < 100
    assert "<script>alert(1)</script>" in names  # unchanged: the page escapes it
    for name in HOSTILE_NAMES:
        assert re.fullmatch("“[^“”\n]{0,41}”", quoted(name))


def test_dates_become_days_since_1970():
    lines = "\n".join(["day,y", *(f"2020-01-{i:02d}T12:00:00+02:00,{i}" for i in range(1, 21))])
    column = read(lines).columns[0]
    assert column.kind == "date"
    np.testing.assert_allclose(column.values, 18262 + np.arange(20) + 10 / 24)
    assert column.shown(0) == "2020-01-01 10:00:00"
    for text in DATES:
        column = read("day,y\n" + f"{text},1\n2020-01-01,2\n" * 10).columns[0]
        assert column.kind in ("date", "text")


@pytest.mark.parametrize("rows", ["a;b\n" + "1,5;2\n-0,25;3\n" * 10, "a,b\n" + '"1,5",2\n"-0,25",3\n' * 10])
def test_decimal_commas_are_read(rows):
    np.testing.assert_array_equal(read(rows).columns[0].values[:2], [1.5, -0.25])


def test_guesses_are_reported_in_notes():
    data = good_table().replace("kind", "größe").encode("cp1252")
    guess = read(data, "x.csv").guesses[0]
    assert (guess.key, guess.taken) == ("encoding", "cp1252") and "read as Windows-1252" in guess.note
    assert guess.others == ("cp1250", "cp1251", "mac_roman")
    other = read(data, "x.csv", choices={"encoding": "mac_roman"})
    assert "grˆ\ufb02e" in other.names and other.guesses[0].taken == "mac_roman"
    assert any("“a”" in note for note in read("a,a,y\n" + "1,2,3\n" * 20).notes)
    stray = read("a,y\n" + "1,2\n" * 20 + "oops,3\n").columns[0]
    assert stray.kind == "number" and stray.n_missing == 1 and "“oops”" in stray.note
    many = read("a,y\n" + "1,2\noops,3\n" * 20).columns[0]
    assert many.kind == "text" and "“oops”" in many.note


# --- Parquet --------------------------------------------------------------------------------------------------------


@pytest.mark.second
def test_parquet_bomb_is_refused_before_it_expands():
    bomb = repeated(100_000_000)
    assert len(bomb) < 1_000_000
    with pytest.raises(UploadError, match="200000000 cells; a random part can be read of at most 6250000"):
        read(bomb)


@pytest.mark.slow
def test_parquet_rows_are_bounded_whatever_the_metadata(monkeypatch):
    def unchecked(file, limits):
        return list(file.schema_arrow)

    monkeypatch.setattr(binary, "_checked_fields", unchecked)
    table = read(repeated(3_000_000))
    assert table.n_rows == 20_000 and "Of 3000000 rows a random part of 20000" in table.notes[-1]


def test_unsupported_parquet_type_is_named():
    with pytest.raises(UploadError, match="has the type “list"):
        read(parquet({"a": [[1]] * 20, "y": [1] * 20}))


# --- preparation ----------------------------------------------------------------------------------------------------


def table_of(text: str) -> Table:
    return read(text, "x.csv")


def test_missing_values_are_filled_or_their_rows_dropped():
    lines = "".join(
        f"{'' if i == 3 else i},{'' if i == 4 else 'ab'[i > 7]},{'' if i == 5 else i % 2}\n" for i in range(20)
    )
    table = table_of("a,t,y\n" + lines)
    filled = preparation.prepare(table, "y", ["a", "t"], "none", "fill")
    assert filled.n_samples == 19
    rest = [i for i in range(20) if i != 5]
    median = np.median([i for i in rest if i != 3])
    np.testing.assert_array_equal(filled.X[:, 0], [median if i == 3 else i for i in rest])
    np.testing.assert_array_equal(filled.X[:, 1], [float(i < 8 and i != 4) for i in rest])
    dropped = preparation.prepare(table, "y", ["a", "t"], "none", "drop")
    np.testing.assert_array_equal(dropped.X[:, 0], [i for i in range(20) if i not in (3, 4, 5)])


@pytest.mark.parametrize("n_values", [2, 3, 20, 21, 300])
def test_text_is_one_hot_up_to_a_limit(n_values):
    words = [f"w{i}" for i in range(n_values) for _ in range(n_values - i if n_values < 50 else 2)]
    table = table_of("t,y\n" + "".join(f"{word},{i % 2}\n" for i, word in enumerate(words * 4)))
    dataset = preparation.prepare(table, "y", ["t"], "none")
    if n_values == 2:
        assert dataset.n_features == 1
    else:
        assert dataset.n_features == min(n_values, Limits().categories)
        np.testing.assert_array_equal(dataset.X.sum(axis=1), 1.0)
    assert ("share one" in dataset.description) == (n_values > Limits().categories)


@pytest.mark.parametrize("imputation", preparation.IMPUTATIONS)
def test_a_random_part_of_the_rows_is_kept_where_all_have_too_many_cells(imputation):
    table = table_of("t,x,y\n" + "".join(f"w{i % 7},{i if i % 5 else ''},{i % 2}\n" for i in range(400)))
    limits = Limits(cells=800)
    dataset = preparation.prepare(table, "y", ["t", "x"], "none", imputation, limits=limits)
    n_rows = {"fill": 400, "drop": 320}[imputation]
    assert dataset.X.shape == (100, 8) and f"Of {n_rows} rows a random part of 100 was kept" in dataset.description
    again = preparation.prepare(table, "y", ["t", "x"], "none", imputation, limits=limits)
    np.testing.assert_array_equal(dataset.X, again.X)
    x = dataset.X[:, 7]
    assert (np.diff(x[x % 5 > 0]) > 0).sum() > 60 and x.max() > 300 and x.min() < 100  # in their order, from everywhere
    whole = preparation.prepare(table, "y", ["x"], "none", imputation, limits=limits)
    assert whole.n_samples == n_rows and "random part" not in whole.description
    with pytest.raises(UploadError, match="choose fewer columns"):
        preparation.prepare(table, "y", ["t", "x"], limits=Limits(cells=79))


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1.0, 1e150, 1e307])
def test_values_of_any_size_are_scaled(scale):
    x = np.random.default_rng(0).random(50)
    table = table_of("x,y\n" + "".join(f"{float(v * scale)!r},{i % 2}\n" for i, v in enumerate(x)))
    X = preparation.prepare(table, "y", ["x"], "standard").X[:, 0]
    tolerance = 1e-3 if scale == 1e-320 else 1e-9  # subnormal numbers have few digits
    assert abs(X.mean()) < 1e-9 and abs(X.var() - 1) < 1e-9
    np.testing.assert_allclose(X, (x - x.mean()) / x.std(), atol=tolerance)
    ranged = preparation.prepare(table, "y", ["x"], "range").X
    assert ranged.min() == 0 and ranged.max() == 1
    if scale > 1e9:
        with pytest.raises(UploadError, match="without scaling"):
            preparation.prepare(table, "y", ["x"], "none")


def test_task_follows_from_the_target():
    table = table_of("a,grade,word,size\n" + "".join(f"{i},{i % 3},{'xyz'[i % 3]},{i * 0.37}\n" for i in range(40)))
    grades = preparation.prepare(table, "grade", ["a"])
    words = preparation.prepare(table, "word", ["a"])
    sizes = preparation.prepare(table, "size", ["a"])
    assert grades.label_names == {0: "0", 1: "1", 2: "2"} and words.label_names == {0: "x", 1: "y", 2: "z"}
    np.testing.assert_array_equal(grades.y, words.y)
    assert sizes.task == "regression" and sizes.y[2] == 0.74
    assert preparation.prepare(table, "grade", ["a"], task="regression").task == "regression"
    binary = preparation.two_classes(words, 1)
    np.testing.assert_array_equal(binary.y == 1, words.y == 1)
    above = preparation.two_classes(sizes)
    np.testing.assert_array_equal(above.y == 1, sizes.y > np.median(sizes.y))


def test_plane_matches_principal_components_of_scikit_learn():
    from sklearn.decomposition import PCA

    X = np.random.default_rng(1).standard_normal((60, 5)) @ np.diag([5, 3, 1, 1, 1])
    table = table_of(
        "a,b,c,d,e,y\n" + "".join(",".join(map(repr, map(float, row))) + f",{i % 2}\n" for i, row in enumerate(X))
    )
    dataset = preparation.prepare(table, "y", list("abcde"), "none")
    expected = PCA(2, whiten=True).fit_transform(X) * np.sqrt(60 / 59)
    found = preparation.plane(dataset).X
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-8)


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
    ],
)
def test_invalid_preparations_are_refused(changes, expected):
    lines = "".join(f"{i},name {i},7,,{i if i < 5 else ''},{i % 2}\n" for i in range(100))
    asked = {"target": "y", "columns": ["a"]} | changes
    with pytest.raises(UploadError, match=re.escape(expected)) as caught:
        preparation.prepare(table_of("a,name,flat,none,holes,y\n" + lines), **asked)
    if "is '" not in expected:
        check_sentence(caught.value)
