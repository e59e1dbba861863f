"""The engine against the papers' formulas in plain NumPy, and against scikit-learn's maps.

    python -m benchmarks.engine                              # prints its two tables of docs/performance.md
    python -m benchmarks.engine --write                      # and writes them there
    python -m benchmarks.engine formulas --quick             # one of them; --quick takes few rows and frequencies

`python -m datasets fetch farm` brings the set that is not bundled.

**formulas**: float32 data against the formulas in float64 with nothing shared or skipped, in blocks only if memory
requires it, and against scikit-learn's LinearSVC. The contestants run in turn, on all cores; medians of three runs.

**transforms**: our maps and scikit-learn's of one kernel transform the same rows in turn. Ratios are medians of the
seconds of scikit-learn over ours in the same turn.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import statistics
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import datasets
import rff_engine as rff
from benchmarks import frame

PAGE = frame.DOCS / "performance.md"
FORMULAS = "<!-- formulas: begin, written by `python -m benchmarks.engine --write` -->", "<!-- formulas: end -->"
TRANSFORMS = "<!-- transforms: begin, written by `python -m benchmarks.engine --write` -->", "<!-- transforms: end -->"

# --- formulas -----------------------------------------------------------------------------------------------------

GAMMA = 0.01  # the choice of the study on MNIST 4/9, and about 1/d on standardised adult
CS = np.logspace(-5, 4, 10)
BUDGET = 30.0  # seconds of a contestant; one that would need more is not run again


def alignment_loss(X, y, omega):
    """Compute losses over all pairs (Letarte et al. 2019, Prop. 7), y in {-1, 1}, as the authors' code does."""
    n, losses = X.shape[0], []
    for block in np.array_split(omega, max(1, 16 * n * len(omega) // 10**9)):
        cosines = np.sum(y[:, None] * np.cos(X @ block.T), axis=0)
        sines = np.sum(y[:, None] * np.sin(X @ block.T), axis=0)
        losses.append(n / (2 * (n - 1)) - (cosines**2 + sines**2) / (2 * n * (n - 1)))
    return np.concatenate(losses)


def landmark_alignment_loss(X, y, landmarks, labels, omega):
    """Compute losses over the pairs of each landmark, a row of X (Letarte et al. 2019, Eq. 10); omega (L, D, d)."""
    losses = []
    for point, label, frequencies in zip(landmarks, labels, omega, strict=True):
        same = np.where(y == label, 1.0, -1.0)
        aligned = (same @ np.cos((X - point) @ frequencies.T) - 1) / (len(X) - 1)
        losses.append((1 - aligned) / 2)
    return np.array(losses)


def landmark_similarity(X, landmarks, omega, Q):
    """Compute similarities to the landmarks (Letarte et al. 2019, Eq. 13), omega (L, D, d)."""
    each = zip(landmarks, omega, Q, strict=True)
    return np.stack([np.cos((X - point) @ frequencies.T) @ weights for point, frequencies, weights in each], axis=1)


def linear_svms(features, y):
    """Fit scikit-learn's LinearSVC with its default settings at every C: coef (n_C, F), intercept (n_C,)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stops at max_iter for large C, as in the paper
        machines = [LinearSVC(C=C, random_state=0).fit(features, y) for C in CS]
    return np.array([one.coef_[0] for one in machines]), np.array([one.intercept_[0] for one in machines])


class Race(NamedTuple):
    """A call of the engine and one of its formula, for arrays of this size."""

    size: dict[str, int]
    ours: Callable[[], Any]
    plain: Callable[[], Any]
    same: bool = True
    """Whether the results are equal but for rounding"""


def rows_and_labels(name: str, quick: bool, scale: bool = False):
    """Return training rows in float32 and labels of the published split."""
    split = datasets.published_split(name)
    X, y = split.X_train, split.y_train
    X = StandardScaler().fit_transform(X) if scale else X
    return (X[:500] if quick else X).astype(np.float32), y[:500] if quick else y


def losses(name: str, scale: bool, quick: bool) -> Race:
    """Prepare a race of losses. The frequencies of farm come in blocks, since all would not fit into memory."""
    X, y = rows_and_labels(name, quick, scale)
    (n, d), N = X.shape, 200 if quick else 20000
    blocks = rff.FrequencyBlocks(rff.GaussianKernel.from_gamma(GAMMA), N, d, 0)
    drawn = blocks if name == "farm" else [np.concatenate(list(blocks))]
    wide = X.astype(float)

    def plain() -> np.ndarray:
        return np.concatenate([alignment_loss(wide, y, omega) for omega in drawn])

    ours = partial(rff.alignment_loss, X, y, blocks if name == "farm" else drawn[0])
    return Race({"n": n, "d": d, "N": N}, ours, plain)


def of_landmarks(similarity: bool, quick: bool) -> Race:
    X, y = rows_and_labels("mnist49", quick)
    (n, d), D = X.shape, 64
    landmarks, labels, indices = rff.select_landmarks(X, y, n // 10, random_state=0)
    L = len(landmarks)
    omega = rff.GaussianKernel.from_gamma(GAMMA).sample_frequencies(L * D, d, 0).reshape(L, D, d)
    wide = X.astype(float)
    points = landmarks.astype(float)
    ours = partial(rff.landmark_alignment_loss, X, y, landmarks, labels, omega, indices)
    plain = partial(landmark_alignment_loss, wide, y, points, labels, omega)
    if similarity:
        Q = rff.pseudo_posterior(ours(), 1.0, n)
        ours = partial(rff.landmark_similarity, X, landmarks, omega, Q)
        plain = partial(landmark_similarity, wide, points, omega, Q)
    return Race({"n": n, "d": d, "L": L, "D": D}, ours, plain)


def svm_path(D: int, quick: bool) -> Race:
    """Prepare a race at ten C; LinearSVC stops early at the larger ones."""
    X, y = rows_and_labels("mnist49", quick)
    D = D // 100 if quick else D
    omega = rff.GaussianKernel.from_gamma(GAMMA).sample_frequencies(D, X.shape[1], 0)
    features = rff.fourier_features(X, omega)
    ours = partial(rff.linear_svm_path, features, y, CS)
    size = {"n": len(y), "F": 2 * D, "C": len(CS)}
    return Race(size, ours, partial(linear_svms, features.astype(float), y), same=False)


RACES: dict[str, Callable[[bool], Race]] = {
    "Losses, MNIST 4/9": partial(losses, "mnist49", False),
    "Losses, adult": partial(losses, "adult", True),
    "Losses, farm (CSR)": partial(losses, "farm", False),
    "Landmark losses, MNIST 4/9": partial(of_landmarks, False),
    "Landmark similarities, MNIST 4/9": partial(of_landmarks, True),
    "Path of 10 linear SVMs, 500 frequencies": partial(svm_path, 500),
    "Path of 10 linear SVMs, 5000 frequencies": partial(svm_path, 5000),
}


def run(race: Race) -> dict:
    """Return median seconds of both, the largest relative difference, and the engine's peak MB beyond its inputs."""
    seconds, answers = {"ours": [], "plain": []}, {}
    memory = np.nan
    for again, name in product((False, True, True), seconds):
        spent = seconds[name]
        if again and sum(spent) + min(spent) > BUDGET:
            continue
        before = resident("VmRSS", reset=True) if name == "ours" and not again else None
        start = time.perf_counter()
        answers[name] = getattr(race, name)()
        spent.append(time.perf_counter() - start)
        if before:
            memory = (resident("VmHWM") - before) / 1e6
    apart = 0.0
    if race.same:
        apart = float(np.abs(answers["ours"] - answers["plain"]).max() / np.abs(answers["plain"]).max())
    return {name: statistics.median(spent) for name, spent in seconds.items()} | {"memory": memory, "apart": apart}


def resident(name: str, reset: bool = False) -> float:
    """Return the resident memory of this process in bytes, NaN except on Linux. "VmHWM": its peak since a reset."""
    try:
        if reset:
            gc.collect()
            ctypes.CDLL(None).malloc_trim(0)  # freed memory that is not returned would hide allocations
            Path("/proc/self/clear_refs").write_text("5")
        lines = Path("/proc/self/status").read_text().splitlines()
    except (AttributeError, OSError):
        return np.nan
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith(name + ":"))


def table_of_formulas(measured: dict[str, dict]) -> str:
    """Show seconds of the engine and of the formulas, and the engine's memory, in Markdown."""
    body = (
        [
            name,
            ", ".join(f"{symbol} = {value}" for symbol, value in row["size"].items()),
            *(f"{row[way]:.3g} s" for way in ("ours", "plain")),
            f"{row['plain'] / row['ours']:.1f}×",
            f"{row['memory']:.0f} MB",
        ]
        for name, row in measured.items()
    )
    table = frame.markdown(["what", "size", "ours", "plain", "ratio", "memory"], body)
    apart = f"{max(row['apart'] for row in measured.values()):.0e} of the largest"
    return f"{table}\n\nOn {frame.machine()}. Losses and similarities are within {apart} of those of the formulas."


# --- transforms ---------------------------------------------------------------------------------------------------

#: n, d, features, and the density of CSR rows, 1: dense
SIZES = ((20000, 50, 1000, 1), (200000, 20, 400, 1), (20000, 50, 1000, 0.1), (20000, 1000, 500, 0.01))


def pairs(gamma: float, n_features: int) -> dict[str, tuple]:
    """Return our maps and scikit-learn's of one Gaussian kernel."""
    kernel = rff.GaussianKernel.from_gamma(gamma)
    ours = rff.RandomFourierFeatures(kernel, n_features // 2, "monte_carlo", random_state=0)
    landmarks = rff.NystroemFeatures(kernel, n_features, random_state=0)
    return {
        "Fourier": (ours, RBFSampler(gamma=gamma, n_components=n_features, random_state=0)),
        "Nyström": (landmarks, Nystroem(gamma=gamma, n_components=n_features, random_state=0)),
    }


def turns(maps, X, repeats: int) -> tuple[float, list[float]]:
    """Return the median ratio of seconds, theirs over ours, and the peak MB of both."""
    ratios, peaks = [], [0.0, 0.0]
    for _ in range(repeats):
        spent = []
        for which, one in enumerate(maps):
            before = resident("VmRSS", reset=True)
            start = time.perf_counter()
            one.transform(X)
            spent.append(time.perf_counter() - start)
            peaks[which] = max(peaks[which], (resident("VmHWM") - before) / 1e6)
        ratios.append(spent[1] / spent[0])
    return statistics.median(ratios), peaks


def _transforms(asked) -> str:
    body = []
    for (n, d, n_features, density), dtype in product(SIZES, (np.float64, np.float32)):
        n = 2000 if asked.quick else n
        draw = np.random.default_rng(0)
        csr = sparse.random_array((n, d), density=density, format="csr", rng=draw, data_sampler=draw.normal)
        X = (csr if density < 1 else csr.toarray()).astype(dtype)
        for name, maps in pairs(1 / (d * density), n_features).items():
            for one in maps:
                one.fit(X)
            cells = []
            for threads in (1, 2):
                with threadpool_limits(threads):
                    ratio, peaks = turns(maps, X, 3 if asked.quick else 9)
                cells.append(f"{ratio:.2f}×")
            kind = "CSR" if density < 1 else "dense"
            size = f"{n} × {d}, {n_features} features"
            body.append([name, size, f"{kind} {X.dtype}", *cells, " / ".join(f"{peak:.0f}" for peak in peaks)])
    header = ["map", "rows", "type", "one thread", "two threads", "MB, ours / scikit-learn's"]
    return f"{frame.markdown(header, body)}\n\nOn {frame.machine()}."


# --- all --------------------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("part", nargs="?", choices=PARTS, help="default: both")
    parser.add_argument("--quick", action="store_true", help="few rows, frequencies and turns; writes nothing")
    parser.add_argument("--only", nargs="+", choices=RACES, default=list(RACES), metavar="NAME", help="formulas")
    parser.add_argument("--write", action="store_true", help=f"write the tables into docs/{PAGE.name}")
    asked = parser.parse_args()
    for part in [asked.part] if asked.part else PARTS:
        measure, marks = PARTS[part]
        text = measure(asked)
        print(text)
        if asked.write and not asked.quick:
            frame.write(PAGE, text, marks)


def _formulas(asked) -> str:
    measured = {}
    for name in asked.only:
        with suppress(datasets.DataNotFoundError):
            race = RACES[name](asked.quick)
            measured[name] = {"size": race.size} | run(race)
    return table_of_formulas(measured)


PARTS = {"formulas": (_formulas, FORMULAS), "transforms": (_transforms, TRANSFORMS)}

if __name__ == "__main__":
    main()
