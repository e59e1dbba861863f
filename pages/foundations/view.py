"""Data of the page's live view: points in the plane and in space, and what separates them there."""

from __future__ import annotations

from pages.foundations import compute
from pages.shared.live.packing import as_base64, with_version


def live_lift(seed: int) -> dict:
    """Pack two circles, their lifted points, the plane between them, and the errors of a line and of the plane."""
    lift = compute.lifted_circles(seed)
    return with_version(
        {
            "points": as_base64(lift.X, "<f4"),
            "lifted": as_base64(lift.Z, "<f4"),
            "labels": as_base64(lift.y, "i1"),
            "coef": lift.coef.tolist(),
            "intercept": lift.intercept,
            "frequencies": compute.LIFT_FREQUENCIES.tolist(),
            "phases": compute.LIFT_PHASES.tolist(),
            "risks": {name: lift.risks[name]["zero_one"][1] for name in ("flat", "lifted")},
        }
    )
