"""A run in its own process, which ends with the process that started it.

It reads one line of JSON, the store and the run, and writes one for each step, or for an error. It exits as soon as its
input ends: all rows known by then are in the store. An internal error is reported without its message, which may quote
the data.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from contextlib import closing

from ..protocols import RunSpec
from .failures import redacted_traceback
from .run import run_stored
from .store import Store

_NICENESS = 10


def _lower_priority() -> None:
    """Lower the priority of this process, so that the server answers first.

    Niceness alone would still leave a fraction of a core to a run, and a figure would wait; the idle class does not.
    Later threads inherit both. RFF_RUNS_GIVE_WAY=0 skips this, for machines on which no core is ever idle.
    """
    if os.environ.get("RFF_RUNS_GIVE_WAY") == "0":
        return
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def main() -> int:
    _lower_priority()
    url, spec = json.loads(sys.stdin.readline())
    threading.Thread(target=_exit_with_input, daemon=True).start()
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.default_int_handler)
    try:
        with Store(url) as store, closing(run_stored(store, RunSpec.from_json(spec))) as steps:
            for step in steps:
                _write_line(message=step.message, done=step.done, total=step.total, rows=len(step.rows))
    except (ValueError, OSError, MemoryError) as error:
        # The message is for the user who started the run, the traceback for the log.
        _write_line(error=str(error) or type(error).__name__, traceback=redacted_traceback(error))
        return 2
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        _write_line(fault=redacted_traceback(error))
        return 1
    return 0


def _write_line(**what) -> None:
    print(json.dumps(what), flush=True)


def _exit_with_input() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
