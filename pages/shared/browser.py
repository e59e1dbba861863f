"""Parts of a page that run in the browser: JavaScript, HTML and style sheets of one folder.

The modules of a part are joined to one ES module, which Streamlit takes, or to one expression for a page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

_IMPORT = re.compile(r'^import \{\s*\w+(?:,\s*\w+)*,?\s*\} from "(\.[\w./-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const|let) )", re.MULTILINE)
_DEFAULT = re.compile(r"^export default\b", re.MULTILINE)
_UNKNOWN = re.compile(r"^(?:import\b|export (?!default\b)).*|\bimport\s*[(.].*", re.MULTILINE)

#: False in tests and in the static edition, where nobody unfolds and one run sends all: figures have their details.
interactive = True

#: Module of the values that Python writes.
CONSTANTS = "constants.js"


def join_modules(entry: Path, constants: Mapping[str, Any] | None = None) -> str:
    """Return a module and all that it imports as one module that exports only the entry's default.

    Every file imports others by ``import { a, b } from "./file.js";`` and exports declarations; names at the top of
    the files are distinct. `constants` has the values of names imported from a "constants.js".

    Raises
    ------
    ValueError
        If a file imports or exports in another form, or files import each other in a circle.
    """
    texts = {CONSTANTS: "".join(f"const {name} = {json.dumps(value)};\n" for name, value in (constants or {}).items())}

    def add(path: Path, importers: tuple[str, ...]) -> None:
        name = CONSTANTS if path.name == CONSTANTS else path.as_posix()
        if name in importers:
            raise ValueError(f"Modules import each other: {' -> '.join(Path(one).name for one in (*importers, name))}.")
        if name in texts:
            return
        text = path.read_text(encoding="utf-8")
        for imported in _IMPORT.findall(text):
            add((path.parent / imported).resolve(), (*importers, name))
        text = _EXPORT.sub("", _IMPORT.sub("", text))
        if unknown := _UNKNOWN.search(text) or (_DEFAULT.search(text) if importers else None):
            raise ValueError(f"{path.name} has an import or export of an unknown form: {unknown.group()}")
        texts[name] = text

    add(entry.resolve(), ())
    return "\n".join(texts.values())


def as_expression(module: str) -> str:
    """Return a joined module as an expression of its default export: pages opened as files may load no modules."""
    return f"(() => {{\n{_DEFAULT.sub('return', module)}}})()"


def component(name: str, script: Path, html: str | None = None, styles: Sequence[str] = ()):
    """Make a component of a script and style sheets in its folder, and `html` or the HTML file of the same name."""
    return st.components.v2.component(
        name,
        html=script.with_suffix(".html").read_text(encoding="utf-8") if html is None else html,
        css="".join(script.with_name(style).read_text(encoding="utf-8") for style in styles) or None,
        js=join_modules(script),
        isolate_styles=False,
    )
