"""Time to read files made to be slow, and how long they block other threads of the server.

python -m benchmarks.hostile_uploads: each file is read as on the page "Your data", and prepared if it is a table.
"blocked" is the longest time between two turns of a thread that sleeps 1 ms at a time.
"""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from datasets.tables import preparation, roles
from datasets.tables.table import UploadError
from datasets.tables.uploads import read_table
from pages.components.results import your_data as your_data_results


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
    """Description, bytes and name of each file."""
    yield "good: 1000 rows", lines(1000, lambda i: f"{i},{i % 2}"), "x.csv"
    yield "digits and x", lines(2000, lambda i: f"{digits_and_x(i)},{i % 2}"), "x.csv"
    yield "digits and x", lines(19_999, lambda i: f"{digits_and_x(i)},{i % 2}"), "x.csv"
    yield "digits and x", lines(19_999, lambda i: f"{digits_and_x(i)};{i % 2}", "a;b"), "x.csv"
    cells = [digits_and_x(i) for i in range(19_999)]
    yield "digits and x", parquet({"a": cells, "b": range(19_999)}, use_dictionary=False), "x.parquet"
    yield "digits, then x alone", lines(19_999, lambda i: f"{digits_and_x(i)[:-1]},x"), "x.csv"
    yield "exponents without end", lines(19_999, lambda i: f"1e{i:0390d}x,{i % 2}"), "x.csv"
    yield "nearly dates", lines(19_999, lambda i: f"2020-01-01T00:00:00.{i:09d}+00:0,{i % 2}"), "x.csv"
    head = ",".join(["x"] * 500)
    yield "a million numbers", lines(2000, lambda i: row(i, 500, str), head), "x.csv"
    yield "a million words", lines(2000, lambda i: row(i, 500, lambda k: f"w{k}"), head), "x.csv"
    yield (
        "a million of svmlight",
        lines(1990, lambda i: "1 " + row(i, 499, lambda k: f"{k % 499 + 1}:{k % 9}", " "), "1"),
        "x.svm",
    )
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
    words = [f"{i:06d}" + "é" * 3000 for i in range(8000)]
    yield "48 MB of text", parquet({"a": words, "b": range(8000)}), "x.parquet"


class LongestBlock:
    """The longest time between two turns of a thread that sleeps 1 ms at a time."""

    def __enter__(self) -> LongestBlock:
        self.longest, self._over = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *problem) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        last = time.perf_counter()
        while not self._over.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            self.longest, last = max(self.longest, now - last), now


def prepared(table) -> str:
    """Prepare a table as the page does; the outcome as text."""
    your_data_results.first_rows(table)
    target = roles.suggest_target(table)
    try:
        dataset = preparation.prepare(table, target, roles.suggest_columns(table, target))
    except UploadError as error:
        return f"; {error}"
    return f", prepared to {dataset.X.shape[0]} x {dataset.X.shape[1]}"


def main() -> None:
    print("| file | kB | read, s | blocked, s | prepared, s | blocked, s | outcome |")
    print("|---|---|---|---|---|---|---|")
    for what, data, name in files():
        table, begun = None, time.perf_counter()
        with LongestBlock() as reading:
            try:
                table = read_table(data, name)
                said = f"{table.n_rows} x {len(table.columns)}"
            except UploadError as error:
                said = str(error)
        read = time.perf_counter() - begun
        begun = time.perf_counter()
        with LongestBlock() as preparing:
            said += "" if table is None else prepared(table)
        took = time.perf_counter() - begun
        ending = name.rpartition(".")[2]
        numbers = f"{len(data) / 1000:.0f} | {read:.2f} | {reading.longest:.3f} | {took:.2f} | {preparing.longest:.3f}"
        print(f"| {what}, {ending} | {numbers} | {said} |", flush=True)


if __name__ == "__main__":
    main()
