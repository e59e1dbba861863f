"""Every pin has its version and hashes in a lock: a pin that changes needs `make lock`."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("listed", sorted(ROOT.glob("requirements*.txt")), ids=lambda path: path.name)
def test_every_pin_is_locked_with_hashes(listed):
    locks = "\n".join(path.read_text("utf-8") for path in ROOT.glob("requirements*.lock"))
    locked = set(re.findall(r"^([\w.-]+==[^\s;]+).*\\\n +--hash=sha256:", locks, re.MULTILINE))
    pins = re.findall(r"^([\w.-]+)(?:\[\w+\])?(==[^\s;]+)", listed.read_text("utf-8"), re.MULTILINE)
    assert pins and {name + version for name, version in pins} <= locked
