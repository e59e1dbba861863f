"""Lessons are data: they fit their pages, and every number and every right answer is what the engine gives.

Each step has a check, which computes what the step claims as its page does. It returns the numbers that it vouches
for, as they are to be read; a number in a text that is neither among them nor a setting is a failure.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import rff_engine as rff
from pages.components import guide, tours
from pages.components.adaptive_results import adaptive_settings, descent, grid_weights, importance
from pages.components.approximation_results import (
    METHODS,
    approximation_errors,
    approximation_rows,
    approximation_settings,
    curve_counts,
    method_view,
)
from pages.components.bound_results import BOUND_BETAS, BoundSettings, Promise, promised_curves, worst_case
from pages.components.controls import Control, Number, Options, Scale, Switch
from pages.components.kernel_results import FREQUENCY_COUNTS, kernel_errors, kernel_line, kernel_settings
from pages.components.landmark_results import LandmarkSettings, landmark_problem, landmark_view
from pages.components.learning_results import (
    CURVE_COUNTS,
    CandidateSettings,
    PriorWeights,
    PseudoPosterior,
    candidate_weights,
    candidates,
    feature_errors_at,
    frequency_plane,
)
from pages.components.toy_controls import BETA, toy_data
from pages.components.toy_data import toy_sample
from rff_engine.experiments import toy_adaptive, toy_learning
from rff_engine.experiments.plane import cell_centres, plane_points

PAGES = Path(__file__).parents[2] / "pages"
STEPS = [(lesson, k) for lesson in tours.LESSONS for k in range(1, len(lesson.steps) + 1)]
NAMES = [f"{lesson.key} {k}" for lesson, k in STEPS]


def controls_of(page: str) -> dict[str, Control]:
    """The controls that a page lists; what it does with them is not run."""
    head = (PAGES / f"{page}.py").read_text(encoding="utf-8").split("\ntour = ")[0]
    names: dict = {"__name__": f"pages.{page}"}
    exec(compile(head, f"{page}.py", "exec"), names)
    return {control.key: control for control in names["CONTROLS"] if isinstance(control, Control)}


def values_at(lesson: tours.Lesson, k: int, answered: bool) -> SimpleNamespace:
    """The values of all controls of the page, before a step's answer or after it."""
    defaults = {key: control.default for key, control in controls_of(lesson.page).items()}
    return SimpleNamespace(**(defaults | (lesson.after(k) if answered else lesson.before(k))))


# --- the data -----------------------------------------------------------------------------------------------------


def test_each_lesson_is_known_by_its_key():
    assert len({lesson.key for lesson in tours.LESSONS}) == len(tours.LESSONS) > 0
    assert all(re.fullmatch(r"[a-z-]+", lesson.key) for lesson in tours.LESSONS)


@pytest.mark.parametrize("lesson", tours.LESSONS, ids=lambda lesson: lesson.key)
def test_a_lesson_has_a_page_a_promise_and_a_few_steps(lesson):
    assert (PAGES / f"{lesson.page}.py").exists()
    assert f'guide.Tour("{lesson.page}", CONTROLS)' in (PAGES / f"{lesson.page}.py").read_text(encoding="utf-8")
    assert 3 <= len(lesson.steps) <= 5
    assert lesson.know.endswith(".") and lesson.title


@pytest.mark.parametrize(("lesson", "k"), STEPS, ids=NAMES)
def test_a_step_asks_and_moves_something(lesson, k):
    step = lesson.steps[k - 1]
    assert 2 <= len(step.answers) <= 4 and len(set(step.answers)) == len(step.answers)
    assert 0 <= step.right < len(step.answers)
    assert step.look and all(selector.startswith(".") for selector in step.look)
    assert step.question.endswith(("?", "."))
    assert all(len(text) < 330 for text in (step.text, step.question, step.outcome))
    moved = {key for key, value in step.after.items() if lesson.before(k).get(key, object()) != value}
    assert moved == set(step.after) != set()


