"""Tables as people bring them are read as an expert reads them; every guess has a note and can be taken back.

Half of the cases mislead: they look like a case of another kind.
"""

from __future__ import annotations

import io
import time
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from bad_files import parquet

from datasets.tables import body, readers
from datasets.tables.readers import read
from datasets.tables.roles import left_out, notes_on_left_out, suggest_columns, suggest_targets
from datasets.tables.table import Table, UploadError, quoted
from datasets.tables.uploads import read_table
from tests import workbooks


def table_of(head: str, *rows: str, times: int = 1, **choices: str) -> Table:
    return read("\n".join(([head] if head else []) + list(rows) * times), choices=choices)


def shown(table: Table, name: str) -> list[str]:
    return [table.column(name).shown(row) for row in range(table.n_rows)]


def notes(table: Table) -> str:
    own = [f"{quoted(column.name)}: {column.note}" for column in table.columns if column.note]
    return " ".join([*table.notes, *(guess.note for guess in table.guesses), *own])


UPLOADS = Path(__file__).with_name("uploads")
#: File, rows, names, kinds by their first letters, targets that are right, columns left out, and words of the notes.
READ = """
01_thousands.tsv | 12 | Id A B | nnn | A B | Id | “12,500” was read as 12500
02_thousands_quoted.csv | 12 | a price y | nnn | y | a | “12,500” was read as 12500
03_currency_percent.csv | 12 | price share y | nnn | y | | “%” was taken off
04_numbers_as_names.csv | 12 | 0 1 classes | nnt | classes | | its numbers count the columns
06_all_text_no_names.data | 15 | - | tttt | - | * | its texts recur below it
07_row_number_sorted.csv | 20 | Id a Species | nnt | Species | Id |
08_excel_sep.csv | 12 | a b | nn | b | |
09_qid.pasted | 12 | label x1 x2 | nnn | label | | qid, were left out
11_only_column_dropped.csv | 12 | Month Sales | dn | Sales | |
12_comment_first.csv | 12 | a b | nn | b | | 1 line above the table was left out
p01b_pasted_german_sheet.txt | 24 | name wert farbe | tnt | farbe wert | name | “1,00” was read as 1
p02_units_row.csv | 24 | step temperature pressure state | nnnt | state | | “degC hPa”
p03_format_row.rdb.txt | 24 | agency site day flow flow_cd | tndnt | flow | agency flow_cd | 3 lines above
p05_footnote.csv | 24 | ward day amount | tdn | amount | ward | 1 line below the table was left out
p06_stars_missing.csv | 24 | year jan feb kind | nnnt | kind | | 3 cells, such as “*****”, count as missing
p07_station_line.csv | 24 | date sun cloud total wind | dnnnn | wind | | “7031 SOME PLACE AK -9.0”
p08_quotes_in_tsv.tsv | 24 | - | tt | - | column_2 | a row
p09_class_first.csv | 40 | letter xbox ybox edges | tnnn | letter | |
p10_median_value.csv | 40 | longitude latitude rooms income median_flat_value near | nnnnnt | median_flat_value | |
p10c_status_first.csv | 40 | status duration amount credit_risk | tnnt | credit_risk | |
p11_presence.arff | 24 | bread milk total | ttt | total | | ? was read as not “t”
p13_two_digit_years.csv | 24 | who begin days kind | tdnt | kind | | read as 1978-10-22, the month first
p14_date_with_word.csv | 24 | begin end days kind | ddnt | kind | | 2 cells, such as “Still open”, count as missing
p16_quote_in_name.arff | 24 | a Swan's_song class | ntt | class | a |
p17_mac_roman.csv | 24 | name points kind | tnt | kind name | | read as Mac Roman
p20_one_long_line.csv | 59 | a b kind | nnt | kind | | 1 line with other than 3 cells was left out, the first line 32
p23_date_names.csv | 24 | Region 1/22/20 1/23/20 1/24/20 | tnnn | 1/23/20 1/24/20 | * |
p25_timestamp.csv | 60 | user item rating timestamp | nnnd | rating | | read as dates
p27_date_value_semicolon.csv | 24 | Datum Wert | dn | Wert | |
p31_comments.csv | 24 | year mean unc | nnn | mean | unc | 2 lines above
p32_day_month_two_digits.csv | 24 | when x kind | dnt | kind | | read as 2013-01-02, the day first
p34_parts_at_top.xlsx | 24 | a b kind | nnt | kind | a |
"""


