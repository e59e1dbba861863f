"""The app in a browser: pages open, controls change figures and the URL, links open the same view; pages in a frame."""

from __future__ import annotations

import re

import pytest
from conftest import fold, go_to, new_page, query, settle, wait_until
from playwright.sync_api import expect

from pages.shared.catalogue import PAGES

ROWS = "a,b,y\n" + "\n".join(f"{i},{i * i % 7},{i % 2}" for i in range(60))


def slider(page, key: str):
    """The thumb of a slider: an input of type range whose aria-valuetext is the value that the page shows."""
    return page.locator(f".st-key-{key} input[type=range]")


@pytest.mark.parametrize("run", ["first", "second"])
def test_a_page_is_opened_in_a_clean_browser_session(open_page, run):
    """Pages share a browser context; none finds what an earlier one stored."""
    found = "() => ({...localStorage, ...sessionStorage, cookie: document.cookie})"
    for _ in range(2):
        page = open_page("errata")
        assert "left behind" not in str(page.evaluate(found))
        page.evaluate(
            "() => { localStorage.a = sessionStorage.b = 'left behind'; document.cookie = 'c=left behind; path=/'; }"
        )
        assert str(page.evaluate(found)).count("left behind") == 3


@pytest.mark.parametrize(
    ("path", "key", "repaired"),
    [
        ("landmarks?beta=1e9", "beta", "1000"),
        ("landmarks?landmarks=99", "landmarks", "8"),
        ("landmarks?n=nonsense", "n", None),
        ("bounds?N=5000", "N", "2000"),
        ("kernel?N=500&embed=true&embed_options=show_toolbar&utm_source=mail", "N", None),
        ("real_data?dataset=none", "dataset", None),
        ("landmarks?projector=maybe", "projector", None),
        ("landmarks?lesson=nonsense&step=2", "step", None),
        ("landmarks?lesson=prior-to-cosine&step=77", "step", "4"),
        ("landmarks?lesson=prior-to-cosine&step=x", "lesson", "prior-to-cosine"),
        ("landmarks?lesson=theorem-that-fails", "lesson", None),
    ],
)
def test_a_broken_link_is_repaired_with_a_message(open_page, path, key, repaired):
    page = open_page(path)
    page.wait_for_selector("text=The link asked")
    wait_until(lambda: query(page).get(key) == repaired)
    expect(page.locator(".lesson")).to_have_count(int("lesson=prior" in path))
    assert page.locator("[data-testid=stException]").count() == 0


def test_methods_are_chosen_one_by_one_and_choosing_none_shows_a_message(open_page):
    page = open_page("real_data?seed=9")
    for method in ("RFF", "PBRFF", "OKRFF"):
        page.locator(".st-key-methods button").filter(has_text=re.compile(f"^{method}$")).click()
        settle(page)
    page.wait_for_function("() => new URL(location.href).searchParams.getAll('methods').join() === 'SVM'")
    page.locator(".st-key-methods button").filter(has_text=re.compile("^SVM$")).click()
    page.wait_for_selector("text=Choose at least one")
    settle(page)
    page.reload()
    page.wait_for_selector("h1")
    settle(page)
    assert page.locator("[data-testid=stException]").count() == 0


def test_the_navigation_leads_to_every_page(open_page):
    """Slow, because it opens every page."""
    page = open_page("errata")
    page.locator(".katex").last.wait_for()
    assert page.locator(".katex").count() > 50 and page.locator(".katex-error").count() == 0
    for record in (*PAGES[1:], PAGES[0]):
        if record.of:
            continue
        go_to(page, record.title)
        page.wait_for_url(re.compile(f"/{record.path}$"))
        page.wait_for_selector("h1")
        settle(page)


def test_a_click_on_a_small_panel_enlarges_its_data_set_and_D_moves_its_mark(open_page):
    page = open_page("real_data")
    page.get_by_role("button", name="mnist17").click()
    wait_until(lambda: query(page).get("dataset") == "mnist17")
    expect(page.locator(".one-words")).to_have_text("mnist17: mean over 10 splits")
    before = page.locator(".saving").inner_text()
    page.locator(".live input[name=D]").press("ArrowRight")
    wait_until(lambda: query(page).get("D") == "10")
    assert before.startswith("5 learned cosines err")
    expect(page.locator(".saving")).to_contain_text("10 learned cosines err")


def test_a_run_continues_in_another_tab_and_only_its_visitor_can_cancel_it(open_page, server):
    """Slow, because a run starts in a child process and three pages follow it."""
    address = "real_data?preset=paper&seed=8"
    first = open_page(address)
    first.get_by_role("button", name="Run").click()
    first.wait_for_selector("[role=progressbar]")
    second = new_page(first.context)
    second.goto(f"{server}/{address}")
    second.wait_for_selector("[role=progressbar]")
    first.close()
    other = open_page(address)  # in a browser without cookies: another visitor
    other.get_by_text("Another visitor started this run; you join it.").wait_for()
    expect(other.get_by_role("button", name="Cancel")).to_have_count(0)
    second.get_by_role("button", name="Cancel").click()
    other.wait_for_selector("text=/Cancelled at .* by the visitor who started it/")
    second.wait_for_selector("text=/You cancelled it at/", timeout=10_000)
    expect(second.get_by_role("button", name="Resume")).to_have_count(1)


# --- in a frame of another page ---------------------------------------------------------------------------------------


def test_a_frame_of_another_site_accepts_text_instead_of_files(serve_folder, server, new_context, tmp_path):
    frame = f'<iframe src="{server}/your_data?embed=true" width="1000" height="800"></iframe>'
    (tmp_path / "index.html").write_text(f"<h1>A course</h1>{frame}")
    page = new_context().new_page()
    page.goto(f"http://localhost:{serve_folder(tmp_path)}")
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="Bring a table").click(timeout=60_000)
    expect(frame.get_by_text("Files cannot be uploaded here")).to_be_visible()
    expect(frame.locator("[data-testid=stFileUploader]")).to_have_count(0)
    link = frame.get_by_role("link", name="Open in its own window")
    expect(link).to_have_attribute("href", f"{server}/your_data")
    frame.get_by_role("textbox", name="Lines of CSV").fill(ROWS)
    frame.get_by_role("button", name="Read the text").click()
    expect(frame.get_by_text("the text you pasted")).to_be_visible(timeout=60_000)


@pytest.mark.parametrize("path", [page.path for page in PAGES if page.view and page.name != "adaptive"])
def test_the_first_picture_fits_the_frame_that_the_docs_name(open_page, path):
    page = open_page(f"{path}?embed=true")
    fold(page)
    page.set_viewport_size({"width": 1200, "height": 800})
    page.wait_for_function(
        """() => {
            const picture = document.querySelector('.live canvas:not(.scale)');
            return picture && picture.getBoundingClientRect().bottom <= innerHeight;
        }"""
    )


def test_a_former_address_opens_the_page_that_took_its_place_with_its_settings(open_page):
    page = open_page("approximate?r=30&seed=2")
    page.wait_for_url("**/adaptive?*")
    assert set(page.url.partition("?")[2].split("&")) == {"r=30", "seed=2"}
    expect(page.locator(".live canvas.frequencies")).to_be_visible()
