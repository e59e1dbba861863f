"""Bounds along beta: the engine's functions composed by hand, true risks by brute force, minima and prices."""

import inspect
from dataclasses import replace

import numpy as np
import pytest

import datasets
import rff_engine as rff
from rff_engine.studies.toy import bounds as bc
from tests import naive

BETAS = np.logspace(-3, 3, 61)


def risks_of(n=60, D=30, sigma=0.5, seed=0, fresh=2000, dtype=np.float64):
    sample = datasets.make_toy("moons", n, 0.1, seed)
    other = datasets.make_toy("moons", fresh, 0.1, seed + 1000)
    kernel = rff.GaussianKernel(sigma)
    return bc.candidate_risks(sample.X, sample.y, other.X.astype(dtype), other.y, kernel, D, seed)


@pytest.fixture(scope="session")
def risks():
    return risks_of()


@pytest.mark.parametrize("form", ["paper", "corrected"])
@pytest.mark.parametrize("i", [0, 17, 30, 60])
def test_curves_equal_bounds_computed_separately(risks, form, i):
    beta, n, epsilon, mu = BETAS[i], risks.n, 0.1, 3.0
    curves = bc.bound_curves(risks, BETAS, epsilon, mu, form)
    shared = {"n": n, "t": beta * np.sqrt(n), "epsilon": epsilon, "mu": mu, "form": form}
    hand = {}
    for of_landmark, losses, true in (
        (True, risks.landmark_loss, risks.landmark_risk),
        (False, risks.kernel_loss, risks.kernel_risk),
    ):
        Q = rff.pseudo_posterior(losses, beta, n)
        given = shared | {"loss": Q @ losses, "kl": rff.kl_divergence(Q)}
        given |= {"chi2": rff.power_divergence(Q, 2.0), "divergence": rff.power_divergence(Q, mu)}
        for name, bound in rff.bounds.ALIGNMENT_BOUNDS.items():
            if bound.of_landmark == of_landmark and "variance" not in bound.arguments:
                taken = inspect.signature(getattr(rff.bounds, name)).parameters
                hand[name] = getattr(rff.bounds, name)(**{key: given[key] for key in taken if key != "n_landmarks"})
        posterior = curves.landmark if of_landmark else curves.kernel
        assert posterior.risk[i] == pytest.approx(Q @ true, rel=1e-12)

    assert list(hand) == list(curves.bounds) == [*rff.bounds.LANDMARK_BOUNDS, *bc.KERNEL_BOUNDS]
    for name, value in hand.items():
        assert curves.bounds[name].values[i] == pytest.approx(value, rel=1e-12), name
        assert curves.bounds[name].at(1.01 * beta) == curves.bounds[name].values[i]


@pytest.mark.parametrize("form", ["paper", "corrected"])
def test_bounds_for_many_landmarks_share_epsilon(risks, form):
    """A union over n_L landmarks is the bound for one at epsilon / n_L; bounds on the whole kernel do not change."""
    together = bc.bound_curves(risks, BETAS, 0.1, form=form, n_landmarks=20)
    one, alone = (bc.bound_curves(risks, BETAS, epsilon, form=form) for epsilon in (0.1 / 20, 0.1))
    for name, curve in together.bounds.items():
        of_landmark = name in rff.bounds.LANDMARK_BOUNDS
        assert curve.n_landmarks == (20 if of_landmark else 1)
        expected = (one if of_landmark else alone).bounds[name].values
        np.testing.assert_allclose(curve.values, expected, rtol=1e-9)


def test_union_over_landmarks_costs_the_logarithm_of_their_number(risks):
    counts = [1, 2, 20, 60]
    union = bc.landmark_union(risks, 2.0, counts, 0.1)
    curves = bc.bound_curves(risks, np.array([2.0]), 0.1)
    t = 2 * np.sqrt(60)
    np.testing.assert_allclose(union.together, curves.bounds["landmark_kl"].values[0] + np.log(counts) / t, rtol=1e-12)
    assert union.alone == union.together[0] and union.risk == curves.landmark.risk[0]
    assert union.inverse[0] == curves.bounds["landmark_kl_inverse"].values[0] and (np.diff(union.inverse) > 0).all()
    assert (union.failures_together <= 0.1).all() and union.failures_alone[-1] > 0.1
    with pytest.raises(ValueError, match="n_landmarks is 61"):
        bc.landmark_union(risks, 2.0, [61], 0.1)


def test_the_parts_are_the_loss_and_nonnegative_others(risks):
    curves = bc.bound_curves(risks, BETAS, 0.05)
    for name, curve in curves.bounds.items():
        assert len(curve.terms) == (4 if name in rff.bounds.KL_BOUNDS else 2)
        np.testing.assert_array_equal(curve.terms["loss"], curves.posterior(name).loss)
        assert min(part.min() for part in curve.terms.values()) >= 0


