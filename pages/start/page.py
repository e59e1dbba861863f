"""Start: tune the radio, then the path through the app."""

from types import SimpleNamespace

import streamlit as st

from datasets.toy_data import TEST_POINTS
from pages.shared import layout, lessons, live, sharing
from pages.shared.catalogue import BY_NAME, PAGES
from pages.shared.controls.widgets import Code, mount
from pages.shared.server.cache import cache_results
from pages.start import compute, view

cache_results(view, "radio")

#: What the reader has set on the radio.
RADIO = Code(
    "radio",
    compute.decode,
    f"data, waves, β, D and σ, such as `checkerboard~12-480~1~2000~0.251`, of {', '.join(compute.STATIONS)}, with "
    f"waves below {compute.CANDIDATES}, β from 0.03 to 30, D from 10 to {compute.CANDIDATES} and σ from 0.1 to 1",
    "the radio starts from the beginning",
    compute.beside_own_waves,
)


def link(page: str, label: str, icon: str = "arrow_forward", **settings) -> None:
    """Show a link to a page with the settings of a figure."""
    query = {key: str(value) for key, value in settings.items()}
    st.page_link(BY_NAME[page].script, label=label, icon=f":material/{icon}:", query_params=query)


@st.fragment
def show_radio() -> None:
    """Show the radio, and two links; what the reader sets reruns only this part of the page."""
    with layout.show_errors():
        code = st.query_params.get(RADIO.key, "")
        live.mount("radio", view.radio() | {RADIO.key: code}, SimpleNamespace(), on_clicked=RADIO.take)
    layout.caption_below(
        "**One wave cuts two corners off every square, a second one mends them: their mean is a kernel that no bump "
        "around the star can be.**"
        if code.partition("~")[0] in ("", "checkerboard")
        else "**Where no two waves agree with all labels, the posterior keeps many: β and D say how many.**",
        "Each dot of the plane is a wave of the [[prior]], $\\cos(\\omega\\cdot(x_\\star - x))$: green near the star, "
        "purple half a wave away. It agrees with the labels where green lies on the star's class. Your map is the "
        "mean of the waves that you keep, and a point takes the star's class where the map is green. "
        "$\\mathrm{KL} = \\ln(N/k)$ for $k$ of $N$ waves is the price of the choice. The [[posterior]] weighs all of "
        "them by $e^{-\\beta\\sqrt n\\,\\text{loss}}$. The bound is on the [[alignment loss]] of the waves, not on the "
        "error; a coin has 0.5. It holds if the star, D and σ are chosen before a look at the labels. Errors are "
        f"measured on {TEST_POINTS} fresh points; on points drawn by hand, on these.",
    )
    with st.container(horizontal=True, key="first_steps"):
        link("landmarks", "**Many stars:** the same with all controls", data="moons", landmarks=3)
        lessons.offer_to_join()


def show_path() -> None:
    """Show every other page by its question, with its lessons."""
    st.divider()
    st.header("The path through the app")
    st.markdown("A page answers one question. A lesson has a few steps: look, predict, and see what happens.")
    with st.container(key="all_lessons"):
        for page in PAGES:
            if not page.path:
                continue
            link(page.name, f"**{page.title}.** {page.question}", page.icon or "subdirectory_arrow_right")
            for lesson in lessons.content.lessons_of(page.name).values():
                end = "" if lesson.title.endswith("?") else "."
                label = f"Lesson: **{lesson.title}{end}** {lesson.takeaway}"
                link(lesson.page, label, "school", **lessons.address(lesson))


def main() -> None:
    tour = lessons.Tour("start", (), (RADIO,))
    values = mount((), tour, parameters=(RADIO,))
    layout.title(
        "**A star asks: which points are like me?** Without labels it can only answer: those nearby. That guess is the "
        "**[[prior]]**. Search the dark plane for waves that agree with the labels.",
    )
    tour.show_card()
    show_radio()
    tour.show_row()
    show_path()

    tuning = RADIO.settle(values)
    sharing.offer(
        "start",
        (),
        values,
        lambda: compute.numbers(tuning),
        vars(tuning),
        {RADIO.key: code} if (code := st.query_params.get(RADIO.key, "")) else {},
    )


if __name__ == "__main__":
    main()
