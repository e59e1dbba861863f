"""Displays: the numbers of fitted estimators, and figures that show them."""

import numpy as np
import pandas as pd
import plotly.io as pio
import pytest
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_iris, make_moons
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

import rff_engine as rff
from rff_engine.plots import (
    BoundCurveDisplay,
    ErrorCurveDisplay,
    SimilarityMapDisplay,
    SpectralWeightsDisplay,
)
from rff_engine.plots.displays import METHODS
from rff_engine.plots.style import CLASS_COLOURS, METHOD_COLOURS, METHOD_NAMES

COLOURS = 2.0**-12  # the relative precision of a map's values
X, Y = make_moons(60, noise=0.1, random_state=0)
FLOWERS = load_iris(as_frame=True)
KERNEL = rff.GaussianKernel(0.5)


def landmark_model(**others):
    return rff.LandmarkSimilarity(KERNEL, **{"n_landmarks": 3, "n_components": 20, "random_state": 0} | others)


def cell_centres(low, high, G):
    return low + (high - low) * (np.arange(G) + 0.5) / G


# --- similarity maps ----------------------------------------------------------------------------------------------


def test_maps_are_the_similarities_of_the_cells():
    model = landmark_model(selection="random").fit(X, Y)
    shown = SimilarityMapDisplay.from_estimator(model, X, Y, grid_resolution=10)
    assert shown.maps.shape == (2, 3, 10, 10) and shown.row_names == ("prior", "learned")
    u, v = (cell_centres(shown.lows[j], shown.highs[j], 10) for j in (0, 1))
    for a, b in ((0, 0), (2, 7), (9, 4)):
        point = np.array([[u[b], v[a]]])
        np.testing.assert_allclose(shown.maps[1, :, a, b], model.transform(point)[0], atol=1e-12)
        np.testing.assert_allclose(shown.maps[0, :, a, b], KERNEL(point, model.landmarks_)[0], atol=1e-12)
    z = shown.figure_.data[0].z
    np.testing.assert_allclose(z[11:21, :10], shown.maps[0, 0], rtol=COLOURS, atol=1e-6)
    np.testing.assert_allclose(z[:10, 11:21], shown.maps[1, 1], rtol=COLOURS, atol=1e-6)
    (red,) = [t for t in shown.figure_.data if t.type == "scatter" and t.marker.color == CLASS_COLOURS[1]]
    assert len(red.x) == 6 * Y.sum()
    inside = (X[Y == 1, 0] - shown.lows[0]) / (shown.highs[0] - shown.lows[0])
    np.testing.assert_allclose(np.sort(red.x[: Y.sum()]), np.sort(inside), atol=1e-6)
    assert "x0 from" in shown.figure_.layout.annotations[-1].text


def test_other_columns_stay_at_their_means_or_where_they_are_set():
    table = FLOWERS.data
    model = landmark_model(n_landmarks=5).fit(table, FLOWERS.target)
    names = ("petal length (cm)", "petal width (cm)")
    shown = SimilarityMapDisplay.from_estimator(
        model, table, FLOWERS.target, columns=names, grid_resolution=4, max_landmarks=2
    )
    assert shown.column_names == names and shown.maps.shape == (2, 2, 4, 4)
    row = table.mean().to_numpy().copy()
    row[2], row[3] = (cell_centres(shown.lows[j], shown.highs[j], 4)[i] for j, i in ((0, 3), (1, 1)))
    one = pd.DataFrame([row], columns=table.columns)
    np.testing.assert_allclose(shown.maps[1, :, 1, 3], model.transform(one)[0, :2], atol=1e-12)
    np.testing.assert_allclose(shown.landmarks, model.landmarks_[:2, 2:], atol=1e-12)
    assert (shown.signs == np.where(FLOWERS.target == 2, 1, -1)).all()
    moved = SimilarityMapDisplay.from_estimator(
        model, table, FLOWERS.target, columns=(2, 3), at=np.zeros(4), pos_label=0, grid_resolution=4
    )
    assert (moved.signs == np.where(FLOWERS.target == 0, 1, -1)).all()
    assert not np.allclose(moved.maps[1, :2], shown.maps[1])


