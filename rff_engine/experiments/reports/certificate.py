"""A certificate of the user's own table as a record, a sentence, and one page in HTML that can be verified."""

from __future__ import annotations

import json
import math
import platform
import re
import warnings
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy
import pandas as pd
import scipy
import sklearn
from sklearn.base import is_classifier
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rff_engine
from rff_engine import CertifiedClassifier, RandomFourierFeatures, bounds

from ..._validation import LARGEST
from ...figures.document import Document
from .. import datasets as sets

_OWN = "a vote on 200 random Fourier features of scaled columns"
_OWN_OF_BLOCKS = "ridge regression of the labels on 200 random Fourier features of scaled columns"
_N_COMPONENTS = 200
_VERSIONS = {"python": platform.python_version()} | {
    module.__name__: module.__version__ for module in (rff_engine, numpy, scipy, sklearn)
}
_RECORD = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)


def certify_table(
    file: str, target: str, classifier: str | None, epsilon: float, seed: int, blocks: int | None = None
) -> dict[str, Any]:
    """Fit a certified classifier to a table, and say all that its certificate depends on.

    Rows with missing values are dropped, and columns that tell rows apart are left out, before anything is learned.

    Parameters
    ----------
    file : str
        A table in any format of `datasets.read_table`.
    target : str
        The column to predict.
    classifier : str or None
        Import path of a classifier that needs no arguments; None stands for a vote on random Fourier features, or for
        ridge regression on them in blocks.
    blocks : int or None
        Of progressive validation; None leaves the rows of the bound out of what is learned.

    Returns
    -------
    dict
        Of numbers, texts and lists, as JSON has them.

    Raises
    ------
    ValueError
        If the file or a name is not usable, or too few rows are left.
    """
    data = _read(file, "--table")
    table = sets.read_table(data, file)
    columns = sets.suggest_columns(table, target)
    as_they_are = sets.Limits(unscaled=LARGEST)  # the classifier scales, or has no need to
    dataset = sets.prepare(table, target, columns, "none", "drop", "classification", as_they_are)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        model = _model(classifier, epsilon, seed, blocks).fit(dataset.X, dataset.y)
    of_blocks = {} if blocks is None else {"blocks": blocks, "rows of each block": model.block_sizes_.tolist()}
    return {
        "file": Path(file).name,
        "sha256": sha256(data).hexdigest(),
        "target": target,
        "columns": list(columns),
        "rows": dataset.n_samples,
        "classes": [dataset.label_names[label] for label in model.classes_.tolist()],
        "classifier": classifier or (_OWN if blocks is None else _OWN_OF_BLOCKS),
        "seed": seed,
        "epsilon": epsilon,
        "rows of the bound": len(model.bound_rows_),
        "errors on them": model.n_errors_,
        "arm": model.arm_,
        "terms": [[term.name, float(term.nats), float(term.risk)] for term in model.certificate_],
        "risk_bound": model.risk_bound_,
        "cautions": [str(one.message) for one in caught if issubclass(one.category, UserWarning)],
        "versions": _VERSIONS,
    } | of_blocks


def _read(file: str, option: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise ValueError(f"{option} is {file!r}, which cannot be read: {error.strerror}.") from None


def _model(classifier: str | None, epsilon: float, seed: int, blocks: int | None) -> CertifiedClassifier:
    model = CertifiedClassifier(epsilon=epsilon, random_state=seed)
    if blocks is not None:
        model.set_params(scheme="progressive", n_blocks=blocks)
    if classifier is None:
        maps = StandardScaler(), RandomFourierFeatures(n_components=_N_COMPONENTS)
        if blocks is None:
            return model.set_params(features=make_pipeline(*maps))
        return model.set_params(estimator=make_pipeline(*maps, RidgeClassifier()))
    module, _, name = classifier.rpartition(".")
    try:
        made = getattr(import_module(module), name)()
    except (ImportError, AttributeError, TypeError, ValueError):
        made = None
    if not hasattr(made, "__sklearn_tags__") or not is_classifier(made):
        raise ValueError(
            f"--classifier is {classifier!r}; the import path of a classifier that needs no arguments is needed, such "
            "as sklearn.ensemble.RandomForestClassifier."
        )
    return model.set_params(estimator=made)


def sentence(record: dict[str, Any]) -> str:
    """What may be said aloud; the percentage is rounded up."""
    percent = math.ceil(round(1000 * record["risk_bound"], 6)) / 10
    certified = (
        f"With confidence {100 * (1 - record['epsilon']):g} % at most {percent:g} % of new rows like these are "
        "misclassified"
    )
    classifiers = len(record.get("rows of each block", []))
    if classifiers < 2:
        return f"{certified}."
    return f"{certified}, if each is predicted by a random one of the {classifiers} blocks' classifiers."


def page(record: dict[str, Any]) -> str:
    """The certificate as one page in HTML, which holds its record."""
    document = Document(f"Certificate for {record['target']} in {record['file']}")
    document.words(sentence(record))
    if "blocks" in record:
        document.words(
            "The classifier of a block learned from all rows before it and was tested on those of the block. It is "
            "drawn in proportion to the rows of its block that count."
        )
    document.words(
        "It assumes that the rows are independent draws from one distribution, and that new rows come from the same. "
        + " ".join(f"Caution: {caution}" for caution in record["cautions"])
    )
    document.ledger([(name, risk) for name, _, risk in record["terms"]], "certified risk")
    document.table(pd.DataFrame(record["terms"], columns=["term", "nats", "risk"]))
    shown = {key: value for key, value in record.items() if key not in ("terms", "cautions", "versions")}
    shown["versions"] = [f"{name} {text}" for name, text in record["versions"].items()]
    shown["checksum of this certificate"] = sha256(json.dumps(record).encode()).hexdigest()
    texts = [", ".join(map(str, value)) if isinstance(value, list) else str(value) for value in shown.values()]
    document.table(pd.DataFrame({"of": list(shown), "value": texts}))
    document.data(record)
    return document.html()


def verify(file: str) -> dict[str, Any]:
    """The record of a page, whose every character it gives and whose bound follows from its numbers.

    Raises
    ------
    ValueError
        If it is no such page, or a character differs.
    """
    text = _read(file, "--verify").decode("utf-8", "replace")
    match = _RECORD.search(text)
    try:
        record = json.loads(match[1]) if match else {}
        same = page(record) == text and _follows(record)
    except (KeyError, TypeError, ValueError, IndexError):
        raise ValueError(f"--verify is {file!r}, which holds no certificate that `certify --html` wrote.") from None
    if not same:
        raise ValueError(f"--verify is {file!r}, which was changed: its text, terms and bound do not agree.")
    return record


def _follows(record: dict[str, Any]) -> bool:
    """Whether the terms add up to the bound, and errors on the rows give it."""
    terms, bound, n = record["terms"], record["risk_bound"], record["rows of the bound"]
    right = math.isclose(sum(risk for _, _, risk in terms), bound, rel_tol=1e-9)
    if record["arm"] == "test set":
        epsilon = math.exp(-sum(nats for _, nats, _ in terms))
        right &= math.isclose(bounds.test_set(round(n * terms[0][2]), n, epsilon), bound, rel_tol=1e-9)
    if record["arm"] == "progressive":
        right &= sum(record["rows of each block"]) == n and bound >= terms[0][2]
        right &= math.isclose(record["errors on them"] / n, terms[0][2], rel_tol=1e-9)
    if record["arm"] != "posterior":
        right &= math.isclose(terms[1][1], -math.log(record["epsilon"]), rel_tol=1e-9)
    return right
