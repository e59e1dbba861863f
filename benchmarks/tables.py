"""Uploaded tables: what is guessed of real files, how long files made to be slow take, and fuzzing of the readers.

    python -m benchmarks.tables guesses                     # the files that installed packages bring
    python -m benchmarks.tables guesses --folder CLONES     # those of public repositories too
    python -m benchmarks.tables hostile
    python -m benchmarks.tables fuzz --seconds 600          # needs `pip install atheris`

`expected_guesses.txt` lists the real files, with what an expert accepts; CLONES holds a clone of each repository.
Nothing of these files is in this repository.
"""

from __future__ import annotations

import argparse
import gzip
import io
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from datasets.tables import preparation, readers, roles
from datasets.tables.table import Limits, UploadError
from datasets.tables.uploads import read_table

EXPECTED = Path(__file__).with_name("expected_guesses.txt")
TITLES = "Files by which the rules were mended", "Files drawn at random afterwards"
PARTS = ("target", "left out", "kinds")


# --- guesses --------------------------------------------------------------------------------------------------------


class Expected(NamedTuple):
    """What an expert says of a file."""

    file: str
    """A package or the folder of a repository, and the path in it"""
    targets: list[str]
    """Any of them is right"""
    out: set[str]
    """Columns to leave out"""
    may_be_out: set[str]
    kinds: str
    """Numbers of columns of text and of dates; - if they are left open"""


def expected() -> Iterator[list[Expected]]:
    """Yield what experts say of the listed files: first files that improved the rules, then files drawn afterwards."""
    for part in EXPECTED.read_text(encoding="utf-8").split("\n[drawn afterwards]\n"):
        cells = [line.split("|") for line in part.splitlines() if line and not line.startswith("#")]
        yield [
            Expected(file.strip(), _names(targets), set(_names(out)), set(_names(may_be_out)), kinds.strip())
            for file, targets, out, may_be_out, kinds in cells
        ]


def _names(cell: str) -> list[str]:
    return [name.strip() for name in cell.split(",") if name.strip()]


def found(file: str, folder: Path | None) -> Path | None:
    """Return where a file is: in an installed package or in the folder of clones; None if it is in neither."""
    first, _, rest = file.partition("/")
    package = find_spec(first)
    own = [Path(package.origin).parent] if package and package.origin else []
    places = [place / rest for place in own] + ([folder / file] if folder else [])
    return next((place for place in places if place.is_file()), None)


def differs(one: Expected, path: Path) -> str:
    """Return the parts in which the guess and the expert differ, as text; "" if there are none."""
    data = path.read_bytes()
    try:
        table = readers.read(*((gzip.decompress(data), path.stem) if path.suffix == ".gz" else (data, path.name)))
    except UploadError as error:
        return f"refused: {error}"
    target, *others = roles.suggest_targets(table)
    out = set(roles.left_out(table, target))
    counts = Counter(column.kind for column in table.columns)
    right = {
        "target": target in one.targets,
        "left out": one.out <= out and (out <= one.out | one.may_be_out or "*" in one.may_be_out),
        "kinds": one.kinds in ("-", f"{counts['text']} {counts['date']}"),
    }
    near = "" if set(others).isdisjoint(one.targets) else " (one click away)"
    return ", ".join(part + near * (part == "target") for part in PARTS if not right[part])


def show_guesses(folder: Path | None) -> None:
    """Print how many guesses agree with the expert, and list the others."""
    for title, listed in zip(TITLES, expected(), strict=True):
        there = {one.file: differs(one, path) for one in listed if (path := found(one.file, folder))}
        wrong = {file: words for file, words in there.items() if words}
        print(f"{title}: {len(there) - len(wrong)} of {len(there)}")
        for file, words in wrong.items():
            print(f"  {file}: {words}")


# --- files made to be slow ------------------------------------------------------------------------------------------


def lines(n: int, line: Callable[[int], str], head: str = "a,b") -> bytes:
    return "\n".join([head, *map(line, range(n))]).encode()


def parquet(columns: dict, **options) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, compression="zstd", compression_level=19, **options)
    return file.getvalue()


def digits_and_x(i: int) -> str:
    return f"{i:0386d}x"


def row(i: int, n: int, cell: Callable[[int], str], between: str = ",") -> str:
    return between.join(cell(n * i + j) for j in range(n))


