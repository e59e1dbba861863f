"""Catalogue of the real data sets: size, files and origin of each.

Facts only, no input or output: `files` finds and opens files, `loaders` reads them, `download` fetches them.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from ..dataset import Task


@dataclass(frozen=True)
class RawFile:
    """A published file."""

    folder: str
    """Its folder, below each folder that is searched"""
    name: str
    """Uncompressed file name"""
    size: int
    """Uncompressed size in bytes"""
    sha256: str
    """Hash of the uncompressed bytes, since archives of the same content differ"""
    address: str
    """URL of the file or of an archive that contains it"""
    other_names: tuple[str, ...] = ()
    """Names of other archives that contain it"""

    @property
    def download_name(self) -> str:
        """File name of `address`, as a browser saves it."""
        return posixpath.basename(urlsplit(self.address).path)

    @property
    def local_names(self) -> tuple[str, ...]:
        """Accepted file names, best first; a download by hand has one of them."""
        forms = tuple(self.name + suffix for suffix in ("", ".gz", ".xz", ".zip"))
        return tuple(dict.fromkeys((*forms, self.download_name, *self.other_names)))


@dataclass(frozen=True)
class DatasetInfo:
    """A data set without its arrays; other attributes as in `Dataset`.

    Attributes
    ----------
    n_samples, n_features : int
        `X.shape` of the loaded data set.
    bundled : bool
        Whether it is part of this package or of scikit-learn, so that nothing needs to be fetched.
    files : tuple of RawFile
        Files that it is read from; empty if it is part of scikit-learn.
    test_rows_by_class : tuple of int or None
        How many of the last rows of each class, in the order of the labels, are from the publisher's test file, for
        data sets that are sorted by class; None for others.
    """

    name: str
    title: str
    n_samples: int
    n_features: int
    source: str
    licence: str
    description: str
    task: Task = "classification"
    bundled: bool = False
    files: tuple[RawFile, ...] = ()
    label_names: Mapping[int, str] = field(default_factory=dict)
    n_train_file: int | None = None
    image_shape: tuple[int, int] | None = None
    test_rows_by_class: tuple[int, int] | None = None


def names() -> tuple[str, ...]:
    """Return the names of all real data sets, with or without files on this machine."""
    return tuple(CATALOGUE)


def describe(name: str) -> DatasetInfo:
    """Return the catalogue's entry of a real data set.

    Parameters
    ----------
    name : str
        One of `names()`.

    Raises
    ------
    ValueError
        For an unknown name.
    """
    if name not in CATALOGUE:
        raise ValueError(f"unknown data set {name!r}: choose one of {', '.join(CATALOGUE)}")
    return CATALOGUE[name]


_UCI = "https://archive.ics.uci.edu/static/public"
_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"
# DELVE publishes cpu in its own format; this is an ARFF copy, pinned to a commit.
_CPU_COPY = "https://raw.githubusercontent.com/genyang/datasets/9cf25ea6e5b376a5a2a98092cb6ab8b03f05adcf"
_CC_BY = "CC BY 4.0"

# LIBSVM publishes a9a; this is a copy, pinned to a commit, with one zero of the test file written out.
_A9A_COPY = "https://raw.githubusercontent.com/Astraeus-Q/SVM-Classifier/01842c60893d86dc714fba10b7b483b7f3a61129"


def _files(
    folder: str, address: str, *published: tuple[str, int, str], other_names: tuple[str, ...] = ()
) -> tuple[RawFile, ...]:
    """Return files by name, size and sha256. The address may have {} for the name."""
    return tuple(
        RawFile(folder, name, size, sha256, address.format(name), other_names) for name, size, sha256 in published
    )


_PARKINSON = DatasetInfo(
    name="parkinson",
    title="Parkinson telemonitoring",
    n_samples=5875,
    n_features=16,
    task="regression",
    source="UCI Parkinsons Telemonitoring (Tsanas and Little 2009)",
    licence=_CC_BY,
    description="Voice measures of 42 people with Parkinson's disease; the target is total UPDRS.",
    files=_files(
        "parkinsons",
        f"{_UCI}/189/parkinsons+telemonitoring.zip",
        ("parkinsons_updrs.data", 911_261, "f2c7d5025dec4e92e7feae367a5f7ccf58789a10ac6b54bdf15976c599f9dd39"),
    ),
)
_MNIST_ORIGIN = {
    "n_features": 784,
    "bundled": True,
    "source": "MNIST (LeCun, Cortes and Burges 1998)",
    "licence": "CC BY-SA 3.0",
    "files": _files(
        "mnist",
        f"{_MNIST}/{{}}.gz",
        ("train-images-idx3-ubyte", 47_040_016, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
        ("train-labels-idx1-ubyte", 60_008, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
        ("t10k-images-idx3-ubyte", 7_840_016, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
        ("t10k-labels-idx1-ubyte", 10_008, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
    ),
    "image_shape": (28, 28),
}


# Images of each digit in MNIST's test file.
_MNIST_TEST_IMAGES = (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009)


def _mnist_pair(low: int, high: int, n_samples: int) -> DatasetInfo:
    return DatasetInfo(
        name=f"mnist{low}{high}",
        title=f"MNIST, {low} against {high}",
        n_samples=n_samples,
        description=f"Handwritten digits of 28 by 28 pixels: is it a {low} (-1) or a {high} (+1)?",
        label_names={-1: str(low), 1: str(high)},
        test_rows_by_class=(_MNIST_TEST_IMAGES[low], _MNIST_TEST_IMAGES[high]),
        **_MNIST_ORIGIN,
    )


_DIGITS = DatasetInfo(
    name="digits",
    title="Digits, 8 by 8",
    n_samples=1797,
    n_features=64,
    bundled=True,
    source="UCI Optical Recognition of Handwritten Digits (Alpaydin and Kaynak 1998), from scikit-learn",
    licence=_CC_BY,
    description="Handwritten digits of 8 by 8 pixels, grey values 0 to 16: which of the ten is it?",
    label_names={digit: str(digit) for digit in range(10)},
    image_shape=(8, 8),
)
_WINE = DatasetInfo(
    name="wine",
    title="White wine quality",
    n_samples=4898,
    n_features=11,
    task="regression",
    bundled=True,
    source="UCI Wine Quality, white (Cortez, Cerdeira, Almeida, Matos and Reis 2009)",
    licence=_CC_BY,
    description="Chemical measurements of white wines; the target is the tasters' grade, 3 to 9.",
    files=_files(
        "wine-quality",
        f"{_UCI}/186/wine+quality.zip",
        ("winequality-white.csv", 264_426, "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836"),
    ),
)

_ALL = (
    DatasetInfo(
        name="breast",
        title="Breast cancer",
        n_samples=569,
        n_features=30,
        bundled=True,
        source="UCI Breast Cancer Wisconsin (Diagnostic) (Wolberg et al. 1995), from scikit-learn",
        licence=_CC_BY,
        description="Measurements of cell nuclei: is the tumour malignant (-1) or benign (+1)?",
        label_names={-1: "malignant", 1: "benign"},
    ),
    _DIGITS,
    replace(
        _DIGITS,
        name="digits_odd",
        title="Digits, even or odd",
        description="Handwritten digits of 8 by 8 pixels, grey values 0 to 16: is it even (-1) or odd (+1)?",
        label_names={-1: "even", 1: "odd"},
    ),
    DatasetInfo(
        name="adult",
        title="Adult (census income)",
        n_samples=48_842,
        n_features=108,
        bundled=True,
        source="UCI Adult (Becker and Kohavi 1996)",
        licence=_CC_BY,
        description="People of the 1994 US census: do they earn at most $50000 a year (-1), or more (+1)?",
        files=_files(
            "adult",
            f"{_UCI}/2/adult.zip",
            ("adult.data", 3_974_305, "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
            ("adult.test", 2_003_153, "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
        ),
        label_names={-1: "<=50K", 1: ">50K"},
        n_train_file=32_561,
    ),
    DatasetInfo(
        name="mnist",
        title="MNIST, all ten digits",
        n_samples=70_000,
        description="Handwritten digits of 28 by 28 pixels: which of the ten is it?",
        label_names={digit: str(digit) for digit in range(10)},
        n_train_file=60_000,
        **_MNIST_ORIGIN,
    ),
    _mnist_pair(0, 1, 14_780),
    _mnist_pair(1, 7, 15_170),
    _mnist_pair(4, 9, 13_782),
    _mnist_pair(5, 6, 13_189),
    _WINE,
    replace(
        _WINE,
        name="wine_good",
        title="White wine, good or not",
        task="classification",
        description="Chemical measurements of white wines: is the grade at most 5 (-1), or 6 and more (+1)?",
        label_names={-1: "at most 5", 1: "6 and more"},
    ),
    DatasetInfo(
        name="ads",
        title="Internet advertisements",
        n_samples=3279,
        n_features=1554,
        source="UCI Internet Advertisements (Kushmerick 1998)",
        licence=_CC_BY,
        description="Words around the images of web pages: is the image an advertisement (-1) or not (+1)?",
        files=_files(
            "ads",
            f"{_UCI}/51/internet+advertisements.zip",
            ("ad.data", 10_275_015, "4841bab145e0b2df2bc17893ecd9d62f8fbeac2c389b41ca59d77da682c0c4eb"),
            other_names=("ad-dataset.zip",),
        ),
        label_names={-1: "ad.", 1: "nonad."},
    ),
    DatasetInfo(
        name="farm",
        title="Farm ads",
        n_samples=4143,
        n_features=54_877,
        source="UCI Farm Ads (Mesterharm and Pazzani 2011)",
        licence=_CC_BY,
        description="Words of advertisements on farming sites: did the site owner approve (+1) or not (-1)?",
        files=_files(
            "farm-ads",
            f"{_UCI}/218/farm+ads.zip",
            ("farm-ads-vect", 5_558_859, "cee9de7aef56080a983cfddc22f2fae4dc9fea0804b3d033281c0b4288a4bb11"),
        ),
        label_names={-1: "rejected", 1: "accepted"},
    ),
    _PARKINSON,
    replace(
        _PARKINSON,
        name="parkinson_motor",
        title="Parkinson telemonitoring, motor score",
        description="Voice measures of 42 people with Parkinson's disease; the target is motor UPDRS.",
    ),
    DatasetInfo(
        name="cpu",
        title="Computer activity",
        n_samples=8192,
        n_features=21,
        task="regression",
        source="DELVE comp-activ (University of Toronto 1996), an unofficial ARFF copy",
        licence="not stated",
        description="Activity counters of a computer; the target is the percentage of time in user mode.",
        files=_files(
            "cpu_act",
            f"{_CPU_COPY}/cpu_act.arff",
            ("cpu_act.arff", 1_058_078, "31c4adcefafaef48d89a285602c5f6df3d9463e176bacdaf9df82c249fb0ed9b"),
        ),
    ),
    DatasetInfo(
        name="a9a",
        title="Adult, binary features (a9a)",
        n_samples=48_842,
        n_features=123,
        source="UCI Adult (Becker and Kohavi 1996) in the features of Platt (1998), an unofficial copy of LIBSVM's a9a",
        licence=_CC_BY,
        description="The people of adult in binary features: do they earn at most $50000 (-1), or more (+1)?",
        files=(
            *_files(
                "a9a",
                f"{_A9A_COPY}/a9a.txt",
                ("a9a", 2_329_875, "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906"),
            ),
            *_files(
                "a9a",
                f"{_A9A_COPY}/a9a.t",
                ("a9a.t", 1_164_633, "1f7bae8e9729ad2bf9d18f66e5fa622e503e615114f92c37b274dfd24f2e5725"),
            ),
        ),
        label_names={-1: "<=50K", 1: ">50K"},
        n_train_file=32_561,
    ),
    DatasetInfo(
        name="covtype",
        title="Forest cover type",
        n_samples=581_012,
        n_features=54,
        source="UCI Covertype (Blackard 1998, Colorado State University)",
        licence=_CC_BY,
        description="Cartographic variables of 30 by 30 metre cells: is the forest spruce and fir (+1) or not (-1)?",
        files=_files(
            "covtype",
            f"{_UCI}/31/covertype.zip",
            ("covtype.data", 75_169_317, "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945"),
        ),
        label_names={-1: "types 2 to 7", 1: "type 1 (spruce/fir)"},
    ),
)

CATALOGUE: dict[str, DatasetInfo] = {info.name: info for info in _ALL}
