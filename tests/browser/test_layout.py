"""Text on every page, from a phone to a wide window: none overlaps another, is cut off, or makes the page scroll aside.

Text of figures counts too. A page opens once; then its window changes its width.
"""

from __future__ import annotations

import pytest
from conftest import settle

PAGES = (
    "",
    "kernel",
    "landmarks",
    "landmarks?plain=true",
    "learn_kernel",
    "learn_kernel?plain=true",
    "bounds",
    "bounds?plain=true",
    "approximate",
    "adaptive",
    "adaptive?plain=true",
    "your_data",
    "real_data",
    "paper",
    "errata",
)
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
        for (const {left, right, top, bottom, width, height} of range.getClientRects()) {
            if (width > 1 && height > 1) boxes.push({left, right, top, bottom, height, node, element});
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
        aside: Math.max(main.scrollWidth - main.clientWidth, document.documentElement.scrollWidth - room),
    };
}"""


def drawn(page) -> None:
    """Wait until the page is drawn for its screen: figures as wide as their places, live views painted."""
    page.wait_for_function("() => document.querySelector('.screen')?.dataset.agrees === 'true'")
    settle(page)
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
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    drawn(page)


def problems(page, path: str) -> dict:
    found = page.evaluate(MEASURE)
    assert found["texts"] >= (8 if path == "your_data" else 30), "no text found"
    return {name: found[name] for name in ("overlaps", "cut") if found[name]} | (
        {"aside": found["aside"]} if found["aside"] > 0 else {}
    )


@pytest.mark.slow("draws a page four times")
@pytest.mark.parametrize("path", PAGES)
def test_no_text_overlaps_or_is_cut_at_any_width(open_page, path):
    page = open_page(path, width=PHONE, reduced_motion="reduce")
    found = {}
    for width in WIDTHS:
        resize(page, width)
        found[width] = problems(page, path)
    assert found == {width: {} for width in WIDTHS}


def test_planted_defects_are_found(open_page):
    page = open_page("your_data", width=PHONE)
    drawn(page)
    assert problems(page, "your_data") == {}
    page.evaluate(
        """() => document.querySelector('h1').insertAdjacentHTML('afterend', `<div style="position: relative">
            <p>first words</p><p style="position: absolute; top: 3px">second words</p>
            <p style="overflow: hidden; width: 4em; white-space: nowrap">words that do not end here</p>
            <p style="overflow: auto; width: 4em; white-space: nowrap">words to scroll to</p>
            <div style="width: 500px; height: 9px"></div></div>`)"""
    )
    assert problems(page, "your_data") == {
        "overlaps": ["first words | second words"],
        "cut": ["words that do not end here"],
        "aside": 500 + 15 - PHONE,
    }
