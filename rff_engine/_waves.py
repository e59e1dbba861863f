"""Cosines and sines of the same angles: of float64 by products of whole blocks, as NumPy takes angles one by one."""

from __future__ import annotations

import numpy as np

from ._blocks import pieces
from ._validation import largest_size

# A block of so many angles and what is computed of them fits into a core's cache.
_ENTRIES = 2**15
# Beyond, the share of a turn has lost more than 8 of its digits.
_LARGEST_ANGLE = 1e8


def _tangent(depth: int) -> np.ndarray:
    """Return coefficients of P and Q, by powers of h^2, with tan h = h P / Q: `depth` steps of Lambert's fraction.

    It is h / (1 - h^2 / (3 - h^2 / (5 - ...))) (Lambert 1768). At depth 11 the angle of (Q, h P) is off by 1e-17 up to
    h = pi / 2, where Q vanishes.
    """
    last, now = np.zeros((2, 2, depth // 2 + 1))
    last[1, 0], now[:, 0] = 1, 1
    for odd in range(3, 2 * depth, 2):
        last, now = now, odd * now - np.roll(last, 1, axis=1)
    return now / now[1, 0]


# By powers of a half angle's square in half turns.
_COEFFICIENTS = (_tangent(11) * np.pi ** (2 * np.arange(6)) * [[np.pi], [1.0]])[:, :, None, None]


def waves(angle: np.ndarray, cosines: np.ndarray, sines: np.ndarray | None = None) -> None:
    """Write cosines and, if asked for, sines of the angles (n, F), in radians, to the rounding of the angles.

    The angles are lost. Their array may hold the sines, or cosines alone.
    """
    if angle.dtype != np.float64 or not largest_size(angle) < _LARGEST_ANGLE:
        np.cos(angle, out=cosines, casting="same_kind")
        if sines is not None:
            np.sin(angle, out=sines, casting="same_kind")
        return
    rows = max(1, _ENTRIES // max(1, angle.shape[1]))
    space = np.empty((3, min(rows, len(angle)), angle.shape[1]))
    for some in pieces(0, len(angle), rows):
        turns = angle[some]
        fraction, square = space[:2, : len(turns)], space[2, : len(turns)]
        p, q = fraction
        turns *= 0.5 / np.pi
        turns -= np.rint(turns, out=p)
        np.multiply(turns, turns, out=square)
        np.multiply(_COEFFICIENTS[:, -1], square, out=fraction)
        for k in range(_COEFFICIENTS.shape[1] - 2, 0, -1):
            fraction += _COEFFICIENTS[:, k]
            fraction *= square
        fraction += _COEFFICIENTS[:, 0]
        p *= turns
        np.multiply(p, p, out=square)
        np.multiply(q, q, out=turns)
        turns += square
        np.divide(2.0, turns, out=turns)
        square *= turns
        p *= q
        if sines is not None:  # 2 p q / (p^2 + q^2)
            np.multiply(p, turns, out=sines[some], casting="same_kind")
        np.subtract(1.0, square, out=cosines[some], casting="same_kind")  # 1 - 2 p^2 / (p^2 + q^2)
