"""What lies beneath: lifted circles and their risks, two feature maps, regression, and random features or Nyström's.

A thesis chapter has these subjects. Three cosines lift two nested circles into space, where a plane separates them;
kernel ridge regression is compared with ridge regression on features. Their times depend on the machine.

After `pip install ".[experiments]"` in a copy of the repository, from any folder: python compute.py [numbers.csv]
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, lambertw
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import rff_engine as rff
from rff_datasets import ToyData
from rff_engine.features import random_phase_features
from rff_engine.losses import empirical_risk
from rff_engine.nystroem import NystroemMap
from rff_engine.studies.feature_methods import fit_features
from rff_engine.studies.toy.kernel import KernelSettings, estimate_variances, kernel_settings

#: Points of the two circles, of their fresh sample, and their noise.
CIRCLE_POINTS, CIRCLE_FRESH, CIRCLE_NOISE = 300, 5000, 0.05
#: Frequencies and phases of the thesis. Its factor, 3.46, is replaced by sqrt(2 / 3): see docs/errata.md.
LIFT_FREQUENCIES = np.array([[1.76, 2.24], [0.40, 1.87], [0.98, -0.98]])
LIFT_PHASES = np.array([2.75, 5.6, 6.05])
_LIFT_C = 1e3
_LOSSES = ("zero_one", "hinge", "squared_hinge", "logistic")
#: Sizes of the samples that planes are fitted on, samples of each size, and the noise of their circles.
SAMPLE_SIZES, SAMPLES, SAMPLE_NOISE = (30, 50, 100, 200, 500, 1000), 50, 0.2
#: Simulated variances: their largest distance, frequencies, draws and distances. A variance times the number of
#: features does not depend on the number of frequencies; one frequency makes its simulation least noisy.
DELTA_RANGE, VARIANCE_FREQUENCIES, VARIANCE_DRAWS, VARIANCE_POINTS = 4.0, 1, 8000, 33
#: Numbers of frequencies and draws of the largest errors, the points where they are taken, and their bound's delta.
UNIFORM_D, UNIFORM_DRAWS, UNIFORM_POINTS, UNIFORM_DELTA = (5, 10, 20, 50, 100, 200, 500, 1000), 10, 401, 0.05
#: Points of a kernel matrix, half the side of their square, clusters along a side, and the clusters' radius.
MATRIX_POINTS, MATRIX_EXTENT, CLUSTERS_ALONG, CLUSTER_RADIUS = 500, 3.0, 3, 0.02
#: Kernel ridge regression, and ridge regression on two kinds of features.
REGRESSIONS = ("kernel_ridge", "monte_carlo", "nystroem")
#: Rows of the regressions in the plane, half of which train, numbers of features, and draws of each.
REGRESSION_ROWS, D_VALUES, REGRESSION_DRAWS = 1200, (5, 10, 20, 50, 100, 200), 3
#: Numbers of training points whose fit is timed.
N_VALUES = (125, 250, 500, 1000, 2000)
#: lambda: the values to choose from, the value of the fits on a line, and the value of the timing.
LAMBDAS, LINE_LAMBDA, TIMED_LAMBDA = tuple(10.0**power for power in range(-7, 1)), 1e-2, 1e-3
#: Training points on the line.
LINE_POINTS = 40
_REPEATS = 3  # of a measured time; the fastest counts


@dataclass(frozen=True)
class Lift:
    """Points of two classes in the plane and in space, and a linear classifier in each."""

    X: np.ndarray
    """(n, 2), where the median radius of the outer class is 1"""
    y: np.ndarray
    """(n,), -1 or 1"""
    Z: np.ndarray
    """(n, 3), the lifted points"""
    coef: np.ndarray
    """(3,), normal of the plane w . z + b = 0"""
    intercept: float
    decisions: dict[str, np.ndarray]
    """(n,), f(x) of the points: "flat" for the line, "lifted" for the plane"""
    risks: dict[str, dict[str, tuple[float, float]]]
    """Empirical risk, and risk estimated on fresh points, by classifier and loss"""


def lifted_circles(seed: int, noise: float = CIRCLE_NOISE) -> Lift:
    """Lift two circles by three cosines and separate them by a plane, and by a line without the lift: linear SVMs."""
    data = ToyData("circles", CIRCLE_POINTS, noise, seed)
    sample = data.sample()
    fresh = data.fresh_sample(CIRCLE_FRESH)
    unit = _outer_radius(sample)
    flat = [points / unit for points in (sample.X, fresh.X)]
    lifted = [_lifted(points) for points in flat]
    decisions = {}
    risks = {}
    for name, (points, fresh_points) in (("flat", flat), ("lifted", lifted)):
        (w,), (b,) = rff.linear_svm_path(points, sample.y, [_LIFT_C])
        decisions[name] = points @ w + b
        unseen = fresh_points @ w + b
        risks[name] = {
            loss: (empirical_risk(loss, decisions[name], sample.y), empirical_risk(loss, unseen, fresh.y))
            for loss in _LOSSES
        }
    return Lift(flat[0], sample.y, lifted[0], w, float(b), decisions, risks)


def consistency(seed: int, sizes: tuple[int, ...] = SAMPLE_SIZES) -> dict[str, np.ndarray]:
    """Compute "empirical_risk" and "risk" of planes, (len(sizes), samples) each, fitted to samples of circles.

    The loss is the one that they minimise, the squared hinge loss. "limit", (1, 1), is the least risk of a plane; risks
    are estimated on the same fresh points.
    """
    fresh = ToyData("circles", CIRCLE_POINTS, SAMPLE_NOISE, seed).fresh_sample(CIRCLE_FRESH)
    unit = _outer_radius(fresh)
    Z = _lifted(fresh.X / unit)

    def risks(features, y) -> tuple[float, float]:
        """Return the empirical risk and the risk of the plane that is fitted to these points."""
        (w,), (b,) = rff.linear_svm_path(features, y, [_LIFT_C])
        own, unseen = features @ w + b, Z @ w + b
        return empirical_risk("squared_hinge", own, y), empirical_risk("squared_hinge", unseen, fresh.y)

    def of_sample(n: int, draw: int) -> tuple[float, float]:
        sample = ToyData("circles", n, SAMPLE_NOISE, _seed_of(seed, n, draw)).sample()
        return risks(_lifted(sample.X / unit), sample.y)

    drawn = np.array([[of_sample(n, draw) for draw in range(SAMPLES)] for n in sizes])
    return {"empirical_risk": drawn[..., 0], "risk": drawn[..., 1], "limit": np.array([[risks(Z, fresh.y)[1]]])}


def _outer_radius(sample) -> float:
    """Return the median radius of the outer circle."""
    radius = np.linalg.norm(sample.X, axis=1)
    return max(np.median(radius[sample.y == label]) for label in (-1, 1))


def _lifted(points: np.ndarray) -> np.ndarray:
    return random_phase_features(points, LIFT_FREQUENCIES, LIFT_PHASES)


def _seed_of(*numbers: int) -> int:
    """Return a seed for a draw."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])


