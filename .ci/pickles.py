"""Pickles of one version, read by another: `write FILE` under the old one, then `check FILE` under the new one."""

import pickle
import sys
from pathlib import Path

import numpy as np

import rff_engine as rff


def main() -> None:
    """Write the file, or compare what it holds with what this version computes."""
    action, file = sys.argv[1:]
    if action == "write":
        Path(file).write_bytes(pickle.dumps(fitted()))
    else:
        check(pickle.loads(Path(file).read_bytes()))


def fitted() -> dict:
    """Every estimator that transforms, fitted on 40 points, and what each makes of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.arange(40) % 2
    classes = [one for one in vars(rff).values() if isinstance(one, type) and hasattr(one, "transform")]
    models = [one(random_state=0).fit(X, y) for one in classes]
    return {"X": X, "models": models, "features": [model.transform(X) for model in models]}


def check(kept: dict) -> None:
    """Raise where an estimator of the file gives other features than it gave then."""
    for model, features in zip(kept["models"], kept["features"], strict=True):
        np.testing.assert_allclose(
            model.transform(kept["X"]), features, rtol=0, atol=1e-9, err_msg=type(model).__name__
        )
        print(type(model).__name__, "agrees")


if __name__ == "__main__":
    main()
