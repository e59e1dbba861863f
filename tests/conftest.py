"""What all tests share."""

import os

import pytest

from tests import perturbation


def pytest_addoption(parser):
    parser.addoption(
        "--perturb",
        type=int,
        metavar="SEED",
        help="change what the engine's products and cosines return by up to 1e-12, as another processor might",
    )


def pytest_configure(config):
    # With more workers than cores no core is ever idle, and a run that waits for one would hold up its test.
    os.environ.setdefault("RFF_RUNS_GIVE_WAY", "0")
    seed = config.getoption("--perturb")
    if seed is not None:
        perturbation.install(seed)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Two more than cores: tests of browsers, servers and child processes wait for half of their time."""
    return len(os.sched_getaffinity(0)) + 2 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 2


def pytest_make_parametrize_id(val):
    """Bytes are named by their number: archives hold the time, and all workers must agree on the names of tests."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None
