"""Validation of the arguments of public functions.

Each check returns the argument in the form the engine computes with, or raises a ``ValueError`` of one
sentence that names the value and what is allowed. The estimators use scikit-learn's own validation instead.
Arrays are checked once, where they come in: public functions of points check them and call a private function, as the
estimators do.
"""

from __future__ import annotations

import math
import numbers
import os
import reprlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

LARGEST = 1e100
"""Limit of the size of inputs: long sums of their squares are far from overflow."""
ROUNDING = 1e-5
"""How far computed numbers, such as sums in float32, may leave the range that they have in theory."""
_LARGEST_SCALE = 1e50
# Floats hold every whole number up to this one.
_LARGEST_COUNT = 2**53
_SMALL_ARRAY = 2**26  # bytes; below it nobody asks the system
_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 100


def shown(value) -> str:
    """Represent any value for a message: one line, shortened if it is long."""
    return " ".join(_REPR.repr(value).split())


def largest_size(values: np.ndarray) -> float:
    """Return the largest size of the numbers in an array, NaN if any is."""
    return float(np.maximum(values.max(), -values.min())) if values.size else 0.0


def check_size(values: np.ndarray, name: str, largest: float = LARGEST) -> None:
    """Refuse NaN, infinity, and numbers above `largest` in size."""
    size = largest_size(values)
    if size <= largest:
        return
    if math.isfinite(size):
        raise ValueError(f"{name} reaches {size:.3g} in size; every value must be at most {largest:g} in size.")
    raise ValueError(f"{name} contains NaN or infinity; every value must be finite.")


def check_real(values, name: str) -> None:
    """Refuse complex numbers, because NumPy would drop their imaginary parts; `values` has a dtype."""
    if values.dtype.kind == "c":
        entries = values.data if sp.issparse(values) else values.ravel()
        example = f", such as {shown(entries[0].item())}" if entries.size else ""
        raise ValueError(f"{name} holds complex numbers{example}; real numbers are needed.")


def canonical(X, name: str = "X") -> Any:
    """Return a sparse matrix as CSR without duplicates or zeros, with sorted indices of 32 bits if they fit.

    `X` never changes. If it has this form already, the result shares its arrays. Entries that SciPy adds up are several
    numbers in `X.data`. k-means takes no indices of 64 bits.
    """
    if X.ndim != 2:
        raise ValueError(f"{name} has shape {X.shape}; two dimensions, (n, d), are needed.")
    if X.format in ("csr", "csc", "bsr"):  # SciPy does not check indices, and trusts an old result that they are sorted
        X = type(X)((X.data, X.indices, X.indptr), shape=X.shape)
        try:
            X.check_format()
        except ValueError as error:
            raise ValueError(f"{name} is not a valid sparse matrix; its {error}.") from None
    X = X.tocsr()
    index = np.int32 if max(X.nnz, *X.shape) <= np.iinfo(np.int32).max else np.int64
    parts = X.data, X.indices.astype(index, copy=False), X.indptr.astype(index, copy=False)
    X = type(X)(parts, shape=X.shape)
    if not (X.has_canonical_format and X.data.all()):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X


def as_points(X, name: str = "X", n_features: int | None = None, dense: bool = False) -> Any:
    """Return `X` as (n, d) array or, unless `dense`, `canonical` CSR matrix of float32 or float64, up to `LARGEST`."""
    if sp.issparse(X) and not dense:
        X = canonical(X, name)
        check_real(X, name)
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        values = X.data
    else:
        X = values = as_floats(X, name, f"{name} must be numeric, with shape (n, d)")
    if X.ndim != 2:
        raise ValueError(f"{name} has shape {X.shape}; two dimensions, (n, d), are needed.")
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"{name} has shape {X.shape}; at least one row and one column are needed.")
    if n_features is not None and X.shape[1] != n_features:
        raise ValueError(f"{name} has {X.shape[1]} columns; {n_features} are needed to match the other points.")
    check_size(values, name)
    return X


