"""Data of the page's live views: votes with their certificates at every step, and blocks that test and then teach."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from pages.bounds.certificates import compute
from pages.bounds.certificates.compute import COUNTS, CertificateSettings
from pages.shared.controls.scales import STRETCHES
from pages.shared.figures import certificates as figures
from pages.shared.live.packing import as_base64, with_version
from pages.shared.server import workers
from rff_engine.plots.style import for_colours
from rff_engine.studies.toy.certificates import CertifiedVote


def live_certificate(settings: CertificateSettings, method: str, counts: tuple[int, ...]) -> dict[str, Any]:
    """Pack the votes at some of `COUNTS`, each with the vote of its prior; the view asks for votes that it lacks.

    Votes over the plane are rounded to 12 bits.
    """
    votes = workers.results({D: partial(compute.certified_vote, settings, method, D) for D in counts})
    sample = settings.data.sample()
    looked = len(COUNTS) if len(votes) > 1 else 1  # before the others arrive, no other vote can be chosen
    packed = [_pack_vote(D, vote, looked) for D, vote in votes.items()]
    terms = next(iter(votes.values())).certificate().terms
    return with_version(
        {
            "votes": packed,
            "counts": list(COUNTS),
            "points": as_base64(sample.X, "<f4"),
            "labels": as_base64(sample.y, "i1"),
            "extent": settings.data.extent,
            "terms": [figures.term_label(term.name) for term in terms],
            "total": figures.TOTAL_COLOUR,
            "grey": figures.ERROR_COLOUR,
        }
    )


def _pack_vote(D: int, vote: CertifiedVote, n_looks: int) -> dict[str, Any]:
    """Pack a vote and the terms of its certificate at every step, without and with a look at other numbers D."""
    steps = np.array(STRETCHES)[:, None]
    posteriors = vote.posterior(STRETCHES)
    terms = {looks: as_base64(posteriors.after_look(looks).risks(), "<f4") for looks in {1, n_looks}}
    held_out = [vote.held_out(looks) for looks in (1, n_looks)]
    return {
        "D": D,
        "pays": vote.pays,
        "tied": not vote.prior_margins.any(),
        "test_set_bounds": [errors and errors.bound for errors in held_out],
        "terms": [terms[1], terms[n_looks]],
        "test_errors": as_base64((vote.prior_test_margins + steps * vote.step_test_margins <= 0).mean(axis=1), "<f4"),
        "prior_map": as_base64(for_colours(vote.prior_map), "<f4"),
        "step_map": as_base64(for_colours(vote.step_map), "<f4"),
    }


def live_blocks(settings: CertificateSettings, method: str, D: int, n_blocks: int) -> dict[str, Any]:
    """Pack blocks that test and then teach; points are in the order in which they come."""
    blocks = compute.certified_blocks(settings, method, D, n_blocks)
    X, y = settings.sample
    return with_version(
        {
            "points": as_base64(X[blocks.rows], "<f4"),
            "labels": as_base64(y[blocks.rows], "i1"),
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
            "extent": settings.data.extent,
            "total": figures.TOTAL_COLOUR,
        }
    )