# --- two feature maps -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VarianceCurves:
    """Variances of the two feature maps' estimates of k(delta), times the number of features E."""

    distances: np.ndarray
    """(P,)"""
    kernel: np.ndarray
    """(P,), k(delta)"""
    expected: dict[str, np.ndarray]
    """(P,) each, by the formulas; keys "cos_sin" and "random_phase\""""
    simulated: dict[str, np.ndarray]
    """(P,) each"""


def variance_curves(
    settings: KernelSettings, D: int = VARIANCE_FREQUENCIES, n_draws: int = VARIANCE_DRAWS
) -> VarianceCurves:
    """Compute variances along a coordinate, at distances from 0, by formula (`estimate_variances`) and by simulation.

    The cos/sin map has `D` frequencies, and the random-phase map the same number of features.
    """
    kernel = settings.kernel()
    rng = np.random.default_rng(settings.seed)
    delta = np.linspace(0, DELTA_RANGE, VARIANCE_POINTS)
    points = delta[:, None]
    at_delta, at_twice = (kernel(scale * points, np.zeros((1, 1)))[:, 0] for scale in (1, 2))
    # Along a coordinate only that coordinate of a frequency matters, in any dimension. All draws at once.
    omega = kernel.sample_frequencies(2 * D * n_draws, 1, rng)
    offsets = rng.uniform(0, 2 * np.pi, len(omega))
    features = {
        # The cos/sin map takes D of the 2 D frequencies of a draw.
        "cos_sin": rff.fourier_features(points, omega[: D * n_draws], np.ones(D * n_draws)),
        "random_phase": rff.random_phase_features(points, omega, offsets) * np.sqrt(len(omega)),
    }
    products = {name: values * values[0] for name, values in features.items()}  # the first distance is 0
    estimates = {
        "cos_sin": products["cos_sin"].reshape(len(delta), 2, n_draws, D).sum(axis=1).mean(axis=-1),
        "random_phase": products["random_phase"].reshape(len(delta), n_draws, 2 * D).mean(axis=-1),
    }
    return VarianceCurves(
        distances=delta,
        kernel=at_delta,
        expected=estimate_variances(at_delta, at_twice),
        simulated={name: 2 * D * np.var(values, axis=1, ddof=1) for name, values in estimates.items()},
    )


