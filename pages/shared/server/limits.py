"""Limits of one server, per visitor and in all, set by environment variables that are read once.

The limits of an uploaded table are in `datasets.tables.table`, not here.
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
    """Upper limits; docs/deployment.md explains each by its environment variable."""

    scripts: int = _limit("RFF_MAX_SCRIPTS", cpu_count(), 1, 1000)
    workers: int = _limit("RFF_MAX_WORKERS", cpu_count(), 0, 1000)
    runs_per_session: int = _limit("RFF_MAX_RUNS_PER_SESSION", 2, 1, 1000)
    waiting_runs: int = _limit("RFF_MAX_WAITING_RUNS", 8, 1, 1000)
    waiting_sweeps: int = _limit("RFF_MAX_WAITING_SWEEPS", 20, 1, 1000)
    readers: int = _limit("RFF_MAX_READERS", 2, 1, 1000)
    rooms: int = _limit("RFF_MAX_ROOMS", 100, 0, 10_000)
    rooms_per_hour: int = _limit("RFF_MAX_ROOMS_PER_HOUR", 60, 1, 10_000)
    room_predictions: int = _limit("RFF_MAX_ROOM_PREDICTIONS", 500, 1, 100_000)
    wrong_codes: int = _limit("RFF_MAX_WRONG_CODES", 60, 1, 1_000_000)
    cosines: int = _limit("RFF_MAX_COSINES", 25_000_000_000, 1, 10**18)
    cache_megabytes: int = _limit("RFF_CACHE_MB", 64, 0, 1_000_000)
    session_megabytes: int = _limit("RFF_SESSION_CACHE_MB", 32, 0, 1_000_000)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> ServerLimits:
        """Return the limits that the variables set. Invalid values are logged; the default is used."""
        limits = {}
        for one in fields(cls):
            variable, low, high = one.metadata.values()
            text = environment.get(variable, str(one.default))
            value = _number(text)
            if low <= value <= high and value == int(value):
                limits[one.name] = int(value)
            else:
                said = "%s is %r; it must be a whole number from %d to %d. The default, %d, is used."
                _log.warning(said, variable, text, low, high, one.default)
        return cls(**limits)


def _number(text: str) -> float:
    """Return the number in a text, 25e9 included; NaN if the text is no number."""
    try:
        return float(text)
    except ValueError:
        return math.nan


LIMITS = ServerLimits.from_environment(os.environ)


def visitor() -> str:
    """Return the secret key by which limits count this session."""
    return st.session_state.setdefault("visitor", secrets.token_hex(8))
