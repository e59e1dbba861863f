"""What a solver that stops early makes of learned landmarks on adult: LinearSVC as it comes beside the exact path.

    python -m benchmarks.stopped_solver

On the published split, its columns not scaled as in the paper: for each C the errors of both machines on similarities
to landmarks (Letarte et al. 2019, Section 4.2), and whether LinearSVC says that it stopped before it converged. With
1 % of the points as landmarks it takes about five minutes.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import datasets
import rff_engine as rff
from rff_engine.linear import linear_svm_path

CS = tuple(10.0**k for k in range(-5, 5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--share", type=float, default=0.01, help="landmarks as a share of the training points")
    parser.add_argument("--gamma", type=float, default=1e-7, help="of the prior: what validation chooses")
    parser.add_argument("--n-features", type=int, default=64, help="frequencies of a landmark, D")
    parser.add_argument("--beta", type=float, default=1.0)
    asked = parser.parse_args()
    split = datasets.published_split("adult")
    parts = {name: getattr(split, f"X_{name}").astype(np.float64) for name in ("train", "valid", "test")}
    similarity = rff.LandmarkSimilarity(
        rff.GaussianKernel(1 / np.sqrt(2 * asked.gamma)),
        n_landmarks=asked.share,
        n_components=asked.n_features,
        beta=asked.beta,
        random_state=0,
    ).fit(parts["train"], split.y_train)
    Z = {name: similarity.transform(X) for name, X in parts.items()}
    machines = zip(CS, *linear_svm_path(Z["train"], split.y_train, CS), strict=True)
    frame = pd.DataFrame([one_row(C, coef, intercept, Z, split) for C, coef, intercept in machines])
    print(frame.to_string(index=False, float_format=lambda value: f"{value:g}"))
    for name in ("LinearSVC", "exact"):
        chosen = frame.loc[frame[f"{name}, validation %"].idxmin()]
        print(f"{name}: C = {chosen['C']:g}, test error {chosen[f'{name}, test %']:.2f} %")


def one_row(C: float, coef, intercept, Z: dict, split) -> dict:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        machine = LinearSVC(C=C, dual=True, random_state=0).fit(Z["train"], split.y_train)
    row = {"C": C, "stopped": any(issubclass(one.category, ConvergenceWarning) for one in caught)}
    for shown, name in (("validation", "valid"), ("test", "test")):
        y = getattr(split, f"y_{name}")
        row[f"LinearSVC, {shown} %"] = round(100 * float(np.mean(machine.predict(Z[name]) != y)), 2)
        row[f"exact, {shown} %"] = round(100 * float(np.mean(np.where(Z[name] @ coef + intercept > 0, 1, -1) != y)), 2)
    return row


if __name__ == "__main__":
    main()
