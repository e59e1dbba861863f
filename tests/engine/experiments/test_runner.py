"""Runs against slow, separate computations; seeds, ties and stopping."""

import os
import sys
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC
from threadpoolctl import threadpool_info, threadpool_limits
from toy_problems import SMALL_STUDY, SMALL_SWEEP, make_split

import datasets
import rff_engine as rff
from rff_engine import _blocks
from rff_engine.studies import baseline, feature_sweep, landmark_study, letarte_problem, problems
from rff_engine.studies.letarte_problem import PARTS, LetarteProblem
from rff_engine.studies.problem import COLUMNS
from rff_engine.studies.protocols import FeatureSweep
from rff_engine.studies.reports import reproduction
from rff_engine.studies.running import run as running
from rff_engine.studies.running.run import problem_of as posed, run
from rff_engine.studies.running.store import Store

MEASURED = ["gamma", "C", "train_error", "valid_error", "test_error", "note"]


def steps_of(protocol, split, **named):
    return run(posed(protocol, split, dataset="toy", **named), protocol)


def rows_of(*arguments, **named):
    return [row for step in steps_of(*arguments, **named) for row in step.rows]


def frame_of(*arguments, **named):
    return pd.DataFrame(rows_of(*arguments, **named)).drop(columns="seconds")


def same(frame, other):
    pd.testing.assert_frame_equal(
        frame.reset_index(drop=True), other.reset_index(drop=True), check_dtype=False, check_exact=True
    )


def problem_of(split, gamma=0.1, seed=0, precision="float64"):
    return LetarteProblem.of(split, {}, seed).with_gamma(gamma, precision)


@pytest.mark.slow
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


@pytest.mark.slow
def test_every_row_has_the_same_columns_and_every_setting_a_row():
    sweep, study = pd.DataFrame(rows_of(SMALL_SWEEP, make_split())), pd.DataFrame(rows_of(SMALL_STUDY, make_split()))
    assert tuple(sweep.columns) == tuple(study.columns) == COLUMNS
    assert sweep["method"].value_counts().to_dict() == {"pbrff": 6, "okrff": 6, "rff": 3, "svm": 1}
    assert study["method"].value_counts().to_dict() == {"pb_landmarks": 16, "rbf_landmarks": 4, "svm": 1}
    for frame in (sweep, study):
        assert frame[["train_error", "valid_error", "test_error"]].stack().between(0, 1).all()
        assert (frame["gamma"] == frame["gamma"].iloc[0]).all()
        assert (frame["note"] == "").all() and (frame["seconds"] > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [SMALL_SWEEP, SMALL_STUDY])
def test_equal_seeds_give_equal_rows_and_different_seeds_different_ones(protocol):
    split = make_split()
    first = frame_of(protocol, split, seed=3, run_id="r")
    same(first, frame_of(protocol, split, seed=3, run_id="r"))
    assert not first.equals(frame_of(protocol, split, seed=4, run_id="r"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "fewer"),
    [
        (SMALL_SWEEP, {"methods": ("rff",)}),
        (SMALL_SWEEP, {"methods": ("pbrff",)}),
        (SMALL_SWEEP, {"methods": ("svm", "okrff")}),
        (SMALL_STUDY, {"methods": ("rbf_landmarks",)}),
        (SMALL_STUDY, {"methods": ("pb_landmarks",)}),
        (SMALL_SWEEP, {"n_features": (3,), "betas": (10.0,), "rhos": (0.01,)}),
        (SMALL_STUDY, {"shares": (0.2,), "selections": ("clustering",), "n_features": (4,), "betas": (10.0,)}),
    ],
)
def test_row_does_not_depend_on_other_methods_or_the_rest_of_the_grid(protocol, fewer):
    """Smaller D's use the first draws of larger ones, and every beta the same draws."""
    split = make_split()
    everything, some = (frame_of(one, split) for one in (protocol, replace(protocol, **fewer)))
    if "methods" in fewer:
        shared = everything[everything["method"].isin(fewer["methods"])]
    else:
        shared = everything.merge(some[["method", "landmarks", "share", "D", "beta", "rho"]])
    same(shared, some)


DRAWN = np.array([5, 200, 5, 0, 5, 200, 7, 299])


