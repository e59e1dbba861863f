"""The command line: its output, files and exit codes."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa

import rff_engine
from rff_engine.__main__ import main
from rff_engine.experiments.command_line import _duration
from rff_engine.experiments.reports import reproduction
from rff_engine.experiments.reports.html import provenance
from rff_engine.experiments.running.recomputation import draw_rows
from rff_engine.experiments.running.runner import COLUMNS
from rff_engine.experiments.running.schema import runs
from rff_engine.experiments.running.store import Store

REFERENCE = reproduction.SHIPPED.parent


@pytest.fixture(autouse=True)
def store(tmp_path_factory, monkeypatch):
    """Each test has a store of its own."""
    file = tmp_path_factory.mktemp("store") / "results.sqlite"
    monkeypatch.setenv("RFF_STORE", f"sqlite:///{file}")
    return file


def test_datasets_are_listed(capsys):
    assert main(["datasets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("breast") and "569 x 30" in line and "bundled" in line for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["features", "landmarks"])
def test_rows_go_to_the_store_and_the_output(protocol, tmp_path, capsys):
    file = tmp_path / "rows.csv"
    arguments = ["run", protocol, "--dataset", "breast", "--seed", "3"]
    assert main([*arguments, "--output", str(file)]) == 0
    first = capsys.readouterr()
    assert os.listdir(tmp_path) == ["rows.csv"] and first.out == ""
    rows = pd.read_csv(file)
    assert tuple(rows.columns) == COLUMNS and f"{len(rows)} new rows" in first.err
    assert rows.loc[rows["method"] == "svm", "test_error"].item() == pytest.approx(7 / 143)
    assert main([*arguments, "--output", "-"]) == 0
    again = capsys.readouterr()
    assert again.out == file.read_text() and " 0 new rows" in again.err

    assert main(["runs"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{protocol}-breast-published-") and "finished" in line
    run = line.split()[0]
    assert main(["report", run, "--format", "csv"]) == 0
    assert capsys.readouterr().out == file.read_text()
    assert main(["report", run[:12]]) == 0
    table = capsys.readouterr().out
    assert main(["report", str(file)]) == 0
    assert capsys.readouterr().out == table
    assert main(["report", run, "--format", "html", "--output", str(tmp_path / "run.html")]) == 0
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert run in page and 'seconds": ' not in page and page.count("Plotly.newPlot(") == 1
    assert "NA&gt;" not in page  # the SVM has no D, and no share


NEWER = {
    "a field of the run": lambda spec: spec | {"nice": 3},
    "a field of the protocol": lambda spec: spec | {"protocol": spec["protocol"] | {"nice": 3}},
    "a study": lambda spec: spec | {"protocol": spec["protocol"] | {"study": "transformers"}},
    "no study": lambda spec: spec | {"protocol": {}},
    "a method": lambda spec: spec | {"protocol": spec["protocol"] | {"methods": ["svm", "transformer"]}},
    "a kind of value": lambda spec: spec | {"protocol": spec["protocol"] | {"n_features": {"from": 1, "to": 9}}},
    "a kind of protocol": lambda spec: spec | {"protocol": [spec["protocol"]]},
    "a list": lambda spec: [spec],
    "another meaning": lambda spec: spec,  # of the same fields: the id says so
}


@pytest.mark.parametrize("what", NEWER)
def test_a_run_of_newer_code_is_listed_and_refused_in_one_sentence(what, capsys, store):
    arguments = ["run", "features", "--dataset", "breast", "--split", "random", "--methods", "svm"]
    assert main(arguments) == 0
    with Store(store) as opened:
        (old,) = opened.runs()
        newer = "features-breast-random-99999999"
        keys = sa.text(f"INSERT INTO rff_run_rows SELECT '{newer}', repeat, position, key FROM rff_run_rows")

        def insert(connection):
            spec = json.dumps(NEWER[what](json.loads(old.spec.to_json())))
            connection.execute(sa.insert(runs).values(id=newer, spec=spec, created=old.created + 60, seconds=1.0))
            connection.execute(keys)

        opened.write(insert)
        assert [info.id for info in opened.runs()] == [newer, old.id]
        assert opened.find(old.spec).finished and list(provenance(opened, [old.spec])["run"]) == [old.id]
        assert [one.spec for one in draw_rows(opened, 9)] == [old.spec]
    capsys.readouterr()
    assert main(["runs"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert newer in first and first.endswith("of another version") and second.endswith("finished")
    for command in (["resume"], ["report"], ["report", "--format", "html"]):
        assert main([*command, newer]) == 2
        said = capsys.readouterr()
        assert said.out == "" and len(said.err.splitlines()) == 1
        assert newer in said.err and "is of another version of rff_engine" in said.err
    assert main(arguments) == 0
    assert main(["resume", old.id]) == 0
    assert main(["report", old.id, "--format", "html"]) == 0


def test_command_line_accepts_a_split_and_methods(capsys):
    arguments = ["run", "features", "--dataset", "breast", "--split", "random", "--methods", "svm"]
    assert main([*arguments, "--output", "-"]) == 0
    _, row = capsys.readouterr().out.splitlines()
    assert row.startswith("features-breast-random-") and ",breast,random,0,svm," in row


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "features", "--dataset", "breats"], "breats"),
        (["run", "features", "--dataset", "breast", "--methods", "pb_landmarks"], "pb_landmarks"),
        (["run", "features", "--dataset", "breast", "--seed", "-1"], "seed is -1"),
        (["run", "landmarks", "--dataset", "wine", "--split", "random"], "regression"),
        (["run", "landmarks", "--dataset", "digits", "--split", "random"], "10 classes"),
        (["run", "features", "--dataset", "breast", "--output", "no/such/folder/rows.csv"], "cannot be written"),
        (["run", "features", "--dataset", "breast", "--store", "nonsense://here"], "nonsense://here"),
        (["resume", "features-nowhere"], "has no such run: there is none yet"),
        (["report", "features-nowhere"], "has no such run"),
        (["report", "no/such/file.csv"], "no/such/file.csv cannot be read: No such file or directory; a RUN or a CSV"),
        (["report", f"{REFERENCE}/table_1.csv"], "table_1.csv has no column 'run'"),
        (
            ["runs", "--store", "postgresql+psycopg2://me:secret@host/x"],
            "psycopg2 is not installed (pip install",
        ),
        (
            ["runs", "--store", "mysql://me:secret@host/x"],
            "'mysql://me:***@host/x'; its driver MySQLdb is not",
        ),
        (["report", "no/such/file.csv", "--format", "html"], "for the runs of a store"),
        (["report"], "report needs a RUN"),
        (["report", "--format", "html", "--output", "no/such/folder/paper.html"], "cannot be written"),
        (["reproduce", "table1", "--split", "none", "--output", "no/such/folder/table.csv"], "cannot be written"),
        (["coverage", "--epsilon", "2"], "epsilon is 2.0"),
        (["coverage", "--draws", "100000000000000"], "not enough memory for this: Unable to allocate"),
        (["certify", "--dataset", "breast", "--D", "1000000000"], "n_components is 1000000000; so many features"),
        (["certify", "--dataset", "breast", "--method", "boosting", "--D", "1000000000"], "so many features"),
    ],
)
def test_invalid_input_exits_with_one_sentence_and_code_2(arguments, said, capsys, store, monkeypatch):
    for driver in ("psycopg2", "MySQLdb"):
        monkeypatch.setitem(sys.modules, driver, None)  # as if it were not installed
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert said in error and len(error.splitlines()) == 1 and "secret" not in error
    if store.exists():
        with Store(store) as opened:
            assert opened.runs() == []  # a run that cannot begin is not kept


def test_a_bundled_data_set_is_not_fetched(capsys):
    assert main(["fetch", "breast", "wine"]) == 0
    breast, wine = capsys.readouterr().out.splitlines()
    assert "breast" in breast and "nothing to fetch" in breast and "wine is already there" in wine


@pytest.mark.parametrize(
    "arguments", [[], ["run"], ["run", "everything"], ["run", "features", "--dataset"], ["fetch", "nothing"]]
)
def test_invalid_usage_exits_with_one_sentence_and_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as exit:
        main(arguments)
    assert exit.value.code == 2 and len(capsys.readouterr().err.splitlines()) == 1


def test_csv_file_of_binary_data_is_rejected_in_one_sentence(capsys, tmp_path):
    for content in (b"", b"\x00\xff\xfe" * 9, b'a,b\n"1'):
        (tmp_path / "rows.csv").write_bytes(content)
        assert main(["report", str(tmp_path / "rows.csv")]) == 2
        assert "rows.csv" in (error := capsys.readouterr().err) and len(error.splitlines()) == 1


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as exit:
        main(["--version"])
    assert exit.value.code == 0 and capsys.readouterr().out == f"rff_engine {rff_engine.__version__}\n"
    root = Path(rff_engine.__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"] and "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "rff_engine.__version__"}
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {rff_engine.__version__}\n" in citation


def test_interrupt_before_the_first_row_is_reported_in_one_sentence(capsys, monkeypatch, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("rff_engine.experiments.command_line.run_stored", interrupted)
    file = tmp_path / "rows.csv"
    assert main(["run", "features", "--dataset", "breast", "--output", str(file)]) == 130
    assert len(capsys.readouterr().err.splitlines()) == 1 and len(pd.read_csv(file)) == 0


def test_reproduce_prints_paper_and_known_rows(capsys, tmp_path):
    arguments = ["reproduce", "table1", "--datasets", "breast", "--split", "none"]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "pb_beta_1" in printed and "0.0490" in printed and "ads" not in printed
    assert main([*arguments, "--output", str(tmp_path / "table.csv")]) == 0
    table = pd.read_csv(tmp_path / "table.csv")
    assert len(table) == 5 and table["paper"].notna().all() and table["published"].isna().all()


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")), daemon=True)
    reader.start()
    assert main(["reproduce", "table1", "--datasets", "breast", "--split", "none", "--output", str(pipe)]) == 0
    reader.join(10)
    assert read and read[0].startswith("dataset,column,paper") and stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.slow
def test_paper_report_is_one_file_that_needs_no_network(capsys, tmp_path, store):
    file = tmp_path / "paper.html"
    with Store(store) as opened:  # an empty one
        assert main(["report", "--format", "html", "--output", str(file), "--store", opened.url]) == 0
    page = file.read_text(encoding="utf-8")
    assert page.count("Plotly.newPlot(") == 1 + 2 * 7 and "4.90" in page
    outside = re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=[^>]*>", page)
    assert outside == []


def test_coverage_command_prints_the_table(capsys):
    assert main(["coverage", "--draws", "2000"]) == 0
    table = capsys.readouterr().out
    assert "two_classes       5" in table and "landmark_kl_inverse" in table


def test_coverage_of_certificates_prints_failures_with_limits_for_all_of_them(capsys):
    assert main(["coverage", "--certificates", "--draws", "100", "--epsilon", "0.5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines[4:-2]]
    assert len(rows) == 6 * 4 + 6 * 2 * 4
    assert {row[0] for row in rows} >= {"second_order_two_class", "empirical_bernstein", "tandem", "c_bound"}
    limits = [float(row[-2].rstrip("%")) for row in rows]
    fewest = 100 * (1 - (0.05 / 72) ** (1 / 100))  # the limit of Clopper and Pearson for no failure in 100
    assert min(limits) == pytest.approx(fewest, abs=1e-3)
    assert lines[-1] == f"largest limit: {max(limits):.3f}%"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_keeps_known_rows(sign, tmp_path, store):
    file = tmp_path / "rows.csv"
    command = [sys.executable, "-m", "rff_engine", "run", "features", "--dataset", "breast", "--preset", "paper"]
    # A background shell ignores Ctrl-C and its children inherit that: a terminal's do not.
    process = subprocess.Popen(
        [*command, "--output", str(file)],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline, known = time.monotonic() + 60, 0
    while known < 20 and time.monotonic() < deadline:
        time.sleep(0.1)
        if store.exists():
            with Store(store) as opened:
                known = sum(info.n_rows for info in opened.runs())
    process.send_signal(sign)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 130 and "are kept; the same command goes on" in error
    assert os.listdir(tmp_path) == ["rows.csv"] and len(pd.read_csv(file)) >= known >= 20


ENTRY = "rff_engine.experiments.running.subprocess_entry"


def _interrupted_when_it_imports(program, library):
    process = subprocess.Popen(
        [sys.executable, "-m", *program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(rff_engine.__file__).parents[1],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline, maps = time.monotonic() + 60, Path(f"/proc/{process.pid}/maps")
    while process.poll() is None and not re.search(f"(site|dist)-packages/{library}", maps.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    output, error = process.communicate(timeout=60)
    return process, output, error


@pytest.mark.slow("starts programs that import SciPy, scikit-learn and pandas")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("program", "library"),
    [
        (["rff_engine", "coverage"], "numpy/"),
        (["rff_engine", "coverage"], "scipy/"),
        (["rff_engine", "coverage"], "sklearn/"),
        (["rff_engine", "coverage"], "pandas/"),
        ([ENTRY], "pandas/"),
        (["datasets", "list"], "numpy/"),
        (["datasets", "list"], "scipy/"),
        (["deploy.exercises", "--output", os.devnull], "scipy/"),
    ],
)
def test_interrupt_while_a_program_imports_its_modules_leaves_no_traceback(program, library):
    for _ in range(5):
        process, output, error = _interrupted_when_it_imports(program, library)
        if process.returncode != 0:  # else it had ended before, which a short program may on a busy machine
            break
    assert output == "" and len(error.splitlines()) <= 1 and "Traceback" not in error, error
    assert process.returncode in (130, -signal.SIGINT)  # a shell says 130 for both


@pytest.mark.slow
def test_importing_the_engine_does_not_import_experiments():
    unwanted = "('rff_engine.experiments', 'rff_engine.figures', 'datasets')"
    code = f"import sys, rff_engine; sys.exit(any(name.startswith({unwanted}) for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("seconds", "words"), [(7.2, "7 s"), (59.9, "1 min 00 s"), (61, "1 min 01 s"), (7300, "2 h 01 min")]
)
def test_durations_are_in_seconds_minutes_or_hours(seconds, words):
    assert _duration(seconds) == words
