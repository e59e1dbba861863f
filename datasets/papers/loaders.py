"""Loaders of the real data sets, prepared as in the papers.

One function per data set turns the bytes of its files into (X, y, feature names); `load` adds the facts of the
catalogue. Nothing is cached, scaled or divided here: callers cache, `splits` divides.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_svmlight_file

from ..dataset import Dataset
from . import files
from .catalogue import DatasetInfo, describe

if TYPE_CHECKING:
    import pandas as pd

#: What a data set takes from the catalogue as it is.
_FACTS = ("task", "source", "licence", "title", "description", "label_names", "n_train_file", "image_shape")
Parsed = tuple[np.ndarray | scipy.sparse.csr_array, np.ndarray, Sequence[str]]


def load(name: str) -> Dataset:
    """Load a real data set.

    Two-class sets have labels -1 and 1, digits and mnist 0 to 9; regression targets are floats. Values are as
    published, except that the pixels of the MNIST family are divided by 255.

    Preparation, after the published code of paper A (data sets ads, adult, breast, farm and the MNIST pairs):

    - breast, digits: as in scikit-learn. digits_odd: even digits are -1, odd ones +1.
    - adult: six numeric columns, then the eight categorical ones, both in the order of the file. Each
      categorical column becomes one column per value, sorted as text; `?` counts as a value. The values come from
      the training file; a value that occurs only in the test file would give zeros. The 32561 rows of the training
      file come first, then the 16281 of the test file (`n_train_file`).
    - mnist: the 60000 training images, then the 10000 test images (`n_train_file`).
    - mnist01, mnist17, mnist49, mnist56: all of the smaller digit (-1), then all of the larger (+1); within
      each, training images come first (`test_rows` lists the others).
    - wine: 11 measurements, target the grade. wine_good: +1 from grade 6 on, else -1.
    - ads: the first four columns, which have missing values, are dropped; -1 is an advertisement, as in the
      paper's code. The sign matters: in the published split one validation point lies so near the border of the
      SVM with C = 1e4, gamma = 1e-5 that libsvm, at its default tolerance, classifies it differently if the signs
      are swapped.
    - farm: binary and sparse.
    - parkinson, parkinson_motor: the 16 voice measures, target total_UPDRS or motor_UPDRS.
    - cpu: 21 counters, target usr.
    - a9a: the people of adult, in the same order, in 123 binary columns; the 32561 rows of the training file come
      first, then the 16281 of the test file (`n_train_file`). Columns are dense, since standardising fills them.
    - covtype: 54 columns, type 1 (+1) against the rest (-1).

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    Dataset
        `X`, `y`, the task, and where they are from.

    Raises
    ------
    ValueError
        For an unknown name, or a damaged file, which the message names.
    DataNotFoundError
        If a file is missing.
    """
    info = describe(name)
    X, y, feature_names = _PARSERS[name](info)
    if X.shape != (info.n_samples, info.n_features) or y.shape != (info.n_samples,):
        origin = ", ".join(str(files.find(raw)) for raw in info.files) or "scikit-learn"
        raise ValueError(
            f"{origin} gave {X.shape[0]} rows and {X.shape[1]} columns for the data set {info.name}; "
            f"{info.n_samples} and {info.n_features} are expected"
        )
    facts = {fact: getattr(info, fact) for fact in _FACTS}
    return Dataset(name, X, y, feature_names=tuple(feature_names), test_rows=_test_rows(info, y), **facts)


def _test_rows(info: DatasetInfo, y) -> np.ndarray | None:
    """Return the numbers of the rows of the publisher's test file; None if it is unknown."""
    if info.n_train_file is not None:
        return np.arange(info.n_train_file, info.n_samples)
    if info.test_rows_by_class is None:
        return None
    counts = zip(np.unique(y), info.test_rows_by_class, strict=True)
    return np.concatenate([np.flatnonzero(y == label)[-count:] for label, count in counts])


def _signs(positive: np.ndarray) -> np.ndarray:
    """Return the labels of a boolean mask: 1 where it is true, else -1."""
    return np.where(positive, 1, -1).astype(np.int64)


