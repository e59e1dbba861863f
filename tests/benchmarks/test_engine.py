"""The benchmark of the engine: references, peak memory, stored results and the table in docs/performance.md."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.engine import references, table
from benchmarks.engine.growth import slope
from benchmarks.engine.measure import Point, Result, Target, peak_memory, race
from tests import naive

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9, 3)), np.array([1.0, -1, -1, 1, 1, 1, -1, 1, -1])
    indices = np.array([2, 5])
    return X, y, indices, rng.normal(size=(2, 4, 3))


def test_reference_losses_follow_the_definition(problem, monkeypatch):
    X, y, _, (omega, _) = problem
    right = naive.alignment_loss(X, y, omega)
    np.testing.assert_allclose(references.alignment_loss(X, y, omega), right, rtol=1e-12)
    monkeypatch.setattr(references, "available_memory", lambda: 16 * len(X) * 6)  # room for three frequencies
    np.testing.assert_allclose(references.alignment_loss(X, y, omega), right, rtol=1e-12)


def test_reference_landmarks_follow_the_definition(problem):
    X, y, indices, omega = problem
    landmarks, labels = X[indices], y[indices]
    losses = references.landmark_alignment_loss(X, y, landmarks, labels, omega)
    right = naive.landmark_alignment_loss(X, y, landmarks, labels, omega, indices)
    np.testing.assert_allclose(losses, right, rtol=1e-12)
    Q = np.array([[0.1, 0.2, 0.3, 0.4], [1, 0, 0, 0]])
    similarity = references.landmark_similarity(X, landmarks, omega, Q)
    np.testing.assert_allclose(similarity, naive.landmark_similarity(X, landmarks, omega, Q), atol=1e-12)


def test_reference_svms_minimize_the_objective(problem):
    X, y, *_ = problem
    C = np.array([0.1, 1.0])
    coef, intercept = references.linear_svms(X, y, C)
    least = references.svm_objective(X, y, C, coef, intercept)
    by_hand = 0.5 * (coef[0] @ coef[0] + intercept[0] ** 2)
    by_hand += 0.1 * sum(max(0, 1 - label * (coef[0] @ x + intercept[0])) ** 2 for x, label in zip(X, y, strict=True))
    assert least[0] == pytest.approx(by_hand)
    for change in np.random.default_rng(1).normal(size=(20, 3)):
        assert (references.svm_objective(X, y, C, coef + 0.1 * change, intercept) > least).all()


def test_floor_accepts_uneven_blocks(problem):
    rng = np.random.default_rng(0)
    for n, N in ((3, 5), (513, 700), (2100, 40)):
        references.wave_floor(rng.normal(size=(n, 4)), rng.normal(size=(N, 4)))


@pytest.mark.slow
def test_peak_memory_is_that_of_the_first_contestant():
    def allocate(megabytes):
        return np.ones(megabytes * 10**6 // 8).sum()

    with peak_memory() as memory:
        pass
    if not memory:
        pytest.skip("the kernel cannot reset peak memory")
    result, _ = race({"ours": lambda: allocate(30), "reference": lambda: allocate(150)}, "", repeats=2)
    assert 27e6 < result.peak < 80e6
    result, _ = race({"ours": lambda: allocate(30)}, "", repeats=1)  # an earlier contestant does not count
    assert 27e6 < result.peak < 80e6


@pytest.mark.slow
def test_contestants_alternate_within_their_budget():
    turns = []
    contestants = {name: lambda name=name: turns.append(name) or name for name in ("ours", "floor")}
    result, answers = race(contestants, "", repeats=2)
    assert turns == ["ours", "floor"] * 2 and answers == {"ours": "ours", "floor": "floor"}
    result, _ = race(contestants, "", repeats=3, budget=0)
    assert [len(runs) for runs in result.seconds.values()] == [1, 1]


def a_result():
    return Result(
        "n = 5",
        seconds={"ours": [1.0, 3.0, 2.0], "reference": [8.0, 10.0], "floor": [1.0, 1.0, 1.5]},
        peak=3 * 10**6,
        facts={"relative error": 1e-8},
        targets=[Target("times faster", 4.5, 4, at_least=True), Target("times the floor", 2.0, 1.5)],
        curve=[Point(10, 0.5, 10), Point(100, 5.0, None), Point(1000, 50.0, 12)],
    )


def test_a_stored_result_is_read_unchanged():
    result = a_result()
    assert Result.of(json.loads(json.dumps(result.stored()))) == result


def test_a_row_holds_medians_and_their_ratios():
    assert table.row("Losses", a_result()) == "| Losses | n = 5 | 2.00 s | 9.00 s | 4.5× | 2.00× | 3 MB |"
    assert table.row("Run", Result("n = 5", {"ours": [700.0]})) == "| Run | n = 5 | 12 min | – | – | – | – |"


def test_a_target_is_a_lower_or_an_upper_limit():
    assert [target.met for target in a_result().targets] == [True, False]


def test_slope_is_the_exponent_of_a_power_law():
    assert slope(a_result()) == pytest.approx(1)


def test_the_table_is_written_between_its_markers(tmp_path):
    page, (begin, end) = tmp_path / "performance.md", table.MARKERS
    page.write_text(f"# Before\n{begin}\nold\n{end}\nafter\n", encoding="utf-8")
    for text in ("first", "second"):
        table.write(page, text)
        assert page.read_text(encoding="utf-8") == f"# Before\n{begin}\n{text}\n{end}\nafter\n"
    shipped = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    assert shipped.count(begin) == shipped.count(end) == 1


@pytest.mark.parametrize("page", ["no markers", "{end} {begin}", "{begin} {begin} {end}"])
def test_a_page_without_valid_markers_is_not_changed(tmp_path, page):
    path, (begin, end) = tmp_path / "performance.md", table.MARKERS
    path.write_text(page.format(begin=begin, end=end), encoding="utf-8")
    with pytest.raises(ValueError, match="once each"):
        table.write(path, "text")
    assert path.read_text(encoding="utf-8") == page.format(begin=begin, end=end)
