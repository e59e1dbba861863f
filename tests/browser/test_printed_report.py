"""A report in a browser: it is printed with every row, and Plotly's toolbar covers no text."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from sklearn.datasets import load_iris

from rff_engine.experiments.reports import certificate
from rff_engine.figures import reruns
from rff_engine.figures.document import Document

NUMBERS = ("paper", "published", "mean", "half_width", "tied_low", "tied_high", "spread")
NUMBERS += ("draw_mean", "draw_low", "draw_high", "draw_spread", "cause_error")
CUT_ROWS = """() => [...document.querySelectorAll('.wide')].flatMap(box => {
    const outer = box.getBoundingClientRect();
    return [...box.querySelectorAll('tr')].filter(row => {
        const inner = row.getBoundingClientRect();
        return inner.height === 0 || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
    }).map(row => row.textContent);
})"""
UNDER_TOOLBAR = """() => {
    const bar = document.querySelector('.modebar-group').parentElement.getBoundingClientRect();
    return [...document.querySelectorAll('.main-svg text')].filter(text => {
        const box = text.getBoundingClientRect();
        return box.width && box.top < bar.bottom && box.bottom > bar.top
            && box.right > bar.left && box.left < bar.right;
    }).map(text => text.textContent);
}"""


@pytest.fixture(scope="module")
def report(shared, tmp_path_factory):
    """A report with a table of 80 rows and a figure that is a table, open in the browser."""
    columns = {f"column {i}": f"column {i}" for i in range(5)}
    cells = pd.DataFrame(
        [
            {"dataset": name, "column": column, "agreement": "paper higher"}
            | dict.fromkeys(NUMBERS, 0.1)
            | {"splits": 10, "draws": 20, "note": "", "cause": None}
            for name in ("wine", "breast")
            for column in columns
        ]
    )
    document = Document("A report")
    document.table(pd.DataFrame({"row": range(80), "error": 0.25}))
    document.figure(reruns.table_beside_paper(cells, columns), "A table")
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(document.html(), encoding="utf-8")
    page = shared.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector(".modebar-group", state="attached")
    yield page
    page.close()


def test_a_certificate_is_one_sheet_of_paper_and_as_wide_as_a_phone(shared, tmp_path):
    table, file = (tmp_path / name for name in ("iris.csv", "certificate.html"))
    load_iris(as_frame=True).frame.to_csv(table, index=False)
    file.write_text(certificate.page(certificate.certify_table(str(table), "target", None, 0.05, 0)), encoding="utf-8")
    page = shared.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator(".wide").evaluate_all("boxes => boxes.every(box => box.scrollHeight <= box.clientHeight)")
    assert len(re.findall(rb"/Type /Page\b", page.pdf(format="A4"))) == 1
    page.close()


def test_the_toolbar_covers_no_text(report):
    report.mouse.move(*(report.locator(".main-svg").first.bounding_box()[side] + 200 for side in ("x", "y")))
    assert report.evaluate("document.querySelectorAll('.main-svg text').length") > 10
    assert report.evaluate(UNDER_TOOLBAR) == []


def test_a_printed_report_has_every_row_and_no_toolbar(report):
    assert report.evaluate(CUT_ROWS)  # on a screen, rows are cut off and the table scrolls
    report.emulate_media(media="print")
    assert report.evaluate(CUT_ROWS) == []
    assert not report.locator(".modebar-group").first.is_visible()
