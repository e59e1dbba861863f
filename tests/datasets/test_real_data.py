"""The real data sets against independent readings of their files and published facts."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import lzma
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer

import datasets
from datasets import DataNotFoundError
from datasets.papers import catalogue, files

DATA = Path(datasets.__file__).parent / "data"
QUICK = tuple(name for name in datasets.names() if name != "covtype")
ALL = (*QUICK, pytest.param("covtype", marks=pytest.mark.slow))


def content(name: str, index: int = 0) -> bytes:
    """Content of a raw file, read with the standard library only."""
    raw = catalogue.describe(name).files[index]
    path = files.find(raw)
    match path.suffix:
        case ".gz":
            return gzip.decompress(path.read_bytes())
        case ".xz":
            return lzma.decompress(path.read_bytes())
        case ".zip":
            with zipfile.ZipFile(path) as archive:
                return archive.read(raw.name)
    return path.read_bytes()


def test_names_are_complete():
    expected = "breast digits adult mnist mnist01 mnist17 mnist49 mnist56 wine ads farm parkinson parkinson_motor"
    expected += " cpu a9a covtype"
    assert set(datasets.names()) == set(expected.split())


@pytest.mark.more(after=3)
@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_arrays_match_the_catalogue(name, load, need_data):
    dataset = load(name) if name in QUICK else datasets.load(need_data(name))
    info = datasets.describe(name)
    assert dataset.X.shape == (info.n_samples, info.n_features) == (dataset.n_samples, dataset.n_features)
    assert dataset.y.shape == (info.n_samples,)
    assert len(dataset.feature_names) == len(set(dataset.feature_names)) == info.n_features
    assert all(type(feature) is str for feature in dataset.feature_names)
    assert dataset.X.dtype == (np.float32 if name.startswith("mnist") else np.float64)
    if name == "farm":
        assert isinstance(dataset.X, scipy.sparse.csr_array)
    else:
        assert dataset.X.flags.c_contiguous
        assert np.isfinite(dataset.X).all()
    assert dataset.task == info.task
    if dataset.task == "classification":
        assert dataset.y.dtype == np.int64
        assert set(np.unique(dataset.y)) == set(dataset.label_names)
    else:
        assert dataset.y.dtype == np.float64 and np.isfinite(dataset.y).all()
        assert not dataset.label_names
    if dataset.image_shape:
        assert np.prod(dataset.image_shape) == dataset.n_features
    assert dataset.title and dataset.description and dataset.source and dataset.licence


def test_breast_keeps_the_order_of_scikit_learn(load):
    bunch, dataset = load_breast_cancer(), load("breast")
    np.testing.assert_array_equal(dataset.X, bunch.data)
    benign = list(bunch.target_names).index("benign")
    np.testing.assert_array_equal(dataset.y == 1, bunch.target == benign)


def test_digits_have_17_grey_values_and_10_classes(load):
    dataset = load("digits")
    assert dataset.X.min() == 0 and dataset.X.max() == 16
    np.testing.assert_array_equal(np.unique(dataset.y), np.arange(10))


NUMERIC = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
N_VALUES = {
    "workclass": 9,
    "education": 16,
    "marital-status": 7,
    "occupation": 15,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "native-country": 42,
}


@pytest.mark.slow
def test_adult_has_numbers_and_one_hot_columns(load):
    dataset = load("adult")
    assert (dataset.n_features, dataset.n_train_file, dataset.n_samples) == (108, 32561, 32561 + 16281)
    assert dataset.feature_names[:6] == NUMERIC
    groups = np.array([feature.partition("=")[0] for feature in dataset.feature_names[6:]])
    assert list(dict.fromkeys(groups)) == list(N_VALUES)
    assert Counter(groups) == N_VALUES
    one_hot = dataset.X[:, 6:]
    assert set(np.unique(one_hot)) == {0.0, 1.0}
    for group in N_VALUES:
        values = [f for f in dataset.feature_names if f.startswith(f"{group}=")]
        assert values == sorted(values)
        np.testing.assert_array_equal(one_hot[:, groups == group].sum(axis=1), 1.0)
    unknown = [f.endswith("=?") for f in dataset.feature_names]
    assert sum(unknown) == 3
    rows_with_unknown = dataset.X[:, unknown].any(axis=1)
    assert (rows_with_unknown[:32561].sum(), rows_with_unknown[32561:].sum()) == (2399, 1221)
    assert (dataset.y[:32561] == 1).sum() == 7841 and (dataset.y[32561:] == 1).sum() == 3846


def test_adult_rows_match_the_lines_of_the_files(load):
    dataset = load("adult")
    names = np.array(dataset.feature_names)
    lines = [line for i in (0, 1) for line in content("adult", i).decode().splitlines()]
    lines = [line.rstrip(".") for line in lines if line and not line.startswith("|")]
    assert len(lines) == dataset.n_samples
    order = [*NUMERIC, *N_VALUES]
    in_file = [
        *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
        *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
    ]
    for row in np.random.default_rng(0).choice(dataset.n_samples, 500, replace=False):
        hot = [names[6 + j].partition("=")[2] for j in np.flatnonzero(dataset.X[row, 6:])]
        values = dict(zip(order, [f"{v:.0f}" for v in dataset.X[row, :6]] + hot, strict=True))
        text = ", ".join([*(values[column] for column in in_file), dataset.label_names[dataset.y[row]]])
        assert text == lines[row]


def read_idx(index: int) -> np.ndarray:
    """Array of an idx file, with the shape of its header."""
    raw = content("mnist", index)
    zero, kind, n_axes = struct.unpack(">HBB", raw[:4])
    assert zero == 0 and kind == 8
    shape = struct.unpack(f">{n_axes}I", raw[4 : 4 + 4 * n_axes])
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * n_axes).reshape(shape)


@pytest.fixture(scope="session")
def idx() -> tuple[np.ndarray, ...]:
    return tuple(read_idx(i) for i in range(4))


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize(("low", "high"), [(0, 1), (1, 7), (4, 9), (5, 6)])
def test_mnist_pair_has_the_published_row_order(low, high, load, idx):
    train_images, train_labels, test_images, test_labels = idx
    expected = [
        images[labels == digit]
        for digit in (low, high)
        for images, labels in ((train_images, train_labels), (test_images, test_labels))
    ]
    pixels = np.concatenate(expected).reshape(-1, 784)
    dataset = load(f"mnist{low}{high}")
    np.testing.assert_array_equal(np.rint(dataset.X * 255).astype(np.uint8), pixels)
    np.testing.assert_array_equal(dataset.X, (pixels / 255).astype(np.float32))
    n_low = len(expected[0]) + len(expected[1])
    np.testing.assert_array_equal(dataset.y, np.repeat([-1, 1], [n_low, len(pixels) - n_low]))


@pytest.mark.slow
def test_mnist_matches_its_files(load, idx):
    train_images, train_labels, test_images, test_labels = idx
    dataset = load("mnist")
    assert (dataset.n_train_file, dataset.n_samples) == (60000, 70000)
    np.testing.assert_array_equal(dataset.y, np.concatenate([train_labels, test_labels]))
    for part, images in ((dataset.X[:60000], train_images), (dataset.X[60000:], test_images)):
        some = slice(None, None, 97)
        np.testing.assert_array_equal(np.rint(part[some] * 255), images.reshape(-1, 784)[some])


def test_wine_matches_its_file(load):
    dataset = load("wine")
    assert Counter(dataset.y) == {3: 20, 4: 163, 5: 1457, 6: 2198, 7: 880, 8: 175, 9: 5}
    rows = csv.reader(io.StringIO(content("wine").decode()), delimiter=";")
    assert tuple(next(rows)) == (*dataset.feature_names, "quality")
    np.testing.assert_array_equal(np.array(list(rows), float), np.column_stack([dataset.X, dataset.y]))


def test_ads_matches_its_file(load):
    dataset = load("ads")
    assert Counter(dataset.y) == {-1: 459, 1: 2820}
    assert set(np.unique(dataset.X)) == {0.0, 1.0}
    lines = content("ads").decode().splitlines()
    for row in range(0, 3279, 50):
        cells = [cell.strip() for cell in lines[row].split(",")]
        np.testing.assert_array_equal(dataset.X[row], np.array(cells[4:-1], float))
        assert dataset.label_names[dataset.y[row]] == cells[-1]


@pytest.mark.slow
def test_farm_matches_its_file(load):
    dataset = load("farm")
    assert Counter(dataset.y) == {1: 2210, -1: 1933}
    assert dataset.X.nnz == 817141 and (dataset.X.data == 1).all() and dataset.X.has_canonical_format
    lines = content("farm").decode().splitlines()
    for row in range(0, 4143, 50):
        label, *words = lines[row].split()
        columns = dataset.X.indices[dataset.X.indptr[row] : dataset.X.indptr[row + 1]]
        assert int(label) == dataset.y[row]
        assert [f"{column + 1}:1" for column in columns] == words


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), [("parkinson", "total_UPDRS"), ("parkinson_motor", "motor_UPDRS")])
def test_parkinson_matches_its_file(load, name, target):
    dataset = load(name)
    rows = csv.DictReader(io.StringIO(content("parkinson").decode()))
    table = list(rows)
    assert tuple(rows.fieldnames[6:]) == dataset.feature_names
    np.testing.assert_array_equal([float(row[target]) for row in table], dataset.y)
    expected = np.array([[float(row[feature]) for feature in dataset.feature_names] for row in table])
    np.testing.assert_allclose(dataset.X, expected, rtol=1e-15)


def test_cpu_matches_its_file(load):
    dataset = load("cpu")
    assert dataset.y.min() == 0 and dataset.y.max() == 99
    assert dataset.y.mean() == pytest.approx(83.969, abs=5e-4)
    # The four time percentages of the original table are not inputs.
    assert dataset.feature_names[0] == "lread" and dataset.feature_names[-1] == "freeswap"
    lines = content("cpu").decode().split("@data\n")[1].splitlines()
    expected = np.array([line.split(",") for line in lines if line.strip()], float)
    np.testing.assert_array_equal(np.column_stack([dataset.X, dataset.y]), expected)


@pytest.mark.second
def test_covtype_matches_its_file(need_data):
    dataset = datasets.load(need_data("covtype"))
    assert (dataset.y == 1).sum() == 211840
    for prefix, count in (("Wilderness_Area", 4), ("Soil_Type", 40)):
        columns = [j for j, feature in enumerate(dataset.feature_names) if feature.startswith(prefix)]
        assert len(columns) == count
        np.testing.assert_array_equal(dataset.X[:, columns].sum(axis=1), 1.0)
    lines = content("covtype").split(b"\n")
    for row in range(0, 581012, 10007):
        *cells, cover = (int(cell) for cell in lines[row].split(b","))
        np.testing.assert_array_equal(dataset.X[row], cells)
        assert dataset.y[row] == (1 if cover == 1 else -1)


# --- search for files, and errors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [datasets.load, datasets.describe, datasets.status])
def test_unknown_name_lists_the_names(function):
    with pytest.raises(ValueError, match=r"'iris'.*breast.*covtype"):
        function("iris")


def test_bundled_sets_are_available_without_downloads(cache):
    bundled = {name for name in datasets.names() if datasets.describe(name).bundled}
    assert set(datasets.available()) == bundled
    assert {datasets.status(name) for name in bundled} == {"bundled"}
    assert bundled >= {"breast", "digits", "adult", "mnist", "mnist49", "wine"}


@pytest.mark.parametrize("name", ["ads", "farm", "parkinson", "cpu", "covtype"])
def test_missing_file_error_says_what_to_do(name, cache, tmp_path, monkeypatch):
    mine = str(tmp_path / "mine")
    monkeypatch.setenv("RFF_DATA", mine)
    assert datasets.status(name) == "to fetch"
    (raw,) = datasets.describe(name).files
    with pytest.raises(DataNotFoundError) as caught:
        datasets.load(name)
    message = str(caught.value)
    assert isinstance(caught.value, FileNotFoundError)
    assert "\n" not in message
    for part in (raw.name, raw.address, f"python -m rff_engine fetch {name}", str(cache), mine):
        assert part in message


def as_gzip(raw_bytes: bytes, name: str) -> bytes:
    return gzip.compress(raw_bytes, mtime=0)


def as_xz(raw_bytes: bytes, name: str) -> bytes:
    return lzma.compress(raw_bytes)


def as_zip(raw_bytes: bytes, *path: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme.txt", "nothing to see")
        archive.writestr("/".join(path), raw_bytes)
    return buffer.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("place", ["RFF_DATA", "cache"])
@pytest.mark.parametrize(
    ("suffix", "pack"),
    [
        ("", lambda raw_bytes, name: raw_bytes),
        (".gz", as_gzip),
        (".xz", as_xz),
        (".zip", as_zip),
        (".zip", lambda raw_bytes, name: as_zip(raw_bytes, "deep", "er", name)),
        (".zip", lambda raw_bytes, name: as_zip(as_gzip(raw_bytes, name), f"{name}.gz")),
        (".zip", lambda raw_bytes, name: as_zip(as_zip(raw_bytes, "in", name), "inner.zip")),
    ],
)
def test_every_form_of_a_file_is_read(place, suffix, pack, load, cache, tmp_path, monkeypatch):
    expected = load("wine")
    raw_bytes = content("wine")
    (raw,) = datasets.describe("wine").files
    monkeypatch.setattr(files, "BUNDLED", tmp_path / "nothing")
    if place == "RFF_DATA":
        monkeypatch.setenv("RFF_DATA", str(tmp_path / "mine"))
    folder = (tmp_path / "mine" if place == "RFF_DATA" else cache) / raw.folder
    folder.mkdir(parents=True)
    assert datasets.status("wine") == "to fetch"
    (folder / (raw.name + suffix)).write_bytes(pack(raw_bytes, raw.name))
    assert datasets.status("wine") == "found" and "wine" in datasets.available()
    np.testing.assert_array_equal(datasets.load("wine").X, expected.X)


def test_download_by_hand_may_keep_its_name(load, cache, tmp_path, monkeypatch):
    expected, raw_bytes = load("wine"), content("wine")
    monkeypatch.setattr(files, "BUNDLED", tmp_path / "nothing")
    (cache / "wine-quality").mkdir(parents=True)
    (cache / "wine-quality" / "wine+quality.zip").write_bytes(as_zip(raw_bytes, "winequality-white.csv"))
    np.testing.assert_array_equal(datasets.load("wine").X, expected.X)


def test_rff_data_is_searched_before_the_cache(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("RFF_DATA", str(tmp_path / "mine"))
    (raw,) = datasets.describe("cpu").files
    for folder in (tmp_path / "mine", cache):
        (folder / raw.folder).mkdir(parents=True)
        (folder / raw.folder / raw.name).touch()
    assert files.find(raw) == tmp_path / "mine" / "cpu_act" / "cpu_act.arff"


@pytest.mark.parametrize("odd", ["~nobody-of-that-name/data", "x" * 5000, "/dev/null", "a\nb"])
def test_invalid_folder_counts_as_empty(odd, cache, monkeypatch):
    monkeypatch.setenv("RFF_DATA", odd)
    assert "breast" in datasets.available() and "ads" not in datasets.available()


GOOD = b"x" * 5000


@pytest.mark.parametrize(
    ("file_name", "bad", "says"),
    [
        ("cpu_act.arff", GOOD[:-1], "only 4999 bytes"),
        ("cpu_act.arff", GOOD + b"x", "more than 5000 bytes"),
        ("cpu_act.arff", GOOD[:-1] + b"y", "sha256 differs"),
        ("cpu_act.arff", b"", "only 0 bytes"),
        ("cpu_act.arff.gz", gzip.compress(GOOD, mtime=0)[:-20], "not a readable gz file"),
        ("cpu_act.arff.gz", b"<html>not found</html>", "not a readable gz file"),
        ("cpu_act.arff.gz", gzip.compress(bytes(10**7), mtime=0), "more than 5000 bytes"),
        ("cpu_act.arff.xz", lzma.compress(GOOD)[:-20], "not a readable xz file"),
        ("cpu_act.arff.xz", lzma.compress(bytes(10**7)), "more than 5000 bytes"),
        ("cpu_act.arff.zip", b"<html>not found</html>", "not a readable zip file"),
        ("cpu_act.arff.zip", as_zip(GOOD, "cpu_small.arff"), "has no member cpu_act.arff"),
        ("cpu_act.arff.zip", as_zip(bytes(10**7), "cpu_act.arff"), "more than 5000 bytes"),
    ],
)
def test_damaged_file_is_reported_by_path(file_name, bad, says, cache, monkeypatch):
    raw = catalogue.RawFile("cpu_act", "cpu_act.arff", len(GOOD), hashlib.sha256(GOOD).hexdigest(), "http://x/y")
    info = datasets.describe("cpu")
    monkeypatch.setitem(catalogue.CATALOGUE, "cpu", type(info)(**{**vars(info), "files": (raw,)}))
    path = cache / "cpu_act" / file_name
    path.parent.mkdir(parents=True)
    path.write_bytes(bad)
    with pytest.raises(ValueError, match=re.escape(str(path))) as caught:
        datasets.load("cpu")
    assert says in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize("pack", [as_gzip, as_xz, as_zip])
def test_corrupted_archives_raise_damaged_file_error_only(pack, tmp_path):
    """Whatever flag, size or offset is wrong."""
    raw = catalogue.RawFile("f", "a.data", len(GOOD), hashlib.sha256(GOOD).hexdigest(), "http://x/y")
    good = pack(GOOD, "a.data")
    rng = np.random.default_rng(0)
    path = tmp_path / f"a.data.{pack.__name__.removeprefix('as_').replace('gzip', 'gz')}"
    for _ in range(300):
        bad = bytearray(good)
        for position in rng.integers(0, len(bad), 3):
            bad[position] = rng.integers(256)
        path.write_bytes(bad)
        try:
            read = b"".join(files.chunks(path, raw))
        except files.DamagedFileError:
            continue
        assert read == GOOD  # the change was in an unused field


def test_wrong_shape_is_reported(cache, tmp_path, monkeypatch):
    """The file has the right hash, but another number of rows and columns."""
    text = b"@attribute a numeric\n@attribute class numeric\n@data\n1,2\n3,4\n"
    raw = catalogue.RawFile("cpu_act", "cpu_act.arff", len(text), hashlib.sha256(text).hexdigest(), "http://x/y")
    info = datasets.describe("cpu")
    monkeypatch.setitem(catalogue.CATALOGUE, "cpu", type(info)(**{**vars(info), "files": (raw,)}))
    (cache / "cpu_act").mkdir(parents=True)
    (cache / "cpu_act" / "cpu_act.arff").write_bytes(text)
    with pytest.raises(ValueError, match=r"cpu_act\.arff gave 2 rows and 1 columns.*8192 and 21"):
        datasets.load("cpu")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders")
def test_cache_folder_follows_xdg_and_needs_no_home(tmp_path, monkeypatch):
    def unknown_user(uid):
        raise KeyError(uid)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert datasets.cache_folder() == tmp_path / "cache" / "rff"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert datasets.cache_folder() == tmp_path / ".cache" / "rff"
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", unknown_user)
    assert datasets.cache_folder() == Path(tempfile.gettempdir()) / "rff"


# --- the repository -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["adult", "mnist", "wine-quality"])
def test_bundled_files_have_a_source_with_checksums(folder):
    text = (DATA / folder / "SOURCE.md").read_text(encoding="utf-8")
    assert "Licence" in text and "To cite" in text
    for path in (DATA / folder).glob("*.gz"):
        assert hashlib.sha256(gzip.decompress(path.read_bytes())).hexdigest() in text


def test_only_redistributable_data_are_bundled():
    assert {path.name for path in DATA.iterdir() if (path / "SOURCE.md").exists()} == {
        "adult",
        "mnist",
        "reruns",
        "wine-quality",
    }
    assert all((path / "SOURCE.md").exists() for path in DATA.iterdir() if path.is_dir() and path.name != "__pycache__")


@pytest.mark.second
def test_datasets_import_neither_engine_nor_app():
    code = "import sys, datasets; print(*{name.partition('.')[0] for name in sys.modules})"
    root = DATA.parent.parent
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert not {"rff_engine", "pages", "streamlit", "plotly"} & set(run.stdout.split())


@pytest.mark.second
def test_a9a_is_adult_in_binary_columns(need_data):
    dataset = datasets.load(need_data("a9a"))
    assert set(np.unique(dataset.X)) == {0, 1} and dataset.X.sum() == 451592 + 225731
    assert (dataset.y[:32561] == 1).sum() == 7841 and (dataset.y[32561:] == 1).sum() == 3846
    np.testing.assert_array_equal(dataset.y, datasets.load("adult").y)
