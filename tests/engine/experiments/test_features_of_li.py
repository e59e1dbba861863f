"""The kernel approximation and the feature comparison, through runner and store, against slow formulas."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import qmc
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_predict
from sklearn.svm import LinearSVC

from pages.papers import tables as reruns
from rff_engine import GaussianKernel
from rff_engine.__main__ import main
from rff_engine._validation import draw_seed
from rff_engine.adaptive import adapt_frequencies, kernel_landmarks, relative_kernel_error
from rff_engine.frequencies import draw_frequencies
from rff_engine.studies import kernel_approximation
from rff_engine.studies.feature_comparison import _folds
from rff_engine.studies.feature_methods import DESCENDED, METHODS, UNLABELLED, VARIANTS, fit_features, tolerance
from rff_engine.studies.letarte_problem import LetarteProblem
from rff_engine.studies.li_problem import LiProblem
from rff_engine.studies.problem import COLUMNS
from rff_engine.studies.protocols import FeatureComparison, KernelApproximation, RunSpec
from rff_engine.studies.reports import li, reproduction
from rff_engine.studies.running.run import problem_of, run, run_stored
from rff_engine.studies.running.store import Store

SMALL = ("monte_carlo", "sample", "nystroem")
APPROXIMATION = KernelApproximation(n_features=(5, 10), methods=SMALL)
COMPARISON = FeatureComparison(n_features=(8,), methods=("monte_carlo", "align", "pbrff"), folds=3)


def make_split(seed=0, task="regression", n=120, n_classes=2):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.standard_normal((n, 3)) * [1, 10, 0.1], np.ones(n)])
    y = np.sin(X[:, 0]) + X[:, 1] / 10 + 0.3 * rng.standard_normal(n)
    if task == "classification":
        y = np.where(y > 0, 1, -1) if n_classes == 2 else np.digitize(y, [-0.5, 0.5]) * 10
    a = 2 * n // 3
    return SimpleNamespace(X_train=X[:a], y_train=y[:a], X_test=X[a:], y_test=y[a:], task=task)


def frame_of(protocol, split, **named):
    problem = problem_of(protocol, split, dataset="toy", split_name="random", run_id="r", **named)
    rows = [row for step in run(problem, protocol) for row in step.rows]
    return pd.DataFrame(rows, columns=list(COLUMNS)).drop(columns="seconds")


def in_order(frame):
    frame = pd.DataFrame(frame).drop(columns="seconds", errors="ignore")
    return frame.sort_values(["repeat", "method", "D", "beta", "rho"], ignore_index=True)


def same(frame, other):
    pd.testing.assert_frame_equal(in_order(frame), in_order(other), check_dtype=False, check_exact=True)


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize("rows", [7, 2048])
def test_error_equals_the_naive_formula(rows, monkeypatch):
    monkeypatch.setattr(kernel_approximation, "_BLOCK_ROWS", rows)
    split = make_split()
    problem = LiProblem.of(split, {}, 0, "standard")
    np.testing.assert_allclose(problem.train.X.std(axis=0), [1, 1, 1, 0], atol=1e-12)  # a constant column stays 0
    frame = frame_of(APPROXIMATION, split).set_index(["method", "D"])
    assert len(frame) == 6 and (frame["gamma"] == 1 / 4).all()  # 2 sigma^2 = d
    for (method, r), row in frame.iterrows():
        fitted = fit_features(method, problem.train.X, None, problem.kernel, r, problem.rng("features", r))
        for part, error in ((problem.train, row["train_error"]), (problem.test, row["test_error"])):
            Z, K = fitted.transform(part.X), problem.kernel(part.X)
            naive = np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)
            assert error == pytest.approx(naive, rel=1e-4)  # features are float32
            assert relative_kernel_error(part.X, problem.kernel, Z) == pytest.approx(naive)
        assert row["valid_error"] == row["train_error"]


def test_notes_give_the_number_of_evaluated_rows():
    split = make_split()
    frame = frame_of(replace(APPROXIMATION, max_evaluated=60), split)
    assert (frame["note"] == "errors on 60 of 80 training rows").all()
    assert (frame["train_error"] != frame_of(APPROXIMATION, split)["train_error"]).all()
    fewer = frame_of(replace(APPROXIMATION, max_train=50), split)
    assert (fewer["note"] == "trained on 50 of 80 training rows").all()


def test_warnings_of_a_method_are_in_its_note():
    protocol = replace(APPROXIMATION, n_features=(2,), methods=("monte_carlo", "moment_matching"))
    notes = frame_of(protocol, make_split()).set_index("method")["note"]
    assert notes["monte_carlo"] == "" and "too few to match a covariance" in notes["moment_matching"]


# --- methods as their papers have them ---


def test_leaped_points_are_those_of_the_sequence():
    kernel, X = GaussianKernel(1.0), np.zeros((3, 5))
    found = fit_features("sobol_leaped", X, None, kernel, 4, 0)
    whole = qmc.Sobol(5, rng=np.random.default_rng(draw_seed(np.random.default_rng(0)))).random(4096)
    np.testing.assert_allclose(found.frequencies, kernel.frequencies_at(whole[[1000, 1701, 2402, 3103]]))


def test_regressed_weights_lower_the_error_and_are_not_negative():
    X = np.random.default_rng(5).normal(size=(200, 4))
    kernel = GaussianKernel(1.5)
    errors = {}
    for name in ("monte_carlo", "weight_regression"):
        fitted = fit_features(name, X, None, kernel, 30, 1)
        errors[name] = relative_kernel_error(X, kernel, fitted.transform(X))
    assert fitted.weights.min() >= 0 and fitted.weights.shape == (30,)
    assert errors["weight_regression"] < errors["monte_carlo"]
    assert fit_features("weight_regression", X[:1], None, kernel, 3, 1).weights.shape == (3,)


@pytest.mark.more(after=6)
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in VARIANTS if name in DESCENDED])
def test_alternating_methods_differ_from_those_of_the_tables_by_the_solver_alone(name):
    X = np.random.default_rng(5).normal(size=(60, 3))
    y = np.sin(2 * X[:, 0]) > 0
    found, usual = (fit_features(method, X, y, GaussianKernel(1.5), 8, 1) for method in (name, VARIANTS[name]))
    start = fit_features("monte_carlo", X, None, GaussianKernel(1.5), 8, 1).frequencies
    moved, moved_here = (np.linalg.norm(fitted.frequencies - start) for fitted in (found, usual))
    assert moved > 0 and moved_here > 0 and not np.allclose(found.frequencies, usual.frequencies)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rate"),
    [("cluster_large_steps", 8 / 40), ("cluster_larger_steps", 8 / 30), ("cluster_largest_steps", 8 / 26)],
)
def test_large_steps_are_those_of_algorithm_1_at_a_fixed_rate(name, rate):
    X, kernel = np.random.default_rng(5).normal(size=(60, 3)), GaussianKernel(1.5)
    rng = np.random.default_rng(1)
    omega = draw_frequencies(kernel, 8, 3, random_state=rng)
    landmarks, shares = kernel_landmarks(X, 8, "cluster", rng)
    given = {"max_steps": 150, "inner_steps": 10, "solver": "alternating"}
    found = adapt_frequencies(landmarks, kernel, omega, shares, learning_rate=rate, **given)
    fitted = fit_features(name, X, None, kernel, 8, 1)
    np.testing.assert_allclose(fitted.frequencies, found.frequencies, rtol=1e-6)
    np.testing.assert_allclose(fitted.weights, found.weights, rtol=1e-6, atol=1e-9)


def test_fifteen_steps_end_before_thirty():
    X = np.random.default_rng(5).normal(size=(80, 3))
    y = X[:, 0] ** 3
    start = fit_features("monte_carlo", X, None, GaussianKernel(1.5), 8, 1).frequencies
    few, many = (
        fit_features(name, X, y, GaussianKernel(1.5), 8, 1, "regression").frequencies
        for name in ("supervise_alternating_15", "supervise_alternating")
    )
    assert 0 < np.linalg.norm(few - start) < np.linalg.norm(many - start)


def check_monte_carlo(protocol, split, machine_of, error):
    """Compare C and the errors of Monte Carlo features with those of a machine that scikit-learn cross-validates."""
    frame = frame_of(protocol, split)
    assert frame["method"].value_counts().to_dict() == {"align": 2, "pbrff": 2, "monte_carlo": 1}
    (row,) = frame[frame["method"] == "monte_carlo"].to_dict("records")
    problem = LiProblem.of(split, {}, 0, "standard")
    train = problem.train
    fitted = fit_features("monte_carlo", train.X, None, problem.kernel, 8, problem.rng("features", 8))
    Z, folds = fitted.transform(train.X), list(_folds(problem, 3))
    errors = {C: error(cross_val_predict(machine_of(C), Z, train.y, cv=folds), train.y) for C in protocol.Cs}
    C = min(errors, key=errors.get)
    machine = machine_of(C).fit(Z, train.y)
    again = [errors[C], *(error(machine.predict(fitted.transform(part.X)), part.y) for part in (train, problem.test))]
    assert row["C"] == C and [row[f"{part}_error"] for part in ("valid", "train", "test")] == pytest.approx(again)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classification_equals_scikit_learn_one_against_the_others(n_classes):
    check_monte_carlo(
        replace(COMPARISON, Cs=(0.01, 1.0, 100.0)),
        make_split(task="classification", n_classes=n_classes),
        lambda C: LinearSVC(C=C, dual=False, tol=1e-10, max_iter=10**5),
        lambda predicted, y: np.mean(predicted != y),
    )


def test_the_comparison_chooses_C_by_cross_validation():
    check_monte_carlo(
        COMPARISON,
        make_split(),
        lambda C: Ridge(alpha=1 / (2 * C)),
        lambda predicted, y: np.sqrt(np.mean((predicted - y) ** 2)),
    )


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize("protocol", [APPROXIMATION, COMPARISON])
def test_rows_depend_on_the_seed_and_on_nothing_else(protocol):
    split = make_split(task="classification")
    everything = frame_of(protocol, split, seed=3)
    same(everything, frame_of(protocol, split, seed=3))
    assert not everything.equals(frame_of(protocol, split, seed=4))
    alone = frame_of(replace(protocol, methods=protocol.methods[1:2]), split, seed=3)
    same(everything[everything["method"] == protocol.methods[1]], alone)


def test_methods_of_two_protocols_are_different_rows(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        for protocol in (replace(COMPARISON, methods=("monte_carlo",)), replace(APPROXIMATION, n_features=(8,))):
            assert [
                row for step in run_stored(store, RunSpec(protocol, "toy"), split_of=make_split) for row in step.rows
            ]


def test_digest_depends_on_every_target():
    split, other = make_split(), make_split()
    assert LiProblem.digest(split) == LiProblem.digest(other)
    other.y_train[3] += 1e-9
    assert LiProblem.digest(split) != LiProblem.digest(other)
    assert LiProblem.digest(make_split(task="classification")) != LiProblem.digest(split)


@pytest.mark.parametrize("problem", [LiProblem, LetarteProblem])
def test_digest_is_that_of_the_points_whatever_their_sparse_form(problem):
    def digest(points):
        X = {f"X_{part}": points for part in ("train", "valid", "test")}
        y = {f"y_{part}": np.array([0, 1]) for part in ("train", "valid", "test")}
        return problem.digest(SimpleNamespace(**X, **y, task="classification"))

    twice = sp.csr_array(([0.5, 0.5, 0.0, 1.0], [1, 1, 0, 0], [0, 3, 4]), shape=(2, 2))
    once = sp.csr_array([[0.0, 1.0], [1.0, 0.0]])
    assert digest(twice) == digest(once.tocoo()) == digest(once)
    assert digest(2 * once) != digest(once)
    assert twice.nnz == 4


def test_published_splits_and_unknown_classes_are_refused():
    with pytest.raises(ValueError, match="'published'"):
        RunSpec(APPROXIMATION, "wine", "published")
    split = make_split(task="classification")
    split.y_test[0] = 7
    with pytest.raises(ValueError, match="y_test holds a label that y_train does not"):
        problem_of(COMPARISON, split, dataset="toy", split_name="random")


# --- what ships, recomputed ---


def recomputed(spec):
    """Rows of a run's first repeat, merged with the shipped ones."""
    steps = run_stored(None, replace(spec, repeats=1))
    found = pd.DataFrame([row for step in steps for row in step.rows])
    with Store(reproduction.SHIPPED, read_only=True) as store:
        name = spec.run_id[: -len("-12345678")]
        runs = [one for one in reproduction.all_specs() if one.run_id.startswith(name) and one.seed == spec.seed]
        (shipped,) = [run for run in runs if set(run.protocol.methods) >= set(spec.protocol.methods)]
        kept = pd.DataFrame(store.rows(shipped))
    keys = ["repeat", "method", "D", "beta", "rho"]
    both = found.merge(kept, on=keys, suffixes=("", "_shipped"))
    assert len(both) == len(found)
    return both


