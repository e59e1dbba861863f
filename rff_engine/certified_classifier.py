"""A classifier with a bound on its own risk, as a scikit-learn estimator."""

from __future__ import annotations

from copy import copy
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, ndtr
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import _safe_indexing, column_or_1d, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_method_params,
    _num_samples,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from ._fitting import WholeFits
from ._hollow import warn_if_hollow, warn_of_few_rows
from ._learned_kernel import is_learned
from ._typing import ArrayLike, MatrixLike, RandomState
from ._validation import (
    as_numbers,
    as_points,
    as_rng,
    canonical,
    check_choice,
    check_count,
    check_fits,
    check_probability,
    check_range,
    draw_seed,
    shown,
)
from ._warning import warn
from .certificates import (
    SVM_COSTS,
    TEST_SET_SHARE,
    CertificateTerm,
    Choice,
    HeldOutErrors,
    Margin,
    VotePosterior,
    learn_prior,
    learn_rest,
    learn_vote,
    svm_weights,
    unit_features,
)
from .estimators import (
    BaseLearnedFeatures,
    BaseTransformer,
    LandmarkSimilarity,
    RandomFourierFeatures,
    check_labels,
    validated,
    warn_of_wide_columns,
)
from .kernels import GaussianKernel, as_kernel
from .progressive import BlockErrors, Progress, choices, error_limits, level_of, share_of_equal_pairs

if TYPE_CHECKING:  # scikit-learn has no types
    from ._typing import BaseEstimator, ClassifierMixin
else:
    from sklearn.base import BaseEstimator, ClassifierMixin

__all__ = ["CertifiedClassifier", "ClassCertificate", "GroupCertificate", "SelectiveCertificate"]

_VALID_SHARE = 0.2  # share of the prior's rows, to choose among feature maps, C and scale
_N_COMPONENTS = 200  # components of the feature maps to choose among by default
_N_FOLDS = 5  # folds; the errors of the first rows in them forecast the errors of the blocks
SCHEMES = ("split", "progressive")
_ARMS: dict[type, Literal["test set", "posterior", "progressive"]] = {
    HeldOutErrors: "test set",
    VotePosterior: "posterior",
    BlockErrors: "progressive",
}
#: Widths to choose among, in units of the width "scale" on the prior's rows.
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)


class GroupCertificate(NamedTuple):
    """A bound on the risk among rows of one group."""

    group: Any
    n: int
    n_errors: int
    risk_bound: float


class ClassCertificate(NamedTuple):
    """Lower bounds on precision, ``n_right / n_predicted`` on the rows, and on recall, ``n_right / n``, of a class."""

    label: Any
    n: int
    n_predicted: int
    n_right: int
    precision_bound: float
    recall_bound: float


class SelectiveCertificate(NamedTuple):
    """Bounds on a classifier that answers where a score is at least a threshold, and abstains elsewhere."""

    threshold: float
    n_answered: int
    n_errors: int
    coverage_bound: float
    """The share of rows that are answered is at least this"""
    risk_bound: float
    """Of the rows that are answered at most this share is wrong"""


def prior_sizes(n: int, fraction: float) -> tuple[int, int]:
    """Return how many of n rows are the prior's, and on how many of these the maps to choose among are fitted."""
    n_prior = min(max(round(fraction * n), 1), n - 1) if fraction else 0
    return n_prior, n_prior - round(_VALID_SHARE * n_prior)


def _answers(method: str):
    """Return whether a classifier has a method: that of `estimator_`, or before `fit` of `estimator`."""

    def has(self) -> bool:
        if self.estimator is None:
            return method == "decision_function"
        return self.scheme != "progressive" and hasattr(getattr(self, "estimator_", self.estimator), method)

    return available_if(has)


