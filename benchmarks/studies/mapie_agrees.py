"""Whether MAPIE gives the same conformal sets and the same certified risks as `benchmarks.studies.any_classifier`.

    python -m venv mapie && mapie/bin/pip install mapie pandas platformdirs psutil sqlalchemy
    mapie/bin/python -m benchmarks.studies.mapie_agrees

MAPIE is no dependency. On the rows and classifiers of that table its `SplitConformalClassifier` is calibrated, and for
two classes its `BinaryClassificationController` tests, for the one predicted label, whether the risk is below the
certificate: the p-value is epsilon where both ask the same.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module, metadata
from itertools import product

import numpy as np
from scipy.stats import binom

from benchmarks.studies.any_classifier import CLASSIFIERS, EPSILON, SEEDS, SETS, conformal_level
from rff_engine import CertifiedClassifier

_ROUNDING = 1e-9


def main() -> None:
    conformal = import_module("mapie.classification").SplitConformalClassifier
    controller = import_module("mapie.risk_control").BinaryClassificationController
    n_sets = differ = rounded = 0
    p_values = []  # theirs, and what one error more would give
    for dataset, classifier, seed in product(SETS, CLASSIFIERS, range(SEEDS)):
        X, X_fresh, y, _ = SETS[dataset](seed)
        estimator = CLASSIFIERS[classifier]()
        model = CertifiedClassifier(estimator=estimator, epsilon=EPSILON, random_state=seed).fit(X, y)
        given = X[model.bound_rows_], y[model.bound_rows_]
        theirs = conformal(model.estimator_, confidence_level=1 - EPSILON, conformity_score="lac", prefit=True)
        sets = theirs.conformalize(*given).predict_set(X_fresh)[1][:, :, 0]
        above = model.estimator_.predict_proba(X_fresh) - conformal_level(model.estimator_, *given)
        other = sets != (above >= 0)
        n_sets += len(sets)
        differ += int(other.any(axis=1).sum())
        rounded += int((other & (np.abs(above) < _ROUNDING)).any(axis=1).sum())
        if len(model.classes_) == 2:
            accuracy = 1 - model.risk_bound_
            label = partial(_label, model)
            asked = controller(label, "accuracy", accuracy, 1 - EPSILON, list_predict_params=np.array([0.5]))
            more = binom.cdf(model.n_errors_ + 1, len(model.bound_rows_), model.risk_bound_)
            p_values.append((float(np.ravel(asked.calibrate(*given).p_values)[0]), more))
    p_value, one_more = np.array(p_values).T
    same = np.abs(p_value - EPSILON) < _ROUNDING
    print("MAPIE", metadata.version("mapie"))
    print(f"sets: {n_sets}, of which {differ} differ, {rounded} by a class within {_ROUNDING:g} of the level")
    print(f"certificates: {len(p_value)}; p-value epsilon in {same.sum()}, that of one error more in", end=" ")
    print((np.abs(p_value - one_more) < _ROUNDING).sum())


def _label(model: CertifiedClassifier, X: np.ndarray) -> np.ndarray:
    """The predicted label, 0 or 1, as probabilities, (n, 2)."""
    return np.eye(2)[model.predict(X)]


if __name__ == "__main__":
    main()
