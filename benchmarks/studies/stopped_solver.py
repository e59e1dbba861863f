"""Effect of a solver that stops early on the results of Letarte et al. (2019): LinearSVC against the exact SVM.

    python -m benchmarks.studies.stopped_solver                                             # RBF, 10 % landmarks
    python -m benchmarks.studies.stopped_solver --datasets adult --method pb --share 0.01   # learned landmarks
    python -m benchmarks.studies.stopped_solver --datasets adult --method pbrff --D 50 100  # random features

Both have the same objective (`rff_engine.linear_svm_path`). The published code trains with scikit-learn's LinearSVC as
of 2019: coordinate descent on the dual that stops after 1000 passes, at the minimum or not. C is chosen on the
validation points of the published split; the paper's test error is read off its figures. gamma is the choice of
the SVM of the shipped reruns. `--output causes.csv` adds the numbers to a file;
`datasets/data/reruns/stopped_solver.csv` is such a file.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import datasets
import rff_engine as rff
from benchmarks.studies import frame
from rff_engine.linear import linear_svm_decision
from rff_engine.studies.reports import letarte

CS = tuple(10.0**k for k in range(-5, 5))
KEYS = ["dataset", "method", "landmarks", "share", "D", "beta", "rho", "draw"]
METHODS = {"rbf": "rbf_landmarks", "pb": "pb_landmarks", "rff": "rff", "pbrff": "pbrff", "okrff": "okrff"}
_FEATURES = {
    "rff": rff.RandomFourierFeatures,
    "pbrff": rff.PseudoPosteriorFeatures,
    "okrff": rff.OptimizedKernelFeatures,
}
_PARAMETERS = {"D": "n_components", "beta": "beta", "rho": "rho", "draw": "random_state"}
_SELECTIONS = {"clustering": "kmeans", "random": "random"}


def settings(asked) -> Iterator[dict]:
    """Yield the settings asked for, with the keys `KEYS`; what does not apply is None."""
    landmarks = asked.method in ("rbf", "pb")
    grids = {
        "dataset": asked.datasets,
        "method": [METHODS[asked.method]],
        "landmarks": [asked.selection] if landmarks else [None],
        "share": asked.share if landmarks else [None],
        "D": asked.D if asked.method != "rbf" else [None],
        "beta": asked.beta if asked.method in ("pb", "pbrff") else [None],
        "rho": asked.rho if asked.method == "okrff" else [None],
        "draw": range(asked.draws),
    }
    for values in product(*grids.values()):
        yield dict(zip(grids, values, strict=True))


def transformer(cell: dict, gamma: float):
    """Return the transformer of a cell, not fitted."""
    kernel, method = rff.GaussianKernel.from_gamma(gamma), cell["method"]
    given = {name: cell[key] for key, name in _PARAMETERS.items() if cell[key] is not None}
    if cell["landmarks"] is None:
        return _FEATURES[method](kernel, **given)
    similarity = "learned" if method == "pb_landmarks" else "prior"
    return rff.LandmarkSimilarity(kernel, cell["share"], _SELECTIONS[cell["landmarks"]], similarity, **given)


def both_svms(cell: dict) -> pd.DataFrame:
    """Compute the errors of both SVMs of a cell for each C."""
    split = datasets.published_split(cell["dataset"])
    parts = {part: getattr(split, f"X_{part}").astype(np.float64) for part in ("train", "valid", "test")}
    labels = {part: getattr(split, f"y_{part}") for part in parts}
    fitted = transformer(cell, frame.published_gamma(cell["dataset"])).fit(parts["train"], labels["train"])
    Z = merged({part: np.asarray(fitted.transform(X)) for part, X in parts.items()})
    coef, intercept = rff.linear_svm_path(Z["train"], labels["train"], CS)
    exact = {part: linear_svm_decision(Z[part], coef, intercept) for part in ("valid", "test")}
    rows = []
    for j, C in enumerate(CS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine = LinearSVC(C=C, dual=True, random_state=0).fit(Z["train"], labels["train"])
        row = {"C": C}
        for part in ("valid", "test"):
            positive = labels[part] == machine.classes_[1]
            row[f"stopped_{part}"] = float(np.mean((machine.decision_function(Z[part]) > 0) != positive))
            row[f"exact_{part}"] = float(np.mean((exact[part][j] > 0) != positive))
        rows.append(row)
    return pd.DataFrame(rows)


def merged(Z: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Merge equal columns: one of them, times the root of their number, gives the same inner products.

    Coordinate descent on the dual sees inner products alone, so it takes the same steps.
    """
    _, first, counts = np.unique(Z["train"][: 2 * len(Z["train"][0])], axis=1, return_index=True, return_counts=True)
    return {part: values[:, first] * np.sqrt(counts) for part, values in Z.items()}


def rows_of(**cell) -> list[dict]:
    """Return the C that each SVM chooses, and its errors on validation and test points."""
    errors_by_C = both_svms(cell)
    row = {}
    for machine in ("stopped", "exact"):
        best = errors_by_C.loc[errors_by_C[f"{machine}_valid"].idxmin()]
        names = [f"{machine}_valid", f"{machine}_test"]
        row |= {f"{machine}_C": best["C"]} | {name: round(float(best[name]), 6) for name in names}
    return [row]


def said(rows: pd.DataFrame) -> str:
    """Show test errors in percent, a line for each row, with the paper's number if it has one."""
    return "\n".join(["test errors in percent", *map(_line, rows.to_dict("records"))])


def _line(row: dict) -> str:
    given = [key for key in KEYS if pd.notna(row.get(key))]
    words = [row[key] for key in given if key in KEYS[:3]]
    words += [f"{row[key]:.0%}" if key == "share" else f"{key} {row[key]:g}" for key in given if key not in KEYS[:3]]
    words = [f"{', '.join(words)}:", *(f"printed {100 * value:.1f}" for value in printed(row))]
    for name, title in (("stopped", "LinearSVC"), ("exact", "exact")):
        words.append(f"{title} {100 * row[f'{name}_test']:.2f} (C {row[f'{name}_C']:g})")
    return "  ".join(words)


def printed(row: dict) -> pd.Series:
    """Return the paper's number at a row, from Figure 6 or 5; nothing if it has none."""
    of_landmarks = pd.notna(row.get("landmarks"))
    figure = letarte.figure("figure6" if of_landmarks else "figure5", [])
    keys = ["dataset", "method", "landmarks" if of_landmarks else "D"]
    at = np.logical_and.reduce([figure[key] == row[key] for key in keys])
    if of_landmarks:
        at &= np.isclose(figure["share"], row["share"])
    return figure.loc[at, "paper"].dropna()


if __name__ == "__main__":
    own = {
        "datasets": frame.chosen(default=("ads", "farm", "mnist17", "mnist49", "mnist56")),
        "method": {"choices": list(METHODS), "default": "rbf", "help": "landmarks (rbf, pb), or features"},
        "share": frame.counts(0.1, kind=float) | {"help": "landmarks, by training rows"},
        "selection": {"choices": list(_SELECTIONS), "default": "clustering", "help": "of landmarks"},
        "D": frame.counts(64) | {"help": "features, or those of a learned landmark"},
        "beta": frame.counts(1.0, kind=float) | {"help": "of pb and pbrff"},
        "rho": frame.counts(1e-2, kind=float) | {"help": "of okrff"},
        "draws": {"type": int, "default": 1},
    }
    frame.main(__doc__, settings, rows_of, said, **own)