@pytest.mark.parametrize("line", READ.strip().splitlines(), ids=lambda line: line.partition(" ")[0])
def test_a_table_is_read_as_an_expert_reads_it(line):
    file, rows, names, kinds, targets, out, words = map(str.strip, line.split("|"))
    if file.endswith("xlsx"):
        pytest.importorskip("python_calamine", reason="python-calamine is not installed")
    table = read((UPLOADS / file).read_bytes(), file)
    assert table.n_rows == int(rows) and "".join(column.kind[0] for column in table.columns) == kinds
    if names == "-":
        names = " ".join(f"column_{place}" for place in range(1, len(kinds) + 1))
    assert [name.replace(" ", "_") for name in table.names] == names.split()
    target = suggest_targets(table)[0]
    assert targets == "-" or target in targets.split()
    assert out == "*" or {name.replace(" ", "_") for name in left_out(table, target)} == set(out.split())
    assert words in notes(table)


# --- columns --------------------------------------------------------------------------------------------------------

SALES = "950 & 1,047 & 12,500 & 999 & 2,288"
SALES_READ = "950 1047 12500 999 2288"
#: What separates cells, two cells of another column, cells, their values (none: they are texts), and words of the note.
COLUMNS = [
    ("\t", "1 2", SALES, SALES_READ, "was read as"),
    (",", "1 2", SALES, SALES_READ, "was read as"),
    (";", "3,5 2,25", "950 & 1.047 & 12.500", "950 1047 12500", "was read as"),
    (",", "1 2", "1'234.50 & 999.25 & 12’000.00", "1234.5 999.25 12000", "was read as"),
    (";", "1 2", "1 234,5 & 1\u00a0234,75 & 9,5", "1234.5 1234.75 9.5", "was read as"),
    (";", "1 2", "1.234.567 & 12 & 1.000", "1.23457e+06 12 1000", "was read as"),
    ("\t", "1 2", "1,234.50 & 12,000.25", "1234.5 12000.2", "was read as"),
    ("\t", "1 2", "-1,047 & +2,288 & 5", "-1047 2288 5", "was read as"),
    (",", "1 2", "$10.50 & $1,200.00 & -$3.25", "10.5 1200 -3.25", "“$” was taken off"),
    (",", "1 2", "7.47% & 10 % & 0%", "7.47 10 0", "“%” was taken off"),
    (";", "1 2", "10,50 € & 1.200,00 €", "10.5 1200", "“€” was taken off"),
    (";", "1 2", "0,125 & 1,250 & 2,375", "0.125 1.25 2.375", "was read as"),  # no group begins with 0
    (";", "0,5 1,25", "1,234 & 2,345 & 9,876", "1.234 2.345 9.876", "was read as"),  # the neighbour tells
    (";", "0.5 1.25", "1,234 & 2,345 & 9,876", "1234 2345 9876", "was read as"),
    (";", "1 2", "3,142 & 2,718 & 1,414", "3.142 2.718 1.414", "though it could be 3142"),
    (",", "1 2", "1.234 & 2.345 & 9.876", "1.234 2.345 9.876", ""),
    (";", "3,5 2,25", "1.234 & 0.345 & 9.876", "1.234 0.345 9.876", ""),
    (";", "1 2", "1.5 & 2.25 & 1e-3", "1.5 2.25 0.001", ""),
    *(  # texts with digits
        ("\t", "1 2", cells, "", "")
        for cells in (
            *("1,2 & 1,2,3 & 2,3", "12,34,567 & 1,234 & 5", "$10 & €20 & $30", "10 % & 20 & 30 %", "1$2 & 3$4 & 5$6"),
            *("1-2 & 3-4 & 5-6", "123 45 & 678 90 & 111 22", "v1.2.3 & v1.2.4 & v1.3.0", "192.168.1.1 & 10.0.0.1"),
            *(
                "12:30 & 73:45",
                "8170/3 & 8500/3",
                "31/12/2019 & 12/31/2019",
                "1.2.03 & 1.2.04",
                "1/2 & 3/4",
                "Mai 1 2000 & Juni 1 2000",
            ),
            *("5 of 2000 & 6 of 2001", "30.02.2020 & 1.1.2020", "2020Q5 & 2020Q1", "20Q1 & 20Q2", "1990-91 & 1991-92"),
        )
    ),
    *(
        ("\t", "1 2", cells, dates, "though it could be" * (dates[0] == "!"))
        for cells, dates in (
            ("2012/01/31 & 2012/02/01", "2012-01-31 2012-02-01"),
            ("04:28 & 17:36:05", "04:28 17:36:05"),
            ("2010/01/01 00:00 & 2010/01/01 06:30", "2010-01-01 2010-01-01_06:30:00"),
            ("31.12.2019 & 1.1.2020", "2019-12-31 2020-01-01"),
            ("12/31/2019 & 1/2/2020", "2019-12-31 2020-01-02"),
            ("31/12/2019 & 2/1/2020", "2019-12-31 2020-01-02"),
            ("1/2/2020 & 2/3/2020", "!2020-01-02 2020-02-03"),
            ("19-Sep-03 & 1-Oct-99", "2003-09-19 1999-10-01"),
            ("Jan-1-1995 & Feb 1 1995", "1995-01-01 1995-02-01"),
            ("January 1, 2000 & December 31, 2000", "2000-01-01 2000-12-31"),
            ("Jan 2000 & 1949-02 & 1991 Jul", "2000-01-01 1949-02-01 1991-07-01"),
            ("Sat Aug 14 2010 & Sunday, Aug 15 2010", "2010-08-14 2010-08-15"),
            ("1/31/2019 11:30 PM & 2/1/2019 1:05 AM", "2019-01-31_23:30:00 2019-02-01_01:05:00"),
            ("2020Q1 & 2020-Q2 & Q3-2021", "2020-01-01 2020-04-01 2021-07-01"),
            ("1/2/2020 & 2020-01-02 06:30", "!2020-01-02 2020-01-02_06:30:00"),
            ("2020-01-01T12:00:00+02:00 & 2020-01-01", "2020-01-01_10:00:00 2020-01-01"),
        )
    ),
]


