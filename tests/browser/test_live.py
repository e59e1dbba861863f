"""The live views in a browser: what they show, how they follow sliders and pointer, and what they report.

Their arithmetic is held to the engine in tests/javascript.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from conftest import PLACE_OF_POINT, drag, fold, go_to, inside, settle
from playwright.sync_api import expect
from scipy.special import ndtr

import datasets
import rff_engine as rff
from pages.foundations import compute as foundations
from pages.kernel.compute import kernel_functions, kernel_line, kernel_settings
from pages.kernel.learn.compute import TurnedGaussianKernel, weight_summary
from pages.papers import compute as papers
from pages.shared.controls.moved_frequencies import decode
from rff_engine.studies.toy import (
    bounds as bound_curves,
    certificates as toy_certificates,
    coverage,
    kernel as toy_kernels,
)
from rff_engine.studies.toy.landmarks import landmark_path, landmark_problem, landmark_view
from tests import naive

SETTLED = "() => new URL(location.href).searchParams.get('{}') === '{}'"


def open_live(open_page, path="landmarks", **kwargs):
    page = open_page(path, **kwargs)
    page.wait_for_function("() => document.querySelector('.live')?.view?.ink !== undefined")
    return page


def move_sliders(page, settings: dict, read: str):
    """Value of an expression in `view` once live sliders are moved, without releasing them, and drawn."""
    # The expression stands in the text: the page's policy refuses to make functions of strings.
    return page.evaluate(
        """settings => new Promise((done, fail) => {
            const view = document.querySelector('.live').view;
            for (const [name, value] of Object.entries(settings)) {
                const input = view.inputs[name];
                input.value = input.dataset.scale === 'log' ? Math.log10(value) : value;
                input.dispatchEvent(new Event('input'));
            }
            const answer = () => { try { done(READ); } catch (error) { fail(error); } };
            requestAnimationFrame(() => requestAnimationFrame(answer));
        })""".replace("READ", read),
        settings,
    )


LANDMARK_MAPS = """({
    maps: view.learnedMaps.map(map => Array.from(map)),
    decision: Array.from(view.decision),
    pixels: view.tiles.map(tile => Array.from(tile.image.data)),
})"""


@pytest.mark.first
def test_landmark_maps_are_the_engines_and_have_the_colours_of_their_values(open_page):
    """Slow, because the engine computes, and the browser returns, five maps of 100 × 100 cells."""
    sample, fresh = (datasets.make_toy("moons", n, 0.1, seed) for n, seed in ((300, 0), (2000, 1_000_003)))
    extent = float(np.ceil(4.2 * np.abs(sample.X).max()) / 4)
    page = open_live(open_page)
    for beta, D in ((31.6, 256), (1.0, 20)):
        page.evaluate("document.querySelector('.live').view.beta.step = 'any'")
        live = move_sliders(page, {"beta": beta, "D": D}, LANDMARK_MAPS)
        problem = landmark_problem(sample.X, sample.y, rff.GaussianKernel(0.501), 5, D, "random", 0)
        view = landmark_view(problem, fresh.X, fresh.y, beta, 1.0, extent, 100)
        # A step of the colour scale is 2 / 255.
        np.testing.assert_allclose(np.reshape(live["maps"], (5, 100, 100)), view.learned_maps, atol=1 / 255)
        np.testing.assert_allclose(np.reshape(live["decision"], (100, 100)), view.learned.values, atol=5e-3)
    # Rows of tiles: prior, then learned; the picture's first row is the largest second coordinate.
    for values, pixels in zip((*view.prior_maps, *view.learned_maps), live["pixels"], strict=True):
        red, green, blue, alpha = np.moveaxis(np.reshape(pixels, (100, 100, 4))[::-1], 2, 0)
        assert (alpha == 255).all()
        # Green means similar, purple dissimilar, grey neither.
        assert (green[values > 0.1] > red[values > 0.1]).all()
        assert (green[values < -0.1] < red[values < -0.1]).all()
        neutral = np.abs(values) < 0.01
        assert neutral.any() and np.ptp([red[neutral], green[neutral], blue[neutral]], axis=0).max() <= 6


# Distances in pixels of the lines at beta from the slider's beta, in the figure along all betas.
OFF_BETA = """() => {
    const plot = document.querySelector('.st-key-along_beta .js-plotly-plot');
    const axis = plot._fullLayout.xaxis, zero = plot.getBoundingClientRect().left + axis._offset;
    const at = zero + axis.d2p(document.querySelector('.live').view.value('beta'));
    const lines = [...plot.querySelectorAll('.shapelayer path')];
    return lines.filter(line => plot.layout.shapes[line.dataset.index].name === 'beta').map(line => {
        const {left, width} = line.getBoundingClientRect();
        return Math.abs(left + width / 2 - at);
    });
}"""


ALONG_BETA = "document.querySelector('.st-key-along_beta .js-plotly-plot').data.map(({y}) => String(y.bdata ?? y))"


@pytest.mark.first
def test_a_drag_redraws_the_view_and_its_end_is_in_the_url(open_page):
    page = open_live(open_page)
    page.set_viewport_size({"width": 1440, "height": 1500})  # with the figure below the view
    page.wait_for_selector(".st-key-along_beta .js-plotly-plot")
    page.evaluate(
        "() => { window.sent = 0; const view = document.querySelector('.live').view, report = view.report;"
        "view.report = (...a) => { window.sent++; report(...a); }; }"
    )
    slider, seen, curves = page.locator(".live input[name=beta]"), set(), page.evaluate(ALONG_BETA)
    drag(page, inside(slider), inside(slider, 0.51))
    for k in range(1, 8):
        page.mouse.move(*inside(slider, 0.5 + 0.02 * k))
        page.wait_for_timeout(60)
        seen.add(
            page.locator(".live .learned-errors").inner_text() + page.locator(".live .weights-caption").inner_text()
        )
    assert len(seen) >= 6  # it moved while it was held
    off = page.evaluate(OFF_BETA)
    assert len(off) == 3 and max(off) < 1.5
    assert page.evaluate("window.sent") == 0 and "beta" not in page.url
    page.mouse.up()
    page.wait_for_function("() => Number(new URL(location.href).searchParams.get('beta')) > 1")
    settle(page)
    page.wait_for_function(f"() => Math.max(...({OFF_BETA})()) < 1.5")  # after the server has drawn the figure again
    assert page.evaluate(ALONG_BETA) == curves
    beta = parse_qs(urlsplit(page.url).query)["beta"][0]
    page.wait_for_function(f"() => Math.abs(10 ** document.querySelector('.live').view.beta.value / {beta} - 1) < 0.03")
    shown = page.locator(".live .learned-errors").inner_text()
    again = open_live(open_page, page.url.split("/", 3)[3])
    again.wait_for_function(
        "text => document.querySelector('.live .learned-errors').textContent.trim() === text", arg=shown.strip()
    )


# What the view shows at its width and noise: numbers, colours and words.
SHOWN = """() => {
    const {view} = document.querySelector('.live'), {pbrff, okrff} = view.Q;
    // Those of more than D frequencies of a landmark are filled when they are needed.
    const used = values => values.filter((_, k) => pbrff || k % view.maxD < view.D);
    const rasters = view.tiles ?? [...Object.values(view.planes), ...Object.values(view.kernels)];
    return {
        ...{sigma: view.sigma, noise: view.noise, rows: view.data.rows ?? []},
        Q: pbrff ? [...pbrff, ...okrff] : [...used(view.Q)],
        loss: [...used(pbrff ? view.candidateLoss : view.loss)],
        errors: [view.data.prior_train, view.data.prior_test, view.trainError, view.testError],
        pixels: rasters.map(({image}) => image.data.reduce((sum, value, k) => (31 * sum + (k + 1) * value) % 1e9, 0)),
        words: view.root.querySelector('.scrubbers').textContent + view.root.querySelector('figcaption').textContent,
    };
}"""


# Counts what the view gets, what it makes of draws, and the messages to the server that hold its sliders.
COUNT = """() => {
    Object.assign(window, {received: 0, made: 0, sent: 0});
    const {view} = document.querySelector('.live'), {update, complete} = view, {send} = WebSocket.prototype;
    view.update = (...a) => { received++; update.apply(view, a); };
    view.complete = () => { made++; complete.apply(view); };
    WebSocket.prototype.send = function (message) {
        sent += new TextDecoder().decode(message).includes('settled');
        return send.call(this, message);
    };
}"""


# The server's answers wait until they are let in; later ones come in at once.
HOLD = """() => {
    const {view} = document.querySelector('.live'), {update} = view;
    Object.assign(window, {answers: [], letIn: () => { view.update = update; answers.forEach(answer => answer()); }});
    view.update = (...a) => answers.push(() => update.apply(view, a));
}"""
LET_IN = "async () => { letIn(); await new Promise(requestAnimationFrame); }"


def engine_at(page_name: str, sigma: float, noise: float, selection="random") -> dict:
    """What the engine computes for the page's defaults, a width and a noise: losses, weights and errors."""
    kernel = rff.GaussianKernel(sigma)
    if page_name == "learn_kernel":
        sample = datasets.make_toy("checkerboard", 300, noise, 0)
        drawn = toy_kernels.draw_candidates(sample.X, sample.y, kernel, 2000, 0)
        weights = rff.pseudo_posterior(drawn.loss, 10.0, 300), rff.optimized_kernel_weights(drawn.loss, 0.01, 2.0)
        return {"loss": drawn.loss, "Q": np.concatenate(weights), "errors": []}
    sample, fresh = (datasets.make_toy("moons", n, noise, seed) for n, seed in ((300, 0), (2000, 1_000_003)))
    problem = landmark_problem(sample.X, sample.y, kernel, 5, 20, selection, 0)
    view = landmark_view(problem, fresh.X, fresh.y, 1.0, 1.0, 2.0, 4)
    errors = [(made.train_error, made.test_error) for made in (view.prior, view.learned)]
    ignored = landmark_path(problem, fresh.X, fresh.y, [1e-12], 1.0).test_error[0]
    return {"loss": problem.loss, "Q": view.Q, "errors": np.ravel(errors), "ignored": ignored}


