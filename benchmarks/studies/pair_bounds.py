"""Bounds on the alignment loss of a learned kernel on the seven sets of Letarte et al. (2019), each at its best beta.

    python -m benchmarks.studies.pair_bounds --datasets breast mnist17    # docs/certificates.md has all seven

Training and validation rows of the published split, 1000 frequencies of the Gaussian kernel of width "scale". Each
bound holds for all posteriors at once, so that its least value over beta is a bound too. The kernel's width depends on
the points, though not on the labels; a valid bound needs a fixed width.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

import datasets
import rff_engine as rff
from benchmarks.studies import frame
from rff_engine import bounds
from rff_engine.frequencies import FrequencyBlocks
from rff_engine.studies.certificate import SCALED, CertifiedSplit

_N_CANDIDATES, _EPSILON = 1000, 0.05
_TEMPERATURES = np.logspace(-1, 4, 61)  # beta sqrt(n)


def rows_of(dataset: str) -> list[dict]:
    """Return the loss of the prior and the least value of each bound on a set."""
    rows = CertifiedSplit(datasets.published_split(dataset))
    X = StandardScaler().fit_transform(rows.X) if dataset in SCALED else rows.X
    n = len(rows.y)
    kernel = rff.GaussianKernel("scale").scaled_to(X)
    candidates = FrequencyBlocks(kernel, _N_CANDIDATES, X.shape[1], 0)
    loss = rff.alignment_loss(X, rows.y, candidates)
    least = least_bounds(loss, rff.alignment_loss_variance(X, rows.y, candidates), n)
    names = ("kl", "two_class", "two_class_at_kl", "bernstein")
    return [{"n": n, "prior": loss.mean(), **dict(zip(names, least, strict=True))}]


def least_bounds(loss, variance, n: int) -> np.ndarray:
    """Return least values of three bounds over beta. After the second comes its value at the first one's best beta."""
    Q = np.array([rff.pseudo_posterior(loss, t / np.sqrt(n), n) for t in _TEMPERATURES])
    mean = np.clip(Q @ loss, 0, 1)
    kl = rff.kl_divergence(Q)
    by_kl = bounds.second_order_kl_inverse(mean, kl, n, _EPSILON)
    two_class = bounds.second_order_two_class(mean, kl, n, _EPSILON)
    bernstein = bounds.empirical_bernstein(mean, Q @ variance, kl, n, _EPSILON)
    return np.array([by_kl.min(), two_class.min(), two_class[by_kl.argmin()], bernstein.min()])


def tables(rows: pd.DataFrame) -> str:
    header = ["data", "rows", "prior's loss", "PAC-Bayes-kl", "two classes", "at the β of PAC-Bayes-kl"]
    body = ([name, str(n), *(f"{value:.4f}" for value in of)] for name, n, *of in rows.itertuples(index=False))
    return frame.markdown([*header, "empirical Bernstein"], body)


if __name__ == "__main__":
    each = {"datasets": frame.chosen()}
    frame.main(__doc__, lambda asked: ({"dataset": name} for name in asked.datasets), rows_of, tables, **each)
