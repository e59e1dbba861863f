"""A certificate of the user's own table as a record, a sentence, and one page in HTML that can be verified."""

from __future__ import annotations

import json
import math
import platform
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from html import escape
from importlib import import_module
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any

import numpy
import pandas as pd
import scipy
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.discovery import all_estimators

import rff_datasets as sets
import rff_engine

from ... import CertifiedClassifier, RandomFourierFeatures
from ..._validation import LARGEST, shown

_OWN = "a vote on 200 random Fourier features of scaled columns"
_OWN_OF_BLOCKS = "ridge regression of the labels on 200 random Fourier features of scaled columns"
_FITTED = "a fitted model, by a column of its predictions"
_N_COMPONENTS = 200
_VERSIONS = {"python": platform.python_version().partition("+")[0]} | {
    module.__name__: module.__version__.partition("+")[0] for module in (rff_engine, numpy, scipy, sklearn)
}
_VERSION = re.compile(r"[0-9]{1,4}(\.[0-9]{1,4}){0,3}((a|b|rc)[0-9]{1,4})?(\.post[0-9]{1,4})?(\.dev[0-9]{1,8})?")
_STYLE = """
body {max-width: 75rem; margin: 2rem auto; padding: 0 1.5rem; font: 16px/1.5 system-ui, sans-serif; color: #1f2430}
h1 {font-size: 1.7rem}
table {border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums}
th, td {padding: 0.2rem 0.7rem; border-bottom: 1px solid #d9dce3; text-align: right}
th:first-child, td:first-child {text-align: left}
:is(th, td):nth-child(2):last-child {text-align: left; overflow-wrap: anywhere}
.wide {overflow-x: auto; margin-top: 1rem}
.ledger {display: block; width: 100%; max-width: 26rem; font-size: 13px; fill: #1f2430}
@page {margin: 15mm}
@media print {
  body {max-width: none; margin: 0; padding: 0; font-size: 14px}
  th, td {padding-block: 0.1rem}
  .wide {overflow: visible}
  tr, .ledger {break-inside: avoid}
}
"""
_BAR_WIDTH, _BAR_STEP, _BAR_COLOURS = 360, 28, ("#9aa1b0", "#2f5fd0")
_ESCAPED = "\\u003c"  # a "<" in JSON, which could end a script
_GIVEN = {"target": str, "classifier": str, "epsilon": float, "seed": int, "blocks": int, "versions": dict}
"""What a page is asked for; all else in it has to follow"""


def certify_table(
    file: str,
    target: str,
    classifier: str | None,
    epsilon: float,
    seed: int,
    blocks: int | None = None,
    predictions: str | None = None,
) -> dict[str, Any]:
    """Fit a certified classifier to a table, and record all that its certificate depends on.

    First, rows with missing values are dropped, and columns that identify rows are left out. With `predictions` nothing
    is fitted: every row with a target counts, a missing prediction as an error.

    Parameters
    ----------
    file : str
        A table in any format of `datasets.read_table`.
    target : str
        The column to predict.
    classifier : str or None
        Import path of a classifier's class that needs no arguments; None stands for a vote on random Fourier features,
        or for ridge regression on them in blocks.
    blocks : int or None
        Blocks of progressive validation; None: nothing learns from the rows of the bound.
    predictions : str or None
        The column that holds what a model says that was neither fitted nor chosen on these rows.

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
    if predictions is None:
        columns = sets.suggest_columns(table, target)
        as_they_are = sets.Limits(unscaled=LARGEST)  # the classifier scales, or does not need to
        dataset = sets.prepare(table, target, columns, "none", "drop", "classification", as_they_are)
        frozen, X, y, names = None, dataset.X, dataset.y, dataset.label_names
    else:
        columns, seed, names = (predictions,), 0, {}
        frozen, X, y = _frozen(table, target, predictions, epsilon)
    with warnings.catch_warnings(record=True) as caught, _one_sentence(classifier):
        warnings.simplefilter("always", UserWarning)
        model = (frozen or _model(classifier, epsilon, seed, blocks)).fit(X, y)
    more: dict[str, Any] = {} if predictions is None else {"predictions": predictions}
    if blocks is not None:
        more = {"blocks": blocks, "rows of each block": model.block_sizes_.tolist()}
    return {
        "file": Path(file).name,
        "sha256": sha256(data).hexdigest(),
        "target": target,
        "columns": list(columns),
        "rows": len(y),
        "classes": [names.get(label, label) for label in model.classes_.tolist()],
        "classifier": _FITTED if predictions else classifier or (_OWN if blocks is None else _OWN_OF_BLOCKS),
        "seed": seed,
        "epsilon": epsilon,
        "rows of the bound": len(model.bound_rows_),
        "errors on them": model.n_errors_,
        "error of the majority": model.majority_error_,
        "arm": model.arm_,
        "terms": [[term.name, float(term.nats), float(term.risk)] for term in model.certificate_],
        "risk_bound": model.risk_bound_,
        "cautions": [str(one.message) for one in caught if issubclass(one.category, UserWarning)],
        "versions": _VERSIONS,
    } | more


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
    return model.set_params(estimator=_made(classifier))


class _Said(ClassifierMixin, BaseEstimator):
    """A model of which the predictions for the rows of a table are known, and nothing else."""

    def __init__(self, predictions: numpy.ndarray):
        self.predictions: numpy.ndarray = predictions

    def predict(self, _) -> numpy.ndarray:
        return self.predictions


def _frozen(table: sets.Table, target: str, predictions: str, epsilon: float) -> tuple[CertifiedClassifier, Any, Any]:
    """Return the classifier of a column of predictions, and the other columns and the labels of rows with a target."""
    if predictions == target:
        raise ValueError(f"--predictions is {predictions!r}, which is the target; what a model says of it is needed.")
    goal, said = table.column(target), table.column(predictions)
    others = {column.name: column.values for column in table.columns if column.name not in (target, predictions)}
    kept = ~goal.missing
    model = CertifiedClassifier(epsilon=epsilon, estimator=FrozenEstimator(_Said(_texts(said)[kept])))
    return model, pd.DataFrame(others, index=range(len(kept)))[kept], _texts(goal)[kept]


def _texts(column: Any) -> numpy.ndarray:
    """Return the values of a column as texts, numbers with all their digits."""
    if column.kind == "text":
        return numpy.array([*column.categories, ""])[column.values]
    return numpy.array([f"{value:.17g}" for value in column.values])


def _made(classifier: str) -> Any:
    """Make a classifier of a class that the caller names; call the class only if it is a classifier's."""
    module, _, name = classifier.rpartition(".")
    try:
        kind = known_classifiers().get(classifier) or getattr(import_module(module), name)
        made = kind() if isinstance(kind, type) and hasattr(kind, "__sklearn_tags__") else None
    except (ImportError, AttributeError, TypeError, ValueError):
        made = None
    if made is None or not is_classifier(made):
        raise ValueError(
            f"--classifier is {classifier!r}; the import path of a classifier's class that needs no arguments is "
            "needed, such as sklearn.ensemble.RandomForestClassifier."
        )
    return made