def test_waves_beyond_memory_equal_those_in_memory(monkeypatch):
    problem = problem_of(make_split(60, d=7))
    blocks = feature_sweep._candidates(problem, SMALL_SWEEP)
    expected = feature_sweep._Waves(problem, blocks, DRAWN)
    monkeypatch.setattr(feature_sweep, "_WAVE_BYTES", 2 * 2 * 8 * problem.n_rows)
    monkeypatch.setattr(feature_sweep, "_ROWS_BEYOND", 4)
    capped = feature_sweep._Waves(problem, blocks, DRAWN)
    assert all(waves.shape[2] == 2 for waves in capped._waves.values())
    for name, D in product(PARTS, (1, 2, 4, 8)):
        np.testing.assert_allclose(capped.features(D, name), expected.features(D, name), atol=1e-12)
        some = slice(3, 11)
        np.testing.assert_allclose(capped.features(D, name, some), expected.features(D, name)[some], atol=1e-12)


def test_candidates_are_drawn_only_where_they_are_used(monkeypatch):
    """Each block of candidates is drawn once, for any number of D; no array has all of them."""
    problem = problem_of(make_split())
    asked = []
    take = rff.FrequencyBlocks.take
    monkeypatch.setattr(rff.FrequencyBlocks, "take", lambda blocks, i: asked.append(len(i)) or take(blocks, i))
    protocol = replace(SMALL_SWEEP, n_candidates=3000, n_features=(1, 10, 100, 3000))
    rows = [feature_sweep._fit(problem, protocol, {"method": "rff", "D": D}, None) for D in protocol.n_features]
    assert [row["D"] for row in rows] == list(protocol.n_features)
    assert sorted(asked) == [0, 3000 - 2048, 1024, 1024]


@pytest.mark.parametrize("selection", ["random", "clustering"])
def test_similarities_equal_the_formula(selection):
    """psi_l(x) = sum_m Q_lm cos(omega_lm . (x_l - x)), Q from the loss of the landmark's pairs, one by one."""
    split = make_split(60)
    problem = problem_of(split)
    landmarks = landmark_study._select(problem, selection, 0.2)
    settings, L = [(4, 10.0), (8, 0.1)], len(landmarks.labels)
    X = np.concatenate([split.X_train, split.X_valid, split.X_test])
    similarities = np.empty((2, len(X), L))
    for these in (range(2), range(2, L)):
        unknown = np.full((len(these), 8), np.nan)
        found = landmark_study._similarities(problem, landmarks, these, settings, unknown)
        again = landmark_study._similarities(problem, landmarks, these, settings, found[1])
        similarities[:, :, these.start : these.stop] = found[2]
        assert (found[2] == again[2]).all()
    for i, (D, beta) in enumerate(settings):
        for landmark in range(L):
            omega = landmark_study._frequencies(problem, landmarks.key, [landmark], 8)[0, :D]
            point, label = landmarks.points[landmark], landmarks.labels[landmark]
            pairs = np.where(problem.train.y == label, 1, -1)[:, None] * np.cos((point - split.X_train) @ omega.T)
            losses = (1 - pairs) / 2
            if selection == "random":
                losses = np.delete(losses, landmarks.indices[landmark], axis=0)
            Q = np.exp(-beta * np.sqrt(30) * losses.mean(axis=0))
            expected = np.cos((point - X) @ omega.T) @ (Q / Q.sum())
            np.testing.assert_allclose(similarities[i, :, landmark], expected, atol=1e-10)


def test_the_number_of_landmarks_is_the_papers():
    problem = problem_of(make_split(680))
    for share, per_class in ((0.01, 2), (0.05, 8), (0.10, 17), (0.15, 25), (0.20, 34), (0.25, 42)):
        landmarks = landmark_study._select(problem, "random", share)
        assert list(np.bincount(landmarks.labels)) == [per_class, per_class]