@pytest.mark.parametrize(("slider", "least"), [("sigma", 2), ("noise", 0.3)])
@pytest.mark.parametrize("name", ["landmarks", "learn_kernel"])
def test_width_and_noise_move_under_the_hand_and_a_release_changes_nothing(open_page, name, slider, least):
    page = open_live(open_page, name)
    before = page.evaluate(SHOWN)
    page.evaluate(COUNT)
    thumb = page.locator(f".live input[name={slider}]")
    drag(page, inside(thumb), inside(thumb, 0.713))
    page.wait_for_function(
        "([name, least]) => (view => view[name] > least && view.data[name] === view[name])"
        "(document.querySelector('.live').view)",
        arg=[slider, least],
    )
    settle(page)
    held = page.evaluate(SHOWN)
    assert held[slider] > least > before[slider] and held["pixels"] != before["pixels"]
    assert page.evaluate("[received, sent]") == [0, 0] and slider not in page.url
    made = page.evaluate("made")
    page.mouse.up()
    page.wait_for_function(SETTLED.format(slider, f"{held[slider]:g}"))
    page.wait_for_function("() => received > 0")
    settle(page)
    assert page.evaluate(SHOWN) == held and page.evaluate("made") == made and page.evaluate("sent") > 0
    again = open_live(open_page, page.url.split("/", 3)[3])
    again.wait_for_function(
        "([name, value]) => document.querySelector('.live').view.data[name] === value", arg=[slider, held[slider]]
    )
    settle(again)
    assert again.evaluate(SHOWN) == held
    engine = engine_at(name, held["sigma"], held["noise"])
    np.testing.assert_allclose(held["loss"], np.ravel(engine["loss"]), rtol=1e-9)
    np.testing.assert_allclose(held["Q"], np.ravel(engine["Q"]), atol=1e-7)
    if name == "landmarks":
        np.testing.assert_allclose(held["errors"], engine["errors"], atol=1e-3)
        ignored = float(re.search(r"labels ignored: ([0-9.]+) %", held["words"])[1])
        assert ignored == pytest.approx(100 * engine["ignored"], abs=0.2)


