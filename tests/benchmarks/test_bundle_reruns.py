"""Bundling copies finished runs that a table or figure needs, and nothing else."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from benchmarks.studies.bundle_reruns import bundle
from rff_engine.studies.protocols import FeatureSweep, RunSpec
from rff_engine.studies.reports import reproduction
from rff_engine.studies.running.run import run_stored
from rff_engine.studies.running.store import Store

SWEEP = FeatureSweep.preset("quick", n_features=(2,), n_candidates=20, gamma=1e-5, methods=("rff",))
NEEDED, OTHER = RunSpec(SWEEP, "breast", "random"), RunSpec(SWEEP, "breast", "random", seed=9)
STOPPED = RunSpec(SWEEP, "breast", "published", 2)


@pytest.fixture
def source(tmp_path):
    with Store(tmp_path / "new.sqlite") as store:
        for spec in (NEEDED, OTHER):
            for _ in run_stored(store, spec):
                pass
        next(run_stored(store, STOPPED))
    return tmp_path / "new.sqlite"


@pytest.mark.slow
def test_finished_runs_that_are_needed_are_copied_once(source, tmp_path, monkeypatch):
    monkeypatch.setattr(reproduction, "specs", lambda target: [NEEDED, STOPPED])
    target = tmp_path / "shipped.sqlite"
    shutil.copyfile(reproduction.SHIPPED, target)
    with Store(reproduction.SHIPPED, read_only=True) as store:
        before = sum(kept.rows for kept in store.contents())
    assert bundle(source, target) == [NEEDED.run_id] and bundle(source, target) == []
    with Store(source) as new, Store(target, read_only=True) as store:
        assert store.rows(NEEDED) == new.rows(NEEDED) and len(store.rows(NEEDED)) == 1
        assert sum(kept.rows for kept in store.contents()) == before + 1
        assert store.provenance(NEEDED) == new.provenance(NEEDED)
    with closing(sqlite3.connect(target)) as file:
        assert file.execute("PRAGMA freelist_count").fetchone() == (0,)
    assert target.read_bytes()[18:20] == b"\1\1"
