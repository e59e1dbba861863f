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

from pages.kernel import figures as prior_style
from pages.shared.controls.scales import STRETCHES
from pages.shared.figures import certificates as certificate_style
from rff_engine._typing import ArrayLike
from rff_engine.plots import bounds as bound_style
from rff_engine.plots.style import for_colours

if TYPE_CHECKING:
    from rff_engine.studies.toy.bounds import BoundCurves
    from rff_engine.studies.toy.certificates import Certificate, CertifiedBlocks, CertifiedVote
    from rff_engine.studies.toy.kernel import UnitPrior
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


# Largest value of a map of a bound: what is above 1 is grey.
_MAP_LIMIT = 2.0
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


def pack_one_landmark(
    sample: Sample | SimpleNamespace,
    fresh: Sample | SimpleNamespace,
    omega: np.ndarray,
    marks: Mapping[str, np.ndarray],
    extent: float,
    test_error: str = "test error",
) -> dict[str, Any]:
    """Data of the view of one landmark at any place: its frequencies (D, 2), and landmarks by their method."""
    return with_version(
        {
            "points": as_base64(sample.X, "<f8"),
            "labels": as_base64(sample.y, "i1"),
            "test_points": as_base64(fresh.X, "<f8"),
            "test_labels": as_base64(fresh.y, "i1"),
            "omega": as_base64(omega, "<f8"),
            "marks": {method: places.round(3).tolist() for method, places in marks.items()},
            "extent": extent,
            "test_error": test_error,
        }
    )


def pack_draw(draw: Draw | SimpleNamespace, dtype: str) -> dict[str, str]:
    """A sample whose noise the browser sets, with coordinates of a little-endian type such as "<f8"."""
    normals = {} if draw.normals is None else {"normals": as_base64(draw.normals, dtype)}
    return {"positions": as_base64(draw.positions, dtype)} | normals | {"labels": as_base64(draw.y, "i1")}


def pack_landmark_draws(
    train: Draw | SimpleNamespace,
    fresh: Draw | SimpleNamespace,
    frequencies: np.ndarray,
    extent: float | None = None,
    test_error: str = "test error",
) -> dict[str, Any]:
    """Data from which the view of landmarks makes those of `pack_landmarks` for any width, noise and landmarks.

    `frequencies` (L, D, 2) are those of the Gaussian kernel of width 1, of as many landmarks as there may be: the first
    landmark has the first, and so on. In double precision, as the engine has them: a large beta multiplies errors of
    the losses. `extent` is half the side of the maps; without it, the points that are shown tell it.
    """
    return with_version(
        {
            "draws": {
                "train": pack_draw(train, "<f8"),
                "test": pack_draw(fresh, "<f4"),
                "frequencies": as_base64(frequencies, "<f8"),
                "count": frequencies.shape[1],
            },
            "extent": extent,
            "test_error": test_error,
        }
    )


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


def pack_kernel_draws(
    train: Draw | SimpleNamespace, frequencies: np.ndarray, extent: float | None = None
) -> dict[str, Any]:
    """Data from which the view of a learned kernel makes those of `pack_kernel` for any width and noise.

    `frequencies` (N, 2) are the candidates of the Gaussian kernel of width 1, in double precision as the engine has
    them; the divergence of OKRFF is that of order 2. `extent` is half the side of the square of data; without it, the
    points that are shown tell it.
    """
    draws = {"train": pack_draw(train, "<f8"), "frequencies": as_base64(frequencies, "<f8")}
    return with_version({"draws": draws, "extent": extent})


def pack_prior(prior: UnitPrior, counts: Sequence[int], ranges: tuple[float, float]) -> dict[str, Any]:
    """Data of the live view of a kernel on the line, for every width and every number of frequencies among `counts`.

    `ranges` are half the axes of frequencies and of differences. Frequencies are in double precision: those of a kernel
    with heavy tails are large.
    """
    return with_version(
        {
            "omega": as_base64(prior.omega, "<f8"),
            "offsets": as_base64(prior.offsets, "<f4"),
            "weights": as_base64(prior.weights, "<f4"),
            "density": as_base64(prior.density, "<f8"),
            "kernel": as_base64(prior.kernel, "<f8"),
            "reach": prior.reach,
            "ranges": ranges,
            "counts": list(counts),
            "colours": prior_style.LINE_COLOURS,
            "dashes": prior_style.LINE_DASHES,
            "waves": prior_style.WAVE_COLOURS,
        }
    )


