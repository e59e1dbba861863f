"""A visitor's session without a browser: opening a page, pressing and choosing; and waiting for other threads."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from streamlit.testing.v1 import AppTest

from pages.shared.catalogue import BY_NAME
from pages.shared.controls.widgets import Control, without_headings
from pages.shared.server import navigation

ROOT = Path(__file__).parents[2]
#: Those with controls.
PAGES = [name for name in BY_NAME if hasattr(import_module(BY_NAME[name].module), "CONTROLS")]


def controls_of(page: str) -> list[Control]:
    return without_headings(import_module(BY_NAME[page].module).CONTROLS)


def reached(page: str, **query: str) -> AppTest:
    """A page with settings in its address, whatever it shows."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    app.query_params["view"] = "opening"  # the least that opens the app
    app.run()
    app.query_params.clear()
    app.query_params.update(query)
    app.session_state[navigation._ENTERED] = BY_NAME[page].path  # from here on the page runs without app.py
    return app.switch_page(BY_NAME[page].script).run()


def opened(page: str, **query: str) -> AppTest:
    """A page with settings in its address, without errors."""
    app = reached(page, **query)
    assert not app.exception and not app.error
    return app


def pressed(app: AppTest, label: str) -> AppTest:
    return next(button for button in app.button if button.label == label).click().run()


def chosen(app: AppTest, **values) -> AppTest:
    for key, value in values.items():
        app.session_state[key] = value
    return app.run()


def link(app: AppTest) -> dict[str, str]:
    """The query of the link that the last row of the page copies."""
    (row,) = [part for part in app.get("bidi_component") if part.proto.component_name == "sharing"]
    return dict(json.loads(row.proto.json)["query"])


@contextmanager
def logged(log: logging.Logger, form: str) -> Iterator[list[str]]:
    """The lines that a log gets meanwhile."""
    lines = []
    handler = logging.Handler()
    handler.setFormatter(logging.Formatter(form))
    handler.emit = lambda record: lines.append(handler.format(record))
    log.addHandler(handler)
    yield lines
    log.removeHandler(handler)


def soon(condition, seconds: float = 30.0) -> bool:
    """Whether a condition becomes true in time."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()
