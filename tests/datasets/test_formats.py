"""Workbooks, ARFF, text without a mark in Parquet, and documents that hold no table."""

from __future__ import annotations

import random
import time
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from bad_files import parquet

from datasets.tables import readers
from datasets.tables.readers import read
from datasets.tables.roles import suggest_target
from datasets.tables.table import Limits, UploadError
from datasets.tables.uploads import read_table
from tests import workbooks

# --- workbooks ------------------------------------------------------------------------------------------------------

ROWS = [["size", "kind", "day", "large"], *([i * 0.5, "ab"[i % 2], f"2020-01-{i + 1:02d}", i > 5] for i in range(12))]


@pytest.fixture
def calamine():
    pytest.importorskip("python_calamine", reason="python-calamine is not installed: `make` installs what is locked")


@pytest.mark.usefixtures("calamine")
class TestWorkbooks:
    def test_a_sheet_is_read_like_a_file(self):
        table = read(workbooks.workbook(Data=ROWS), "x.xlsx")
        assert table.names == ("size", "kind", "day", "large") and table.n_rows == 12
        assert [column.kind for column in table.columns] == ["number", "text", "date", "text"]
        np.testing.assert_array_equal(table.columns[0].values, np.arange(12) / 2)
        assert table.format == "sheet “Data” of a workbook"

    def test_the_content_tells_a_workbook_whatever_its_name(self):
        assert read(workbooks.workbook(Data=ROWS), "x.csv").n_rows == read(workbooks.workbook(Data=ROWS)).n_rows == 12

    def test_the_first_sheet_with_two_columns_is_read_and_another_can_be_chosen(self):
        data = workbooks.workbook(
            Remarks=[["nothing here"]], Data=ROWS, More=[["a", "b"], *([i, -i] for i in range(20))]
        )
        table = read(data)
        (guess,) = [guess for guess in table.guesses if guess.key == "sheet"]
        assert guess.taken == "Data" and guess.others == ("Remarks", "More") and "“Data”" in guess.note
        assert read(data, choices={"sheet": "More"}).names == ("a", "b")
        with pytest.raises(UploadError, match="No sheet of the workbook has two columns"):
            read(data, choices={"sheet": "Remarks"})

    def test_a_title_above_the_names_is_skipped(self):
        assert read(workbooks.workbook(Data=[["Sales of 1990"], [], *ROWS])).names == ("size", "kind", "day", "large")

    def test_numbers_and_texts_are_read_exactly(self):
        numbers = [5e-324, -1e308, 0.1, 2**53, 1e15, 123456789012, -0.5, *map(float, range(5))]
        words = ["x", "a,b", "<b>", "“q”", "é", " y", "1 2 3", "#", "=1+1", "w", "v", "u"]
        table = read(workbooks.workbook(Data=[["n", "w"], *map(list, zip(numbers, words, strict=True))]))
        assert table.columns[0].values.tolist() == numbers
        assert [table.columns[1].categories[code] for code in table.columns[1].values] == list(map(str.strip, words))

    @pytest.mark.parametrize("seed", range(20))
    def test_damaged_workbooks_are_refused_or_read(self, seed):
        rng = random.Random(seed)
        data = bytearray(workbooks.workbook(Data=ROWS))
        for _ in range(rng.randint(1, 30)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        for broken in (bytes(data), bytes(data[: rng.randrange(4, len(data))])):
            try:
                assert read(broken, "x.xlsx").n_rows >= 10
            except UploadError as error:
                assert "\n" not in str(error) and str(error).endswith(".")

    def test_limits_hold_for_sheets(self):
        with pytest.raises(UploadError, match="at least 10"):
            read(workbooks.workbook(Data=[[f"c{j}" for j in range(26)], *([[1] * 26] * 9)]))

    @pytest.mark.slow
    def test_a_cell_in_the_last_place_of_a_sheet_takes_no_memory_of_the_caller(self):
        far = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        far += '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
        with pytest.raises(UploadError):
            read_table(workbooks.workbook(Data=far + "</sheetData></worksheet>"))


@pytest.mark.slow
def test_a_workbook_that_would_expand_is_refused_before_it_does():
    bomb = workbooks.workbook(Data="<worksheet>" + " " * 60_000_000 + "</worksheet>")
    assert len(bomb) < 100_000
    begun = time.process_time()
    with pytest.raises(UploadError, match=r"expand to 60\.0 MB; at most 50 MB"):
        read(bomb)
    assert time.process_time() - begun < 0.5


def test_an_archive_that_is_no_workbook_is_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("table.csv", "a,b\n1,2\n")
    with pytest.raises(UploadError, match="The file is a zip archive; CSV"):
        read((tmp_path / "x.zip").read_bytes(), "x.zip")


# --- ARFF -----------------------------------------------------------------------------------------------------------

ARFF = """% a comment
@RELATION weather

@attribute outlook {sunny, overcast, 'light rain'}
@ATTRIBUTE 'air temperature' real
@attribute day date "yyyy-MM-dd"
@attribute grade {1,2,3}
@attribute remark string
@attribute play {yes, no}
@data
% rows
"""


def arff_of(*rows: str, times: int = 12) -> str:
    return ARFF + "\n".join(list(rows) * times)


@pytest.mark.parametrize("quote", "'\"")
def test_arff_gives_names_and_kinds(quote):
    row = "'light rain',20.5,'2020-01-01',2,'it, too',no".replace("'", quote)
    table = read(arff_of("sunny,?,2020-01-02,1,none,yes", row), "x.arff")
    assert table.names == ("outlook", "air temperature", "day", "grade", "remark", "play")
    assert [column.kind for column in table.columns] == ["text", "number", "date", "text", "text", "text"]
    assert [column.shown(1) for column in table.columns] == ["light rain", "20.5", "2020-01-01", "2", "it, too", "no"]
    assert table.columns[1].missing[0] and table.columns[4].shown(0) == "none"  # only ? is missing
    assert table.format == "ARFF" and table.n_rows == 24


def test_blanks_and_tabs_separate_cells_of_arff_that_has_no_commas():
    text = "@relation r\n@attribute a real\n@attribute b string\n@attribute num real\n@data\n"
    table = read(text + "1.5  'two words'\t0.5\n-2 x 0.25\n" * 8)
    assert table.names == ("a", "b", "num") and [column.shown(0) for column in table.columns] == [
        "1.5",
        "two words",
        "0.5",
    ]
    assert suggest_target(table) == "num"  # the last one by custom, though its name is that of an id


def test_sparse_arff_has_zeros_and_first_values_where_nothing_is_written():
    text = "@relation s\n@attribute a numeric\n@attribute b numeric\n@attribute c {x, y}\n@data\n"
    table = read(text + "{1 2.5, 2 y}\n{}\n{0 -1}\n" * 4)
    assert [[column.shown(i) for column in table.columns] for i in range(3)] == [
        ["0", "2.5", "y"],
        ["0", "0", "x"],
        ["-1", "0", "x"],
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@relation x\n@data\n1,2\n", "no line of @attribute"),
        ("@relation x\n@attribute a relational\n@data\n", "has the kind “relational”"),
        ("@relation x\n@attribute a\n@data\n", "Line 2 is “@attribute a”"),
        ("@relation x\nhello\n@data\n", "Line 2 is “hello”"),
        (arff_of("sunny,1"), "Line 12 has 2 cells; there are 6 lines of @attribute"),
        (arff_of("{9 1}"), "Line 12 has “9 1”; a position from 0 to 5"),
        (arff_of("{99999999999 1}"), "a position from 0 to 5"),
        (arff_of("{1 2, 1 3}"), "Line 12 has the position 1 twice"),
        ("@relation x\n" + "@attribute a numeric\n" * 501, "501 columns; at most 500"),
    ],
)
def test_a_faulty_arff_file_is_refused_by_its_line(text, expected):
    with pytest.raises(UploadError, match=expected):
        read(text, "x.arff")


