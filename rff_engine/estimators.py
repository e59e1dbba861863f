"""The engine as scikit-learn transformers.

Each class stores its parameters, validates in `fit`, and calls the functions of the other modules; there is no
mathematics here. All of them keep float32, take CSR matrices, and name their output features.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from copy import copy, deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from ._fitting import WholeFits, distinct_rows
from ._learned_kernel import is_learned, learned_kernel, share_of
from ._strength import (
    BOUND,
    VALIDATE,
    beta_of_spread,
    check_strength,
    effective_number,
    held_out_rows,
    kernel_bound,
    landmark_bounds,
    least_beta,
    least_held_out,
    least_rho,
    optimized_kernel_bound,
    rho_of_spread,
    spreads,
)
from ._typing import ArrayLike, MatrixLike, RandomState
from ._validation import (
    LARGEST,
    as_points,
    as_rng,
    as_sample_weight,
    canonical,
    check_choice,
    check_count,
    check_fits,
    check_jobs,
    check_labels_alike,
    check_probability,
    check_size,
    draw_seed,
    largest_size,
    refuse_text,
    shown,
)
from ._warning import listed, warn
from .adaptive import LANDMARKS, landmarks_of
from .alignment import AlignmentSums, _alignment_sums, _landmark_alignment_loss
from .features import _fourier_features
from .frequencies import FrequencyBlocks, draw_frequencies
from .kernels import SpectralKernel, as_kernel, column_moments
from .landmarks import _landmark_similarity, _select_landmarks, landmark_count
from .nystroem import KernelOfRows, NystroemMap, PrecomputedKernel
from .posteriors import optimized_kernel_weights, pseudo_posterior

if TYPE_CHECKING:
    from ._typing import BaseEstimator, TransformerMixin
else:
    from sklearn.base import BaseEstimator, TransformerMixin

__all__ = [
    "LandmarkSimilarity",
    "NystroemFeatures",
    "OptimizedKernelFeatures",
    "PseudoPosteriorFeatures",
    "RandomFourierFeatures",
]


_WIDE = 1e4  # times the median of the columns' variances
_NO_GAMMA = "no parameter 'gamma'; the width is kernel=GaussianKernel.from_gamma(gamma), a value of kernel in a search."
_TRIED, _LEFT = 6, 5  # frequencies a landmark in trials of kernels; effective candidates a component that are left
# Rows of losses in `fit`. A loss of n rows has a standard error of at most about 1 / sqrt(n), .004 (Hoeffding 1948).
_MOST_ROWS = 2**16


def _are_zero_or_one(sample_weight) -> bool:
    """Return whether all weights are 0 or 1: a bound for independent rows allows no others."""
    return sample_weight is None or bool(np.isin(sample_weight, (0.0, 1.0)).all())


def refuse_complex(values: Any, name: str) -> None:
    """Refuse complex numbers in one sentence; scikit-learn's message quotes all data or does not name the cause."""
    kind = getattr(getattr(values, "dtype", None), "kind", "O")  # pandas has its own kinds
    try:
        entries = np.asarray(values, dtype=object).ravel() if kind == "O" and not sp.issparse(values) else ()
    except ValueError:  # rows of different lengths
        entries = ()
    if kind == "c" or any(isinstance(entry, complex | np.complexfloating) for entry in entries):
        raise ValueError(f"Complex data not supported: {name} must hold real numbers.") from None


def check_labels(y: ArrayLike) -> None:
    """Refuse complex labels and labels of different types."""
    refuse_complex(y, "y")
    check_labels_alike(y)


def validated(estimator: Any, X: Any, y: Any = "no_validation", **others: Any) -> Any:
    """Call scikit-learn's validate_data on `canonical` points, and look at their values once: up to `LARGEST`.

    Do not warn if the sum of finite numbers overflows.
    """
    accept = partial(validate_data, estimator, accept_sparse="csr", dtype=(np.float64, np.float32), **others)
    try:
        X = canonical(X) if sp.issparse(X) else X
        with np.errstate(over="ignore", invalid="ignore"):
            checked = accept(X=X, y=y, ensure_all_finite=False)
            refuse_text(X, "X")
            points = checked[0] if isinstance(checked, tuple) else checked
            values = points.data if sp.issparse(points) else points
            if not largest_size(values) <= LARGEST:
                accept(X=X, y=y)  # NaN and infinity in scikit-learn's words
                check_size(values, "X")
            return checked
    except (TypeError, ValueError):  # for complex numbers the message is unclear
        refuse_complex(X, "X")
        raise


