"""The command line: its output, files and exit codes."""

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

import rff_datasets as datasets
import rff_engine
from rff_engine.__main__ import main
from rff_engine.studies.command_line.output import Progress, duration
from rff_engine.studies.command_line.parser import METHOD_LINES
from rff_engine.studies.problem import COLUMNS
from rff_engine.studies.protocols import PRESETS, PROTOCOLS, TARGETS, FeatureSweep, RunSpec
from rff_engine.studies.reports import reproduction
from rff_engine.studies.reports.comparison import AGREEMENTS, judgement
from rff_engine.studies.running.store import Store

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


@pytest.mark.second
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
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == rows["method"].nunique() and all(line.startswith("breast ") for line in lines)
    same_run = ["report", *arguments[1:]]
    assert main([*same_run, "--format", "csv"]) == 0
    assert capsys.readouterr().out == file.read_text()
    assert main(same_run) == 0
    table = capsys.readouterr().out
    assert main(["report", str(file)]) == 0
    assert capsys.readouterr().out == table


RUN = ["run", "features", "--dataset", "breast"]
CERTIFY = ["certify", "--dataset", "breast"]
WRONG_USAGES = [
    ([], "arguments are required: COMMAND"),
    (["reproduse", "table1"], "COMMAND is 'reproduse'; it must be one of 'datasets', 'fetch'"),
    (["--verbose"], "unrecognized arguments: --verbose"),
    (["fetch", "iris"], "NAME is 'iris'; it must be one of 'breast'"),
    (["run"], "arguments are required: PROTOCOL, --dataset"),
    (["run", "features", "--dataset", "breats"], "--dataset is 'breats'; it must be one of 'breast'"),
    ([*RUN, "--preset", "fast"], "--preset is 'fast'; it must be one of 'paper', 'splits', 'quick'"),
    ([*RUN, "--split", "mine"], "--split is 'mine'; it must be one of 'published', 'random'"),
    ([*RUN, "--seed", "-1"], "--seed is '-1'; a whole number from 0 to 2147483648"),
    ([*RUN, "--repeats", "1000000000"], "--repeats is '1000000000'; a whole number from 1 to 1000000"),
    ([*RUN, "--jobs", "two"], "--jobs is 'two'; a whole number from 1 to"),
    ([*RUN, "--jobs", "2", "--scheduler", "tcp://host:1"], "--scheduler: not allowed with argument --jobs"),
    ([*RUN, "--scaling", "log"], "--scaling is 'log'; it must be one of 'none', 'standard'"),
    ([*RUN, "--methods", "xgboost"], "--methods is 'xgboost'; it must be one of 'svm'"),
    ([*RUN, "--methods", "pb_landmarks"], "--methods contains 'pb_landmarks'; allowed are 'svm'"),
    ([*RUN, "--output", "no/such/rows.csv"], "--output is 'no/such/rows.csv'; there is no folder no/such"),
    ([*RUN, "--output", "/"], "--output is '/'; that is a folder"),
    ([*RUN, "--store", "no/such/rows.sqlite"], "--store is 'no/such/rows.sqlite'; there is no folder no/such"),
    ([*RUN, "--store", "nonsense://here"], "--store is 'nonsense://here'; it must be a file"),
    (["run", "landmarks", "--dataset", "wine"], "no published split of 'wine'"),
    (["run", "landmarks", "--dataset", "wine", "--split", "random"], "wine is a data set for regression"),
    (["run", "landmarks", "--dataset", "digits", "--split", "random"], "10 classes"),
    (["run", "comparison", "--dataset", "wine", "--split", "published"], "--split is 'published'; it must be"),
    (["report"], "arguments are required: ROWS"),
    (["report", "features"], "report features needs --dataset"),
    (["report", "features", "--dataset", "breast"], "no row of features-breast-published-"),
    (["report", "no/such/file.csv"], "No such file or directory; a CSV file of rows is needed, or one of"),
    (["report", "--format", "pdf"], "--format is 'pdf'; it must be one of 'text', 'csv'"),
    (["report", "features", "--output", "no/such/rows.csv"], "--output is 'no/such/rows.csv'; there is"),
    (["report", f"{REFERENCE}/table_1.csv"], "table_1.csv has no column 'run'"),
    (["runs", "--store", "postgresql+psycopg2://me:secret@host/x"], "its driver psycopg2 is not installed"),
    (["runs", "--store", "mysql://me:secret@host/x"], "--store is 'mysql://me:***@host/x'; it must be a file"),
    (["reproduce", "table2"], "TARGET is 'table2'; it must be one of 'table1'"),
    (["reproduce", "table1", "--datasets", "wine"], "--datasets contains 'wine'; table1 has ads, adult, breast"),
    (["reproduce", "li-table3", "--datasets", "breast"], "--datasets contains 'breast'; li-table3 has wine"),
    (["reproduce", "table1", "--jobs", "2"], "--jobs is for rows that are computed; give --recompute as well"),
    (["reproduce", "table1", "--output", "no/such/table.csv"], "--output is 'no/such/table.csv'; there is no folder"),
    (["recompute", "--rows", "-3"], "--rows is '-3'; a whole number from 1 to"),
    (["recompute", "--max-seconds", "nan"], "--max-seconds is 'nan'; a finite number above 0"),
    (["coverage", "--epsilon", "1.5"], "--epsilon is '1.5'; a probability strictly between 0 and 1"),
    (["coverage", "--draws", "100000000000000"], "--draws is '100000000000000'; a whole number from 1 to 10000000"),
    (["coverage", "--n", "1"], "--n is '1'; a whole number from 2 to"),
    (["certify", "--dataset", "wine"], "--dataset is 'wine'; it must be one of 'ads', 'adult'"),
    ([*CERTIFY, "--method", "svm"], "--method is 'svm'; it must be one of 'rff'"),
    ([*CERTIFY, "--D", "0"], "--D is '0'; a whole number from 1 to"),
    ([*CERTIFY, "--method", "boosting", "--D", "1000000000"], "--D is 1000000000 for"),
    ([*CERTIFY, "--method", "landmarks", "--D", "171"], "--D is 171; landmarks are rows"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "said"), WRONG_USAGES, ids=lambda value: " ".join(value))
