"""Where the documentation of each page is: on the site that a server names, or else a file of the repository."""

from __future__ import annotations

import os
import re

__all__ = ["PAGES", "address", "sentence"]

#: By page of the app, the file below `docs/`.
PAGES = {
    "start": "tutorial.md",
    "kernel": "examples/01_kernel_as_prior.py",
    "landmarks": "examples/02_landmarks.py",
    "learn_kernel": "examples/03_learn_a_kernel.py",
    "bounds": "how-to/read-a-bound.md",
    "certificates": "examples/06_certified_classifier.py",
    "approximate": "examples/07_spread_frequencies.py",
    "adaptive": "examples/08_adapt_frequencies.py",
    "your_data": "how-to/beta-and-width.md",
    "real_data": "how-to/few-features.md",
    "paper": "how-to/reproduce-a-table.md",
}


def address(page: str, site: str) -> str:
    """Address of a page's documentation on the site at the address `site`."""
    name = PAGES[page].replace("examples/", "gallery/").rsplit(".", 1)[0]
    return f"{site.rstrip('/')}/{name}.html"


def sentence(page: str) -> str:
    """A link to a page's documentation, or the name of its file if `RFF_DOCS` is no address."""
    site = os.environ.get("RFF_DOCS", "")
    if re.fullmatch(r"https?://[^\s()<>\"']+", site):
        return f"[Documentation of this page]({address(page, site)})."
    return f"Documentation of this page: `docs/{PAGES[page]}` in the repository."
