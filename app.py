"""Entry of the app: page configuration and navigation."""

import streamlit as st

from pages.components.server import browser_messages, entry, queues, visits

browser_messages.refuse_unused()
st.set_page_config(page_title="PAC-Bayesian random Fourier features", page_icon="🌊", layout="wide")
# No url_path: a page's address is its file's name, see pages/components/server/entry.py.
# Pages under the empty heading are entries of the bar itself; each other heading is a menu.
page = st.navigation(
    {
        "": [st.Page("pages/start.py", title="Start here", icon=":material/home:", default=True)],
        "Learn": [
            st.Page("pages/kernel.py", title="A kernel is a prior", icon=":material/ssid_chart:"),
            st.Page("pages/landmarks.py", title="Landmarks", icon=":material/star:"),
            st.Page("pages/learn_kernel.py", title="Learn the kernel", icon=":material/tune:"),
            st.Page("pages/bounds.py", title="Bounds", icon=":material/vertical_align_top:"),
            st.Page("pages/certificates.py", title="Certificates", icon=":material/verified:"),
        ],
        "Frequencies": [
            st.Page("pages/approximate.py", title="Approximate a kernel", icon=":material/grain:"),
            st.Page("pages/adaptive.py", title="Adaptive frequencies", icon=":material/my_location:"),
        ],
        "Data and papers": [
            st.Page("pages/your_data.py", title="Your data", icon=":material/upload_file:"),
            st.Page("pages/real_data.py", title="Real data", icon=":material/database:"),
            st.Page("pages/paper.py", title="Paper against rerun", icon=":material/compare_arrows:"),
            st.Page("pages/glossary.py", title="Glossary", icon=":material/menu_book:"),
            st.Page("pages/errata.py", title="Errata", visibility="hidden"),
        ],
    },
    position="top",
)
entry.record_page(page.url_path)
visits.current_visitor()
try:
    with queues.compute_slot():
        page.run()
finally:  # also where the page stops early, as it does after a picture that is shown alone
    entry.settle_libraries()
