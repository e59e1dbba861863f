"""A kernel on the rows of a data set, approximated by every method, and two methods side by side.

From the repository's root: python approximate_experiment.py [numbers.csv]
"""

import sys

import pandas as pd

import datasets
from pages.adaptive.approximate import toy as toy_approximation, toy_regression
from rff_engine.plots.style import METHOD_NAMES

# The experiment
first = "Monte Carlo"
second = "Sample"
r = 50  # frequencies of these two
data = "wine"  # or "breast", "digits", or a toy data set
kernel = "Gaussian"  # or "Laplacian", "Matérn", "Cauchy"
width = 1.0  # 1: 2 sigma^2 is the number of columns
nu = 1.5  # smoothness of the Matérn kernel; the others have none
seed = 0
methods = ("Monte Carlo", "Orthogonal", "Sobol", "Weight", "Sample", "Nyström")  # of the error curves


def numbers(pair, views, counts, errors, variances, fit, learned) -> pd.DataFrame:
    """All numbers of the page except the maps, as one table; frequencies and landmarks are those in the plane."""
    # Kernel ridge regression has one error and no features.
    learned_counts = {
        method: learned.r_values if len(of_method) > 1 else (0,) for method, of_method in learned.errors.items()
    }
    frames = {
        **of_two_methods(pair, views),
        "errors": of_curves(counts, errors),
        "variances times features": pd.DataFrame(
            {"distance": variances.distances, "kernel": variances.kernel}
            | {f"{name}_formula": values for name, values in variances.expected.items()}
            | {f"{name}_simulation": values for name, values in variances.simulated.items()}
        ),
        "regression on a line": pd.DataFrame({"x": fit.grid, **fit.fits}),
        "test errors of regressions": of_curves(learned_counts, learned.errors),
    }
    frames = {name: frame for name, frame in frames.items() if len(frame)}
    return pd.concat(frames, names=["table"]).reset_index("table").convert_dtypes()


def of_two_methods(pair, views) -> dict[str, pd.DataFrame]:
    """Errors, frequencies and landmarks of the methods on both sides; a view is None if its method does not fit."""
    errors, frequencies, landmarks = [], [], []
    for side, method, view in zip(("left", "right"), pair, views, strict=True):
        if view is None:
            continue
        errors.append((side, method, view.error, view.error_map.max()))
        if view.frequencies is None:
            landmarks += [(side, method, *x) for x in view.landmarks]
        else:
            weighted = zip(view.frequencies, view.weights, strict=True)
            frequencies += [(side, method, *omega, weight) for omega, weight in weighted]
    return {
        "two methods": pd.DataFrame(errors, columns=["side", "method", "error", "largest_error_in_plane"]),
        "frequencies": pd.DataFrame(frequencies, columns=["side", "method", "omega_1", "omega_2", "weight"]),
        "landmarks": pd.DataFrame(landmarks, columns=["side", "method", "x_1", "x_2"]),
    }


def of_curves(counts, errors) -> pd.DataFrame:
    """The error of every method, number r of features and draw."""
    rows = [
        (method, r, draw, error)
        for method, of_method in errors.items()
        for r, draws in zip(counts[method], of_method, strict=True)
        for draw, error in enumerate(draws)
    ]
    return pd.DataFrame(rows, columns=["method", "r", "draw", "error"])


def results_of(methods, compute) -> dict:
    """What `compute` returns, by method; one that does not fit the kernel is reported and left out."""
    results = {}
    for method in methods:
        try:
            results[method] = compute(method)
        except ValueError as error:
            print(error, file=sys.stderr)
    return results


def curve_sizes(method: str) -> tuple[tuple[int, ...], int]:
    """Numbers of frequencies, and of draws at each; fewer of both for descents, which cost more."""
    if method in ("sample", "cluster", "nearest"):
        return (5, 10, 20, 50), 2
    return (5, 10, 20, 50, 100, 200), 5


if __name__ == "__main__":
    real = data in ("wine", "breast", "digits")
    sample = datasets.load(data) if real else datasets.make_toy(data, 300, 0.1, seed)
    rows = toy_approximation.approximation_rows(sample.X, sample.y, sample.task, 300, seed)
    prior = toy_approximation.scaled_kernel(kernel, width, rows.X.shape[1], nu)
    names = {name: method for method, name in METHOD_NAMES.items()}
    pair = names[first], names[second]
    views = results_of(pair, lambda method: toy_approximation.method_view(rows, prior, method, r, seed))
    errors = results_of(
        [names[name] for name in methods],
        lambda method: toy_approximation.approximation_errors(rows, prior, method, *curve_sizes(method), seed),
    )
    variances = toy_approximation.variance_curves(prior, 2 * rows.extent, 33, 1, 8000, seed)
    fit = toy_regression.line_fit(toy_approximation.scaled_kernel(kernel, width, 1, nu), r, 1e-2, seed)
    many = sample if real else datasets.make_toy(data, 1200, 0.1, seed)
    split = toy_approximation.approximation_rows(many.X, many.y, many.task, min(1200, len(many.y)), seed)
    of_split = toy_approximation.scaled_kernel(kernel, width, split.X.shape[1], nu)
    learned = toy_regression.kernel_and_feature_errors(
        split.X, split.y, split.task, of_split, (5, 10, 20, 50, 100, 200), 3, seed
    )
    counts = {method: curve_sizes(method)[0] for method in errors}
    table = numbers(pair, [views.get(method) for method in pair], counts, errors, variances, fit, learned)
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
