"""Frame of every page: title, figures with captions, equations, and errors in one sentence."""

from __future__ import annotations

import math
from contextlib import contextmanager, nullcontext
from pathlib import Path

import streamlit as st

from pages.shared import browser, glossary
from pages.shared.catalogue import BY_NAME
from pages.shared.controls import presentation, screen
from pages.shared.server import navigation

_HERE = Path(__file__).parent
_STYLE = (_HERE / "layout.css").read_text(encoding="utf-8")


def title(introduction: str = "", heading: str = "") -> None:
    """Show the question of a page, or another heading, and a few sentences on how to find the answer there.

    Without sentences there is no button for them in projector mode.
    """
    page = navigation.page()
    # Streamlit marks a page of the bar itself, but no second tab, and no menu.
    of = page.of or page.name
    current = '[data-testid="stTopNavSection"]' if BY_NAME[of].menu else f'[data-testid="stTopNavLink"][href$="/{of}"]'
    st.html(f"<style>{_STYLE}{current} {{ background: rgb(187 187 165 / 25%); }}</style>")
    with st.container(key="unseen"):
        screen.mount()
        glossary.mount()
    with presentation.title_place():
        with st.container(horizontal=True, vertical_alignment="center", key="tabs"):
            st.title(heading or page.question, width="content")
            for tab in page.tabs if not heading else ():
                st.page_link(tab.script, label=f"**{tab.tab}**" if tab is page else tab.tab)
        if introduction:
            with presentation.folded("What is this page about?", key="introduction"):
                st.markdown(_words(introduction))


def _words(text: str) -> str:
    """Fit a text to this screen, and link its terms to the glossary."""
    return glossary.linked(screen.words(text))


def figure(fig, caption: str, details: str = "", *, key: str, alt: str, **kwargs):
    """Show a Plotly figure with a caption: what to see, in one bold sentence, and details that the reader unfolds.

    `alt` describes the figure for screen readers; other arguments go to `st.plotly_chart`. In the caption,
    ``[[right|below]]`` names a place on a wide and on a narrow screen, and ``[[prior]]`` a term of the glossary.
    """
    # Export works only through Plotly's own download button; the sharing row presses it, so it is hidden.
    config = {"displaylogo": False, "displayModeBar": True, "modeBarButtons": [["toImage"]], "scrollZoom": False}
    fig = presentation.enlarge(screen.fit(fig))
    fig.layout.datarevision = 0  # Streamlit draws a new figure twice, from copies: with a revision the second is free
    answer = st.plotly_chart(fig, width="stretch", key=key, alt=alt, config=config, **kwargs)
    caption_below(caption, details, key)
    return answer


def caption_below(text: str, details: str = "", key: str = "picture") -> None:
    """Show words below a figure: what to see, and details, which are sent once they are unfolded."""
    with presentation.folded("What to see"):
        st.caption(_words(text))
        if not details:
            return
        # In projector mode all words are folded already.
        if presentation.projecting():
            fold = nullcontext()
        else:
            fold = st.expander("Details", type="compact", key=f"details_{key}", on_change="rerun")
            if browser.interactive and not fold.open:
                return
        with fold:
            st.caption(_words(details))


def table(frame, *, index: bool = False, **kwargs) -> None:
    """Show a table, on paper with every row; other arguments go to `st.dataframe`."""
    st.dataframe(frame, hide_index=not index, **kwargs)
    # The table above is a picture of the visible rows.
    st.html(f"<div class='on-paper'>{frame.to_html(index=index, na_rep='', border=0)}</div>")


def equation(name: str, latex: str, explanation: str) -> str:
    """Return the equation behind a figure with its name and an explanation, to be added to the figure's details."""
    return f"\n\n**{name[:1].upper()}{name[1:]}**\n\n$$\n{latex}\n$$\n\n{explanation}"


def link_errata() -> None:
    """Link the printed formulas and their corrections."""
    label = "Errata: printed formulas and their corrections"
    st.page_link("pages/papers/errata/page.py", label=label, icon=":material/rule:")


@contextmanager
def show_errors():
    """Show an expected error as one sentence and stop the script; its next run tries again."""
    try:
        yield
    except EXPECTED_ERRORS as error:
        show_error(error)
        st.stop()


#: Errors that are no fault of the program: refused values, and files that cannot be used.
EXPECTED_ERRORS = ValueError, OSError


def show_error(error: ValueError | OSError) -> None:
    """Say what the problem is, in one sentence."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:  # the system's message is no sentence
        text = f"{error.filename or 'A file'} cannot be used: {error.strerror}."
    st.error(text if text.endswith((".", "?", "!")) else f"{text}.", icon=":material/error:")


def percent(value: float) -> str:
    """Return a fraction in percent, with one decimal."""
    return f"{100 * value:.1f} %"


def error_text(error: float) -> str:
    """Return a relative error with three decimals, or as a power of ten if they are all 0."""
    return f"{error:.3f}" if error >= 0.0005 else f"{error:.0e}"


def lowest_error(betas, errors, bound_betas=(), bound=None) -> str:
    """Say where along β the test error is lowest, and its value at the smallest bound, as the lead of a caption."""
    least = min(range(len(errors)), key=lambda i: errors[i])
    lowest = f"**The test error is lowest, {percent(errors[least])}, at β = {betas[least]:.3g}"
    if bound is None:
        return f"{lowest}.**"
    chosen = bound_betas[min(range(len(bound)), key=lambda i: bound[i])]
    near = min(range(len(betas)), key=lambda i: abs(math.log(betas[i] / chosen)))
    where = "where" if betas[near] == chosen else f"and at the nearest, {betas[near]:.3g},"
    return (
        f"{lowest}. The bound is smallest at β = {chosen:.3g}, {where} the test error is {percent(errors[near])}: it "
        "bounds the alignment loss, not the error of the classifier.**"
    )
