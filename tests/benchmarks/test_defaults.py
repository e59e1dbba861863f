"""The comparison with nothing set: what it prints is what the documentation shows."""

import re

import pytest

from benchmarks import defaults
from benchmarks.peers import PAGE


@pytest.mark.slow
@pytest.mark.parametrize(("method", "D"), [("RFF", 20), ("PBRFF", 20), ("OKRFF", 50)])
def test_documented_accuracies_are_reached_again(method, D):
    text = PAGE.read_text(encoding="utf-8")
    table = re.search(rf"\| D = {D} \|.*?\n\n", text, re.DOTALL)[0].splitlines()
    column = [cell.strip() for cell in table[0].split("|")].index(method)
    (shown,) = [float(line.split("|")[column]) for line in table if line.startswith("| wine |")]
    (row,) = defaults.rows_of("wine", D, method)
    assert row["accuracy"] == pytest.approx(shown, abs=3.5)  # a fold has 59 rows; rounding may choose otherwise


def test_no_set_judges_the_defaults_that_were_chosen_on_it():
    assert not set(defaults.JUDGED) & set(defaults.CHOSEN_ON)
