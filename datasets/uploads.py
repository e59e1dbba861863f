"""Reads what a visitor hands in, in a process of its own under limits of time and memory.

However the readers fare with a file, the process that asks goes on with other work meanwhile, and gets a table or one
sentence. What the child is, is in `reader_child`; what it reads, in `readers`.
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

import numpy as np

from datasets import transport
from datasets.readers import ENDINGS, FORMATS, check_size
from datasets.tables import Limits, Table, UploadError

__all__ = ["ENDINGS", "FORMATS", "read_table"]

SECONDS = 20
"""Of a processor, that reading may take"""
PATIENCE = 60
"""Seconds by the clock, on a machine with much else to do"""
MEMORY_BYTES = 1_500_000_000
"""Of addresses, many of which the libraries take for themselves and never touch"""

_CHILD = Path(__file__).with_name("reader_child.py")
_LARGE = 1 << 20
_CRASHED = "The file cannot be read: it is damaged, or needs more memory than is allowed."
_KILLED = "The system ended the process that read the file, perhaps for want of memory; hand in a smaller file."
_FAULT = "The file cannot be read, by a fault of the program that reads it; save the table in another format."
_NO_PROCESS = "The machine has no room for another process to read the file in; hand it in again in a minute."
_log = logging.getLogger(__name__)


def read_table(data: bytes | str, name: str = "", limits: Limits = Limits()) -> Table:  # noqa: B008 (it is frozen)
    """Read a file, or text that was pasted, in a child process.

    The ending of the name says the format; without a known one the content decides. Of text with a delimiter the first
    line holds the names of the columns, unless a number is among its cells.

    Parameters
    ----------
    data : bytes or str
    name : str
        Of the file; only its ending counts.
    limits : Limits

    Returns
    -------
    Table

    Raises
    ------
    UploadError
        If it cannot be read, is too large, or is too small to learn from; or if reading it takes too much time or
        memory, or ends the child in another way.
    """
    check_size(data, limits)
    asked = {
        "name": name,
        "is_text": isinstance(data, str),
        "limits": dataclasses.asdict(limits),
        "seconds": SECONDS,
        "memory_bytes": MEMORY_BYTES,
        "folders": [str(Path(np.__file__).parents[1])],  # where libraries are, if not where the child looks by itself
    }
    content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    try:
        return transport.unpacked(_child_answer(json.dumps(asked).encode() + b"\n" + content))
    except transport.ReaderError as error:
        _log.error("the reader of uploads failed: %s", error)
        raise UploadError(_FAULT) from None


def _child_answer(request: bytes) -> bytes:
    """What a child writes, if it comes to its own end."""
    # Isolated: neither variables of this process nor the folder that it works in are looked at.
    environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    try:
        child = subprocess.Popen([sys.executable, "-I", "-B", str(_CHILD)], env=environment, **streams)
    except OSError:
        raise UploadError(_NO_PROCESS) from None
    late = threading.Event()
    clock = threading.Timer(PATIENCE, lambda: (late.set(), child.kill()))
    with child:
        try:
            clock.start()
            _send(child.stdin, request)
            answer = _received(child.stdout)
            code = child.wait()
        finally:
            clock.cancel()
            child.kill()
    if code != 0:
        _explain(code, late.is_set())
    return answer


def _send(pipe, request: bytes) -> None:
    # In one piece: subprocess.run() asks for the interpreter's lock every 4 kB, and pages that compute let it wait.
    try:
        with pipe:
            pipe.write(request)
    except BrokenPipeError:  # how the child has ended says more
        pass


def _received(pipe) -> bytes:
    try:  # fewer and larger pieces, for the same reason
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _LARGE)
    except (ImportError, AttributeError, OSError):
        pass
    pieces = []
    while piece := os.read(pipe.fileno(), _LARGE):
        pieces.append(piece)
    return b"".join(pieces)


def _explain(code: int, late: bool) -> None:
    """Raise what a child means that came to this end."""
    if late:
        raise UploadError(f"Reading the file takes more than {PATIENCE} seconds, the most allowed.")
    ended_by = {-getattr(signal, name): name for name in ("SIGXCPU", "SIGKILL") if hasattr(signal, name)}.get(code)
    if ended_by == "SIGXCPU":
        raise UploadError(f"Reading the file takes more than {SECONDS} seconds of a processor, the most allowed.")
    if ended_by == "SIGKILL":
        raise UploadError(_KILLED)
    if code == errno.ENOMEM:
        raise UploadError(f"Reading the file takes more memory than the {MEMORY_BYTES / 1e6:g} MB that are allowed.")
    if code < 0:
        raise UploadError(_CRASHED)
    raise transport.ReaderError(f"the child ended with status {code}")
