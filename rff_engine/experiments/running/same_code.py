"""The code of a process, and checks on connecting that a Dask scheduler and its workers have the same.

Rows are the same wherever they are computed only if the code is: the version and a digest of the engine's files, and
the versions of the libraries. Workers may join later, so each unit is checked as well, see `worker`.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeVar

import rff_engine

if TYPE_CHECKING:
    from distributed import Client

_WORKER_SECONDS = 5
# The first import on a worker reads scikit-learn from disk, while others compute.
_IMPORT_SECONDS = 90
REMEDY = "start scheduler and workers with PYTHONPATH set to a checkout of the same commit as here"
_LIBRARIES = ("numpy", "scipy", "scikit-learn")
_T = TypeVar("_T")


def _code() -> str:
    """Version and digest of the engine's files, and versions of the libraries that it computes with."""
    folder = Path(rff_engine.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py"), key=lambda path: path.relative_to(folder).as_posix()):
        digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes().replace(b"\r\n", b"\n"))
    libraries = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    return f"rff_engine {rff_engine.__version__} (files {digest.hexdigest()[:8]}), {libraries}"


#: Of this process. It is read once, on import: files that change later are not the code that runs.
CODE = _code()


def check_scheduler(address: str, seconds: float) -> None:
    """Raise a ValueError of one sentence if no Dask scheduler answers at an address within some seconds."""

    from distributed import rpc
    from distributed.security import Security

    async def kind() -> str:
        async with rpc(address, timeout=seconds, connection_args=Security().get_connection_args("client")) as there:
            # rpc answers with what the other side returns, here a dictionary.
            return (await there.identity())["type"]  # pyright: ignore[reportOptionalSubscript]

    async def kind_soon() -> str:
        return await asyncio.wait_for(kind(), seconds)

    try:
        with ThreadPoolExecutor(1) as thread:  # this thread may have an event loop, as in a notebook
            answer = thread.submit(lambda: asyncio.run(kind_soon())).result()
    except Exception:  # of any type: Dask reads the bytes of another protocol as the length of a message
        answer = None
    if answer != "Scheduler":
        raise ValueError(f"scheduler is {address!r}; no Dask scheduler answers there.")


def check_code(client: Client, address: str) -> set[str]:
    """The workers of a cluster that have other code than this process, by their addresses.

    Raises
    ------
    ValueError
        With one sentence, if the cluster has no workers, none of them has this code, or its scheduler has other code.
    """
    try:
        client.wait_for_workers(1, timeout=_WORKER_SECONDS)
    except TimeoutError:
        raise ValueError(f"scheduler is {address!r}; it has no workers: start some with `dask worker`.") from None
    code_there = _code_function()
    _check_one("its scheduler", _in_time(lambda: _code_or_error(client.run_on_scheduler, code_there)), address)
    answers = _in_time(lambda: _codes_of_workers(client, code_there))
    if answers is None:
        _check_one("one of its workers", None, address)
    # A worker that dies while it is asked has no code.
    codes = {worker: code for worker, code in (answers or {}).items() if not isinstance(code, OSError)}
    refused = {worker for worker, code in codes.items() if code != CODE}
    if refused and len(refused) == len(codes):
        worker = min(refused)
        _check_one(f"its worker {worker}", codes[worker], address)
    return refused


def _check_one(who: str, code: str | Exception | None, address: str) -> None:
    """Raise a ValueError if a process did not answer, could not import the engine, or has other code."""
    if code is None:
        raise ValueError(f"scheduler is {address!r}; {who} does not answer within {_IMPORT_SECONDS} s.")
    if isinstance(code, OSError):
        raise ValueError(f"scheduler is {address!r}; {who} does not answer.")
    if isinstance(code, Exception):
        said = " ".join(str(code).split())
        raise ValueError(f"scheduler is {address!r}; {who} cannot import rff_engine ({said}): {REMEDY}.")
    if code != CODE:
        raise ValueError(f"scheduler is {address!r}; {who} has {code}, here it is {CODE}: {REMEDY}.")


def _code_function() -> Callable[[], str]:
    """Function that returns the code that a process has imported.

    It is nested so that it is pickled by value: workers need not be able to import it.
    """

    def code() -> str:
        import rff_engine
        import rff_engine.experiments.running.executor
        import rff_engine.experiments.running.same_code as imported
        import rff_engine.experiments.studies.planning  # the work of all units, and the libraries they need

        return getattr(imported, "CODE", f"rff_engine {rff_engine.__version__} of another commit")

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