@pytest.mark.parametrize(("separator", "other", "cells", "values", "words"), COLUMNS)
def test_a_column_is_read_whatever_stands_in_its_cells(separator, other, cells, values, words):
    cells, other = cells.split(" & "), other.split()
    rows = [f'"{cell}"{separator}{other[i % 2]}' for i, cell in enumerate(cells * 6)]
    table = table_of(f"x{separator}y", *rows)
    expected = values.lstrip("!").replace("_", ";").split() or cells
    assert [one.replace(" ", ";") if values else one for one in shown(table, "x")] == expected * 6
    assert (table.column("x").kind == "text") == (not values)
    assert words in table.column("x").note if words else not table.column("x").note


@pytest.mark.parametrize(
    ("key", "rows", "taken", "other"),
    [
        ("decimal mark", ["3,142;1", "2,718;2"], "3.142 2.718", "point: 3142 2718"),
        ("order of dates", ["1/2/2020;1", "2/3/2020;2"], "2020-02-01 2020-03-02", "month first: 2020-01-02 2020-02-03"),
        ("missing marks", ["NA;1", "?;2"], " ", "only empty cells: NA ?"),
        ("missing marks", ["1;1", "2;2", "3;3", "-999;5"], "1 2 3 ", "only empty cells: 1 2 3 -999"),
        ("kind of column 1", ["1.200,5;1", "n/k;2", "3;3"], "1.200,5 n/k 3", "number: 1200.5  3"),
        ("kind of column 1", ["$5;1", "$1,000;2", "free;3"], "$5 $1,000 free", "number: 5 1000 "),
        (
            "kind of column 1",
            ["1/2/2020;1", "31/12/2020;2", "soon;3"],
            "1/2/2020 31/12/2020 soon",
            "date: 2020-02-01 2020-12-31 ",
        ),
        ("kind of column 1", ["20200201;1", "later;2"], "20200201 later", "date: 2020-02-01 "),
        ("kind of column 1", ["2;1", "1;2"], "2 1", "text: 2 1"),
    ],
)
def test_a_guess_can_be_taken_back(key, rows, taken, other):
    table = table_of("x;y", *rows, times=6)
    assert shown(table, "x") == taken.split(" ") * 6
    answer, values = other.split(": ")
    chosen = table_of("x;y", *rows, times=6, **{key: answer})
    assert shown(chosen, "x") == values.split(" ") * 6 and "could be" not in notes(chosen)
    assert any(guess.key == key and answer in guess.others for guess in table.guesses) or key.startswith("kind")


def test_kinds_can_be_chosen_in_files_whose_columns_have_types():
    svm = "".join(f"{i % 2} 1:{i % 4} 2:2020010{1 + i % 9}\n" for i in range(20))
    file = parquet({"a": [0.1 + 0.2, 5.0] * 10, "b": ["7", "x"] * 10})
    arff = "@relation r\n@attribute a {1,2}\n@attribute b {u,v}\n@data\n" + "1,u\n2,v\n" * 6
    for data, kinds, first in (
        (svm, "text date", "0"),
        (file, "text number", "0.30000000000000004"),
        (arff, "number", "1"),
    ):
        places = range(2 if data is svm else 1, 4)
        choices = {f"kind of column {place}": kind for place, kind in zip(places, kinds.split(), strict=False)}
        table = read(data, choices=choices)
        own = table.columns[1 if data is svm else 0]
        assert own.kind == kinds.split()[0] and own.shown(0) == first
    with pytest.raises(UploadError, match="No value of “b” is a date"):
        read(arff, choices={"kind of column 2": "date"})


@pytest.mark.parametrize("mark", ["#NULL!", "#DIV/0!", "NaT", "-", "?", "\\N", "<NA>", "#N/A", "-nan", ""])
def test_marks_of_missing_values_are_missing(mark):
    assert shown(table_of("x,y", "1.5,1", f"{mark},2", "2.5,3", times=5), "x") == ["1.5", "", "2.5"] * 5