def pack_bounds(
    curves: BoundCurves, log_counts: Sequence[float], maps: Mapping[str, np.ndarray], n: int
) -> dict[str, Any]:
    """Data of the live view of the bounds on n points: every curve, the terms of every bound, and its map.

    Rows of `maps` are numbers of points, with logarithms `log_counts`. They are rounded to 16 bits.
    """
    bounds = [
        {
            "name": name,
            "side": "landmark" if curves.posterior(name) is curves.landmark else "kernel",
            "label": bound_style.bound_label(name, curve.n_landmarks),
            "kind": bound_style.BOUNDS[name].kind,
            "colour": bound_style.BOUNDS[name].colour,
            "dash": bound_style.BOUNDS[name].dash,
            "values": as_base64(curve.values, "<f8"),
            "best": curve.best,
            "map": as_base64(np.round(np.minimum(maps[name], _MAP_LIMIT) * (65535 / _MAP_LIMIT)), "<u2"),
            "valley": maps[name].argmin(axis=1).tolist(),
            "parts": [
                {
                    "name": term,
                    "label": bound_style.TERM_NAMES[term],
                    "colour": bound_style.TERM_COLOURS[term],
                    "values": as_base64(values, "<f8"),
                }
                for term, values in curve.terms.items()
            ],
        }
        for name, curve in curves.bounds.items()
    ]
    losses = [
        {"side": side, "truth": truth, "label": label, "values": as_base64(values, "<f8")}
        | {"colour": line["color"], "dash": line.get("dash", "solid")}
        for side, posterior in (("landmark", curves.landmark), ("kernel", curves.kernel))
        for truth, label, values, line in (
            (False, "empirical loss", posterior.loss, bound_style.EMPIRICAL_LINE),
            (True, "true risk", posterior.risk, bound_style.TRUE_LINE),
        )
    ]
    top = bound_style.top_of(curves.bounds.values())
    return with_version(
        {"betas": as_base64(curves.betas, "<f8"), "bounds": bounds, "losses": losses, "top": top}
        | {"n": n, "log_counts": list(log_counts), "map_limit": _MAP_LIMIT, "grey": bound_style.OTHER_COLOUR}
    )


def pack_promises(draws: np.ndarray, allowed: Sequence[float]) -> dict[str, Any]:
    """Data of the live view of Theorem 4 on samples, from `draws` (m, 2); `allowed` are the values of epsilon."""
    return with_version(
        {"uniform": as_base64(draws, "<f4"), "allowed": list(allowed), "colours": bound_style.FORM_COLOURS}
    )


def pack_certificate(
    votes: Mapping[int, CertifiedVote], sample: Sample, extent: float, counts: Sequence[int] | None = None
) -> dict[str, Any]:
    """Data of the live view of a certificate: votes by their numbers of frequencies, each with that of its prior.

    `counts` are the numbers that may be chosen, by default those of `votes`; the view asks for votes that it lacks.
    Votes over the plane are rounded to 12 bits.
    """
    counts = list(votes if counts is None else counts)
    looked = len(counts) if len(votes) > 1 else 1  # no other vote can be chosen before the others have come
    packed = [_pack_vote(D, vote, looked) for D, vote in votes.items()]
    terms = next(iter(votes.values())).certificate().terms
    return with_version(
        {
            "votes": packed,
            "counts": counts,
            "points": as_base64(sample.X, "<f4"),
            "labels": as_base64(sample.y, "i1"),
            "extent": extent,
            "terms": [certificate_style.term_label(term.name) for term in terms],
            "total": certificate_style.TOTAL_COLOUR,
            "grey": certificate_style.ERROR_COLOUR,
        }
    )


def _pack_vote(D: int, vote: CertifiedVote, n_looks: int) -> dict[str, Any]:
    """A vote, with the terms of its certificate at every step: without a look at other numbers D, and after it."""
    certificates = [vote.certificate(stretch) for stretch in STRETCHES]
    after_look = certificates if n_looks == 1 else [vote.certificate(stretch, n_looks) for stretch in STRETCHES]
    return {
        "D": D,
        "step": vote.step,
        "tied": not vote.prior_margins.any(),
        "test_set_bound": vote.model.test_set_bound_,
        "terms": [_risks(certificates), _risks(after_look)],
        "test_errors": as_base64([one.test_error for one in certificates], "<f4"),
        "prior_map": as_base64(for_colours(vote.prior_map), "<f4"),
        "step_map": as_base64(for_colours(vote.step_map), "<f4"),
    }


def _risks(certificates: Sequence[Certificate]) -> str:
    return as_base64([[term.risk for term in one.terms] for one in certificates], "<f4")


def pack_blocks(blocks: CertifiedBlocks, sample: Sample, extent: float) -> dict[str, Any]:
    """Data of the live view of blocks that test and then teach; points are in the order in which they come."""
    return with_version(
        {
            "points": as_base64(sample.X[blocks.rows], "<f4"),
            "labels": as_base64(sample.y[blocks.rows], "i1"),
            "first": blocks.n_first,
            "sizes": blocks.sizes.tolist(),
            "wrong": as_base64(blocks.wrong, "u1"),
            "maps": as_base64(for_colours(np.clip(blocks.maps, -1, 1)), "<f4"),
            "counts": as_base64(blocks.counts, "<u2"),
            "bounds": as_base64(blocks.bounds, "<f4"),
            "ends": blocks.ends.tolist(),
            "risk_bound": blocks.risk_bound,
            "test_error": blocks.test_error,
            "test_set_bound": blocks.test_set_bound,
            "test_set_error": blocks.test_set_error,
            "n_bound": blocks.n_bound,
            "extent": extent,
            "total": certificate_style.TOTAL_COLOUR,
        }
    )
