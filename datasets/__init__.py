"""Toy problems, the real data sets of the papers with their sources, licences and splits, and tables of strangers.

It imports nothing of the engine or the app. Data are neither scaled nor cached: callers do both.
"""

from datasets.catalogue import DatasetInfo, describe, names
from datasets.dataset import Dataset
from datasets.download import FetchError, fetch
from datasets.files import DataNotFoundError, available, cache_folder, search_folders, status
from datasets.loaders import load
from datasets.preparation import prepare
from datasets.splits import Split, TwoPartSplit, published_names, published_split, random_split, two_part_split
from datasets.tables import Limits, Table, UploadError
from datasets.toy import make_toy, toy_names
from datasets.uploads import read_table

__all__ = [
    "DataNotFoundError",
    "Dataset",
    "DatasetInfo",
    "FetchError",
    "Limits",
    "Split",
    "Table",
    "TwoPartSplit",
    "UploadError",
    "available",
    "cache_folder",
    "describe",
    "fetch",
    "load",
    "make_toy",
    "names",
    "prepare",
    "published_names",
    "published_split",
    "random_split",
    "read_table",
    "search_folders",
    "status",
    "toy_names",
    "two_part_split",
]
