"""Ctrl-C that is not lost.

Python drops an exception that is raised in a callback of the garbage collector, and a library may replace one. So an
interrupt is also noted.
"""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType, TracebackType


class Interrupts:
    """Context in which the signals of Ctrl-C and SIGTERM raise KeyboardInterrupt and are noted.

    Signals that do something else, or nothing, keep their handlers. An exception that leaves the context after a noted
    interrupt leaves it as KeyboardInterrupt.
    """

    def __init__(self) -> None:
        self._noted = False

    def __enter__(self) -> Interrupts:
        main = threading.current_thread() is threading.main_thread()
        signals = (signal.SIGINT, signal.SIGTERM) if main else ()
        self._replaced = [one for one in signals if signal.getsignal(one) is signal.default_int_handler]
        for one in self._replaced:
            signal.signal(one, self._note)
        self._hook, sys.unraisablehook = sys.unraisablehook, self._report
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        sys.unraisablehook = self._hook
        for one in self._replaced:
            signal.signal(one, signal.default_int_handler)
        if error is not None:
            self.check()

    def check(self) -> None:
        """Raise KeyboardInterrupt if an interrupt has been noted."""
        if self._noted:
            raise KeyboardInterrupt from None

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._noted = True
        raise KeyboardInterrupt

    def _report(self, dropped: sys.UnraisableHookArgs) -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):
            self._hook(dropped)