def _floats(values) -> np.ndarray:
    """Return values as a C-contiguous float64 array."""
    return np.ascontiguousarray(values, dtype=np.float64)


def _pixel_names(info: DatasetInfo) -> list[str]:
    if info.image_shape is None:
        raise ValueError(f"the rows of {info.name} are not images")
    height, width = info.image_shape
    return [f"pixel {row},{column}" for row in range(height) for column in range(width)]


def _read_csv(content: bytes, **options: Any) -> pd.DataFrame:
    import pandas as pd  # sets that are not tables do not need it

    return pd.read_csv(io.BytesIO(content), **options)


def _breast(info: DatasetInfo) -> Parsed:
    bunch = load_breast_cancer()
    return _floats(bunch.data), _signs(bunch.target == 1), [str(name) for name in bunch.feature_names]


def _digits(info: DatasetInfo) -> Parsed:
    bunch = load_digits()
    return _floats(bunch.data), bunch.target.astype(np.int64), _pixel_names(info)


_ADULT_COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
    "income",
)
_ADULT_NUMERIC = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


def _adult(info: DatasetInfo) -> Parsed:
    import pandas as pd

    train_bytes, test_bytes = files.read(info)
    train = _adult_table(train_bytes)
    test = _adult_table(test_bytes, skiprows=1)  # the first line is a comment
    table = pd.concat([train, test], ignore_index=True)
    blocks = [table[list(_ADULT_NUMERIC)].to_numpy(np.float64)]
    feature_names = list(_ADULT_NUMERIC)
    for column in (c for c in _ADULT_COLUMNS[:-1] if c not in _ADULT_NUMERIC):
        values = sorted(train[column].unique())
        codes = pd.Categorical(table[column], categories=values).codes
        blocks.append((codes[:, None] == np.arange(len(values))).astype(np.float64))
        feature_names += [f"{column}={value}" for value in values]
    # Labels of the test file end in a dot.
    return np.hstack(blocks), _signs(table["income"].str.rstrip(".").to_numpy() == ">50K"), feature_names


def _adult_table(content: bytes, skiprows: int = 0) -> pd.DataFrame:
    # keep_default_na=False: "?" must stay a value.
    return _read_csv(
        content,
        header=None,
        names=_ADULT_COLUMNS,
        skiprows=skiprows,
        skipinitialspace=True,
        keep_default_na=False,
    )


def _mnist_bytes(info: DatasetInfo) -> tuple[np.ndarray, np.ndarray]:
    """Return all images as (70000, 784) bytes, and their digits. The training files come first."""
    # An idx file has a header of 16 bytes for images and 8 for labels, then plain bytes; `files.read` has checked the
    # hashes.
    train_images, train_labels, test_images, test_labels = files.read(info)
    images = [np.frombuffer(part, np.uint8, offset=16) for part in (train_images, test_images)]
    labels = [np.frombuffer(part, np.uint8, offset=8) for part in (train_labels, test_labels)]
    return np.concatenate(images).reshape(-1, info.n_features), np.concatenate(labels)


def _mnist(info: DatasetInfo) -> Parsed:
    images, digits = _mnist_bytes(info)
    return _grey(images), digits.astype(np.int64), _pixel_names(info)


def _mnist_pair(info: DatasetInfo, low: int, high: int) -> Parsed:
    images, digits = _mnist_bytes(info)
    rows = np.concatenate([np.flatnonzero(digits == low), np.flatnonzero(digits == high)])
    return _grey(images[rows]), _signs(digits[rows] == high), _pixel_names(info)


def _grey(images: np.ndarray) -> np.ndarray:
    return np.divide(images, np.float32(255), dtype=np.float32)


def _wine(info: DatasetInfo) -> Parsed:
    (content,) = files.read(info)
    table = _read_csv(content, sep=";")
    return _floats(table.iloc[:, :-1]), _floats(table["quality"]), table.columns[:-1]


def _two_sides(info: DatasetInfo, parse: Callable, is_positive: Callable) -> Parsed:
    X, targets, names = parse(info)
    return X, _signs(is_positive(targets)), names


