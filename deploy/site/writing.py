"""Writes the static edition: pages, the app's own JavaScript and style sheets, and the data of each page."""

from __future__ import annotations

import json
import logging
import multiprocessing
import shutil
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from html import escape
from itertools import pairwise
from pathlib import Path
from string import Template

from plotly.offline import get_plotlyjs

from deploy.site import words
from deploy.site.exporting import Exported, export_page
from deploy.site.packing import packed
from pages.shared import glossary
from pages.shared.browser import as_expression, join_modules
from pages.shared.catalogue import Page
from pages.shared.glossary import TERMS
from pages.shared.lessons import content
from pages.shared.live import parts as live

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COMPONENTS = ROOT / "pages" / "shared"
#: Components of the app that every page has in addition to its live view.
MODULES = {"card": "lessons/card.js", "tip": "glossary/tip.js", "row": "sharing/row.js"}
STYLES = ("lessons/card.css", "glossary/tip.css", "sharing/row.css")
#: Plotly's library for plane figures, a third of the whole. package-lock.json pins this npm package to the version that
#: the Python package contains. Both contain their licence.
PLANE = ROOT / "tests" / "javascript" / "node_modules" / "plotly.js-cartesian-dist-min" / "plotly-cartesian.min.js"
#: What a page may load: files of its own host or folder, and what its scripts make of these. It sends nothing anywhere.
POLICY = (
    "default-src 'none'; script-src 'self' file: blob:; style-src 'self' file: 'unsafe-inline'; "
    "img-src 'self' file: blob: data:; media-src blob:; base-uri 'none'; form-action 'none'"
)
#: A folder with this file holds a former export.
_MARK = "assets/site.js"


def read(name: str) -> str:
    """Read the text of a file of the app's components."""
    return (COMPONENTS / name).read_text(encoding="utf-8")


def site_script() -> str:
    """Return the script that all pages share. Each page's own script starts it with its live view."""
    parts = {name: join_modules(COMPONENTS / path, live.CONSTANTS) for name, path in MODULES.items()}
    shared = ",\n".join(f"{name}: {as_expression(text)}" for name, text in parts.items())
    return (
        f"const startPage = {as_expression(join_modules(HERE / 'site.js'))};\nconst sharedParts = {{\n{shared}\n}};\n"
    )


def view_script(view: str) -> str:
    """Return the script of a page: its live view and its start."""
    return f"startPage({{ ...sharedParts, live: {as_expression(live.script(view))} }});\n"


def site_style() -> str:
    """Return the style sheet of all pages: the app's own sheets, and the frame around them."""
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    own = Template((HERE / "site.css").read_text(encoding="utf-8")).substitute(
        base=theme["baseFontSize"], light=theme["light"]["primaryColor"], dark=theme["dark"]["primaryColor"]
    )
    return "\n".join([live.read("live.css"), *map(read, STYLES), own])


