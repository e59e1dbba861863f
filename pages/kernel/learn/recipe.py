"""Learn a kernel: candidate frequencies weighted by their alignment with the labels, and the error of D of them.

From the repository's root: python learn_kernel_experiment.py [numbers.csv]
"""

import sys

import numpy as np
import pandas as pd

import datasets
import rff_engine as rff
from rff_engine.studies.toy import learning as toy_learning

# The experiment
data = "checkerboard"
points = ()  # your own instead of the data above: (x_1, x_2, class), class -1 or 1
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
D = 10  # frequencies drawn
C = 1.0  # of the linear SVM on their features


def numbers(candidates, weights, mu, D_values, errors, path, error_path) -> pd.DataFrame:
    """All numbers of the page as one table; errors are fractions, KL in nats, frequencies in radians per unit of x."""
    summaries = [toy_learning.weight_summary(Q, mu) for Q in weights.values()]
    mean, half_width = toy_learning.mean_and_margin(np.stack(list(errors.values())))
    tables = {
        "candidates": {
            "omega_1": candidates.omega[:, 0],
            "omega_2": candidates.omega[:, 1],
            "loss": candidates.loss,
            **{f"Q_{method}": Q for method, Q in weights.items()},
        },
        "distributions": {
            "method": list(weights),
            "KL": [summary.kl for summary in summaries],
            "D_mu": [summary.divergence for summary in summaries],
            "effective_frequencies": [summary.effective for summary in summaries],
        },
        "errors": {
            "method": np.repeat(list(errors), len(D_values)),
            "D": np.tile(D_values, len(errors)),
            "test_error": mean.ravel(),
            "half_width": half_width.ravel(),  # of the 95 % interval of the mean of ten draws
        },
        "KL along beta": {"beta": path.betas, "KL": path.kl, "bound": path.bound},  # on the loss, at 95 %
        "errors along beta": {
            "beta": error_path[0],
            "test_error": error_path[1].mean(axis=1),
            "half_width": toy_learning.mean_and_margin(error_path[1])[1],
        },
    }
    frames = map(pd.DataFrame, tables.values())
    return pd.concat(frames, keys=tables, names=["table"]).reset_index("table").convert_dtypes()


if __name__ == "__main__":
    if points:
        sample = datasets.given_points(points)
        fresh = datasets.noisy_copies(sample, 2000, noise, seed + 1_000_003)  # there is no distribution to draw from
    else:
        sample = datasets.make_toy(data, n, noise, seed)
        fresh = datasets.make_toy(data, 2000, noise, seed + 1_000_003)  # other points of the same distribution
    prior = toy_learning.TurnedGaussianKernel(sigma, along, across, angle)
    candidates = toy_learning.draw_candidates(sample.X, sample.y, prior, N, seed)
    weights = {
        "rff": np.full(N, 1 / N),
        "pbrff": rff.pseudo_posterior(candidates.loss, beta, n),
        "okrff": rff.optimized_kernel_weights(candidates.loss, rho, mu),
    }
    points = sample.X, sample.y, fresh.X, fresh.y

    def errors_of(Q, D_values):
        """Test errors, (len(D_values), 10), or of several Q (len(Q), len(D_values), 10)."""
        rng = np.random.default_rng((seed, 1))  # not the stream of the candidates
        return toy_learning.feature_error_curve(*points, candidates.omega, Q, D_values, C, n_draws=10, random_state=rng)

    D_values = sorted({1, 2, 5, 10, 20, 50, D})
    errors = {method: errors_of(Q, D_values) for method, Q in weights.items()}
    some, many = ([float(f"{10**power:.3g}") for power in np.linspace(-3, 3, count)] for count in (13, 61))
    along = np.stack([rff.pseudo_posterior(candidates.loss, value, n) for value in some])
    error_path = (some, errors_of(along, [D])[:, 0])
    path = toy_learning.posterior_path(candidates, many)
    table = numbers(candidates, weights, mu, D_values, errors, path, error_path)
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
