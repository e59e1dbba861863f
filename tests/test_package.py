"""The wheel: what an installation of the engine has and needs, run from an empty folder beside another `datasets`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path

import pytest

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
public = [getattr(rff, name) for name in rff.__all__]
fitted = [value() for value in public if inspect.isclass(value) and hasattr(value, "fit")]
for estimator in fitted:
    estimator.fit(X, y)
print(len(fitted))
"""

MAIN = "from rff_engine.__main__ import main; sys.exit(main())"
RUN_COMMANDS = """
import sys
from rff_engine.__main__ import main
for line in sys.argv[1:]:
    if main(line.split()):
        sys.exit(f"{line} fails")
"""
#: Commands that need no extra, and words of what they say.
LIGHT = {
    "--help": "reproduce",
    "reproduce --help": "li-table3",
    "datasets": "covtype",
    "coverage --draws 10": "landmark_kl_inverse",
    "run features --dataset brest": "--dataset is 'brest'; it must be one of",
}
FOLDERS = (ROOT, ROOT / "docs", ROOT / "docs" / "how-to")
PAGES = [page for folder in FOLDERS for page in sorted(folder.glob("*.md"))]
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
}
COMMANDS_LEFT_OUT = {
    "fetch": "downloads",
    "reproduce table1 --datasets breast --recompute": "takes minutes",
    "reproduce li-table2 --datasets wine --recompute": "takes minutes",
    "run landmarks": "takes minutes, or hours",
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
    assert wheel.stat().st_size < 1_500_000
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


def python_in(installed: Path | str, folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run the interpreter with the wheel alone, from a folder."""
    store = f"sqlite:///{folder}/results.sqlite"
    return run(
        [sys.executable, *arguments], folder, PYTHONPATH=str(installed), PYTHONIOENCODING="utf-8", RFF_STORE=store
    )


@pytest.fixture
def python(installed, tmp_path):
    return partial(python_in, installed, tmp_path)


@pytest.fixture(scope="module")
def with_data(installed, tmp_path_factory) -> str:
    """The path of modules with the package of data as well."""
    folder = tmp_path_factory.mktemp("data")
    shutil.copytree(ROOT / "datasets" / "data", folder / "rff_data")
    return f"{installed}{os.pathsep}{folder}"


pytestmark = pytest.mark.slow("builds a wheel, installs it, and starts Python for each test")


@pytest.mark.second
def test_the_ten_lines_of_the_readme_need_no_extra(python):
    (code,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    error, divergence = map(float, python("-c", WITHOUT_EXTRAS + code).stdout.split())
    assert 0 < error < 0.2 and divergence > 0


def commands() -> dict[str, str]:
    """The engine's commands in indented lines and tables, without `python -m rff_engine`, and a page of each."""
    line = re.compile(r"^(?:    |\| `)python -m rff_engine ([^#`\n]+)", re.MULTILINE)
    return {command.strip(): page.name for page in PAGES for command in line.findall(page.read_text("utf-8"))}


@pytest.mark.second
def test_commands_of_the_pages_run_in_an_empty_folder(with_data, tmp_path):
    python = partial(python_in, with_data, tmp_path)
    left = [command for command in commands() if not command.startswith(tuple(COMMANDS_LEFT_OUT))]
    assert set(left) == set(COMMANDS_RUN)
    done = python("-c", RUN_COMMANDS, *(f"{command} {smaller}" for command, smaller in COMMANDS_RUN.items()))
    assert done.returncode == 0, done.stderr


@pytest.mark.second
def test_another_package_called_datasets_stays_what_it_is(python, installed):
    found = python("-c", "import datasets, rff_datasets; print(datasets.OWNER, rff_datasets)").stdout
    assert found.startswith("another <module 'rff_datasets' from ") and installed.name in found


@pytest.mark.second
def test_tables_are_read_by_a_process_of_their_own(python):
    table = "a,b\n" + "1,x\n2,y\n" * 10
    code = f"import rff_datasets as datasets; print(len(datasets.read_table({table!r}).columns))"
    assert python("-c", code).stdout.split() == ["2"]


@pytest.mark.second
def test_every_estimator_fits_without_the_extras(python):
    assert int(python("-c", WITHOUT_EXTRAS + FIT_ALL).stdout) >= 8


@pytest.mark.parametrize("arguments", LIGHT)
def test_help_messages_and_light_commands_need_no_extra(python, arguments):
    done = python("-c", f"{WITHOUT_EXTRAS}sys.argv[1:] = {arguments.split()}\n{MAIN}")
    assert LIGHT[arguments] in done.stdout + done.stderr and "is not installed" not in done.stderr


def test_the_command_line_names_the_extra_that_is_missing(python):
    done = python("-c", f"{WITHOUT_EXTRAS}sys.argv[1:] = ['runs']\n{MAIN}")
    assert done.returncode == 2
    assert re.fullmatch(r"\w+ is not installed: pip install 'rff-engine\[experiments\]'\n", done.stderr)


def test_reruns_name_the_package_that_has_their_rows(python):
    done = python("-c", f"sys = __import__('sys')\nsys.argv[1:] = ['reproduce', 'table1']\n{MAIN}")
    assert done.returncode == 2 and "pip install ./datasets/data" in done.stderr


def test_the_wheel_has_every_package_of_the_tree_and_its_types(installed):
    folders = {
        path.parent.relative_to(ROOT).parts
        for name in ("rff_engine", "datasets")
        for path in (ROOT / name).rglob("__init__.py")
        if path.parent.name != "data"
    }
    names = {".".join(("rff_datasets", *parts[1:]) if parts[0] == "datasets" else parts) for parts in folders}
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == names
    assert all((installed / name / "py.typed").exists() for name in ("rff_engine", "rff_datasets"))
