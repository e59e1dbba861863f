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


def test_the_figure_shows_every_loss():
    drawn = figures.losses_against_margin(lifted_circles(0)).data
    lines = {trace.name: trace for trace in drawn if trace.showlegend is not False}
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
