"""Feature maps: exact averages of cosines, and unbiased estimates of the kernel."""

import numpy as np
import pytest
import scipy.sparse as sp

from rff_engine import (
    features,
    fourier_features,
    phases,
    random_phase_features,
)
from rff_engine._waves import waves
from rff_engine.kernels import KERNELS as NAMED

KERNELS = [named.of_width(1.2, nu=0.8) for named in NAMED.values()]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def problem(n=9, d=3, D=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7), 2 * rng.normal(size=(D, d))


def average_of_cosines(X, Y, omega, Q=None):
    return np.array([[np.average(np.cos(omega @ (x - y)), weights=Q) for y in Y] for x in X])


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("D", [1, 2, 50])
def test_inner_products_are_averages_of_cosines(d, D):
    X, omega = problem(d=d, D=D)
    phi = fourier_features(X, omega)
    assert phi.shape == (len(X), 2 * D)
    np.testing.assert_allclose(phi @ phi.T, average_of_cosines(X, X, omega), rtol=0, atol=1e-10)


def test_weights_give_weighted_averages():
    X, omega = problem()
    Q = np.array([0.5, 0, 0.2, 0.3, 0, 0])
    phi = fourier_features(X, omega, Q)
    np.testing.assert_allclose(phi @ phi.T, average_of_cosines(X, X, omega, Q), rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        fourier_features(X, omega, np.full(6, 1 / 6)), fourier_features(X, omega), rtol=0, atol=1e-10
    )


def test_all_cosines_come_before_all_sines():
    X, omega = problem(D=4)
    phi = fourier_features(X, omega)
    for i, x in enumerate(X):
        for j, w in enumerate(omega):
            assert phi[i, j] == pytest.approx(np.cos(w @ x) / 2, abs=1e-10)
            assert phi[i, 4 + j] == pytest.approx(np.sin(w @ x) / 2, abs=1e-10)


def test_random_phase_features_equal_the_formula():
    X, omega = problem(D=4)
    offsets = np.array([0.0, 1.0, 3.0, 6.0])
    phi = random_phase_features(X, omega, offsets)
    for i, x in enumerate(X):
        for j, w in enumerate(omega):
            assert phi[i, j] == pytest.approx(np.sqrt(2 / 4) * np.cos(w @ x + offsets[j]), abs=1e-10)


@pytest.mark.slow
@every_kernel
@pytest.mark.parametrize("d", [1, 2, 5])
def test_both_maps_are_unbiased(kernel, d):
    D = 40000
    rng = np.random.default_rng(d)
    X, Y = rng.normal(size=(4, d)), rng.normal(size=(4, d))
    omega, offsets = kernel.sample_frequencies(D, d, rng), rng.uniform(0, 2 * np.pi, D)
    expected = np.diag(kernel(X, Y))

    def waves(Z):
        return fourier_features(Z, omega)

    def shifted_waves(Z):
        return random_phase_features(Z, omega, offsets)

    for features_of, terms in ((waves, 2), (shifted_waves, 1)):
        products = features_of(X) * features_of(Y)
        per_frequency = D * products.reshape(4, terms, D).sum(axis=1)
        error = per_frequency.mean(axis=1) - expected
        assert (np.abs(error) < 4.5 * per_frequency.std(axis=1) / np.sqrt(D)).all()


def test_float32_stays_and_is_close():
    X, omega = problem()
    X32 = X.astype(np.float32)
    for found, exact in (
        (fourier_features(X32, omega), fourier_features(X32.astype(np.float64), omega)),
        (
            random_phase_features(X32, omega, np.arange(6)),
            random_phase_features(X32.astype(np.float64), omega, np.arange(6)),
        ),
    ):
        assert found.dtype == np.float32 and exact.dtype == np.float64
        np.testing.assert_allclose(found, exact, rtol=0, atol=1e-5)
    assert fourier_features(X.astype(int), omega).dtype == np.float64


def test_float32_points_of_order_1e5_get_float64_phases(monkeypatch):
    X, omega = problem()
    X = (X + 1e5).astype(np.float32)
    exact = np.cos(X.astype(np.float64) @ omega.T) / np.sqrt(6)
    found = fourier_features(X, omega)[:, :6]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-6)
    np.testing.assert_allclose(fourier_features(sp.csr_array(X), omega)[:, :6], exact, rtol=0, atol=1e-6)
    monkeypatch.setattr(features, "_LARGEST_FLOAT32_PHASE", np.inf)  # without the guard they are wrong
    assert np.abs(fourier_features(X, omega)[:, :6] - exact).max() > 1e-3


@pytest.mark.parametrize("rows", [1, 4, 4096])
def test_largest_norm_is_exact_without_overflow(monkeypatch, rows):
    monkeypatch.setattr(features, "_ROWS", rows)
    X, _ = problem()
    expected = max(np.linalg.norm(x) for x in X)
    for same in (X, sp.csr_array(X), sp.csr_matrix(X)):
        assert features.largest_norm(same) == pytest.approx(expected, rel=1e-12)
    huge = np.array([[3e30, 4e30]], dtype=np.float32)  # whose squares overflow float32
    assert features.largest_norm(huge) == pytest.approx(5e30, rel=1e-6)
    assert features.largest_norm(sp.csr_array(huge)) == pytest.approx(5e30, rel=1e-6)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_phase_bound_holds_and_is_tight_with_one_large_column(container, monkeypatch):
    rng = np.random.default_rng(0)
    X, omega = rng.normal(size=(40, 30)) * (rng.random((40, 30)) < 0.5), rng.normal(size=(20, 30))
    X[:, 3] *= -1e5
    bound = features.PhaseBound(container(X))
    np.testing.assert_allclose(bound.columns, np.abs(X).max(axis=0))
    largest, found = np.abs(X @ omega.T).max(), bound.largest_phase(omega)
    assert largest <= found <= 1.01 * largest
    assert found < 0.5 * bound.norm * features.largest_norm(omega)
    monkeypatch.setattr(features, "_LARGEST_FLOAT32_PHASE", np.inf)
    assert bound.largest_phase(omega) == bound.norm * features.largest_norm(omega)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_phases_of_pairs_are_phases_up_to_whole_turns(container, dtype):
    X, omega = problem()
    X, which = (50 * X).astype(dtype), np.array([2, 2, 3, 5, 5, 5])
    found = features.phases_of_pairs(container(X), which, omega)
    turns = (found - phases(X.astype(np.float64), omega)[which, np.arange(6)]) / (2 * np.pi)
    np.testing.assert_allclose(turns, np.rint(turns), rtol=0, atol=1e-10)
    assert found.dtype == np.float64 and (np.abs(found) <= np.pi).all() and np.abs(turns).max() > 2


@pytest.mark.parametrize("size", [1e-3, 3.0, 4e3, 1e9, 1e30])
def test_waves_of_float64_are_those_of_numpy(size):
    angle = np.random.default_rng(0).uniform(-size, size, (70, 1000))
    angle[0, :5] = 0, np.pi / 2, -np.pi / 2, np.pi, -np.pi
    cosines, narrow, own = np.empty_like(angle), np.empty(angle.shape, np.float32), angle.copy()
    waves(own, cosines, own)  # the sines may take the place of the angles
    rounding = 1e-15 + np.finfo(float).eps * min(size, 1e8)
    np.testing.assert_allclose(cosines, np.cos(angle), rtol=0, atol=rounding)
    np.testing.assert_allclose(own, np.sin(angle), rtol=0, atol=rounding)
    waves(angle.copy(), narrow)
    np.testing.assert_array_equal(narrow, cosines.astype(np.float32))