def warn_of_wide_columns(estimator: Any, X: Any) -> None:
    """Warn of columns that alone determine the width: the kernel hardly sees the others."""
    with np.errstate(over="ignore", invalid="ignore"):
        variances = column_moments(X)[1]
        varying = np.sort(variances[variances > 0])
        wide = np.flatnonzero(variances > _WIDE * varying[(len(varying) - 1) // 2]) if len(varying) else ()
    if len(wide):
        names = getattr(estimator, "feature_names_in_", range(len(variances)))
        columns = listed([str(names[column]) for column in wide])
        warn(
            f"{len(wide)} of {len(variances)} columns ({columns}) have more than {_WIDE:g} times the variance "
            "of the median column, so the kernel hardly sees the others; scale them, such as with StandardScaler."
        )


def _whole(n: float) -> int:
    """Return the sample size of a bound, from the sum of the rows' weights."""
    return n if isinstance(n, int) else max(2, int(n))


def _sum_of(weights, y) -> float:
    """Return the sum of the rows' weights, by default 1 each."""
    return len(y) if weights is None else float(weights.sum())


def _posterior(loss, beta: float, n: float) -> np.ndarray:
    """Return `pseudo_posterior` at the sum of the rows' weights, a sample size that need not be whole."""
    return pseudo_posterior(loss, beta, int(n)) if n == int(n) else pseudo_posterior(loss, beta * n**0.5, 1)


class BaseTransformer(WholeFits, TransformerMixin, BaseEstimator):
    """Base of all transformers: validation of `X` and `y`, and scikit-learn's tags."""

    _learns_from_labels = False
    _may_learn_kernel = True
    kernel: Any
    kernel_: SpectralKernel
    epsilon: float

    def __new__(cls, *given: Any, **named: Any) -> Self:
        if "gamma" in named:  # as scikit-learn's RBFSampler and Nystroem have
            raise TypeError(f"{cls.__name__} has {_NO_GAMMA}")
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator, and of its kernel as ``kernel__sigma``.

        If the kernel is ``None`` or a name, its parameters are set on the kernel that it stands for, with "learned" on
        the Gaussian one. A given kernel is replaced by a changed copy.

        Parameters
        ----------
        **params : dict
            New values, by name.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no such parameter, or a value is not allowed.
        """
        if "gamma" in params:
            raise ValueError(f"{type(self).__name__} has {_NO_GAMMA}")
        of_kernel = {name: value for name, value in params.items() if name.startswith("kernel__")}
        super().set_params(**{name: value for name, value in params.items() if name not in of_kernel})
        if of_kernel:
            values = {name.removeprefix("kernel__"): value for name, value in of_kernel.items()}
            given = None if is_learned(self.kernel) else self.kernel
            self.kernel = copy(as_kernel(given)).set_params(**values)
        return self

    def _kernel_with_width(self, X, sample_weight=None, y=None) -> SpectralKernel:
        """Copy the kernel, its width a number: `set_params` on the given kernel does not change a fitted one.

        Without labels "learned" is the Gaussian kernel of the width "scale".
        """
        learned = self._may_learn_kernel and is_learned(self.kernel)
        kernel = as_kernel(None if learned else self.kernel)
        if kernel.is_open:
            warn_of_wide_columns(self, X)
        if learned and y is not None:
            return learned_kernel(X, y, sample_weight, self._trial, np.random.default_rng(0))
        return copy(kernel._scaled_to(X, sample_weight))

    @property
    def _share(self) -> float:
        """Share of `epsilon` for the bound of one kernel: "learned" chooses among several, and each has its own."""
        return self.epsilon * (share_of(self.kernel_) if is_learned(self.kernel) else 1)

    def _trial(self, kernel: SpectralKernel, X: Any, y: Any, weights: Any) -> Callable:
        """Fit quick features of a kernel; return the function that maps points to them."""
        raise NotImplementedError

    def _fit_points(self, X: Any, y: Any) -> Self:
        """Fit to checked points and labels."""
        raise NotImplementedError

    def _map(self, X: Any) -> np.ndarray:
        """Transform checked points."""
        raise NotImplementedError

    def _points(self, X, *, reset: bool):
        return validated(self, X, reset=reset)

    def _points_and_classes(self, X, y):
        """Check points, and classes if a kernel is learned from them; without classes return None for these."""
        if y is None or not is_learned(self.kernel) or type_of_target(y) not in ("binary", "multiclass"):
            return self._points(X, reset=True), None
        return self._labelled_points(X, y)

    def _labelled_points(self, X, y):
        check_labels(y)
        X, y = validated(self, X, y, ensure_min_samples=2)
        with np.errstate(invalid="ignore"):  # labels beyond the range of NumPy's integers
            check_classification_targets(y)
        if len(np.unique(y)) < 2:
            raise ValueError(f"{type(self).__name__} needs at least 2 classes; y holds only one class, {shown(y[0])}.")
        return X, y

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return names of the features: a kind and a number, as cos0, sin0, landmark0, cosine0 or nystroem0.

        Parameters
        ----------
        input_features : ignored
            Not used: names count the features.

        Returns
        -------
        ndarray of str

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        check_is_fitted(self)
        return np.array(self._feature_names(), dtype=object)

    def _feature_names(self) -> list[str]:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self._learns_from_labels
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class BaseFourierFeatures(BaseTransformer):
    """Features with a cosine and a sine for each of `frequencies_`."""

    n_components: int
    n_jobs: int | None = None
    frequencies_: np.ndarray

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Map points to their cosine and sine features (Letarte et al. 2019, Eq. 5).

        `AdaptiveFourierFeatures` weighs the features (Li et al. 2019, Eq. 3).

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.

        Returns
        -------
        ndarray of shape (n, 2 n_components), in the precision of `X`
            All cosines, then all sines.

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
        return _fourier_features(X, self.frequencies_, self._feature_weights(), check_jobs(self.n_jobs))

    def _feature_weights(self) -> np.ndarray | None:
        return None

    def _trial(self, kernel, X, y, weights):
        omega = draw_frequencies(kernel, self.n_components, X.shape[1], random_state=0)
        return lambda points: _fourier_features(points, omega, n_jobs=1)

    def _feature_names(self):
        return [f"{wave}{j}" for wave in ("cos", "sin") for j in range(len(self.frequencies_))]


class RandomFourierFeatures(BaseFourierFeatures):
    """Features whose inner products approximate a kernel (Rahimi and Recht 2007; Letarte et al. 2019, Eq. 5).

    Parameters
    ----------
    kernel : SpectralKernel, "learned" or a name of `rff_engine.kernels.KERNELS` such as "gaussian", optional
        A name stands for that kernel with the width "scale", ``None`` and "rbf" for "gaussian", with
        gamma = 1 / (d Var(X)). "learned" chooses by classes `y`, see `LandmarkSimilarity`; without classes it is
        "gaussian".
    n_components : int
        D, the number of frequencies; there are 2 D features.
    sampling : str
        Sampling scheme: "monte_carlo" draws independently; "orthogonal", "structured_orthogonal", "fastfood", "halton",
        "sobol", "lattice", "digital_net" and "moment_matching" spread the frequencies better. `draw_frequencies` lists
        sources and the kernels that each supports.
    random_state : int, RandomState, Generator or None
        Seed or generator of all draws; a whole number gives the same draws again.
    n_jobs : int, optional
        Number of threads of `transform`, see `rff_engine`; no result depends on it.

    Attributes
    ----------
    kernel_ : SpectralKernel
        With its width a number.
    frequencies_ : ndarray of shape (n_components, d)
        Frequencies of the features.
    n_features_in_ : int
        d, the number of columns in `fit`.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> rff.RandomFourierFeatures(n_components=50, random_state=0).fit_transform(X).shape
    (20, 100)
    """

    def __init__(
        self,
        kernel: SpectralKernel | str | None = None,
        n_components: int = 100,
        sampling: str = "monte_carlo",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ):
        self.kernel: SpectralKernel | str | None = kernel
        self.n_components: int = n_components
        self.sampling: str = sampling
        self.random_state: RandomState = random_state
        self.n_jobs: int | None = n_jobs

    def fit(self, X: MatrixLike, y: Any = None) -> Self:
        """Draw the frequencies.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.
        y : array of shape (n,), optional
            Classes, by which a kernel "learned" is chosen; not used otherwise.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter or a value of `X` is not allowed.
        """
        return self._fit_points(*self._points_and_classes(X, y))

    def _fit_points(self, X, y=None):
        D = check_count(self.n_components, "n_components")
        check_fits(2 * D * X.shape[1], f"n_components is {D}")
        check_jobs(self.n_jobs)
        self.kernel_: SpectralKernel = self._kernel_with_width(X, y=y)
        self._shape = D, X.shape[1]
        self._draw(as_rng(self.random_state))
        return self

    def _draw(self, rng) -> None:
        self.frequencies_: np.ndarray = draw_frequencies(self.kernel_, *self._shape, self.sampling, rng)


class BaseLearnedFeatures(BaseFourierFeatures):
    """Features at D frequencies drawn from candidates by weights that are learned from their losses."""

    n_components: int
    n_candidates: int
    n_features_in_: int
    random_state: RandomState
    epsilon: float
    weights_: np.ndarray
    _learns_from_labels = True
    _strength_name: str

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn weights on the candidate frequencies and draw the frequencies of the features by them.

        Of more than 65536 rows losses and bound take 65536 random ones, so a loss has a standard error of at most .004;
        `partial_fit` takes all.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.
        y : array of shape (n,)
            Class labels, two classes or more.
        sample_weight : array of shape (n,), optional
            Weights of the rows, at least 0, in the losses (see `alignment_loss`), in the width "scale", and as the
            sample size, their sum; ``None`` stands for 1 each. A row of a whole weight w counts as w rows. Unless every
            weight is 0 or 1, `bound_` is ``None``: no bound covers rows that count differently.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, a value of `X`, a label or a weight is not allowed.
        """
        X, y = self._labelled_points(X, y)
        return self._fit_points(X, y, as_sample_weight(sample_weight, X.shape[0]))

    def _fit_points(self, X, y, weights=None):
        rng = self._start(X, weights, y)
        rows = self._rows_of_losses(y, weights)
        self._add(X[rows], y[rows], None if weights is None else weights[rows])
        self._is_sample &= self.alignment_sums_.counts.sum() <= _MOST_ROWS  # else labels chose the rows
        return self._learn(rng)

    def _rows_of_losses(self, y, weights):
        """Return `_MOST_ROWS` random rows, or all if they are fewer or the random ones lack a second class."""
        weighted = np.arange(len(y)) if weights is None else np.flatnonzero(weights)
        if len(weighted) <= _MOST_ROWS:
            return slice(None)
        rng = np.random.default_rng(draw_seed(deepcopy(self._rng)))
        rows = np.sort(rng.choice(weighted, _MOST_ROWS, replace=False))
        return rows if len(np.unique(y[rows])) > 1 else slice(None)

    def partial_fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Add rows to all rows since `fit` or the first call, and learn from all of them.

        The class-wise sums of the candidates add up (`AlignmentSums`), so calls on the blocks of a data set give the
        result of `fit` on all its rows, up to 65536. There are two exceptions: the width "scale", for which "learned"
        stands here too, comes from the first block, and "validate" holds out rows of the last block. A block may lack a
        class. Before rows of two classes have come, there is nothing to learn, and `transform` raises NotFittedError.
        A `beta` that is a number sharpens the weights with the root of the rows so far.
        Parameters other than those of the last step (`beta` or `rho` and `mu`, `n_components`, `epsilon`) take effect
        in `fit` only.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.
        y : array of shape (n,)
            Class labels.
        sample_weight : array of shape (n,), optional
            Weights of the rows, see `fit`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, a value of `X`, a label or a weight is not allowed.
        """
        check_labels(y)
        first = not hasattr(self, "alignment_sums_")
        X, y = validated(self, X, y, reset=first)
        with np.errstate(invalid="ignore"):
            check_classification_targets(y)
        weights = as_sample_weight(sample_weight, X.shape[0])
        if first:
            self._start(X, weights)
        self._add(X, y, weights)
        # Every call uses the same random numbers, so that frequencies change only as far as the weights do.
        return self._learn(deepcopy(self._rng)) if (self.alignment_sums_.counts > 0).sum() > 1 else self

    def _start(self, X, weights, y=None):
        """Forget what was learned and draw the candidates; return the generator for later draws."""
        self._check_parameters()
        rng = as_rng(self.random_state)
        self.kernel_: SpectralKernel = self._kernel_with_width(X, weights, y)
        self._candidates = FrequencyBlocks(self.kernel_, self.n_candidates, X.shape[1], draw_seed(rng))
        self._rng = deepcopy(rng)
        self._has_warned = False
        for learned in ("alignment_sums_", "frequencies_"):
            if hasattr(self, learned):
                delattr(self, learned)
        return rng

    def _check_parameters(self) -> None:
        D = check_count(self.n_components, "n_components")
        check_fits(2 * D * self.n_features_in_, f"n_components is {D}")
        N = check_count(self.n_candidates, "n_candidates")
        check_fits(8 * N, f"n_candidates is {N}")
        check_jobs(self.n_jobs)
        check_probability(self.epsilon, "epsilon")
        self._check_strength()

    def _add(self, X, y, weights) -> None:
        first = not hasattr(self, "alignment_sums_")
        sums = self._sums(X, y, weights)
        self.alignment_sums_: AlignmentSums = sums if first else self.alignment_sums_ + sums
        self._is_sample = (first or self._is_sample) and _are_zero_or_one(weights)
        if self._strength == VALIDATE:
            self._spread: int = self._validated_spread(X, y, np.ones(X.shape[0]) if weights is None else weights)

    def _sums(self, X, y, weights) -> AlignmentSums:
        return _alignment_sums(X, y, self._candidates, self.n_jobs, weights)

    def _validated_spread(self, X, y, weights) -> int:
        """Return the effective number of candidates that suits held-out rows; the losses leave these out."""
        choices = spreads(self.n_components, len(self._candidates))
        rng = np.random.default_rng(draw_seed(deepcopy(self._rng)))
        held, train = held_out_rows(X, weights, rng.standard_normal(X.shape[1]))
        if not weights[held].any():
            return choices[0]
        sums = self.alignment_sums_ - self._sums(X[held], y[held], weights[held])
        if (sums.counts > 0).sum() < 2:
            return choices[0]
        loss = sums.loss()
        n = sums.counts.sum().item()
        tried = [self._weights(loss, self._strength_of(spread, loss, n), n) for spread in choices]
        targets = (y[:, None] == np.unique(y)).astype(np.float64)
        trained, kept = ((X[rows], targets[rows], weights[rows]) for rows in (train, held))
        return choices[least_held_out(tried, self._candidates, trained, kept, self.n_components, rng)]

    def _trial(self, kernel, X, y, weights):
        D = self.n_components
        candidates = FrequencyBlocks(kernel, min(self.n_candidates, 16 * D), X.shape[1], 0)
        sums = _alignment_sums(X, y, candidates, self.n_jobs, weights)
        loss, n = sums.loss(), sums.counts.sum().item()
        strength = self._strength_of(_LEFT * D, loss, n) if isinstance(self._strength, str) else self._strength
        chosen = np.random.default_rng(0).choice(len(loss), D, p=self._weights(loss, strength, n))
        omega = candidates.take(chosen)
        return lambda points: _fourier_features(points, omega, n_jobs=1)

    def _learn(self, rng):
        """Learn weights of the candidates from the sums so far, and draw frequencies by them."""
        self._check_parameters()
        self.alignment_loss_: np.ndarray = self.alignment_sums_.loss()
        n = self.alignment_sums_.counts.sum().item()
        self.n_samples_fit_: int = _whole(n)
        self._learn_weights(self.alignment_loss_, n)
        self._warn_of_few_candidates()
        self._draw(rng)
        return self

    def _draw(self, rng) -> None:
        """Draw the frequencies by the weights."""
        self.candidate_indices_: np.ndarray = rng.choice(len(self.weights_), size=self.n_components, p=self.weights_)
        self.frequencies_: np.ndarray = self._candidates.take(self.candidate_indices_)

    def _warn_of_few_candidates(self) -> None:
        left = effective_number(self.weights_)
        if left < self.n_components / 2 and not self._has_warned:
            self._has_warned = True
            name = self._strength_name
            warn(
                f"{type(self).__name__} draws {self.n_components} frequencies from an effective number of {left:.3g} "
                f"candidates at {name}={self._strength!r}; a smaller {name}, fewer components or more candidates give "
                "more distinct ones."
            )

    @property
    def _strength(self) -> float | str:
        """How far the weights may leave the prior, as given: a number, or a rule to choose it by."""
        return getattr(self, self._strength_name)

    def _check_strength(self) -> None:
        check_strength(self._strength, self._strength_name)

    def _strength_of(self, spread: int, loss: np.ndarray, n: float) -> float:
        """Return the strength that leaves an effective number of candidates."""
        raise NotImplementedError

    def _weights(self, loss: np.ndarray, strength: float, n: float) -> np.ndarray:
        raise NotImplementedError

    def _chosen_strength(self, loss: np.ndarray, n: float, least: Callable[[], float]) -> float:
        """Return the strength as a number; `least` computes it where the bound is smallest."""
        if self._strength == VALIDATE:
            return self._strength_of(self._spread, loss, n)
        return least() if self._strength == BOUND else float(self._strength)

    def _learn_weights(self, loss: np.ndarray, n: float) -> None:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "frequencies_")


class PseudoPosteriorFeatures(BaseLearnedFeatures):
    """Fourier features drawn from the pseudo-posterior over a kernel's frequencies: PBRFF (Letarte et al. 2019, 5.4).

    Parameters
    ----------
    kernel : SpectralKernel, "learned" or a name of `rff_engine.kernels.KERNELS` such as "gaussian", optional
        The prior. A name stands for that kernel with the width "scale", ``None`` and "rbf" for "gaussian", with
        gamma = 1 / (d Var(X)). "learned" tries ten on held-out rows: the Gaussian kernel at 1/8 to 4 times that
        width, a mixture of these, the Laplacian and the Matérn kernel, and, for at most 64 columns, an
        `AnisotropicGaussianKernel` whose length scales follow the gradient of its alignment with the classes. Ridge
        regression on the classes judges, 3000 rows are looked at, and the width "scale" stays unless another errs
        less by a twentieth. `partial_fit` takes that width.
    n_components : int
        D, the number of frequencies drawn, with replacement; there are 2 D features.
    n_candidates : int
        N, the number of frequencies drawn from the prior.
    beta : float, "validate" or "bound"
        Inverse temperature, at least 0; 0 keeps the prior. Weights sharpen with beta sqrt(n), so a number that suits
        a thousand rows leaves few candidates at a million. "validate" chooses on held-out rows how many candidates the
        weights leave, in effect: all (the prior), or 50, 15, 5, 2 or 1 times `n_components`. About a quarter of the
        rows is held out, 3000 rows are looked at, and ridge regression on the classes judges. "bound" takes the beta at
        which `bound_` is smallest.
    random_state : int, RandomState, Generator or None
        Seed or generator of all draws; a whole number gives the same draws again.
    n_jobs : int, optional
        Number of threads, see `rff_engine`; no result depends on it.
    epsilon : float
        Probability that `bound_` fails.

    Attributes
    ----------
    kernel_ : SpectralKernel
        With its width a number.
    beta_ : float
        Inverse temperature used.
    bound_ : float, or None
        PAC-Bayes-kl bound on the expected alignment loss of the learned kernel
        ``sum_m weights_[m] cos(omega_m . delta)`` over the candidates (`bounds.second_order_kl_inverse`). The prior
        is the uniform distribution on the candidates. It holds however beta is chosen, for independent rows, a
        kernel with a number as width ("scale" looks at `X`; "learned" does too, and pays for its choice by labels with
        a share of epsilon for each kernel that it may choose), and columns that are not scaled by these rows. It says
        nothing about the frequencies that are drawn from the weights, nor about a classifier.
    alignment_sums_ : AlignmentSums
        Class-wise sums of the candidates; `partial_fit` adds to them.
    alignment_loss_ : ndarray of shape (n_candidates,)
        Alignment losses of the candidates.
    weights_ : ndarray of shape (n_candidates,)
        The pseudo-posterior.
    candidate_indices_ : ndarray of shape (n_components,)
        Which candidates were drawn, one or more times.
    frequencies_ : ndarray of shape (n_components, d)
        Frequencies of the features.
    n_samples_fit_ : int
        Sample size of the bound: the number of rows that the losses are of, or the sum of their weights rounded down.
    n_features_in_ : int
        d, the number of columns in `fit`.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = np.sin(4 * X[:, 0]) > 0

    >>> learned = rff.PseudoPosteriorFeatures(n_components=5, n_candidates=500, beta=10.0, random_state=0).fit(X, y)
    >>> learned.transform(X).shape
    (200, 10)
    >>> bool(learned.weights_ @ learned.alignment_loss_ < learned.alignment_loss_.mean() < learned.bound_)
    True
    """

    _strength_name = "beta"

    def __init__(
        self,
        kernel: SpectralKernel | str | None = "learned",
        n_components: int = 100,
        n_candidates: int = 5000,
        beta: float | str = VALIDATE,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        epsilon: float = 0.05,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.n_candidates = n_candidates
        self.beta: float | str = beta
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.epsilon = epsilon

    def _strength_of(self, spread, loss, n):
        return beta_of_spread(loss, n, spread, _posterior)

    def _weights(self, loss, strength, n):
        return _posterior(loss, strength, n)

    def _learn_weights(self, loss, n):
        whole = self.n_samples_fit_
        self.beta_: float = self._chosen_strength(loss, n, lambda: least_beta(loss, whole, self._share, kernel_bound))
        self.weights_: np.ndarray = self._weights(loss, self.beta_, n)
        self.bound_: float | None = kernel_bound(loss, self.weights_, whole, self._share) if self._is_sample else None


class OptimizedKernelFeatures(BaseLearnedFeatures):
    """Fourier features drawn from an optimized kernel: OKRFF (Sinha and Duchi 2016; Letarte et al. 2019, 5.3).

    Parameters
    ----------
    kernel : SpectralKernel, "learned" or a name of `rff_engine.kernels.KERNELS` such as "gaussian", optional
        The prior. A name stands for that kernel with the width "scale", ``None`` and "rbf" for "gaussian", with
        gamma = 1 / (d Var(X)). "learned" tries ten on held-out rows: the Gaussian kernel at 1/8 to 4 times that
        width, a mixture of these, the Laplacian and the Matérn kernel, and, for at most 64 columns, an
        `AnisotropicGaussianKernel` whose length scales follow the gradient of its alignment with the classes. Ridge
        regression on the classes judges, 3000 rows are looked at, and the width "scale" stays unless another errs
        less by a twentieth. `partial_fit` takes that width.
    n_components : int
        D, the number of frequencies drawn, with replacement; there are 2 D features.
    n_candidates : int
        N, the number of frequencies drawn from the prior.
    rho : float, "validate" or "bound"
        At least 0: the divergence D_mu may reach rho N, see `optimized_kernel_weights`. "validate" chooses it on
        held-out rows, as `PseudoPosteriorFeatures` does beta, and "bound" where `bound_` is smallest.
    mu : float
        Above 1, at most 1e6; 2 is the chi-square divergence.
    random_state : int, RandomState, Generator or None
        Seed or generator of all draws; a whole number gives the same draws again.
    n_jobs : int, optional
        Number of threads, see `rff_engine`; no result depends on it.
    epsilon : float
        Probability that `bound_` fails.

    Attributes
    ----------
    kernel_ : SpectralKernel
        With its width a number.
    rho_ : float
        Radius used.
    bound_ : float, or None
        Bound on the expected alignment loss of the learned kernel by its chi-square divergence from the uniform
        distribution on the candidates (`bounds.chi_square`, form "sub_gaussian"). It holds however rho and mu are
        chosen, under the conditions of `PseudoPosteriorFeatures`.
    alignment_sums_ : AlignmentSums
        Class-wise sums of the candidates; `partial_fit` adds to them.
    alignment_loss_ : ndarray of shape (n_candidates,)
        Alignment losses of the candidates.
    weights_ : ndarray of shape (n_candidates,)
        The optimized distribution.
    candidate_indices_ : ndarray of shape (n_components,)
        Which candidates were drawn, one or more times.
    frequencies_ : ndarray of shape (n_components, d)
        Frequencies of the features.
    n_samples_fit_ : int
        Sample size of the bound: the number of rows that the losses are of, or the sum of their weights rounded down.
    n_features_in_ : int
        d, the number of columns in `fit`.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = np.sin(4 * X[:, 0]) > 0

    >>> learned = rff.OptimizedKernelFeatures(n_components=5, n_candidates=500, rho=0.01, random_state=0).fit(X, y)
    >>> learned.transform(X).shape
    (200, 10)
    >>> round(float(rff.power_divergence(learned.weights_, 2.0)), 4)  # rho N
    5.0
    """

    _strength_name = "rho"

    def __init__(
        self,
        kernel: SpectralKernel | str | None = "learned",
        n_components: int = 100,
        n_candidates: int = 5000,
        rho: float | str = VALIDATE,
        mu: float = 2.0,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        epsilon: float = 0.05,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.n_candidates = n_candidates
        self.rho: float | str = rho
        self.mu: float = mu
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.epsilon = epsilon

    def _check_strength(self):
        super()._check_strength()
        optimized_kernel_weights(np.zeros(2), 1.0, self.mu)

    def _strength_of(self, spread, loss, n):
        return rho_of_spread(len(loss), spread, self.mu)

    def _weights(self, loss, strength, n):
        return optimized_kernel_weights(loss, strength, self.mu)

    def _learn_weights(self, loss, n):
        whole = self.n_samples_fit_
        self.rho_: float = self._chosen_strength(loss, n, lambda: least_rho(loss, whole, self._share, self.mu))
        self.weights_: np.ndarray = self._weights(loss, self.rho_, n)
        self.bound_: float | None = (
            float(optimized_kernel_bound(loss, self.weights_, whole, self._share)) if self._is_sample else None
        )


class LandmarkSimilarity(BaseTransformer):
    """Similarities to landmarks, each with a similarity learned for it: PB-Landmarks (Letarte et al. 2019, 4.2).

    Parameters
    ----------
    kernel : SpectralKernel, "learned" or a name of `rff_engine.kernels.KERNELS` such as "gaussian", optional
        The prior. A name stands for that kernel with the width "scale", ``None`` and "rbf" for "gaussian", with
        gamma = 1 / (d Var(X)). "learned" tries ten on held-out rows: the Gaussian kernel at 1/8 to 4 times that
        width, a mixture of these, the Laplacian and the Matérn kernel, and, for at most 64 columns, an
        `AnisotropicGaussianKernel` whose length scales follow the gradient of its alignment with the classes. Ridge
        regression on the classes judges, 3000 rows are looked at, and the width "scale" stays unless another errs
        less by a twentieth. `partial_fit` takes that width.
    n_landmarks : int or float
        Their number, or as a float in (0, 1] their fraction of the sample size: at least one a class, at most as many
        as there are different points.
    selection : {"kmeans", "random"}
        Centroids of k-means within each class, or training points.
    similarity : {"learned", "prior"}
        Pseudo-posterior weights on frequencies of the landmark's own, or the kernel itself.
    n_components : int
        D, the number of frequencies of a landmark.
    beta : float or "bound"
        Inverse temperature, at least 0. "bound" takes one value for all landmarks: the mean of `bound_` is smallest
        there. It needs the selection "random".
    random_state : int, RandomState, Generator or None
        Seed or generator of all draws; a whole number gives the same draws again.
    n_jobs : int, optional
        Number of threads, see `rff_engine`; no result depends on it.
    epsilon : float
        Probability that any of the bounds in `bound_` fails.

    Attributes
    ----------
    kernel_ : SpectralKernel
        With its width a number.
    landmarks_ : array or CSR matrix of shape (L, d)
        Landmarks, one a row.
    landmark_labels_ : ndarray of shape (L,)
        Class of each landmark.
    landmark_indices_ : ndarray of shape (L,), or None
        Row numbers of the landmarks in `X`; ``None`` for centroids.
    frequencies_ : ndarray of shape (L, n_components, d)
        For the learned similarity only, like the next five.
    alignment_loss_ : ndarray of shape (L, n_components)
        Alignment losses of each landmark's frequencies.
    weights_ : ndarray of shape (L, n_components)
        Pseudo-posterior of each landmark.
    beta_ : float
        Inverse temperature used.
    n_samples_fit_ : int
        Sample size of the bounds: the number of rows, or the sum of their weights rounded down.
    bound_ : ndarray of shape (L,), or None
        PAC-Bayes-kl bounds on the landmarks' expected alignment losses (`bounds.landmark_kl_inverse`), which hold at
        once and however beta is chosen. The selection looks at all labels, so the union is over all n points, not
        over L. ``None`` for centroids, which depend on all points and have no bound. Conditions on rows, kernel and
        columns as for `PseudoPosteriorFeatures`.
    n_features_in_ : int
        d, the number of columns in `fit`.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = np.sin(4 * X[:, 0]) > 0

    >>> learned = rff.LandmarkSimilarity(n_landmarks=6, selection="random", random_state=0).fit(X, y)
    >>> learned.transform(X).shape, learned.bound_.shape
    ((200, 6), (6,))
    """

    _learns_from_labels = True
    landmarks_: Any
    landmark_labels_: np.ndarray
    landmark_indices_: np.ndarray | None
    n_samples_fit_: int

    def __init__(
        self,
        kernel: SpectralKernel | str | None = "learned",
        n_landmarks: int | float = 0.1,
        selection: str = "kmeans",
        similarity: str = "learned",
        n_components: int = 64,
        beta: float | str = 1.0,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        epsilon: float = 0.05,
    ):
        self.kernel: SpectralKernel | str | None = kernel
        self.n_landmarks: int | float = n_landmarks
        self.selection: str = selection
        self.similarity: str = similarity
        self.n_components: int = n_components
        self.beta: float | str = beta
        self.random_state: RandomState = random_state
        self.n_jobs: int | None = n_jobs
        self.epsilon: float = epsilon

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the landmarks and learn their similarities.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.
        y : array of shape (n,)
            Class labels, two classes or more.
        sample_weight : array of shape (n,), optional
            Weights of the rows, at least 0, in the losses (see `landmark_alignment_loss`), in k-means and in the width
            "scale", and as the sample size, their sum; ``None`` stands for 1 each. A row of a whole weight w counts as
            w rows. Rows of weight 0 are no landmarks, and equal rows of a class are one landmark at most, unless a
            whole `n_landmarks` asks for more; otherwise the selection "random" does not look at weights. Unless every
            weight is 0 or 1, `bound_` is ``None``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, a value of `X`, a label or a weight is not allowed, or there are fewer points than
            landmarks.
        """
        X, y = self._labelled_points(X, y)
        return self._fit_points(X, y, as_sample_weight(sample_weight, X.shape[0]))

    def _fit_points(self, X, y, weights=None):
        check_choice(self.selection, "selection", ("kmeans", "random"))
        check_choice(self.similarity, "similarity", ("learned", "prior"))
        D = check_count(self.n_components, "n_components")
        check_probability(self.epsilon, "epsilon")
        if check_strength(self.beta, "beta", (BOUND,)) == BOUND and self.selection != "random":
            raise ValueError(
                f"beta is 'bound' and selection {self.selection!r}; 'random' is needed, as no bound covers centroids."
            )
        n_jobs = check_jobs(self.n_jobs)
        rng = as_rng(self.random_state)
        covered, n = _are_zero_or_one(weights), _sum_of(weights, y)
        distinct = distinct_rows(X, y, weights)
        L, rows = self._count(n, distinct[1]), np.arange(len(y))
        if len(distinct[1]) >= L:
            X, y, weights, rows = distinct
        self.kernel_: SpectralKernel = self._kernel_with_width(X, weights, y)
        self.landmarks_, self.landmark_labels_, indices = _select_landmarks(X, y, L, self.selection, rng, weights)
        self.landmark_indices_ = None if indices is None else rows[indices]
        if self.similarity == "learned":
            d = X.shape[1]
            L = self.landmarks_.shape[0]
            check_fits(L * D * (2 * d + 3), f"n_components is {D} for each of {L} landmarks")
            frequencies = self.kernel_.sample_frequencies(L * D, d, rng).reshape(L, D, d)
            narrow = np.abs(frequencies).max() <= np.finfo(X.dtype).max
            self.frequencies_: np.ndarray = frequencies.astype(X.dtype) if narrow else frequencies
            self.alignment_loss_: np.ndarray = _landmark_alignment_loss(
                X,
                y,
                self.landmarks_,
                self.landmark_labels_,
                self.frequencies_,
                indices,
                n_jobs,
                weights,
            )
            self._learn_weights(self.alignment_loss_, n, covered and indices is not None)
        return self

    def _learn_weights(self, loss, n: float, covered: bool) -> None:
        whole = self.n_samples_fit_ = _whole(n)
        self.beta_: float = (
            least_beta(loss, whole, self._share, landmark_bounds) if self.beta == BOUND else float(self.beta)
        )
        self.weights_: np.ndarray = _posterior(loss, self.beta_, n)
        self.bound_: np.ndarray | None = landmark_bounds(loss, self.weights_, whole, self._share) if covered else None

    def _trial(self, kernel, X, y, weights):
        L = min(self._count(_sum_of(weights, y), y), len(y))
        quick = {"n_landmarks": L, "selection": "random", "n_components": min(self.n_components, _TRIED)}
        quick |= {"kernel": kernel, "random_state": 0, "beta": 1.0 if self.beta == BOUND else self.beta}
        return clone(self).set_params(**quick)._fit_points(X, y, weights)._map

    def _count(self, n: float, y) -> int:
        """Return the number of landmarks for a sample of size n, whose distinct rows have labels `y`."""
        fraction = self.n_landmarks
        if isinstance(fraction, numbers.Integral):
            return check_count(fraction, "n_landmarks")
        if not isinstance(fraction, numbers.Real) or not 0 < fraction <= 1:
            raise ValueError(
                f"n_landmarks is {shown(fraction)}; a whole number of at least 1 or a fraction in (0, 1] is needed."
            )
        n_classes = len(np.unique(y))
        return min(landmark_count(max(int(n), n_classes), n_classes, fraction), len(y))

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Map points to their similarities to the landmarks (Letarte et al. 2019, Eq. 13).

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.

        Returns
        -------
        ndarray of shape (n, L), in the precision of `X`

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
        if self.similarity == "prior":
            return self.kernel_._values(X, self.landmarks_).astype(X.dtype, copy=False)
        n_jobs = check_jobs(self.n_jobs)
        return _landmark_similarity(X, self.landmarks_, self.frequencies_, self.weights_, n_jobs=n_jobs)

    def _feature_names(self):
        return [f"landmark{l}" for l in range(self.landmarks_.shape[0])]


class NystroemFeatures(BaseTransformer):
    """Features whose inner products are a low-rank approximation of a kernel (Williams and Seeger 2001).

    With the kernel matrix K of M landmarks among the training points, ``phi(x) = R' (k(x, landmark_i))_i``, where R is
    lower triangular and R R' = K^-1: scikit-learn's features with K^(-1/2), rotated, at half the multiplications. Inner
    products equal the kernel where one of the points is a landmark. Eigenvalues of K below 1e-12 count as 1e-12. For n
    points the features cost O(n M d + n M^2 + M^3), random Fourier features O(n D d).

    Parameters
    ----------
    kernel : SpectralKernel, "learned" or a name of `rff_engine.kernels.KERNELS` such as "gaussian", optional
        A name stands for that kernel with the width "scale", ``None`` and "rbf" for "gaussian", with
        gamma = 1 / (d Var(X)). "learned" chooses by classes `y`, see `LandmarkSimilarity`. As in
        scikit-learn's Nystroem it may also be any function of two rows, or
        "precomputed": then `fit` takes the (n, n) kernel matrix of the training points, and `transform` the kernel of
        other points and these.
    n_components : int
        M, the number of landmarks and of features. If there are fewer training points, all are landmarks, with a
        warning.
    landmarks : {"sample", "cluster", "nearest"}, or array or CSR matrix of shape (M, d)
        Training points drawn without replacement, centroids of k-means, or the training points nearest to these; see
        `kernel_landmarks`. An array has the landmarks themselves, in place of `n_components`. A precomputed kernel
        needs "sample".
    random_state : int, RandomState, Generator or None
        Seed or generator of all draws; a whole number gives the same draws again.
    n_jobs : int, optional
        Number of threads of `transform`, see `rff_engine`; no result depends on it.

    Attributes
    ----------
    kernel_ : SpectralKernel or callable
        With its width a number; ``kernel_(X, landmarks_)`` is the kernel matrix of points and landmarks.
    component_indices_ : ndarray of shape (M,), or None
        Row numbers of the landmarks in `X`; ``None`` for centroids and given ones.
    landmarks_ : array or CSR matrix of shape (M, d), float64
        Landmarks, one a row.
    root_ : ndarray of shape (M, M)
        R.
    n_features_in_ : int
        d, the number of columns in `fit`.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> rff.NystroemFeatures(n_components=10, random_state=0).fit_transform(X).shape
    (60, 10)
    """

    def __init__(
        self,
        kernel: SpectralKernel | Callable[..., float] | str | None = None,
        n_components: int = 100,
        landmarks: MatrixLike | str = "sample",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ):
        self.kernel: SpectralKernel | Callable[..., float] | str | None = kernel
        self.n_components: int = n_components
        self.landmarks: MatrixLike | str = landmarks
        self.random_state: RandomState = random_state
        self.n_jobs: int | None = n_jobs

    def fit(self, X: MatrixLike, y: Any = None) -> Self:
        """Choose the landmarks and decompose their kernel matrix.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.
        y : array of shape (n,), optional
            Classes, by which a kernel "learned" is chosen; not used otherwise.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter or a value of `X` is not allowed.
        """
        return self._fit_points(*self._points_and_classes(X, y))

    def _fit_points(self, X, y=None):
        n = X.shape[0]
        asked = check_count(self.n_components, "n_components")
        check_jobs(self.n_jobs)
        own: Any = None if isinstance(self.landmarks, str) else as_points(self.landmarks, "landmarks", X.shape[1])
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        if own is None:
            check_choice(self.landmarks, "landmarks", LANDMARKS)
        if precomputed and (own is not None or self.landmarks != "sample"):
            raise ValueError(f"landmarks is {shown(self.landmarks)}; kernel='precomputed' needs 'sample'.")
        if precomputed and X.shape[1] != n:
            raise ValueError(f"X has shape {X.shape}; kernel='precomputed' needs a square matrix.")
        if own is None and asked > n:
            warn(f"n_components is {asked}, and there are {n} points, so there are {n} features.")
        M = min(asked, n) if own is None else own.shape[0]
        check_fits(3 * M**2, f"n_components is {asked}")
        rng = as_rng(self.random_state)
        rows = None
        if own is None:
            own, _, rows = landmarks_of(X, M, str(self.landmarks), rng)
        self.kernel_: Any = PrecomputedKernel(rows) if precomputed else self._chosen(X, y)
        self.component_indices_: np.ndarray | None = rows
        self.landmarks_: Any = own.astype(np.float64, copy=False)
        self.root_: np.ndarray = NystroemMap.on(self.kernel_, self.landmarks_).root
        return self

    def _chosen(self, X, y):
        given: Any = self.kernel
        if callable(given) and not isinstance(given, SpectralKernel | type):
            return KernelOfRows(given)
        if not is_learned(self.kernel):
            as_kernel(self.kernel, "'precomputed', a function of two rows, ")
        return self._kernel_with_width(X, y=y)

    def _trial(self, kernel, X, y, weights):
        rows = np.random.default_rng(0).permutation(X.shape[0])[: self.n_components]
        return NystroemMap.on(kernel, X[rows].astype(np.float64)).transform

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Map points to their Nyström features.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.

        Returns
        -------
        ndarray of shape (n, M), in the precision of `X`

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
        return NystroemMap(self.kernel_, self.landmarks_, self.root_).transform(X, check_jobs(self.n_jobs))

    def _feature_names(self):
        return [f"nystroem{m}" for m in range(len(self.root_))]
