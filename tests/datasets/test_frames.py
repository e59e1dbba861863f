"""pandas alone, with the arguments that a reading gives, reads the same table; or a sentence says why it cannot."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest
from bad_files import corpus

from datasets.tables.frames import kinds_of, table_of
from datasets.tables.readers import read
from datasets.tables.table import Limits, Table, UploadError

SALES = ("950", "1,047", "12,500", "999", "2,288")
VOTES = ("republican,n,y,n", "republican,n,y,y", "democrat,?,y,y", "democrat,n,y,n", "democrat,y,y,y")
PAIRS = [f"{i};{i % 3 * 2.5}" for i in range(12)]


def by_pandas(data: bytes, ours: Table) -> Table:
    arguments = json.loads(json.dumps(ours.by_pandas))  # as the child process sends them
    return table_of(pd.read_csv(io.BytesIO(data), **arguments), kinds_of(ours))


def assert_same(ours: Table, theirs: Table) -> None:
    assert ours.names == theirs.names
    for column, other in zip(ours.columns, theirs.columns, strict=True):
        assert (column.kind, column.categories) == (other.kind, other.categories), column.name
        np.testing.assert_allclose(column.values, other.values, rtol=1e-15, atol=0, err_msg=column.name)


def lines(head: str, *rows: str, times: int = 1) -> str:
    return "\n".join(([head] if head else []) + list(rows) * times) + "\n"


def cells(*texts: str, separator: str = ";", head: str = "x;y") -> str:
    return lines(head, *(f'"{text}"{separator}{i % 2}' for i, text in enumerate(texts * 6)))


READ = {
    "plain": (lines("a,b", "1,z", "3.5,x", times=6), {}, set()),
    "blanks after commas": (lines("a, b", '1, "2, 3"', "3.5, x", times=6), {}, {"skipinitialspace"}),
    "tabs": (lines("a\tb", "1\t2", " NA\tx", "2\t ", times=6), {}, {"sep", "dtype", "na_values"}),
    "bars": (lines("a|b", "1|2", "3|4", times=6), {}, {"sep"}),
    "blanks": (lines('"a" "b"', '"r 1" 2 x', '"r 2" 3 y', times=6), {}, {"sep", "skiprows", "header", "names"}),
    "separators at the ends": (lines("a,b", "1,2,", "2,3,", times=6), {}, {"skiprows", "header", "names"}),
    "decimal commas": (lines("a;b", "1,5;2", "2,25;3", times=6), {}, {"sep", "decimal"}),
    "thousands": (cells(*SALES), {}, {"sep", "thousands"}),
    "points between thousands": (
        lines("a;b", "1.047;0,5", "12.500;1,25", times=6),
        {},
        {"sep", "decimal", "thousands"},
    ),
    "apostrophes": (cells("1'234.5", "12'000", "5"), {}, {"sep", "thousands"}),
    "thousands and texts like numbers": (
        cells(*SALES, head="x;y").replace(";1", ";1,2,3"),
        {},
        {"sep", "thousands", "dtype"},
    ),
    "no names": (lines("", *VOTES, times=3), {}, {"header", "names", "skiprows", "na_values"}),
    "no names by choice": (lines("a,b", "c,d", "e,f", times=6), {"names": "none"}, {"header", "names", "skiprows"}),
    "repeated names": (lines("a,a,", "1,2,3", "4,5,6", times=6), {}, {"header", "names", "skiprows"}),
    "odd names": (lines('" a","b ""c""\n d"', "1,2", "4,5", times=6), {}, {"header", "names", "skiprows"}),
    "sep=": ("sep=;\n" + lines("a;b", *PAIRS), {}, {"sep", "skiprows"}),
    "comments": ('# one "two"\n\n# three\'s\n' + lines("a,b", "1,2", "2,3", times=6), {}, {"skiprows"}),
    "names in a comment": ("# a b\n" + lines("", "1 2", "2 3", times=6), {}, {"sep", "skiprows", "header", "names"}),
    "a title": ("Sales, 2020\n" + lines("a;b;c", "1;2;3", "2;3;4", times=6), {}, {"sep", "skiprows"}),
    "marks": (lines("a,b", "1,#NULL!", "?,x", "-,y", "2,z", times=6), {}, {"na_values"}),
    "a mark that is a value": (
        lines("a,b", "NA,1", "EU,NA", "AF,3", "AS,4", ",5", times=6),
        {},
        {"na_values", "keep_default_na"},
    ),
    "minus and plus": (lines("a,b", "-,1", "+,-", "+,3", times=6), {}, {"na_values"}),
    "a sentinel": (lines("a,b", "-999,-999", "1,-990", "2,5", "3,6", times=6), {}, {"na_values"}),
    "a sentinel that is a number": (
        lines("a,b", "-999,1", "1,2", "2,5", "3,6", times=6),
        {"-999 in column 1": "a number"},
        set(),
    ),
    "truth values": (lines("a,b", "true,1", "TRUE,2", "false,3", times=6), {}, {"dtype"}),
    "numbers above texts": (lines("a,b", "007,1", "8,2", "x9,3", times=6), {}, {"dtype"}),
    "numbers as texts": (cells("1,5", "2,25"), {"kind of column 1": "text"}, {"sep"}),
    "plain numbers as texts": (lines("a,b", "1,2", "03,4", times=6), {"kind of column 1": "text"}, {"dtype"}),
    "dates as texts": (lines("a,b", "2020-01-31,2", "20200131,4", times=6), {"kind of column 1": "text"}, {"dtype"}),
    "texts as numbers": (lines("a,b", "1.5,2", "x,4", "-7,1", times=6), {"kind of column 1": "number"}, {"na_values"}),
    "texts as decimal commas": (
        cells("1,5", "many", "1.000,25"),
        {"kind of column 1": "number"},
        {"sep", "decimal", "thousands", "na_values"},
    ),
    "texts as dates": (
        lines("a,b", "1/2/2020,2", "x,4", "31/1/2020,1", times=6),
        {"kind of column 1": "date"},
        {"na_values"},
    ),
    "texts as dates without marks": (
        lines("a,b", "20200131,2", "x,4", times=6),
        {"kind of column 1": "date"},
        {"na_values", "parse_dates", "date_format"},
    ),
    "day first": (lines("a,b", "1/2/2020,2", "2/3/2020,4", times=6), {"dates in column 1": "day/month/year"}, set()),
    "day first by semicolons": (lines("a;b", "1/2/2020;2", "2/3/2020;4", times=6), {}, {"sep"}),
    "only empty cells are missing": (
        lines("a,b", "NA,2", ",4", "x,1", times=6),
        {"missing marks": "only empty cells"},
        {"na_values", "keep_default_na"},
    ),
    "large numbers": (lines("a,b", f"{10**19},1", f"{10**20},2", "1e999,inf", times=6), {}, {"dtype", "na_values"}),
    "dates": (lines("a,b", "31/12/2019,1", "2/1/2020,2", ",3", times=6), {}, set()),
    "dates without marks": (
        lines("date,b", "20200131,1", "20191201,2", "NA,3", times=6),
        {},
        {"parse_dates", "date_format"},
    ),
    "quarters": (lines("when,b", "2020Q1,1", "2020-Q4,2", times=6), {}, set()),
    "two sentinels": (lines("a,b", "-999,1", "-200,2", "5,3", "60,4", "7,5", times=6), {}, {"na_values"}),
    "quoted lines": (lines("a,b", '"x\ny",1', '"say ""z""",2', times=6), {}, set()),
    "blank lines": (lines("a,b", "1,2", "", " ", "3,4", times=6), {}, set()),
    "no value": (lines("a,b,c", "1,,?", "2,NA,", times=6), {}, {"na_values"}),
    "hashes": (lines("#,colour", "1,#ff0000", "2,#00ff00", times=6), {}, {"skiprows", "header", "names"}),
}


