"""Engine calls, cached by frozen descriptions of what is computed.

Arrays are shared between sessions and therefore read-only. What depends on beta is cached apart from what does not,
so that moving beta never draws or sums anything anew.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass

import numpy as np
import streamlit as st
from threadpoolctl import threadpool_limits

import datasets
import rff_engine as rff
from pages.components.controls import powers
from rff_engine.experiments import bound_curves, coverage, toy

#: Points of the fresh sample that test errors are measured on, and cells along a side of a map.
TEST_POINTS = 2000
MAP_CELLS = 64


@dataclass(frozen=True)
class ToyData:
    """A toy sample, to the seed."""

    name: str
    n: int
    noise: float
    seed: int

    def sample(self) -> datasets.Dataset:
        return datasets.make_toy(self.name, self.n, self.noise, self.seed)

    def fresh_sample(self, n: int = TEST_POINTS) -> datasets.Dataset:
        """Other points of the same distribution."""
        return datasets.make_toy(self.name, n, self.noise, self.seed + 1_000_003)


@dataclass(frozen=True)
class LandmarkSettings:
    """All that a landmark experiment depends on but beta and C."""

    data: ToyData
    sigma: float
    n_frequencies: int
    n_landmarks: int
    selection: str | tuple[int, ...]


def _frozen(value):
    """Make all arrays inside a result read-only."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif is_dataclass(value):
        for field in fields(value):
            _frozen(getattr(value, field.name))
    elif isinstance(value, dict):
        for part in value.values():
            _frozen(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            _frozen(part)
    return value


@st.cache_resource(max_entries=64, show_spinner=False)
def toy_sample(data: ToyData) -> datasets.Dataset:
    return _frozen(data.sample())


@st.cache_resource(max_entries=64, show_spinner=False)
def toy_fresh_sample(data: ToyData, n: int = TEST_POINTS) -> datasets.Dataset:
    return _frozen(data.fresh_sample(n))


def map_extent(data: ToyData) -> float:
    """Half the side of the square that maps of a sample show: a little beyond its points."""
    return float(np.ceil(4.2 * np.abs(toy_sample(data).X).max()) / 4)


@st.cache_resource(max_entries=64, show_spinner=False)
def landmark_problem(settings: LandmarkSettings) -> toy.LandmarkProblem:
    sample = toy_sample(settings.data)
    return _frozen(
        toy.landmark_problem(
            sample.X,
            sample.y,
            rff.GaussianKernel(settings.sigma),
            settings.n_landmarks,
            settings.n_frequencies,
            settings.selection,
            random_state=settings.data.seed,
        )
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def landmark_view(settings: LandmarkSettings, beta: float, C: float) -> toy.LandmarkView:
    fresh = toy_fresh_sample(settings.data)
    problem = landmark_problem(settings)
    return _frozen(toy.landmark_view(problem, fresh.X, fresh.y, beta, C, map_extent(settings.data), MAP_CELLS))


#: Inverse temperatures of the bound curves: every value of the slider for beta is one of them.
BOUND_BETAS = powers(-3, 3, 10)
#: Fresh points that stand for the distribution in true risks, and samples of a simulated promise.
RISK_POINTS = 20_000
PROMISE_SAMPLES = 20_000


@dataclass(frozen=True)
class BoundSettings:
    """All that the losses behind the bounds depend on."""

    data: ToyData
    sigma: float
    n_frequencies: int


@dataclass(frozen=True)
class Promise:
    """All that a bound depends on beside losses and beta."""

    epsilon: float
    mu: float
    form: str
    pay_for_beta: bool


@st.cache_resource(max_entries=64, show_spinner=False)
def candidate_risks(settings: BoundSettings) -> bound_curves.CandidateRisks:
    sample, fresh = toy_sample(settings.data), toy_fresh_sample(settings.data, RISK_POINTS)
    return _frozen(
        bound_curves.candidate_risks(
            sample.X,
            sample.y,
            fresh.X.astype(np.float32),
            fresh.y,
            rff.GaussianKernel(settings.sigma),
            settings.n_frequencies,
            random_state=settings.data.seed,
        )
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def promised_curves(settings: BoundSettings, promise: Promise) -> bound_curves.BoundCurves:
    return _frozen(
        bound_curves.bound_curves(
            candidate_risks(settings), BOUND_BETAS, promise.epsilon, promise.mu, promise.form, promise.pay_for_beta
        )
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def worst_case(n: int, mu: float, epsilon: float, seed: int) -> coverage.WorstCase:
    return _frozen(coverage.simulate_worst_case("two_classes", n, mu, epsilon, PROMISE_SAMPLES, random_state=seed))


#: Numbers of frequencies on the sliders, about even in their logarithm.
FREQUENCY_COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
#: Half the sides of the axes of the page on kernels: frequencies, in radians per unit of x, and differences.
FREQUENCY_RANGE, DELTA_RANGE = 10.0, 4.0
#: Points of the square [-1, 1]^2 whose kernel matrix is approximated, and how often.
APPROXIMATION_POINTS, APPROXIMATION_DRAWS = 25, 20

KERNELS = {
    "Gaussian": lambda width, nu: rff.GaussianKernel(width),
    "Laplacian": lambda width, nu: rff.LaplacianKernel(1 / width),
    "Matérn": lambda width, nu: rff.MaternKernel(nu, width),
    "Cauchy": lambda width, nu: rff.CauchyKernel(1 / width),
}


@dataclass(frozen=True)
class KernelSettings:
    """A kernel and the seed of its frequencies; `nu` is for the Matérn kernel alone."""

    name: str
    width: float
    nu: float
    seed: int

    def kernel(self) -> rff.SpectralKernel:
        return KERNELS[self.name](self.width, self.nu)


def kernel_settings(name: str, width: float, nu: float, seed: int) -> KernelSettings:
    """The settings that the controls ask for; a nu that does not count is not remembered."""
    return KernelSettings(name, width, nu if name == "Matérn" else 0.0, seed)


@st.cache_resource(max_entries=64, show_spinner=False)
def kernel_draw(settings: KernelSettings, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """As many frequencies and phases as the largest D needs; a smaller D takes the first of them."""
    rng = np.random.default_rng((settings.seed, n_features))
    return _frozen(
        toy.draw_frequencies_and_offsets(settings.kernel(), 2 * FREQUENCY_COUNTS[-1], n_features, random_state=rng)
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def kernel_line(settings: KernelSettings, n_frequencies: int) -> toy.KernelLine:
    omega, offsets = (part[: 2 * n_frequencies] for part in kernel_draw(settings, 1))
    return _frozen(toy.kernel_line(settings.kernel(), omega, offsets, FREQUENCY_RANGE, DELTA_RANGE))


@st.cache_resource(max_entries=64, show_spinner=False)
def kernel_plane(settings: KernelSettings, n_frequencies: int) -> toy.KernelPlane:
    omega = kernel_draw(settings, 2)[0][:n_frequencies]
    return _frozen(toy.kernel_plane(settings.kernel(), omega, FREQUENCY_RANGE, DELTA_RANGE))


@st.cache_resource(max_entries=64, show_spinner=False)
def kernel_errors(settings: KernelSettings) -> tuple[dict, dict]:
    """Measured and expected errors of both feature maps at every D of the slider."""
    kernel, D_values = settings.kernel(), FREQUENCY_COUNTS
    points = toy.uniform_points(1.0, APPROXIMATION_POINTS, settings.seed)
    # Products of matrices this small gain nothing from threads, and lose tenfold where other sessions compute too.
    with threadpool_limits(1, user_api="blas"):
        measured = toy.approximation_error(kernel, points, D_values, APPROXIMATION_DRAWS, settings.seed)
    return _frozen((measured, toy.expected_error(kernel, points, [2 * D for D in D_values])))


#: Numbers of frequencies of the error curves, and how often frequencies are drawn for each.
CURVE_COUNTS, CURVE_DRAWS = (1, 2, 5, 10, 20, 50, 100, 200), 10


@dataclass(frozen=True)
class CandidateSettings:
    """All that the losses of the candidates depend on."""

    data: ToyData
    sigma: float
    n_candidates: int


@dataclass(frozen=True)
class PriorWeights:
    """RFF: every candidate weighs the same."""

    method = "rff"

    def __call__(self, loss: np.ndarray, n: int) -> np.ndarray:
        return np.full(len(loss), 1 / len(loss))


@dataclass(frozen=True)
class PseudoPosterior:
    """PBRFF: exponential weights."""

    beta: float
    method = "pbrff"

    def __call__(self, loss: np.ndarray, n: int) -> np.ndarray:
        return rff.pseudo_posterior(loss, self.beta, n)


@dataclass(frozen=True)
class OptimizedKernel:
    """OKRFF: the best-aligned weights within a divergence of rho from the prior; `rho_share` is rho / N."""

    rho_share: float
    mu: float
    method = "okrff"

    def __call__(self, loss: np.ndarray, n: int) -> np.ndarray:
        return rff.optimized_kernel_weights(loss, self.rho_share * len(loss), self.mu)


Weighting = PriorWeights | PseudoPosterior | OptimizedKernel


@st.cache_resource(max_entries=64, show_spinner=False)
def frequency_plane(data: ToyData, sigma: float, extent: float) -> toy.FrequencyPlane:
    sample = toy_sample(data)
    return _frozen(toy.frequency_plane(sample.X, sample.y, rff.GaussianKernel(sigma), extent))


@st.cache_resource(max_entries=32, show_spinner=False)
def candidates(settings: CandidateSettings) -> toy.Candidates:
    sample = toy_sample(settings.data)
    return _frozen(
        toy.draw_candidates(
            sample.X, sample.y, rff.GaussianKernel(settings.sigma), settings.n_candidates, settings.data.seed
        )
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def candidate_weights(settings: CandidateSettings, weighting: Weighting) -> np.ndarray:
    drawn = candidates(settings)
    return _frozen(weighting(drawn.loss, drawn.n))


@st.cache_resource(max_entries=64, show_spinner=False)
def prior_map(sigma: float, extent: float) -> np.ndarray:
    return _frozen(toy.kernel_map(rff.GaussianKernel(sigma), extent))


@st.cache_resource(max_entries=64, show_spinner=False)
def weighted_map(settings: CandidateSettings, weighting: Weighting, extent: float) -> np.ndarray:
    return _frozen(toy.weighted_kernel_map(candidates(settings).omega, candidate_weights(settings, weighting), extent))


@st.cache_resource(max_entries=256, show_spinner=False)
def feature_errors(
    settings: CandidateSettings, weighting: Weighting, C: float, D_values: tuple[int, ...]
) -> np.ndarray:
    """Test errors, (len(D_values), CURVE_DRAWS); the draws do not depend on which D are asked for."""
    sample, fresh = toy_sample(settings.data), toy_fresh_sample(settings.data)
    return _frozen(
        toy.feature_error_curve(
            sample.X,
            sample.y,
            fresh.X,
            fresh.y,
            candidates(settings).omega,
            candidate_weights(settings, weighting),
            D_values,
            C,
            CURVE_DRAWS,
            # Not the stream that the candidates came from.
            np.random.default_rng((settings.data.seed, 1)),
        )
    )


def feature_errors_at(settings: CandidateSettings, weighting: Weighting, C: float, D: int) -> np.ndarray:
    """Test errors at one D, (CURVE_DRAWS,): off the curve if D is on it."""
    if D in CURVE_COUNTS:
        return feature_errors(settings, weighting, C, CURVE_COUNTS)[CURVE_COUNTS.index(D)]
    return feature_errors(settings, weighting, C, (D,))[0]
