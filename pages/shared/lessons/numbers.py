"""Numbers in the texts of `content`, from the cached results that the page of the lesson shows.

A text is a format string with one object for each setting: ``before`` and ``after`` the answer of the step, and
``also``, a third setting to compare with. ``{after.error:.3f}`` is the error that the page shows after the answer. The
settings are those of the step, not the current ones of the reader, so a text always matches its numbers. Only numbers
that a text names are computed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from string import Formatter
from types import SimpleNamespace

import numpy as np
from scipy.spatial import cKDTree

import rff_engine as rff
from pages.adaptive import toy as toy_adaptive
from pages.adaptive.approximate import toy as toy_approximation
from pages.adaptive.approximate.results import (
    METHODS,
    approximation_errors,
    approximation_rows,
    approximation_settings,
    curve_counts,
    method_view,
)
from pages.adaptive.results import adaptive_settings, descent, grid_weights, importance
from pages.bounds.certificates.results import METHODS as CERTIFIED, CertificateSettings, certified_vote, peeking
from pages.bounds.results import BoundSettings, Guarantee, all_bounds, landmark_union, promises
from pages.kernel.learn.results import (
    PriorWeights,
    PseudoPosterior,
    candidate_settings,
    candidate_weights,
    feature_errors_at,
)
from pages.kernel.results import FREQUENCY_COUNTS, kernel_errors, kernel_line, kernel_settings
from pages.landmarks.results import PLACES, LandmarkSettings, landmark_view, landmarks_of_methods, one_landmark
from pages.shared.controls.toy import toy_data
from pages.shared.controls.toy_data import map_extent, toy_sample
from pages.shared.server.cache import shared_cache
from rff_engine.studies.toy import learning as toy_learning
from rff_engine.studies.toy.certificates import PosteriorCertificate
from rff_engine.studies.toy.coverage import promise_failures
from rff_engine.studies.toy.plane import cell_centres, plane_points

#: Distances of a cell from the nearest row, in standard deviations of a column: up to the first it counts as at the
#: rows, beyond the second as off them.
AT_ROWS, OFF_ROWS = 0.15, 0.6


class KernelNumbers:
    """Numbers of the page on kernels."""

    def __init__(self, values: SimpleNamespace):
        self.D = values.D
        self.settings = kernel_settings(values.kernel, values.width, values.nu, values.seed)
        self.line = kernel_line(self.settings, values.D)

    @property
    def error(self) -> float:
        """Root mean square error of the cos/sin map at D."""
        return kernel_errors(self.settings)[0]["cos_sin"][FREQUENCY_COUNTS.index(self.D)]


class LandmarkNumbers:
    """Numbers of the page on landmarks."""

    def __init__(self, values: SimpleNamespace):
        self.settings = LandmarkSettings(toy_data(values), values.sigma, values.D, values.landmarks, values.how)
        self.beta = values.beta
        self.view = landmark_view(self.settings, values.beta, values.C)
        self.kl = rff.kl_divergence(self.view.Q)
        self.effective = 1 / (self.view.Q**2).sum(axis=1)

    @property
    def prior_error(self) -> float:
        """Test error on the prior's similarities."""
        return self.view.prior.test_error

    @property
    def learned_error(self) -> float:
        """Test error on the learned similarities."""
        return self.view.learned.test_error

    @property
    def least_kl(self) -> float:
        return self.kl.min()

    @property
    def most_kl(self) -> float:
        return self.kl.max()

    @property
    def fewest_cosines(self) -> float:
        """The smallest effective number of cosines of a landmark, 1/ΣQ²."""
        return self.effective.min()

    @property
    def most_cosines(self) -> float:
        return self.effective.max()

    @property
    def error_at_random(self) -> float:
        """Mean test error of a single landmark, over the places of the random landmarks."""
        places = landmarks_of_methods(self.settings)["random"]
        return one_landmark(self.settings, self.beta, tuple(map(tuple, places))).test_error.mean()

    @property
    def least_error(self) -> float:
        """Test error of a single landmark at the best place of the map."""
        return self._on_map.min()

    @property
    def away(self) -> float:
        """Distance of the best place of the map from the nearest point."""
        place = plane_points(cell_centres(map_extent(self.settings.data), PLACES))[self._on_map.argmin()]
        return float(np.linalg.norm(toy_sample(self.settings.data).X - place, axis=1).min())

    @property
    def _on_map(self) -> np.ndarray:
        return one_landmark(self.settings, self.beta, PLACES).test_error

    @property
    def highest_kl(self) -> float:
        """ln D, which no KL divergence from the prior exceeds."""
        return np.log(self.settings.n_frequencies)


