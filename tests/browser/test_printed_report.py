"""A certificate in a browser."""

from __future__ import annotations

import re

from sklearn.datasets import load_iris

from rff_engine.studies.reports import certificate


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