def test_a_cell_among_a_hundred_may_have_a_unit():
    for n, kind in ((100, "number"), (40, "text")):
        column = table_of("x,y", *(f"{i}.5,{i}" for i in range(n)), "39 g,1").column("x")
        assert column.kind == kind and "“39 g”" in column.note


@pytest.mark.parametrize("cells", ["- +", "NA EU AF AS SA", "none_at_all a b"])
def test_a_value_that_looks_like_a_mark_of_missing_values_stays(cells):
    table = table_of("x,y", *(f"{cell},{i}" for i, cell in enumerate(cells.split())), times=6)
    assert table.column("x").n_missing == 0


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        *((name, [f"202001{i}" for i in range(10, 32)], "date") for name in ("date", "Datum", "birth_day", "YYYYMMDD")),
        ("code", [f"202001{i}" for i in range(10, 32)], "number"),
        ("date", [f"202001{i}" for i in range(10, 33)], "number"),  # the 32nd
        ("month_of_date", [f"2020{i}" for i in range(10, 13)], "date"),
        ("date", [f"2020{i}" for i in range(10, 14)], "number"),  # the 13th month
        ("candidate", [f"9020{i:04d}" for i in range(20)], "number"),
    ],
)
def test_digits_are_dates_below_the_name_of_one(name, cells, kind):
    column = table_of(f"{name},y", *(f"{cell},{i % 3}" for i, cell in enumerate(cells * 4))).columns[0]
    assert column.kind == kind and bool(column.note) == (kind == "date")


@pytest.mark.parametrize(
    ("others", "marks"),
    [
        *(
            (range(10, 30), [-999]),
            ([0.5 * i for i in range(20)], [-200]),
            (range(1, 6), [99]),
            (range(-20, 30), [-9999]),
        ),
        (range(647, 2040, 60), [-200]),  # the gap is smaller than the range, but no other is below 0
        *(([20.5, 30.25, 40, 60], [999.9]), (range(-20, 30), [-999, -200])),
        (range(-100, 100, 9), [-99, None]),  # among others: none is missing, as in all below
        *((range(0, 999, 50), [999, None]), (range(20, 80), [99, None]), (range(0, 41310, 1000), [99999, None])),
        *(([0, 1] * 6, [-9, None]), (range(10, 30), [-1, None]), (range(10, 30), [-350, None])),
    ],
)
def test_only_a_number_far_from_all_others_counts_as_missing(others, marks):
    cells = [*marks[: 1 if None in marks else 2], *others] * 3
    table = table_of("x,y", *(f"{cell},{i % 3}" for i, cell in enumerate(cells)))
    assert table.column("x").n_missing == (0 if None in marks else 3 * len(marks))
    assert all((f"{mark:g} counts as missing" in notes(table)) for mark in marks if None not in marks)


# --- names and lines ------------------------------------------------------------------------------------------------

IRIS = [f"{4.5 + i / 10:.1f},{3 + i % 3},{['red', 'blue'][i % 2]}" for i in range(12)]
VOTES = ["republican,n,y,n", "republican,n,y,y", "democrat,?,y,y", "democrat,n,y,n", "democrat,y,y,y"]
WORDS = [f"word {i},{i * 1.5}" for i in range(12)]


@pytest.mark.parametrize(
    ("first", "rows"),
    [
        *(("0,1,classes", IRIS), ("0,1,2", IRIS), ("1,2,3", IRIS), ("a,3,kind", IRIS)),
        ("country,1990,2000", [f"{name},{i},{i * i}" for i, name in enumerate("abcdefghijkl")]),
        ("1990,1995,2000", [f"{i},{i * i},{7 * i}" for i in range(12)]),
        (",0,1", [f"{i},{i / 7:.3f},{i % 2}" for i in range(12)]),
        ("day,2020-01-01,2020-01-02", [f"d{i},{i},{i % 5}" for i in range(12)]),
        ("n,y,x,party", [f"{row.partition(',')[2]},{row.partition(',')[0]}" for row in VOTES * 3]),
        ("year,inf,unem", [f"{1960 + i},{i / 7:.3f},{i % 5}.5" for i in range(12)]),  # inflation
        ("word,other", [f"w{i},o{i}" for i in range(12)]),
        *((f"{mark},points", WORDS) for mark in ("#", "# a", "#id")),  # no comment
        *((name, WORDS) for name in ("<b>size</b>,y", "{x},y", "[a],y", "<script>,y")),  # no document
        *(("", IRIS), ("", VOTES * 3), ("", ["1,2,3"] * 12), ("", WORDS)),
        ("", [f"{3 * i},{3 * i + 1},{3 * i + 2}" for i in range(12)]),  # rows that count on
        ("", [f"{1990 + i},{1995 + i},{i}" for i in range(12)]),  # years that are data
        ("", [f"{1990 + i},{2000 + i}" for i in range(12)]),
        ("", [f"2020-01-{i + 10},{'ab'[i % 2]}" for i in range(12)]),
        ("", ["oops,1.5,2.5", *(f"{i},1.5,2.5" for i in range(12))]),  # one stray text above numbers
    ],
)
def test_a_line_of_names_is_told_from_a_row(first, rows):
    table = table_of(first, *rows)
    names = [name.lstrip("# ") or name for name in first.split(",")] if first else [""]
    assert table.n_rows == len(rows) and table.names[0] == (names[0] or "column 1")
    assert first or "first line was read as a row" in notes(table)
    other = {"names at line": "none", "begins at line": "1"} if first else {"names at line": "1"}
    assert first[:1] == "#" or table_of(first, *rows, **other).n_rows == len(rows) + (1 if first else -1)


