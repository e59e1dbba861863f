"""Time to fit AdaptiveFourierFeatures against the number of rows.

    python -m benchmarks.adaptive                                    # covtype at r = 200, both kinds of landmarks
    python -m benchmarks.adaptive --dataset wine --n-components 50

The descent uses the landmarks only, as many as frequencies; only their choice and the input checks use all rows. Rows
are standardised and 2 sigma^2 = d, as in Li et al. (2019). One thread; medians.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import datasets
import rff_engine as rff

ROWS = 38734  # covtype's training rows in the paper


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--dataset", default="covtype")
    parser.add_argument("--n-components", type=int, default=200, metavar="r")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    X = datasets.load(asked.dataset).X
    X = X[np.random.default_rng(0).permutation(len(X))[:ROWS]]
    X = StandardScaler().fit_transform(X)
    print("seconds to fit, r =", asked.n_components)
    print(f"{'rows':>8}{'sample':>10}{'cluster':>10}")
    for divisor in (16, 8, 4, 2, 1):
        part = X[: len(X) // divisor]
        cells = [seconds(part, landmarks, asked) for landmarks in ("sample", "cluster")]
        print(f"{len(part):>8}" + "".join(f"{cell:>10.2f}" for cell in cells), flush=True)


def seconds(X, landmarks: str, asked) -> float:
    """Median time to fit over seeds."""
    times = []
    for seed in range(asked.repeats):
        features = rff.AdaptiveFourierFeatures(
            rff.GaussianKernel.from_gamma(1 / X.shape[1]), asked.n_components, landmarks=landmarks, random_state=seed
        )
        start = time.perf_counter()
        with threadpool_limits(1):
            features.fit(X)
        times.append(time.perf_counter() - start)
    return float(np.median(times))


if __name__ == "__main__":
    main()