class CertifiedClassifier(WholeFits, ClassifierMixin, BaseEstimator):
    """Classifier that bounds its own risk (PAC-Bayes; Langford and Shawe-Taylor 2003).

    Weights w from N(v, I) on features of length 1, a constant among them, vote; the prediction is their majority,
    ``sign(v . z(x))``. `fit` minimises a bound on its risk over v. docs/theory.md states the bound and proves it; its
    one assumption is that rows are independent draws from one distribution; `fit` warns of copies of rows, of a single
    column that tells the classes, and of rows in the order of a column. What is done to columns or labels
    beforehand must not depend on these rows.

    With `prior_fraction` above 0 random rows are set apart. They choose, at no price, feature maps, the kernel's width,
    beta, landmarks, C and the form of the bound, and the weights that they give are the prior's mean. The other rows
    give two bounds: by the errors of the prior's vote ("test set", at 0.9 epsilon), and on the vote of a posterior that
    they learn ("posterior", at 0.1 epsilon). Both hold at once; the vote of the smaller one predicts. With 0 all rows
    serve both purposes: the bound pays for the choice among `features`, and for the frequencies that learned weights
    draw.

    More than two classes, and any `estimator`, have the test set's bound, at the whole of epsilon. The features' own
    vote is then one class against the rest.

    A fitted model in scikit-learn's `FrozenEstimator` is certified as it is: nothing is fitted, and every row counts.
    The bound holds if the model was neither fitted nor chosen on these rows.

    Progressive validation (Blum, Kalai and Langford 1999) lets rows of the bound teach as well. They come in blocks;
    each tests a clone of `estimator` that is fitted on all rows before it. The mean risk of these classifiers is
    certified, so `predict` gives each point the answer of one of them, drawn at random by their numbers of rows; equal
    points have the same one. Counting ends at a number of errors that is fixed on the first rows; later rows do not
    count, and classifiers that no counted row tested are left out.

    Parameters
    ----------
    features : transformer or list of transformers, optional
        Maps to choose among; ``None`` stands for `RandomFourierFeatures` of 200 frequencies at five widths, from a
        quarter of "scale" on the prior's rows to four times it, and needs a `prior_fraction` above 0.
        With `prior_fraction` 0, only `RandomFourierFeatures`, `PseudoPosteriorFeatures`, `OptimizedKernelFeatures` and
        `LandmarkSimilarity` (selection "random", similarity "prior"), each with a kernel whose width is a number.
    prior_fraction : float
        From 0 to 0.9; without effect on a frozen `estimator`. Rows are drawn whatever their class: shares of classes
        that are kept would tie the rows of the bound to those that teach.
    epsilon : float
        Probability, over rows and draws, that `risk_bound_` fails.
    random_state : int, RandomState, Generator or None
        Seed of the rows set apart, and of feature maps without their own. Fits at several seeds, of which the best is
        kept, break the bound.
    estimator : classifier, optional
        Any classifier of scikit-learn's kind, or a pipeline that ends with one, in place of `features`. A clone is
        fitted on the prior's rows alone, with all that it scales, fills or chooses; a `FrozenEstimator` is not.
    scheme : {"split", "progressive"}
        Whether rows of the bound teach, as above; "progressive" needs an `estimator`, and fits it `n_blocks` times,
        and five times on four fifths of the first rows to foresee the number of errors.
    n_blocks : int
        Blocks of the progressive scheme, at most as many as there are rows.
    n_draws : int
        Draws of the frequencies of each of `features` to choose among, by the same kernel or learned weights.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels; those of a frozen `estimator` if it names them.
    estimator_ : classifier
        The fitted clone of `estimator`, or the frozen one, unless the scheme is progressive. With an `estimator` there
        are none of `features_` and the six attributes after it.
    estimators_, block_sizes_ : list of B classifiers, ndarray of shape (B,)
        With the progressive scheme: the classifiers of `predict`, and by how many rows each was tested.
    progress_ : Progress
        With the progressive scheme: the rows in their order, which of them are errors, and where counting might end.
    features_ : transformer
        The fitted map; of several, the one that was chosen.
    coef_, prior_coef_ : ndarray of shape (F + 1,)
        v, the same as the prior's mean where the test set certifies; the last entry is the constant's. Of K > 2 classes
        `coef_` has shape (K, F + 1), and there are no voters: no `prior_coef_`, and none of the next five attributes.
    posterior_ : VotePosterior
        The voters of the arm "posterior", also where the test set certifies.
    gibbs_bound_ : float
        On the probability of an error where each point gets one random voter. With `prior_fraction` 0 it holds
        together with `risk_bound_`, otherwise at its own `epsilon`.
    tandem_bound_, c_bound_ : float
        Two other bounds on the probability that `predict` errs, by pairs of voters (`bounds.tandem`, `bounds.c_bound`).
        Each has its own `epsilon`: the smallest of the three bounds is paid for with ``epsilon / 3``.
    threshold_ : float
        theta: the margin error of the posterior is the mean of ``Phi(theta - y v . z(x))``.
    arm_ : {"test set", "posterior", "progressive"}
        Which bound `risk_bound_` is.
    arm_bounds_ : dict
        The bounds that hold at once, by their arms; `risk_bound_` is the smallest.
    risk_bound_ : float
        On the probability that `predict` errs. With the progressive scheme on its mean over `random_state`, which draws
        the classifier of each point: a fitted model has one seed, and its own risk may be above where few rows differ.
    certificate_ : tuple of CertificateTerm
        The terms (name, nats, risk) of `risk_bound_`; their risks add up to it.
    n_errors_ : int or None
        Errors on `bound_rows_` of the vote, or of the prior's where the posterior certifies; of the blocks' classifiers
        with the progressive scheme; None with `prior_fraction` 0.
    test_set_bound_ : float or None
        On the risk of the prior's own vote, by binomial tail inversion on the rows of the bound; a yardstick, with an
        `epsilon` of its own. ``None`` without prior rows, and with the progressive scheme.
    majority_error_ : float
        The share of `bound_rows_` on which the most frequent class of the prior's rows is wrong: a bound above it says
        little. Without such rows, as with a frozen `estimator`, it is the class that is most frequent in `bound_rows_`.
    bound_rows_ : ndarray of shape (n_bound,)
        The rows that the bound is computed on.
    n_features_in_ : int
        d, the number of columns in `fit`.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> model = rff.CertifiedClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9 and model.risk_bound_ < 0.3)
    True
    """

    classes_: np.ndarray
    features_: Any
    coef_: np.ndarray
    prior_coef_: np.ndarray
    posterior_: VotePosterior
    arm_: Literal["test set", "posterior", "progressive"]
    risk_bound_: float
    gibbs_bound_: float
    tandem_bound_: float
    c_bound_: float
    certificate_: tuple[CertificateTerm, ...]
    threshold_: float
    n_errors_: int | None
    test_set_bound_: float | None
    majority_error_: float
    bound_rows_: np.ndarray
    progress_: Progress

    def __init__(
        self,
        features: Any = None,
        prior_fraction: float = 0.5,
        epsilon: float = 0.05,
        random_state: RandomState = None,
        estimator: Any = None,
        scheme: Literal["split", "progressive"] = "split",
        n_blocks: int = 5,
        n_draws: int = 1,
    ):
        self.features: Any = features
        self.prior_fraction: float = prior_fraction
        self.epsilon: float = epsilon
        self.random_state: RandomState = random_state
        self.estimator: Any = estimator
        self.scheme: Literal["split", "progressive"] = scheme
        self.n_blocks: int = n_blocks
        self.n_draws: int = n_draws

    def fit(self, X: MatrixLike, y: ArrayLike, **fit_params: Any) -> Self:
        """Choose features and the weights of the smallest bound.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row; with an `estimator`, or `features` that are all pipelines or of another package, all that
            these take, such as a data frame with texts and missing values.
        y : array of shape (n,)
            Labels.
        **fit_params : dict
            What `fit` of the `estimator` takes besides, with the scheme "split": `sample_weight` of shape (n,). It gets
            that of the rows that teach; the bound counts every row once.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, a value of `X` or a label is not allowed, or `y` holds one class only and nothing is frozen.
        """
        check_labels(y)
        X, y = self._checked(X, y, fit_params)
        with np.errstate(invalid="ignore"):  # labels beyond the range of NumPy's integers
            check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        check_probability(self.epsilon, "epsilon")
        fraction = check_range(self.prior_fraction, "prior_fraction", 0.0, 0.9)
        n_prior = 0 if self._is_frozen else prior_sizes(len(codes), fraction)[0]
        check_count(self.n_blocks, "n_blocks")
        if not self._is_frozen:
            self._check_classes(n_prior)
        warn_if_hollow(X, y, getattr(self, "feature_names_in_", None))
        rng = as_rng(self.random_state)
        maps = [] if self.estimator is not None else [self._seeded(features, rng) for features in self._maps()]
        self._other_draws = [draw_seed(rng) for _ in range(1, check_count(self.n_draws, "n_draws"))]
        order = rng.permutation(len(codes))
        self.arm_bounds_: dict[str, float] = {}
        prior, self.bound_rows_ = order[:n_prior], np.sort(order[n_prior:])
        if self.scheme == "progressive":
            promise = self._fit_blocks(self._seeded(self.estimator, rng), X, y, order, rng)
        elif self.estimator is not None:
            promise = self._fit_estimator(X, y, prior, rng, fit_params)
        else:
            if self.features is None and n_prior:
                warn_of_wide_columns(self, X)
                self._set_widths(maps, X[prior])
            promise = self._fit_maps(maps, X, codes, prior)
        teaching = np.unique(y[prior if n_prior else self.bound_rows_], return_counts=True)
        self.majority_error_ = float((y[self.bound_rows_] != teaching[0][teaching[1].argmax()]).mean())
        self.arm_ = _ARMS[type(promise)]
        self.risk_bound_ = float(promise.bound)
        self.certificate_ = promise.ledger()
        self.arm_bounds_[self.arm_] = self.risk_bound_
        return self

    @property
    def _is_frozen(self) -> bool:
        return isinstance(self.estimator, FrozenEstimator)

    def _checked(self, X, y, fit_params) -> tuple[Any, Any]:
        if check_choice(self.scheme, "scheme", SCHEMES) == "progressive" and (
            self.estimator is None or self._is_frozen
        ):
            raise ValueError(
                "scheme is 'progressive', which fits a classifier for each block; an estimator that is not frozen is "
                "needed."
            )
        if fit_params and (self.estimator is None or self._is_frozen or self.scheme == "progressive"):
            raise ValueError(
                f"fit is given {', '.join(fit_params)}, which only an estimator that is fitted once can take; the "
                "bound counts every row once."
            )
        if self.estimator is None:
            own = self._takes_numbers
            return validated(self, X, y, ensure_min_samples=2) if own else self._as_they_are(X, y)
        tagged = hasattr(self.estimator, "__sklearn_tags__") and not isinstance(self.estimator, type)
        if not tagged or not is_classifier(self.estimator):
            raise ValueError(f"estimator is {shown(self.estimator)}; a classifier is needed.")
        if self.features is not None:
            raise ValueError("estimator and features are both given; one of them is needed.")
        return self._as_they_are(X, y)

    @property
    def _takes_numbers(self) -> bool:
        """Whether points are checked once here; pipelines, and features of other packages, check them themselves."""
        return any(map(_is_own, self._maps()))

    def _as_they_are(self, X, y) -> tuple[Any, Any]:
        """Return points whose values are left to a pipeline, and labels."""
        validate_data(self, X, skip_check_array=True)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        if len(y) == 0:
            raise ValueError("y is empty; labels of at least 2 rows are needed.")
        return _with_rows(X), y

    def _check_classes(self, n_prior: int) -> None:
        K = len(self.classes_)
        if K < 2:
            raise ValueError(f"y holds one class only, {shown(self.classes_.tolist()[0])}; at least 2 are needed.")
        if n_prior:
            return
        left = f"prior_fraction {self.prior_fraction!r} leaves no rows to"
        if self.estimator is not None:
            raise ValueError(
                f"{left} fit the estimator on; a larger one, or FrozenEstimator of a model that was fitted and chosen "
                "on other rows, is needed."
            )
        if K > 2:
            raise ValueError(
                f"Only binary classification is supported without rows for the prior, which prior_fraction "
                f"{self.prior_fraction!r} leaves. Classes in y: {K}, not 2."
            )
        if self.features is None:
            raise ValueError(
                f"{left} choose a width on; features with a kernel whose width is a number, or a prior_fraction above "
                "0, are needed."
            )

    @staticmethod
    def _set_widths(maps, X) -> None:
        sigma = GaussianKernel("scale")._scaled_to(X).get_params()["sigma"]
        for features, width in zip(maps, WIDTHS, strict=True):
            features.set_params(kernel=GaussianKernel(width * sigma))

    def _fit_estimator(self, X, y, prior, rng, fit_params) -> HeldOutErrors:
        if self._is_frozen:
            self.estimator_: Any = self.estimator
            self.classes_ = getattr(self.estimator, "classes_", self.classes_)
        else:
            self.estimator_ = _taught(self._seeded(self.estimator, rng), X, y, prior, fit_params)
        wrong = self.estimator_.predict(_safe_indexing(X, self.bound_rows_)) != y[self.bound_rows_]
        return self._held_out(int(wrong.sum()))

    def _fit_blocks(self, estimator, X, y, order, rng) -> BlockErrors:
        """Fit a classifier on each block until errors reach the highest limit; choose the limit of least bound."""
        n = len(self.bound_rows_)
        n_prior = len(order) - n
        limits = error_limits(*self._foreseen(estimator, X, y, order[:n_prior]), n)
        starts = np.linspace(0, n, min(self.n_blocks, n), endpoint=False).astype(int)
        uniform = rng.random(n)
        self._seed = draw_seed(rng)
        wrong, fitted = np.zeros(n, dtype=bool), []
        for block in np.split(np.arange(n), starts[1:]):
            seen, new = order[: n_prior + block[0]], order[n_prior + block]
            fitted.append(_taught(clone(estimator), X, y, seen))
            wrong[block] = fitted[-1].predict(_safe_indexing(X, new)) != y[new]
            if wrong.sum() >= limits[-1]:
                break
        level = level_of(limits, self.epsilon)
        self.progress_ = Progress(order[n_prior:], starts, wrong, uniform, limits, level, self.epsilon)
        best = min(map(self.progress_.ending_at, limits), key=lambda one: float(one.bound))
        kept = best.sizes > 0
        self.estimators_: list[Any] = [one for one, counts in zip(fitted, kept[: len(fitted)], strict=True) if counts]
        self.block_sizes_: np.ndarray = best.sizes[kept].astype(int)
        self.bound_rows_ = np.sort(order[n_prior : n_prior + self.block_sizes_.sum()])
        self.n_errors_, self.test_set_bound_ = int(best.n_errors.sum()), None
        warn_of_few_rows(share_of_equal_pairs(X), len(self.bound_rows_))
        return best

    @staticmethod
    def _foreseen(estimator, X, y, rows) -> tuple[int, int]:
        """Return cross-validation errors on the first rows, and the number of these; 0, 0 if there are too few."""
        counts = np.unique(y[rows], return_counts=True)[1]
        n_folds = min(_N_FOLDS, int(counts.min()))
        if n_folds < 2 or len(counts) < 2:
            return 0, 0
        predicted = cross_val_predict(estimator, _safe_indexing(X, rows), y[rows], cv=n_folds)
        return int((predicted != y[rows]).sum()), len(rows)

    def _held_out(self, n_errors: int) -> HeldOutErrors:
        held_out = HeldOutErrors(n_errors, len(self.bound_rows_), self.epsilon)
        self.n_errors_, self.test_set_bound_ = n_errors, held_out.bound
        return held_out

    def _fit_maps(self, maps, X, codes, prior) -> VotePosterior | HeldOutErrors:
        """Choose features, and weights on them, of the smaller bound."""
        alone = len(prior) > 0 and len(set(codes[prior])) < 2
        if alone:
            _warn_of_one_class(self.classes_[codes[prior]])
            maps, self._other_draws = [FunctionTransformer(_nothing, accept_sparse=True)], []
        if len(self.classes_) > 2:
            return self._fit_several_classes(maps, X, codes, prior)
        fit = self._fit_on_other_rows if len(prior) else self._fit_on_the_same_rows
        vote, promise = fit(maps, X, 2.0 * codes - 1, prior)
        self.coef_, self.prior_coef_, self.threshold_ = vote.mean, vote.prior_mean, vote.threshold
        self.gibbs_bound_, self.tandem_bound_, self.c_bound_ = vote.gibbs_bound, vote.tandem_bound, vote.c_bound
        return promise

    def _fit_several_classes(self, maps, X, codes, prior) -> HeldOutErrors:
        """Fit each class against the rest: map and C err least on validation rows; weights fit the prior's rows."""
        valid, train = self._rows_of_prior(codes, prior)
        K, errors = len(self.classes_), []
        of_train = _safe_indexing(X, train)
        for fitted in chain.from_iterable(self._draws(clone(one), of_train, codes[train]) for one in maps):
            weights = learn_rest(_mapped(fitted, of_train), codes[train], K)
            decisions = unit_features(_mapped(fitted, _safe_indexing(X, valid))) @ weights.transpose(0, 2, 1)
            errors.append((decisions.argmax(axis=2) != codes[valid]).mean(axis=1))
        least = int(np.argmin(errors))
        best, c = divmod(least, len(SVM_COSTS))
        of_prior, of_bound = _safe_indexing(X, prior), _safe_indexing(X, self.bound_rows_)
        self.features_ = self._draws(maps[best // self.n_draws], of_prior, codes[prior])[best % self.n_draws]
        self.coef_ = learn_rest(_mapped(self.features_, of_prior), codes[prior], K, SVM_COSTS[c : c + 1])[0]
        predicted = (self._unit_features(of_bound) @ self.coef_.T).argmax(axis=1)
        return self._held_out(int((predicted != codes[self.bound_rows_]).sum()))

    def _rows_of_prior(self, labels, prior) -> tuple[np.ndarray, np.ndarray]:
        """Return the prior's rows that choose among maps, and the prior's rows that maps are fitted on."""
        _, n_train = prior_sizes(len(labels), self.prior_fraction)
        n_valid = len(prior) - n_train
        valid, train = prior[:n_valid], prior[n_valid:]
        if len(set(labels[train])) < 2:
            train = prior  # the prior may be any function of its rows
        return (valid if n_valid else train), train

    def _maps(self) -> list:
        if self.features is None:
            return [RandomFourierFeatures(n_components=_N_COMPONENTS) for _ in WIDTHS]
        maps = list(self.features) if isinstance(self.features, list | tuple) else [self.features]
        for features in maps:
            if not hasattr(features, "fit") or not hasattr(features, "transform"):
                raise ValueError(
                    f"features holds {shown(features)}; transformers are needed, or estimator= for a classifier."
                )
        if not maps:
            raise ValueError("features is an empty list; at least one transformer is needed.")
        return maps

    @staticmethod
    def _seeded(features, rng):
        features = clone(features)
        open_seeds = [
            name for name, value in features.get_params().items() if name.endswith("random_state") and value is None
        ]
        return features.set_params(**{name: draw_seed(rng) for name in open_seeds})

    def _draws(self, features, X, y) -> list[Any]:
        """Fit a map, and draw its frequencies `n_draws` times."""
        if self._other_draws and not hasattr(features, "_draw"):
            raise ValueError(
                f"n_draws is {self.n_draws}, and features holds {type(features).__name__}, which draws no frequencies; "
                "Fourier features are needed."
            )
        draws = [_fitted(features, X, y)]
        for seed in self._other_draws:
            draws.append(copy(draws[0]))
            draws[-1]._draw(as_rng(seed))
        return draws

    def _fit_on_other_rows(self, maps, X, signs, prior) -> tuple[VotePosterior, VotePosterior | HeldOutErrors]:
        """Return the vote and its bound: the prior's vote by errors on the other rows, or one learned from these."""
        valid, train = self._rows_of_prior(signs, prior)
        of_train, of_valid, of_prior, of_bound = (
            _safe_indexing(X, rows) for rows in (train, valid, prior, self.bound_rows_)
        )
        kept, tried, share = signs[self.bound_rows_], [], (1 - TEST_SET_SHARE) * self.epsilon
        for fitted in chain.from_iterable(self._draws(clone(one), of_train, signs[train]) for one in maps):
            mapped = _mapped(fitted, of_train), signs[train], _mapped(fitted, of_valid), signs[valid]
            tried.append(learn_prior(*mapped, len(kept), share))
        best = min(range(len(tried)), key=lambda i: tried[i].bound)
        self.features_ = self._draws(maps[best // self.n_draws], of_prior, signs[prior])[best % self.n_draws]
        (direction,) = svm_weights(_mapped(self.features_, of_prior), signs[prior] > 0, [tried[best].C])
        mean = tried[best].scale * direction / max(np.linalg.norm(direction), 1e-300)
        z = self._unit_features(of_bound)
        margin = Margin(tried[best].threshold, tried[best].rate, share)
        n_errors = int((kept * np.where(z @ mean > 0, 1, -1) < 0).sum())
        held_out = self._held_out(n_errors)._replace(share=TEST_SET_SHARE)
        learned = self.posterior_ = learn_vote(z, kept, mean, self.epsilon, Choice(), margin)
        self.arm_bounds_ = {"test set": held_out.bound, "posterior": learned.bound}
        if learned.bound < held_out.bound:
            return learned, learned
        return VotePosterior.of_prior(z, kept, mean, self.epsilon, margin), held_out

    def _fit_on_the_same_rows(self, maps, X, signs, _) -> tuple[VotePosterior, VotePosterior]:
        """Learn each map's posterior on all rows. The best pays for the choice and its frequencies or landmarks."""
        votes, kept = [], []
        for features in maps:
            _check_prior_is_fixed(features)
        maps = [draw for features in maps for draw in self._draws(features, X, signs)]
        for features in maps:
            rows = np.setdiff1d(self.bound_rows_, getattr(features, "landmark_indices_", ()))
            if len(rows) == 0:
                raise ValueError(
                    f"features holds {type(features).__name__} whose landmarks are all of the {len(signs)} rows; fewer "
                    "are needed, as the bound is computed on the others."
                )
            z = unit_features(_mapped(features, X[rows]))
            choice = Choice(len(maps), *_price(features, len(signs)))
            votes.append(learn_vote(z, signs[rows], np.zeros(z.shape[1]), self.epsilon, choice))
            kept.append(rows)
        best = min(range(len(maps)), key=lambda i: votes[i].bound)
        self.features_, self.bound_rows_, self.posterior_ = maps[best], kept[best], votes[best]
        self.n_errors_ = self.test_set_bound_ = None
        return votes[best], votes[best]

    def _unit_features(self, X):
        return unit_features(_mapped(self.features_, X))

    @_answers("decision_function")
    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Return v . z(x), in standard deviations of the voters; positive for the second class. K > 2: one a class.

        With an `estimator` it is that of `estimator_`, where it has one.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.

        Returns
        -------
        ndarray of shape (n,) or (n, K)

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If a shape is wrong or a value is not finite.
        """
        check_is_fitted(self)
        if self.estimator is not None:
            return self._of_every_class(self.estimator_.decision_function(X), np.finfo(np.float64).min)
        if self._takes_numbers:
            return self._unit_features(validated(self, X, reset=False)) @ self.coef_.T
        validate_data(self, X, reset=False, skip_check_array=True)
        return self._unit_features(_with_rows(X)) @ self.coef_.T

    @_answers("predict_proba")
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Return the probabilities of the classes by `estimator_`, where it has them; nothing certifies them.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.

        Returns
        -------
        ndarray of shape (n, K)
            0 for a class that no row that taught has.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        check_is_fitted(self)
        return self._of_every_class(self.estimator_.predict_proba(X), 0.0)

    def _of_every_class(self, values: np.ndarray, missing: float) -> np.ndarray:
        """Return values of classes, with columns of `missing` for those that `estimator_` has not seen."""
        known = getattr(self.estimator_, "classes_", self.classes_)
        if len(known) == len(self.classes_):
            return values
        every = np.full((len(values), len(self.classes_)), missing)
        every[:, np.searchsorted(self.classes_, known)] = (
            values if values.ndim == 2 else np.column_stack([-values, values])
        )
        return every

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Return the class that most voters choose, or what `estimator_` says, or the best class of `estimators_`.

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
        check_is_fitted(self)
        if self.scheme == "progressive":
            return self._predict_by_blocks(X)
        if self.estimator is not None:
            return self.estimator_.predict(X)
        decision = self.decision_function(X)
        return self.classes_[decision.argmax(axis=1) if decision.ndim == 2 else (decision > 0).astype(int)]

    def _predict_by_blocks(self, X) -> np.ndarray:
        X = _with_rows(X)
        chosen = choices(X, self._seed, self.block_sizes_ / self.block_sizes_.sum())
        predicted = np.empty(len(chosen), dtype=self.classes_.dtype)
        for block in np.unique(chosen):
            own = np.flatnonzero(chosen == block)
            predicted[own] = self.estimators_[block].predict(_safe_indexing(X, own))
        return predicted

    def _predicted(self, X, *columns) -> list[np.ndarray]:
        """Return what is predicted for rows, and columns that have a value for each row."""
        given = [self.predict(X), *map(column_or_1d, columns)]
        check_consistent_length(*given)
        return given

    def certify_groups(self, X: MatrixLike, y: ArrayLike, groups: ArrayLike) -> tuple[GroupCertificate, ...]:
        """Bound the risk within each group of rows, for all groups at once with probability ``1 - epsilon``.

        Each bound is the test set's at epsilon divided by the number of groups. This epsilon is not the epsilon of
        `risk_bound_`: both hold at once with probability ``1 - 2 epsilon``.

        Parameters
        ----------
        X, y : array or CSR matrix of shape (n, d), and labels of shape (n,)
            Independent rows from which `predict` did not learn: new ones or, where `arm_` is "test set",
            the `bound_rows_`.
        groups : array of shape (n,)
            Of each row, by a rule that was fixed before these rows were seen: the value of a column, or the class.
            Groups that are learned from the labels or the errors of these rows have no bound.

        Returns
        -------
        tuple of GroupCertificate
            (group, n, n_errors, risk_bound), by group.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If shapes differ or a value is not allowed.
        """
        predicted, own, groups = self._predicted(X, y, groups)
        found = _errors_by_group(predicted != own, groups, self.epsilon)
        return tuple(GroupCertificate(name, one.n, one.n_errors, one.bound) for name, one in found.items())

    def certify_classes(self, X: MatrixLike, y: ArrayLike) -> tuple[ClassCertificate, ...]:
        """Bound precision and recall of each class from below, all at once with probability ``1 - epsilon``.

        The precisions share one half of this epsilon and the recalls the other, equally: among the classes that are
        predicted, and among those that occur. As in `certify_groups`, it is not the epsilon of `risk_bound_`.

        Parameters
        ----------
        X, y : array or CSR matrix of shape (n, d), and labels of shape (n,)
            Rows as in `certify_groups`.

        Returns
        -------
        tuple of ClassCertificate
            (label, n, n_predicted, n_right, precision_bound, recall_bound), by label. The bound is 0 on the precision
            of a class that is never predicted, and on the recall of one that does not occur.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If shapes differ or a value is not allowed.
        """
        predicted, own = self._predicted(X, y)
        wrong = predicted != own
        half, nothing = self.epsilon / 2, HeldOutErrors(0, 0, self.epsilon)
        of_predicted, of_own = _errors_by_group(wrong, predicted, half), _errors_by_group(wrong, own, half)
        certificates = []
        for label in np.union1d(predicted, own):
            said, there = (found.get(label, nothing) for found in (of_predicted, of_own))
            right = there.n - there.n_errors
            certificates.append(ClassCertificate(label, there.n, said.n, right, 1 - said.bound, 1 - there.bound))
        return tuple(certificates)

    def certify_selection(
        self, X: MatrixLike, y: ArrayLike, scores: ArrayLike, thresholds: ArrayLike
    ) -> tuple[SelectiveCertificate, ...]:
        """Bound coverage and risk of answering only where a score is high (Geifman and El-Yaniv 2017).

        A row is answered if its score is at least the threshold. Of T thresholds each coverage and each risk has
        ``epsilon / (2 T)``, so all hold at once, and any may be kept after looking. As in `certify_groups`, this
        epsilon is not the epsilon of `risk_bound_`.

        Parameters
        ----------
        X, y : array or CSR matrix of shape (n, d), and labels of shape (n,)
            Rows as in `certify_groups`.
        scores : array of shape (n,)
            Of each row, by a rule that was fixed before these rows were seen and does not look at labels, as
            ``predict_proba(X).max(axis=1)`` or, of two classes, ``abs(decision_function(X))``.
        thresholds : array of shape (T,)
            Fixed before these rows were seen: quantiles of their scores have no bound.

        Returns
        -------
        tuple of SelectiveCertificate
            (threshold, n_answered, n_errors, coverage_bound, risk_bound), as the thresholds stand. The bound on the
            risk is 1 where no row is answered.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If shapes differ or a value is not allowed.
        """
        predicted, own, scores = self._predicted(X, y, as_numbers(scores, "scores"))
        wrong = predicted != own
        thresholds = column_or_1d(as_numbers(thresholds, "thresholds"))
        share = self.epsilon / max(2 * len(thresholds), 1)
        certificates = []
        for threshold in thresholds:
            answered = wrong[scores >= threshold]
            risk = HeldOutErrors(int(answered.sum()), len(answered), share)
            silence = HeldOutErrors(len(wrong) - risk.n, len(wrong), share)
            certificates.append(
                SelectiveCertificate(float(threshold), risk.n, risk.n_errors, 1 - silence.bound, risk.bound)
            )
        return tuple(certificates)

    def vote_shares(self, X: MatrixLike) -> np.ndarray:
        """Return the share of voters for each class, which does not estimate its probability given x.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.

        Returns
        -------
        ndarray of shape (n, 2)

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If a shape is wrong, a value is not finite, or there are no voters: of an `estimator`, or of K > 2 classes.
        """
        if self.estimator is not None:
            raise ValueError("vote_shares are those of features; an estimator has no voters.")
        decision = self.decision_function(X)
        if decision.ndim == 2:
            raise ValueError(f"vote_shares are those of 2 classes; there are {len(self.classes_)}.")
        return np.column_stack([ndtr(-decision), ndtr(decision)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = self.prior_fraction != 0
        if hasattr(self.estimator, "__sklearn_tags__") and not isinstance(self.estimator, type):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def _taught(estimator, X, y, rows, fit_params=MappingProxyType({})) -> Any:
    """Fit a classifier on rows. Many refuse rows of one class; then a classifier always returns this class."""
    if len(np.unique(y[rows])) < 2:
        _warn_of_one_class(y[rows])
        return DummyClassifier().fit(_safe_indexing(X, rows), y[rows])
    return estimator.fit(_safe_indexing(X, rows), y[rows], **_check_method_params(X, fit_params, indices=rows))


def _errors_by_group(wrong, groups, epsilon: float) -> dict[Any, HeldOutErrors]:
    """Count the errors of each group of rows; the groups share epsilon equally."""
    names, codes = np.unique(groups, return_inverse=True)
    counted = {name: wrong[codes == k] for k, name in enumerate(names)}
    return {name: HeldOutErrors(int(own.sum()), len(own), epsilon / len(names)) for name, own in counted.items()}


def _warn_of_one_class(labels) -> None:
    warn(
        f"The {len(labels)} rows that teach hold one class only, {shown(labels.tolist()[0])}, so the classifier always "
        "says it; its certificate holds."
    )


def _nothing(X) -> np.ndarray:
    """Return one feature, 0, for each row: there is nothing to learn from."""
    return np.zeros((_num_samples(X), 1))


def _with_rows(X):
    """Return X, or an array of it if X has no rows to select."""
    if sp.issparse(X):
        return canonical(X)
    return X if hasattr(X, "__getitem__") else np.asarray(X)


def _is_own(features) -> bool:
    """Return whether a transformer is of this package, not derived from one: it need not check the points again."""
    return isinstance(features, BaseTransformer) and type(features).__module__.startswith(f"{__package__}.")


def _fitted(features, X, y) -> Any:
    """Fit a transformer to checked points."""
    if not _is_own(features):
        return features.fit(X, y)
    features.n_features_in_ = X.shape[1]
    return features._fit_points(X, y)


def _mapped(features, X) -> np.ndarray:
    """Return what a transformer makes of checked points, as a dense array of numbers."""
    if _is_own(features):
        return features._map(X)
    name = f"the output of {type(features).__name__}"
    Z = features.transform(X)
    if sp.issparse(Z):
        check_fits(Z.shape[0] * Z.shape[1], f"{name} has shape {Z.shape}")
        Z = Z.toarray()
    Z = as_points(Z, name, dense=True)
    if len(Z) != _num_samples(X):
        raise ValueError(f"{name} has {len(Z)} rows for {_num_samples(X)} points; one row a point is needed.")
    return Z


def _check_prior_is_fixed(features) -> None:
    """Refuse feature maps whose prior may depend on the rows of the bound, or is unknown."""
    if isinstance(features, LandmarkSimilarity):
        if (features.selection, features.similarity) != ("random", "prior"):
            raise ValueError(
                f"features holds LandmarkSimilarity with selection {features.selection!r} and similarity "
                f"{features.similarity!r}, which depends on the rows in ways that no term pays for; 'random' and "
                "'prior', or a prior_fraction above 0, are needed."
            )
    elif type(features) is not RandomFourierFeatures and not isinstance(features, BaseLearnedFeatures):
        raise ValueError(
            f"features holds {type(features).__name__}, which depends on the rows in ways that no term pays for; "
            "a prior_fraction above 0 is needed."
        )
    if is_learned(features.kernel) or as_kernel(features.kernel).is_open:
        raise ValueError(
            f"features holds {type(features).__name__} with a width taken from the rows; a kernel whose width is a "
            "number, or a prior_fraction above 0, is needed."
        )


def _price(features, n: int) -> tuple[float, str]:
    """Return the nats of frequencies from learned weights, or of landmarks chosen from n rows, and their purpose."""
    if isinstance(features, LandmarkSimilarity):
        L = features.landmarks_.shape[0]
        return float(gammaln(n + 1) - gammaln(L + 1) - gammaln(n - L + 1)), "landmarks chosen"
    if not isinstance(features, BaseLearnedFeatures):
        return 0.0, "frequencies drawn"
    sampled = features.weights_[features.candidate_indices_]
    return float(np.log(len(features.weights_) * sampled).sum()), "frequencies drawn"
