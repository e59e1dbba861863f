"""Commands of `python -m rff_engine`.

Commands: datasets, fetch, run, resume, runs, report, reproduce, recompute, coverage, certify.

It runs a protocol of `rff_engine.experiments` on a data set and keeps its rows in a store as they become known.
Progress goes to stderr. Exit codes: 0 done, 1 recomputed rows differ, 2 wrong input, 130 interrupted; known rows are
kept.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path

import pandas as pd

from rff_engine import __version__
from rff_engine.bounds import ALIGNMENT_BOUNDS, FORMS
from rff_engine.experiments import datasets
from rff_engine.experiments.reports import reproduction
from rff_engine.experiments.reports.comparison import judgement
from rff_engine.experiments.reports.reproduction import TARGETS
from rff_engine.experiments.reports.tables import error_by_features, error_by_share, to_csv, to_frame
from rff_engine.experiments.running.interrupts import Interrupts
from rff_engine.experiments.running.recomputation import draw_rows, recompute
from rff_engine.experiments.running.runner import COLUMNS, run_stored
from rff_engine.experiments.running.store import Store, default_store
from rff_engine.experiments.studies.certificate import DEFAULT_COMPONENTS, METHODS, certify
from rff_engine.experiments.studies.protocols import PRESETS, PROTOCOLS, RunSpec
from rff_engine.experiments.toy.coverage import (
    PAIR_CASES,
    WORST_CASES,
    BoundFailures,
    simulate_two_gaussians,
    simulate_worst_case,
)
from rff_engine.experiments.toy.vote_coverage import (
    CLASSIFIER_CASES,
    simulate_classifiers,
    simulate_landmark_classifiers,
)

_MUS = (1.5, 2.0, 3.0, 5.0, 10.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    commands = {
        "datasets": _list_datasets,
        "fetch": _fetch,
        "run": _run,
        "resume": _resume,
        "runs": _list_runs,
        "report": _report,
        "reproduce": _reproduce,
        "recompute": _recompute,
        "coverage": _coverage,
        "certify": _certify,
    }
    try:
        options = _parser().parse_args(arguments)
        return commands[options.command](options)
    except (ValueError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader of a pipe has closed it
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for the interpreter's last flush
            return 0
        print(error, file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"there is not enough memory for this: {error or 'smaller sizes are needed'}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"{message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m rff_engine", description="Runs of the papers' experiments, and their results.")
    parser.add_argument("--version", action="version", version=f"rff_engine {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("datasets", help="list the data sets and where they are")
    fetch = commands.add_parser("fetch", help="download data sets into the cache")
    fetch.add_argument("names", nargs="+", metavar="NAME", choices=datasets.names(), help="see the command datasets")
    store = _Parser(add_help=False)
    store.add_argument(
        "--store",
        metavar="URL",
        help="file or database URL of the results (default: the environment variable RFF_STORE, or a file of the user)",
    )
    work = _Parser(add_help=False)
    work.add_argument("--jobs", type=int, default=1, metavar="J", help="number of processes (default 1)")
    work.add_argument("--scheduler", metavar="ADDRESS", help="running Dask cluster to work on: tcp://host:port")
    work.add_argument("--output", metavar="FILE.csv", help="write the table there; - for standard output")
    _add_run(commands.add_parser("run", parents=[store, work], help="run a protocol, or resume the same run"))
    resume = commands.add_parser("resume", parents=[store, work], help="resume a run that was stopped")
    resume.add_argument("run", metavar="RUN", help="run id, or its beginning; see the command runs")
    commands.add_parser("runs", parents=[store], help="list the runs of a store")
    _add_report(commands.add_parser("report", parents=[store], help="mean errors, chosen on validation data"))
    _add_reproduce(commands.add_parser("reproduce", parents=[store, work], help="rerun a table or figure of a paper"))
    _add_recompute(commands.add_parser("recompute", parents=[store], help="recompute stored rows, drawn at random"))
    _add_coverage(commands.add_parser("coverage", help="simulate how often the bounds fail"))
    _add_certify(commands.add_parser("certify", help="train a classifier that bounds its own risk"))
    return parser


def _add_run(parser) -> None:
    parser.add_argument("protocol", choices=list(PROTOCOLS))
    parser.add_argument("--dataset", required=True, metavar="NAME", help="see the command datasets")
    parser.add_argument("--preset", choices=PRESETS, default="quick")
    parser.add_argument(
        "--split",
        choices=("published", "random"),
        help="random: drawn from the seed of each repeat (default published, if the protocol has such splits)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of all random draws (default 0)")
    parser.add_argument("--repeats", type=int, default=1, help="runs with consecutive seeds (default 1)")
    parser.add_argument("--scaling", choices=("none", "standard"), help="of the columns (default: as in the paper)")
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help="default: all of the protocol")


def _add_report(parser) -> None:
    parser.add_argument(
        "rows",
        metavar="RUN",
        nargs="?",
        help="run id, or a CSV file of rows (default: the reruns of the papers)",
    )
    parser.add_argument(
        "--format",
        choices=("text", "csv", "html"),
        default="text",
        help="csv: all rows; html: tables and figures as one file for a browser (default text)",
    )
    parser.add_argument("--output", metavar="FILE", help="write there; - for standard output, the default")


def _add_reproduce(parser) -> None:
    parser.add_argument("target", choices=list(TARGETS))
    parser.add_argument(
        "--datasets", nargs="+", metavar="NAME", help="of the table or figure (default: all that it has)"
    )
    parser.add_argument(
        "--split",
        choices=("published", "random", "both", "none"),
        default="both",
        help="none: only show the known rows (default both)",
    )
    parser.add_argument(
        "--scaling", choices=("none", "standard"), default="none", help="of the columns (default: as in the paper)"
    )


def _add_recompute(parser) -> None:
    parser.add_argument("--rows", type=int, default=30, help="how many, of all protocols (default 30)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default 0)")
    parser.add_argument("--into", metavar="URL", help="store for the new rows (default: one that is not kept)")
    parser.add_argument(
        "--max-seconds", type=float, default=600.0, help="leave out rows that took longer (default 600)"
    )


def _add_coverage(parser) -> None:
    parser.add_argument("--n", type=int, default=1000, help="sample size of the worst cases (default 1000)")
    parser.add_argument("--epsilon", type=float, default=0.05, help="failures allowed (default 0.05)")
    parser.add_argument("--draws", type=int, default=20000, help="samples (default 20000)")
    parser.add_argument("--certificates", action="store_true", help="the bounds of docs/theory.md on six distributions")
    parser.add_argument("--seed", type=int, default=0)


def _add_certify(parser) -> None:
    parser.add_argument("--dataset", required=True, metavar="NAME", help="with a published split")
    parser.add_argument("--method", choices=METHODS, default="pbrff", help="of the features (default pbrff)")
    words = "frequencies, landmarks or rounds (default 200, or as many landmarks as there are rows to take)"
    parser.add_argument("--D", type=int, metavar="D", help=words)
    parser.add_argument("--epsilon", type=float, default=0.05, help="failures allowed (default 0.05)")
    parser.add_argument("--seed", type=int, default=0)


def _list_datasets(_) -> int:
    for name in datasets.names():
        info = datasets.describe(name)
        print(f"{name:<10} {info.n_samples:>7} x {info.n_features:<6} {info.task:<15} {datasets.status(name)}")
    return 0


def _fetch(options) -> int:
    return import_module(f"{datasets.__name__}.__main__").main(["fetch", *options.names])


def _run(options) -> int:
    changes = {} if options.methods is None else {"methods": tuple(options.methods)}
    changes |= {} if options.scaling is None else {"scaling": options.scaling}
    protocol = PROTOCOLS[options.protocol].preset(options.preset, **changes)
    spec = RunSpec(protocol, options.dataset, options.split, options.repeats, options.seed)
    with _store(options) as store:
        return _run_and_write(store, spec, options)


def _resume(options) -> int:
    with _store(options) as store:
        return _run_and_write(store, store.run(options.run), options)


def _run_and_write(store: Store, spec: RunSpec, options) -> int:
    """Compute the missing rows of a run and write all; known rows are kept on Ctrl-C or SIGTERM."""
    output = _Output(options.output)
    code = _compute(store, spec, options)
    output.write(to_csv(store.rows(spec)))
    return code


def _compute(store: Store, spec: RunSpec, options) -> int:
    known = 0
    try:
        with Interrupts() as interrupts:
            steps = run_stored(store, spec, jobs=options.jobs, scheduler=options.scheduler)
            with closing(steps), _Progress() as progress:
                for step in steps:
                    known += len(step.rows)
                    progress.show(step)
                    interrupts.check()
    except KeyboardInterrupt:
        print(f"interrupted: {known} new rows of {spec.run_id} are kept; the same command goes on", file=sys.stderr)
        return 130
    print(f"{spec.run_id}: {known} new rows in {store.name}", file=sys.stderr)
    return 0


def _reproduce(options) -> int:
    """Compute the missing rows behind a table or figure, then print it with the paper's numbers."""
    output = _Output(options.output)
    names = options.datasets or reproduction.datasets_of(options.target)
    scaled = names if options.scaling == "standard" else ()
    specs = reproduction.specs(options.target, names, scaled)
    with _store(options, only_read=options.split == "none") as store:
        for spec in specs:
            if options.split in (spec.split, "both") and (code := _compute(store, spec, options)):
                return code
        rows = reproduction.known_rows(store, options.target, names, scaled)
    comparison = reproduction.compare_with_paper(options.target, rows)
    comparison = comparison[comparison["dataset"].isin(names)]
    if options.output is None:
        print(comparison.to_string(index=False, float_format="%.4f", na_rep=""))
        print(f"\n{judgement(comparison).sentence()}")
    else:
        output.write(comparison.to_csv(index=False))
    return 0


