"""A user's program is clean under pyright's strict mode, and the core's public names have types."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = """
import numpy as np
import rff_engine as rff

X = np.random.default_rng(0).normal(size=(40, 2))
y = (X[:, 0] > 0).astype(int)
prior = rff.SumKernel((rff.GaussianKernel(0.5), rff.RationalQuadraticKernel(1.0, 2.0)))
model = rff.PseudoPosteriorFeatures(prior, n_components=5, n_candidates=100, beta="bound", random_state=0)
features: np.ndarray = model.fit(X, y).transform(X)
bound: float | None = model.bound_
omega = prior.sample_frequencies(50, 2, random_state=0)
loss = rff.alignment_loss(X, y, omega, sample_weight=np.ones(40))
Q = rff.pseudo_posterior(loss, beta=1.0, n=40)
sums = rff.alignment_sums(X, y, omega) + rff.alignment_sums(X, y, omega)
print(features.shape, bound, rff.kl_divergence(Q), sums.counts, model.set_params(beta=2.0).get_params())
"""
#: Modules whose names users import from the package.
CORE = "adaptive adaptive_estimators alignment approximation_bounds column_kernels composed_kernels estimators features"
CORE += " frequencies kernels landmarks linear losses nystroem posteriors ridge"

pytestmark = pytest.mark.slow("starts the type checker")


def pyright(*arguments: str, **variables: str) -> str:
    if shutil.which("node") is None or not (ROOT / "node_modules" / "pyright").exists():
        pytest.skip("pyright is not installed: npm ci")
    command = ["node", str(ROOT / "node_modules" / "pyright" / "index.js"), *arguments]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, check=False)
    return done.stdout


def test_a_program_of_a_user_is_clean_in_strict_mode(tmp_path):
    settings = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    said = pyright("-p", str(tmp_path), "--pythonpath", sys.executable)
    assert "0 errors, 0 warnings" in said, said
    (tmp_path / "program.py").write_text(PROGRAM + "rff.GaussianKernel(sigma=[1.0])\n", encoding="utf-8")
    assert "1 error" in pyright("-p", str(tmp_path), "--pythonpath", sys.executable)


def test_the_public_names_of_the_core_have_types():
    """At least 95 %; the remaining ones have base classes of libraries without types."""
    arguments = ("--pythonpath", sys.executable, "--verifytypes", "rff_engine", "--ignoreexternal", "--outputjson")
    report = json.loads(pyright(*arguments, PYTHONPATH=str(ROOT)))
    modules = {f"rff_engine.{name}" for name in CORE.split()}
    core = [
        symbol
        for symbol in report["typeCompleteness"]["symbols"]
        if symbol["isExported"] and ".".join(symbol["name"].split(".")[:2]) in modules
    ]
    unknown = [symbol["name"] for symbol in core if not symbol["isTypeKnown"]]
    assert len(core) > 300 and len(unknown) <= 0.05 * len(core), unknown
