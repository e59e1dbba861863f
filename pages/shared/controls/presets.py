"""Presets as data: a name, what to look for, and the values of controls."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from pages.shared.controls.widgets import same_setting, without_headings


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


def offer(presets: tuple[Preset, ...], controls, forget: tuple[str, ...] = ()) -> None:
    """Show a row of buttons that set all controls of the page at once, and drop the parameters `forget` of the URL.

    The active preset is marked, and a line below says what it shows.
    """
    defaults = {control.key: control.default for control in without_headings(controls)}

    def apply(preset: Preset) -> None:
        for key, default in defaults.items():
            st.session_state[key] = preset.settings.get(key, default)
        for name in forget:
            st.query_params.pop(name, None)

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
    with st.container(key="preset_line"):
        if shown:
            st.caption(f"**Shown: {shown.name}.** {shown.look_for}")