def prepare(folder: Path) -> None:
    """Empty a folder that holds a former export. Raise a ValueError if it holds anything else, or is no folder."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; the export needs a folder.")
    if folder.exists() and any(folder.iterdir()):
        if not (folder / _MARK).exists():
            raise ValueError(f"{folder} is not empty and holds no former export; choose another folder, or empty it.")
        for name in ("data", "assets"):
            shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "assets").mkdir(parents=True, exist_ok=True)


def silence() -> None:
    """Drop what each run of a page logs: that there is no browser."""
    logger = logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context")
    logger.addFilter(lambda record: record.levelno > logging.WARNING)


def export(folder: Path, pages: Sequence[Page], only_defaults: bool = False, processes: int = 2) -> None:
    """Write the static edition into a folder; see `prepare`."""
    prepare(folder)
    write_shared(folder)
    data = folder / "data"
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer=silence) as pool:
        tasks = [pool.submit(export_page, page, live.html(page.view), data, only_defaults) for page in pages]
        exported = [task.result() for task in tasks]
    write_pages(folder, exported)


def write_shared(folder: Path) -> None:
    """Write what all pages share. This marks the folder as an export, in case the rest is interrupted."""
    (folder / "assets" / "site.js").write_text(site_script(), encoding="utf-8")
    (folder / "assets" / "site.css").write_text(site_style(), encoding="utf-8")
    library = PLANE.read_bytes() if PLANE.exists() else get_plotlyjs().encode()
    (folder / "assets" / "plotly.js").write_text(packed("plotly", library), encoding="utf-8")


def write_pages(folder: Path, exported: Sequence[Exported]) -> None:
    """Write the pages and their scripts."""
    lessons = {lesson["key"]: (page, lesson) for page in exported for lesson in page.lessons}
    order = [key for key in (lesson.key for lesson in content.all_lessons()) if key in lessons]
    following = {
        key: {"page": _lesson_address(*lessons[after]), "title": lessons[after][1]["title"]}
        for key, after in pairwise(order)
    }
    for page in exported:
        (folder / "assets" / f"{page.record.view}.js").write_text(view_script(page.record.view), encoding="utf-8")
        extra = _overview(exported, [lessons[key] for key in order]) if not page.record.path else ""
        text = page_text(page, exported, following, extra)
        (folder / file_of(page.record)).write_text(text, encoding="utf-8")
    (folder / "glossary.html").write_text(_glossary(exported), encoding="utf-8")


def file_of(page: Page) -> str:
    """Return the name of a page's file."""
    return f"{page.path or 'index'}.html"


def page_text(page: Exported, exported: Sequence[Exported], following: dict, extra: str) -> str:
    """Return the HTML of a page."""
    terms = {term.key: [term.name, term.meaning] for term in TERMS}
    description = page.description | {"lessons": page.lessons, "following": following, "terms": terms}
    return _filled(
        "page",
        page.record.title,
        menu=_menu(exported, page.record),
        opening=page.opening,
        body=page.body + extra,
        row=read("sharing/row.html"),
        tip=glossary.TIP,
        card=read("lessons/card.html"),
        description=_as_json(description),
        script=page.record.view,
    )


def _filled(name: str, title: str, **parts: str) -> str:
    """Return an HTML file of this folder below the head that all pages share, with their places filled."""
    text = "".join((HERE / f"{part}.html").read_text(encoding="utf-8") for part in ("head", name))
    full = escape(f"{title} – PAC-Bayesian random Fourier features")
    return Template(text).substitute(policy=POLICY, title=full, **parts)


def _as_json(value) -> str:
    """Return JSON that may stand inside an element of a page."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _menu(exported: Sequence[Exported], here: Page | None) -> str:
    links = [
        f'<a href="{file_of(page.record)}"{_current(page.record is here)}>{escape(page.record.title)}</a>'
        for page in exported
    ]
    return "".join([*links, f'<a href="glossary.html"{_current(here is None)}>Glossary</a>'])


def _current(whether: bool) -> str:
    return ' aria-current="page"' if whether else ""


def _lesson_address(page: Exported, lesson: dict) -> str:
    return f"{file_of(page.record)}#lesson={lesson['key']}&step=1"


def _overview(exported: Sequence[Exported], lessons: Iterable[tuple[Exported, dict]]) -> str:
    """Return links to the other pages, and to all lessons."""
    pages = "".join(
        f'<li><a href="{file_of(page.record)}"><strong>{escape(page.record.title)}</strong><br>'
        f"{words.inline(page.title)}</a></li>"
        for page in exported
        if page.record.path
    )
    shown = "".join(
        f'<li><a href="{escape(_lesson_address(page, lesson))}"><strong>{escape(lesson["title"])}.</strong> '
        f"{words.inline(lesson['takeaway'])}</a></li>"
        for page, lesson in lessons
    )
    short = f'<h2>Short lessons</h2><ul class="links">{shown}</ul>' if shown else ""
    return f'<h2>Pages</h2><ul class="links pages">{pages}</ul>{short}'


def _glossary(exported: Sequence[Exported]) -> str:
    terms = "".join(f'<h2 id="{escape(term.key)}">{escape(term.name)}</h2>{words.html(term.meaning)}' for term in TERMS)
    return _filled("glossary", "Glossary", menu=_menu(exported, None), terms=terms)
