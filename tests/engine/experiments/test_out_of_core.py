"""Losses of tables that are read block by block equal those of all rows."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import rff_engine as rff
from rff_engine.studies.running.out_of_core import alignment_loss_on_cluster, row_blocks, row_group_readers

N = 1000
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["a", "b", "c"])
TABLE["label"] = np.array(["red", "blue"])[(TABLE["a"] + RNG.normal(size=N) > 0).astype(int)]
TABLE["weight"] = RNG.integers(0, 4, size=N)
X, Y = TABLE[["a", "b", "c"]].to_numpy(), TABLE["label"].to_numpy()
OMEGA = RNG.normal(size=(5, 3))
LOSS = rff.alignment_loss(X, Y, OMEGA)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "table.parquet"
    pa.parquet.write_table(pa.Table.from_pandas(TABLE), path, row_group_size=300)
    return path


def test_loss_of_a_file_is_read_by_row_groups(file):
    said = []
    blocks = row_blocks(file, "label", columns=["a", "b", "c"], progress=lambda done, total: said.append((done, total)))
    sizes = []

    def counted():
        for points, labels in blocks:
            sizes.append(len(points))
            assert points.dtype == np.float64 and len(labels) == len(points)
            yield points, labels

    np.testing.assert_allclose(rff.alignment_loss_batched(counted(), OMEGA), LOSS, rtol=0, atol=1e-12)
    assert max(sizes) <= 300 and sum(sizes) == N
    assert said == list(zip(np.cumsum(sizes).tolist(), [N] * len(sizes), strict=True))


def test_all_columns_but_labels_and_weights_are_points(file):
    blocks = list(row_blocks(file, "label", sample_weight="weight", max_rows=64, dtype=np.float32))
    assert all(len(points) <= 64 and points.dtype == np.float32 for points, _, _ in blocks)
    loss = rff.alignment_loss_batched(row_blocks(file, "label", sample_weight="weight"), OMEGA)
    expected = rff.alignment_loss(X, Y, OMEGA, sample_weight=TABLE["weight"].to_numpy())
    np.testing.assert_allclose(loss, expected, rtol=0, atol=1e-12)


def test_every_row_group_has_a_reader_that_can_be_sent(file):
    readers = pickle.loads(pickle.dumps(row_group_readers(file, "label", columns=["c", "a", "b"], dtype=np.float32)))
    read = [reader() for reader in readers]
    assert [len(labels) for _, labels in read] == [300, 300, 300, 100]
    np.testing.assert_array_equal(np.concatenate([points for points, _ in read]), X[:, [2, 0, 1]].astype(np.float32))
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in read]), Y)


@pytest.mark.more(after=1)
@pytest.mark.slow("starts a Dask cluster of two processes")
@pytest.mark.parametrize("jobs", [1, 2])
def test_workers_read_their_row_groups_with_progress(file, jobs):
    said = []
    readers = row_group_readers([file, file], "label", sample_weight="weight")
    loss = alignment_loss_on_cluster(readers, OMEGA, jobs=jobs, progress=lambda *counts: said.append(counts))
    twice = TABLE["weight"].to_numpy().repeat(2)
    expected = rff.alignment_loss(X.repeat(2, axis=0), Y.repeat(2), OMEGA, sample_weight=twice)
    np.testing.assert_allclose(loss, expected, rtol=0, atol=1e-12)
    assert said == [(done, 8) for done in range(1, 9)]


@pytest.mark.slow
def test_folders_lists_arrow_datasets_and_frames_of_dask_are_read_too(tmp_path):
    paths = [tmp_path / f"part{i}.parquet" for i in range(3)]
    for path, rows in zip(paths, np.array_split(np.arange(N), 3), strict=True):
        pa.parquet.write_table(pa.Table.from_pandas(TABLE.iloc[rows], preserve_index=False), path)
    dask = pytest.importorskip("dask.dataframe").from_pandas(TABLE, npartitions=4)
    for source in (tmp_path, paths, pyarrow.dataset.dataset(str(tmp_path)), dask):
        blocks = list(row_blocks(source, "label", columns=["a", "b", "c"], max_rows=100))
        assert max(len(points) for points, _ in blocks) <= 100
        np.testing.assert_allclose(rff.alignment_loss_batched(blocks, OMEGA), LOSS, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"target": "colour"}, "column 'colour' is not in the table; its columns are 'a', 'b', 'c', 'label', 'weight'"),
        ({"columns": ["a", "d"]}, "column 'd' is not in the table"),
        ({"columns": []}, r"columns is \[\]; at least one column"),
        ({"columns": ["a", "label"]}, "column 'label' holds .*; numbers are needed"),
    ],
)
def test_bad_columns_are_named(file, change, says):
    with pytest.raises(ValueError, match=rf"^{says}.*\.$"):
        list(row_blocks(file, **{"target": "label"} | change))
    with pytest.raises(ValueError, match=rf"^{says}.*\.$"):
        [reader() for reader in row_group_readers(file, **{"target": "label"} | change)]


def test_a_file_that_changes_after_its_row_groups_were_listed_is_refused(file):
    readers = row_group_readers(file, "label", columns=["a", "b", "c"])
    readers[0]()
    table = pa.parquet.read_table(file)
    other = table.set_column(table.schema.get_field_index("a"), "a", pa.compute.add(table["a"], 1.0))
    pa.parquet.write_table(other, file, row_group_size=table.num_rows)
    for reader in (readers[0], readers[-1]):
        with pytest.raises(ValueError, match=r"has changed since its row groups were listed; list them again\.$"):
            reader()


def test_missing_values_are_refused_by_the_loss_and_blocks_have_rows(tmp_path):
    pa.parquet.write_table(pa.table({"a": [1.0, None, 2.0], "label": [0, 1, 0]}), tmp_path / "gaps.parquet")
    with pytest.raises(ValueError, match="X contains NaN"):
        rff.alignment_loss_batched(row_blocks(tmp_path / "gaps.parquet", "label"), np.ones((2, 1)))
    with pytest.raises(ValueError, match="max_rows is 0"):
        list(row_blocks(tmp_path / "gaps.parquet", "label", max_rows=0))
