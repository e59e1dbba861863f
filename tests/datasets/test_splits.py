"""Splits: exact sizes, every row once, and the published split against the published code."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse
from sklearn.model_selection import train_test_split

import datasets
from datasets import Dataset, Split, make_toy, random_split, two_part_split
from datasets.tables.preparation import halves, one_of_each_group

# Table 2 of the paper: training, validation and test rows, columns.
PUBLISHED = {
    "ads": (1967, 492, 820, 1554),
    "adult": (26048, 6513, 16281, 108),
    "breast": (340, 86, 143, 30),
    "farm": (2485, 622, 1036, 54877),
    "mnist17": (9101, 2276, 3793, 784),
    "mnist49": (8268, 2068, 3446, 784),
    "mnist56": (7912, 1979, 3298, 784),
}
PARTS = ("train", "valid", "test")


def part(split: Split, which: str):
    return getattr(split, f"X_{which}"), getattr(split, f"y_{which}"), getattr(split, f"rows_{which}")


def equal(left, right) -> bool:
    if scipy.sparse.issparse(left):
        return left.shape == right.shape and (left != right).nnz == 0
    return np.array_equal(left, right)


def assert_partition(split: Split, dataset: Dataset) -> None:
    rows = np.concatenate([split.rows_train, split.rows_valid, split.rows_test])
    np.testing.assert_array_equal(np.sort(rows), np.arange(dataset.n_samples))
    for which in PARTS:
        X, y, chosen = part(split, which)
        assert type(X) is type(dataset.X) and X.dtype == dataset.X.dtype and y.dtype == dataset.y.dtype
        assert equal(X, dataset.X[chosen]) and equal(y, dataset.y[chosen])


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_split_matches_the_published_code(name, need_data, load):
    split, dataset = datasets.published_split(need_data(name)), load(name)
    sizes = tuple(part(split, which)[0].shape[0] for which in PARTS)
    assert (*sizes, split.X_train.shape[1]) == PUBLISHED[name]
    assert_partition(split, dataset)

    # The calls of the published code, in its order.
    rng = np.random.RandomState(42)
    if name == "adult":
        X, y, X_test, y_test = dataset.X[:32561], dataset.y[:32561], dataset.X[32561:], dataset.y[32561:]
    else:
        X, X_test, y, y_test = train_test_split(dataset.X, dataset.y, test_size=0.25, random_state=rng)
    X_train, X_valid, y_train, y_valid = train_test_split(X, y, test_size=0.2, random_state=rng)
    for mine, theirs in (
        (split.X_train, X_train),
        (split.y_train, y_train),
        (split.X_valid, X_valid),
        (split.y_valid, y_valid),
        (split.X_test, X_test),
        (split.y_test, y_test),
    ):
        assert equal(mine, theirs)


def test_published_names_are_those_of_paper_a():
    assert set(datasets.published_names()) == set(PUBLISHED)


@pytest.mark.parametrize("name", ["wine", "mnist", "covtype", "moons", "nothing"])
def test_other_sets_have_no_published_split(name):
    with pytest.raises(ValueError, match=rf"'{name}'.*ads, adult, breast, farm, mnist17, mnist49, mnist56"):
        datasets.published_split(name)


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["adult", "mnist"])
def test_published_test_rows_are_the_test_part_for_every_seed(name, load):
    dataset = load(name)
    tail = np.arange(dataset.n_train_file, dataset.n_samples)
    first, second = random_split(dataset, 0), random_split(dataset, 1)
    np.testing.assert_array_equal(first.rows_test, tail)
    np.testing.assert_array_equal(second.rows_test, tail)
    assert not np.array_equal(first.rows_train, second.rows_train)


def test_random_state_may_be_a_seed_or_a_generator(load):
    dataset = load("breast")
    assert random_split(dataset, 42).checksum == datasets.published_split("breast").checksum
    assert random_split(dataset, np.random.RandomState(7)).checksum == random_split(dataset, 7).checksum
    assert random_split(dataset, 7).checksum != random_split(dataset, 8).checksum
    random_split(dataset, None)


@pytest.mark.parametrize("n", [0, 2, 3, 4, 5, 7, 11])
def test_smallest_regression_is_partitioned_or_refused(n):
    X = np.arange(2.0 * n).reshape(n, 2)
    dataset = Dataset("tiny", X, np.arange(float(n)), "regression", ("a", "b"), "here", "none")
    if n >= 3:
        assert_partition(random_split(dataset, 0), dataset)
    else:
        with pytest.raises(ValueError, match=rf"tiny has {n} rows.*at least 3"):
            random_split(dataset, 0)


GROUP_SIZES = {"equal": [5] * 12, "unequal": [1, 30, 2, 2, 9, 16], "one row each": [1] * 60, "four": [15] * 4}


def grouped(sizes) -> Dataset:
    groups = np.random.default_rng(1).permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = np.arange(2.0 * len(groups)).reshape(-1, 2)
    return Dataset("tiny", X, np.arange(len(groups)) % 7.0, "regression", ("a", "b"), "here", "none", groups=groups)


@pytest.mark.parametrize("sizes", GROUP_SIZES.values(), ids=GROUP_SIZES)
@pytest.mark.parametrize("seed", range(5))
def test_no_group_is_in_two_parts(sizes, seed):
    dataset = grouped(sizes)
    split, two = random_split(dataset, seed), two_part_split(dataset, seed)
    assert_partition(split, dataset)
    first, second = halves(dataset, 1000, seed)
    assert first.n_samples + second.n_samples == dataset.n_samples
    largest = max(sizes)
    assert abs(first.n_samples - second.n_samples) <= largest
    parts = [dataset.groups[rows] for rows in (split.rows_train, split.rows_valid, split.rows_test)]
    for own in (parts, [dataset.groups[two.rows_train], dataset.groups[two.rows_test]], [first.groups, second.groups]):
        found = [set(part.tolist()) for part in own]
        assert all(found) and sum(map(len, found)) == len(sizes)
    few = halves(dataset, 7, seed)
    assert all(part.n_samples <= 7 for part in few) and not set(few[0].groups) & set(few[1].groups)


def test_halves_of_groups_differ_by_seed_and_keep_the_order_of_rows():
    dataset = grouped([5] * 12)
    rows = [[(part.X[:, 0] / 2).astype(int).tolist() for part in halves(dataset, 1000, seed)] for seed in (0, 0, 1)]
    assert rows[0] == rows[1] != rows[2] and all(part == sorted(part) for part in rows[0])


def test_one_row_of_each_group_is_drawn_at_random():
    dataset, sizes = grouped([1, 30, 2, 2, 9, 16]), np.array([1, 30, 2, 2, 9, 16])
    drawn = np.zeros(dataset.n_samples)
    for seed in range(600):
        rows = one_of_each_group(dataset, seed).X[:, 0].astype(int) // 2
        assert sorted(dataset.groups[rows]) == list(range(6))
        drawn[rows] += 1
    expected = 600 / sizes[dataset.groups]
    assert (np.abs(drawn - expected) < 5 * np.sqrt(expected) + 1e-9).all()
    plain = dataclasses.replace(dataset, groups=None)
    assert one_of_each_group(plain, 0) is plain


def test_class_without_training_rows_is_refused():
    toy = make_toy("moons", 40)
    y = np.full(40, -1)
    y[0] = 1
    rare = dataclasses.replace(toy, y=y)
    outcomes = set()
    for seed in range(40):
        try:
            split = random_split(rare, seed)
        except ValueError as error:
            assert "class 1" in str(error) and "moons" in str(error) and "\n" not in str(error)
            outcomes.add("refused")
        else:
            assert 0 in split.rows_train
            outcomes.add("kept")
    assert outcomes == {"refused", "kept"}


def test_checksum_depends_on_the_content_only(load):
    split = random_split(load("breast"), 0)
    assert len(split.checksum) == 16 and int(split.checksum, 16) >= 0
    same = dataclasses.replace(split, X_train=split.X_train.copy())
    assert same.checksum == split.checksum
    fortran = dataclasses.replace(split, X_train=np.asfortranarray(split.X_train))
    assert fortran.checksum == split.checksum
    for name in ("X_train", "y_train", "X_valid", "y_valid", "X_test", "y_test"):
        changed = getattr(split, name).copy()
        changed[0] = changed[0] + 1
        assert dataclasses.replace(split, **{name: changed}).checksum != split.checksum
    narrower = dataclasses.replace(split, X_train=split.X_train.astype(np.float32))
    assert narrower.checksum != split.checksum


def test_checksum_covers_sparse_parts():
    X = scipy.sparse.random_array((40, 9), density=0.3, format="csr", rng=0)
    toy = dataclasses.replace(make_toy("moons", 40), X=X)
    split = random_split(toy, 0)
    assert split.checksum == random_split(toy, 0).checksum
    changed = split.X_valid.copy()
    changed.data[0] += 1
    assert dataclasses.replace(split, X_valid=changed).checksum != split.checksum


def test_data_sets_and_splits_are_frozen(load):
    dataset = load("breast")
    split = random_split(dataset, 0)
    for thing, name in ((dataset, "X"), (split, "X_train"), (split, "checksum")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, name, None)


@pytest.mark.parametrize(("name", "n_train", "n_test"), [("wine", 3265, 1633), ("breast", 379, 190)])
def test_two_part_split_is_two_to_one_and_has_every_row_once(name, n_train, n_test, need_data):
    dataset = datasets.load(need_data(name))
    split = datasets.two_part_split(dataset, 3)
    assert (len(split.y_train), len(split.y_test)) == (n_train, n_test) and split.task == dataset.task
    np.testing.assert_array_equal(np.sort(np.r_[split.rows_train, split.rows_test]), np.arange(dataset.n_samples))
    np.testing.assert_array_equal(split.X_test, dataset.X[split.rows_test])
    np.testing.assert_array_equal(split.y_train, dataset.y[split.rows_train])
    again, other = (datasets.two_part_split(dataset, seed) for seed in (3, 4))
    np.testing.assert_array_equal(again.rows_train, split.rows_train)
    assert (other.rows_train != split.rows_train).any()
    fewer = datasets.two_part_split(dataset, 3, max_rows=301)
    assert (len(fewer.y_train), len(fewer.y_test)) == (200, 101) and fewer.n_samples == dataset.n_samples


@pytest.mark.slow
def test_two_part_split_of_a_pair_of_mnist_is_that_of_its_files(load):
    """Ten of the eleven errors that Li et al. print for MNIST are multiples of 1/2115."""
    dataset, all_digits = load("mnist01"), load("mnist")
    split = datasets.two_part_split(dataset, 0)
    assert (len(split.y_train), len(split.y_test)) == (12665, 2115)
    digits = np.isin(all_digits.y[60000:], (0, 1))
    ones = all_digits.y[60000:][digits] == 1
    np.testing.assert_array_equal(split.y_test == 1, np.sort(ones))
    pixels = all_digits.X[60000:][digits]
    np.testing.assert_array_equal(split.X_test, np.concatenate([pixels[~ones], pixels[ones]]))
    np.testing.assert_array_equal(datasets.two_part_split(dataset, 1).rows_train, split.rows_train)
    fewer = datasets.two_part_split(dataset, 0, max_rows=3000)
    assert set(fewer.rows_test) < set(split.rows_test) and len(fewer.y_train) + len(fewer.y_test) == 3000


def test_two_part_split_needs_three_rows():
    toy = datasets.make_toy("moons", 30, 0.1, 0)
    with pytest.raises(ValueError, match="at least 3"):
        datasets.two_part_split(toy, 0, max_rows=2)
