"""The live canvas: what it evaluates are the engine's numbers, it follows the hand, and a link brings it back."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from conftest import settle

import datasets
import rff_engine as rff
from pages.components.presets import LANDMARK_PRESETS
from rff_engine.experiments.plane import cell_centres
from rff_engine.experiments.toy_landmarks import landmark_problem, landmark_view

BETAS = (0.001, 0.1, 1.0, 31.6, 1000.0)
SETTLED = "() => new URL(location.href).searchParams.get('{}') === '{}'"


def open_live(open_page, path="landmarks"):
    page = open_page(path)
    page.wait_for_function("() => document.querySelector('.live')?.view?.testError !== undefined")
    return page


def put(page, beta: float, D: int) -> dict:
    """Set the live sliders as a hand does, without letting go, and read what is on the canvases."""
    return page.evaluate(
        """([beta, D]) => new Promise(done => {
            const view = document.querySelector('.live').view;
            view.beta.step = 'any';
            view.beta.value = Math.log10(beta);
            view.D.value = D;
            view.beta.dispatchEvent(new Event('input'));
            requestAnimationFrame(() => requestAnimationFrame(() => done({
                maps: view.learnedMaps.map(map => Array.from(map)),
                Q: Array.from(view.Q),
                decision: Array.from(view.decision),
                errors: [view.trainError, view.testError],
                pixels: view.tiles.map(tile => Array.from(tile.image.data)),
                most: view.most,
            })));
        })""",
        [beta, D],
    )


@pytest.fixture(scope="module")
def engine():
    """The default experiment, by the engine alone."""
    sample = datasets.make_toy("moons", 300, 0.1, 0)
    fresh = datasets.make_toy("moons", 2000, 0.1, 1_000_003)
    extent = float(np.ceil(4.2 * np.abs(sample.X).max()) / 4)

    def view(beta, D, cells=100):
        problem = landmark_problem(sample.X, sample.y, rff.GaussianKernel(0.501), 5, D, "random", 0)
        return landmark_view(problem, fresh.X, fresh.y, beta, 1.0, extent, cells), extent

    return view


@pytest.mark.parametrize("D", [20, 256])
def test_the_canvas_shows_the_engines_numbers(open_page, engine, D):
    page = open_live(open_page)
    for beta in BETAS:
        live = put(page, beta, D)
        view, extent = engine(beta, D)
        assert len(cell_centres(extent, 100)) ** 2 == len(live["maps"][0])
        # A step of the colour scale is 2 / 255.
        np.testing.assert_allclose(np.reshape(live["maps"], (5, 100, 100)), view.learned_maps, atol=1 / 255)
        np.testing.assert_allclose(np.reshape(live["Q"], (5, live["most"]))[:, :D], view.Q, atol=1e-6)
        np.testing.assert_allclose(np.reshape(live["decision"], (100, 100)), view.learned.values, atol=5e-3)
        np.testing.assert_allclose(live["errors"], [view.learned.train_error, view.learned.test_error], atol=2e-3)


def test_the_pixels_are_the_values_in_colour(open_page, engine):
    page = open_live(open_page)
    live = put(page, 1.0, 20)
    view, _ = engine(1.0, 20)
    # Rows of tiles: prior, then learned; the picture's first row is the largest second coordinate.
    for maps, tiles in ((view.prior_maps, live["pixels"][:5]), (view.learned_maps, live["pixels"][5:])):
        for values, pixels in zip(maps, tiles, strict=True):
            red, green, _, alpha = np.moveaxis(np.reshape(pixels, (100, 100, 4))[::-1], 2, 0)
            assert (alpha == 255).all()
            # Green means similar, purple dissimilar.
            assert (green[values > 0.1] > red[values > 0.1]).all()
            assert (green[values < -0.1] < red[values < -0.1]).all()
    neutral = np.abs(view.learned_maps[0]) < 0.01
    shown = np.reshape(live["pixels"][5], (100, 100, 4))[::-1][neutral][:, :3]
    assert neutral.any() and np.ptp(shown, axis=1).max() <= 6


def test_a_drag_moves_the_pictures_before_it_ends_and_its_end_goes_to_the_url(open_page):
    page = open_live(open_page)
    page.evaluate(
        "() => { window.sent = 0; const view = document.querySelector('.live').view, report = view.report;"
        "view.report = (...a) => { window.sent++; report(...a); }; }"
    )
    box = page.locator(".live input[name=beta]").bounding_box()
    y = box["y"] + box["height"] / 2
    seen = set()
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    for k in range(1, 8):
        page.mouse.move(box["x"] + box["width"] * (0.5 + 0.04 * k), y)
        page.wait_for_timeout(60)
        seen.add(
            page.locator(".live .learned-errors").inner_text() + page.locator(".live .weights-caption").inner_text()
        )
    assert len(seen) >= 6  # it moved while it was held
    assert page.evaluate("window.sent") == 0 and "beta" not in page.url
    page.mouse.up()
    page.wait_for_function("() => Number(new URL(location.href).searchParams.get('beta')) > 1")
    settle(page)
    beta = parse_qs(urlsplit(page.url).query)["beta"][0]
    page.wait_for_function(f"() => Math.abs(10 ** document.querySelector('.live').view.beta.value / {beta} - 1) < 0.03")
    shown = page.locator(".live .learned-errors").inner_text()
    again = open_live(open_page, page.url.split("/", 3)[3])
    again.wait_for_function(
        "text => document.querySelector('.live .learned-errors').textContent.trim() === text", arg=shown.strip()
    )


def test_arrow_keys_and_play_move_beta(open_page):
    page = open_live(open_page)
    thumb = page.locator(".live input[name=beta]")
    thumb.focus()
    for _ in range(5):
        thumb.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('.live').view.beta.value > 0.05")
    page.locator(".live .play").click()
    page.wait_for_function("() => document.querySelector('.live').view.beta.value > 1")
    page.locator(".live .play").click()
    page.wait_for_function("() => Number(new URL(location.href).searchParams.get('beta')) > 5")


def test_clicking_a_point_and_its_star(open_page):
    page = open_live(open_page, "landmarks?how=clicked&picks=3-17")
    for picks in ("3-17-40", "3-17"):
        page.locator(".live canvas.points").scroll_into_view_if_needed()
        x, y = page.evaluate(
            """() => {
                const view = document.querySelector('.live').view, box = view.pointsTile.canvas.getBoundingClientRect();
                const at = (v, sign) => (sign * v / (2 * view.extent) + 0.5) * box.width;
                return [box.left + at(view.points[80], 1), box.top + at(view.points[81], -1)];
            }"""
        )
        page.mouse.click(x, y)
        page.wait_for_function(SETTLED.format("picks", picks))
        page.wait_for_function(f"() => document.querySelector('.live').view.L === {picks.count('-') + 1}")


def test_pointing_at_a_weight_shows_its_cosine_and_marks_its_landmark(open_page):
    page = open_live(open_page)
    page.locator(".live canvas.weights").scroll_into_view_if_needed()
    box = page.locator(".live canvas.weights").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.3)
    page.wait_for_function("() => document.querySelectorAll('.live .maps canvas.on').length === 2")
    assert page.evaluate("document.querySelector('.live').view.focus.landmark") == 1
    cosine = page.evaluate("Array.from(document.querySelector('.live').view.cosine)")
    assert np.ptp(cosine) > 1.5 and max(cosine) <= 1 + 1e-6
    page.mouse.move(5, 5)
    page.wait_for_function("() => document.querySelectorAll('.live .maps canvas.on').length === 0")


@pytest.mark.parametrize("name", ["Figure 4", "Spirals", "XOR", "Noise", "Figure 1"])
def test_every_preset_opens_its_experiment(open_page, name):
    page = open_live(open_page, "landmarks?data=blobs&seed=5")
    page.get_by_role("button", name=name, exact=True).click()
    page.wait_for_function("() => !location.search.includes('blobs') && !location.search.includes('seed')")
    settle(page)
    preset = next(preset for preset in LANDMARK_PRESETS if preset.name == name)
    query = {key: values[0] for key, values in parse_qs(urlsplit(page.url).query).items()}
    for key, value in query.items():
        assert float(value) == preset.settings[key] if key != "data" else value == preset.settings[key]
    landmarks = preset.settings.get("landmarks", 5)
    page.wait_for_function(f"() => document.querySelector('.live').view.L === {landmarks}")
    assert page.locator("[data-testid=stAlert]").count() == 0
