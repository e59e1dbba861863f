"""Commands on data sets: datasets, fetch."""

from __future__ import annotations

from argparse import Namespace
from importlib import import_module

import rff_datasets as sets


def datasets(_: Namespace) -> int:
    """List the data sets."""
    for name in sets.names():
        info = sets.describe(name)
        print(f"{name:<15} {info.n_samples:>7} x {info.n_features:<6} {info.task:<15} {sets.status(name)}")
    return 0


def fetch(options: Namespace) -> int:
    """Download data sets; return 2 if one is not available."""
    return import_module(f"{sets.__name__}.__main__").main(["fetch", *options.names])
