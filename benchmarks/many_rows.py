"""Alignment losses of 10^8 rows of 100 columns, none of them stored: the rate on a part, and what the whole takes.

    python -m benchmarks.many_rows                                 # 10^6 rows, 1000 frequencies: a minute
    python -m benchmarks.many_rows --measured 100000000            # all rows: hours

Each block of rows is generated where it is summed, from a seed of its own, and forgotten. One process is
`alignment_loss_batched` on one thread; more are the workers of `alignment_loss_on_cluster`, one thread each. Seconds
are processor time of the process that has most of it: how long a run takes where each process has a core, whatever else
the machine does. The rate is rows times frequencies per second, with the generation of the rows and without it. The
projection to more processes is on paper: compute time falls in proportion, and one process adds what the workers send,
which is measured here too.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

import rff_engine as rff
from rff_engine.experiments.running.cluster import connected
from rff_engine.experiments.running.cluster_losses import alignment_loss_on_cluster

ROWS, COLUMNS, FREQUENCIES, BLOCK = 10**8, 100, 1000, 2**16
ON_PAPER = (8, 64)


def block(index: int, rows: int, columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Normal points in float32, and labels of two classes that depend on two columns."""
    X = np.random.default_rng((seed, index)).standard_normal((rows, columns), dtype=np.float32)
    return X, X[:, 0] * X[:, 1] > 0


def blocks(n: int, columns: int, size: int = BLOCK) -> Iterator[Callable[[], tuple]]:
    """A function for each block, which generates its rows."""
    for start in range(0, n, size):
        yield partial(block, start // size, min(size, n - start), columns)


def frequencies(n_frequencies: int, columns: int) -> rff.FrequencyBlocks:
    return rff.FrequencyBlocks(rff.GaussianKernel(columns**0.5), n_frequencies, columns, seed=0)


@dataclass(frozen=True)
class Measured:
    """Of so many processes."""

    processes: int
    work: float
    """Rows times frequencies"""
    seconds: float
    loss: np.ndarray

    @property
    def rate(self) -> float:
        """Rows times frequencies a second, with the generation of the rows."""
        return self.work / self.seconds


def measure(processes: int, n: int, columns: int, n_frequencies: int) -> Measured:
    omega = frequencies(n_frequencies, columns)
    if processes == 1:
        with threadpool_limits(1):
            start = time.process_time()
            loss = rff.alignment_loss_batched((make() for make in blocks(n, columns)), omega, n_jobs=1)
            seconds = time.process_time() - start
    else:
        with connected(processes, None) as workers:
            client = workers.client
            address = client.scheduler.address
            alignment_loss_on_cluster(blocks(processes * 100, columns, 100), omega, scheduler=address)  # imports
            start = client.run(time.process_time)
            loss = alignment_loss_on_cluster(blocks(n, columns), omega, scheduler=address)
            seconds = max(end - start[worker] for worker, end in client.run(time.process_time).items())
    return Measured(processes, float(n) * n_frequencies, seconds, loss)


def generation_seconds(columns: int) -> float:
    """Seconds to generate a row."""
    start = time.process_time()
    for index in range(3):
        block(index, BLOCK, columns)
    return (time.process_time() - start) / (3 * BLOCK)


def addition_seconds(columns: int, n_frequencies: int) -> float:
    """Seconds in which one process unpacks the sums of a block and adds them."""
    sums = rff.alignment_sums(*block(0, 1000, columns), frequencies(n_frequencies, columns))
    sent = pickle.dumps(sums)
    start = time.process_time()
    for _ in range(100):
        sums = sums + pickle.loads(sent)
    return (time.process_time() - start) / 100


def projected_seconds(rate: float, processes: int, adding: float, rows: int, n_frequencies: int) -> float:
    """Seconds for all rows at the rate of one process, if only the additions are not shared."""
    n_blocks = -(-rows // BLOCK)
    return max(rows * n_frequencies / (rate * processes), n_blocks * adding)


def table(measured: list[Measured], making: float, adding: float, n_frequencies: int) -> str:
    """The rates and the projection in Markdown."""
    lines = ["| processes | rows × frequencies a second | without generation | 10⁸ rows |", "|---|---|---|---|"]
    for one in measured:
        alone = one.work / (one.seconds - making * one.work / n_frequencies / one.processes)
        whole = ROWS * n_frequencies / one.rate
        lines.append(f"| {one.processes}, measured | {_power(one.rate)} | {_power(alone)} | {_duration(whole)} |")
    slowest = measured[-1].rate / measured[-1].processes
    for processes in ON_PAPER:
        whole = projected_seconds(slowest, processes, adding, ROWS, n_frequencies)
        lines.append(f"| {processes}, on paper | {_power(ROWS * n_frequencies / whole)} | – | {_duration(whole)} |")
    return "\n".join(lines)


def _power(number: float) -> str:
    """Two digits and a power of ten, as 1.7·10⁸."""
    mantissa, exponent = f"{number:.1e}".split("e")
    return f"{mantissa}·10{str(int(exponent)).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def _duration(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 100
        else f"{seconds / 60:.0f} min"
        if seconds < 6000
        else f"{seconds / 3600:.1f} h"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--measured", type=int, default=10**6, metavar="N", help="rows that are computed")
    parser.add_argument("--columns", type=int, default=COLUMNS)
    parser.add_argument("--frequencies", type=int, default=FREQUENCIES)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    asked = parser.parse_args()
    size = asked.measured, asked.columns, asked.frequencies
    measured = [measure(processes, *size) for processes in asked.processes]
    for one in measured[1:]:
        np.testing.assert_allclose(one.loss, measured[0].loss, rtol=0, atol=1e-6)
    making = generation_seconds(asked.columns)
    adding = addition_seconds(asked.columns, asked.frequencies)
    print(table(measured, making, adding, asked.frequencies))
    print(
        f"\n{size[0]} rows of {size[1]} columns in float32, {size[2]} frequencies, blocks of {BLOCK} rows. Generating a"
    )
    print(f"row takes {1e6 * making:.2g} µs, adding the sums of a block {1e3 * adding:.2g} ms.")


if __name__ == "__main__":
    main()
