"""Drawing, undo and the browser's Back, in one open page; its QR code shows the same in a fresh browser."""

from __future__ import annotations

import io
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from conftest import settle, wait_until
from PIL import Image

COUNT = ".own-points .count"


def counted(page) -> int:
    return int(page.locator(COUNT).inner_text().split()[0])


def reaches(page, count: int) -> None:
    """Wait until the canvas has so many points, and the page shows them."""
    wait_until(lambda: counted(page) == count)
    settle(page)


def drawn(page) -> list[int]:
    """Points of the live view, and of the canvas."""
    return page.evaluate(
        "[document.querySelector('.live').view.n, document.querySelector('.own-points').ownPoints.points.length]"
    )


def read_code(page) -> str:
    """The link in the QR code of the Share panel, as a camera sees it."""
    zxingcpp = pytest.importorskip("zxingcpp")
    page.get_by_role("button", name="Share…").click()
    code = page.get_by_role("dialog", name="Share this page").get_by_alt_text("QR code of ")
    code.wait_for()
    code.evaluate("image => image.decode()")
    picture = Image.open(io.BytesIO(code.screenshot())).convert("L")
    (found,) = zxingcpp.read_barcodes(np.asarray(picture))
    return found.text


def test_points_are_drawn_undone_and_linked(open_page, server):
    page = open_page("landmarks?data=your+own+points", apart=True)  # a history holds at most 50 entries
    wait_until(lambda: page.locator(COUNT).inner_text())
    start, box = counted(page), page.locator(".own-points canvas").bounding_box()
    before = page.evaluate("history.length")

    # a click adds, the pictures follow, and the keys of undo and redo take it back and bring it again
    page.mouse.click(box["x"] + 0.95 * box["width"], box["y"] + 0.05 * box["height"])
    wait_until(lambda: drawn(page) == [start + 1, start + 1])
    settle(page)
    page.locator(".st-key-undo button:not([disabled])").first.wait_for(state="attached")
    wait_until(lambda: page.evaluate("history.length") == before + 1)
    page.keyboard.press("Control+z")
    reaches(page, start)
    page.locator(".st-key-redo button:not([disabled])").first.wait_for(state="attached")
    page.keyboard.press("Control+Shift+z")
    reaches(page, start + 1)

    # so do Back and Forward
    wait_until(lambda: page.evaluate("history.length") == before + 3)
    page.go_back()
    reaches(page, start)
    page.go_forward()
    reaches(page, start + 1)

    # the keyboard adds and erases
    page.locator(".own-points canvas").focus()
    for key in ("ArrowDown", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    wait_until(lambda: drawn(page) == [start + 2, start + 2])
    settle(page)

    # without points the pictures stay, and one sentence says why
    page.locator(".own-points .clear").click()
    assert "each needs at least 2" in page.locator(".own-points .said").inner_text()
    assert drawn(page) == [start + 2, 0]

    # a stroke of each class, and each gesture is taken back by itself
    box = page.locator(".own-points canvas").bounding_box()
    counts = []
    for name, height in (("red", 0.3), ("blue", 0.7)):
        page.locator(f".own-points .{name}").click()
        page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + height * box["height"])
        page.mouse.down()
        page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + height * box["height"], steps=8)
        page.mouse.up()
        counts.append(counted(page))
    wait_until(lambda: drawn(page) == [counts[1], counts[1]])
    for count in (counts[0], 0, start + 2):
        settle(page)
        page.keyboard.press("Control+z")
        wait_until(lambda count=count: counted(page) == count)
    wait_until(lambda: drawn(page) == [start + 2, start + 2])

    # the QR code holds the points; a fresh browser shows the same
    settle(page)
    link = read_code(page)
    assert link.startswith(f"{server}/landmarks?") and "points" in parse_qs(urlsplit(link).query)
    fresh = open_page(link.split("/", 3)[3], apart=True)
    assert drawn(fresh) == [start + 2, start + 2]
    errors = [shown.locator(".live .learned-errors").inner_text() for shown in (page, fresh)]
    assert errors[0] == errors[1] != ""
    assert not fresh.complaints
