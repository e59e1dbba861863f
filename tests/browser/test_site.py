"""The static edition, opened as files: every page draws, follows its controls and links, and leads through lessons."""

from __future__ import annotations

import shutil
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import PLACE_OF_POINT, new_page, violations, wait_until
from playwright.sync_api import expect

from datasets.toy_data import ToyData
from deploy.site import writing
from pages.bounds import compute as bound_compute
from pages.bounds.compute import BoundSettings
from pages.kernel.learn.compute import CandidateSettings, candidates
from pages.landmarks.compute import LandmarkSettings, landmark_problem
from pages.landmarks.page import TOO_MANY
from pages.shared.catalogue import BY_NAME, PAGES
from pages.shared.lessons.content import all_lessons

#: Whether the first picture is there, be it of the live view or one of Plotly's.
FIRST_PICTURE = """() => {
    const live = document.querySelector('.live');
    return live ? live.view?.ink !== undefined : document.querySelector('.js-plotly-plot .main-svg') !== null;
}"""
DRAWN = f"() => ({FIRST_PICTURE})() && !('loading' in document.documentElement.dataset)"
#: Shows all that waits for the reader to come near.
SHOW_ALL = """() => {
    const shown = [];
    document.dispatchEvent(new CustomEvent('show-all', {detail: shown}));
    return Promise.all(shown).then(() => undefined);
}"""
#: Settings of the exported pages besides defaults, presets and lessons.
PRODUCTS = {
    "bounds": ({"bound": ("Theorem 3", "Theorem 4")},),
    "kernel": ({"kernel": ("Matérn",), "nu": (1.5, 50.0)},),
    "adaptive": ({"data": ("line", "moons")},),
}
#: Samples of the pages whose views the browser computes; each is computed for all widths and noises.
SAMPLES = {"landmarks": ({"data": ("moons", "circles"), "seed": (0, 1)},), "learn_kernel": ({},)}
#: Whether the part that a step looks at is there, in its frame.
LOOKED_AT = """() => {
    const frame = document.querySelector('.look-here');
    return frame && !frame.hidden && frame.getBoundingClientRect().height > 20;
}"""
#: Notes the scripts and style sheets that a page asks for, and which of them before its first picture.
ASKED = f"""
    window.asked = new Map();
    const isDrawn = {FIRST_PICTURE};
    new MutationObserver(records => {{
        for (const {{nodeName, src, href}} of records.flatMap(record => [...record.addedNodes]))
            if (/^(script|link)$/i.test(nodeName) && /^file/.test(src ?? href)) asked.set(src ?? href, isDrawn());
    }}).observe(document, {{childList: true, subtree: true}});
"""
#: Bytes that a page may load before its first picture.
BEFORE_FIRST_PICTURE = 1_000_000
EDITION = [page for page in PAGES if page.grid]
PAGE_NAMES = [page.path or "index" for page in EDITION]

