"""Results of the engine as data of a live view: arrays as base64, and the rest as JSON.

The data of a view come from its ``pack_`` function. The browser evaluates only sums of cosines, softmax, a small linear
SVM, and interpolation in tables and between two steps of a descent; tests compare these with the engine.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from rff_engine._typing import ArrayLike
from rff_engine.plots.style import for_colours

if TYPE_CHECKING:
    from datasets import Dataset
    from datasets.toy import ToyDraw
    from rff_engine.studies.toy.landmarks import Decision, LandmarkProblem


#: Cells along a side of a live similarity map, of a live kernel map, and of the plane of frequencies.
LIVE_CELLS, KERNEL_CELLS, PLANE_CELLS = 100, 80, 121


def as_base64(array: ArrayLike, dtype: str) -> str:
    """Return the bytes of an array of a little-endian type such as "<f8", as text."""
    return b64encode(np.ascontiguousarray(array, dtype=dtype).tobytes()).decode("ascii")


def with_version(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data with their fingerprint, by which the browser recognises data that it has."""
    return data | {"version": hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]}


def pack_landmarks(
    problem: LandmarkProblem | SimpleNamespace,
    prior_maps: np.ndarray,
    prior: Decision | SimpleNamespace,
    fresh: Dataset | SimpleNamespace,
    extent: float,
    C: float,
    test_error: str = "test error",
) -> dict[str, Any]:
    """Pack the data of the views of landmarks; `fresh` is the sample of the test errors, called `test_error`."""
    return with_version(
        {
            "omega": as_base64(problem.omega, "<f4"),
            "loss": as_base64(problem.loss, "<f8"),
            "landmarks": as_base64(problem.landmarks, "<f4"),
            "landmark_labels": [int(label) for label in problem.labels],
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


def pack_draw(draw: ToyDraw | SimpleNamespace, dtype: str) -> dict[str, str]:
    """Pack a sample whose noise the browser sets, with coordinates of a little-endian type such as "<f8".

    Without normal draws its positions are the points.
    """
    normals = {} if draw.normals is None else {"normals": as_base64(draw.normals, dtype)}
    return {"positions": as_base64(draw.positions, dtype)} | normals | {"labels": as_base64(draw.y, "i1")}
