"""One cache of results for all sessions, bounded in bytes; the least recently used result is dropped first.

Sessions that need the same result at the same time compute it once; those that wait free their slots. Errors are not
cached, nor is a result larger than the whole cache.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial, wraps
from types import FunctionType, ModuleType
from typing import TypeVar

import numpy as np
import pandas as pd
from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from pages.components.server.limits import LIMITS
from pages.components.server.queues import release_slot

Function = TypeVar("Function", bound=Callable)


def n_bytes(value) -> int:
    """Bytes in memory of a value with all that it refers to, each object counted once.

    Unlike ``pympler.asizeof``: a view of an array counts its whole base, and a pandas object counts itself.
    """
    total, seen, left = 0, set(), [value]
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, (type, FunctionType, ModuleType)):
            continue
        seen.add(id(one))
        total += sys.getsizeof(one)
        if isinstance(one, np.ndarray):
            left.append(one.base)  # a view keeps its base in memory
            if one.dtype.hasobject:
                left.extend(one.flat)
        elif isinstance(one, dict):
            left += [*one, *one.values()]
        elif isinstance(one, (list, tuple, set, frozenset, deque)):
            left += one
        elif hasattr(one, "__dict__") and not isinstance(
            one, (pd.DataFrame, pd.Series)
        ):  # `getsizeof` counts their data
            left.append(vars(one))
    return total


class _Computed(threading.Condition):
    """Notified when a result is known; a script that waits for it leaves its slot to others."""

    def wait(self, timeout: float | None = None) -> bool:
        with release_slot():
            return super().wait(timeout)


_results = LRUCache(1_000_000 * LIMITS.cache_megabytes, getsizeof=n_bytes)
_computed = _Computed()


def shared_cache(function: Function) -> Function:
    """Cache what a function returns for its arguments, which must be hashable; its arrays become read-only."""
    key = partial(hashkey, function.__module__, function.__qualname__)

    @wraps(function)
    def made(*arguments, **named):
        return _read_only(function(*arguments, **named))

    return cached(_results, key, condition=_computed)(made)


def _read_only(value):
    """Make all arrays inside a result read-only: sessions share them."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif is_dataclass(value):
        for field in fields(value):
            _read_only(getattr(value, field.name))
    elif isinstance(value, dict):
        for part in value.values():
            _read_only(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            _read_only(part)
    return value
