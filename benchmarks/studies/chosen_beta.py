"""PBRFF with beta at the minimum of its bound against beta chosen on validation rows, paired, on random splits.

    python -m benchmarks.studies.chosen_beta                        # the table of docs/certificates.md
    python -m benchmarks.studies.chosen_beta --output rows.csv      # computes what the file lacks, then the table
    python -m benchmarks.studies.chosen_beta --output rows.csv --datasets breast --splits 2

On the training rows of a split the losses of N candidates and a linear SVM are learned. C is chosen on the validation
rows for all three: "prior" (beta = 0), "bound" (the minimum of `bounds.second_order_kl_inverse`, which uses no
validation row) and "validated" (beta and C together). They draw with the same random numbers. The kernel's width is
that at which random Fourier features err least on the validation rows.
`datasets/data/reruns/chosen_beta.csv` is such a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product

import numpy as np
import pandas as pd
from scipy.stats import sem, t as student

import datasets
import rff_engine as rff
from benchmarks.studies import frame
from benchmarks.studies.learners import svm_errors
from rff_engine._strength import kernel_bound, least_beta
from rff_engine.frequencies import FrequencyBlocks
from rff_engine.studies.certificate import SCALED
from rff_engine.studies.letarte_problem import PARTS, LetarteProblem
from rff_engine.studies.problem import Part

CHOICES = ("prior", "bound", "validated")
COUNTS = (5, 20, 100)
KEYS = ["dataset", "split", "D"]
SHIPPED = frame.DATA / "chosen_beta.csv"
BETAS = tuple(10.0**k for k in range(-3, 4))
CS = tuple(10.0**k for k in range(-2, 5))
_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
_N_CANDIDATES, _WIDTH_COMPONENTS, _EPSILON = 2000, 100, 0.05


def settings(asked) -> Iterator[dict]:
    for split, name, D in product(range(asked.splits), asked.datasets, asked.D):
        yield {"dataset": name, "split": split, "D": D}


def rows_of(dataset: str, split: int, D: int) -> list[dict]:
    return [problem_of(dataset, split).errors(D)]


@dataclass
class BetaProblem:
    """A random split of a set, its kernel and the losses of the candidates."""

    name: str
    seed: int

    @cached_property
    def parts(self) -> LetarteProblem:
        """Training, validation and test rows, with columns scaled by the training rows where the set needs it."""
        split = datasets.random_split(datasets.load(self.name), self.seed)
        parts = LetarteProblem.of(split, {}, self.seed, "standard" if self.name in SCALED else "none")
        small = {name: Part(getattr(parts, name).X.astype(np.float32), getattr(parts, name).y) for name in PARTS}
        return replace(parts, feature_dtype=np.float32, **small)

    @cached_property
    def kernel(self) -> rff.GaussianKernel:
        """The width at which random Fourier features err least on the validation rows."""
        X = self.parts.train.X
        sigma = rff.GaussianKernel("scale").scaled_to(X).sigma
        kernels = [rff.GaussianKernel(width * sigma) for width in _WIDTHS]

        def error(kernel):
            omega = kernel.sample_frequencies(_WIDTH_COMPONENTS, X.shape[1], self.seed)
            return self.svm(omega)["valid_error"]

        return min(kernels, key=error)

    @cached_property
    def candidates(self) -> FrequencyBlocks:
        return FrequencyBlocks(self.kernel, _N_CANDIDATES, self.parts.n_columns, self.seed)

    @cached_property
    def losses(self) -> np.ndarray:
        return rff.alignment_loss(*self.parts.train, self.candidates)

    @cached_property
    def bound_beta(self) -> float:
        """The beta at the minimum of the bound, from the training rows alone."""
        n = len(self.parts.train.y)
        return least_beta(self.losses, n, _EPSILON, kernel_bound)

    def svm(self, omega) -> dict:
        """Return C and errors of the SVM that errs least on the validation rows."""
        return svm_errors(
            self.parts, {part: rff.fourier_features(getattr(self.parts, part).X, omega) for part in PARTS}, CS
        )

    def drawn_svm(self, beta: float, D: int) -> dict:
        """Return `svm` on D frequencies of the pseudo-posterior, drawn by the same random numbers for every beta."""
        weights = rff.pseudo_posterior(self.losses, beta, len(self.parts.train.y))
        drawn = np.random.default_rng((self.seed, D)).choice(_N_CANDIDATES, size=D, p=weights)
        return self.svm(self.candidates.take(drawn))

    def errors(self, D: int) -> dict:
        """Return the test errors of the three choices, and the betas of two of them."""
        validated = {beta: self.drawn_svm(beta, D) for beta in BETAS}
        best = min(BETAS, key=lambda beta: validated[beta]["valid_error"])
        return {
            "n": len(self.parts.train.y),
            "sigma": self.kernel.sigma,
            "prior": self.drawn_svm(0.0, D)["test_error"],
            "bound": self.drawn_svm(self.bound_beta, D)["test_error"],
            "validated": validated[best]["test_error"],
            "bound_beta": self.bound_beta,
            "validated_beta": best,
        }


@lru_cache(1)
def problem_of(name: str, split: int) -> BetaProblem:
    return BetaProblem(name, split)


def interval(values) -> str:
    """Show the mean with its sign, and for several values the half-width of its 95 % interval by Student's t."""
    mean = f"{np.mean(values):+.2f}"
    if len(values) < 2:
        return mean
    return f"{mean} ± {student.ppf(0.975, len(values) - 1) * sem(values):.2f}"


def tables(results: pd.DataFrame) -> str:
    """Show mean test errors in percent, and the mean and 95 % interval of "bound" less "validated"."""
    counts = sorted(results["D"].unique())

    body = []
    for name, rows in frame.by_dataset(results):
        at = [rows[rows["D"] == D] for D in counts]
        cells = []
        for of in at:
            cells.append("/".join(f"{100 * of[choice].mean():.2f}" for choice in CHOICES))
            cells.append(interval(100 * (of["bound"] - of["validated"])))
        betas = "/".join(f"{of['validated_beta'].median():.2g}" for of in at)
        body.append([name, *cells, f"{at[0]['bound_beta'].median():.2g}", betas])
    columns = [heading for D in counts for heading in (f"D = {D}", "difference")]
    return frame.markdown(["data", *columns, "β by the bound", "validated"], body)


if __name__ == "__main__":
    own = {"datasets": frame.chosen(), "D": frame.counts(*COUNTS), "splits": {"type": int, "default": 10}}
    frame.main(__doc__, settings, rows_of, tables, SHIPPED, **own)
