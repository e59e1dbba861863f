"""Texts for the reader's screen."""

import pytest

from pages.shared.controls import screen


@pytest.mark.parametrize(
    ("narrow", "dark", "text"),
    [
        (False, False, "On the right, white."),
        (True, False, "Below, white."),
        (False, True, "On the right, dark grey."),
        (True, True, "Below, dark grey."),
    ],
)
def test_words_name_places_and_colours_as_the_screen_shows_them(monkeypatch, narrow, dark, text):
    monkeypatch.setattr(screen, "narrow", lambda: narrow)
    monkeypatch.setattr(screen, "dark", lambda: dark)
    assert screen.words("[[On the right|Below]], <<white|dark grey>>.") == text
    assert screen.words("f[[, on the left,|]] |x| < 1 [a](b)") == (
        "f |x| < 1 [a](b)" if narrow else "f, on the left, |x| < 1 [a](b)"
    )
