"""Entry of the app: page configuration and navigation."""

import streamlit as st

from pages.components import catalogue
from pages.components.server import browser_messages, entry, queues, visits

browser_messages.refuse_unused()
st.set_page_config(page_title="PAC-Bayesian random Fourier features", page_icon="🌊", layout="wide")
# No url_path: a page's address is its file's name, see pages/components/server/entry.py.
menus: dict[str, list] = {}
for record in catalogue.PAGES:
    shown = st.Page(
        f"pages/{record.name}.py",
        title=record.title,
        icon=f":material/{record.icon}:" if record.icon else None,
        default=record.path == "",
        visibility="hidden" if record.hidden else "visible",
    )
    menus.setdefault(record.menu, []).append(shown)
page = st.navigation(menus, position="top")
entry.record_page(page.url_path)
visits.current_visitor()
try:
    with queues.compute_slot():
        page.run()
finally:  # also where the page stops early, as it does after a picture that is shown alone
    entry.settle_libraries()
