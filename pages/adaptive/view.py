"""Data of the page's live view: the descent, with points and landmarks."""

from __future__ import annotations

from typing import Any

from pages.adaptive import compute, figures
from pages.adaptive.compute import AdaptiveSettings
from pages.shared.live.packing import as_base64, with_version


def live_descent(settings: AdaptiveSettings, r: int) -> dict[str, Any]:
    """Pack the points, the kept steps of the descent, and the errors along all of them."""
    descent = compute.descent(settings, r)
    return with_version(
        {
            "points": as_base64(compute.inputs(settings.data), "<f4"),
            "landmarks": as_base64(compute.chosen_landmarks(settings)[0], "<f4"),
            "data_extent": compute.data_extent(settings.data),
            "steps": as_base64(descent.steps, "<u2"),
            "frequencies": as_base64(descent.frequencies, "<f4"),
            "weights": as_base64(descent.weights, "<f4"),
            "errors": as_base64(descent.errors, "<f4"),
            "landmark_errors": as_base64(descent.landmark_errors, "<f4"),
            "drawn_error": descent.drawn_error,
            "extent": compute.frequency_extent(settings.sigma),
            "colours": figures.DESCENT_COLOURS,
            "dashes": figures.DESCENT_DASHES,
        }
    )
