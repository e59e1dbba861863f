"""Size of a run, from its settings alone: its largest matrix over the training rows."""

from __future__ import annotations

import math
from typing import NamedTuple

from datasets import describe
from datasets.papers.splits import TEST_FRACTION, VALID_FRACTION
from rff_engine.landmarks import landmark_count
from rff_engine.studies.protocols import FeatureSweep, LandmarkStudy


class RunSize(NamedTuple):
    """The shape of a matrix of cosines, or of kernel values."""

    columns: int
    of: str
    """What the columns are"""
    rows: int

    @property
    def values(self) -> int:
        return self.columns * self.rows

    def __str__(self) -> str:
        return f"{self.columns} {self.of} x {self.rows} training rows = {self.values:,} values"


def training_rows(dataset: str) -> int:
    """Number of training rows of a data set, see `datasets.random_split`."""
    info = describe(dataset)
    rest = info.n_train_file or info.n_samples - math.ceil(TEST_FRACTION * info.n_samples)
    return rest - math.ceil(VALID_FRACTION * rest)


def run_size(protocol: FeatureSweep | LandmarkStudy, dataset: str) -> RunSize:
    """The largest matrix of a run: its features on the training rows, or the kernel matrix of its SVM."""
    rows = training_rows(dataset)
    n = min(rows, protocol.max_train or rows)
    n_svm = min(n, protocol.max_train_svm or n)
    sizes = [RunSize(n_svm, "columns of the SVM's kernel", n_svm)]  # it chooses gamma, for all methods
    if isinstance(protocol, FeatureSweep):
        learned = {"pbrff", "okrff"} & set(protocol.methods)
        sizes.append(RunSize(protocol.n_candidates if learned else max(protocol.n_features), "frequencies", n))
    else:
        L = landmark_count(n, 2, max(protocol.shares))
        sizes.append(RunSize(L, "landmarks", n))
        if "pb_landmarks" in protocol.methods:
            sizes.append(RunSize(L * max(protocol.n_features), f"frequencies of {L} landmarks", n))
    return max(sizes, key=lambda size: size.values)