@pytest.mark.slow
@pytest.mark.parametrize(("text", "choices", "names"), READ.values(), ids=READ)
def test_pandas_reads_the_same_with_these_arguments(text, choices, names):
    ours = read(text, choices=choices)
    assert not isinstance(ours.by_pandas, str), ours.by_pandas
    assert set(ours.by_pandas) == names
    assert_same(ours, by_pandas(text.encode(), ours))


@pytest.mark.second("reads a thousand files, half of them twice")
def test_pandas_reads_the_same_of_bad_files():
    n_read = 0
    for file in corpus():
        try:
            ours = read(file.data, file.name, Limits(**file.limits))
        except UploadError:
            continue
        if not isinstance(ours.by_pandas, str):
            assert_same(ours, by_pandas(file.data, ours))
            n_read += 1
    assert n_read > 300


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_pandas_is_told_the_encoding(encoding):
    data = lines("größe,b", "1,ä", "2,é", times=6).encode(encoding)
    ours = read(data)
    assert ours.by_pandas == ({} if encoding == "utf-8-sig" else {"encoding": encoding})
    assert_same(ours, by_pandas(data, ours))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (cells("$1.5", "$2"), "does not take “$” off the numbers of “x”"),
        (cells("1 234", "12 000"), "no blanks between the thousands of “x”"),
        (lines("a;b", "1,5;2.5", "2,25;3.5", times=6), "in several ways"),
        (lines("a;b", "1,234.5;2'000", "2,225.25;3'333", times=6), "in several ways"),
        (lines("a\t\tb\tc", "1\t2.5\tx", "2\t3.5\ty", times=6), "between runs of tabs"),
        ('# 5" wide\n' + lines("a,b", "1,2", "2,3", times=6), "is not closed"),
        (
            lines("a\tb", *(f"{' ' * (i + 1)}NA\t{i}" for i in range(100)), *map("{0}\t{0}".format, range(9))),
            "too many",
        ),
        (
            "@relation r\n@attribute a numeric\n@attribute b {1,2}\n@data\n" + "1,2\n2,1\n" * 6,
            "no reader of this format",
        ),
        ("1 1:2 2:3\n0 1:5\n" * 6, "no reader of this format"),
    ],
)
def test_what_pandas_cannot_read_the_same_has_a_reason(data, reason):
    assert reason in read(data).by_pandas


def test_a_frame_of_numbers_texts_and_dates_is_a_table():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": ["2020-01-01", "2020-01-03"], 4: [1.5, np.inf]})
    table = table_of(frame)
    assert table.names == ("a", "b", "c", "4")
    assert [column.kind for column in table.columns] == ["number", "text", "date", "number"]
    assert table.columns[1].categories == ("x",) and table.columns[3].n_missing == 1
