"""Learned weights against the problems they solve: a convex solver, and the conditions of the optimum."""

import numpy as np
import pytest
from scipy.optimize import minimize

from rff_engine import kl_divergence, optimized_kernel_weights, power_divergence, pseudo_posterior
from tests import naive


def free_energy(Q, loss, t):
    return Q @ loss + naive.kl_divergence(Q) / t


# --- pseudo-posterior ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("t", [0.1, 1.0, 10.0, 60.0])
@pytest.mark.parametrize("D", [1, 2, 7])
def test_pseudo_posterior_minimises_loss_plus_kl_over_t(D, t):
    loss = np.random.default_rng(D).random(D)
    n = 25
    Q = pseudo_posterior(loss, t / np.sqrt(n), n)
    found = minimize(
        lambda q: free_energy(np.abs(q) / np.abs(q).sum(), loss, t),
        np.full(D, 1 / D),
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 20000, "maxfev": 20000, "adaptive": True},
    )
    assert free_energy(Q, loss, t) == pytest.approx(found.fun, abs=1e-6)
    # Stationarity on the simplex: loss + (ln(D Q) + 1) / t is the same for all.
    np.testing.assert_allclose(loss + np.log(D * Q) / t, (loss + np.log(D * Q) / t)[0], rtol=0, atol=1e-10)
    assert Q.sum() == pytest.approx(1, abs=1e-12) and (Q > 0).all()


def test_beta_zero_gives_the_prior():
    np.testing.assert_array_equal(pseudo_posterior([[0.1, 0.9, 0.4, 0.2]], 0, 100), np.full((1, 4), 0.25))


@pytest.mark.parametrize("beta", [1e3, 1e100, 1e308])
def test_huge_beta_is_uniform_on_the_smallest_losses(beta):
    loss = [[0.1, 0.3, 0.1, 0.2], [0.5, 0.5, 0.5, 0.5], [1.0, 0.0, 1.0, 1.0]]
    expected = [[0.5, 0, 0.5, 0], [0.25, 0.25, 0.25, 0.25], [0, 1, 0, 0]]
    np.testing.assert_allclose(pseudo_posterior(loss, beta, 10**6), expected, rtol=1e-12, atol=1e-300)


def test_rows_are_independent_and_invariant_to_shifts():
    loss = np.random.default_rng(1).random((4, 9))
    Q = pseudo_posterior(loss, 2.0, 50)
    for row, alone in zip(Q, loss, strict=True):
        np.testing.assert_allclose(pseudo_posterior(alone, 2.0, 50), row, rtol=1e-13)
    np.testing.assert_allclose(pseudo_posterior(loss + 5, 2.0, 50), Q, rtol=1e-12)
    np.testing.assert_allclose(pseudo_posterior(loss, 2.0 * np.sqrt(50), 1), Q, rtol=1e-12)


