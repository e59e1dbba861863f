"""Any finite input, however large or small, gives a finite result or a ValueError of one line.

Every public name of the engine stands in the `about` of some property. `RFF_EXAMPLES=50` tries 50 times as many
inputs, and others in each run.
"""

from __future__ import annotations

import inspect
import os
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import rff_engine as rff
from rff_engine import bounds, losses
from rff_engine.frequencies import SAMPLING_SCHEMES
from rff_engine.kernels import KERNELS as NAMED
from rff_engine.linear import gram_matrix, linear_svm_batch, linear_svm_decision

pytestmark = pytest.mark.slow

TIMES = int(os.environ.get("RFF_EXAMPLES", "1"))


def examples(n: int):
    return settings(
        derandomize=TIMES == 1,
        deadline=None,
        database=None,
        max_examples=n * TIMES,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


COVERED: set[str] = set()


def about(*names: str):
    """Mark a test with the public names that it covers."""
    COVERED.update(names)
    return lambda test: test


# --- inputs -------------------------------------------------------------------------------------------------------

_SIZES = [0.0, 5e-324, 1e-308, 3e-308, 1e-162, 1e-100, 1e-50, 1e-38, 1e-16, 1e-8, 0.5, 1.0, 2.0, 1e3, 1e8, 1e16, 3e38]
_SIZES += [1e50, 1e77, 1e100, 1e101, 1e154, 1e155, 1e160, 1e300, 1e308, 1.7976931348623157e308]
_SIZES_32 = [0.0, 1e-45, 1e-38, 1e-19, 1e-8, 0.5, 1.0, 1e3, 1e6, 1e7, 1e18, 1e20, float(np.finfo(np.float32).max)]
_EXTREMES = [sign * size for size in _SIZES for sign in (1, -1)]
_EXTREMES_32 = [sign * float(np.float32(size)) for size in _SIZES_32 for sign in (1, -1)]
TAME = st.floats(-3, 3)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
ANY = st.one_of(st.sampled_from(_EXTREMES), FINITE, TAME)
ANY_32 = st.one_of(
    st.sampled_from(_EXTREMES_32),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.floats(-3, 3, width=32),
)
SCALARS = st.one_of(
    st.sampled_from([0, -1, 1, 2, 3, 10**20, -(10**20), 10**400, *_SIZES]),
    FINITE,
    st.integers(),
    ANY.map(np.float64),
    ANY_32.map(np.float32),
)
SEEDS = st.one_of(st.integers(-1, 10), st.just(10**40))
BAD_COUNTS = st.sampled_from([0, -1, -(10**30), 10**30, 10**400])


def counts(most: int):
    """Sizes that fit in memory, or far larger ones."""
    return st.one_of(st.integers(1, most), st.integers(1, most), BAD_COUNTS)


def arrays(shape, wide: bool = True, tame: bool = False):
    """Dense arrays of float64, or of float32 too, of independent numbers or of numbers of one size."""
    dtype = st.just(np.float64) if not wide else st.sampled_from([np.float64, np.float64, np.float32])

    def of(dtype):
        if tame:
            elements = st.floats(-3, 3, width=32)
            return hnp.arrays(dtype, shape, elements=elements, fill=st.nothing())
        narrow = dtype == np.float32
        mixed = hnp.arrays(dtype, shape, elements=ANY_32 if narrow else ANY)
        sizes = st.sampled_from([size for size in (_SIZES_32 if narrow else _SIZES) if size])
        shares = hnp.arrays(dtype, shape, elements=st.floats(-1, 1, width=32), fill=st.nothing())
        alike = st.tuples(shares, sizes).map(lambda pair: (pair[0] * pair[1]).astype(dtype))
        return st.one_of(mixed, alike, hnp.arrays(dtype, shape, elements=st.floats(-3, 3, width=32)))

    return dtype.flatmap(of)


@st.composite
def points(draw, n: int, d: int, tame: bool = False, dense: bool = False):
    """n points, dense or CSR, possibly with equal rows or a constant column."""
    X = draw(arrays((n, d), tame=tame))
    if draw(st.booleans()):
        X = X[draw(hnp.arrays(np.intp, n, elements=st.integers(0, n - 1)))]
    if draw(st.booleans()):
        X[:, draw(st.integers(0, d - 1))] = X[0, 0]
    if dense or draw(st.booleans()):
        return X
    return sp.csr_array(X) if draw(st.booleans()) else sp.csr_matrix(X)


PAIRS = [(0, 1), (-1, 1), ("a", "b"), (False, True), (-1e308, 1e308), (0.0, 5e-324), (-0.0, 1.5), (10**18, 10**18 + 1)]


@st.composite
def labels(draw, n: int, tame: bool = False, pairs=PAIRS):
    """Labels of two classes, or of one unless `tame`."""
    codes = draw(hnp.arrays(np.intp, n, elements=st.integers(0, 1), fill=st.nothing()))
    if tame:
        codes[:2] = 0, 1
    return np.array(draw(st.sampled_from(pairs)))[codes]


@st.composite
def distributions(draw, shape):
    """Weights that sum to 1 on the last axis, exactly, roughly or not at all."""
    weights = np.abs(draw(arrays(shape, wide=False)))
    if draw(st.booleans()):
        weights = np.minimum(weights, 1e100)
        total = weights.sum(axis=-1, keepdims=True)
        weights = np.where(total > 0, weights / np.where(total > 0, total, 1), 1 / shape[-1])
    return weights


_LENGTHS = [1e-50, 1e-30, 1e-3, 0.3, 1.0, 20.0, 1e30, 1e50]
_SMOOTHNESS = [1e-50, 1e-5, 0.04, 0.3, 0.5, 1.0, 1.5, 2.5, 7.0, 50.0, 51.0, 1e9, np.inf]
GAUSSIAN = st.builds(rff.GaussianKernel, st.sampled_from(_LENGTHS))
NAMED_KERNELS = st.sampled_from([None, *NAMED, rff.MaternKernel(nu=0.3, length_scale="scale")])
KERNELS = st.one_of(
    *(
        st.builds(
            named.kernel, **{p: st.sampled_from(_SMOOTHNESS if p == "nu" else _LENGTHS) for p in named.parameters}
        )
        for named in NAMED.values()
    ),
    st.builds(
        rff.RationalQuadraticKernel,
        alpha=st.sampled_from([1e-6, 0.3, 1.0, 2.5, 60.0, 1e6]),
        length_scale=st.sampled_from(_LENGTHS),
    ),
    st.builds(
        rff.PeriodicKernel, period=st.sampled_from(_LENGTHS), length_scale=st.sampled_from([1e-3, 0.3, 1.0, 1e3])
    ),
    st.builds(rff.AnisotropicGaussianKernel, st.lists(st.sampled_from(_LENGTHS), min_size=1, max_size=4)),
)
KERNELS = st.one_of(
    KERNELS,
    st.builds(rff.SumKernel, st.lists(KERNELS, min_size=1, max_size=3)),
    st.builds(rff.ProductKernel, st.lists(KERNELS, min_size=1, max_size=3)),
)
TAME_KERNELS = st.sampled_from(
    [*(named.of_width(1.0, nu=0.8) for named in NAMED.values()), rff.CauchyKernel(2.0), rff.MaternKernel(nu=1.5)]
)


def kernels(tame: bool):
    return TAME_KERNELS if tame else st.one_of(KERNELS, TAME_KERNELS)


# --- results ------------------------------------------------------------------------------------------------------


def answer(function, *arguments, must: bool = False, infinite: bool = False, **others):
    """The result, checked to be finite, or None if the engine raises a ValueError of one sentence.

    With `must` a ValueError fails; with `infinite` numbers may be infinite, but not NaN.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # a sentence to the user is an answer
        try:
            found = function(*arguments, **others)
        except ValueError as error:
            # Errors of NumPy and SciPy have no full stop: the engine should have refused the input.
            said = str(error)
            assert type(error) is ValueError and said.endswith(".") and "\n" not in said, repr(error)
            assert not must, said
            return None
    for part in parts_of(found):
        part = np.asarray(part)
        assert not np.isnan(part).any() if infinite else np.isfinite(part).all(), found
    return found


def parts_of(found) -> list:
    """All numbers in a result."""
    if found is None or isinstance(found, rff.SpectralKernel | rff.FrequencyBlocks):
        return []
    if isinstance(found, tuple | list):
        return [part for some in found for part in parts_of(some)]
    if isinstance(found, rff.AlignmentSums):
        return [found.counts, found.cosines, found.sines, found.lengths]
    if isinstance(found, rff.AdaptedFrequencies):
        return parts_of([found.frequencies, found.weights, found.losses, found.path])
    if sp.issparse(found):
        return [found.data]
    return [found] if np.asarray(found).dtype.kind in "fiu" else []


def place_of(name: str):
    return getattr(rff, name.split(".")[0]) if "." in name else rff


def test_every_public_name_has_a_property():
    assert set(rff.__all__) - {"bounds", "losses"} <= COVERED
    assert {f"bounds.{name}" for name in bounds.__all__} <= COVERED
    assert {f"losses.{name}" for name in losses.__all__} - {"losses.LOSSES"} <= COVERED
    stale = {name for name in COVERED if not hasattr(place_of(name), name.split(".")[-1])}
    assert not stale


def test_answer_fails_for_infinite_results_and_unclear_errors():
    for wrong in (np.nan, [1.0, (np.inf,)], sp.csr_array([[np.inf]])):
        with pytest.raises(AssertionError):
            answer(lambda wrong=wrong: wrong)
    for error in (np.linalg.LinAlgError("Singular."), ValueError("no full stop"), ValueError("")):

        def fail(error=error):
            raise error

        with pytest.raises(AssertionError):
            answer(fail)
    with pytest.raises(RuntimeWarning):
        answer(lambda: np.float64(1e308) * 10)


# --- kernels and frequencies --------------------------------------------------------------------------------------


def by_name(kernel):
    """The kernel of values in the order of its parameters, some of which are taken by name only."""
    names = inspect.signature(kernel).parameters
    return lambda *values: kernel(**dict(zip(names, values, strict=True)))


CLASSES = *(named.kernel for named in NAMED.values()), rff.RationalQuadraticKernel, rff.PeriodicKernel
MADE = {
    **{by_name(kernel): len(inspect.signature(kernel).parameters) for kernel in CLASSES},
    rff.GaussianKernel.from_gamma: 1,
    lambda length: rff.AnisotropicGaussianKernel([length, 1.0]): 1,
    lambda share: rff.SumKernel((rff.GaussianKernel(), rff.PeriodicKernel()), (share, 1 - float(share))): 1,
    lambda sigma: rff.ProductKernel((rff.GaussianKernel(sigma), rff.CauchyKernel())): 1,
}


@about(*(named.kernel.__name__ for named in NAMED.values()), "RationalQuadraticKernel", "PeriodicKernel")
@about("AnisotropicGaussianKernel", "SumKernel", "ProductKernel")
@examples(300)
@given(make=st.sampled_from(list(MADE)), parameters=st.tuples(SCALARS, SCALARS))
def test_parameters_of_kernels(make, parameters):
    if (kernel := answer(make, *parameters[: MADE[make]])) is None:
        return
    if isinstance(kernel, rff.GaussianKernel):
        assert answer(lambda: kernel.gamma) > 0
    # A Laplacian kernel's frequencies have no variance, nor have a Matérn kernel's for nu up to 1: documented.
    none = isinstance(kernel, rff.LaplacianKernel) or (isinstance(kernel, rff.MaternKernel) and kernel.nu <= 1)
    assert np.min(answer(lambda: kernel.coordinate_variance, infinite=none)) > 0
    answer(kernel.sample_frequencies, 3, 2, 0, must=True)


@pytest.mark.second
@about("SpectralKernel")
@examples(300)
@given(st.data())
def test_values_of_kernels(data):
    tame, n, m, d = data.draw(st.tuples(st.booleans(), *[st.integers(1, 4)] * 3))
    kernel = data.draw(kernels(tame))
    X, Y = data.draw(points(n, d, tame)), data.draw(points(m, d, tame))
    for K in (answer(kernel, X, Y, must=tame), answer(kernel, X, must=tame)):
        assert K is None or (K.min() >= -1e-6 and K.max() <= 1 + 1e-6)


@pytest.mark.second
@about("SpectralKernel")
@examples(200)
@given(st.data())
def test_densities_and_frequencies_of_kernels(data):
    tame, n, d = data.draw(st.tuples(st.booleans(), *[st.integers(1, 4)] * 2))
    kernel = data.draw(kernels(tame))
    if isinstance(kernel, rff.PeriodicKernel):
        answer(kernel.spectral_mass, data.draw(points(n, d, tame, dense=True)), must=tame)
    density = answer(kernel.spectral_density, data.draw(points(n, d, tame, dense=True)), must=tame)
    assert density is None or density.min() >= 0
    count = data.draw(counts(20))
    answer(kernel.sample_frequencies, count, data.draw(counts(5)), data.draw(SEEDS))
    answer(kernel.sample_scales, count, data.draw(SEEDS))
    answer(kernel.uniforms_per_frequency, count)
    between = st.one_of(
        st.floats(0, 1, exclude_min=True, exclude_max=True), st.sampled_from([5e-324, 1e-17, 0.5, 1 - 2**-53])
    )
    uniforms = data.draw(hnp.arrays(np.float64, (n, d), elements=between if tame else st.one_of(between, ANY)))
    needed = kernel.uniforms_per_frequency(1)
    answer(kernel.frequencies_at, uniforms, must=tame and d >= needed)


@about("draw_frequencies")
@examples(300)
@given(
    kernel=KERNELS,
    D=counts(40),
    d=counts(9),
    sampling=st.sampled_from(list(SAMPLING_SCHEMES)),
    seed=SEEDS,
)
def test_drawn_frequencies(kernel, D, d, sampling, seed):
    answer(rff.draw_frequencies, kernel, D, d, sampling, seed)


@about("FrequencyBlocks")
@examples(100)
@given(kernel=KERNELS, N=counts(2000), d=counts(5), seed=SEEDS, b=SCALARS, indices=st.lists(SCALARS, max_size=3))
def test_blocks_of_frequencies(kernel, N, d, seed, b, indices):
    blocks = answer(rff.FrequencyBlocks, kernel, N, d, seed)
    if blocks is not None and N <= 2000 and d <= 5:
        answer(blocks.block, b)
        answer(blocks.take, indices)
        answer(blocks.take, [0, N - 1], must=True)
        answer(lambda: list(blocks), must=True)


# --- features -----------------------------------------------------------------------------------------------------


@pytest.mark.second
@about("phases", "fourier_features", "random_phase_features")
@examples(300)
@given(st.data())
def test_features(data):
    tame, n, d, D = data.draw(st.tuples(st.booleans(), *[st.integers(1, 4)] * 3))
    X, omega = data.draw(points(n, d, tame)), data.draw(points(D, d, tame, dense=True))
    answer(rff.phases, X, omega, must=tame)
    if (plain := answer(rff.fourier_features, X, omega, must=tame)) is not None:
        assert np.abs(plain).max() <= 1 + 1e-6
    answer(rff.fourier_features, X, omega, np.abs(data.draw(arrays(D, tame=tame))), must=tame)
    answer(rff.random_phase_features, X, omega, data.draw(arrays(D, tame=tame)), must=tame)


# --- alignment losses ---------------------------------------------------------------------------------------------


@st.composite
def frequencies(draw, D: int, d: int, tame: bool):
    """An array of frequencies, or blocks of a kernel's."""
    blocks = answer(rff.FrequencyBlocks, draw(kernels(tame)), D, d)  # refused if length scales are not d
    return blocks if blocks is not None and draw(st.booleans()) else draw(points(D, d, tame, dense=True))


def assert_losses(losses):
    assert losses is None or (losses.min() >= -1e-6 and losses.max() <= 1 + 1e-6)


@pytest.mark.second
@about("alignment_loss", "alignment_sums", "AlignmentSums", "alignment_loss_batched", "alignment_loss_variance")
@examples(200)
@given(st.data())
def test_alignment_losses(data):
    tame, n, d, D = data.draw(st.tuples(st.booleans(), st.integers(2, 6), *[st.integers(1, 4)] * 2))
    X, y = data.draw(points(n, d, tame)), data.draw(labels(n, tame))
    omega = data.draw(frequencies(D, d, tame))
    assert_losses(answer(rff.alignment_loss, X, y, omega, must=tame))
    more, more_y = data.draw(points(n, d, tame)), data.draw(labels(n, tame))
    sums, others = answer(rff.alignment_sums, X, y, omega), answer(rff.alignment_sums, more, more_y, omega)
    variance = answer(rff.alignment_loss_variance, X, y, omega, must=tame and n >= 4)
    assert variance is None or (variance.min() >= 0 and variance.max() <= 0.5)
    if sums is not None and others is not None:
        both = answer(lambda: sums + others)
        if both is not None:
            answer(both.loss)
    answer(rff.alignment_loss_batched, [(X, y), (more, more_y)], omega)
    assert_losses(answer(rff.alignment_loss_batched, [(X, y), (more, y)], omega, must=tame))


@pytest.mark.second
@about("alignment_loss_plane")
@examples(100)
@given(st.data())
def test_alignment_losses_of_the_plane(data):
    tame, n, a, b = data.draw(st.tuples(st.booleans(), st.integers(2, 6), *[st.integers(1, 4)] * 2))
    X, y = data.draw(points(n, 2, tame, dense=True)), data.draw(labels(n, tame))
    u, v = data.draw(arrays(a, tame=tame)), data.draw(arrays(b, tame=tame))
    assert_losses(answer(rff.alignment_loss_plane, X, y, u, v, must=tame))


@pytest.mark.second
@about("landmark_alignment_loss")
@examples(200)
@given(st.data())
def test_alignment_losses_of_landmarks(data):
    tame, n, d, D, L = data.draw(st.tuples(st.booleans(), st.integers(2, 6), *[st.integers(1, 3)] * 3))
    X, y = data.draw(points(n, d, tame)), data.draw(labels(n, tame))
    if data.draw(st.booleans()):
        indices = data.draw(hnp.arrays(np.intp, L, elements=st.integers(0, n - 1)))
        landmarks, landmark_labels = X[indices], y[indices]
    else:
        indices, landmarks, landmark_labels = None, data.draw(points(L, d, tame)), y[np.arange(L) % n]
    omega = data.draw(st.one_of(frequencies(D, d, tame), arrays((L, D, d), tame=tame)))
    found = answer(rff.landmark_alignment_loss, X, y, landmarks, landmark_labels, omega, indices, must=tame)
    assert_losses(found)


@pytest.mark.second
@about("alignment_loss", "alignment_sums", "landmark_alignment_loss", "select_landmarks")
@examples(200)
@given(st.data())
def test_weighted_losses(data):
    tame, n, d = data.draw(st.tuples(st.booleans(), st.integers(2, 6), st.integers(1, 3)))
    X, y = data.draw(points(n, d, tame)), data.draw(labels(n, tame))
    weights = data.draw(hnp.arrays(np.float64, n, elements=st.floats(0.01, 3))) if tame else data.draw(arrays(n))
    weights, omega = weights if data.draw(st.booleans()) else np.abs(weights), data.draw(frequencies(3, d, tame))
    given = {"sample_weight": weights}
    loss = answer(rff.alignment_loss, X, y, omega, must=tame, **given)
    if tame:
        assert_losses(loss)
    answer(lambda: rff.alignment_sums(X, y, omega, **given).loss(), must=tame)
    answer(rff.alignment_loss_batched, [(X, y), (X, y, weights)], omega, must=tame)
    answer(rff.landmark_alignment_loss, X, y, X[[0]], y[[0]], omega, [0], must=tame, **given)
    answer(rff.select_landmarks, X, y, 1, data.draw(st.sampled_from(["kmeans", "random"])), 0, must=tame, **given)
    fitted = answer(rff.PseudoPosteriorFeatures(rff.GaussianKernel(), 2, 5).fit, X, y, **given)
    assert fitted is None or np.isfinite(fitted.weights_).all()
    answer(rff.GaussianKernel("scale").scaled_to, X, must=tame, **given)


@pytest.mark.parametrize("least", [1e-45, 1e-80])
def test_tiny_weights_and_rows_of_no_weight(least):
    X, y = np.float32([[0, 0], [1e-8, 2], [-3, 1], [0, 0]]), np.array([1, -1, 1, -1])
    for weights in least * np.float64([[1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0]]):
        answer(rff.select_landmarks, X, y, 1, "kmeans", 0, must=True, sample_weight=weights)
        answer(rff.PseudoPosteriorFeatures(rff.GaussianKernel(), 2, 5).fit, X, y, sample_weight=weights)


@about("landmark_alignment_loss")
@examples(100)
@given(st.data())
def test_alignment_losses_of_rows_that_are_not_the_landmarks(data):
    n, d, L = data.draw(st.tuples(st.integers(2, 6), st.integers(1, 3), st.integers(1, 3)))
    X, landmarks = data.draw(points(n, d)), data.draw(points(L, d))
    indices = data.draw(hnp.arrays(np.intp, L, elements=st.integers(-1, n)))
    y = data.draw(labels(n, tame=True))
    answer(rff.landmark_alignment_loss, X, y, landmarks, y[np.arange(L) % n], np.ones((2, d)), indices)


# --- posteriors and bounds ----------------------------------------------------------------------------------------


@pytest.mark.second
@about("pseudo_posterior", "optimized_kernel_weights")
@examples(500)
@given(st.data())
def test_learned_weights(data):
    tame, N = data.draw(st.tuples(st.booleans(), st.integers(1, 8)))
    loss = data.draw(arrays(N, tame=tame))
    scalars = st.floats(0, 3) if tame else SCALARS
    beta, rho = data.draw(scalars), data.draw(scalars)
    mu = data.draw(st.floats(1.1, 10) if tame else st.one_of(SCALARS, st.floats(1, 1.001), st.floats(1, 1e6)))
    n = data.draw(st.integers(1, 10**9) if tame else SCALARS)
    for Q in (
        answer(rff.pseudo_posterior, loss, beta, n, must=tame),
        answer(rff.optimized_kernel_weights, loss, rho, mu, must=tame),
    ):
        assert Q is None or (Q.min() >= 0 and Q.sum() == pytest.approx(1, abs=1e-9))
    answer(rff.pseudo_posterior, np.stack([loss, loss[::-1]]), beta, n, must=tame)


@about("kl_divergence", "power_divergence")
@examples(200)
@given(Q=st.one_of(distributions((6,)), distributions((1,)), distributions((2, 3))), mu=SCALARS)
def test_divergences(Q, mu):
    for divergence in (answer(rff.kl_divergence, Q), answer(rff.power_divergence, Q, mu)):
        assert divergence is None or np.min(divergence) >= 0


AT_MOST_1 = ("_inverse", "_two_class", "_bernstein")


@pytest.mark.second
@about(*(f"bounds.{name}" for name in bounds.__all__))
@examples(500)
@given(st.data())
def test_bounds(data):
    tame = data.draw(st.booleans())
    unit = st.one_of(st.floats(0, 1), st.sampled_from([0.0, -0.0, 5e-324, 1e-16, 1 - 2**-53, 1.0]))
    inside = st.one_of(
        st.floats(0, 1, exclude_min=True, exclude_max=True), st.sampled_from([5e-324, 1e-300, 1 - 2**-53])
    )
    loss = data.draw(unit if tame else st.one_of(unit, SCALARS))
    epsilon = data.draw(inside if tame else st.one_of(inside, SCALARS))
    kl, t = data.draw(st.floats(0, 1e3) if tame else SCALARS), data.draw(st.floats(1e-3, 1e6) if tame else SCALARS)
    size = st.integers(2, 10**12) if tame else st.one_of(st.integers(-2, 10**6), SCALARS)
    n, n_landmarks = data.draw(size), data.draw(size)
    mu = data.draw(st.floats(1.01, 10) if tame else st.one_of(SCALARS, st.floats(1, 3)))
    # A bound is infinite where one of its terms overflows (see the docstring of `bounds`), which takes an extreme t,
    # epsilon or divergence.
    may = {"must": tame, "infinite": not tame}
    if data.draw(st.booleans()):
        kl = np.array([kl, kl])
    form = data.draw(st.sampled_from(bounds.FORMS))
    bound = data.draw(st.sampled_from(bounds.KL_BOUNDS))
    terms = answer(bounds.kl_terms, bound, loss, kl, n, t, epsilon, n_landmarks, form, **may)
    assert terms is None or isinstance(terms, bounds.KLTerms)
    given = {"kl": kl, "divergence": kl, "chi2": kl, "n": n, "t": t, "epsilon": epsilon, "mu": mu}
    given |= {"n_landmarks": n_landmarks, "variance": 0.1 if tame else kl}
    for name, record in bounds.ALIGNMENT_BOUNDS.items():
        # A loss of two classes is at most 1/2; how large a variance may be depends on n and the loss.
        own = loss / 2 if tame and name == "second_order_two_class" else loss
        must = tame and "variance" not in record.arguments
        for each in record.forms or [None]:
            # At epsilon = 1e-324 a bound by a power divergence is 1e300 or infinite.
            infinite = (each in bounds.FORMS and not record.constants) or (each is not None and not tame)
            value = answer(record.value, must=must, infinite=infinite, loss=own, form=each, **given)
            assert value is None or np.min(value) >= 0
            assert value is None or not name.endswith(AT_MOST_1) or np.max(value) <= 1


# --- landmarks ----------------------------------------------------------------------------------------------------


@about("select_landmarks", "kernel_landmarks")
@examples(100)
@given(st.data())
def test_chosen_landmarks(data):
    tame, n, d = data.draw(st.tuples(st.booleans(), st.integers(2, 6), st.integers(1, 3)))
    X, y = data.draw(points(n, d, tame)), data.draw(labels(n, tame))
    count, seed = (data.draw(st.integers(1, n)), 0) if tame else (data.draw(counts(n)), data.draw(SEEDS))
    method = data.draw(st.sampled_from(["random", "kmeans"]))
    answer(rff.select_landmarks, X, y, count, method, seed, must=tame)
    method = data.draw(st.sampled_from(["sample", "cluster", "nearest"]))
    answer(rff.kernel_landmarks, X, count, method, seed, must=tame)


@pytest.mark.second
@about("landmark_similarity", "similarity_maps")
@examples(200)
@given(st.data())
def test_similarities(data):
    tame, n, d, D, L = data.draw(st.tuples(st.booleans(), *[st.integers(1, 3)] * 4))
    X, landmarks = data.draw(points(n, d, tame)), data.draw(points(L, d, tame))
    shape = data.draw(st.sampled_from([(D,), (L, D)]))
    Q = data.draw(st.one_of(arrays((L, D), tame=tame), arrays((2, L, D), tame=tame)))
    answer(rff.landmark_similarity, X, landmarks, data.draw(arrays((*shape, d), tame=tame)), Q, must=tame)
    u, v = data.draw(arrays(n, tame=tame)), data.draw(arrays(D, tame=tame))
    landmarks, omega = data.draw(points(L, 2, tame, dense=True)), data.draw(arrays((*shape, 2), tame=tame))
    answer(rff.similarity_maps, u, v, landmarks, omega, data.draw(arrays((L, D), tame=tame)), must=tame)


# --- linear support vector machines -------------------------------------------------------------------------------


@pytest.mark.second
@about("linear_svm_path")
@examples(150)
@given(st.data())
def test_linear_support_vector_machines(data):
    tame, n, F = data.draw(st.tuples(st.booleans(), st.integers(2, 8), st.integers(1, 5)))
    Z, y = data.draw(points(n, F, tame)), data.draw(labels(n, tame))
    costs = st.floats(1e-5, 1e5) if tame else st.one_of(st.floats(-35, 35).map(lambda e: 10.0**e), SCALARS)
    C_values = data.draw(st.lists(costs, min_size=1, max_size=3))
    form = data.draw(st.sampled_from(["auto", "primal", "gram"]))
    found = answer(rff.linear_svm_path, Z, y, C_values, form, must=tame)
    if found is not None:
        answer(linear_svm_decision, Z, *found)
        answer(rff.linear_svm_path, Z, y, C_values, "gram", gram_matrix(Z.astype(np.float64)))
    dense = Z.toarray() if sp.issparse(Z) else Z
    answer(linear_svm_batch, np.stack([dense, dense[::-1]]), y, C_values[0], must=tame)
    answer(rff.linear_svm_path, Z, y, C_values, "gram", data.draw(arrays((n, n))))


# --- ridge regression and losses ----------------------------------------------------------------------------------


@pytest.mark.second
@about("ridge_path", "kernel_ridge_path")
@examples(150)
@given(st.data())
def test_ridge_regressions(data):
    tame, n, F, T = data.draw(st.tuples(st.booleans(), *[st.integers(1, 5)] * 3))
    Z = data.draw(points(n, F, tame))
    y = data.draw(arrays(data.draw(st.sampled_from([(n,), (n, T)])), tame=tame))
    values = st.floats(1e-5, 1e5) if tame else st.one_of(st.floats(-35, 35).map(lambda e: 10.0**e), SCALARS)
    lambdas = data.draw(st.lists(values, min_size=1, max_size=3))
    answer(rff.ridge_path, Z, y, lambdas, data.draw(st.booleans()), must=tame)
    answer(rff.kernel_ridge_path, data.draw(TAME_KERNELS)(data.draw(points(n, F, tame=True))), y, lambdas, must=tame)
    answer(rff.kernel_ridge_path, data.draw(arrays((n, n))), y, lambdas)


@about(*(f"losses.{name}" for name in losses.LOSSES), "losses.empirical_risk")
@examples(150)
@given(st.data())
def test_losses_of_predictions(data):
    tame, n = data.draw(st.tuples(st.booleans(), st.integers(1, 5)))
    decision, numbers = data.draw(arrays(n, tame=tame)), data.draw(arrays(n, tame=tame))
    signs = data.draw(hnp.arrays(np.float64, n, elements=st.sampled_from([-1.0, 1.0])))
    for name, loss in losses.LOSSES.items():
        y = numbers if name == "squared_error" else signs
        found = answer(loss, decision, y, must=tame)
        assert found is None or found.min() >= 0
        answer(losses.empirical_risk, name, decision, y, must=tame)
        answer(loss, decision, numbers)


# --- frequencies that fit the data --------------------------------------------------------------------------------


@about("feature_weights", "adapt_frequencies", "AdaptedFrequencies")
@examples(80)
@given(st.data())
def test_adapted_frequencies(data):
    tame, n, d, r = data.draw(st.tuples(st.booleans(), *[st.integers(1, 4)] * 3))
    kernel, landmarks = data.draw(kernels(tame)), data.draw(points(n, d, tame))
    omega = data.draw(points(r, d, tame, dense=True))
    weights = data.draw(st.one_of(st.none(), st.just(np.full(n, 0.5)) if tame else arrays(n).map(np.abs)))
    ridge, tol = data.draw(st.tuples(*[st.floats(0, 1) if tame else SCALARS] * 2))
    steps = data.draw(st.one_of(st.integers(0, 12), st.integers(0, 12) if tame else BAD_COUNTS))
    p = answer(rff.feature_weights, landmarks, kernel, omega, weights, ridge, must=tame)
    assert p is None or p.min() >= 0
    keep = data.draw(st.booleans())
    answer(rff.adapt_frequencies, landmarks, kernel, omega, weights, ridge, steps, tol, keep, must=tame)


@about("supervise_frequencies")
@examples(60)
@given(st.data())
def test_supervised_frequencies(data):
    tame, n, d, r = data.draw(st.tuples(st.booleans(), st.integers(2, 9), *[st.integers(1, 3)] * 2))
    kernel, X = data.draw(kernels(tame)), data.draw(points(n, d, tame))
    omega = data.draw(points(r, d, tame, dense=True))
    task = data.draw(st.sampled_from(["regression", "classification"]))
    y = data.draw(labels(n, tame) if task == "classification" else arrays(n, tame=tame))
    scalars = st.floats(0, 1) if tame else SCALARS
    others = {
        "decay": data.draw(st.one_of(st.none(), st.floats(1e-4, 1) if tame else SCALARS)),
        "agreement": data.draw(scalars),
        "ridge": data.draw(scalars),
        "tol": data.draw(scalars),
        "max_steps": data.draw(st.integers(0, 6)),
        "max_rows": data.draw(st.integers(6, 9) if tame else counts(9)),
        "n_landmarks": data.draw(st.one_of(st.none(), st.integers(1, n) if tame else counts(n))),
        "random_state": data.draw(st.integers(0, 9) if tame else SEEDS),
        "keep_path": data.draw(st.booleans()),
    }
    answer(rff.supervise_frequencies, X, y, kernel, omega, task, must=tame, **others)


@pytest.mark.second
@about("leverage_scores")
@examples(150)
@given(st.data())
def test_leverage_scores(data):
    tame, n, d, N, M = data.draw(st.tuples(st.booleans(), *[st.integers(1, 4)] * 4))
    X, omega = data.draw(points(n, d, tame)), data.draw(points(N, d, tame, dense=True))
    pilot = data.draw(st.one_of(st.none(), points(M, d, tame, dense=True)))
    ridge = data.draw(st.floats(1e-10, 1e10) if tame else SCALARS)
    scores = answer(rff.leverage_scores, X, omega, ridge, pilot, must=tame)
    assert scores is None or scores.min() > 0


@pytest.mark.second
@about("relative_kernel_error", "importance_density")
@examples(150)
@given(st.data())
def test_kernel_errors_and_densities(data):
    tame, n, d, F = data.draw(st.tuples(st.booleans(), *[st.integers(1, 4)] * 3))
    X, features = data.draw(points(n, d, tame)), data.draw(points(n, F, tame, dense=True))
    answer(rff.relative_kernel_error, X, data.draw(kernels(tame)), features, must=tame)
    omega = data.draw(points(n, d, tame, dense=True))
    kernel = rff.GaussianKernel() if tame else data.draw(GAUSSIAN)
    density = answer(rff.importance_density, omega, kernel, data.draw(st.floats(0, 9) if tame else SCALARS), must=tame)
    assert density is None or density.min() >= 0


@pytest.mark.second
@about("kernel_approximation_loss", "sample_loss_bound", "cluster_loss_bound")
@examples(150)
@given(st.data())
def test_losses_over_pairs_and_their_bounds(data):
    tame, n, d, r = data.draw(st.tuples(st.booleans(), *[st.integers(1, 4)] * 3))
    X, omega = data.draw(points(n, d, tame)), data.draw(points(r, d, tame, dense=True))
    kernel, distinct = data.draw(kernels(tame)), data.draw(st.booleans())
    loss = answer(rff.kernel_approximation_loss, X, kernel, omega, None, distinct, must=tame and n > 1)
    assert loss is None or 0 <= loss <= 4.001
    sizes = st.floats(0, 9) if tame else SCALARS
    given = data.draw(st.tuples(sizes, sizes))
    answer(rff.sample_loss_bound, n + 1, r, d, *given, 0.05, must=tame)
    distances = data.draw(st.lists(sizes, min_size=1, max_size=3))
    bound = answer(rff.cluster_loss_bound, distances, given[0], 0.5 if tame else given[1], must=tame)
    assert bound is None or bound >= 0


# --- estimators ---------------------------------------------------------------------------------------------------


def fitted_and_transformed(make, X, y, new):
    """All fitted attributes, and the features of the training points and of others."""
    estimator = make()
    features = estimator.fit_transform(X, y)
    attributes = [value for name, value in vars(estimator).items() if name.endswith("_")]
    return [features, estimator.transform(new), *attributes]


def or_bound(number):
    return st.one_of(number, st.just("bound"))


ESTIMATORS = {
    rff.RandomFourierFeatures: lambda number: {"sampling": st.sampled_from(list(SAMPLING_SCHEMES))},
    rff.PseudoPosteriorFeatures: lambda number: {"n_candidates": counts(30), "beta": or_bound(number)},
    rff.OptimizedKernelFeatures: lambda number: {
        "n_candidates": counts(30),
        "rho": or_bound(number),
        "mu": number,
        "epsilon": st.floats(1e-300, 0.99),
    },
    rff.LandmarkSimilarity: lambda number: {
        "n_landmarks": st.one_of(counts(3), number, st.floats(0, 1)),
        "selection": st.sampled_from(["kmeans", "random"]),
        "similarity": st.sampled_from(["learned", "prior"]),
        "beta": or_bound(number),
    },
    rff.NystroemFeatures: lambda number: {"landmarks": st.sampled_from(["sample", "cluster", "nearest"])},
    rff.AdaptiveFourierFeatures: lambda number: {
        "landmarks": st.sampled_from(["sample", "cluster", "nearest"]),
        "n_landmarks": st.one_of(st.none(), counts(6)),
        "sampling": st.sampled_from(list(SAMPLING_SCHEMES)),
        "max_iter": counts(20),
        "tol": number,
    },
    rff.SupervisedFourierFeatures: lambda number: {
        "task": st.sampled_from(["auto", "regression", "classification"]),
        "decay": st.one_of(st.none(), number),
        "agreement": number,
        "max_iter": counts(20),
        "tol": number,
    },
    rff.LeverageScoreFeatures: lambda number: {"n_candidates": counts(30), "n_pilot": counts(20), "ridge": number},
    rff.LandmarkBoosting: lambda number: {
        "n_estimators": counts(9),
        "weak_learner": st.sampled_from(["landmark", "cosine"]),
        "beta": number,
        "max_steps": counts(20),
    },
}


@pytest.mark.more(after=2)
@about(*(estimator.__name__ for estimator in ESTIMATORS))
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
@examples(40)
@given(st.data())
def test_estimators(estimator, data):
    n, d = data.draw(st.tuples(st.integers(1, 7), st.integers(1, 3)))
    X, new = data.draw(points(n, d)), data.draw(points(2, d))
    y = data.draw(st.one_of(labels(n), arrays(n)) if "Supervised" in estimator.__name__ else labels(n))
    parameters = {
        "kernel": data.draw(st.one_of(NAMED_KERNELS, KERNELS)),
        "n_components": data.draw(counts(5)),
        "random_state": data.draw(SEEDS),
        **{name: data.draw(values) for name, values in ESTIMATORS[estimator](SCALARS).items()},
    }
    answer(fitted_and_transformed, lambda: estimator(**parameters), X, y, new)


@pytest.mark.more(after=2)
@about(*(estimator.__name__ for estimator in ESTIMATORS))
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
@examples(15)
@given(st.data())
def test_estimators_on_any_points(estimator, data):
    n, d = data.draw(st.tuples(st.integers(2, 7), st.integers(1, 3)))
    tame = data.draw(st.booleans())
    X, new, y = data.draw(points(n, d, tame)), data.draw(points(2, d, tame)), data.draw(labels(n, tame, PAIRS[:4]))
    small = {
        "n_components": 3,
        "random_state": 0,
        "kernel": data.draw(NAMED_KERNELS if tame else st.one_of(NAMED_KERNELS, KERNELS)),
    }
    if "n_candidates" in estimator().get_params():
        small["n_candidates"] = 20
    answer(fitted_and_transformed, lambda: estimator(**small), X, y, new, must=tame)


@about("bounds.gibbs_classifier", "bounds.majority_vote", "bounds.tandem", "bounds.c_bound", "bounds.test_set")
@examples(150)
@given(st.data())
def test_bounds_of_classifiers(data):
    tame = data.draw(st.booleans())
    error = data.draw(st.floats(0, 1) if tame else SCALARS)
    ratio, scale, threshold = data.draw(st.tuples(*[st.floats(0, 9) if tame else SCALARS] * 3))
    n, count = data.draw(st.tuples(*[st.integers(1, 99) if tame else counts(99)] * 2))
    epsilon = data.draw(st.floats(0.001, 0.9) if tame else SCALARS)
    disagreement = 2 * error * (1 - error) if tame else data.draw(SCALARS)
    found = [
        answer(bounds.gibbs_classifier, error, ratio, scale, n, epsilon, count, must=tame),
        answer(bounds.majority_vote, error, threshold, ratio, scale, n, epsilon, count, must=tame),
        answer(bounds.tandem, error, threshold, ratio, scale, n, epsilon, count, must=tame),
        answer(bounds.c_bound, error, disagreement, ratio, scale, n, epsilon, count, must=tame),
        answer(bounds.test_set, 1 if tame else error, n, epsilon, must=tame),
    ]
    assert all(bound is None or 0 <= bound <= 1 for bound in found)


@about("CertifiedClassifier")
@examples(40)
@given(st.data())
def test_certified_classifiers(data):
    n, d = data.draw(st.tuples(st.integers(2, 9), st.integers(1, 3)))
    X, y, new = data.draw(points(n, d)), data.draw(labels(n)), data.draw(points(2, d))
    map_ = data.draw(
        st.sampled_from(
            [
                rff.RandomFourierFeatures(rff.GaussianKernel(), 3),
                rff.PseudoPosteriorFeatures(rff.GaussianKernel(), 3, 10),
                rff.LandmarkSimilarity(n_landmarks=2, n_components=3),
                rff.LandmarkSimilarity(rff.GaussianKernel(), 2, "random", "prior"),
            ]
        )
    )
    model = rff.CertifiedClassifier(
        map_,
        data.draw(st.one_of(st.floats(0, 0.9), SCALARS)),
        data.draw(st.one_of(st.floats(0.01, 0.5), SCALARS)),
        random_state=data.draw(SEEDS),
    )

    def numbers():
        model.fit(X, y)
        found = [model.coef_, model.risk_bound_, model.gibbs_bound_, model.test_set_bound_, *model.certificate_]
        return [*found, model.decision_function(new), model.vote_shares(new)]

    answer(numbers)