pytestmark = [pytest.mark.slow("exports eight pages of the app, with all lessons"), pytest.mark.second]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of an export of a few settings."""
    folder = tmp_path_factory.mktemp("site")
    few = [
        replace(
            page,
            grid=replace(
                page.grid, products=PRODUCTS.get(page.name, ()), samples=SAMPLES.get(page.name, ()), sections=()
            ),
        )
        for page in EDITION
    ]
    writing.export(folder, few)
    return folder


@pytest.fixture
def open_file(new_context, site):
    """Function that opens a page of the export from the disk, and waits until its live view is drawn."""

    def open_(name: str, fragment: str = "", **options):
        page = new_page(new_context(**{"viewport": {"width": 1440, "height": 900}} | options))
        page.complaints = []
        page.add_init_script(ASKED)
        page.goto(f"file://{site}/{name}.html" + (f"#{fragment}" if fragment else ""))
        page.wait_for_function(DRAWN)
        return page

    return open_


def link(page) -> str:
    return page.evaluate("location.hash")


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_every_page_draws_and_fits_a_phone(open_file, name):
    page = open_file(name, viewport={"width": 390, "height": 844}, color_scheme="dark")
    painted = page.evaluate(
        """() => [...document.querySelectorAll('.live canvas')].filter(canvas => canvas.clientWidth).map(canvas => {
            const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            return data.some(value => value > 0);
        })"""
    )
    assert all(painted) and len(painted) >= 2 * page.locator(".live").count()
    page.evaluate(SHOW_ALL)
    for figure in page.locator("[data-plot]").all():
        expect(figure.locator(".main-svg").first).to_be_visible()
        assert figure.evaluate("figure => figure.scrollWidth <= figure.clientWidth")
    main = page.locator("main")
    assert main.evaluate("main => main.scrollWidth <= main.clientWidth")
    page.get_by_role("button", name="Pages").click()
    expect(page.get_by_role("link", name="Glossary")).to_be_visible()
    page.keyboard.press("Escape")
    # It would fetch the style sheets once more, which the page's policy forbids.
    assert Axe().run(page, options={"preload": False}).response["violations"] == []
    assert page.complaints == []


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_a_page_loads_little_before_its_first_picture(open_file, site, name):
    """Whatever has been asked for until then counts as loaded."""
    if not writing.PLANE.exists():
        pytest.skip("Plotly's part for a plane is not installed: npm ci")
    page = open_file(name)
    asked = page.evaluate("[...asked.keys()].filter(address => !asked.get(address))")
    files = [site / f"{name}.html", *(Path(address.removeprefix("file://")) for address in asked)]
    assert {path.name for path in files} >= {"site.js", "site.css"}
    assert sum(path.stat().st_size for path in files) <= BEFORE_FIRST_PICTURE, [path.name for path in files]
    names = "Array.from(asked.keys(), address => address.split('/').at(-1))"
    page.evaluate(SHOW_ALL)
    if name in ("kernel", "adaptive"):
        assert "plotly.js" in page.evaluate(names)


def numbers_of(page, *names: str) -> dict[str, np.ndarray]:
    """Arrays of the live view, by their names."""
    return {name: np.array(page.evaluate(f"Array.from(document.querySelector('.live').view.{name})")) for name in names}


def test_a_turned_prior_is_in_the_link_and_its_candidates_are_the_engines(open_file):
    page = open_file("learn_kernel", "along=2&across=0.501&angle=45")
    settings = CandidateSettings(ToyData("checkerboard", 300, 0.1, 0), 0.251, 2000, (2.0, 0.501, 45))
    shown = numbers_of(page, "data.omega", "data.loss")
    np.testing.assert_allclose(shown["data.omega"], candidates(settings).omega.ravel(), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(shown["data.loss"], candidates(settings).loss, rtol=1e-6)
    page.get_by_role("slider", name="Angle").press("ArrowLeft")
    page.wait_for_function("() => location.hash.includes('angle=44')")
    assert page.complaints == []


def test_the_view_follows_a_slider_that_is_held(open_file):
    page = open_file("landmarks")
    sigma = page.locator(".live").get_by_role("slider", name="Bandwidth")
    before = numbers_of(page, "data.omega")["data.omega"]
    sigma.evaluate("input => { input.value = -1; input.dispatchEvent(new Event('input')); }")
    page.wait_for_function("() => document.querySelector('.live').view.data.sigma === 0.1")
    np.testing.assert_allclose(numbers_of(page, "data.omega")["data.omega"], before * 5.01, rtol=1e-9)
    assert link(page) == ""
    sigma.evaluate("input => input.dispatchEvent(new Event('change'))")
    page.wait_for_function("() => location.hash === '#sigma=0.1'")
    entries = page.evaluate("history.length")
    page.get_by_role("slider", name="Noise").focus()
    page.keyboard.press("End")
    page.wait_for_function("() => location.hash === '#noise=0.5&sigma=0.1'")
    assert page.locator(".controls [data-key=noise] output").inner_text() == "0.5"
    assert page.evaluate("history.length") == entries + 1
    page.go_back()
    page.wait_for_function("() => document.querySelector('.live').view.data.noise === 0.1")
    assert page.complaints == []


def click_point(page, row: int) -> None:
    page.mouse.click(*page.evaluate(PLACE_OF_POINT, row))


@pytest.mark.parametrize("width", [1440, 390])
def test_points_become_landmarks_by_clicks(open_file, width):
    page = open_file("landmarks", viewport={"width": width, "height": 900})
    rows = page.evaluate("document.querySelector('.live').view.data.rows")
    data = ToyData("moons", 300, 0.1, 0)
    random = landmark_problem(LandmarkSettings(data, 0.501, 256, 5, "random"))
    assert rows == random.indices.tolist()
    np.testing.assert_allclose(numbers_of(page, "data.omega")["data.omega"], random.omega.ravel(), rtol=1e-6)
    click_point(page, rows[4])
    page.wait_for_function("() => location.hash.includes('how=clicked')")
    assert link(page).endswith("picks=" + "-".join(map(str, rows[:4])))
    expect(page.locator(".controls [name=how]")).to_have_value("clicked")
    expect(page.locator(".controls [data-key=landmarks]")).to_be_hidden()
    far = page.evaluate("""() => {
        const {X, n, data} = document.querySelector('.live').view;
        const apart = (i, j) => Math.hypot(X[2 * i] - X[2 * j], X[2 * i + 1] - X[2 * j + 1]);
        const nearest = i => Math.min(...Array.from({length: n}, (_, j) => i === j ? 9 : apart(i, j)));
        const free = [...Array(n).keys()].filter(i => data.rows.every(row => apart(i, row) > 0.3));
        return free.sort((i, j) => nearest(j) - nearest(i)).slice(0, 6);
    }""")
    click_point(page, far[0])
    picks = [*rows[:4], far[0]]
    page.wait_for_function("picks => location.hash.endsWith('picks=' + picks)", arg="-".join(map(str, picks)))
    problem = landmark_problem(LandmarkSettings(data, 0.501, 256, 5, tuple(picks)))
    # The losses of more than D frequencies come after the first picture.
    page.wait_for_function("() => document.querySelector('.live').view.reached === 256")
    shown = numbers_of(page, "data.landmarks", "loss")
    np.testing.assert_allclose(shown["data.landmarks"], problem.landmarks.ravel(), rtol=1e-6)
    np.testing.assert_allclose(shown["loss"], problem.loss.ravel(), rtol=1e-6, atol=1e-12)
    assert page.complaints == []


def test_no_landmark_and_too_many_are_told_in_the_apps_words(open_file):
    page = open_file("landmarks", "how=clicked")
    expect(page.locator(".changes")).to_contain_text("No point is chosen yet")
    assert len(page.evaluate("document.querySelector('.live').view.data.rows")) == 5
    page = open_file("landmarks", "how=clicked&picks=" + "-".join(map(str, range(8))))
    expect(page.locator(".changes")).to_be_hidden()
    points = page.locator("canvas.points")
    points.focus()
    page.keyboard.press("ArrowRight")
    while page.evaluate("document.querySelector('.live').view.focus.point") < 8:
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".changes")).to_contain_text(TOO_MANY)
    page = open_file("landmarks", "how=clicked&picks=5-5-999999-x-7-300")  # of another sample, or mistyped
    assert page.evaluate("document.querySelector('.live').view.data.rows") == [5, 7]
    expect(page.locator(".changes")).to_have_text(
        "The link names the points 5-5-999999-x-7-300; kept are at most 8 different ones below n = 300."
    )
    expect(page.locator(".preset-line")).to_be_empty()
    page.get_by_role("button", name="Two moons").click()
    page.wait_for_function("() => location.hash === ''")


def test_controls_and_the_link_follow_each_other(open_file):
    page = open_file("landmarks")
    page.get_by_label("Toy data").select_option("circles")
    page.wait_for_function("() => location.hash === '#data=circles'")
    page.get_by_label("Seed").select_option("1")
    page.wait_for_function("() => location.hash === '#data=circles&seed=1'")
    page.go_back()
    expect(page.get_by_label("Seed")).to_have_value("0")
    page.get_by_role("button", name="Spirals").click()
    expect(page.locator(".preset-line")).to_contain_text("Shown: Spirals.")
    page.wait_for_function("() => location.hash.includes('D=150') && location.hash.includes('sigma=0.2')")
    # Circles were exported for another seed, spirals were not.
    page.get_by_label("Seed").select_option("1")
    expect(page.locator(".changes")).to_contain_text("changed too")
    assert page.complaints == []


def test_a_click_chooses_a_bound_and_its_words(open_file):
    page = open_file("bounds")
    page.get_by_role("button", name="Theorem 4").click()
    expect(page.get_by_label("Bound in colour, with its terms")).to_have_value("Theorem 4")
    expect(page.get_by_text("The lowest point of Theorem 4")).to_be_visible()


def test_all_lessons_are_walked_through_by_clicks(open_file):
    page = open_file("index")
    page.get_by_role("link", name=all_lessons()[0].title).click()
    page.wait_for_url(f"**/{BY_NAME[all_lessons()[0].page].path or 'index'}.html#*")
    page.locator(".lesson").wait_for()
    exported = [lesson for lesson in all_lessons() if BY_NAME[lesson.page].grid]
    for step in range(sum(len(lesson.steps) for lesson in exported)):
        answers = page.locator(".lesson .answers button")
        answers.first.wait_for()
        answers.nth(step % 2).click()
        expect(page.locator(".lesson-outcome p").first).to_be_visible()
        expect(page.locator(".lesson-note")).to_be_hidden()
        page.wait_for_function(LOOKED_AT)
        # What the step looks at was computed for its settings.
        assert not any(page.locator(".changes, .computed").all_inner_texts())
        before = page.locator(".lesson-count").inner_text() + page.locator(".lesson-title").inner_text()
        page.locator(".lesson .next").click()
        changed = """before => {
            const shown = name => document.querySelector(`.lesson-${name}`)?.innerText ?? '';
            return shown('count') + shown('title') !== before;
        }"""
        page.wait_for_function(changed, arg=before)
    expect(page.locator(".lesson")).to_have_count(0)
    assert page.complaints == []


def test_a_section_says_for_which_settings_it_was_computed(open_file):
    page = open_file("landmarks")
    page.evaluate(SHOW_ALL)
    expect(page.locator(".computed:visible")).to_have_count(0)
    page = open_file("landmarks", "beta=3.98")
    page.evaluate(SHOW_ALL)
    note = page.locator(".computed:visible").first
    expect(note).to_contain_text("Computed beforehand, here for other settings than yours: Inverse temperature β: ")


def test_a_figure_follows_controls_theme_and_screen(open_file):
    page = open_file("adaptive")
    page.evaluate(SHOW_ALL)
    figure = page.locator("[data-plot=grid] .js-plotly-plot")
    spread = "figure => figure.layout.xaxis2.domain[0]"
    assert figure.evaluate(spread) > 0.3  # beside each other
    page.locator("select[name=data]").select_option(index=1)
    page.wait_for_function("() => location.hash.includes('data=')")
    page.set_viewport_size({"width": 390, "height": 844})
    figure.scroll_into_view_if_needed()
    page.wait_for_function(f"() => ({spread})(document.querySelector('[data-plot=grid] .js-plotly-plot')) < 0.1")
    page.emulate_media(color_scheme="dark")
    colour = "document.querySelector('[data-plot=grid] .js-plotly-plot').layout.template.layout.font.color"
    page.wait_for_function(f"() => {colour} === '#fafafa'")
    assert page.complaints == []


def test_a_control_is_shown_where_it_applies(open_file):
    page = open_file("kernel")
    expect(page.get_by_label("Smoothness ν")).to_be_hidden()
    page.locator("select[name=kernel]").select_option("Matérn")
    expect(page.get_by_label("Smoothness ν")).to_have_value("1.5")


def test_projector_and_theme(open_file):
    page = open_file("landmarks")
    page.get_by_role("button", name="Theme: system").click()
    page.get_by_role("button", name="Theme: light").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.get_by_role("button", name="Projector").click()
    expect(page.locator("[data-testid=stHeader]")).to_be_hidden()
    assert link(page) == "#projector=true"
    page.get_by_role("button", name="Leave projector mode").click()
    expect(page.locator("[data-testid=stHeader]")).to_be_visible()


def test_pictures_are_saved(open_file):
    page = open_file("adaptive")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the figure as SVG").click()
    assert "<svg" in saved.value.path().read_text("utf-8")
    assert saved.value.suggested_filename == "adaptive-live.svg"


def test_a_page_draws_in_a_sandbox_of_another_site(serve_folder, site, new_context, tmp_path):
    shown = f"http://127.0.0.1:{serve_folder(site)}/adaptive.html"
    (tmp_path / "index.html").write_text(f'<iframe src="{shown}" sandbox="allow-scripts" width="900" height="700">')
    page = new_page(new_context())
    page.goto(f"http://localhost:{serve_folder(tmp_path)}")
    figure = page.frame_locator("iframe").locator("[data-plot=errors]")
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".main-svg").first).to_be_visible()


def test_a_page_runs_no_script_but_its_own_and_sends_nothing(open_file):
    page = open_file("index")
    page.evaluate(
        """() => {
            document.body.insertAdjacentHTML('beforeend', '<img src="data:," onerror="window.hacked = 1">');
            document.body.append(Object.assign(document.createElement('script'), {text: 'window.hacked = 1'}));
            return fetch('https://elsewhere.example/').then(() => { window.hacked = 1; }, () => undefined);
        }"""
    )
    wait_until(lambda: page.evaluate("window.hacked") is not None or len(violations) >= 3)
    assert page.evaluate("window.hacked") is None
    violations.clear()


def saved_numbers(page) -> pd.DataFrame:
    with page.expect_download() as saved:
        page.get_by_role("button", name="Numbers (CSV)").click()
    return pd.read_csv(saved.value.path())


def test_a_frequency_that_is_moved_is_in_the_link(open_file):
    page = open_file("kernel", "moved=3_2.5&D=10")
    moved = "[...document.querySelector('.live').view.moves]"
    assert page.evaluate(moved) == [[3, 2.5]]
    page.locator("canvas.spectrum").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => /moved=3_2.5%7E\\d_|moved=\\d_[^&]*%7E3_2.5|~/.test(location.hash)")
    assert len(page.evaluate(moved)) == 2
    page.get_by_role("button", name="Put all back").click()
    page.wait_for_function("() => !location.hash.includes('moved')")
    assert page.evaluate(moved) == []


def test_numbers_are_the_apps_table_at_the_settings_that_were_exported(open_file):
    page = open_file("bounds")
    settings = BoundSettings(ToyData("moons", 300, 0.1, 0), 0.501, 200)
    case = bound_compute.promises(300, 5.0, 0.05, 0, 1000)
    expected = bound_compute.numbers(settings, 1.0, 0.05, 5.0, "corrected", 1, case)
    pd.testing.assert_frame_equal(saved_numbers(page), pd.read_csv(StringIO(expected.to_csv(index=False))))
    expect(page.locator(".of-numbers")).to_be_empty()
    page = open_file("bounds", "beta=2")
    expect(page.locator(".of-numbers")).to_contain_text("β: 1")
    pd.testing.assert_frame_equal(saved_numbers(page), pd.read_csv(StringIO(expected.to_csv(index=False))))


def test_a_file_that_is_missing_is_named(open_file, site, tmp_path):
    shutil.copytree(site, tmp_path / "site")
    for file in (tmp_path / "site" / "data" / "samples").iterdir():
        file.unlink()
    page = open_file("index")
    page.goto(f"file://{tmp_path}/site/landmarks.html")
    expect(page.get_by_role("alert").first).to_contain_text("cannot be read")
