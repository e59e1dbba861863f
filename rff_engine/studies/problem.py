"""What all rows of a run share: the rows of a split, seeds by purpose, the kernel and the columns of a result.

`letarte_problem` and `li_problem` hold the problem of each paper. Nothing here depends on the methods, or on where a
row is computed.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import version
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar
from uuid import uuid4

import numpy as np
import scipy.sparse as sp

import rff_engine

from ..kernels import GaussianKernel

Row: TypeAlias = dict[str, Any]
"""Values of a result row by column, or some of them: text, numbers, and None for what does not apply."""
_Value = TypeVar("_Value")

SETTINGS = ("method", "landmarks", "share", "D", "beta", "rho")
"""The columns that distinguish a row from the others of a problem"""
MEASURED = ("gamma", "C", "train_error", "valid_error", "test_error", "seconds", "note")
"""The columns that are computed"""
COLUMNS = ("run", "dataset", "split", "repeat", *SETTINGS, *MEASURED)
"""Of a result row"""


class Work(Protocol):
    """What a study asks of the run: which rows it still needs, and calls that may go to other processes."""

    def known(self, settings: Row) -> Row | None:
        """Return the row of these settings if this run or another one has computed it."""
        ...

    def each(self, calls: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield the results of calls (function, argument, ...), in any order."""
        ...

    def in_turn(self, items: Iterable[_Value]) -> Iterator[_Value]:
        """Yield the items in an order in which two simultaneous runs seldom meet."""
        ...


Report: TypeAlias = tuple[str, Row | None]
"""What a study has just done, in words, and the new row, if it is one"""


class Part(NamedTuple):
    """Points of shape (n, d) and their targets or coded labels, (n,)."""

    X: np.ndarray | sp.csr_array
    y: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A checked split with a Gaussian kernel, the labels of its result rows and one seed for all random draws.

    It can be pickled. A process that receives the same problem again uses its first copy, with all that it keeps.
    """

    train: Part
    test: Part
    labels: Row
    """Values of every result row: run, dataset, split and repeat"""
    seed: int
    notes: tuple[str, ...] = ()
    """Part of every result row"""
    gamma: float | None = None
    """Of the kernel; ``None`` before it is chosen"""
    data: str = ""
    """Digest of the split that it was made from"""
    kept: dict[str, tuple[object, Any]] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Values that several rows need, see `keep`; they stay in this process"""
    _id: str = field(default_factory=lambda: uuid4().hex, init=False, repr=False, compare=False)

    purposes: ClassVar[tuple[str, ...]] = ()
    """Of random draws. Each has its own child seed: a method draws the same whichever other methods run. New ones go
    to the end, since the position of a purpose is part of its seed."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (type(self), {**self.__dict__, "kept": {}})

    def keep(self, name: str, of: object, make: Callable[[], _Value]) -> _Value:
        """Return `make()`, computed once in this process while `of` stays equal; keep the last one."""
        if name not in self.kept or self.kept[name][0] != of:
            self.kept.pop(name, None)  # free its memory before the next one is made
            self.kept[name] = of, make()
        return self.kept[name][1]

    @staticmethod
    def digest(split: Any) -> str:
        """Digest what a problem takes from a split."""
        raise NotImplementedError

    @property
    def kernel(self) -> GaussianKernel:
        if self.gamma is None:
            raise ValueError("gamma is not chosen yet; without it there is no kernel.")
        return GaussianKernel.from_gamma(self.gamma)

    @property
    def n_columns(self) -> int:
        return self.train.X.shape[1]

    def child_seed(self, purpose: str, *key: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed, spawn_key=(self.purposes.index(purpose), *key))

    def rng(self, purpose: str, *key: int) -> np.random.Generator:
        return np.random.default_rng(self.child_seed(purpose, *key))

    def draw_rows(self, purpose: str, n: int, max_rows: int | None, *key: int) -> np.ndarray | slice:
        """Return sorted indices of `max_rows` random rows out of n, or a slice of all n if that is not fewer."""
        if max_rows is None or n <= max_rows:
            return slice(None)
        return np.sort(self.rng(purpose, *key).choice(n, size=max_rows, replace=False))

    def row(self, method: str, errors: Row, seconds: float, notes: tuple[str, ...] = (), **fields: Any) -> Row:
        """Make the result row of a method, with the keys `COLUMNS` and "made_with"; what does not apply is None."""
        values = {**self.labels, "method": method, "gamma": self.gamma, "note": "; ".join((*self.notes, *notes))}
        values |= {**fields, **errors, "seconds": seconds, "made_with": made_with()}
        return {column: values.get(column) for column in (*COLUMNS, "made_with")}


_last: Problem | None = None


def _received(kind: type[Problem], state: dict[str, Any]) -> Problem:
    """Make the problem that another process has sent."""
    global _last
    if _last is None or _last._id != state["_id"]:
        _last = object.__new__(kind)
        _last.__dict__.update(state)
    return _last


@lru_cache(maxsize=1)
def made_with() -> str:
    """Return versions of the engine, of Python and of the libraries in use, and the machine."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    engine = f"rff_engine {rff_engine.__version__}, Python {platform.python_version()}"
    return f"{engine}, {libraries}; {platform.system()} {platform.machine()}"


def update_digest(digest: Any, arrays: Iterable[np.ndarray]) -> None:
    """Feed the shape, type and bytes of each array to a hash object."""
    for values in arrays:
        values = np.ascontiguousarray(values)
        digest.update(f"{values.shape} {values.dtype.str}".encode())
        digest.update(values.data)


def wave_seconds(n: int, n_frequencies: int, d: int) -> float:
    """Estimate the time of n x D phases in d dimensions with their sines and cosines."""
    return 0.001 + n * n_frequencies * (20e-9 + d * 2e-11)
