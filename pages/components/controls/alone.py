"""One picture of a page alone, for a frame in slides or in a course: ``landmarks?view=maps`` shows nothing else.

The picture fills the window. A page needs no code for this: it shows its figures in their order, those of other names
are left out, and the script stops after the picture. What is left of the page, such as its text, is hidden by a style.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from pages.components import escaping
from pages.components.catalogue import BY_NAME, Picture
from pages.components.server import entry

_STYLE = Path(__file__).with_name("alone.css").read_text(encoding="utf-8")


@dataclass(frozen=True)
class View:
    """The name of a picture in the URL."""

    page: str
    key = "view"

    def sanitize(self, raw: list[str]) -> tuple[str | None, str | None]:
        names = [picture.name for picture in BY_NAME[self.page].pictures]
        if len(raw) == 1 and raw[0] in names:
            return raw[0], None
        asked = escaping.value_as_code(", ".join(raw))
        allowed = ", ".join(names)
        one = f"one of {allowed}" if len(names) > 1 else allowed
        return None, f"The link asked for view = {asked}; allowed is {one}, so the whole page is shown."


def parameters() -> list[View]:
    """The parameter of the current page, to be sanitized like controls; none on a page without such pictures."""
    page = entry.page()
    return [View(page.name)] if page.pictures else []


def _picture() -> Picture | None:
    name = st.query_params.get(View.key)  # a control of *Your data* has this name too
    return next((picture for picture in entry.page().pictures if picture.name == name), None)


def chosen() -> str | None:
    """The name of the picture that is shown alone; None: the whole page is shown."""
    picture = _picture()
    return picture.name if picture else None


def live_part() -> str | None:
    """The part of the live view that is shown alone; None: all of it, or a figure that is not part of it."""
    picture = _picture()
    return picture.name if picture and picture.live else None


def leaves_out(figure: str) -> bool:
    """Whether the Plotly figure of this key is left out."""
    name = chosen()
    return name is not None and (live_part() is not None or name != figure)


def leaves_out_live() -> bool:
    """Whether the live view is left out."""
    return chosen() is not None and live_part() is None


def apply_styles() -> None:
    """Hide the rest of the page, if a picture is shown alone."""
    if chosen() is not None:
        st.html(f"<style>{_STYLE}</style>")


def report_missing() -> None:
    """Say so, if the page has come to its end without the picture that a link asks for alone."""
    if chosen() is not None:
        st.info(f"With these settings the page does not show the picture {chosen()}.", icon=":material/visibility_off:")
        finish()


def finish() -> None:
    """Stop the script after a picture that is shown alone, with a link to the whole page below it."""
    if chosen() is None:
        return
    query = [(name, value) for name in st.query_params for value in st.query_params.get_all(name)]
    settings = urlencode([(name, value) for name, value in query if name != "view"])
    address = f"./{entry.current_page()}" + (f"?{settings}" if settings else "")
    with st.container(key="whole_page"):
        st.markdown(f"[Whole page]({address})", width="content")
    st.stop()
