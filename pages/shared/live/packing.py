"""What the engine computed, as the data that a live view shows: arrays as base64, and the rest as JSON has it.

The data of a view come from its ``pack_`` function. The browser evaluates only sums of cosines, softmax, a small linear
SVM, and interpolation in tables and between two steps of a descent; tests compare these with the engine.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pages.adaptive import figures as descent_style
from pages.adaptive.approximate import figures as approximation_style
from rff_engine._typing import ArrayLike
from rff_engine.plots.style import METHOD_NAMES, for_colours

if TYPE_CHECKING:
    from pages.adaptive.approximate.toy import ApproximationRows, FrequencySequence, MethodView
    from pages.adaptive.toy import Descent
    from rff_engine.studies.toy.landmarks import Decision, LandmarkProblem
    from rff_engine.studies.toy.learning import Candidates, FrequencyPlane


class Sample(Protocol):
    """Points of the plane (n, 2) with labels -1 and 1, (n,)."""

    @property
    def X(self) -> np.ndarray: ...

    @property
    def y(self) -> np.ndarray: ...


class Draw(Protocol):
    """Positions of the plane (n, 2) with labels -1 and 1, (n,), and standard normal draws (n, 2) of their noise.

    Without draws the positions are the points.
    """

    @property
    def positions(self) -> np.ndarray: ...

    @property
    def normals(self) -> np.ndarray | None: ...

    @property
    def y(self) -> np.ndarray: ...


#: Cells along a side of a live similarity map, of a live kernel map, and of the plane of frequencies.
LIVE_CELLS, KERNEL_CELLS, PLANE_CELLS = 100, 80, 121


def as_base64(array: ArrayLike, dtype: str) -> str:
    """The bytes of an array of a little-endian type such as "<f8", as text."""
    return b64encode(np.ascontiguousarray(array, dtype=dtype).tobytes()).decode("ascii")


def with_version(data: dict[str, Any]) -> dict[str, Any]:
    """The data with their fingerprint, by which the browser recognises data that it has."""
    return data | {"version": hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]}


def pack_landmarks(
    problem: LandmarkProblem | SimpleNamespace,
    prior_maps: np.ndarray,
    prior: Decision | SimpleNamespace,
    fresh: Sample | SimpleNamespace,
    extent: float,
    C: float,
    test_error: str = "test error",
) -> dict[str, Any]:
    """Data of the views of landmarks; `fresh` is the sample of the test errors, which are called `test_error`."""
    return with_version(
        {
            "omega": as_base64(problem.omega, "<f4"),
            "loss": as_base64(problem.loss, "<f8"),
            "landmarks": as_base64(problem.landmarks, "<f4"),
            "points": as_base64(problem.X, "<f4"),
            "labels": as_base64(problem.y, "i1"),
            "test_points": as_base64(fresh.X, "<f4"),
            "test_labels": as_base64(fresh.y, "i1"),
            "prior_maps": as_base64(np.round((prior_maps + 1) * 127.5), "u1"),
            "prior_decision": as_base64(for_colours(prior.values), "<f4"),
            "rows": [-1] * len(problem.labels) if problem.indices is None else [int(row) for row in problem.indices],
            "max_D": problem.omega.shape[1],
            "extent": extent,
            "C": C,
            "prior_train": prior.train_error,
            "prior_test": prior.test_error,
            "test_error": test_error,
        }
    )


def pack_draw(draw: Draw | SimpleNamespace, dtype: str) -> dict[str, str]:
    """A sample whose noise the browser sets, with coordinates of a little-endian type such as "<f8"."""
    normals = {} if draw.normals is None else {"normals": as_base64(draw.normals, dtype)}
    return {"positions": as_base64(draw.positions, dtype)} | normals | {"labels": as_base64(draw.y, "i1")}


def pack_kernel(
    plane: FrequencyPlane | SimpleNamespace,
    candidates: Candidates | SimpleNamespace,
    optimized: np.ndarray,
    sample: Sample,
    prior_kernel: np.ndarray,
    mu: float,
    frequency_extent: float,
    delta_extent: float,
    data_extent: float,
) -> dict[str, Any]:
    """Data of the live view of a learned kernel; `optimized` (R, N) holds the weights of OKRFF for every radius."""
    return with_version(
        {
            "prior": as_base64(plane.prior, "<f4"),
            "plane_loss": as_base64(plane.loss, "<f4"),
            "omega": as_base64(candidates.omega, "<f4"),
            "loss": as_base64(candidates.loss, "<f8"),
            "optimized": as_base64(optimized, "<f4"),
            "points": as_base64(sample.X, "<f4"),
            "labels": as_base64(sample.y, "i1"),
            "prior_kernel": as_base64(np.round((prior_kernel + 1) * 127.5), "u1"),
            "n": candidates.n,
            "mu": mu,
            "frequency_extent": frequency_extent,
            "delta_extent": delta_extent,
            "data_extent": data_extent,
        }
    )


def pack_approximation(
    rows: ApproximationRows,
    kernel: np.ndarray,
    sides: Sequence[tuple[str, FrequencySequence | Mapping[int, MethodView] | str]],
    counts: Sequence[int],
    frequency_extent: float,
) -> dict[str, Any]:
    """Data of the live view of two methods that approximate a kernel, each with its name in `METHOD_NAMES`.

    A side is a sequence of frequencies, views by their numbers of frequencies, or a sentence that says why the method
    does not fit; `kernel` is that of `plane_kernel`, and `counts` are the numbers that may be chosen.
    """
    return with_version(
        {
            "sides": [{"method": method, "name": METHOD_NAMES[method]} | _pack_side(side) for method, side in sides],
            "kernel": as_base64(kernel, "<f8"),
            "points": as_base64(rows.in_plane, "<f4"),
            "extent": rows.extent,
            "frequency_extent": frequency_extent,
            "limit": approximation_style.ERROR_LIMIT,
            "counts": list(counts),
        }
    )


def _pack_side(side: FrequencySequence | Mapping[int, MethodView] | str) -> dict[str, Any]:
    if isinstance(side, str):
        return {"misfit": side}
    if not isinstance(side, Mapping):
        return {"frequencies": as_base64(side.frequencies, "<f8"), "errors": as_base64(side.errors, "<f8")}
    return {"fits": [{"r": r, "error": view.error} | _pack_view(view) for r, view in side.items()]}


def _pack_view(view: MethodView) -> dict[str, str]:
    if view.frequencies is None or view.weights is None:
        assert view.landmarks is not None
        return {"landmarks": as_base64(view.landmarks, "<f8"), "map": as_base64(view.error_map, "<f4")}
    return {"frequencies": as_base64(view.frequencies, "<f8"), "weights": as_base64(view.weights, "<f8")}


def pack_descent(
    descent: Descent, points: np.ndarray, landmarks: np.ndarray, data_extent: float, frequency_extent: float
) -> dict[str, Any]:
    """Data of the live view of a descent: its points, its kept steps, and the errors along all of them."""
    return with_version(
        {
            "points": as_base64(points, "<f4"),
            "landmarks": as_base64(landmarks, "<f4"),
            "data_extent": data_extent,
            "steps": as_base64(descent.steps, "<u2"),
            "frequencies": as_base64(descent.frequencies, "<f4"),
            "weights": as_base64(descent.weights, "<f4"),
            "errors": as_base64(descent.errors, "<f4"),
            "landmark_errors": as_base64(descent.landmark_errors, "<f4"),
            "drawn_error": descent.drawn_error,
            "extent": frequency_extent,
            "colours": descent_style.DESCENT_COLOURS,
            "dashes": descent_style.DESCENT_DASHES,
        }
    )
