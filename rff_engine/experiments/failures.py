"""What a log may say of an error: its type and where in the code it came up, never its message.

Messages quote the values that were refused, and the paths of files: they are for the person whose data it is, not for
the log of a server that many people use.
"""

from __future__ import annotations

import traceback
from pathlib import PurePath

__all__ = ["whereabouts"]

# The innermost calls tell what was going on; a log wants one line.
_MOST_CALLS = 6


def whereabouts(error: BaseException) -> str:
    """One line with the type of an error and the calls that led to it, innermost first, without its message.

    Parameters
    ----------
    error : BaseException
        As caught; those that it was raised from are told as well.

    Returns
    -------
    str
        Such as "KeyError in take (units.py:12), called in run (runner.py:80)". Files go by their bare names.
    """
    told, seen = [], set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        calls = traceback.extract_tb(error.__traceback__)[-_MOST_CALLS:]
        places = [f"{call.name} ({PurePath(call.filename).name}:{call.lineno})" for call in reversed(calls)]
        told.append(type(error).__name__ + (" in " + ", called in ".join(places) if places else ""))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "; after ".join(told)
