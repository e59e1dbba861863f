"""Reads the app's own pages, as a browser would: what each shows for given settings.

Pages run in Streamlit's test harness. So the static edition has their texts, controls and packed data, and no copy of
them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
from streamlit.testing.v1 import AppTest

from pages.shared import browser, catalogue, deferred, lessons, live, sharing
from pages.shared.catalogue import BY_NAME
from pages.shared.controls import screen
from pages.shared.controls.own_points import OWN
from pages.shared.lesson import Lesson
from pages.shared.server import navigation
from pages.start.page import RADIO

ROOT = Path(__file__).parents[2]
#: Seconds that a page may take.
PATIENCE = 900
#: Kinds of elements that are texts, with the HTML element of each.
TEXTS = {"title": "h1", "header": "h2", "subheader": "h3", "markdown": "div", "caption": "div", "latex": "div"}
#: Kinds of elements that say in a sentence what the page cannot show.
NOTES = ("info", "warning")
#: Controls by the name that the test harness has for them.
CONTROLS = ("selectbox", "slider", "select_slider", "button_group", "toggle", "segmented_control")
#: Blocks that are left out, by the ends of their ids.
LEFT_OUT = ("unseen", "controls", "lessons", "presets", "ending", "first_steps", "link_note")


@dataclass(frozen=True)
class Control:
    """A control of the page."""

    key: str
    label: str
    help: str
    heading: str


@dataclass(frozen=True)
class Part:
    """A piece of a page: a text, the live view, a figure, a part that comes late, or columns or a fold with more."""

    kind: str
    text: str = ""
    """Words of a text, key of a figure, name of a late part, or the weight of a column"""
    parts: tuple[Part, ...] = ()
    figure: str = ""
    """A Plotly figure as JSON"""
    alt: str = ""
    """What screen readers say of the figure"""


@dataclass(frozen=True)
class Scene:
    """What a page shows for its settings."""

    settings: dict
    parts: tuple[Part, ...]
    view: dict | None
    """What the live view gets, if the page has one"""
    late: dict[str, tuple[Part, ...]] | None = None
    """The parts that the app shows once the reader scrolls near, by name; None if they were not computed"""
    numbers: str = ""
    """The table of the page as CSV, if the late parts were computed"""
    card: dict | None = None
    """What the card of a lesson gets"""
    preset: str = ""
    """The line below the presets"""
    controls: tuple[Control, ...] = field(default=(), compare=False)


class PageError(RuntimeError):
    """A page shows an error."""


class Reader:
    """One page of the app, in a session of its own.

    `tabs` is the control whose values are parts of the page.
    """

    def __init__(self, page: str, tabs: str = ""):
        screen.chooses_words = False  # the browser of the static edition does
        self.page, self.tabs = page, tabs
        self.app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
        deferred.waits, browser.interactive, live.has_server = True, False, False
        sharing.keep = self._keep
        self._run()
        if page != "start":
            self.app.session_state[navigation._ENTERED] = page
            self.app.switch_page(BY_NAME[page].script)
            self._run()
        self.defaults = self._values()

    def scene(self, settings: dict, full: bool = False) -> Scene:
        """Return the page with these settings, and the defaults of all others; if `full`, with all that is deferred."""
        deferred.waits = not full
        if self.page == "start":
            self.app.query_params[RADIO.key] = settings.get(RADIO.key, "")
        self._set(self.defaults | {key: value for key, value in settings.items() if key != self.tabs})
        self._run()
        scene = self._seen()
        if not full:
            return scene
        numbers = self._numbers().to_csv(index=False)
        return replace(scene, numbers=numbers, late=dict(self._late(scene.parts)) | dict(self._tabs()))

    def _keep(self, numbers: Callable[[], pd.DataFrame]) -> None:
        self._numbers = numbers

    def _late(self, parts: Iterable[Part]) -> Iterator[tuple[str, tuple[Part, ...]]]:
        for part in parts:
            if part.kind == "late":
                yield part.text, part.parts
            else:
                yield from self._late(part.parts)

    def _tabs(self) -> Iterator[tuple[str, tuple[Part, ...]]]:
        """Yield the parts behind each other tab of the page, with the tab's name as their heading."""
        if not self.tabs:
            return
        for name in [tab.label for tab in self.app.tabs][1:]:
            self.app.session_state[self.tabs] = name
            self._run()
            (tab,) = [one for one in self.app.tabs if one.label == name]
            yield name, (Part("header", name), *_without_late(_parts(tab)))
        self.app.session_state[self.tabs] = self.app.tabs[0].label
        self._run()

    def allowed(self, key: str) -> list[str]:
        """Return the values that a control allows, as texts."""
        control = next(one for one in self._controls() if one.key == key)
        if control.type != "slider":
            return list(control.options)
        steps = round((control.max - control.min) / control.step)
        return [f"{round(control.min + k * control.step, 6):g}" for k in range(steps + 1)]

    def settings(self, products: catalogue.Products) -> Iterator[dict]:
        """Yield the settings of products. `EVERY` does not stand for the reader's own points."""
        return catalogue.settings_of(products, lambda key: [one for one in self.allowed(key) if one != OWN])

    def presets(self) -> Iterator[tuple[str, str, Scene]]:
        """Yield the name of each preset of the page, what it is for, and what the page shows then."""
        offered = [(one.label, one.help or "") for one in self.app.button if (one.key or "").startswith("preset ")]
        for name, use in offered:
            self.app.button(key=f"preset {name}").click()
            self._run()
            yield name, use, self.scene(self._values(), full=True)

    def steps(self, lesson: Lesson) -> Iterator[tuple[Scene, Scene]]:
        """Yield what each step of a lesson shows, before and after the answer."""
        for k, step in enumerate(lesson.steps, 1):
            self.app.query_params.update(lessons.address(lesson, k))
            seen = []
            for answer, settings in ((None, lesson.before(k)), (step.right, lesson.after(k))):
                self.app.session_state[lessons._PLACE] = lessons.Place(lesson.key, k, answer)
                seen.append(self.scene(settings, full=True))
            yield seen[0], seen[1]

    def _run(self) -> None:
        self.app.run()
        for wrong in (*self.app.exception, *self.app.error):
            raise PageError(f"The page {self.page} shows an error: {getattr(wrong, 'value', '')}")

    def _controls(self) -> list:
        """Return the controls that have one value."""
        return [one for one in self._row() if one.type in CONTROLS and not isinstance(one.value, list)]

    def _row(self) -> list[Any]:
        return [element for key, row in _blocks(self.app.main) if key == "controls" for element in row]

    def _values(self) -> dict:
        return {control.key: control.value for control in self._controls()}

    def _set(self, values: dict) -> None:
        """Set controls, and repeat while one makes others appear."""
        while other := [one for one in self._controls() if one.value != values.get(one.key, one.value)]:
            for control in other:
                control.set_value(values[control.key])
            self._run()

    def _seen(self) -> Scene:
        sent = {part.proto.component_name: part.proto.json for part in self.app.get("bidi_component")}
        view = next((json.loads(text) for name, text in sent.items() if name.startswith("live_")), None)
        card = json.loads(sent["lesson_card"]) if "lesson_card" in sent else None
        line = [text for key, block in _blocks(self.app.main) if key == "preset_line" for text in _texts(block)]
        parts = tuple(_parts(self.app.main))
        if self.page == "start":
            parts = _first_figure(parts)
        code = {RADIO.key: view[RADIO.key]} if view and RADIO.key in view else {}
        settings = (view["settings"] if view else {}) | code | self._values()
        return Scene(settings, parts, view, None, "", card, "".join(line), tuple(self._described()))

    def _described(self) -> Iterator[Control]:
        heading = ""
        for one in self._row():
            if one.type == "markdown" and one.value.startswith("**"):
                heading = one.value.strip("*")
            elif one.type in CONTROLS and not isinstance(one.value, list):
                yield Control(one.key, one.label, one.help or "", heading)


