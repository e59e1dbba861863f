"""A reader brings tables of several formats and puts a guess right; and hostile files.

Text of an uploaded file is shown as plain text, whatever it contains, and only in its own session.
"""

from __future__ import annotations

import pytest
from conftest import settle, wait_until
from playwright.sync_api import expect
from test_layout import PHONE, problems

from tests import workbooks

NAMES = (
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "$x^2$",
    "**bold**",
    ":red[red]",
    ":smile:",
    "[link](javascript:window.hacked=1)",
    "`code`",
    "=1+1",
)


def bring(page) -> None:
    """Open the ways to bring a table, which close again once it is read."""
    if page.get_by_role("tab", name="Paste text").count() == 0:
        page.get_by_role("button", name="Bring a table").click()
        settle(page)  # nobody has a file at hand while the server hears of the opening


def upload(page, data: bytes, name: str = "mine.csv") -> None:
    bring(page)
    page.locator("[data-testid=stFileUploader] input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": data}
    )
    expect(page.get_by_role("tab", name="Paste text")).to_have_count(0)  # the server has read it
    settle(page)


def main_text(page) -> str:
    return page.locator("[data-testid=stMain]").inner_text()


def alert_text(page) -> str:
    return " ".join(" ".join(page.locator("[data-testid=stAlert]").all_inner_texts()).split())


def check_nothing_takes_effect(page) -> None:
    assert page.evaluate("window.hacked") is None
    main = page.locator("[data-testid=stMain]")
    for selector in ("img[src=x]", "script", ".katex", "a[href^=javascript]", "u"):
        assert main.locator(selector).count() == 0, selector
    assert main.locator("strong", has_text="bold").count() == 0
    assert page.complaints == []


@pytest.mark.parametrize("some", [slice(0, 3), slice(3, 6), slice(6, 9)])
def test_hostile_names_are_shown_as_text_in_a_refusal_and_above_the_maps(open_page, some):
    """Slow, because it uploads six tables."""
    page = open_page("your_data")
    for name in NAMES[some]:
        upload(page, f"b,{name}\n".encode() + "".join(f"{i},word {i}\n" for i in range(60)).encode(), "bad.csv")
        wait_until(lambda: f"No column is chosen. {name} was left out" in alert_text(page))  # noqa: B023
        settle(page)
        check_nothing_takes_effect(page)
        upload(page, f"{name},b,y\n".encode() + "".join(f"{i % 7},{i % 5},{i % 2}\n" for i in range(40)).encode())
        wait_until(lambda: name in main_text(page))  # noqa: B023
        settle(page)
        check_nothing_takes_effect(page)


# --- a walk ---------------------------------------------------------------------------------------------------------

ROWS = [(f"{1 + i % 7}.{100 + i * 17 % 900}", i * 3 % 11, "ja" if i % 5 < 3 else "nein") for i in range(60)]
DAYS = [f"{1 + i % 12}/{1 + i * 5 % 12}/2020" for i in range(60)]
#: German prices: 1.234 is 1234, but could be 1.234.
GERMAN = "Preis;Menge;Art;Tag\n" + "".join(
    f"{price};{amount};{kind};{day}\n" for (price, amount, kind), day in zip(ROWS, DAYS, strict=True)
)
EXCEL = workbooks.workbook(
    Notes=[["a title"]], Sales=[["size", "grade", "kind"], *([i * 7 % 60, i % 5, "ab"[i % 2]] for i in range(60))]
)
DECIMAL, ORDER = "Decimal mark", "Order of dates"


def first_price(page) -> str:
    """The first cell of the preview, which is drawn on a canvas with a hidden table; empty while it is not there."""
    cells = page.locator("[data-testid=stDataFrame] td[aria-colindex='1']").all_text_contents()
    return cells[0] if cells else ""


def taken(page, guess: str, answer: str) -> None:
    """Wait until the control of a guess shows an answer."""
    expect(page.get_by_role("combobox", name=guess, exact=True)).to_have_value(answer)


def chosen(page, guess: str, answer: str) -> None:
    """Choose an answer at the control of a guess, once the page is at rest."""
    place = page.get_by_role("combobox", name=guess, exact=True)
    place.scroll_into_view_if_needed()  # while the page scrolls, a list closes
    settle(page)
    place.click()
    page.get_by_role("option", name=answer).click()