@pytest.mark.slow
def test_groups_of_landmarks_settings_and_candidates_do_not_change_the_rows(monkeypatch):
    split = make_split()
    many_candidates = replace(SMALL_SWEEP, n_candidates=3000)
    expected = [frame_of(protocol, split) for protocol in (SMALL_STUDY, many_candidates)]
    monkeypatch.setattr(landmark_study, "_SECONDS_A_STEP", 1e-9)
    monkeypatch.setattr(landmark_study, "_SIMILARITY_BYTES", 1)
    monkeypatch.setattr(feature_sweep, "_SECONDS_A_CALL", 1e-9)
    for protocol, frame in zip((SMALL_STUDY, many_candidates), expected, strict=True):
        pd.testing.assert_frame_equal(frame_of(protocol, split), frame)


@pytest.mark.slow
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


def test_a_fixed_gamma_skips_the_choice():
    split = make_split()
    chosen = frame_of(SMALL_SWEEP, split)
    gamma = chosen["gamma"][0]
    fixed = replace(SMALL_SWEEP, gamma=gamma, methods=("rff",))
    steps = list(steps_of(fixed, split))
    assert not any("SVM" in step.message for step in steps)
    rows = pd.DataFrame([row for step in steps for row in step.rows]).drop(columns="seconds")
    same(chosen[chosen["method"] == "rff"], rows)
    with_svm = frame_of(replace(SMALL_SWEEP, gamma=5.0), split)
    assert (with_svm["gamma"] == 5.0).all() and "svm" in set(with_svm["method"])


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [SMALL_SWEEP, SMALL_STUDY])
def test_fewer_training_rows_are_reported(protocol):
    split = make_split()
    capped = frame_of(replace(protocol, max_train=30, max_train_svm=20), split)
    assert (capped["note"] == "trained on 30 of 60 training rows; SVM and gamma from 20 of 30 training rows").all()
    only_svm = frame_of(replace(protocol, max_train_svm=20), split)
    assert (only_svm["note"] == "SVM and gamma from 20 of 60 training rows").all()
    enough = frame_of(replace(protocol, max_train=60, max_train_svm=60), split)
    same(enough, frame_of(protocol, split))


@pytest.mark.slow
def test_the_svm_of_a_choice_on_fewer_rows_may_be_trained_on_all():
    split = make_split()
    protocol = replace(SMALL_STUDY, max_train_svm=20)
    chosen = frame_of(protocol, split)
    refitted = frame_of(replace(protocol, refit_svm=True), split)
    (svm,) = refitted[refitted["method"] == "svm"].to_dict("records")
    machine = SVC(C=svm["C"], gamma=svm["gamma"]).fit(split.X_train, split.y_train)
    for part in ("train", "valid", "test"):
        accuracy = machine.score(getattr(split, f"X_{part}"), getattr(split, f"y_{part}"))
        assert svm[f"{part}_error"] == pytest.approx(1 - accuracy)
    assert (refitted["note"] == "C and gamma of the SVM from 20 of 60 training rows").all()
    same(*(frame[frame["method"] != "svm"].drop(columns="note").reset_index(drop=True) for frame in (chosen, refitted)))
    assert (chosen.loc[chosen["method"] == "svm", "C"] == svm["C"]).all()
    # Below the cap nothing is trained again.
    same(frame_of(replace(SMALL_STUDY, refit_svm=True), split), frame_of(SMALL_STUDY, split))


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [SMALL_SWEEP, SMALL_STUDY])
def test_rows_do_not_depend_on_the_number_of_threads(protocol, monkeypatch):
    split = make_split(400)
    monkeypatch.setattr(_blocks, "WORK_WORTH_THREADS", 0)
    protocol = replace(protocol, n_candidates=1500) if protocol is SMALL_SWEEP else protocol
    frames = []
    for threads in (1, 3):
        monkeypatch.setenv("LOKY_MAX_CPU_COUNT", str(threads))
        with threadpool_limits(threads):
            frames.append(frame_of(protocol, split))
    same(*frames)


def test_libraries_have_one_thread_only_during_steps(monkeypatch):
    def threads():
        return {library["filepath"]: library["num_threads"] for library in threadpool_info()}

    def study(problem, grid, work):
        for seen_inside in work.each([(lambda: (threads(), _blocks.threads_here()),)]):
            inside.append(seen_inside)
            yield "looked", None

    inside = []
    monkeypatch.setattr(_blocks, "cpu_count", lambda: 4)
    monkeypatch.setitem(problems.STUDIES, FeatureSweep, study)
    with threadpool_limits(2):
        before = threads()
        for _ in steps_of(SMALL_SWEEP, make_split()):
            assert threads() == before
    ((during, allowed),) = inside
    assert 2 in before.values() and allowed == 2  # of the engine itself
    # Another test may have loaded a library since those that compute were looked for.
    assert {during[library["filepath"]] for library in running._libraries().info()} == {1}


