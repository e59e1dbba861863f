"""One short program per page that recomputes its numbers with the engine alone, from the repository's root.

Its function `numbers` makes the table from results, for the page too; the code below it is the experiment itself.
`program` returns the text of a recipe with other settings in the block at its top.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pages.shared.catalogue import BY_NAME

_OPENING = "# The experiment"
_SETTING = re.compile(r"(?P<name>\w+) = [^#]*?(?P<comment>  # .*)?")


@cache
def _text(page: str) -> str:
    script = Path(__file__).parents[3] / BY_NAME[page].script
    return script.with_name("recipe.py").read_text(encoding="utf-8")


def program(page: str, settings: Mapping) -> str:
    """The recipe of a page with these settings; only its block of settings changes.

    A setting named “# name” is the comment of that name.

    Raises
    ------
    KeyError
        If a setting of the block is not given. Settings that are not in the block are ignored.
    """
    lines = _text(page).splitlines(keepends=True)
    start = lines.index(f"{_OPENING}\n") + 1
    for i in range(start, lines.index("\n", start)):
        name, comment = _SETTING.fullmatch(lines[i].rstrip("\n")).group("name", "comment")
        comment = f"  # {settings[f'# {name}']}" if f"# {name}" in settings else comment or ""
        lines[i] = f"{name} = {_literal(settings[name])}{comment}\n"
    return "".join(lines)


def _literal(value) -> str:
    """A value as Python source."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    # Names of files are a visitor's: repr escapes marks of writing direction and all else that cannot be seen.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) and value.isprintable() else repr(value)
