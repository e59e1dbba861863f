"""Live views of a user's arrays: the browser gets the engine's numbers, at any scale, and bad input gets a sentence."""

from __future__ import annotations

import re
from base64 import b64decode

import numpy as np
import pytest

import rff_engine as rff
from datasets import make_toy
from rff_engine.experiments.toy.landmarks import LandmarkProblem, prior_view
from rff_engine.experiments.toy.learning import frequency_plane
from rff_engine.figures import live
from rff_engine.figures.live import notebook
from rff_engine.figures.live.packing import KERNEL_CELLS, LIVE_CELLS

MOONS, FRESH = make_toy("moons", 80, 0.1, 0), make_toy("moons", 60, 0.1, 1)
# Of another scale, far from the origin, with labels that are words.
SCALE, OFFSET = 2500.0, np.array([40_000.0, -700.0])
X, X_TEST = (sample.X * SCALE + OFFSET for sample in (MOONS, FRESH))
CENTRED = X - (X.min(axis=0) + X.max(axis=0)) / 2
Y, Y_TEST = (np.where(sample.y > 0, "right", "left") for sample in (MOONS, FRESH))


def array(view: live.View, name: str, dtype: str) -> np.ndarray:
    return np.frombuffer(b64decode(view.data[name]), dtype)


@pytest.mark.parametrize("selection", ["random", "kmeans"])
@pytest.mark.parametrize("kernel", [None, "laplacian", rff.MaternKernel(nu=1.5, length_scale=2000.0)])
def test_landmarks_are_those_of_the_estimator(kernel, selection):
    view = live.landmarks(X, Y, kernel, 3, 16, selection=selection, beta=2.0, random_state=7)
    model = rff.LandmarkSimilarity(kernel, 3, selection, n_components=16, random_state=7).fit(CENTRED, Y)
    np.testing.assert_allclose(array(view, "loss", "<f8"), model.alignment_loss_.ravel(), rtol=1e-12)
    np.testing.assert_array_equal(array(view, "omega", "<f4"), model.frequencies_.astype("f4").ravel())
    np.testing.assert_allclose(array(view, "landmarks", "<f4").reshape(3, 2), model.landmarks_, rtol=1e-6)
    np.testing.assert_allclose(array(view, "points", "<f4").reshape(-1, 2), CENTRED, rtol=1e-6)
    np.testing.assert_array_equal(array(view, "labels", "i1"), MOONS.y)
    rows = [-1] * 3 if model.landmark_indices_ is None else list(model.landmark_indices_)
    assert view.data["rows"] == rows and view.data["settings"] == {"beta": 2.0, "D": 16}
    inside = np.abs(array(view, "points", "<f4")).max() / view.data["extent"]
    assert 0.9 < inside < 1


def test_the_prior_is_drawn_as_the_page_on_landmarks_draws_it():
    view = live.landmarks(X, Y, None, 3, 16, X_test=X_TEST, y_test=Y_TEST, C=10.0, random_state=7)
    model = rff.LandmarkSimilarity(None, 3, "random", n_components=16, random_state=7).fit(CENTRED, Y)
    problem = LandmarkProblem(model.kernel_, CENTRED, MOONS.y, model.landmarks_, None, None, model.frequencies_, None)
    maps, prior = prior_view(problem, X_TEST - X[0] + CENTRED[0], FRESH.y, 10.0, view.data["extent"], LIVE_CELLS)
    shown = array(view, "prior_maps", "u1") / 127.5 - 1
    assert np.abs(shown - maps.ravel()).max() <= 1 / 255 + 1e-9
    np.testing.assert_allclose(array(view, "prior_decision", "<f4"), prior.values.ravel(), rtol=3e-4)
    assert view.data["prior_train"] == prior.train_error and view.data["prior_test"] == prior.test_error
    assert view.data["test_error"] == "test error"
    np.testing.assert_array_equal(array(view, "test_labels", "i1"), FRESH.y)


def test_without_test_points_the_error_is_that_of_training():
    view = live.landmarks(X, Y, random_state=0)
    assert view.data["test_error"] == "train error" and view.data["test_points"] == view.data["points"]
    assert view.data["prior_test"] == view.data["prior_train"]


def test_test_points_may_be_of_one_class():
    right = live.landmarks(X, Y, X_test=X_TEST[FRESH.y > 0], y_test=Y_TEST[FRESH.y > 0], random_state=0)
    assert set(array(right, "test_labels", "i1")) == {1}


