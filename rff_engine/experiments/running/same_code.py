"""Checks on connecting that a Dask scheduler answers, and that it and its workers import the code of this process.

Rows are the same wherever they are computed only if the code is: the version and a digest of the files are compared.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import TypeVar

from distributed import Client, rpc
from distributed.security import Security

__all__ = ["check_code", "check_scheduler"]

_WORKER_SECONDS = 5
# The first import on a worker reads scikit-learn from disk, while others compute.
_IMPORT_SECONDS = 90
_REMEDY = "start scheduler and workers with PYTHONPATH set to a checkout of the same commit as here"
_T = TypeVar("_T")


def check_scheduler(address: str, seconds: float) -> None:
    """Raise a ValueError of one sentence if no Dask scheduler answers at an address within some seconds."""

    async def kind() -> str:
        async with rpc(address, timeout=seconds, connection_args=Security().get_connection_args("client")) as there:
            # rpc answers with what the other side returns, here a dictionary.
            return (await there.identity())["type"]  # pyright: ignore[reportOptionalSubscript]

    async def kind_soon() -> str:
        return await asyncio.wait_for(kind(), seconds)

    try:
        with ThreadPoolExecutor(1) as thread:  # this thread may have an event loop, as in a notebook
            found = thread.submit(lambda: asyncio.run(kind_soon())).result()
    except Exception:  # of any type: Dask reads the bytes of another protocol as the length of a message
        found = None
    if found != "Scheduler":
        raise ValueError(f"scheduler is {address!r}; no Dask scheduler answers there.")


def check_code(client: Client, address: str) -> None:
    """Raise a ValueError of one sentence if a cluster has no workers, or other code than this process."""
    try:
        client.wait_for_workers(1, timeout=_WORKER_SECONDS)
    except TimeoutError:
        raise ValueError(f"scheduler is {address!r}; it has no workers: start some with `dask worker`.") from None
    code_there = _code_function()
    here = code_there()
    found = {"its scheduler": _in_time(lambda: _code_or_error(client.run_on_scheduler, code_there))}
    workers = _in_time(lambda: _codes_of_workers(client, code_there))
    found |= {f"its worker {worker}": code for worker, code in (workers or {}).items()}
    if workers is None:
        found["one of its workers"] = None
    for who, code in found.items():
        if code is None:
            raise ValueError(f"scheduler is {address!r}; {who} does not answer within {_IMPORT_SECONDS} s.")
        if isinstance(code, Exception):
            said = " ".join(str(code).split())
            raise ValueError(f"scheduler is {address!r}; {who} cannot import rff_engine ({said}): {_REMEDY}.")
        if code != here:
            raise ValueError(f"scheduler is {address!r}; {who} has rff_engine {code}, here it is {here}: {_REMEDY}.")


def _code_function() -> Callable[[], str]:
    """Function that returns version and digest of the rff_engine that a process imports.

    It is nested so that it is pickled by value: workers need not be able to import it.
    """

    def code() -> str:
        import hashlib
        from pathlib import Path

        import rff_engine.experiments.running.worker
        import rff_engine.experiments.studies.planning  # the work of all units, and the libraries they need

        folder, digest = Path(rff_engine.__file__).parent, hashlib.sha256()
        for path in sorted(folder.rglob("*.py"), key=lambda path: path.relative_to(folder).as_posix()):
            digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes().replace(b"\r\n", b"\n"))
        return f"{rff_engine.__version__} (files {digest.hexdigest()[:8]})"

    return code


def _codes_of_workers(client: Client, code_there: Callable[[], str]) -> dict[str, str | Exception]:
    """Version and digest, or the error, of each worker by its address."""
    # client.run returns a coroutine only if the client is asynchronous.
    return client.run(code_there, on_error="return")  # pyright: ignore[reportReturnType]


def _code_or_error(run: Callable, code_there: Callable[[], str]) -> str | Exception:
    try:
        return run(code_there)
    except Exception as error:
        return error


def _in_time(ask: Callable[[], _T]) -> _T | None:
    """Answer, or ``None`` after a time limit: Dask itself waits as long as a worker does not answer."""
    answers = SimpleQueue()
    threading.Thread(target=lambda: answers.put(ask()), daemon=True).start()
    try:
        return answers.get(timeout=_IMPORT_SECONDS)
    except Empty:
        return None
