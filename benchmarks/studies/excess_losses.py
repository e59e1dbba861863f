"""Recursive PAC-Bayes and the excess loss of a posterior over the prior's vote, on the seven sets, against test sets.

    python -m benchmarks.studies.excess_losses                        # the table of docs/certificates.md
    python -m benchmarks.studies.excess_losses --output rows.csv      # computes what the file lacks, then the table
    python -m benchmarks.studies.excess_losses --output rows.csv --datasets breast --splits 2

Splits, rows and learner are those of `benchmarks.studies.seven_sets` at D = 100. A fraction of the rows teaches the
prior's vote, which the others test at 0.9 epsilon. One to four levels (Wu et al. 2024; one is an excess loss, Wu and
Seldin 2022) have the rest of epsilon in equal shares: level t moves normal weights on the t-th part of the rows, and
bounds on all rows from that part on by how much they err more than gamma times as often as those of the level before.
The fraction, the length of the prior's weights, gamma and each level's rate are those of the least bound, chosen after
looking and not paid for: what is printed is below what this scheme can certify. It bounds the risk of a random voter.

- `vote`: the test-set bound of the prior's vote; `levels_1` to `levels_4`: the recursion.
- `hybrid`: after half of the rows, `CertifiedClassifier` with the same features; `posterior`: whether its posterior is
  the smaller arm.
- `gain`, `disagree`: on the test rows, by how much the vote that all rows teach errs less than the prior's, and how
  often the two differ.

docs/theory.md has the bound and its proof; `rff_engine/experiments/reports/data/excess_losses.csv` has the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.optimize import brentq, minimize
from scipy.special import ndtr, xlogy
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import datasets
from benchmarks.studies import frame, seven_sets
from benchmarks.studies.chosen_beta import interval
from benchmarks.studies.seven_sets import EPSILON, SPLITS, TESTS
from rff_engine import CertifiedClassifier, bounds
from rff_engine.certificates import TEST_SET_SHARE, excess_bound, excess_logarithms, unit_features
from rff_engine.experiments.studies.certificate import CertifiedSplit

FRACTIONS = (0.2, 0.5)
LEVELS = [f"levels_{n_levels}" for n_levels in (1, 2, 3, 4)]
KEYS = ["dataset", "split", "fraction"]
D = 100
SHIPPED = frame.DATA / "excess_losses.csv"
_LENGTHS, _GAMMAS, _LEARNING_RATE = (1.0, 10.0, 100.0), (0.5, 1.0), 0.5
_RATES = np.concatenate([np.geomspace(0.003, 0.1, 20), np.linspace(0.15, 0.95, 17)])


def rows_of(dataset: str, split: int, fraction: float) -> list[dict]:
    parts = datasets.random_split(datasets.load(dataset), split)
    certified = CertifiedSplit(parts, split)
    X = sp.csr_array(certified.X)
    X_test = sp.csr_array(parts.X_test)
    learner = seven_sets.learner(dataset, split, D)
    tested = CertifiedClassifier(None, fraction, EPSILON, split, learner).fit(X, certified.y)
    features, ridge = tested.estimator_[:-1], tested.estimator_[-1]
    signs = np.where(certified.y[tested.bound_rows_] == tested.classes_[1], 1.0, -1.0)
    aligned = unit_features(features.transform(X[tested.bound_rows_])) * signs[:, None]
    weights = np.append(ridge.coef_, ridge.intercept_)
    before, after = (one.predict(X_test) for one in (tested, clone(learner).fit(X, certified.y)))
    hybrid = {}
    if fraction == FRACTIONS[-1]:
        model = CertifiedClassifier(learner[:-1], fraction, EPSILON, split).fit(X, certified.y)
        hybrid = {"hybrid": model.risk_bound_, "posterior": float(model.arm_ == "posterior")}
    return [
        {"vote": tested.risk_bound_, "n_bound": len(signs)}
        | {name: least_recursion(aligned, weights, 1 + k) for k, name in enumerate(LEVELS)}
        | {
            "gain": float(np.mean(before != parts.y_test) - np.mean(after != parts.y_test)),
            "disagree": float(np.mean(before != after)),
        }
        | dict.fromkeys(["hybrid", "posterior"])
        | hybrid
    ]


def least_recursion(aligned, weights, n_levels: int) -> float:
    """The least bound on a random voter's risk, for rows z y (n, F) and weights (F,) of the prior's vote."""
    length = float(np.median(np.abs(aligned @ weights)))
    choices = product(_LENGTHS, _GAMMAS)
    return min(recursion(aligned, scale / length * weights, n_levels, gamma) for scale, gamma in choices)


def recursion(aligned, mean, n_levels: int, gamma: float, epsilon: float = EPSILON) -> float:
    """The bound after all levels, which start from weights N(mean, I)."""
    wrong = (aligned @ mean <= 0).astype(float)
    bound = float(bounds.test_set(wrong.sum(), len(wrong), TEST_SET_SHARE * epsilon))
    share = (1 - TEST_SET_SHARE) * epsilon / n_levels
    for part in np.array_split(np.arange(len(aligned)), n_levels):
        moved = least_excess(aligned[part], wrong[part], mean, gamma, len(aligned) - part[0])
        after = ndtr(-aligned @ moved)
        divergence = float(np.sum((moved - mean) ** 2)) / 2
        later = slice(part[0], None)
        bound = gamma * bound + excess_bound(after[later], wrong[later], divergence, gamma, share, _RATES).min()
        mean = moved
        wrong = after
    return bound


def least_excess(rows, old, mean, gamma: float, n: int) -> np.ndarray:
    """Weights at which ``-n mean ln(1 - rate x) + divergence`` is least, with the mean over these rows."""
    both, alone, saved = excess_logarithms(_LEARNING_RATE, gamma)
    costs = -n / len(rows) * (old * (both - saved) + (1 - old) * alone)

    def value(moved):
        margins, away = rows @ moved, moved - mean
        density = np.exp(-(margins**2) / 2) / np.sqrt(2 * np.pi)
        return costs @ ndtr(-margins) + away @ away / 2, away - (costs * density) @ rows

    return minimize(value, mean, jac=True, method="L-BFGS-B", options={"maxiter": 50}).x


def least_gain(disagree: float, n: int, epsilon: float = EPSILON) -> float:
    """By how much a classifier must err less than another, for a bound on n rows to say so without a divergence.

    Infinite where even a classifier that is right on all rows where the two differ does not suffice.
    """
    needed = -np.log(epsilon) / n
    if disagree * np.log(2) <= needed:
        return np.inf
    return float(brentq(lambda gain: disagree * _from_half((1 + gain / disagree) / 2) - needed, 0, disagree))


def _from_half(share: float) -> float:
    """kl(share || 1/2)."""
    return np.log(2) + xlogy(share, share) + xlogy(1 - share, 1 - share)


def tables(rows: pd.DataFrame) -> str:
    """Means in percent, and paired differences to the test-set bound at the fraction that is best for the set."""
    tested = pd.read_csv(seven_sets.SHIPPED).query(f"D == {D}")[["dataset", "split", *TESTS]]
    merged = rows.merge(tested, on=["dataset", "split"]).groupby("dataset")

    def body() -> Iterator[list[str]]:
        for name in (name for name in frame.DATASETS if name in merged.groups):
            of = merged.get_group(name).drop(columns="dataset")
            half = of[of["fraction"] == FRACTIONS[-1]]
            best = str(half[TESTS].mean().idxmin())
            cells = [f"{len(half)}", *(f"{100 * half[key].mean():.2f}" for key in (best, "hybrid"))]
            cells.append(f"{half['posterior'].sum():.0f}")
            least = [of[of["fraction"] == of.groupby("fraction")[level].mean().idxmin()] for level in LEVELS]
            cells += [f"{100 * one[level].mean():.2f}" for one, level in zip(least, LEVELS, strict=True)]
            cells.append(interval(100 * (least[0][LEVELS[0]] - least[0][best])))
            gain, disagree, n = half[["gain", "disagree", "n_bound"]].mean()
            needed = 100 * least_gain(disagree, int(n))
            yield [name, *cells, f"{100 * gain:.2f}", f"{needed:.2f}" if np.isfinite(needed) else "∞"]

    header = ["data", "splits", "test set, best", "hybrid", "of these posteriors", "excess", "2 levels", "3", "4"]
    return frame.markdown([*header, "excess less test set", "gain of all rows", "gain needed"], body())


def main() -> None:
    parser = frame.options(__doc__)
    parser.add_argument("--splits", type=int, default=SPLITS)
    asked = parser.parse_args()
    settings = (
        {"dataset": name, "split": split, "fraction": fraction}
        for split, name, fraction in product(range(asked.splits), asked.datasets, FRACTIONS)
    )
    with threadpool_limits(1):
        print(tables(frame.rows(asked.output, settings, rows_of, SHIPPED)))


if __name__ == "__main__":
    main()
