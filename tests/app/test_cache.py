"""Results in memory: one computation for all visitors, within a limit of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cachetools import LRUCache

from pages.components.server import cache
from pages.components.server.cache import n_bytes, shared_cache
from pages.components.server.limits import LIMITS

from .sessions import opened


@dataclass(frozen=True)
class Result:
    values: np.ndarray
    name: str = "x"


@pytest.mark.parametrize(
    ("value", "least"),
    [
        (np.zeros(1000), 8000),
        (np.zeros(1000)[:3], 8000),
        (np.zeros((10, 100)).T[5:][:, 2], 8000),
        (Result(np.zeros(1000)), 8000),
        ({"a": [np.zeros(500), (np.ones(1000),)], "b": {"c": b"x" * 3000}}, 15000),
        (sp.random(1000, 1000, 0.01, "csr", random_state=0), 10000 * 12 + 4000),
        (np.array(["a" * 5000, None, b"b" * 4000], dtype=object), 9000),
        ("é" * 3000, 3000),
        (OrderedDict(a=np.zeros(1000)), 8000),
        (pd.DataFrame({"a": np.zeros(1000)}), 8000),
        ([float(i) for i in range(1000)], 1000 * (24 + 8)),
    ],
)
def test_n_bytes_counts_all_that_a_value_holds(value, least):
    assert least <= n_bytes(value) <= 1.05 * least + 1000
    assert n_bytes([value, value, {"again": value}]) < n_bytes(value) + 1000
    assert n_bytes(Result) < 100 and n_bytes(np) < 1000


@pytest.fixture
def megabyte(monkeypatch):
    """A cache of one megabyte, for functions decorated in the test."""
    monkeypatch.setattr(cache, "_results", LRUCache(1_000_000, getsizeof=n_bytes))
    return cache._results


def test_cache_stays_below_its_limit_and_keeps_recent_results(megabyte):
    made = []

    @shared_cache
    def result(i):
        made.append(i)
        return Result(np.full(2000 + 10 * (i % 100), float(i)))

    held = []
    for i in range(1000):
        assert result(i).values[0] == i
        assert result(0).values[0] == 0  # used again and again, so it is not dropped
        held.append(megabyte.currsize)
    assert max(held) <= 1_000_000 and min(held[100:]) > 900_000
    assert made == list(range(1000))
    result(999), result(1)
    assert made == [*range(1000), 1]
    assert sum(n_bytes(value) for value in megabyte.values()) == pytest.approx(megabyte.currsize, rel=1e-3)


def test_a_result_larger_than_the_cache_evicts_nothing(megabyte):
    made = []

    @shared_cache
    def zeros(n):
        made.append(n)
        return np.zeros(n)

    zeros(1000)
    assert len(zeros(200_000)) == len(zeros(200_000)) == 200_000
    zeros(1000)
    assert made == [1000, 200_000, 200_000] and len(megabyte) == 1


def test_cache_distinguishes_functions_and_arguments(megabyte):
    @shared_cache
    def plus(a, b=1):
        return a + b

    @shared_cache
    def times(a, b=1):
        return a * b

    for _ in range(2):
        assert [plus(2, 3), times(2, 3), plus(2), times(2), plus(3, 2), plus(2, b=4)] == [5, 6, 3, 2, 5, 6]


def test_errors_are_not_cached(megabyte):
    calls = []

    @shared_cache
    def picky(x):
        calls.append(x)
        if len(calls) < 3:
            raise ValueError(f"{x} does not fit.")
        return x

    for _ in range(2):
        with pytest.raises(ValueError, match="7 does not fit"):
            picky(7)
    assert picky(7) == picky(7) == 7 and len(calls) == 3


@pytest.mark.parametrize("fails", [False, True])
def test_threads_share_one_computation_and_do_not_wait_for_others(megabyte, fails):
    begun, go, calls, results = threading.Event(), threading.Event(), [], []

    @shared_cache
    def slow(x):
        calls.append(x)
        if x == "slow":
            begun.set()
            assert go.wait(30)
            if fails and len(calls) < 3:
                raise ValueError("It did not work.")
        return np.zeros(10)

    def ask():
        try:
            results.append(slow("slow"))
        except ValueError as error:
            results.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert begun.wait(30)
    slow("another")  # does not wait
    assert not results
    go.set()
    for thread in threads:
        thread.join(30)
    arrays = [one for one in results if isinstance(one, np.ndarray)]
    assert len(results) == 4 and len({id(one) for one in arrays}) == 1
    # If the first fails, only it gets the error: the next one computes again.
    assert len(arrays) == 4 - fails and calls.count("slow") == 1 + fails


def test_cache_has_the_size_of_its_limit():
    assert cache._results.maxsize == 1_000_000 * LIMITS.cache_megabytes


@pytest.mark.slow
def test_a_rerun_and_another_session_recompute_nothing():
    cache._results.clear()  # what is left of other tests would be evicted
    app = opened("landmarks")
    known = dict(cache._results.items())
    functions = {key[1] for key in known}
    assert {"toy_sample", "landmark_problem", "live_landmarks"} <= functions
    assert not app.run().exception and not opened("landmarks").exception
    again = {key: result for key, result in cache._results.items() if key[1] in functions}
    assert again.keys() == known.keys() and all(again[key] is known[key] for key in known)
    assert not any(known[key].X.flags.writeable for key in known if key[1] == "toy_sample")
