"""Command line of the engine: `python -m rff_engine datasets | run {features,landmarks} | report | coverage`.

It loads data, runs a protocol of `rff_engine.experiments` and writes rows as they become known; progress goes to
stderr. Exit codes: 0 done, 2 wrong input, 130 interrupted with what was known kept.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pandas as pd

from rff_engine.experiments.coverage import WORST_CASES, simulate_two_gaussians, simulate_worst_case
from rff_engine.experiments.protocols import PRESETS, FeatureSweep, LandmarkStudy
from rff_engine.experiments.report import error_by_features, error_by_share
from rff_engine.experiments.runner import COLUMNS, run_repeats

_PROTOCOLS = {"features": FeatureSweep, "landmarks": LandmarkStudy}
_MUS = (1.5, 2.0, 3.0, 5.0, 10.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    commands = {"datasets": _list_datasets, "run": _run, "report": _report, "coverage": _coverage}
    try:
        options = _parser().parse_args(arguments)
        return commands[options.command](options)
    except (ValueError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader has seen enough
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for the interpreter's last flush
            return 0
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"{message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m rff_engine", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("datasets", help="list the data sets and where they are")

    running = commands.add_parser("run", help="run a protocol and write its rows as CSV")
    running.add_argument("protocol", choices=list(_PROTOCOLS))
    running.add_argument("--dataset", required=True, metavar="NAME", help="of the command datasets")
    running.add_argument("--preset", choices=PRESETS, default="quick")
    running.add_argument(
        "--split", choices=("published", "random"), default="published", help="random: drawn anew from the seed"
    )
    running.add_argument("--seed", type=int, default=0, help="of all that is drawn (default 0)")
    running.add_argument("--repeats", type=int, default=1, help="runs with consecutive seeds (default 1)")
    running.add_argument("--methods", nargs="+", metavar="METHOD", help="default: all of the protocol")
    running.add_argument("--jobs", type=int, default=1, metavar="J", help="processes to work in (default 1)")
    running.add_argument("--scheduler", metavar="ADDRESS", help="of a running Dask cluster to work in: tcp://host:port")
    running.add_argument("--output", type=Path, metavar="FILE.csv", help="default: standard output")

    report = commands.add_parser("report", help="mean errors of a run's rows, chosen on validation data")
    report.add_argument("rows", type=Path, metavar="FILE.csv", help="as `run` wrote it")

    coverage = commands.add_parser("coverage", help="simulate how often the bounds fail")
    coverage.add_argument("--n", type=int, default=1000, help="sample size of the worst cases (default 1000)")
    coverage.add_argument("--epsilon", type=float, default=0.05, help="failures allowed (default 0.05)")
    coverage.add_argument("--draws", type=int, default=20000, help="samples (default 20000)")
    coverage.add_argument("--seed", type=int, default=0)
    return parser


def _list_datasets(_) -> int:
    import datasets

    for name in datasets.names():
        info = datasets.describe(name)
        print(f"{name:<10} {info.n_samples:>7} x {info.n_features:<6} {info.task:<15} {datasets.status(name)}")
    return 0


def _run(options) -> int:
    changes = {} if options.methods is None else {"methods": tuple(options.methods)}
    protocol = _PROTOCOLS[options.protocol].preset(options.preset, **changes)
    named = {"dataset": options.dataset, "split_name": options.split, "seed": options.seed}
    named |= {"jobs": options.jobs, "scheduler": options.scheduler}
    steps = run_repeats(protocol, _splits(options.dataset, options.split), options.repeats, **named)
    known = 0
    with _destination(options.output) as stream, closing(steps), _Progress() as progress:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        try:
            for step in steps:
                writer.writerows(step.rows)
                stream.flush()
                known += len(step.rows)
                progress.show(step)
        except KeyboardInterrupt:
            progress.end()
            print(f"interrupted: the {known} rows known so far are kept", file=sys.stderr)
            return 130
    return 0


def _splits(name: str, split: str) -> Callable:
    """From the seed of a repeat to its split; the data are read once."""
    import datasets

    if split == "published":
        published = datasets.published_split(name)
        return lambda seed: published
    dataset = datasets.load(name)
    if dataset.task != "classification":
        raise ValueError(f"{name} is a data set for {dataset.task}; the protocols are for two classes.")
    return lambda seed: datasets.random_split(dataset, seed)


def _report(options) -> int:
    rows = pd.read_csv(options.rows)
    of = "D" if rows["D"].notna().any() and rows["landmarks"].isna().all() else "share"
    means = error_by_features(rows) if of == "D" else error_by_share(rows)
    print(means.to_string(index=False, float_format="%.4f", na_rep=""))
    return 0


@contextmanager
def _destination(path: Path | None) -> Iterator:
    """Standard output, or a file that takes its name when it is whole or the run is interrupted."""
    if path is None:
        yield sys.stdout
        return
    partial = path.with_name(path.name + ".partial")
    try:
        stream = open(partial, "w", newline="", encoding="utf-8")  # noqa: SIM115 - closed below
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}.") from None
    with stream:
        yield stream
    os.replace(partial, path)


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
    print(f"Theorem 4 for one hypothesis h = 1: failures in {options.draws} samples of {options.n} points,")
    print(f"{options.epsilon:.1%} allowed\n")
    print(f"{'labels':<14} {'mu':>4} {'printed':>9} {'corrected':>10}")
    for case in WORST_CASES:
        for mu in _MUS:
            result = simulate_worst_case(case, options.n, mu, options.epsilon, options.draws, options.seed)
            print(f"{case:<14} {mu:>4g} {result.printed.rate:>9.2%} {result.corrected.rate:>10.2%}")
    print("\nPosteriors on 20 frequencies, two Gaussian classes, 100 points, beta = 1: failures, 95 % interval,")
    print("mean of bound less truth\n")
    found = simulate_two_gaussians(epsilon=options.epsilon, n_draws=options.draws, random_state=options.seed)
    for bound in found:
        low, high = bound.interval()
        interval = f"{low:.2%} - {high:.2%}"
        print(f"{bound.name:<20} {bound.form:<10} {bound.rate:>7.2%}  {interval:<16} {-bound.slack.mean():>7.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
