"""Links from pages of the app to their documentation, and back."""

import re
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from pages.components import documentation
from pages.components.catalogue import PAGES

ROOT = Path(__file__).parents[2]
DOCUMENTED = {page.name: page.documentation for page in PAGES if page.documentation}


def test_link_leads_to_the_site_that_the_server_names(monkeypatch):
    monkeypatch.setenv("RFF_DOCS", "https://rff.example.org/docs/")
    assert "(https://rff.example.org/docs/gallery/02_landmarks.html)" in documentation.sentence("landmarks")
    assert "(https://rff.example.org/docs/how-to/read-a-bound.html)" in documentation.sentence("bounds")


@pytest.mark.parametrize("address", ["", "javascript:alert(1)", "https://x.org/)[y](z", "rff.example.org"])
def test_what_is_no_address_is_not_linked(monkeypatch, address):
    monkeypatch.setenv("RFF_DOCS", address)
    assert documentation.sentence("kernel").endswith("`docs/examples/01_kernel_as_prior.py` in the repository.")


@pytest.fixture
def links(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "extensions")
    return import_module("links")


def test_a_page_of_the_app_is_in_the_site_or_says_how_to_run_it(links):
    text = "[Bounds](../../pages/bounds.py), [data](../../pages/your_data.py)"
    settings = SimpleNamespace(srcdir=str(ROOT / "docs"), config=SimpleNamespace(links_app=""))
    links.rewrite(settings, "how-to/read-a-bound", content := [text])
    assert re.findall(r'href="(.*?)"', content[0]) == ["../app/bounds.html", "../app.html#run-it"]
    settings.config.links_app = "https://rff.example.org"
    links.rewrite(settings, "how-to/read-a-bound", content := [text])
    assert re.findall(r'href="(.*?)"', content[0]) == [
        f"https://rff.example.org/{page}" for page in ("bounds", "your_data")
    ]


def test_an_example_links_to_its_page(links):
    settings = SimpleNamespace(srcdir=str(ROOT / "docs"), config=SimpleNamespace(links_app=""))
    for page, files in DOCUMENTED.items():
        for name in (Path(file).stem for file in files if file.startswith("examples/")):
            links.rewrite(
                settings, f"gallery/{name}", content := ["Title\n\n.. GENERATED FROM PYTHON SOURCE LINES 1-2\n"]
            )
            assert f"<../app/{page}.html>`__.\n\n.. GENERATED" in content[0]
