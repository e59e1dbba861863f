"""Commands on bounds: coverage, certify."""

from __future__ import annotations

from collections.abc import Iterator

from rff_engine.bounds import ALIGNMENT_BOUNDS, FORMS

from ..reports import certificate as reports
from ..studies import certificate
from ..toy.coverage import PAIR_CASES, WORST_CASES, BoundFailures, simulate_two_gaussians, simulate_worst_case
from ..toy.vote_coverage import (
    CLASSIFIER_CASES,
    simulate_classifiers,
    simulate_landmark_classifiers,
    simulate_smaller_of_two,
)
from .output import Output, Progress

_MUS = (1.5, 2.0, 3.0, 5.0, 10.0)


def coverage(options) -> int:
    """Simulate how often the bounds fail."""
    return _coverage_of_certificates(options) if options.certificates else _coverage_of_paper(options)


def _coverage_of_certificates(options) -> int:
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


def _certificate_failures(options) -> Iterator[tuple[str, str, BoundFailures]]:
    """Kind of classifier, distribution and failures of every bound of docs/theory.md.

    These are the bounds over pairs whose form the paper does not have, and those on votes.
    """
    draws = {"epsilon": options.epsilon, "n_draws": options.draws, "random_state": options.seed}
    votes = {"frequencies": simulate_classifiers, "landmarks": simulate_landmark_classifiers}
    votes["two bounds"] = simulate_smaller_of_two
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


def _coverage_of_paper(options) -> int:
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


def certify(options) -> int:
    """Train a classifier that bounds its own risk, or verify the page of one."""
    if options.verify is not None:
        return _verify(options)
    if (options.dataset is None) == (options.table is None) or (options.table is None) != (options.target is None):
        raise ValueError("certify needs --dataset, or --table and --target, or --verify.")
    return _certify_dataset(options) if options.table is None else _certify_table(options)


def _certify_table(options) -> int:
    output = Output(options.html)
    with Progress(f"fitting to {options.table}"):
        record = reports.certify_table(options.table, options.target, options.classifier, options.epsilon, options.seed)
    print(f"{record['file']}, {record['target']}: {record['rows']} rows, {len(record['columns'])} columns,")
    print(f"{len(record['classes'])} classes; {record['classifier']}\n")
    _print_terms(record["terms"], record["risk_bound"], record["arm"])
    print(f"\n{reports.sentence(record)}")
    for caution in record["cautions"]:
        print(f"Caution: {caution}")
    output.write(reports.page(record))
    return 0


def _verify(options) -> int:
    """0 if a page is as it was written and, with its table, what the table gives; otherwise 2."""
    record = reports.verify(options.verify)
    if options.table is not None:
        classifier = record["classifier"] if "." in record["classifier"] else None
        again = reports.certify_table(options.table, record["target"], classifier, record["epsilon"], record["seed"])
        differing = [key for key in record if key not in ("file", "versions") and record[key] != again.get(key)]
        if differing:
            raise ValueError(f"--table is {options.table!r}, which gives another {differing[0]} than {options.verify}.")
    print(f"{options.verify} is as it was written. {reports.sentence(record)}")
    return 0


def _print_terms(terms, bound: float, arm: str) -> None:
    print(f"{'term':<44} {'nats':>8} {'risk':>8}")
    for name, nats, risk in terms:
        print(f"{name:<44} {nats:>8.2f} {risk:>8.2%}")
    print(f"{'certified risk':<44} {'':>8} {bound:>8.2%}, by the {arm}")


def _certify_dataset(options) -> int:
    with Progress(f"fitting {options.method} to {options.dataset}"):
        result = certificate.certify(options.dataset, options.method, options.epsilon, options.seed, options.D)
    unit = {"landmarks": "landmarks", "boosting": "rounds"}.get(options.method, "frequencies")
    fewer = options.D is None and result.n_components < certificate.DEFAULT_COMPONENTS
    note = f", as many as the rows allow (default {certificate.DEFAULT_COMPONENTS})" if fewer else ""
    print(f"{options.dataset}, {options.method}: {result.n_components} {unit}{note}\n")
    _print_terms(result.terms, result.risk_bound, result.arm)
    print(f"by pairs of voters: tandem bound {result.tandem_bound:.2%}, C-bound {result.c_bound:.2%}, each alone")
    print(f"\ntest error of the vote: {result.test_error:.2%}")
    print(f"Gibbs classifier: certified {result.gibbs_bound:.2%}, test error {result.gibbs_error:.2%}")
    print(f"test-set bound on the same {result.n_bound} rows, for the prior's vote: {result.test_set_bound:.2%}")
    return 0
