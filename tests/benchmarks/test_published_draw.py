"""The published code's draw of frequencies gives the printed curves."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import published_draw
from rff_engine.experiments.reports import letarte, reproduction

DRAWS = reproduction.SHIPPED.parent / "published_draw.csv"


def test_a_draw_does_not_depend_on_which_other_sizes_are_fitted():
    """Sizes that are left out take as many numbers from the generator as those that are fitted."""
    setting = {"beta": None, "rho": 1e-3}
    both = dict(published_draw.errors("breast", "okrff", setting, {1, 3}))
    alone = dict(published_draw.errors("breast", "okrff", setting, {3}))
    pd.testing.assert_frame_equal(both[3], alone[3])
    assert not both[1].equals(both[3])


def test_candidates_follow_the_spectral_density_of_the_kernel():
    omega, _ = published_draw.candidates("breast")
    assert omega.shape == (20000, 30)
    np.testing.assert_allclose(omega.std(axis=0), np.sqrt(2 * published_draw.chosen_gamma("breast")), rtol=0.03)


@pytest.mark.slow("draws 20000 frequencies of 784 columns and fits ten linear SVMs to 9101 rows")
def test_first_frequency_of_mnist17_gives_the_error_of_the_figure():
    ((_, found),) = published_draw.errors("mnist17", "rff", {"beta": None, "rho": None}, {1})
    error = found.loc[found["stopped_valid"].idxmin(), "stopped_test"]
    assert error == pytest.approx(printed().loc[("mnist17", "rff", 1)], abs=0.002)


def test_shipped_draws_give_the_figure_to_the_error_of_reading():
    """Of adult those of few features: with more the solver stops early, and the order of the points decides where."""
    rows = pd.read_csv(DRAWS)
    rows = rows[(rows["dataset"] == "mnist17") | (rows["D"] <= 2)].sort_values("stopped_valid", kind="stable")
    errors = rows.groupby(["dataset", "method", "D"])["stopped_test"].first()
    assert len(errors) >= 20
    np.testing.assert_allclose(errors, printed().reindex(errors.index), atol=0.002)


def printed() -> pd.Series:
    return letarte.figure("figure5", []).set_index(["dataset", "method", "D"])["paper"]
