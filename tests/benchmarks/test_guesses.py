"""What *Your data* guesses of real files is what the docs say, and experts' answers name columns that are there."""

from __future__ import annotations

import re

import pytest

from benchmarks import guesses

FIRST, SECOND = guesses.expected()
BROUGHT = [one for one in FIRST if guesses.found(one.file, None)]


def page() -> str:
    begin, end = guesses.MARKS
    return guesses.PAGE.read_text(encoding="utf-8").split(begin)[1].split(end)[0]


@pytest.mark.slow
@pytest.mark.parametrize("one", BROUGHT, ids=lambda one: one.file)
def test_the_docs_have_the_guess_of_a_file_that_a_package_brings(one):
    cells = guesses.row(one, guesses.found(one.file, None))
    assert f"| {' | '.join(cells)} |" in page().splitlines()


def test_enough_files_are_brought_by_packages_and_all_are_listed_once():
    files = [one.file for one in FIRST + SECOND]
    assert len(BROUGHT) >= 20 and len(set(files)) == len(files)
    rows = [line for line in page().splitlines() if line.startswith("| ") and not line.startswith("| file")]
    assert len(rows) == len(files) >= 40


def test_the_numbers_above_the_tables_are_those_of_their_rows():
    parts = re.findall(r"\*\*(.*?): (\d+) of (\d+)\*\*, and (\d+) with.*?\n\n(.*?)(?=\n\n|\Z)", page(), re.DOTALL)
    assert tuple(title for title, *_ in parts) == guesses.TITLES
    for _, right, n, clicks, table in parts:
        rows = table.strip().splitlines()[2:]
        assert (int(right), int(n)) == (sum(row.endswith("| yes |") for row in rows), len(rows))
        assert int(clicks) == table.count("one click away")


@pytest.mark.slow
@pytest.mark.parametrize("one", BROUGHT, ids=lambda one: one.file)
def test_experts_name_columns_that_are_there(one):
    names = set(guesses.table_of(guesses.found(one.file, None)).names)
    assert names & set(one.targets) and one.out <= names


def test_a_guess_that_differs_says_in_what(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text(
        "id,size,day,kind\n" + "".join(f"{i},{i * 37 % 11}.5,2020-01-{i + 1},{'ab'[i % 2]}\n" for i in range(20))
    )

    def last(targets: str, out: str, kinds: str) -> str:
        return guesses.row(guesses.Expected("x/mine.csv", [targets], {out}, set(), kinds), file)[-1]

    assert last("kind", "id", "1 1") == last("kind", "id", "-") == "yes"
    assert last("size", "id", "1 1") == "target (one click away)"
    assert last("day", "id", "1 1") == "target"
    assert last("kind", "size", "2 0") == "left out, kinds"
    file.write_bytes(b"")
    assert last("kind", "id", "-").startswith("refused: The file is empty")
