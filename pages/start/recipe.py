"""What if a kernel were only a first guess? The numbers in the figures of the first page.

From the repository's root: python start_experiment.py [numbers.csv]
"""

import sys

import numpy as np
import pandas as pd

import datasets
import rff_engine as rff
from rff_engine.plots.bounds import BOUND_NAMES
from rff_engine.studies.protocols import FeatureSweep
from rff_engine.studies.reports import tables as report
from rff_engine.studies.running.run import run_repeats
from rff_engine.studies.toy import kernel as toy_kernels, learning as toy_learning
from rff_engine.studies.toy.bounds import bound_curves, candidate_risks
from rff_engine.studies.toy.landmarks import landmark_problem, landmark_view

# The experiment
seed = 0
repeats = 10  # draws on the real data of the fifth figure


def decision_errors(view) -> dict:
    """Errors of the linear SVM on the prior and on the learned similarities, as columns."""
    decisions = [view.prior, view.learned]
    return {
        "similarity": ["prior", "learned"],
        "train_error": [decision.train_error for decision in decisions],
        "test_error": [decision.test_error for decision in decisions],
    }


def numbers(opening, line, view, plane, posterior, curves, rows) -> pd.DataFrame:
    """The numbers of the figures as one table; errors are fractions, frequencies in radians per unit of x."""
    bounds = list(curves.bounds.values())
    believed = {"largest prior density": plane.prior, "smallest loss": -plane.loss, "largest posterior": posterior}
    peaks = [np.unravel_index(values.argmax(), values.shape) for values in believed.values()]
    tables = {
        "first picture, at beta = 1": decision_errors(opening),
        "1 kernel": {"delta": line.delta, "kernel": line.exact, "mean_of_cosines": line.cos_sin},
        "2 landmarks": decision_errors(view),
        "3 frequencies": {
            "which": list(believed),
            "omega_1": [plane.grid[column] for _, column in peaks],
            "omega_2": [plane.grid[row] for row, _ in peaks],
            "prior_density": [plane.prior[peak] for peak in peaks],
            "loss": [plane.loss[peak] for peak in peaks],
            "posterior_density": [posterior[peak] for peak in peaks],
        },
        "4 bounds": {
            "bound": [BOUND_NAMES[bound.name] for bound in bounds],
            "best_beta": [bound.best_beta for bound in bounds],
            "best_value": [bound.best_value for bound in bounds],
        },
        "5 real data": report.error_by_features(rows),
    }
    frames = map(pd.DataFrame, tables.values())
    return pd.concat(frames, keys=tables, names=["table"]).reset_index("table").convert_dtypes()


if __name__ == "__main__":

    def points_of(name: str, n: int = 300, seed: int = seed):
        sample = datasets.make_toy(name, n, 0.1, seed)
        return sample.X, sample.y

    # 1: twenty frequencies, the first of a longer draw.
    kernel = rff.GaussianKernel(1.0)
    rng = np.random.default_rng((seed, 1))
    omega, offsets = (sampled[:40] for sampled in toy_kernels.draw_frequencies_and_offsets(kernel, 2000, 1, rng))
    line = toy_kernels.kernel_line(kernel, omega, offsets, frequency_range=10.0, delta_range=4.0)

    # First picture and 2: three and five landmarks on two moons. Another seed draws other points alike.
    wide = rff.GaussianKernel(0.501)
    X, y = points_of("moons")
    fresh = points_of("moons", 2000, seed + 1_000_003)
    three, five = (landmark_problem(X, y, wide, L, n_frequencies=20, random_state=seed) for L in (3, 5))
    opening, view = (landmark_view(problem, *fresh, beta=1.0, C=1.0, extent=2.0) for problem in (three, five))

    # 3: the alignment of every frequency with the labels of a checkerboard.
    plane = toy_learning.frequency_plane(*points_of("checkerboard"), rff.GaussianKernel(0.251), extent=3.5 / 0.251)
    posterior = toy_learning.plane_posterior(plane, beta=10.0)

    # 4: bounds along beta, for the moons of the second figure.
    X_fresh, y_fresh = points_of("moons", 20_000, seed + 1_000_003)
    risks = candidate_risks(X, y, X_fresh.astype(np.float32), y_fresh, wide, 200, random_state=seed)
    betas = [float(f"{10 ** (k / 10):.3g}") for k in range(-30, 31)]
    curves = bound_curves(risks, betas, epsilon=0.05, mu=5.0, form="corrected")

    # 5: the paper's rules on its split of the breast cancer data.
    split = datasets.published_split("breast")
    steps = run_repeats(FeatureSweep.preset("quick"), lambda _: split, repeats, dataset="breast", seed=seed)
    rows = [row for step in steps for row in step.rows]

    table = numbers(opening, line, view, plane, posterior, curves, rows)
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
