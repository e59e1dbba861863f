"""What *Your data* guesses of real files, next to what an expert takes them for, as the table of docs/tables.md.

    python -m benchmarks.guesses                            # the files that installed packages bring
    python -m benchmarks.guesses --folder CLONES --write    # those of public repositories too, into docs/tables.md

`expected_guesses.txt` lists the files, with what an expert accepts; CLONES holds a clone of each repository. A file is
read as the page reads it. Nothing of these files is in this repository.
"""

from __future__ import annotations

import argparse
import gzip
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchmarks.engine.table import write
from benchmarks.studies.frame import markdown
from datasets.tables.readers import read
from datasets.tables.roles import left_out, suggest_targets
from datasets.tables.table import Table, UploadError

EXPECTED = Path(__file__).with_name("expected_guesses.txt")
PAGE = Path(__file__).parents[1] / "docs" / "tables.md"
MARKS = "<!-- guesses: begin, written by `python -m benchmarks.guesses --write` -->", "<!-- guesses: end -->"
TITLES = "Files by which the rules were mended", "Files drawn at random afterwards"
PARTS = ("target", "left out", "kinds")
HEADER = ("file", "rows x columns", "target", "numbers, texts, dates", "left out", "as an expert")


class Expected(NamedTuple):
    """What an expert takes a file for."""

    file: str
    """A package or the folder of a repository, and the path in it"""
    targets: list[str]
    """Any of them is right"""
    out: set[str]
    """Columns to leave out"""
    may_be_out: set[str]
    kinds: str
    """Numbers of columns of text and of dates; - if they are left open"""


def expected() -> tuple[list[Expected], list[Expected]]:
    """What experts take the listed files for: those by which the rules were mended, and those drawn afterwards."""
    first, second = EXPECTED.read_text(encoding="utf-8").split("\n[drawn afterwards]\n")
    return _expected(first), _expected(second)


def _expected(lines: str) -> list[Expected]:
    cells = [line.split("|") for line in lines.splitlines() if line and not line.startswith("#")]
    return [
        Expected(file.strip(), _names(targets), set(_names(out)), set(_names(may_be_out)), kinds.strip())
        for file, targets, out, may_be_out, kinds in cells
    ]


def _names(cell: str) -> list[str]:
    return [name.strip() for name in cell.split(",") if name.strip()]


def found(file: str, folder: Path | None) -> Path | None:
    """Where a file is: in an installed package or in the folder of clones; None if it is in neither."""
    first, _, rest = file.partition("/")
    package = find_spec(first)
    own = [Path(package.origin).parent] if package and package.origin else []
    places = [place / rest for place in own] + ([folder / file] if folder else [])
    return next((place for place in places if place.is_file()), None)


def table_of(path: Path) -> Table:
    """A file as the page reads it, once it is unpacked."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        return read(gzip.decompress(data), path.stem)
    return read(data, path.name)


def row(one: Expected, path: Path) -> list[str]:
    """A row of the table for a file; the last cell has the parts in which the guess and the expert differ."""
    name = f"{one.file.partition('/')[0]}: {_short(one.file)}"
    try:
        table = table_of(path)
    except UploadError as error:
        return [name, "", "", "", "", f"refused: {error}"]
    target, *others = suggest_targets(table)
    out = set(left_out(table, target))
    counts = Counter(column.kind for column in table.columns)
    kinds = f"{counts['text']} {counts['date']}"
    right = {
        "target": target in one.targets,
        "left out": one.out <= out and (out <= one.out | one.may_be_out or "*" in one.may_be_out),
        "kinds": one.kinds in ("-", kinds),
    }
    offered = not set(others).isdisjoint(one.targets)
    words = {"target": "target (one click away)" if offered else "target"}
    differs = ", ".join(words.get(part, part) for part in PARTS if not right[part])
    shown = f"{', '.join(sorted(out)[:3])}{f' and {len(out) - 3} more' if len(out) > 3 else ''}"
    size = f"{table.n_rows} x {len(table.columns)}"
    numbers = f"{counts['number']}, {counts['text']}, {counts['date']}"
    return [name, size, f"`{target}`", numbers, shown and f"`{shown}`", differs or "yes"]


def _short(file: str) -> str:
    """The name of a file, of those of OpenML with the folder that tells them apart."""
    path = Path(file)
    return f"{path.parent.name}/{path.name}" if path.parent.name.startswith("id_") else path.name


def rows(listed: list[Expected], folder: Path | None) -> Iterator[list[str]]:
    """A row for each listed file that is there."""
    for one in listed:
        if path := found(one.file, folder):
            yield row(one, path)


def part(title: str, body: list[list[str]]) -> str:
    """A table under the number of its files that are taken as an expert takes them."""
    right = sum(cells[-1] == "yes" for cells in body)
    clicks = sum("one click away" in cells[-1] for cells in body)
    return f"**{title}: {right} of {len(body)}**, and {clicks} with another target one click away.\n\n" + markdown(
        HEADER, body
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--folder", type=Path, metavar="CLONES", help="folder with clones of the repositories")
    parser.add_argument("--write", action="store_true", help="write the table into docs/tables.md")
    asked = parser.parse_args()
    bodies = (list(rows(listed, asked.folder)) for listed in expected())
    text = "\n\n".join(part(title, body) for title, body in zip(TITLES, bodies, strict=True) if body)
    print(text)
    if asked.write:
        write(PAGE, text, MARKS)


if __name__ == "__main__":
    main()
