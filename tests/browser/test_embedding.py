"""Pages in a frame: its size, and pasted text instead of files in one of another site."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from pages.shared.catalogue import PAGES

ROWS = "a,b,y\n" + "\n".join(f"{i},{i * i % 7},{i % 2}" for i in range(60))


def test_a_frame_of_another_site_accepts_text_instead_of_files(serve_folder, server, new_context, tmp_path):
    frame = f'<iframe src="{server}/your_data?embed=true" width="1000" height="800"></iframe>'
    (tmp_path / "index.html").write_text(f"<h1>A course</h1>{frame}")
    page = new_context().new_page()
    page.goto(f"http://localhost:{serve_folder(tmp_path)}")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_text("Files cannot be uploaded here")).to_be_visible(timeout=60_000)
    expect(frame.locator("[data-testid=stFileUploader]")).to_have_count(0)
    link = frame.get_by_role("link", name="Open in its own window")
    expect(link).to_have_attribute("href", f"{server}/your_data")
    frame.get_by_role("textbox", name="Lines of CSV").fill(ROWS)
    frame.get_by_role("button", name="Read the text").click()
    expect(frame.get_by_text("the text you pasted")).to_be_visible(timeout=60_000)


@pytest.mark.parametrize("path", [page.path for page in PAGES if page.view and page.name != "adaptive"])
def test_the_first_picture_fits_the_frame_that_the_docs_name(open_page, path):
    page = open_page(f"{path}?embed=true")
    page.set_viewport_size({"width": 1200, "height": 800})
    page.wait_for_function(
        """() => {
            const picture = document.querySelector('.live canvas:not(.scale)');
            return picture && picture.getBoundingClientRect().bottom <= innerHeight;
        }"""
    )
