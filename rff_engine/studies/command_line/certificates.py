"""The command on certificates: certify."""

from __future__ import annotations

from argparse import Namespace

from ...certified_classifier import CertifiedClassifier
from .. import certificate
from ..reports import certificate as reports
from ..toy.certificates import rows_in_words
from .output import Output, Progress

_ARMS = {"test set": "the test set", "posterior": "the posterior", "progressive": "progressive validation"}


def certify(options: Namespace) -> int:
    """Train a classifier that bounds its own risk, or verify the page of one."""
    if options.verify is not None:
        return _verify(options)
    if (options.dataset is None) == (options.table is None) or (options.table is None) != (options.target is None):
        raise ValueError("certify needs --dataset, or --table and --target, or --verify.")
    others = (
        ("classifier", "predictions", "scheme", "blocks", "html", "aim") if options.table is None else ("D", "method")
    )
    for name in others:
        if getattr(options, name) is not None:
            raise ValueError(f"--{name} is of --{'dataset' if options.table else 'table'}, which is not given.")
    if options.predictions is not None and (options.classifier or options.scheme or options.blocks):
        raise ValueError("--predictions are those of a fitted model, without --classifier, --scheme and --blocks.")
    if options.blocks is not None and options.scheme != "progressive":
        raise ValueError("--blocks is of --scheme progressive, which is not given.")
    if options.aim is not None and options.scheme == "progressive":
        raise ValueError("--aim is of --scheme split; the rows of blocks teach as well.")
    return _certify_dataset(options) if options.table is None else _certify_table(options)


def _certify_table(options: Namespace) -> int:
    output = Output(options.html, "--html", [options.table])
    blocks = (options.blocks or CertifiedClassifier().n_blocks) if options.scheme == "progressive" else None
    with Progress(f"fitting to {options.table}"):
        record = reports.certify_table(
            options.table,
            options.target,
            options.classifier,
            options.epsilon,
            options.seed,
            blocks,
            options.predictions,
        )
    print(f"{record['file']}, {record['target']}: {record['rows']} rows, {len(record['columns'])} columns,")
    print(f"{len(record['classes'])} classes; {record['classifier']}\n")
    _print_terms(record["terms"], record["risk_bound"], record["arm"])
    print(f"\n{reports.sentence(record)}\n{reports.majority_in_words(record)}")
    if blocks is None:
        print(rows_in_words(record["errors on them"], record["rows of the bound"], options.epsilon, options.aim))
    for caution in record["cautions"]:
        print(f"Caution: {caution}")
    output.write(reports.page(record))
    return 0


def _verify(options: Namespace) -> int:
    """Verify a page: return 0 if the table gives every character of it, otherwise 2."""
    if options.table is None:
        raise ValueError("--verify needs --table; without the rows nothing about a risk can be verified.")
    with Progress(f"fitting to {options.table}"):
        record = reports.verify(options.verify, options.table, options.classifier, options.predictions)
    print(f"{options.verify} is as it was written for {options.table}. {reports.sentence(record)}")
    print(reports.majority_in_words(record))
    return 0


def _print_terms(terms, bound: float, arm: str) -> None:
    print(f"{'term':<44} {'nats':>8} {'risk':>8}")
    for name, nats, risk in terms:
        print(f"{name:<44} {nats:>8.2f} {risk:>8.2%}")
    print(f"{'certified risk':<44} {'':>8} {bound:>8.2%}, by {_ARMS[arm]}")


def _certify_dataset(options: Namespace) -> int:
    method = options.method or "pbrff"
    with Progress(f"fitting {method} to {options.dataset}"):
        result = certificate.certify(options.dataset, method, options.epsilon, options.seed, options.D)
    unit = {"landmarks": "landmarks", "boosting": "rounds"}.get(method, "frequencies")
    fewer = options.D is None and result.n_components < certificate.DEFAULT_COMPONENTS
    note = f", as many as the rows allow (default {certificate.DEFAULT_COMPONENTS})" if fewer else ""
    print(f"{options.dataset}, {method}: {result.n_components} {unit}{note}\n")
    _print_terms(result.terms, result.risk_bound, result.arm)
    print(f"by pairs of voters: tandem bound {result.tandem_bound:.2%}, C-bound {result.c_bound:.2%}, each alone")
    print(f"\ntest error of the vote: {result.test_error:.2%}")
    print(f"Gibbs classifier: certified {result.gibbs_bound:.2%}, test error {result.gibbs_error:.2%}")
    print(f"test-set bound on the same {result.n_bound} rows, for the prior's vote: {result.test_set_bound:.2%}")
    print(f"always saying the most frequent class of the prior's rows errs on {result.majority_error:.2%} of them")
    return 0
