"""Boosting with landmarks or cosines, as a scikit-learn classifier whose weak learners are also features."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ._blocks import BLOCK_ENTRIES, pieces
from ._fitting import distinct_rows
from ._typing import ArrayLike, MatrixLike, RandomState
from ._validation import (
    as_labels,
    as_rng,
    as_sample_weight,
    check_choice,
    check_count,
    check_fits,
    check_nonnegative,
    draw_seed,
)
from .boosting import Ensemble, boost_cosines, boost_landmarks
from .estimators import BaseTransformer
from .features import _phases
from .frequencies import FrequencyBlocks
from .kernels import SpectralKernel
from .landmarks import _landmark_similarity

if TYPE_CHECKING:  # scikit-learn has no types
    from ._typing import ClassifierMixin
else:
    from sklearn.base import ClassifierMixin

__all__ = ["LandmarkBoosting"]

WEAK_LEARNERS = ("landmark", "cosine")


class LandmarkBoosting(ClassifierMixin, BaseTransformer):
    """Classifier by a vote of landmarks, learned one a round (Gautheron et al. 2020).

    The vote is ``H(x) = H_0 + sum_t alpha_t h_t(x)``. A round fits h_t to the residuals ``r_i = y_i exp(-y_i H(x_i))``
    of the vote so far, by the loss ``mean_i exp(-r_i h(x_i))``, and alpha_t in closed form; the exponential loss of the
    vote falls with every round. `transform` gives the h_t as features, for a classifier of another kind. Of more than
    two classes each has a vote against the others, and the largest vote wins. The exponential loss drives votes far
    from 0, where they say little of a probability: scikit-learn's `CalibratedClassifierCV` makes probabilities of them.

    - "landmark" (GBRFF1): ``h_t(x) = sum_k q_k cos(omega_k . (x_t - x))``. The landmark x_t minimises the loss at equal
      weights by L-BFGS, then q is the pseudo-posterior on K frequencies drawn from the kernel.
    - "cosine" (GBRFF2): ``h_t(x) = cos(omega . x - b)``; b by a search, then omega by L-BFGS from its draw.

    Two details are not the paper's: a landmark starts at a training point drawn by the weights ``exp(-y_i H(x_i))``,
    and residuals above 200 count as 200. A round costs O(n K d + n K `max_steps`), for cosines O(n d `max_steps`).

    Parameters
    ----------
    kernel : SpectralKernel or a name of `rff_engine.kernels.KERNELS` such as "gaussian", optional
        The prior. A name stands for that kernel with the width "scale", ``None`` and "rbf" for "gaussian", with
        gamma = 1 / (d Var(X)).
    n_estimators : int
        T, the number of rounds, and so of landmarks or cosines. Fewer rounds equal the first rounds of more.
    weak_learner : {"landmark", "cosine"}
        What a round adds, as above.
    n_components : int
        K, the number of frequencies of a landmark; without effect on cosines.
    beta : float
        Inverse temperature of the pseudo-posteriors, at least 0; without effect on cosines.
    max_steps : int
        Maximum number of steps of a round's descent, at least 0; 0 leaves landmarks and frequencies where they start.
    random_state : int, RandomState, Generator or None
        Seed or generator of all draws; a whole number gives the same draws again.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        The labels.
    estimators_ : tuple of LandmarkBoosting
        Of more than two classes, one for each against the others; the attributes below, but `kernel_`, are theirs then.
        Empty for two classes.
    kernel_ : SpectralKernel
        With its width a number.
    intercept_ : float
        H_0.
    step_sizes_ : ndarray of shape (T,)
        The alpha_t. T is below `n_estimators` where the exponential loss fell below 1e-100 earlier.
    frequencies_ : ndarray of shape (T, K, d), or (T, d) for cosines
        Frequencies of each round.
    landmarks_ : ndarray of shape (T, d), or None
        ``None`` for cosines.
    offsets_ : ndarray of shape (T,), or None
        b of the cosines, in radians; ``None`` for landmarks.
    weights_ : ndarray of shape (T, K), or None
        The pseudo-posteriors; ``None`` for cosines.
    loss_curve_ : ndarray of shape (T + 1,)
        The exponential loss on the training rows, of H_0 and after each round.
    n_features_in_ : int
        d, the number of columns in `fit`.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = rff.LandmarkBoosting(n_estimators=20, random_state=0).fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.85), model.transform(X).shape
    (True, (300, 20))
    """

    _learns_from_labels = True
    _may_learn_kernel = False
    classes_: np.ndarray
    kernel_: SpectralKernel
    intercept_: float
    step_sizes_: np.ndarray
    loss_curve_: np.ndarray
    frequencies_: np.ndarray

    def __init__(
        self,
        kernel: SpectralKernel | str | None = None,
        n_estimators: int = 100,
        weak_learner: str = "landmark",
        n_components: int = 10,
        beta: float = 1.0,
        max_steps: int = 10,
        random_state: RandomState = None,
    ):
        self.kernel = kernel
        self.n_estimators: int = n_estimators
        self.weak_learner: str = weak_learner
        self.n_components: int = n_components
        self.beta: float = beta
        self.max_steps: int = max_steps
        self.random_state: RandomState = random_state

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn a weak learner and its step size, round by round.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.
        y : array of shape (n,)
            Labels of two classes or more.
        sample_weight : array of shape (n,), optional
            Weights of the rows, at least 0, in the exponential loss, the pseudo-posteriors and the width "scale";
            ``None`` stands for 1 each. A row of a whole weight w counts as w rows.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter, a value of `X`, a label or a weight is not allowed.
        """
        X, y = self._labelled_points(X, y)
        return self._fit_points(X, y, as_sample_weight(sample_weight, X.shape[0]))

    def _fit_points(self, X, y, weights=None):
        T = check_count(self.n_estimators, "n_estimators")
        K = check_count(self.n_components, "n_components")
        check_choice(self.weak_learner, "weak_learner", WEAK_LEARNERS)
        check_nonnegative(self.beta, "beta")
        check_count(self.max_steps, "max_steps", low=0)
        K = K if self.weak_learner == "landmark" else 1
        check_fits(2 * T * K * X.shape[1], f"n_estimators is {T} and n_components {K}")
        check_fits(2 * X.shape[0] * K, f"n_components is {K} for {X.shape[0]} rows")
        rng = as_rng(self.random_state)
        X, y, weights, _ = distinct_rows(X, y, weights)
        self.classes_, codes = as_labels(y)
        self.kernel_ = self._kernel_with_width(X, weights)
        self.estimators_: tuple[LandmarkBoosting, ...] = ()
        if len(self.classes_) > 2:
            for name in (
                "intercept_",
                "step_sizes_",
                "loss_curve_",
                "frequencies_",
                "landmarks_",
                "offsets_",
                "weights_",
            ):
                vars(self).pop(name, None)  # of an earlier fit to two classes
            one = clone(self).set_params(kernel=self.kernel_)
            others = [clone(one).set_params(random_state=draw_seed(rng)) for _ in self.classes_]
            for each in others:
                each.n_features_in_ = X.shape[1]
            self.estimators_ = tuple(each._fit_points(X, codes == k, weights) for k, each in enumerate(others))
        else:
            self._boost(X, 2.0 * codes - 1, weights, T, K, rng)
        return self

    def _boost(self, X, signs, weights, T: int, K: int, rng) -> None:
        # In blocks, so that fewer rounds draw the first frequencies of more rounds.
        omega = FrequencyBlocks(self.kernel_, T * K, X.shape[1], draw_seed(rng)).take(np.arange(T * K))
        if self.weak_learner == "landmark":
            omega = omega.reshape(T, K, -1)
            self._keep(boost_landmarks(X, signs, omega, float(self.beta), self.max_steps, rng, weights))
        else:
            self._keep(boost_cosines(X, signs, omega, self.max_steps, weights))

    def _keep(self, ensemble: Ensemble) -> None:
        self.intercept_, self.step_sizes_, self.loss_curve_ = ensemble.intercept, ensemble.steps, ensemble.losses
        cosines = ensemble.landmarks is None
        self.frequencies_ = ensemble.frequencies[:, 0] if cosines else ensemble.frequencies
        self.landmarks_: Any = ensemble.landmarks  # or None, like the next two
        self.offsets_: Any = ensemble.offsets
        self.weights_: Any = None if cosines else ensemble.weights

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Map points to the values of the weak learners (Gautheron et al. 2020).

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.

        Returns
        -------
        ndarray of shape (n, T), in the precision of `X`
            Between -1 and 1 up to rounding; for more than two classes the first class's, then the next's, and so on.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If a shape is wrong or a value is not finite.
        """
        check_is_fitted(self)
        return self._map(self._points(X, reset=False))

    def _map(self, X):
        return np.hstack([each._predictions(X, slice(None)) for each in self.estimators_ or (self,)])

    def _predictions(self, X, rounds: slice) -> np.ndarray:
        omega = self.frequencies_[rounds]
        if self.landmarks_ is not None:
            return _landmark_similarity(X, self.landmarks_[rounds], omega, self.weights_[rounds])
        return np.cos(_phases(X, omega) - self.offsets_[rounds]).astype(X.dtype, copy=False)

    def _feature_names(self):
        T = sum(len(each.step_sizes_) for each in self.estimators_ or (self,))
        return [f"{self.weak_learner}{t}" for t in range(T)]

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Return the vote H(x) of all rounds; of two classes positive for the second, of more one for each.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.

        Returns
        -------
        ndarray of shape (n,), or (n, C) for more than two classes

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If a shape is wrong or a value is not finite.
        """
        return deque(self.staged_decision_function(X), maxlen=1).pop()

    def staged_decision_function(self, X: MatrixLike) -> Iterator[np.ndarray]:
        """Yield the vote H(x) after each round.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.

        Yields
        ------
        ndarray of shape (n,), or (n, C) for more than two classes

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If a shape is wrong or a value is not finite.
        """
        check_is_fitted(self)
        X = self._points(X, reset=False)
        votes = [each._votes(X) for each in self.estimators_ or (self,)]
        last = [np.empty(0)] * len(votes)
        for stage in zip_longest(*votes):  # a class whose rounds ended earlier keeps its vote
            last = [before if vote is None else vote for before, vote in zip(last, stage, strict=True)]
            yield np.column_stack(last) if self.estimators_ else last[0]

    def _votes(self, X) -> Iterator[np.ndarray]:
        decision = np.full(X.shape[0], self.intercept_)
        for rounds in pieces(0, len(self.step_sizes_), max(1, BLOCK_ENTRIES // X.shape[0])):
            terms = self._predictions(X, rounds).astype(np.float64) * self.step_sizes_[rounds]
            for term in terms.T:
                decision = decision + term
                yield decision

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Return the class that the vote is for.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.

        Returns
        -------
        ndarray of shape (n,)

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If a shape is wrong or a value is not finite.
        """
        return self._classes_of(self.decision_function(X))

    def _classes_of(self, decision) -> np.ndarray:
        return self.classes_[(decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)]
