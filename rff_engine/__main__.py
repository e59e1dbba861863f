"""Command line: `python -m rff_engine COMMAND`, or `rff-engine COMMAND` where the engine is installed."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

#: Extras of the package by the modules that they install. The engine itself needs no extra.
_EXTRAS = {
    **dict.fromkeys(("joblib", "pandas", "platformdirs", "plotly", "psutil", "sqlalchemy"), "experiments"),
    **dict.fromkeys(("dask", "distributed"), "cluster"),
    "psycopg": "postgres",
}


def main(arguments: Sequence[str] | None = None, imported: Callable[[], None] = lambda: None) -> int:
    """Run the command line and return its exit code: 2, with a sentence, if an extra is not installed.

    Parameters
    ----------
    arguments : sequence of str, optional
        The default is the program's.
    imported : callable
        Called before the command runs, once its modules are imported.
    """
    try:
        return import_module("rff_engine.studies.command_line").main(arguments, imported)
    except ModuleNotFoundError as missing:
        name = (missing.name or "").partition(".")[0]
        if name not in _EXTRAS:
            raise
        print(f"{name} is not installed: pip install 'rff-engine[{_EXTRAS[name]}]'", file=sys.stderr)
        return 2


def program() -> int:
    """Run the command line as a program, which treats SIGTERM as Ctrl-C."""
    ended_at_once = signal.getsignal(signal.SIGINT) is signal.SIG_DFL  # see rff_engine/__init__.py

    def take_signals() -> None:
        if ended_at_once:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.default_int_handler)

    return main(imported=take_signals)


if __name__ == "__main__":
    sys.exit(program())
