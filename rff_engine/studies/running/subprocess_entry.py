"""A run in its own process, which ends with the process that started it.

It reads one line of JSON, the store and the run, and writes one for each step, or for an error. It may be killed at any
time: rows known by then are in the store. An internal error is reported without its message, which may quote the data.
"""

from __future__ import annotations

import json
import os
import sys

from ..protocols import RunSpec
from .processes import end_with, redacted_traceback
from .run import run_stored
from .store import Store

_NICENESS = 10


def _lower_priority() -> None:
    """Lower the priority of this process, so that the server answers first.

    With niceness alone a run still takes a fraction of a core, and figures wait. The idle class takes only idle time.
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
    end_with(os.getppid())
    try:
        with Store(url) as store:
            for step in run_stored(store, RunSpec.from_json(spec)):
                _write_line(message=step.message, done=step.done, total=step.total, rows=len(step.rows))
    except Exception as error:
        # The message of a refusal is for the user who started the run, the traceback for the log.
        refused = isinstance(error, ValueError | OSError | MemoryError)
        said = (str(error) or type(error).__name__) if refused else None
        _write_line(error=said, traceback=redacted_traceback(error))
        return 1
    return 0


def _write_line(**what) -> None:
    try:
        print(json.dumps(what), flush=True)
    except BrokenPipeError:
        os._exit(1)  # The process that reads is gone, and with it whoever waits for this run.


if __name__ == "__main__":
    sys.exit(main())
