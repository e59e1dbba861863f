"""Pages on every screen and on paper: a phone, a projector, a wide window, a dark theme.

On no page does a text overlap another, end cut off, or make the page scroll sideways; text of figures counts too.
`test_access` looks for such problems on the pages that it has open; here it is tested that they are found.
"""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from conftest import DRAWN, settle, show_all
from sklearn.datasets import load_iris

from rff_engine.studies.reports import certificate

WIDTHS = (390, 768, 1280, 1440)
PHONE = WIDTHS[0]

MEASURE = """() => {
    const main = document.querySelector('[data-testid=stMain]'), room = document.documentElement.clientWidth;
    const scrolls = style => ['auto', 'scroll'].includes(style.overflowX);
    // Words of lists that are made for screen readers, and of the copy of an equation for them.
    const skipped = '.katex-mathml, script, style, option, .modebar-container';
    const boxes = [];
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode());) {
        const element = node.parentElement;
        if (!node.data.trim() || element.closest(skipped)) continue;
        if (!element.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        // The reader does not see what lies below the end of a table that scrolls.
        const end = element.closest('.beside')?.getBoundingClientRect().bottom + 1 || Infinity;
        for (const {left, right, top, bottom, width, height} of range.getClientRects()) {
            if (width > 1 && height > 1 && bottom < end) boxes.push({left, right, top, bottom, height, node, element});
        }
    }
    // What hides a part of a text; none where the reader can scroll to it.
    const hidden = ({element, left, right}) => {
        for (let parent = element; parent && parent !== main; parent = parent.parentElement) {
            const style = getComputedStyle(parent);
            if (scrolls(style)) return 0;
            if (style.overflowX === 'visible' || style.display === 'inline') continue;
            const box = parent.getBoundingClientRect();
            const cut = Math.max(box.left - left, right - box.right);
            if (cut > 1) return cut;
        }
        return Math.max(-left, right - room, 0);
    };
    const words = ({node}) => node.data.trim().slice(0, 50);
    const equation = ({element}) => element.closest('.katex');
    const overlaps = [];
    boxes.sort((a, b) => a.top - b.top);
    for (const [i, a] of boxes.entries()) {
        for (let j = i + 1; j < boxes.length && boxes[j].top < a.bottom; j++) {
            const b = boxes[j];
            if (a.node === b.node || (equation(a) && equation(a) === equation(b))) continue;
            const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const down = Math.min(a.bottom, b.bottom) - b.top;
            // Boxes of lines are higher than their letters.
            if (across > 2 && down > 0.3 * Math.min(a.height, b.height)) overlaps.push(`${words(a)} | ${words(b)}`);
        }
    }
    return {
        texts: boxes.length,
        overlaps,
        cut: boxes.filter(box => hidden(box) > 1).map(words),
        unresolved: boxes.filter(({node}) => /\\[\\[|<<\\w/.test(node.data)).map(words),
        aside: Math.max(main.scrollWidth - main.clientWidth, document.documentElement.scrollWidth - room),
    };
}"""


def drawn(page) -> None:
    """Wait until the page is drawn for its screen: figures as wide as their places, live views painted."""
    page.wait_for_function("() => document.querySelector('.screen')?.dataset.agrees === 'true'")
    show_all(page)
    page.wait_for_function(
        """() => [...document.querySelectorAll('.js-plotly-plot')].every(plot => {
               const place = plot.closest('[data-testid=stPlotlyChart]');
               return !place.clientWidth || Math.abs(place.clientWidth - plot._fullLayout?.width) < 2;
           }) && [...document.querySelectorAll('.live')].every(live => live.view?.ink !== undefined)""",
        polling=50,
    )


