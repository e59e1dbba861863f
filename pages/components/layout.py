"""The frame of every page: title, figures with captions, equations, and errors in one sentence."""

from __future__ import annotations

from contextlib import contextmanager

import streamlit as st

from pages.components import lecturing

# Less air above the title, and columns that go below each other where they would get too narrow to read. Words of
# figures are given the colour of the text: the greys of the theme are too faint to read.
# A link to the page that is open looks chosen already, and needs a mark of its own to show the focus.
_STYLE = """<style>
[data-testid="stMainBlockContainer"] {padding: 3.5rem 2rem 3rem; max-width: 84rem}
[data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] p {color: inherit; opacity: 0.92}
[data-testid="stHorizontalBlock"] {flex-wrap: wrap}
.js-plotly-plot .modebar-container, .plotly-notifier {display: none}
[data-testid="stColumn"] {min-width: min(20rem, 100%)}
.js-plotly-plot :is(g[class*="tick"] > text, text[class*="title"], text[class*="legend"], text.annotation-text,
    text[class*="slider"], text[class*="updatemenu"]) {
    fill: currentColor !important}
[data-testid="stPageLink"] a:focus-visible {outline: 2px solid; outline-offset: 2px}
</style>"""


def title(question: str, introduction: str) -> None:
    """A page opens with its question and one or two sentences on how to find the answer in it."""
    st.html(_STYLE)
    st.title(question)
    st.markdown(introduction)


def figure(fig, caption: str, *, key: str, alt: str, **kwargs):
    """A Plotly figure with, under it, what to do and what to see.

    `alt` describes it for those who cannot see it; other arguments go to `st.plotly_chart`.
    """
    # Plotly's own download button is the one way to its export: it is there, unseen, for the row that offers figures.
    config = {"displaylogo": False, "displayModeBar": True, "modeBarButtons": [["toImage"]], "scrollZoom": False}
    answer = st.plotly_chart(lecturing.enlarge(fig), width="stretch", key=key, alt=alt, config=config, **kwargs)
    st.caption(caption)
    return answer


def equation(name: str, latex: str, explanation: str) -> None:
    """The equation behind a figure, folded away."""
    with st.expander(f"The equation: {name}", icon=":material/function:"):
        st.latex(latex)
        st.markdown(explanation)


@contextmanager
def problems_explained():
    """Turn what the engine refuses, or a file that cannot be used, into one sentence on the page, and stop there.

    Nothing else is lost: the next run of the script asks again.
    """
    try:
        yield
    except PROBLEMS as error:
        explain(error)
        st.stop()


#: What is no error of ours: values that are refused, and files that cannot be used.
PROBLEMS = ValueError, OSError


def explain(error: ValueError | OSError) -> None:
    """Say in one sentence what the problem is."""
    said = str(error)
    if isinstance(error, OSError) and error.strerror:  # the system's own, which is no sentence
        said = f"{error.filename or 'A file'} cannot be used: {error.strerror}."
    st.error(said if said.endswith((".", "?", "!")) else f"{said}.", icon=":material/error:")


def percent(value: float) -> str:
    """An error rate for people."""
    return f"{100 * value:.1f} %"
