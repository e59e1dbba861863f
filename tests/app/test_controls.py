"""Controls: a link is sanitized to the nearest allowed value, with a note of one sentence."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from pages.shared.controls.scales import powers
from pages.shared.controls.toy import SIGMA
from pages.shared.controls.widgets import Number, Options, Scale, Several, Switch

CONTROLS = (
    Number("n", "n", None, 20, 1000, 300, 10),
    Number("noise", "noise", None, 0.0, 0.5, 0.1, 0.01),
    Scale("beta", "beta", None, powers(-3, 3, 5), 1.0),
    Options("data", "data", None, ("moons", "xor"), "moons"),
    Several("methods", "methods", None, ("svm", "rff"), ("svm", "rff")),
    Switch("price", "price", None, False),
)
BROKEN = (
    [""],
    ["x"],
    ["nan"],
    ["inf"],
    ["-inf"],
    ["1e999"],
    ["-1"],
    ["1e9"],
    ["303"],
    ["7.3"],
    ["0.123"],
    ["a", "b"],
    ["<b>"],
)


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.key)
@pytest.mark.parametrize("raw", BROKEN, ids=str)
def test_sanitizing_twice_changes_nothing(control, raw):
    sanitized, note = control.sanitize(raw)
    if sanitized is not None:
        again = sanitized if isinstance(sanitized, list) else [sanitized]
        assert control.sanitize(again) in ((sanitized, None), (again, None))
    if note is not None:
        assert control.key in note and note.endswith(".") and "\n" not in note


@pytest.mark.parametrize(
    ("control", "raw", "expected"),
    [
        (CONTROLS[0], "5000", "1000"),
        (CONTROLS[0], "-3", "20"),
        (CONTROLS[0], "304", "300"),
        (CONTROLS[1], "0.9", "0.5"),
        (CONTROLS[2], "1e7", "1000"),
        (CONTROLS[2], "0", "0.001"),
        (CONTROLS[2], "7", "6.3"),
    ],
)
def test_a_number_is_set_to_the_nearest_allowed_value(control, raw, expected):
    sanitized, note = control.sanitize([raw])
    assert sanitized == expected
    assert repr(raw) in note and expected in note


def test_a_note_names_the_value_as_the_slider_shows_it():
    assert "so 0.5 is used" in SIGMA.sanitize(["x"])[1]


@pytest.mark.parametrize(("raw", "same"), [("300", "300"), ("1e3", "1000")])
def test_an_allowed_number_needs_no_note(raw, same):
    sanitized, note = CONTROLS[0].sanitize([raw])
    assert float(sanitized) == float(same) and note is None


def test_unknown_options_are_dropped_and_known_ones_stay():
    assert CONTROLS[3].sanitize(["spiral"])[0] is None
    sanitized, note = CONTROLS[4].sanitize(["rff", "nonsense"])
    assert sanitized == ["rff"] and "nonsense" in note


def test_powers_are_evenly_spaced():
    values = powers(-3, 3, 5)
    assert values[0] == 1e-3 and values[-1] == 1e3 and len(values) == 31
    ratios = [math.log10(b / a) for a, b in pairwise(values)]
    assert max(abs(ratio - 0.2) for ratio in ratios) < 0.005