@pytest.mark.parametrize("before", [StandardScaler(), PCA(2)])
def test_landmarks_of_a_pipeline_are_shown_in_the_columns_of_the_user(before):
    units = X * [100.0, 1.0] + [7.0, 0.0]
    model = make_pipeline(before, landmark_model(selection="random")).fit(units, Y)
    shown = SimilarityMapDisplay.from_estimator(model, units, Y, grid_resolution=5)
    np.testing.assert_allclose(shown.landmarks, units[model[-1].landmark_indices_], rtol=1e-9)
    point = np.array([[cell_centres(shown.lows[j], shown.highs[j], 5)[2] for j in (0, 1)]])
    np.testing.assert_allclose(shown.maps[1, :, 2, 2], model.transform(point)[0], atol=1e-12)


def test_similarities_of_the_prior_make_one_row():
    shown = SimilarityMapDisplay.from_estimator(landmark_model(similarity="prior").fit(X, Y), X, Y)
    assert shown.maps.shape == (1, 3, 60, 60)
    before = shown.figure_
    assert shown.plot(upright=True) is shown and shown.figure_ is not before


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"columns": (0, 2)}, r"columns is \(0, 2\); two of the 2 columns"),
        ({"columns": (1, 1)}, r"columns is \(1, 1\)"),
        ({"columns": "x0"}, "columns is 'x0'"),
        ({"at": [1.0]}, r"at has shape \(1,\); 2 numbers"),
        ({"pos_label": 5}, r"pos_label is 5; one of the classes \[0, 1\]"),
        ({"grid_resolution": 1}, "grid_resolution is 1; a whole number of at least 2"),
        ({"max_landmarks": 0}, "max_landmarks is 0"),
    ],
)
def test_bad_arguments_of_maps_are_named(change, says):
    model = landmark_model().fit(X, Y)
    with pytest.raises(ValueError, match=rf"^{says}.*\.$"):
        SimilarityMapDisplay.from_estimator(model, X, Y, **change)


def test_steps_without_an_inverse_are_named():
    model = make_pipeline(FunctionTransformer(np.abs), landmark_model()).fit(X, Y)
    shown = SimilarityMapDisplay.from_estimator(model, X, Y)  # whose inverse is the identity
    assert np.isfinite(shown.landmarks).all()
    broken = make_pipeline(rff.RandomFourierFeatures(KERNEL, 3), landmark_model()).fit(X, Y)
    with pytest.raises(ValueError, match=r"RandomFourierFeatures.* has no inverse_transform"):
        SimilarityMapDisplay.from_estimator(broken, X, Y)


# --- weights ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [rff.PseudoPosteriorFeatures, rff.OptimizedKernelFeatures])
def test_weights_of_a_kernel_are_sorted_beside_the_prior(make):
    model = make(KERNEL, 5, 50, random_state=0).fit(X, Y)
    shown = SpectralWeightsDisplay.from_estimator(make_pipeline(model))
    prior, learned = shown.figure_.data
    np.testing.assert_allclose(prior.y, 1, rtol=1e-6)
    np.testing.assert_allclose(learned.y[0], 50 * model.weights_.max(), rtol=1e-6)
    assert learned.line.color == METHOD_COLOURS[METHODS[make]]


def test_weights_of_landmarks_are_sorted_by_frequency():
    model = landmark_model().fit(X, Y)
    shown = SpectralWeightsDisplay.from_estimator(model)
    order = np.argsort(np.linalg.norm(model.frequencies_[1], axis=1))
    np.testing.assert_allclose(shown.figure_.data[0].z[1], 20 * model.weights_[1][order], rtol=1e-6)
    with pytest.raises(ValueError, match="similarity is 'prior'; weights are learned with 'learned' only"):
        SpectralWeightsDisplay.from_estimator(landmark_model(similarity="prior").fit(X, Y))


@pytest.mark.parametrize("display", [SpectralWeightsDisplay, BoundCurveDisplay])
def test_displays_need_a_fitted_estimator_of_their_kind(display):
    with pytest.raises(ValueError, match=r"estimator is SelectKBest; a fitted PseudoPosteriorFeatures or .* is needed"):
        display.from_estimator(SelectKBest())
    with pytest.raises(NotFittedError):
        display.from_estimator(rff.PseudoPosteriorFeatures())


