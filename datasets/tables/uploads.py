"""Reading of user-uploaded files in a child process under limits of time and memory.

Whatever a file does to the readers, the calling process stays responsive, and gets a table or one sentence. The child
runs `child_process`, which calls `readers`.
"""

from __future__ import annotations

import dataclasses
import errno
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import MappingProxyType

import numpy as np

from .readers import ENDINGS, FORMATS, check_size
from .table import Choices, Limits, Table, UploadError

__all__ = ["ENDINGS", "FORMATS", "read_table"]

CPU_SECONDS = 20
"""Processor time of a child"""
WALL_SECONDS = 60
"""Wall-clock time of a child, on a busy machine"""
MEMORY_BYTES = 1_500_000_000
"""Address space of a child, much of which libraries reserve and never touch"""

_CHILD = Path(__file__).with_name("child_process.py")
_PIPE_BYTES = 1 << 20
_CRASHED = "The file cannot be read: it is damaged, or needs more memory than allowed."
_KILLED = "The system ended the process that read the file, perhaps for lack of memory; upload a smaller file."
_READER_ERROR = "The file cannot be read because of an internal error; save the table in another format."
_NO_PROCESS = "The server cannot start another process to read the file; upload it again in a minute."
_log = logging.getLogger(__name__)


class ReaderError(RuntimeError):
    """An error of a reader, not of the file: its type and place, with no text of the file."""


def read_table(
    data: bytes | str,
    name: str = "",
    limits: Limits = Limits(),  # noqa: B008 (it is frozen)
    choices: Choices = MappingProxyType({}),
) -> Table:
    """Read a file or pasted text in a child process.

    The ending of the name gives the format; without a known ending the content decides.

    Parameters
    ----------
    name : str
        File name; only its ending counts.
    choices : mapping of str to str, optional
        Answers that replace guesses: by the `key` of a `Guess` of the table, one of its `others`. "begins at line",
        "names at line" and "ends at line" take the number of a line, "names at line" also "none". "kind of column 2"
        takes "number", "date" or "text".

    Raises
    ------
    UploadError
        If it cannot be read, is too large or too small, or if reading takes too much time or memory or crashes.
    """
    check_size(data, limits)
    request = {
        "name": name,
        "is_text": isinstance(data, str),
        "limits": dataclasses.asdict(limits),
        "choices": dict(choices),
        "seconds": CPU_SECONDS,
        "memory_bytes": MEMORY_BYTES,
        "folders": [str(Path(np.__file__).parents[1])],  # of libraries that may not be on the child's path
    }
    content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    try:
        return _decoded(_run_child(json.dumps(request).encode() + b"\n" + content))
    except ReaderError as error:
        _log.error("the reader of uploads failed: %s", str(error))  # types and places only
        raise UploadError(_READER_ERROR) from None


def _decoded(reply: bytes) -> Table:
    """Return the table of a reply. Raise an UploadError or ReaderError if the reply says why there is none."""
    try:
        first, *lines = reply.split(b"\n")
        head = json.loads(first)
        if "columns" in head:
            return Table.decoded(head, lines)
        problem = UploadError(head["refusal"]) if "refusal" in head else ReaderError(head["reader_error"])
    except Exception as error:
        raise ReaderError(f"the reply cannot be decoded ({type(error).__name__})") from None
    raise problem


def _run_child(request: bytes) -> bytes:
    """Return the output of a child that ends normally.

    Raises
    ------
    UploadError
        If the file made it exceed a limit or crash.
    ReaderError
        If it fails in another way.
    """
    # -I: the child ignores the environment variables and the working folder of this process.
    environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    try:
        child = subprocess.Popen(
            [sys.executable, "-I", "-B", str(_CHILD)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        raise UploadError(_NO_PROCESS) from None
    timed_out = threading.Event()
    timer = threading.Timer(WALL_SECONDS, lambda: (timed_out.set(), child.kill()))
    with child:
        try:
            timer.start()
            _send(child.stdin, request)
            reply = _receive(child.stdout)
            code = child.wait()
        finally:
            timer.cancel()
            child.kill()
    if code != 0:
        _raise_for_status(code, timed_out.is_set())
    return reply


def _send(pipe, request: bytes) -> None:
    # In one piece: subprocess.run() takes the interpreter's lock every 4 kB, and waits for it while pages compute.
    try:
        with pipe:
            pipe.write(request)
    except BrokenPipeError:  # the exit status says more
        pass


def _receive(pipe) -> bytes:
    try:  # a large pipe needs fewer reads, for the same reason
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    except (ImportError, AttributeError, OSError):
        pass
    pieces = []
    while piece := os.read(pipe.fileno(), _PIPE_BYTES):
        pieces.append(piece)
    return b"".join(pieces)


def _raise_for_status(code: int, timed_out: bool) -> None:
    """Raise the error that an exit status stands for."""
    if timed_out:
        raise UploadError(f"Reading the file takes more than the {WALL_SECONDS} seconds allowed.")
    if code == -getattr(signal, "SIGXCPU", 0):
        raise UploadError(f"Reading the file takes more than the {CPU_SECONDS} seconds of processor time allowed.")
    if code == -getattr(signal, "SIGKILL", 0):
        raise UploadError(_KILLED)
    if code == errno.ENOMEM:
        raise UploadError(f"Reading the file takes more memory than the {MEMORY_BYTES / 1e6:g} MB allowed.")
    if code < 0:
        raise UploadError(_CRASHED)
    raise ReaderError(f"the child ended with status {code}")
