"""PBRFF with beta at the minimum of its bound against beta chosen on validation rows, paired, on random splits.

    python -m benchmarks.chosen_beta rows.csv                          # compute; again, to go on after a stop
    python -m benchmarks.chosen_beta rows.csv --datasets breast --splits 2
    python -m benchmarks.chosen_beta --table                           # the table of docs/certificates.md

On the training rows of a split the losses of N candidates and a linear SVM are learned. C is chosen on the validation
rows for all three: "prior" (beta = 0), "bound" (the minimum of `bounds.second_order_kl_inverse`, which uses no
validation row) and "validated" (beta and C together). They draw with the same random numbers. The kernel's width is
that at which random Fourier features err least on the validation rows.
`rff_engine/experiments/reports/data/chosen_beta.csv` is such a file.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

import datasets
import rff_engine as rff
from benchmarks.certificates import DATASETS, SHIPPED as CERTIFICATES, interval, markdown
from rff_engine._bound_minimum import kernel_bound, least_beta
from rff_engine.experiments.studies.certificate import SCALED
from rff_engine.frequencies import FrequencyBlocks
from rff_engine.linear import error_rate, linear_svm_decision

CHOICES = ("prior", "bound", "validated")
COUNTS = (5, 20, 100)
KEYS = ["dataset", "split", "D"]
SHIPPED = CERTIFICATES.with_name("chosen_beta.csv")
BETAS = tuple(10.0**k for k in range(-3, 4))
CS = tuple(10.0**k for k in range(-2, 5))
_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
_N_CANDIDATES, _WIDTH_COMPONENTS, _EPSILON = 2000, 100, 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("rows", type=Path, nargs="?", metavar="ROWS.csv", help="file to add the rows to")
    parser.add_argument("--table", action="store_true", help="print a table of the rows (default: of the shipped ones)")
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=DATASETS, metavar="NAME")
    parser.add_argument("--D", nargs="+", type=int, default=COUNTS)
    parser.add_argument("--splits", type=int, default=10)
    asked = parser.parse_args()
    if asked.table:
        print(table(pd.read_csv(asked.rows or SHIPPED)))
    elif asked.rows is None:
        parser.error("a file for the rows, or --table, is needed")
    else:
        compute(asked.rows, asked.datasets, asked.splits, asked.D)


def compute(path: Path, names: Sequence[str], n_splits: int, counts: Sequence[int]) -> None:
    """Append the rows that the file lacks, split by split."""
    known = set(pd.read_csv(path)[KEYS].itertuples(index=False, name=None)) if path.exists() else set()
    for split in range(n_splits):
        for name in names:
            lacking = [D for D in counts if (name, split, D) not in known]
            problem = BetaProblem(name, split) if lacking else None
            for D in lacking:
                row = {"dataset": name, "split": split, "D": D, **problem.errors(D)}
                print(f"{name} {split} D = {D}: {row['bound']:.4f} {row['validated']:.4f}", flush=True)
                pd.DataFrame([row]).to_csv(path, mode="a", header=not path.exists(), index=False)


@dataclass
class BetaProblem:
    """A random split of a set, its kernel and the losses of the candidates."""

    name: str
    seed: int

    @cached_property
    def parts(self) -> dict:
        """Points and labels of the parts, with columns scaled by the training rows where the set needs it."""
        split = datasets.random_split(datasets.load(self.name), self.seed)
        points = {part: getattr(split, f"X_{part}") for part in ("train", "valid", "test")}
        if self.name in SCALED:
            scaler = StandardScaler().fit(points["train"])
            points = {part: scaler.transform(X) for part, X in points.items()}
        return {part: (X.astype(np.float32), getattr(split, f"y_{part}")) for part, X in points.items()}

    @cached_property
    def kernel(self) -> rff.GaussianKernel:
        """The width at which random Fourier features err least on the validation rows."""
        X, _ = self.parts["train"]
        sigma = rff.GaussianKernel("scale").scaled_to(X).sigma
        kernels = [rff.GaussianKernel(width * sigma) for width in _WIDTHS]

        def error(kernel):
            omega = kernel.sample_frequencies(_WIDTH_COMPONENTS, X.shape[1], self.seed)
            return self.svm(omega)[1]

        return min(kernels, key=error)

    @cached_property
    def candidates(self) -> FrequencyBlocks:
        return FrequencyBlocks(self.kernel, _N_CANDIDATES, self.parts["train"][0].shape[1], self.seed)

    @cached_property
    def losses(self) -> np.ndarray:
        return rff.alignment_loss(*self.parts["train"], self.candidates)

    @cached_property
    def bound_beta(self) -> float:
        """The beta at the minimum of the bound, from the training rows alone."""
        n = len(self.parts["train"][1])
        return least_beta(self.losses, n, _EPSILON, kernel_bound)

    def svm(self, omega) -> tuple[float, float, float]:
        """C, and validation and test error, of the SVM that errs least on the validation rows."""
        features = {part: rff.fourier_features(X, omega) for part, (X, _) in self.parts.items()}
        path = rff.linear_svm_path(features["train"], self.parts["train"][1], CS)

        def errors(part):
            decisions = linear_svm_decision(features[part], *path)
            return [error_rate(decision, self.parts[part][1]) for decision in decisions]

        valid = errors("valid")
        best = int(np.argmin(valid))
        return CS[best], valid[best], errors("test")[best]

    def drawn_svm(self, beta: float, D: int) -> tuple[float, float, float]:
        """`svm` on D frequencies drawn from the pseudo-posterior, by the same random numbers for every beta."""
        weights = rff.pseudo_posterior(self.losses, beta, len(self.parts["train"][1]))
        drawn = np.random.default_rng((self.seed, D)).choice(_N_CANDIDATES, size=D, p=weights)
        return self.svm(self.candidates.take(drawn))

    def errors(self, D: int) -> dict:
        """Test errors of the three choices, and the betas of two of them."""
        validated = min(((*self.drawn_svm(beta, D)[1:], beta) for beta in BETAS), key=lambda one: one[0])
        return {
            "n": len(self.parts["train"][1]),
            "sigma": self.kernel.sigma,
            "prior": self.drawn_svm(0.0, D)[2],
            "bound": self.drawn_svm(self.bound_beta, D)[2],
            "validated": validated[1],
            "bound_beta": self.bound_beta,
            "validated_beta": validated[2],
        }


def table(results: pd.DataFrame) -> str:
    """Mean test errors in percent, and of "bound" less "validated" the mean and the half-width of its 95 % interval."""

    def body() -> Iterator[Sequence[str]]:
        for name in DATASETS:
            for D, of in results[results["dataset"] == name].groupby("D"):
                paired = 100 * (of["bound"] - of["validated"])
                errors = [f"{100 * of[choice].mean():.2f}" for choice in CHOICES]
                betas = [f"{of[f'{choice}_beta'].median():.2g}" for choice in CHOICES[1:]]
                yield [name, str(D), *errors, interval(paired), *betas, str(len(of))]

    errors = ["RFF, β = 0", "β by the bound", "β validated", "difference"]
    return markdown(["data", "D", *errors, "median β by the bound", "validated", "splits"], body())


if __name__ == "__main__":
    main()