def _recompute(options) -> int:
    """Recompute rows of the given store, or of the reruns of the papers, and compare; 1 if some differ."""
    given = reproduction.SHIPPED if options.store is None else options.store
    with (
        Store(given, read_only=True if options.store is None else None) as store,
        Store(options.into or "sqlite://") as target,
    ):
        drawn = draw_rows(store, options.rows, options.seed, options.max_seconds)
        recomputed = []
        for row in recompute(store, drawn, target):
            recomputed.append(row)
            allowed = f"{row.allowed:g} allowed" if row.allowed else "must be equal"
            verdict = "agrees" if row.agrees else "DIFFERS" if row.same_key else "OTHER DATA OR SETTINGS"
            print(f"{row.drawn.name}: {verdict}, relative difference {row.difference:.2g}, {allowed}", flush=True)
    equal = sum(row.difference == 0 for row in recomputed)
    near = sum(row.agrees for row in recomputed)
    print(f"{len(recomputed)} rows recomputed: {equal} equal, {near - equal} more within what is allowed")
    return 0 if near == len(recomputed) else 1


def _store(options, only_read: bool = False) -> Store:
    """The store of a command; one that is only read may be a copy that cannot be written."""
    return Store(default_store() if options.store is None else options.store, read_only=None if only_read else False)


