"""The feature sweep: test error against the number D of random features (Letarte et al. 2019, Section 6.2).

The losses of N candidate frequencies are computed once. "rff" takes the first D candidates, "pbrff" and "okrff" draw
D of them, with replacement, from the pseudo-posterior of every beta and the optimized kernel of every rho. Candidates
are not stored: they are redrawn from seeds, a block at a time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from ..alignment import alignment_loss
from ..features import phases
from ..frequencies import FrequencyBlocks
from ..kernels import GaussianKernel
from ..linear import gram_matrix, gram_pays, linear_svm_path
from ..posteriors import optimized_kernel_weights, pseudo_posterior
from .baseline import prior
from .letarte_problem import PARTS, LetarteProblem
from .problem import Report, Row, Work, wave_seconds
from .protocols import FeatureSweep

_SECONDS_A_CALL = 0.5  # seconds of calls that compute losses
_WAVE_BYTES = 2**30  # bytes of cosines and sines that a setting keeps in memory
_DRAWS_A_BLOCK = 250  # draws in a block of the Gram matrix
_ROWS_BEYOND = 1024  # rows at a time of waves that are not kept in memory


def feature_sweep_rows(problem: LetarteProblem, protocol: FeatureSweep, work: Work) -> Iterator[Report]:
    """Compute the losses of candidates, then each row by a call; rows of a method and beta or rho are neighbours."""
    with_gamma = yield from prior(problem, protocol, work)
    groups: dict[tuple, list[Row]] = {}
    for row in protocol.settings():
        if row["method"] != "svm":
            groups.setdefault((row["method"], row.get("beta"), row.get("rho")), []).append(row)
    learned = [row for (method, *_), rows in groups.items() for row in rows if method != "rff"]
    losses = None
    if not all(map(work.known, learned)):
        losses = yield from _all_losses(with_gamma, protocol, work)
    in_turn = (row for rows in work.in_turn(groups.values()) for row in rows)
    wanted = (row for row in in_turn if work.known(row) is None)
    calls = ((_fit, with_gamma, protocol, settings, losses) for settings in wanted)
    for row in work.each(calls):
        chosen = ", ".join(f"{name} = {row[name]:g}" for name in ("beta", "rho", "D") if row[name] is not None)
        yield f"{row['method']}, {chosen}", row


def _all_losses(problem: LetarteProblem, protocol: FeatureSweep, work: Work):
    """Compute losses of all candidates, shape (N,)."""
    blocks, parts = _candidates(problem, protocol), {}
    one = wave_seconds(len(problem.train.y), blocks.block_size, blocks.n_features)
    at_once = max(1, int(_SECONDS_A_CALL / one))
    runs = [range(b, min(b + at_once, blocks.n_blocks)) for b in range(0, blocks.n_blocks, at_once)]
    for run, losses in work.each((_losses, problem, protocol, run) for run in runs):
        parts[run.start] = losses
        yield f"losses of candidates: part {len(parts)} of {len(runs)}", None
    return np.concatenate([parts[first] for first in sorted(parts)])


def _candidates(problem: LetarteProblem, protocol: FeatureSweep) -> FrequencyBlocks:
    # The first candidates do not depend on their number. Without a posterior no others are needed.
    learns = {"pbrff", "okrff"} & set(protocol.methods)
    N = protocol.n_candidates if learns else max(protocol.n_features)
    seed = int(problem.child_seed("candidates").generate_state(1, np.uint64)[0])
    kernel = GaussianKernel() if problem.gamma is None else problem.kernel
    return FrequencyBlocks(kernel, N, problem.n_columns, seed)


def _losses(problem: LetarteProblem, protocol: FeatureSweep, run: range) -> tuple[range, np.ndarray]:
    # Block by block, so that the rounding of a loss does not depend on the grouping of blocks.
    blocks = _candidates(problem, protocol)
    return run, np.concatenate([alignment_loss(problem.train.X, problem.train.y, blocks.block(b)) for b in run])


class _Drawn(NamedTuple):
    """What the rows of a method and beta or rho share."""

    waves: _Waves
    gram: _IncrementalGram
    seconds: float
    """Spent on it, for each draw"""


def _fit(problem: LetarteProblem, protocol: FeatureSweep, settings: Row, losses: np.ndarray | None) -> Row:
    """Compute a row of a method and beta or rho. The largest D is always drawn."""
    setting = {name: settings.get(name) for name in ("method", "beta", "rho")}
    drawn = problem.keep("drawn", setting, partial(_draw, problem, protocol, losses, **setting))
    D, start = settings["D"], time.perf_counter()
    path = _svm_path(problem, drawn.waves, drawn.gram, D, protocol.Cs)
    errors = problem.best_errors(path, partial(drawn.waves.features, D), protocol.Cs)
    seconds = time.perf_counter() - start + drawn.seconds * D
    return problem.row(errors=errors, seconds=seconds, **settings)


def _draw(problem: LetarteProblem, protocol: FeatureSweep, losses, method: str, beta, rho) -> _Drawn:
    start, largest = time.perf_counter(), max(protocol.n_features)
    sampled = _sample(problem, method, beta if rho is None else rho, largest, losses)
    waves = _Waves(problem, _candidates(problem, protocol), sampled)
    return _Drawn(waves, _IncrementalGram(waves), (time.perf_counter() - start) / largest)


def _sample(problem: LetarteProblem, method: str, value: float | None, D: int, losses) -> np.ndarray:
    """Draw candidates by a method for the largest D; smaller D use the first of them."""
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
    """Fit the linear SVMs of every C on the first D draws; return coefficients and intercepts."""
    features = waves.features(D, "train")
    if not gram_pays(features.shape[0], features.shape[1], features.dtype):
        return linear_svm_path(features, problem.train.y, Cs, form="primal")
    return linear_svm_path(features, problem.train.y, Cs, form="gram", gram=gram.of(D))


class _IncrementalGram:
    """Gram matrix of the training rows, extended as D grows.

    The sum over whole blocks of draws is kept; the rest, less than a block, is added for each D. So the result for a D
    does not depend on the other values of D.
    """

    def __init__(self, waves: _Waves):
        self._waves, self._sum, self._draws = waves, None, 0

    def of(self, D: int) -> np.ndarray:
        """Return the lower triangle of the Gram matrix of the first D draws; a decreasing D takes longer."""
        if self._draws > D:
            self._sum, self._draws = None, 0
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
    factor sqrt(c/D) gives the same inner products between rows, hence the same SVM. So the distinct candidates, in
    order of first appearance, are columns enough. Fewer draws use the first columns.

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
        # Waves that do not fit in memory are computed from their frequencies when needed.
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
        """Return training features of some draws, unnormalised: inner products sum cosines over the draws."""
        count = np.bincount(self._column[first:end])
        columns = np.flatnonzero(count)
        return self._scaled(columns, np.sqrt(count[columns]), "train", slice(None))

    def features(self, D: int, part: str, rows: slice = slice(None)) -> np.ndarray:
        """Return features of rows of a part from the first D draws, (rows, 2 k): all cosines, then all sines."""
        count = np.bincount(self._column[:D])
        return self._scaled(np.arange(len(count)), np.sqrt(count / D), part, rows)

    def _scaled(self, columns: np.ndarray, scale: np.ndarray, part: str, rows: slice) -> np.ndarray:
        """Return cosines, then sines, of some columns in ascending order, each times its factor."""
        held = np.searchsorted(columns, self._held)
        n = len(range(*rows.indices(self._points[part].shape[0])))
        features = np.empty((n, 2, len(columns)), self._dtype)
        scale = scale.astype(self._dtype)
        run = slice(columns[0], columns[0] + held)  # a view, if possible
        some = run if held and columns[held - 1] < run.stop else columns[:held]
        np.multiply(self._waves[part][:, rows, some].swapaxes(0, 1), scale[:held], out=features[:, :, :held])
        for start in range(0, n if held < len(columns) else 0, _ROWS_BEYOND):
            these = slice(start, start + _ROWS_BEYOND)
            angle = phases(self._points[part][rows][these], self._beyond[columns[held:] - self._held])
            for i, function in enumerate((np.cos, np.sin)):
                np.multiply(function(angle), scale[held:], out=features[these, i, held:], casting="same_kind")
        return features.reshape(n, 2 * len(columns))
