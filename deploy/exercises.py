"""Write exercise sheets and their keys: `python -m deploy.exercises --output FOLDER`.

A sheet is a lesson of the app on paper: its questions, links that open the settings, and space for answers. Its last
exercise has a seed of its own for each version, so that neighbours read different numbers; the key has those that the
engine computes. Sheets are pages that a browser prints, or Markdown.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a traceback, also while it imports modules

from deploy.site import words
from pages.components.catalogue import BY_NAME, Reading
from pages.components.controls.toy import SEED
from pages.components.controls.widgets import as_text, without_headings
from pages.components.lessons import content, numbers

#: Of lessons with another last exercise than that of their page, by key.
READINGS = {
    "theorem-that-fails": Reading(
        "the share of simulated samples in which the printed Theorem 4 fails",
        "{after.printed_failures:.1%}",
        changed={"question": "Does it hold?"},
    )
}
LETTERS = "ABCDEFGH"
LINES = "\n\n".join(["_" * 60] * 3)
_SCREENS = re.compile(r"\[\[([^|\]]*)\|[^\]]*\]\]|<<([^|>]*)\|[^>]*>>")
STYLE = """
body {font: 11pt/1.45 "Source Sans 3", "Source Sans Pro", sans-serif}
body {max-width: 46rem; margin: 2rem auto; padding: 0 1rem}
h1 {font-size: 1.5rem} h2 {font-size: 1.1rem; margin: 1.6rem 0 .3rem; break-after: avoid}
section {break-inside: avoid} p {margin: .4rem 0} ul {list-style: none; padding: 0; margin: .4rem 0}
a {color: inherit} @media print {a::after {content: " (" attr(href) ")"; font-size: 8pt; overflow-wrap: anywhere}}
.answer {height: 4.5rem; border-bottom: 1px solid #999; margin-bottom: .5rem}
.narrow, .dark {display: none} .who {display: flex; gap: 2rem; color: #555}
@page {margin: 18mm}
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what the command line asks for."""
    given = parse(arguments)
    last = given.first_seed + given.versions - 1
    if given.versions < 1 or not 0 <= given.first_seed <= last <= SEED.high:
        asked = f"--versions {given.versions} from --first-seed {given.first_seed}"
        print(f"{asked}: seeds are 0 to {SEED.high}, and at least one version is needed.", file=sys.stderr)
        return 2
    write = write_html if given.format == "html" else write_markdown
    try:
        for lesson in (one for one in content.LESSONS if one.key in (given.lessons or [one.key])):
            for seed in range(given.first_seed, last + 1):
                for key in (False, True):
                    write(given.output / ("keys" if key else "sheets"), lesson, seed, given.address, key)
    except OSError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{given.output / 'sheets'} has the sheets, {given.output / 'keys'} their keys.")
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(prog="python -m deploy.exercises", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("exercises"), help="folder, by default ./exercises")
    parser.add_argument("--address", default="http://localhost:8501", help="of the app, for the links")
    parser.add_argument("--lessons", nargs="+", choices=[lesson.key for lesson in content.LESSONS], help="only these")
    parser.add_argument("--versions", type=int, default=1, help="of each sheet, with a seed each (default 1)")
    parser.add_argument("--first-seed", type=int, default=1, help=f"0 to {SEED.high} (default 1)")
    parser.add_argument("--format", choices=("html", "markdown"), default="html")
    return parser.parse_args(arguments)


@dataclass(frozen=True)
class Exercise:
    """One exercise in Markdown, with its solution."""

    heading: str
    text: str
    solution: str


def exercises(lesson: content.Lesson, seed: int, address: str) -> Iterator[Exercise]:
    """The steps of a lesson, and a number to read with a seed of its own."""
    for number, step in enumerate(lesson.steps, 1):
        settings = {"before": lesson.before(number), "after": lesson.after(number), "also": lesson.also(number)}
        text, question, outcome, *answers = filled(
            lesson.page, settings, step.text, step.question, step.outcome, *step.answers
        )
        choices = "\n".join(f"- ☐ {letter}. {answer}" for letter, answer in zip(LETTERS, answers, strict=False))
        before = f"[The settings before]({link(lesson.page, settings['before'], address)})"
        after = f"[and after]({link(lesson.page, settings['after'], address)})"
        yield Exercise(
            f"{number}.",
            f"{text}\n\n**{question}** Predict before you look.\n\n{choices}\n\n{before}, {after}. Why is it so?",
            f"{question} **{LETTERS[step.right]}: {answers[step.right]}**\n\n{outcome}",
        )
    reading = READINGS.get(lesson.key) or BY_NAME[lesson.page].reading
    if reading is None:
        raise ValueError(f"The page {lesson.page} has a lesson, and its record no reading for the last exercise.")
    mine = lesson.after(len(lesson.steps)) | reading.changed | {"seed": seed}
    yield Exercise(
        f"{len(lesson.steps) + 1}. Your own seed: {seed}",
        f"Open [these settings]({link(lesson.page, mine, address)}), with other random points and frequencies than "
        f"your neighbour's. Read {reading.what}. Why does your neighbour read another number?",
        f"**{filled(lesson.page, {'after': mine}, reading.value)[0]}**\n\nAnother seed draws other points or other "
        "frequencies, so neighbours read different numbers; how far they lie apart is the spread of the draws.",
    )


def filled(page: str, settings: dict[str, dict], *texts: str) -> list[str]:
    """Texts with the numbers of the engine at these settings."""
    values = {name: SimpleNamespace(**complete(page, chosen)) for name, chosen in settings.items()}
    return [numbers.fill(text, page, values) for text in texts]


def complete(page: str, settings: dict) -> dict:
    """Values of all controls of a page; those that are not set have the page's default."""
    return {key: settings.get(key, default) for key, default in defaults(page).items()}


def defaults(page: str) -> dict:
    """The default of each control of a page."""
    controls: list[Any] = without_headings(import_module(f"pages.{page}").CONTROLS)
    return {control.key: control.default for control in controls}


def link(page: str, settings: dict, address: str) -> str:
    """The address of the page with these settings."""
    usual = defaults(page)
    query = {key: as_text(value) for key, value in settings.items() if value != usual[key]}
    return f"{address.rstrip('/')}/{page}" + (f"?{urlencode(query)}" if query else "")


def write_markdown(folder: Path, lesson: content.Lesson, seed: int, address: str, key: bool) -> None:
    """Write a sheet, or its key, as Markdown."""
    parts = [f"# {title(lesson, seed, key)}", lesson.takeaway]
    for one in exercises(lesson, seed, address):
        parts += [f"## {one.heading}", one.solution if key else f"{one.text}\n\n{LINES}"]
    _write(folder / f"{lesson.key}-{seed}.md", _SCREENS.sub(r"\1\2", "\n\n".join(parts)) + "\n")


def write_html(folder: Path, lesson: content.Lesson, seed: int, address: str, key: bool) -> None:
    """Write a sheet, or its key, as a page of its own that prints on A4 and Letter."""
    space = "" if key else '<div class="answer"></div>'
    who = "" if key else f'<p class="who"><span>Name: {"_" * 26}</span><span>Date: {"_" * 12}</span></p>'
    parts = [
        f"<section><h2>{words.inline(one.heading)}</h2>{words.html(one.solution if key else one.text)}{space}</section>"
        for one in exercises(lesson, seed, address)
    ]
    name = escape(title(lesson, seed, key))
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{name}</title>'
    body = f"<h1>{name}</h1>{who}<p>{words.inline(lesson.takeaway)}</p>{''.join(parts)}"
    page = f'<!doctype html><html lang="en"><head>{head}<style>{STYLE}</style></head><body>{body}</body></html>'
    _write(folder / f"{lesson.key}-{seed}.html", page + "\n")


def title(lesson: content.Lesson, seed: int, key: bool) -> str:
    return f"{'Key: ' if key else ''}{lesson.title} (version {seed})"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
