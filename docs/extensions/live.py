"""A live view in a frame: the static edition, if `make site` has written it, is copied to the site."""

from __future__ import annotations

import shutil
from pathlib import Path

EDITION = Path(__file__).resolve().parents[2] / "site"
MARK = "<!-- a live view, where `make site` has written one -->"
#: The page Landmarks without its menu.
FRAME = (
    '<iframe src="static/landmarks.html#embed=true" title="Live view: what does a landmark learn?" width="100%" '
    'height="900" style="border: 0" loading="lazy" allow="clipboard-write; fullscreen"></iframe>'
)


def has_landmarks() -> bool:
    return (EDITION / "landmarks.html").exists()


def add_frame(app, page: str, content: list[str]) -> None:
    content[0] = content[0].replace(MARK, FRAME if has_landmarks() else "")


def copy_edition(app, error) -> None:
    if error is None and app.builder.format == "html" and has_landmarks():
        shutil.copytree(EDITION, Path(app.outdir) / "static", dirs_exist_ok=True)


def setup(app):
    app.connect("source-read", add_frame)
    app.connect("build-finished", copy_edition)
    return {"parallel_read_safe": True}