PAIRS = [f"{i};{i % 3 * 2.5}" for i in range(12)]


@pytest.mark.parametrize(
    ("above", "head", "rows", "separator"),
    [
        ("# made by an instrument\n", "a;b", PAIRS, ";"),
        ("# one, two\n# three\n", "a,b", [row.replace(";", ",") for row in PAIRS], ","),
        ("Sales of 1990\n", "a;b", PAIRS, ";"),
        ("Sales of 1990;;\n\n", "a;b;c", [f"{row};{row[0]}" for row in PAIRS], ";"),
        ("# " + "long comment\n# " * 300 + "end\n", "a;b", PAIRS, ";"),
        ("12;4;yes\n", "a;b;c;d;e", [f"{row};1;2;{row[0]}" for row in PAIRS], ";"),  # numbers of rows and of inputs
        ("", "a;b", PAIRS, ";"),
        ("title;;\n;;\n", "a;b;c", [f"{row};x" for row in PAIRS], ";"),  # a padded line
        ("", "a,b,c", [f'"{i}", "{i % 3 * 2.5}" , "x"' for i in range(12)], ","),
        ("", "a  b   c", [f"{i} {i % 3 * 2.5}   x" for i in range(12)], " "),
        ("", '"a" "b" "c"', [f'  "r{i}"   {i % 3 * 2.5}  x ' for i in range(12)], " "),
        ("", "a\t\tb\tc", [f"{i}\t{i % 3 * 2.5}\tx" for i in range(12)], "\t+"),
        ("", "a|b", [f"x;{i}|{i % 3 * 2.5}" for i in range(12)], "|"),
        ("", "a, b, c", [f"{i}, {i % 3 * 2.5}, x y" for i in range(12)], ","),
        ("", "a\tb\tc", [f"{i}\t{i % 3 * 2.5}\tone, two" for i in range(12)], "\t"),
        ("", "   a     b      c", [f"{i:4}  {i % 3 * 2.5}  {'up to' * (i % 2)} one" for i in range(12)], "  "),
        ("", "# a b   b  c d", [f"{i} {i % 3 * 2.5} {i}" for i in range(12)], " "),
        ('"A title" \n', "a,b,c", [f"{i},{i % 3 * 2.5},{i}" for i in range(12)], ","),
    ],
)
def test_separators_and_lines_above_the_table_are_found(above, head, rows, separator):
    table = read(above + "\n".join([head, *rows]))
    assert table.guesses[0].taken == separator and body.SEPARATORS[separator] in table.format
    assert table.names[:2] in (("a", "b"), ("a b", "b")) and table.n_rows == len(rows) and shown(table, "b")[1] == "2.5"
    n_above = sum(map(bool, above.splitlines()))
    assert f"{n_above} line" in notes(table) if n_above else not notes(table).strip()


def test_places_separate_cells_where_no_sign_does():
    rows = [f"{i:4d} {'Ohio St' if i % 2 else 'Oregon':8s} {'' if i % 3 else i / 4:5} {i % 2}" for i in range(30)]
    table = table_of("   a b            c d", *rows)
    assert table.names == ("a", "b", "c", "d") and shown(table, "b")[:2] == ["Oregon", "Ohio St"]
    assert table.column("c").n_missing == 20 and "split by position" in notes(table)


def test_rows_with_gaps_at_an_end_belong_to_the_body():
    table = table_of("a,b,c,d", "1,2,3,4", "5,6,7,8", "9,8,7,6", times=6)
    assert read("a,b,c,d\n" + "1,2,3,4\n" * 12 + "5,***,***,***\n").n_rows == 13 and table.n_rows == 18
    rare = table_of("id,x,y,z,u", *(f"case {i},,{'MUT' * (i % 5 == 0)},,{'ab'[i % 2]}" for i in range(20)))
    assert rare.n_rows == 20 and rare.names[2] == "y"
    words = table_of("alloy,size,phase,t,u,v", "Be,1,A,2,3,4", "Li,,B,,,", times=6)
    assert words.n_rows == 12
    below = read("".join(f"  {i} {i * 1.5}\n" for i in range(20)) + "\n% what\n% the columns\n% hold, in words\n")
    assert below.n_rows == 20 and below.names == ("column 1", "column 2")