# The first four columns, geometry and position of the image, are dropped. The other columns are terms. The data file
# does not name them; kinds and counts come from its documentation.
_ADS_TERMS = {"url": 457, "origurl": 495, "ancurl": 472, "alt": 111, "caption": 19}


def _ads(info: DatasetInfo) -> Parsed:
    (content,) = files.read(info)
    table = _read_csv(content, header=None, usecols=range(4, 1559), dtype={1558: str})
    feature_names = [f"{kind} term {i}" for kind, count in _ADS_TERMS.items() for i in range(1, count + 1)]
    return _floats(table.iloc[:, :-1]), _signs(table[1558].to_numpy() == "nonad."), feature_names


def _farm(info: DatasetInfo) -> Parsed:
    (content,) = files.read(info)
    X, y = load_svmlight_file(io.BytesIO(content), n_features=info.n_features, zero_based=False)
    return scipy.sparse.csr_array(X), y.astype(np.int64), [f"word {i}" for i in range(1, info.n_features + 1)]


def _parkinson(info: DatasetInfo, target: str) -> Parsed:
    (content,) = files.read(info)
    table = _read_csv(content)
    voice = table.columns[6:]  # after the person, the time and the two scores
    return _floats(table[voice]), _floats(table[target]), voice


def _cpu(info: DatasetInfo) -> Parsed:
    (content,) = files.read(info)
    header, _, rows = content.partition(b"@data")
    columns = [line.split()[1] for line in header.decode("ascii").splitlines() if line.startswith("@attribute")]
    table = _read_csv(rows, header=None, names=columns)
    # The last column is usr, the time in user mode; the file calls it "class".
    return _floats(table.iloc[:, :-1]), _floats(table.iloc[:, -1]), columns[:-1]


def _a9a(info: DatasetInfo) -> Parsed:
    pairs = [
        load_svmlight_file(io.BytesIO(part), n_features=info.n_features, zero_based=False) for part in files.read(info)
    ]
    X = scipy.sparse.vstack([X for X, _ in pairs]).toarray()
    y = np.concatenate([y for _, y in pairs]).astype(np.int64)
    return _floats(X), y, [f"feature {j}" for j in range(1, info.n_features + 1)]


_COVTYPE_COLUMNS = (
    *("Elevation", "Aspect", "Slope", "Horizontal_Distance_To_Hydrology", "Vertical_Distance_To_Hydrology"),
    *("Horizontal_Distance_To_Roadways", "Hillshade_9am", "Hillshade_Noon", "Hillshade_3pm"),
    "Horizontal_Distance_To_Fire_Points",
    *(f"Wilderness_Area{i}" for i in range(1, 5)),
    *(f"Soil_Type{i}" for i in range(1, 41)),
)


def _covtype(info: DatasetInfo) -> Parsed:
    (content,) = files.read(info)
    # Values are small integers; as int16 parsing takes half the time and a quarter of the memory.
    table = _read_csv(content, header=None, dtype=np.int16).to_numpy()
    return _floats(table[:, :-1]), _signs(table[:, -1] == 1), _COVTYPE_COLUMNS


_PARSERS: dict[str, Callable[[DatasetInfo], Parsed]] = {
    "breast": _breast,
    "digits": _digits,
    "digits_odd": partial(_two_sides, parse=_digits, is_positive=lambda digits: digits % 2 == 1),
    "adult": _adult,
    "mnist": _mnist,
    "mnist01": partial(_mnist_pair, low=0, high=1),
    "mnist17": partial(_mnist_pair, low=1, high=7),
    "mnist49": partial(_mnist_pair, low=4, high=9),
    "mnist56": partial(_mnist_pair, low=5, high=6),
    "wine": _wine,
    "wine_good": partial(_two_sides, parse=_wine, is_positive=lambda grades: grades >= 6),
    "ads": _ads,
    "farm": _farm,
    "parkinson": partial(_parkinson, target="total_UPDRS"),
    "parkinson_motor": partial(_parkinson, target="motor_UPDRS"),
    "cpu": _cpu,
    "a9a": _a9a,
    "covtype": _covtype,
}
