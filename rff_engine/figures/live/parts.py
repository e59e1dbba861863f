"""The files of the live views, HTML, style sheets and JavaScript, for the app, the static edition and notebooks."""

from __future__ import annotations

from pathlib import Path

from ..style import palette
from .javascript import join_modules
from .packing import KERNEL_CELLS, LIVE_CELLS

__all__ = ["CONSTANTS", "FOLDER", "VIEWS", "read", "script"]

FOLDER = Path(__file__).parent
VIEWS = ("opening", "landmarks", "kernel", "bounds", "descent")
#: Constants of the JavaScript modules, declared in constants.d.ts.
CONSTANTS = {"PALETTE": palette(), "GRID": LIVE_CELLS, "CELLS": KERNEL_CELLS}


def read(name: str) -> str:
    """The text of a file."""
    return (FOLDER / name).read_text(encoding="utf-8")


def script(name: str) -> str:
    """The JavaScript of a view, or of another canvas of the folder, as one module that exports a function."""
    return join_modules(FOLDER / f"{name}.js", CONSTANTS)
