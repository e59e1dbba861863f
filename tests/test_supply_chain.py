"""What is installed: the direct pins, the locks with their hashes, and the list of licences say the same."""

from __future__ import annotations

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
LOCKS = {"requirements.txt": "requirements.lock", "requirements-dev.txt": "requirements-dev.lock"}


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


@pytest.mark.parametrize("lock", LOCKS.values())
def test_the_lock_has_all_that_its_packages_need_here(lock):
    """Of those installed in the version that the lock names: their own requirements are in it too."""
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
    """Nothing that a wheel of that system needs is left out: what Python's programs need on Windows tells."""
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


def test_the_licences_are_those_of_the_locks():
    rows = re.findall(
        r"^\| (\S+) \| (\S+) \| (.+) \|$", (ROOT / "docs" / "licences.md").read_text("utf-8"), re.MULTILINE
    )
    listed = {canonicalize_name(name): number for name, number, said in rows if said.strip() and number[0].isdigit()}
    wanted = {name: version(requirement) for name, (requirement, _) in locked("requirements-dev.lock").items()}
    assert listed == wanted, "make licences"
    assert not re.search(r"not said|not installed", (ROOT / "docs" / "licences.md").read_text("utf-8"))


@pytest.mark.slow
def test_the_licences_can_be_written_anew(tmp_path):
    said = subprocess.run(
        [sys.executable, ROOT / ".ci" / "licences.py", tmp_path / "licences.md"], capture_output=True, text=True
    )
    assert said.returncode == 0, said.stderr
    shipped, anew = ((folder / "licences.md").read_text("utf-8") for folder in (ROOT / "docs", tmp_path))
    parts = [text.split("## What the app runs on")[0] for text in (shipped, anew)]
    assert parts[0] == parts[1], "make licences"  # what is installed may differ, the data sets do not
