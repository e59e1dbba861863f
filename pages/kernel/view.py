"""Data of the page's live view, packed for the browser."""

from __future__ import annotations

import numpy as np

from pages.kernel import compute, figures
from pages.shared.controls import scales
from pages.shared.live.packing import as_base64, with_version

#: Widths on the slider.
WIDTHS = tuple(width for width in scales.powers(*scales.SIGMA_LIVE) if 0.2 <= width < 4)
#: Last frequency and last difference of the tables; another width divides frequencies and multiplies differences.
_REACH = compute.FREQUENCY_RANGE * WIDTHS[-1], compute.DELTA_RANGE / WIDTHS[0]


def live_prior(name: str, nu: float, seed: int) -> dict:
    """Pack a kernel of width 1 in tables, with its draws, for every width and every number of frequencies.

    Frequencies are in double precision, since a kernel with heavy tails draws large ones.
    """
    unit = compute.kernel_settings(name, 1.0, nu, seed)
    kernel = unit.kernel()
    omega, offsets = compute.kernel_draw(unit, 1)
    frequencies, differences = (np.linspace(0, 1, 1001)[:, None] * end for end in _REACH)
    return with_version(
        {
            "omega": as_base64(omega[:, 0], "<f8"),
            "offsets": as_base64(offsets, "<f4"),
            "weights": as_base64(compute.function_weights(seed), "<f4"),
            "density": as_base64(kernel.spectral_density(frequencies), "<f8"),
            "kernel": as_base64(kernel(differences, np.zeros((1, 1)))[:, 0], "<f8"),
            "reach": _REACH,
            "ranges": (compute.FREQUENCY_RANGE, compute.DELTA_RANGE),
            "counts": compute.FREQUENCY_COUNTS,
            "colours": figures.LINE_COLOURS,
            "dashes": figures.LINE_DASHES,
            "waves": figures.WAVE_COLOURS,
        }
    )
