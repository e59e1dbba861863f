"""Effect of a solver that stops early on landmark representations: LinearSVC against the exact SVM.

    python -m benchmarks.stopped_solver                                             # RBF, 10 % landmarks
    python -m benchmarks.stopped_solver --datasets adult --method pb --share 0.01   # learned ones

Both have the same objective (`rff_engine.linear_svm_path`). The published code of Letarte et al. (2019) trains with
scikit-learn's LinearSVC as of 2019: coordinate descent on the dual that stops after 1000 passes, at the minimum or not.
C is chosen on the validation points of the published split; the paper's test error is measured off its Figure 6. gamma
is the choice of the SVM of the shipped reruns.
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
from rff_engine.experiments.reports import letarte, reproduction
from rff_engine.experiments.running.store import Store
from rff_engine.linear import linear_svm_decision

CS = tuple(10.0**k for k in range(-5, 5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--datasets", nargs="+", default=["ads", "farm", "mnist17", "mnist49", "mnist56"])
    parser.add_argument("--method", choices=["rbf", "pb"], default="rbf", help="similarities: the kernel, or learned")
    parser.add_argument("--share", type=float, default=0.1, help="centroids, by training rows")
    parser.add_argument("--n-features", type=int, default=64, help="D of learned similarities")
    parser.add_argument("--beta", type=float, default=1.0, help="of learned similarities")
    parser.add_argument("--every-C", action="store_true", help="print both SVMs at every C")
    asked = parser.parse_args()
    with Store(reproduction.SHIPPED, read_only=True) as store:
        known = pd.DataFrame(reproduction.known_rows(store, "table1", asked.datasets))
        printed = letarte.figure("figure6", reproduction.known_rows(store, "figure6", asked.datasets))
    print(f"test errors in percent, landmarks {asked.share:.0%} of the training points", flush=True)
    for name in asked.datasets:
        of_svm = (known["dataset"] == name) & (known["method"] == "svm") & (known["split"] == "published")
        gamma = known[of_svm]["gamma"].iloc[0]
        found = both_svms(name, gamma, asked)
        if asked.every_C:
            print(found.to_string(index=False))
        cell = printed[
            (printed["dataset"] == name)
            & (printed["method"] == f"{asked.method}_landmarks")
            & (printed["landmarks"] == "clustering")
            & np.isclose(printed["share"], asked.share)
        ]
        said = [f"{name}, {asked.method}, gamma {gamma:g}:"]
        said += [f"printed {100 * value:.1f}" for value in cell["paper"]]
        for machine in ("LinearSVC", "exact"):
            chosen = found.loc[found[f"{machine}, validation"].idxmin()]
            said.append(f"{machine} {chosen[f'{machine}, test']:.2f} (C {chosen['C']:g})")
        print("  ".join(said), flush=True)


def both_svms(name: str, gamma: float, asked) -> pd.DataFrame:
    """Errors of both SVMs in percent for each C, and whether LinearSVC warns that it stopped early."""
    split = datasets.published_split(name)
    parts = {part: getattr(split, f"X_{part}").astype(np.float64) for part in ("train", "valid", "test")}
    labels = {part: getattr(split, f"y_{part}") for part in parts}
    similarity = rff.LandmarkSimilarity(
        rff.GaussianKernel.from_gamma(gamma),
        n_landmarks=asked.share,
        similarity="learned" if asked.method == "pb" else "prior",
        n_components=asked.n_features,
        beta=asked.beta,
        random_state=0,
    ).fit(parts["train"], labels["train"])
    Z = {part: np.asarray(similarity.transform(X)) for part, X in parts.items()}
    coef, intercept = rff.linear_svm_path(Z["train"], labels["train"], CS)
    exact = {part: linear_svm_decision(Z[part], coef, intercept) for part in ("valid", "test")}
    rows = []
    for j, C in enumerate(CS):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            machine = LinearSVC(C=C, dual=True, random_state=0).fit(Z["train"], labels["train"])
        row = {"C": C, "stopped": any(issubclass(one.category, ConvergenceWarning) for one in caught)}
        for shown, part in (("validation", "valid"), ("test", "test")):
            positive = labels[part] == machine.classes_[1]
            row[f"LinearSVC, {shown}"] = percent((machine.decision_function(Z[part]) > 0) != positive)
            row[f"exact, {shown}"] = percent((exact[part][j] > 0) != positive)
        rows.append(row)
    return pd.DataFrame(rows)


def percent(wrong: np.ndarray) -> float:
    return round(100 * float(np.mean(wrong)), 2)


if __name__ == "__main__":
    main()