def test_wrong_usage_ends_with_code_2_and_one_sentence_that_names_what_was_typed(
    arguments, said, capsys, store, monkeypatch
):
    for driver in ("psycopg2", "MySQLdb"):
        monkeypatch.setitem(sys.modules, driver, None)  # as if it were not installed
    assert code_of(arguments) == 2
    written = capsys.readouterr()
    assert said in written.err and len(written.err.splitlines()) == 1 and "secret" not in written.err
    assert written.out == ""
    if store.exists():
        with Store(store) as opened:
            assert opened.contents() == []  # a run that cannot begin is not kept


def code_of(arguments) -> int:
    """Exit code of the command line, wherever it ends."""
    try:
        return main(arguments)
    except SystemExit as ended:
        return int(ended.code)


def test_hints_and_usage_name_the_program_that_was_typed(capsys, monkeypatch):
    for typed, named in (("/usr/bin/rff-engine", "rff-engine"), ("/x/rff_engine/__main__.py", "python -m rff_engine")):
        monkeypatch.setattr(sys, "argv", [typed])
        monkeypatch.setenv("XDG_CACHE_HOME", "/nowhere")
        monkeypatch.setenv("RFF_DATA", "/nowhere")
        assert code_of(["run", "features", "--dataset", "ads"]) == 2
        assert f"run `{named} fetch ads`" in capsys.readouterr().err
        assert code_of(["run", "--help"]) == 0
        assert capsys.readouterr().out.startswith(f"usage: {named} run ")