def files() -> Iterator[tuple[str, bytes, str]]:
    """Yield description, bytes and name of each file."""
    yield "good: 1000 rows", lines(1000, lambda i: f"{i},{i % 2}"), "x.csv"
    yield "digits and x", lines(19_999, lambda i: f"{digits_and_x(i)},{i % 2}"), "x.csv"
    yield "digits and x", lines(19_999, lambda i: f"{digits_and_x(i)};{i % 2}", "a;b"), "x.csv"
    cells = [digits_and_x(i) for i in range(19_999)]
    yield "digits and x", parquet({"a": cells, "b": range(19_999)}, use_dictionary=False), "x.parquet"
    yield "exponents without end", lines(19_999, lambda i: f"1e{i:0390d}x,{i % 2}"), "x.csv"
    yield "nearly dates", lines(19_999, lambda i: f"2020-01-01T00:00:00.{i:09d}+00:0,{i % 2}"), "x.csv"
    head = ",".join(["x"] * 500)
    yield "a million numbers", lines(2000, lambda i: row(i, 500, str), head), "x.csv"
    yield "a million words", lines(2000, lambda i: row(i, 500, lambda k: f"w{k}"), head), "x.csv"
    yield "two million rows", lines(2_000_000, lambda i: f"{i % 10},1"), "x.csv"
    pairs = lines(1990, lambda i: "1 " + row(i, 499, lambda k: f"{k % 499 + 1}:{k % 9}", " "), "1")
    yield "a million of svmlight", pairs, "x.svm"
    yield "one line of svmlight", b"1 1:1" + b" qid:1" * 1_600_000, "x.svm"
    yield "one long number of svmlight", b"1 1:" + b"1" * 9_900_000 + b"x", "x.svm"
    yield "commas", b"," * 9_900_000, "x.csv"
    yield "quotation marks", b'"' * 9_900_000, "x.csv"
    yield "an open quotation mark", b'a,b\n"' + b"\n" * 9_900_000, "x.csv"
    yield "blanks and carriage returns", b" \r" * 4_900_000 + b"a", "x.csv"
    yield "cells of blanks", lines(990, lambda i: " " * 9900 + f"{i},1"), "x.csv"
    names = ",".join("n" * 9000 + f"{i % 250}" for i in range(500))
    yield "500 long names, each twice", lines(1000, lambda i: row(i, 500, str), names), "x.csv"
    yield "UTF-16 beyond its first plane", lines(150_000, lambda i: f"👩{i},1").decode().encode("utf-16"), "x.csv"
    letters = lines(150_000, lambda i: f"gar\x8don {i},1").decode().encode("latin-1")
    yield "letters of another encoding", letters, "x.csv"
    words = [f"{i:06d}" + "é" * 3000 for i in range(8000)]
    yield "48 MB of text", parquet({"a": words, "b": range(8000)}), "x.parquet"


def show_hostile() -> None:
    """Print the time to read and prepare each file."""
    print("| file | kB | s | outcome |\n|---|---|---|---|")
    for what, data, name in files():
        begun = time.perf_counter()
        try:
            said = prepared(read_table(data, name))
        except UploadError as error:
            said = str(error)
        took = time.perf_counter() - begun
        print(f"| {what}, {name[2:]} | {len(data) / 1000:.0f} | {took:.2f} | {said} |", flush=True)


def prepared(table, **options) -> str:
    """Prepare a table as the page does, and return the outcome as text."""
    target = roles.suggest_target(table)
    X = preparation.prepare(table, target, roles.suggest_columns(table, target), **options).X
    return f"{table.n_rows} x {len(table.columns)}, prepared to {X.shape[0]} x {X.shape[1]}"


# --- fuzzing --------------------------------------------------------------------------------------------------------

#: Small limits are reached sooner.
LIMITS = Limits(20_000, 200_000, rows=400, columns=40, cells=4_000, cell_characters=200, classes=8, categories=4)
NAMES = ("table.csv", "table.tsv", "table.svm", "table.parquet", "table")


def one_input(data: bytes) -> None:
    """Read and prepare a file. Its first byte chooses its name. A refusal must be a sentence on one line."""
    if not data:
        return
    try:
        prepared(readers.read(data[1:], NAMES[data[0] % len(NAMES)], LIMITS), limits=LIMITS)
    except UploadError as error:
        if "\n" in str(error) or not str(error).endswith((".", "?")):
            raise AssertionError(f"not a sentence: {error!r}") from error


def fuzz(seconds: int) -> None:
    """Fuzz the readers in this process, guided by their branches. Start from the small bad files of the tests."""
    import atheris

    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "datasets"))
    from bad_files import corpus

    with tempfile.TemporaryDirectory() as seeds:
        for i, file in enumerate(corpus()):
            if len(file.data) < LIMITS.bytes:
                first = NAMES.index(file.name) if file.name in NAMES else len(NAMES) - 1
                (Path(seeds) / f"{i:05d}").write_bytes(bytes([first]) + file.data)
        atheris.instrument_all()
        options = [f"-max_total_time={seconds}", "-rss_limit_mb=2000", "-timeout=20", f"-max_len={LIMITS.bytes}"]
        atheris.Setup([sys.argv[0], *options, seeds], one_input)
        atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("what", choices=("guesses", "hostile", "fuzz"))
    parser.add_argument("--folder", type=Path, metavar="CLONES", help="folder with clones of the repositories")
    parser.add_argument("--seconds", type=int, default=600)
    asked = parser.parse_args()
    if asked.what == "guesses":
        show_guesses(asked.folder)
    elif asked.what == "hostile":
        show_hostile()
    else:
        fuzz(asked.seconds)


if __name__ == "__main__":
    main()
