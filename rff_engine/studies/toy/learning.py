"""Kernel learning in the plane: the frequency plane, candidates with their weights, and test errors with few features.

It follows Letarte et al. (2019), Sections 5.3 and 5.4. Results that do not depend on beta or rho are computed
separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from scipy.stats import t as student_t

from ..._typing import ArrayLike, RandomState
from ..._validation import as_points, as_rng, check_count, check_nonnegative, check_positive, draw_seed
from ...alignment import alignment_loss, alignment_loss_plane
from ...bounds import second_order_kl_inverse
from ...column_kernels import AnisotropicGaussianKernel
from ...features import fourier_features
from ...kernels import SpectralKernel
from ...linear import error_rate, linear_svm_batch
from ...posteriors import kl_divergence, power_divergence, pseudo_posterior
from .plane import cell_centres, plane_points


@dataclass(frozen=True)
class TurnedGaussianKernel(SpectralKernel):
    """The Gaussian kernel of the plane with its prior stretched along an axis and across it.

    On coordinates along and across the axis it is `AnisotropicGaussianKernel`, of length scales sigma / along and
    sigma / across. Its draws are those of the Gaussian kernel, stretched.
    """

    sigma: float = 1.0
    """Bandwidth where nothing is stretched"""
    along: float = 1.0
    across: float = 1.0
    """As `along` a factor of the frequencies, above 0"""
    angle: float = 0.0
    """Of the axis, in degrees"""

    def __post_init__(self) -> None:
        for name in ("sigma", "along", "across"):
            check_positive(getattr(self, name), name)

    @property
    def _straight(self) -> AnisotropicGaussianKernel:
        return AnisotropicGaussianKernel((self.sigma / self.along, self.sigma / self.across))

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


@dataclass(frozen=True)
class FrequencyPlane:
    """Prior density and alignment loss over a square of frequencies; neither depends on beta."""

    grid: np.ndarray
    """(G,), either coordinate of the frequencies"""
    prior: np.ndarray
    """(G, G), density"""
    loss: np.ndarray
    """(G, G)"""
    n: int
    """Sample size of the losses"""


def frequency_plane(
    X: ArrayLike, y: ArrayLike, kernel: SpectralKernel, extent: float, cells: int = 121
) -> FrequencyPlane:
    """Prior density and alignment loss of points (n, 2) at frequencies on a grid (Letarte et al. 2019, Prop. 8)."""
    grid = cell_centres(extent, cells)
    prior = kernel.spectral_density(plane_points(grid)).reshape(cells, cells)
    return FrequencyPlane(grid, prior, alignment_loss_plane(X, y, grid, grid), len(X))


def plane_posterior(plane: FrequencyPlane, beta: float) -> np.ndarray:
    """The pseudo-posterior as a density on the frequency plane (G, G), p(omega) exp(-beta sqrt(n) loss) / Z.

    It is the limit of the pseudo-posterior on candidates drawn from p (Letarte et al. 2019, Eq. 19) as their number
    grows, restricted to the square, over which its integral is 1.
    """
    t = check_nonnegative(beta, "beta") * np.sqrt(plane.n)
    with np.errstate(divide="ignore"):  # a density may underflow to 0; its logarithm -inf is then correct
        log_weights = np.log(plane.prior) - t * (plane.loss - plane.loss.min())
    cell = (plane.grid[-1] - plane.grid[0]) / (len(plane.grid) - 1)
    return np.exp(log_weights - logsumexp(log_weights)) / cell**2


@dataclass(frozen=True)
class Candidates:
    """Frequencies drawn from a kernel and their losses; neither depends on beta, rho or mu."""

    omega: np.ndarray
    """(N, d)"""
    loss: np.ndarray
    """(N,)"""
    n: int
    """Sample size of the losses"""


def draw_candidates(
    X: ArrayLike, y: ArrayLike, kernel: SpectralKernel, n_candidates: int, random_state: RandomState = None
) -> Candidates:
    """Draw candidate frequencies and compute their alignment losses (Letarte et al. 2019, Section 5.4)."""
    X = as_points(X)
    omega = kernel.sample_frequencies(n_candidates, X.shape[1], random_state)
    return Candidates(omega, alignment_loss(X, y, omega), X.shape[0])


@dataclass(frozen=True)
class WeightSummary:
    """Divergence of a distribution on candidates from the uniform one."""

    kl: float
    """KL(Q || P), in nats"""
    divergence: float
    """D_mu(Q || P)"""
    effective: float
    """1 / sum Q^2, the effective number of frequencies"""


def weight_summary(Q: ArrayLike, mu: float) -> WeightSummary:
    """Divergences of Q (N,) from the prior, one of order mu > 1, and its effective number of frequencies."""
    Q = np.asarray(Q)
    return WeightSummary(float(kl_divergence(Q)), float(power_divergence(Q, mu)), float(1 / (Q**2).sum()))


@dataclass(frozen=True)
class PosteriorPath:
    """Divergence and bound of the pseudo-posterior at every beta, (B,) each."""

    betas: np.ndarray
    kl: np.ndarray
    """KL(Q || P) in nats"""
    bound: np.ndarray
    """PAC-Bayes-kl bound on the loss over pairs, at epsilon = 0.05, which holds for every beta at once"""


def posterior_path(candidates: Candidates, betas: ArrayLike) -> PosteriorPath:
    """Divergence and bound of the pseudo-posterior at every beta (Letarte et al. 2019, Eq. 19)."""
    loss, n = candidates.loss, candidates.n
    Q = np.stack([pseudo_posterior(loss, beta, n) for beta in betas])
    kl = np.asarray(kl_divergence(Q))
    return PosteriorPath(np.asarray(betas, dtype=float), kl, second_order_kl_inverse(Q @ loss, kl, n, 0.05))


def feature_error_curve(
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike,
    y_test: ArrayLike,
    candidates: ArrayLike,
    Q: ArrayLike,
    D_values: Sequence[int],
    C: float,
    n_draws: int,
    random_state: RandomState = None,
) -> np.ndarray:
    """Test errors of a linear SVM on D features drawn from Q, for several D (Letarte et al. 2019, Section 5.4).

    Each draw is one long sequence of frequencies, of which the first D are used: an error does not depend on the other
    values of D. At one `random_state` all Q use the same uniform numbers, so curves of different methods, or along
    beta, differ by their Q more than by chance.

    Weights `Q` on the candidates (N, d) have the shape (N,) or (B, N), and the errors (len(D_values), n_draws) or (B,
    len(D_values), n_draws).
    """
    rng = as_rng(random_state)
    candidates = np.asarray(candidates)
    Q = np.asarray(Q)
    D_values = [check_count(D, "D") for D in D_values]
    seeds = [draw_seed(rng) for _ in range(check_count(n_draws, "n_draws"))]
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
    # Single precision suffices for the sign of a test decision, and halves the time.
    waves, test_waves = (_waves(points, candidates[distinct]) for points in (X, np.asarray(X_test, dtype=np.float32)))
    errors = np.stack([_errors_of_draws(waves, y, test_waves, y_test, sampled[:, :D], C) for D in D_values])
    return np.moveaxis(errors.reshape(len(D_values), *Q.shape[:-1], len(seeds)), 0, -2)


def _waves(points, omega) -> np.ndarray:
    """Cosines and sines, (2, K, n)."""
    return np.stack(np.split(fourier_features(points, omega, np.ones(len(omega))).T, 2))


def _errors_of_draws(waves, y, test_waves, y_test, sampled, C: float) -> np.ndarray:
    """Test error of each row of `sampled` (R, D), positions of frequencies in the waves."""
    R, D = sampled.shape
    # A frequency drawn r times becomes one pair of features times sqrt(r): inner products, and hence the SVM,
    # stay the same, and a concentrated Q is cheap.
    parts = [np.unique(row, return_counts=True) for row in sampled]
    width = max(len(rows) for rows, _ in parts)
    features = np.zeros((R, 2, width, waves.shape[2]))
    for own, (rows, repeats) in zip(features, parts, strict=True):
        own[:, : len(rows)] = waves[:, rows] * np.sqrt(repeats / D)[:, None]
    coefficients, intercepts = linear_svm_batch(features.reshape(R, 2 * width, -1).transpose(0, 2, 1), y, C)
    errors = np.empty(R)
    for r, (rows, repeats) in enumerate(parts):
        weights = coefficients[r].reshape(2, width)[:, : len(rows)] * np.sqrt(repeats / D)
        decision = sum(w.astype(np.float32) @ wave[rows] for w, wave in zip(weights, test_waves, strict=True))
        errors[r] = error_rate(decision + intercepts[r], y_test)
    return errors


def mean_and_margin(values: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Mean over the last axis, and half the width of its 95 % confidence interval by Student's t.

    Measurements are independent, and several are needed.
    """
    values = np.asarray(values, dtype=float)
    R = check_count(values.shape[-1] if values.ndim else 0, "the number of measurements", low=2)
    return values.mean(axis=-1), student_t.ppf(0.975, R - 1) * values.std(axis=-1, ddof=1) / np.sqrt(R)
