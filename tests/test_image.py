"""The image: what its Dockerfile promises, what of the repository it gets, and that its steps work."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
_spec = importlib.util.spec_from_file_location("image", ROOT / ".ci" / "image.py")
image = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(image)


@pytest.fixture(scope="module")
def found():
    return image.instructions((ROOT / "Dockerfile").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def stage(found):
    return image.final_stage(found)


def test_every_base_is_slim_and_pinned_by_version(found):
    bases = [rest for name, rest in found if name == "FROM"]
    assert len(bases) == 2
    assert all(re.match(r"python:3\.1[1-9]\.\d+-slim", base) for base in bases)


def test_it_runs_as_an_ordinary_user_and_is_asked_for_its_health(stage):
    assert image.argument(stage, "USER") not in ("root", "0")
    assert "/_stcore/health" in image.argument(stage, "HEALTHCHECK") and image.argument(stage, "VOLUME") == "/data"
    assert image.exec_form(image.argument(stage, "CMD"))[:3] == ["python", "-m", "streamlit"]
    port = image.argument(stage, "EXPOSE")
    assert f"--server.port={port}" in image.argument(stage, "CMD") and port in image.argument(stage, "HEALTHCHECK")


def test_packages_come_with_hashes_and_nothing_is_compiled(found):
    (installs,) = [rest for name, rest in found if name == "RUN" and " install " in rest and "pip" in rest]
    assert "--require-hashes" in installs and "--only-binary :all:" in installs and "requirements.lock" in installs
    assert not [rest for name, rest in found if name == "RUN" and re.search(r"\b(apt-get|gcc|build-essential)\b", rest)]


def test_all_that_is_written_goes_to_the_volume(stage):
    variables = image.environment(stage)
    assert variables["RFF_STORE"].startswith("sqlite:////data/")
    assert all(variables[name].startswith("/data") for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TEMP"))


def test_the_image_gets_the_app_and_nothing_of_its_development():
    if not (ROOT / ".git").exists():
        pytest.skip("git does not know these files")
    names = {path.as_posix() for path in image.context_files(ROOT, (ROOT / ".dockerignore").read_text())}
    assert {
        "app.py",
        "serve.py",
        "requirements.lock",
        ".streamlit/config.toml",
        "docs/errata.md",
        "pages/start.py",
    } <= names
    assert {"rff_engine/experiments/reference/reruns.sqlite", "datasets/data/adult/adult.data.gz"} <= names
    tops = {name.split("/")[0] for name in names}
    files = {"LICENSE", "app.py", "requirements.lock", "serve.py"}
    assert tops <= {".streamlit", "datasets", "docs", "pages", "rff_engine"} | files
    assert not [name for name in names if "secrets" in name or name.endswith(".pyc")]


def test_the_last_pattern_that_matches_decides(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for name in ("a/keep.py", "a/b/drop.pyc", "a/b/keep.py", "top.py", "docs/one.md", "docs/two.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    seen = image.context_files(tmp_path, "*\n!a\n!docs/one.md\n# top\n**/*.pyc\n")
    assert [path.as_posix() for path in seen] == ["a/b/keep.py", "a/keep.py", "docs/one.md"]


@pytest.mark.slow
@pytest.mark.xdist_group("image")
def test_its_steps_work_in_an_empty_tree_of_folders():
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("mount namespaces need Linux and root")
    if subprocess.run(["unshare", "--mount", "--net", "true"], capture_output=True).returncode:
        pytest.skip("this machine allows no mount namespace")
    ran = subprocess.run([sys.executable, ROOT / ".ci" / "image.py"], capture_output=True, text=True, timeout=400)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for said in ("health check answers", "as user 10001", "features-breast-published", "data/results.sqlite"):
        assert said in ran.stdout, ran.stdout


def test_the_readme_lists_every_environment_variable_of_ours():
    listed = (ROOT / "README.md").read_text(encoding="utf-8").split("| environment variable |")[1].split("\n\n")[0]
    known = set(re.findall(r"RFF_[A-Z_]+", listed))
    files = [ROOT / "Dockerfile", ROOT / "Makefile", ROOT / ".ci" / "run"]
    files += [path for folder in ("rff_engine", "datasets", "pages", "tests") for path in (ROOT / folder).rglob("*.py")]
    used = {name for path in files for name in re.findall(r"\bRFF_[A-Z_]+", path.read_text(encoding="utf-8"))}
    assert used - {"RFF_"} == known
