"""Results that all sessions share, in one cache that is bounded in bytes: the one not asked for longest goes first.

Sessions that ask for the same result at the same time have it computed once; errors are not kept, and neither is a
result larger than the whole cache.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from types import FunctionType, ModuleType
from typing import TypeVar

import numpy as np
import pandas as pd
from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from pages.components.limits import LIMITS

Function = TypeVar("Function", bound=Callable)


def n_bytes(value) -> int:
    """What a value takes in memory with all that it refers to; what it refers to twice is counted once."""
    total, seen, left = 0, set(), [value]
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, (type, FunctionType, ModuleType)):
            continue
        seen.add(id(one))
        total += sys.getsizeof(one)
        if isinstance(one, np.ndarray):
            left.append(one.base)  # a part of an array keeps the whole of it
            if one.dtype.hasobject:
                left.extend(one.flat)
        elif isinstance(one, dict):
            left += [*one, *one.values()]
        elif isinstance(one, (list, tuple, set, frozenset, deque)):
            left += one
        elif hasattr(one, "__dict__") and not isinstance(one, (pd.DataFrame, pd.Series)):  # these count their own
            left.append(vars(one))
    return total


_results = LRUCache(1_000_000 * LIMITS.cache_megabytes, getsizeof=n_bytes)
_computed = threading.Condition()


def kept(function: Function) -> Function:
    """Keep what a function returns for its arguments, which must be hashable; nobody may write to it."""
    key = partial(hashkey, function.__module__, function.__qualname__)
    return cached(_results, key, condition=_computed)(function)
