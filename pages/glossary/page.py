"""Glossary: every term of the app and its meaning, in one list."""

import streamlit as st

from pages.shared import layout
from pages.shared.controls import presentation
from pages.shared.controls.widgets import mount
from pages.shared.glossary import TERMS


def main() -> None:
    mount(())
    layout.title(
        "Where a text underlines one of these words with dots, point at it, tap it, or reach it with Tab to see its "
        "meaning there.",
    )
    with st.container(key="glossary_list"):
        for term in TERMS:
            st.header(term.name, anchor=term.key)  # the links of terms lead there
            st.markdown(term.meaning)
    st.page_link("pages/start/page.py", label="Start", icon=":material/arrow_back:")
    presentation.show_button()


if __name__ == "__main__":
    main()
