"""Worker processes end with the process that started them, however that ends."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from functools import cache

_SECONDS_BETWEEN_LOOKS = 1.0


@cache
def end_with(starter: int) -> None:
    """End this process once the process `starter` is gone: pipes do not tell, as other workers hold them open."""
    threading.Thread(target=_wait_and_end, args=(starter,), daemon=True).start()


def _wait_and_end(starter: int) -> None:
    import psutil  # only workers need it, and it does not exist in browsers

    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(starter)
        while process.status() != psutil.STATUS_ZOMBIE:  # it has ended, and its parent has not noticed
            time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)