@pytest.mark.more(after=1)
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (PHONE, "dark")])
def test_a_reader_sees_a_sample_then_brings_tables_and_puts_a_guess_right(open_page, width, scheme):
    """Slow, because it uploads three files."""
    page = open_page("your_data", width, scheme)
    expect(page.get_by_text("This is a sample: Breast cancer")).to_be_visible()
    expect(page.locator(".live canvas.points")).to_be_attached()
    wait_until(lambda: problems(page) == {})

    upload(page, EXCEL, "sales.xlsx")
    expect(page.get_by_text("60 rows, 3 columns.")).to_be_visible()
    page.get_by_text("Change how it was read").click()
    taken(page, "Sheet", "Sales")
    assert "Read as sheet Sales of a workbook." in " ".join(main_text(page).split())
    page.locator("h1").scroll_into_view_if_needed()  # text goes on behind the buttons of the header
    wait_until(lambda: problems(page) == {})

    upload(page, b"<!doctype html><html><body><table></table></body></html>", "table.csv")
    expect(page.get_by_text("The file is a web page")).to_be_visible()
    expect(page.get_by_text("60 rows")).to_have_count(0)
    expect(page.locator(".js-plotly-plot")).to_have_count(0)

    upload(page, GERMAN.encode(), "preise.csv")
    taken(page, DECIMAL, "point")
    expect(page.get_by_text("1.100 was read as 1.1, though it could be 1100")).to_be_visible()
    wait_until(lambda: first_price(page) == "1.1")
    chosen(page, DECIMAL, "comma")
    taken(page, DECIMAL, "comma")
    wait_until(lambda: first_price(page) == "1100")
    taken(page, ORDER, "day first")
    chosen(page, ORDER, "month first")
    taken(page, ORDER, "month first")
    expect(page.get_by_text("On all ")).to_be_visible()
    assert page.complaints == []


def test_a_table_is_pasted_and_a_guess_put_right_with_the_keyboard_alone(open_page):
    page = open_page("your_data")
    keys = page.keyboard

    def tab_to(role: str, name: str) -> None:
        place = page.get_by_role(role, name=name, exact=role == "combobox").first
        for _ in range(60):
            if place.evaluate("part => part === document.activeElement"):
                return
            keys.press("Tab")
        pytest.fail(f"{name} is not reached")

    page.locator("h1").click()
    tab_to("button", "Bring a table")
    keys.press("Enter")
    tab_to("tab", "Upload a file")
    keys.press("ArrowRight")
    keys.press("Enter")
    tab_to("textbox", "Lines of CSV")
    keys.insert_text(GERMAN)
    tab_to("button", "Read the text")
    keys.press("Enter")
    taken(page, DECIMAL, "point")
    page.locator("h1").click()
    tab_to("combobox", DECIMAL)
    keys.type("comma")
    expect(page.get_by_role("option")).to_have_count(1)
    keys.press("Enter")
    taken(page, DECIMAL, "comma")
    wait_until(lambda: first_price(page) == "1100")

    page.locator("h1").click()
    tab_to("combobox", "Column")
    keys.type("Menge")
    expect(page.get_by_role("option")).to_have_count(1)
    keys.press("Enter")
    expect(page.get_by_text("11 different values")).to_be_visible()
    settle(page)
    tab_to("radio", "number")
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    keys.press("Enter")
    heading(page, "Menge · classes")


def heading(page, text: str) -> None:
    """Wait for a heading of the preview, and for the page to be at rest."""
    expect(page.locator("[data-testid=stDataFrame] th", has_text=text)).to_be_attached()
    settle(page)


def test_a_click_on_a_heading_changes_the_kind_of_its_column(open_page):
    page = open_page("your_data", PHONE)
    upload(page, GERMAN.encode(), "preise.csv")
    heading(page, "Art · classes, target")
    preview = page.locator("[data-testid=stDataFrame]")
    preview.scroll_into_view_if_needed()
    preview.click(position={"x": 150, "y": 18})
    expect(page.get_by_role("combobox", name="Column", exact=True)).to_have_value("Menge")
    page.get_by_role("radio", name="left out").or_(page.get_by_text("left out", exact=True)).first.click()
    heading(page, "Menge · left out")
    assert page.complaints == []