def shown_beside_the_picture(page, name: str, is_so: bool) -> None:
    """Check that a slider is at the picture, or else in the row of controls."""
    expect(page.locator(f".live input[name={name}]")).to_be_visible(visible=is_so)
    expect(page.locator(f".st-key-{name}")).to_be_visible(visible=not is_so)


def test_a_slider_that_the_view_cannot_follow_is_among_the_controls(open_page):
    page = open_live(open_page, "landmarks?noise=0.3")
    shown_beside_the_picture(page, "noise", True)
    page.get_by_text("k-means", exact=True).click()
    shown_beside_the_picture(page, "noise", False)
    page.wait_for_function("() => document.querySelector('.live').view.data.centroids")
    assert page.evaluate("document.querySelector('.live').view.data.noise") == 0.3


def test_a_click_adds_or_removes_a_star_at_once_and_the_answer_changes_nothing(open_page):
    page = open_live(open_page, "landmarks")
    page.evaluate(COUNT)
    page.evaluate(HOLD)
    stars = "rows => String(document.querySelector('.live').view.data.rows) === String(rows)"
    rows, added = page.evaluate("document.querySelector('.live').view.data.rows"), 40
    picked = [row for row in (*rows, added) if row != rows[1]]
    for row, now in ((added, [*rows, added]), (rows[1], picked)):
        page.mouse.click(*page.evaluate(PLACE_OF_POINT, row))
        page.wait_for_function(stars, arg=now)
    page.wait_for_function("() => document.querySelector('.live').view.tiles.length === 10")
    page.wait_for_function("() => !document.querySelector('.live .stale')")
    shown, made = page.evaluate(SHOWN), page.evaluate("made")
    page.wait_for_function(SETTLED.format("picks", "-".join(map(str, picked))))
    page.wait_for_function("() => answers.length > 0")
    settle(page)
    assert page.evaluate("received") == 0
    page.evaluate(LET_IN)
    settle(page)
    assert page.evaluate(SHOWN) == shown and page.evaluate("made") == made
    assert page.evaluate("document.querySelector('.live').view.clicked") is None
    engine = engine_at("landmarks", 0.501, 0.1, picked)
    np.testing.assert_allclose(shown["loss"], np.ravel(engine["loss"]), rtol=1e-9)
    np.testing.assert_allclose(shown["errors"], engine["errors"], atol=1e-3)
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function(stars, arg=[*rows, added])
    settle(page)
    page.locator(".live canvas.points").focus()
    for key in ("ArrowRight", "Enter"):  # at the first point
        page.keyboard.press(key)
    page.wait_for_function("count => document.querySelector('.live').view.L !== count", arg=len(rows) + 1)


def test_a_ninth_landmark_is_refused_with_a_note(open_page):
    page = open_live(open_page, "landmarks?landmarks=8")
    rows = page.evaluate("document.querySelector('.live').view.data.rows")
    page.evaluate("row => document.querySelector('.live').view.click(row)", min({*range(9)} - {*rows}))
    expect(page.get_by_text("There are 8 landmarks already")).to_be_visible()
    assert page.evaluate("document.querySelector('.live').view.data.rows") == rows


def test_a_weight_under_the_pointer_shows_its_cosine_and_marks_its_landmark(open_page):
    page = open_live(open_page)
    page.evaluate("document.querySelector('.live details.more').open = false")
    weights = page.locator(".live canvas.weights")
    # In sight together with all maps.
    fold(page)
    page.set_viewport_size({"width": 1440, "height": 1300})
    page.wait_for_function("() => document.querySelector('.live canvas.weights').getBoundingClientRect().top < 1200")
    page.mouse.move(*inside(weights, 0.5, 0.3))
    page.wait_for_function("() => document.querySelectorAll('.live .maps canvas.on').length === 2")
    assert page.evaluate("document.querySelector('.live').view.focus.landmark") == 1
    cosine = page.evaluate("Array.from(document.querySelector('.live').view.cosine)")
    assert np.ptp(cosine) > 1.5 and max(cosine) <= 1 + 1e-5
    page.mouse.move(5, 5)
    page.wait_for_function("() => document.querySelectorAll('.live .maps canvas.on').length === 0")
    weights.focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert page.evaluate("document.querySelector('.live').view.focus") == {"landmark": 1, "frequency": 2}


@pytest.fixture(scope="module")
def learned():
    """The default experiment of *Learn the kernel*, computed by the engine."""
    sample = datasets.make_toy("checkerboard", 300, 0.1, 0)
    prior = rff.GaussianKernel(0.251)
    drawn = toy_kernels.draw_candidates(sample.X, sample.y, prior, 2000, 0)
    plane = naive.frequency_plane(sample.X, sample.y, prior, 3.5 / 0.251)
    extent = 2 * float(np.ceil(4.2 * np.abs(sample.X).max()) / 4)
    return sample, drawn, plane, extent


