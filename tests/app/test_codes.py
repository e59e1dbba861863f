"""QR codes of links."""

from __future__ import annotations

from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from pages.shared.sharing import codes

LINK = "https://rff.example.org/landmarks?beta=10"
SVG = "{http://www.w3.org/2000/svg}"


def picture(link: str) -> ElementTree.Element:
    kind, text = codes.qr_code(link).split(",", 1)
    assert kind.startswith("data:image/svg+xml")
    return ElementTree.fromstring(unquote(text))


def side(svg: ElementTree.Element) -> int:
    """Modules along a side, without the quiet zone."""
    left, top, width, height = map(int, svg.get("viewBox").split())
    assert left == top == 0 and width == height
    return width - 2 * 4


def test_a_code_is_black_on_white_and_fills_its_place():
    svg = picture(LINK)
    assert svg.get("width") is None and svg.get("height") is None
    assert [path.get("fill") or path.get("stroke") for path in svg.iter(f"{SVG}path")] == ["#fff", "#000"]
    assert codes.qr_code(LINK) != codes.qr_code(LINK.replace("10", "11"))


def test_the_longest_link_has_a_code_of_105_modules():
    longest = LINK + "&" * (codes.MAX_LINK - len(LINK))
    assert side(picture(LINK)) < side(picture(longest)) == 105


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        (LINK + "x" * 1000, "The link has 1041 characters; .* holds at most 1000"),
        (LINK + "é", "characters that an address must encode"),
        (LINK + "\n", "characters that an address must encode"),
    ],
)
def test_other_links_are_refused_in_one_sentence(link, sentence):
    with pytest.raises(ValueError, match=sentence) as refused:
        codes.qr_code(link)
    assert "\n" not in str(refused.value) and str(refused.value).endswith(".")
