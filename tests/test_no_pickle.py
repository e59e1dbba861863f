"""No source loads a pickle or code from a file or a visitor. Ruff's rules S look for further calls."""

from __future__ import annotations

import ast
import io
import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ("app.py", "serve.py", "pages", "datasets", "rff_engine")
# Counts the bytes of a session's results; nothing loads them.
ONLY_WRITTEN = {"pages/data/your_data/session.py": {"pickle.dumps"}}
LIBRARIES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "torch", "yaml", "jsonpickle"}
FUNCTIONS = {"eval", "exec", "compile", "__import__"}
ENDINGS = {
    *("joblib.load", "pd.read_pickle", "pandas.read_pickle"),
    *("pd.eval", "pandas.eval", "runpy.run_path", "importlib.import_module", "os.system", "os.popen"),
}


def sources():
    for place in SOURCES:
        path = ROOT / place
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def suspects(code: str) -> set[str]:
    """Names in a source that could run data as code."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            if name.split(".")[0] in LIBRARIES or name in ENDINGS:
                found.add(name)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in LIBRARIES:
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in FUNCTIONS or name.endswith(".eval"):
                found.add(name)
            if any(word.arg == "shell" for word in node.keywords):
                found.add(f"{name}(shell=)")
            loads = name in ("np.load", "numpy.load", "np.fromfile", "np.memmap")
            allowed = {word.arg: ast.unparse(word.value) for word in node.keywords}.get("allow_pickle", "False")
            if loads and allowed != "False":
                found.add(f"{name}(allow_pickle={allowed})")
    return found


@pytest.mark.slow
def test_no_source_loads_a_pickle_or_code():
    found = {str(path.relative_to(ROOT)): suspects(path.read_text(encoding="utf-8")) for path in sources()}
    assert len(found) > 100
    assert {path: names for path, names in found.items() if names} == ONLY_WRITTEN


UNSAFE = """
import pickle; pickle.load(f)
from pickle import loads
np.load(f, allow_pickle=True)
np.load(f, allow_pickle=flag)
joblib.load(f)
yaml.load(f)
torch.load(f)
eval(x)
subprocess.run(x, shell=True)
"""


def test_search_finds_unsafe_calls():
    assert all(suspects(line) for line in UNSAFE.split("\n") if line)


def test_numpy_refuses_pickled_objects():
    """`allow_pickle` is False where archives are read, and by default."""
    archive = io.BytesIO()
    np.savez(archive, said=np.array([Boom()], dtype=object))
    for reading in ({"allow_pickle": False}, {}):
        archive.seek(0)
        with pytest.raises(ValueError, match="allow_pickle"):
            np.load(archive, **reading)["said"]
    bare = io.BytesIO(pickle.dumps(Boom()))
    with pytest.raises(ValueError, match="pickle"):
        np.load(bare, allow_pickle=False)


class Boom:
    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


def test_shipped_files_hold_no_pickle():
    """Looks at the first bytes, also of files in archives."""
    marks = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))
    n_files = 0
    for place in ("datasets", "rff_engine", "docs", "pages"):
        for path in (ROOT / place).rglob("*"):
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            n_files += 1
            assert path.suffix not in {".pkl", ".pickle", ".joblib", ".pt", ".npy"}, path
            assert not path.read_bytes()[:2].startswith(marks), path
            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as archive:
                    for name in archive.namelist():
                        assert not archive.read(name).startswith(marks), (path, name)
    assert n_files > 100


def test_scripts_make_no_code_or_html_from_text():
    """Only constant strings are assigned as HTML; everything else is inserted as text."""
    scripts = sorted((ROOT / "pages").rglob("*.js"))
    assert len(scripts) >= 8
    for path in scripts:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\beval\(|new Function|document\.write|insertAdjacentHTML|outerHTML\s*=", text), path
        for given in re.findall(r"innerHTML\s*\+?=\s*(.*)", text):
            assert re.fullmatch(r'"[^"]*";', given), (path, given)
