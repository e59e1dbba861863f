"""The feature sweep: test error against the number D of random features (Letarte et al. 2019, Section 6.2).

The losses of N candidate frequencies are computed once. "rff" takes the first D candidates, "pbrff" and "okrff" draw
D of them, with replacement, from the pseudo-posterior of every beta and the optimized kernel of every rho. Candidates
are not stored: they are redrawn from seeds, a block at a time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import numpy as np

from ...alignment import alignment_loss
from ...features import phases
from ...frequencies import FrequencyBlocks
from ...kernels import GaussianKernel
from ...linear import gram_matrix, gram_pays, linear_svm_path
from ...posteriors import optimized_kernel_weights, pseudo_posterior
from .letarte_problem import PARTS, LetarteProblem
from .problem import linear_svm_seconds, wave_seconds
from .protocols import FeatureSweep
from .units import Row, Unit, UnitStep

_SECONDS_A_UNIT = 0.5  # of units that compute losses
_WAVE_BYTES = 2**30  # cosines and sines that a setting keeps in memory
_DRAWS_A_BLOCK = 250  # of the Gram matrix
_ROWS_BEYOND = 1024  # at a time, of waves that are not kept in memory


def feature_sweep_units(problem: LetarteProblem, protocol: FeatureSweep) -> list[Unit]:
    """Units for the losses of candidates, then one for each method and beta or rho with all D."""
    settings = _settings(protocol)
    if not settings:
        return []
    units, needs = [], ("prior",)
    n, d, n_rows = len(problem.train.y), problem.n_columns, problem.n_rows
    blocks = _candidates(problem, protocol)
    if _learns(protocol):
        for run in _runs_of_blocks(blocks, n):
            first, end = run.start * blocks.block_size, min(run.stop * blocks.block_size, len(blocks))
            step = UnitStep(f"candidates {first + 1} to {end} of {len(blocks)}", wave_seconds(n, end - first, d))
            units.append(Unit(f"losses-{first}", partial(_losses, protocol, run), needs, (step,)))
        parts = tuple(unit.name for unit in units)
        units.append(Unit("losses", _join, parts, (UnitStep(f"losses of {len(blocks)} candidates", 0.001),)))
        needs = ("prior", "losses")
    sizes = sorted(protocol.n_features)
    itemsize = 8 if protocol.precision == "float64" else 4
    held = min(_WAVE_BYTES, 2 * max(sizes) * n_rows * itemsize)
    seconds = [linear_svm_seconds(n, 2 * D, len(protocol.Cs)) for D in sizes]
    seconds[0] += wave_seconds(n_rows, max(sizes), d)
    for method, field, value in settings:
        named = method if field is None else f"{method}, {field} = {value:g}"
        setting = {"method": method} | ({} if field is None else {field: value})
        steps = tuple(UnitStep(f"{named}, D = {D}", s, setting | {"D": D}) for D, s in zip(sizes, seconds, strict=True))
        work = partial(_fit, protocol, method, field, value)
        units.append(Unit(f"fits of {named}", work, needs if method != "rff" else ("prior",), steps, held))
    return units


def _settings(protocol: FeatureSweep) -> list[tuple]:
    settings = [("rff", None, None)] if "rff" in protocol.methods else []
    settings += [("pbrff", "beta", beta) for beta in protocol.betas if "pbrff" in protocol.methods]
    return settings + [("okrff", "rho", rho) for rho in protocol.rhos if "okrff" in protocol.methods]


def _learns(protocol: FeatureSweep) -> bool:
    return bool({"pbrff", "okrff"} & set(protocol.methods))


def _candidates(problem: LetarteProblem, protocol: FeatureSweep) -> FrequencyBlocks:
    # The first candidates do not depend on their number: without a posterior no others are needed.
    N = protocol.n_candidates if _learns(protocol) else max(protocol.n_features)
    seed = int(problem.child_seed("candidates").generate_state(1, np.uint64)[0])
    kernel = GaussianKernel() if problem.gamma is None else problem.kernel
    return FrequencyBlocks(kernel, N, problem.n_columns, seed)


def _runs_of_blocks(blocks: FrequencyBlocks, n: int) -> list[range]:
    """Consecutive blocks of candidates that take about half a second each."""
    one = wave_seconds(n, blocks.block_size, blocks.n_features)
    at_once = max(1, int(_SECONDS_A_UNIT / one))
    return [range(b, min(b + at_once, blocks.n_blocks)) for b in range(0, blocks.n_blocks, at_once)]


def _losses(protocol: FeatureSweep, run: range, problem: LetarteProblem) -> Iterator[list[Row]]:
    # Block by block, so that the rounding of a loss does not depend on the grouping of blocks.
    blocks = _candidates(problem, protocol)
    losses = [alignment_loss(problem.train.X, problem.train.y, blocks.block(b)) for b in run]
    yield []
    return np.concatenate(losses)


def _join(*losses: np.ndarray) -> Iterator[list[Row]]:
    yield []
    return np.concatenate(losses)


def _fit(
    protocol: FeatureSweep,
    method: str,
    field: str | None,
    value: float | None,
    problem: LetarteProblem,
    losses=None,
    *,
    wanted: list[Row],
):
    """Yield the wanted rows of a method and beta or rho, from small D to large. All D are drawn in any case."""
    largest = max(protocol.n_features)
    setting: Row = {} if field is None else {field: value}
    start = time.perf_counter()
    sampled = _sample(problem, method, value, largest, losses)
    waves = _Waves(problem, _candidates(problem, protocol), sampled)
    gram = _IncrementalGram(waves)
    common = (time.perf_counter() - start) / largest
    for D in sorted(row["D"] for row in wanted):
        start = time.perf_counter()
        path = _svm_path(problem, waves, gram, D, protocol.Cs)
        errors = problem.best_errors(path, partial(waves.features, D), protocol.Cs)
        seconds = time.perf_counter() - start + common * D
        yield [problem.row(method, errors, seconds, D=D, **setting)]


def _sample(problem: LetarteProblem, method: str, value: float | None, D: int, losses) -> np.ndarray:
    """Candidates drawn by a method for the largest D; smaller D use the first of them."""
    if value is None:  # "rff": the first candidates
        return np.arange(D)
    if method == "pbrff":
        weights = pseudo_posterior(losses, value, len(problem.train.y))
    else:
        weights = optimized_kernel_weights(losses, value)
    # Every beta, or rho, inverts its distribution function at the same uniform numbers.
    uniform = problem.rng(method).random(D)
    cumulative = np.cumsum(weights)
    return np.searchsorted(cumulative, uniform * cumulative[-1], side="right")


def _svm_path(problem: LetarteProblem, waves: _Waves, gram: _IncrementalGram, D: int, Cs):
    """Coefficients and intercepts of the linear SVMs of every C on the first D draws."""
    features = waves.features(D, "train")
    if not gram_pays(features.shape[0], features.shape[1], features.dtype):
        return linear_svm_path(features, problem.train.y, Cs, form="primal")
    return linear_svm_path(features, problem.train.y, Cs, form="gram", gram=gram.of(D))


class _IncrementalGram:
    """Gram matrix of the training rows, extended as D grows.

    The sum over whole blocks of draws is kept, and the rest, less than a block, added for each D. So the result for a D
    does not depend on which other D there are.
    """

    def __init__(self, waves: _Waves):
        self._waves, self._sum, self._draws = waves, None, 0

    def of(self, D: int) -> np.ndarray:
        """Lower triangle of the Gram matrix of the first D draws; D must not decrease."""
        while self._draws + _DRAWS_A_BLOCK <= D:
            end = self._draws + _DRAWS_A_BLOCK
            self._sum, self._draws = gram_matrix(self._waves.sums(self._draws, end), self._sum), end
        left = self._waves.sums(self._draws, D) if self._draws < D else None
        if self._sum is None:
            gram = gram_matrix(left)
        else:
            gram = self._sum.copy(order="F")
            if left is not None:
                gram = gram_matrix(left, gram)
        gram /= D
        return gram


class _Waves:
    """Cosines and sines of all rows at a draw of candidates, computed once for all D.

    A candidate drawn c times in D makes c equal columns of 1/sqrt(D) cos and 1/sqrt(D) sin. One column with the
    factor sqrt(c/D) gives the same inner products between rows, hence the same SVM: the distinct candidates, in
    order of first appearance, are columns enough, and those of fewer draws are the first of them.

    Parameters
    ----------
    problem : LetarteProblem
        With its gamma.
    drawn : array of shape (D,)
        Indices of candidates, in any order, some more than once.
    """

    def __init__(self, problem: LetarteProblem, blocks: FrequencyBlocks, sampled: np.ndarray):
        self._points = {name: getattr(problem, name).X for name in PARTS}
        self._blocks, self._dtype = blocks, np.dtype(problem.feature_dtype)
        _, first, code = np.unique(sampled, return_index=True, return_inverse=True)
        self._distinct = sampled[np.sort(first)]
        self._column = np.argsort(np.argsort(first))[code]
        # Waves that do not fit in memory are computed from their frequencies when they are needed.
        fit = max(1, _WAVE_BYTES // (2 * problem.n_rows * self._dtype.itemsize))
        self._held = min(len(self._distinct), fit)
        self._waves = {name: np.empty((2, X.shape[0], self._held), self._dtype) for name, X in self._points.items()}
        self._fill()
        self._beyond = blocks.take(self._distinct[self._held :])

    def _fill(self) -> None:
        indices = self._distinct[: self._held]
        block_of = indices // self._blocks.block_size
        for b in np.unique(block_of):
            columns = np.flatnonzero(block_of == b)
            omega = self._blocks.take(indices[columns])
            for name, X in self._points.items():
                angle = phases(X, omega)
                wave = np.empty(angle.shape, self._dtype)
                for function, into in zip((np.cos, np.sin), self._waves[name], strict=True):
                    into[:, columns] = function(angle, out=wave, casting="same_kind")

    def sums(self, first: int, end: int) -> np.ndarray:
        """Training features of some draws, unnormalised: their inner products are sums of cosines over the draws."""
        count = np.bincount(self._column[first:end])
        columns = np.flatnonzero(count)
        return self._scaled(columns, np.sqrt(count[columns]), "train", slice(None))

    def features(self, D: int, part: str, rows: slice = slice(None)) -> np.ndarray:
        """Features of rows of a part from the first D draws, (rows, 2 k): all cosines, then all sines."""
        count = np.bincount(self._column[:D])
        return self._scaled(np.arange(len(count)), np.sqrt(count / D), part, rows)

    def _scaled(self, columns: np.ndarray, scale: np.ndarray, part: str, rows: slice) -> np.ndarray:
        """Cosines, then sines, of some columns in ascending order, each times its factor."""
        held = np.searchsorted(columns, self._held)
        n = len(range(*rows.indices(self._points[part].shape[0])))
        features = np.empty((n, 2, len(columns)), self._dtype)
        scale = scale.astype(self._dtype)
        run = slice(columns[0], columns[0] + held)  # a view, where it can be one
        some = run if held and columns[held - 1] < run.stop else columns[:held]
        np.multiply(self._waves[part][:, rows, some].swapaxes(0, 1), scale[:held], out=features[:, :, :held])
        for start in range(0, n if held < len(columns) else 0, _ROWS_BEYOND):
            these = slice(start, start + _ROWS_BEYOND)
            angle = phases(self._points[part][rows][these], self._beyond[columns[held:] - self._held])
            for i, function in enumerate((np.cos, np.sin)):
                np.multiply(function(angle), scale[held:], out=features[these, i, held:], casting="same_kind")
        return features.reshape(n, 2 * len(columns))
