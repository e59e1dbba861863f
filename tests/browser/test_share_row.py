"""The row at the end of a page, in a browser: links to the same view, figures as files, numbers and code."""

from __future__ import annotations

import io
import re
import struct
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pandas as pd
import pytest
from conftest import settle, show_all


def row(page):
    """The row, in sight and with the page's figures in its list."""
    found = page.locator(".sharing")
    found.scroll_into_view_if_needed()
    found.hover()
    return found


def copied(page, name="Copy link") -> str:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    row(page).get_by_role("button", name=name, exact=True).click()
    page.wait_for_function("() => document.querySelector('.sharing .status').textContent === 'Copied'")
    return page.evaluate("navigator.clipboard.readText()")


def saved(page, name: str, figure: str | None = None):
    """The bytes of a figure, and the name of its file."""
    here = row(page)
    if figure is not None:
        here.locator("select.figure").select_option(figure)
    with page.expect_download() as event:
        here.get_by_role("button", name=f"Save the figure as {name}").click()
    return event.value.path().read_bytes(), event.value.suggested_filename


def words(svg: bytes) -> str:
    return " ".join(" ".join(ElementTree.fromstring(svg).itertext()).split())


def png_size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", png[16:24])


# Text of a live view's file that is wider there than on the page, or begins left of its panel.
MISPLACED = """svg => {
    const file = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
    document.body.append(file);
    const left = file.getBoundingClientRect().left, words = [...document.querySelectorAll('.live [data-words]')];
    const found = [...file.querySelectorAll('text')].filter(text => {
        const box = text.getBoundingClientRect(), turned = text.closest('g[transform*=rotate]');
        const panel = turned ? 0 : text.closest('g[transform]')?.transform.baseVal[0].matrix.e ?? 0;
        const same = words.filter(one => one.textContent.trim() === text.textContent);
        const room = same.flatMap(one => Object.values(one.getBoundingClientRect().toJSON()).slice(2, 4));
        return box.left < left + panel - 1 || room.length && box.width > Math.max(...room) + 1;
    });
    file.remove();
    return found.map(text => text.textContent);
}"""


def test_a_link_to_a_live_view_has_the_settled_beta(open_page):
    page = open_page("landmarks")
    page.wait_for_function("() => document.querySelector('.live')?.view?.testError !== undefined")
    assert parse_qs(urlsplit(copied(page)).query)["beta"] == ["1"]
    thumb = page.locator(".live:has(.maps) input[name=beta]")
    thumb.focus()
    thumb.press("End")
    page.wait_for_function("() => new URL(location.href).searchParams.get('beta') === '1000'")
    settle(page)
    page.wait_for_function("() => document.querySelector('.sharing .status').textContent === ''")
    link = copied(page)
    assert parse_qs(urlsplit(link).query)["beta"] == ["1000"]
    again = open_page(link.split("/", 3)[3])
    again.wait_for_function("() => document.querySelector('.live')?.view?.beta.value === '3'")


def test_the_panel_shows_a_link_for_a_projector_with_its_code(open_page, server):
    page = open_page("landmarks?beta=10", scheme="dark")
    share = row(page).get_by_role("button", name="Share…")
    share.click()
    panel = page.get_by_role("dialog", name="Share this page")
    panel.get_by_label("for a projector").check()
    link = panel.get_by_role("textbox", name="Link").input_value()
    assert link.startswith(f"{server}/landmarks?")
    assert parse_qs(urlsplit(link).query).items() >= {"projector": ["true"], "beta": ["10"]}.items()
    code = panel.get_by_alt_text(f"QR code of {link}", exact=True)
    code.wait_for()
    assert code.evaluate("async image => { await image.decode(); return image.naturalWidth === image.naturalHeight; }")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel.get_by_role("button", name="Copy link").click()
    page.wait_for_function("() => document.querySelector('.sharing .status').textContent === 'Copied'")
    assert page.evaluate("navigator.clipboard.readText()") == link
    page.keyboard.press("Escape")
    panel.wait_for(state="hidden")
    assert share.evaluate("button => button === document.activeElement")


def test_a_link_that_cannot_be_copied_is_shown_selected(open_page):
    page = open_page("kernel?D=7")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }")
    row(page).get_by_role("button", name="Copy link", exact=True).click()
    field = page.get_by_label("here is the link")
    field.wait_for()
    link = field.input_value()
    assert parse_qs(urlsplit(link).query)["D"] == ["7"]
    assert page.evaluate("document.getSelection().toString() || document.activeElement.value") == link