def as_floats(values, name: str, message: str) -> np.ndarray:
    """Return a float32 or float64 array; numbers of any other kind become float64."""
    if sp.issparse(values):
        raise ValueError(f"{name} is a sparse matrix; a dense array is needed.")
    refuse_other_library(values, name)
    try:
        values = np.asarray(values)
    except ValueError:
        raise ValueError(f"{message}; its rows differ in length.") from None
    check_real(values, name)
    refuse_text(np.atleast_1d(values), name)
    try:
        return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{message}; {error}.") from None


def as_array(values, name: str) -> np.ndarray:
    """Return `values` as an array of NumPy, unless it is sparse or rows differ in length."""
    if sp.issparse(values):
        raise ValueError(f"{name} is a sparse matrix; a dense array is needed.")
    refuse_other_library(values, name)
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} has rows that differ in length; an array is needed.") from None


def refuse_other_library(values, name: str) -> None:
    """Refuse arrays that are not NumPy's: a conversion would lose their library, device or precision."""
    library = type(values).__module__.partition(".")[0]
    if not isinstance(values, np.ndarray | np.generic) and (
        library == "torch" or hasattr(values, "__array_namespace__")
    ):
        raise ValueError(f"{name} is an array of {library}; one of NumPy is needed, such as numpy.asarray({name}).")


def refuse_text(values, name: str) -> None:
    """Refuse numbers written as text, which NumPy and scikit-learn convert; the first row of a table tells."""
    if getattr(getattr(values, "dtype", None), "kind", "O") in "OUS" and hasattr(values, "__getitem__"):
        first = np.asarray(getattr(values, "iloc", values)[:1], dtype=object).ravel()
        text = next((entry for entry in first if isinstance(entry, str | bytes)), None)
        if text is not None:
            raise ValueError(f"{name} holds text, such as {shown(str(text))}; numbers are needed.")


def widened_for_squares(X):
    """Return `X`, in float64 if its values are too large for sums of their squares in float32."""
    values = X.data if sp.issparse(X) else X
    if X.dtype == np.float32 and largest_size(values) > 1e6:
        return X.astype(np.float64)
    return X


def as_coordinates(values, name: str) -> np.ndarray:
    """Return `values` as a float64 array of one dimension, not empty."""
    values = as_numbers(values, name)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"{name} has shape {values.shape}; a list of at least one number is needed.")
    return values


