"""Learn a kernel: candidate frequencies weighted by their alignment with the labels, and the error of D of them.

It follows Letarte et al. (2019), Sections 5.3 and 5.4.

After `pip install ".[experiments]"` in a copy of the repository, from any folder: python compute.py [numbers.csv]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t as student_t

import rff_engine as rff
from rff_datasets import ToyData
from rff_engine.bounds import second_order_kl_inverse
from rff_engine.linear import linear_svm_batch
from rff_engine.studies.toy import kernel as toy_kernels

#: Numbers of frequencies of the error curves, and draws at each.
CURVE_COUNTS = (1, 2, 5, 10, 20, 50)
CURVE_DRAWS = 10
#: Inverse temperatures of the curves of the divergence, and of the error: fewer, since it costs more.
BETAS = tuple(float(f"{10 ** (k / 10):.3g}") for k in range(-30, 31))
ERROR_BETAS = tuple(float(f"{10 ** (k / 2):.3g}") for k in range(-6, 7))

#: Stretch of the prior along its axis and across it, and the angle of the axis in degrees.
Ellipse = tuple[float, float, float]
CIRCLE: Ellipse = (1.0, 1.0, 0.0)
#: A method and its settings: ("rff",), ("pbrff", beta), or ("okrff", rho, mu).
Weighting = tuple[str | float, ...]


@dataclass(frozen=True)
class CandidateSettings:
    """Everything that the losses of the candidates depend on."""

    data: ToyData
    sigma: float
    n_candidates: int
    ellipse: Ellipse = CIRCLE

    def kernel(self) -> TurnedGaussianKernel:
        return TurnedGaussianKernel(self.sigma, *self.ellipse)


@dataclass(frozen=True)
class TurnedGaussianKernel(rff.SpectralKernel):
    """The Gaussian kernel of the plane with its prior stretched along an axis and across it.

    On coordinates along and across the axis it is `AnisotropicGaussianKernel`, of length scales sigma / along and
    sigma / across. It draws frequencies of the Gaussian kernel and stretches them.
    """

    sigma: float = 1.0
    """Bandwidth where nothing is stretched"""
    along: float = 1.0
    across: float = 1.0
    """Like `along`, a factor of the frequencies, above 0"""
    angle: float = 0.0
    """Of the axis, in degrees"""

    @property
    def _straight(self) -> rff.AnisotropicGaussianKernel:
        return rff.AnisotropicGaussianKernel((self.sigma / self.along, self.sigma / self.across))

    @property
    def _axes(self) -> np.ndarray:
        """Unit vectors along and across the axis, as columns."""
        turn = np.exp(1j * np.deg2rad(self.angle))
        return np.array([[turn.real, -turn.imag], [turn.imag, turn.real]])

    def _matrix(self, X, Y):
        return self._straight(X @ self._axes, Y @ self._axes)

    def _log_density(self, omega):
        return self._straight._log_density(omega @ self._axes)

    def _sample(self, rng, n_frequencies, n_features):
        draws = rng.standard_normal((n_frequencies, n_features))
        return draws @ self._axes / self._straight.length_scales @ self._axes.T


def candidates(settings: CandidateSettings) -> toy_kernels.Candidates:
    """Draw candidate frequencies from the prior and compute their losses."""
    sample = settings.data.sample()
    return toy_kernels.draw_candidates(sample.X, sample.y, settings.kernel(), settings.n_candidates, settings.data.seed)


def candidate_weights(sampled: toy_kernels.Candidates, weighting: Weighting) -> np.ndarray:
    """Weigh the candidates: RFF equally, PBRFF by the pseudo-posterior, OKRFF within a divergence rho N."""
    match weighting:
        case ("pbrff", beta):
            return rff.pseudo_posterior(sampled.loss, beta, sampled.n)
        case ("okrff", rho, mu):
            return rff.optimized_kernel_weights(sampled.loss, rho, mu)
    return np.full(len(sampled.loss), 1 / len(sampled.loss))


def weightings(beta: float, rho: float, mu: float) -> dict[str, Weighting]:
    """Return the distributions of frequencies to compare."""
    return {"rff": ("rff",), "pbrff": ("pbrff", beta), "okrff": ("okrff", rho, mu)}


@dataclass(frozen=True)
class WeightSummary:
    """Divergence of a distribution on candidates from the uniform one."""

    kl: float
    """KL(Q || P), in nats"""
    divergence: float
    """D_mu(Q || P)"""
    effective: float
    """1 / sum Q^2, the effective number of frequencies"""


def weight_summary(Q: np.ndarray, mu: float) -> WeightSummary:
    """Compute divergences of Q (N,) from the prior, one of order mu > 1, and its effective number of frequencies."""
    return WeightSummary(float(rff.kl_divergence(Q)), float(rff.power_divergence(Q, mu)), float(1 / (Q**2).sum()))


@dataclass(frozen=True)
class PosteriorPath:
    """Divergence and bound of the pseudo-posterior at every beta, (B,) each."""

    betas: tuple[float, ...]
    kl: np.ndarray
    """KL(Q || P) in nats"""
    bound: np.ndarray
    """PAC-Bayes-kl bound on the loss over pairs, at epsilon = 0.05, which holds for every beta at once"""


def posterior_path(settings: CandidateSettings) -> PosteriorPath:
    """Compute divergence and bound of the pseudo-posterior at every one of BETAS (Letarte et al. 2019, Eq. 19)."""
    sampled = candidates(settings)
    Q = np.stack([rff.pseudo_posterior(sampled.loss, beta, sampled.n) for beta in BETAS])
    kl = np.asarray(rff.kl_divergence(Q))
    return PosteriorPath(BETAS, kl, second_order_kl_inverse(Q @ sampled.loss, kl, sampled.n, 0.05))


def error_curve(settings: CandidateSettings, weighting: Weighting) -> tuple[np.ndarray, np.ndarray]:
    """Return mean test errors at CURVE_COUNTS, and half their 95 % intervals."""
    sampled = candidates(settings)
    Q = candidate_weights(sampled, weighting)
    return mean_and_margin(errors_of_weights(settings, sampled.omega, Q, CURVE_COUNTS))


def feature_error_path(settings: CandidateSettings, D: int) -> np.ndarray:
    """Measure test errors of PBRFF at D features for every one of ERROR_BETAS, (len(ERROR_BETAS), CURVE_DRAWS)."""
    sampled = candidates(settings)
    Q = np.stack([candidate_weights(sampled, ("pbrff", beta)) for beta in ERROR_BETAS])
    return errors_of_weights(settings, sampled.omega, Q, (D,))[:, 0]


def errors_of_weights(
    settings: CandidateSettings, omega: np.ndarray, Q: np.ndarray, D_values: tuple[int, ...], C: float = 1.0
) -> np.ndarray:
    """Measure test errors of a linear SVM on D features drawn from Q, for several D (Letarte et al. 2019, Section 5.4).

    Each draw is one long sequence of frequencies; D uses the first D of them, so an error does not depend on the other
    values of D. All Q use the same uniform numbers, so curves of different methods, or along beta, differ by their Q
    more than by chance.

    Weights `Q` on the candidates `omega` (N, 2) have the shape (N,) or (B, N), and the errors (len(D_values),
    CURVE_DRAWS) or (B, len(D_values), CURVE_DRAWS).
    """
    sample = settings.data.sample()
    fresh = settings.data.fresh_sample()
    rng = np.random.default_rng((settings.data.seed, 1))  # another stream than the candidates'
    seeds = [rng.integers(2**31) for _ in range(CURVE_DRAWS)]
    sampled = np.array(
        [
            np.random.default_rng(seed).choice(len(weights), size=max(D_values), p=weights)
            for weights in np.atleast_2d(Q)
            for seed in seeds
        ]
    )
    # Every frequency is evaluated once, for all draws and D.
    distinct, sampled = np.unique(sampled, return_inverse=True)
    sampled = sampled.reshape(-1, max(D_values))
    omega = omega[distinct]
    # Single precision suffices for the sign of a test decision, and halves the time.
    waves, test_waves = (_waves(points, omega) for points in (sample.X, fresh.X.astype(np.float32)))
    errors = np.stack([_errors_of_draws(waves, sample.y, test_waves, fresh.y, sampled[:, :D], C) for D in D_values])
    return np.moveaxis(errors.reshape(len(D_values), *Q.shape[:-1], CURVE_DRAWS), 0, -2)


def _waves(points: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Compute cosines and sines, (2, K, n), those of a frequency side by side in memory."""
    waves = rff.fourier_features(omega.astype(points.dtype), points, np.ones(len(points)))
    return waves.reshape(len(omega), 2, -1).transpose(1, 0, 2)