def resize(page, width: int, height: int = 900) -> None:
    """Give the window another width, and wait until the page is drawn for it."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(DRAWN)
    drawn(page)


def problems(page, patience: float = 3.0) -> dict:
    """Problems that are still there after so many seconds: a figure may move the texts below it for a moment."""
    end = time.monotonic() + patience
    while True:
        found = page.evaluate(MEASURE)
        assert found["texts"] >= 20, "no text found"
        kept = {name: found[name] for name in ("overlaps", "cut", "unresolved", "aside") if found[name]}
        if not kept or time.monotonic() > end:
            return kept
        page.wait_for_timeout(250)


def at_each_width(page, widths=WIDTHS):
    """The widths, each when the page has it."""
    page.evaluate("document.activeElement.blur()")  # the focus shows help
    for width in widths:
        resize(page, width)
        page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")  # sliders cover what is scrolled
        yield width


@pytest.mark.more(after=1)
@pytest.mark.parametrize("path", ["errata", "errata?projector=true"])  # not looked at by `test_access`
def test_no_text_overlaps_or_is_cut_at_any_width(open_page, path):
    page = open_page(path, reduced_motion="reduce")
    assert {width: found for width in at_each_width(page) if (found := problems(page))} == {}


def test_planted_defects_are_found(open_page):
    page = open_page("your_data", width=PHONE)
    drawn(page)
    assert problems(page) == {}
    page.evaluate(
        """() => document.querySelector('h1').insertAdjacentHTML('afterend', `<div style="position: relative">
            <p>first words</p><p style="position: absolute; top: 3px">second words</p>
            <p style="overflow: hidden; width: 4em; white-space: nowrap">words that do not end here</p>
            <p style="overflow: auto; width: 4em; white-space: nowrap">words to scroll to</p>
            <div style="width: 500px; height: 9px"></div></div>`)"""
    )
    assert problems(page) == {
        "overlaps": ["first words | second words"],
        "cut": ["words that do not end here"],
        "aside": 500 + 15 - PHONE,
    }


# --- a phone ------------------------------------------------------------------------------------------------------


@pytest.fixture
def phone(open_page):
    """The page Landmarks on a phone."""
    page = open_page("landmarks", width=PHONE, has_touch=True, is_mobile=True, viewport={"width": PHONE, "height": 844})
    drawn(page)
    return page


def test_on_a_phone_handles_are_large_words_fit_and_the_menu_closes(phone):
    maps = phone.evaluate(
        """() => [...document.querySelectorAll('.live .maps canvas')].map(map => {
            const {left, top} = map.getBoundingClientRect();
            return [map.getAttribute('aria-label').match(/prior|learned/)[0], Math.round(left), Math.round(top)];
        })"""
    )
    prior, learned = ([place for name, *place in maps if name == which] for which in ("prior", "learned"))
    assert len(prior) == 5
    for (left, top), (right, same) in zip(prior, learned, strict=True):
        assert left < PHONE / 2 < right + 20 and top == same
    phone.get_by_text("Details", exact=True).first.tap()
    phone.get_by_text("Each row is one").first.wait_for()
    assert any(
        "Each row is one landmark" in text
        for text in phone.locator("[data-testid=stCaptionContainer]").all_inner_texts()
    )
    for slider in phone.locator(".live input[type=range]").all():
        assert slider.bounding_box()["height"] >= 44
    phone.locator(".st-key-landmarks").scroll_into_view_if_needed()
    reach = phone.evaluate(
        """() => {
            const thumb = document.querySelector('.st-key-landmarks [data-testid=stSliderThumbValue]').parentElement;
            const {left, right, top, bottom} = thumb.getBoundingClientRect(), far = 20;
            const [x, y] = [(left + right) / 2, (top + bottom) / 2];
            return [[-far, 0], [far, 0], [0, -far], [0, far]].map(([dx, dy]) =>
                thumb.contains(document.elementFromPoint(x + dx, y + dy)));
        }"""
    )
    assert reach == [True] * 4
    phone.locator("[data-testid=stExpandSidebarButton]").tap()
    phone.wait_for_function(
        "() => document.querySelector('[data-testid=stSidebar]').getBoundingClientRect().left === 0"
    )
    phone.locator("[data-testid=stSidebarNavLink]").filter(has_text="Bounds").tap()
    phone.wait_for_function(
        """() => document.querySelector('h1')?.innerText.startsWith('What does a bound')
            && document.querySelector('[data-testid=stSidebar]').getBoundingClientRect().right <= 0"""
    )


# --- a projector --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["landmarks", "", "bounds", "kernel", "adaptive"])
def test_on_a_projector_the_picture_comes_first_and_fits(open_page, path):
    page = open_page(f"{path}?projector=true", width=1280)
    resize(page, 1280, 720)
    assert problems(page) == {}
    place = page.evaluate(
        """() => {
            const picture = document.querySelector('.live canvas:not(.scale), .js-plotly-plot').getBoundingClientRect();
            const words = [...document.querySelectorAll('[data-testid=stMarkdownContainer] p')]
                .filter(words => words.getBoundingClientRect().top < picture.top && words.innerText.length > 100);
            const labels = document.querySelector('.live').querySelectorAll('.scrubbers label');
            const sliders = [...labels].filter(label => label.checkVisibility());
            const rows = new Set(sliders.map(label => Math.round(label.getBoundingClientRect().bottom)));
            return [picture.top, picture.bottom, words.length, rows.size];
        }"""
    )
    assert place[0] < 360 and place[1] < 720 and place[2:] in ([0, 0], [0, 1])
    page.get_by_role("button", name="What is this page about?").click()
    page.locator("[data-testid=stPopoverBody] p").wait_for()


# --- paper --------------------------------------------------------------------------------------------------------

MILLIMETRE = 96 / 25.4  # pixels
PAPERS, MARGIN = {"A4": 210, "Letter": 215.9}, 14
# Share of the page's width that its pictures take, and that width on paper. For paper the browser lays the page out
# again, but figures keep their widths.
ON_SCREEN = """() => {
    const main = document.querySelector('[data-testid=stMainBlockContainer]').getBoundingClientRect();
    const ends = [...document.querySelectorAll('.js-plotly-plot .main-svg, .live canvas')]
        .filter(picture => picture.checkVisibility({visibilityProperty: true}) )
        .map(picture => (picture.getBoundingClientRect().right - main.left) / main.width);
    const factor = Number(getComputedStyle(document.documentElement).getPropertyValue('--paper'));
    return [Math.max(0, ...ends), main.width * factor];
}"""
PRINTED = """() => {
    const seen = element => element.checkVisibility({visibilityProperty: true});
    const rows = [...document.querySelectorAll('.on-paper tr')].filter(seen);
    const factor = Number(getComputedStyle(document.documentElement).getPropertyValue('--paper'));
    const zoom = Number(getComputedStyle(document.querySelector('[data-testid=stMain]')).zoom);
    return {
        zoom: zoom / factor,
        bars: ['stSidebar', 'stHeader'].filter(name => {
            const bar = document.querySelector(`[data-testid=${name}]`);
            return bar && seen(bar) && bar.getBoundingClientRect().width > 0;
        }),
        cut: rows.filter(row => {
            const box = row.getBoundingClientRect();
            const details = row.closest('[data-testid=stExpander]').getBoundingClientRect();
            return box.height < 5 || box.bottom > details.bottom + 1;
        }).length,
        rows: rows.length,
    };
}"""


@pytest.mark.parametrize(("path", "width"), [("paper", 1440), ("landmarks", 1440), ("kernel", PHONE)])
def test_figures_fit_the_paper_and_tables_have_every_row(open_page, path, width):
    page = open_page(path, width=width)
    drawn(page)
    if path == "paper":
        page.get_by_text("Numbers and sources").click()
        page.locator("[data-testid=stDataFrame]:visible").first.wait_for()
        settle(page)
    share, on_paper = page.evaluate(ON_SCREEN)
    page.emulate_media(media="print")
    printed = page.evaluate(PRINTED)
    page.emulate_media(media="null")
    assert (printed["bars"], printed["cut"]) == ([], 0)
    assert printed["zoom"] == pytest.approx(1, abs=1e-3)
    assert share <= 1 and on_paper < (min(PAPERS.values()) - 2 * MARGIN) * MILLIMETRE
    for name in PAPERS:
        sheet = page.pdf(format=name, tagged=True)
        assert sheets(sheet) <= 12  # not a page for each line
        if path == "paper":
            assert printed["rows"] > 30
            assert len(re.findall(rb"/S /TR\b", sheet)) >= printed["rows"]


def sheets(printed: bytes) -> int:
    """Sheets of paper of a PDF."""
    return len(re.findall(rb"/Type /Page\b", printed))


# Of a printed page: the number of columns next to another one, and the colours.
ON_PAPER = """() => ({
    beside: [...document.querySelectorAll('[data-testid=stColumn] + [data-testid=stColumn]')].filter(column => {
        const before = column.previousElementSibling.getBoundingClientRect();
        return column.getBoundingClientRect().left >= before.right;
    }).length,
    ground: getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor,
    ink: document.querySelector('.live')?.view.ink,
})"""


@pytest.mark.parametrize(("path", "columns"), [("foundations?part=Two+feature+maps", 1), ("landmarks", 0)])
def test_paper_has_columns_as_the_screen_has_them_and_is_light(open_page, path, columns):
    page = open_page(path, scheme="dark")
    drawn(page)
    screen = page.evaluate(ON_PAPER)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    paper = page.evaluate(ON_PAPER)
    page.emulate_media(media="null")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert paper["beside"] == screen["beside"] >= columns
    assert paper["ground"] == "rgb(255, 255, 255)" != screen["ground"]
    assert paper["ink"] in (None, "#31333f") and (paper["ink"] != screen["ink"] or not paper["ink"])
    assert page.evaluate(ON_PAPER) == screen


def test_a_certificate_is_one_sheet_of_paper_and_as_wide_as_a_phone(new_context, tmp_path):
    table, file = (tmp_path / name for name in ("iris.csv", "certificate.html"))
    load_iris(as_frame=True).frame.to_csv(table, index=False)
    file.write_text(certificate.page(certificate.certify_table(str(table), "target", None, 0.05, 0)), encoding="utf-8")
    page = new_context(viewport={"width": PHONE, "height": 844}).new_page()
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
    assert page.locator(".wide").evaluate_all("boxes => boxes.every(box => box.scrollHeight <= box.clientHeight)")
    assert sheets(page.pdf(format="A4")) == 1


# --- a dark theme -------------------------------------------------------------------------------------------------

# The colour of a prior map where the similarity is 0: in the corner farthest from the landmark.
CORNER = """() => {
    const {view} = document.querySelector('.live'), {canvas} = view.panels.find(({canvas}) =>
        canvas.getAttribute('aria-label') === 'prior similarity to landmark 1');
    const [x, y] = view.landmark(0), {width, height} = canvas;
    const place = [x > 0 ? 3 : width - 4, y > 0 ? height - 4 : 3];
    return [...canvas.getContext('2d').getImageData(...place, 1, 1).data].slice(0, 3);
}"""


def test_maps_of_a_dark_theme_have_a_dark_centre_and_the_same_numbers(open_page):
    page = open_page("landmarks", scheme="dark")
    drawn(page)
    numbers = "() => Array.from(document.querySelector('.live').view.learnedMaps[0])"
    dark, seen = page.evaluate(CORNER), page.evaluate(numbers)
    picture = page.evaluate("() => document.querySelector('.live').view.picture()")
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"() => Math.min(...({CORNER})()) > 200")
    light = page.evaluate(CORNER)
    assert max(dark) < 70 and min(light) > 230
    assert max(map(np.ptp, (dark, light))) < 25  # greys
    assert page.evaluate(numbers) == seen
    # Files have the colours of the light theme.
    assert 'fill="#ffffff"' in picture and "#31333f" in picture
    assert page.evaluate("() => document.querySelector('.live').view.picture()") == picture


def test_canvases_use_the_typeface_of_the_page(open_page):
    page = open_page("bounds")
    drawn(page)
    families = page.evaluate(
        """() => [document.querySelector('.live').view.panels.find(({canvas}) =>
            canvas.matches('.curves-kernel')).context.font, getComputedStyle(document.body).fontFamily]"""
    )
    assert families[0].split("px ")[1].split(",")[0].strip('"') == families[1].split(",")[0].strip('"')
