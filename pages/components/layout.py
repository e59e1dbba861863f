"""Frame of every page: title, figures with captions, equations, and errors in one sentence."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from pathlib import Path

import streamlit as st

from pages.components import glossary
from pages.components.controls import alone, presentation, screen
from pages.components.server import entry

# Less space above the title; columns wrap where they would get too narrow to read. Text of figures gets the colour of
# the page's text: the greys of the theme are too faint to read. A link to the current page looks selected already, so
# its focus needs an outline.
_STYLE = (
    "<style>"
    + (Path(__file__).parent / "sum.css").read_text(encoding="utf-8")
    + """
[data-testid="stMainBlockContainer"] {padding: 3.5rem 2rem 3rem; max-width: 84rem}
[data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] p {color: inherit; opacity: 0.92}
[data-testid="stExpander"] summary {opacity: 1}
[data-testid="stHorizontalBlock"] {flex-wrap: wrap}
.js-plotly-plot .modebar-container, .plotly-notifier {display: none}
[data-testid="stColumn"] {min-width: min(20rem, 100%)}
.js-plotly-plot text:is(g[class*="tick"] > text, [class*="title"], [class*="legend"], .annotation-text,
    .bartext, [class*="slider"], [class*="updatemenu"]) {
    fill: currentColor !important}
