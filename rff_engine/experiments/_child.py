"""A run in a process of its own, which ends with the process that started it.

It reads one line, the store and what to run, and writes a line for each step, or one for what went wrong. When its
input ends, so does it, at once: all rows known by then are in the store, and its claims are void. An error of ours
is told without its message, which may quote the data.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from contextlib import closing

from .failures import whereabouts
from .protocols import RunSpec
from .runner import run_stored
from .store import Store

__all__ = ["main"]

_NICENESS = 10


def _give_way() -> None:
    """Let whatever else wants the cores go first, the server's answers above all.

    Niceness alone leaves a share of a core to a run, and a figure waits for it; an idle class does not. Threads begun
    later have the same. RFF_RUNS_GIVE_WAY=0 leaves a run as it is: where no core is ever idle, it would stand still.
    """
    if os.environ.get("RFF_RUNS_GIVE_WAY") == "0":
        return
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def main() -> int:
    _give_way()
    url, spec = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_input, daemon=True).start()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with Store(url) as store, closing(run_stored(store, RunSpec.from_json(spec))) as steps:
            for step in steps:
                _say(message=step.message, done=step.done, total=step.total, rows=len(step.rows))
    except (ValueError, OSError, MemoryError) as error:
        # The message is for whoever asked for the run; the log is for everybody.
        _say(error=str(error) or type(error).__name__, whereabouts=whereabouts(error))
        return 2
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        _say(fault=whereabouts(error))
        return 1
    return 0


def _say(**what) -> None:
    print(json.dumps(what), flush=True)


def _end_with_the_input() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