@pytest.mark.first
def test_learned_kernels_are_the_engines(open_page, learned):
    _, drawn, plane, extent = learned
    page = open_live(open_page, "learn_kernel")
    for beta, rho in ((0.1, 0.0001), (31.6, 0.398)):
        shown = move_sliders(
            page,
            {"beta": beta, "rho": rho},
            "({posterior: Array.from(view.posterior), summary: view.summary,"
            " maps: [view.maps.pbrff, view.maps.okrff].map(map => Array.from(map))})",
        )
        # The slider takes the nearest of its steps.
        taken = page.evaluate("document.querySelector('.live').view.value('beta')")
        assert abs(np.log10(taken / beta)) <= 0.0101
        Q = rff.pseudo_posterior(drawn.loss, taken, drawn.n)
        optimized = rff.optimized_kernel_weights(drawn.loss, rho, 2.0)
        for map_, weights in zip(shown["maps"], (Q, optimized), strict=True):
            expected = naive.weighted_kernel_map(drawn.omega, weights, extent, 80)
            np.testing.assert_allclose(np.reshape(map_, (80, 80)), expected, atol=1 / 255)
        posterior = naive.plane_posterior(plane, taken)
        np.testing.assert_allclose(
            np.reshape(shown["posterior"], posterior.shape) / np.max(shown["posterior"]),
            posterior / posterior.max(),
            atol=1 / 255,
        )
        summary = weight_summary(Q, 2.0)
        assert shown["summary"]["pbrff"]["kl"] == pytest.approx(summary.kl, abs=1e-6)
        assert shown["summary"]["pbrff"]["effective"] == pytest.approx(summary.effective, rel=1e-6)
        assert shown["summary"]["okrff"]["divergence"] == pytest.approx(rff.power_divergence(optimized, 2.0), abs=1e-3)


END = """name => {
    const {view} = document.querySelector('.live');
    const box = document.querySelector('canvas.plane-loss').getBoundingClientRect();
    const at = (v, sign) => (sign * v / (2 * view.data.frequency_extent) + 0.5) * box.width, [x, y] = view.ends[name];
    return [box.left + at(x, 1), box.top + at(y, -1), box.left + box.width / 2, box.top + box.height / 2];
}"""


def test_the_priors_ellipse_is_dragged_and_its_candidates_are_the_engines(open_page):
    page = open_live(open_page, "learn_kernel")
    page.locator("canvas.plane-loss").scroll_into_view_if_needed()
    before = page.evaluate(SHOWN)
    x, y, u, v = page.evaluate(END, "axis")
    drag(page, (x, y), (u + 40, v + 40))  # downwards: at 135 degrees
    page.wait_for_function("() => document.querySelector('.live').view.ellipse.angle === 135")
    page.mouse.up()
    page.wait_for_function(SETTLED.format("angle", 135))
    x, y, u, v = page.evaluate(END, "side")
    drag(page, (x, y), ((x + u) / 2, (y + v) / 2))
    page.mouse.up()
    page.wait_for_function("() => Number(new URL(location.href).searchParams.get('across')) < 0.6")
    settle(page)
    along, across, angle = page.evaluate("Object.values(document.querySelector('.live').view.ellipse)")
    assert along > 1 > across and angle == 135
    expect(page.locator(".live .turned")).to_be_visible()
    held = page.evaluate(SHOWN)
    sample = datasets.make_toy("checkerboard", 300, 0.1, 0)
    prior = TurnedGaussianKernel(0.251, along, across, angle)
    drawn = toy_kernels.draw_candidates(sample.X, sample.y, prior, 2000, 0)
    weights = rff.pseudo_posterior(drawn.loss, 10.0, 300), rff.optimized_kernel_weights(drawn.loss, 0.01, 2.0)
    np.testing.assert_allclose(held["loss"], drawn.loss, rtol=1e-9)
    np.testing.assert_allclose(held["Q"], np.concatenate(weights), atol=1e-7)
    page.get_by_role("button", name="Make it a circle again").click()
    page.wait_for_function("() => !new URL(location.href).search")
    settle(page)
    assert page.evaluate(SHOWN) == before


def test_a_frequency_in_focus_shows_its_wave_and_its_loss(open_page, learned):
    sample, drawn, _, _ = learned
    page = open_live(open_page, "learn_kernel")
    best = int(np.argmin(drawn.loss))
    page.evaluate(f"document.querySelector('.live').view.setFocus({{candidate: {best}}})")
    expected = f"alignment loss {drawn.loss[best]:.3f}"
    page.wait_for_function("text => document.querySelector('.live .readout').textContent.includes(text)", arg=expected)
    wave = np.reshape(page.evaluate("Array.from(document.querySelector('.live').view.wave.image.data)"), (80, 80, 4))[
        ::-1
    ]
    # The wave is shifted to agree with the labels: where it is red, most points are of the red class.
    extent = page.evaluate("document.querySelector('.live').view.data.data_extent")
    i, j = np.clip(((sample.X / extent + 1) / 2 * 80).astype(int), 0, 79).T
    red = wave[j, i, 0].astype(int) - wave[j, i, 2]
    assert np.mean(np.sign(red) == sample.y) > 0.6
    page.locator(".live canvas.plane-loss").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('.live').view.focus.omega")
    words = "document.querySelector('.live .data-words').textContent"
    page.wait_for_function(f"() => {words}.startsWith('data, and the wave')")


def test_the_candidate_of_a_rank_is_under_the_pointer(open_page, learned):
    _, drawn, _, _ = learned
    page = open_live(open_page, "learn_kernel")
    page.locator(".live canvas.ranks").scroll_into_view_if_needed()
    view = "document.querySelector('.live').view"
    left, right, beta = page.evaluate(f"[{view}.frame.left, {view}.frame.right, {view}.value('beta')]")
    Q = np.sort(rff.pseudo_posterior(drawn.loss, beta, drawn.n))[::-1]
    for fraction in (0.01, 0.5, 0.99):  # of a logarithmic axis, on which a pixel is less than a hundredth
        page.locator(".live canvas.ranks").hover(position={"x": left + fraction * (right - left), "y": 30})
        shown = page.evaluate(f"{view}.Q.pbrff[{view}.focus.candidate]")
        first, last = (round(len(Q) ** (fraction + step)) - 1 for step in (-0.01, 0.01))
        assert Q[last] - 1e-9 <= shown <= Q[first] + 1e-9
    page.locator(".live canvas.ranks").hover(position={"x": left - 5, "y": 30})
    assert page.evaluate(f"{view}.focus.candidate") is None