def _list_runs(options) -> int:
    with _store(options, only_read=True) as store:
        for info in store.runs():
            if info.spec is None:
                state = "of another version"
            else:
                state = "finished" if info.finished else f"{info.repeats_planned} of {info.spec.repeats} repeats begun"
            made = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.created))
            print(f"{info.id:<44} {made}  {info.n_rows:>6} rows, {_duration(info.seconds)}, {state}")
    return 0


def _report(options) -> int:
    output = _Output(options.output or "-")
    output.write(_report_text(options))
    return 0


def _report_text(options) -> str:
    if options.format == "html":
        return _html(options)
    if options.rows is None:
        raise ValueError("report needs a RUN; without one there is --format html alone, of the paper's reruns.")
    if options.rows.endswith(".csv"):
        rows = _rows_of(options.rows)
    else:
        with _store(options, only_read=True) as store:
            rows = to_frame(store.rows(store.run(options.rows)))
    if options.format == "csv":
        return to_csv(rows)
    of = "D" if rows["D"].notna().any() and rows["landmarks"].isna().all() else "share"
    means = error_by_features(rows) if of == "D" else error_by_share(rows)
    return means.to_string(index=False, float_format="%.4f", na_rep="") + "\n"


def _rows_of(name: str) -> pd.DataFrame:
    """The result rows of a CSV file."""
    try:
        rows = pd.read_csv(name)
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {error.strerror}; a RUN or a CSV file of rows is needed.") from None
    except ValueError as error:
        raise ValueError(f"{name} is no CSV file of rows: {' '.join(str(error).split())}") from None
    missing = [column for column in COLUMNS if column not in rows]
    if missing:
        raise ValueError(f"{name} has no column {missing[0]!r}; a CSV file that run or report has written is needed.")
    return rows


def _html(options) -> str:
    from rff_engine.experiments.reports.html import paper_report, run_report  # imports Plotly

    if options.rows is not None and options.rows.endswith(".csv"):
        raise ValueError(f"{options.rows} is a CSV file; --format html is for the runs of a store.")
    if options.rows is None and options.store is None:
        with Store(reproduction.SHIPPED, read_only=True) as store:
            return paper_report(store)
    with _store(options, only_read=True) as store:
        return paper_report(store) if options.rows is None else run_report(store, store.run(options.rows))


