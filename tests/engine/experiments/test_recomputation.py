"""Stored rows are recomputed and compared."""

import dataclasses
import sqlite3
from collections import Counter
from contextlib import closing

import numpy as np
import pytest

from rff_engine.__main__ import main
from rff_engine.experiments.reports import reproduction
from rff_engine.experiments.running.recomputation import MEASURED, DrawnRow, Recomputed, draw_rows, recompute
from rff_engine.experiments.running.runner import run_stored
from rff_engine.experiments.running.store import Store
from rff_engine.experiments.studies.protocols import FeatureSweep, KernelApproximation, RunSpec

SWEEP = RunSpec(FeatureSweep.preset("quick", n_features=(2, 5), n_candidates=50), "breast", "random", 2)
APPROXIMATION = RunSpec(
    KernelApproximation(n_features=(5,), methods=("monte_carlo", "sample"), max_rows=100), "wine", "random"
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    file = tmp_path_factory.mktemp("store") / "results.sqlite"
    with Store(file) as store:
        for spec in (SWEEP, APPROXIMATION):
            for _ in run_stored(store, spec):
                pass
    return file


@pytest.fixture
def store(file):
    with Store(file) as store:
        yield store


@pytest.mark.second
def test_rows_are_drawn_from_every_protocol_without_replacement(store):
    n = sum(info.n_rows for info in store.runs())
    drawn = draw_rows(store, 4, seed=1)
    assert Counter(row.spec for row in drawn) == {SWEEP: 2, APPROXIMATION: 2}
    assert [row.name for row in draw_rows(store, 4, seed=1)] == [row.name for row in drawn]
    everything = draw_rows(store, n + 5)
    assert len({row.name for row in everything}) == len(everything) == n
    assert {row.name for row in draw_rows(store, 9, seed=2)} != {row.name for row in draw_rows(store, 9, seed=3)}
    assert draw_rows(store, 9, max_seconds=-1.0) == []


@pytest.mark.second
def test_every_row_comes_out_as_it_is_stored(store):
    """The SVM is among them, so gamma is chosen again."""
    drawn = draw_rows(store, 1000)
    with Store("sqlite://") as target:
        found = list(recompute(store, drawn, target))
        assert {row.drawn.name for row in found} == {row.name for row in drawn}
        assert all(row.agrees for row in found)
        letarte = [row for row in found if row.drawn.spec == SWEEP]
        assert all(row.difference == 0 == row.allowed for row in letarte) and len(letarte) == len(found) - 2
        assert all(0 < row.allowed < 0.1 for row in found if row not in letarte)
        keys = _keys(store.url)
        assert len(target.rows_by_key(keys)) == len(keys)


@pytest.mark.slow
def test_one_row_is_computed_alone_with_the_stored_gamma(store, tmp_path):
    (row,) = [row for row in draw_rows(store, 1000) if row.repeat == 1 and row.row["method"] == "rff"][:1]
    with Store(tmp_path / "new.sqlite") as target:
        (found,) = recompute(store, [row], target)
    assert found.agrees and found.row["gamma"] == row.row["gamma"] and len(_keys(tmp_path / "new.sqlite")) == 1


@pytest.mark.slow
def test_changed_values_and_changed_data_are_found(store):
    drawn = draw_rows(store, 1000)[0]
    with Store("sqlite://") as target:
        changed = dataclasses.replace(drawn, row=drawn.row | {"test_error": drawn.row["test_error"] * 1.5 + 0.1})
        (found,) = recompute(store, [changed], target)
        assert not found.agrees and found.same_key and found.difference > 0.1
        other = dataclasses.replace(drawn.spec, seed=7)
        (found,) = recompute(store, [DrawnRow(other, drawn.row)], target)
        assert not found.same_key and not found.agrees


def test_a_value_that_only_one_row_has_differs():
    def difference(stored, found):
        rows = [dict.fromkeys(MEASURED, 0.5) | {"test_error": value} for value in (stored, found)]
        return Recomputed(DrawnRow(SWEEP, rows[0]), rows[1] | {"method": "rff"}, True).difference

    assert difference(None, None) == 0 == difference(0.0, 0.0)
    assert difference(None, 0.1) == np.inf == difference(0.1, None) == difference(0.0, 0.1)
    assert difference(0.1, 0.11) == pytest.approx(0.1)


@pytest.mark.slow
def test_the_command_compares_and_its_exit_code_tells(file, tmp_path, capsys):
    assert main(["recompute", "--rows", "3", "--store", str(file), "--into", str(tmp_path / "new.sqlite")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and all("agrees" in line for line in lines[:3])
    assert lines[-1].startswith("3 rows recomputed: ") and len(_keys(tmp_path / "new.sqlite")) == 3
    broken = tmp_path / "broken.sqlite"
    with closing(sqlite3.connect(file)) as old, closing(sqlite3.connect(broken)) as new:
        old.backup(new)
        new.execute("UPDATE rff_results SET test_error = test_error + 0.25")
        new.commit()
    assert main(["recompute", "--rows", "2", "--store", str(broken)]) == 1
    assert capsys.readouterr().out.count("DIFFERS") == 2


@pytest.mark.second("recomputes rows on data sets of any size")
def test_shipped_rows_of_the_bundled_data_come_out_again(tmp_path):
    with Store(reproduction.SHIPPED, read_only=True) as store, Store(tmp_path / "new.sqlite") as target:
        bundled = [row for row in draw_rows(store, 10**6, max_seconds=1.0) if row.spec.dataset in ("breast", "wine")]
        found = list(recompute(store, bundled[:8], target))
    assert len(found) == 8 and [row.drawn.name for row in found if not row.agrees] == []


def _keys(file) -> list[bytes]:
    with closing(sqlite3.connect(str(file).removeprefix("sqlite:///"))) as connection:
        return [key for (key,) in connection.execute("SELECT key FROM rff_results")]
