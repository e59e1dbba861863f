"""Figures of fitted estimators and a user's own data, in the manner of scikit-learn's displays.

`from_estimator` computes the numbers, keeps them as attributes and plots them; the Plotly figure is `figure_`, and
`plot` makes it again. The other modules have the figures themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import plotly.graph_objects as go
from sklearn.model_selection import validation_curve
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._strength import kernel_bound, landmark_bounds
from .._typing import ArrayLike, Estimator, MatrixLike
from .._validation import as_labels, as_points, check_count
from ..adaptive_estimators import AdaptiveFourierFeatures, SupervisedFourierFeatures
from ..estimators import (
    LandmarkSimilarity,
    NystroemFeatures,
    OptimizedKernelFeatures,
    PseudoPosteriorFeatures,
    RandomFourierFeatures,
)
from ..posteriors import pseudo_posterior
from .bounds import bound_of_a_fit
from .landmarks import similarity_mosaic, spectral_weights
from .learning import error_curves, sorted_weights

__all__ = ["BoundCurveDisplay", "ErrorCurveDisplay", "SimilarityMapDisplay", "SpectralWeightsDisplay"]

#: Names of the estimators in figures.
METHODS: dict[type, str] = {
    RandomFourierFeatures: "rff",
    PseudoPosteriorFeatures: "pbrff",
    OptimizedKernelFeatures: "okrff",
    LandmarkSimilarity: "pb_landmarks",
    NystroemFeatures: "nystroem",
    AdaptiveFourierFeatures: "sample",
    SupervisedFourierFeatures: "supervise",
}


def _fitted(estimator, allowed: tuple[type, ...]) -> Any:
    """Return the fitted transformer, alone or last in a pipeline; raise if it is not one of the allowed."""
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if not isinstance(last, allowed):
        names = " or ".join(one.__name__ for one in allowed)
        raise ValueError(f"estimator is {type(last).__name__}; a fitted {names} is needed.")
    check_is_fitted(last)
    return last


def _with_template(fig: go.Figure) -> go.Figure:
    """Give a figure Plotly's template: once imported, Streamlit puts a placeholder in its place."""
    return fig.update_layout(template="plotly")


# --- similarity maps ----------------------------------------------------------------------------------------------


@dataclass
class SimilarityMapDisplay:
    """Similarities to each landmark over two columns, by the prior and as learned (Letarte et al. 2019, Figure 1).

    Parameters
    ----------
    maps : array of shape (R, L, G, G)
        Similarities to L landmarks at the centres of the cells of a grid, by R methods.
    landmarks : array of shape (L, 2)
        The two columns of the landmarks.
    X : array of shape (n, 2)
        The two columns of the points.
    signs : array of shape (n,)
        1 for the points of one class, -1 for the others.
    lows, highs : arrays of shape (2,)
        Ends of the grid in the columns.
    column_names, row_names : sequences of str
        What the axes and the rows of maps are called.

    Attributes
    ----------
    figure_ : plotly.graph_objects.Figure
        The figure that `plot` drew last.
    """

    maps: np.ndarray
    landmarks: np.ndarray
    X: np.ndarray
    signs: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    column_names: tuple[str, str] = ("x0", "x1")
    row_names: tuple[str, ...] = ("prior", "learned")
    figure_: go.Figure = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike,
        y: ArrayLike,
        *,
        columns: tuple[int | str, int | str] = (0, 1),
        at: ArrayLike | None = None,
        pos_label: Any = None,
        grid_resolution: int = 60,
        max_landmarks: int = 8,
    ) -> Self:
        """Compute similarities of a fitted LandmarkSimilarity, or of a pipeline that ends in one, over two columns.

        Parameters
        ----------
        estimator : LandmarkSimilarity or Pipeline
            Fitted. The steps before it must have `inverse_transform`, to show the landmarks in the columns of `X`.
        X : array or DataFrame of shape (n, d)
            Points to show; they set the ends of the grid.
        y : array of shape (n,)
            Their labels.
        columns : pair of int or str
            The two columns, by number or, for a DataFrame, by name.
        at : array of shape (d,), optional
            Values of the other columns; ``None`` stands for their means.
        pos_label : label, optional
            The class in red, the others are blue. ``None`` stands for the last class.
        grid_resolution : int
            G, cells on a side, at least 2.
        max_landmarks : int
            The first of the landmarks are shown.

        Returns
        -------
        SimilarityMapDisplay

        Raises
        ------
        NotFittedError
            Before the estimator's `fit`.
        ValueError
            If the estimator or an argument is not allowed.
        """
        model = _fitted(estimator, (LandmarkSimilarity,))
        points = as_points(X, dense=True).astype(np.float64)
        names = [str(name) for name in getattr(X, "columns", [f"x{j}" for j in range(points.shape[1])])]
        pair = _pair_of_columns(columns, names)
        lows, highs = _ends(points[:, pair])
        grid = _grid(
            points.mean(axis=0) if at is None else _row(at, points.shape[1]), pair, lows, highs, grid_resolution
        )
        before = estimator[:-1] if isinstance(estimator, Pipeline) and len(estimator) > 1 else None
        like_X = type(X)(grid, columns=X.columns) if hasattr(X, "columns") else grid
        inner = like_X if before is None else before.transform(like_X)
        shown = slice(check_count(max_landmarks, "max_landmarks"))
        rows = {"prior": model.kernel_(_values(inner), model.landmarks_[shown])}
        if model.similarity == "learned":
            rows["learned"] = model.transform(inner)[:, shown]
        G = grid_resolution
        display = cls(
            np.stack([similarity.T.reshape(-1, G, G) for similarity in rows.values()]),
            _in_columns_of_X(model.landmarks_[shown], before)[:, pair],
            points[:, pair],
            _signs(y, len(points), pos_label),
            lows,
            highs,
            (names[pair[0]], names[pair[1]]),
            tuple(rows),
        )
        return display.plot()

    def plot(self, *, upright: bool = False) -> Self:
        """Draw the figure.

        Parameters
        ----------
        upright : bool
            Whether methods are columns and landmarks rows, for a narrow page.

        Returns
        -------
        self
        """
        centre, half = (self.lows + self.highs) / 2, (self.highs - self.lows) / 2
        # Maps show the first points only; rows are often sorted by class.
        order = np.random.default_rng(0).permutation(len(self.X))
        landmarks, X = ((points - centre) / half for points in (self.landmarks, self.X[order]))
        signs, names = self.signs[order], self.row_names
        fig = similarity_mosaic(1.0, self.maps, landmarks, X, signs, row_names=names, upright=upright)
        ends = zip(self.column_names, self.lows, self.highs, "→↑", strict=True)
        text = ", ".join(f"{name} from {low:.3g} to {high:.3g} {arrow}" for name, low, high, arrow in ends)
        fig.add_annotation(x=0.5, y=0, xref="paper", yref="paper", yanchor="top", text=text, showarrow=False)
        fig.update_layout(margin_b=36, height=fig.layout.height + 28)
        self.figure_ = _with_template(fig)
        return self