@pytest.mark.parametrize("kernel", [None, rff.CauchyKernel(1e-3)])
def test_a_learned_kernel_is_that_of_the_estimators(kernel):
    view = live.kernel(X, Y, kernel, 40, mu=1.5, beta=0.5, rho=1.0, random_state=3)
    prior = rff.PseudoPosteriorFeatures(kernel, 1, 40, random_state=3).fit(CENTRED, Y)
    np.testing.assert_allclose(array(view, "loss", "<f8"), prior.alignment_loss_, rtol=1e-12)
    optimized = array(view, "optimized", "<f4").reshape(len(notebook.RADII), 40)
    for k in (0, 10, 20):
        best = rff.OptimizedKernelFeatures(kernel, 1, 40, rho=notebook.RADII[k], mu=1.5, random_state=3).fit(CENTRED, Y)
        np.testing.assert_allclose(optimized[k], best.weights_, atol=1e-6)
    extent = view.data["frequency_extent"]
    plane = frequency_plane(CENTRED, Y, prior.kernel_, extent)
    np.testing.assert_allclose(array(view, "prior", "<f4"), plane.prior.ravel(), rtol=1e-5)
    np.testing.assert_allclose(array(view, "plane_loss", "<f4"), plane.loss.ravel(), rtol=1e-5, atol=1e-6)
    shown = array(view, "prior_kernel", "u1").reshape(KERNEL_CELLS, KERNEL_CELLS)
    assert shown.max() == shown[KERNEL_CELLS // 2, KERNEL_CELLS // 2] > shown[0, 0]  # largest at no difference
    assert (np.abs(array(view, "omega", "<f4").reshape(40, 2)).max(axis=1) < extent).mean() > 0.5


def test_the_units_of_the_points_do_not_matter():
    """With a width from the data, losses and weights stay the same when the points are moved and scaled."""
    at_home, elsewhere = live.kernel(MOONS.X, MOONS.y, random_state=0), live.kernel(X, Y, random_state=0)
    for name, dtype in {"loss": "<f8", "optimized": "<f4", "plane_loss": "<f4"}.items():
        np.testing.assert_allclose(array(at_home, name, dtype), array(elsewhere, name, dtype), atol=1e-5)
    for name in ("data_extent", "delta_extent"):
        assert elsewhere.data[name] == pytest.approx(SCALE * at_home.data[name])
    assert elsewhere.data["frequency_extent"] == pytest.approx(at_home.data["frequency_extent"] / SCALE)


@pytest.mark.parametrize("show", [live.landmarks, live.kernel])
@pytest.mark.parametrize(
    ("points", "labels", "message"),
    [
        (np.zeros((8, 3)), [0, 1] * 4, r"X has shape \(8, 3\); a live view shows points in the plane, of shape"),
        (X[:6], [0, 1, 2] * 2, "y has 3 classes; a live view shows two"),
        (X[:6], [1] * 6, "y holds only the class 1; at least 2 classes"),
        (X[:6], [0, 1], "y has 2 labels for 6 rows"),
        (np.ones((6, 2)), [0, 1] * 3, "The points of X span 0; between 1e-15 and 1e[+]15 is needed"),
        (X[:6] * 1e20, [0, 1] * 3, r"The points of X span \d\S*; between 1e-15 and 1e[+]15 is needed"),
        (np.zeros((100_001, 2)), np.zeros(100_001), "X has 100001 rows; the browser draws at most 100000"),
    ],
)
def test_wrong_points_get_one_sentence(show, points, labels, message):
    with pytest.raises(ValueError, match=message) as caught:
        show(points, labels)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("show", "options", "message"),
    [
        (live.landmarks, {"X_test": X_TEST}, "X_test is given without y_test; both or neither are needed"),
        (live.landmarks, {"y_test": Y_TEST}, "y_test is given without X_test; both or neither are needed"),
        (live.landmarks, {"X_test": X_TEST[:, :1], "y_test": Y_TEST}, r"X_test has shape \(60, 1\); a live view"),
        (live.landmarks, {"X_test": X_TEST[:1], "y_test": ["up"]}, "y_test holds 'up'; the classes of y are"),
        (live.landmarks, {"beta": 2000}, "beta is 2000; a number between 0.001 and 1000 is needed"),
        (live.landmarks, {"C": 0}, "C is 0; a finite number above 0 is needed"),
        (live.landmarks, {"n_landmarks": 2.5}, "n_landmarks is 2.5; a whole number of at least 1 is needed"),
        (live.landmarks, {"D": 0}, "D is 0; a whole number of at least 1 is needed"),
        (live.landmarks, {"D": 10**6}, "160 points, 5 landmarks and 1000000 frequencies make 800000000 cosines"),
        (live.landmarks, {"height": -1}, "height is -1; a whole number of at least 1 is needed"),
        (live.kernel, {"N": 5001}, "N is 5001; a whole number of at most 5000 is needed"),
        (live.kernel, {"rho": 2}, "rho is 2; a number between 0.0001 and 1 is needed"),
        (live.kernel, {"mu": 1}, "mu is 1; a finite number above 1 is needed"),
        (live.kernel, {"kernel": "cubic"}, "kernel is 'cubic'; None, one of"),
    ],
)
def test_wrong_options_get_one_sentence(show, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        show(X, Y, **options)
    assert "\n" not in str(caught.value)


def test_a_notebook_gets_a_frame_that_may_only_run_scripts():
    view = live.landmarks(X, Y, random_state=0, height=500)
    shown = view._repr_html_()
    assert re.match(
        r'<iframe title="Landmarks" sandbox="allow-scripts" style="[^"]*height: 500px[^"]*" srcdoc="', shown
    )
    assert shown.count("<") == 2 and shown.endswith('"></iframe>')  # nothing of the page is outside of its attribute
    page = view.html()
    assert page.count("</script>") == 2 and "$" not in re.findall(r"<title>.*?</title>", page)[0]
    assert re.search(r"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'\"", page)
