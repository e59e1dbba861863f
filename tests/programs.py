"""Programs that tests run in a process of their own, forked from one that has imported the libraries already."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent.parent
_LIBRARIES = ("numpy", "pandas", "plotly.graph_objects", "scipy.stats", "sklearn.svm", "sklearn.model_selection")
_lock = threading.Lock()
_parents: dict[tuple, subprocess.Popen] = {}


@dataclass
class Ended:
    returncode: int
    stdout: bytes
    stderr: bytes


def run(program: str, folder: Path, environment: dict[str, str]) -> Ended:
    """Run a program as `python -` does, from a folder and with only these variables.

    Importing NumPy, pandas and scikit-learn takes two seconds of a processor. One process for each environment imports
    them and forks for every program; it imports nothing of this project, so each program imports that itself.
    """
    with _lock, tempfile.TemporaryDirectory() as files:
        names = {name: str(Path(files) / name) for name in ("program", "stdout", "stderr")}
        Path(names["program"]).write_text(program, encoding="utf-8")
        parent = _parent(environment)
        assert parent.stdin is not None and parent.stdout is not None
        parent.stdin.write(json.dumps(names | {"folder": str(folder)}) + "\n")
        parent.stdin.flush()
        returncode = int(parent.stdout.readline())
        return Ended(returncode, Path(names["stdout"]).read_bytes(), Path(names["stderr"]).read_bytes())


def _parent(environment: dict[str, str]) -> subprocess.Popen:
    """The process to fork from; what it reads and writes are lines, and it ends with the tests."""
    key = tuple(sorted(environment.items()))
    if key not in _parents:
        command = [sys.executable, str(Path(__file__))]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        _parents[key] = subprocess.Popen(command, cwd=_FOLDER, env=environment, **pipes)
        atexit.register(_parents[key].kill)
    return _parents[key]


def _serve() -> None:
    """Fork for each line of the standard input, and write the exit status of its program."""
    del sys.path[0]  # the folder of this file
    for library in _LIBRARIES:
        __import__(library)
    for line in sys.stdin:
        names = json.loads(line)
        child = os.fork()
        if not child:
            os._exit(_execute(**names))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _execute(program: str, stdout: str, stderr: str, folder: str) -> int:
    """Run a file as the main module in this process; return its exit status."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, name in ((1, stdout), (2, stderr)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(folder)
    sys.path.insert(0, "")
    main = type(sys)("__main__")
    sys.modules["__main__"] = main
    try:
        with open(program, encoding="utf-8") as code:
            exec(compile(code.read(), "<program>", "exec"), main.__dict__)
        return 0
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


if __name__ == "__main__":
    _serve()


def run_coroutine(coroutine):
    """Return what a coroutine returns; Playwright keeps a loop running in the main thread of a worker."""
    return apart(asyncio.run, coroutine)


def apart(function, *arguments):
    """What a function returns that runs a loop of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function, *arguments).result()