def _values(points) -> Any:
    return points.to_numpy() if hasattr(points, "to_numpy") else points


def _row(values, d: int) -> np.ndarray:
    row = np.asarray(values, dtype=np.float64)
    if row.shape != (d,):
        raise ValueError(f"at has shape {row.shape}; {d} numbers, one a column, are needed.")
    return row


def _pair_of_columns(columns: Any, names: list[str]) -> list[int]:
    """Return the numbers of two columns, given by numbers or names."""
    given: list[Any] = list(columns) if isinstance(columns, tuple | list) else [columns]
    pair: list[Any] = [names.index(one) if isinstance(one, str) and one in names else one for one in given]
    numbers = range(len(names))
    if len(pair) != 2 or pair[0] == pair[1] or not all(isinstance(one, int) and one in numbers for one in pair):
        raise ValueError(f"columns is {columns!r}; two of the {len(names)} columns, by number or name, are needed.")
    return pair


def _ends(points) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the grid: the range of the points and a little more."""
    low = points.min(axis=0)
    high = points.max(axis=0)
    margin = np.where(high > low, 0.05 * (high - low), 1.0)
    return low - margin, high + margin


def _grid(row, pair, lows, highs, G: int) -> np.ndarray:
    """Copy a row, (G * G, d), with the two columns at the centres of the cells of a grid."""
    steps = (np.arange(check_count(G, "grid_resolution", low=2)) + 0.5) / G
    u, v = (low + (high - low) * steps for low, high in zip(lows, highs, strict=True))
    grid = np.tile(row, (G * G, 1))
    grid[:, pair[0]] = np.tile(u, G)
    grid[:, pair[1]] = np.repeat(v, G)
    return grid


def _in_columns_of_X(landmarks, before) -> np.ndarray:
    """Return landmarks in the columns that the user gave, if steps of a pipeline changed them."""
    landmarks = landmarks.toarray() if hasattr(landmarks, "toarray") else landmarks
    if before is None:
        return landmarks
    if not hasattr(before, "inverse_transform"):
        raise ValueError(f"{before[-1]!r} has no inverse_transform, which shows landmarks in the columns of X.")
    return np.asarray(before.inverse_transform(landmarks))


def _signs(y, n: int, pos_label) -> np.ndarray:
    classes, codes = as_labels(y, n, min_classes=1)
    if pos_label is None:
        return np.where(codes == len(classes) - 1, 1, -1)
    if pos_label not in classes.tolist():
        raise ValueError(f"pos_label is {pos_label!r}; one of the classes {classes.tolist()} is needed.")
    return np.where(codes == classes.tolist().index(pos_label), 1, -1)


# --- weights ------------------------------------------------------------------------------------------------------


@dataclass
class SpectralWeightsDisplay:
    """Weights that an estimator has learned on its frequencies (Letarte et al. 2019, Eq. 12 and 19).

    Parameters
    ----------
    weights : array of shape (N,) or (L, D)
        Of the candidates of a kernel, or of the frequencies of each landmark.
    lengths : array of the shape of `weights`, optional
        Euclidean norms of the frequencies; they sort the frequencies of a landmark.
    method : str
        Name of the method in figures, for the weights of a kernel.

    Attributes
    ----------
    figure_ : plotly.graph_objects.Figure
        The figure that `plot` drew last.
    """

    weights: np.ndarray
    lengths: np.ndarray | None = None
    method: str = "pbrff"
    figure_: go.Figure = field(init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Estimator) -> Self:
        """Read the weights of a fitted estimator, or of a pipeline that ends in one.

        Parameters
        ----------
        estimator : PseudoPosteriorFeatures, OptimizedKernelFeatures, LandmarkSimilarity or Pipeline
            Fitted; a LandmarkSimilarity with learned similarities.

        Returns
        -------
        SpectralWeightsDisplay

        Raises
        ------
        NotFittedError
            Before the estimator's `fit`.
        ValueError
            If the estimator is another one.
        """
        model = _fitted(estimator, (PseudoPosteriorFeatures, OptimizedKernelFeatures, LandmarkSimilarity))
        if not isinstance(model, LandmarkSimilarity):
            return cls(model.weights_, method=METHODS[type(model)]).plot()
        _require_learned(model)
        lengths = np.linalg.norm(model.frequencies_.astype(np.float64), axis=-1)
        return cls(model.weights_, lengths, METHODS[LandmarkSimilarity]).plot()

    def plot(self) -> Self:
        """Draw the figure."""
        if self.weights.ndim == 2:
            self.figure_ = _with_template(spectral_weights(self.weights, self.lengths, 370))
        else:
            prior = np.full(len(self.weights), 1 / len(self.weights))
            weights = {"rff": prior, self.method: self.weights}
            self.figure_ = _with_template(sorted_weights(weights))
        return self


def _require_learned(model: LandmarkSimilarity) -> None:
    if model.similarity != "learned":
        raise ValueError(f"similarity is {model.similarity!r}; weights are learned with 'learned' only.")


# --- bounds -------------------------------------------------------------------------------------------------------


@dataclass
class BoundCurveDisplay:
    """The bound of an estimator and its empirical loss against beta (Letarte et al. 2019, Theorems 1 and 3).

    For landmarks both are means over the landmarks.

    Parameters
    ----------
    betas, losses, bounds : arrays of shape (B,)
        Inverse temperatures, empirical losses of the pseudo-posteriors, and bounds on their expected losses.
    name : {"second_order_kl_inverse", "landmark_kl_inverse"}
        The bound's function in `rff_engine.bounds`.
    n_landmarks : int
        Landmarks that the bounds hold for at once.
    beta : float
        That of the estimator.

    Attributes
    ----------
    figure_ : plotly.graph_objects.Figure
        The figure that `plot` drew last.
    """

    betas: np.ndarray
    losses: np.ndarray
    bounds: np.ndarray
    name: str
    n_landmarks: int
    beta: float
    figure_: go.Figure = field(init=False, repr=False)

    @property
    def best_beta(self) -> float:
        """The beta of `betas` with the smallest bound."""
        return float(self.betas[np.argmin(self.bounds)])

    @property
    def best_value(self) -> float:
        """The smallest bound."""
        return float(self.bounds.min())

    @property
    def values(self) -> np.ndarray:
        """The bounds, under the name that figures use."""
        return self.bounds

    @classmethod
    def from_estimator(cls, estimator: Estimator, *, betas: ArrayLike | None = None) -> Self:
        """Compute the bound of a fitted estimator, or of a pipeline that ends in one, at its losses.

        Parameters
        ----------
        estimator : PseudoPosteriorFeatures, LandmarkSimilarity or Pipeline
            Fitted, with a bound: landmarks need the selection "random".
        betas : array of shape (B,), optional
            Ascending, above 0; ``None`` stands for 61 from 0.01 to 10000.

        Returns
        -------
        BoundCurveDisplay

        Raises
        ------
        NotFittedError
            Before the estimator's `fit`.
        ValueError
            If the estimator has no bound, or `betas` are not such numbers.
        """
        model = _fitted(estimator, (PseudoPosteriorFeatures, LandmarkSimilarity))
        of_landmarks = isinstance(model, LandmarkSimilarity)
        if of_landmarks:
            _require_learned(model)
        if model.bound_ is None:
            raise ValueError(f"{type(model).__name__} has no bound: landmarks are centroids, or rows are weighted.")
        betas = np.geomspace(1e-2, 1e4, 61) if betas is None else np.asarray(betas, dtype=np.float64)
        if betas.ndim != 1 or len(betas) < 2 or not (np.diff(betas) > 0).all() or not betas[0] > 0:
            raise ValueError("betas must be at least two ascending numbers above 0.")
        loss, n = model.alignment_loss_, model.n_samples_fit_
        bound = landmark_bounds if of_landmarks else kernel_bound
        posteriors = [pseudo_posterior(loss, beta, n) for beta in betas]
        return cls(
            betas,
            np.array([np.mean((Q * loss).sum(axis=-1)) for Q in posteriors]),
            np.array([np.mean(bound(loss, Q, n, model._share)) for Q in posteriors]),
            "landmark_kl_inverse" if of_landmarks else "second_order_kl_inverse",
            len(loss) if of_landmarks else 1,
            model.beta_,
        ).plot()

    def plot(self) -> Self:
        """Draw the figure."""
        self.figure_ = _with_template(bound_of_a_fit(self, self.losses, self.beta))
        return self


# --- errors -------------------------------------------------------------------------------------------------------


@dataclass
class ErrorCurveDisplay:
    """Cross-validated error against the number of frequencies or landmarks (Letarte et al. 2019, Figures 3 and 6).

    Parameters
    ----------
    sizes : array of shape (P,)
        Values of `n_components`.
    errors : dict of arrays of shape (P, folds)
        By the name of the method in figures. Dictionaries of several displays may be joined into one.

    Attributes
    ----------
    figure_ : plotly.graph_objects.Figure
        The figure that `plot` drew last.
    """

    sizes: np.ndarray
    errors: dict[str, np.ndarray]
    figure_: go.Figure = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike,
        y: ArrayLike,
        *,
        n_components: Sequence[int] = (2, 5, 10, 20, 50, 100),
        cv: Any = 5,
        scoring: str | Callable[..., float] | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Compute errors of a classifier on features of several numbers of components, by cross-validation.

        Parameters
        ----------
        estimator : Pipeline
            A step is a transformer of this package, the last a classifier. It need not be fitted.
        X : array, DataFrame or CSR matrix of shape (n, d)
            Points, one a row.
        y : array of shape (n,)
            Class labels.
        n_components : sequence of int
            Ascending.
        cv, scoring, n_jobs
            As in scikit-learn's `validation_curve`; an error is 1 minus a score.

        Returns
        -------
        ErrorCurveDisplay

        Raises
        ------
        ValueError
            If no step is a transformer of this package, or `n_components` are not such numbers.
        """
        steps = estimator.steps if isinstance(estimator, Pipeline) else []
        ours = [(name, METHODS[type(step)]) for name, step in steps if type(step) in METHODS]
        if len(ours) != 1:
            raise ValueError(f"estimator has {len(ours)} steps of rff_engine; a pipeline with one is needed.")
        sizes = [check_count(size, "n_components") for size in n_components]
        if not sizes or sizes != sorted(set(sizes)):
            raise ValueError(f"n_components is {n_components!r}; ascending whole numbers are needed.")
        (step, method), given = ours[0], {"cv": cv, "scoring": scoring, "n_jobs": n_jobs}
        name = f"{step}__n_components"
        _, scores = validation_curve(estimator, X, y, param_name=name, param_range=sizes, error_score="raise", **given)
        return cls(np.array(sizes), {method: 1 - scores}).plot()

    def plot(self, *, height: int = 430) -> Self:
        """Draw the figure: means over the folds with their standard errors, and the best size of the first method.

        Parameters
        ----------
        height : int
            In pixels.

        Returns
        -------
        self
        """
        folds = {method: np.asarray(errors) for method, errors in self.errors.items()}
        curves = {
            method: (errors.mean(axis=1), errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1]))
            for method, errors in folds.items()
        }
        best = int(np.argmin(next(iter(curves.values()))[0]))
        self.figure_ = _with_template(
            error_curves(self.sizes, curves, int(self.sizes[best]), height=430, error_name="cross-validated error")
        )
        self.figure_.update_xaxes(title="n_components")
        return self
