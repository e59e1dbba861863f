"""Live views of a notebook, opened as files: the numbers are the engine's, and no request leaves the page."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import violations, wait_until

import rff_engine as rff
from datasets import make_toy
from rff_engine.figures import live

SCALE, OFFSET = 2500.0, np.array([40_000.0, -700.0])
SAMPLE, FRESH = make_toy("moons", 100, 0.1, 0), make_toy("moons", 200, 0.1, 1)
X, X_TEST = (sample.X * SCALE + OFFSET for sample in (SAMPLE, FRESH))
MIDDLE = (X.min(axis=0) + X.max(axis=0)) / 2


@pytest.fixture
def open_file(browser, tmp_path):
    """Function that opens HTML from a file, and the addresses that the page requests."""
    contexts, requested = [], []

    def open_(html: str, **options):
        file = tmp_path / "view.html"
        file.write_text(html, encoding="utf-8")
        contexts.append(browser.new_context(viewport={"width": 1000, "height": 900}, **options))
        page = contexts[-1].new_page()
        page.on("request", lambda request: requested.append(request.url))
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        page.goto(file.as_uri())
        assert requested.pop(0) == file.as_uri()
        return page, requested

    yield open_
    for context in contexts:
        context.close()


def set_slider(frame, name: str, place: float) -> None:
    """Drag a slider to a place, and wait for the picture."""
    shown = frame.locator(f"output.{name}-value").inner_text()
    slider = frame.locator(f".scrubbers input[name={name}]")
    slider.evaluate("(input, place) => { input.value = place; input.dispatchEvent(new Event('input')); }", place)
    wait_until(lambda: frame.locator(f"output.{name}-value").inner_text() != shown)


def of_view(frame, expression: str):
    """What a live view holds."""
    return frame.locator(".live").evaluate(f"({{ view }}) => {expression}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_sliders_move_the_maps_to_the_engines_numbers(open_file, scheme):
    view = live.landmarks(X, SAMPLE.y, n_landmarks=3, D=16, beta=0.1, X_test=X_TEST, y_test=FRESH.y, random_state=0)
    page, requested = open_file(view.html(), color_scheme=scheme)
    page.locator(".waiting").wait_for(state="detached")
    before = of_view(page, "[...view.learnedMaps[0]]")
    set_slider(page, "beta", 1)
    assert page.locator("output.beta-value").inner_text() == "10"
    model = rff.LandmarkSimilarity(None, 3, "random", n_components=16, beta=10.0, random_state=0)
    psi = model.fit_transform(X - MIDDLE, SAMPLE.y)
    coefficients, (intercept,) = rff.linear_svm_path(psi, SAMPLE.y, [1.0])
    grid = view.data["extent"] * (2 * np.arange(100) + 1 - 100) / 100
    expected = rff.similarity_maps(grid, grid, model.landmarks_, model.frequencies_, model.weights_)
    shown = np.array(of_view(page, "[...view.learnedMaps].map((map) => [...map])"))
    np.testing.assert_allclose(shown, expected.reshape(3, -1), atol=2e-3)  # from sums at a few nodes of a map
    assert np.abs(np.array(before) - shown[0]).max() > 0.05
    decision = model.transform(X_TEST - MIDDLE) @ coefficients[0] + intercept
    assert of_view(page, "view.testError") == pytest.approx(np.mean((decision > 0) != (FRESH.y > 0)), abs=1.5 / 200)
    assert page.locator(".errors .test-name").inner_text() == "test error"
    assert page.locator(".learned-train").is_visible()
    assert requested == []


def test_a_learned_kernel_follows_its_sliders(open_file):
    page, requested = open_file(live.kernel(X, SAMPLE.y, N=60, beta=0.1, random_state=0).html())
    page.locator(".waiting").wait_for(state="detached")
    set_slider(page, "beta", 0.5)
    set_slider(page, "rho", -2)
    beta, rho = 10**0.5, 1e-2
    learned = rff.PseudoPosteriorFeatures(None, 1, 60, beta=beta, random_state=0).fit(X - MIDDLE, SAMPLE.y)
    optimized = rff.OptimizedKernelFeatures(None, 1, 60, rho=rho, random_state=0).fit(X - MIDDLE, SAMPLE.y)
    np.testing.assert_allclose(of_view(page, "[...view.Q.pbrff]"), learned.weights_, atol=1e-6)
    np.testing.assert_allclose(of_view(page, "[...view.Q.okrff]"), optimized.weights_, atol=1e-6)
    page.locator("canvas.plane-loss").press("ArrowRight")
    wait_until(lambda: "ω" in page.locator(".reading").inner_text())
    reading = page.locator(".reading").inner_text()
    shown = float(reading.split("(")[1].split(",")[0])  # far below 1 at this scale
    assert shown == pytest.approx(of_view(page, "view.data.frequency_extent") / 40, abs=0.6e-5)
    assert requested == []


def test_a_cell_shows_a_frame_that_reaches_nothing_outside(open_file):
    view = live.landmarks(X, SAMPLE.y, n_landmarks=2, D=8, random_state=0)
    page, requested = open_file(f"<!doctype html><title>A notebook</title>{view._repr_html_()}")
    frame = page.frame_locator("iframe")
    frame.locator(".waiting").wait_for(state="detached")
    assert not frame.locator(".learned-train").is_visible()  # the error is that of training
    assert frame.locator(".errors .test-name").inner_text() == "train error"
    before = of_view(frame, "view.trainError")
    set_slider(frame, "beta", 3)
    assert of_view(frame, "view.trainError") != before
    frame.locator("canvas[aria-label*='similarity to landmark 1']").last.click()
    frame.get_by_role("dialog").wait_for()
    frame.get_by_role("button", name="Close").click()
    refused = "() => fetch('https://example.org').then(() => 'fetched', () => 'refused')"
    assert frame.locator("body").evaluate(refused) == "refused"
    wait_until(lambda: len(violations) >= 2)  # the directive, and the request
    assert all("example.org" in one for one in violations)
    violations.clear()
    assert (
        frame.locator("body").evaluate("() => { try { return String(parent.document) } catch { return 'apart' } }")
        == "apart"
    )
    assert requested == []
