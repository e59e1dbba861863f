"""Results in memory: shared by all visitors within a limit of bytes, and none of a reader's own points."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from datasets.points import encode_points
from datasets.toy_data import ToyData
from pages.bounds.certificates.compute import CertificateSettings
from pages.kernel.learn import compute as learning
from pages.shared.server import cache
from pages.shared.server.cache import shared_cache

from .sessions import opened

OWN = encode_points(np.array([[0.5, 1.0], [-1.0, 0.25]]), np.array([0, 1]))


@dataclass(frozen=True)
class Twin:
    """Another description with the fields of a sample."""

    name: str
    n: int
    noise: float
    seed: int
    points: str = ""


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
    toy_sample = shared_cache(ToyData.sample)
    sample = toy_sample(ToyData("moons", 20, 0.1, 0))
    sample.X[:] = 7  # a copy of the caller's own
    assert toy_sample(ToyData("moons", 20, 0.1, 0)).X.std() > 0
    assert [kind((made("moons", 20, 0.1, 0),)) for made in (Twin, ToyData)] == ["Twin", "ToyData"]


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
    seen(settings, settings)
    seen(settings, learning.CandidateSettings(ToyData("".join("moons"), 20, 0.1, 0), 1.0, 10))
    assert kept[1] == kept[2]  # equal, though made of other objects
    seen(CertificateSettings(toy, 1.0, 1.0, 1, 0.5, 0.05))  # its `points` are drawn from a seed
    assert len(kept) == 4


@pytest.mark.slow
def test_a_rerun_and_another_session_recompute_nothing(monkeypatch):
    made, compute = [], cache.partial
    monkeypatch.setattr(
        cache,
        "partial",
        lambda function, *rest, **named: (
            lambda: (
                made.append(f"{function.__module__}.{function.__qualname__}"),
                compute(function, *rest, **named)(),
            )[1]
        ),
    )
    app = opened("landmarks")
    own = {name for name in made if name.startswith("pages.landmarks.")}
    assert any(name.endswith(".landmark_problem") for name in own)
    made.clear()
    assert not app.run().exception and not opened("landmarks").exception
    assert not own & set(made)  # the papers' page of another test may still read ahead
