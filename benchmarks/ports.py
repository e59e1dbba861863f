"""Ports for the servers of benchmarks and tests."""

from __future__ import annotations

import random
import socket
import sys
from contextlib import suppress


def free_ports(count: int = 1) -> int:
    """Return the first of `count` free ports in a row. It is random: other programs search at the same time."""
    for first in random.sample(range(20_000, 32_000 - count), 100):
        with suppress(OSError):
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
    sys.exit("No free ports.")
