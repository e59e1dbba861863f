"""Options, hooks and fixtures of all tests."""

import gc
import os
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from tests import databases, perturbation

# The app reads these once. With more workers than cores, a run that waits for an idle core would block its test.
os.environ.setdefault("RFF_RUNS_GIVE_WAY", "0")
# Tests run side by side already; those of workers start their own.
os.environ.setdefault("RFF_MAX_WORKERS", "0")
# Fixtures of a PostgreSQL server, for the store and for rooms.
postgres, postgres_server = databases.postgres, databases.postgres_server


def pytest_addoption(parser):
    parser.addoption(
        "--perturb",
        type=int,
        metavar="SEED",
        help="change results of the engine's products and cosines by up to 1e-12, as another processor might",
    )


def pytest_configure(config):
    seed = config.getoption("--perturb")
    if seed is not None:
        perturbation.install(seed)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Number of cores, and two more where browsers are driven: their tests wait half of the time."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + 2 * ("not browser" not in config.option.markexpr)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect no garbage among the million objects that are made here and stay: it took two fifths of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items):
    """Run the tests that use a fixture of a module in one worker, and name those of the second group."""
    cases = Counter()
    for item in items:
        if (group := item.get_closest_marker("xdist_group")) and group.args == ("postgres",):
            item.add_marker(pytest.mark.second)  # the first of them starts a server
        if more := item.get_closest_marker("more"):
            cases[item.path, item.originalname] += 1
            if cases[item.path, item.originalname] > more.kwargs["after"]:
                item.add_marker(pytest.mark.second)
        fixtures = [name for name, found in item._fixtureinfo.name2fixturedefs.items() if found[-1].scope == "module"]
        if fixtures and not item.get_closest_marker("xdist_group"):
            values = item.callspec.params if hasattr(item, "callspec") else {}
            made_of = [str(values[name]) for name in sorted(fixtures) if name in values]
            item.add_marker(pytest.mark.xdist_group("-".join((item.path.stem, *made_of))))


def pytest_make_parametrize_id(val):
    """Name bytes by their length: archives contain the time, and all workers need the same test ids."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def swept_store(tmp_path_factory) -> Path:
    """A store with the run that the start page begins, to be copied; computed once for all workers, in about 13 s."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    file = folder / "swept.sqlite"
    try:
        (folder / "sweeping").mkdir()
    except FileExistsError:  # another worker computes it
        end = time.monotonic() + 300
        while not file.exists():
            assert time.monotonic() < end, f"no worker has made {file}"
            time.sleep(0.1)
        return file
    from rff_engine.studies.protocols import FeatureSweep, RunSpec
    from rff_engine.studies.running.run import run_stored
    from rff_engine.studies.running.store import Store

    sweep = RunSpec(FeatureSweep.preset("quick"), "breast", "published", 10)
    with Store(str(folder / "unfinished.sqlite")) as store, closing(run_stored(store, sweep)) as steps:
        for _ in steps:
            pass
    return (folder / "unfinished.sqlite").rename(file)
