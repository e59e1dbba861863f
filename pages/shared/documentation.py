"""Place of each page's documentation: the site that a server names, or else a file of the repository."""

from __future__ import annotations

import os
import re

from pages.shared.catalogue import BY_NAME


def address(page: str, site: str) -> str:
    """Return the address of a page's documentation on the site at the address `site`."""
    name = BY_NAME[page].documentation[0].replace("examples/", "gallery/").rsplit(".", 1)[0]
    return f"{site.rstrip('/')}/{name}.html"


def sentence(page: str) -> str:
    """Link a page's documentation, or name its file if `RFF_DOCS` is no address."""
    site = os.environ.get("RFF_DOCS", "")
    if re.fullmatch(r"https?://[^\s()<>\"']+", site):
        return f"[Documentation of this page]({address(page, site)})."
    return f"Documentation of this page: `docs/{BY_NAME[page].documentation[0]}` in the repository."