def test_a_kernel_follows_width_and_d_under_the_hand_and_is_the_engines(open_page):
    page = open_live(open_page, "kernel?kernel=Cauchy&seed=3")
    page.evaluate(COUNT)
    read = """({
        width: view.value('width'), D: view.value('D'), outside: view.outside, omega: [...view.line.omega],
        kernel: [...view.line.kernel], cosSin: [...view.line.cosSin], density: [...view.line.density],
        words: view.root.querySelector('.prior-panels').innerText,
    })"""
    for width, D in ((0.2, 1000), (3.16, 1)):
        shown = move_sliders(page, {"width": width, "D": D}, read)
        line = kernel_line(kernel_settings("Cauchy", width, 1.5, 3), D)
        assert (shown["width"], shown["D"], shown["outside"]) == (width, D, line.outside)
        for name, expected in (("omega", line.omega), ("kernel", line.exact), ("density", line.density)):
            np.testing.assert_allclose(shown[name], expected, rtol=1e-6, atol=2e-6)
        np.testing.assert_allclose(shown["cosSin"], line.cos_sin, atol=1e-9)
        assert f"misses it by at most {np.abs(line.cos_sin - line.exact).max():.2f}" in shown["words"]
    assert page.evaluate("[received, sent]") == [0, 0] and "width" not in page.url
    for name, value in (("width", "3.16"), ("D", "1")):
        page.locator(f".live input[name={name}]").dispatch_event("change")
        page.wait_for_function(SETTLED.format(name, value))
    settle(page)
    again = open_live(open_page, page.url.split("/", 3)[3])
    assert again.evaluate(f"(view => {read})(document.querySelector('.live').view)") == shown


LINE = "(view => [view.moves.size, [...view.line.omega], [...view.line.cosSin], [...view.line.functions[4]]])"
MOVED = f"() => ({LINE})(document.querySelector('.live').view)"


def test_a_frequency_is_dragged_and_chosen_and_moved_by_keys_and_its_place_is_in_the_url(open_page):
    page = open_live(open_page, "kernel?D=10")
    chart = page.locator(".live canvas.spectrum")
    left, y = inside(chart, 0, 0.9)
    x = left + page.evaluate("(view => view.pixelOf(3))(document.querySelector('.live').view)")
    drag(page, (x, y), (x + 60, y))
    page.wait_for_function("() => document.querySelector('.live').view.moves.size === 1")
    assert "moved" not in page.url and page.locator(".live .reading").inner_text().startswith("ω = ")
    page.mouse.up()
    page.wait_for_function("() => location.search.includes('moved=3_')")
    chart.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Shift+ArrowLeft")
    page.wait_for_function("() => location.search.includes('~')")
    settle(page)
    size, omega, cosines, function = page.evaluate(MOVED)
    moved = decode(parse_qs(urlsplit(page.url).query)["moved"][0])
    settings = kernel_settings("Gaussian", 0.501, 1.5, 0)
    line = kernel_line(settings, 10, moved)
    assert size == 2 and not np.allclose(line.omega, kernel_line(settings, 10).omega)
    np.testing.assert_allclose(omega, line.omega, rtol=1e-9)
    np.testing.assert_allclose(cosines, line.cos_sin, atol=1e-9)
    np.testing.assert_allclose(function, kernel_functions(settings, 10, moved)[4], atol=2e-6)
    again = open_live(open_page, page.url.split("/", 3)[3])
    assert again.evaluate(MOVED) == [size, omega, cosines, function]
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function("() => document.querySelector('.live').view.moves.size === 1")
    page.get_by_role("button", name="Put all back").click()
    page.wait_for_function("() => !location.search.includes('moved')")
    assert page.evaluate(MOVED)[0] == 0


def test_in_a_lesson_and_among_many_no_frequency_is_moved(open_page):
    for query in ("D=10&lesson=average-of-cosines&step=1", "D=150"):
        page = open_live(open_page, f"kernel?moved=3_2.5&{query}")
        page.locator(".live canvas.spectrum").focus()
        page.keyboard.press("ArrowUp")
        assert page.evaluate("(view => [view.movable, view.focus])(document.querySelector('.live').view)") == [
            False,
            {},
        ]


def test_bounds_at_the_marker_are_the_engines(open_page):
    sample, fresh = (datasets.make_toy("moons", n, 0.1, seed) for n, seed in ((300, 0), (20_000, 1_000_003)))
    risks = bound_curves.candidate_risks(
        sample.X, sample.y, fresh.X.astype(np.float32), fresh.y, rff.GaussianKernel(0.501), 200, random_state=0
    )
    page = open_live(open_page, "bounds")
    for beta in (0.001, 0.126, 1000.0):
        shown = move_sliders(
            page,
            {"beta": beta},
            "({beta: view.betas[view.at],"
            " values: Object.fromEntries(view.bounds.map(b => [b.name, b.values[view.at]])),"
            " parts: view.chosen.parts.map(part => part.values[view.at]),"
            " cells: [...document.querySelectorAll('.live tbody td:nth-child(2)')].map(cell => cell.textContent)})",
        )
        curves = bound_curves.bound_curves(risks, [beta], 0.05, 5.0, "corrected")
        assert shown["beta"] == beta
        for name, value in shown["values"].items():
            assert value == pytest.approx(curves.bounds[name].at(beta), rel=1e-6)
        np.testing.assert_allclose(
            shown["parts"], [part[0] for part in curves.bounds["second_order_kl"].terms.values()], rtol=1e-6
        )
        landmark, kernel = curves.landmark, curves.kernel
        expected = [curves.bounds[name].values[0] for name in ("landmark_kl", "landmark_kl_inverse")]
        expected += [landmark.loss[0], landmark.risk[0]]
        expected += [curves.bounds[name].values[0] for name in bound_curves.KERNEL_BOUNDS] + [
            kernel.loss[0],
            kernel.risk[0],
        ]
        assert shown["cells"] == [f"{value:.3f}" for value in expected]


