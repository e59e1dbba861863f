"""Cached results of the page on approximated kernels, kept apart by method: one more adds its own work only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

import datasets
import rff_engine as rff
from pages.components.toy_data import ToyData, read_only, toy_sample
from rff_engine.experiments import toy_approximation
from rff_engine.figures.approximation import error_text
from rff_engine.figures.style import METHOD_NAMES

#: Data sets by what the control calls them: real ones, of which rows are drawn, beside the toy ones.
REAL_DATA = ("wine", "breast", "digits")
ROWS = 300
#: Methods that are compared, by what the controls call them.
METHODS = {
    METHOD_NAMES[method]: method
    for method in (
        "monte_carlo",
        "orthogonal",
        "structured_orthogonal",
        "fastfood",
        "halton",
        "sobol",
        "lattice",
        "digital_net",
        "moment_matching",
        "weight",
        "sample",
        "cluster",
        "nearest",
        "nystroem",
        "nystroem_kmeans",
        "align",
        "pbrff",
    )
}
#: Numbers of frequencies, and of draws at each; descent costs more than drawing, so it is asked for less.
R_VALUES, DRAWS = (5, 10, 20, 50, 100, 200), 5
DESCENT, DESCENT_R_VALUES, DESCENT_DRAWS = ("sample", "cluster", "nearest"), (5, 10, 20, 50), 2
#: Of the simulated variances: frequencies, draws, and distances. Times the number of features a variance is the same
#: for every number of frequencies; with one, a simulation of it scatters least.
VARIANCE_FREQUENCIES, VARIANCE_DRAWS, VARIANCE_POINTS = 1, 8000, 33


@dataclass(frozen=True)
class ApproximationSettings:
    """The rows and the kernel that all methods approximate; `nu` is for the Matérn kernel alone."""

    data: str
    kernel_name: str
    width: float
    nu: float
    seed: int

    def kernel(self) -> rff.SpectralKernel:
        d = approximation_rows(self.data, self.seed).X.shape[1]
        return toy_approximation.scaled_kernel(self.kernel_name, self.width, d, self.nu)


def approximation_settings(data: str, kernel: str, width: float, nu: float, seed: int) -> ApproximationSettings:
    """The settings that the controls ask for; a nu that does not count is not remembered."""
    return ApproximationSettings(data, kernel, width, nu if kernel == "Matérn" else 1.5, seed)


@st.cache_resource(max_entries=8, show_spinner=False)
def _real(name: str) -> datasets.Dataset:
    return read_only(datasets.load(name))


@st.cache_resource(max_entries=64, show_spinner=False)
def approximation_rows(name: str, seed: int) -> toy_approximation.ApproximationRows:
    sample = _real(name) if name in REAL_DATA else toy_sample(ToyData(name, ROWS, 0.1, seed))
    return read_only(toy_approximation.approximation_rows(sample.X, sample.y, sample.task, ROWS, seed))


def curve_counts(method: str) -> tuple[int, ...]:
    """The numbers of frequencies at which the error curve of a method is known."""
    return DESCENT_R_VALUES if method in DESCENT else R_VALUES


@st.cache_resource(max_entries=512, show_spinner=False)
def approximation_errors(settings: ApproximationSettings, method: str) -> np.ndarray:
    """Relative errors, (len(curve_counts(method)), draws)."""
    rows, draws = approximation_rows(settings.data, settings.seed), DESCENT_DRAWS if method in DESCENT else DRAWS
    counts = curve_counts(method)
    return read_only(
        toy_approximation.approximation_errors(rows, settings.kernel(), method, counts, draws, settings.seed)
    )


def error_curves(settings: ApproximationSettings, methods) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Relative errors by method, and a sentence by method for each that makes no sense for the kernel."""
    errors, refused = {}, {}
    for method in methods:
        try:
            errors[method] = approximation_errors(settings, method)
        except ValueError as error:
            refused[method] = str(error)
    return errors, refused


def ranking(errors: dict[str, np.ndarray], r: int) -> str:
    """The methods by their mean error at r, the best first, those that are not known there left out."""
    known = {method: drawn for method, drawn in errors.items() if r in curve_counts(method)}
    means = {method: drawn[curve_counts(method).index(r)].mean() for method, drawn in known.items()}
    return ", ".join(f"{METHOD_NAMES[method]} {error_text(means[method])}" for method in sorted(means, key=means.get))


@st.cache_resource(max_entries=256, show_spinner=False)
def method_view(settings: ApproximationSettings, method: str, r: int) -> toy_approximation.MethodView:
    rows = approximation_rows(settings.data, settings.seed)
    return read_only(toy_approximation.method_view(rows, settings.kernel(), method, r, settings.seed))


@st.cache_resource(max_entries=64, show_spinner=False)
def frequency_extent(settings: ApproximationSettings) -> float:
    """Half the side of the square of frequencies that is shown."""
    return toy_approximation.frequency_extent(settings.kernel())


@st.cache_resource(max_entries=64, show_spinner=False)
def variance_curves(settings: ApproximationSettings) -> toy_approximation.VarianceCurves:
    distance = 2 * approximation_rows(settings.data, settings.seed).extent
    return read_only(
        toy_approximation.variance_curves(
            settings.kernel(), distance, VARIANCE_POINTS, VARIANCE_FREQUENCIES, VARIANCE_DRAWS, settings.seed
        )
    )
