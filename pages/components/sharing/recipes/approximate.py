"""A kernel on the rows of a data set, approximated by every method, and two methods side by side.

From the repository's root: python approximate_experiment.py [numbers.csv]
"""

import sys

import numpy as np
import pandas as pd

import datasets
from rff_engine.experiments.toy import approximation as toy_approximation, regression as toy_regression
from rff_engine.figures.style import METHOD_NAMES

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
    sides = [side for side in zip(("left", "right"), pair, views, strict=True) if side[2] is not None]
    waves = [side for side in sides if side[2].frequencies is not None]
    others = [side for side in sides if side[2].frequencies is None]
    tables = {
        "two methods": {
            "side": [side for side, _, _ in sides],
            "method": [method for _, method, _ in sides],
            "error": [view.error for _, _, view in sides],
            "largest_error_in_plane": [view.error_map.max() for _, _, view in sides],
        },
        "frequencies": {
            "side": [side for side, _, view in waves for _ in view.weights],
            "method": [method for _, method, view in waves for _ in view.weights],
            "omega_1": [omega for _, _, view in waves for omega in view.frequencies[:, 0]],
            "omega_2": [omega for _, _, view in waves for omega in view.frequencies[:, 1]],
            "weight": [weight for _, _, view in waves for weight in view.weights],
        },
        "landmarks": {
            "side": [side for side, _, view in others for _ in view.landmarks],
            "method": [method for _, method, view in others for _ in view.landmarks],
            "x_1": [x for _, _, view in others for x in view.landmarks[:, 0]],
            "x_2": [x for _, _, view in others for x in view.landmarks[:, 1]],
        },
        "errors": {
            "method": [method for method in errors for _ in errors[method].ravel()],
            "r": [r for method in errors for r in np.repeat(counts[method], errors[method].shape[1])],
            "draw": [i for drawn in errors.values() for i in np.tile(np.arange(drawn.shape[1]), len(drawn))],
            "error": [error for drawn in errors.values() for error in drawn.ravel()],
        },
        "variances times features": {
            "distance": variances.distances,
            "kernel": variances.kernel,
            **{f"{name}_formula": values for name, values in variances.expected.items()},
            **{f"{name}_simulation": values for name, values in variances.simulated.items()},
        },
        "regression on a line": {"x": fit.grid, **fit.fits},
        "test errors of regressions": {
            "method": [method for method, drawn in learned.errors.items() for _ in drawn.ravel()],
            "r": [r for drawn in learned.errors.values() for r in np.repeat(_counts(learned, drawn), drawn.shape[1])],
            "draw": [i for drawn in learned.errors.values() for i in np.tile(np.arange(drawn.shape[1]), len(drawn))],
            "error": [error for drawn in learned.errors.values() for error in drawn.ravel()],
        },
    }
    frames = {name: pd.DataFrame(columns) for name, columns in tables.items()}
    frames = {name: frame for name, frame in frames.items() if len(frame)}
    return pd.concat(frames, names=["table"]).reset_index("table").convert_dtypes()


def _counts(learned, drawn):
    """The numbers of features of a method's errors; kernel ridge regression has one error and none."""
    return learned.r_values if len(drawn) > 1 else (0,)


if __name__ == "__main__":
    real = data in ("wine", "breast", "digits")
    sample = datasets.load(data) if real else datasets.make_toy(data, 300, 0.1, seed)
    rows = toy_approximation.approximation_rows(sample.X, sample.y, sample.task, 300, seed)
    prior = toy_approximation.scaled_kernel(kernel, width, rows.X.shape[1], nu)
    names = {name: method for method, name in METHOD_NAMES.items()}
    pair = names[first], names[second]
    views, counts, errors = [], {}, {}
    for method in pair:
        try:
            views.append(toy_approximation.method_view(rows, prior, method, r, seed))
        except ValueError as error:  # a method that does not fit the kernel
            views.append(None)
            print(error, file=sys.stderr)
    for method in [names[name] for name in methods]:
        descends = method in ("sample", "cluster", "nearest")
        r_values, draws = ((5, 10, 20, 50), 2) if descends else ((5, 10, 20, 50, 100, 200), 5)
        try:
            errors[method] = toy_approximation.approximation_errors(rows, prior, method, r_values, draws, seed)
            counts[method] = r_values
        except ValueError as error:
            print(error, file=sys.stderr)
    variances = toy_approximation.variance_curves(prior, 2 * rows.extent, 33, 1, 8000, seed)
    fit = toy_regression.line_fit(toy_approximation.scaled_kernel(kernel, width, 1, nu), r, 1e-2, seed)
    many = sample if real else datasets.make_toy(data, 1200, 0.1, seed)
    split = toy_approximation.approximation_rows(many.X, many.y, many.task, min(1200, len(many.y)), seed)
    of_split = toy_approximation.scaled_kernel(kernel, width, split.X.shape[1], nu)
    learned = toy_regression.kernel_and_feature_errors(
        split.X, split.y, split.task, of_split, (5, 10, 20, 50, 100, 200), 3, seed
    )
    table = numbers(pair, views, counts, errors, variances, fit, learned)
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
