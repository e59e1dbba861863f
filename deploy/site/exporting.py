"""What one page of the static edition consists of: scenes in files of their own, and all else in its description."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from deploy.site import words
from deploy.site.grid import Edition
from deploy.site.reading import Control, Part, Reader, Scene
from pages.components.lessons import content, numbers as lesson_numbers
from pages.components.sharing import as_text

#: What the browser adds to the data of a live view.
_SETTINGS_OF_VIEW = ("settings", "hidden", "clickable", "alone", "chosen")
_SHOWN_PRESET = "**Shown"


@dataclass
class Exported:
    """A page: its description for the browser, and its HTML."""

    edition: Edition
    title: str
    opening: str
    body: str
    description: dict
    lessons: list[dict] = field(default_factory=list)


def packed_file(name: str, data: dict) -> str:
    """A file of data: a script that hands over JSON, compressed by gzip, as base64."""
    packed = gzip.compress(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(), 9, mtime=0)
    return f'takeExported("{name}","{b64encode(packed).decode("ascii")}")\n'


class Texts:
    """The texts of a page, of which some differ from scene to scene."""

    def __init__(self, parts: Iterable[Part]):
        self.own = list(_texts(parts))

    def other(self, parts: Iterable[Part]) -> dict[str, str]:
        """The texts that differ, by their places.

        Raises
        ------
        ValueError
            If the parts have other kinds than those of the page.
        """
        found = list(_texts(parts))
        if [part.kind for part in found] != [part.kind for part in self.own]:
            raise ValueError("A page has other kinds of texts for other settings.")
        pairs = enumerate(zip(found, self.own, strict=True))
        return {str(place): text_html(part) for place, (part, own) in pairs if part != own}


def _texts(parts: Iterable[Part]) -> Iterator[Part]:
    for part in parts:
        if part.kind == "fold":
            yield from _texts(part.parts)
        elif part.kind != "live":
            yield part


def text_html(part: Part) -> str:
    """The inside of a text's element."""
    if part.kind == "latex":
        return words.display(part.text)
    return words.html(part.text) if part.kind in ("markdown", "caption") else words.inline(part.text)


def page_html(parts: Iterable[Part], view: str) -> str:
    """The parts of a page, each text with its place."""
    places = iter(range(10**6))
    tags = {"title": "h1", "header": "h2", "subheader": "h3"}

    def draw(part: Part) -> str:
        if part.kind == "live":
            return f'<div class="live-place">{view}</div>'
        if part.kind == "fold":
            inside = "".join(map(draw, part.parts))
            return f'<details class="fold"><summary>{words.inline(part.text)}</summary>{inside}</details>'
        tag = tags.get(part.kind, "div")
        return f'<{tag} class="{part.kind}" data-text="{next(places)}">{text_html(part)}</{tag}>'

    return "".join(map(draw, parts))


def export_page(edition: Edition, view_html: str, folder: Path, only_defaults: bool = False) -> Exported:
    """Compute a page for all its settings, write its data, and return the rest.

    `only_defaults` leaves out products, presets and lessons.
    """
    reader = Reader(edition.page)
    scenes, presets, lessons = _scenes_of(reader, edition, only_defaults)
    default = scenes[0]
    sliders = sorted(default.view["settings"])
    keys = [key for key in default.settings if key not in sliders and key not in edition.numbers_only]
    texts = Texts(default.parts)
    table = _write_scenes(scenes, keys, texts, folder / edition.page)
    # The title and what follows it, up to the live view, come before presets and lessons.
    live = [part.kind for part in default.parts].index("live")
    html = page_html(default.parts, view_html).partition('<div class="live-place">')
    own = next((scene.preset for scene in scenes if not scene.preset.startswith(_SHOWN_PRESET)), "")
    description = {
        "page": edition.page,
        "defaults": _shown(default.settings, [*keys, *sliders]),
        "controls": list(_controls(default.controls, keys, table)),
        "sliders": {key: reader.allowed(key) for key in sliders},
        "scenes": table,
        "choices": reader.allowed("bound") if "bound" in keys else [],
        "presets": [
            {"name": name, "help": help_, "line": words.inline(scene.preset)}
            | {"settings": _shown(scene.settings, [*keys, *sliders])}
            for name, help_, scene in presets
        ],
        "own": words.inline(own),
    }
    title = next(part.text for part in default.parts[:live] if part.kind == "title")
    written = [_lesson(lesson, steps, [*keys, *sliders]) for lesson, steps in lessons]
    return Exported(edition, title, html[0], "".join(html[1:]), description, written)


def _scenes_of(reader: Reader, edition: Edition, only_defaults: bool) -> tuple[list[Scene], list, list]:
    if only_defaults:
        return [reader.scene({})], [], []
    scenes = [reader.scene(settings) for settings in edition.settings()]
    presets = list(reader.presets())
    lessons = [(lesson, list(reader.steps(lesson))) for lesson in reader.lessons()]
    shown = [scene for _, steps in lessons for both in steps for scene in both]
    return [*scenes, *(scene for *_, scene in presets), *shown], presets, lessons


def _shown(settings: dict, keys: Iterable[str]) -> dict[str, str]:
    return {key: as_text(settings[key]) for key in keys if key in settings}


def _write_scenes(scenes: list[Scene], keys: list[str], texts: Texts, folder: Path) -> list[dict]:
    """Write a file for each view, with the words of all scenes that show it; return the scenes with their files."""
    table: list[dict] = []
    files: dict[str, dict] = {}
    known: set[tuple] = set()
    for scene in scenes:
        settings = _shown(scene.settings, keys)
        if tuple(settings.items()) in known:
            continue
        known.add(tuple(settings.items()))
        view = {name: value for name, value in scene.view.items() if name not in _SETTINGS_OF_VIEW}
        file = files.setdefault(view["version"], {"view": view, "scenes": {}})
        file["scenes"][len(table)] = {"texts": texts.other(scene.parts), "chosen": scene.view["chosen"]}
        table.append({"settings": settings, "file": view["version"]})
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / f"{name}.js").write_text(packed_file(name, data), encoding="utf-8")
    return table


def _controls(controls: Iterable[Control], keys: list[str], table: list[dict]) -> Iterator[dict]:
    """The controls that have more than one value."""
    for control in controls:
        if control.key in keys:
            values = list(
                dict.fromkeys(row["settings"][control.key] for row in table if control.key in row["settings"])
            )
            if all(_is_number(value) for value in values):
                values.sort(key=float)
            if len(values) > 1:
                yield vars(control) | {"values": values}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _lesson(lesson: content.Lesson, shown: list[tuple[Scene, Scene]], keys: list[str]) -> dict:
    steps = [_step(before, after, step, keys) for (before, after), step in zip(shown, lesson.steps, strict=True)]
    return {"key": lesson.key, "title": lesson.title, "takeaway": lesson.takeaway, "steps": steps}


def _step(before: Scene, after: Scene, step: content.Step, keys: list[str]) -> dict:
    # Only texts with numbers belong to the step's own settings.
    numbers = any(map(lesson_numbers.names, (step.text, step.question, step.outcome, *step.answers)))
    card = dict(before.card or {}) | {"outcome": (after.card or {})["outcome"], "numbers": numbers, "answer": None}
    del card["moved"], card["next"], card["app"]
    return {"before": _shown(before.settings, keys), "after": _shown(after.settings, keys), "card": card}
