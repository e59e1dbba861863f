"""The rows of the benchmark are the same however they are cut and wherever they are generated."""

import numpy as np
import pytest

import rff_engine as rff
from benchmarks import many_rows


def test_losses_of_one_process_and_of_two_are_those_of_all_rows_at_once(monkeypatch):
    made = list(many_rows.blocks(500, 3, 200))
    X, y = (np.concatenate(parts) for parts in zip(*(make() for make in made), strict=True))
    assert X.shape == (500, 3) and X.dtype == np.float32 and 0.4 < y.mean() < 0.6
    monkeypatch.setattr(
        many_rows, "blocks", lambda n, columns, size=200, whole=many_rows.blocks: whole(n, columns, size)
    )
    expected = rff.alignment_loss(X, y, many_rows.frequencies(20, 3))
    one = many_rows.measure(1, 500, 3, 20)
    np.testing.assert_allclose(one.loss, expected, rtol=0, atol=1e-6)
    assert one.work == 10_000 and one.rate == pytest.approx(10_000 / one.seconds)


@pytest.mark.second("starts a Dask cluster of two processes")
def test_two_processes_find_the_same_losses():
    np.testing.assert_allclose(many_rows.measure(2, 500, 3, 20).loss, many_rows.measure(1, 500, 3, 20).loss, atol=1e-12)


def test_a_projection_is_bounded_by_the_additions():
    n_blocks = 10**8 / many_rows.BLOCK
    assert many_rows.projected_seconds(1e8, 4, 1e-3, 10**8, 1000) == pytest.approx(250)
    assert many_rows.projected_seconds(1e8, 10**6, 1e-3, 10**8, 1000) == pytest.approx(n_blocks * 1e-3, rel=1e-3)


def test_the_table_has_a_line_for_each_number_of_processes():
    measured = [many_rows.Measured(p, 1e9, 10 / p, np.zeros(1)) for p in (1, 2)]
    lines = many_rows.table(measured, 1e-6, 1e-5, 1000).splitlines()
    assert lines[2] == "| 1, measured | 1.0·10⁸ | 1.1·10⁸ | 17 min |"
    assert lines[3] == "| 2, measured | 2.0·10⁸ | 2.2·10⁸ | 8 min |"
    assert lines[-1] == "| 64, on paper | 6.4·10⁹ | – | 16 s |"