@pytest.mark.parametrize(("lesson", "k"), STEPS, ids=NAMES)
def test_a_step_sets_controls_of_its_page_to_values_they_allow(lesson, k):
    controls = controls_of(lesson.page)
    for key, value in (lesson.before(k) | lesson.after(k)).items():
        control = controls[key]
        mended, note = control.mend([guide.in_url(value)])
        assert note is None and mended == guide.in_url(value)
        match control:
            case Scale():
                assert value in control.values
            case Number():
                assert isinstance(value, type(control.default))
            case Options():
                assert value in control.options
            case Switch():
                assert isinstance(value, bool)


def test_the_right_answer_is_not_always_at_the_same_place():
    for lesson in tours.LESSONS:
        assert len({step.right for step in lesson.steps}) > 1


# --- the claims ---------------------------------------------------------------------------------------------------


def percent(value: float) -> str:
    return f"{100 * value:.0f} %"


class Kernel:
    def __init__(self, values):
        settings = kernel_settings(values.kernel, values.width, values.nu, values.seed)
        self.line = kernel_line(settings, values.D)
        self.error = kernel_errors(settings)[0]["cos_sin"][FREQUENCY_COUNTS.index(values.D)]
        self.miss = self.line.cos_sin - self.line.exact


def cosines_1(before, after):
    alone, twenty = Kernel(before), Kernel(after)
    assert np.allclose(alone.line.cos_sin, np.cos(alone.line.omega[0] * alone.line.delta))
    assert np.sqrt(np.mean(alone.miss**2)) > 0.5  # nothing like the kernel
    assert np.allclose(twenty.line.cos_sin[twenty.line.delta == 0], 1)
    near = np.abs(twenty.line.delta) < 1
    assert np.abs(twenty.miss[near]).max() < 0.15 < np.abs(twenty.miss[~near]).max() < 0.5  # a bump, and ripples
    return ()


def cosines_2(before, after):
    few, many = Kernel(before).error, Kernel(after).error
    assert 0.45 < many / few < 0.55
    for count in (70, 100):
        assert Kernel(SimpleNamespace(**(vars(before) | {"D": count}))).error / few > 0.6
    assert after.D == 4 * before.D == 200
    return f"{few:.3f}", f"{many:.3f}"


def cosines_3(before, after):
    narrow, wide = Kernel(before).line, Kernel(after).line
    assert np.ptp(wide.omega) < 0.5 * np.ptp(narrow.omega)
    return ()


def cosines_4(before, after):
    assert Kernel(before).line.outside == 0
    assert f"now {Kernel(after).line.outside} of the {after.D}" in step_of("average-of-cosines", 4).outcome
    assert np.abs(Kernel(after).line.omega).max() > np.abs(Kernel(before).line.omega).max()
    return ()


class Landmarks:
    def __init__(self, values):
        settings = LandmarkSettings(toy_data(values), values.sigma, values.D, values.landmarks, values.how)
        self.problem, self.D = landmark_problem(settings), values.D
        view = self.view = landmark_view(settings, values.beta, values.C)
        self.prior, self.learned = view.prior.test_error, view.learned.test_error
        self.kl = rff.kl_divergence(view.Q)
        self.effective = 1 / (view.Q**2).sum(axis=1)
        self.distance = np.sqrt(np.mean((view.learned_maps - view.prior_maps) ** 2))


def moved(values, **changes) -> SimpleNamespace:
    return SimpleNamespace(**(vars(values) | changes))


def prior_1(before, after):
    few, many = Landmarks(before), Landmarks(after)
    assert np.allclose(few.view.Q, 1 / few.D, rtol=0.05)
    assert 0.2 < many.distance / few.distance < 0.3  # about a quarter
    return ()


def prior_2(before, after):
    flat, peaked = Landmarks(before), Landmarks(after)
    assert flat.kl.max() < 0.005 and round(peaked.effective.min()) == 3 and round(peaked.effective.max()) == 6
    heaviest, best = peaked.view.Q.argmax(axis=1), peaked.problem.loss.argmin(axis=1)
    assert (heaviest == best).all()
    slowest = np.linalg.norm(peaked.problem.omega, axis=2).argmin(axis=1)
    assert (heaviest != slowest).all()
    return f"{peaked.kl.min():.2f}", f"{peaked.kl.max():.2f}"