class LearningNumbers:
    """Numbers of the page on kernel learning."""

    def __init__(self, values: SimpleNamespace):
        self.values, self.settings = values, candidate_settings(values)
        self.posterior = PseudoPosterior(values.beta)
        self.summary = toy_learning.weight_summary(candidate_weights(self.settings, self.posterior), values.mu)

    @property
    def learned_error(self) -> float:
        """Mean test error of D frequencies drawn from the posterior."""
        return feature_errors_at(self.settings, self.posterior, self.values.C, self.values.D).mean()

    @property
    def prior_error(self) -> float:
        """Mean test error of D frequencies drawn from the prior."""
        return feature_errors_at(self.settings, PriorWeights(), self.values.C, self.values.D).mean()


class BoundNumbers:
    """Numbers of the page on bounds."""

    def __init__(self, values: SimpleNamespace):
        self.values = values

    @property
    def curves(self):
        values = self.values
        held = min(values.union, values.n)
        guarantee = Guarantee(values.eps, values.mu, values.form, values.price, held)
        return all_bounds(self.settings, guarantee)

    @property
    def settings(self) -> BoundSettings:
        return BoundSettings(toy_data(self.values), self.values.sigma, self.values.N)

    @property
    def union(self):
        """Bounds for many landmarks at once, and how often they fail."""
        return landmark_union(self.settings, self.values.beta, self.values.eps, self.values.form)

    @property
    def some_fails(self) -> float:
        """Probability that the bound for one landmark fails for some of them."""
        return self._at_union(self.union.failures_alone)

    @property
    def some_fails_paid(self) -> float:
        """Probability that the bound for all landmarks fails for some of them."""
        return self._at_union(self.union.failures_together)

    def _at_union(self, failures) -> float:
        return float(failures[list(self.union.counts).index(min(self.values.union, self.values.n))])

    @property
    def case(self):
        """Theorem 4 on samples."""
        return promises(*(getattr(self.values, key) for key in ("n", "mu", "eps", "seed", "samples")))

    @property
    def theorem_3(self) -> float:
        """Theorem 3 at beta."""
        return self.curves.bounds["second_order_kl"].at(self.values.beta)

    @property
    def best_theorem_3(self) -> float:
        """The lowest value of Theorem 3."""
        return self.curves.bounds["second_order_kl"].best_value

    @property
    def best_beta(self) -> float:
        """The beta at which Theorem 3 is lowest."""
        return self.curves.bounds["second_order_kl"].best_beta

    @property
    def best_theorem_4(self) -> float:
        return self.curves.bounds["f_divergence"].best_value

    @property
    def risk(self) -> float:
        """True risk at beta, over all pairs."""
        curves = self.curves
        return float(curves.kernel.risk[np.argmin(np.abs(curves.betas - self.values.beta))])

    @property
    def printed_failures(self) -> float:
        """The probability that the printed Theorem 4 fails at a true loss of a quarter."""
        return float(promise_failures(0.25, self.values.n, self.case.printed_width)[0])


class MeanErrors:
    """Mean errors of methods at r, by their labels: ``{before.mean[Sobol]:.3f}``."""

    def __init__(self, settings, r: int):
        self.settings, self.r = settings, r

    def __getitem__(self, name: str) -> float:
        method = METHODS[name]
        return approximation_errors(self.settings, method)[curve_counts(method).index(self.r)].mean()


class ApproximationNumbers:
    """Numbers of the page on approximated kernels."""

    def __init__(self, values: SimpleNamespace):
        self.values = values
        self.settings = approximation_settings(values.data, values.kernel, values.width, values.nu, values.seed)
        self.mean = MeanErrors(self.settings, values.r)

    @property
    def rows(self) -> toy_approximation.ApproximationRows:
        return approximation_rows(self.values.data, self.values.seed)

    @property
    def first(self) -> toy_approximation.MethodView:
        """The view on the left."""
        return method_view(self.settings, METHODS[self.values.first], self.values.r)

    @property
    def second(self) -> toy_approximation.MethodView:
        """The view on the right."""
        return method_view(self.settings, METHODS[self.values.second], self.values.r)

    @property
    def largest_weight(self) -> float:
        """The largest weight on the right, as a multiple of 1/r."""
        return self.values.r * self.second.weights.max()

    @property
    def smallest_weight(self) -> float:
        """The smallest weight on the right, as a multiple of 1/r."""
        return self.values.r * self.second.weights.min()

    @property
    def error_at_rows(self) -> float:
        """Mean error on the map on the right, in the cells at the rows."""
        return self._map_error(0, AT_ROWS)

    @property
    def error_off_rows(self) -> float:
        """Mean error on the map on the right, in the cells far from all rows."""
        return self._map_error(OFF_ROWS, np.inf)

    @property
    def worst_error(self) -> float:
        """The largest error on the map on the right."""
        return self.second.error_map.max()

    def _map_error(self, low: float, high: float) -> float:
        error = self.second.error_map
        nearest = _nearest_rows(self.values.data, self.values.seed, len(error))
        return error.ravel()[(nearest >= low) & (nearest < high)].mean()


