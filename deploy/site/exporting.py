"""What one page of the static edition consists of: scenes in files of their own, and all else in its description.

A page has two tables of scenes: one for the live view and the words around it, one for the sections below with Plotly
figures, which take longer to compute and so have fewer settings.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from itertools import combinations, zip_longest
from pathlib import Path

from deploy.site import plots, samples, words
from deploy.site.packing import as_json, packed_file
from deploy.site.reading import TEXTS, Control, Part, Reader, Scene
from pages.landmarks.page import MAX_LANDMARKS, TOO_MANY
from pages.shared.catalogue import Grid, Page
from pages.shared.controls.moved_frequencies import MOVED
from pages.shared.controls.widgets import as_text
from pages.shared.lesson import Lesson
from pages.shared.lessons import content
from pages.start.page import RADIO

#: What a reader sets by hand in a live view, as a code.
_CODES = (MOVED.key, RADIO.key)
#: What the browser adds to the data of a live view.
_SETTINGS_OF_VIEW = ("settings", "clickable", "chosen", *_CODES)
#: Controls that a click in a live view sets.
_CHOSEN = ("bound", "dataset")
#: The landmarks that a reader has clicked, in a link.
_PICKS = "picks"


@dataclass
class Exported:
    """A page: its description for the browser, and its HTML."""

    record: Page
    title: str
    opening: str
    body: str
    description: dict
    lessons: list[dict] = field(default_factory=list)


def other_texts(default: Scene, scene: Scene) -> dict[str, str]:
    """Return texts that differ from the page's own, by place. Raise a ValueError if kinds of texts differ."""
    pairs = [*zip_longest(_texts(scene.parts), _texts(default.parts))]
    if any(part is None or own is None or part.kind != own.kind for part, own in pairs):
        raise ValueError("A page has other kinds of texts for other settings.")
    return {str(place): text_html(part) for place, (part, own) in enumerate(pairs) if part and part != own}


def _texts(parts: Iterable[Part]) -> Iterator[Part]:
    for part in parts:
        if part.kind == "fold":
            yield from _texts(part.parts)
        elif part.kind not in ("live", "late"):
            yield part


def text_html(part: Part) -> str:
    """Return the HTML inside a text's element."""
    if part.kind == "latex":
        return words.display(part.text)
    return words.html(part.text) if part.kind in ("markdown", "caption") else words.inline(part.text)


def page_html(parts: Iterable[Part], view: str) -> str:
    """Return the HTML of a page's parts: each text with its place, and an empty section for each late part."""
    places = iter(range(10**6))

    def html_of(part: Part) -> str:
        if part.kind == "live":
            return f'<div class="live-place">{view}</div>'
        if part.kind == "late":
            return section_html(part.text)
        if part.kind == "fold":
            return _fold_html(part, html_of)
        tag = TEXTS.get(part.kind, "div")
        return f'<{tag} class="{part.kind}" data-text="{next(places)}">{text_html(part)}</{tag}>'

    return "".join(map(html_of, parts))


def _fold_html(part: Part, html_of) -> str:
    inside = "".join(map(html_of, part.parts))
    return f'<details class="fold"><summary>{words.inline(part.text)}</summary>{inside}</details>'


def section_html(name: str) -> str:
    """Return the HTML of an empty section, which the browser fills."""
    return f'<section class="late" data-section="{escape(name)}"></section>'


def section_of(parts: Iterable[Part]) -> dict:
    """Return the HTML of parts, and their figures. Deferred parts are left out, as they have sections too."""
    figures: dict[str, dict] = {}

    def html_of(part: Part) -> str:
        if part.kind == "late":
            return ""
        if part.kind == "figure":
            figures[part.text] = plots.compact(part.figure)
            return _figure_html(part, *plots.heights(figures[part.text]))
        if part.kind == "fold":
            return _fold_html(part, html_of)
        if part.kind in ("columns", "column"):
            share = f' style="--share: {part.text}"' if part.kind == "column" else ""
            return f'<div class="{part.kind}"{share}>{"".join(map(html_of, part.parts))}</div>'
        tag = TEXTS.get(part.kind, "div")
        return f'<{tag} class="{part.kind}">{text_html(part)}</{tag}>'

    return {"html": "".join(map(html_of, parts)), "figures": figures}


def write_once(folder: Path, data: dict) -> str:
    """Write data unless their file exists, and return its name."""
    name = hashlib.sha256(as_json(data)).hexdigest()[:16]
    path = folder / f"{name}.js"
    if not path.exists():
        path.write_text(packed_file(name, data), encoding="utf-8")
    return name


def _figure_html(part: Part, wide: int, narrow: int) -> str:
    key = re.sub("[^a-zA-Z0-9_-]", "-", part.text)  # as in the app's classes
    return (
        f'<div class="plot st-key-{key}" data-plot="{escape(part.text)}" style="--wide: {wide}px; --narrow: '
        f'{narrow}px"><div data-testid="stPlotlyChart" role="img" aria-label="{escape(part.alt)}"></div></div>'
    )


