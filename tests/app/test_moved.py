"""Frequencies that the reader moves: their code, and what a link or a browser may send in its place."""

from __future__ import annotations

import pytest

from pages.shared.controls.moved_frequencies import MOVED, decode


def test_a_code_names_frequencies_and_places():
    assert decode("") == ()
    assert decode("3_1.25~7_-0.5") == ((3, 1.25), (7, -0.5))


@pytest.mark.parametrize(
    "code", ["3", "3_", "_1", "3_1~3_2", "3_1~", "100_1", "3_41", "3_1e9", "3_nan", "3_1~x", "³_1"]
)
def test_what_is_no_code_is_answered_in_a_sentence(code):
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