def prior_3(before, after):
    assert np.allclose(Landmarks(after).kl, np.log(20), atol=0.01)
    assert (Landmarks(after).view.Q.max(axis=1) > 0.99).all()
    now = Landmarks(before).kl
    return f"{now.min():.2f}", f"{now.max():.2f}", f"{np.log(20):.2f}"


def prior_4(before, after):
    ends = [Landmarks(before).learned, Landmarks(moved(before, beta=0.001)).learned]
    best = min(BETA.values, key=lambda beta: Landmarks(moved(before, beta=beta)).learned)
    assert 0.5 <= best <= 2
    assert percent(ends[0]) == percent(ends[1])
    return percent(ends[0]), percent(Landmarks(after).learned)


def rbf_1(before, after):
    blind, seeing = Landmarks(before), Landmarks(after)
    assert 0.45 < seeing.learned / seeing.prior < 0.55
    return percent(blind.prior), percent(blind.learned), percent(seeing.learned)


def rbf_2(before, after):
    blind, seeing = Landmarks(before), Landmarks(after)
    assert np.allclose(blind.view.Q, 1 / blind.D, rtol=0.05) and seeing.view.prior_maps.min() >= 0
    p = seeing.problem
    psi = rff.landmark_similarity(p.X, p.landmarks, p.omega, seeing.view.Q)
    own = p.y[:, None] == p.labels
    for column in range(len(p.labels)):
        assert psi[own[:, column], column].mean() > 0.1 and psi[~own[:, column], column].mean() < -0.1
    return ()


def rbf_3(before, after):
    three, eight = Landmarks(before), Landmarks(after)
    assert all(Landmarks(moved(before, landmarks=count)).prior > three.learned for count in range(1, 9))
    return percent(three.learned), percent(three.prior), percent(eight.prior), percent(eight.learned)


def rbf_4(before, after):
    twenty, many = Landmarks(before), Landmarks(after)
    assert many.learned > twenty.learned and 0.09 < many.learned < 0.1  # "Nearly 10 %"
    assert many.distance < twenty.distance and 40 < many.effective.min() < 50 < many.effective.max() < 60
    return percent(twenty.learned), percent(many.prior), "10 %"


