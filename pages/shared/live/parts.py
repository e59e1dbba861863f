"""The files of the live views, HTML, style sheets and JavaScript, for the app and the static edition."""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import Any

from pages.shared.browser import join_modules
from pages.shared.controls.scales import SLIDERS, WIDTHS
from pages.shared.live.packing import KERNEL_CELLS, LIVE_CELLS, PLANE_CELLS
from rff_engine.plots.style import palette

_PAGES = Path(__file__).parents[2]
#: Files of each view, below `pages/` and without their endings.
VIEWS = {
    "radio": "start/view",
    "prior": "kernel/view",
    "landmarks": "landmarks/view",
    "kernel": "kernel/learn/view",
    "bounds": "bounds/view",
    "promises": "bounds/promises",
    "certificate": "bounds/certificates/view",
    "blocks": "bounds/certificates/blocks",
    "errors": "data/view",
    "descent": "adaptive/view",
    "lift": "foundations/view",
    "reruns": "papers/view",
}
_SHARED = "shared/live"
_WAITING = "The live view is loading. If it does not appear, reload the page, or open it in another browser."
#: Constants of the JavaScript modules, declared in constants.d.ts.
CONSTANTS: dict[str, Any] = {
    **{"PALETTE": palette(), "WIDTHS": WIDTHS},
    **{"GRID": LIVE_CELLS, "CELLS": KERNEL_CELLS, "PLANE_CELLS": PLANE_CELLS},
}


def read(name: str) -> str:
    """Return the text of a file of all views."""
    return (_PAGES / _SHARED / name).read_text(encoding="utf-8")


def html(view: str) -> str:
    """Return the HTML of a view, with a sentence to read until it is there."""
    opening, rest = (_PAGES / f"{VIEWS[view]}.html").read_text(encoding="utf-8").split("\n", 1)
    return Template(f'{opening}\n<p class="waiting">{_WAITING}</p>\n{rest}').substitute(SLIDERS)


def script(name: str) -> str:
    """Return the JavaScript of a view, or of another canvas of all views, as one module that exports a function."""
    return join_modules(_PAGES / f"{VIEWS.get(name, f'{_SHARED}/{name}')}.js", CONSTANTS)
