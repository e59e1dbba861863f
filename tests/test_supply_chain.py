"""The pins, the locks with their hashes, the list of licences and the container image agree."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LOCKS = {
    "requirements.txt": "requirements.lock",
    "requirements-dev.txt": "requirements-dev.lock",
    "requirements-docs.txt": "requirements-docs.lock",
}


@cache
def pins(name: str) -> dict[str, Requirement]:
    """The direct pins of a list, and of the lists it includes."""
    found = {}
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        line = line.split(" #")[0].split("\t#")[0].strip()
        if line.startswith("-r "):
            found |= pins(line.removeprefix("-r ").strip())
        elif line and not line.startswith("#"):
            found[canonicalize_name(Requirement(line).name)] = Requirement(line)
    return found


@cache
def locked(name: str) -> dict[str, tuple[Requirement, list[str]]]:
    """Each package of a lock, with its hashes."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    found = {}
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            said, *hashes = re.split(r"\s+--hash=", line.strip())
            key = canonicalize_name(Requirement(said).name)
            assert key not in found, f"{key} twice in {name}"
            found[key] = Requirement(said), hashes
    return found


def version(requirement: Requirement) -> str:
    (only,) = requirement.specifier
    assert only.operator == "=="
    return only.version


@pytest.mark.parametrize("listed", LOCKS)
def test_the_lock_has_every_pin_at_its_version(listed):
    lock = locked(LOCKS[listed])
    for name, requirement in pins(listed).items():
        assert name in lock, f"{name} is in {listed}, not in its lock: make lock"
        assert version(lock[name][0]) == version(requirement), f"{name}: make lock"
        assert lock[name][0].marker is None, f"{name} would not be installed everywhere"


@pytest.mark.parametrize("lock", LOCKS.values())
def test_every_locked_package_is_pinned_with_hashes(lock):
    assert len(locked(lock)) > len(pins("requirements.txt"))
    for name, (requirement, hashes) in locked(lock).items():
        assert version(requirement)
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}", one) for one in hashes), name


def test_the_lock_for_developing_holds_the_other():
    app, dev = locked("requirements.lock"), locked("requirements-dev.lock")
    for name, (requirement, hashes) in app.items():
        assert name in dev and version(dev[name][0]) == version(requirement), name
        assert set(dev[name][1]) == set(hashes), name


@pytest.mark.slow
@pytest.mark.parametrize("lock", LOCKS.values())
def test_the_lock_has_all_that_its_packages_need_here(lock):
    """Checked for the packages that are installed in their locked version."""
    found, tried = locked(lock), 0
    for name, (requirement, _) in found.items():
        try:
            here = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        if here.version != version(requirement):
            continue
        tried += 1
        for needed in map(Requirement, here.requires or ()):
            if needed.marker is None or needed.marker.evaluate(default_environment() | {"extra": ""}):
                key = canonicalize_name(needed.name)
                assert key in found, f"{name} needs {key}"
                assert needed.specifier.contains(version(found[key][0]), prereleases=True), f"{name} needs {needed}"
    assert tried >= len(pins("requirements.txt"))


@pytest.mark.parametrize(("system", "platform"), [("Windows", "win32"), ("Darwin", "darwin"), ("Linux", "linux")])
def test_the_lock_is_for_every_system(system, platform):
    """The pins are installed on every system, and colorama, which Windows needs, there only."""
    environment = default_environment() | {"platform_system": system, "sys_platform": platform, "os_name": "posix"}
    if platform == "win32":
        environment["os_name"] = "nt"
    kept = {
        name
        for name, (requirement, _) in locked("requirements.lock").items()
        if requirement.marker is None or requirement.marker.evaluate(environment)
    }
    assert set(pins("requirements.txt")) <= kept
    assert ("colorama" in kept) == (platform == "win32")  # click and pytest ask for it there


def test_listed_licences_match_the_locks():
    rows = re.findall(
        r"^\| (\S+) \| (\S+) \| (.+) \|$", (ROOT / "docs" / "licences.md").read_text("utf-8"), re.MULTILINE
    )
    listed = {canonicalize_name(name): number for name, number, said in rows if said.strip() and number[0].isdigit()}
    wanted = {name: version(requirement) for name, (requirement, _) in locked("requirements-dev.lock").items()}
    assert listed == wanted, "make licences"
    assert not re.search(r"no licence found|not installed", (ROOT / "docs" / "licences.md").read_text("utf-8"))


