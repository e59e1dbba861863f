"""How the strength of a posterior is chosen: the error on held-out rows."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from rff_engine import _strength, fourier_features


@pytest.mark.parametrize("n_components", [3, 40])
def test_the_held_out_error_is_that_of_the_best_ridge_regression(n_components):
    rng = np.random.default_rng(0)
    omega, sizes = rng.standard_normal((n_components, 2)), (60, 25)
    parts = [(rng.standard_normal((n, 2)), rng.standard_normal((n, 3)), rng.uniform(0.5, 2, n)) for n in sizes]
    (X, targets, weights), (held, answers, counts) = parts
    errors = []
    for ridge in _strength._RIDGES:
        model = Ridge(ridge * weights.sum()).fit(fourier_features(X, omega), targets, sample_weight=weights)
        errors.append(counts @ ((model.predict(fourier_features(held, omega)) - answers) ** 2).sum(axis=1))
    assert _strength._held_out_error(omega, *parts) == pytest.approx(min(errors), rel=1e-6)
