"""Links from pages of the app to their documentation."""

import pytest

from pages.shared import documentation


def test_link_leads_to_the_site_that_the_server_names(monkeypatch):
    monkeypatch.setenv("RFF_DOCS", "https://rff.example.org/docs/")
    assert "(https://rff.example.org/docs/gallery/02_landmarks.html)" in documentation.sentence("landmarks")
    assert "(https://rff.example.org/docs/how-to/read-a-bound.html)" in documentation.sentence("bounds")


@pytest.mark.parametrize("address", ["", "javascript:alert(1)", "https://x.org/)[y](z", "rff.example.org"])
def test_what_is_no_address_is_not_linked(monkeypatch, address):
    monkeypatch.setenv("RFF_DOCS", address)
    assert documentation.sentence("kernel").endswith("`docs/examples/01_kernel_as_prior.py` in the repository.")
