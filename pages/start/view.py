"""Data of the radio, packed for the browser."""

from __future__ import annotations

from datasets.points import CELLS, EXTENT, MAX_POINTS, encode_points
from pages.shared.live.packing import as_base64, with_version
from pages.start import compute
from pages.start.compute import OWN, OWN_SIGMA, OWN_STAR, OWN_START


def radio() -> dict:
    """Pack every data set of the radio with its star, and the draws of the candidates."""
    own = {
        "start": OWN + encode_points(*OWN_START),
        "star": OWN_STAR,
        "sigma": OWN_SIGMA,
        "extent": EXTENT,
        "cells": CELLS,
        "most": MAX_POINTS,
    }
    sets = [packed(name) for name in compute.STATIONS]
    return with_version({"sets": sets, "own": own, "candidates": as_base64(compute.candidate_draws(), "<f4")})


def packed(name: str) -> dict:
    """Pack a data set, with the place of its star and the width of its kernel."""
    data, star, sigma = compute.STATIONS[name]
    sample = data.sample()
    fresh = data.fresh_sample()
    return {
        "name": name,
        "points": as_base64(sample.X, "<f8"),
        "labels": as_base64(sample.y, "i1"),
        "test_points": as_base64(fresh.X, "<f4"),
        "test_labels": as_base64(fresh.y, "i1"),
        "extent": data.extent,
        "star": star,
        "sigma": sigma,
    }
