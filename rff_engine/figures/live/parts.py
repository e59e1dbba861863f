"""The files of the live views, HTML, style sheets and JavaScript, for the app and the static edition."""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import Any

from ..style import palette
from .javascript import join_modules
from .packing import KERNEL_CELLS, LIVE_CELLS, PLANE_CELLS
from .scales import BETAS, PATH_BETAS, SLIDERS, WIDTHS

FOLDER = Path(__file__).parent
VIEWS = (
    *("opening", "prior", "landmarks", "worth", "kernel", "bounds", "promises", "certificate", "blocks", "descent"),
    "approximation",
)
#: Constants of the JavaScript modules, declared in constants.d.ts.
CONSTANTS: dict[str, Any] = {
    **{"PALETTE": palette(), "BETAS": BETAS, "PATH_BETAS": PATH_BETAS, "WIDTHS": WIDTHS},
    **{"GRID": LIVE_CELLS, "CELLS": KERNEL_CELLS, "PLANE_CELLS": PLANE_CELLS},
}


def read(name: str) -> str:
    """The text of a file."""
    return (FOLDER / name).read_text(encoding="utf-8")


def html(view: str) -> str:
    """The HTML of a view."""
    return Template(read(f"{view}.html")).substitute(SLIDERS)


def script(name: str) -> str:
    """The JavaScript of a view, or of another canvas of the folder, as one module that exports a function."""
    return join_modules(FOLDER / f"{name}.js", CONSTANTS)