class _Output:
    """Output of a command: a file, standard output or none. A file that cannot be written is refused at once."""

    def __init__(self, name: str | None):
        self._name, self._path = name, None if name in (None, "-") else Path(name)
        if self._path and not (self._path.parent.is_dir() and os.access(self._path.parent, os.W_OK)):
            raise ValueError(f"{name} cannot be written: {self._path.parent} is no folder that one may write in.")

    def write(self, text: str) -> None:
        if self._name == "-":
            sys.stdout.write(text)
        elif self._path and self._path.exists() and not self._path.is_file():
            self._path.write_text(text, encoding="utf-8")  # a device or a pipe is not replaced
        elif self._path:
            partial = self._path.with_name(self._path.name + ".partial")
            partial.write_text(text, encoding="utf-8")
            os.replace(partial, self._path)


class _Progress:
    """Percentage and time left on stderr: a line rewritten on a terminal, a line every ten seconds elsewhere."""

    def __init__(self):
        self._start = self._shown = time.monotonic()
        self._rewrites = sys.stderr.isatty()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def show(self, step) -> None:
        now = time.monotonic()
        if now - self._shown < (0.1 if self._rewrites else 10):
            return
        self._shown = now
        left = (now - self._start) * (step.total / step.done - 1)
        line = f"{step.done / step.total:4.0%}, {_duration(left)} left: {step.message}"
        if self._rewrites:
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Clear the line that is being rewritten."""
        if self._rewrites:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"


def _coverage(options) -> int:
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
    for case, distribution in PAIR_CASES.items():
        for bound in simulate_two_gaussians(beta=3.0, distribution=distribution, **draws):
            record = ALIGNMENT_BOUNDS[bound.name]
            if not record.of_landmark and (bound.form not in FORMS or not record.forms):
                yield "", case, bound
    for kind, simulate in (("frequencies", simulate_classifiers), ("landmarks", simulate_landmark_classifiers)):
        for case in CLASSIFIER_CASES:
            yield from ((kind, case, bound) for bound in simulate(case, **draws))


def _coverage_of_paper(options) -> int:
    print(f"Theorem 4 for one hypothesis h = 1: failures in {options.draws} samples of {options.n} points,")
    print(f"{options.epsilon:.1%} allowed\n")
    print(f"{'labels':<14} {'mu':>4} {'printed':>9} {'corrected':>10}")
    for case in WORST_CASES:
        for mu in _MUS:
            result = simulate_worst_case(case, options.n, mu, options.epsilon, options.draws, options.seed)
            print(f"{case:<14} {mu:>4g} {result.printed.rate:>9.2%} {result.corrected.rate:>10.2%}")
    print("\nPosteriors on 20 frequencies, two Gaussian classes, 100 points, beta = 1: failures, 95 % interval,")
    print("mean of bound less truth\n")
    bounds = simulate_two_gaussians(epsilon=options.epsilon, n_draws=options.draws, random_state=options.seed)
    for bound in bounds:
        low, high = bound.interval()
        interval = f"{low:.2%} - {high:.2%}"
        print(f"{bound.name:<24} {bound.form:<12} {bound.rate:>7.2%}  {interval:<16} {-bound.slack.mean():>7.3f}")
    return 0


def _certify(options) -> int:
    result = certify(options.dataset, options.method, options.epsilon, options.seed, options.D)
    unit = {"landmarks": "landmarks", "boosting": "rounds"}.get(options.method, "frequencies")
    fewer = options.D is None and result.n_components < DEFAULT_COMPONENTS
    note = f", as many as the rows allow (default {DEFAULT_COMPONENTS})" if fewer else ""
    print(f"{options.dataset}, {options.method}: {result.n_components} {unit}{note}\n")
    print(f"{'term':<44} {'nats':>8} {'risk':>8}")
    for name, nats, risk in result.terms:
        print(f"{name:<44} {nats:>8.2f} {risk:>8.2%}")
    print(f"{'certified risk of the vote':<44} {'':>8} {result.risk_bound:>8.2%}")
    print(f"by pairs of voters: tandem bound {result.tandem_bound:.2%}, C-bound {result.c_bound:.2%}, each alone")
    print(f"\ntest error of the vote: {result.test_error:.2%}")
    print(f"Gibbs classifier: certified {result.gibbs_bound:.2%}, test error {result.gibbs_error:.2%}")
    print(f"test-set bound on the same {result.n_bound} rows, for the prior's vote: {result.test_set_bound:.2%}")
    return 0
