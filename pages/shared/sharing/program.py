"""The program of a page: its `compute.py`, which computes the page's numbers and imports the library alone.

`program` returns its text with the page's settings in its block "# The experiment".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pages.shared.catalogue import BY_NAME

_OPENING = "# The experiment"
_SETTING = re.compile(r"(?P<indent> *)(?P<name>\w+) = [^#]*?(?P<comment>  # .*)?")


@cache
def text(page: str) -> str:
    """Return the program as it is, with the settings of the page's defaults."""
    return (Path(__file__).parents[3] / BY_NAME[page].script).with_name("compute.py").read_text(encoding="utf-8")


def program(page: str, settings: Mapping) -> str:
    """Return the program of a page with these settings; only its block of settings changes.

    A setting named “# name” is the comment of that name.

    Raises
    ------
    KeyError
        If a setting of the block is not given. Settings that are not in the block are ignored.
    """
    lines = text(page).splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.strip() == _OPENING) + 1
    for i in range(start, lines.index("\n", start)):
        indent, name, comment = _SETTING.fullmatch(lines[i].rstrip("\n")).group("indent", "name", "comment")
        comment = f"  # {settings[f'# {name}']}" if f"# {name}" in settings else comment or ""
        lines[i] = f"{indent}{name} = {_literal(settings[name])}{comment}\n"
    return "".join(lines)


def _literal(value) -> str:
    """Return a value as Python source."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    # Visitors choose names of files: repr escapes marks of writing direction and all other invisible characters.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) and value.isprintable() else repr(value)
