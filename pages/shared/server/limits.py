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
    """Upper limits; each field names its environment variable."""

    scripts: int = _limit("RFF_MAX_SCRIPTS", cpu_count(), 1, 1000)
    """Scripts of pages that compute at a time, in all sessions, see `queues`"""
    workers: int = _limit("RFF_MAX_WORKERS", cpu_count(), 0, 1000)
    """Processes that compute error curves, for all sessions, see `workers`; with 0 the app computes them itself"""
    runs_per_session: int = _limit("RFF_MAX_RUNS_PER_SESSION", 2, 1, 1000)
    """Active runs that one session has started; those that it has joined do not count"""
    waiting_runs: int = _limit("RFF_MAX_WAITING_RUNS", 8, 1, 1000)
    """Runs that wait, in all sessions"""
    waiting_sweeps: int = _limit("RFF_MAX_WAITING_SWEEPS", 20, 1, 1000)
    """Sweeps on visitors' own data that wait, in all sessions; each holds a thread"""
    readers: int = _limit("RFF_MAX_READERS", 2, 1, 1000)
    """Processes that read uploads, in all sessions; each takes a core, and memory of its own"""
    rooms: int = _limit("RFF_MAX_ROOMS", 100, 0, 10_000)
    """Rooms of classes that are open, see `rooms`; with 0 there are none"""
    rooms_per_hour: int = _limit("RFF_MAX_ROOMS_PER_HOUR", 60, 1, 10_000)
    """Rooms that all visitors together open within an hour"""
    room_predictions: int = _limit("RFF_MAX_ROOM_PREDICTIONS", 500, 1, 100_000)
    """Predictions of one step of a lesson in one room"""
    wrong_codes: int = _limit("RFF_MAX_WRONG_CODES", 60, 1, 1_000_000)
    """Codes of no room that all visitors together enter within a minute"""
    cosines: int = _limit("RFF_MAX_COSINES", 25_000_000_000, 1, 10**18)
    """Columns times training rows of the largest matrix that a run computes, see `run_sizes`"""
    cache_megabytes: int = _limit("RFF_CACHE_MB", 64, 0, 1_000_000)
    """Cached results that all sessions share"""
    session_megabytes: int = _limit("RFF_SESSION_CACHE_MB", 32, 0, 1_000_000)
    """Cached results on the table that a session has uploaded"""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> ServerLimits:
        """The limits that the variables set. Invalid values are logged; the default is used."""
        limits = {}
        for one in fields(cls):
            low, high = one.metadata["low"], one.metadata["high"]
            variable = one.metadata["variable"]
            text = environment.get(variable)
            if text is None:
                continue
            value = _number(text)
            if low <= value <= high and value == int(value):
                limits[one.name] = int(value)
            else:
                _log.warning(
                    "%s is %r; it must be a whole number from %d to %d. The default, %d, is used.",
                    *(variable, text, low, high, one.default),
                )
        return cls(**limits)


def _number(text: str) -> float:
    """The number in a text, 25e9 included; NaN if it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


LIMITS = ServerLimits.from_environment(os.environ)


def visitor() -> str:
    """The secret key that limits count this session by."""
    return st.session_state.setdefault("visitor", secrets.token_hex(8))
