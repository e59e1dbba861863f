"""What docs/errata.md claims: its lines are run as they stand."""

import doctest
from pathlib import Path

import pytest

ERRATA = Path(__file__).parents[2] / "docs" / "errata.md"


@pytest.mark.slow
def test_the_errata_show_what_they_say():
    found = doctest.testfile(str(ERRATA), module_relative=False)
    assert found.attempted > 15 and found.failed == 0
