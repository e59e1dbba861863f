"""Tables as people bring them are read as an expert reads them; every guess has a note and can be taken back.

Half of the cases mislead: they look like a case of another kind.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from bad_files import parquet

from datasets.tables import body
from datasets.tables.readers import read
from datasets.tables.roles import left_out, notes_on_left_out, suggest_columns, suggest_target
from datasets.tables.table import Table, UploadError, quoted


def table_of(head: str, *rows: str, times: int = 1, name: str = "") -> Table:
    return read("\n".join(([head] if head else []) + list(rows) * times), name)


def values(table: Table, name: str) -> list:
    column = table.column(name)
    return column.values.tolist() if column.kind != "text" else [column.shown(i) for i in range(table.n_rows)]


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
p13_two_digit_years.csv | 24 | who begin days kind | tdnt | kind | | read as 1989-01-13, the month first
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
    target = suggest_target(table)
    assert targets == "-" or target in targets.split()
    assert out == "*" or {name.replace(" ", "_") for name in left_out(table, target)} == set(out.split())
    assert words in notes(table)


# --- marks in numbers -----------------------------------------------------------------------------------------------

SALES = ("950", "1,047", "12,500", "999", "2,288")


def column_of(cells, separator=";", head="x;y", other=("1", "2")) -> Table:
    """A table of these cells, quoted where commas separate, and a column of others."""
    rows = [f'"{cell}"{separator}{other[i % len(other)]}' for i, cell in enumerate(list(cells) * 6)]
    return table_of(head.replace(";", separator), *rows)


@pytest.mark.parametrize(
    ("cells", "separator", "other", "numbers", "noted"),
    [
        (SALES, "\t", ("1", "2"), (950, 1047, 12500, 999, 2288), True),
        (SALES, ",", ("1", "2"), (950, 1047, 12500, 999, 2288), True),
        (("950", "1.047", "12.500"), ";", ("3,5", "2,25"), (950, 1047, 12500), True),
        (("1'234.50", "999.25", "12’000.00"), ",", ("1", "2"), (1234.5, 999.25, 12000), True),
        (("1 234,5", "1\u00a0234,75", "9,5"), ";", ("1", "2"), (1234.5, 1234.75, 9.5), True),
        (("1.234.567", "12", "1.000"), ";", ("1", "2"), (1234567, 12, 1000), True),
        (("1,234.50", "12,000.25"), "\t", ("1", "2"), (1234.5, 12000.25), True),
        (("-1,047", "+2,288", "5"), "\t", ("1", "2"), (-1047, 2288, 5), True),
        (("$10.50", "$1,200.00", "-$3.25"), ",", ("1", "2"), (10.5, 1200, -3.25), True),
        (("7.47%", "10 %", "0%"), ",", ("1", "2"), (7.47, 10, 0), True),
        (("10,50 €", "1.200,00 €"), ";", ("1", "2"), (10.5, 1200), True),
        # misleading
        (("0,125", "1,250", "2,375"), ";", ("1", "2"), (0.125, 1.25, 2.375), True),  # no group begins with 0
        (("1,234", "2,345", "9,876"), ";", ("0,5", "1,25"), (1.234, 2.345, 9.876), True),  # the neighbour tells
        (("1,234", "2,345", "9,876"), ";", ("0.5", "1.25"), (1234, 2345, 9876), True),
        (("3,142", "2,718", "1,414"), ";", ("1", "2"), (3.142, 2.718, 1.414), True),  # ambiguous, and said so
        (("1.234", "2.345", "9.876"), ",", ("1", "2"), (1.234, 2.345, 9.876), False),
        (("1.234", "0.345", "9.876"), ";", ("3,5", "2,25"), (1.234, 0.345, 9.876), False),
        (("1.5", "2.25", "1e-3"), ";", ("1", "2"), (1.5, 2.25, 0.001), False),
    ],
)
def test_numbers_are_read_whatever_stands_between_their_digits(cells, separator, other, numbers, noted):
    table = column_of(cells, separator, other=other)
    np.testing.assert_allclose(values(table, "x"), list(numbers) * 6)
    assert ("“x”" in notes(table)) == noted


@pytest.mark.parametrize(
    "cells",
    [
        ("1,2", "1,2,3", "2,3"),  # lists
        ("12,34,567", "1,234", "5"),
        ("$10", "€20", "$30"),  # of two currencies
        ("10 %", "20", "30 %"),
        ("1$2", "3$4", "5$6"),
        ("1-2", "3-4", "5-6"),
        ("123 45", "678 90", "111 22"),  # codes
        ("v1.2.3", "v1.2.4", "v1.3.0"),
        ("192.168.1.1", "192.168.1.2", "10.0.0.1"),
        ("12:30", "13:45", "14:00"),
    ],
)
def test_texts_with_digits_stay_texts(cells):
    table = column_of(cells, "\t")
    assert values(table, "x") == list(cells) * 6


def test_an_ambiguous_comma_is_said_to_be_so_and_can_be_read_the_other_way():
    lines = "x;y\n" + "3,142;1\n2,718;2\n" * 6
    (guess,) = [guess for guess in read(lines).guesses if guess.key == "decimal mark"]
    assert guess.taken == "comma"
    assert read(lines).columns[0].note == "“3,142” was read as 3.142, though it could be 3142."
    for answer, first in (("point", 3142), ("comma", 3.142)):
        assert answer in (guess.taken, *guess.others)
        assert values(read(lines, choices={guess.key: answer}), "x")[0] == first


# --- names ----------------------------------------------------------------------------------------------------------

IRIS = [f"{4.5 + i / 10:.1f},{3 + i % 3},{['red', 'blue'][i % 2]}" for i in range(12)]
VOTES = ["republican,n,y,n", "republican,n,y,y", "democrat,?,y,y", "democrat,n,y,n", "democrat,y,y,y"]


@pytest.mark.parametrize(
    ("first", "rows"),
    [
        ("0,1,classes", IRIS),
        ("0,1,2", IRIS),
        ("1,2,3", IRIS),
        ("a,3,kind", IRIS),
        ("country,1990,2000", [f"{name},{i},{i * i}" for i, name in enumerate("abcdefghijkl")]),
        ("1990,1995,2000", [f"{i},{i * i},{7 * i}" for i in range(12)]),
        (",0,1", [f"{i},{i / 7:.3f},{i % 2}" for i in range(12)]),
        ("day,2020-01-01,2020-01-02", [f"d{i},{i},{i % 5}" for i in range(12)]),
        ("n,y,x,party", [f"{row.partition(',')[2]},{row.partition(',')[0]}" for row in VOTES * 3]),
        ("year,inf,unem", [f"{1960 + i},{i / 7:.3f},{i % 5}.5" for i in range(12)]),  # inflation
        ("word,other", [f"w{i},o{i}" for i in range(12)]),
    ],
)
def test_a_line_of_names_is_recognised(first, rows):
    table = table_of(first, *rows)
    assert table.n_rows == len(rows)
    assert table.names == tuple(name or "column 1" for name in first.split(","))
    as_row = read("\n".join([first, *rows]), choices={"names at line": "none", "begins at line": "1"})
    assert as_row.n_rows == len(rows) + 1 and as_row.names[0] == "column 1"


@pytest.mark.parametrize(
    "rows",
    [
        IRIS,
        VOTES * 3,
        ["1,2,3"] * 12,
        [f"{3 * i},{3 * i + 1},{3 * i + 2}" for i in range(12)],  # rows that count on
        [f"{1990 + i},{1995 + i},{i}" for i in range(12)],  # years that are data
        [f"{1990 + i},{2000 + i}" for i in range(12)],
        [f"0,1,{'ab'[i % 2]}" for i in range(12)],
        [f"word {i},{i * 1.5}" for i in range(12)],
        [f"2020-01-{i + 10},{'ab'[i % 2]}" for i in range(12)],
        ["oops,1.5,2.5", *(f"{i},1.5,2.5" for i in range(12))],  # one stray text above numbers
    ],
)
def test_a_row_is_not_taken_for_names(rows):
    table = table_of("", *rows)
    assert table.n_rows == len(rows) and table.names[0] == "column 1"
    assert "first line was read as a row" in notes(table)
    named = read("\n".join(rows), choices={"names at line": "1"})
    assert named.n_rows == len(rows) - 1


def test_the_first_row_comes_first_though_it_was_read_last():
    table = table_of("", *VOTES, times=3)
    assert values(table, "column 1") == [row.partition(",")[0] for row in VOTES] * 3
    assert table.columns[0].categories == ("republican", "democrat")


# --- lines above the table ------------------------------------------------------------------------------------------

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
    ],
)
def test_lines_above_the_table_are_skipped_with_a_note(above, head, rows, separator):
    table = read(above + "\n".join([head, *rows]))
    assert table.names == tuple(head.split(separator)) and table.n_rows == len(rows)
    assert values(table, "b")[1] == 2.5
    assert f"{sum(map(bool, above.splitlines()))} line" in notes(table)


@pytest.mark.parametrize(
    ("head", "name"), [("#,name,points", "#"), ("# a,name,points", "a"), ("#id,name,points", "id")]
)
def test_names_that_begin_with_a_hash_are_no_comment(head, name):
    table = table_of(head, *(f"{i},word {i},{i * 1.5}" for i in range(12)))
    assert table.names == (name, "name", "points") and table.n_rows == 12


def test_a_hash_within_the_table_is_a_text():
    table = table_of("colour,y", "#ff0000,1", "#00ff00,2", times=6)
    assert values(table, "colour")[:2] == ["#ff0000", "#00ff00"]


def test_messages_count_the_lines_above():
    with pytest.raises(ValueError, match="Line 7 has 3 cells, most lines have 2"):
        read("# comment\na,b\n" + "1,2\n" * 4 + "1,2,3\n" * 2 + "1,2\n" * 10)


# --- what separates cells -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "row", "separator"),
    [
        ("", "{0},5;{1},5", ";"),  # decimal commas without names
        ("a  b   c", "{0} {1}.5   x", " "),
        ("a b c", "  {0}   {1}.5  x ", " "),
        ("a\t\tb\tc", "{0}\t{1}.5\tx", "\t+"),
        ('"a" "b"', '"r{0}" {0} {1}', " "),  # R's write.table
        ("a|b;c", "{0}|{1};x", "|"),
        ("a, b, c", "{0}, {1}, x y", ","),
        ("a\tb", "{0}\tone, two", "\t"),
        ("a,b", "{0},one two", ","),
    ],
)
def test_the_separator_is_found(head, row, separator):
    rows = [row.format(i, i % 3) for i in range(12)]
    table = table_of(head, *rows)
    assert table.guesses[0].key == "separator" and table.guesses[0].taken == separator
    assert body.SEPARATORS[separator] in table.format
    assert table.n_rows == 12 and {len(column.values) for column in table.columns} == {12}


def test_the_names_of_r_are_one_cell_shorter_than_its_rows():
    table = table_of('"size" "kind"', *(f'"{i}" {i * 1.5} "{"ab"[i % 2]}"' for i in range(1, 13)))
    assert table.names == ("column 1", "size", "kind") and values(table, "size")[1] == 3.0
    assert left_out(table, "kind") == {"column 1": "it counts the rows"}


def test_a_separator_at_the_end_of_each_row_makes_an_empty_column():
    table = table_of("a,b", *(f"{i},{i % 2}," for i in range(12)))
    assert table.names == ("a", "b", "column 3") and table.columns[2].kind == "empty"


def test_ranked_svmlight_is_recognised_without_an_ending():
    table = read("".join(f"{i % 3} qid:{i // 4} 1:{500 + i} 2:{i % 7}\n" for i in range(12)))
    assert table.format == "svmlight" and values(table, "x1")[1] == 501


# --- values ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["#NULL!", "#DIV/0!", "NaT", "-", "?", "\\N", "<NA>", "#N/A", "-nan", ""])
def test_marks_of_missing_values_are_missing(mark):
    table = table_of("x,y", "1.5,1", f"{mark},2", "2.5,3", times=5)
    assert table.column("x").kind == "number" and table.column("x").n_missing == 5


@pytest.mark.parametrize(
    ("mark", "others"), [("-", ("+",)), ("NA", ("EU", "AF", "AS", "SA")), ("none at all", ("a", "b"))]
)
def test_a_value_that_looks_like_a_mark_of_missing_values_stays(mark, others):
    table = table_of("x,y", *(f"{cell},{i}" for i, cell in enumerate((mark, *others))), times=6)
    assert table.column("x").n_missing == 0 and mark in table.column("x").categories


def test_months_are_dates_and_other_pairs_of_numbers_are_not():
    months = table_of("month,y", *(f"1949-{i:02d},{i * i}" for i in range(1, 13)))
    assert months.column("month").kind == "date" and months.column("month").shown(1) == "1949-02-01"
    seasons = table_of("season,y", *(f"{1990 + i}-{91 + i % 8},{i * i}" for i in range(12)))
    assert seasons.column("season").kind == "text"


@pytest.mark.parametrize(
    ("dates", "second", "sure"),
    [
        (("2012/01/31", "2012/02/01"), "2012-02-01", True),
        (("2010/01/01 00:00", "2010/01/01 06:30"), "2010-01-01 06:30:00", True),
        (("31.12.2019", "1.1.2020"), "2020-01-01", True),
        (("12/31/2019", "1/2/2020"), "2020-01-02", True),
        (("31/12/2019", "2/1/2020"), "2020-01-02", True),
        (("1/2/2020", "2/3/2020"), "2020-02-03", False),
        (("19-Sep-03", "1-Oct-99"), "1999-10-01", True),
        (("Jan 1 2000", "Feb 1 2000"), "2000-02-01", True),
        (("Jan-1-1995", "Feb-1-1995"), "1995-02-01", True),
        (("January 1, 2000", "December 31, 2000"), "2000-12-31", True),
        (("Jan 2000", "Feb 2000"), "2000-02-01", True),
        (("1/31/2019 11:30 PM", "2/1/2019 1:05 AM"), "2019-02-01 01:05:00", True),
        (("2020Q1", "2020Q4"), "2020-10-01", True),
        (("2020-Q1", "2020 q2"), "2020-04-01", True),
        (("Q1 2020", "Q3-2021"), "2021-07-01", True),
        (("12/31/2019", "2020-01-02"), "2020-01-02", True),
        (("1/2/2020", "2020-01-02 06:30"), "2020-01-02 06:30:00", False),
    ],
)
def test_dates_are_read_in_the_order_of_all_their_column(dates, second, sure):
    table = column_of(dates, "\t")
    assert table.column("x").kind == "date" and table.column("x").shown(1) == second
    assert ("though it could be" in notes(table)) == (not sure)


def test_the_order_of_ambiguous_dates_can_be_taken_back():
    lines = "day;a\n" + "1/2/2020;1\n2/3/2020 06:30;2\n2020-05-06;3\n" * 4
    british, american = (read(lines, choices={"order of dates": order}) for order in ("day first", "month first"))
    assert [british.columns[0].shown(i) for i in range(3)] == ["2020-02-01", "2020-03-02 06:30:00", "2020-05-06"]
    assert [american.columns[0].shown(i) for i in range(2)] == ["2020-01-02", "2020-02-03 06:30:00"]
    (guess,) = [guess for guess in read(lines).guesses if guess.key == "order of dates"]
    assert (guess.taken, *guess.others) == ("day first", "month first")  # as the semicolon has it
    assert british.columns[0].note == "“1/2/2020” was read as 2020-02-01, though it could be 2020-01-02."
    assert read(lines.replace(";", ",")).guesses[-1].taken == "month first"


# --- kinds ----------------------------------------------------------------------------------------------------------

MIXED = "\n".join(
    ["code,size,day,word", *(f"{i % 4},{i if i % 5 else 'tall'},2020-01-{10 + i},w{i % 3}" for i in range(20))]
)


def of_kind(text: str | bytes, kinds: dict[int, str], name: str = "") -> Table:
    return read(text, name, choices={f"kind of column {place}": kind for place, kind in kinds.items()})


def test_the_kind_of_a_column_can_be_chosen():
    assert [column.kind for column in read(MIXED).columns] == ["number", "text", "date", "text"]
    table = of_kind(MIXED, {1: "text", 2: "number", 3: "text"})
    assert [column.kind for column in table.columns] == ["text", "number", "text", "text"]
    assert table.columns[0].categories == ("0", "1", "2", "3") and table.columns[2].categories[0] == "2020-01-10"
    assert table.columns[1].n_missing == 4 and table.columns[1].values[1] == 1  # what is no number is missing
    assert not notes(table).strip() and not table.columns[1].note


@pytest.mark.parametrize(
    ("cells", "kind", "values_read"),
    [
        (("1.200,5", "n/k", "3"), "number", (1200.5, np.nan, 3)),
        (("$5", "$1,000", "free"), "number", (5, 1000, np.nan)),
        (("1/2/2020", "31/12/2020", "soon"), "date", (18293, 18627, np.nan)),
        (("20200201", "later", "20201231"), "date", (18293, np.nan, 18627)),
    ],
)
def test_cells_of_another_kind_than_the_chosen_one_are_missing(cells, kind, values_read):
    lines = "x;y\n" + "".join(f"{cell};{i % 2}\n" for i, cell in enumerate(cells * 4))
    assert read(lines).columns[0].kind == "text"
    np.testing.assert_array_equal(of_kind(lines, {1: kind}).columns[0].values, values_read * 4)


@pytest.mark.parametrize("kind", ["number", "date"])
def test_a_kind_that_no_cell_has_is_refused(kind):
    with pytest.raises(ValueError, match=f"No value of “word” is a {kind}"):
        of_kind(MIXED, {4: kind})


def test_kinds_can_be_chosen_in_files_whose_columns_have_types():
    svm = of_kind("".join(f"{i % 2} 1:{i % 4} 2:2020010{1 + i % 9}\n" for i in range(20)), {2: "text", 3: "date"})
    assert [column.kind for column in svm.columns] == ["number", "text", "date"] and svm.target == "label"
    assert svm.columns[1].categories == ("0", "1", "2", "3") and svm.columns[2].shown(0) == "2020-01-01"
    file = parquet({"a": [0.1 + 0.2, 5.0] * 10, "b": ["7", "x"] * 10})
    typed = of_kind(file, {1: "text", 2: "number"}, "x.parquet")
    assert typed.columns[0].categories == ("0.30000000000000004", "5") and typed.columns[1].n_missing == 10
    arff = "@relation r\n@attribute a {1,2}\n@attribute b {u,v}\n@data\n" + "1,u\n2,v\n" * 6
    assert [column.kind for column in of_kind(arff, {1: "number"}).columns] == ["number", "text"]


def test_marks_of_missing_values_can_be_texts():
    lines = "a,b\n" + "NA,1\n?,2\n,3\n" * 4
    (guess,) = [guess for guess in read(lines).guesses if guess.key == "missing marks"]
    assert (guess.taken, guess.others) == ("?, NA", ("only empty cells",)) and read(lines).columns[0].kind == "empty"
    column = read(lines, choices={guess.key: "only empty cells"}).columns[0]
    assert column.categories == ("NA", "?") and column.n_missing == 4


@pytest.mark.parametrize(
    "texts",
    [
        *[("31/12/2019", "12/31/2019"), ("1.2.03", "1.2.04"), ("1/2", "3/4")],
        *[("Mai 1 2000", "Juni 1 2000"), ("5 of 2000", "6 of 2001"), ("30.02.2020", "1.1.2020")],
        *[("2020Q5", "2020Q1"), ("20Q1", "20Q2")],
    ],
)
def test_texts_that_are_no_dates_stay_texts(texts):
    assert values(column_of(texts, "\t"), "x") == list(texts) * 6


@pytest.mark.parametrize("name", ["date", "Datum", "birth_day", "timestamp", "YYYYMMDD"])
def test_numbers_of_eight_digits_are_dates_below_the_name_of_one(name):
    lines = f"{name},y\n" + "".join(f"202001{i:02d},{i % 3}\n" for i in range(10, 32))
    table = read(lines)
    assert table.columns[0].kind == "date" and table.columns[0].shown(1) == "2020-01-11"
    assert table.columns[0].note == "“20200110” and the like were read as dates."
    for kind in ("date", "number", "text"):
        assert of_kind(lines, {1: kind}).columns[0].kind == kind


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("code", [f"202001{i}" for i in range(10, 32)]),
        ("date", [f"202001{i}" for i in range(10, 33)]),  # the 32nd
        ("date", [f"2020{i}" for i in range(10, 13)]),
        ("candidate", [f"9020{i:04d}" for i in range(20)]),
    ],
)
def test_other_numbers_of_eight_digits_stay_numbers(name, cells):
    table = table_of(f"{name},y", *(f"{cell},{i % 3}" for i, cell in enumerate(cells * 4)))
    assert table.columns[0].kind == "number" and not notes(table).strip()


# --- what columns are for -------------------------------------------------------------------------------------------


def counted(name: str, start: int = 1, n: int = 20) -> Table:
    return table_of(f"{name},a,Species", *(f"{i + start},{41 * i % 87},{'AB'[i // 10]}" for i in range(n)))


@pytest.mark.parametrize(("name", "start"), [("Id", 1), ("Id", 0), ("", 0), ("", 1), ("anything", 1)])
def test_a_column_that_counts_the_rows_is_left_out_with_a_note(name, start):
    table = counted(name, start)
    assert suggest_columns(table, "Species") == ("a",)
    assert notes_on_left_out(table, "Species") == [f"“{name or 'column 1'}” was left out: it counts the rows."]


@pytest.mark.parametrize(
    ("names", "cell", "kept"),
    [
        ("day,a,y", lambda i: i + 1, True),  # time counts too
        ("id,a,y", lambda i: i // 3, True),  # of groups of rows
        ("a,b,y", lambda i: 20 - i, True),
        ("a,b,y", lambda i: i * 2, True),
        ("number of rooms,a,y", lambda i: i % 5, True),
        ("customer_id,a,y", lambda i: 1000 + 37 * i % 101, False),
        ("PassengerId,a,y", lambda i: 892 + i, False),
        ("word,a,y", lambda i: f"name {i}", False),
        ("paid,a,y", lambda i: 1000 + 37 * i % 101, True),  # not “id”
        ("number_of_days,a,y", lambda i: 1000 + 37 * i % 101, True),
        (",a,y", lambda i: 1000 + 37 * i % 101, False),  # names of rows
        (",a,y", lambda i: i // 2, True),
        (",a,y", lambda i: i * 1.5, True),
        (",,y", lambda i: 1000 + 37 * i % 101, True),  # others have no name either
    ],
)
def test_only_numbers_and_texts_of_single_rows_are_left_out(names, cell, kept):
    table = table_of(names, *(f"{cell(i)},{41 * i % 87},{i % 2}" for i in range(20)))
    assert (table.names[0] in suggest_columns(table, "y")) == kept


def test_a_column_with_the_classes_of_the_target_is_left_out_with_a_note():
    table = table_of("a,kind_id,kind", *(f"{41 * i % 87},{i % 3 + 1},{'xyz'[i % 3]}" for i in range(24)))
    assert left_out(table, "kind") == {"kind_id": "each of its values stands for one class of the target"}
    assert not left_out(table, "a")
    only = table_of("kind_id,kind", *(f"{i % 3 + 1},{'xyz'[i % 3]}" for i in range(24)))
    assert suggest_columns(only, "kind") == ("kind_id",)


def test_the_only_input_stays_though_it_counts_the_rows():
    table = table_of("a,b", *(f"{i},{i % 2}" for i in range(12)))
    assert suggest_columns(table, "b") == ("a",)


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
    assert suggest_target(table_of(names, *rows)) == target


# --- sentinels ------------------------------------------------------------------------------------------------------


def with_values(cells) -> Table:
    return table_of("x,y", *(f"{cell},{i % 3}" for i, cell in enumerate(cells)))


@pytest.mark.parametrize(
    ("others", "value"),
    [
        (range(10, 30), -999),
        ([0.5 * i for i in range(20)], -200),
        (range(647, 2040, 60), -200),  # the gap is smaller than the range, but no other is below 0
        (range(1, 6), 99),
        ([20.5, 30.25, 40, 60], 999.9),
        (range(-20, 30), -9999),
    ],
)
def test_a_number_far_from_all_others_counts_as_missing_unless_it_is_chosen(others, value):
    cells = [value, *others, value, value, *others]
    table = with_values(cells)
    assert table.column("x").n_missing == 3 and f"{value:g} counts as missing" in notes(table)
    lines = "x,y\n" + "".join(f"{cell},{i % 3}\n" for i, cell in enumerate(cells))
    kept = read(lines, choices={"missing marks": "only empty cells"})
    assert kept.column("x").n_missing == 0


def test_two_numbers_far_from_all_others_count_as_missing():
    table = with_values([-999, -200, *range(-20, 30)] * 3)
    assert table.column("x").n_missing == 6 and "-999 counts" in notes(table) and "-200 counts" in notes(table)


@pytest.mark.parametrize(
    ("others", "value"),
    [
        (range(-100, 100), -99),  # among others
        (range(0, 999, 50), 999),
        (range(20, 80), 99),  # an age
        (range(0, 41310, 1000), 99999),  # a gain that is cut there
        ([0, 1] * 6, -9),  # too few to tell
        (range(10, 30), -1),
        (range(10, 30), -350),  # not usual as a mark
    ],
)
def test_an_extreme_number_that_may_be_real_stays(others, value):
    table = with_values([value, *others, value, value, *others])
    assert table.column("x").n_missing == 0


@pytest.mark.slow
def test_a_target_among_many_columns_is_found_in_linear_time():
    names = ",".join(f"c{j}" for j in range(500))
    table = table_of(names, *(",".join(f"{(i + j) * 37 % 101}.5" for j in range(500)) for i in range(100)))
    begun = time.process_time()
    assert suggest_target(table) == "c499" and len(suggest_columns(table, "c499")) == 499
    assert time.process_time() - begun < 2  # 0.1; with a look at all columns for each, 10


# --- the body -------------------------------------------------------------------------------------------------------


def test_lines_of_the_body_can_be_chosen():
    lines = "Report\na,b\n" + "".join(f"{i},{i % 3}\n" for i in range(20)) + "Sum,\n"
    table = read(lines)
    assert {guess.key: guess.taken for guess in table.guesses if guess.key in body.LINES} == {
        **{"begins at line": "3", "names at line": "2", "ends at line": "22"}
    }
    part = read(lines, choices={"begins at line": "5", "ends at line": "16"})
    assert part.names == ("a", "b") and values(part, "a") == list(range(2, 14))
    for answer in ({"begins at line": "x"}, {"begins at line": "30"}, {"names at line": "40"}, {"names at line": ""}):
        with pytest.raises(UploadError, match="row"):
            read(lines, choices=answer)


def test_a_cell_beyond_the_limit_of_the_csv_module_is_one_sentence():
    long = "x" * 140_000
    arff = "@relation r\n@attribute a string\n@attribute b numeric\n@data\n"
    for text in (f"a,b\n{long},1\n" + "y,2\n" * 20, f"{arff}{long},1\n" * 1, f"# {long}\na,b\n{long},1\n"):
        with pytest.raises(UploadError, match="more than 131072 characters"):
            read(text)


def test_a_carriage_return_in_a_quoted_cell_is_the_end_of_a_line():
    assert read('a,b\n"x\ry",1\n"x\r\ny",2\n' * 1 + '"z\nw",3\n' * 10).columns[0].categories == ("x\ny", "z\nw")
