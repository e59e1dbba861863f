"""Figures for a narrow screen show the same numbers in panels one below the other."""

from __future__ import annotations

import itertools
import json

import numpy as np
import plotly.colors
import plotly.graph_objects as go
import pytest

from pages.shared.figures import narrow
from rff_engine.plots import panels
from rff_engine.plots.style import (
    DECISION_SCALE,
    SIMILARITY_SCALE,
    add_note,
    dark_scale,
    darken,
    finish,
    fixed_margin,
    new_figure,
)


def three_maps() -> go.Figure:
    fig = panels.square_panels(["<b>points</b><br>of two kinds", "", ""], [1.0, 2.0, 2.0], ["x", "ω", "ω"])
    fig.add_scatter(x=[0.5], y=[0.5], showlegend=False, row=1, col=1)
    for panel in (2, 3):
        look = {"title": f"map {panel}", "scale": SIMILARITY_SCALE, "limits": (-1, 1)}
        panels.add_map(fig, panel, np.eye(4), 2.0, "map", **look)
    return panels.finish_panels(fig, 400, top=78)


def curves(names, columns: int = 1, **layout) -> go.Figure:
    fig = new_figure(columns=columns)
    for name in names:
        fig.add_scatter(x=[0, 1], y=[1, 2], name=name, row=1, col=1)
    fig.update_xaxes(title="step")
    fig.update_yaxes(title="error", col=1)
    return finish(fig, 400, margin=fixed_margin(top=36), **layout)


def pixels(fig: go.Figure, axis: str) -> tuple[float, float]:
    """Top and bottom of a panel, in pixels from the top of the figure."""
    margin = fig.layout.margin
    inside = fig.layout.height - margin.t - margin.b
    low, high = fig.layout[axis].domain
    return margin.t + (1 - high) * inside, margin.t + (1 - low) * inside


def test_panels_stand_one_below_the_other_with_the_same_data():
    before = three_maps()
    fig = narrow.stack(three_maps())
    for old, new in zip(before.data, fig.data, strict=True):
        assert json.loads(old.to_json()) == json.loads(new.to_json())
    places = [pixels(fig, axis) for axis in ("yaxis", "yaxis2", "yaxis3")]
    assert places == sorted(places)
    for (_, bottom), (top, _) in itertools.pairwise(places):
        assert top - bottom > 48 + 60  # an axis, and a colour bar with its title
    for axis in ("xaxis", "xaxis2", "xaxis3"):
        assert tuple(fig.layout[axis].domain) == (0, 1)


def test_square_panels_are_square_at_the_width_of_a_phone():
    fig = narrow.stack(three_maps())
    margin = fig.layout.margin
    for axis in ("yaxis", "yaxis2", "yaxis3"):
        top, bottom = pixels(fig, axis)
        assert bottom - top == pytest.approx(narrow.WIDTH - max(margin.l, 44) - margin.r, abs=1)


def test_titles_and_colour_bars_go_with_their_panels():
    fig = narrow.stack(three_maps())
    (title,) = fig.layout.annotations
    assert (title.xref, title.yref, title.x, title.y) == ("x domain", "y domain", 0.5, 1)
    assert pixels(fig, "yaxis")[0] > 2 * 19  # two lines
    for k in (2, 3):
        bar = fig.layout[f"coloraxis{k}"].colorbar
        assert bar.y == pytest.approx(fig.layout[f"yaxis{k}"].domain[1])
        assert (bar.x, bar.title.text) == (0.5, f"map {k}")


@pytest.mark.parametrize(("names", "rows"), [(["a", "b"], 1), (["a"] * 3 + ["quite a long name of a curve"] * 2, 5)])
def test_a_legend_gets_as_many_rows_as_it_needs(names, rows):
    before, fig = curves(names), narrow.stack(curves(names))
    assert fig.layout.margin.t - before.layout.margin.t == 20 * (rows - 1)
    assert fig.layout.height - fig.layout.margin.t == before.layout.height - before.layout.margin.t


def test_panels_name_the_axis_that_they_shared():
    fig = curves(["a"], columns=2)
    fig.update_yaxes(matches="y", showticklabels=False, selector={"anchor": "x2"})
    fig = narrow.stack(fig)
    assert (fig.layout.yaxis2.title.text, fig.layout.yaxis2.showticklabels) == ("error", None)


def test_a_legend_below_stays_with_its_panel():
    fig = new_figure(columns=2)
    for column in (1, 2):
        fig.add_scatter(x=[0, 1], y=[0, 1], name=f"curve {column}", legend=f"legend{column + 1}", row=1, col=column)
    below = {"orientation": "v", "yanchor": "top", "y": -0.16}
    stacked = narrow.stack(finish(fig, 400, margin=fixed_margin(), legend2=below, legend3=below))
    first, second = stacked.layout.yaxis.domain, stacked.layout.yaxis2.domain
    assert first[0] > stacked.layout.legend2.y > second[1] > second[0] > stacked.layout.legend3.y


def test_a_note_at_a_value_keeps_its_place():
    fig = new_figure(columns=2)
    add_note(fig, 0, 1, "vacuous above 1", xref="x2 domain", yref="y2", xanchor="left", yanchor="bottom")
    (note,) = narrow.stack(finish(fig, 400)).layout.annotations
    assert (note.xref, note.yref, note.x, note.y, note.xanchor) == ("x2 domain", "y2", 0, 1, "left")


# --- dark theme ---------------------------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    channels = np.array(plotly.colors.hex_to_rgb(colour)) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("scale", [plotly.colors.get_colorscale(SIMILARITY_SCALE), DECISION_SCALE])
def test_a_dark_scale_is_darkest_in_the_middle_and_keeps_its_hues(scale):
    dark = dark_scale(scale)
    light = [luminance(colour) for _, colour in dark]
    middle = len(dark) // 2
    assert np.all(np.diff(light[: middle + 1]) < 0) and np.all(np.diff(light[middle:]) > 0)
    assert light[middle] < 0.03
    for (place, colour), (same, old) in zip(dark, scale, strict=True):
        assert place == same
        new, old = (
            np.array(plotly.colors.hex_to_rgb(c) if c[0] == "#" else plotly.colors.unlabel_rgb(c))
            for c in (colour, old)
        )
        if np.ptp(old) > 40:  # not a grey
            assert np.argmax(new) == np.argmax(old) and np.argmin(new) == np.argmin(old)


def test_dark_maps_show_the_same_numbers_and_remember_their_light_colours():
    before, fig = three_maps(), darken(three_maps())
    for old, new in zip(before.data, fig.data, strict=True):
        assert json.loads(old.to_json()) == json.loads(new.to_json())
    for k in (2, 3):
        axis, old = fig.layout[f"coloraxis{k}"], before.layout[f"coloraxis{k}"]
        assert (axis.cmin, axis.cmax) == (old.cmin, old.cmax)
        assert axis.colorscale != old.colorscale
        assert fig.layout.meta["light"]["scales"][f"coloraxis{k}"] == [list(stop) for stop in old.colorscale]
