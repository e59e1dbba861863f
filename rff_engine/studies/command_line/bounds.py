"""The command on bounds: coverage."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...bounds import ALIGNMENT_BOUNDS, FORMS, LANDMARK_BOUNDS
from ..toy.coverage import (
    PAIR_CASES,
    WORST_CASES,
    BoundFailures,
    simulate_two_gaussians,
    simulate_worst_case,
)
from ..toy.vote_coverage import (
    CLASSIFIER_CASES,
    simulate_classifiers,
    simulate_held_out,
    simulate_landmark_classifiers,
    simulate_progressive,
)
from .output import Progress

_MUS = (1.5, 2.0, 3.0, 5.0, 10.0)


def coverage(options: Namespace) -> int:
    """Simulate how often the bounds fail."""
    return _coverage_of_certificates(options) if options.certificates else _coverage_of_paper(options)


def _coverage_of_certificates(options: Namespace) -> int:
    rows = list(_certificate_failures(options))
    pairs = sum(len(failures) for *_, failures, _ in rows)
    print(
        f"Failures in {options.draws} samples of each of six distributions, {options.epsilon:.1%} allowed; the largest"
        f"\nupper limit of their probabilities: all {pairs} hold with probability 95 % (Clopper and Pearson); failures"
        f"\non noise, of {_ROWS} independent rows and of {_ROWS // COPIES} rows {COPIES} times each; of a learned"
        " kernel a tenth of the samples\n"
    )
    print("| bound | of | failures | limit | independent | repeated |\n|---|---|---|---|---|---|")
    for kind, name, failures, on_noise in rows:
        limit = max(bound.largest_rate(0.05 / pairs) for bound in failures)
        counts = "/".join(str(bound.failures) for bound in failures)
        print(f"| {name} | {kind} | {counts} | {limit:.3%} | {' | '.join(f'{bound.rate:.1%}' for bound in on_noise)} |")
    return 0


def _certificate_failures(options: Namespace) -> Iterator[tuple[str, str, list[BoundFailures], list[BoundFailures]]]:
    """Yield kind and name of each bound of docs/theory.md, its failures on six distributions and, twice, on noise.

    The first rows of noise are independent, the second ones repeat.
    """
    draws = {"epsilon": options.epsilon, "n_draws": options.draws, "random_state": options.seed}
    with Progress("sampling") as progress:
        for number, (kind, (simulate, cases, noise)) in enumerate(CERTIFICATES.items()):
            progress.show(kind, number / len(CERTIFICATES))
            by_case = [simulate(case, **draws) for case in cases]
            on_noise = [simulate(*noise, copies=copies, **draws) for copies in (1, COPIES)]
            for failures, of_noise in zip(zip(*by_case, strict=True), zip(*on_noise, strict=True), strict=True):
                yield kind, failures[0].name, list(failures), list(of_noise)


def simulate_pairs(case: str, n: int = 100, **draws: Any) -> list[BoundFailures]:
    """Simulate the bounds over pairs whose form is not in the paper, at beta = 3, on one of `PAIR_CASES`."""
    failures = simulate_two_gaussians(n, beta=3.0, distribution=PAIR_CASES[case], **draws)
    return [bound for bound in failures if bound.name not in LANDMARK_BOUNDS and _not_of_paper(bound)]


def simulate_learned_kernel(case: str, n: int = 50, n_draws: int = 20000, **draws: Any) -> list[BoundFailures]:
    """Simulate the bounds after the prior's rows, which choose among ten kernels, on a tenth of the draws."""
    return simulate_held_out(case, n, n_draws=max(n_draws // 10, 1), learn_kernel=True, **draws)


def _not_of_paper(bound: BoundFailures) -> bool:
    return bound.form not in FORMS or bound.name not in ALIGNMENT_BOUNDS or not ALIGNMENT_BOUNDS[bound.name].forms


_ROWS, COPIES = 500, 125  # of noise
#: Simulations of the bounds of docs/theory.md, their distributions, and noise with n for tests of repeated rows.
CERTIFICATES: dict[str, tuple[Callable[..., list[BoundFailures]], Iterable[str], tuple[str, int]]] = {
    "pairs": (simulate_pairs, PAIR_CASES, ("no difference", _ROWS)),
    "frequencies": (simulate_classifiers, CLASSIFIER_CASES, ("pure noise", _ROWS)),
    "landmarks": (simulate_landmark_classifiers, CLASSIFIER_CASES, ("pure noise", _ROWS)),
    "held out": (simulate_held_out, CLASSIFIER_CASES, ("pure noise", _ROWS // 2)),  # as many rows belong to the prior
    "learned kernel": (simulate_learned_kernel, CLASSIFIER_CASES, ("pure noise", _ROWS // 2)),
    "blocks": (simulate_progressive, CLASSIFIER_CASES, ("pure noise", _ROWS // 2)),
}


def _coverage_of_paper(options: Namespace) -> int:
    print(f"Theorem 4 for one hypothesis h = 1: failures in {options.draws} samples of {options.n} points,")
    print(f"{options.epsilon:.1%} allowed\n")
    print(f"{'labels':<14} {'mu':>4} {'printed':>9} {'corrected':>10}", flush=True)
    with Progress("sampling labels") as progress:
        for case in WORST_CASES:
            for mu in _MUS:
                result = simulate_worst_case(case, options.n, mu, options.epsilon, options.draws, options.seed)
                progress.clear()
                print(f"{case:<14} {mu:>4g} {result.printed.rate:>9.2%} {result.corrected.rate:>10.2%}", flush=True)
        progress.show("sampling two classes")
        bounds = simulate_two_gaussians(epsilon=options.epsilon, n_draws=options.draws, random_state=options.seed)
    print("\nPosteriors on 20 frequencies, two Gaussian classes, 100 points, beta = 1: failures, 95 % interval,")
    print("mean of bound less truth\n")
    for bound in bounds:
        low, high = bound.interval()
        interval = f"{low:.2%} - {high:.2%}"
        print(f"{bound.name:<24} {bound.form:<12} {bound.rate:>7.2%}  {interval:<16} {-bound.slack.mean():>7.3f}")
    return 0