def _errors_of_draws(
    waves: np.ndarray, y: np.ndarray, test_waves: np.ndarray, y_test: np.ndarray, sampled: np.ndarray, C: float
) -> np.ndarray:
    """Measure the test error of each row of `sampled` (R, D), positions of frequencies in the waves."""
    R, D = sampled.shape
    # A frequency drawn r times becomes one pair of features times sqrt(r). Inner products, and hence the SVM,
    # stay the same, and a concentrated Q is cheap.
    parts = [np.unique(row, return_counts=True) for row in sampled]
    width = max(len(rows) for rows, _ in parts)
    features = np.zeros((R, 2, width, waves.shape[2]))
    for own, (rows, repeats) in zip(features, parts, strict=True):
        own[:, : len(rows)] = waves[:, rows] * np.sqrt(repeats / D)[:, None]
    points = features.reshape(R, 2 * width, -1).transpose(0, 2, 1)
    coefficients, intercepts = linear_svm_batch(points, y, C)
    decisions = np.repeat(intercepts[:, None], len(y_test), axis=1)
    for decision, of_draw, (rows, repeats) in zip(decisions, coefficients, parts, strict=True):
        weights = of_draw.reshape(2, width)[:, : len(rows)] * np.sqrt(repeats / D)
        decision += sum(w.astype(np.float32) @ wave[rows] for w, wave in zip(weights, test_waves, strict=True))
    return ((decisions > 0) != (y_test > 0)).mean(axis=1)


