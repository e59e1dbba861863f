"""The command on bounds: coverage."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from rff_engine.bounds import ALIGNMENT_BOUNDS, FORMS

from ..toy.coverage import PAIR_CASES, WORST_CASES, BoundFailures, simulate_two_gaussians, simulate_worst_case
from ..toy.vote_coverage import (
    CLASSIFIER_CASES,
    simulate_classifiers,
    simulate_landmark_classifiers,
    simulate_progressive,
    simulate_smaller_of_two,
)
from .output import Progress

_MUS = (1.5, 2.0, 3.0, 5.0, 10.0)


def coverage(options: Namespace) -> int:
    """Simulate how often the bounds fail."""
    return _coverage_of_certificates(options) if options.certificates else _coverage_of_paper(options)


def _coverage_of_certificates(options: Namespace) -> int:
    failures = list(_certificate_failures(options))
    error = 0.05 / len(failures)
    print(
        f"Failures in {options.draws} samples, {options.epsilon:.1%} allowed; upper limits of the probabilities, which"
    )
    print(f"all hold with probability 95 % (Clopper and Pearson, {len(failures)} at once)\n")
    print(f"{'bound':<25} {'classifier':<12} {'distribution':<24} {'failures':>8} {'limit':>8} {'slack':>7}")
    for kind, case, bound in failures:
        numbers = f"{bound.failures:>8} {bound.largest_rate(error):>8.3%} {-bound.slack.mean():>7.3f}"
        print(f"{bound.name:<25} {kind:<12} {case:<24} {numbers}")
    largest = max(bound.largest_rate(error) for _, _, bound in failures)
    print(f"\nlargest limit: {largest:.3%}")
    return 0


def _certificate_failures(options: Namespace) -> Iterator[tuple[str, str, BoundFailures]]:
    """Kind of classifier, distribution and failures of every bound of docs/theory.md.

    These are the bounds over pairs whose form the paper does not have, and those on votes.
    """
    draws = {"epsilon": options.epsilon, "n_draws": options.draws, "random_state": options.seed}
    votes = {"frequencies": simulate_classifiers, "landmarks": simulate_landmark_classifiers}
    votes |= {"two bounds": simulate_smaller_of_two, "blocks": simulate_progressive}
    cases = [("", case) for case in PAIR_CASES] + [(kind, case) for kind in votes for case in CLASSIFIER_CASES]
    with Progress("sampling") as progress:
        for number, (kind, case) in enumerate(cases):
            progress.show(f"{kind or 'pairs'}, {case}", number / len(cases))
            if kind:
                yield from ((kind, case, bound) for bound in votes[kind](case, **draws))
                continue
            for bound in simulate_two_gaussians(beta=3.0, distribution=PAIR_CASES[case], **draws):
                record = ALIGNMENT_BOUNDS[bound.name]
                if not record.of_landmark and (bound.form not in FORMS or not record.forms):
                    yield kind, case, bound


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