def test_the_chosen_bound_is_in_colour_and_a_sum_and_questions_are_tabs(open_page):
    page = open_live(open_page, "bounds")
    seen = """() => {
        const {view} = document.querySelector('.live'), texts = [...document.querySelectorAll('.live .sum strong')];
        return {chosen: view.chosen.name, coloured: view.bounds.filter(b => view.colourOf(b) === b.colour).length,
            sum: texts.map(text => Number(text.textContent)), value: view.chosen.values[view.at]};
    }"""
    for name, key in (("linear, all pairs Theorem 3", "second_order_kl"), ("linear Theorem 1", "landmark_kl")):
        row = page.get_by_role("button", name=name, exact=True)
        row.click()
        page.wait_for_function("key => document.querySelector('.live').view.chosen.name === key", arg=key)
        shown = page.evaluate(seen)
        total, *terms = shown["sum"]
        assert (shown["chosen"], shown["coloured"], len(terms)) == (key, 1, 4)
        assert sum(terms) == pytest.approx(total) and total == pytest.approx(shown["value"], abs=5.01e-4)
        assert row.get_attribute("aria-pressed") == "true"
    page.wait_for_function(SETTLED.format("bound", "Theorem 1"))
    settle(page)
    assert page.evaluate(seen)["chosen"] == "landmark_kl"
    page.get_by_role("tab", name="Does it hold?").click()
    page.locator(".promise-panels").wait_for()
    page.wait_for_function(SETTLED.format("question", "Does it hold?"))
    assert page.locator(".live").count() == 1
    again = open_page(page.url.split("/", 3)[3])
    again.locator(".promise-panels").wait_for()
    assert again.get_by_role("tab", name="Does it hold?").get_attribute("aria-selected") == "true"


PROMISES = """() => {
    const {view} = document.querySelector('.live'), {failures, falling} = view;
    return {failures, falls: falling !== null, samples: view.value('samples'),
            said: view.root.querySelector('.printed-value').textContent};
}"""


def test_failures_on_samples_are_the_engines_and_more_are_drawn_by_buttons(open_page):
    page = open_live(open_page, "bounds?question=Does+it+hold%3F&n=1000&samples=400&eps=0.1&mu=6")
    shown = page.evaluate(PROMISES)
    draws = coverage.draw_promises(5000, 0)
    expected = coverage.simulate_promises(1000, 6.0, 0.1, draws[:400])
    assert shown["failures"] == {"printed": expected.printed.failures, "corrected": expected.corrected.failures}
    assert shown["said"] == f"{100 * expected.printed.rate:.1f} %" and expected.printed.rate > 0.1
    assert page.locator(".st-key-controls .st-key-beta").is_hidden()  # changes nothing here
    page.get_by_role("button", name="New sample").click()
    page.wait_for_function(SETTLED.format("samples", "401"))
    page.get_by_role("button", name="1000 more").click()
    page.wait_for_function(SETTLED.format("samples", "1401"))
    page.locator(".live input[name=n]").press("ArrowLeft")
    page.wait_for_function(SETTLED.format("n", "990"))
    settle(page)
    page.wait_for_function("() => !document.querySelector('.live').view.falling")
    expected = coverage.simulate_promises(990, 6.0, 0.1, draws[:1401])
    shown = page.evaluate(PROMISES)
    assert (shown["samples"], shown["failures"]["printed"]) == (1401, expected.printed.failures)
    # With reduced motion nothing falls.
    page.emulate_media(reduced_motion="reduce")
    page.get_by_role("button", name="New sample").click()
    assert page.evaluate(PROMISES)["falls"] is False
    assert page.complaints == []


CERTIFICATE = """({
    bound: view.now.certificate.bound, risks: Array.from(view.now.certificate.risks), test: view.now.test,
    shares: Array.from(view.shares), words: view.root.querySelector('.looked-words').textContent,
    shown: ['.test-value', '.bound-value'].map(name => view.root.querySelector(name).textContent),
    heldOut: view.heldOut,
})"""


#: Where the page's random numbers begin.
STREAM = int(np.random.SeedSequence((0, 5)).generate_state(1)[0])


def certified_points(n: int) -> tuple:
    """Points of the page, fresh ones, the extent of its map, and the prior."""
    sample, fresh = (datasets.make_toy("checkerboard", size, 0.1, seed) for size, seed in ((n, 0), (2000, 1_000_003)))
    extent = float(np.ceil(4.2 * np.abs(sample.X).max()) / 4)
    return sample.X, sample.y, fresh.X, fresh.y, extent, rff.GaussianKernel(0.251)


