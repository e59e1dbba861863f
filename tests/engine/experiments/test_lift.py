"""The lift of nested circles: the map, the plane that separates them, and its risks."""

import numpy as np
import pytest

from pages.foundations import figures
from pages.foundations.compute import consistency, lifted_circles


def test_a_plane_separates_what_no_line_does():
    lift = lifted_circles(0, 0.0)
    assert lift.risks["lifted"]["zero_one"] == (0.0, 0.0)
    assert min(lift.risks["flat"]["zero_one"]) > 0.3
    np.testing.assert_allclose(lift.Z @ lift.coef + lift.intercept, lift.decisions["lifted"], rtol=1e-9, atol=1e-9)


def test_lifted_points_are_three_cosines_of_points_with_an_outer_radius_of_one():
    lift = lifted_circles(0)
    radius = np.linalg.norm(lift.X, axis=1)
    assert max(np.median(radius[lift.y == label]) for label in (-1, 1)) == pytest.approx(1)
    x1, x2 = lift.X.T
    waves = np.cos([1.76 * x1 + 2.24 * x2 + 2.75, 0.4 * x1 + 1.87 * x2 + 5.6, 0.98 * x1 - 0.98 * x2 + 6.05])
    np.testing.assert_allclose(lift.Z, np.sqrt(2 / 3) * waves.T, atol=1e-12)


def test_surrogate_risks_lie_above_the_zero_one_risk():
    for risks in lifted_circles(0, 0.1).risks.values():
        for loss in ("hinge", "squared_hinge", "logistic"):
            assert all(risk >= lowest for risk, lowest in zip(risks[loss], risks["zero_one"], strict=True))


def test_the_drawn_plane_lies_on_the_decision_boundary_within_the_axes():
    lift = lifted_circles(0)
    corners = figures._corners(lift.coef, lift.intercept, 0.9)
    assert 3 <= len(corners) <= 6 and np.abs(corners).max() <= 0.9 + 1e-12
    np.testing.assert_allclose(corners @ lift.coef + lift.intercept, 0, atol=1e-9 * np.abs(lift.coef).max())
    # In order around the middle: all turns go the same way.
    sides = np.roll(corners, -1, axis=0) - corners
    turns = np.cross(sides, np.roll(sides, -1, axis=0))
    assert (turns @ lift.coef > 0).all() or (turns @ lift.coef < 0).all()
    assert figures._corners(np.array([0.0, 0.0, 1.0]), 5.0, 0.9).shape == (0, 3)


def test_figures_show_every_point_and_every_loss():
    lift = lifted_circles(0)
    fig = figures.lifted_points(lift)
    assert sum(len(trace.x) for trace in fig.data if trace.type == "scatter3d") == len(lift.y)
    lines = {trace.name: trace for trace in figures.losses_against_margin(lift).data if trace.mode == "lines"}
    assert set(lines) == set(figures.LOSS_NAMES.values())
    at_one = np.argmin(np.abs(lines["hinge"].x - 1))
    assert lines["hinge"].y[at_one] == pytest.approx(0, abs=1e-6) and lines["0-1"].y[0] == 1


def test_risk_and_empirical_risk_of_planes_meet_at_the_least_risk():
    risks = consistency(0, (30, 1000))
    least = risks["limit"].item()
    assert (risks["risk"] >= least * (1 - 1e-6)).all()  # the least on the same fresh points
    (few, many), (own_few, own_many) = (risks[name].mean(axis=1) for name in ("risk", "empirical_risk"))
    assert own_few < least < many < few
    assert many - least < 0.1 * (few - least) and abs(own_many - least) < 0.05 * least
    fig = figures.risks_against_n((30, 1000), risks)
    drawn = {trace.name: trace.y for trace in fig.data if trace.name}
    np.testing.assert_allclose(drawn["risk"], risks["risk"].mean(axis=1), rtol=1e-6)
    np.testing.assert_allclose(drawn["least risk"], least)
