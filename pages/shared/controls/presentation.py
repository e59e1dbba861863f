"""Projector mode, set in the URL: ``projector=true`` enlarges type and hides the controls and the header.

It carries over to other pages until it is switched off.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from pages.shared import escaping

#: Factor of the type size in projector mode.
ENLARGEMENT = 1.4
_BASE_FONT = 15  # pixels, as in .streamlit/config.toml

_MODE = "projector mode"
_UNFOLDED = "controls unfolded"
_TITLE = "place of the title"

_HERE = Path(__file__).parent
_FOLDED = (_HERE / "projector_folded.css").read_text(encoding="utf-8")
_LARGE = (_HERE / "projector.css").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Projector:
    """The flag in the URL."""

    key = "projector"

    def sanitize(self, raw: list[str]) -> tuple[str | None, str | None]:
        if raw in (["true"], ["false"]):
            return raw[0], None
        asked = escaping.value_as_code(", ".join(raw))
        return None, f"The link asked for projector = {asked}; allowed is true or false, so it is ignored."


def read_flag() -> None:
    """Read the sanitized flag, or carry the previous page's flag over to the URL of this one."""
    if "projector" in st.query_params:
        st.session_state[_MODE] = st.query_params["projector"] == "true"
    elif projecting():
        st.query_params["projector"] = "true"


def projecting() -> bool:
    """Return whether projector mode is on."""
    return st.session_state.get(_MODE, False)


def folded(name: str, key: str | None = None):
    """Return a context for words: in projector mode a button that shows them, so that the picture comes first.

    With a key, the button is at the top of the page, in the line of the other buttons of the mode.
    """
    if not projecting():
        return nullcontext()
    place = st.container(key=key) if key else st
    return place.popover(name, icon=":material/info:", type="tertiary")


def apply_styles() -> None:
    """Apply the mode to a page, with a button to leave it."""
    if not projecting():
        return
    unfolded = st.session_state.get(_UNFOLDED, False)
    folded_style = "" if unfolded else _FOLDED
    st.html(f"<style>:root {{--projector-type: {_BASE_FONT * ENLARGEMENT:g}px}}{_LARGE}{folded_style}</style>")
    with st.container(horizontal=True, key="lecture"):
        st.button("Leave projector mode", icon=":material/close:", type="tertiary", on_click=leave_projector_mode)
        st.button(
            "Fold controls and pages" if unfolded else "Controls and pages",
            icon=":material/unfold_less:" if unfolded else ":material/menu:",
            type="tertiary",
            on_click=lambda: st.session_state.update({_UNFOLDED: not unfolded}),
        )


def keep_place() -> None:
    """Keep this place for the title, which comes before the controls and may depend on them."""
    st.session_state[_TITLE] = st.container(key="title")


def title_place():
    """Return the place that was kept, or a new one."""
    return st.session_state.pop(_TITLE, None) or st.container(key="title")


def show_button() -> None:
    """Show the button that enters the mode."""
    if not projecting():
        st.button(
            "Projector mode",
            key="projector_mode",
            help="Larger type, without controls and header: for a lecture.",
            type="tertiary",
            icon=":material/present_to_all:",
            on_click=enter_projector_mode,
        )


def enter_projector_mode() -> None:
    st.session_state[_MODE] = True
    st.query_params["projector"] = "true"
    st.rerun()  # the whole page, of which the button is a part that runs alone


def leave_projector_mode() -> None:
    st.session_state[_MODE] = False
    st.session_state[_UNFOLDED] = False
    st.query_params.pop("projector", None)


def enlarge(fig):
    """Return a Plotly figure, in projector mode with larger type and space for it."""
    if not projecting():
        return fig
    # Set sizes one by one: the theme sets them too, and may have read its size before the page was enlarged.
    small = {"size": round(11.5 * ENLARGEMENT)}
    large = {"size": round(13 * ENLARGEMENT)}
    axis = {"tickfont": small, "title_font": large}
    fig.update_xaxes(**axis).update_yaxes(**axis)
    fig.update_layout(font=small, hoverlabel={"font": small})
    layout = fig.layout
    for name in layout:
        if name.startswith("legend"):
            layout[name].font = small
        elif name.startswith("coloraxis"):
            layout[name].colorbar.update(tickfont=small, title={"font": small})
    for note in layout.annotations:
        if note.font.size:
            note.font.size = round(ENLARGEMENT * note.font.size)
    margin = {side: round(ENLARGEMENT * (layout.margin[side] or 0)) for side in "lrtb"}
    more = margin["t"] + margin["b"] - (layout.margin.t or 0) - (layout.margin.b or 0)
    return fig.update_layout(margin=margin, height=round(1.15 * layout.height) + more)
