"""Glossary: every term of the app and its meaning, in one list."""

import streamlit as st

from pages.shared import glossary, layout
from pages.shared.controls import presentation
from pages.shared.controls.widgets import mount


def main() -> None:
    mount(())
    layout.title(
        "Where a text underlines one of these words with dots, point at it, tap it, or reach it with Tab to see its "
        "meaning there.",
    )
    glossary.show_list()
    st.page_link("pages/start/page.py", label="Start here", icon=":material/arrow_back:")
    presentation.show_button()


if __name__ == "__main__":
    main()
