"""Reading in a child process: it returns what the readers return, and each exit status is one sentence."""

from __future__ import annotations

import json
import logging
import os
import pickle
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from bad_files import good_table, parquet

from datasets.tables import readers, uploads
from datasets.tables.table import Column, Guess, Limits, Table, UploadError
from datasets.tables.uploads import read_table

CHILD = uploads._CHILD
WORDS = ("größe", "名前", "", "e\u0301", "👩‍👩‍👧‍👦", "=1+1", " ", "a\0b", "\ud800")


def same(one: Table, other: Table) -> None:
    for field in ("format", "notes", "target", "names", "guesses"):
        assert getattr(one, field) == getattr(other, field)
    for a, b in zip(one.columns, other.columns, strict=True):
        assert (a.kind, a.categories, a.note) == (b.kind, b.categories, b.note) and a.values.dtype == b.values.dtype
        np.testing.assert_array_equal(a.values, b.values)


READ = {
    "CSV": (good_table().replace("kind", "größe").encode("cp1252"), "x.csv"),
    "svmlight": ("".join(f"{i % 2} 1:{i} 3:{i % 7}\n" for i in range(20)), "x.svm"),
    "Parquet": (parquet({"a": [0.5, None] * 10, "s": ["x", None] * 10, "t": ["1", "2"] * 10}), "x.parquet"),
    "lone surrogates": ("a,b,b,none\n" + "\ud800,1,inf,\n\udfff“,2,,NA\n" * 10, ""),
}


@pytest.mark.slow
@pytest.mark.parametrize("which", READ)
def test_child_returns_the_table_of_the_readers(which, monkeypatch):
    expected = readers.read(*READ[which])
    monkeypatch.setattr(readers, "read", None)  # nothing is read in this process
    same(read_table(*READ[which]), expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a,b\n" + b"1,2\n3\n" * 9, "Line 3 has 1 cell, most lines have 2; every line needs as many."),
        (pickle.dumps([os.abort]), f"The file is a Python pickle; {readers._READABLE}."),
    ],
)
def test_child_returns_a_refusal_unchanged(data, said):
    with pytest.raises(UploadError) as caught:
        read_table(data, "x.csv")
    assert str(caught.value) == said


def test_encoded_table_is_decoded_unchanged():
    codes = np.arange(-1, len(WORDS), dtype=np.int32)
    numbers = np.array([np.nan, -0.0, 5e-324, 1e308, *range(len(WORDS) - 3)])
    columns = (
        Column("w", "text", codes, WORDS, "A note."),
        Column("x", "number", numbers),
        Column("d", "date", numbers),
    )
    guess = Guess("names", "none", ("first line",), "A note.")
    for table in (Table(columns, "CSV", ("One.", "Two."), "x", (guess,)), Table(columns[:1], "CSV")):
        same(uploads._decoded(table.encoded()), table)


@pytest.mark.parametrize(
    "reply", [b"", b"PK\x03\x04", b"\x80\x04.", b"[]", b"{}", b'{"columns": []}\n["a", "date", 1]']
)
def test_invalid_reply_is_a_reader_error(reply):
    with pytest.raises(uploads.ReaderError):
        uploads._decoded(reply)


SIGNAL = "import os, signal; os.kill(os.getpid(), signal.{})"
REAL = f"import runpy; limit = runpy.run_path({str(CHILD)!r})['_limit_resources']\n"
LOWER = "import resource; resource.setrlimit(resource.RLIMIT_AS, (10**9, 10**9))\n"
EXITS = {
    "aborted": ("import os; os.abort()", "damaged, or needs more memory"),
    "killed": (SIGNAL.format("SIGKILL"), "The system ended the process"),
    "out of time": (REAL + "limit(1, 10**10)\nwhile True: pass", "more than the 1 seconds of processor time"),
    "under lower limits": (LOWER + REAL + "limit(1, 10**10)\nraise SystemExit(12)", "takes more memory"),
    "stuck": ("import time; time.sleep(60)", "more than the 0.3 seconds"),
    "stuck in its reply": ("print('PK', flush=True); import time; time.sleep(60)", "more than the 0.3 seconds"),
    "failed": ("raise SystemExit(3)", "internal error"),
    "silent": ("", "internal error"),
    "garbled": ("import sys; sys.stdin.buffer.read(); print('x' * 3_000_000)", "internal error"),
    "writing a file": (REAL + "limit(1, 10**10)\nopen(__file__ + '.new', 'w').write('x')", "internal error"),
}


