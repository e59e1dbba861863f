"""The app in a browser: pages open, controls change figures and the URL, links open the same view."""

from __future__ import annotations

import csv
import io
import re
import secrets
from urllib.parse import urlsplit

import pytest
from conftest import go_to, new_page, query, scroll_to, settle, wait_until
from playwright.sync_api import expect

from pages.shared.catalogue import PAGES


def slider(page, key: str):
    """The thumb of a slider: an input of type range whose aria-valuetext is the value that the page shows."""
    return page.locator(f".st-key-{key} input[type=range]")


def figure(page, key: str) -> dict | None:
    """The z or y of every trace of a figure in Plotly, and its annotations; None while it is drawn again."""
    return page.evaluate(
        """key => {
            const plot = document.querySelector(`.st-key-${key} .js-plotly-plot`);
            if (!plot?.layout) return null;
            const text = a => JSON.stringify(a ?? null, (k, v) => ArrayBuffer.isView(v) ? Array.from(v) : v);
            const notes = (plot.layout.annotations ?? []).map(note => note.text);
            return {data: plot.data.map(trace => text(trace.z ?? trace.y)), notes};
        }""",
        key,
    )


def wait_for_change(page, key: str, before: dict) -> dict:
    """Wait until a figure differs from `before`, and return it."""
    seen = [before]

    def changed() -> bool:
        seen.append(figure(page, key))
        return seen[-1] not in (None, before)

    wait_until(changed)
    return seen[-1]


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


@pytest.mark.parametrize("path", ["landmarks?D=7", "real_data"])
def test_a_link_opens_a_page_of_a_new_server(open_page, start_server, path):
    """Slow, because it starts a server."""
    page = open_page(path, address=start_server())
    expect(page.get_by_role("link", name="Start here")).to_have_count(1)
    assert page.get_by_text("Page not found").count() == 0
    assert urlsplit(page.url).path == "/" + path.split("?")[0]
    if "D=7" in path:
        expect(slider(page, "D")).to_have_attribute("aria-valuetext", "7")


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
    ],
)
def test_a_broken_link_is_repaired_with_a_message(open_page, path, key, repaired):
    page = open_page(path)
    page.wait_for_selector("text=The link asked")
    wait_until(lambda: query(page).get(key) == repaired)
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


def test_curves_along_beta_stay_and_their_marker_follows_beta(open_page):
    marker = """() => {
        const plot = document.querySelector('.st-key-along_beta .js-plotly-plot');
        return plot?.layout?.shapes?.filter(shape => shape.name === 'beta').map(shape => shape.x0);
    }"""
    page = open_page("landmarks?beta=1")
    scroll_to(page, "path")
    wait_until(lambda: page.evaluate(marker) == [1, 1, 1])
    before = figure(page, "along_beta")
    thumb = page.locator(".live:has(.maps) input[name=beta]")
    thumb.focus()
    thumb.press("End")
    wait_until(lambda: page.evaluate(marker) == [1000, 1000, 1000])
    assert figure(page, "along_beta")["data"] == before["data"]


def test_a_link_of_the_start_page_overrides_earlier_settings(open_page):
    page = open_page("landmarks?beta=100")
    go_to(page, "Start here")
    page.locator("[data-testid=stPageLink] a").first.wait_for()
    settle(page)
    page.locator("[data-testid=stPageLink] a").first.click()
    page.wait_for_url(re.compile("/landmarks"))
    page.wait_for_selector(".st-key-beta input[type=range]", state="attached")
    settle(page)
    expect(slider(page, "beta")).to_have_attribute("aria-valuetext", "1")
    go_to(page, "Learn the kernel")
    page.wait_for_url(re.compile("/learn_kernel"))
    expect(slider(page, "beta")).to_have_attribute("aria-valuetext", "10")


def test_the_navigation_leads_to_every_page(open_page):
    """Slow, because it opens every page."""
    page = open_page("errata")
    page.locator(".katex").last.wait_for()
    assert page.locator(".katex").count() > 50 and page.locator(".katex-error").count() == 0
    for record in (*PAGES[1:], PAGES[0]):
        if record.hidden:
            continue
        go_to(page, record.title)
        page.wait_for_url(re.compile(f"/{record.path}$"))
        page.wait_for_selector("h1")
        settle(page)


def test_links_of_the_start_page_lead_to_figures(open_page):
    """Slow, because it opens seven pages, each from the start page."""
    page = open_page("")
    to_a_figure = "[data-testid=stPageLink] a:not(.st-key-all_lessons a):not(.st-key-first_steps a)"
    links = page.locator(to_a_figure)
    expect(links).to_have_count(7)
    targets = [links.nth(i).get_attribute("href") for i in range(7)]
    for i, target in enumerate(targets):
        if i:
            go_to(page, "Start here")
            page.wait_for_selector(to_a_figure)
            settle(page)
        page.locator(to_a_figure).nth(i).click()
        page.wait_for_url(re.compile(urlsplit(target).path))
        page.wait_for_selector("h1")
        settle(page)
        page.locator(".js-plotly-plot, .live canvas").first.wait_for()
        assert page.get_by_text("The link asked for").count() == 0


def test_a_setting_of_real_data_leaves_the_figure_in_grey_beside_run(open_page):
    page = open_page("real_data")
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    page.get_by_role("radio", name="standard").click()
    chart = page.locator(".st-key-seen_before [data-testid=stPlotlyChart]")
    expect(chart).to_have_css("opacity", "0.4")
    note = page.get_by_text("Grey, until rows of your settings arrive: the results for Columns none.")
    run = page.get_by_role("button", name="Run", exact=True).bounding_box()
    assert abs(note.bounding_box()["y"] - run["y"]) < run["height"]


def test_a_run_on_real_data_shows_its_progress_and_can_be_downloaded(open_page):
    """Slow, because the server computes three repeats."""
    # A run that nothing else has finished, long enough to show progress on a busy machine.
    page = open_page(f"real_data?repeats=3&seed={secrets.choice(range(20, 100))}")
    page.get_by_role("button", name="Run").click()
    page.wait_for_selector("[role=progressbar]")
    page.wait_for_selector("text=The means as a table", timeout=300_000)
    page.wait_for_selector("[role=progressbar]", state="detached", timeout=300_000)
    with page.expect_download() as event:
        page.get_by_role("button", name="Numbers (CSV)").click()
    rows = list(csv.DictReader(io.StringIO(event.value.path().read_text())))
    assert {row["method"] for row in rows} == {"svm", "rff", "pbrff", "okrff"}
    assert {row["repeat"] for row in rows} == set("012")
    assert {row["test_error"] for row in rows if row["method"] == "svm"} == {str(7 / 143)}


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
    other.get_by_role("button", name="Stop watching").wait_for()
    expect(other.get_by_role("button", name="Cancel")).to_have_count(0)
    second.get_by_role("button", name="Cancel").click()
    other.wait_for_selector("text=/Cancelled at .* by the visitor who started it/")
    second.wait_for_selector("text=/You cancelled it at/", timeout=10_000)
    expect(second.get_by_role("button", name="Resume")).to_have_count(1)
