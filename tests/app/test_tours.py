"""Lessons as data: they fit their pages, and what they say agrees with the engine.

Each step has a check of what it teaches: which number is larger, and by about how much. It returns the numbers that the
texts contain, and a test compares these. Tolerances allow for differences between processors, the largest at the end of
a descent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import rff_engine as rff
from pages.bounds.certificates.compute import certified_vote, peeking
from pages.bounds.certificates.page import METHODS as CERTIFIED, settings_of as certificate_settings
from pages.bounds.compute import BoundSettings, Guarantee, all_bounds, landmark_union, promises
from pages.data.compute import memory
from pages.kernel.compute import FREQUENCY_COUNTS, kernel_errors, kernel_line, kernel_settings
from pages.kernel.learn import compute as learning
from pages.kernel.learn.page import candidate_settings
from pages.landmarks.compute import (
    LandmarkSettings,
    landmark_problem,
    landmark_view,
)
from pages.shared import lessons
from pages.shared.catalogue import BY_NAME
from pages.shared.controls import presets
from pages.shared.controls.toy import BETA, toy_data
from pages.shared.controls.widgets import Code, Control, Number, Options, Scale, Switch, as_text, without_headings
from pages.shared.lesson import Lesson, Step
from pages.shared.lessons import content
from pages.start import compute as start
from pages.start.page import RADIO
from rff_engine.studies.toy.coverage import promise_failures
from rff_engine.studies.toy.plane import cell_centres, plane_points
from tests import naive

PAGES = Path(__file__).parents[2] / "pages"
STEPS = [(lesson, k) for lesson in content.all_lessons() for k in range(1, len(lesson.steps) + 1)]
NAMES = [f"{lesson.key} {k}" for lesson, k in STEPS]


def controls_of(page: str) -> dict[str, Control | Code]:
    if page == "start":
        return {RADIO.key: RADIO}
    return {control.key: control for control in without_headings(import_module(BY_NAME[page].module).CONTROLS)}


def values_at(lesson: Lesson, k: int) -> dict[str, SimpleNamespace]:
    """The values of all controls of the page before a step's answer and after it."""
    defaults = {key: control.default for key, control in controls_of(lesson.page).items()}
    return {name: SimpleNamespace(**(defaults | getattr(lesson, name)(k))) for name in ("before", "after")}


def texts_of(step: Step) -> tuple[str, ...]:
    return (step.text, step.question, *step.answers, step.outcome)


# --- the data -----------------------------------------------------------------------------------------------------


def test_keys_of_lessons_are_unique():
    assert len({lesson.key for lesson in content.all_lessons()}) == len(content.all_lessons()) > 0
    assert all(re.fullmatch(r"[a-z-]+", lesson.key) for lesson in content.all_lessons())


@pytest.mark.parametrize("lesson", content.all_lessons(), ids=lambda lesson: lesson.key)
def test_a_lesson_has_a_page_a_takeaway_and_a_few_steps(lesson):
    assert lesson.page in BY_NAME
    assert 3 <= len(lesson.steps) <= 6
    assert lesson.takeaway.endswith(".") and lesson.title


@pytest.mark.parametrize(("lesson", "k"), STEPS, ids=NAMES)
def test_a_step_asks_and_moves_something(lesson, k):
    step = lesson.steps[k - 1]
    assert 2 <= len(step.answers) <= 4 and len(set(step.answers)) == len(step.answers)
    assert 0 <= step.right < len(step.answers)
    assert step.look and all(selector.startswith(".") for selector in step.look)
    assert step.question.endswith(("?", "."))
    moved = {key for key, value in step.after.items() if lesson.before(k).get(key, object()) != value}
    assert moved == set(step.after) != set()
    assert all(len(text) < 330 for text in texts_of(step))


@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "k"), STEPS, ids=NAMES)
def test_a_step_sets_controls_of_its_page_to_values_they_allow(lesson, k):
    controls = controls_of(lesson.page)
    for key, value in (*lesson.before(k).items(), *lesson.after(k).items()):
        control = controls[key]
        sanitized, note = control.sanitize([as_text(value)])
        assert note is None and sanitized == as_text(value)
        match control:
            case Scale():
                assert value in control.values
            case Number():
                assert isinstance(value, type(control.default))
            case Options():
                assert value in control.options
            case Switch():
                assert isinstance(value, bool)