@pytest.mark.more(after=2)
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals and limits")
@pytest.mark.parametrize("case", EXITS)
def test_failing_child_is_reported_in_one_sentence(case, tmp_path, monkeypatch):
    program, said = EXITS[case]
    (tmp_path / "child.py").write_text(program)
    monkeypatch.setattr(uploads, "_CHILD", tmp_path / "child.py")
    monkeypatch.setattr(uploads, "CPU_SECONDS", 1)
    if "stuck" in case:
        monkeypatch.setattr(uploads, "WALL_SECONDS", 0.3)
    with pytest.raises(UploadError, match=said) as caught:
        read_table(good_table() * 10_000)  # more than a pipe holds
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)
    assert not any(path.stat().st_size for path in tmp_path.iterdir() if path.name != "child.py")


def test_child_that_cannot_start_is_reported_in_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    with pytest.raises(UploadError, match="cannot start another process"):
        read_table(good_table())


@pytest.mark.slow
def test_reader_error_is_logged_without_text_of_the_file(caplog):
    with caplog.at_level(logging.ERROR), pytest.raises(UploadError, match="internal error"):
        read_table(good_table().replace("kind", "secret"), limits=Limits(rows=None))
    (line,) = caplog.messages
    assert "TypeError at table.py:" in line and "secret" not in line


@pytest.mark.second
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not enforce the limit")
def test_file_that_needs_too_much_memory_is_refused_in_one_sentence(monkeypatch):
    words = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), pa.array(["x" * 3_000_000]))
    data = parquet({"a": words, "y": pa.array(range(20_000))}, compression="zstd")
    assert len(data) < 1_000_000
    with pytest.raises(UploadError, match="memory"):
        read_table(data)
    monkeypatch.setattr(uploads, "MEMORY_BYTES", 300_000_000)
    with pytest.raises(UploadError, match="takes more memory than the 300 MB"):
        read_table("x" * 100_000_000, limits=Limits(bytes=10**9))


@pytest.mark.slow
def test_child_imports_the_readers_only():
    program = f"import runpy, sys; own = runpy.run_path({str(CHILD)!r}); own['_skip_package_init']()\n"
    program += "request = {'is_text': False, 'name': '', 'limits': {}, 'choices': {}}\n"
    program += "own['_reply'](request, b'a,b\\n' + b'1,2\\n' * 20)\nprint(*sys.modules)"
    ran = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True)
    loaded = set(ran.stdout.split())
    own = {f"datasets.tables.{name}" for name in ("body", "cells", "formats", "readers", "table")}
    assert {name for name in loaded if name.startswith("datasets")} == {"datasets", "datasets.tables"} | own
    assert not loaded & {"pandas", "pyarrow", "scipy", "sklearn", "streamlit", "subprocess"}


@pytest.mark.slow
def test_no_pickle_is_loaded():
    class Bomb:
        def __reduce__(self):
            return os.abort, ()

    bad = pickle.dumps(Bomb())
    table = pa.table({"a": list(range(20)), "y": [0, 1] * 10})
    hint = json.dumps({"pandas_version": "1", "columns": [{"metadata": bad.hex()}]}).encode()
    schema = table.replace_schema_metadata({b"pandas": hint, b"PANDAS": bad, b"ARROW:extension:metadata": bad})
    assert readers.read(parquet(schema)).n_rows == 20
