"""The program of *Your data* reads a file as the page does."""

from __future__ import annotations

import ast
import io
import os
from itertools import takewhile

import numpy as np
import pandas as pd
import pytest

from datasets.tables.preparation import prepare, two_classes
from datasets.tables.readers import read
from datasets.tables.table import Table
from pages.data.your_data import compute as your_data
from pages.shared.sharing.program import program, text
from tests import programs

from .sessions import ROOT


def lines(head: str, row, n: int = 12) -> str:
    return head + "\n".join(row(i) for i in range(n))


UPLOADS = ROOT / "tests" / "datasets" / "uploads"
FILES = {path.name: path.read_bytes() for path in sorted(UPLOADS.glob("[01]*"))} | {
    "kinds.csv": lines("day,code,size,y\n", lambda i: f"{1 + i}/{1 + i % 9}/2020,0{i},{i if i % 5 else 'x'},{i % 2}"),
    "carriage.csv": lines("a,b\n", lambda i: f'"x\r{i % 3}",{i % 2}', 20),
}


def settings_in(code: str) -> list[ast.Assign]:
    """The settings at the beginning of what a program does."""
    main = next(node for node in ast.parse(code).body if isinstance(node, ast.If))
    return list(takewhile(lambda node: isinstance(node, ast.Assign), main.body))


SETTINGS = {node.targets[0].id: ast.literal_eval(node.value) for node in settings_in(text("your_data"))}
CHOICES = (
    {},
    {"names at line": "none"},
    {"order of dates": "day first"},
    {"kind of column 1": "text", "kind of column 2": "text"},
    {"begins at line": "3", "ends at line": "30"},
)


def table_read_by(code: str) -> Table:
    """The table that a program reads, up to the line that does so."""
    body = ast.parse(code).body
    main = next(node for node in body if isinstance(node, ast.If))
    reading = next(node for node in main.body if "read_table" in ast.unparse(node))
    kept = [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {}
    exec(compile(ast.Module([*kept, *settings_in(code), reading], []), "program", "exec"), names)
    return names["table"]


@pytest.mark.more(after=6)
@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("choices", CHOICES, ids=["guessed", "no names", "day first", "other kinds", "fewer lines"])
def test_the_program_reads_what_the_page_reads(file, choices, tmp_path, monkeypatch):
    data = FILES[file] if isinstance(FILES[file], bytes) else FILES[file].encode()
    table = read(data, file, choices=choices)
    (tmp_path / file).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    printed = table_read_by(program("your_data", SETTINGS | {"file": file, "choices": choices}))
    assert printed.names == table.names
    for ours, theirs in zip(table.columns, printed.columns, strict=True):
        assert (ours.kind, ours.categories) == (theirs.kind, theirs.categories), ours.name
        np.testing.assert_array_equal(ours.values, theirs.values)


def test_a_program_shows_every_sign_of_a_file_name():
    name = "a\u202egnp\u2066\x07\U000e0001“.csv"
    code = program("your_data", SETTINGS | {"file": name})
    assert code.replace("\n", "").isprintable()
    (line,) = [line for line in code.splitlines() if line.strip().startswith("file = ")]
    assert ast.literal_eval(line.split(" = ")[1].split("  #")[0]) == name


@pytest.mark.second
def test_the_program_takes_one_row_of_each_group_for_its_certificate_as_the_page_does(tmp_path):
    noise = np.random.default_rng(0).normal(size=(400, 2))
    rows = lines("who,a,b,y\n", lambda i: f"p{i // 4},{noise[i, 0] + i % 2:.3f},{noise[i, 1]:.3f},{'uv'[i % 2]}", 400)
    (tmp_path / "groups.csv").write_text(rows, encoding="utf-8")
    table = read(rows)
    dataset = two_classes(prepare(table, "y", ("a", "b"), groups="who"), 1)
    certificate = your_data.certified(dataset, 0)
    assert certificate.n_bound == 50  # of 100 groups
    chosen = {"file": "groups.csv", "target": "y", "columns": ("a", "b"), "groups": "who"}
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    ran = programs.run(program("your_data", SETTINGS | chosen), tmp_path, environment)
    assert ran.returncode == 0, ran.stderr.decode()
    printed = pd.read_csv(io.BytesIO(ran.stdout))
    (promised,) = printed[printed["table"] == "certificate"].to_dict("records")
    assert promised["risk_bound"] == pytest.approx(certificate.risk_bound)
