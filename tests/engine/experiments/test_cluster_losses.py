"""Losses summed by workers against those of all rows at once."""

import os
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import rff_engine as rff
from rff_engine.experiments.running.cluster_losses import alignment_loss_on_cluster

N, D, d = 700, 50, 4


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((N, d)), rng.choice(["ant", "bee", "cat"], N)
    return X, y, rff.GaussianKernel(1.0).sample_frequencies(D, d, 1)


def blocks_of(X, y, size=100):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]


def test_one_process_needs_no_cluster(problem):
    X, y, omega = problem
    blocks = [partial(tuple, block) for block in blocks_of(X, y)]
    np.testing.assert_allclose(alignment_loss_on_cluster(blocks, omega), rff.alignment_loss(X, y, omega), atol=1e-12)


@pytest.mark.parametrize(
    ("where", "said"), [({"jobs": 0}, "jobs is 0"), ({"jobs": 2, "scheduler": "tcp://127.0.0.1:1"}, "only one of them")]
)
def test_jobs_and_scheduler_are_checked_at_once(where, said, problem):
    with pytest.raises(ValueError, match=said):
        alignment_loss_on_cluster(None, problem[2], **where)


@pytest.fixture(scope="module")
def scheduler():
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit=None, silence_logs="CRITICAL"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.second
def test_workers_give_the_losses_of_all_rows(problem, scheduler):
    X, y, omega = problem
    order = np.argsort(y)  # most blocks then lack a class
    expected = rff.alignment_loss(X, y, omega)
    sorted_blocks = blocks_of(X[order], y[order])
    found = alignment_loss_on_cluster(sorted_blocks, omega, ("ant", "bee", "cat"), scheduler=scheduler)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert (found == alignment_loss_on_cluster(sorted_blocks, omega, scheduler=scheduler)).all()
    drawn = rff.FrequencyBlocks(rff.GaussianKernel(1.0), 1500, d, seed=3)
    sparse = [(sp.csr_array(rows), labels) for rows, labels in blocks_of(X, y, 300)]
    found = alignment_loss_on_cluster(sparse, drawn, scheduler=scheduler)
    np.testing.assert_allclose(found, rff.alignment_loss(X, y, drawn), atol=1e-12)


@pytest.mark.second
def test_local_processes_give_the_same_losses(problem):
    X, y, omega = problem
    found = alignment_loss_on_cluster(blocks_of(X, y), omega, jobs=2)
    np.testing.assert_allclose(found, rff.alignment_loss(X, y, omega), atol=1e-12)


@pytest.mark.slow
def test_workers_load_blocks_and_few_are_pending(problem, scheduler, tmp_path):
    X, y, omega = problem

    def load(i):
        (tmp_path / f"{i}-{os.getpid()}").touch()
        return X[i : i + 10], y[i : i + 10]

    ahead = []

    def blocks():
        for i in range(0, N, 10):
            ahead.append(i // 10 - len(os.listdir(tmp_path)))
            yield partial(load, i)

    found = alignment_loss_on_cluster(blocks(), omega, scheduler=scheduler)
    np.testing.assert_allclose(found, rff.alignment_loss(X, y, omega), atol=1e-12)
    names = os.listdir(tmp_path)
    assert len(names) == N // 10 and not any(name.endswith(f"-{os.getpid()}") for name in names)
    assert max(ahead) <= 4  # two a thread


@pytest.mark.slow
@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        ([], "at least one is needed"),
        ([np.zeros((3, d))], "must be a pair"),
        ([(np.zeros((3, d)), [0, 0, 0])], "at least 2 classes"),
        ([(np.zeros((3, d)), [0, 1, 7])], r"\[7\], which are not in classes"),
    ],
)
def test_invalid_blocks_are_rejected_in_one_sentence(blocks, said, problem, scheduler):
    with pytest.raises(ValueError, match=said) as caught:
        alignment_loss_on_cluster(blocks, problem[2], [0, 1], scheduler=scheduler)
    assert len(str(caught.value).splitlines()) == 1
