"""Errata: docs/errata.md, for the readers of the Bounds page."""

from pathlib import Path

import streamlit as st

from pages.shared import layout
from pages.shared.controls import presentation
from pages.shared.controls.widgets import mount

ERRATA = Path(__file__).parents[3] / "docs" / "errata.md"


def main() -> None:
    mount(())
    layout.title()
    st.markdown(ERRATA.read_text(encoding="utf-8").split("\n", 1)[1])
    st.page_link("pages/bounds/page.py", label="The bounds, as printed and corrected", icon=":material/arrow_back:")
    presentation.show_button()


if __name__ == "__main__":
    main()
