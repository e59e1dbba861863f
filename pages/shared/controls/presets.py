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
        "Five landmarks, 20 cosines each: the learned similarities follow the moons. As in Figure 1 of Letarte et al. "
        "(2019).",
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

APPROXIMATION_PRESETS = (
    Preset(
        "Spread evenly",
        "Two columns, 100 frequencies: Sobol's leave no gaps and no clusters, and err far less than 100 drawn "
        "independently.",
        {"data": "moons", "first": "Monte Carlo", "second": "Sobol", "r": 100},
    ),
    Preset(
        "Fitted to wine",
        "As in Table 2 of Li et al. (2019): 50 frequencies optimized on 50 sampled rows of the wine data, against 50 "
        "drawn.",
        {"data": "wine", "first": "Monte Carlo", "second": "Sample", "r": 50},
    ),
    Preset(
        "Heavy tails",
        "The Laplacian kernel's density has heavy tails: most draws are slow, a few are so fast that they lie beyond "
        "the axes.",
        {"data": "checkerboard", "kernel": "Laplacian", "first": "Monte Carlo", "second": "Halton", "r": 100},
    ),
    Preset(
        "Pixels",
        "Fifty-nine columns: the unit cube of so many dimensions is hard to fill evenly, and orthogonal directions do "
        "better.",
        {"data": "digits", "first": "Sobol", "second": "Orthogonal", "r": 100},
    ),
    Preset(
        "The yardstick",
        "Nyström has no frequencies and uses the data alone: exact at its landmarks, and 0 far from all rows.",
        {"data": "circles", "first": "Nyström", "second": "Sample", "r": 20, "width": 0.398},
    ),
)

ADAPTIVE_PRESETS = (
    Preset(
        "On a line",
        "Points on a line do not distinguish frequencies across it: the weights on the grid leave the prior's round "
        "hill and spread across the line.",
    ),
    Preset(
        "Two clusters",
        "There are two kinds of differences: near 0, and from cluster to cluster. The best density has stripes, and "
        "few frequencies suffice.",
        {"data": "clusters", "r": 5},
    ),
    Preset(
        "Lattice",
        "Sixteen clusters of points: their differences lie on a lattice too, and the weights on the grid form a round "
        "hill.",
        {"data": "lattice", "sigma": 0.501, "noise": 0.02, "r": 50},
    ),
    Preset(
        "Too few landmarks",
        "Ten landmarks for fifty frequencies: the error at the landmarks falls to almost 0, the error over all points "
        "does not.",
        {"data": "moons", "sigma": 0.501, "r": 50, "landmarks": 10},
    ),
    Preset(
        "Centroids",
        "The same ten landmarks as centroids of k-means, weighted by their clusters: they represent all points far "
        "better.",
        {"data": "moons", "sigma": 0.501, "r": 50, "landmarks": 10, "method": "Cluster"},
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
