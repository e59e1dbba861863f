"""Presentation mode: larger type for a projector, and controls hidden by name, both set in the URL.

``projector=true`` enlarges and hides the sidebar and the header; ``hide=beta,D`` or ``hide=all`` hides controls, whose
values still apply. Both carry over to other pages until they are switched off. A live view keeps its sliders under
``hide=all``; ``hide=all,beta`` hides that one too.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from pages.components import escaping

#: Factor of the type size in projector mode.
ENLARGEMENT = 1.4
_BASE_FONT = 15  # pixels, as in .streamlit/config.toml

_ALL = "all"
_MODE = "presentation mode"
_UNFOLDED = "controls unfolded"

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


@dataclass(frozen=True)
class Hide:
    """The names of hidden controls in the URL."""

    known: tuple[str, ...]
    """Controls of the page"""
    key = "hide"

    def sanitize(self, raw: list[str]) -> tuple[str | None, str | None]:
        asked = [name.strip() for name in ",".join(raw).split(",") if name.strip()]
        asked = list(dict.fromkeys(asked))
        text = ",".join(name for name in asked if name in (_ALL, *self.known)) or None
        unknown = [name for name in asked if name not in (_ALL, *self.known)]
        if not unknown:
            return text, None
        return text, (
            f"The link asked to hide {escaping.value_as_code(', '.join(unknown))}, no control of this page; "
            f"allowed is any of {escaping.allowed((_ALL, *self.known), unknown[0])}."
        )


def parameters(controls) -> tuple[Projector, Hide]:
    """The flags of a page with these controls, to be sanitized like controls."""
    return Projector(), Hide(tuple(control.key for control in controls))


def read_flags(keys) -> None:
    """Read the sanitized flags, and carry those of the previous page over to the URL of this one."""
    mode = st.session_state.setdefault(_MODE, {"projector": False, "hide": ()})
    if "projector" in st.query_params:
        mode["projector"] = st.query_params["projector"] == "true"
    elif mode["projector"]:
        st.query_params["projector"] = "true"
    here = _text(mode["hide"], keys)
    asked = st.query_params.get("hide")
    if asked is None and here:
        st.query_params["hide"] = here
    elif asked is not None and asked != here:
        mode["hide"] = tuple(asked.split(","))


def _text(hide, keys) -> str:
    """The hidden controls as the URL of a page with these controls lists them."""
    return ",".join(key for key in hide if key in (_ALL, *keys))


def projecting() -> bool:
    """Whether projector mode is on."""
    return st.session_state.get(_MODE, {}).get("projector", False)


def folded(name: str, key: str | None = None):
    """A context for words: in projector mode a button that shows them, for the picture to come first.

    With a key, the button is at the top of the page, in the line of the other buttons of the mode.
    """
    if not projecting():
        return nullcontext()
    place = st.container(key=key) if key else st
    return place.popover(name, icon=":material/info:", type="tertiary")


def hidden(key: str) -> bool:
    """Whether a control is hidden in the sidebar."""
    return hidden_by_name(_ALL) or hidden_by_name(key)


def hidden_by_name(key: str) -> bool:
    """Whether a control is hidden by its own name, and so in a live view too."""
    return key in st.session_state.get(_MODE, {}).get("hide", ())


def apply_styles(keys) -> None:
    """Apply the mode to a page with these controls, with a button to leave it."""
    unfolded = st.session_state.get(_UNFOLDED, False)
    styles = [f":root {{--projector-type: {_BASE_FONT * ENLARGEMENT:g}px}}", _LARGE] if projecting() else []
    if projecting() and not unfolded:
        styles.append(_FOLDED)
    styles += [f".st-key-{key} {{display: none}}" for key in keys if hidden(key)]
    if styles:
        st.html(f"<style>{''.join(styles)}</style>")
    if projecting():
        with st.container(horizontal=True, key="lecture"):
            st.button("Leave projector mode", icon=":material/close:", type="tertiary", on_click=leave_projector_mode)
            st.button(
                "Fold controls and pages" if unfolded else "Controls and pages",
                icon=":material/unfold_less:" if unfolded else ":material/menu:",
                type="tertiary",
                on_click=lambda: st.session_state.update({_UNFOLDED: not unfolded}),
            )


def show_buttons(keys) -> None:
    """Buttons at the end of the sidebar: enter projector mode, and show hidden controls."""
    count = sum(map(hidden, keys))
    if count:
        st.button(
            f"Show {count} hidden control{'s' if count > 1 else ''}", icon=":material/visibility:", on_click=show_all
        )
    if not projecting():
        st.button(
            "Projector mode",
            key="projector_mode",
            help="Larger type, without sidebar and header: for a lecture.",
            type="tertiary",
            icon=":material/present_to_all:",
            on_click=enter_projector_mode,
        )


def enter_projector_mode() -> None:
    st.session_state[_MODE]["projector"] = True
    st.query_params["projector"] = "true"


def leave_projector_mode() -> None:
    """Leave projector mode and show all controls."""
    st.session_state[_MODE]["projector"] = False
    st.session_state[_UNFOLDED] = False
    st.query_params.pop("projector", None)
    show_all()


def show_all() -> None:
    st.session_state[_MODE]["hide"] = ()
    st.query_params.pop("hide", None)


def enlarge(fig):
    """A Plotly figure, in projector mode with larger type and space for it."""
    if not projecting():
        return fig
    # Set one by one: the theme sets them too, in a size that it may have read before the page was enlarged.
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