def largest_errors(settings: KernelSettings, counts: tuple[int, ...] = UNIFORM_D) -> dict[str, np.ndarray]:
    """Compute largest errors of estimates of k(delta), 0 <= delta <= DELTA_RANGE, from D cosines and sines.

    "error" of shape (len(counts), draws) is of prefixes of long draws; "bound", (len(counts), 1), is not exceeded with
    probability 1 - UNIFORM_DELTA, and infinite if frequencies have no second moment. It solves Proposition 1 of
    Sutherland and Schneider (2015), with alpha = 1, for the error; Rahimi and Recht (2007, Claim 1) have larger
    constants.
    """
    kernel = settings.kernel()
    delta = np.linspace(0, DELTA_RANGE, UNIFORM_POINTS)
    exact = kernel(delta[:, None], np.zeros((1, 1)))
    omega = kernel.sample_frequencies(UNIFORM_DRAWS * max(counts), 1, np.random.default_rng(settings.seed))
    D = np.array(counts)
    waves = (np.cos(np.outer(delta, draw)) for draw in omega.reshape(UNIFORM_DRAWS, -1))
    errors = [np.abs(np.cumsum(wave, axis=1)[:, D - 1] / D - exact).max(axis=0) for wave in waves]
    # factor (sigma l / eps)^(2/3) exp(-D eps^2 / 12) = delta, on the line; W is the inverse of w exp(w).
    factor = (2 ** (1 / 3) + 2 ** (-2 / 3)) * 2 ** (8 / 3)
    spread = kernel.coordinate_variance * DELTA_RANGE**2
    squares = 4 / D * lambertw(D / 4 * (factor / UNIFORM_DELTA) ** 3 * spread).real
    return {"error": np.array(errors).T, "bound": np.sqrt(squares)[:, None]}


# --- regression -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LineFit:
    """Regressions of noisy points on a line."""

    x: np.ndarray
    """(n,), training points"""
    y: np.ndarray
    """(n,)"""
    grid: np.ndarray
    """(G,)"""
    terms: np.ndarray
    """(n, G), alpha_i k(., x_i): kernel ridge regression is their sum"""
    fits: dict[str, np.ndarray]
    """(G,) each, by method"""
    landmarks: np.ndarray
    """(M,), of the Nyström features"""


def line_fit(settings: KernelSettings, D: int) -> LineFit:
    """Fit kernel ridge regression to a noisy curve, as a sum over its points, and its approximations by features.

    The training points are uniform on [-3, 3]. There are D frequencies and, where there are points enough, as many
    landmarks.
    """
    kernel = settings.kernel()
    x, y, grid = _line_sample(settings.seed)
    alpha = rff.kernel_ridge_path(kernel(x), y, [LINE_LAMBDA])[0]
    terms = alpha[:, None] * kernel(x, grid)
    fits = {"kernel_ridge": terms.sum(axis=0)}
    landmarks, _ = rff.kernel_landmarks(x, min(D, LINE_POINTS), "sample", settings.seed)
    maps = {
        "monte_carlo": fit_features("monte_carlo", x, None, kernel, D, settings.seed),
        "nystroem": NystroemMap.on(kernel, landmarks),
    }
    for name, features in maps.items():
        coef, _ = rff.ridge_path(features.transform(x), y, [LINE_LAMBDA], intercept=False)
        fits[name] = features.transform(grid) @ coef[0]
    return LineFit(x[:, 0], y, grid[:, 0], terms, fits, landmarks[:, 0])


