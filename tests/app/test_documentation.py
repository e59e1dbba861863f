"""Every page of the app names its documentation, which exists."""

import re
from pathlib import Path

import pytest

from pages.components import documentation
from pages.components.catalogue import PAGES

ROOT = Path(__file__).parents[2]
DOCUMENTED = {page.name: page.documentation for page in PAGES if page.documentation}


def test_every_page_that_ends_with_the_row_has_documentation():
    named = set()
    for path in (ROOT / "pages").glob("*.py"):
        named |= set(re.findall(r"sharing\.offer\(\s*\"(\w+)\"", path.read_text("utf-8")))
    assert named == set(DOCUMENTED)


@pytest.mark.parametrize("page", DOCUMENTED)
def test_documentation_of_the_page_exists(page):
    assert all((ROOT / "docs" / file).is_file() for file in DOCUMENTED[page])


def test_link_leads_to_the_site_that_the_server_names(monkeypatch):
    monkeypatch.setenv("RFF_DOCS", "https://rff.example.org/docs/")
    assert "(https://rff.example.org/docs/gallery/02_landmarks.html)" in documentation.sentence("landmarks")
    assert "(https://rff.example.org/docs/how-to/read-a-bound.html)" in documentation.sentence("bounds")


@pytest.mark.parametrize("address", ["", "javascript:alert(1)", "https://x.org/)[y](z", "rff.example.org"])
def test_what_is_no_address_is_not_linked(monkeypatch, address):
    monkeypatch.setenv("RFF_DOCS", address)
    assert documentation.sentence("kernel").endswith("`docs/examples/01_kernel_as_prior.py` in the repository.")


def test_an_example_links_to_its_page():
    for page, (file, *_) in DOCUMENTED.items():
        if file.startswith("examples/"):
            assert f"<http://localhost:8501/{page}>" in (ROOT / "docs" / file).read_text("utf-8")
