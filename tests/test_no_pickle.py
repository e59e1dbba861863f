"""Nothing that is read may run: no source of ours loads a pickle, or code, that comes from a file or a visitor."""

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
OUR_SOURCES = ("app.py", "serve.py", "pages", "datasets", "rff_engine")
# What a running cluster's processes say to each other, and to nobody else: see docs/security.md.
AMONG_OUR_PROCESSES = {
    "rff_engine/experiments/_cluster.py": {"pickle.dumps", "pickle.HIGHEST_PROTOCOL"},
    "rff_engine/experiments/_worker.py": {"pickle.loads"},
    "rff_engine/experiments/cluster_losses.py": {"pickle.dumps", "pickle.loads"},
}
LIBRARIES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "torch", "yaml", "jsonpickle"}
FUNCTIONS = {"eval", "exec", "compile", "__import__"}
ENDINGS = {
    *("joblib.load", "pd.read_pickle", "pandas.read_pickle"),
    *("pd.eval", "pandas.eval", "runpy.run_path", "importlib.import_module", "os.system", "os.popen"),
}


def sources():
    for place in OUR_SOURCES:
        path = ROOT / place
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def suspects(code: str) -> set[str]:
    """Whatever in a source could run what it reads."""
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


def test_no_source_loads_a_pickle_or_code():
    found = {str(path.relative_to(ROOT)): suspects(path.read_text(encoding="utf-8")) for path in sources()}
    assert len(found) > 100
    assert {path: names for path, names in found.items() if names} == AMONG_OUR_PROCESSES


@pytest.mark.parametrize(
    "code",
    [
        "import pickle\npickle.load(f)",
        "from pickle import loads",
        "np.load(f, allow_pickle=True)",
        "np.load(f, allow_pickle=flag)",
        "joblib.load(f)",
        "yaml.load(f)",
        "torch.load(f)",
        "eval(x)",
        "subprocess.run(x, shell=True)",
    ],
)
def test_the_search_finds_them(code):
    assert suspects(code)


def test_numpy_refuses_objects_where_arrays_are_read():
    """The one place where an archive of arrays is read says so itself; NumPy's default is the same."""
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


def test_what_the_repository_ships_holds_no_pickle():
    """By their first bytes, also within archives."""
    marks = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))
    looked_at = 0
    for place in ("datasets", "rff_engine", "docs", "pages"):
        for path in (ROOT / place).rglob("*"):
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            looked_at += 1
            assert path.suffix not in {".pkl", ".pickle", ".joblib", ".pt", ".npy"}, path
            assert not path.read_bytes()[:2].startswith(marks), path
            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as archive:
                    for name in archive.namelist():
                        assert not archive.read(name).startswith(marks), (path, name)
    assert looked_at > 100


def test_no_script_of_ours_makes_code_or_marks_of_text():
    """In the browser: whatever is shown goes in as text; only words that stand in the source are HTML."""
    scripts = sorted((ROOT / "pages").rglob("*.js"))
    assert len(scripts) >= 8
    for path in scripts:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\beval\(|new Function|document\.write|insertAdjacentHTML|outerHTML\s*=", text), path
        for given in re.findall(r"innerHTML\s*\+?=\s*(.*)", text):
            assert re.fullmatch(r'"[^"]*";', given), (path, given)
