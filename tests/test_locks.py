"""Every pin has its version and hashes in the lock: a pin that changes needs `make lock`."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("listed", ["requirements.txt", "pyproject.toml"])
def test_every_pin_is_locked_with_hashes(listed):
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    locked = set(re.findall(r"^([\w.-]+==[^\s;]+).*\\\n +--hash=sha256:", lock, re.MULTILINE))
    pins = re.findall(r'(?:^|")([\w.-]+)(?:\[\w+\])?(==[^\s;"]+)', (ROOT / listed).read_text("utf-8"), re.MULTILINE)
    assert pins and {name + version for name, version in pins} <= locked