def export_page(page: Page, view_html: str, folder: Path, only_defaults: bool = False) -> Exported:
    """Compute a page for all its settings, write its data, and return the rest.

    `only_defaults` leaves out products, presets and lessons.
    """
    grid = page.grid or Grid()
    reader = Reader(page.name, grid.tabs)
    clicks = _clicks(reader) if grid.samples and page.view == "landmarks" else None
    scenes, presets, lessons = _scenes_of(reader, grid, only_defaults)
    default = scenes[0]
    beside = samples.SCALES.get(page.view, ()) if grid.samples else ()
    sliders = sorted(set(default.view["settings"]) - set(beside)) if default.view else []
    known = dict.fromkeys(key for scene in scenes for key in scene.settings if key not in _CODES)
    keys = [key for key in known if key not in (*sliders, *grid.sections_only)]
    every = [*keys, *sliders, *grid.sections_only]
    (folder / page.name).mkdir(parents=True)
    computed = [] if only_defaults else [default.settings | values for values in reader.settings(grid.samples)]
    views = _views(page, scenes, keys, folder, computed) if default.view else []
    sections = _write_sections(scenes, every, folder / page.name)
    most = max(scenes, key=lambda scene: len(scene.controls))  # some controls come with others
    scales = {key: reader.allowed(key) for key in beside}
    chooses = next((key for key in _CHOSEN if key in keys), "")
    codes = [_PICKS] if clicks else [key for key in _CODES if key in (default.view or ())]
    every += codes
    description = {
        "page": page.name,
        "defaults": _shown(_first_values(scenes), every),
        "controls": list(_controls(most.controls, keys, views or sections, scales)),
        "sliders": {key: reader.allowed(key) for key in sliders},
        "names": {control.key: control.label for control in most.controls},
        "scenes": views,
        "sections": sections,
        "follows": followed(sections),
        "chooses": chooses,
        "choices": reader.allowed(chooses) if chooses else [],
        "computes": page.view if grid.samples else None,
        "clicks": clicks,
        "codes": codes,
        "words": _words(page, reader, scenes) if grid.samples else {},
        "presets": [
            {"name": name, "help": help_, "line": words.inline(scene.preset)}
            | {"settings": _shown(scene.settings, [*keys, *sliders] + [_PICKS] * bool(clicks))}
            for name, help_, scene in presets
        ],
    }
    opening, body = _halves(default, view_html)
    title = next(part.text for part in default.parts if part.kind == "title")
    written = [_lesson(lesson, steps, every) for lesson, steps in lessons]
    return Exported(page, title, opening, body, description, written)


def _scenes_of(reader: Reader, grid: Grid, only_defaults: bool) -> tuple[list[Scene], list, list]:
    default = reader.scene({}, full=True)
    if only_defaults:
        return [default], [], []
    scenes = [default, *(reader.scene(one) for one in reader.settings(grid.products))]
    scenes += [reader.scene(one, full=True) for one in reader.settings(grid.sections)]
    presets = list(reader.presets())
    lessons = [(lesson, list(reader.steps(lesson))) for lesson in content.lessons_of(reader.page).values()]
    shown = [scene for _, steps in lessons for both in steps for scene in both]
    return [*scenes, *(scene for *_, scene in presets), *shown], presets, lessons


def _first_values(scenes: list[Scene]) -> dict:
    """Return the page's own settings, and for each control that it hides the value in the first scene that shows it."""
    values: dict = {}
    for scene in reversed(scenes):
        values |= scene.settings
    return values


def _shown(settings: dict, keys: Iterable[str]) -> dict[str, str]:
    settings = dict.fromkeys((_PICKS, *_CODES), "") | settings
    return {key: as_text(settings[key]) for key in keys if key in settings}


def _clicks(reader: Reader) -> dict:
    """Return what a page says of clicked landmarks, how many there may be, and the controls that do not apply."""
    default = reader.scene({})
    seen = reader.scene({"how": "clicked"})
    (note,) = [part.text for part in seen.parts if part.kind == "note"]
    gone = [key for key in default.settings if key not in seen.settings]
    return {"none": note, "most": MAX_LANDMARKS, "too_many": TOO_MANY, "gone": gone}


def _words(page: Page, reader: Reader, scenes: list[Scene]) -> dict[str, dict[str, str]]:
    """Return texts that differ from the page's own, by the value of the control that changes them.

    Raise a ValueError if other settings change them too.
    """
    key = samples.IN_WORDS.get(page.view, "")
    values = reader.allowed(key) if key else []
    read = {value: other_texts(scenes[0], reader.scene({key: float(value)})) for value in values}
    for scene in scenes:
        if scene.view is not None and other_texts(scenes[0], scene) != read.get(
            as_text(scene.settings.get(key, "")), {}
        ):
            raise ValueError(f"Words of the page {page.name} follow {scene.settings}, not {key or 'nothing'} alone.")
    return {value: texts for value, texts in read.items() if texts}


