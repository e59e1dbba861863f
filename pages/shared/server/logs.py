"""Entries of the server's log: one line each, without the messages of errors, which may quote a visitor's data.

Streamlit and uvicorn log parts of a request, such as its origin, unchanged, and errors with their messages.
"""

from __future__ import annotations

import logging

#: Characters of an entry, and of the description of its error.
MAX_CHARACTERS = 1000


class SafeRecord(logging.LogRecord):
    """An entry of any logger; it names an error, given in any way, by its type and its place in the code."""

    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self._error = self.exc_info[1] if self.exc_info else None
        self.exc_info = None  # which formatters would print
        self.msg = _redacted(self.msg)
        if isinstance(self.args, tuple):
            self.args = tuple(_redacted(one) for one in self.args)

    def getMessage(self) -> str:
        parts = [super().getMessage().strip()] + [_redacted(self._error)] * (self._error is not None)
        return ": ".join(_in_one_line(part) for part in parts)


def _redacted(value):
    if not isinstance(value, BaseException):
        return value
    # Import here, because it takes seconds to import the engine, and the server starts without it.
    from rff_engine.studies.running.processes import redacted_traceback

    return redacted_traceback(value)


def _in_one_line(text: str) -> str:
    cut = text[:MAX_CHARACTERS] + "…" * (len(text) > MAX_CHARACTERS)
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in cut)


def protect() -> None:
    """Make `SafeRecord` the class of all entries of this process, from now on."""
    logging.setLogRecordFactory(SafeRecord)
