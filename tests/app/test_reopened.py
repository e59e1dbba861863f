"""A session that opens the link of another has its settings, when all controls of a page have been moved.

The browser's tabs are simulated (`benchmarks.tab`), the server is real.
"""

from __future__ import annotations

import random
from typing import NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from benchmarks.app_response import served
from benchmarks.load import paste_table
from benchmarks.tab import Tab, as_text
from pages.shared.controls.widgets import Control, Tabs
from tests import loops

from .sessions import PAGES, controls_of

#: Names of the tabs of a page; they are no controls of the sidebar, and `tests/browser/test_live.py` opens their links.
TABS = {"question"}
#: Other data may be missing on this machine, and the page then says so in place of its last row, with the link.
CHOSEN = {("real_data", "dataset"): "adult"}


@pytest.fixture(scope="module")
def server():
    with served() as address:
        yield address


def in_sidebar(page: str) -> list[Control]:
    """The controls of the sidebar."""
    return [one for one in controls_of(page) if not isinstance(one, Tabs)]


async def move(tab: Tab, key: str, name: str | None = None) -> None:
    """Give a control a name of its options, by default any other value."""
    (control,) = [one for one in tab.widgets if one.parameter == key]
    value = control.another(tab.values[control.id], tab.choices)
    if name is not None:
        value = name if isinstance(control.default, str) else (name,)
    await tab.set(control, value)


def as_texts(value) -> list[str]:
    return [as_text(one) for one in (value if isinstance(value, tuple) else (value,))]


def assert_in_links(tab: Tab) -> None:
    """The address has the settings that are not the default, and the copied link has all."""
    copied, address = tab.component("sharing")[1]["query"], parse_qs(urlsplit(tab.address).query)
    for one in tab.widgets:
        if one.parameter:
            expected = sorted(as_texts(tab.values[one.id]))
            assert sorted(text for key, text in copied if key == one.parameter) == expected
            in_address = expected if tab.values[one.id] != one.default else []
            assert sorted(address.get(one.parameter, [])) == in_address, one.parameter
    assert {key for key, _ in copied} - TABS == tab.settings.keys()
    assert address.keys() <= tab.settings.keys()


class Seen(NamedTuple):
    """What a tab has now."""

    address: str
    settings: dict[str, list]
    """Values of each control; those of several choices have no order"""
    link: list[list[str]]
    """Keys and values of the copied link"""


def settings_of(tab: Tab) -> dict[str, list]:
    return {key: sorted(value) if isinstance(value, tuple) else [value] for key, value in tab.settings.items()}


def seen(tab: Tab) -> Seen:
    return Seen(tab.address, settings_of(tab), sorted(tab.component("sharing")[1]["query"]))


async def assert_same_again(server: str, link: str, known: Seen) -> None:
    """A new session that opens a link has the settings that are known."""
    async with Tab(server, link, random.Random(0)) as again:
        assert settings_of(again) == known.settings
        if urlsplit(link).path == "your_data":  # an upload is of its session
            await paste_table(again)
        assert not again.faults
        assert seen(again).link == known.link


async def walk(server: str, page: str) -> list[str]:
    """Move every control, take moves back and make one again; return what has been moved.

    The link is opened before a move takes controls of the page away, and at the end.
    """
    moved = []
    async with Tab(server, page, random.Random(page)) as tab:
        if page == "your_data":
            await paste_table(tab)
        for control in in_sidebar(page):
            if control.key not in tab.settings:  # it applies for another value of an earlier one
                await move(tab, control.only_if[0], control.only_if[1][0])
            known = seen(tab)
            await move(tab, control.key, CHOSEN.get((page, control.key)))
            assert_in_links(tab)
            if not known.settings.keys() <= tab.settings.keys():
                await assert_same_again(server, known.address, known)
            moved.append(control.key)
        known = seen(tab)
        await assert_same_again(server, known.address, known)
        for button in ("Undo", "Undo", "Redo"):
            await tab.press(button)
            assert_in_links(tab)
        known = seen(tab)
        await assert_same_again(server, f"{page}?{urlencode([tuple(one) for one in known.link])}", known)
        assert not tab.faults
    return moved


@pytest.mark.more(after=1)
@pytest.mark.slow("moves every control of a page on a server")
@pytest.mark.parametrize("page", PAGES)
def test_a_new_session_with_the_link_has_the_settings(page, server):
    moved = loops.run(walk(server, page))
    assert moved == [control.key for control in in_sidebar(page)]
