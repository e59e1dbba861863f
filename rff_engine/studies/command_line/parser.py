"""The command line as the user types it: commands, options, and allowed values."""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Callable

import rff_datasets as datasets

from ... import __version__
from ...certified_classifier import SCHEMES
from ..certificate import METHODS
from ..protocols import PRESETS, PROTOCOLS, TARGETS, TARGETS_OF_LI

_MOST_REPEATS, _MOST_SEED = 10**6, 2**31
"""The sum of both is a seed of NumPy's"""
_MOST_JOBS = max(64, os.cpu_count() or 1)
_MOST_DRAWS, _MOST_POINTS = 10**7, 10**9
"""Draws of all bounds take 2 GiB, draws of certificates 6; squares of numbers of points are 64-bit whole numbers"""

METHOD_LINES = {
    "svm": "RBF SVM, whose gamma all other methods take",
    "rff": "random Fourier features, drawn from the prior",
    "pbrff": "features drawn from the pseudo-posterior",
    "okrff": "features drawn from the optimized kernel",
    "rbf_landmarks": "values of the prior's kernel at landmarks",
    "pb_landmarks": "similarities to landmarks by their pseudo-posteriors",
    "monte_carlo": "independent frequencies",
    "orthogonal": "blocks of orthogonal frequencies",
    "structured_orthogonal": "orthogonal ones by products of Hadamard matrices",
    "fastfood": "Hadamard matrices and Gaussian entries that rows share",
    "halton": "Halton's sequence",
    "sobol": "Sobol's sequence, scrambled",
    "lattice": "a lattice, shifted at random",
    "digital_net": "a digital net",
    "moment_matching": "independent ones with the mean and covariance of the density",
    "weight": "independent ones with weights fitted to the kernel",
    "align": "the optimized kernel",
    "sample": "frequencies descended on sampled landmarks (Algorithm 1)",
    "cluster": "the same on centroids",
    "nearest": "the same on the rows nearest to centroids",
    "supervise": "frequencies descended with the predictor (Algorithm 2)",
    "nystroem": "Nyström features on sampled landmarks",
    "nystroem_kmeans": "Nyström features on centroids",
    "moment_matching_unscaled": "moment_matching by the pseudo-inverse alone",
    "sobol_leaped": "sobol, leaped",
    "weight_regression": "weight by a regression",
    "sample_alternating": "sample with alternating steps, as printed",
    "cluster_alternating": "cluster with alternating steps, as printed",
    "sample_large_steps": "sample at the fixed rate r/40",
    "cluster_large_steps": "cluster at the fixed rate r/40",
    "cluster_larger_steps": "cluster at the fixed rate r/30",
    "cluster_largest_steps": "cluster at the fixed rate r/26",
    "supervise_alternating": "supervise with alternating steps, as printed",
    "supervise_alternating_15": "supervise with 15 alternating steps",
    "supervise_one_step": "supervise, one step",
}
"""Methods of all protocols, in words"""


class _Parser(argparse.ArgumentParser):
    """Says in one sentence what is wrong with the options as typed."""

    def __init__(self, **options):
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **options)
        self._typed: list[str] = []

    def parse_known_args(self, args=None, namespace=None):  # pyright: ignore[reportIncompatibleMethodOverride]
        self._typed = sys.argv[1:] if args is None else list(args)
        return super().parse_known_args(args, namespace)

    def error(self, message):
        if message.startswith("the following arguments are required") and (unknown := self._unknown()):
            message = f"unrecognized arguments: {unknown}"
        sentence = re.sub(r"^argument ", "", message)
        sentence = re.sub(
            r"^(\S+): invalid choice: (.+) \(choose from (.+)\)$", r"\1 is \2; it must be one of \3", sentence
        )
        sentence = re.sub(r"^(\S+): is ", r"\1 is ", sentence)
        self.exit(2, f"{sentence} (see {self.prog} --help)\n")

    def _unknown(self) -> str:
        """List typed options that do not exist."""
        typed = [text for text in self._typed if text.startswith("--")]
        known = tuple(self._option_string_actions)
        return " ".join(text for text in typed if not any(one.startswith(text.partition("=")[0]) for one in known))


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    whole = _Parser(prog=datasets.program(), description="Runs of the papers' experiments, and their results.")
    whole.add_argument("--version", action="version", version=f"rff_engine {__version__}")
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
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
    processes = work.add_mutually_exclusive_group()
    processes.add_argument("--jobs", type=_whole(1, _MOST_JOBS), metavar="J", help="number of processes (default 1)")
    processes.add_argument("--scheduler", metavar="ADDRESS", help="running Dask cluster to work on: tcp://host:port")
    work.add_argument("--output", metavar="FILE.csv", help="write the table there; - for standard output")
    _add_run(commands, [store, work])
    commands.add_parser("runs", parents=[store], help="list what a store has")
    _add_report(commands.add_parser("report", parents=[store], help="mean errors, chosen on validation data"))
    _add_reproduce(commands, [store, work])
    _add_recompute(commands.add_parser("recompute", parents=[store], help="recompute stored rows, drawn at random"))
    _add_coverage(commands.add_parser("coverage", help="simulate how often the bounds fail"))
    _add_certify(commands.add_parser("certify", help="train a classifier that bounds its own risk"))
    return whole