def test_a_million_attributes_are_refused_at_once():
    text = "@relation x\n" + "@attribute a{1}\n" * 600_000
    begun = time.process_time()
    with pytest.raises(UploadError, match="columns; at most 500"):
        read(text)
    assert time.process_time() - begun < 2


def test_arff_rows_are_bounded():
    table = read(arff_of("sunny,1,2020-01-01,1,x,yes", times=30), limits=Limits(rows=20))
    assert table.n_rows == 20 and "Of 30 rows a random part of 20 was read" in table.notes[-1]


# --- Parquet, and what is no table ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()])
def test_bytes_in_parquet_are_text_if_they_are_utf8(kind):
    words = ["größe", "b", None] * 10
    column = read(parquet({"w": pa.array([w and w.encode() for w in words], kind), "y": list(range(30))})).columns[0]
    assert column.kind == "text" and [column.shown(i) for i in range(3)] == ["größe", "b", ""]
    with pytest.raises(UploadError, match="“w” of the Parquet file has bytes that are not UTF-8"):
        read(parquet({"w": pa.array([b"\xff"] * 30, kind), "y": list(range(30))}))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("<!DOCTYPE html>\n<html><body>a,b\n1,2</body></html>", "a web page"),
        ("\n  <html lang='en'>\n<head>", "a web page"),
        ('<?xml version="1.0"?>\n<rows/>', "a web page or XML"),
        ('{"a": [1, 2], "b": [3, 4]}', "JSON"),
        ('[{"a": 1, "b": 2},\n {"a": 3, "b": 4}]', "JSON"),
        ('{"a": 1}\n{"a": 2}\n', "JSON"),
        ("[[1, 2], [3, 4]]", "JSON"),
    ],
)
@pytest.mark.parametrize("name", ["x.csv", ""])
def test_web_pages_and_json_are_refused_by_name(text, what, name):
    with pytest.raises(UploadError, match=f"The file is {what}"):
        read(text * 20, name)


@pytest.mark.parametrize("name", ["<b>size</b>", "{x}", "[a]", "<script>", "{}", "<=50"])
def test_a_name_in_brackets_is_no_document(name):
    assert read(f"{name},y\n" + "1,2\n" * 12).names[0] == name


def test_every_ending_has_a_format_that_messages_name():
    assert set(readers._BY_ENDING.values()) == set(readers.FORMATS)