@pytest.mark.second
def test_licences_can_be_regenerated(tmp_path):
    said = subprocess.run(
        [sys.executable, ROOT / ".ci" / "licences.py", tmp_path / "licences.md"], capture_output=True, text=True
    )
    assert said.returncode == 0, said.stderr
    shipped, written = ((folder / "licences.md").read_text("utf-8") for folder in (ROOT / "docs", tmp_path))
    parts = [text.split("## Packages of the app")[0] for text in (shipped, written)]
    assert parts[0] == parts[1], "make licences"  # installed packages may differ


# --- the container image ------------------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    """Name and argument of each instruction of the Dockerfile."""
    lines = [line for line in (ROOT / "Dockerfile").read_text("utf-8").splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines() if line]


def test_image_has_pinned_slim_bases_and_hashed_wheels_only():
    bases = [rest for name, rest in instructions() if name == "FROM"]
    assert len(bases) == 2 and all(re.match(r"python:3\.1[1-9]\.\d+-slim", base) for base in bases)
    commands = [rest for name, rest in instructions() if name == "RUN"]
    (install,) = [command for command in commands if "pip" in command]
    assert "--require-hashes" in install and "--only-binary :all:" in install and "requirements.lock" in install
    assert not [command for command in commands if re.search(r"\b(apt-get|gcc|build-essential)\b", command)]


def test_image_has_the_driver_of_postgresql_if_it_is_asked_for():
    (install,) = [rest for name, rest in instructions() if name == "RUN" and "pip" in rest]
    (program,) = re.findall(r"""awk -v postgres="\$POSTGRES" '([^']*)'""", install)
    assert "-r /build/postgres.lock" in install
    for wanted, names in (("1", {"psycopg", "psycopg-binary"}), ("", set())):
        command = ["awk", "-v", f"postgres={wanted}", program, ROOT / "requirements-dev.lock"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert set(re.findall(r"^([\w-]+)==", lines, re.MULTILINE)) == names
        assert bool(names) == ("--hash=sha256:" in lines)


def test_image_runs_without_privileges_writes_to_its_volume_and_reports_health():
    found = dict(instructions())  # the last instruction of each name counts
    assert found["USER"] not in ("root", "0") and found["VOLUME"] == "/data"
    port, health = found["EXPOSE"], found["HEALTHCHECK"]
    assert health.endswith(f'CMD ["python", "deploy/health.py", "{port}"]')  # run in tests/deploy/test_health.py
    command = json.loads(found["CMD"])
    assert command[:3] == ["python", "-m", "streamlit"] and f"--server.port={port}" in command
    variables = dict(word.split("=", 1) for word in found["ENV"].split())
    assert variables["RFF_STORE"].startswith("sqlite:////data/")
    assert all(variables[name].startswith("/data") for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TEMP"))


def test_image_copies_only_what_the_app_needs():
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    patterns = [line for line in lines if not line.startswith("#")]
    assert patterns[0] == "*" and patterns[-2:] == ["**/__pycache__", "**/*.pyc"]
    assert {pattern.removeprefix("!") for pattern in patterns[1:-2]} == {
        *("app.py", "serve.py", "pages", "rff_engine", "datasets", "requirements.lock", ".streamlit/config.toml"),
        *("requirements-dev.lock", "LICENSE", "docs/errata.md", "docs/licences.md", "deploy/health.py"),
    }


# --- continuous integration ---------------------------------------------------------------------------------------

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_actions_are_named_by_their_commit_and_its_version():
    used = re.findall(r"uses: *(.*)", "".join(workflow.read_text("utf-8") for workflow in WORKFLOWS))
    assert used and [one for one in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one)] == []


def test_packages_are_installed_by_hash_or_in_the_versions_of_the_pins():
    places = [*WORKFLOWS, ROOT / "Makefile", ROOT / "Dockerfile", ROOT / ".ci" / "run"]
    lines = "".join(place.read_text("utf-8").replace("\\\n", " ") for place in places).splitlines()
    installs = [line for line in lines if re.search(r"pip\b.* install", line) and not line.lstrip().startswith("#")]
    free = [line for line in installs if "--require-hashes" not in line]
    assert len(installs) > len(free) and all(line.endswith(". -r tools.txt") for line in free), free
    (chosen,) = re.findall(r"grep -hE '\^\(\$\{\{ matrix.solver \}\}(.*)\)=='", "".join(lines))
    assert set(chosen.split("|")) <= set(pins("requirements-dev.txt"))


# --- the documentation --------------------------------------------------------------------------------------------
