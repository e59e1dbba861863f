"""Cached results of the page on approximated kernels, one entry per method."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np

import datasets
import rff_engine as rff
from pages.adaptive.approximate import toy as toy_approximation
from pages.adaptive.approximate.figures import error_text
from pages.adaptive.approximate.toy import SEQUENCES
from pages.shared.controls.toy_data import ToyData, toy_sample
from pages.shared.live.packing import pack_approximation
from pages.shared.server import workers
from pages.shared.server.cache import shared_cache
from rff_engine.kernels import KERNELS_BY_TITLE
from rff_engine.plots.style import METHOD_NAMES
from rff_engine.studies.feature_methods import SAMPLED

#: Real data sets on the page; rows are drawn from them.
REAL_DATA = ("wine", "breast", "digits")
ROWS = 300
#: Methods that are compared, by their labels.
METHODS = {
    METHOD_NAMES[method]: method
    for method in (
        *SAMPLED,
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
#: Numbers of frequencies on the slider.
FREQUENCY_COUNTS = tuple(range(1, toy_approximation.MOST_FREQUENCIES + 1))
#: Those of the error curves, and draws at each; fewer of both for descents, which cost more.
R_VALUES, DRAWS = (5, 10, 20, 50, 100, 200), 5
DESCENT, DESCENT_R_VALUES, DESCENT_DRAWS = ("sample", "cluster", "nearest"), (5, 10, 20, 50), 2
#: Of the simulated variances: frequencies, draws and distances. A variance times the number of features does not depend
#: on the number of frequencies; one frequency makes its simulation least noisy.
VARIANCE_FREQUENCIES, VARIANCE_DRAWS, VARIANCE_POINTS = 1, 8000, 33
#: What a method needs from the kernel.
_ONE_DISTANCE = "a kernel of the distance ‖x − x′‖ alone, as the Gaussian and the Matérn kernel are"
_NEEDS = dict.fromkeys(("orthogonal", "structured_orthogonal", "fastfood"), _ONE_DISTANCE)
_NEEDS["moment_matching"] = "frequencies of finite variance, as the Gaussian and the Cauchy kernel have"

# The page shows a note of its own, see `unmatched`.
warnings.filterwarnings("ignore", message=".*too few to match a covariance", category=UserWarning)


@dataclass(frozen=True)
class ApproximationSettings:
    """The rows and the kernel that all methods approximate; not every kernel uses `nu`."""

    data: str
    kernel_name: str
    width: float
    nu: float
    seed: int

    def kernel(self) -> rff.SpectralKernel:
        d = approximation_rows(self.data, self.seed).X.shape[1]
        return toy_approximation.scaled_kernel(self.kernel_name, self.width, d, self.nu)


def approximation_settings(data: str, kernel: str, width: float, nu: float, seed: int) -> ApproximationSettings:
    """The settings of the controls; `nu` is fixed for kernels that do not use it."""
    return ApproximationSettings(data, kernel, width, nu if "nu" in KERNELS_BY_TITLE[kernel].parameters else 1.5, seed)


@shared_cache
def _real(name: str) -> datasets.Dataset:
    return datasets.load(name)


@shared_cache
def approximation_rows(name: str, seed: int) -> toy_approximation.ApproximationRows:
    sample = _real(name) if name in REAL_DATA else toy_sample(ToyData(name, ROWS, 0.1, seed))
    return toy_approximation.approximation_rows(sample.X, sample.y, sample.task, ROWS, seed)


def curve_counts(method: str) -> tuple[int, ...]:
    """The numbers of frequencies of the error curve of a method."""
    return DESCENT_R_VALUES if method in DESCENT else R_VALUES


@shared_cache
def sequence(settings: ApproximationSettings, method: str) -> toy_approximation.FrequencySequence:
    rows = approximation_rows(settings.data, settings.seed)
    return workers.compute(toy_approximation.sequence, rows, settings.kernel(), method, DRAWS, settings.seed)


@shared_cache
def approximation_errors(settings: ApproximationSettings, method: str) -> np.ndarray:
    """Relative errors, (len(curve_counts(method)), draws)."""
    rows, draws = approximation_rows(settings.data, settings.seed), DESCENT_DRAWS if method in DESCENT else DRAWS
    counts = curve_counts(method)
    if method in SEQUENCES:
        return sequence(settings, method).errors.T[[r - 1 for r in counts]]
    kernel, errors = settings.kernel(), toy_approximation.approximation_errors
    return workers.compute(errors, rows, kernel, method, counts, draws, settings.seed)


def error_curves(settings: ApproximationSettings, methods) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Relative errors by method, and a sentence for each method that does not fit the kernel."""
    errors, refused = {}, {}
    calls = {method: partial(approximation_errors, settings, method) for method in methods}
    for method, call in workers.side_by_side(calls).items():
        try:
            errors[method] = call.result()
        except ValueError as error:
            refused[method] = _misfit(settings, method, error)
    return errors, refused


