"""The app's entry: page configuration and navigation, nothing else."""

import gc

import streamlit as st
from threadpoolctl import threadpool_limits

from pages.components import entry, turns, visits


@st.cache_resource
def settle_libraries() -> None:
    """Once a server: what makes every rerun slower is put out of the way."""
    # Pictures are small problems in many sessions: BLAS threads would mostly wait for each other.
    threadpool_limits(limits=1, user_api="blas")
    # Garbage is collected after every script run: what the imports have made need not be looked through again.
    gc.collect()
    gc.freeze()


st.set_page_config(page_title="PAC-Bayesian random Fourier features", page_icon="🌊", layout="wide")
# No url_path: a page's address is its file's name, see pages/components/entry.py.
# Pages under an empty heading stand in the bar themselves, the others in a menu each.
page = st.navigation(
    {
        "": [st.Page("pages/start.py", title="Start here", icon=":material/home:", default=True)],
        "Learn": [
            st.Page("pages/kernel.py", title="A kernel is a prior", icon=":material/ssid_chart:"),
            st.Page("pages/landmarks.py", title="Landmarks", icon=":material/star:"),
            st.Page("pages/learn_kernel.py", title="Learn the kernel", icon=":material/tune:"),
            st.Page("pages/bounds.py", title="Bounds", icon=":material/vertical_align_top:"),
        ],
        "Frequencies": [
            st.Page("pages/approximate.py", title="Approximate a kernel", icon=":material/grain:"),
            st.Page("pages/adaptive.py", title="Adaptive frequencies", icon=":material/my_location:"),
        ],
        "Data and papers": [
            st.Page("pages/your_data.py", title="Your data", icon=":material/upload_file:"),
            st.Page("pages/real_data.py", title="Real data", icon=":material/database:"),
            st.Page("pages/paper.py", title="Paper against rerun", icon=":material/compare_arrows:"),
            st.Page("pages/errata.py", title="Errata", visibility="hidden"),
        ],
    },
    position="top",
)
entry.mark(page.url_path)
visits.who()
with turns.turn():
    page.run()
settle_libraries()
