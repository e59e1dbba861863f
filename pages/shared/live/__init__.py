"""Live views: the browser takes what the engine computed once, and repaints canvases at every move of a slider.

`mount` shows a view. Its files, and the functions that pack its data, are in `pages.shared.live`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import streamlit as st

from pages.shared.browser import as_expression
from pages.shared.controls.widgets import Control, hide_controls, rerun_page
from pages.shared.live import parts

#: False in the static edition, where a view gets all its data at once.
has_server = True

# Streamlit sends the script and the style of a component with all its data, 100 kB a change. So these are components of
# their own: the browser keeps such a message, which does not change, and the server names it.
_SHOW = "const view = ((globalThis.liveViews ??= {})[%r] ??= {});\n"
_WAIT = "export default (component) => view.show ? view.show(component) : (view.waiting = component);\n"
_READY = "if (view.waiting) view.show(view.waiting);\nexport default () => {};\n"
_components = {
    name: st.components.v2.component(
        f"live_{name}", html=parts.html(name), js=_SHOW % name + _WAIT, isolate_styles=False
    )
    for name in parts.VIEWS
}
_scripts = {
    name: st.components.v2.component(
        f"script_of_{name}",
        css=parts.read("live.css"),
        js=f"{_SHOW % name}view.show = {as_expression(parts.script(name))};\n{_READY}",
        isolate_styles=False,
    )
    for name in parts.VIEWS
}


def _is_finite(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def mount(
    name: str,
    packed: dict,
    values,
    sliders: Sequence[Control] = (),
    on_clicked: Callable | None = None,
    on_reached: Callable | None = None,
    chosen: str | dict | None = None,
    beside: Sequence[Control] = (),
) -> None:
    """Show a live view.

    Parameters
    ----------
    name : str
        One of `pages.shared.live.parts.VIEWS`.
    packed : dict
        From the view's ``pack_`` function.
    values : namespace
        Settings of the page.
    sliders : sequence of Control
        Controls of the row that the view shows as sliders. When the reader leaves a slider, its control takes the
        nearest allowed value.
    on_clicked : callable, optional
        Called with the value that a click sets: rows of training points as landmarks, the place of a landmark, the
        position of a bound, or the code of moved frequencies; in a certificate, when a click asks for new points.
        The argument is unchecked: a browser may send anything.
    on_reached : callable, optional
        Called when the reader takes hold of a slider and the view needs more data for its other positions.
    chosen : str or dict, optional
        The data set that is enlarged, or the bound that is shown with its terms, with its map.
    beside : sequence of Control, optional
        Controls that the view sets too, and that stay in the row.
    """
    key = f"live_{name}"
    within, sliders = sliders, (*sliders, *beside)
    keys = [control.key for control in sliders]

    def settle() -> None:
        settled = st.session_state[key].get("settled")
        for control in sliders:
            value = settled.get(control.key) if isinstance(settled, dict) else None
            if _is_finite(value):  # a browser may send anything
                st.session_state[control.key] = control.nearest(value)
        rerun_page()

    def click() -> None:
        on_clicked(st.session_state[key].get("clicked"))
        rerun_page()

    callbacks = {"on_settled_change": settle} if sliders else {}
    if on_clicked is not None:
        callbacks["on_clicked_change"] = click
    if on_reached is not None:
        callbacks["on_reached_change"] = on_reached
    sent = packed | {
        "settings": {key: getattr(values, key) for key in keys},
        "clickable": on_clicked is not None,
        "chosen": chosen,
    }
    _components[name](data=sent, key=key, **callbacks)  # first: the browser paints between messages
    _scripts[name](key=f"script_of_{name}")
    hide_controls([control.key for control in within])
