"""The study of certified classifiers on data sets."""

import pytest

from rff_engine.experiments.studies.certificate import certify


@pytest.mark.slow("boosts on 213 rows four times, and minimises a bound")
def test_boosted_rounds_are_certified_on_half_of_the_rows():
    found = certify("breast", "boosting")
    assert found.n_bound == 213
    assert sum(term.risk for term in found.terms) == pytest.approx(found.risk_bound, rel=1e-9)
    assert found.test_error < found.risk_bound < 0.4 and found.test_set_bound < 0.2


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match=r"^method is 'svm'; it must be one of 'rff', .*'boosting'\.$"):
        certify("breast", "svm")
