"""Experiments of Letarte et al. (2019) and Li et al. (2019), and toy experiments.

`studies` has the protocols and the units that compute their rows, `running` runs them and stores rows, `reports` makes
tables and compares them with the papers, `toy` has experiments on 2D data. The engine itself does not depend on them.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # In the repository, tests/typings says that this is the folder `datasets`.
    import rff_datasets as datasets  # pyright: ignore[reportMissingModuleSource]

__all__ = ["datasets"]


if not TYPE_CHECKING:  # to a type checker, a module with this function has every name

    def __getattr__(name: str) -> ModuleType:
        """`datasets`, the package of that name in the repository; installed as `rff_datasets`, a name of its own."""
        if name != "datasets":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        installed = (Path(__file__).parents[2] / "rff_datasets").is_dir()
        return import_module("rff_datasets" if installed else "datasets")