@shared_cache
def _nearest_rows(data: str, seed: int, cells: int) -> np.ndarray:
    """Distance of each cell of the map from the nearest row, (cells**2,)."""
    rows = approximation_rows(data, seed)
    return cKDTree(rows.in_plane).query(plane_points(cell_centres(rows.extent, cells)))[0]


class AdaptiveNumbers:
    """Numbers of the page on adaptive frequencies."""

    def __init__(self, values: SimpleNamespace):
        self.values, self.settings = values, adaptive_settings(values)

    @property
    def grid(self) -> toy_adaptive.GridWeights:
        return grid_weights(self.settings, self.values.ridge)

    @property
    def descent(self) -> toy_adaptive.Descent:
        return descent(self.settings, self.values.r)

    @property
    def plane(self) -> toy_adaptive.ImportancePlane:
        return importance(self.settings.data, self.values.sigma)

    @property
    def saving(self) -> float:
        """The fraction of the squared error that the best density saves."""
        return toy_adaptive.saving(self.plane, "data")

    @property
    def last_error(self) -> float:
        """Error over all points at the end of the descent."""
        return self.descent.errors[-1]

    @property
    def last_landmark_error(self) -> float:
        """Error at the landmarks at the end of the descent."""
        return self.descent.landmark_errors[-1]


class CertificateNumbers:
    """Numbers of the page on certificates."""

    def __init__(self, values: SimpleNamespace):
        self.values = values
        self.settings = CertificateSettings.of(values)

    @property
    def certificate(self) -> PosteriorCertificate:
        vote = certified_vote(self.settings, CERTIFIED[self.values.method], self.values.D)
        return vote.certificate(self.values.stretch)

    @property
    def price_of_looking(self) -> float:
        """What the choice among draws of frequencies adds to the certified risk."""
        return next(term.risk for term in self.certificate.terms if term.name.startswith("choice of feature map"))

    @property
    def test_set_fails(self) -> float:
        """Share of samples on which the bound of a test set fails for the best of the draws, in the hard case."""
        failures = peeking(self.certificate.n_bound, self.values.eps)
        return float(failures.test_set[list(failures.counts).index(self.values.tries)])


#: By page, the class of its numbers.
NUMBERS: dict[str, Callable[[SimpleNamespace], object]] = {
    "kernel": KernelNumbers,
    "landmarks": LandmarkNumbers,
    "learn_kernel": LearningNumbers,
    "bounds": BoundNumbers,
    "certificates": CertificateNumbers,
    "approximate": ApproximationNumbers,
    "adaptive": AdaptiveNumbers,
}


class _Words(Formatter):
    """Formatter with a blank before the per cent sign and powers of ten as live views write them."""

    def format_field(self, value, format_spec: str) -> str:
        text = re.sub(r"e-0*(\d)", r"e−\1", super().format_field(value, format_spec))
        return f"{text[:-1]} %" if format_spec.endswith("%") else text


def names(text: str) -> set[str]:
    """The numbers that a text names, as ``before.error``."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def fill(text: str, page: str, settings: dict[str, SimpleNamespace]) -> str:
    """A text with its numbers filled in.

    Parameters
    ----------
    text : str
        A format string of `content`.
    page : str
        The page of the lesson.
    settings : dict
        The values of all controls of the page, as ``before``, ``after`` and ``also``; only those named are used.

    Raises
    ------
    KeyError, AttributeError
        If the text names a number that does not exist.
    """
    named = {name.partition(".")[0] for name in names(text)}
    return _Words().vformat(text, (), {name: NUMBERS[page](settings[name]) for name in named})