# --- bounds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        rff.PseudoPosteriorFeatures(KERNEL, 5, 100, beta="bound", random_state=0),
        landmark_model(selection="random", beta="bound"),
        rff.PseudoPosteriorFeatures("learned", 5, 100, beta="bound", random_state=0),
    ],
    ids=["kernel", "landmarks", "learned"],
)
def test_bound_curve_passes_through_the_bound_of_the_estimator(model):
    model.fit(X, Y)
    shown = BoundCurveDisplay.from_estimator(model, betas=np.sort(np.append(np.geomspace(0.01, 1e3, 30), model.beta_)))
    at = list(shown.betas).index(model.beta_)
    assert shown.bounds[at] == pytest.approx(np.mean(model.bound_), rel=1e-12)
    assert shown.losses[at] == pytest.approx(np.mean((model.weights_ * model.alignment_loss_).sum(axis=-1)), rel=1e-12)
    assert shown.bounds.min() >= np.mean(model.bound_) - 1e-9  # beta="bound" is where it is smallest
    assert (shown.bounds >= shown.losses).all()
    bound, minimum, loss = shown.figure_.data
    np.testing.assert_array_equal(bound.y, shown.bounds)
    np.testing.assert_array_equal(loss.y, shown.losses)
    assert minimum.x[0] == shown.best_beta and minimum.y[0] == shown.best_value
    assert shown.figure_.layout.template.layout == pio.templates["plotly"].layout  # not Streamlit's placeholder
    assert any(shape.x0 == model.beta_ for shape in shown.figure_.layout.shapes if shape.x0 == shape.x1)


def test_estimators_without_a_bound_and_bad_betas_are_named():
    with pytest.raises(ValueError, match="LandmarkSimilarity has no bound: landmarks are centroids"):
        BoundCurveDisplay.from_estimator(landmark_model().fit(X, Y))
    weighted = rff.PseudoPosteriorFeatures(KERNEL, 5, 20, random_state=0).fit(X, Y, sample_weight=1.0 + Y)
    with pytest.raises(ValueError, match="PseudoPosteriorFeatures has no bound"):
        BoundCurveDisplay.from_estimator(weighted)
    model = rff.PseudoPosteriorFeatures(KERNEL, 5, 20, random_state=0).fit(X, Y)
    for betas in ([1.0], [2.0, 1.0], [0.0, 1.0], [[1.0, 2.0]]):
        with pytest.raises(ValueError, match="betas must be at least two ascending numbers above 0"):
            BoundCurveDisplay.from_estimator(model, betas=betas)


# --- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_errors_are_those_of_cross_validation():
    model = make_pipeline(StandardScaler(), rff.RandomFourierFeatures(KERNEL, random_state=0), LinearSVC(C=10))
    folds = KFold(4, shuffle=True, random_state=0)
    shown = ErrorCurveDisplay.from_estimator(model, X, Y, n_components=(2, 8, 32), cv=folds)
    assert list(shown.errors) == ["rff"] and shown.errors["rff"].shape == (3, 4)
    for i, size in enumerate((2, 8, 32)):
        scores = cross_val_score(model.set_params(randomfourierfeatures__n_components=size), X, Y, cv=folds)
        np.testing.assert_allclose(shown.errors["rff"][i], 1 - scores, atol=1e-12)
    lines = {t.name.split(":")[0]: t for t in shown.figure_.data if t.name and t.mode == "lines+markers"}
    np.testing.assert_allclose(lines[METHOD_NAMES["rff"]].y, 100 * shown.errors["rff"].mean(axis=1))
    np.testing.assert_allclose(
        lines[METHOD_NAMES["rff"]].customdata, 100 * shown.errors["rff"].std(axis=1, ddof=1) / 2, rtol=1e-12
    )
    joined = ErrorCurveDisplay(shown.sizes, shown.errors | {"pbrff": shown.errors["rff"] / 2}).plot()
    assert len(joined.figure_.data) > len(shown.figure_.data)


def test_a_curve_needs_one_step_of_the_package_and_ascending_sizes():
    model = make_pipeline(rff.NystroemFeatures(KERNEL), LinearSVC())
    for bad in ((), (5, 2), (2, 2), (0, 1)):
        with pytest.raises(ValueError, match="n_components is "):
            ErrorCurveDisplay.from_estimator(model, X, Y, n_components=bad)
    for wrong in (LinearSVC(), make_pipeline(StandardScaler(), LinearSVC())):
        with pytest.raises(ValueError, match="estimator has 0 steps of rff_engine; a pipeline with one is needed"):
            ErrorCurveDisplay.from_estimator(wrong, X, Y)


def test_every_transformer_has_a_name_in_figures():
    public = [getattr(rff, name) for name in rff.__all__]
    classes = {one for one in public if isinstance(one, type) and hasattr(one, "transform")}
    transformers = {one for one in classes if not issubclass(one, ClassifierMixin)}
    assert set(METHODS) == transformers and set(METHODS.values()) <= set(METHOD_NAMES)
