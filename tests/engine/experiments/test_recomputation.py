"""Stored rows are recomputed and compared."""

import sqlite3
from collections import Counter
from contextlib import closing

import numpy as np
import pytest

from rff_engine.__main__ import main
from rff_engine.studies.protocols import FeatureSweep, KernelApproximation, RunSpec
from rff_engine.studies.reports import reproduction
from rff_engine.studies.running.recomputation import MEASURED, Recomputed, draw_rows, recompute
from rff_engine.studies.running.run import run_stored
from rff_engine.studies.running.store import Store

SWEEP = RunSpec(FeatureSweep.preset("quick", n_features=(2, 5), n_candidates=50), "breast", "random", 2)
APPROXIMATION = RunSpec(
    KernelApproximation(n_features=(5,), methods=("monte_carlo", "sample"), max_rows=100), "wine", "random"
)
SPECS = [SWEEP, APPROXIMATION]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    file = tmp_path_factory.mktemp("store") / "results.sqlite"
    with Store(file) as store:
        for spec in SPECS:
            list(run_stored(store, spec))
    return file


@pytest.mark.second
def test_drawn_rows_come_out_as_they_are_stored(file):
    """Rows of every protocol, without replacement; the SVM is among them, so gamma is chosen again."""
    with Store(file, read_only=True) as store:
        assert Counter(spec for spec, _ in draw_rows(store, SPECS, 4, seed=1)) == {SWEEP: 2, APPROXIMATION: 2}
        assert draw_rows(store, SPECS, 9, max_seconds=-1.0) == []
        drawn = draw_rows(store, SPECS, 1000)
        found = list(recompute(store, drawn))
    assert len({row.name for row in found}) == len(drawn) == len(found) and all(row.agrees for row in found)
    assert all(row.difference == 0 == row.allowed for row in found if row.spec == SWEEP)
    assert all(0 < row.allowed < 0.1 for row in found if row.spec == APPROXIMATION)


@pytest.mark.slow
def test_other_data_are_found(file):
    with Store(file, read_only=True) as store:
        other = RunSpec(SWEEP.protocol, "breast", "random", 2, seed=7)
        (found,) = recompute(store, [(other, store.rows(SWEEP)[0])])
    assert not found.same_key and not found.agrees


def test_a_value_that_only_one_row_has_differs():
    def difference(stored, found):
        rows = [dict.fromkeys(MEASURED, 0.5) | {"test_error": value} for value in (stored, found)]
        return Recomputed(SWEEP, rows[0], rows[1] | {"method": "rff"}, True).difference

    assert difference(None, None) == 0 == difference(0.0, 0.0)
    assert difference(None, 0.1) == np.inf == difference(0.1, None) == difference(0.0, 0.1)
    assert difference(0.1, 0.11) == pytest.approx(0.1)


@pytest.mark.second("recomputes rows that took a second at most")
def test_the_command_compares_bundled_rows_and_its_exit_code_tells(tmp_path, capsys):
    arguments = ["recompute", "--rows", "4", "--max-seconds", "1", "--seed", "3"]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("4 rows recomputed: ") and all("agrees" in line for line in lines[:4])
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(reproduction.SHIPPED.read_bytes())
    with closing(sqlite3.connect(broken)) as new:
        new.execute("UPDATE rff_rows SET test_error = test_error + 0.25")
        new.commit()
    assert main([*arguments, "--store", str(broken)]) == 1
    assert capsys.readouterr().out.count("DIFFERS") == 4
