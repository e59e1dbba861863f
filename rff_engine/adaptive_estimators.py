"""Frequencies that fit the data, as scikit-learn transformers.

They store their parameters, validate in `fit`, and call `adaptive`; there is no mathematics here.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import type_of_target

from ._approximation_loss import KernelApproximationLoss
from ._fitting import distinct_rows
from ._typing import ArrayLike, MatrixLike, RandomState
from ._validation import as_rng, as_sample_weight, check_choice, check_count, check_fits, check_jobs
from ._warning import warn
from .adaptive import _TASKS, LANDMARKS, _adapted, _as_rule, _supervised, landmarks_of
from .estimators import BaseFourierFeatures, check_labels, validated
from .frequencies import draw_frequencies
from .kernels import SpectralKernel

__all__ = ["AdaptiveFourierFeatures", "SupervisedFourierFeatures"]

_MOST_CLASSES = 20  # numbers with more values are quantities, not names of classes


class BaseDescendedFeatures(BaseFourierFeatures):
    """Features at the frequencies of a descent of at most `max_iter` steps."""

    max_iter: int
    tol: float
    verbose: int
    loss_curve_: np.ndarray
    n_iter_: int

    def _rule(self):
        """Return stopping rule and verbosity of a descent."""
        return _as_rule(check_count(self.max_iter, "max_iter"), self.tol, self.verbose)

    def _keep(self, adapted):
        self.frequencies_: np.ndarray = adapted.frequencies
        self.loss_curve_, self.n_iter_ = adapted.losses, adapted.n_iter
        if not adapted.converged:
            warn(
                f"{type(self).__name__} did not converge: {self.n_iter_} steps, with max_iter={self.max_iter}, "
                f"did not reach tol={self.tol}; increase max_iter or tol.",
                ConvergenceWarning,
            )


class AdaptiveFourierFeatures(BaseDescendedFeatures):
    """Features at frequencies and with weights that approximate a kernel on the data's landmarks (Li et al. 2019).

    Parameters
    ----------
    kernel : SpectralKernel or a name of `rff_engine.kernels.KERNELS` such as "gaussian", optional
        A name stands for that kernel with the width "scale", ``None`` and "rbf" for "gaussian", with
        gamma = 1 / (d Var(X)).
    n_components : int
        r, the number of frequencies; there are 2 r features.
    landmarks : {"sample", "cluster", "nearest"}
        SAMPLE, CLUSTER, or the rows nearest to the centroids of CLUSTER; see `kernel_landmarks`.
    n_landmarks : int, optional
        ``None`` stands for `n_components`. If there are fewer training points, all are landmarks.
    sampling : str
        Sampling scheme of the frequencies that the descent starts from, see `draw_frequencies`.
    random_state : int, RandomState, Generator or None
        Seed or generator of all draws; a whole number gives the same draws again.
    max_iter : int
        Maximum number of steps of the descent, at least 1.
    tol : float
        Stop once ten steps lower the objective by less than this fraction of it; at least 0.
    verbose : bool or int
        Whether to print the objective after every ten steps.
    n_jobs : int, optional
        Number of threads of `transform`, see `rff_engine`; no result depends on it.

    Attributes
    ----------
    kernel_ : SpectralKernel
        With its width a number.
    frequencies_ : ndarray of shape (n_components, d)
        Where the descent ended.
    weights_ : ndarray of shape (n_components,)
        Weights of the frequencies, at least 0.
    loss_curve_ : ndarray of shape (steps + 1,)
        The objective on the landmarks after each step.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        d, the number of columns in `fit`.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> adaptive = rff.AdaptiveFourierFeatures(rff.GaussianKernel(1.5), n_components=20, random_state=0).fit(X)
    >>> adaptive.transform(X).shape
    (60, 40)
    """

    _may_learn_kernel = False

    def __init__(
        self,
        kernel: SpectralKernel | str | None = None,
        n_components: int = 100,
        landmarks: str = "sample",
        n_landmarks: int | None = None,
        sampling: str = "monte_carlo",
        random_state: RandomState = None,
        max_iter: int = 500,
        tol: float = 1e-3,
        verbose: int = 0,
        n_jobs: int | None = None,
    ):
        self.kernel = kernel
        self.n_components: int = n_components
        self.landmarks: str = landmarks
        self.n_landmarks: int | None = n_landmarks
        self.sampling: str = sampling
        self.random_state: RandomState = random_state
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: MatrixLike, y: Any = None) -> Self:
        """Choose the landmarks, draw frequencies, and fit these and their weights to the kernel on the landmarks.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.
        y : ignored
            Not used; pipelines hand it on.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter or a value of `X` is not allowed.
        """
        return self._fit_points(self._points(X, reset=True))

    def _fit_points(self, X, y=None):
        r = check_count(self.n_components, "n_components")
        check_fits(r * (2 * X.shape[1] + 4 * r), f"n_components is {r}")
        n = r if self.n_landmarks is None else check_count(self.n_landmarks, "n_landmarks")
        check_choice(self.landmarks, "landmarks", LANDMARKS)
        rule = self._rule()
        rng = as_rng(self.random_state)
        check_jobs(self.n_jobs)
        self.kernel_: SpectralKernel = self._kernel_with_width(X)
        omega = draw_frequencies(self.kernel_, r, X.shape[1], self.sampling, rng)
        landmarks, landmark_weights = landmarks_of(X, min(n, X.shape[0]), self.landmarks, rng)[:2]
        adapted = _adapted(KernelApproximationLoss(landmarks, self.kernel_, landmark_weights), omega, rule)
        self.weights_: np.ndarray = adapted.weights
        self._keep(adapted)
        return self

    def _feature_weights(self):
        return self.weights_


class SupervisedFourierFeatures(BaseDescendedFeatures):
    """Features at frequencies that fit a linear predictor and approximate a kernel: SUPERVISE (Li et al. 2019).

    The features are the unweighted ones of the paper's predictor (its Eq. 10).

    Parameters
    ----------
    kernel : SpectralKernel, "learned" or a name of `rff_engine.kernels.KERNELS` such as "gaussian", optional
        A name stands for that kernel with the width "scale", ``None`` and "rbf" for "gaussian", with
        gamma = 1 / (d Var(X)). "learned" chooses by the classes, see `LandmarkSimilarity`; in a regression it is
        "gaussian".
    n_components : int
        r, the number of frequencies; there are 2 r features.
    task : {"auto", "regression", "classification"}
        "auto" is a classification for labels that scikit-learn's `type_of_target` calls binary or multiclass, unless
        they are numbers of more than 20 values, and a regression otherwise.
    decay : float, optional
        Penalty on the predictor's squared coefficients, from 1e-12 to 1e12; ``None`` chooses it on held-out rows, see
        `supervise_frequencies`.
    agreement : float
        Weight of the kernel approximation loss, from 0 to 1e12.
    random_state : int, RandomState, Generator or None
        Seed or generator of all draws; a whole number gives the same draws again.
    max_iter : int
        Maximum number of steps of a descent, at least 1.
    tol : float
        Stop a descent once ten steps lower the objective by less than this fraction of it; at least 0.
    verbose : bool or int
        Whether to print the objective after every ten steps.
    n_jobs : int, optional
        Number of threads of `transform`, see `rff_engine`; no result depends on it.

    Attributes
    ----------
    kernel_ : SpectralKernel
        With its width a number.
    frequencies_ : ndarray of shape (n_components, d)
        Where the descent ended.
    task_ : {"regression", "classification"}
        The task that "auto" stands for.
    loss_curve_ : ndarray of shape (steps + 1,)
        The joint objective after each step.
    n_iter_ : int
        Steps of the longest descent. The descent to `frequencies_` may take fewer, even none: where the decay is
        chosen, it stops after the number of steps with the smallest loss on held-out rows.
    n_features_in_ : int
        d, the number of columns in `fit`.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> features = rff.SupervisedFourierFeatures(n_components=10, decay=1e-3, tol=0.05, random_state=0)
    >>> features.fit(X, np.sin(3 * X[:, 0])).transform(X).shape
    (80, 20)
    """

    _learns_from_labels = True

    def __init__(
        self,
        kernel: SpectralKernel | str | None = None,
        n_components: int = 100,
        task: str = "auto",
        decay: float | None = None,
        agreement: float = 1.0,
        random_state: RandomState = None,
        max_iter: int = 60,
        tol: float = 1e-3,
        verbose: int = 0,
        n_jobs: int | None = None,
    ):
        self.kernel = kernel
        self.n_components: int = n_components
        self.task: str = task
        self.decay: float | None = decay
        self.agreement: float = agreement
        self.random_state: RandomState = random_state
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Draw frequencies and fit them to the labels and the kernel.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.
        y : array of shape (n,)
            Numbers, or the labels of two classes or more.
        sample_weight : array of shape (n,), optional
            Weights of the rows, at least 0, see `supervise_frequencies`; they count in the width "scale", too. A row of
            a whole weight w counts as w rows, and these as one row in all draws.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, a value of `X` or a label is not allowed.
        """
        check_labels(y)
        task = self._task_of(y)
        if task == "classification":
            X, y = self._labelled_points(X, y)
        else:
            X, y = validated(self, X, y, ensure_min_samples=2, y_numeric=True)
        return self._fit_points(X, y, as_sample_weight(sample_weight, X.shape[0]), task)

    def _task_of(self, y) -> str:
        check_choice(self.task, "task", ("auto", "regression", "classification"))
        return _guessed_task(y) if self.task == "auto" else self.task

    def _fit_points(self, X, y, weights=None, task=None):
        self.task_: str = task or self._task_of(y)
        X, y, weights, _ = distinct_rows(X, y, weights)
        r = check_count(self.n_components, "n_components")
        check_fits(r * (2 * X.shape[1] + 4 * r), f"n_components is {r}")
        rule = self._rule()
        rng = as_rng(self.random_state)
        check_jobs(self.n_jobs)
        classes = y if self.task_ == "classification" else None
        self.kernel_: SpectralKernel = self._kernel_with_width(X, weights, classes)
        omega = draw_frequencies(self.kernel_, r, X.shape[1], random_state=rng)
        predictor = _TASKS[self.task_](X, y, weights)
        self._keep(_supervised(X, predictor, self.kernel_, omega, self.decay, self.agreement, rule, rng))
        return self


def _guessed_task(y) -> str:
    """Guess classification for labels of classes, regression for fractions and for numbers of many values."""
    with np.errstate(invalid="ignore"), warnings.catch_warnings():  # labels beyond the range of NumPy's integers
        warnings.filterwarnings("ignore", "The number of unique classes")
        kind = type_of_target(y)
    if kind not in ("binary", "multiclass"):
        return "regression"
    values = np.asarray(y)
    many = values.dtype.kind in "iuf" and len(np.unique(values)) > _MOST_CLASSES
    return "regression" if many else "classification"
