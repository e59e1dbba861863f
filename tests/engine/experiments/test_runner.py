"""The runner against slow, separate computations, and the promises on seeds, ties and stopping."""

import os
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC, LinearSVC

import datasets
import rff_engine as rff
from rff_engine.experiments import _landmark_study
from rff_engine.experiments._feature_sweep import _Sweep
from rff_engine.experiments._landmark_study import _Study
from rff_engine.experiments._problem import Problem
from rff_engine.experiments.protocols import FeatureSweep, LandmarkStudy
from rff_engine.experiments.report import best_by_validation, error_by_features
from rff_engine.experiments.runner import COLUMNS, run

SMALL_SWEEP = FeatureSweep(
    gammas=(0.01, 0.1, 1.0),
    Cs=(0.01, 1.0, 100.0),
    n_candidates=300,
    n_features=(1, 3, 10),
    betas=(0.1, 10.0),
    rhos=(0.01, 1.0),
)
SMALL_STUDY = LandmarkStudy(
    gammas=(0.01, 0.1, 1.0), Cs=(0.01, 1.0, 100.0), shares=(0.05, 0.2), n_features=(4, 8), betas=(0.1, 10.0)
)


def make_split(n=120, d=3, seed=0, labels=(-1, 1)):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(n) > 0, labels[1], labels[0])
    a, b = n // 2, 3 * n // 4
    return SimpleNamespace(X_train=X[:a], y_train=y[:a], X_valid=X[a:b], y_valid=y[a:b], X_test=X[b:], y_test=y[b:])


def rows_of(protocol, split, **arguments):
    return [row for step in run(protocol, split, dataset="toy", **arguments) for row in step.rows]


def frame_of(*arguments, **named):
    return pd.DataFrame(rows_of(*arguments, **named)).drop(columns="seconds")


def same(frame, other):
    pd.testing.assert_frame_equal(
        frame.reset_index(drop=True), other.reset_index(drop=True), check_dtype=False, check_exact=True
    )


def problem_of(split, gamma=0.1, seed=0):
    problem = Problem.of(split, {}, seed)
    problem.gamma = gamma
    return problem


def do_all(tasks):
    return [row for task in tasks for row in task.work()]


@pytest.mark.parametrize("seed", range(4))
def test_the_baseline_is_the_first_best_pair_with_C_slowest(seed):
    split = make_split(40, seed=seed)  # ten validation points: many pairs tie
    best = None
    for C, gamma in product(SMALL_SWEEP.Cs, SMALL_SWEEP.gammas):
        machine = SVC(C=C, gamma=gamma).fit(split.X_train, split.y_train)
        score = machine.score(split.X_valid, split.y_valid)
        if best is None or score > best[0]:
            best = score, C, gamma, 1 - machine.score(split.X_test, split.y_test)
    (row,) = [row for row in rows_of(SMALL_SWEEP, split) if row["method"] == "svm"]
    assert (row["C"], row["gamma"]) == best[1:3]
    assert row["valid_error"] == pytest.approx(1 - best[0])
    assert row["test_error"] == pytest.approx(best[3])


def test_every_row_has_the_same_columns_and_every_setting_a_row():
    sweep, study = pd.DataFrame(rows_of(SMALL_SWEEP, make_split())), pd.DataFrame(rows_of(SMALL_STUDY, make_split()))
    assert tuple(sweep.columns) == tuple(study.columns) == COLUMNS
    assert sweep["method"].value_counts().to_dict() == {"pbrff": 6, "okrff": 6, "rff": 3, "svm": 1}
    assert study["method"].value_counts().to_dict() == {"pb_landmarks": 16, "rbf_landmarks": 4, "svm": 1}
    for frame in (sweep, study):
        assert frame[["train_error", "valid_error", "test_error"]].stack().between(0, 1).all()
        assert (frame["gamma"] == frame["gamma"].iloc[0]).all()
        assert (frame["note"] == "").all() and (frame["seconds"] > 0).all()


@pytest.mark.parametrize("protocol", [SMALL_SWEEP, SMALL_STUDY])
def test_the_seed_decides_everything(protocol):
    split = make_split()
    first = frame_of(protocol, split, seed=3, run_id="r")
    same(first, frame_of(protocol, split, seed=3, run_id="r"))
    assert not first.equals(frame_of(protocol, split, seed=4, run_id="r"))


