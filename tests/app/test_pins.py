"""A against B: the pinned settings are in the link, and both sides show what the page shows for their settings."""

from __future__ import annotations

import json
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from pages import landmarks
from pages.components.controls import own_points
from pages.components.controls.pins import DEFAULTS, Pin
from pages.components.controls.widgets import Number, Options, Scale, Switch

from .sessions import link, opened

CODE = own_points.encode([[0, 0], [0, 1], [1, 1], [1, 0]], [1, 1, -1, -1])
PIN = Pin(
    (
        "a heading",
        Options("data", "Data", None, ("moons", "xor", own_points.OWN), "moons"),
        Number("n", "Points n", None, 20, 1000, 300, 10, only_if=("data", ("moons", "xor"))),
        Number("noise", "Noise", None, 0.0, 0.5, 0.1, 0.01),
        Scale("beta", "Inverse temperature β", None, (0.1, 1.0, 10.0), 1.0),
        Switch("plain", "Plain figures", None, False),
        Switch("union", "Union", None, False),
    )
)
VALUES = {"data": "moons", "n": 300, "noise": 0.1, "beta": 1.0, "plain": False, "union": False, "points": ""}


def values(**changed) -> SimpleNamespace:
    return SimpleNamespace(**VALUES | changed)


def test_the_text_holds_what_differs_from_the_defaults():
    assert PIN.text(values()) == DEFAULTS
    assert PIN.text(values(noise=0.3, beta=10.0, plain=True, union=True)) == "noise=0.3&beta=10&union=true"
    assert PIN.text(values(data=own_points.OWN, points=CODE)) == f"data=your+own+points&points={CODE}"


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"n": 20, "noise": 0.29, "union": True},
        {"beta": 10.0, "data": "xor"},
        {"data": own_points.OWN, "points": CODE},
    ],
)
def test_a_text_gives_its_settings_back(changed, monkeypatch):
    text = PIN.text(values(**changed))
    assert PIN.sanitize([text]) == (text, None)
    monkeypatch.setattr("pages.components.controls.pins.st", SimpleNamespace(query_params={"pin": text}))
    other = values(beta=0.1, noise=0.5, data="xor")
    pinned = PIN.settle(other)
    assert pinned is not None and not PIN.differences(pinned, values(**changed))


@pytest.mark.parametrize(
    ("raw", "taken", "said"),
    [
        ("beta=1e9", "beta=10", "beta"),
        ("beta=10&D=7", "beta=10", "D"),
        ("nonsense", None, "nonsense"),
        ("data=elsewhere", None, "elsewhere"),
        ("data=your+own+points", None, "without them"),
        ("data=your+own+points&points=x", None, "points"),
        ("x" * 5000, None, "pin"),
        ("", None, "pin"),
    ],
)
def test_what_is_not_allowed_in_a_pin_is_named(raw, taken, said):
    sanitized, note = PIN.sanitize([raw])
    assert sanitized == taken and note is not None and said in note and "\n" not in note and len(note) < 700
    if sanitized:
        assert PIN.sanitize([sanitized]) == (sanitized, None)


@pytest.mark.slow
def test_differences_are_named_by_label():
    a, b = values(beta=0.1), values(n=20, plain=True)
    assert PIN.differences(a, b) == ["Points n 300 → 20", "Inverse temperature β 0.1 → 1"]
    own = values(data=own_points.OWN, points=CODE)
    assert PIN.differences(own, values(data=own_points.OWN, points=CODE + CODE[:4])) == ["other points"]


# --- pages ----------------------------------------------------------------------------------------------------------


def headings(app: AppTest) -> list[str]:
    return [part.value for part in app.markdown if part.value.startswith(("**A", "**B"))]


@pytest.mark.second
def test_a_pin_keeps_the_settings_that_are_seen():
    app = opened("landmarks", beta="100", data="circles", plain="true")
    assert not headings(app)
    app.button("pin_settings").click().run()
    assert "".join(app.query_params["pin"]) == "beta=100&data=circles"
    assert headings(app)[0].startswith("**A → B:** nothing yet")
    app.session_state["beta"] = 1.0
    app.run()
    changes, first, second = headings(app)
    assert changes == "**A → B:** Inverse temperature β 100 → 1"
    # A shows the errors that the page shows at its settings.
    titles = [
        note["text"]
        for part in opened("landmarks", beta="100", data="circles", plain="true").get("plotly_chart")
        for note in json.loads(part.proto.spec)["layout"].get("annotations", ())
    ]
    error = first.split("test error ")[1].split(",")[0]
    assert any("learned" in title and f"test error {error}" in title for title in titles)
    assert first != second.replace("B", "A").replace("now", "pinned")
    assert link(app)["pin"] == "beta=100&data=circles"
    app.button("unpin").click().run()
    assert not headings(app) and "pin" not in app.query_params


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "pinned"), [("learn_kernel", "data=xor&N=100"), ("landmarks", "how=clicked&picks=3-7")]
)
def test_a_link_with_a_pin_opens_with_both_sides(page, pinned):
    app = opened(page, pin=pinned)
    assert len(headings(app)) == 3 and link(app)["pin"] == pinned and not app.warning
    charts = [part.proto.id for part in app.get("plotly_chart")]
    assert sum("compared_" in key for key in charts) == 2


@pytest.mark.slow
def test_points_can_be_pinned_against_a_toy_data_set():
    text = urlencode({"data": own_points.OWN, "points": CODE})
    app = opened("landmarks", pin=text)
    changes, first, second = headings(app)
    assert f"{own_points.OWN} → moons" in changes and "error on noisy copies" in first and "test error" in second


def test_the_pin_of_the_page_knows_all_its_controls():
    assert set(landmarks.PIN.controls) == {"beta", "D", "sigma", "how", "landmarks", "data", "noise", "n", "seed", "C"}
