"""Parts of a page that run in the browser: a JavaScript module, with HTML and style sheets in the files beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from rff_engine.figures.live.javascript import join_modules


def component(name: str, script: Path, html: str | None = None, styles: Sequence[str] = ()):
    """The component of a script, with this HTML or else the file beside it, and style sheets beside it."""
    return st.components.v2.component(
        name,
        html=script.with_suffix(".html").read_text(encoding="utf-8") if html is None else html,
        css="".join(script.with_name(style).read_text(encoding="utf-8") for style in styles) or None,
        js=join_modules(script),
        isolate_styles=False,
    )
