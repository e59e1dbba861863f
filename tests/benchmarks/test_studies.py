"""Studies: rows are computed once, those that ship come out again, and the docs have their tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.studies import certificates, chosen_beta, excess_losses, frame, learners, seven_sets

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.more(after=2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "page"),
    [
        (certificates, "certificates"),
        (chosen_beta, "certificates"),
        (excess_losses, "certificates"),
        (learners, "learners"),
        (seven_sets, "certificates"),
    ],
)
def test_the_docs_have_the_tables_of_the_shipped_rows(study, page):
    rows = pd.read_csv(study.SHIPPED)
    assert not rows.duplicated(study.KEYS).any()
    text = " ".join((DOCS / f"{page}.md").read_text(encoding="utf-8").split())
    for part in study.tables(rows).split("\n\n"):
        assert " ".join(part.split()) in text


def test_a_study_goes_on_where_it_stopped(tmp_path, capsys):
    computed = []

    def rows_of(name, beta):
        computed.append((name, beta))
        return [{"value": 1}, {"value": 2}]

    settings = [{"name": "a", "beta": None}, {"name": "a", "beta": 1e-9}, {"name": "b", "beta": 1 / 3}]
    file = tmp_path / "rows.csv"
    frame.rows(file, settings[:2], rows_of)
    assert capsys.readouterr().out.splitlines()[-1] == "a 1e-09 2"
    found = frame.rows(file, [*settings, {"name": "a", "beta": 2e-9}], rows_of)
    assert computed == [("a", None), ("a", 1e-9), ("b", 1 / 3), ("a", 2e-9)]
    assert list(found["value"]) == [1, 2] * 4
    assert frame.rows(None, settings[:1], rows_of)["value"].to_list() == [1, 2]
    assert len(frame.rows(None, settings, rows_of, shipped=file)) == 8 and len(computed) == 5


@pytest.mark.more(after=2)
@pytest.mark.slow("boosts, and fits linear SVMs, on a split of breast")
@pytest.mark.parametrize(
    ("study", "settings"),
    [
        (certificates, [{"dataset": "breast", "split": 0, "method": "rff", "D": 5}]),
        (excess_losses, [{"dataset": "breast", "split": 0, "fraction": one} for one in excess_losses.FRACTIONS]),
        (learners, list(learners.settings(["breast"], 1))),
        (seven_sets, [{"dataset": "breast", "split": 0, "D": D} for D in seven_sets.COUNTS]),
    ],
)
def test_shipped_rows_of_breast_come_out_again(study, settings, tmp_path):
    """Descents and eigenvalues near 0 end elsewhere on another processor: of 143 test points a few may change sides."""
    file = tmp_path / "rows.csv"
    again = frame.rows(file, settings, study.rows_of)
    both = pd.read_csv(study.SHIPPED).merge(again, on=study.KEYS, suffixes=("", "_again"))
    assert len(both) == len(again) >= len(settings)
    if "test_error" in both:
        np.testing.assert_allclose(both["test_error_again"], both["test_error"], atol=0.06)
        assert (both["test_error_again"] - both["test_error"]).abs().mean() < 0.02
    for bound in {"risk_bound", "blocks", *seven_sets.TESTS, "vote", *excess_losses.LEVELS} & set(both):
        np.testing.assert_allclose(both[f"{bound}_again"], both[bound], atol=0.02)
    written = file.read_text(encoding="utf-8")
    frame.rows(file, settings, lambda **_: pytest.fail("a known row is computed again"))
    assert file.read_text(encoding="utf-8") == written