def test_lines_of_the_body_can_be_chosen():
    lines = ["Report", "a,b", *(f"{i},{i % 3}" for i in range(20)), "Sum,"]
    guesses = {guess.key: guess.taken for guess in table_of("", *lines).guesses if guess.key in body.LINES}
    assert guesses == {"begins at line": "3", "names at line": "2", "ends at line": "22"}
    part = table_of("", *lines, **{"begins at line": "5", "ends at line": "16"})
    assert part.names == ("a", "b") and shown(part, "a") == [str(i) for i in range(2, 14)]
    for answer in ({"begins at line": "x"}, {"begins at line": "30"}, {"names at line": "40"}, {"names at line": ""}):
        with pytest.raises(UploadError, match="row"):
            table_of("", *lines, **answer)


def test_names_that_are_one_cell_shorter_or_longer_than_the_rows():
    table = table_of('"size" "kind"', *(f'"{i}" {i * 1.5} "{"ab"[i % 2]}"' for i in range(1, 13)))  # by R
    assert table.names == ("column 1", "size", "kind") and shown(table, "size")[1] == "3"
    assert left_out(table, "kind") == {"column 1": "it counts the rows"}
    table = table_of("a,b", *(f"{i},{i % 2}," for i in range(12)))
    assert table.names == ("a", "b", "column 3") and table.columns[2].kind == "empty"


def test_signs_within_cells():
    table = table_of("colour,y", "#ff0000,1", "#00ff00,2", times=6)  # no comment
    assert shown(table, "colour")[:2] == ["#ff0000", "#00ff00"]
    text = 'a,b\n"x\ry",1\n"x\r\ny",2\n' + '"z\nw",3\n' * 10
    assert read(text).columns[0].categories == ("x\ny", "z\nw")


# --- what columns are for -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "start"), [("Id", 1), ("Id", 0), ("", 0), ("", 1), ("anything", 1)])
def test_a_column_that_counts_the_rows_is_left_out_with_a_note(name, start):
    table = table_of(f"{name},a,Species", *(f"{i + start},{41 * i % 87},{'AB'[i // 10]}" for i in range(20)))
    assert suggest_columns(table, "Species") == ("a",)
    assert notes_on_left_out(table, "Species") == [f"“{name or 'column 1'}” was left out: it counts the rows."]