def _line_sample(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw points (n, 1) and noisy values (n,) of a curve over them; the third array has the places of a curve."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-3, 3, LINE_POINTS))[:, None]
    y = np.sin(2 * x[:, 0]) + 0.3 * x[:, 0] + 0.2 * rng.standard_normal(LINE_POINTS)
    return x, y, np.linspace(-4, 4, 241)[:, None]


@dataclass(frozen=True)
class LineClassifiers:
    """Classifications of points on a line, each a sum over the points and a constant."""

    x: np.ndarray
    """(n,), training points"""
    y: np.ndarray
    """(n,), -1 or 1"""
    grid: np.ndarray
    """(G,)"""
    alpha: dict[str, np.ndarray]
    """(n,) each, weights of the points by loss"""
    fits: dict[str, np.ndarray]
    """(G,) each, sum_i alpha_i k(x, x_i) + b"""


def line_classifiers(settings: KernelSettings) -> LineClassifiers:
    """Classify the points of the line by the sign of their values, with the hinge and the logistic loss."""
    kernel = settings.kernel()
    x, values, grid = _line_sample(settings.seed)
    y = np.where(values > 0, 1, -1)
    K = kernel(x)
    C = 1 / (LINE_POINTS * LINE_LAMBDA)
    machine = SVC(C=C, kernel="precomputed", tol=1e-8).fit(K, y)
    hinge = np.zeros(LINE_POINTS)
    hinge[machine.support_] = machine.dual_coef_[0]
    # On features with the inner products K; where the gradient vanishes, the loss's slope at a point is its weight.
    eigenvalues, vectors = np.linalg.eigh(K)
    Z = vectors * np.sqrt(eigenvalues.clip(min=0))
    logistic = LogisticRegression(C=C, tol=1e-9, max_iter=10_000).fit(Z, y)
    alpha = {"hinge": hinge, "logistic": C * y * expit(-y * logistic.decision_function(Z))}
    intercepts = {"hinge": machine.intercept_[0], "logistic": logistic.intercept_[0]}
    fits = {loss: weights @ kernel(x, grid) + intercepts[loss] for loss, weights in alpha.items()}
    return LineClassifiers(x[:, 0], y, grid[:, 0], alpha, fits)


def plane_sample(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw points (n, 2) of the plane, standard normal, and a noisy wave (n,) over them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(n)


def regression_errors(settings: KernelSettings, counts: tuple[int, ...] = D_VALUES) -> dict[str, np.ndarray]:
    """Compute root mean square errors on held-out rows, (len(counts), draws) by method; kernel ridge has (1, 1).

    Half of the rows are fitted, a quarter chooses lambda for each method, and a quarter tests.
    """
    X, y = plane_sample(REGRESSION_ROWS, settings.seed)
    half, end = len(X) // 2, 3 * len(X) // 4

    def error(Z, solve) -> float:
        """Return the test error at the lambda of least validation error; `solve` fits at every lambda."""
        misses = [Z[half:] @ coef - y[half:] for coef in solve(Z[:half])]
        best = min(misses, key=lambda miss: np.mean(miss[: end - half] ** 2))
        return float(np.sqrt(np.mean(best[end - half :] ** 2)))

    def ridge(Z) -> np.ndarray:
        return rff.ridge_path(Z, y[:half], LAMBDAS, intercept=False)[0]

    def of_features(method: str, D: int, draw: int) -> float:
        features = fit_features(method, X[:half], None, settings.kernel(), D, _seed_of(settings.seed, D, draw))
        return error(features.transform(X), ridge)

    K = settings.kernel()(X, X[:half])
    return {"kernel_ridge": np.array([[error(K, lambda Z: rff.kernel_ridge_path(Z, y[:half], LAMBDAS))]])} | {
        method: np.array([[of_features(method, D, draw) for draw in range(REGRESSION_DRAWS)] for D in counts])
        for method in REGRESSIONS[1:]
    }


def regression_seconds(settings: KernelSettings, D: int, n_values: tuple[int, ...] = N_VALUES) -> dict[str, np.ndarray]:
    """Measure how the seconds to fit grow with n, (P,) by method; the shortest of a few times counts.

    Kernel ridge regression costs O(n^3), ridge regression O(n D^2) for random features and for Nyström's.
    """
    X, y = plane_sample(max(n_values), settings.seed)
    kernel = settings.kernel()

    def seconds(method: str, n: int) -> float:
        start = time.perf_counter()
        if method == "kernel_ridge":
            rff.kernel_ridge_path(kernel(X[:n]), y[:n], [TIMED_LAMBDA])
        else:
            Z = fit_features(method, X[:n], None, kernel, D, settings.seed).transform(X[:n])
            rff.ridge_path(Z, y[:n], [TIMED_LAMBDA], intercept=False)
        return time.perf_counter() - start

    return {name: np.array([min(seconds(name, n) for _ in range(_REPEATS)) for n in n_values]) for name in REGRESSIONS}


# --- random features or Nyström's -----------------------------------------------------------------------------------


def matrix_points(seed: int) -> dict[str, np.ndarray]:
    """Draw points (MATRIX_POINTS, 2) in tight "clusters" on a grid, and "uniform" ones on a square as large."""
    rng = np.random.default_rng(seed)
    along = np.linspace(-MATRIX_EXTENT, MATRIX_EXTENT, CLUSTERS_ALONG)
    centres = rng.choice(along, size=(MATRIX_POINTS, 2))
    clusters = centres + CLUSTER_RADIUS * rng.standard_normal(centres.shape)
    return {"clusters": clusters, "uniform": rng.uniform(-MATRIX_EXTENT, MATRIX_EXTENT, centres.shape)}


def matrix_eigenvalues(settings: KernelSettings) -> dict[str, np.ndarray]:
    """Compute the eigenvalues of K / n, (n,) in falling order, for both kinds of points."""
    kernel = settings.kernel()
    return {name: np.linalg.eigvalsh(kernel(X))[::-1] / len(X) for name, X in matrix_points(settings.seed).items()}


def matrix_errors(settings: KernelSettings, counts: tuple[int, ...] = D_VALUES) -> dict[str, dict[str, np.ndarray]]:
    """Compute ||K~ - K||_F / ||K||_F, (len(counts), draws), by points and by method.

    There are as many frequencies as landmarks; Nyström's landmarks are drawn from the points.
    """
    kernel = settings.kernel()

    def error(X, method: str, D: int, draw: int) -> float:
        features = fit_features(method, X, None, kernel, D, _seed_of(settings.seed, D, draw))
        return rff.relative_kernel_error(X, kernel, features.transform(X))

    return {
        name: {
            method: np.array([[error(X, method, D, draw) for draw in range(REGRESSION_DRAWS)] for D in counts])
            for method in REGRESSIONS[1:]
        }
        for name, X in matrix_points(settings.seed).items()
    }


def numbers(settings: KernelSettings, D: int) -> pd.DataFrame:
    """Return all numbers as one table, except measured times; errors of regressions are root mean squares."""
    lift = lifted_circles(settings.seed)
    variances = variance_curves(settings)
    fit = line_fit(settings, D)
    classified = line_classifiers(settings)
    risks = [(name, loss, *both) for name, of in lift.risks.items() for loss, both in of.items()]
    tables = {
        "lifted circles": {
            "x_1": lift.X[:, 0],
            "x_2": lift.X[:, 1],
            "label": lift.y,
            **{f"phi_{j + 1}": lift.Z[:, j] for j in range(3)},
            "f_of_line": lift.decisions["flat"],
            "f_of_plane": lift.decisions["lifted"],
        },
        "risks": dict(zip(("classifier", "loss", "empirical_risk", "risk"), zip(*risks, strict=True), strict=True)),
        "variances times features": {"distance": variances.distances, "kernel": variances.kernel}
        | {f"{name}_formula": values for name, values in variances.expected.items()}
        | {f"{name}_simulation": values for name, values in variances.simulated.items()},
        "regression on a line": {"x": fit.grid, **fit.fits},
        "classification on a line": {"x": classified.grid, **classified.fits},
        "weights of points on a line": {"x": classified.x, "label": classified.y}
        | {f"alpha_{loss}": alpha for loss, alpha in classified.alpha.items()},
        "eigenvalues": matrix_eigenvalues(settings),
    }
    draws = {
        "planes against n": ("n", SAMPLE_SIZES, consistency(settings.seed)),
        "largest errors": ("D", UNIFORM_D, largest_errors(settings)),
        "test errors of regressions": ("D", D_VALUES, regression_errors(settings)),
    } | {f"matrix of {name}": ("D", D_VALUES, errors) for name, errors in matrix_errors(settings).items()}
    tables |= {name: _long(*columns) for name, columns in draws.items()}
    frames = {name: pd.DataFrame(columns) for name, columns in tables.items()}
    return pd.concat(frames, names=["table"]).reset_index("table").convert_dtypes()


def _long(name: str, counts: tuple[int, ...], errors: dict[str, np.ndarray]) -> dict[str, list | np.ndarray]:
    """Make a table of arrays (len(counts), draws), a row a draw; what has one row has no number of features, 0."""
    return {
        "method": [method for method, of in errors.items() for _ in of.ravel()],
        name: [D for of in errors.values() for D in np.repeat(counts if len(of) > 1 else (0,), of.shape[1])],
        "error": np.concatenate([of.ravel() for of in errors.values()]),
    }


if __name__ == "__main__":
    # The experiment
    kernel = "Gaussian"  # or "Laplacian", or another title in rff_engine.kernels.KERNELS
    width = 0.501  # sigma, the length scale or 1 / gamma
    nu = 1.5  # smoothness of the Matérn kernel; the others have none
    D = 10  # frequencies, and landmarks
    seed = 0

    table = numbers(kernel_settings(kernel, width, nu, seed), D)
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
