"""Processes that compute end with the one that started them, and describe errors without quoting data.

Messages quote refused values and paths of files. They are for the user who owns the data, not for the log of a server
that many people use.
"""

from __future__ import annotations

import os
import threading
import time
import traceback
from functools import cache
from pathlib import PurePath

_SECONDS_BETWEEN_LOOKS = 1.0
# The innermost calls suffice, and fit in one line.
_MAX_CALLS = 6
_MAX_ERRORS = 6


@cache
def end_with(starter: int) -> None:
    """End this process once its parent `starter` has ended: pipes do not show it, other workers keep them open."""
    threading.Thread(target=_wait_and_end, args=(starter,), daemon=True).start()


def _wait_and_end(starter: int) -> None:
    import psutil  # it does not exist in browsers

    # POSIX gives an orphan another parent; Windows does not.
    while os.getppid() == starter and psutil.pid_exists(starter):
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def redacted_traceback(error: BaseException) -> str:
    """Describe an error in one line, without its message: its type and its calls, innermost first.

    An example is "KeyError in take (units.py:12), called in run (runner.py:80)". Errors that caused it are included.
    Files have their bare names.
    """
    parts: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(parts) < _MAX_ERRORS:
        calls = traceback.extract_tb(cause.__traceback__)[-_MAX_CALLS:]
        places = [f"{call.name} ({PurePath(call.filename).name}:{call.lineno})" for call in reversed(calls)]
        parts.append(type(cause).__name__ + (" in " + ", called in ".join(places) if places else ""))
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return "; after ".join(parts)
