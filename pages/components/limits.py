"""How much one server gives: to a visitor, to a request, and in all. Whoever runs it sets environment variables.

They are read once. What a table that is handed in may be is said in `datasets.tables`, not here.
"""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import streamlit as st
from joblib import cpu_count
from streamlit.logger import get_logger

_log = get_logger(__name__)


def _limit(variable: str, default: int, low: int, high: int):
    return field(default=default, metadata={"variable": variable, "low": low, "high": high})


@dataclass(frozen=True)
class ServerLimits:
    """The most that is allowed of each."""

    scripts: int = _limit("RFF_MOST_SCRIPTS", cpu_count(), 1, 1000)
    """Of pages, that compute at a time, of all sessions, see `turns`"""
    runs_per_session: int = _limit("RFF_MOST_RUNS_PER_SESSION", 2, 1, 1000)
    """Runs under way that one session has begun; those that it has joined do not count"""
    waiting_runs: int = _limit("RFF_MOST_WAITING_RUNS", 8, 1, 1000)
    """Of all sessions, behind the one that runs"""
    waiting_sweeps: int = _limit("RFF_MOST_WAITING_SWEEPS", 20, 1, 1000)
    """Of all sessions, on their own data, behind the one that runs; each holds a thread"""
    readers: int = _limit("RFF_MOST_READERS", 2, 1, 1000)
    """Processes that read what is handed in, of all sessions; each takes a core, and memory of its own"""
    cosines: int = _limit("RFF_MOST_COSINES", 25_000_000_000, 1, 10**18)
    """Columns times training rows of the largest matrix that a run computes, see `run_sizes`"""
    cache_megabytes: int = _limit("RFF_CACHE_MB", 64, 0, 1_000_000)
    """Results that all sessions share"""
    session_megabytes: int = _limit("RFF_SESSION_CACHE_MB", 32, 0, 1_000_000)
    """Results on the data that a session has handed in"""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> ServerLimits:
        """What the variables say; a value that is none is told to the log, and the default holds."""
        found = {}
        for one in fields(cls):
            variable, low, high = (one.metadata[name] for name in ("variable", "low", "high"))
            text = environment.get(variable)
            if text is None:
                continue
            value = _number(text)
            if low <= value <= high and value == int(value):
                found[one.name] = int(value)
            else:
                _log.warning(
                    "%s is %r; it must be a whole number from %d to %d: the default, %d, holds.",
                    *(variable, text, low, high, one.default),
                )
        return cls(**found)


def _number(text: str) -> float:
    """As it is written, 25e9 included; not a number where it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


LIMITS = ServerLimits.of(os.environ)


def visitor() -> str:
    """What this session is counted by; nobody else learns it."""
    return st.session_state.setdefault("visitor", secrets.token_hex(8))