def _key(block) -> str:
    """Return the key that the page gave to a block, or ""."""
    return getattr(block.proto, "id", "").rsplit("-", 1)[-1] if block.proto is not None else ""


def _blocks(block) -> Iterator[tuple[str, Any]]:
    for child in getattr(block, "children", {}).values():
        if hasattr(child, "children"):
            yield _key(child), child
            yield from _blocks(child)


def _texts(block) -> list[str]:
    return [one.value for one in block if one.type in TEXTS]


def _parts(block) -> Iterator[Part]:
    for child in block.children.values():
        if not hasattr(child, "children"):
            yield from _leaf(child)
        elif child.type == "expander":
            yield Part("fold", child.label, tuple(_parts(child)))
        elif child.type == "column":
            yield Part("column", f"{child.weight:g}", tuple(_parts(child)))
        elif _key(child).startswith("near_"):
            yield Part("late", _key(child).removeprefix("near_"), tuple(_parts(child)))
        elif _key(child) not in (*LEFT_OUT, "preset_line"):
            inner = tuple(_parts(child))
            yield from (Part("columns", parts=inner),) if inner and inner[0].kind == "column" else inner


def _without_late(parts: Iterable[Part]) -> Iterator[Part]:
    for part in parts:
        yield from part.parts if part.kind == "late" else (part,)


def _first_figure(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return the parts up to the caption of the live view."""
    live = [part.kind for part in parts].index("live")
    return parts[: live + 2]


def _leaf(element) -> Iterator[Part]:
    if element.type in TEXTS:
        yield Part(element.type, element.value)
    elif element.type in NOTES:
        yield Part("note", element.value)
    elif element.type == "plotly_chart":
        key = element.proto.id.rsplit("-", 1)[-1]
        yield Part("figure", key, figure=element.proto.spec, alt=element.proto.alt)
    elif element.type == "bidi_component" and element.proto.component_name.startswith("live_"):
        yield Part("live")