# --- divergences --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("D", [1, 2, 5, 300])
def test_divergences_equal_their_sums(D):
    rng = np.random.default_rng(D)
    Q = rng.dirichlet(np.full(D, 0.2), size=3)
    np.testing.assert_allclose(kl_divergence(Q), [naive.kl_divergence(q) for q in Q], rtol=0, atol=1e-12)
    for mu in (1.01, 1.5, 2, 3.5):
        np.testing.assert_allclose(
            power_divergence(Q, mu), [naive.power_divergence(q, mu) for q in Q], rtol=1e-12, atol=1e-12
        )
    chi_square = D * ((Q - 1 / D) ** 2).sum(axis=1)
    np.testing.assert_allclose(power_divergence(Q, 2), chi_square, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("D", [2, 7, 1000])
def test_divergences_of_uniform_and_one_point_weights(D):
    uniform, point = np.full(D, 1 / D), np.eye(D)[0]
    assert kl_divergence(uniform) == pytest.approx(0, abs=1e-12)
    assert kl_divergence(point) == pytest.approx(np.log(D), rel=1e-12)
    for mu in (1.5, 2, 3):
        assert power_divergence(uniform, mu) == pytest.approx(0, abs=1e-12)
        assert power_divergence(point, mu) == pytest.approx(D ** (mu - 1) - 1, rel=1e-12)
    assert np.isscalar(kl_divergence(point)) and np.shape(kl_divergence([point, uniform])) == (2,)


# --- optimized kernel ---------------------------------------------------------------------------------------------


def make_losses(kind, N):
    rng = np.random.default_rng(N)
    loss = rng.random(N)
    tied = max(1, N // 4)
    if kind == "tied":
        loss[:tied] = loss.min()
    elif kind == "near ties":
        loss[:tied] = loss.min() + 1e-12 * np.arange(tied)
    elif kind == "two levels":
        loss = np.where(np.arange(N) % 3 == 0, 0.25, 0.75)
    elif kind == "narrow":  # as alignment losses are: all close to one half
        loss = 0.5 + 1e-4 * rng.standard_normal(N)
    return rng.permutation(loss)


KINDS = ["random", "tied", "near ties", "two levels", "narrow"]


def assert_feasible(Q, N, rho, mu):
    assert Q.shape == (N,) and np.isfinite(Q).all() and (Q >= 0).all()
    assert Q.sum() == pytest.approx(1, abs=1e-12)
    assert naive.power_divergence(Q, mu) <= rho + 1e-9 * max(1, rho)


def assert_optimal(Q, loss, rho, mu):
    """The conditions of the optimum: Q^(mu-1) is affine in the loss where Q > 0, negative beyond, and D_mu = rho."""
    N = len(loss)
    support = Q > 0
    if np.ptp(loss[support]) == 0 and loss[support].max() == loss.min():  # only the smallest losses: optimal
        return
    power = (Q[support] / Q.max()) ** (mu - 1)
    low, high = loss[support].min(), loss[support].max()
    slope = (power.max() - power.min()) / (high - low)
    affine = 1 - slope * (loss[support] - low)
    np.testing.assert_allclose(power, affine, rtol=0, atol=1e-7)
    assert (1 - slope * (loss[~support] - low) <= 1e-7).all()
    assert np.log1p(naive.power_divergence(Q, mu)) == pytest.approx(np.log1p(rho), abs=1e-8)
    assert N > 1


@pytest.mark.more(after=6)
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # for tolerances tighter than 1e-8
@pytest.mark.parametrize("mu", [1.5, 2, 3])
@pytest.mark.parametrize("N", [1, 2, 50, 300])
def test_weights_reach_the_objective_of_a_convex_solver(N, mu):
    cp = pytest.importorskip("cvxpy", reason="cvxpy is not installed; the newest Python may have no wheel")
    variable, cost, radius = cp.Variable(N, nonneg=True), cp.Parameter(N), cp.Parameter(nonneg=True)
    # mean (N Q)^mu <= 1 + rho, as a norm: of better scale for the solver
    within = cp.norm(variable, 2) if mu == 2 else cp.pnorm(variable, mu)
    problem = cp.Problem(cp.Minimize(cost @ variable), [cp.sum(variable) == 1, within <= radius])
    for kind in KINDS:
        loss = make_losses(kind, N)
        scale = max(np.ptp(loss), 1e-3)
        for rho in N * np.array([1e-4, 1e-2, 0.1, 0.5, 1.0]):
            Q = optimized_kernel_weights(loss, rho / N, mu)
            assert_feasible(Q, N, rho, mu)
            cost.value, radius.value = (loss - loss.min()) / scale, ((1 + rho) * N ** (1 - mu)) ** (1 / mu)
            problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
            assert Q @ cost.value == pytest.approx(problem.value, abs=1e-6), (kind, rho)


@pytest.mark.slow
@pytest.mark.parametrize("mu", [1.05, 1.5, 2, 3, 20])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("N", [2, 3, 50, 300])
def test_weights_satisfy_the_conditions_of_the_optimum(N, kind, mu):
    loss = make_losses(kind, N)
    slack = (N / (loss == loss.min()).sum()) ** (mu - 1) - 1
    for share in (1e-4, 0.01, 0.3, 0.9, 0.999, 1 - 1e-9):
        rho = np.expm1(share * np.log1p(slack))
        Q = optimized_kernel_weights(loss, rho / N, mu)
        assert (Q >= 0).all() and Q.sum() == pytest.approx(1, abs=1e-12)
        assert np.log1p(naive.power_divergence(Q, mu)) <= np.log1p(rho) + 1e-10
        if kind != "near ties":  # their affine law is below the rounding of Q
            assert_optimal(Q, loss, rho, mu)


@pytest.mark.parametrize("mu", [1.5, 2, 3])
@pytest.mark.parametrize(("N", "tied"), [(1, 1), (3, 1), (7, 3), (50, 7), (1000, 3)])
def test_slack_constraint_gives_the_uniform_on_the_smallest_losses(N, tied, mu):
    loss = np.append(np.zeros(tied), np.random.default_rng(N).uniform(0.1, 1, N - tied))
    uniform = (loss == 0) / tied
    threshold = (N / tied) ** (mu - 1) - 1
    for rho in (threshold, 1.5 * threshold, 1e6 * (1 + threshold)):
        np.testing.assert_allclose(optimized_kernel_weights(loss, rho / N, mu), uniform, rtol=0, atol=1e-12)
    rho = threshold
    for _ in range(6):  # just below: rounding must not violate the constraint
        rho = max(np.nextafter(rho, 0), 0.0)
        Q = optimized_kernel_weights(loss, rho / N, mu)
        assert_feasible(Q, N, rho, mu)
        np.testing.assert_allclose(Q, uniform, rtol=0, atol=1e-3)


@pytest.mark.parametrize("mu", [1.5, 2, 3])
@pytest.mark.parametrize("N", [1, 2, 50])
def test_zero_radius_or_equal_losses_give_the_prior(N, mu):
    prior = np.full(N, 1 / N)
    np.testing.assert_allclose(optimized_kernel_weights(make_losses("random", N), 0, mu), prior, rtol=1e-13)
    for rho in (0, 1e-199, 0.3, 1):
        np.testing.assert_allclose(optimized_kernel_weights(np.full(N, 0.4), rho, mu), prior, rtol=1e-13)


@pytest.mark.parametrize("mu", [1.2, 1.5, 2, 3, 10])
@pytest.mark.parametrize("gap", [1e-10, 1e-18, 1e-100, 1e-170, 5e-324])
def test_weights_are_feasible_at_any_gap(mu, gap):
    loss = np.array([gap, 0.0, 1.0, 0.5])
    for bound in (2.0 ** (mu - 1) - 1, 4.0 ** (mu - 1) - 1):  # where two weights and where one weight are left
        for rho in (0.5 * bound, 0.999 * bound):
            Q = optimized_kernel_weights(loss, rho / 4, mu)
            assert_feasible(Q, 4, rho, mu)
            if rho > 2 ** (mu - 1) - 1:
                assert Q @ loss <= gap
            elif gap < 1e-15:
                assert Q[0] == pytest.approx(Q[1], abs=1e-6) and Q[1] > Q[3]


@pytest.mark.parametrize("mu", [1.5, 2, 3])
def test_weights_of_20000_candidates_are_feasible_and_a_larger_radius_allows_a_smaller_loss(mu):
    N = 20000
    loss = make_losses("narrow", N)
    values = []
    for rho in N * np.logspace(-4, 0, 5):
        Q = optimized_kernel_weights(loss, rho / N, mu)
        assert_feasible(Q, N, rho, mu)
        if mu == 2 and rho < N:
            assert N * (Q**2).sum() - 1 == pytest.approx(rho, rel=1e-9)
        values.append(Q @ loss)
    assert np.all(np.diff(values) <= 0) and values[0] > values[-1]  # a larger radius allows a smaller loss
    assert values[0] < loss.mean() and values[-1] >= loss.min()
