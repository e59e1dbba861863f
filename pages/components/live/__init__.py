"""Live views: the browser takes what the engine computed once, and redraws canvases at every move of a slider.

A view's data come from its ``pack_`` function; `mount` shows it. The browser evaluates only sums of cosines, softmax, a
small linear SVM, and interpolation between two steps of a descent; tests compare these with the engine.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import streamlit as st

from pages.components.controls import alone, presentation
from pages.components.controls.widgets import Control, hide_in_sidebar
from pages.components.javascript import join_modules
from rff_engine.figures import adaptive as descent_style, bounds as bound_style
from rff_engine.figures.style import for_colours, palette

#: Cells along a side of a live similarity map, and of a live kernel map.
LIVE_CELLS, KERNEL_CELLS = 100, 80
VIEWS = ("opening", "landmarks", "kernel", "bounds", "descent")
#: Constants of the JavaScript modules, declared in constants.d.ts.
CONSTANTS = {"PALETTE": palette(), "GRID": LIVE_CELLS, "CELLS": KERNEL_CELLS}

_HERE = Path(__file__).parent
_components = {
    name: st.components.v2.component(
        f"live_{name}",
        html=(_HERE / f"{name}.html").read_text(encoding="utf-8"),
        css="".join((_HERE / style).read_text(encoding="utf-8") for style in ("live.css", "alone.css")),
        js=join_modules(_HERE / f"{name}.js", CONSTANTS),
        isolate_styles=False,
    )
    for name in VIEWS
}


def _packed(array, dtype) -> str:
    return b64encode(np.ascontiguousarray(array, dtype=dtype).tobytes()).decode("ascii")


def _with_version(data: dict) -> dict:
    """The data with their fingerprint, by which the browser recognises data that it has."""
    return data | {"version": hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]}


def pack_landmarks(problem, prior_maps, prior, fresh, extent: float, C: float, test_error: str = "test error") -> dict:
    """Data of the views of landmarks; `fresh` is the sample of the test errors, which are called `test_error`."""
    return _with_version(
        {
            "omega": _packed(problem.omega, "<f4"),
            "loss": _packed(problem.loss, "<f8"),
            "landmarks": _packed(problem.landmarks, "<f4"),
            "points": _packed(problem.X, "<f4"),
            "labels": _packed(problem.y, "i1"),
            "test_points": _packed(fresh.X, "<f4"),
            "test_labels": _packed(fresh.y, "i1"),
            "prior_maps": _packed(np.round((prior_maps + 1) * 127.5), "u1"),
            "prior_decision": _packed(for_colours(prior.values), "<f4"),
            "rows": [-1] * len(problem.labels) if problem.indices is None else [int(row) for row in problem.indices],
            "max_D": problem.omega.shape[1],
            "extent": extent,
            "C": C,
            "prior_train": prior.train_error,
            "prior_test": prior.test_error,
            "test_error": test_error,
        }
    )


def pack_kernel(
    plane, candidates, optimized, sample, prior_kernel, mu: float, frequency_extent, delta_extent, data_extent
) -> dict:
    """Data of the live view of a learned kernel; `optimized` (R, N) holds the weights of OKRFF for every radius."""
    return _with_version(
        {
            "prior": _packed(plane.prior, "<f4"),
            "plane_loss": _packed(plane.loss, "<f4"),
            "omega": _packed(candidates.omega, "<f4"),
            "loss": _packed(candidates.loss, "<f8"),
            "optimized": _packed(optimized, "<f4"),
            "points": _packed(sample.X, "<f4"),
            "labels": _packed(sample.y, "i1"),
            "prior_kernel": _packed(np.round((prior_kernel + 1) * 127.5), "u1"),
            "n": candidates.n,
            "mu": mu,
            "frequency_extent": frequency_extent,
            "delta_extent": delta_extent,
            "data_extent": data_extent,
        }
    )


def pack_bounds(curves) -> dict:
    """Data of the live view of the bounds: every curve, and the terms of every bound."""
    bounds = [
        {
            "name": name,
            "side": "landmark" if curves.posterior(name) is curves.landmark else "kernel",
            "label": bound_style.bound_label(name, curve.n_landmarks),
            "colour": bound_style.BOUND_COLOURS[name],
            "dash": bound_style.BOUND_DASHES.get(name, "solid"),
            "values": _packed(curve.values, "<f8"),
            "best": curve.best,
            "parts": [
                {
                    "label": bound_style.TERM_NAMES[term],
                    "colour": bound_style.TERM_COLOURS[term],
                    "values": _packed(values, "<f8"),
                }
                for term, values in curve.terms.items()
            ],
        }
        for name, curve in curves.bounds.items()
    ]
    losses = [
        {"side": side, "truth": truth, "label": label, "values": _packed(values, "<f8")}
        | {"colour": line["color"], "dash": line.get("dash", "solid")}
        for side, posterior in (("landmark", curves.landmark), ("kernel", curves.kernel))
        for truth, label, values, line in (
            (False, "empirical loss", posterior.loss, bound_style.EMPIRICAL_LINE),
            (True, "true risk", posterior.risk, bound_style.TRUE_LINE),
        )
    ]
    top = bound_style.top_of(curves.bounds.values())
    return _with_version(
        {"betas": _packed(curves.betas, "<f8"), "bounds": bounds, "losses": losses, "top": top}
        | {"grey": bound_style.OTHER_COLOUR}
    )


def pack_descent(descent, frequency_extent: float) -> dict:
    """Data of the live view of a descent: its kept steps, and the errors along all of them."""
    return _with_version(
        {
            "steps": _packed(descent.steps, "<u2"),
            "frequencies": _packed(descent.frequencies, "<f4"),
            "weights": _packed(descent.weights, "<f4"),
            "errors": _packed(descent.errors, "<f4"),
            "landmark_errors": _packed(descent.landmark_errors, "<f4"),
            "drawn_error": descent.drawn_error,
            "extent": frequency_extent,
            "colours": descent_style.DESCENT_COLOURS,
        }
    )


def mount(
    name: str,
    packed: dict,
    values,
    sliders: Sequence[Control] = (),
    on_clicked: Callable | None = None,
    chosen: str | None = None,
) -> None:
    """Show a live view, unless a link asks for another picture of the page alone.

    Parameters
    ----------
    name : {"opening", "landmarks", "kernel", "bounds", "descent"}
    packed : dict
        From the view's ``pack_`` function.
    values : namespace
        Settings of the page.
    sliders : sequence of Control
        Controls of the sidebar that the view has as sliders. When the reader leaves a slider, its control takes the
        nearest value that it allows.
    on_clicked : callable, optional
        Called with the row of the training point that was clicked, or the position of the bound.
    chosen : str, optional
        The bound that is shown with its terms.
    """
    if alone.leaves_out_live():
        return
    key = f"live_{name}"
    keys = [control.key for control in sliders]
    hide_in_sidebar(keys)

    def settle() -> None:
        for control in sliders:
            st.session_state[control.key] = control.nearest(st.session_state[key].settled[control.key])

    callbacks = {"on_settled_change": settle} if sliders else {}
    if on_clicked is not None:
        callbacks["on_clicked_change"] = lambda: on_clicked(int(st.session_state[key].clicked))
    sent = packed | {
        "settings": {key: getattr(values, key) for key in keys},
        "hidden": [key for key in keys if presentation.hidden_by_name(key)],
        "clickable": on_clicked is not None,
        "alone": alone.live_part(),
        "chosen": chosen,
    }
    _components[name](data=sent, key=key, **callbacks)
    alone.finish()