@pytest.mark.slow
def test_empirical_and_true_losses_are_those_of_all_pairs():
    n, fresh, D = 40, 300, 5
    sample, other = datasets.make_toy("xor", n, 0.1, 3), datasets.make_toy("xor", fresh, 0.1, 4)
    kernel = rff.GaussianKernel(0.7)
    risks = bc.candidate_risks(sample.X, sample.y, other.X, other.y, kernel, D, 9)
    # The engine is asked for the frequencies again in the way its docstring says: a smaller D is a prefix.
    one = bc.candidate_risks(sample.X, sample.y, other.X, other.y, kernel, 1, 9)
    assert one.kernel_loss[0] == pytest.approx(risks.kernel_loss[0]) and one.landmark == risks.landmark

    omega = _frequencies(kernel, D, 9)
    l = risks.landmark
    for X, y, own, pairs in (
        (sample.X, sample.y, risks.landmark_loss, risks.kernel_loss),
        (other.X, other.y, risks.landmark_risk, risks.kernel_risk),
    ):
        np.testing.assert_allclose(pairs, naive.alignment_loss(X, y, omega), atol=1e-12)
        others = np.arange(n) != l if X is sample.X else slice(None)
        delta = (X[others] - sample.X[l]) @ omega.T
        agree = np.where(y[others] == sample.y[l], 1, -1)[:, None]
        np.testing.assert_allclose(own, ((1 - agree * np.cos(delta)) / 2).mean(axis=0), atol=1e-12)


def _frequencies(kernel, D, seed):
    rng = np.random.default_rng(seed)
    _, drawing = (int(rng.integers(2**31)) for _ in range(2))
    return kernel.sample_frequencies(D, 2, drawing)


def test_float32_fresh_points_give_the_same_risks():
    a, b = risks_of(dtype=np.float32), risks_of(dtype=np.float64)
    np.testing.assert_allclose(a.kernel_risk, b.kernel_risk, atol=1e-6)
    np.testing.assert_allclose(a.landmark_risk, b.landmark_risk, atol=1e-6)


def test_chosen_beta_costs_a_union_bound(risks):
    paid = bc.bound_curves(risks, BETAS, 0.05, pay_for_beta=True)
    each = bc.bound_curves(risks, BETAS, 0.05 / len(BETAS))
    free = bc.bound_curves(risks, BETAS, 0.05)
    for name, curve in paid.bounds.items():
        expected = each if name in rff.bounds.KL_BOUNDS else free  # the others have no t
        np.testing.assert_allclose(curve.values, expected.bounds[name].values, rtol=1e-14)
        assert curve.best_value == curve.values.min() == curve.at(curve.best_beta)


def test_largest_parts_cover_the_path(risks):
    curve = bc.bound_curves(risks, BETAS, 0.05).bounds["second_order_kl"]
    rulers = curve.largest_parts()
    assert rulers[0][1] == BETAS[0] and rulers[-1][2] == BETAS[-1]
    covered = np.zeros(len(BETAS), dtype=int)
    for name, low, high in rulers:
        within = (low <= BETAS) & (high >= BETAS)
        covered += within
        for part in ("complexity", "deviation", "confidence"):
            assert (curve.terms[name][within] >= curve.terms[part][within]).all()
    assert (covered == 1).all()
    # At small t the terms in 1/t are large, at large t those in t/n.
    assert rulers[0][0] == "confidence" and rulers[-1][0] == "deviation"


@pytest.mark.more(after=2)
@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 1000])
@pytest.mark.parametrize("D", [2, 2000])
@pytest.mark.parametrize("sigma", [0.1, 10.0])
def test_extreme_settings_give_finite_bounds(n, D, sigma):
    risks = risks_of(n=n, D=D, sigma=sigma)
    for epsilon in (0.001, 0.5):
        for mu in (1.1, 2.0, 10.0):
            for form in ("paper", "corrected"):
                for pay in (False, True):
                    curves = bc.bound_curves(risks, BETAS, epsilon, mu, form, pay)
                    for curve in curves.bounds.values():
                        assert np.isfinite(curve.values).all()
                    for posterior in (curves.landmark, curves.kernel):
                        assert all(np.isfinite(values).all() for values in vars(posterior).values())


@pytest.mark.parametrize("betas", [[], [0.0, 1.0], [2.0, 1.0], [[1.0, 2.0]], [np.nan]])
def test_invalid_betas_are_rejected(risks, betas):
    with pytest.raises(ValueError, match="betas must be"):
        bc.bound_curves(risks, betas, 0.05)
    with pytest.raises(ValueError, match="epsilon"):
        bc.bound_curves(risks, BETAS, 1.0)
    with pytest.raises(ValueError, match="form"):
        bc.bound_curves(risks, BETAS, 0.05, form="printed")


def test_a_map_has_a_bound_at_each_number_of_points(risks):
    guarantee = 0.1, 3.0, "paper", True, 2
    maps = {name: bc.bound_map(risks, BETAS, name, *guarantee) for name in ("landmark_kl", "f_divergence")}
    for row, n in ((0, 20), (17, 141), (34, 1000)):
        curves = bc.bound_curves(replace(risks, n=n), BETAS, *guarantee).bounds
        for name, values in maps.items():
            np.testing.assert_allclose(values[row], curves[name].values, rtol=1e-12)
