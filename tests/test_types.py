"""A user's program is clean under pyright's strict mode, and the public names of the package have types."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
JAVASCRIPT = ROOT / "tests" / "javascript"
PROGRAM = """
import numpy as np
import rff_engine as rff
from rff_engine import bounds
import rff_datasets as datasets
from rff_engine.plots import BoundCurveDisplay, SpectralWeightsDisplay

X = np.random.default_rng(0).normal(size=(40, 2))
y = (X[:, 0] > 0).astype(int)
prior = rff.SumKernel((rff.GaussianKernel(0.5), rff.RationalQuadraticKernel(alpha=1.0, length_scale=2.0)))
model = rff.PseudoPosteriorFeatures(prior, n_components=5, n_candidates=100, beta="bound", random_state=0)
features: np.ndarray = model.fit(X, y).transform(X)
bound: float | None = model.bound_
omega = prior.sample_frequencies(50, 2, random_state=0)
Q = rff.pseudo_posterior(rff.alignment_loss(X, y, omega, sample_weight=np.ones(40)), beta=1.0, n=40)
print(features.shape, bound, rff.kl_divergence(Q), model.set_params(beta=2.0).get_params())
similarity = rff.LandmarkSimilarity(n_landmarks=4, selection="random", random_state=0).fit(X, y)
weights: np.ndarray = SpectralWeightsDisplay.from_estimator(similarity).weights
print(BoundCurveDisplay.from_estimator(similarity, betas=[0.1, 1.0, 10.0]).betas.shape, weights.shape)
classifier = rff.CertifiedClassifier(rff.RandomFourierFeatures(n_components=5), epsilon=0.05).fit(X, y)
terms: list[str] = [f"{term.name}: {term.nats:.2f}" for term in classifier.certificate_]
print(terms, classifier.risk_bound_, classifier.predict(X).shape, bounds.test_set(3, 40, 0.05))
split = datasets.published_split("breast")
print(split.X_train.shape, rff.GaussianKernel().scaled_to(split.X_train))
"""

pytestmark = pytest.mark.slow("starts the type checker")


def pyright(*arguments: str, **variables: str) -> str:
    if shutil.which("node") is None or not (JAVASCRIPT / "node_modules" / "pyright").exists():
        pytest.skip("pyright is not installed: npm ci")
    command = ["node", str(JAVASCRIPT / "node_modules" / "pyright" / "index.js"), *arguments]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, check=False)
    return done.stdout


@pytest.mark.second
def test_a_program_of_a_user_is_clean_in_strict_mode(tmp_path):
    settings = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "extraPaths": [str(ROOT)]}
    settings |= {"stubPath": str(ROOT / "tests" / "typings"), "reportMissingModuleSource": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    said = pyright("-p", str(tmp_path), "--pythonpath", sys.executable)
    assert "0 errors, 0 warnings" in said, said
    (tmp_path / "program.py").write_text(PROGRAM + "rff.GaussianKernel(sigma=[1.0])\nrff.misspelt\n", encoding="utf-8")
    said = pyright("-p", str(tmp_path), "--pythonpath", sys.executable)
    assert '"sigma"' in said and '"misspelt" is not a known attribute' in said, said


@pytest.mark.more(after=1)
@pytest.mark.parametrize(("package", "names"), [("rff_engine", 1500), ("datasets", 100)])
def test_the_public_names_of_the_package_have_types(package, names):
    """At least 99 %, for names that inherit from classes of libraries without types."""
    arguments = ("--pythonpath", sys.executable, "--verifytypes", package, "--ignoreexternal", "--outputjson")
    report = json.loads(pyright(*arguments, PYTHONPATH=str(ROOT)))["typeCompleteness"]
    public = [symbol for symbol in report["symbols"] if symbol["isExported"]]
    unknown = [symbol["name"] for symbol in public if not symbol["isTypeKnown"]]
    assert len(public) > names and len(unknown) <= 0.01 * len(public), unknown