@pytest.mark.parametrize(
    ("protocol", "methods"),
    [
        (SMALL_SWEEP, ("rff",)),
        (SMALL_SWEEP, ("pbrff",)),
        (SMALL_SWEEP, ("svm", "okrff")),
        (SMALL_STUDY, ("rbf_landmarks",)),
        (SMALL_STUDY, ("pb_landmarks",)),
    ],
)
def test_a_method_does_not_depend_on_which_others_are_run(protocol, methods):
    split = make_split()
    everything = frame_of(protocol, split)
    alone = frame_of(type(protocol)(**{**vars(protocol), "methods": methods}), split)
    same(everything[everything["method"].isin(methods)], alone)


@pytest.mark.parametrize(
    ("protocol", "fewer"),
    [
        (SMALL_SWEEP, {"n_features": (3,), "betas": (10.0,), "rhos": (0.01,)}),
        (SMALL_STUDY, {"shares": (0.2,), "selections": ("clustering",), "n_features": (4,), "betas": (10.0,)}),
    ],
)
def test_a_row_does_not_depend_on_the_rest_of_the_grid(protocol, fewer):
    """Smaller D's use the first draws of larger ones, and every beta the same draws."""
    split = make_split()
    everything = frame_of(protocol, split)
    some = frame_of(type(protocol)(**{**vars(protocol), **fewer}), split)
    shared = everything.merge(some[["method", "landmarks", "share", "D", "beta", "rho"]])
    same(shared, some)


def test_C_is_the_first_of_the_fewest_validation_errors():
    split = make_split(60)
    rows = rows_of(SMALL_SWEEP, split)
    backwards = rows_of(
        FeatureSweep(**{**vars(SMALL_SWEEP), "gamma": rows[0]["gamma"], "Cs": (100.0, 1.0, 0.01)}), split
    )
    alone = {
        C: rows_of(FeatureSweep(**{**vars(SMALL_SWEEP), "gamma": rows[0]["gamma"], "Cs": (C,)}), split)
        for C in SMALL_SWEEP.Cs
    }
    ties = 0
    for i, row in enumerate(rows[1:], start=1):
        errors = {C: of_C[i]["valid_error"] for C, of_C in alone.items()}
        fewest = [C for C in SMALL_SWEEP.Cs if errors[C] == min(errors.values())]
        assert (row["C"], backwards[i]["C"]) == (fewest[0], fewest[-1])
        assert row["test_error"] == alone[row["C"]][i]["test_error"]
        ties += len(fewest) > 1
    assert ties > 0


def test_rff_rows_are_linear_svms_on_the_first_candidates():
    split = make_split()
    problem = problem_of(split)
    sweep = _Sweep(problem, SMALL_SWEEP)
    for blocks in sweep.runs_of_blocks():
        sweep.draw(blocks)
    omega = sweep._kept
    assert omega.shape == (300, 3)
    assert np.abs(omega.std() / np.sqrt(2 * 0.1) - 1) < 0.1
    (row,) = sweep.fit("rff", None, None, 10)
    Z = {part: rff.fourier_features(getattr(split, f"X_{part}"), omega[:10]) for part in ("train", "valid", "test")}
    machine = LinearSVC(C=row["C"], dual=False, tol=1e-10).fit(Z["train"], split.y_train)
    for part in Z:
        assert row[f"{part}_error"] == pytest.approx(1 - machine.score(Z[part], getattr(split, f"y_{part}")))


def test_candidates_are_drawn_in_proportion_to_their_weights():
    problem = problem_of(make_split())
    sweep = _Sweep(problem, FeatureSweep(n_candidates=20, n_features=(20,), betas=(1.0,)))
    sweep._losses = np.random.default_rng(0).random(20)
    sweep.protocol = SimpleNamespace(n_features=(100_000,))
    for method, weights in (
        ("pbrff", rff.pseudo_posterior(sweep._losses, 0.5, 60)),
        ("okrff", rff.optimized_kernel_weights(sweep._losses, 0.5 * 20)),
    ):
        drawn = np.bincount(sweep._candidates(method, 0.5), minlength=20) / 100_000
        assert np.abs(drawn - weights).max() < 4 * np.sqrt(weights.max() / 100_000)


def test_keeping_phases_or_candidates_gives_the_same_features():
    problem = problem_of(make_split(60, d=7))
    kept = {}
    for keeps_phases in (False, True):
        sweep = _Sweep(problem, SMALL_SWEEP)
        sweep.keeps_phases = keeps_phases
        for blocks in sweep.runs_of_blocks():
            sweep.draw(blocks)
        kept[keeps_phases] = [sweep._features(np.array([5, 5, 0]), part) for part in ("train", "valid", "test")]
    for with_candidates, with_phases in zip(*kept.values(), strict=True):
        np.testing.assert_allclose(with_candidates, with_phases, atol=1e-12)


