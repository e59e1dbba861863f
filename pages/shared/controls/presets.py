"""Presets as data: a name, what to look for, and the values of controls."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace

import numpy as np
import streamlit as st

from datasets.toy_data import ToyData
from pages.shared.controls.own_points import OWN
from pages.shared.controls.toy import DATA, toy_data
from pages.shared.controls.widgets import rerun_page, same_setting, without_headings
from rff_engine.plots.style import CLASS_COLOURS


@dataclass(frozen=True)
class Preset:
    """Settings by control key; other controls return to the page's default."""

    name: str
    look_for: str
    settings: dict = field(default_factory=dict)


LANDMARK_PRESETS = (
    Preset(
        "Two moons",
        "Five landmarks, 20 cosines each: the learned similarities follow the moons (Letarte et al., Figure 1).",
    ),
    Preset(
        "Two circles",
        "No straight stripe separates the circles, yet five learned similarities do. As in Figure 4 of Letarte et al. "
        "(2019).",
        {"data": "circles", "sigma": 0.398, "D": 30},
    ),
    Preset(
        "Spirals",
        "Only fast cosines can follow the arms: the prior's bumps are too small to reach, the learned maps are not.",
        {"data": "spirals", "sigma": 0.2, "D": 150, "landmarks": 8},
    ),
    Preset(
        "XOR",
        "Alignment is subtle here: half of every landmark's class lies across the centre, as far away as can be.",
        {"data": "xor", "sigma": 0.631, "D": 40, "noise": 0.15},
    ),
    Preset(
        "Noise",
        "Thirty noisy points: learning helps up to about β = 1. Beyond it, single cosines that fit by chance take "
        "over, and the test error climbs.",
        {"data": "circles", "noise": 0.3, "n": 30, "sigma": 0.251, "D": 60, "landmarks": 8},
    ),
)


def active(presets: tuple[Preset, ...], controls, forget: tuple[str, ...] = ()) -> Preset | None:
    """Return the preset that the page shows, if any: all controls that presets set have its values.

    Controls that no preset sets, such as β, may have any value.
    """
    defaults = {control.key: control.default for control in without_headings(controls)}
    keys = set().union(*(preset.settings for preset in presets))
    if any(st.query_params.get(name) for name in forget):
        return None
    for preset in presets:
        settings = {key: preset.settings.get(key, defaults[key]) for key in keys}
        if all(same_setting(st.session_state.get(key, defaults[key]), value) for key, value in settings.items()):
            return preset
    return None


@cache
def _picture(data: ToyData) -> str:
    """Draw points as the address of a picture."""
    sample = data.sample()
    places = np.round(50 + 45 * sample.X / np.abs(sample.X).max() * [1, -1]).astype(int)
    paths = [
        f'<path stroke="{colour}" d="{"".join(f"M{x} {y}h0" for x, y in places[sample.y == label][:60])}"/>'
        for label, colour in CLASS_COLOURS.items()
    ]
    frame = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" stroke-width="7" stroke-linecap="round">'
    return "data:image/svg+xml;base64," + b64encode(f"{frame}{''.join(paths)}</svg>".encode()).decode()


def offer(presets: tuple[Preset, ...], controls, forget: tuple[str, ...] = ()) -> None:
    """Show a row of buttons that set all controls of the page at once, and drop the parameters `forget` of the URL.

    Each has a picture of its points; the last one lets the reader draw some. The active preset is marked, and a line
    below says what it shows.
    """
    defaults = {control.key: control.default for control in without_headings(controls)}

    def apply(preset: Preset) -> None:
        for key, default in defaults.items():
            st.session_state[key] = preset.settings.get(key, default)
        for name in forget:
            st.query_params.pop(name, None)
        rerun_page()

    def draw() -> None:
        st.session_state[DATA.key] = OWN
        rerun_page()

    pictures = {
        re.sub(r"\W", "-", preset.name): _picture(toy_data(SimpleNamespace(**defaults | preset.settings)))
        for preset in presets
    }
    rules = " ".join(f".st-key-preset-{name} {{--picture: url({picture})}}" for name, picture in pictures.items())
    st.html(f"<style>{rules}</style>")
    shown = active(presets, controls, forget)
    with st.container(horizontal=True, key="presets"):
        for preset in presets:
            st.button(
                preset.name,
                help=preset.look_for,
                type="primary" if preset is shown else "secondary",
                on_click=apply,
                args=(preset,),
                key=f"preset {preset.name}",
            )
        st.button("Draw", help="Draw points of your own", icon=":material/edit:", on_click=draw, key="draw")
    with st.container(key="preset_line"):
        if shown:
            st.caption(f"**Shown: {shown.name}.** {shown.look_for}")
