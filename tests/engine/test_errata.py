"""What docs/errata.md claims: its lines are run as they stand, and its formulas are typeset."""

import doctest
import re
from pathlib import Path

import pytest

ERRATA = Path(__file__).parents[2] / "docs" / "errata.md"


@pytest.mark.slow
def test_the_errata_show_what_they_say():
    found = doctest.testfile(str(ERRATA), module_relative=False)
    assert found.attempted > 15 and found.failed == 0


def test_formulas_stand_between_dollars():
    text = ERRATA.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```|^ {4}.*?$|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)
    assert prose.count("$") % 2 == 0 and prose.count("$") > 100
    words = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", "", prose, flags=re.DOTALL)
    assert re.findall(r"[α-ωΑ-Ω√≤≥⟨⟩‖⌊⌋⁻¹²×·−^]|\w_\w", words) == []
