"""Worker processes end with the app that started them, however it ends; they import this module and no other of it."""

import os
import threading
import time

import psutil

_SECONDS_BETWEEN_LOOKS = 1.0


def end_with(app: int) -> None:
    """End this process once the process `app` is gone: its pipes stay open in the other workers."""
    threading.Thread(target=_wait_and_end, args=(app,), daemon=True).start()


def _wait_and_end(app: int) -> None:
    while psutil.pid_exists(app):
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)