@pytest.mark.parametrize("selection", ["random", "clustering"])
def test_similarities_are_the_formula(selection):
    """psi_l(x) = sum_m Q_lm cos(omega_lm . (x_l - x)), Q from the loss of the landmark's pairs, one by one."""
    split = make_split(60)
    problem = problem_of(split)
    study = _Study(problem, SMALL_STUDY, selection, 0.2)
    study.select()
    settings = [(4, 10.0), (8, 0.1)]
    study.learn(range(study.L), settings)
    X = np.concatenate([split.X_train, split.X_valid, split.X_test])
    for i, (D, beta) in enumerate(settings):
        for landmark in range(study.L):
            omega = study._frequencies(landmark, D)
            point, label = study.landmarks[landmark], study.labels[landmark]
            pairs = np.where(problem.train.y == label, 1, -1)[:, None] * np.cos((point - split.X_train) @ omega.T)
            losses = (1 - pairs) / 2
            if selection == "random":
                losses = np.delete(losses, study.indices[landmark], axis=0)
            Q = np.exp(-beta * np.sqrt(30) * losses.mean(axis=0))
            expected = np.cos((point - X) @ omega.T) @ (Q / Q.sum())
            np.testing.assert_allclose(study.similarities[i, :, landmark], expected, atol=1e-10)


def test_the_number_of_landmarks_is_the_papers():
    problem = problem_of(make_split(680))
    for share, per_class in ((0.01, 2), (0.05, 8), (0.10, 17), (0.15, 25), (0.20, 34), (0.25, 42)):
        study = _Study(problem, SMALL_STUDY, "random", share)
        study.select()
        assert list(np.bincount(study.labels)) == [per_class, per_class]


def test_groups_of_landmarks_and_settings_do_not_change_the_rows(monkeypatch):
    split = make_split()
    expected = frame_of(SMALL_STUDY, split)
    monkeypatch.setattr(_landmark_study, "_SECONDS_A_TASK", 1e-9)
    monkeypatch.setattr(_landmark_study, "_SIMILARITY_ENTRIES", 1)
    pd.testing.assert_frame_equal(frame_of(SMALL_STUDY, split), expected)


@pytest.mark.parametrize("protocol", [SMALL_SWEEP, SMALL_STUDY])
def test_sparse_rows_and_any_labels_give_the_same_rows(protocol):
    split = make_split(d=4)
    for part in ("train", "valid", "test"):
        X = getattr(split, f"X_{part}")
        X[np.abs(X) < 0.3] = 0
    expected = frame_of(protocol, split)
    named = SimpleNamespace(**vars(split))
    for part in ("train", "valid", "test"):
        setattr(named, f"X_{part}", sp.csr_array(getattr(split, f"X_{part}")))
        setattr(named, f"y_{part}", np.where(getattr(split, f"y_{part}") > 0, "spam", "ham"))
    pd.testing.assert_frame_equal(frame_of(protocol, named), expected)


def test_wide_sparse_data():
    rng = np.random.default_rng(0)
    X = sp.random_array((80, 500), density=0.05, format="csr", rng=rng)
    y = rng.integers(0, 2, 80)
    split = SimpleNamespace(
        X_train=X[:40], y_train=y[:40], X_valid=X[40:60], y_valid=y[40:60], X_test=X[60:], y_test=y[60:]
    )
    assert len(rows_of(SMALL_SWEEP, split)) == 16 and len(rows_of(SMALL_STUDY, split)) == 21


def test_a_fixed_gamma_skips_the_choice():
    split = make_split()
    chosen = frame_of(SMALL_SWEEP, split)
    gamma = chosen["gamma"][0]
    fixed = FeatureSweep(**{**vars(SMALL_SWEEP), "gamma": gamma, "methods": ("rff",)})
    steps = list(run(fixed, split, dataset="toy"))
    assert not any("SVM" in step.message for step in steps)
    rows = pd.DataFrame([row for step in steps for row in step.rows]).drop(columns="seconds")
    same(chosen[chosen["method"] == "rff"], rows)
    with_svm = frame_of(FeatureSweep(**{**vars(SMALL_SWEEP), "gamma": 5.0}), split)
    assert (with_svm["gamma"] == 5.0).all() and "svm" in set(with_svm["method"])


@pytest.mark.parametrize("protocol", [SMALL_SWEEP, SMALL_STUDY])
def test_fewer_training_rows_are_reported(protocol):
    split = make_split()
    capped = frame_of(type(protocol)(**{**vars(protocol), "max_train": 30, "max_train_svm": 20}), split)
    assert (capped["note"] == "trained on 30 of 60 training rows; SVM and gamma from 20 of 30 training rows").all()
    only_svm = frame_of(type(protocol)(**{**vars(protocol), "max_train_svm": 20}), split)
    assert (only_svm["note"] == "SVM and gamma from 20 of 60 training rows").all()
    enough = frame_of(type(protocol)(**{**vars(protocol), "max_train": 60, "max_train_svm": 60}), split)
    same(enough, frame_of(protocol, split))


