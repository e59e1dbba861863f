"""The SVM path against LinearSVC's objective and against the conditions of its optimum."""

import numpy as np
import pytest
import scipy.sparse as sp

from rff_engine import _newton, _products
from rff_engine.linear import gram_matrix, linear_svm_batch, linear_svm_decision, linear_svm_path

C_GRID = np.logspace(-5, 4, 10)


def objective(Z, signs, w, b, C):
    """The formula of LinearSVC's documentation, with the intercept as one more weight."""
    hinge = (np.maximum(0.0, 1 - signs * (Z @ w + b)) ** 2).sum()
    return 0.5 * (w @ w + b * b) + C * hinge


def gradient(Z, signs, w, b, C):
    pull = 2 * C * signs * np.maximum(0, 1 - signs * (Z @ w + b))
    return np.append(w - Z.T @ pull, b - pull.sum()), np.abs(pull).sum()


def make(case, seed=0):
    rng = np.random.default_rng(seed)
    n, F = {"wide": (40, 120), "tall": (150, 12), "square": (60, 60)}.get(case, (80, 10))
    Z = rng.standard_normal((n, F)) / np.sqrt(F)
    y = np.where(Z[:, 0] + 0.4 * rng.standard_normal(n) / np.sqrt(F) > 0.1, 1, -1)
    if case == "tied":  # every row twice, once with each label: only the intercept's symmetry is left
        Z, y = np.vstack([Z, Z]), np.append(y, -y)
    if case == "separable":
        y = np.where(Z[:, 0] > 0, 1, -1)
    if case == "duplicates":
        Z, y = np.repeat(Z[:20], 5, axis=0), np.repeat(y[:20], 5)
    if case == "constant":
        Z[:, 3:] = 0.0
    return Z, y


CASES = ["wide", "tall", "square", "tied", "separable", "duplicates", "constant"]


@pytest.mark.parametrize("form", ["primal", "gram"])
@pytest.mark.parametrize("case", CASES)
def test_the_gradient_vanishes(case, form):
    Z, y = make(case)
    coef, intercept = linear_svm_path(Z, y, C_GRID, form=form)
    for w, b, C in zip(coef, intercept, C_GRID, strict=True):
        slope, scale = gradient(Z, y, w, b, C)
        assert np.linalg.norm(slope) <= 1e-5 * scale + 1e-12


@pytest.mark.parametrize("case", ["wide", "tall"])
def test_the_order_of_C_does_not_matter(case):
    Z, y = make(case)
    order = np.random.default_rng(3).permutation(len(C_GRID))
    coef, intercept = linear_svm_path(Z, y, C_GRID)
    shuffled = linear_svm_path(Z, y, C_GRID[order])
    np.testing.assert_array_equal(shuffled[0], coef[order])
    np.testing.assert_array_equal(shuffled[1], intercept[order])


@pytest.mark.parametrize("case", ["wide", "tall", "duplicates"])
@pytest.mark.parametrize("form", ["primal", "gram"])
def test_separable_data_and_a_huge_C_give_finite_weights_that_separate(case, form):
    Z, _ = make(case)
    y = np.where(Z[:, 0] > np.median(Z[:, 0]), 1, -1)
    coef, intercept = linear_svm_path(Z, y, [1e4, 1e8, 1e12, 1e16], form=form)
    assert np.isfinite(coef).all() and np.isfinite(intercept).all()
    assert (y * linear_svm_decision(Z, coef, intercept) > 0).all()


@pytest.mark.parametrize("scale", [1e-6, 1e5])
def test_the_gradient_vanishes_at_any_scale_of_the_features(scale):
    Z, y = make("tall")
    coef, intercept = linear_svm_path(scale * Z, y, C_GRID)
    for w, b, C in zip(coef, intercept, C_GRID, strict=True):
        slope, pull = gradient(scale * Z, y, w, b, C)
        assert np.linalg.norm(slope) <= 1e-5 * pull * max(1, scale) + 1e-12


