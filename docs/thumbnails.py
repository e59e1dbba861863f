"""The pictures of the gallery: the first figure of each example, from the site that `make docs` built, in a browser.

    .venv/bin/python docs/thumbnails.py

Run it after a change of a first figure, and build the site again.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).resolve().parent
SITE = FOLDER.parent / "build" / "docs" / "gallery"
#: Of a phone: letters and lines are large enough to be read in a small picture.
WINDOW = {"width": 420, "height": 900}


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(
            viewport=WINDOW, color_scheme="light", device_scale_factor=1
        )
        for example in sorted((FOLDER / "examples").glob("*.py")):
            page.goto((SITE / f"{example.stem}.html").as_uri())
            figure = page.locator(".rff-figure[data-painted]").first
            figure.scroll_into_view_if_needed()
            figure.screenshot(
                path=FOLDER / "_static" / "thumbnails" / f"{example.stem}.png"
            )
        browser.close()


if __name__ == "__main__":
    main()
