"""Each benchmark starts at its smallest size, goes on where it stopped, and gives what the docs show."""

from __future__ import annotations

import re
import runpy
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from benchmarks import defaults, engine, frame
from tests import naive

ROOT = Path(__file__).parents[2]
FEW = ["--only", "Losses, adult", "Path of 10 linear SVMs, 500 frequencies", "Landmark similarities, MNIST 4/9"]
DEAD = ["--server", "http://127.0.0.1:9", "--sessions", "1", "--minutes", "0.001", "--pages", "kernel"]
#: Arguments of each program at its smallest size, and what it prints.
CHEAP = {
    "engine": (
        ["--quick", *FEW],
        r"(?s)\| Losses, adult \| n = 500, d = 108, N = 200 \| .*× \| \d+ MB.*\| Nyström \| 2000",
    ),
    "load": (DEAD, r"error, 2 times: kernel: no reply"),
}
LONG = {
    "defaults": (["--sets", "wine", "--D", "20"], r"\| wine \| \d\d\.\d \|"),
    "load": (["--sessions", "2", "--minutes", "0.1", "--warm-up", "1", "--pages", "kernel"], r"\| all \| [1-9]"),
}
IN_BROWSER = {"app_response": (["certificates"], r"certificates +\d+\.\d s +\d+ kB")}


def started(name: str, arguments: list[str], monkeypatch, capsys) -> str:
    """What a program prints."""
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    try:
        # In a thread of its own: a browser of another test may leave an event loop running in this one.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(runpy.run_module, f"benchmarks.{name}", run_name="__main__").result()
    except SystemExit as end:
        assert name == "load", end.code
    return capsys.readouterr().out


SIZES = [pytest.param(name, *CHEAP[name], marks=pytest.mark.slow("measures")) for name in CHEAP]
LONG_ONES = pytest.mark.second("fits many models, or starts a server")
SIZES += [pytest.param(name, *LONG[name], marks=LONG_ONES) for name in LONG]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "arguments", "prints"), SIZES)
def test_a_program_starts(name, arguments, prints, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert re.search(prints, started(name, arguments, monkeypatch, capsys))


@pytest.mark.browser
@pytest.mark.filterwarnings("ignore")
@pytest.mark.second("starts a server and a browser")
def test_the_app_is_measured_in_a_browser(monkeypatch, capsys):
    arguments, printed = IN_BROWSER["app_response"]
    assert re.search(printed, started("app_response", arguments, monkeypatch, capsys))


def test_every_program_is_started_by_a_test():
    programs = [path for path in (ROOT / "benchmarks").rglob("*.py") if '__name__ == "__main__"' in path.read_text()]
    names = {".".join(path.relative_to(ROOT / "benchmarks").with_suffix("").parts) for path in programs}
    assert names == CHEAP.keys() | LONG.keys() | IN_BROWSER.keys()


def test_a_study_goes_on_where_it_stopped(tmp_path, monkeypatch):
    computed = []

    def rows_of(dataset, D, method):
        computed.append((dataset, D, method))
        return [{"seed": seed, "accuracy": 90.0 + seed, "seconds": 0.1} for seed in (0, 1)]

    monkeypatch.setattr(defaults, "rows_of", rows_of)
    for counts in (["20"], ["20", "50"], ["20", "50"]):
        arguments = ["--sets", "wine", "--output", str(tmp_path / "rows.csv"), "--D", *counts]
        monkeypatch.setattr(sys, "argv", ["defaults", *arguments])
        defaults.main()
    both = [("wine", D, method) for D in (20, 50) for method in defaults.MAPS if D == 20 or method != "supervised"]
    assert sorted(computed, key=str) == sorted([*both, *(("wine", None, one) for one in defaults.CLASSIFIERS)], key=str)


def test_a_table_is_written_between_its_marks_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<begin>\nold\n<end>\nafter\n")
    frame.write(page, "new", ("<begin>", "<end>"))
    assert page.read_text() == "before\n<begin>\nnew\n<end>\nafter\n"
    with pytest.raises(ValueError, match=r"page\.md does not hold the lines '<gone>' and '<end>' once each"):
        frame.write(page, "new", ("<gone>", "<end>"))


# --- docs --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", ["RFF", "PBRFF", "OKRFF"])
def test_documented_accuracies_are_reached_again(method):
    """A test part of wine has 60 rows; rounding may choose otherwise."""
    page = defaults.PAGE.read_text(encoding="utf-8").split(defaults.MARKS[0])[1].splitlines()
    column = [cell.strip() for cell in page[1].split("|")].index(method)
    (shown,) = [float(line.split("|")[column]) for line in page if line.startswith("| wine |")]
    found = np.mean([row["accuracy"] for row in defaults.rows_of("wine", 50, method)])
    assert found == pytest.approx(shown, abs=3.5)


# --- formulas -----------------------------------------------------------------------------------------------------


def test_formulas_follow_the_definitions():
    rng = np.random.default_rng(0)
    X, y, omega = rng.normal(size=(9, 3)), rng.choice([-1.0, 1.0], 9), rng.normal(size=(2, 4, 3))
    rows, Q = np.array([2, 5]), rng.dirichlet(np.ones(4), 2)
    same = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(engine.alignment_loss(X, y, omega[0]), naive.alignment_loss(X, y, omega[0]), **same)
    ours = engine.landmark_alignment_loss(X, y, X[rows], y[rows], omega)
    np.testing.assert_allclose(ours, naive.landmark_alignment_loss(X, y, X[rows], y[rows], omega, rows), **same)
    ours = engine.landmark_similarity(X, X[rows], omega, Q)
    np.testing.assert_allclose(ours, naive.landmark_similarity(X, X[rows], omega, Q), **same)
