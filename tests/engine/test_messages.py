"""Warnings point to the line of the caller, and TypeErrors name public classes."""

import ast
import inspect
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import rff_engine as rff
from rff_engine import _warning

ENGINE = Path(rff.__file__).parent
X, Y = np.random.default_rng(0).normal(size=(12, 5)), np.arange(12) % 2
FEW = {"n_components": 3, "sampling": "moment_matching", "random_state": 0}  # too few to match a covariance

# Calls that give the engine's warnings.
CALLS = {
    "draw_frequencies": lambda: rff.draw_frequencies(rff.GaussianKernel(), 3, 5, "moment_matching", 0),
    "fit": lambda: rff.RandomFourierFeatures(**FEW).fit(X),
    "fit_transform": lambda: rff.RandomFourierFeatures(**FEW).fit_transform(X),
    "fit of a subclass": lambda: rff.AdaptiveFourierFeatures(**FEW).fit(X),
    "pipeline": lambda: make_pipeline(rff.RandomFourierFeatures(**FEW), RidgeClassifier()).fit(X, Y),
    "grid search": lambda: GridSearchCV(
        make_pipeline(rff.RandomFourierFeatures(**FEW), RidgeClassifier()), {"ridgeclassifier__alpha": [1.0]}, cv=2
    ).fit(X, Y),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_warning_points_to_the_line_of_the_caller(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CALLS[call]()
    lines = inspect.getsourcelines(CALLS[call])
    assert caught
    for warning in caught:
        assert "too few to match a covariance" in str(warning.message)
        assert warning.filename == __file__
        assert lines[1] <= warning.lineno < lines[1] + len(lines[0])


def test_warning_points_to_the_outermost_line_without_a_caller_outside():
    code = compile("def call(function): function('said')\ncall(warn)", "outermost.py", "exec")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(code, {"__name__": "sklearn.somewhere", "warn": _warning.warn})
    assert caught[0].filename == __file__ and caught[0].category is UserWarning


@pytest.mark.slow
def test_engine_warns_only_through_warn():
    found = set()
    for path in ENGINE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            imported = isinstance(node, ast.ImportFrom) and node.module == "warnings" and node.level == 0
            if called == "warnings.warn" or (imported and any(alias.name == "warn" for alias in node.names)):
                found.add(path.name)
    assert found == {"_warning.py"}


# --- TypeErrors ---------------------------------------------------------------------------------------------------

CLASSES = [value for value in map(vars(rff).get, rff.__all__) if inspect.isclass(value)]


@pytest.mark.parametrize("value", CLASSES, ids=lambda value: value.__name__)
def test_a_type_error_names_the_class_that_was_typed(value):
    with pytest.raises(TypeError, match=rf"\b{value.__name__}\b"):
        value(no_such_argument=1)
    for name, method in inspect.getmembers(value, inspect.isfunction):
        ours = method.__module__.startswith("rff_engine") and (not name.startswith("_") or name == "__call__")
        if ours and name not in ("get_params", "set_params"):  # they take any name
            with pytest.raises(TypeError, match=rf"^(SpectralKernel\.__call__|{value.__name__}\.{name})\(\) "):
                method(None, no_such_argument=1)


@pytest.mark.parametrize("value", CLASSES, ids=lambda value: value.__name__)
def test_no_method_of_a_public_class_has_a_private_name(value):
    for name, method in inspect.getmembers(value, inspect.isfunction):
        method = inspect.unwrap(method)
        called_by_others = not name.startswith("_") or name in ("__init__", "__call__")
        if called_by_others and method.__module__.startswith("rff_engine"):
            assert not method.__qualname__.startswith("_"), method.__qualname__


@pytest.mark.parametrize("value", CLASSES, ids=lambda value: value.__name__)
def test_the_signature_of_a_class_is_that_of_its_constructor(value):
    shown = inspect.signature(value).parameters
    assert list(shown) == list(inspect.signature(value.__init__).parameters)[1:]
    assert "X" in inspect.signature(rff.GaussianKernel()).parameters
