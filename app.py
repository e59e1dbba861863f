"""Entry of the app: page configuration and navigation."""

from functools import partial

import streamlit as st

from pages.shared import catalogue
from pages.shared.server import browser_messages, navigation, visits, workers

browser_messages.refuse_unused()
st.set_page_config(page_title="PAC-Bayesian random Fourier features", page_icon="🌊", layout="wide")
menus: dict[str, list] = {}
for record in catalogue.PAGES:
    shown = st.Page(
        record.script,
        title=record.title,
        icon=f":material/{record.icon}:" if record.icon else None,
        url_path=record.path,
        default=record.path == "",
        visibility="hidden" if record.of else "visible",
    )
    menus.setdefault(record.menu, []).append(shown)
    for address in record.former:
        moved = partial(navigation.move, shown)
        menus[record.menu].append(st.Page(moved, title=record.title, url_path=address, visibility="hidden"))
page = st.navigation(menus, position="top")
navigation.record_page(page.url_path)
visits.current_visitor()
try:
    with workers.compute_slot():
        page.run()
finally:  # also if the page stops early
    navigation.settle_libraries()
