"""docs/errata.md: its examples run, and its formulas are typeset."""

import doctest
import re
from pathlib import Path

import pytest

ERRATA = Path(__file__).parents[2] / "docs" / "errata.md"


@pytest.mark.slow
def test_examples_of_the_errata_run():
    found = doctest.testfile(str(ERRATA), module_relative=False)
    assert found.attempted > 15 and found.failed == 0


def test_formulas_of_the_errata_are_typeset():
    text = ERRATA.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```|^ {4}.*?$|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)
    assert prose.count("$") % 2 == 0 and prose.count("$") > 100
    words = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", "", prose, flags=re.DOTALL)
    assert re.findall(r"[α-ωΑ-Ω√≤≥⟨⟩‖⌊⌋⁻¹²×·−^]|\w_\w", words) == []
