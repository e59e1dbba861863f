"""Results in memory: one computation for all visitors, within a limit of bytes, and none of a reader's own points."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

import numpy as np
import pytest
import streamlit as st

from pages.components.controls import own_points
from pages.components.controls.toy_data import ToyData
from pages.components.results import learning
from pages.components.server import cache
from pages.components.server.cache import shared_cache

from .sessions import opened

OWN = own_points.encode(np.array([[0.5, 1.0], [-1.0, 0.25]]), np.array([0, 1]))


@dataclass(frozen=True)
class Twin:
    """Another description with the fields of a pseudo-posterior."""

    beta: float


@pytest.fixture(autouse=True)
def emptied():
    cache._of_all.clear()


def test_functions_arguments_and_kinds_of_descriptions_have_results_of_their_own():
    @shared_cache
    def plus(a, b=1):
        return a + b

    @shared_cache
    def kind(one):
        return type(one[0]).__name__

    assert [plus(2, 3), plus(2), plus(3, 2), plus(2, b=4)] == [5, 3, 5, 6]
    assert [kind((Twin(1.0),)), kind((learning.PseudoPosterior(1.0),))] == ["Twin", "PseudoPosterior"]


def test_a_result_is_computed_once_and_each_caller_may_change_his_copy():
    begun, go, calls, results = threading.Event(), threading.Event(), [], []

    @shared_cache
    def slow(x):
        calls.append(x)
        begun.set()
        assert go.wait(30)
        return np.zeros(10)

    threads = [threading.Thread(target=lambda: results.append(slow("slow"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert begun.wait(30) and not results
    go.set()
    for thread in threads:
        thread.join(30)
    results[0][:] = 7
    assert calls == ["slow"] and not slow("slow").any() and len(results) == 4


def test_errors_are_not_cached():
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


def test_results_stay_below_the_limit_and_the_least_recently_used_go(monkeypatch):
    def make(key, _make):
        return _make()

    monkeypatch.setattr(cache, "_of_all", st.cache_data(max_size=1_000_000, show_spinner=False)(make))
    made = []

    @shared_cache
    def result(i):
        made.append(i)
        return np.full(2000, float(i))

    for i in range(1, 200):
        assert result(i)[0] == i and result(0)[0] == 0  # used again and again
    assert made.count(0) == 1
    result(199), result(1)
    assert made[-1] == 1 and made.count(199) == 1


def test_results_of_points_drawn_by_hand_stay_in_their_session(monkeypatch):
    kept = []
    monkeypatch.setattr(cache, "_of_all", lambda key, make: kept.append(key) or make())

    @shared_cache
    def seen(*descriptions):
        return len(descriptions)

    toy = ToyData("moons", 20, 0.1, 0)
    own = replace(toy, points=OWN)
    settings = learning.CandidateSettings(toy, 1.0, 10)
    for descriptions in ((own,), (replace(settings, data=own),), (settings, (replace(settings, data=own),))):
        seen(*descriptions)
        assert not kept
    seen(settings)
    assert len(kept) == 1


@pytest.mark.slow
def test_a_rerun_and_another_session_recompute_nothing(monkeypatch):
    made, compute = [], cache.partial
    monkeypatch.setattr(
        cache,
        "partial",
        lambda function, *rest, **named: (
            lambda: (made.append(function.__qualname__), compute(function, *rest, **named)())[1]
        ),
    )
    app = opened("landmarks")
    assert {"toy_sample", "landmark_problem", "live_landmarks"} <= set(made)
    known = len(made)
    assert not app.run().exception and not opened("landmarks").exception
    assert len(made) == known