@pytest.mark.first
def test_a_certificate_and_its_votes_are_the_engines_at_every_step_and_a_look_at_another_d_is_paid_for(open_page):
    *points, kernel = certified_points(200)
    choices = 1.0, 1, 0.5, 0.05, STREAM
    models = [toy_certificates.certified_classifier(*points[:2], kernel, "pbrff", D, *choices) for D in (20, 50)]
    votes = [toy_certificates.certified_vote(model, *points) for model in models]
    page = open_live(open_page, "certificates?n=200")
    for stretch in (0.5, 1.0, 2.0):
        shown, found = move_sliders(page, {"stretch": stretch}, CERTIFICATE), votes[0].certificate(stretch)
        assert shown["bound"] == pytest.approx(found.risk_bound, abs=1e-5)
        assert shown["test"] == pytest.approx(found.test_error, abs=2e-3)
        assert shown["shown"] == [f"{100 * shown[name]:.1f} %" for name in ("test", "bound")]
        assert sum(shown["risks"]) == pytest.approx(shown["bound"], abs=1e-6)
        side = int(len(shown["shares"]) ** 0.5)
        shares = 2 * ndtr(votes[0].prior_map + stretch * votes[0].step_map) - 1
        np.testing.assert_allclose(np.reshape(shown["shares"], (side, side)), shares, atol=1 / 255)
        assert "fixed beforehand" in shown["words"] and shown["heldOut"] == found.test_set_bound
    assert page.evaluate("[...document.querySelector('.live').view.votes.keys()]") == [20]  # the others nobody needs
    page.evaluate(HOLD)
    waiting = move_sliders(page, {"D": 50, "stretch": 1.0}, CERTIFICATE)
    assert waiting["shown"] == ["…", "…"] and "D = 50 is being computed" in waiting["words"]
    page.evaluate(LET_IN)
    page.wait_for_function("() => document.querySelector('.live').view.votes.size === 5")
    shown = move_sliders(page, {"stretch": 1.0}, CERTIFICATE)
    assert shown["bound"] == pytest.approx(votes[1].certificate(1.0, 5).risk_bound, abs=1e-5)
    assert shown["heldOut"] > votes[1].certificate().test_set_bound and "looked at several D" in shown["words"]
    page.locator(".live input[name=D]").dispatch_event("change")
    page.wait_for_url("**D=50**")
    page.get_by_role("button", name="New points").click()
    page.wait_for_function("() => document.querySelector('.live .looked-words').textContent.includes('beforehand')")
    assert "seed=1" in page.url


def test_the_votes_of_every_d_come_when_the_reader_points_at_its_slider(open_page):
    page = open_live(open_page, "certificates?n=200")
    page.locator(".live input[name=D]").hover()
    page.wait_for_function("() => document.querySelector('.live').view.votes.size === 5")
    shown = move_sliders(page, {"stretch": 2.0}, CERTIFICATE)
    assert "fixed beforehand" in shown["words"]  # nothing was looked at
    shown = move_sliders(page, {"D": 100}, CERTIFICATE)
    assert shown["shown"][0] != "…" and "looked at several D" in shown["words"]


VIEW = "document.querySelector('.live').view"
BLOCKS = """(view => ({
    ...view.shown, map: Array.from(view.map), words: view.root.querySelector('.readout').textContent,
    said: ['test-set', 'blocks'].map(name => view.root.querySelector(`.${name}-value`).textContent),
}))(document.querySelector('.live').view)"""


def test_blocks_test_and_then_teach_as_in_the_engine_and_the_place_is_in_the_link(open_page):
    blocks = toy_certificates.certified_blocks(*certified_points(400), "pbrff", 20, 5, 1.0, 0.05, STREAM)
    page = open_live(open_page, "certificates?question=May+test+points+teach%3F&n=400")
    shown, n_counted = page.evaluate(BLOCKS), int(blocks.sizes.sum())
    # The last block teaches no other.
    assert (shown["count"], shown["errors"], shown["taught"]) == (n_counted, blocks.wrong.sum(), 0)
    assert shown["said"] == [f"{100 * risk:.1f} %" for risk in (blocks.test_set_bound, blocks.risk_bound)]
    assert f"A random one of the {len(blocks.sizes)} classifiers" in shown["words"]
    for part, taught in ((0.35, 0.0), (0.9, 2 / 3)):  # of the second block
        place = (1 + part) / len(blocks.sizes)
        page.evaluate(f"(view => {{ view.inputs.arrived.value = {place}; view.paint(); }})({VIEW})")
        shown = page.evaluate(BLOCKS)
        count = shown["count"]
        assert count == blocks.sizes[0] + round(min(part / 0.7, 1) * blocks.sizes[1])
        assert shown["errors"] == blocks.wrong[:count].sum() and shown["taught"] == pytest.approx(taught, abs=0.02)
        assert shown["bound"] == pytest.approx(blocks.bounds[blocks.counts <= count][-1], abs=1e-6)
        expected = np.clip(blocks.maps[1:3], -1, 1)
        between = (1 - shown["taught"]) * expected[0] + shown["taught"] * expected[1]
        np.testing.assert_allclose(shown["map"], between.ravel(), atol=2e-3)
        assert ("Now it teaches" if taught else "Block 2 of") in shown["words"]
    page.locator(".live input[name=arrived]").press("Home")
    page.wait_for_function(SETTLED.format("arrived", "0"))
    assert page.evaluate(BLOCKS)["count"] == 0
    page.locator(".live .play").click()
    page.wait_for_function(f"() => {VIEW}.ended && !{VIEW}.playTimer")
    page.wait_for_url(lambda url: "arrived" not in url)  # the default
    chart = page.locator(".live canvas.certified")
    (x, y), frame = inside(chart, 0), page.evaluate(f"{VIEW}.frame")
    page.mouse.click(x + frame["left"] + 0.25 / 1.03 * (frame["right"] - frame["left"]), y)
    page.wait_for_function(f"() => Math.abs({VIEW}.shown.count - 50) <= 1")
    assert page.complaints == []


def test_a_drag_on_a_bound_chart_moves_beta_and_its_end_is_in_the_url(open_page):
    page = open_live(open_page, "bounds")
    (x, y), frame = inside(page.locator(".live canvas.parts"), 0), page.evaluate(f"{VIEW}.frame")
    left, right = x + frame["left"], x + frame["right"]
    drag(page, ((left + right) / 2, y), (0.25 * left + 0.75 * right, y))
    page.wait_for_function("() => Math.abs(document.querySelector('.live').view.beta.value - 1.5) < 0.06")
    assert "beta" not in page.url
    page.mouse.up()
    page.wait_for_function(SETTLED.format("beta", "31.6"))
    settle(page)
    again = open_live(open_page, page.url.split("/", 3)[3])
    again.wait_for_function("() => (view => view.betas[view.at] === 31.6)(document.querySelector('.live').view)")


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_sliders_glide_to_a_preset_unless_motion_is_reduced(open_page, motion):
    page = open_live(open_page, reduced_motion=motion)
    page.evaluate(
        "() => { window.seen = []; const view = document.querySelector('.live').view;"
        " const compute = view.compute.bind(view), moveTo = view.moveTo.bind(view);"
        " view.compute = () => { seen.push(view.value('D')); compute(); };"
        " view.moveTo = (settings, glide) => moveTo(settings, glide, 4000); }"  # a busy machine paints few frames
    )
    page.get_by_role("button", name="Spirals", exact=True).click()
    page.wait_for_function("() => document.querySelector('.live').view.value('D') === 150")
    between = page.evaluate("seen.filter(D => D > 20 && D < 150).length")
    assert between == 0 if motion == "reduce" else between >= 1


