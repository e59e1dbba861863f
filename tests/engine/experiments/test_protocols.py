"""The paper's grids, and what a protocol refuses."""

import pytest

from rff_engine.studies.protocols import PRESETS, FeatureComparison, FeatureSweep, KernelApproximation, LandmarkStudy


@pytest.mark.parametrize("kind", [FeatureSweep, LandmarkStudy])
@pytest.mark.parametrize("preset", PRESETS)
def test_preset_accepts_changes_and_is_hashable(kind, preset):
    protocol = kind.preset(preset, gamma=0.1, methods=("svm",))
    assert isinstance(protocol, kind) and protocol.gamma == 0.1 and protocol.methods == ("svm",)
    assert hash(protocol) == hash(kind.preset(preset, gamma=0.1, methods=("svm",)))


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        (FeatureSweep, {"gammas": ()}, "gammas is ()"),
        (FeatureSweep, {"gammas": (1.0, 0.0)}, "gammas contains 0.0"),
        (FeatureSweep, {"Cs": (float("inf"),)}, "Cs contains inf"),
        (FeatureSweep, {"Cs": [1.0]}, "Cs is [1.0]"),
        (FeatureSweep, {"betas": (-1.0,)}, "betas contains -1.0"),
        (FeatureSweep, {"rhos": (2.0,)}, "at most 1"),
        (FeatureSweep, {"n_candidates": 0}, "n_candidates contains 0"),
        (FeatureSweep, {"n_candidates": 10, "n_features": (11,)}, "n_features contains 11"),
        (FeatureSweep, {"n_features": (1.5,)}, "n_features contains 1.5"),
        (FeatureSweep, {"n_features": (3, 3)}, "once"),
        (FeatureSweep, {"methods": ("rff", "pb_landmarks")}, "'pb_landmarks'"),
        (FeatureSweep, {"gamma": -1.0}, "gamma contains -1.0"),
        (FeatureSweep, {"max_train": 1}, "max_train contains 1"),
        (FeatureSweep, {"max_train_svm": 2.5}, "max_train_svm contains 2.5"),
        (FeatureSweep, {"refit_svm": 1}, "refit_svm is 1"),
        (LandmarkStudy, {"shares": (1.2,)}, "shares contains 1.2"),
        (LandmarkStudy, {"selections": ("kmeans",)}, "'kmeans'"),
        (LandmarkStudy, {"n_features": (True,)}, "n_features contains True"),
        (LandmarkStudy, {"methods": ()}, "methods is ()"),
        (KernelApproximation, {"methods": ("supervise",)}, "'supervise'"),
        (KernelApproximation, {"n_features": (0,)}, "n_features contains 0"),
        (KernelApproximation, {"max_evaluated": 1}, "max_evaluated contains 1"),
        (FeatureComparison, {"folds": 1}, "folds contains 1"),
        (FeatureComparison, {"rhos": (2.0,)}, "at most 1"),
        (FeatureComparison, {"scaling": "minmax"}, "'minmax'"),
    ],
)
def test_invalid_field_is_named_in_one_sentence(kind, change, said):
    with pytest.raises(ValueError) as error:
        kind(**change)
    message = str(error.value)
    assert said in message and message.endswith(".") and "\n" not in message
