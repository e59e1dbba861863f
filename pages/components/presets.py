"""Experiments worth opening, as data: a name, what to look for, and the value of every control that it sets."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st


@dataclass(frozen=True)
class Preset:
    """Settings by control key; a control that is not named goes back to the page's default."""

    name: str
    look_for: str
    settings: dict = field(default_factory=dict)


LANDMARK_PRESETS = (
    Preset(
        "Figure 1",
        "As in Figure 1 of Letarte et al. (2019). Two moons, five landmarks, 20 cosines each: the learned similarities "
        "follow the moons.",
    ),
    Preset(
        "Figure 4",
        "As in Figure 4 of Letarte et al. (2019). Two circles: no straight stripe separates them, yet five learned "
        "similarities do.",
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


def offer(presets: tuple[Preset, ...], controls, forget: tuple[str, ...] = ()) -> None:
    """A row of buttons, each setting all controls of the page at once, and dropping other parameters of the URL."""
    defaults = {control.key: control.default for control in controls if not isinstance(control, str)}

    def apply(preset: Preset) -> None:
        for key, default in defaults.items():
            st.session_state[key] = preset.settings.get(key, default)
        for name in forget:
            st.query_params.pop(name, None)

    with st.container(horizontal=True):
        for preset in presets:
            st.button(preset.name, help=preset.look_for, on_click=apply, args=(preset,), key=f"preset {preset.name}")