class Learning:
    def __init__(self, values):
        data = toy_data(values)
        self.values, self.settings = values, CandidateSettings(data, values.sigma, values.N)
        extent = 3.5 / values.sigma
        self.plane = frequency_plane(data, values.sigma, extent)
        self.points = plane_points(cell_centres(extent, len(self.plane.loss)))
        self.weights = candidate_weights(self.settings, PseudoPosterior(values.beta))
        self.summary = toy_learning.weight_summary(self.weights, values.mu)

    def spots(self) -> np.ndarray:
        """Where the loss is smallest in each quadrant."""
        loss, points = self.plane.loss.ravel(), self.points
        quadrants = [(np.sign(points) == signs).all(axis=1) for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
        return np.array([points[own][loss[own].argmin()] for own in quadrants])

    def error(self, weighting, D=None) -> float:
        return feature_errors_at(self.settings, weighting, self.values.C, D or self.values.D).mean()


def spectrum_1(before, after):
    blobs, board = Learning(before), Learning(after)
    best = blobs.points[blobs.plane.loss.argmin()]
    assert np.linalg.norm(best) < 2
    spots = board.spots()
    assert (np.linalg.norm(spots, axis=1) > 4).all()
    assert np.allclose(np.abs(spots[:, 0] / spots[:, 1]), 1, atol=0.1)  # on the diagonals
    far = np.linalg.norm(board.points[:, None] - spots, axis=2).min(axis=1) > 1.5
    assert board.plane.loss.ravel()[far].min() > 0.45 > board.plane.loss.ravel()[~far].min()
    # The power spectrum: the same constant everywhere.
    sample = toy_sample(board.settings.data)
    n, power = len(sample.y), np.abs(np.exp(1j * board.points[::97] @ sample.X.T) @ sample.y) ** 2
    assert np.ptp(board.plane.loss.ravel()[::97] + power / (2 * n * (n - 1))) < 1e-6
    return ()


def spectrum_2(before, after):
    near, far = (np.linalg.norm(Learning(values).spots(), axis=1) for values in (after, before))
    assert (near < 0.5 * far).all()
    return ()


def spectrum_3(before, after):
    early, late = Learning(before), Learning(after)
    prior, posterior = early.plane.prior, toy_learning.plane_posterior(early.plane, before.beta)
    assert np.corrcoef(prior.ravel(), posterior.ravel())[0, 1] > 0.98  # the same disc
    mass = toy_learning.plane_posterior(late.plane, after.beta).ravel()
    near = np.linalg.norm(late.points[:, None] - late.spots(), axis=2).min(axis=1) < 1.5
    assert mass[near].sum() > 0.9 * mass.sum()
    assert f"some {late.summary.effective:.0f} of {after.N} " in step_of("power-spectrum", 3).outcome
    return f"{early.summary.kl:.2f}", f"{late.summary.kl:.2f}"


def spectrum_4(before, after):
    found, lost = Learning(before), Learning(after)
    here, there = (PseudoPosterior(values.beta) for values in (before, after))
    drawn = candidates(lost.settings).omega
    assert np.linalg.norm(drawn[:, None] - found.spots(), axis=2).min() > 1  # no spot's cosine was drawn
    assert lost.error(there) > 0.42 and lost.error(there, CURVE_COUNTS[-1]) > 0.35
    return percent(found.error(here)), percent(found.error(PriorWeights())), percent(lost.error(there))


class Bounds:
    def __init__(self, values, price=None):
        promise = Promise(values.eps, values.mu, values.form, values.price if price is None else price)
        self.curves = promised_curves(BoundSettings(toy_data(values), values.sigma, values.D), promise)
        self.beta = values.beta

    def at(self, name: str) -> float:
        return self.curves.bounds[name].at(self.beta)

    def best(self, name: str) -> float:
        return self.curves.bounds[name].best_value

    @property
    def risk(self) -> float:
        return float(self.curves.kernel.risk[np.argmin(np.abs(self.curves.betas - self.beta))])


def peeking_1(before, after):
    few, many = Bounds(before), Bounds(after)
    gaps = [bounds.at("second_order_kl") - bounds.risk for bounds in (few, many)]
    assert 0.1 < gaps[1] / gaps[0] < 0.5
    numbers = [value for bounds in (few, many) for value in (bounds.at("second_order_kl"), bounds.risk)]
    return *(f"{value:.2f}" for value in numbers), percent(1 - before.eps)


def peeking_2(before, after):
    curve = Bounds(before).curves.bounds["second_order_kl"]
    here = int(np.argmin(np.abs(curve.betas - before.beta)))
    parts = {name: float(values[here]) for name, values in curve.terms.items()}
    assert max(parts, key=parts.get) == "confidence" and parts["confidence"] > 0.75 * sum(parts.values())
    assert curve.rulers()[0][0] == "confidence" and curve.rulers()[-1][0] == "deviation"
    assert curve.best_beta == after.beta
    return f"{curve.values[here]:.2f}", f"{curve.best_value:.3f}"


def peeking_3(before, after):
    free, paid = Bounds(before), Bounds(after)
    curve = free.curves.bounds["second_order_kl"]
    assert curve.best_beta == before.beta and len(BOUND_BETAS) == len(BETA.values) == 61
    assert 61 * curve.best_value > 1
    t = before.beta * np.sqrt(before.n)
    assert np.isclose(paid.at("second_order_kl") - free.at("second_order_kl"), np.log(61) / t)
    return f"{curve.best_value:.3f}", f"{paid.best('second_order_kl'):.3f}"


def peeking_4(before, after):
    loose, strict = Bounds(before), Bounds(after)
    more = {name: strict.best(name) - loose.best(name) for name in loose.curves.bounds}
    assert max(more, key=more.get) == "f_divergence"
    assert all(
        more[name] < 0.05 for name in ("landmark_kl", "landmark_kl_inverse", "first_order_kl", "second_order_kl")
    )
    numbers = [f"{bounds.best('second_order_kl'):.3f}" for bounds in (loose, strict)]
    return *numbers, f"{loose.best('f_divergence'):.3f}", f"{strict.best('f_divergence'):.1f}"


def case_of(values):
    return worst_case(values.n, values.mu, values.eps, values.seed)


def fails_1(before, after):
    quiet, loud = case_of(before), case_of(after)
    assert quiet.printed.failures == 0 and len(quiet.losses) == 20_000
    assert loud.printed.interval()[0] > after.eps and loud.printed_width < loud.deviations.std()
    assert percent(loud.printed.rate) == "19 %"
    return f"{100 * loud.printed.rate:.1f} %", "19 %", percent(after.eps)


def fails_2(before, after):
    few, many = case_of(before), case_of(after)
    assert few.printed.interval()[1] < before.eps < many.printed.interval()[0]
    assert np.isclose(few.printed_width / many.printed_width, 10**0.8)
    assert np.isclose(few.deviations.std() / many.deviations.std(), 10**0.5, rtol=0.05)
    return f"{100 * few.printed.rate:.1f} %", f"{100 * many.printed.rate:.1f} %", percent(before.eps), "0.8", "0.5"


def fails_3(before, after):
    case, few = case_of(after), case_of(moved(after, n=100))
    assert case.corrected.failures == 0 == case_of(before).corrected.failures
    assert np.isclose(few.corrected_width / case.corrected_width, 10**0.5)
    return percent(case.printed.rate), percent(after.eps)


def fails_4(before, after):
    honest, printed = (Bounds(values).best("f_divergence") for values in (before, after))
    assert printed < 0.7 * honest
    return f"{honest:.3f}", f"{printed:.3f}"


class Approximation:
    def __init__(self, values):
        self.values = values
        self.settings = approximation_settings(values.data, values.kernel, values.width, values.nu, values.seed)
        self.rows = approximation_rows(values.data, values.seed)
        names = values.first, values.second
        self.first, self.second = (method_view(self.settings, METHODS[name], values.r) for name in names)

    def mean(self, name: str, r=None) -> float:
        assert name in self.values.methods  # its curve is shown
        counts = curve_counts(METHODS[name])
        return approximation_errors(self.settings, METHODS[name])[counts.index(r or self.values.r)].mean()

    def error_by_distance(self, view, low: float, high: float) -> float:
        """Mean error over the cells of the map whose nearest row is so far away."""
        cells = plane_points(cell_centres(self.rows.extent, len(view.error_map)))
        nearest = np.linalg.norm(cells[:, None] - self.rows.in_plane, axis=2).min(axis=1)
        return view.error_map.ravel()[(nearest >= low) & (nearest < high)].mean()


def gaps(omega) -> np.ndarray:
    """The distance from each frequency to the nearest other."""
    apart = np.linalg.norm(omega[:, None] - omega, axis=2)
    return np.sort(apart, axis=1)[:, 1]


def apart_1(before, after):
    same, spread = Approximation(before), Approximation(after)
    drawn, even = same.first.frequencies, spread.second.frequencies
    np.testing.assert_array_equal(drawn, same.second.frequencies)
    assert np.median(gaps(even)) > 1.2 * np.median(gaps(drawn)) and np.quantile(gaps(even), 0.1) > 0.05
    # The same disc: squared lengths over the variance of a coordinate, which is 1, have median 2 ln 2.
    assert np.median((even**2).sum(axis=1)) == pytest.approx(2 * np.log(2), rel=0.15)
    assert len(np.unique(even[:, 0].round(6))) > 90  # no grid
    return f"{same.first.error:.3f}", f"{spread.second.error:.3f}"


def apart_2(before, after):
    few, many = Approximation(before), Approximation(after)
    fall = {name: many.mean(name) / few.mean(name) for name in ("Monte Carlo", "Sobol")}
    assert 0.22 < fall["Monte Carlo"] < 0.32 and 1 / 7 < fall["Sobol"] < 1 / 5.5
    return tuple(f"{one.mean(name):.3f}" for one in (few, many) for name in fall)


def apart_3(before, after):
    flat, high = Approximation(before), Approximation(after)
    assert flat.rows.X.shape[1] == 2 and high.rows.X.shape[1] == 59
    assert high.mean("Sobol") > high.mean("Monte Carlo")
    return tuple(f"{one.mean(name):.3f}" for one in (flat, high) for name in ("Monte Carlo", "Sobol"))


def apart_4(before, after):
    even, right = Approximation(before), Approximation(after)
    assert right.second.error / right.first.error == pytest.approx(6 / 7, abs=0.02)
    return f"{even.first.error:.3f}", f"{even.second.error:.3f}", f"{right.second.error:.3f}"


def know_1(before, after):
    same, weighted = Approximation(before), Approximation(after)
    np.testing.assert_allclose(same.second.weights, 1 / 50)
    np.testing.assert_array_equal(same.second.frequencies, weighted.second.frequencies)
    weights = 50 * weighted.second.weights
    assert weights.min() == 0 and weighted.second.error / same.second.error == pytest.approx(0.25, abs=0.03)
    return f"{same.second.error:.3f}", f"{weighted.second.error:.3f}", f"{weights.max():.1f}"


def know_2(before, after):
    now = Approximation(after)
    assert now.rows.X.shape[1] == 11
    assert now.mean("Monte Carlo", 100) > 1.4 * now.mean("Sample") > 1.2 * now.mean("Monte Carlo", 200)
    means = now.mean("Monte Carlo"), now.mean("Weight"), now.mean("Sample"), now.mean("Monte Carlo", 200)
    return tuple(f"{mean:.3f}" for mean in means)


def know_3(before, after):
    drawn, fitted = Approximation(before), Approximation(after)
    at, off = ([one.error_by_distance(one.second, *far) for one in (drawn, fitted)] for far in ((0, 0.15), (0.6, 9)))
    assert 0.5 < off[0] / at[0] < 2 and off[1] > 2.5 * at[1]
    assert fitted.second.error_map.max() > drawn.second.error_map.max()
    return (*(f"{error:.2f}" for error in (*at, off[1], fitted.second.error_map.max())),)


def know_4(before, after):
    now = Approximation(after)
    assert now.mean("Nyström") < now.mean("Sample") and now.second.frequencies is None
    return f"{now.mean('Nyström'):.3f}", f"{now.mean('Sample'):.3f}"


class Adaptive:
    def __init__(self, values):
        self.settings = adaptive_settings(values)
        self.grid = grid_weights(self.settings, values.ridge)
        self.descent = descent(self.settings, values.r)
        self.plane = importance(self.settings.data, values.sigma)

    def hill(self) -> tuple[float, np.ndarray]:
        """How many times as wide the weights on the grid are in their longest direction, and that direction."""
        omega, p = plane_points(self.grid.grid), self.grid.weights.ravel()
        variances, axes = np.linalg.eigh((omega * p[:, None]).T @ omega)
        return np.sqrt(variances[1] / variances[0]), axes[:, 1]

    @property
    def last_errors(self) -> tuple[str, str]:
        return f"{self.descent.landmark_errors[-1]:.3g}", f"{self.descent.errors[-1]:.3g}"


def choose_1(before, after):
    ring, line = Adaptive(before), Adaptive(after)
    assert ring.hill()[0] < 1.05 and line.hill()[0] > 1.9
    assert abs(line.hill()[1] @ (2, 1)) / 5**0.5 < 0.1  # the line's direction is (2, 1)
    return ()


def choose_2(before, after):
    dear, cheap = Adaptive(before), Adaptive(after)
    assert dear.hill()[0] > 1.9 and cheap.hill()[0] < 1.15
    assert f"{dear.grid.prior_error:.2g}" == f"{cheap.grid.prior_error:.2g}"
    return f"{dear.grid.error:.2g}", f"{dear.grid.prior_error:.2g}", f"{cheap.grid.error:.2g}"


def choose_3(before, after):
    line, ring = Adaptive(before), Adaptive(after)
    ratio = line.plane.data / line.plane.prior
    omega = plane_points(line.plane.grid)[ratio.ravel() > 1.1]
    assert np.abs(omega @ (2, 1)).max() / 5**0.5 < 0.3 * np.abs(omega @ (-1, 2)).max() / 5**0.5  # a stripe across
    return tuple(f"{100 * toy_adaptive.saving(of.plane, 'data'):.1f} %" for of in (line, ring))


def move_1(before, after):
    few, many = Adaptive(before).descent, Adaptive(after).descent
    assert 35 < many.drawn_error / few.errors[-1] < 45 and few.steps[-1] == 80
    numbers = few.drawn_error, few.errors[0], few.errors[-1], many.drawn_error, many.errors[-1]
    return tuple(f"{number:.3g}" for number in numbers)


def move_2(before, after):
    many, few = Adaptive(before), Adaptive(after)
    assert few.settings.data.n == 300
    assert few.descent.landmark_errors[-1] < 0.0001 < many.descent.landmark_errors[-1]
    assert few.descent.errors.min() < few.descent.errors[-1] / 2
    return *many.last_errors, few.last_errors[1], "0.0001"


def move_3(before, after):
    drawn, centroids = Adaptive(before), Adaptive(after)
    assert drawn.descent.errors[-1] > 3 * centroids.descent.errors[-1]
    return drawn.last_errors[1], centroids.last_errors[1]


CHECKS = {
    "average-of-cosines": (cosines_1, cosines_2, cosines_3, cosines_4),
    "prior-to-cosine": (prior_1, prior_2, prior_3, prior_4),
    "beat-the-rbf-map": (rbf_1, rbf_2, rbf_3, rbf_4),
    "power-spectrum": (spectrum_1, spectrum_2, spectrum_3, spectrum_4),
    "price-of-peeking": (peeking_1, peeking_2, peeking_3, peeking_4),
    "theorem-that-fails": (fails_1, fails_2, fails_3, fails_4),
    "draws-that-keep-apart": (apart_1, apart_2, apart_3, apart_4),
    "frequencies-that-know-the-data": (know_1, know_2, know_3, know_4),
    "points-choose-frequencies": (choose_1, choose_2, choose_3),
    "move-do-not-draw": (move_1, move_2, move_3),
}
NUMBER = re.compile(r"\d+\.\d+(?: %)?|\d+ %")


def step_of(key: str, k: int) -> tours.Step:
    return next(lesson for lesson in tours.LESSONS if lesson.key == key).steps[k - 1]


def test_every_step_has_a_check():
    assert {key: len(checks) for key, checks in CHECKS.items()} == {
        lesson.key: len(lesson.steps) for lesson in tours.LESSONS
    }


@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "k"), STEPS, ids=NAMES)
def test_what_a_step_claims_is_so(lesson, k):
    step, before, after = lesson.steps[k - 1], values_at(lesson, k, False), values_at(lesson, k, True)
    vouched = set(CHECKS[lesson.key][k - 1](before, after))
    settings = {guide.in_url(value) for values in (before, after) for value in vars(values).values()}
    settings |= {"0.001"}  # beta, as good as 0
    wrong = [answer for i, answer in enumerate(step.answers) if i != step.right]
    claimed = set(NUMBER.findall(" ".join((step.text, step.question, step.answers[step.right], step.outcome))))
    assert claimed <= vouched | settings, f"nobody vouches for {claimed - vouched - settings}"
    assert vouched <= claimed | set(NUMBER.findall(" ".join(wrong))), f"{vouched - claimed} is not what the text says"