@cache
def known_classifiers() -> dict[str, type]:
    """Return the classes that a page may name, by import path: classifiers of scikit-learn and of this engine."""
    named = all_estimators(type_filter="classifier")
    public = {
        ".".join([*takewhile(lambda part: part[0] != "_", kind.__module__.split(".")), name]): kind
        for name, kind in named
    }
    own = {f"rff_engine.{name}": getattr(rff_engine, name) for name in rff_engine.__all__}
    return public | {
        path: kind for path, kind in own.items() if isinstance(kind, type) and issubclass(kind, ClassifierMixin)
    }


@contextmanager
def _one_sentence(classifier: str | None) -> Iterator[None]:
    """Turn an error or exit of a named classifier into a ValueError of one sentence."""
    try:
        yield
    except (ValueError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        if classifier is None:
            raise
        raise ValueError(f"--classifier is {classifier!r}, which fails on this table: {shown(error)}.") from None


def sentence(record: dict[str, Any]) -> str:
    """Say the certificate in a sentence, with its condition; the percentage is rounded up."""
    percent = math.ceil(round(1000 * record["risk_bound"], 6)) / 10
    certified = (
        f"With confidence {100 * (1 - record['epsilon']):g} % at most {percent:g} % of new rows like these are "
        "misclassified"
    )
    if "predictions" in record:
        return f"{certified}, if the model was neither fitted nor chosen on these rows."
    classifiers = len(record.get("rows of each block", []))
    if classifiers < 2:
        return f"{certified}."
    return f"{certified}, if each is predicted by a random one of the {classifiers} blocks' classifiers."


def majority_in_words(record: dict[str, Any]) -> str:
    """Say how often the most frequent class is wrong, which a certificate has to be below to say something."""
    where = "in these rows themselves" if "predictions" in record else "in the rows that teach"
    percent = 100 * record["error of the majority"]
    return f"Always saying the class that is most frequent {where} errs on {percent:.3g} % of the rows of the bound."


def page(record: dict[str, Any]) -> str:
    """Return the certificate as one page in HTML, which holds its record."""
    title = f"Certificate for {record['target']} in {record['file']}"
    words = [sentence(record), majority_in_words(record)]
    if "blocks" in record:
        words.append(
            "The classifier of a block learned from all rows before it and was tested on those of the block. It is "
            "drawn in proportion to the rows of its block that count."
        )
    words.append(
        "It assumes that the rows are independent draws from one distribution, and that new rows come from the same. "
        + " ".join(f"Caution: {caution}" for caution in record["cautions"])
    )
    shown = {key: value for key, value in record.items() if key not in ("terms", "cautions", "versions")}
    shown["versions"] = [f"{name} {text}" for name, text in record["versions"].items()]
    shown["checksum of this certificate"] = sha256(json.dumps(record).encode()).hexdigest()
    texts = [", ".join(map(str, value)) if isinstance(value, list) else str(value) for value in shown.values()]
    parts = [
        f"<h1>{escape(title)}</h1>",
        *(f"<p>{escape(text)}</p>" for text in words),
        _ledger([(name, risk) for name, _, risk in record["terms"]], "certified risk"),
        _table(pd.DataFrame(record["terms"], columns=["term", "nats", "risk"])),
        _table(pd.DataFrame({"of": list(shown), "value": texts})),
        # For programs that read the page.
        f'<script type="application/json">{json.dumps(record).replace("<", _ESCAPED)}</script>',
    ]
    body = "\n".join(parts)
    text = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )
    # A visitor names the file. The name may hold invisible characters, such as marks of writing direction.
    return "".join(one if one.isprintable() or one == "\n" else repr(one)[1:-1] for one in text)