def _whole(low: int, high: int) -> Callable[[str], int]:
    """Return the type of an option: whole numbers from `low` to `high`."""

    def parsed(text: str) -> int:
        if re.fullmatch(r"[+-]?\d{1,18}", text) and low <= int(text) <= high:
            return int(text)
        raise argparse.ArgumentTypeError(f"is {text!r}; a whole number from {low} to {high} is needed")

    return parsed


def _number_between(low: float, high: float, allowed: str) -> Callable[[str], float]:
    """Return the type of an option: numbers above `low` and below `high`."""

    def parsed(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if low < number < high:
            return number
        raise argparse.ArgumentTypeError(f"is {text!r}; {allowed} is needed")

    return parsed


_PROBABILITY = _number_between(0, 1, "a probability strictly between 0 and 1")
_SECONDS = _number_between(0, math.inf, "a finite number above 0")
_SEED = _whole(0, _MOST_SEED)


def _add_run(commands, parents) -> None:
    run = commands.add_parser(
        "run", parents=parents, help="run a protocol, or go on with the same run", epilog=_words_on_protocols()
    )
    run.add_argument("protocol", choices=list(PROTOCOLS), metavar="PROTOCOL", help="see below")
    _add_settings(run)


def _add_settings(run, required: bool = True) -> None:
    """Add the options that identify a run."""
    run.add_argument(
        "--dataset", required=required, choices=datasets.names(), metavar="NAME", help="see the command datasets"
    )
    run.add_argument("--preset", choices=PRESETS, default="quick", help="see below (default quick)")
    run.add_argument(
        "--split",
        choices=("published", "random"),
        help="random: drawn from the seed of each repeat (default published, if the protocol has such splits)",
    )
    run.add_argument("--seed", type=_SEED, default=0, help="of all random draws (default 0)")
    run.add_argument(
        "--repeats", type=_whole(1, _MOST_REPEATS), default=1, help="runs with consecutive seeds (default 1)"
    )
    run.add_argument("--scaling", choices=("none", "standard"), help="of the columns (default: as in the paper)")
    run.add_argument(
        "--methods",
        nargs="+",
        choices=METHOD_LINES,
        metavar="METHOD",
        help="see below (default: all of the protocol but the variants that come last)",
    )


def _words_on_protocols() -> str:
    """List protocols, presets and methods, a line each."""
    parts = [_lines("protocols", {name: (kind.__doc__ or "").partition(".\n")[0] for name, kind in PROTOCOLS.items()})]
    parts.append(_lines("presets", PRESETS))
    methods = {}
    for name, line in METHOD_LINES.items():
        of = ", ".join(protocol for protocol, kind in PROTOCOLS.items() if name in kind.known_methods)
        methods[name] = f"{of:<25}  {line}"
    return "\n\n".join([*parts, _lines("methods, and the protocols that have them", methods)])


def _lines(heading: str, words: dict[str, str]) -> str:
    width = max(map(len, words))
    return "\n".join([f"{heading}:", *(f"  {name:<{width}}  {line}" for name, line in words.items())])


def _add_report(parser) -> None:
    parser.add_argument(
        "rows", metavar="ROWS", help="CSV file that run has written, or a protocol of run, with its options"
    )
    _add_settings(parser, required=False)
    parser.add_argument("--format", choices=("text", "csv"), default="text", help="csv: all rows (default text)")
    parser.add_argument("--output", metavar="FILE", help="write there; - for standard output, the default")


def title(target: str) -> str:
    """Say a table or figure in words."""
    kind, number = re.fullmatch(r"(?:li-)?([a-z]+)(\d)", target).groups()  # pyright: ignore[reportOptionalMemberAccess]
    return f"{'Li' if target in TARGETS_OF_LI else 'Letarte'} et al. (2019), {kind.title()} {number}"


def _add_reproduce(commands, parents) -> None:
    reproduce = commands.add_parser(
        "reproduce",
        parents=parents,
        help="show a table or figure of a paper next to its reruns",
        epilog=_lines("tables and figures", {target: title(target) for target in TARGETS}),
        description="Shows the reruns that come with the package, or those of --store. With --recompute it first\n"
        "computes what the store lacks: minutes for breast, hours for adult. The file of --output has more\n"
        "columns, which docs/reproduction.md explains.",
    )
    reproduce.add_argument("target", choices=list(TARGETS), metavar="TARGET", help="see below")
    reproduce.add_argument(
        "--datasets", nargs="+", metavar="NAME", help="of the table or figure (default: all that it has)"
    )
    reproduce.add_argument("--recompute", action="store_true", help="compute the rows that the store lacks")
    reproduce.add_argument(
        "--split", choices=("published", "random", "both"), help="of the rows that are computed (default both)"
    )
    reproduce.add_argument(
        "--scaling", choices=("none", "standard"), default="none", help="of the columns (default: as in the paper)"
    )


def _add_recompute(parser) -> None:
    parser.add_argument("--rows", type=_whole(1, 10**9), default=30, help="how many, of all protocols (default 30)")
    parser.add_argument("--seed", type=_SEED, default=0, help="of the draw (default 0)")
    parser.add_argument(
        "--max-seconds", type=_SECONDS, default=600.0, help="leave out rows that took longer (default 600)"
    )


def _add_coverage(parser) -> None:
    parser.add_argument(
        "--n", type=_whole(2, _MOST_POINTS), default=1000, help="sample size of the worst cases (default 1000)"
    )
    parser.add_argument("--epsilon", type=_PROBABILITY, default=0.05, help="failures allowed (default 0.05)")
    parser.add_argument("--draws", type=_whole(1, _MOST_DRAWS), default=20000, help="samples (default 20000)")
    parser.add_argument("--certificates", action="store_true", help="the bounds of docs/theory.md on six distributions")
    parser.add_argument("--seed", type=_SEED, default=0, help="of all samples (default 0)")


def _add_certify(parser) -> None:
    sets = datasets.published_names()
    parser.add_argument("--dataset", choices=sets, metavar="NAME", help=f"one of {', '.join(sets)}")
    parser.add_argument("--table", metavar="FILE", help="your own rows, as a CSV file or in another format")
    parser.add_argument("--target", metavar="COLUMN", help="of --table: the column to predict")
    words = "of --table, such as sklearn.ensemble.RandomForestClassifier (default: a vote on 200 frequencies)"
    parser.add_argument("--classifier", metavar="PATH", help=words)
    words = "of --table: a column with what a fitted model says, which certifies this model"
    parser.add_argument("--predictions", metavar="COLUMN", help=words)
    words = "of --table: progressive lets rows of the bound teach, in blocks, after they test (default split)"
    parser.add_argument("--scheme", choices=SCHEMES, help=words)
    parser.add_argument("--blocks", type=_whole(1, 10**12), metavar="B", help="of --scheme progressive (default 5)")
    parser.add_argument("--html", metavar="FILE", help="of --table: write the certificate there, as one page")
    words = "of --table: say how many rows certify this risk (default: halfway from the error to its bound)"
    parser.add_argument("--aim", type=_PROBABILITY, metavar="RISK", help=words)
    words = "check a page of --html, of which all is computed again from its --table"
    parser.add_argument("--verify", metavar="FILE", help=words)
    parser.add_argument("--method", choices=METHODS, help="of the features (default pbrff)")
    words = "frequencies, landmarks or rounds (default 200, or as many landmarks as there are rows to take)"
    parser.add_argument("--D", type=_whole(1, 10**12), metavar="D", help=words)
    parser.add_argument("--epsilon", type=_PROBABILITY, default=0.05, help="failures allowed (default 0.05)")
    parser.add_argument("--seed", type=_SEED, default=0, help="of all random draws (default 0)")
