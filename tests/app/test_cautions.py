"""What makes a certificate hollow is named with what to do, and honest tables get no warning."""

from __future__ import annotations

import numpy as np
import pytest

from datasets.tables.preparation import prepare
from datasets.tables.readers import read
from datasets.tables.roles import suggest_columns
from pages.data.your_data.cautions import cautions

rng = np.random.default_rng(0)
NOISE = rng.normal(size=(200, 3)).round(3)
COINS = rng.integers(0, 2, 200)


def said(names: str, rows, target: str, columns=None) -> list[str]:
    """The cautions on a table, by default with the suggested columns."""
    table = read("\n".join([names, *rows]))
    columns = suggest_columns(table, target) if columns is None else columns
    return cautions(table, prepare(table, target, columns), target, columns)


def rows_of(cell, n: int = 200) -> list[str]:
    return [f"{NOISE[i, 0]},{NOISE[i, 1]},{cell(i)}" for i in range(n)]


def test_copies_of_rows_are_counted():
    rows = [f"{NOISE[i % 40, 0]},{NOISE[i % 40, 1]},{COINS[i % 40]}" for i in range(200)]
    (caution,) = said("a,b,y", rows, "y")
    assert caution.startswith("160 of 200 rows are copies of others") and caution.endswith("keep one of each.")


@pytest.mark.parametrize(
    ("names", "cell", "named"),
    [
        ("a,b,id,y", lambda i: f"{1000 + 37 * i % 1009},{COINS[i]}", "“id” tells rows apart"),
        ("a,b,Id,y", lambda i: f"{i + 1},{COINS[i]}", "“Id” tells rows apart, as it counts the rows"),
        ("a,b,word,y", lambda i: f"w{i},{COINS[i]}", "“word” tells rows apart"),
    ],
)
def test_an_id_that_is_put_back_is_named(names, cell, named):
    columns = ["a", "b", names.split(",")[2]]
    (caution,) = said(names, rows_of(cell), "y", columns)
    assert named in caution and caution.endswith("leave it out.")
    assert not said(names, rows_of(cell), "y")


@pytest.mark.parametrize(
    "cell",
    [
        lambda i: f"{NOISE[i, 2]},{int(NOISE[i, 2] > 0.3)}",  # a threshold
        lambda i: f"{NOISE[i, 2]},{int(NOISE[i, 2] > -0.5) + int(NOISE[i, 2] > 0.5)}",
        lambda i: f"{'abcd'[2 * COINS[i] + i % 2]},{COINS[i]}",  # finer classes
        lambda i: f"{'abcd'[2 * COINS[i] + i % 2] if i != 7 else 'a'},{COINS[i]}",  # but for one row
        lambda i: f"{np.exp(NOISE[i, 2])},{NOISE[i, 2]}",  # the logarithm
        lambda i: f"{-2 * NOISE[i, 2]:.4f},{NOISE[i, 2]}",
    ],
)
def test_a_column_that_gives_the_target_away_is_named(cell):
    (caution,) = said("a,b,told,y", rows_of(cell), "y")
    assert caution.startswith("“told” alone tells the target")


@pytest.mark.parametrize(
    "cell",
    [
        lambda i: f"{NOISE[i, 2]},{COINS[i]}",
        lambda i: f"{NOISE[i, 2] + 3 * COINS[i]:.3f},{COINS[i]}",  # a good input
        lambda i: f"{'abcd'[i % 4]},{COINS[i]}",
        lambda i: f"{NOISE[i, 2]},{NOISE[i, 2] + 0.3 * NOISE[i, 0]:.4f}",
        lambda i: f"{'ab'[i % 2]},{int(i % 20 == 7)}",  # one class is rare
    ],
)
def test_honest_columns_get_no_warning(cell):
    assert said("a,b,x,y", rows_of(cell), "y") == []


@pytest.mark.parametrize(
    ("label", "blocks"),
    [
        (lambda i: i // 100, 2),
        (lambda i: i // 70, 3),
        (lambda i: i // 20 % 2, 10),
        (lambda i: int(i > 150), 2),
        (lambda i: COINS[i], None),
        (lambda i: i % 2, None),
        (lambda i: int(i > 198), None),  # one row is no block
        (lambda i: f"{i / 7:.3f}", None),  # a number
    ],
)
def test_classes_that_come_in_blocks_are_named(label, blocks):
    found = said("a,b,y", rows_of(label), "y")
    assert found == [] if blocks is None else found[0].startswith(f"The classes come in {blocks} blocks of rows")


def test_groups_that_were_chosen_need_no_caution():
    table = read("\n".join(["a,subject,y", *(f"{NOISE[i, 0]},{i // 10},{i // 10 % 2}" for i in range(200))]))
    for groups, n in ((None, 2), ("subject", 0)):
        columns = ["a"] if groups else ["a", "subject"]
        assert len(cautions(table, prepare(table, "y", columns, groups=groups), "y", columns)) == n


def test_rows_of_few_values_are_no_copies():
    assert said("a,b,y", [f"{i % 3},{'xy'[i % 2]},{COINS[i]}" for i in range(200)], "y") == []


@pytest.mark.parametrize(
    ("name", "cell"), [("day", lambda i: f"20{10 + i // 12:02d}-{1 + i % 12:02d}"), ("year", lambda i: 1800 + i)]
)
def test_rows_in_the_order_of_time_are_named(name, cell):
    (caution,) = said(f"a,b,{name},y", rows_of(lambda i: f"{cell(i)},{COINS[i]}"), "y")
    assert caution.startswith(f"The rows are in the order of “{name}”")
    assert said(f"a,b,{name},y", rows_of(lambda i: f"{cell(37 * i % 200)},{COINS[i]}"), "y") == []


def test_a_column_of_groups_is_named():
    (caution,) = said("a,b,subject,y", rows_of(lambda i: f"{i // 5},{COINS[i]}"), "y")
    assert caution.startswith("“subject” may name what several rows are of (40 of them, 200 rows)")
