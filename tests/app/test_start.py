"""Start here: the radio has the numbers of the program, and the links their settings."""

from __future__ import annotations

import base64
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import live, sharing
from pages.shared.catalogue import PAGES
from pages.start import compute
from pages.start.page import RADIO

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
def test_the_radio_has_the_data_of_the_program(page):
    _, ((name, packed, _), table) = page
    assert name == "radio" and packed["radio"] == ""
    rows = table[table["table"] == "tune the radio"]
    assert list(rows["similarity"]) == ["kernel", "posterior"] and rows["test_error"].iloc[0] == 0.5
    assert [one["name"] for one in packed["sets"]] == list(compute.STATIONS)
    draws = np.frombuffer(base64.b64decode(packed["candidates"]), "<f4")
    assert np.array_equal(draws, compute.candidate_draws().ravel())


@pytest.mark.slow
def test_the_first_link_leads_to_many_stars(page):
    app, _ = page
    assert links(app)[0] == ("landmarks", {"data": "moons", "beta": "1", "D": "20", "sigma": "0.501", "landmarks": "3"})


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


@pytest.mark.slow
def test_the_story_has_the_order_of_the_menu(page):
    app, _ = page
    told = [name for name, _ in links(app)[1:] if name in STORY]
    assert tuple(dict.fromkeys(told)) == STORY
    assert [page.name for page in PAGES if page.name in STORY] == list(STORY)
    assert [header.value.split(".")[0] for header in app.header[:5]] == ["1", "2", "3", "4", "5"]
