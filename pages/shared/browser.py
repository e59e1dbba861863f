"""Makes parts of a page that run in the browser from files in one folder: JavaScript, HTML and style sheets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from pages.shared.javascript import join_modules


def component(name: str, script: Path, html: str | None = None, styles: Sequence[str] = ()):
    """Make a component of a script and style sheets in its folder, and `html` or the HTML file of the same name."""
    return st.components.v2.component(
        name,
        html=script.with_suffix(".html").read_text(encoding="utf-8") if html is None else html,
        css="".join(script.with_name(style).read_text(encoding="utf-8") for style in styles) or None,
        js=join_modules(script),
        isolate_styles=False,
    )