def test_positions_of_right_answers_vary():
    for lesson in content.all_lessons():
        assert len({step.right for step in lesson.steps}) > 1


# --- the numbers --------------------------------------------------------------------------------------------------

NUMBER = re.compile(r"\d+(?: \d{3})+|\d+\.\d+(?: %)?|\de−\d+|\d+ %|\d+")
#: Numbers in texts that no control sets: sizes of data sets and grids, and exponents of formulas.
FIXED = {
    "average-of-cosines": {"19": 20 - 1, "100": 2 * 50},  # all cosines but the first, and features of 50
    "prior-to-cosine": {"0.001": 0.001},  # the least beta
    "price-of-peeking": {"61": len(BETA.values), "1000": 1 / 0.001, "20": 1 / 0.05},  # 1 in so many, as eps has it
    "theorem-that-fails": {"0.8": 1 - 1 / 5, "0.5": 1 / 2},
    "labels-learned-by-heart": {"200": 2 * 100, "285": -(-569 // 2)},  # features, and rows that teach
    "what-may-be-looked-at": {"40": 200 / 5},  # points that differ
}


def percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def settings_in_texts(lesson: Lesson, k: int) -> set[str]:
    """The numbers that a step's texts may contain without a check: values of controls, and fixed ones."""
    values = values_at(lesson, k)
    settings = {as_text(value) for one in values.values() for value in vars(one).values()}
    eps = getattr(values["before"], "eps", None)
    promised = set() if eps is None else {percent(eps), percent(1 - eps)}
    return settings | promised | set(FIXED.get(lesson.key, ()))


def numbers_of(step: Step) -> Iterator[str]:
    """Yield the numbers of the texts in their order; whole numbers of wrong answers are free."""
    for text in texts_of(step):
        wrong = text in step.answers and text != step.answers[step.right]
        for number in NUMBER.findall(text):
            if not wrong or "." in number or "%" in number:
                yield number


def agrees(number: str, value: float) -> bool:
    """Compare a number as a text has it with its value; on another processor it may be rounded differently."""
    written = Decimal(re.sub("[ %]", "", number).replace("−", "-"))
    last_digit = 10.0 ** int(written.as_tuple().exponent)
    return abs(float(written) - value * (100 if "%" in number else 1)) <= 0.6 * last_digit


def explained(numbers: Sequence[str], computed: Sequence[float], settings: set[str]) -> bool:
    """Whether the numbers of a text are the computed ones in their order, with settings and digits between them."""
    if not numbers:
        return not computed
    first, *others = numbers
    if computed and agrees(first, computed[0]) and explained(others, computed[1:], settings):
        return True
    return (first in settings or len(first) == 1) and explained(others, computed, settings)


def test_fixed_numbers_in_texts_are_right():
    for numbers in FIXED.values():
        assert all(float(text.replace(" ", "")) == pytest.approx(value) for text, value in numbers.items())


@pytest.mark.parametrize(
    ("number", "value"), [("0.061", 0.0624), ("8 %", 0.0925), ("3e−5", 4e-5), ("16 %", 16), ("5", 6)]
)
def test_a_wrong_number_does_not_agree(number, value):
    assert not agrees(number, value)


def card_of(monkeypatch, lesson: Lesson, step: int, answer: int | None, **changed) -> dict:
    """The data of the card at a step, after some controls were moved."""
    cards, controls = [], controls_of(lesson.page)
    state = {key: control.default for key, control in controls.items()} | lesson.before(step)
    state |= {} if answer is None else lesson.after(step)
    monkeypatch.setattr(lessons, "_card", lambda data, **_: cards.append(data))
    monkeypatch.setattr(lessons.st, "session_state", state | changed)
    lessons.Tour(lesson.page, controls.values())._show_card(lesson, lessons.Place(lesson.key, step, answer))
    return cards[0]


def test_the_card_has_only_shown_texts_and_notes_moved_controls(monkeypatch):
    lesson = content.lessons_of("bounds")["theorem-that-fails"]
    asking = card_of(monkeypatch, lesson, 2, None)
    assert asking["text"] == lesson.steps[1].text
    assert asking["outcome"] == "" and not asking["moved"]
    answered = card_of(monkeypatch, lesson, 2, 0)
    assert answered["outcome"] == lesson.steps[1].outcome
    assert answered["text"] == "" and not answered["moved"]
    # The numbers stay those of the step, with a note.
    assert card_of(monkeypatch, lesson, 2, None, seed=3) == asking | {"moved": True}


# --- the claims ---------------------------------------------------------------------------------------------------


class Kernel:
    def __init__(self, values):
        self.D = values.D
        self.settings = kernel_settings(values.kernel, values.width, values.nu, values.seed)
        self.line = kernel_line(self.settings, values.D)
        self.miss = self.line.cos_sin - self.line.exact

    @property
    def error(self) -> float:
        """Root mean square error of the cos/sin map at D."""
        return kernel_errors(self.settings)[0]["cos_sin"][FREQUENCY_COUNTS.index(self.D)]


def cosines_1(before, after):
    alone, twenty = Kernel(before), Kernel(after)
    assert np.allclose(alone.line.cos_sin, np.cos(alone.line.omega[0] * alone.line.delta))
    assert np.sqrt(np.mean(alone.miss**2)) > 0.5  # nothing like the kernel
    assert np.allclose(twenty.line.cos_sin[twenty.line.delta == 0], 1)
    near = np.abs(twenty.line.delta) < 1
    assert np.abs(twenty.miss[near]).max() < 0.15 < np.abs(twenty.miss[~near]).max() < 0.5  # a bump, and ripples


def cosines_2(before, after):
    few, many = Kernel(before).error, Kernel(after).error
    assert 0.45 < many / few < 0.55
    for count in (70, 100):
        assert Kernel(moved(before, D=count)).error / few > 0.6
    assert after.D == 4 * before.D == 200
    return few, many


def cosines_3(before, after):
    narrow, wide = Kernel(before).line, Kernel(after).line
    assert np.ptp(wide.omega) < 0.5 * np.ptp(narrow.omega)


def cosines_4(before, after):
    assert Kernel(before).line.outside == 0 and 2 <= Kernel(after).line.outside < 10
    assert np.abs(Kernel(after).line.omega).max() > np.abs(Kernel(before).line.omega).max()
    return (Kernel(after).line.outside,)


class Radio:
    def __init__(self, values):
        self.tuning = start.decode(values.radio)
        self.loss = start.station(self.tuning).loss
        self.rows = start.numbers(self.tuning).set_index("similarity")
        self.errors, self.kl = self.rows["test_error"], self.rows["kl"]


def stations_1(before, after):
    nothing, one = Radio(before), Radio(after)
    assert nothing.errors["kernel"] == 0.5 and list(one.tuning.waves) == [one.loss.argmin()]
    assert one.errors["yours"] < 0.3  # about a quarter
    heard = start.station(one.tuning)
    wrong = (heard.test_waves[:, one.tuning.waves[0]] > 0) != (heard.test_y == heard.label)
    from_middle = np.abs(start.points_of("checkerboard")[1].X / 0.75 % 1 - 0.5).sum(axis=1)
    assert wrong[from_middle < 0.4].mean() < 0.05 < 0.4 < wrong[from_middle > 0.6].mean()  # corners are cut off
    return (one.errors["yours"],)


def stations_2(before, after):
    one, two = Radio(before), Radio(after)
    omega = start.candidate_draws()[list(two.tuning.waves)]
    assert np.isclose(omega[0] @ omega[1], 0, atol=0.2 * np.prod(np.linalg.norm(omega, axis=1)))  # across each other
    assert one.tuning.waves == two.tuning.waves[:1]
    return two.errors["yours"], 2000, 2, two.kl["yours"]


def stations_3(before, after):
    radio = Radio(after)
    assert radio.errors["posterior"] > radio.errors["yours"] and radio.kl["posterior"] < radio.kl["yours"]
    return 2000, radio.errors["yours"], radio.tuning.beta, radio.errors["posterior"], radio.kl["posterior"]


def stations_4(before, after):
    radio = Radio(after)
    assert 0.15 < radio.errors["posterior"] / radio.errors["yours"] < 0.25  # about a fifth
    several = start.station(radio.tuning)
    pairs = several.test_waves[:, several.loss.argsort()[:200]]
    wrong = [((pairs + pairs[:, [k]] > 0) != (several.test_y == several.label)[:, None]).mean(0) for k in range(200)]
    assert np.min(wrong) > 0.9 * radio.errors["yours"]  # about as good as two can be
    return radio.errors["yours"], radio.errors["posterior"]


def worth_1(before, after):
    at_the_end, between = Radio(before), Radio(after)
    assert between.errors["posterior"] > 2 * at_the_end.errors["posterior"]
    return at_the_end.tuning.beta, at_the_end.errors["posterior"], between.errors["posterior"]


def worth_2(before, after):
    between, outside = Radio(before), Radio(after)
    sample, _, _ = start.points_of("moons")
    places = [*sample.X[::20], *(sample.X[sample.y == label].mean(axis=0) for label in (-1, 1))]
    tried = (replace(outside.tuning, star=tuple(map(float, place))) for place in places)
    errors = [start.numbers(one).set_index("similarity")["test_error"]["posterior"] for one in tried]
    assert outside.errors["posterior"] < min(errors) / 2
    away = np.linalg.norm(sample.X - outside.tuning.star, axis=1).min()
    return between.errors["posterior"], away, outside.errors["posterior"]


def worth_3(before, after):
    assert Radio(after).errors["kernel"] == 0.5 and not Radio(after).tuning.posterior
    return (Radio(before).errors["posterior"],)


def moved(values, **changes) -> SimpleNamespace:
    return SimpleNamespace(**(vars(values) | changes))


class Landmarks:
    def __init__(self, values):
        self.settings = LandmarkSettings(toy_data(values), values.sigma, values.D, values.landmarks, values.how)
        self.beta = values.beta
        self.view = landmark_view(self.settings, values.beta, values.C)
        self.prior_error = self.view.prior.test_error
        self.learned_error = self.view.learned.test_error
        self.kl = rff.kl_divergence(self.view.Q)
        self.cosines = 1 / (self.view.Q**2).sum(axis=1)
        """Effective numbers of cosines"""

    @property
    def problem(self):
        return landmark_problem(self.settings)

    @property
    def distance(self) -> float:
        """Root mean square difference between the learned maps and the prior's."""
        return np.sqrt(np.mean((self.view.learned_maps - self.view.prior_maps) ** 2))


def prior_1(before, after):
    few, many = Landmarks(before), Landmarks(after)
    assert np.allclose(few.view.Q, 1 / before.D, rtol=0.05)
    assert 0.2 < many.distance / few.distance < 0.3  # about a quarter


def prior_2(before, after):
    flat, peaked = Landmarks(before), Landmarks(after)
    assert flat.kl.max() < 0.005  # 0, and equal weights
    fewest, most = peaked.cosines.min(), peaked.cosines.max()
    assert 1.5 < fewest < 4 < most < 8  # few of 20, and not the same in each row
    assert 0.5 < peaked.kl.min() < 1.2 < peaked.kl.max() < 2
    heaviest, best = peaked.view.Q.argmax(axis=1), peaked.problem.loss.argmin(axis=1)
    assert (heaviest == best).all()
    slowest = np.linalg.norm(peaked.problem.omega, axis=2).argmin(axis=1)
    assert (heaviest != slowest).all()
    return fewest, most, peaked.kl.min(), peaked.kl.max()


def prior_3(before, after):
    here, there = Landmarks(before), Landmarks(after)
    assert np.allclose(there.kl, np.log(20), atol=0.01) and after.D == 20
    assert (there.view.Q.max(axis=1) > 0.99).all()
    assert here.kl.max() < 0.7 * np.log(20)  # a good way to go
    return here.kl.min(), here.kl.max(), np.log(20)


def prior_4(before, after):
    ends = [Landmarks(moved(before, beta=beta)).learned_error for beta in (0.001, 1000.0)]
    best = min(BETA.values, key=lambda beta: Landmarks(moved(before, beta=beta)).learned_error)
    assert 0.5 <= best <= 2  # near 1
    assert Landmarks(after).learned_error < 0.75 * min(ends) and max(ends) < 1.2 * min(ends)
    return ends[1], ends[0], Landmarks(after).learned_error


def rbf_1(before, after):
    blind, seeing = Landmarks(before), Landmarks(after)
    assert 0.4 < seeing.learned_error / seeing.prior_error < 0.6
    assert seeing.learned_error < 0.75 * blind.learned_error < 0.75 * blind.prior_error
    return blind.prior_error, blind.learned_error, seeing.learned_error


def rbf_2(before, after):
    blind, seeing = Landmarks(before), Landmarks(after)
    assert np.allclose(blind.view.Q, 1 / before.D, rtol=0.05) and seeing.view.prior_maps.min() >= 0
    p = seeing.problem
    psi = rff.landmark_similarity(p.X, p.landmarks, p.omega, seeing.view.Q)
    own = p.y[:, None] == p.labels
    for column in range(len(p.labels)):
        assert psi[own[:, column], column].mean() > 0.1 and psi[~own[:, column], column].mean() < -0.1


def rbf_3(before, after):
    three, eight = Landmarks(before), Landmarks(after)
    others = [Landmarks(moved(before, landmarks=count)).prior_error for count in range(1, 9)]
    assert min(others) > 1.5 * three.learned_error and eight.learned_error < three.learned_error
    return three.learned_error, three.prior_error, eight.prior_error, eight.learned_error


def rbf_4(before, after):
    twenty, many = Landmarks(before), Landmarks(after)
    assert twenty.learned_error < many.learned_error < 0.75 * many.prior_error  # no fewer, nor as many as with the RBF
    assert many.distance < twenty.distance and many.cosines.min() > 3 * twenty.cosines.max()
    errors = twenty.learned_error, twenty.prior_error, many.learned_error
    return *errors, many.cosines.min(), many.cosines.max()


class Learning:
    def __init__(self, values):
        self.values = values
        self.settings = candidate_settings(values)
        self.posterior = "pbrff", values.beta
        self.summary = learning.weight_summary(
            learning.candidate_weights(learning.candidates(self.settings), self.posterior), values.mu
        )
        extent = 3.5 / values.sigma
        sample = self.settings.data.sample()
        self.plane = naive.frequency_plane(sample.X, sample.y, self.settings.kernel(), extent)
        self.points = plane_points(cell_centres(extent, len(self.plane.loss)))

    def error_of(self, weighting, D: int) -> float:
        return learning.error_curve(self.settings, weighting)[0][learning.CURVE_COUNTS.index(D)]

    @property
    def learned_error(self) -> float:
        """Mean test error of D frequencies drawn from the posterior."""
        return self.error_of(self.posterior, self.values.D)

    @property
    def prior_error(self) -> float:
        """Mean test error of D frequencies drawn from the prior."""
        return self.error_of(("rff",), self.values.D)

    def spots(self) -> np.ndarray:
        """Where the loss is smallest in each quadrant."""
        loss, points = self.plane.loss.ravel(), self.points
        quadrants = [(np.sign(points) == signs).all(axis=1) for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
        return np.array([points[own][loss[own].argmin()] for own in quadrants])


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
    sample = board.settings.data.sample()
    n, power = len(sample.y), np.abs(np.exp(1j * board.points[::97] @ sample.X.T) @ sample.y) ** 2
    assert np.ptp(board.plane.loss.ravel()[::97] + power / (2 * n * (n - 1))) < 1e-6


def spectrum_2(before, after):
    near, far = (np.linalg.norm(Learning(values).spots(), axis=1) for values in (after, before))
    assert (near < 0.5 * far).all()


def spectrum_3(before, after):
    early, late = Learning(before), Learning(after)
    prior, posterior = early.plane.prior, naive.plane_posterior(early.plane, before.beta)
    assert np.corrcoef(prior.ravel(), posterior.ravel())[0, 1] > 0.98  # the same disc
    assert early.summary.kl < 0.005
    mass = naive.plane_posterior(late.plane, after.beta).ravel()
    near = np.linalg.norm(late.points[:, None] - late.spots(), axis=2).min(axis=1) < 1.5
    assert mass[near].sum() > 0.9 * mass.sum()
    assert 4 < late.summary.kl < np.log(after.N) and 5 < late.summary.effective < 20 < after.N / 50
    return early.summary.kl, late.summary.kl, late.summary.effective


def spectrum_4(before, after):
    found, lost = Learning(before), Learning(after)
    drawn = learning.candidates(lost.settings).omega
    assert np.linalg.norm(drawn[:, None] - found.spots(), axis=2).min() > 1  # no spot's cosine was drawn
    assert found.learned_error < 0.85 * found.prior_error and found.prior_error < 0.35
    many = lost.error_of(lost.posterior, 50)
    assert 0.4 < lost.learned_error < 0.5 and many > 0.35
    return found.learned_error, found.prior_error, lost.learned_error


def spectrum_5(before, after):
    flat, turned = Learning(before), Learning(after)
    assert learning.candidates(flat.settings).loss.min() > 0.48 > 0.45 > learning.candidates(turned.settings).loss.min()
    sampled = learning.candidates(turned.settings)
    Q, omega = learning.candidate_weights(sampled, turned.posterior), sampled.omega
    assert Q[omega.prod(axis=1) > 0].sum() > 0.9  # on the two spots along the ellipse
    assert turned.learned_error < 0.3 < 0.4 < flat.learned_error
    return flat.learned_error, turned.learned_error


class Bounds:
    def __init__(self, values):
        self.values = values
        self.settings = BoundSettings(toy_data(values), values.sigma, values.N)

    @property
    def curves(self):
        values = self.values
        held = min(values.union, values.n)
        return all_bounds(self.settings, Guarantee(values.eps, values.mu, values.form, values.price, held))

    @property
    def theorem_3(self):
        return self.curves.bounds["second_order_kl"]

    @property
    def theorem_3_here(self) -> float:
        return self.theorem_3.at(self.values.beta)

    @property
    def best_theorem_4(self) -> float:
        return self.curves.bounds["f_divergence"].best_value

    @property
    def risk(self) -> float:
        """True risk at beta, over all pairs."""
        return float(self.curves.kernel.risk[np.argmin(np.abs(self.curves.betas - self.values.beta))])

    @property
    def union(self):
        """Bounds for many landmarks at once, and how often they fail."""
        return landmark_union(self.settings, self.values.beta, self.values.eps, self.values.form)

    def some_fail(self, failures) -> float:
        """Probability that a bound fails for some of the landmarks, of `failures` at all numbers of them."""
        return float(failures[list(self.union.counts).index(min(self.values.union, self.values.n))])

    @property
    def case(self):
        """Theorem 4 on samples."""
        return promises(*(getattr(self.values, key) for key in ("n", "mu", "eps", "seed", "samples")))

    @property
    def printed_failures(self) -> float:
        """Probability that the printed Theorem 4 fails at a true loss of a quarter."""
        return float(promise_failures(0.25, self.values.n, self.case.printed_width)[0])


def peeking_1(before, after):
    few, many = Bounds(before), Bounds(after)
    gaps = [bounds.theorem_3_here - bounds.risk for bounds in (few, many)]
    assert 0.15 < gaps[1] / gaps[0] < 0.5 and gaps[1] > 0
    return few.theorem_3_here, few.risk, many.theorem_3_here, many.risk


def peeking_2(before, after):
    here, there = Bounds(before).theorem_3_here, Bounds(after).theorem_3_here
    curve = Bounds(before).theorem_3
    at = int(np.argmin(np.abs(curve.betas - before.beta)))
    parts = {name: float(values[at]) for name, values in curve.terms.items()}
    assert here == pytest.approx(sum(parts.values())) and here > 1
    assert max(parts, key=parts.get) == "confidence" and parts["confidence"] > 0.75 * sum(parts.values())
    assert curve.largest_parts()[0][0] == "confidence" and curve.largest_parts()[-1][0] == "deviation"
    assert Bounds(after).theorem_3.best_beta == after.beta and there < 0.5
    return here, there


def peeking_3(before, after):
    few, many = Bounds(before).theorem_3, Bounds(after).theorem_3
    assert 1 / 1.5 < few.best_beta / many.best_beta < 1.5
    assert many.best_value < few.best_value
    return few.best_beta, few.best_value, many.best_beta, many.best_value


def peeking_4(before, after):
    free, paid = Bounds(before).theorem_3, Bounds(after).theorem_3
    assert free.best_beta == before.beta and len(BETA.values) == 61
    assert 61 * free.best_value > 1
    assert 1 < paid.best_value / free.best_value < 1.2  # a little more
    t = before.beta * np.sqrt(before.n)
    assert paid.at(before.beta) - free.at(before.beta) == pytest.approx(np.log(61) / t)
    return free.best_value, free.best_beta, free.best_value, paid.best_value, free.best_value


def peeking_5(before, after):
    loose, strict = (Bounds(values).curves.bounds for values in (before, after))
    more = {name: strict[name].best_value - loose[name].best_value for name in loose}
    assert max(more, key=more.get) == "f_divergence"
    assert all(
        more[name] < 0.05 for name in ("landmark_kl", "landmark_kl_inverse", "first_order_kl", "second_order_kl")
    )
    assert loose["f_divergence"].best_value < 1 < 5 < strict["f_divergence"].best_value
    assert (1 / before.eps, 1 / after.eps) == (20, 1000)
    return [one[name].best_value for name in ("second_order_kl", "f_divergence") for one in (loose, strict)]


def peeking_6(before, after):
    one, many = Bounds(before), Bounds(after)
    assert (before.union, after.union, before.eps) == (1, 100, 0.05)
    at_one, paid_at_one = one.some_fail(one.union.failures_alone), one.some_fail(one.union.failures_together)
    at_many, paid_at_many = many.some_fail(many.union.failures_alone), many.some_fail(many.union.failures_together)
    assert at_one == paid_at_one < 0.05 < 0.3 < at_many < 0.8
    assert paid_at_many < 0.05
    # Any choice among the points of the sample is covered by the bound for all n.
    assert many.union.counts[-1] == after.n and many.union.failures_together[-1] < 0.05
    return at_one, at_many, paid_at_many


def fails_1(before, after):
    quiet, loud = Bounds(before).case, Bounds(after).case
    assert quiet.printed.failures == 0 and Bounds(before).printed_failures < 1e-4
    assert 3 * after.eps < Bounds(after).printed_failures < 0.25 and loud.printed.rate > 2 * after.eps
    assert loud.printed_width < loud.deviations[abs(loud.true_loss - 0.25) < 0.05].std()
    return (Bounds(after).printed_failures,)


def fails_2(before, after):
    few, many = Bounds(before).case, Bounds(after).case
    everywhere = promise_failures(np.linspace(0, 0.5, 201), before.n, few.printed_width)
    assert Bounds(before).printed_failures < before.eps and everywhere.max() < 1.02 * before.eps
    assert 3 * before.eps < Bounds(after).printed_failures
    assert np.isclose(few.printed_width / many.printed_width, 10**0.8)
    assert np.isclose(few.deviations.std() / many.deviations.std(), 10**0.5, rtol=0.05)
    return Bounds(before).printed_failures, Bounds(after).printed_failures


def fails_3(before, after):
    case, few = Bounds(after).case, Bounds(moved(after, n=100)).case
    assert case.corrected.failures == 0 == Bounds(before).case.corrected.failures
    assert Bounds(after).printed_failures > Bounds(before).printed_failures
    assert np.isclose(few.corrected_width / case.corrected_width, 10**0.5)
    return (Bounds(after).printed_failures,)


def fails_4(before, after):
    honest, printed = (Bounds(values).best_theorem_4 for values in (before, after))
    assert printed < 0.7 * honest
    return honest, printed, honest


def memories(before, after):
    return memory(before.D, before.shuffled), memory(after.D, after.shuffled)


def heart_1(before, after):
    true, shuffled = memories(before, after)
    assert shuffled.train < 0.05 and shuffled.test > 0.4 and true.test < 0.1
    return true.train, true.test, shuffled.train, shuffled.test


def heart_2(before, after):
    shuffled, true = memories(before, after)
    assert true.test < true.certified < 0.15 and shuffled.certified > max(0.5, shuffled.test)
    return shuffled.certified, true.certified, shuffled.certified, true.train, true.test


def heart_3(before, after):
    many, few = memories(before, after)
    assert few.train > 0.3
    return many.train, many.test, few.train


def certificate(values):
    """The certificate that the page shows."""
    settings = certificate_settings(values)
    return certified_vote(settings, CERTIFIED[values.method], values.D).certificate(values.stretch)


def failures_of_test_set(values) -> float:
    """How often the bound of a test set fails for the best of the tries, in the hard case."""
    failures = peeking(certificate(values).n_bound, values.eps)
    return float(failures.test_set[list(failures.counts).index(values.tries)])


def looked_1(before, after):
    both, apart = certificate(before), certificate(after)
    assert apart.risk_bound < 0.45 * both.risk_bound  # less than half
    assert both.test_error < 0.5 * both.risk_bound
    spent = {term.name: term.nats for term in apart.terms if term.name in ("frequencies drawn", "weights")}
    assert sum(spent.values()) < 10 and apart.n_bound == both.n_bound / 2
    return both.test_error, both.risk_bound, apart.risk_bound


def looked_2(before, after):
    one, ten = (
        next(term.risk for term in certificate(values).terms if term.name.startswith("choice of feature map"))
        for values in (before, after)
    )
    assert one == 0 < ten < 0.01
    return (ten,)


def looked_3(before, after):
    once, looked = failures_of_test_set(before), failures_of_test_set(after)
    assert once <= 0.05 and 0.27 < looked < 0.45  # more than a quarter
    assert (peeking(1000, 0.05).paid <= 0.05).all()
    return once, looked


def looked_4(before, after):
    once, repeated = certificate(before), certificate(after)
    assert 0.4 < once.test_error < once.risk_bound
    assert repeated.test_error > 0.4 and repeated.risk_bound < 0.45 * repeated.test_error  # less than half
    assert repeated.n_bound == once.n_bound
    return once.test_error, once.risk_bound, repeated.risk_bound, repeated.test_error


@pytest.mark.slow
def test_claims_of_presets_hold():
    def at(page: str, preset: str, **changed) -> SimpleNamespace:
        named = {one.name: one.settings for one in presets.LANDMARK_PRESETS}
        plain = {key: control.default for key, control in controls_of(page).items()}
        return SimpleNamespace(**(plain | named[preset] | changed))

    low, best, high = (Landmarks(at("landmarks", "Noise", beta=beta)) for beta in (0.001, 1.0, 1000.0))
    assert best.learned_error < min(low.learned_error, high.learned_error)


CHECKS = {
    "three-stations": (stations_1, stations_2, stations_3, stations_4),
    "worth-of-a-landmark": (worth_1, worth_2, worth_3),
    "average-of-cosines": (cosines_1, cosines_2, cosines_3, cosines_4),
    "prior-to-cosine": (prior_1, prior_2, prior_3, prior_4),
    "beat-the-rbf-map": (rbf_1, rbf_2, rbf_3, rbf_4),
    "power-spectrum": (spectrum_1, spectrum_2, spectrum_3, spectrum_4, spectrum_5),
    "price-of-peeking": (peeking_1, peeking_2, peeking_3, peeking_4, peeking_5, peeking_6),
    "theorem-that-fails": (fails_1, fails_2, fails_3, fails_4),
    "labels-learned-by-heart": (heart_1, heart_2, heart_3),
    "what-may-be-looked-at": (looked_1, looked_2, looked_3, looked_4),
}


def test_every_step_has_a_check():
    assert {key: len(checks) for key, checks in CHECKS.items()} == {
        lesson.key: len(lesson.steps) for lesson in content.all_lessons()
    }


@pytest.mark.more(after=6)
@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "k"), STEPS, ids=NAMES)
def test_claims_and_numbers_of_a_step_hold(lesson, k):
    values = values_at(lesson, k)
    computed = CHECKS[lesson.key][k - 1](values["before"], values["after"])
    numbers = list(numbers_of(lesson.steps[k - 1]))
    assert explained(numbers, computed or (), settings_in_texts(lesson, k)), (numbers, computed)
