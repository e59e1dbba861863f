"""Live views that are made from draws: what the server sends depends on neither width nor noise nor landmarks."""

from __future__ import annotations

import json
from base64 import b64decode

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import rff_engine as rff
from datasets.points import encode_points
from datasets.toy_data import ToyData
from pages.kernel.learn import compute as learning, view as learning_view
from pages.landmarks import compute as landmarks, view as landmark_views
from pages.shared.controls.own_points import OWN
from pages.shared.controls.toy import NOISE, SIGMA, SIGMA_LIVE

from .sessions import opened


def sent(app: AppTest) -> dict:
    """What the live view of the page gets."""
    (data,) = [p.proto.json for p in app.get("bidi_component") if p.proto.component_name.startswith("live_")]
    return json.loads(data)


WIDTHS = [{"sigma": SIGMA_LIVE.values[0], "noise": 0.0}, {"sigma": SIGMA_LIVE.values[-1], "noise": 0.5}]
ELLIPSES = [{"along": 3.16, "across": 0.2, "angle": 179}]


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize(("page", "moves"), [("landmarks", WIDTHS), ("learn_kernel", WIDTHS + ELLIPSES)])
def test_width_noise_and_ellipse_change_nothing_that_the_live_view_gets_but_the_settings(page, moves):
    app = opened(page)
    first = sent(app)
    settings = first["settings"]
    for changed in moves:
        settings = settings | changed
        for key, value in changed.items():
            app.session_state[key] = value
        app.run()
        assert not app.exception and not app.error
        assert sent(app) == first | {"settings": settings}


@pytest.mark.slow
def test_another_noise_and_other_landmarks_are_one_entry_of_the_cache(monkeypatch):
    packed = []
    draw = landmark_views.landmark_draws
    monkeypatch.setattr(landmark_views, "landmark_draws", lambda seed: packed.append(seed) or draw(seed))
    app = opened("landmarks", seed="77", n="40")  # which no other test has
    for settings in ({"noise": 0.2}, {"noise": 0.3, "how": "k-means"}, {"how": "random", "landmarks": 7}, {"C": 10.0}):
        for key, value in settings.items():
            app.session_state[key] = value
        app.run()
        assert not app.exception and not app.error
    assert len(packed) == 1


@pytest.mark.slow
def test_other_landmarks_change_the_rows_alone():
    app = opened("landmarks", seed="3", how="clicked", picks="3-17")
    first = sent(app)
    assert first["rows"] == [3, 17] and first["centroids"] is None
    app.query_params["picks"] = "3-17-40"
    app.run()
    assert sent(app) == first | {"rows": [3, 17, 40]}


@pytest.mark.parametrize("how", ["random", "clicked", "k-means"])
def test_points_landmarks_and_frequencies_of_the_draws_are_the_engines(how):
    noise, sigma = 0.27, 0.457
    data = ToyData("spirals", 120, noise, 5)
    selection = {"random": "random", "clicked": (3, 40, 17), "k-means": "kmeans"}[how]
    settings = landmarks.LandmarkSettings(data, sigma, 20, 4, selection)
    problem, shown = landmarks.landmark_problem(settings), landmark_views.shown_landmarks(settings)
    draws = landmark_views.drawn_landmarks(data)["draws"]
    X = points(draws["train"], noise, "<f8")
    np.testing.assert_array_equal(X, problem.X)
    np.testing.assert_allclose(points(draws["test"], noise, "<f4"), data.fresh_sample().X, atol=1e-6)
    np.testing.assert_array_equal(np.frombuffer(b64decode(draws["test"]["labels"]), "i1"), data.fresh_sample().y)
    at = np.reshape(shown["centroids"]["points"], (-1, 2)) if how == "k-means" else X[shown["rows"]]
    np.testing.assert_array_equal(at, problem.landmarks)
    omega = np.frombuffer(b64decode(draws["frequencies"])).reshape(landmarks.MAX_LANDMARKS, draws["count"], 2)
    np.testing.assert_allclose(omega[: len(at), :20] / sigma, problem.omega, rtol=1e-15)


def points(packed: dict, noise: float, dtype: str) -> np.ndarray:
    """The points of a packed draw."""
    positions, normals = (np.frombuffer(b64decode(packed[name]), dtype) for name in ("positions", "normals"))
    return (positions + noise * normals).reshape(-1, 2)


def test_candidates_of_the_draws_are_the_engines():
    settings = learning.CandidateSettings(ToyData("xor", 50, 0.2, 4), 0.631, 100)
    draws = learning_view.drawn_kernel(settings)["draws"]
    np.testing.assert_array_equal(points(draws["train"], 0.2, "<f8"), settings.data.sample().X)
    omega = np.frombuffer(b64decode(draws["frequencies"])).reshape(-1, 2)
    np.testing.assert_allclose(omega / 0.631, learning.candidates(settings).omega, rtol=1e-15)
    loss = rff.alignment_loss(points(draws["train"], 0.2, "<f8"), settings.data.sample().y, omega / 0.631)
    np.testing.assert_allclose(loss, learning.candidates(settings).loss, rtol=1e-9)


@pytest.mark.slow
def test_noise_of_centroids_and_of_copies_is_a_control_of_the_page():
    code = encode_points([[0.5, 0.5], [0.7, 0.5], [-0.5, -0.5], [-0.7, -0.5]], [1, 1, -1, -1])
    for settings in ({"how": "k-means"}, {"data": OWN, "points": code}):
        app = opened("landmarks", **settings)
        app.session_state["noise"] = 0.05
        app.run()
        data = sent(app)
        assert "noise" not in data["settings"] and data["noise"] == 0.05
        assert ("normals" in data["draws"]["test"]) == ("points" not in settings)
    own = sent(opened("learn_kernel", data=OWN, points=code))
    assert "noise" not in own["settings"] and "normals" not in own["draws"]["train"]


def test_every_place_of_the_slider_of_the_noise_is_a_value_of_its_control():
    for hundredths in range(51):
        assert NOISE.nearest(hundredths / 100) == NOISE.read(f"{hundredths / 100:g}") == hundredths / 100


def test_every_width_of_older_links_is_still_one():
    assert set(SIGMA.values) <= set(SIGMA_LIVE.values)