def mean_and_margin(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean over the last axis, of independent measurements, and half its 95 % interval by Student's t."""
    R = values.shape[-1]
    return values.mean(axis=-1), student_t.ppf(0.975, R - 1) * values.std(axis=-1, ddof=1) / np.sqrt(R)


def numbers(settings: CandidateSettings, beta: float, rho: float, mu: float, D: int) -> pd.DataFrame:
    """Return all numbers as one table; errors are fractions, KL in nats, frequencies in radians per unit of x."""
    compared = weightings(beta, rho, mu)
    sampled = candidates(settings)
    weights = {method: candidate_weights(sampled, weighting) for method, weighting in compared.items()}
    summaries = [weight_summary(Q, mu) for Q in weights.values()]
    path = posterior_path(settings)
    error_path, path_margin = mean_and_margin(feature_error_path(settings, D))
    tables = {
        "candidates": {
            "omega_1": sampled.omega[:, 0],
            "omega_2": sampled.omega[:, 1],
            "loss": sampled.loss,
            **{f"Q_{method}": Q for method, Q in weights.items()},
        },
        "distributions": {
            "method": list(weights),
            "KL": [summary.kl for summary in summaries],
            "D_mu": [summary.divergence for summary in summaries],
            "effective_frequencies": [summary.effective for summary in summaries],
        },
        "errors": [
            {"method": method, "D": count, "test_error": mean, "half_width": half_width}
            for method, weighting in compared.items()
            for count, mean, half_width in zip(CURVE_COUNTS, *error_curve(settings, weighting), strict=True)
        ],
        "KL along beta": {"beta": path.betas, "KL": path.kl, "bound": path.bound},  # on the loss, at 95 %
        "errors along beta": {"beta": ERROR_BETAS, "test_error": error_path, "half_width": path_margin},
    }
    frames = {name: pd.DataFrame(columns) for name, columns in tables.items()}
    return pd.concat(frames, names=["table"]).reset_index("table").convert_dtypes()


if __name__ == "__main__":
    # The experiment
    data = "checkerboard"
    points = ""  # code of points placed by hand, instead of the data above
    n = 300  # training points
    noise = 0.1  # standard deviation added to every coordinate
    seed = 0
    sigma = 0.251  # bandwidth of the Gaussian prior
    along = 1.0  # factor of its frequencies along an axis
    across = 1.0  # and across it
    angle = 0  # of the axis, in degrees
    N = 2000  # candidate frequencies drawn from it
    beta = 10.0  # inverse temperature of PBRFF
    rho = 0.01  # radius of OKRFF, divided by N
    mu = 2.0  # order of its divergence
    D = 10  # frequencies drawn, for the errors along beta

    settings = CandidateSettings(ToyData(data, n, noise, seed, points), sigma, N, (along, across, angle))
    table = numbers(settings, beta, rho, mu, D)
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