def test_help_of_run_has_a_line_for_each_protocol_preset_and_method(capsys):
    assert code_of(["run", "--help"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.split("protocols:")[1].splitlines() if line[:1] == " "]
    first = [line[0] for line in lines]
    known = {method for kind in PROTOCOLS.values() for method in kind.known_methods}
    assert set(METHOD_LINES) == known and {*PROTOCOLS, *PRESETS, *known} <= set(first)
    assert len(first) == len(set(first)) and min(map(len, lines)) > 1


def test_work_of_some_seconds_says_what_it_does_and_how_much_is_left(capsys, monkeypatch):
    monkeypatch.setattr("rff_engine.studies.command_line.output.FIRST_SECONDS", 0.01)
    with Progress("fitting") as progress:
        while "fitting, 0 s\n" not in (written := capsys.readouterr().err):
            time.sleep(0.01)
    assert len(written.splitlines()) == 1
    with Progress("fitting") as progress:
        progress.show("fitted", 0.5)
        while " 50%, 0 s left: fitted\n" not in capsys.readouterr().err:
            time.sleep(0.01)


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

    monkeypatch.setattr("rff_engine.studies.command_line.runs.run_stored", interrupted)
    file = tmp_path / "rows.csv"
    assert main(["run", "features", "--dataset", "breast", "--output", str(file)]) == 130
    assert len(capsys.readouterr().err.splitlines()) == 1 and len(pd.read_csv(file)) == 0


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_reproduce_shows_the_bundled_reruns_at_once_in_120_columns(target, capsys, tmp_path, store):
    assert main(["reproduce", target]) == 0
    lines = capsys.readouterr().out.splitlines()
    header, *table = lines[2 : lines.index("", 2)]
    assert max(map(len, lines)) <= 120 and not store.exists()
    assert header.startswith("dataset ") and header.endswith(" agreement     cause")
    assert main(["reproduce", target, "--output", str(tmp_path / "table.csv")]) == 0
    rows = pd.read_csv(tmp_path / "table.csv")
    assert len(table) == len(rows) and rows["agreement"].isin(AGREEMENTS).all()
    assert " ".join(lines).endswith(judgement(rows).sentence())


@pytest.mark.second("reads all shipped rows")
def test_the_documentation_explains_every_column_that_reproduce_writes(capsys):
    written = set()
    for target in TARGETS:
        assert main(["reproduce", target, "--output", "-"]) == 0
        written |= set(capsys.readouterr().out.partition("\n")[0].split(","))
    page = (Path(rff_engine.__file__).parents[1] / "docs" / "reproduction.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| column \|.*\n(?:\|.*\n)+", page, re.MULTILINE)
    explained = [name for line in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert len(explained) == len(set(explained)) and set(explained) == written


@pytest.mark.slow
def test_the_how_to_shows_lines_of_the_table_that_reproduce_prints(capsys):
    assert main(["reproduce", "table1"]) == 0
    printed = capsys.readouterr().out.splitlines()
    page = Path(rff_engine.__file__).parents[1] / "docs" / "how-to" / "reproduce-a-table.md"
    (shown,) = re.findall(r"^```text\n(dataset .*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert [line for line in printed if line in shown.splitlines()] == shown.splitlines()


@pytest.mark.second
def test_reproduce_computes_into_the_store_what_it_lacks_when_asked(capsys, store, monkeypatch):
    svm = FeatureSweep.preset("quick", methods=("svm",), gammas=(1e-5,), Cs=(1.0, 10.0))
    monkeypatch.setattr(reproduction, "specs", lambda *_: [RunSpec(svm, "breast")])
    arguments = ["reproduce", "figure5", "--datasets", "breast"]
    assert main([*arguments, "--store", str(store)]) == 0
    assert "printed numbers 0 have reruns" in capsys.readouterr().out
    for new in (1, 0):
        assert main([*arguments, "--recompute"]) == 0
        written = capsys.readouterr()
        assert f": {new} new rows in {store}" in written.err and "come with the package" not in written.out
    with Store(store) as opened:
        assert [kept.rows for kept in opened.contents()] == [1]
    assert main([*arguments, "--recompute", "--split", "random"]) == 0
    assert "new rows" not in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")), daemon=True)
    reader.start()
    assert main(["reproduce", "table1", "--datasets", "breast", "--output", str(pipe)]) == 0
    reader.join(10)
    assert read and read[0].startswith("dataset,column,paper") and stat.S_ISFIFO(pipe.stat().st_mode)


SAME = {
    "report": ["report", "features", "--dataset", "breast", "--store", "{input}", "--output"],
    "run": ["run", "features", "--dataset", "breast", "--store", "{input}", "--output"],
    "reproduce": ["reproduce", "table1", "--store", "sqlite:///{input}", "--output"],
    "a URI": ["run", "features", "--dataset", "breast", "--store", "sqlite:///file:{input}?uri=true", "--output"],
    "rows": ["report", "{input}.csv", "--format", "csv", "--output"],
    "certify": ["certify", "--table", "{input}.csv", "--target", "y", "--html"],
}


@pytest.mark.parametrize("way", ["itself", "relative", "link", "hard link", "log"])
@pytest.mark.parametrize("command", SAME)
def test_an_input_is_no_output(command, way, tmp_path, monkeypatch, capsys):
    if way == "log" and ".csv" in "".join(SAME[command]):
        pytest.skip("a table has no log")
    monkeypatch.chdir(tmp_path)
    given = tmp_path / "input"
    Store(given).close()
    (tmp_path / "input.csv").write_text("x,y\n1,a\n2,b\n")
    file = Path(f"{given}.csv") if ".csv" in "".join(SAME[command]) else given
    output = {"itself": str(file), "relative": file.name, "log": f"{file}-wal"}.get(way, "output")
    {"link": os.symlink, "hard link": os.link}.get(way, lambda *_: None)(file, "output")
    before, content = set(os.listdir()), file.read_bytes()
    assert main([*(word.format(input=given) for word in SAME[command]), output]) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1
    assert said.err.startswith(f"{SAME[command][-1]} is {output!r}; that is the ") and "is needed." in said.err
    assert file.read_bytes() == content and set(os.listdir()) == before


@pytest.mark.slow
def test_a_data_set_and_a_new_store_are_no_output(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RFF_DATA", str(tmp_path))
    raw = datasets.describe("ads").files[0]
    file = tmp_path / raw.folder / raw.name
    file.parent.mkdir()
    file.write_text("rows that someone has put here")
    for command in (
        ["run", "features", "--dataset", "ads", "--output", str(file)],
        ["reproduce", "table1", "--output", str(file)],
        ["run", "features", "--dataset", "breast", "--store", "new", "--output", "new"],
        ["reproduce", "table1", "--output", str(reproduction.SHIPPED)],
    ):
        assert main(command) == 2
        assert "that is the input" in capsys.readouterr().err
    assert file.read_text() == "rows that someone has put here" and not Path("new").exists()


@pytest.mark.slow
def test_files_next_to_an_output_stay_and_no_link_is_followed(tmp_path):
    table, own = tmp_path / "table.csv", tmp_path / "own.txt"
    own.write_text("mine")
    (tmp_path / "table.csv.partial").symlink_to(own)
    table.symlink_to(tmp_path / "other.txt")
    (tmp_path / "other.txt").write_text("other")
    assert main(["reproduce", "table1", "--datasets", "breast", "--output", str(table)]) == 0
    assert own.read_text() == "mine" and (tmp_path / "other.txt").read_text() == "other"
    assert table.read_text().startswith("dataset,column,paper") and not table.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["other.txt", "own.txt", "table.csv", "table.csv.partial"]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(table.stat().st_mode) == 0o666 & ~umask


@pytest.mark.slow
def test_coverage_command_prints_the_table(capsys):
    assert main(["coverage", "--draws", "2000"]) == 0
    table = capsys.readouterr().out
    assert "two_classes       5" in table and "landmark_kl_inverse" in table


@pytest.mark.second
def test_coverage_of_certificates_prints_failures_with_limits_for_all_of_them(capsys):
    assert main(["coverage", "--certificates", "--draws", "100", "--epsilon", "0.5"]) == 0
    printed = capsys.readouterr().out
    rows = [line.strip("| ").split(" | ") for line in printed.splitlines()[6:]]
    assert len(rows) == 5 + 5 * 4 and all(len(row[2].split("/")) == 6 for row in rows)
    assert {row[0] for row in rows} >= {"second_order_two_class", "every_landmark", "groups"}
    limits = [float(row[3].rstrip("%")) for row in rows]
    fewest = 100 * (1 - (0.05 / 150) ** (1 / 100))  # the limit of Clopper and Pearson for no failure in 100
    assert min(limits) == pytest.approx(fewest, abs=1e-3) and "all 150 hold" in printed


@pytest.mark.second
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
                known = sum(kept.rows for kept in opened.contents())
    process.send_signal(sign)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 130 and "are kept; the same command goes on" in error
    assert os.listdir(tmp_path) == ["rows.csv"] and len(pd.read_csv(file)) >= known >= 20


ENTRY = "rff_engine.studies.running.subprocess_entry"


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


@pytest.mark.more(after=2)
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
    ],
)
def test_interrupt_while_a_program_imports_its_modules_leaves_no_traceback(program, library):
    for _ in range(5):
        process, output, error = _interrupted_when_it_imports(program, library)
        if process.returncode != 0:  # else it had ended before, which a short program may on a busy machine
            break
    assert output == "" and len(error.splitlines()) <= 1 and "Traceback" not in error, error
    assert process.returncode in (130, -signal.SIGINT)  # a shell says 130 for both


@pytest.mark.second
def test_importing_the_engine_does_not_import_experiments():
    unwanted = "('rff_engine.studies', 'rff_engine.plots', 'datasets')"
    code = f"import sys, rff_engine; sys.exit(any(name.startswith({unwanted}) for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("seconds", "words"), [(7.2, "7 s"), (59.9, "1 min 00 s"), (61, "1 min 01 s"), (7300, "2 h 01 min")]
)
def test_durations_are_in_seconds_minutes_or_hours(seconds, words):
    assert duration(seconds) == words
