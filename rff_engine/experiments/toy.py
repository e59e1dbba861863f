"""Small experiments in the plane: data and settings in, the arrays that one picture needs out.

They compose the engine's functions in the order of the papers and add no mathematics of their own. What does not
depend on beta is computed apart from what does, so that a caller can keep it while beta moves.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import logsumexp
from scipy.stats import t as student_t
from threadpoolctl import ThreadpoolController

from .._validation import as_points, as_rng, check_count, check_nonnegative, check_positive, draw_seed
from ..alignment import alignment_loss, alignment_loss_plane, landmark_alignment_loss
from ..features import fourier_features, random_phase_features
from ..kernels import SpectralKernel
from ..landmarks import landmark_similarity, select_landmarks, similarity_maps
from ..linear import linear_svm_path
from ..posteriors import kl_divergence, optimized_kernel_weights, power_divergence, pseudo_posterior

__all__ = [
    "Candidates",
    "Decision",
    "FrequencyPlane",
    "KernelLine",
    "KernelPlane",
    "LandmarkProblem",
    "LandmarkView",
    "WeightSummary",
    "approximation_error",
    "cell_centres",
    "draw_candidates",
    "draw_frequencies_and_offsets",
    "expected_error",
    "feature_error_curve",
    "feature_test_error",
    "frequency_plane",
    "kernel_line",
    "kernel_map",
    "kernel_plane",
    "landmark_problem",
    "landmark_view",
    "learned_weights",
    "mean_and_margin",
    "plane_posterior",
    "uniform_points",
    "weight_summary",
    "weighted_kernel_map",
]


def cell_centres(extent: float, cells: int) -> np.ndarray:
    """Centres of `cells` equal cells that fill [-extent, extent]."""
    extent = check_positive(extent, "extent")
    return extent * (2 * (np.arange(check_count(cells, "cells")) + 0.5) / cells - 1)


@dataclass(frozen=True)
class LandmarkProblem:
    """Landmarks, their frequencies and the losses of these: all that stays while beta moves."""

    kernel: SpectralKernel
    X: np.ndarray
    """(n, 2)"""
    y: np.ndarray
    """(n,), labels -1 and 1"""
    landmarks: np.ndarray
    """(L, 2)"""
    labels: np.ndarray
    """(L,)"""
    indices: np.ndarray | None
    """(L,), or None for centroids"""
    omega: np.ndarray
    """(L, D, 2)"""
    loss: np.ndarray
    """(L, D)"""


def landmark_problem(
    X, y, kernel: SpectralKernel, n_landmarks: int, n_frequencies: int, selection="random", random_state=None
) -> LandmarkProblem:
    """Choose landmarks, draw frequencies for each and compute their losses (Letarte et al. 2019, Section 4.2).

    Parameters
    ----------
    X, y : arrays of shapes (n, d) and (n,)
    kernel : SpectralKernel
    n_landmarks, n_frequencies : int
    selection : {"random", "kmeans"} or array of int
        How landmarks are chosen, or the rows of `X` that they are (then `n_landmarks` does not count).
    random_state : int, RandomState, Generator or None

    Returns
    -------
    LandmarkProblem

    Raises
    ------
    ValueError
        If there are fewer points than landmarks, or a value is out of range.
    """
    D = check_count(n_frequencies, "n_frequencies")
    choosing, drawing = np.random.default_rng(draw_seed(as_rng(random_state))).spawn(2)
    if isinstance(selection, str):
        landmarks, labels, indices = select_landmarks(X, y, n_landmarks, selection, choosing)
    else:
        indices = np.asarray(selection, dtype=np.intp)
        if indices.size == 0 or indices.min() < 0 or indices.max() >= len(X):
            raise ValueError(
                f"selection must name rows of X, each between 0 and {len(X) - 1}; it is {indices.tolist()}."
            )
        landmarks, labels = X[indices], y[indices]
    # One stream a landmark: adding a landmark does not change the frequencies of the others.
    omega = np.stack([kernel.sample_frequencies(D, X.shape[1], rng) for rng in drawing.spawn(len(labels))])
    loss = landmark_alignment_loss(X, y, landmarks, labels, omega, indices)
    return LandmarkProblem(kernel, X, y, landmarks, labels, indices, omega, loss)


@dataclass(frozen=True)
class Decision:
    """A linear SVM on similarities, with its errors and its map."""

    coefficients: np.ndarray
    """(L,)"""
    intercept: float
    train_error: float
    test_error: float
    values: np.ndarray
    """(G, G), decision values on the grid"""


@dataclass(frozen=True)
class LandmarkView:
    """Similarity maps and decisions of the prior and of the pseudo-posterior at one beta."""

    Q: np.ndarray
    """(L, D)"""
    prior_maps: np.ndarray
    """(L, G, G)"""
    learned_maps: np.ndarray
    """(L, G, G)"""
    prior: Decision
    learned: Decision


def landmark_view(
    problem: LandmarkProblem, X_test, y_test, beta: float, C: float, extent: float, cells: int = 64
) -> LandmarkView:
    """Compare the kernel itself with the learned similarities (Letarte et al. 2019, Figure 1).

    Parameters
    ----------
    problem : LandmarkProblem
    X_test, y_test : arrays of shapes (m, 2) and (m,)
    beta : float
        Inverse temperature.
    C : float
        Of the linear SVM on the similarities.
    extent : float
        Half the side of the square that the maps show.
    cells : int
        Cells along a side.

    Returns
    -------
    LandmarkView

    Raises
    ------
    ValueError
        If a value is out of range.
    """
    p = problem
    grid = cell_centres(extent, cells)
    plane = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    Q = pseudo_posterior(p.loss, beta, len(p.X))
    prior_maps = p.kernel(p.landmarks, plane).reshape(-1, cells, cells)
    learned_maps = similarity_maps(grid, grid, p.landmarks, p.omega, Q)

    def learned(X):
        return landmark_similarity(X, p.landmarks, p.omega, Q)

    def prior(X):
        return p.kernel(X, p.landmarks)

    return LandmarkView(
        Q,
        prior_maps,
        learned_maps,
        _decide(prior, p.X, p.y, X_test, y_test, C, prior_maps),
        _decide(learned, p.X, p.y, X_test, y_test, C, learned_maps),
    )


def _decide(represent, X, y, X_test, y_test, C, maps) -> Decision:
    psi = represent(X)
    coefficients, intercept = (a[0] for a in linear_svm_path(psi, y, [C]))
    train = _error(psi @ coefficients + intercept, y)
    test = _error(represent(X_test) @ coefficients + intercept, y_test)
    values = np.tensordot(coefficients, maps, axes=1) + intercept
    return Decision(coefficients, float(intercept), train, test, values)


def _error(decision, y) -> float:
    positive = np.max(y)
    return float(np.mean((decision > 0) != (y == positive)))


def learned_weights(loss, beta: float, rho_over_n: float, mu: float, n: int) -> dict[str, np.ndarray]:
    """Weights of three methods on one set of candidates: the prior, PBRFF and OKRFF.

    Parameters
    ----------
    loss : array of shape (N,)
    beta : float
    rho_over_n : float
        The divergence D_mu of OKRFF may reach this number times N.
    mu : float
    n : int
        The sample size behind the losses.

    Returns
    -------
    dict of ndarrays of shape (N,), with keys "rff", "pbrff" and "okrff"

    Raises
    ------
    ValueError
        If a value is out of range.
    """
    N = len(loss)
    return {
        "rff": np.full(N, 1 / N),
        "pbrff": pseudo_posterior(loss, beta, n),
        "okrff": optimized_kernel_weights(loss, rho_over_n * N, mu),
    }


def feature_test_error(
    X, y, X_test, y_test, candidates, Q, n_frequencies: int, C: float, n_draws: int, random_state=None
) -> np.ndarray:
    """Test errors of a linear SVM on features drawn from Q (Letarte et al. 2019, Section 5.4), draw by draw.

    Parameters
    ----------
    X, y, X_test, y_test : arrays
        Training and test points and their labels.
    candidates : array of shape (N, d)
        Frequencies.
    Q : array of shape (N,)
        Weights on the candidates; D of them are drawn with replacement.
    n_frequencies : int
        D.
    C : float
    n_draws : int
    random_state : int, RandomState, Generator or None

    Returns
    -------
    ndarray of shape (n_draws,)

    Raises
    ------
    ValueError
        If a value is out of range.
    """
    rng = as_rng(random_state)
    D = check_count(n_frequencies, "n_frequencies")
    errors = np.empty(check_count(n_draws, "n_draws"))
    for i in range(len(errors)):
        omega = candidates[rng.choice(len(Q), size=D, p=Q)]
        coefficients, intercept = (a[0] for a in linear_svm_path(fourier_features(X, omega), y, [C]))
        errors[i] = _error(fourier_features(X_test, omega) @ coefficients + intercept, y_test)
    return errors


def approximation_error(kernel: SpectralKernel, points, D_values, n_draws: int, random_state=None) -> dict:
    """Root mean square error of the approximated kernel matrix as features are added, for both feature maps.

    At D frequencies the cos/sin map has 2 D features; the random-phase map is given 2 D frequencies, hence as many.

    Parameters
    ----------
    kernel : SpectralKernel
    points : array of shape (m, d)
    D_values : sequence of int
    n_draws : int
        Independent draws; the errors are means over them.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    dict of ndarrays of shape (len(D_values),), with keys "cos_sin" and "random_phase"

    Raises
    ------
    ValueError
        If a value is out of range.
    """
    rng = as_rng(random_state)
    points = np.asarray(points, dtype=float)
    exact = kernel(points)
    largest = max(check_count(D, "D") for D in D_values)
    squares = {"cos_sin": np.zeros(len(D_values)), "random_phase": np.zeros(len(D_values))}
    for _ in range(check_count(n_draws, "n_draws")):
        omega = kernel.sample_frequencies(2 * largest, points.shape[1], rng)
        offsets = rng.uniform(0, 2 * np.pi, 2 * largest)
        for i, D in enumerate(D_values):
            for name, phi in (
                ("cos_sin", fourier_features(points, omega[:D])),
                ("random_phase", random_phase_features(points, omega[: 2 * D], offsets[: 2 * D])),
            ):
                squares[name][i] += np.mean((phi @ phi.T - exact) ** 2) / n_draws
    return {name: np.sqrt(values) for name, values in squares.items()}


def draw_frequencies_and_offsets(kernel: SpectralKernel, n_frequencies: int, n_features: int, random_state=None):
    """Frequencies of a kernel with a random phase each: what both feature maps are made of.

    A caller who draws many once and takes prefixes sees frequencies join the others as D grows, none replaced.

    Parameters
    ----------
    kernel : SpectralKernel
    n_frequencies, n_features : int
        The number of frequencies and their dimension d.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    omega : ndarray of shape (n_frequencies, d)
    offsets : ndarray of shape (n_frequencies,)
        Uniform on [0, 2 pi).

    Raises
    ------
    ValueError
        If a count is not a whole number of at least 1.
    """
    rng = as_rng(random_state)
    omega = kernel.sample_frequencies(n_frequencies, n_features, rng)
    return omega, rng.uniform(0, 2 * np.pi, len(omega))


def uniform_points(extent: float, n: int, random_state=None) -> np.ndarray:
    """Points drawn uniformly from the square [-extent, extent]^2.

    Parameters
    ----------
    extent : float
    n : int
    random_state : int, RandomState, Generator or None

    Returns
    -------
    ndarray of shape (n, 2)

    Raises
    ------
    ValueError
        If the extent is not above 0 or n is below 1.
    """
    return as_rng(random_state).uniform(-1, 1, (check_count(n, "n"), 2)) * check_positive(extent, "extent")


@dataclass(frozen=True)
class KernelLine:
    """A kernel of one variable, its spectral density, and two estimates from random frequencies."""

    omega: np.ndarray
    """(D,), the frequencies of the cos/sin map"""
    outside: int
    """How many of them lie beyond the range of `frequencies`"""
    frequencies: np.ndarray
    """(F,), where the density is known"""
    density: np.ndarray
    """(F,)"""
    delta: np.ndarray
    """(G,)"""
    exact: np.ndarray
    """(G,), k(delta)"""
    cos_sin: np.ndarray
    """(G,), the mean of the D cosines"""
    random_phase: np.ndarray
    """(G,), phi(delta) . phi(0)"""
    wave_omega: np.ndarray
    """(W,), a few of the frequencies"""
    waves: np.ndarray
    """(W, G), their cosines"""


def kernel_line(
    kernel: SpectralKernel, omega, offsets, frequency_range: float, delta_range: float, n_waves: int = 4
) -> KernelLine:
    """Compare k(delta) with its estimates from 2 D features of either kind (Letarte et al. 2019, Eq. 3 to 5).

    Parameters
    ----------
    kernel : SpectralKernel
    omega : array of shape (2 D, 1)
        The first D serve the cos/sin map, all serve the random-phase map: both then have 2 D features.
    offsets : array of shape (2 D,)
        Phases of the random-phase map.
    frequency_range, delta_range : float
        Half the lengths of the two intervals, both around 0, that are computed.
    n_waves : int
        How many single cosines to return: those of the first frequencies within the range.

    Returns
    -------
    KernelLine

    Raises
    ------
    ValueError
        If a shape is wrong or a value is out of range.
    """
    omega = as_points(omega, "omega", n_features=1)
    D = check_count(len(omega) // 2, "half the number of frequencies")
    # An odd number of points: 0 is among them.
    frequencies = np.linspace(-1, 1, 601) * check_positive(frequency_range, "frequency_range")
    delta = np.linspace(-1, 1, 601) * check_positive(delta_range, "delta_range")
    points, origin = delta[:, None], np.zeros((1, 1))
    inside = omega[:D, 0][np.abs(omega[:D, 0]) <= frequency_range][: check_count(n_waves, "n_waves", low=0)]
    return KernelLine(
        omega=omega[:D, 0],
        outside=int((np.abs(omega[:D, 0]) > frequency_range).sum()),
        frequencies=frequencies,
        density=kernel.spectral_density(frequencies[:, None]),
        delta=delta,
        exact=kernel(points, origin)[:, 0],
        cos_sin=fourier_features(points, omega[:D]) @ fourier_features(origin, omega[:D])[0],
        random_phase=random_phase_features(points, omega[: 2 * D], offsets[: 2 * D])
        @ random_phase_features(origin, omega[: 2 * D], offsets[: 2 * D])[0],
        wave_omega=inside,
        waves=np.cos(np.outer(inside, delta)),
    )


def kernel_map(kernel: SpectralKernel, extent: float, cells: int = 121) -> np.ndarray:
    """The kernel k(delta) over the plane.

    Parameters
    ----------
    kernel : SpectralKernel
    extent : float
        Half the side of the square of differences delta.
    cells : int
        Cells along a side.

    Returns
    -------
    ndarray of shape (cells, cells)

    Raises
    ------
    ValueError
        If a value is out of range.
    """
    return kernel(_plane(cell_centres(extent, cells)), np.zeros((1, 2))).reshape(cells, cells)


def weighted_kernel_map(omega, Q, extent: float, cells: int = 121) -> np.ndarray:
    """The kernel k_Q(delta) = sum_m Q_m cos(omega_m . delta) over the plane (Letarte et al. 2019, Section 5.3).

    Parameters
    ----------
    omega : array of shape (N, 2)
    Q : array of shape (N,)
    extent : float
        Half the side of the square of differences delta.
    cells : int
        Cells along a side.

    Returns
    -------
    ndarray of shape (cells, cells)

    Raises
    ------
    ValueError
        If a shape is wrong or a value is out of range.
    """
    grid = cell_centres(extent, cells)
    omega, Q = np.asarray(omega), np.asarray(Q)
    used = Q > 0  # the optimized kernel leaves most candidates without weight
    return similarity_maps(grid, grid, np.zeros((1, 2)), omega[used], Q[None, used])[0]


def _plane(grid) -> np.ndarray:
    """The points of a square grid, (G * G, 2), second coordinate outermost."""
    return np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)


@dataclass(frozen=True)
class KernelPlane:
    """A kernel of two variables, its spectral density, and its estimate from random frequencies."""

    outside: int
    """How many of the frequencies lie beyond the square of the density"""
    density: np.ndarray
    """(G, G), on the frequency plane"""
    exact: np.ndarray
    """(G, G), on the plane of differences"""
    approximate: np.ndarray
    """(G, G)"""


def kernel_plane(
    kernel: SpectralKernel, omega, frequency_extent: float, extent: float, cells: int = 121
) -> KernelPlane:
    """Compare the kernel over the plane with the mean of D cosines (Letarte et al. 2019, Eq. 3 and 5).

    Parameters
    ----------
    kernel : SpectralKernel
    omega : array of shape (D, 2)
    frequency_extent, extent : float
        Half the sides of the squares of frequencies and of differences.
    cells : int
        Cells along a side of either.

    Returns
    -------
    KernelPlane

    Raises
    ------
    ValueError
        If a shape is wrong or a value is out of range.
    """
    omega = as_points(omega, "omega", n_features=2)
    return KernelPlane(
        outside=int((np.abs(omega).max(axis=1) > frequency_extent).sum()),
        density=kernel.spectral_density(_plane(cell_centres(frequency_extent, cells))).reshape(cells, cells),
        exact=kernel_map(kernel, extent, cells),
        approximate=weighted_kernel_map(omega, np.full(len(omega), 1 / len(omega)), extent, cells),
    )


def expected_error(kernel: SpectralKernel, points, n_features) -> dict[str, np.ndarray]:
    """What `approximation_error` estimates, in closed form (Sutherland and Schneider 2015, Section 2.1).

    At E features the variance of the cos/sin estimate of k(delta) is ``(1 + k(2 delta) - 2 k(delta)^2) / E``, that
    of the random-phase estimate ``(1 + k(2 delta) / 2 - k(delta)^2) / E``; both are unbiased.

    Parameters
    ----------
    kernel : SpectralKernel
    points : array of shape (m, d)
    n_features : sequence of int
        Numbers of features E, even for the cos/sin map.

    Returns
    -------
    dict of ndarrays of shape (len(n_features),), with keys "cos_sin" and "random_phase"
        Roots of the mean variance over all pairs of points.

    Raises
    ------
    ValueError
        If a number of features is not a whole number of at least 1.
    """
    E = np.array([check_count(int(e), "n_features") for e in n_features])
    points = np.asarray(points, dtype=float)
    at_delta, at_twice = kernel(points), kernel(2 * points)
    variances = {
        "cos_sin": np.mean(1 + at_twice - 2 * at_delta**2),
        "random_phase": np.mean(1 + at_twice / 2 - at_delta**2),
    }
    return {name: np.sqrt(variance / E) for name, variance in variances.items()}


@dataclass(frozen=True)
class FrequencyPlane:
    """Prior density and alignment loss over a square of frequencies: all that stays while beta moves."""

    grid: np.ndarray
    """(G,), either coordinate of the frequencies"""
    prior: np.ndarray
    """(G, G), density"""
    loss: np.ndarray
    """(G, G)"""
    n: int
    """The sample size behind the losses"""


def frequency_plane(X, y, kernel: SpectralKernel, extent: float, cells: int = 121) -> FrequencyPlane:
    """Where the prior puts its frequencies, and what each frequency is worth (Letarte et al. 2019, Prop. 8).

    Parameters
    ----------
    X, y : arrays of shapes (n, 2) and (n,)
    kernel : SpectralKernel
    extent : float
        Half the side of the square of frequencies.
    cells : int
        Cells along a side.

    Returns
    -------
    FrequencyPlane

    Raises
    ------
    ValueError
        If a shape is wrong, a value is out of range, or `y` holds only one class.
    """
    grid = cell_centres(extent, cells)
    prior = kernel.spectral_density(_plane(grid)).reshape(cells, cells)
    return FrequencyPlane(grid, prior, alignment_loss_plane(X, y, grid, grid), len(X))


def plane_posterior(plane: FrequencyPlane, beta: float) -> np.ndarray:
    """The pseudo-posterior as a density on the frequency plane, p(omega) exp(-beta sqrt(n) loss) / Z.

    It is the limit, for ever more candidates, of the pseudo-posterior on candidates drawn from p (Letarte et al.
    2019, Eq. 19), confined to the square.

    Parameters
    ----------
    plane : FrequencyPlane
    beta : float
        Inverse temperature, at least 0.

    Returns
    -------
    ndarray of shape (G, G)
        Its integral over the square is 1.

    Raises
    ------
    ValueError
        If beta is negative or not finite.
    """
    t = check_nonnegative(beta, "beta") * np.sqrt(plane.n)
    with np.errstate(divide="ignore"):  # a density may underflow to 0 far out: its logarithm is then -inf, and right
        log_weights = np.log(plane.prior) - t * (plane.loss - plane.loss.min())
    cell = (plane.grid[-1] - plane.grid[0]) / (len(plane.grid) - 1)
    return np.exp(log_weights - logsumexp(log_weights)) / cell**2


@dataclass(frozen=True)
class Candidates:
    """Frequencies drawn from a kernel and their losses: all that stays while beta, rho and mu move."""

    omega: np.ndarray
    """(N, d)"""
    loss: np.ndarray
    """(N,)"""
    n: int
    """The sample size behind the losses"""


def draw_candidates(X, y, kernel: SpectralKernel, n_candidates: int, random_state=None) -> Candidates:
    """Draw candidate frequencies and compute their alignment losses (Letarte et al. 2019, Section 5.4).

    Parameters
    ----------
    X, y : arrays of shapes (n, d) and (n,)
    kernel : SpectralKernel
    n_candidates : int
        N.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    Candidates

    Raises
    ------
    ValueError
        If a shape is wrong, N is below 1, or `y` holds only one class.
    """
    X = as_points(X)
    omega = kernel.sample_frequencies(n_candidates, X.shape[1], random_state)
    return Candidates(omega, alignment_loss(X, y, omega), X.shape[0])


@dataclass(frozen=True)
class WeightSummary:
    """How far a distribution on candidates is from the uniform one."""

    kl: float
    """KL(Q || P), in nats"""
    divergence: float
    """D_mu(Q || P)"""
    effective: float
    """1 / sum Q^2: as many equal weights would be as concentrated"""


def weight_summary(Q, mu: float) -> WeightSummary:
    """Divergences of Q from the prior and its effective number of frequencies.

    Parameters
    ----------
    Q : array of shape (N,)
    mu : float
        Order of the divergence D_mu, above 1.

    Returns
    -------
    WeightSummary

    Raises
    ------
    ValueError
        If Q is not a distribution or mu is not above 1.
    """
    Q = np.asarray(Q)
    return WeightSummary(float(kl_divergence(Q)), float(power_divergence(Q, mu)), float(1 / (Q**2).sum()))


def feature_error_curve(
    X, y, X_test, y_test, candidates, Q, D_values, C: float, n_draws: int, random_state=None
) -> np.ndarray:
    """Test errors of a linear SVM on D features drawn from Q, for several D (Letarte et al. 2019, Section 5.4).

    Each draw is one long sequence of frequencies, of which D takes the first: an error does not depend on which
    other values of D are asked for. At one `random_state` different Q turn the same uniform numbers into
    frequencies, so curves of different methods differ by the methods more than by luck.

    Parameters
    ----------
    X, y, X_test, y_test : arrays
        Training and test points and their labels.
    candidates : array of shape (N, d)
        Frequencies.
    Q : array of shape (N,)
        Weights on the candidates; they are drawn with replacement.
    D_values : sequence of int
        Numbers of frequencies, in any order.
    C : float
    n_draws : int
    random_state : int, RandomState, Generator or None

    Returns
    -------
    ndarray of shape (len(D_values), n_draws)

    Raises
    ------
    ValueError
        If a value is out of range.
    """
    rng = as_rng(random_state)
    candidates, Q = np.asarray(candidates), np.asarray(Q)
    D_values = [check_count(D, "D") for D in D_values]
    # Single precision does for the sign of a test point's decision, in half the time.
    X_test = np.asarray(X_test, dtype=np.float32)

    def errors(seed):
        chosen = np.random.default_rng(seed).choice(len(Q), size=max(D_values), p=Q)
        return [error(*np.unique(chosen[:D], return_counts=True)) for D in D_values]

    def error(distinct, repeats):
        # A frequency drawn r times is one pair of features, sqrt(r) times as long: the inner products, and so the
        # SVM, are the same, and a concentrated Q is cheap.
        omega, weights = candidates[distinct], repeats / repeats.sum()
        coefficients, intercept = (a[0] for a in linear_svm_path(fourier_features(X, omega, weights), y, [C]))
        return _error(fourier_features(X_test, omega, weights) @ coefficients + intercept, y_test)

    seeds = [draw_seed(rng) for _ in range(check_count(n_draws, "n_draws"))]
    # One draw a thread: products of matrices this small gain nothing from threads of their own.
    with _blas().limit(limits=1, user_api="blas"), ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return np.array(list(pool.map(errors, seeds))).T


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def mean_and_margin(values) -> tuple[np.ndarray, np.ndarray]:
    """Mean over the last axis, and half the width of its 95 % confidence interval by Student's t.

    Parameters
    ----------
    values : array of shape (..., R)
        R independent measurements, at least 2.

    Returns
    -------
    mean, margin : ndarrays of shape (...)

    Raises
    ------
    ValueError
        If there are fewer than 2 measurements.
    """
    values = np.asarray(values, dtype=float)
    R = check_count(values.shape[-1] if values.ndim else 0, "the number of measurements", low=2)
    return values.mean(axis=-1), student_t.ppf(0.975, R - 1) * values.std(axis=-1, ddof=1) / np.sqrt(R)