def _views(page: Page, scenes: list[Scene], keys: list[str], folder: Path, more: list[dict]) -> list[dict]:
    """Write what a live view needs, and the samples of `more` settings; return the settings with their files."""
    if not (page.grid and page.grid.samples):
        return _write_views(scenes, keys, folder / page.name)
    needed = list(dict.fromkeys(map(samples.Sample.of, [*(scene.settings for scene in scenes), *more])))
    samples.write(page.view, needed, folder / samples.FOLDER)
    return list(samples.rows(page.view, needed))


def _halves(default: Scene, view_html: str) -> tuple[str, str]:
    """Split the HTML of a page into the part before presets and lessons, which has the title, and the rest."""
    late = list(default.late or ())
    before, *rest = page_html(default.parts, view_html).partition('<div class="live-place">')
    placed = [part.text for part in default.parts if part.kind == "late"]
    return before, "".join([*rest, *(section_html(name) for name in late if name not in placed)])


def _different(scenes: list[Scene], keys: list[str], part: str) -> Iterator[tuple[Scene, dict, dict[str, str]]]:
    """Yield the first scene that has a part at each combination of settings, the part, and the settings."""
    first: dict[tuple, Scene] = {}
    for scene in scenes:
        if getattr(scene, part) is not None:
            first.setdefault(tuple(_shown(scene.settings, keys).items()), scene)
    return ((scene, getattr(scene, part), dict(settings)) for settings, scene in first.items())


def _write_views(scenes: list[Scene], keys: list[str], folder: Path) -> list[dict]:
    """Write a file for each view, with the words of all scenes that show it; return the scenes with their files."""
    table: list[dict] = []
    files: dict[str, dict] = {}
    for scene, seen, settings in _different(scenes, keys, "view"):
        view = {name: value for name, value in seen.items() if name not in _SETTINGS_OF_VIEW}
        file = files.setdefault(view["version"], {"view": view, "scenes": {}})
        file["scenes"][len(table)] = {"texts": other_texts(scenes[0], scene), "chosen": seen["chosen"]}
        table.append({"settings": settings, "file": view["version"]})
    for name, data in files.items():
        (folder / f"{name}.js").write_text(packed_file(name, data), encoding="utf-8")
    return table


def _write_sections(scenes: list[Scene], keys: list[str], folder: Path) -> list[dict]:
    """Write a file for each section and each table of numbers; return the scenes with these files."""
    table: list[dict] = []
    for scene, late, settings in _different(scenes, keys, "late"):
        files = {name: write_once(folder, section_of(section)) for name, section in late.items()}
        numbers = write_once(folder, {"csv": scene.numbers})
        table.append({"settings": settings, "sections": files, "numbers": numbers})
    return table


def followed(table: list[dict]) -> dict[str, list[str]]:
    """Return the settings that each section follows: all except those that change alone and leave it the same."""
    if not table:
        return {}
    unmoved: dict[str, set[str]] = {name: set() for name in table[0]["sections"]}
    moved: dict[str, set[str]] = {name: set() for name in unmoved}
    for one, other in combinations(table, 2):
        differing = [key for key, value in one["settings"].items() if other["settings"].get(key) != value]
        if len(differing) == 1:
            for name, file in one["sections"].items():
                (unmoved if other["sections"].get(name) == file else moved)[name].update(differing)
    keys = table[0]["settings"]
    return {name: [key for key in keys if key in moved[name] or key not in unmoved[name]] for name in unmoved}


def _controls(
    controls: Iterable[Control], keys: list[str], table: list[dict], scales: dict[str, list[str]]
) -> Iterator[dict]:
    """Yield the controls with more than one value. Controls of `scales` have all values of the app."""
    for control in controls:
        if control.key in scales:
            yield vars(control) | {"values": scales[control.key], "scale": True}
        elif control.key in keys:
            rows = (row["settings"] for row in table)
            values = list(dict.fromkeys(row[control.key] for row in rows if control.key in row))
            with suppress(ValueError):  # names keep their order
                values.sort(key=float)
            if len(values) > 1:
                yield vars(control) | {"values": values}


def _lesson(lesson: Lesson, shown: list[tuple[Scene, Scene]], keys: list[str]) -> dict:
    steps = [_step(before, after, keys) for before, after in shown]
    return {"key": lesson.key, "title": lesson.title, "takeaway": lesson.takeaway, "steps": steps}


def _step(before: Scene, after: Scene, keys: list[str]) -> dict:
    card = dict(before.card or {}) | {"outcome": (after.card or {})["outcome"], "answer": None}
    del card["moved"], card["next"], card["app"]
    return {"before": _shown(before.settings, keys), "after": _shown(after.settings, keys), "card": card}
