"""Data of the page's live view, packed for the browser."""

from __future__ import annotations

import rff_engine as rff
from pages.kernel.learn import compute
from pages.shared.live import packing
from rff_datasets import ToyData


def drawn_kernel(settings: compute.CandidateSettings) -> dict:
    """Pack draws, from which the view makes the candidates of any width, ellipse and noise."""
    return packed_draws(settings.data.without_noise, settings.n_candidates)


def packed_draws(data: ToyData, n_candidates: int) -> dict:
    """Pack a sample without its noise, and the candidates of the Gaussian kernel of width 1.

    Frequencies are in double precision, as in the engine. The extent is half the side of the square of data; without
    it, the view derives it from the points on screen.
    """
    omega = rff.GaussianKernel(1.0).sample_frequencies(n_candidates, 2, data.seed)
    draws = {"train": packing.pack_draw(data.draws(), "<f8"), "frequencies": packing.as_base64(omega, "<f8")}
    return packing.with_version({"draws": draws, "extent": data.extent if data.points else None})