def test_a_plotly_figure_is_saved_as_png_and_svg_and_all_at_once(open_page):
    page = open_page("kernel", scheme="dark")
    show_all(page)
    here = row(page)
    names = here.locator(".figure option").all_inner_texts()
    assert len(names) == 3 and names[-1] == "all 2 figures" and all(len(name) > 10 for name in names)
    box = page.locator(".st-key-errors .main-svg").first.bounding_box()
    png, filename = saved(page, "PNG", "errors")
    assert filename == "kernel-errors.png"
    width, height = png_size(png)
    # Wider than on the page by as much as the file's font is.
    assert -2 <= width - 2 * box["width"] < box["width"] and abs(height - 2 * box["height"]) <= 2
    svg, filename = saved(page, "SVG", "errors")
    assert filename == "kernel-errors.svg"
    assert "number of features, 2D" in words(svg) and "error of the kernel matrix (RMS)" in words(svg)
    # In the light theme's colours, for paper and slides: dark text on white.
    (background,) = re.findall(r'<rect x="0" y="0"[^>]*fill: rgb\((\d+), (\d+), (\d+)\)', svg.decode())[:1]
    assert min(map(int, background)) == 255
    inks = re.findall(r"<text[^>]*fill: rgb\((\d+), (\d+), (\d+)\)", svg.decode())
    assert len(inks) > 10 and max(int(channel) for ink in inks for channel in ink) < 128
    assert page.evaluate("document.querySelector('.st-key-errors .js-plotly-plot').layout.paper_bgcolor") is None
    files = []
    page.on("download", lambda download: files.append(download.suggested_filename))
    here.locator("select.figure").select_option("all")
    here.get_by_role("button", name="Save the figure as SVG").click()
    for _ in range(100):
        if len(files) == 2:
            break
        page.wait_for_timeout(100)
    keys = ("errors", "live")
    assert sorted(files) == [f"kernel-{key}.svg" for key in keys]


@pytest.mark.parametrize(
    ("path", "text"),
    [(path, "temperature β") for path in ("landmarks", "learn_kernel", "bounds")]
    + [
        ("kernel", "mean of D cosines"),
        ("adaptive", "over all points"),
        ("certificates", "votes over the plane"),
        ("certificates?question=May+test+points+teach%3F", "blocks certify"),
    ],
)
def test_a_live_view_is_saved_as_png_and_svg_with_every_panel(open_page, path, text):
    page, name = open_page(path), path.split("?")[0]
    page.wait_for_function("() => document.querySelector('.live')?.view?.ink !== undefined")
    assert row(page).locator("select.figure").input_value() == "live"  # it is the first
    svg, filename = saved(page, "SVG")
    assert filename == f"{name}-live.svg" and len(words(svg)) > 40
    assert not re.search("click|drag|press|point at", words(svg), re.IGNORECASE)  # no advice in a file
    assert page.evaluate(MISPLACED, svg.decode()) == []
    root = ElementTree.fromstring(svg)
    assert text in " ".join(element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text"))
    panels = [child for child in root if child.get("transform", "").startswith("translate")]
    assert len(panels) >= page.locator(".live").first.locator("canvas").count() and all(len(panel) for panel in panels)
    size = int(root.get("width")), int(root.get("height"))
    png, filename = saved(page, "PNG")
    assert filename == f"{name}-live.png" and png_size(png) == (2 * size[0], 2 * size[1])
    # Not blank: a picture of one colour would be much smaller.
    assert len(png) > 20_000


@pytest.mark.parametrize("name", ["landmarks", "bounds", "real_data"])
def test_numbers_and_code_are_downloaded(open_page, name):
    page = open_page(name)
    row(page)
    with page.expect_download() as event:
        page.get_by_role("button", name="Numbers (CSV)").click()
    assert event.value.suggested_filename == f"{name}.csv"
    table = pd.read_csv(io.BytesIO(event.value.path().read_bytes()))
    expected = {"landmarks": {"errors", "weights"}, "bounds": {"bounds", "posteriors"}}
    assert set(table["method" if name == "real_data" else "table"]) >= expected.get(name, {"svm", "pbrff"})
    page.get_by_role("button", name="Python code").click()
    with page.expect_download() as event:
        page.get_by_role("button", name="Download it").click()
    assert event.value.suggested_filename == f"{name}_experiment.py"
    code = event.value.path().read_text(encoding="utf-8")
    assert "rff_engine" in code and (name == "real_data" or 'data = "moons"' in code)
    shown_code = page.locator("[data-testid=stCode] code")
    shown_code.wait_for()
    assert shown_code.inner_text().strip() == code.strip()
