"""Running the app on a server of one's own: several processes behind nginx."""

import os
import signal
import sys
from types import FrameType


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt; within an import end the process at once, as libraries drop exceptions there."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            os._exit(130)
        frame = frame.f_back
    raise KeyboardInterrupt


if sys.argv[0] == "-m" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # A program of this package, or of `benchmarks`, begins: Ctrl-C ends it without a traceback.
    signal.signal(signal.SIGINT, _interrupt)
    sys.excepthook = lambda kind, *more: None if kind is KeyboardInterrupt else sys.__excepthook__(kind, *more)
