"""The study of certified classifiers on data sets."""

import pytest

from rff_engine.studies.certificate import certify
from rff_engine.studies.command_line import main


@pytest.mark.second("boosts on 213 rows four times, and minimises a bound")
def test_boosted_rounds_are_certified_on_half_of_the_rows():
    found = certify("breast", "boosting")
    assert found.n_bound == 213
    assert sum(term.risk for term in found.terms) == pytest.approx(found.risk_bound, rel=1e-9)
    assert found.test_error < found.risk_bound < 0.4 and found.test_set_bound < 0.2


@pytest.mark.slow
def test_landmarks_are_at_most_the_rows_that_they_come_from(capsys):
    assert main(["certify", "--dataset", "breast", "--method", "landmarks"]) == 0
    printed = capsys.readouterr().out
    # Of 426 rows half are the prior's, of which four fifths are fitted.
    assert printed.startswith("breast, landmarks: 170 landmarks, as many as the rows allow (default 200)\n")
    assert certify("breast", "landmarks", n_components=170).n_components == 170
    with pytest.raises(ValueError, match=r"^n_components is 171; .* so at most 170 are allowed\.$"):
        certify("breast", "landmarks", n_components=171)
    with pytest.raises(ValueError, match=r"^n_components is 0; a whole number of at least 1 is needed\.$"):
        certify("breast", "landmarks", n_components=0)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rff", "landmarks"])
def test_the_number_of_components_is_chosen(method, capsys):
    assert main(["certify", "--dataset", "breast", "--method", method, "--D", "7"]) == 0
    printed = capsys.readouterr().out
    unit = {"rff": "frequencies", "landmarks": "landmarks"}[method]
    assert printed.startswith(f"breast, {method}: 7 {unit}\n\n")
