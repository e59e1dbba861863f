"""Write the static edition of the app: `make site`, or `python -m deploy.site --output FOLDER`.

The folder then has plain files, for any web server, a frame of another page, or opened from a disk without a network.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from pages.shared.catalogue import PAGES

EDITION = [page for page in PAGES if page.grid]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments of the command line."""
    parser = argparse.ArgumentParser(prog="python -m deploy.site", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("site"), help="folder, by default ./site")
    parser.add_argument(
        "--pages",
        nargs="+",
        choices=[page.name for page in EDITION],
        help="only these pages",
    )
    parser.add_argument("--defaults", action="store_true", help="each page for its default settings only: a quick look")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="pages computed at once")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Export what the command line asks for."""
    given = parse(arguments)
    if given.processes < 1:
        print(f"--processes is {given.processes}; at least 1 is needed.", file=sys.stderr)
        return 2
    os.environ["RFF_MAX_WORKERS"] = "0"  # pages are computed side by side already, and idle workers outlive them
    from deploy.site.writing import export  # reads the environment

    try:
        pages = [page for page in EDITION if page.name in (given.pages or [page.name])]
        export(given.output, pages, given.defaults, given.processes)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{given.output / 'index.html'} opens it; {megabytes(given.output):.1f} MB in all.")
    return 0


def megabytes(folder: Path) -> float:
    """Return the size in MB of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


if __name__ == "__main__":
    sys.exit(main())
