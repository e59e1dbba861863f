"""What commands write: files, standard output, and the progress on stderr."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Self

FIRST_SECONDS, MORE_SECONDS = 2.0, 10.0
"""Before the first line of progress where none is rewritten, and between others"""


class Output:
    """Output of a command: a file, standard output or none.

    A file that cannot be written, or that is one of `inputs`, is refused at once.
    """

    def __init__(self, name: str | None, option: str = "--output", inputs: Iterable[str | Path] = ()):
        self._name, self._path = name, None if name in (None, "-") else Path(name)
        if self._path is None:
            return
        folder = self._path.parent
        if not folder.is_dir():
            raise ValueError(f"{option} is {name!r}; there is no folder {folder}.")
        if self._path.is_dir():
            raise ValueError(f"{option} is {name!r}; that is a folder.")
        if not os.access(folder, os.W_OK):
            raise ValueError(f"{option} is {name!r}; one may not write in the folder {folder}.")
        for given in inputs:
            if same_file(self._path, given):
                raise ValueError(f"{option} is {name!r}; that is the input {str(given)!r}; another file is needed.")

    def write(self, text: str) -> None:
        if self._name == "-":
            sys.stdout.write(text)
        elif self._path and self._path.exists() and not self._path.is_file():
            self._path.write_text(text, encoding="utf-8")  # a device or a pipe cannot be replaced
        elif self._path:
            # A new folder has no file to overwrite and no link to follow.
            with tempfile.TemporaryDirectory(prefix=".rff-", dir=self._path.parent) as folder:
                partial = Path(folder) / self._path.name
                partial.write_text(text, encoding="utf-8", newline="")
                os.replace(partial, self._path)


def same_file(one: str | Path, other: str | Path) -> bool:
    """Return whether two paths name one file, through links as well; neither has to exist."""
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


class Progress:
    """What a command is doing, on stderr: a line rewritten on a terminal; else one after 2 s, and every 10 s."""

    def __init__(self, doing: str):
        self._doing, self._share = doing, 0.0
        self._start = self._shown = time.monotonic()
        self._rewrites = sys.stderr.isatty()
        self._printing = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.clear()

    def show(self, doing: str, share: float = 0.0) -> None:
        """Say what happens from now on; `share` of all work is done, or 0 if that is unknown."""
        self._doing, self._share = doing, share

    def clear(self) -> None:
        """Make room for a line of the command itself."""
        if self._rewrites:
            with self._printing:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _tick(self) -> None:
        wait = 0.5 if self._rewrites else FIRST_SECONDS
        while not self._ended.wait(wait):
            wait = 0.5 if self._rewrites else MORE_SECONDS
            before, after = ("\r\x1b[K", "") if self._rewrites else ("", "\n")
            with self._printing:
                print(f"{before}{self._line()}", end=after, file=sys.stderr, flush=True)

    def _line(self) -> str:
        spent, share = time.monotonic() - self._start, self._share
        if not share:
            return f"{self._doing}, {duration(spent)}"
        return f"{share:4.0%}, {duration(spent * (1 / share - 1))} left: {self._doing}"


def duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"
