"""Points of the reader: their code, the landmarks among them, and the pages that show them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from datasets.points import CELLS, EXTENT, decode_points, encode_points
from datasets.toy_data import ToyData
from pages.shared.controls import own_points
from pages.shared.controls.own_points import OWN, POINTS

from .sessions import ROOT, opened

X = np.array([[-1, 0], [1, 0.5], [0.3, 1.9], [-1.2, 0.4], [0.8, -1]])
Y = np.array([-1, 1, 1, -1, 1])
CODE = encode_points(X, Y)


def canvas(app: AppTest) -> dict | None:
    """What the server sends to the canvas of points, if it is there."""
    canvases = [part for part in app.get("bidi_component") if part.proto.component_name == "own_points"]
    return json.loads(canvases[0].proto.json) if canvases else None


# --- the code -------------------------------------------------------------------------------------------------------


def test_points_have_the_codes_that_the_browser_gives_them_and_codes_these_points():
    shared = json.loads((ROOT / "tests" / "point_codes.json").read_text(encoding="utf-8"))
    assert shared["cells"] == CELLS
    code = "".join(point["code"] for point in shared["points"])
    points = [
        [(2 * point[axis] / CELLS - 1) * EXTENT for axis in "xy"] + [point["label"]] for point in shared["points"]
    ]
    np.testing.assert_allclose(decode_points(code), points, atol=1e-9)
    assert encode_points(np.array(points)[:, :2], np.array(points)[:, 2]) == code


def test_a_code_gives_its_points_back_to_half_a_cell_of_the_grid():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-2, 2, (200, 2)), rng.choice([-1, 1], 200)
    points = np.array(decode_points(encode_points(X, y)))
    assert np.abs(points[:, :2] - X).max() <= EXTENT / CELLS * (1 + 1e-9)
    np.testing.assert_array_equal(points[:, 2], y)


def test_points_outside_of_the_square_move_to_its_border():
    assert decode_points(encode_points([[-9, 9], [0, 0], [9, 0], [1, 1]], [1, 1, -1, -1]))[0] == (-2.0, 2.0, 1)


WRONG = {
    "empty": "",
    "three letters": CODE[:3],
    "a part of a point": CODE + "AA",
    "a letter of no code": CODE[:-1] + "*",
    "a letter of another script": CODE[:-1] + "é",
    "beyond the grid": CODE + "____",
    "one class": encode_points(X, np.ones(5)),
    "one point of a class": encode_points(X[:4], [1, 1, 1, -1]),
    "too many": CODE * 41,
}


@pytest.mark.parametrize("code", WRONG.values(), ids=WRONG)
def test_what_is_no_code_is_refused_in_one_sentence(code):
    with pytest.raises(ValueError):
        decode_points(code)
    taken, note = POINTS.sanitize([code])
    assert taken is None and note is not None
    assert note.startswith("The link asked for points = ") and "at most 200 points, at least 2 of each class" in note
    assert len(note) < 300 and not own_points.take(code)


def test_a_code_is_taken_as_it_is():
    assert POINTS.sanitize([CODE]) == (CODE, None)
    assert POINTS.sanitize([CODE, CODE])[0] is None


# --- data and landmarks ---------------------------------------------------------------------------------------------


def test_the_points_are_the_sample_and_copies_of_them_the_fresh_one():
    data = ToyData(OWN, 5, 0.05, 3, CODE)
    np.testing.assert_allclose(data.sample().X, X, atol=1e-9)
    fresh = data.fresh_sample()
    assert len(fresh.y) == 2000 and np.abs(fresh.X - np.tile(X, (400, 1))).max() < 6 * 0.05
    assert data.extent == EXTENT
    assert data.test_error != ToyData("moons", 300, 0.1, 0).test_error


def test_random_landmarks_alternate_between_classes_and_stay_when_a_point_is_added():
    y = np.array([-1, 1, 1, -1, 1, -1, 1, 1])
    rows = own_points.random_rows(y, 5, seed=1)
    assert len(set(rows)) == 5 and y[list(rows)].tolist() == [-1, 1, -1, 1, -1]
    assert len(set(own_points.random_rows(y, 8, seed=1))) == 8
    longer = [set(own_points.random_rows(np.append(y, label), 5, seed=1)) for label in (-1, 1)]
    assert all(len(set(rows) - other) <= 1 for other in longer)
    assert len({own_points.random_rows(y, 3, seed) for seed in range(20)}) > 5


def test_clicked_landmarks_follow_their_points():
    parts = [CODE[k : k + 4] for k in range(0, 20, 4)]
    assert own_points.moved_rows((1, 3), CODE, CODE + parts[0]) == (1, 3)
    erased = "".join([parts[4], *parts[1:4]])  # the first; the last takes its place
    assert own_points.moved_rows((0, 1, 4), CODE, erased) == (1, 0)
    moved = "".join([parts[0], "AAAA", *parts[2:]])
    assert own_points.moved_rows((1, 2), CODE, moved) == (1, 2)


# --- pages ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_points_replace_a_toy_data_set_and_are_kept_for_the_return():
    app = opened("landmarks", data="circles")
    assert canvas(app) is None
    app.selectbox("data").set_value(OWN).run()
    start = canvas(app)
    assert start is not None and start["start"]["name"] == "circles" and len(start["points"]) == 400
    app.query_params["points"] = CODE
    app.run()
    assert canvas(app)["points"] == CODE  # type: ignore[index]
    app.selectbox("data").set_value("moons").run()
    assert canvas(app) is None and "points" not in app.query_params
    app.selectbox("data").set_value(OWN).run()
    assert canvas(app)["points"] == CODE and "".join(app.query_params["points"]) == CODE  # type: ignore[index]


@pytest.mark.slow
def test_a_wrong_code_in_a_link_gets_one_sentence_and_a_start():
    app = opened("learn_kernel", data=OWN, points="nonsense!")
    (note,) = [warning.value for warning in app.warning]
    assert "nonsense!" in note and canvas(app)["start"]["points"] == canvas(app)["points"]  # type: ignore[index]


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize("how", ["random", "k-means", "clicked"])
def test_the_fewest_points_are_enough_for_every_choice_of_landmarks(how):
    code = encode_points([[0, 0], [0, 0], [1, 1], [1, 0]], [1, 1, -1, -1])
    app = opened("landmarks", data=OWN, points=code, how=how, landmarks="8")
    assert canvas(app)["points"] == code  # type: ignore[index]
