"""Descriptions of errors for a log: type and place in the code, never the message.

Messages quote refused values and paths of files: they are for the user whose data it is, not for the log of a server
that many people use.
"""

from __future__ import annotations

import traceback
from pathlib import PurePath

# The innermost calls suffice, and fit in one line.
_MAX_CALLS = 6


def redacted_traceback(error: BaseException) -> str:
    """One line with the type of an error and the calls that led to it, innermost first, without its message.

    Such as "KeyError in take (units.py:12), called in run (runner.py:80)". The errors that caused it are included, and
    files go by their bare names.
    """
    parts, seen = [], set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        calls = traceback.extract_tb(cause.__traceback__)[-_MAX_CALLS:]
        places = [f"{call.name} ({PurePath(call.filename).name}:{call.lineno})" for call in reversed(calls)]
        parts.append(type(cause).__name__ + (" in " + ", called in ".join(places) if places else ""))
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return "; after ".join(parts)