def _table(frame: pd.DataFrame) -> str:
    table = frame.to_html(index=False, border=0, na_rep="", float_format="{:.4f}".format)
    return f'<div class="wide" tabindex="0">{table}</div>'


def _ledger(terms: Sequence[tuple[str, float]], total: str) -> str:
    """Draw terms (name, share) that add up, each bar from the end of the last one, and their sum."""
    ends = [0.0, *accumulate(share for _, share in terms)]
    bars = [(name, share, *sorted(ends[i : i + 2])) for i, (name, share) in enumerate(terms)]
    bars.append((total, ends[-1], *sorted((0.0, ends[-1]))))
    scale = _BAR_WIDTH / (max(map(abs, ends)) or 1.0)
    drawn = "".join(
        f'<text y="{_BAR_STEP * i + 12}">{escape(name)}</text>'
        f'<text x="{_BAR_WIDTH}" y="{_BAR_STEP * i + 12}" text-anchor="end">{100 * share:.3g} %</text>'
        f'<rect x="{low * scale:.2f}" y="{_BAR_STEP * i + 16}" width="{(high - low) * scale:.2f}" height="8"'
        f' fill="{_BAR_COLOURS[i == len(terms)]}"/>'
        for i, (name, share, low, high) in enumerate(bars)
    )
    alt = f"{total} {100 * ends[-1]:.3g} %, the sum of {len(terms)} terms"
    view = f"0 0 {_BAR_WIDTH} {_BAR_STEP * len(bars)}"
    return f'<svg class="ledger" role="img" aria-label="{escape(alt)}" viewBox="{view}">{drawn}</svg>'


def verify(file: str, table: str, classifier: str | None = None, predictions: str | None = None) -> dict[str, Any]:
    """Return the record of a page if every character of the page follows from the table.

    A page comes from anywhere. It names a column of the table and one of `known_classifiers`. Nothing else of it is
    believed but the versions, and only their form can be checked.

    Parameters
    ----------
    file, table : str
        The page, and its table with the name that it had.
    classifier : str, optional
        Import path of the caller's own class, which the page has to name as well.
    predictions : str, optional
        The column of a fitted model's predictions, without which nothing of its certificate can be computed again.

    Raises
    ------
    ValueError
        If it is no such page, names another class, or a character differs.
    """
    data = _read(file, "--verify")
    record = _asked(data, file)
    named = record["classifier"]
    if predictions is None and "predictions" in record:
        raise ValueError(
            f"--verify is {file!r}, of a fitted model, which cannot be computed again from the table and a class; with "
            "--predictions, a column of the table that holds what the model says, its errors are counted again."
        )
    if (
        classifier is None
        and predictions is None
        and named not in (_OWN, _OWN_OF_BLOCKS)
        and named not in known_classifiers()
    ):
        raise ValueError(
            f"--verify is {file!r}, which names {shown(named)}, no classifier of scikit-learn or rff_engine; if it is "
            "one of your own, give it as --classifier."
        )
    classifier = classifier or (named if named in known_classifiers() else None)
    given = record["target"], classifier, record["epsilon"], record["seed"]
    again = certify_table(table, *given, None if predictions else record.get("blocks"), predictions)
    again["versions"] = record["versions"]
    if page(again).encode() != data:
        differing = [key for key in again if key not in record or record[key] != again[key]]
        what = differing[0] if differing else "text"
        raise ValueError(f"--verify is {file!r}, which was changed: --table {table!r} gives another {what}.")
    return again


def _asked(data: bytes, file: str) -> dict[str, Any]:
    """Read the record in a page, with the entries of `_GIVEN` in their form."""
    record: dict[str, Any] = {}
    try:
        record = json.loads(data.decode().partition('<script type="application/json">')[2].partition("</script>")[0])
        given = {name: record[name] for name in _GIVEN if name != "blocks"} | {"blocks": record.get("blocks", 1)}
        right = {name: type(value) for name, value in given.items()} == _GIVEN
        right = right and 0 < given["epsilon"] < 1 and given["seed"] >= 0 and given["blocks"] >= 1
        right = right and list(given["versions"]) == list(_VERSIONS)
        right = right and all(map(_VERSION.fullmatch, given["versions"].values()))
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        right = False
    if not right:
        raise ValueError(f"--verify is {file!r}, which holds no certificate that `certify --html` wrote.")
    return record