def test_points_are_cast_to_float32_when_no_phase_can_be_too_large():
    split = make_split()
    for scale, gamma, dtype in ((1, 0.1, np.float32), (1e5, 0.1, np.float64), (1e5, 1e-9, np.float32)):
        large = SimpleNamespace(**{name: scale * a if name[0] == "X" else a for name, a in vars(split).items()})
        problem = LetarteProblem.of(large, {}, 0).with_gamma(gamma, "auto")
        assert {getattr(problem, name).X.dtype for name in PARTS} == {np.dtype(dtype)}
        assert problem.feature_dtype == np.float32
        whole = SimpleNamespace(**{name: np.rint(a) for name, a in vars(large).items()})
        assert LetarteProblem.of(whole, {}, 0).with_gamma(gamma, "auto").train.X.dtype == np.float32  # nothing is lost
        exact = LetarteProblem.of(large, {}, 0).with_gamma(gamma, "float64")
        assert exact.train.X.dtype == exact.feature_dtype == np.float64


@pytest.mark.parametrize("d", [1, 30, 5000])
def test_no_frequency_exceeds_the_bound_on_their_norm(d):
    omega = rff.GaussianKernel.from_gamma(0.3).sample_frequencies(max(200_000 // d, 1000), d, random_state=0)
    largest, bound = np.linalg.norm(omega, axis=1).max(), letarte_problem._largest_frequency_norm(0.3, d)
    assert largest < bound < 4 * largest


@pytest.mark.parametrize("installed", [True, False])
def test_many_rows_use_the_faster_svm_where_it_is_installed(installed, monkeypatch):
    made = []

    class Faster(SVC):
        def fit(self, *arguments):
            made.append(self.kernel)
            return super().fit(*arguments)

    module = SimpleNamespace(SVC=Faster) if installed else None  # None: import refuses it
    monkeypatch.setitem(sys.modules, "sklearnex", SimpleNamespace(svm=module) if installed else None)
    monkeypatch.setitem(sys.modules, "sklearnex.svm", module)
    split, protocol = make_split(), replace(SMALL_SWEEP, methods=("svm",))
    held = frame_of(protocol, split)
    assert made == []
    monkeypatch.setattr(baseline, "_MAX_ROWS_HELD", 10)
    same(frame_of(protocol, split), held)
    assert made == (["rbf"] * 9 if installed else [])


def test_kernel_values_in_blocks_change_no_row(monkeypatch):
    split, protocol = make_split(), replace(SMALL_SWEEP, methods=("svm",))
    held = frame_of(protocol, split)
    monkeypatch.setattr(baseline, "_MAX_ROWS_SHARED", 10)
    monkeypatch.setattr(baseline, "_BLOCK_VALUES", 7 * 60)
    same(frame_of(protocol, split), held)


@pytest.mark.parametrize("spacing", [1, 300])
def test_svm_without_active_C_is_the_last_trained_at_its_gamma(spacing, monkeypatch):
    fitted = []

    class Counted(SVC):
        def fit(self, *arguments):
            fitted.append(self.C)
            return super().fit(*arguments)

    monkeypatch.setattr(baseline, "_machine_class", lambda held: Counted)
    split = make_split(40)
    for name in ("X_train", "X_valid", "X_test"):
        setattr(split, name, spacing * getattr(split, name))
    protocol = replace(SMALL_SWEEP, methods=("svm",), gamma=0.01, Cs=(0.1, 1.0, 10.0, 100.0, 1000.0))
    (row,) = rows_of(protocol, split)
    # Far apart, every point is its own centre with a coefficient of about 1.
    assert fitted == ([0.1, 1.0, 10.0] if spacing == 300 else list(protocol.Cs))
    machines = [SVC(C=C, gamma=0.01).fit(split.X_train, split.y_train) for C in protocol.Cs]
    scores = [machine.score(split.X_valid, split.y_valid) for machine in machines]
    best = int(np.argmax(scores))
    assert row["C"] == protocol.Cs[best] and row["valid_error"] == pytest.approx(1 - scores[best])
    assert row["test_error"] == pytest.approx(1 - machines[best].score(split.X_test, split.y_test))


def test_distances_are_computed_once_and_released(monkeypatch):
    calls = []
    distances = baseline.euclidean_distances
    monkeypatch.setattr(
        baseline, "euclidean_distances", lambda X, Y, **named: calls.append(len(X)) or distances(X, Y, **named)
    )
    split = make_split()
    problem = LetarteProblem.of(split, {}, 0)
    for gamma in SMALL_SWEEP.gammas:
        baseline._search(problem, SMALL_SWEEP, gamma)
    assert sorted(calls) == [30, *[30] * 3, 60]  # test once a gamma, valid and train once
    assert problem.kept
    known = SimpleNamespace(known=lambda settings: {"gamma": 0.1})
    assert list(baseline.prior(problem, SMALL_SWEEP, known)) == [] and not problem.kept


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("y_train", np.arange(60) % 3, "3 classes"),
        ("y_train", np.ones(60), "y_train holds only"),
        ("y_test", np.full(30, 7), "y_test holds a label"),
        ("X_valid", np.zeros((30, 2)), "X_valid has 2 columns"),
        ("X_test", np.full((30, 3), np.nan), "X_test contains NaN"),
    ],
)
def test_invalid_split_is_rejected_at_once(name, value, said):
    split = make_split()
    setattr(split, name, value)
    with pytest.raises(ValueError, match=said):
        posed(SMALL_SWEEP, split, dataset="toy")