@pytest.mark.parametrize("case", ["wide", "tall"])
def test_sparse_and_float32_rows_give_the_same_svm(case):
    Z, y = make(case)
    Z[np.abs(Z) < 0.2] = 0
    Z = Z.astype(np.float32)
    coef, intercept = linear_svm_path(Z.astype(np.float64), y, C_GRID)
    for same, tolerance in ((sp.csr_array(Z), 1e-5), (sp.csr_matrix(Z.astype(np.float64)), 1e-5), (Z, 1e-3)):
        other = linear_svm_path(same, y, C_GRID)
        np.testing.assert_allclose(other[0], coef, rtol=tolerance, atol=0.1 * tolerance)
        np.testing.assert_allclose(other[1], intercept, rtol=tolerance, atol=0.1 * tolerance)
        np.testing.assert_allclose(
            linear_svm_decision(same, coef, intercept), coef @ Z.T + intercept[:, None], rtol=1e-4, atol=1e-4
        )


def large(n=900, F=600, seed=0):
    """Features so large that conjugate gradients and factorisations in both precisions are used."""
    rng = np.random.default_rng(seed)
    angle = rng.standard_normal((n, 5)) @ rng.standard_normal((5, F // 2))
    Z = np.concatenate([np.cos(angle), np.sin(angle)], axis=1) / np.sqrt(F // 2)
    return Z, np.where(angle[:, 0] * angle[:, 1] + 0.5 * rng.standard_normal(n) > 0, 1, -1)


@pytest.mark.more(after=2)
@pytest.mark.slow
@pytest.mark.parametrize("form", ["primal", "gram"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_systems_reach_the_minimum_by_either_solver(form, dtype, monkeypatch):
    Z, y = large()
    if dtype == np.float32:
        for module in (_newton, _products):
            monkeypatch.setattr(module, "LARGE_SYSTEM", 100)  # smaller ones are summed in float64
    used = set()

    def recorded(name):
        original = getattr(_newton, name)
        return lambda *arguments, **named: used.add(name) or original(*arguments, **named)

    for name in ("conjugate_gradients", "cholesky_solver"):
        monkeypatch.setattr(_newton, name, recorded(name))
    coef, intercept = linear_svm_path(Z.astype(dtype), y, C_GRID, form=form)
    assert used == {"conjugate_gradients", "cholesky_solver"}
    Z = Z.astype(dtype).astype(np.float64)
    monkeypatch.undo()
    monkeypatch.setattr(_newton, "_SMALL_SYSTEM", 10**6)  # factorisations alone
    exact = linear_svm_path(Z, y, C_GRID, form="primal")
    for i, C in enumerate(C_GRID):
        found, least = (objective(Z, y, w[i], b[i], C) for w, b in ((coef, intercept), exact))
        assert found <= least * (1 + (1e-5 if dtype == np.float32 else 1e-9))


@pytest.mark.parametrize("through_gram", [False, True])
def test_conjugate_gradients_take_one_step_for_each_distinct_eigenvalue(through_gram):
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((40, 40)))[0]
    K, b = basis * np.repeat([1.0, 7.0, 50.0, 300.0], 10) @ basis.T, rng.standard_normal(40)
    for at_most in (3, 4):
        if through_gram:
            metric = {"metric": lambda v: K @ v}
            x, solved = _newton.conjugate_gradients(lambda v, K_v: 0.1 * v + K_v, b, 1e-6, 0.0, at_most, **metric)
        else:
            x, solved = _newton.conjugate_gradients(lambda v, _: 0.1 * v + K @ v, b, 1e-6, 0.0, at_most)
        assert solved == (at_most == 4)
    np.testing.assert_allclose(0.1 * x + K @ x, b, atol=1e-5)


@pytest.mark.parametrize("form", ["primal", "gram"])
def test_conjugate_gradients_suffice_without_memory_for_a_factorisation(form, monkeypatch):
    Z, y = large()
    expected = linear_svm_path(Z, y, C_GRID[:6])
    monkeypatch.setattr(_newton, "_MOST_BYTES", 1000)
    assert not _newton.gram_pays(*Z.shape, Z.dtype)
    coef, intercept = linear_svm_path(Z, y, C_GRID[:6], form="primal")
    np.testing.assert_allclose(coef, expected[0], atol=1e-5)
    np.testing.assert_allclose(intercept, expected[1], atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gram_matrix_may_be_summed_over_features(dtype):
    Z, y = (a.astype(dtype) for a in make("wide"))
    grown = gram_matrix(Z[:, :50])
    address = grown.ctypes.data
    grown = gram_matrix(Z[:, 50:], grown)
    assert grown.ctypes.data == address
    np.testing.assert_allclose(np.tril(grown), np.tril(Z @ Z.T), rtol=1e-5, atol=1e-6)
    kept = grown.copy()
    given = linear_svm_path(Z, y, C_GRID, form="gram", gram=grown)
    np.testing.assert_array_equal(grown, kept)
    tolerance = 1e-3 if dtype == np.float32 else 1e-7
    for ours, theirs in zip(given, linear_svm_path(Z, y, C_GRID, form="gram"), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
    sparse = gram_matrix(sp.csr_array(Z))
    np.testing.assert_allclose(np.tril(sparse), np.tril(grown), rtol=1e-5, atol=1e-6)


def test_the_larger_label_is_positive():
    Z, y = make("tall")
    coef, intercept = linear_svm_path(Z, y, [1.0])
    for labels in (np.where(y > 0, 9, 4), np.where(y > 0, "nonad", "ad"), y > 0):
        same = linear_svm_path(Z, labels, [1.0])
        np.testing.assert_array_equal(same[0], coef)
        np.testing.assert_array_equal(same[1], intercept)


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("case", CASES)
def test_batch_equals_its_svms_one_by_one(case, C):
    Z, y = make(case)
    # Problems that need different numbers of steps and rows, one of them with fewer features than the others.
    parts = [Z, 0.1 * Z[:, ::-1], np.where(np.arange(Z.shape[1]) < 3, Z, 0.0)]
    coef, intercept = linear_svm_batch(np.stack(parts), y, C)
    for w, b, part in zip(coef, intercept, parts, strict=True):
        alone = linear_svm_path(part, y, [C])
        np.testing.assert_allclose(w, alone[0][0], rtol=1e-4, atol=1e-5)
        assert b == pytest.approx(alone[1][0], rel=1e-4, abs=1e-5)
        slope, scale = gradient(part, y, w, b, C)
        assert np.linalg.norm(slope) <= 1e-5 * scale + 1e-12


def test_in_a_batch_a_huge_C_gives_finite_weights_that_separate():
    Z, _ = make("tall")
    y = np.where(Z[:, 0] > np.median(Z[:, 0]), 1, -1)
    for C in (1e8, 1e16):
        coef, intercept = linear_svm_batch(np.stack([Z, 2 * Z]), y, C)
        assert np.isfinite(coef).all() and np.isfinite(intercept).all()
        assert (y * linear_svm_decision(Z, coef[:1], intercept[:1]) > 0).all()


def test_without_active_rows_the_direction_is_minus_the_point():
    """A wrong Gram matrix can lead to this where float32 is too imprecise."""
    Z, y, point = np.ones((3, 5), dtype=np.float32), np.array([-1.0, 1.0, -1.0]), np.array([0.5, -2.0, 1.0])
    form = _newton.GramForm(Z, Z @ Z.T)
    form.prepare(point, y, C=1e9)
    assert form._careful
    direction = form.direction(point, 10 * y, point, np.zeros(3, dtype=bool), y, 1e9, 1.0)
    np.testing.assert_array_equal(direction, -point)


def test_a_shift_too_large_for_float32_is_solved_in_float64():
    """An entry near the largest of float32 makes this matrix indefinite until the shift exceeds that number."""
    A = np.eye(3, dtype=np.float32)
    A[2, 0] = -3.4e38
    x = _products.cholesky_solver(A, 1e-3)(np.ones(3))
    assert np.isfinite(x).all() and (x > 0).all() and x.max() < 1e-37
