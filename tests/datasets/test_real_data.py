"""The real data sets: their arrays, where their files are looked for, and errors."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import re
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

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


#: Digests of names and arrays, taken when every array was equal to an independent reading of its files.
DIGESTS = {
    "breast": "None fef40bfb2c124e11",
    "digits": "None cce3a480393c90be",
    "digits_odd": "None ea448461d80b6d62",
    "adult": "32561 f04e3bdf26d25cd1",
    "mnist": "60000 f62cf1a52111efac",
    "mnist01": "None 40016f608d47b39b",
    "mnist17": "None 09358f4360759743",
    "mnist49": "None cd9cbf4b6c1c911a",
    "mnist56": "None 949b9d61c1cd2855",
    "wine": "None a0c02a7728195e87",
    "wine_good": "None 4e972c6c4386dccd",
    "ads": "None f5a2d35003a73022",
    "farm": "None 86484896759f0053",
    "parkinson": "None 2ba64d381c3b22c3",
    "parkinson_motor": "None 89aa9cc0b6240727",
    "cpu": "None 2ff1a4de94b352e3",
    "a9a": "32561 302f8ab91713064d",
    "covtype": "None cc0f6d720d0998b8",
}


def digest_of(dataset: datasets.Dataset) -> str:
    """Return a digest of the names, the classes and the arrays of a data set."""
    X = dataset.X
    arrays = [X.data, X.indices, X.indptr, dataset.y] if scipy.sparse.issparse(X) else [X, dataset.y]
    found = hashlib.sha256(repr((dataset.feature_names, sorted(dataset.label_names.items()))).encode())
    for array in arrays:
        found.update(array.astype(np.float32).tobytes())  # a parser may round the last digit of a float64
    return f"{dataset.n_train_file} {found.hexdigest()[:16]}"


def test_names_are_complete():
    assert set(datasets.names()) == set(DIGESTS)


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
    assert digest_of(dataset) == DIGESTS[name]


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
    assert sorted(path.name for path in DATA.iterdir() if path.is_dir() and path.name[0] not in "_.") == [
        "adult",
        "mnist",
        "reruns",
        "wine-quality",
    ]