def as_labels(y, n: int | None = None, name: str = "y", min_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes of `y` and, for each row, the index of its class."""
    check_labels_alike(y, name)
    y = as_array(y, name)
    if y.ndim != 1:
        raise ValueError(f"{name} has shape {y.shape}; one dimension, (n,), is needed.")
    if n is not None and len(y) != n:
        raise ValueError(f"{name} has {len(y)} labels for {n} rows; one label a row is needed.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"{name} contains NaN or infinity; every label must be finite.")
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:
        raise ValueError(
            f"{name} holds labels of type {type(y[0]).__name__}, which cannot be sorted; numbers or text are needed."
        ) from None
    if len(classes) < min_classes:
        held = f"only the class {shown(classes.tolist()[0])}" if len(classes) else "no label"
        raise ValueError(f"{name} holds {held}; at least {min_classes} classes are needed.")
    return classes, codes


def check_labels_alike(y, name: str = "y") -> None:
    """Refuse complex labels, and labels that mix numbers with text.

    NumPy turns a list of both into text and cannot sort an array of both.
    """
    refuse_other_library(y, name)
    labels = y if isinstance(y, list | tuple) else np.asarray(y)
    if isinstance(labels, np.ndarray) and (labels.dtype != object or labels.ndim != 1):
        check_real(labels, name)
        return
    of_kind = {}
    for kind, label in {type(label): label for label in labels}.items():
        if issubclass(kind, complex | np.complexfloating):
            check_real(np.asarray(label), name)
        kind = numbers.Number if issubclass(kind, numbers.Number | np.bool_) else kind
        of_kind[str if issubclass(kind, str) else kind] = label
    if len(of_kind) > 1:
        one, other = [label.item() if isinstance(label, np.generic) else label for label in of_kind.values()][:2]
        raise ValueError(
            f"{name} holds labels of different types, such as {shown(one)} and {shown(other)};"
            " all must be numbers, or all text."
        )


def as_numbers(values, name: str, largest: float = LARGEST) -> np.ndarray:
    """Return `values` as a float64 array, none above `largest` in size."""
    values = as_floats(values, name, f"{name} must be an array of numbers").astype(np.float64, copy=False)
    check_size(values, name, largest)
    return values


def as_sample_weight(sample_weight, n: int) -> np.ndarray | None:
    """Return weights of n rows as float64, each at least 0 and not all 0; `None` if no weights are given."""
    if sample_weight is None:
        return None
    weights = as_numbers(sample_weight, "sample_weight")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; ({n},), one number a row, is needed.")
    if weights.min() < 0:
        raise ValueError(f"sample_weight holds {weights.min():.3g}; numbers of at least 0 are needed.")
    if not (total := float(weights.sum())) >= 1e-100:
        raise ValueError(f"sample_weight sums to {total:.3g}, zero or close to it; at least 1e-100 is needed.")
    return weights


def as_losses(loss, name: str = "loss", largest: float = LARGEST) -> np.ndarray:
    """Return `loss` as a float64 array with at least one entry, none above `largest` in size."""
    loss = as_numbers(loss, name, largest)
    if loss.ndim == 0 or loss.size == 0:
        raise ValueError(f"{name} has shape {loss.shape}; at least one value on the last axis is needed.")
    return loss


def as_within(values, name: str, low: Any = 0.0, high: Any = math.inf, fits: str = "") -> Any:
    """Clip `values` to [low, high] as float64; raise if one is further outside than `ROUNDING`.

    The limits may be arrays that follow from other arguments; `fits` names these in the message.
    """
    values = as_floats(values, name, f"{name} must be a number or an array of numbers").astype(np.float64, copy=False)
    broadcast, least, most = np.broadcast_arrays(values, low, high)
    bad = ~(np.isfinite(broadcast) & (broadcast >= least - ROUNDING) & (broadcast <= most + ROUNDING))
    if bad.any():
        at = np.unravel_index(int(bad.argmax()), bad.shape)
        finite = f"a finite number of at least {least[at]:g}"
        allowed = f"a number between {least[at]:g} and {most[at]:g}" if math.isfinite(most[at]) else finite
        raise ValueError(f"{name} is {broadcast[at]:g}; {allowed} is needed{fits and f' to fit {fits}'}.")
    return np.clip(values, low, high)[()]


def as_distribution(Q, name: str = "Q") -> np.ndarray:
    """Return `Q` as float64 weights, nonnegative and summing to 1 on the last axis."""
    Q = as_losses(Q, name)
    if Q.min() < -ROUNDING:
        raise ValueError(f"{name} has a weight of {Q.min():.3g}; weights must be nonnegative.")
    Q = np.maximum(Q, 0.0)
    total = Q.sum(axis=-1)
    worst = float(total.flat[np.argmax(np.abs(total - 1))])
    if abs(worst - 1) > ROUNDING:
        raise ValueError(f"{name} sums to {worst:.6g} on its last axis; the sum must be 1.")
    return Q


def _number(value, name: str, allowed: str) -> float:
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, numbers.Real) else float(value)
    except OverflowError:  # a whole number of more than 308 digits
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} is {shown(value)}; {allowed} is needed.")
    return number


def check_positive(value, name: str) -> float:
    number = _number(value, name, "a finite number above 0")
    if number <= 0:
        raise ValueError(f"{name} is {shown(value)}; a finite number above 0 is needed.")
    return number


def check_nonnegative(value, name: str) -> float:
    number = _number(value, name, "a finite number of at least 0")
    if number < 0:
        raise ValueError(f"{name} is {shown(value)}; a finite number of at least 0 is needed.")
    return number


def check_interval(value, name: str, low: float, high: float = math.inf) -> float:
    """Check a finite number with low < value <= high."""
    allowed = f"a finite number above {low:g}" + ("" if math.isinf(high) else f" and at most {high:g}")
    number = _number(value, name, allowed)
    if not low < number <= high:
        raise ValueError(f"{name} is {shown(value)}; {allowed} is needed.")
    return number


def check_range(value, name: str, low: float, high: float) -> float:
    """Check a number with low <= value <= high."""
    allowed = f"a number between {low:g} and {high:g}"
    number = _number(value, name, allowed)
    if not low <= number <= high:
        raise ValueError(f"{name} is {shown(value)}; {allowed} is needed.")
    return number


def check_scale(value, name: str) -> float:
    """Check a number above 0 such that neither its square nor the square of its inverse overflows."""
    return check_range(check_positive(value, name), name, 1 / _LARGEST_SCALE, _LARGEST_SCALE)


def check_probability(value, name: str) -> float:
    number = _number(value, name, "a probability strictly between 0 and 1")
    if not 0 < number < 1:
        raise ValueError(f"{name} is {shown(value)}; a probability strictly between 0 and 1 is needed.")
    return number


def check_count(value, name: str, low: int = 1, high: float = _LARGEST_COUNT) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < low:
        raise ValueError(f"{name} is {shown(value)}; a whole number of at least {low} is needed.")
    if int(value) > high:
        raise ValueError(f"{name} is {shown(value)}; a whole number of at most {high} is needed.")
    return int(value)


def check_fits(count: int, asked: str) -> None:
    """Refuse a size that takes more memory than is free: the system might grant it and end the process later.

    `count` is a number of floats of 8 bytes. `asked` says what takes them, such as "n_components is 1000".
    """
    needed = 8 * int(count)
    if needed > _SMALL_ARRAY and needed > (there := free_memory()):
        raise ValueError(
            f"{asked}, which takes {needed / 2**30:,.1f} GiB of memory; {there / 2**30:,.1f} GiB are free."
        )


def free_memory() -> float:
    """Return the bytes that this process may still take: by Linux, else of the machine; infinite if unknown."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        try:
            free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, ValueError, OSError):
            free = 0
    try:  # the limit of a container
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
    except OSError:
        limit = "max"
    return min(free if free > 0 else math.inf, math.inf if limit == "max" else int(limit))


def check_jobs(n_jobs) -> int | None:
    """Check `n_jobs` as in scikit-learn: `None`, a number of threads, or counted back from all, -1."""
    if n_jobs is None or (isinstance(n_jobs, numbers.Integral) and not isinstance(n_jobs, bool) and n_jobs != 0):
        return None if n_jobs is None else int(n_jobs)
    raise ValueError(f"n_jobs is {shown(n_jobs)}; None or a whole number other than 0 is needed.")


def check_choice(value, name: str, allowed) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} is {shown(value)}; it must be one of {', '.join(map(repr, allowed))}.")
    return value


def as_rng(random_state):
    """Return a generator of random numbers, from `None`, a seed, a RandomState or a Generator."""
    if isinstance(random_state, (np.random.Generator, np.random.RandomState)):
        return random_state
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool) and int(random_state) >= 0:
        return np.random.default_rng(int(random_state))
    raise ValueError(
        f"random_state is {shown(random_state)}; None, a whole number of at least 0, or a NumPy generator is needed."
    )


def draw_seed(rng) -> int:
    """Draw a seed from a generator."""
    return int(rng.integers(2**31) if isinstance(rng, np.random.Generator) else rng.randint(2**31))
