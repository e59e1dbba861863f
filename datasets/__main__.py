"""Command line of the data sets: `python -m datasets list` and `python -m datasets fetch NAME ...`.

Exit codes: 0 success, 1 failure, 2 invalid usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from typing import TextIO

from .papers.catalogue import describe, names
from .papers.download import FetchError, fetch
from .papers.files import status


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        return _list() if options.command == "list" else _fetch(options.names)
    except KeyboardInterrupt:
        print("\ninterrupted: no incomplete files are left", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}",  # installed under another name
        description="Data are searched in this package, in the folder named by RFF_DATA, and in the cache.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="show all data sets and where they are")
    fetching = commands.add_parser("fetch", help="download data sets into the cache")
    fetching.add_argument("names", nargs="+", metavar="NAME", choices=names(), help=", ".join(names()))
    return parser


def _list() -> int:
    row = "{:<10} {:>7} {:>6}  {:<15} {}".format
    print(row("name", "n", "d", "task", "where"))
    for name in names():
        info = describe(name)
        print(row(name, info.n_samples, info.n_features, info.task, status(name)))
    return 0


def _fetch(wanted: Sequence[str]) -> int:
    failures = 0
    for name in dict.fromkeys(wanted):
        progress = _Progress(sys.stderr)
        try:
            message = fetch(name, progress)
        except FetchError as error:
            failures += 1
            progress.end()
            print(error, file=sys.stderr)
        else:
            progress.end()
            print(message)
    return 1 if failures else 0


class _Progress:
    """Progress of a download: a line that is rewritten on a terminal, elsewhere a new line every tenth."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._rewrites = stream.isatty()
        self._address = None
        self._last = None
        self._open_line = False

    def __call__(self, address: str, received: int, expected: int | None) -> None:
        if address != self._address:
            self.end()
            self._address, self._last = address, None
            print(f"downloading {address}", file=self._stream)
        # Without a length from the server, every 10 MB counts as a tenth.
        step = int(time.monotonic() * 10) if self._rewrites else received * 10 // (expected or 100_000_000)
        if step == self._last and received != expected:
            return
        self._last = step
        percent = f" ({received / expected:.0%})" if expected else ""
        before, after = ("\r", "") if self._rewrites else ("", "\n")
        print(f"{before}  {received:,} bytes{percent}", end=after, file=self._stream, flush=True)
        self._open_line = self._rewrites

    def end(self) -> None:
        """End the line that is being rewritten."""
        if self._open_line:
            print(file=self._stream)
            self._open_line = False


if __name__ == "__main__":
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # see datasets/__init__.py
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main())
