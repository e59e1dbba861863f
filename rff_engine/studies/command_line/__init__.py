"""Commands of `rff-engine`: datasets, fetch, run, runs, report, reproduce, recompute, coverage, certify.

`parser` reads the command line and needs no extra of the package. A command's module, which may need some, is imported
when the command is known. Progress goes to stderr. Exit codes: 0 done, 1 recomputed rows differ, 2 wrong input, 130
interrupted; known rows are kept.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from importlib import import_module

from .parser import parser

_MODULES = {
    "certify": "certificates",
    "coverage": "bounds",
    "datasets": "data",
    "fetch": "data",
    "recompute": "runs",
    "report": "reports",
    "reproduce": "reports",
    "run": "runs",
    "runs": "runs",
}


def main(arguments: Sequence[str] | None = None, imported: Callable[[], None] = lambda: None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        The default is the program's.
    imported : callable
        Called before the command runs, once its modules are imported.

    Raises
    ------
    ModuleNotFoundError
        If the command needs a package that is not installed.
    """
    options = parser().parse_args(arguments)
    run = getattr(import_module(f"{__name__}.{_MODULES[options.command]}"), options.command)
    imported()
    try:
        return run(options)
    except (ValueError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader of a pipe has closed it
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for the interpreter's last flush
            return 0
        print(_as_typed(str(error), options), file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"there is not enough memory for this: {error or 'smaller sizes are needed'}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _as_typed(message: str, options: Namespace) -> str:
    """Replace the parameter in a sentence of the engine by the option that sets it."""
    name, space, rest = message.partition(" ")
    names = {"methods": "--methods", "n_components": "--D", "scheduler": "--scheduler", "split": "--split"}
    names["store"] = "RFF_STORE" if getattr(options, "store", None) is None else "--store"
    return f"{names.get(name, name)}{space}{rest}"