[data-testid="stBaseButton-primary"] {color: light-dark(#ffffff, #1a1a1a)} /* the dark theme's colour is light */
[data-testid="stPageLink"] a:focus-visible {outline: 2px solid; outline-offset: 2px}
/* Browsers match these rules again at every change of the page, so few elements may match `:has` and `*`. */
[data-testid="stLayoutWrapper"]:has(> .st-key-unseen) {position: absolute; width: 0; height: 0; overflow: hidden}
.st-key-beginnings > [data-testid="stLayoutWrapper"] {width: auto; flex: 0 1 auto}
.st-key-beginnings > :has(> .st-key-preset_line) {order: 1; flex: 1 0 100%}
.st-key-first_steps [data-testid="stPageLink"] a {border: 1px solid #808080; border-radius: 0.5rem;
    padding: 0.5rem 1rem}
/* The words of a link go on in the next line. */
[data-testid="stPageLink"] a {height: auto; white-space: normal; align-items: start}
[data-testid="stPageLink"] a *, [data-testid="stPageLink"] a p {white-space: normal; overflow: visible}
[data-testid="stMain"] h1 {padding: 0.6rem 0 0.4rem}
.st-key-preset_line {margin-top: -0.6rem}
.st-key-question [role="tab"] p {font-size: 1.1rem; font-weight: 600}
/* What is wider than its place scrolls there, not the page. */
.katex-display, [data-testid="stMarkdownContainer"] pre, [data-testid="stMarkdownContainer"] table {
    overflow-x: auto; max-width: 100%}
[data-testid="stMarkdownContainer"] table {display: block}
[data-testid="stMarkdownContainer"] :not(pre) > code {white-space: break-spaces; overflow-wrap: anywhere}
@media (max-width: 639.98px) {
    [data-testid="stMainBlockContainer"] {padding: 3.5rem 1rem 2rem}
    /* Little above the picture: a smaller title, buttons close together. */
    [data-testid="stMain"] h1 {font-size: 1.6rem}
    :is(.st-key-beginnings, .st-key-presets) {gap: 0.4rem}
    .st-key-lessons {gap: 0 1rem}
    .st-key-presets button, .st-key-pin_settings button {padding-inline: 0.5rem}
    :is(.st-key-table, .st-key-methods) {overflow-x: auto}
    .st-key-table > * {min-width: 50rem}
    .st-key-methods > * {min-width: 50rem}
    :is(.st-key-table, .st-key-methods) .drag {touch-action: pan-x pan-y !important}
}
@media (pointer: coarse) {  /* a finger needs 44 pixels, though the handle that is seen is smaller */
    [data-testid="stSlider"] :has(> [data-testid="stSliderThumbValue"])::after {content: ""; position: absolute;
        left: 50%; top: 50%; width: 44px; height: 44px; transform: translate(-50%, -50%)}
}
[data-testid="stElementContainer"]:has(> [data-testid="stHtml"] > .on-paper) {position: absolute; display: none}
@media print {
    @page {margin: 14mm}
    [data-testid="stSidebar"], [data-testid="stHeader"], .st-key-lessons, .st-key-presets, .st-key-preset_line,
        .st-key-pin_settings, .st-key-first_steps, .st-key-ending, .st-key-lecture, .st-key-projector_mode,
        [data-testid="stExpandSidebarButton"], [data-testid="stExpander"]:has(> details:not([open])) {
        display: none !important}
    [data-testid="stMain"] {zoom: var(--paper, 1)}
    [data-testid="stMainBlockContainer"] {padding: 0; max-width: none}
    [data-testid="stPlotlyChart"], [data-testid="stImage"] {break-inside: avoid}
    /* Streamlit would put all pictures one below the other. */
    [data-testid="stHorizontalBlock"][data-beside="true"] {display: flex !important; flex-wrap: nowrap}
    /* Figures keep their width and are printed smaller; words stay large enough to read. */
    :is([data-testid="stMarkdownContainer"], [data-testid="stCaptionContainer"]) :is(p, li), .on-paper table {
        font-size: max(1rem, 0.72rem / var(--paper, 1))}
    h1, h2, h3 {break-after: avoid}
    [data-testid="stExpander"] :is(details, details > div, [data-testid="stExpanderDetails"]) {height: auto !important;
        max-height: none !important; overflow: visible !important}
    [data-testid="stDataFrame"] {display: none}
    [data-testid="stElementContainer"]:has(> [data-testid="stHtml"] > .on-paper) {position: static; display: block}
    .on-paper table {border-collapse: collapse; width: 100%}
    .on-paper :is(th, td) {padding: 0.1rem 0.4rem; text-align: left; border-bottom: 1px solid #cccccc}
    .on-paper tr {break-inside: avoid}
    .on-paper thead {display: table-header-group}
}
</style>"""
)


def title(introduction: str = "", heading: str = "") -> None:
    """The question of a page, or another heading, and a few sentences on how to find the answer there.

    Without sentences there is no button for them in projector mode.
    """
    st.html(_STYLE)
    with st.container(key="unseen"):
        screen.mount()
        glossary.mount()
    st.title(heading or entry.page().question)
    if introduction:
        with presentation.folded("What is this page about?", key="introduction"):
            st.markdown(_words(introduction))


def _words(text: str) -> str:
    """A text for this screen, its terms linked to the glossary."""
    return glossary.linked(screen.words(text))


def figure(fig, caption: str, details: str = "", *, key: str, alt: str, **kwargs):
    """A Plotly figure with a caption: what to see, in one bold sentence, and details that the reader unfolds.

    `alt` describes the figure for screen readers; other arguments go to `st.plotly_chart`. In the caption,
    ``[[right|below]]`` names a place on a wide and on a narrow screen, and ``[[prior]]`` a term of the glossary.
    Nothing is shown, and None returned, if a link asks for another picture alone.
    """
    if alone.leaves_out(key):
        return None
    # Export works only through Plotly's own download button: it is hidden, for the sharing row to press.
    config = {"displaylogo": False, "displayModeBar": True, "modeBarButtons": [["toImage"]], "scrollZoom": False}
    fig = presentation.enlarge(screen.fit(fig))
    if alone.chosen():
        fig.update_layout(height=None)
        st.plotly_chart(fig, width="stretch", height="stretch", key=key, alt=alt, config=config)
        alone.finish()
    answer = st.plotly_chart(fig, width="stretch", key=key, alt=alt, config=config, **kwargs)
    caption_below(caption, details)
    return answer


def caption_below(text: str, details: str = "") -> None:
    """Words below a figure: what to see, and folded details."""
    with presentation.folded("What to see"):
        st.caption(_words(text))
        if not details:
            return
        # In projector mode all words are folded already.
        with nullcontext() if presentation.projecting() else st.expander("Details", type="compact"):
            st.caption(_words(details))


def explain(text: str) -> None:
    """Longer words on a page's first figure, in a closed expander."""
    with st.expander("What am I looking at?", icon=":material/help:"):
        st.markdown(_words(text))


def folded_table(label: str, make, *, icon: str, key: str, introduction: str = "", index: bool = False) -> None:
    """A table in an expander, made by `make()` and sent only while that is open; call it within a fragment."""
    shown = st.expander(label, icon=icon, key=key, on_change="rerun")
    if shown.open:
        with shown:
            if introduction:
                st.markdown(introduction)
            table(make(), index=index)


def table(frame, *, index: bool = False, **kwargs) -> None:
    """A table, on paper with every row; other arguments go to `st.dataframe`."""
    st.dataframe(frame, hide_index=not index, **kwargs)
    # The table above is a picture of the rows that are in sight.
    st.html(f"<div class='on-paper'>{frame.to_html(index=index, na_rep='', border=0)}</div>")


def equation(name: str, latex: str, explanation: str) -> None:
    """The equation behind a figure, in a closed expander."""
    with st.expander(f"The equation: {name}", icon=":material/function:"):
        st.latex(latex)
        st.markdown(_words(explanation))


@contextmanager
def show_errors():
    """Show an expected error as one sentence and stop the script; its next run tries again."""
    try:
        yield
    except EXPECTED_ERRORS as error:
        show_error(error)
        st.stop()


#: Errors that are no fault of the program: values that are refused, and files that cannot be used.
EXPECTED_ERRORS = ValueError, OSError


def show_error(error: ValueError | OSError) -> None:
    """Show what the problem is, in one sentence."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:  # the system's message is no sentence
        text = f"{error.filename or 'A file'} cannot be used: {error.strerror}."
    st.error(text if text.endswith((".", "?", "!")) else f"{text}.", icon=":material/error:")


def percent(value: float) -> str:
    """A fraction in percent, with one decimal."""
    return f"{100 * value:.1f} %"


def lowest_error(betas, errors) -> str:
    """Where along β the test error is lowest, as the first sentence of a caption."""
    least = min(range(len(errors)), key=lambda i: errors[i])
    return f"**The test error is lowest, {percent(errors[least])}, at β = {betas[least]:.3g}.**"
