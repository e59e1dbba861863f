"""The wheel: what an installation of the engine has and needs, run from an empty folder beside another `datasets`."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BUILT_FROM = ("rff_engine", "datasets", "pyproject.toml", "README.md", "LICENSE")
#: Modules that the engine does without.
EXTRAS = ("pandas", "pyarrow", "platformdirs", "plotly", "psutil", "sqlalchemy", "dask", "distributed", "streamlit")
#: Refuses them as if they were not installed.
WITHOUT_EXTRAS = f"""
import sys
class Missing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in {EXTRAS}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""
FIT_ALL = """
import inspect
import numpy as np, rff_engine as rff
X = np.random.default_rng(0).normal(size=(60, 3))
y = X[:, 0] > 0
fitted = [value() for value in vars(rff).values() if inspect.isclass(value) and hasattr(value, "fit")]
for estimator in fitted:
    estimator.fit(X, y)
print(len(fitted))
"""


#: Runs the code of each page as one module, and examples with a prompt as doctests. What is kept for the main
#: program needs a Dask scheduler, and is left out.
RUN_PAGES = """
import doctest, pathlib, re, sys, types
for page in map(pathlib.Path, sys.argv[1:]):
    print(page.name, flush=True)
    blocks = re.findall(r"^```python\\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    if blocks[0].startswith(">>>"):
        if doctest.testfile(str(page), module_relative=False).failed:
            sys.exit(f"{page.name} prints something else")
        continue
    sys.modules["of_page"] = module = types.ModuleType("of_page")
    for block in blocks:
        exec(compile(block, str(page), "exec"), vars(module))
"""
RUN_COMMANDS = """
import sys
from rff_engine.__main__ import main
for line in sys.argv[1:]:
    if main(line.split()):
        sys.exit(f"{line} fails")
"""
RUN_EACH = """
import contextlib, io, json, traceback
from rff_engine.__main__ import main
ended = {}
for line in sys.argv[1:]:
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            status = main(line.split())
        except SystemExit as end:
            status = end.code
        except BaseException:
            status = traceback.print_exc() or 1
    ended[line] = (status or 0, out.getvalue(), errors.getvalue())
print(json.dumps(ended))
"""
#: Commands that need no extra, and words of what they say.
LIGHT = {
    "--help": "reproduce",
    "--version": "rff_engine ",
    "run --help": "pb_landmarks",
    "reproduce --help": "li-table3",
    "datasets": "covtype",
    "fetch breast": "nothing to fetch",
    "coverage --draws 10": "landmark_kl_inverse",
    "recompute --rows -3": "--rows is '-3'; a whole number",
    "run features --dataset brest": "--dataset is 'brest'; it must be one of",
}
NEED_EXTRAS = ["run features --dataset breast", "reproduce table1", "runs"]
FOLDERS = (ROOT, ROOT / "docs", ROOT / "docs" / "how-to")
PAGES = [page for folder in FOLDERS for page in sorted(folder.glob("*.md"))]
CODE_LEFT_OUT = {
    "reproduction.md": "reads a file of 70 MB that is downloaded; tests/engine/test_blocks.py reads such a file",
    "README.md": "has a test of its own",
    "teaching.md": "has a test of its own",
}
COMMANDS_RUN = {
    "datasets": "",
    "run features --dataset breast --repeats 10 --output breast.csv": "--repeats 1",  # of several the last counts
    "report breast.csv": "",
    "reproduce table1": "",
    "reproduce li-table2 --datasets wine": "",
    "reproduce li-table3 --output table3.csv": "",
    "run approximation --dataset wine": "",
    "run comparison --dataset wine": "--methods monte_carlo sobol",
    "runs": "",
    "report --format html --output paper.html": "",
}
COMMANDS_LEFT_OUT = {
    "fetch": "downloads",
    "reproduce table1 --datasets breast --recompute": "takes minutes",
    "reproduce li-table2 --datasets wine --recompute": "takes minutes",
    "run landmarks": "takes minutes, or hours",
    "resume": "needs such a run",
    "recompute": "takes minutes",
    "coverage": "takes minutes",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A folder with the wheel, installed without its dependencies, and another package called `datasets`."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for name in BUILT_FROM:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    alone = ["--no-deps", "--no-index"]
    run([*pip, "wheel", *alone, "--no-build-isolation", "--wheel-dir", str(source / "dist"), "."], source)
    (wheel,) = (source / "dist").glob("*.whl")
    run([*pip, "install", *alone, "--target", str(folder), str(wheel)], source)
    (folder / "datasets").mkdir()
    (folder / "datasets" / "__init__.py").write_text("OWNER = 'another'\n", encoding="utf-8")
    return folder


def run(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "RFF_DATA")}
    done = subprocess.run(
        command, cwd=folder, env=environment | variables, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode in (0, 2), done.stderr
    return done


def python_in(installed: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run the interpreter with the wheel alone, from a folder."""
    store = f"sqlite:///{folder}/results.sqlite"
    return run(
        [sys.executable, *arguments], folder, PYTHONPATH=str(installed), PYTHONIOENCODING="utf-8", RFF_STORE=store
    )


@pytest.fixture
def python(installed, tmp_path):
    return partial(python_in, installed, tmp_path)


pytestmark = pytest.mark.slow("builds a wheel, installs it, and starts Python for each test")


@pytest.mark.second
def test_the_ten_lines_of_the_readme_need_no_extra(python):
    (code,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    error, divergence = map(float, python("-c", WITHOUT_EXTRAS + code).stdout.split())
    assert 0 < error < 0.2 and divergence > 0


@pytest.mark.second
def test_the_views_of_the_notebook_section_are_computed_in_an_empty_folder(python, tmp_path):
    teaching = (ROOT / "docs" / "teaching.md").read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", teaching, re.DOTALL | re.MULTILINE)
    shown = python("-c", f"{code}\nprint(len(maps._repr_html_()), len(weights._repr_html_()))").stdout.split()
    page = (tmp_path / "landmarks.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and all(int(length) > len(page) / 2 for length in shown)


def pages_with_code() -> list[Path]:
    return [page for page in PAGES if page.name not in CODE_LEFT_OUT and "```python" in page.read_text("utf-8")]


@pytest.mark.second
def test_code_of_the_pages_runs_in_an_empty_folder(python):
    pages = []
    for page in pages_with_code():
        wanted = [name for name in ("skops", "torch") if f"import {name}" in page.read_text("utf-8")]
        if all(importlib.util.find_spec(name) for name in wanted):
            pages.append(page)
    assert len(pages) > 8
    done = python("-W", "ignore", "-c", RUN_PAGES, *map(str, pages))
    assert done.returncode == 0, done.stdout


def commands() -> dict[str, str]:
    """The engine's commands in indented lines and tables, without `python -m rff_engine`, and a page of each."""
    line = re.compile(r"^(?:    |\| `)python -m rff_engine ([^#`\n]+)", re.MULTILINE)
    return {command.strip(): page.name for page in PAGES for command in line.findall(page.read_text("utf-8"))}


@pytest.mark.second
def test_commands_of_the_pages_run_in_an_empty_folder(python):
    left = [command for command in commands() if not command.startswith(tuple(COMMANDS_LEFT_OUT))]
    assert set(left) == set(COMMANDS_RUN)
    done = python("-c", RUN_COMMANDS, *(f"{command} {smaller}" for command, smaller in COMMANDS_RUN.items()))
    assert done.returncode == 0, done.stderr


@pytest.mark.second
def test_another_package_called_datasets_stays_what_it_is(python, installed):
    found = python("-c", "import datasets, rff_engine.experiments as e; print(datasets.OWNER, e.datasets)").stdout
    assert found.startswith("another <module 'rff_datasets' from ") and installed.name in found


@pytest.mark.second
def test_the_command_line_names_commands_and_data_sets(python):
    assert "certify" in python("-m", "rff_engine", "--help").stdout
    assert "breast              569 x 30" in python("-m", "rff_engine", "datasets").stdout
    assert "569     30" in python("-m", "rff_datasets", "list").stdout


@pytest.mark.second
def test_tables_are_read_by_a_process_of_their_own(python):
    table = "a,b\n" + "1,x\n2,y\n" * 10
    code = f"from rff_engine.experiments import datasets; print(len(datasets.read_table({table!r}).columns))"
    assert python("-c", code).stdout.split() == ["2"]


@pytest.mark.second
def test_every_estimator_fits_without_the_extras(python):
    assert int(python("-c", WITHOUT_EXTRAS + FIT_ALL).stdout) >= 8


@pytest.fixture(scope="module")
def ended_without_extras(installed, tmp_path_factory) -> dict[str, tuple[int, str, str]]:
    """Status, output and errors of each command; all run in one process, where an extra stays missing."""
    lines = [*LIGHT, *NEED_EXTRAS]
    done = python_in(installed, tmp_path_factory.mktemp("without"), "-c", WITHOUT_EXTRAS + RUN_EACH, *lines)
    return json.loads(done.stdout)


@pytest.mark.parametrize("arguments", LIGHT)
def test_help_messages_and_light_commands_need_no_extra(ended_without_extras, arguments):
    status, out, errors = ended_without_extras[arguments]
    assert status in (0, 2) and LIGHT[arguments] in out + errors and "is not installed" not in errors


@pytest.mark.parametrize("arguments", NEED_EXTRAS)
def test_the_command_line_names_the_extra_that_is_missing(ended_without_extras, arguments):
    status, _, errors = ended_without_extras[arguments]
    assert status == 2
    assert re.fullmatch(r"\w+ is not installed: pip install 'rff-engine\[experiments\]'\n", errors)


def test_packages_that_the_pages_need_are_in_an_extra():
    extras = {
        Requirement(line).name for lines in PROJECT["project"]["optional-dependencies"].values() for line in lines
    }
    for page in (ROOT / "docs" / "how-to").glob("*.md"):
        imported = set(re.findall(r"^import (\w+)", page.read_text("utf-8"), re.MULTILINE))
        assert imported <= {*extras, "numpy", "scipy", "sklearn", "rff_engine", *sys.stdlib_module_names}, page.name


def test_the_wheel_has_every_package_of_the_tree_and_its_types(installed):
    folders = {path.parent.relative_to(ROOT).parts for name in ("rff_engine", "datasets") for path in packages(name)}
    names = {".".join(("rff_datasets", *parts[1:]) if parts[0] == "datasets" else parts) for parts in folders}
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == names
    assert all((installed / name / "py.typed").exists() for name in ("rff_engine", "rff_datasets"))


def packages(name: str):
    return (ROOT / name).rglob("__init__.py")


def test_the_pinned_packages_satisfy_the_bounds_of_the_wheel():
    lines = "\n".join(
        (ROOT / name).read_text(encoding="utf-8") for name in ("requirements.txt", "requirements-dev.txt")
    )
    pinned = {
        canonicalize_name(name): version for name, version in re.findall(r"^([\w-]+)(?:\[\w+\])?==(\S+)", lines, re.M)
    }
    extras = PROJECT["project"]["optional-dependencies"].values()
    wanted = [Requirement(line) for lines in (PROJECT["project"]["dependencies"], *extras) for line in lines]
    outside = [one for one in wanted if one.name != "rff-engine"]
    names = {one.name: canonicalize_name(one.name) for one in outside}
    assert [one.name for one in outside if names[one.name] not in pinned] == ["torch"]  # its tests skip without it
    assert all(one.specifier.contains(pinned[names[one.name]]) for one in outside if names[one.name] in pinned)
    assert {one.name for one in outside} >= {"numpy", "scipy", "scikit-learn", "pandas", "sqlalchemy"}
