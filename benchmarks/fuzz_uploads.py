"""Coverage-guided fuzzing of the readers of user-uploaded files.

python -m benchmarks.fuzz_uploads [--seconds 600]: every input must be read, or refused with an UploadError of one line;
anything else, such as an exception, a crash or too much memory, ends the run and saves the input to a file. Needs
`pip install atheris`. The readers run in this process, since a child would hide their branches and crashes.
"""

from __future__ import annotations

import argparse
import atexit
import resource
import sys
import tempfile
import time
from pathlib import Path

import atheris

# Libraries that the readers import, before them and without instrumentation.
import numpy as np
import pyarrow.parquet  # noqa: F401

with atheris.instrument_imports(include=["datasets"]):
    from datasets.tables import preparation, readers, roles, table as tables

# Small limits are reached sooner.
LIMITS = tables.Limits(
    bytes=20_000,
    expanded_bytes=200_000,
    rows=400,
    columns=40,
    cells=4_000,
    cell_characters=200,
    classes=8,
    categories=4,
)
NAMES = ("table.csv", "table.tsv", "table.svm", "table.parquet", "table")
MOST_MEMORY = 2_000  # MB
KEPT = Path(tempfile.gettempdir()) / "fuzz_uploads_"
"""Prefix of the file of an input that failed"""
SEEDS = Path(__file__).parents[1] / "tests" / "datasets"
counts = {"read": 0, "prepared": 0, "refused": 0}


def one_input(data: bytes) -> None:
    """Read and prepare a file; the first byte chooses its name."""
    if not data:
        return
    try:
        table = readers.read(data[1:], NAMES[data[0] % len(NAMES)], LIMITS)
        counts["read"] += 1
        target = roles.suggest_target(table)
        columns = roles.suggest_columns(table, target)
        scaling = preparation.SCALINGS[data[0] // 8 % 3]
        imputation = preparation.IMPUTATIONS[data[0] // 64 % 2]
        dataset = preparation.prepare(table, target, columns, scaling, imputation, limits=LIMITS)
        preparation.two_classes(dataset, next(iter(dataset.label_names), None))
        if not np.isfinite(dataset.X).all():
            raise AssertionError("prepared points are not finite")
        counts["prepared"] += 1
    except tables.UploadError as error:
        if "\n" in str(error) or not str(error).endswith((".", "?")):
            raise AssertionError(f"not a sentence: {error!r}") from error
        counts["refused"] += 1


def write_seeds(folder: Path) -> None:
    """Write the small ones of the tests' bad files to a folder."""
    sys.path.insert(0, str(SEEDS))
    from bad_files import corpus

    for i, file in enumerate(corpus()):
        if len(file.data) < LIMITS.bytes:
            first = NAMES.index(file.name) if file.name in NAMES else len(NAMES) - 1
            (folder / f"{i:05d}").write_bytes(bytes([first]) + file.data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=600)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as corpus:
        write_seeds(Path(corpus))
        options = [f"-max_total_time={seconds}", f"-rss_limit_mb={MOST_MEMORY}", "-timeout=20", "-print_final_stats=1"]
        begun = time.monotonic()
        atheris.Setup(
            [sys.argv[0], *options, f"-max_len={LIMITS.bytes}", f"-artifact_prefix={KEPT}", corpus], one_input
        )

        @atexit.register
        def report() -> None:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{sum(counts.values()) - counts['prepared']} inputs in {time.monotonic() - begun:.0f} s: {counts}")
            print(f"peak memory {peak:.0f} MB", flush=True)

        atheris.Fuzz()


if __name__ == "__main__":
    main()