def _misfit(settings: ApproximationSettings, method: str, error: ValueError) -> str:
    """Why a method does not fit the kernel."""
    if method not in _NEEDS:
        return str(error)
    return f"{METHOD_NAMES[method]} does not fit the {settings.kernel_name} kernel: it needs {_NEEDS[method]}."


def unmatched(settings: ApproximationSettings, methods, r_values) -> str:
    """A sentence on moment matching, if it is among the methods and some r is too small for it."""
    d = approximation_rows(settings.data, settings.seed).X.shape[1]
    few = toy_approximation.too_few_to_match(r_values, d) if "moment_matching" in methods else ()
    if not few:
        return ""
    small = f"r = {few[0]} is" if len(few) == 1 else f"numbers up to r = {max(few)} are"
    matched = "so it is matched in the span of the draws, and then their mean square"
    return f" Moment matching: {small} too few to match a covariance of {d} columns, {matched}."


def nearest_count(r: int) -> int:
    """The number of frequencies of the error curves that is nearest to r, by ratio."""
    return min(R_VALUES, key=lambda count: abs(np.log(count / r)))


def ranking(errors: dict[str, np.ndarray], r: int) -> str:
    """The methods by their mean error at r, best first, without those that have no error there."""
    known = {method: of_method for method, of_method in errors.items() if r in curve_counts(method)}
    means = {method: of_method[curve_counts(method).index(r)].mean() for method, of_method in known.items()}
    return ", ".join(f"{METHOD_NAMES[method]} {error_text(means[method])}" for method in sorted(means, key=means.get))


@shared_cache
def method_view(settings: ApproximationSettings, method: str, r: int) -> toy_approximation.MethodView:
    rows = approximation_rows(settings.data, settings.seed)
    return toy_approximation.method_view(rows, settings.kernel(), method, r, settings.seed)


def views_side_by_side(
    settings: ApproximationSettings, methods, r: int
) -> tuple[list[toy_approximation.MethodView | None], dict[str, str]]:
    """The view of each method, and a sentence for each method that does not fit the kernel."""
    views, refused = [], {}
    for method in methods:
        try:
            views.append(method_view(settings, method, r))
        except ValueError as error:
            views.append(None)
            refused[method] = _misfit(settings, method, error)
    return views, refused


@shared_cache
def live_approximation(settings: ApproximationSettings, methods: tuple[str, str], r: int, reached: bool) -> dict:
    """Data of the live view; a method that is fitted for each r has that of r, and if `reached` those of its curve."""
    rows = approximation_rows(settings.data, settings.seed)
    sides = {method: _live_side(settings, method, r, reached) for method in methods}
    return pack_approximation(
        rows,
        toy_approximation.plane_kernel(rows, settings.kernel()),
        [(method, sides[method]) for method in methods],
        FREQUENCY_COUNTS,
        frequency_extent(settings),
    )


def _live_side(settings, method, r, reached):
    """What one side of the live view shows, or why its method does not fit the kernel."""
    try:
        if method in SEQUENCES:
            return sequence(settings, method)
        counts = {r, *(curve_counts(method) if reached else ())}
        return {count: method_view(settings, method, count) for count in sorted(counts)}
    except ValueError as error:
        return _misfit(settings, method, error)


def random_phase_wins(curves: toy_approximation.VarianceCurves) -> bool:
    """Whether the variance of cos/sin is above that of random phases anywhere."""
    return bool(np.any(curves.expected["cos_sin"] > curves.expected["random_phase"] + 1e-9))


@shared_cache
def frequency_extent(settings: ApproximationSettings) -> float:
    """Half the side of the square of frequencies that figures show."""
    return toy_approximation.frequency_extent(settings.kernel())


@shared_cache
def variance_curves(settings: ApproximationSettings) -> toy_approximation.VarianceCurves:
    distance = 2 * approximation_rows(settings.data, settings.seed).extent
    return toy_approximation.variance_curves(
        settings.kernel(), distance, VARIANCE_POINTS, VARIANCE_FREQUENCIES, VARIANCE_DRAWS, settings.seed
    )