def drag_to(page, fraction: float) -> None:
    slider = page.locator(".live input[name=beta]")
    drag(page, inside(slider), inside(slider, fraction))
    page.mouse.up()


def test_the_first_drag_on_each_page_is_reported(open_page):
    page = open_live(open_page, "landmarks")
    drag_to(page, 0.7)
    page.wait_for_function("() => Number(new URL(location.href).searchParams.get('beta')) > 5")
    settle(page)
    go_to(page, "Kernel")
    page.wait_for_url("**/kernel**")
    page.locator(".st-key-tabs a").first.wait_for()
    settle(page)
    for name, view in (("With labels", "summary"), ("Bounds", "betas"), ("Landmarks", "landmarks")):
        go_to(page, name)
        page.wait_for_function(f"() => document.querySelector('.live')?.view?.{view} !== undefined")
        settle(page)
        drag_to(page, 0.85)
        page.wait_for_function("() => Number(new URL(location.href).searchParams.get('beta')) > 50")
        settle(page)


def test_the_mark_on_the_map_of_a_bound_sets_beta_and_n(open_page):
    page = open_live(open_page, "bounds")
    page.locator("canvas.bound-map").scroll_into_view_if_needed()
    x, y, down, left = page.evaluate(
        """() => {
            const {mark, mapFrame} = document.querySelector('.live').view;
            const box = document.querySelector('canvas.bound-map').getBoundingClientRect();
            return [box.left + mark[0], box.top + mark[1], box.top + mapFrame.bottom + 9, box.left + mapFrame.left];
        }"""
    )
    drag(page, (x, y), ((x + left) / 2, down))  # half the decades below 1, and the fewest points
    page.mouse.up()
    page.wait_for_function(SETTLED.format("n", 20))
    page.wait_for_function("() => document.querySelector('.live').view.data.n === 20")
    settle(page)
    expect(page.locator(".st-key-n")).to_be_visible()
    assert page.evaluate("document.querySelector('.live').view.value('beta')") == pytest.approx(0.0316, rel=0.15)
    for name in ("landmark_kl_inverse", "second_order_kl"):
        page.evaluate(f"name => {VIEW}.ask({VIEW}.bounds.find(bound => bound.name === name))", name)
        page.wait_for_function(f"name => {VIEW}.map.name === name", arg=name)
        row, curve = page.evaluate(f"[[...{VIEW}.map.map.slice(0, 61)], [...{VIEW}.chosen.values]]")
        np.testing.assert_allclose(row, np.minimum(curve, 2), rtol=0.01)  # at the row's n, 19.95
    page.get_by_role("slider", name="Training points n on the map").press("ArrowRight")
    page.wait_for_function(SETTLED.format("n", 30))


def test_circles_rise_can_be_turned_and_a_plane_separates_them(open_page):
    page = open_live(open_page, "foundations")
    of_view = "(({{{0}}}) => ({{{0}}}))(document.querySelector('.live').view)".format
    seen, lift = page.evaluate(of_view("polygon, turn")), foundations.lifted_circles(0)
    corners = np.array(seen["polygon"])
    assert 3 <= len(corners) <= 6 and np.abs(corners).max() <= 0.9 + 1e-9
    np.testing.assert_allclose(corners @ lift.coef + lift.intercept, 0, atol=1e-9 * np.abs(lift.coef).max())
    sides = np.roll(corners, -1, axis=0) - corners  # in order around the middle: all turns go the same way
    turns = np.cross(sides, np.roll(sides, -1, axis=0)) @ lift.coef
    assert (turns > 0).all() or (turns < 0).all()
    decision = np.array(page.evaluate("[...document.querySelector('.live').view.decision]"))
    at = 1.4 * ((2 * np.arange(80) + 1) / 80 - 1)
    points = np.stack(np.meshgrid(at, at), axis=-1).reshape(-1, 2)
    lifted = rff.random_phase_features(points, foundations.LIFT_FREQUENCIES, foundations.LIFT_PHASES)
    np.testing.assert_allclose(decision, np.tanh((lifted @ lift.coef + lift.intercept) / 4), atol=1e-5)
    page.locator("canvas.space").press("ArrowRight")
    assert page.evaluate(of_view("turn"))["turn"]["yaw"] == pytest.approx(seen["turn"]["yaw"] - 0.12)
    page.get_by_role("button", name="Play: lift the points").click()
    page.wait_for_function("() => document.querySelector('.live').view.value('lift') < 0.9")
    page.wait_for_function("() => document.querySelector('.lift-value').textContent === '100 %'")


def test_the_mark_on_a_papers_curves_reads_printed_errors_and_reruns(open_page):
    page = open_live(open_page, "paper?what=Figures+3+and+5&dataset=mnist17")
    numbers = papers.numbers("figure5", "mnist17", 0).set_index(["method", "D"])
    words = "[...view.root.querySelectorAll('figcaption')].map(one => one.textContent)"
    for D in (10, 100):
        shown = move_sliders(page, {"x": D}, words)
        for method, said in zip(("rff", "pbrff", "okrff"), shown[:3], strict=True):
            assert [float(error) for error in re.findall(r"\d+\.\d\d", said)] == [
                round(100 * numbers.loc[(method, D), name], 2) for name in ("paper", "published", "mean", "spread")
            ]
    page.locator(".live input").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".live .x-value")).to_have_text("90")
