"""Start here: the radio has the numbers of the program, and the links their settings."""

from __future__ import annotations

import base64
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import live, sharing
from pages.shared.catalogue import BY_NAME, PAGES
from pages.shared.lessons import content
from pages.start import compute
from pages.start.page import RADIO

ROOT = Path(__file__).parents[2]


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
def test_the_radio_has_the_data_of_the_program(page):
    _, ((name, packed, _), table) = page
    assert name == "radio" and packed["radio"] == ""
    assert list(table["similarity"]) == ["kernel", "posterior"] and table["test_error"].iloc[0] == 0.5
    assert [one["name"] for one in packed["sets"]] == list(compute.STATIONS)
    draws = np.frombuffer(base64.b64decode(packed["candidates"]), "<f4")
    assert np.array_equal(draws, compute.candidate_draws().ravel())


@pytest.mark.slow
def test_the_first_link_leads_to_many_stars(page):
    app, _ = page
    assert links(app)[0] == ("landmarks", {"data": "moons", "landmarks": "3"})


def test_a_code_names_what_is_set_on_the_radio():
    assert compute.decode("") == compute.Tuning()
    code = "moons~12-480~0.5~300~0.2~posterior~-0.3~1"
    assert compute.decode(code) == compute.Tuning("moons", (12, 480), 0.5, 300, 0.2, True, (-0.3, 1.0))


@pytest.mark.parametrize(
    "code",
    [
        "swissroll~~1~2000~0.251",
        "moons~12-12~1~2000~0.251",
        "moons~2000~1~2000~0.251",
        "own.AAAA~~1~2000~0.5",
        "own.~~1~2000~0.5",
        "moons~~31~2000~0.251",
        "moons~~1~9~0.251",
        "moons~~1~2000~nan",
        "moons~~1~2000~2",
        "moons~~1~2000~0.251~3.1~0",
        "moons~~1~2000~0.251~0.3",
        "moons~" + "-".join(map(str, range(21))) + "~1~2000~0.251",
        "<b>",
    ],
)
def test_what_is_no_code_of_the_radio_is_answered_in_a_sentence(code):
    taken, note = RADIO.sanitize([code])
    assert (
        taken is None
        and note.startswith("The link asked for radio = ")
        and "So the radio starts from the beginning." in note
    )


def test_an_outcome_keeps_the_waves_that_a_reader_has_found():
    own, shown = "checkerboard~5-9~3~1000~0.251~0.1~0.2", "checkerboard~1791-143~1~2000~0.251~posterior"
    assert RADIO.outcome(own, shown) == "checkerboard~5-9~1~2000~0.251~posterior"
    assert {RADIO.outcome(other, shown) for other in ("", "moons~5~1~2000~0.251")} == {shown}
    assert RADIO.outcome(own, shown.removesuffix("~posterior")) == shown.removesuffix("~posterior")


@pytest.mark.slow
def test_the_path_has_every_page_in_the_order_of_the_menu_and_every_lesson(page):
    app, _ = page
    path = links(app)[1:]
    pages = [BY_NAME[name] for name, settings in path if "lesson" not in settings]
    assert pages == list(PAGES[1:])
    lessons = [settings["lesson"] for _, settings in path if "lesson" in settings]
    assert lessons == [lesson.key for lesson in content.all_lessons() if lesson.page != "start"]
