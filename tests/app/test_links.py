"""Names in links: labels show them, and unknown ones are ignored with a note; codes of moved frequencies."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared.controls.moved_frequencies import MOVED, decode

from .sessions import PAGES, controls_of, link, opened

GREEK = {"beta": "β", "sigma": "σ", "nu": "ν", "mu": "μ", "eps": "ε", "rho": "ρ"}


def notes(app: AppTest) -> list[str]:
    """Warnings about the link; a page may warn of rows that another test has left in the store as well."""
    return [warning.value for warning in app.warning if warning.value.startswith("The link")]


def address(app: AppTest) -> dict[str, str]:
    """The query in the browser's address bar."""
    return {name: "".join(app.query_params[name]) for name in app.query_params}


@pytest.mark.parametrize("page", PAGES)
def test_a_symbol_of_a_label_is_the_name_in_the_link(page):
    controls = controls_of(page)
    keys = {control.key for control in controls}
    for control in controls:
        symbols = set(re.findall(r"(?<!/)\b[A-Za-z]\b|[α-ω]", control.label))  # ρ/N is a value of ρ
        if len(control.key) == 1 or control.key in GREEK:
            assert GREEK.get(control.key, control.key) in symbols, control.label
        # a symbol in the label of another control would be mistaken for its name
        assert not (symbols & keys) - {control.key}, control.label


@pytest.mark.more(after=2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "query", "said", "left"),
    [
        ("kernel", {"N": "500", "D": "7"}, ["N"], {"D": "7"}),
        ("kernel", {"<b>": "1", "picks": "3", "D": "7"}, ["<b>, picks"], {"D": "7"}),
        ("landmarks", {"picks": "3", "how": "clicked"}, [], {"picks": "3", "how": "clicked"}),
        ("foundations", {"lesson": "move", "seed": "3"}, ["lesson"], {"seed": "3"}),
        (
            "your_data",
            {"view": "error against D", "hide": "D", "pin": "x", "star": "0,0", "table": "x", "sample": "White wine"},
            [],
            {"sample": "White wine"},
        ),
        ("kernel", {"view": "line", "hide": "all", "D": "7"}, [], {"D": "7"}),
        ("kernel", {"utm_source": "mail", "fbclid": "x"}, [], {"utm_source": "mail", "fbclid": "x"}),
    ],
)
def test_an_unknown_name_is_ignored_with_a_note(page, query, said, left):
    app = opened(page, **query)
    assert len(notes(app)) == len(said)
    for note, names in zip(notes(app), said, strict=True):
        assert note.startswith(f"The link asked for ` {names!r} `, no setting of this page; allowed is any of ")
        assert note.count(",") <= 6 + len(names) and note.endswith(" ignored.")
    assert address(app) == left


@pytest.mark.slow
def test_an_unknown_name_is_answered_with_those_spelled_alike():
    (note,) = notes(opened("landmarks", betta="3"))
    assert "; allowed is any of beta, " in note and note.endswith(" others, so it is ignored.")


@pytest.mark.slow
def test_errata_page_accepts_projector_mode_only():
    app = opened("errata", projector="true", N="5")
    assert "Leave projector mode" in [button.label for button in app.button]
    (note,) = notes(app)
    assert note.endswith("no setting of this page; allowed is any of projector, so it is ignored.")


@pytest.mark.slow
def test_the_copied_link_keeps_the_lesson_and_its_step():
    asked = {"lesson": "average-of-cosines", "step": "2"}
    app = opened("kernel", **asked)
    assert link(app).items() >= asked.items()
    assert not asked.keys() & link(opened("kernel")).keys()


def test_a_code_names_frequencies_that_are_moved():
    assert decode("") == ()
    assert decode("3_1.25~7_-0.5") == ((3, 1.25), (7, -0.5))


@pytest.mark.parametrize(
    "code", ["3", "3_", "_1", "3_1~3_2", "3_1~", "100_1", "3_41", "3_1e9", "3_nan", "3_1~x", "³_1"]
)
def test_what_is_no_code_of_moved_frequencies_is_answered_in_a_sentence(code):
    taken, note = MOVED.sanitize([code])
    assert taken is None and note.startswith("The link asked for moved = ")
    assert "numbered below 100, places up to 40" in note


@pytest.mark.parametrize("sent", [None, 7, ["3_1"], {"3": 1}, "3_1~3_1", "<b>"])
def test_what_a_browser_sends_in_place_of_a_code_changes_nothing(sent, monkeypatch):
    kept = {"moved": "3_1.25"}
    monkeypatch.setattr("pages.shared.controls.widgets.st.query_params", kept)
    MOVED.take(sent)
    assert kept == {"moved": "3_1.25"}
    MOVED.take("")
    assert kept == {}
