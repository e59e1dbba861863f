"""Start here: the first picture has the numbers of the program, and its links its settings."""

from __future__ import annotations

import base64
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import live, sharing
from pages.shared.catalogue import PAGES
from pages.shared.lessons import content

ROOT = Path(__file__).parents[2]
#: Pages of the story, as the menu orders them.
STORY = ("kernel", "landmarks", "learn_kernel", "bounds", "real_data")


@pytest.fixture(scope="module")
def page():
    """The page, with what it gave to the live view and the table that it offers."""
    with pytest.MonkeyPatch.context() as patch:
        given, show = [], live.mount
        patch.setattr(live, "mount", lambda *args, **kwargs: (given.append(args), show(*args, **kwargs)))
        offer = sharing.offer
        patch.setattr(sharing, "offer", lambda *args: (given.append(args[3]()), offer(*args)))
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()
    assert not app.exception and not app.error
    return app, given


def links(app: AppTest) -> list[tuple[str, dict]]:
    """Page and settings of every link."""
    found = [link.proto for link in app.get("page_link")]
    return [(link.page, {key: value for key, (value,) in parse_qs(link.query_string).items()}) for link in found]


@pytest.mark.second
def test_the_first_picture_has_the_numbers_of_the_program(page):
    _, ((name, packed, values, _), table) = page
    assert name == "opening" and values.beta == 1.0
    errors = table[table["table"] == "first picture, at beta = 1"].set_index("similarity")["test_error"]
    assert packed["prior_test"] == errors["prior"] > 1.5 * errors["learned"]
    landmarks = np.frombuffer(base64.b64decode(packed["landmarks"]), "<f4")
    assert len(landmarks) == 2 * len(packed["rows"]) == 6


@pytest.mark.slow
def test_the_first_links_lead_to_its_settings_and_to_the_first_lesson_on_landmarks(page):
    app, _ = page
    first, second = links(app)[:2]
    assert first == ("landmarks", {"data": "moons", "beta": "1", "D": "20", "sigma": "0.501", "landmarks": "3"})
    lesson = next(iter(content.lessons_of("landmarks").values()))
    assert second == (lesson.page, {"lesson": lesson.key, "step": "1"})


@pytest.mark.slow
def test_the_story_has_the_order_of_the_menu(page):
    app, _ = page
    told = [name for name, _ in links(app)[2:] if name in STORY]
    assert tuple(dict.fromkeys(told)) == STORY
    assert [page.name for page in PAGES if page.name in STORY] == list(STORY)
    assert [header.value.split(".")[0] for header in app.header[:5]] == ["1", "2", "3", "4", "5"]