def test_rows_carry_the_names_given():
    row = rows_of(SMALL_SWEEP, make_split(), split_name="random", repeat=7, seed=2)[-1]
    assert (row["dataset"], row["split"], row["repeat"]) == ("toy", "random", 7)
    assert row["run"] == "features-toy-random-7-2"
    assert rows_of(SMALL_SWEEP, make_split(), run_id="mine")[0]["run"] == "mine"


@pytest.mark.parametrize("protocol", [SMALL_SWEEP, SMALL_STUDY])
def test_progress_ends_at_the_total(protocol):
    steps = list(run(protocol, make_split(), dataset="toy"))
    done = [step.done for step in steps]
    assert done == sorted(done) and done[-1] == steps[-1].total
    assert len({step.total for step in steps}) == 1 and all(step.message for step in steps)


@pytest.mark.parametrize("kind", [FeatureSweep, LandmarkStudy])
def test_a_run_can_be_stopped_at_any_time(kind):
    """By its own guess no piece of a run on breast takes a second: wall-clock time would test the machine."""
    steps = run(kind.preset("paper"), datasets.published_split("breast"), dataset="breast")
    done = [0.0] + [step.done for _, step in zip(range(150), steps, strict=False)]
    steps.close()
    assert len(done) == 151 and max(np.diff(done)) < 1
    assert list(steps) == []


def three_classes(split):
    split.y_train = np.arange(60) % 3


def one_class(split):
    split.y_train = np.ones(60)


def another_label(split):
    split.y_test = split.y_test + 7


def another_width(split):
    split.X_valid = split.X_valid[:, :2]


def not_a_number(split):
    split.X_test[0, 0] = np.nan


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (three_classes, "3 classes"),
        (one_class, "y_train holds only"),
        (another_label, "y_test holds a label"),
        (another_width, "X_valid has 2 columns"),
        (not_a_number, "X_test contains NaN"),
    ],
)
def test_a_bad_split_is_refused_at_once(spoil, said):
    split = make_split()
    spoil(split)
    with pytest.raises(ValueError, match=said):
        run(SMALL_SWEEP, split, dataset="toy")


def test_other_bad_arguments_are_refused_at_once():
    for bad in ({"seed": -1}, {"repeat": 1.5}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            run(SMALL_SWEEP, make_split(), dataset="toy", **bad)
    with pytest.raises(ValueError, match="protocol"):
        run("features", make_split(), dataset="toy")
    split = make_split()
    split.y_train = np.append(-1, np.ones(59))
    with pytest.raises(ValueError, match="2 training rows"):
        run(FeatureSweep(**{**vars(SMALL_SWEEP), "max_train": 2}), split, dataset="toy")


def published(name):
    try:
        return datasets.published_split(name)
    except datasets.DataNotFoundError:
        if "data" in os.environ.get("RFF_TEST_REQUIRE", ""):
            raise
        pytest.skip(f"the data set {name} is not here: python -m datasets fetch {name}")


@pytest.mark.parametrize(
    ("name", "errors"),
    [
        ("breast", (7, 143)),
        pytest.param("ads", (25, 820), marks=pytest.mark.slow),
        pytest.param("farm", (120, 1036), marks=pytest.mark.slow),
    ],
)
def test_the_published_svm_comes_out_to_the_digit(name, errors):
    """Letarte et al. (2019), Table 1, column SVM."""
    split = published(name)
    (row,) = rows_of(FeatureSweep.preset("paper", methods=("svm",)), split)
    assert (round(row["test_error"] * len(split.y_test)), len(split.y_test)) == errors
    assert row["test_error"] == errors[0] / errors[1]


@pytest.mark.slow
def test_with_few_features_learned_frequencies_beat_the_priors():
    """Letarte et al. (2019), Figure 5, breast: D = 1, 2, 3."""
    split = datasets.published_split("breast")
    protocol = FeatureSweep.preset("paper", n_features=(1, 2, 3), gamma=1e-5, methods=("rff", "pbrff", "okrff"))
    rows = [row for seed in range(10) for row in rows_of(protocol, split, seed=seed, repeat=seed)]
    assert len(best_by_validation(rows)) == 10 * 3 * 3
    errors = error_by_features(rows).pivot(index="D", columns="method", values="test_error")
    assert (errors["pbrff"] < errors["rff"]).all() and (errors["okrff"] < errors["rff"]).all()
