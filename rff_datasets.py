"""The package `datasets` under the name that it is installed by."""

import sys

import datasets

sys.modules[__name__] = datasets
