"""The table of loads: a cell that is known is not run again, and each cell is shown as it was measured."""

import json
import sys

import pytest

from benchmarks import load_table

CELL = {"overall": {"moves": 40, "median": 153, "p95": 1240, "max": 2000}, "errors": {}, "memory": {"rss": 821.6}}


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Function that runs the command with further words, and returns what it prints; `cells` are those it has run."""
    cells = []

    def run_cell(sessions, processes, asked):
        cells.append((sessions, processes))
        if sessions == 999:
            raise KeyboardInterrupt
        return CELL

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["load_table", *words, "--output", str(tmp_path / "table.json")])
        load_table.main()
        return capsys.readouterr().out

    monkeypatch.setattr(load_table, "run_cell", run_cell)
    run.cells = cells
    return run


def test_an_interrupted_table_goes_on_where_it_was(run):
    with pytest.raises(KeyboardInterrupt):
        run("--sessions", "10", "999", "--processes", "1", "2")
    assert run.cells == [(10, 1), (10, 2), (999, 1)]
    shown = run("--sessions", "10", "30", "--processes", "1", "2")
    assert run.cells[3:] == [(30, 1), (30, 2)]
    assert "| sessions | 1 process | 2 processes |" in shown
    assert shown.count("| 0.15 s, 1.2 s, 822 MB | 0.15 s, 1.2 s, 822 MB |") == 2


def test_cells_of_other_settings_are_not_mixed(run):
    run("--sessions", "10", "--processes", "1")
    with pytest.raises(SystemExit, match="has cells of other settings"):
        run("--sessions", "10", "--processes", "1", "--minutes", "0.5")
    assert run.cells == [(10, 1)]


def test_errors_and_missing_cells_are_shown():
    cells = {load_table.name(10, 1): CELL | {"errors": {"kernel: closed": 3}}}
    *_, row = load_table.table(cells, [10], [1, 2]).splitlines()
    assert row == "| 10 | 0.15 s, 1.2 s, 822 MB, 3 errors | – |"
    assert load_table.shown(CELL | {"overall": {"moves": 0}}) == "no answer"


@pytest.mark.second("runs the load benchmark for about 10 seconds")
def test_a_cell_is_measured(monkeypatch, tmp_path, capsys):
    file = tmp_path / "table.json"
    words = ["--sessions", "1", "--processes", "1", "--minutes", "0.1", "--warm-up", "0", "--pages", "kernel"]
    monkeypatch.setattr(sys, "argv", ["load_table", *words, "--output", str(file)])
    load_table.main()
    (cell,) = json.loads(file.read_text())["cells"].values()
    assert cell["overall"]["moves"] > 0 and cell["errors"] == {} and cell["memory"]["rss"] > 0
    assert f"| 1 | {load_table.shown(cell)} |" in capsys.readouterr().out