def test_other_invalid_arguments_are_rejected_at_once():
    for bad in ({"seed": -1}, {"repeat": 1.5}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            posed(SMALL_SWEEP, make_split(), dataset="toy", **bad)
    with pytest.raises(ValueError, match="jobs is 0"):
        run(posed(SMALL_SWEEP, make_split(), dataset="toy"), SMALL_SWEEP, jobs=0)
    with pytest.raises(ValueError, match="protocol"):
        posed("features", make_split(), dataset="toy")
    split = make_split()
    split.y_train = np.append(-1, np.ones(59))
    with pytest.raises(ValueError, match="2 training rows"):
        posed(replace(SMALL_SWEEP, max_train=2), split, dataset="toy")


def published(name):
    try:
        return datasets.published_split(name)
    except datasets.DataNotFoundError:
        if "data" in os.environ.get("RFF_TEST_REQUIRE", ""):
            raise
        pytest.skip(f"the data set {name} is not here: python -m datasets fetch {name}")


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "errors"),
    [
        ("breast", (7, 143)),
        pytest.param("ads", (25, 820), marks=pytest.mark.slow),
        pytest.param("farm", (120, 1036), marks=pytest.mark.slow("computes kernels of 54,877 columns")),
    ],
)
def test_published_svm_errors_are_reproduced_to_the_digit(name, errors):
    """Letarte et al. (2019), Table 1, column SVM."""
    split = published(name)
    (row,) = rows_of(FeatureSweep.preset("paper", methods=("svm",)), split)
    assert (round(row["test_error"] * len(split.y_test)), len(split.y_test)) == errors
    assert row["test_error"] == errors[0] / errors[1]


@pytest.mark.slow
def test_rows_that_ship_are_recomputed_to_the_last_bit():
    """Letarte et al. on breast, on any processor: errors are counts, which rounding does not change."""
    protocol = FeatureSweep.preset("paper", n_features=(1, 3, 20))
    found = pd.DataFrame(rows_of(protocol, datasets.published_split("breast")))
    with Store(reproduction.SHIPPED, read_only=True) as store:
        (spec,) = reproduction.specs("figure5", ["breast"])[:1]
        kept = pd.DataFrame(store.rows(spec))
    kept = kept[kept["D"].isna() | kept["D"].isin(protocol.n_features)]
    of_grid = ["method", "D", "beta", "rho"]
    found, kept = (frame.sort_values(of_grid)[[*of_grid, *MEASURED]] for frame in (found, kept))
    assert len(found) == 40
    same(found, kept)
