from .dataset import Dataset
from .papers.catalogue import DatasetInfo, describe, names
from .papers.download import FetchError, fetch
from .papers.files import (
    BUNDLED,
    DataNotFoundError,
    available,
    cache_folder,
    found_files,
    program,
    search_folders,
    status,
)
from .papers.loaders import load
from .papers.splits import (
    PUBLISHED_SEED,
    Split,
    TwoPartSplit,
    published_names,
    published_split,
    random_split,
    two_part_split,
)
from .points import decode_points, encode_points, given_points, noisy_copies
from .tables.preparation import halves, one_of_each_group, plane, prepare, two_classes
from .tables.roles import suggest_columns
from .tables.table import Limits, Table, UploadError
from .tables.uploads import read_table
from .toy import make_toy, make_toy_inputs, toy_input_names, toy_names
from .toy_data import ToyData

__all__ = [
    "BUNDLED",
    "PUBLISHED_SEED",
    "DataNotFoundError",
    "Dataset",
    "DatasetInfo",
    "FetchError",
    "Limits",
    "Split",
    "Table",
    "ToyData",
    "TwoPartSplit",
    "UploadError",
    "available",
    "cache_folder",
    "decode_points",
    "describe",
    "encode_points",
    "fetch",
    "found_files",
    "given_points",
    "halves",
    "load",
    "make_toy",
    "make_toy_inputs",
    "names",
    "noisy_copies",
    "one_of_each_group",
    "plane",
    "prepare",
    "program",
    "published_names",
    "published_split",
    "random_split",
    "read_table",
    "search_folders",
    "status",
    "suggest_columns",
    "toy_input_names",
    "toy_names",
    "two_classes",
    "two_part_split",
]