@pytest.mark.parametrize(
    ("names", "cell", "kept"),
    [
        ("day,a,y", lambda i: i + 1, True),  # time counts too
        ("id,a,y", lambda i: i // 3, True),  # of groups of rows
        *(
            ("a,b,y", lambda i: 20 - i, True),
            ("a,b,y", lambda i: i * 2, True),
            ("number of rooms,a,y", lambda i: i % 5, True),
        ),
        *((name, lambda i: 1000 + 37 * i % 101, False) for name in ("customer_id,a,y", "PassengerId,a,y", ",a,y")),
        *((name, lambda i: 1000 + 37 * i % 101, True) for name in ("paid,a,y", "number_of_days,a,y", ",,y")),
        ("word,a,y", lambda i: f"name {i}", False),
        *((",a,y", lambda i: i // 2, True), (",a,y", lambda i: i * 1.5, True)),
    ],
)
def test_only_numbers_and_texts_of_single_rows_are_left_out(names, cell, kept):
    table = table_of(names, *(f"{cell(i)},{41 * i % 87},{i % 2}" for i in range(20)))
    assert (table.names[0] in suggest_columns(table, "y")) == kept


def test_a_column_with_the_classes_of_the_target_is_left_out_with_a_note():
    table = table_of("a,kind_id,kind,b,c", *(f"{41 * i % 87},{i % 3 + 1},{'xyz'[i % 3]},1,1" for i in range(24)))
    assert left_out(table, "kind")["kind_id"] == "each of its values stands for one class of the target"
    assert "“b”, “c” were left out, each because it has the same value in every row." in notes_on_left_out(table, "a")
    only = table_of("kind_id,kind", *(f"{i % 3 + 1},{'xyz'[i % 3]}" for i in range(24)))
    assert suggest_columns(only, "kind") == ("kind_id",)


@pytest.mark.parametrize(
    ("names", "row", "target"),
    [
        ("PassengerId,Survived,Pclass,Sex,Embarked", "{0},{1},{2},m,S", "Survived"),
        ("X,Y,month,area", "{2},{3},mar,{0}.5", "area"),
        ("class,shape,habitat", "{1},x,{2}", "class"),
        ("a,b,c", "{0}.5,{2},{1}", "c"),
        ("x,y", "{0}.5,{1}", "y"),
        ("species,day", "{1},2020-01-0{2}", "species"),
        ("income_class,age,size", "{1},{2},{3}", "income_class"),
        ("kind,height,width,name", "k{1},{0}.5,{3}.25,name {0}", "kind"),
        ("rownames,sales,b,c,d", "{0}9,{0}.5,{1},{2},{3}", "sales"),
        ("length,a,b", "{0}.5,{1},{2}", "length"),  # the only one that is measured
        ("length,type,a", "{0}.5,{1},{2}", "length"),  # of a factor such a name says less
        ("id,diet,pulse,kind", "{3},d{2},{0}.5,k{1}{2}", "pulse"),
        ("kind,height,width", "k{1},{0}.5,{3}.25", "kind"),
        ("length,colour,ok", "{0}.5,c{2},{1}", "ok"),
        (",limit,student,balance", "{0},{0}.5,{1},{0}.25", "balance"),
        ("rownames,site,Ba,V,Y,Zn", "{0}9,s{2},{0},{0}.5,{3}.5,{0}.25", "site"),  # a chemical element
        ("y,rep,row", "{0}.5,{1},{2}", "y"),
        ("a,b,latitude", "{0}.5,{3}.25,{0}.125", "a"),
        ("a,b,year", "{0}.5,{3}.25,19{0}", "a"),
    ],
)
def test_the_target_is_found_by_name_and_place(names, row, target):
    rows = [row.format(i, i % 2, 1 + i % 3, 2 + i % 7) for i in range(24)]
    assert suggest_targets(table_of(names, *rows))[0] == target


@pytest.mark.slow
def test_a_target_among_many_columns_is_found_in_linear_time():
    names = ",".join(f"c{j}" for j in range(500))
    table = table_of(names, *(",".join(f"{(i + j) * 37 % 101}.5" for j in range(500)) for i in range(100)))
    begun = time.process_time()
    assert suggest_targets(table)[0] == "c499" and len(suggest_columns(table, "c499")) == 499
    assert time.process_time() - begun < 2  # 0.1; with a look at all columns for each, 10


# --- other formats --------------------------------------------------------------------------------------------------

ROWS = [["size", "kind", "day", "large"], *([i * 0.5, "ab"[i % 2], f"2020-01-{i + 1:02d}", i > 5] for i in range(12))]


class TestWorkbooks:
    @pytest.fixture(autouse=True)
    def calamine(self):
        pytest.importorskip(
            "python_calamine", reason="python-calamine is not installed: `make` installs what is locked"
        )

    @pytest.mark.parametrize("name", ["x.xlsx", "x.csv", ""])
    def test_a_sheet_is_read_like_a_file_whatever_its_name(self, name):
        table = read(workbooks.workbook(Data=[["Sales of 1990"], [], *ROWS]), name)
        assert table.names == ("size", "kind", "day", "large") and table.format == "sheet “Data” of a workbook"
        assert [column.kind for column in table.columns] == ["number", "text", "date", "text"]
        np.testing.assert_array_equal(table.columns[0].values, np.arange(12) / 2)

    def test_the_first_sheet_with_two_columns_is_read_and_another_can_be_chosen(self):
        more = [["a", "b"], *([i, -i] for i in range(20))]
        data = workbooks.workbook(Remarks=[["nothing here"]], Data=ROWS, More=more)
        (guess,) = [guess for guess in read(data).guesses if guess.key == "sheet"]
        assert guess.taken == "Data" and guess.others == ("Remarks", "More") and "“Data”" in guess.note
        assert read(data, choices={"sheet": "More"}).names == ("a", "b")
        with pytest.raises(UploadError, match="No sheet of the workbook has two columns"):
            read(data, choices={"sheet": "Remarks"})

    def test_numbers_and_texts_are_read_exactly(self):
        numbers = [5e-324, -1e308, 0.1, 2**53, 1e15, 123456789012, -0.5, *map(float, range(5))]
        words = ["x", "a,b", "<b>", "“q”", "é", " y", "1 2 3", "#", "=1+1", "w", "v", "u"]
        table = read(workbooks.workbook(Data=[["n", "w"], *map(list, zip(numbers, words, strict=True))]))
        assert table.columns[0].values.tolist() == numbers
        assert [table.columns[1].categories[code] for code in table.columns[1].values] == list(map(str.strip, words))


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
PLAIN_ARFF = "@relation r\n@attribute a real\n@attribute b string\n@attribute num {x, y}\n@data\n"


SUNNY = "sunny,1,?,1,x,yes\n" * 6


@pytest.mark.parametrize(
    ("text", "kinds", "first"),
    [
        (
            ARFF + "'light rain',2.5,'2020-01-01',2,'it, too',no\n" * 6 + SUNNY,
            "tndttt",
            "light rain|2.5|2020-01-01|2|it, too|no",
        ),
        (ARFF + '"light rain",?,"2020-01-01",2,none,no\n' * 6 + SUNNY, "tndttt", "light rain||2020-01-01|2|none|no"),
        (PLAIN_ARFF + "1.5  'two words'\tx\n-2 x y\n" * 8, "ntt", "1.5|two words|x"),
        (PLAIN_ARFF + "{1 'two words', 2 y}\n{}\n{0 -1}\n" * 4, "ntt", "0|two words|y"),
        (PLAIN_ARFF + "{}\n{0 -1, 1 u}\n{0 5,2 y}\n" * 4, "ntt", "0||x"),
        ("@relation r\n@attribute m date yyyyMM\n@attribute t real\n@data\n" + "201912,1\n" * 12, "dn", "2019-12-01|1"),
    ],
)
def test_arff_gives_names_and_kinds(text, kinds, first):
    table = read(text)
    assert "".join(column.kind[0] for column in table.columns) == kinds and table.format == "ARFF"
    assert [column.shown(0) for column in table.columns] == first.split("|")
    assert (
        "num" not in table.names or suggest_targets(table)[0] == "num"
    )  # the last one by custom, though the name may be that of an id


def test_bytes_and_dates_of_parquet():
    words, days = ["größe", "b", None] * 10, ["2020-01-01", "2020-01-02T12:00"] * 15
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        file = {
            "w": pa.array([w and w.encode() for w in words], kind),
            "d": np.array(days, "M8[us]"),
            "y": [True, False] * 15,
        }
        table = read(parquet(file))
        assert shown(table, "w")[:3] == ["größe", "b", ""] and shown(table, "d")[:2] == [
            "2020-01-01",
            "2020-01-02 12:00:00",
        ]
        assert table.column("y").values.tolist() == [1, 0] * 15


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("table.csv", "a,b\n1,2\n")
    return file.getvalue()


ROW_12 = ARFF + "{}\n" * 12
#: A file, and the sentence that refuses it.
REFUSED = [
    ("@relation x\n@data\n1,2\n", "no line of @attribute"),
    ("@relation x\n@attribute a relational\n@data\n", "has the kind “relational”"),
    ("@relation x\n@attribute a\n@data\n", "Line 2 is “@attribute a”"),
    ("@relation x\nhello\n@data\n", "Line 2 is “hello”"),
    (ARFF + "sunny,1\n" * 12, "Line 12 has 2 cells; there are 6 lines of @attribute"),
    *(
        (ROW_12.replace("{}", row), "Line 12 is “{.*”; positions from 0 to 5")
        for row in ("{9 1}", "{99999999999 1}", "{1 2, 1 3}")
    ),
    ("@relation x\n" + "@attribute a{1}\n" * 600_000, "501 columns; at most 500"),
    ("<!DOCTYPE html>\n<html><body>a,b\n1,2</body></html>" * 20, "a web page"),
    ("\n  <html lang='en'>\n<head>" * 20, "a web page"),
    ('<?xml version="1.0"?>\n<rows/>' * 20, "a web page or XML"),
    *((text * 20, "is JSON") for text in ('{"a": [1]}', '[{"a": 1},\n {"a": 3}]', '{"a": 1}\n', "[[1, 2], [3, 4]]")),
    (zipped(), "The file is a zip archive; CSV"),
    (workbooks.workbook(Data="<worksheet>" + " " * 60_000_000 + "</worksheet>"), r"expand to 60\.0 MB; at most 50 MB"),
    (parquet({"w": pa.array([b"\xff"] * 30), "y": list(range(30))}), "“w” of the Parquet file has the type “binary”"),
    (parquet({"a": [[1]] * 20, "y": [1] * 20}), "has the type “list"),
    ("# comment\na,b\n" + "1,2\n" * 4 + "1,2,3\n" * 2 + "1,2\n" * 10, "Line 7 has 3 cells, most lines have 2"),
    *(
        (text, "more than 131072 characters")
        for text in (f"a,b\n{'x' * 140_000},1\n", f"{PLAIN_ARFF}1,{'x' * 140_000},x\n")
    ),
    ("a,b\n1,2\n", "The table has 1 row; at least 10 are needed"),
]


@pytest.mark.parametrize(("data", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_is_no_table_is_refused_at_once_in_one_sentence(data, words):
    begun = time.process_time()
    for name in ("x.csv", "") if data[:1] in ("<", "{", "[") else ("",):
        with pytest.raises(UploadError, match=words):
            read(data, name)
    assert time.process_time() - begun < 2


@pytest.mark.slow
def test_a_cell_in_the_last_place_of_a_sheet_takes_no_memory_of_the_caller():
    far = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    far += '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    with pytest.raises(UploadError):
        read_table(workbooks.workbook(Data=far + "</sheetData></worksheet>"))


def test_every_ending_has_a_format_that_messages_name():
    assert set(readers._BY_ENDING.values()) == set(readers.FORMATS)