@pytest.mark.second
def test_rows_that_ship_are_recomputed_within_the_tolerance_of_their_method():
    """Table 2 of Li et al. on wine, on any processor."""
    both = recomputed(RunSpec(KernelApproximation(n_features=(50,)), "wine"))
    assert set(both["method"]) == set(UNLABELLED) - set(VARIANTS)
    for part in ("train_error", "valid_error", "test_error"):
        apart = (both[part] / both[f"{part}_shipped"] - 1).abs()
        assert (apart <= both["method"].map(tolerance)).all(), both.assign(apart=apart)[["method", "apart"]]


def test_tolerance_is_larger_for_descended_methods():
    assert set(DESCENDED) < set(METHODS)
    drawn = {tolerance(name) for name in METHODS if name not in DESCENDED}
    assert max(drawn) < min(tolerance(name) for name in DESCENDED)
    with pytest.raises(ValueError, match="'rff'"):
        tolerance("rff")


# --- the command line and the tables ---


@pytest.mark.second
def test_the_command_line_runs_both_protocols(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("RFF_STORE", str(tmp_path / "results.sqlite"))
    for protocol, seen in (("approximation", 3), ("comparison", 1)):
        arguments = ["run", protocol, "--dataset", "wine", "--methods", "monte_carlo", "--output", "-"]
        assert main(arguments) == 0
        header, *lines = capsys.readouterr().out.splitlines()
        assert header == ",".join(COLUMNS) and len(lines) == seen
        assert all("3000 of 4898 rows" in line and ",random," in line for line in lines)
    assert main(["runs"]) == 0
    assert [line.split()[:3] for line in capsys.readouterr().out.splitlines()] == [["wine", "random", "monte_carlo"]]
    for protocol in ("approximation", "comparison"):
        assert main(["report", protocol, "--dataset", "wine", "--methods", "monte_carlo"]) == 0
        assert "monte_carlo" in capsys.readouterr().out
    of_here = ["--store", str(tmp_path / "results.sqlite")]
    assert main(["reproduce", "li-table2", "--datasets", "wine", "--output", "-", *of_here]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 30 and lines[0].startswith("wine,50,monte_carlo,0.31,")
    assert main(["run", "comparison", "--dataset", "wine", "--split", "published"]) == 2


def rows_of_table(target, values, dataset="wine", method="monte_carlo", D=50):
    base = dict.fromkeys(COLUMNS) | {"run": "r", "dataset": dataset, "split": "random", "note": "", "seconds": 0.1}
    error = "train_error" if target == "li-table2" else "test_error"
    empty = {"train_error": 9.0, "valid_error": 9.0, "test_error": 9.0}
    return [base | empty | {"repeat": i, "method": method, "D": D, error: value} for i, value in enumerate(values)]


@pytest.mark.slow
def test_methods_beside_the_paper_have_the_numbers_of_the_table():
    target = "li-table3"
    rows = rows_of_table(target, (0.70, 0.72), D=200) + rows_of_table(target, (0.60, 0.62), method="sample", D=200)
    rows += rows_of_table(target, (0.15, 0.17), dataset="a9a", D=200)
    found = reproduction.compare_with_paper(target, rows)
    methods = li.METHODS_OF[target]
    shown = reruns.methods_beside_paper(found, li.DATASETS, methods, li.units(target))
    cells = re.findall(r'title=".*?">(.*?)</td>', shown, re.DOTALL)
    texts = {(k % 6, k // 6): text for k, text in enumerate(cells)}
    assert len(texts) == 6 * len(methods)
    assert texts[0, methods.index("monte_carlo")] == "paper <b>0.712</b><br>ours <b>0.710</b><br>± 0.127"
    assert texts[0, methods.index("sample")] == "paper <b>0.706</b><br>ours <b>0.610</b><br>★ ± 0.127"
    assert texts[3, methods.index("monte_carlo")].startswith("paper <b>16.02</b><br>ours <b>16.00</b><br>★ ± 12")
    assert texts[3, methods.index("nystroem")] == "paper –<br>ours –"
