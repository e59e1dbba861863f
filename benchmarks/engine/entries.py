"""Entries of the benchmark: each loads its data, runs the engine and its references, and returns a `Result`.

Only public names of the engine are called, so that the entries measure what users get.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.preprocessing import StandardScaler

import datasets
import rff_engine as rff
from benchmarks.engine import references
from benchmarks.engine.measure import MB, Point, Result, Target, peak_memory, race, timed
from rff_engine.experiments.running.runner import run
from rff_engine.experiments.studies.protocols import FeatureSweep, LandmarkStudy
from rff_engine.frequencies import FrequencyBlocks

GAMMA = 0.01  # the choice of the study on MNIST 4/9, and about 1/d on standardised adult
CS = np.logspace(-5, 4, 10)
SEED = 0


@dataclass(frozen=True)
class Entry:
    """A measurement, made by `measure(quick)`.

    `place` is where its result appears: "table" (a row), "precision", "presets" (a sentence) or "growth" (a panel).
    Long entries are measured on request only.
    """

    name: str
    title: str
    measure: Callable[[bool], Result]
    place: str = "table"
    long: bool = False


def train_part(name: str, quick: bool, rows: int = 1500):
    """Training points and labels of the published split; at most `rows` if quick."""
    split = datasets.published_split(name)
    return (split.X_train[:rows], split.y_train[:rows]) if quick else (split.X_train, split.y_train)


def standardised(X) -> np.ndarray:
    """Mean 0 and variance 1 in float32; constant columns become 0."""
    return StandardScaler().fit_transform(X).astype(np.float32)


def relative_error(value, right) -> float:
    return float(np.max(np.abs(value - right) / np.abs(right)))


def sizes(**numbers) -> str:
    return ", ".join(f"{name} = {number}" for name, number in numbers.items())


# --- losses -------------------------------------------------------------------------------------------------------


def losses(name: str, scale: bool, speedup: float, quick: bool) -> Result:
    X, y = train_part(name, quick)
    X = standardised(X) if scale else X.astype(np.float32)
    (n, d), N = X.shape, 2000 if quick else 20000
    omega = rff.GaussianKernel.from_gamma(GAMMA).sample_frequencies(N, d, SEED)
    rff.alignment_loss(X[:600], y[:600], omega)  # warm-up
    X64 = X.astype(np.float64)
    contestants = {
        "ours": partial(rff.alignment_loss, X, y, omega),
        "reference": partial(references.alignment_loss, X64, y, omega),
        "floor": partial(references.wave_floor, X, omega),
    }
    result, answers = race(contestants, sizes(n=n, d=d, N=N))
    error = relative_error(answers["ours"], answers["reference"])
    result.facts["relative error"] = error
    result.targets = [
        Target("times faster than the reference", result.ratio(), speedup, at_least=True),
        Target("times the floor", result.share(), 1.5),
        Target("relative error", error, 1e-5),
        *peak_target(result.peak, 300),
    ]
    return result


def peak_target(peak: int | None, limit: float, what: str = "MB over the inputs") -> list[Target]:
    return [] if peak is None else [Target(what, peak / MB, limit)]


def raw_losses(quick: bool) -> Result:
    """Adult without scaling, with columns up to 1.5e6: float32 phases would be noise."""
    X, y = train_part("adult", quick)
    X, X64 = X.astype(np.float32), X  # whole numbers below 2^24: the same points
    (n, d), N = X.shape, 500 if quick else 2000
    result = Result(sizes(n=n, d=d, N=N))
    for gamma in (1e-8, 1e-7, 1e-2):
        omega = rff.GaussianKernel.from_gamma(gamma).sample_frequencies(N, d, SEED)
        right = references.alignment_loss(X64, y, omega)
        error = relative_error(rff.alignment_loss(X, y, omega), right)
        largest = float(np.abs(X64 @ omega.T).max())
        result.facts[f"relative error at gamma = {gamma:g}, phases up to about {largest:.2g}"] = error
        result.targets.append(Target(f"relative error at gamma = {gamma:g}", error, 1e-5))
    return result


def sparse_losses(quick: bool) -> Result:
    X, y = train_part("farm", quick=False)
    (n, d), N = X.shape, 1000 if quick else 20000
    omega = FrequencyBlocks(rff.GaussianKernel.from_gamma(GAMMA), N, d, SEED)
    X = X.astype(np.float32)
    rff.alignment_loss(X, y, FrequencyBlocks(omega.kernel, 16, d, SEED))
    X64 = X.astype(np.float64)
    contestants = {
        "ours": partial(rff.alignment_loss, X, y, omega),
        "reference": lambda: np.concatenate([references.alignment_loss(X64, y, block) for block in omega]),
        "floor": partial(references.draw_floor, omega),
    }
    result, answers = race(contestants, sizes(n=n, d=d, N=N), budget=30)
    error = relative_error(answers["ours"], answers["reference"])
    result.facts["relative error"] = error
    result.targets = [
        Target("relative error", error, 1e-5),
        *peak_target(result.peak_total, 2**30 / MB, "MB in the whole process"),
    ]
    return result


# --- linear SVMs --------------------------------------------------------------------------------------------------


def svm_path(D: int, speedup: float, quick: bool) -> Result:
    split = datasets.published_split("mnist49")
    rows = 800 if quick else len(split.y_train)
    X, y = split.X_train[:rows].astype(np.float32), split.y_train[:rows]
    D = D // 10 if quick else D
    omega = rff.GaussianKernel.from_gamma(GAMMA).sample_frequencies(D, X.shape[1], SEED)
    features = rff.fourier_features(X, omega)
    valid = rff.fourier_features(split.X_valid.astype(np.float32), omega)
    rff.linear_svm_path(features[:200], y[:200], CS[:2])
    features64 = features.astype(np.float64)
    contestants = {
        "ours": partial(rff.linear_svm_path, features, y, CS),
        "reference": partial(references.linear_svms, features64, y, CS),
        "floor": partial(references.gram_floor, features),
    }
    size = sizes(n=rows, D=D, F=features.shape[1]) + f", {len(CS)} C"
    result, answers = race(contestants, size, budget=140)

    objective = {name: references.svm_objective(features64, y, CS, *answers[name]) for name in ("ours", "reference")}
    excess = objective["ours"] / objective["reference"] - 1
    errors = {name: validation_errors(valid, split.y_valid, *answers[name]) for name in ("ours", "reference")}
    chosen = {name: int(np.argmin(counts)) for name, counts in errors.items()}
    for name, best in chosen.items():
        result.facts[f"C of {name}"] = f"{CS[best]:g}, {errors[name][best]} of {len(split.y_valid)} validation errors"
    result.facts["objective over LinearSVC's less 1, largest"] = float(excess.max())
    result.facts["objective over LinearSVC's less 1, smallest"] = float(excess.min())
    apart = abs(errors["ours"][chosen["ours"]] - errors["reference"][chosen["reference"]])
    result.targets = [
        Target("times faster than LinearSVC", result.ratio(), speedup, at_least=True),
        Target("objective over LinearSVC's less 1", float(excess.max()), 1e-3),
        Target("validation errors between the choices of C", float(apart), 1),
    ]
    return result


def validation_errors(features, y, coef, intercept) -> np.ndarray:
    """Errors of every C, (n_C,)."""
    return ((features @ coef.T + intercept > 0) != (y > 0)[:, None]).sum(axis=0)


# --- landmarks ----------------------------------------------------------------------------------------------------


def landmark_problem(quick: bool):
    X, y = train_part("mnist49", quick)
    X = X.astype(np.float32)
    L, D = len(X) // 10 + (not quick), 64
    landmarks, labels, indices = rff.select_landmarks(X, y, L, random_state=SEED)
    d = X.shape[1]
    omega = rff.GaussianKernel.from_gamma(GAMMA).sample_frequencies(L * D, d, SEED).reshape(L, D, d)
    return X, y, landmarks, labels, indices, omega, sizes(n=len(X), d=d, L=L, D=D)


def landmark_losses(quick: bool) -> Result:
    X, y, landmarks, labels, indices, omega, size = landmark_problem(quick)
    rff.landmark_alignment_loss(X[:600], y[:600], landmarks[:9], labels[:9], omega[:9])
    X64 = X.astype(np.float64)
    landmarks64 = landmarks.astype(np.float64)
    contestants = {
        "ours": partial(rff.landmark_alignment_loss, X, y, landmarks, labels, omega, indices),
        "reference": partial(references.landmark_alignment_loss, X64, y, landmarks64, labels, omega),
        "floor": partial(references.wave_floor, X, omega.reshape(-1, X.shape[1]), sines=False),
    }
    result, answers = race(contestants, size, budget=30)
    error = relative_error(answers["ours"], answers["reference"])
    result.facts["relative error"] = error
    result.targets = [Target("relative error", error, 1e-5)]
    return result


def landmark_similarities(quick: bool) -> Result:
    X, y, landmarks, labels, indices, omega, size = landmark_problem(quick)
    losses = rff.landmark_alignment_loss(X, y, landmarks, labels, omega, indices)
    Q = rff.pseudo_posterior(losses, 1.0, len(X))
    rff.landmark_similarity(X[:600], landmarks[:9], omega[:9], Q[:9])
    X64 = X.astype(np.float64)
    landmarks64 = landmarks.astype(np.float64)
    contestants = {
        "ours": partial(rff.landmark_similarity, X, landmarks, omega, Q),
        "reference": partial(references.landmark_similarity, X64, landmarks64, omega, Q),
        "floor": partial(references.wave_floor, X, omega.reshape(-1, X.shape[1]), sines=False),
    }
    result, answers = race(contestants, size, budget=30)
    error = float(np.abs(answers["ours"] - answers["reference"]).max())
    result.facts["largest error of a similarity"] = error
    result.targets = [Target("largest error of a similarity", error, 1e-5)]
    return result


# --- experiments --------------------------------------------------------------------------------------------------


def experiment(protocol, name: str, limit: float | None, quick: bool, jobs: int = 1) -> Result:
    """A run of a protocol; with several processes, memory is that of the largest."""
    split = datasets.random_split(datasets.load(name), 42)  # the published split, if there is one
    protocol = quick_protocol(protocol) if quick else protocol

    def rows():
        return sum(len(step.rows) for step in run(protocol, split, dataset=name, jobs=jobs))

    result, answers = race({"ours": rows}, f"n = {len(split.y_train)}, whole grid", repeats=3, budget=30)
    result.size = sizes(n=len(split.y_train), rows=answers["ours"])
    if jobs > 1:
        result.peak = result.peak_total = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        result.facts["processes"] = jobs
    result.targets = [] if limit is None else [Target("seconds", result.median("ours"), limit)]
    return result


def quick_protocol(protocol):
    """The same protocol on few rows and small grids, to test the benchmark."""
    small = {"gammas": (0.01,), "Cs": (1.0, 100.0), "betas": (1.0,), "max_train": 300}
    if isinstance(protocol, FeatureSweep):
        return FeatureSweep(n_candidates=500, n_features=(5, 50), rhos=(0.01,), **small)
    return LandmarkStudy(shares=(0.1,), n_features=(16,), **small)


def two_class_sets() -> list[str]:
    """Names of the bundled data sets that the protocols run on."""
    described = map(datasets.describe, datasets.names())
    return [info.name for info in described if info.bundled and len(info.label_names) == 2]


# --- growth -------------------------------------------------------------------------------------------------------


def curve(xs, prepare: Callable, size: str, repeats: int = 3) -> Result:
    """Median time and peak memory of the call that `prepare(x)` returns, at every x."""
    result = Result(size)
    for x in xs:
        call, runs = prepare(x), []
        for r in range(repeats):
            if r and sum(runs) > 8:
                break
            if r == 0:
                with peak_memory() as memory:
                    timed(call, runs)
            else:
                timed(call, runs)
        result.curve.append(Point(int(x), float(np.median(runs)), memory.get("over")))
    return result


def growth_in_n(quick: bool) -> Result:
    data = datasets.load("covtype")
    X, y = standardised(data.X), data.y
    order = np.random.default_rng(SEED).permutation(len(y))
    d, N = X.shape[1], 1000
    omega = rff.GaussianKernel.from_gamma(GAMMA).sample_frequencies(N, d, SEED)

    def prepare(n):
        rows = order[:n]
        return partial(rff.alignment_loss, X[rows], y[rows], omega)

    prepare(5000)()
    xs = (10_000, 20_000, 40_000) if quick else (10_000, 25_000, 50_000, 100_000, 250_000, len(y))
    return curve(xs, prepare, sizes(d=d, N=N))


def growth_in_candidates(quick: bool) -> Result:
    data = datasets.load("covtype")
    rows = np.random.default_rng(SEED).permutation(data.n_samples)[:10_000]
    X, y = standardised(data.X[rows]), data.y[rows]
    kernel, (n, d) = rff.GaussianKernel.from_gamma(GAMMA), X.shape

    def prepare(N):
        return partial(rff.alignment_loss, X, y, kernel.sample_frequencies(N, d, SEED))

    prepare(1000)()
    xs = (1000, 2000, 4000) if quick else (1000, 3000, 10_000, 30_000, 100_000)
    return curve(xs, prepare, sizes(n=n, d=d))


def growth_in_features(quick: bool) -> Result:
    X, y = train_part("mnist49", quick)
    X = X.astype(np.float32)
    omega = rff.GaussianKernel.from_gamma(GAMMA).sample_frequencies(5000, X.shape[1], SEED)

    def prepare(D):
        return partial(rff.linear_svm_path, rff.fourier_features(X, omega[:D]), y, CS)

    rff.linear_svm_path(rff.fourier_features(X[:200], omega[:50]), y[:200], CS[:2])
    xs = (50, 100, 200) if quick else (100, 200, 500, 1000, 2000, 5000)
    return curve(xs, prepare, sizes(n=len(y)) + f", {len(CS)} C", repeats=2)


# --- all of them --------------------------------------------------------------------------------------------------

_ALL = (
    Entry("losses-mnist49", "Losses, MNIST 4/9", partial(losses, "mnist49", False, 8)),
    Entry("losses-adult", "Losses, adult", partial(losses, "adult", True, 14)),
    Entry("losses-adult-raw", "Losses, adult not scaled", raw_losses, place="precision"),
    Entry("losses-farm", "Losses, farm (CSR)", sparse_losses),
    Entry("landmark-losses", "Landmark losses, MNIST 4/9", landmark_losses),
    Entry("landmark-similarity", "Landmark similarities, MNIST 4/9", landmark_similarities),
    Entry("svm-500", "Path of 10 linear SVMs, MNIST 4/9", partial(svm_path, 500, 3)),
    Entry("svm-5000", "Path of 10 linear SVMs, MNIST 4/9", partial(svm_path, 5000, 8)),
    Entry("sweep-breast", "Feature sweep, breast", partial(experiment, FeatureSweep.preset("paper"), "breast", 30)),
    Entry("study-breast", "Landmark study, breast", partial(experiment, LandmarkStudy.preset("paper"), "breast", 10)),
    *(
        Entry(
            f"quick-{name}",
            name,
            partial(experiment, FeatureSweep.preset("quick"), name, 60),
            place="presets",
        )
        for name in two_class_sets()
    ),
    Entry(
        "sweep-mnist49",
        "Feature sweep, MNIST 4/9, 2 processes",
        partial(experiment, FeatureSweep.preset("paper"), "mnist49", 2700, jobs=2),
        long=True,
    ),
    Entry(
        "study-adult",
        "Landmark study, adult, 10 % landmarks, gamma from 2000 rows, 2 processes",
        partial(experiment, LandmarkStudy.preset("paper", shares=(0.1,), max_train_svm=2000), "adult", None, jobs=2),
        long=True,
    ),
    Entry("growth-n", "Losses against n", growth_in_n, place="growth"),
    Entry("growth-candidates", "Losses against N", growth_in_candidates, place="growth"),
    Entry("growth-features", "Path of 10 linear SVMs against D", growth_in_features, place="growth"),
)
ENTRIES = {entry.name: entry for entry in _ALL}


def measure(name: str, quick: bool) -> Result:
    """Measure an entry in this process; skip it, with the reason, if its data set is missing.

    Targets are for full sizes; a quick result has none.
    """
    start = time.perf_counter()
    try:
        result = ENTRIES[name].measure(quick)
    except datasets.DataNotFoundError as reason:
        result = Result("", skipped=str(reason))
    if quick:
        result.targets = []
    result.facts["seconds of the entry"] = round(time.perf_counter() - start, 1)
    return result
