"""Arrays of other libraries give NumPy's results, and stay on their device.

array-api-strict and PyTorch are no requirements; `pip install array-api-strict torch` adds their cases. The devices of
array-api-strict other than its CPU refuse to become NumPy arrays.
"""

import numpy as np
import pytest

import rff_engine as rff

N, D_IN, D, L = 60, 3, 7, 4
RNG = np.random.default_rng(0)
POINTS, OMEGA, OWN = RNG.normal(size=(N, D_IN)), RNG.normal(size=(D, D_IN)), RNG.normal(size=(L, D, D_IN))
LABELS, WEIGHTS, LOSS = np.arange(N) % 3, RNG.uniform(0, 3, N), RNG.uniform(size=(L, D))
SHARES = LOSS / LOSS.sum(axis=1, keepdims=True)


class Library:
    """An array library and the device to use."""

    def __init__(self, name: str):
        if name == "torch":
            self.module = pytest.importorskip("torch", reason="PyTorch is not installed")
            self.device = "cpu"
        else:
            self.module = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
            self.device = self.module.Device("device1") if name == "device1" else self.module.Device("CPU_DEVICE")

    def array(self, values):
        return self.module.asarray(values, device=self.device)

    def numpy(self, result):
        assert type(result) is type(self.array(np.zeros(1))) and str(result.device) == str(self.device)
        if self.module.__name__ == "torch":
            return result.numpy()
        return np.asarray(self.module.asarray(result, device=self.module.Device("CPU_DEVICE"), copy=True))


@pytest.fixture(params=["torch", "strict", "device1"])
def library(request):
    return Library(request.param)


def cases(X, omega, own, weights, shares, loss, y, indices=None):
    """Each call with its arrays; labels may be arrays of either kind."""
    landmarks, labels = X[:L, ...], y[:L]
    return {
        "phases": (rff.phases, (X, omega)),
        "random_phase_features": (rff.random_phase_features, (X, omega, 9000 * weights[:D])),
        "fourier_features": (rff.fourier_features, (X, omega)),
        "weighted features": (rff.fourier_features, (X, omega, weights[:D])),
        "alignment_loss": (rff.alignment_loss, (X, y, omega)),
        "weighted loss": (
            lambda *given: rff.alignment_loss(*given[:3], sample_weight=given[3]),
            (X, y, omega, weights),
        ),
        "landmark loss": (rff.landmark_alignment_loss, (X, y, landmarks, labels, omega, indices)),
        "own landmark loss": (rff.landmark_alignment_loss, (X, y, landmarks, labels, own, indices)),
        "centroids": (rff.landmark_alignment_loss, (X, y, landmarks + 0.5, labels, own)),
        "weighted landmark loss": (
            lambda *given: rff.landmark_alignment_loss(*given[:6], sample_weight=given[6]),
            (X, y, landmarks, labels, omega, indices, weights),
        ),
        "similarity": (rff.landmark_similarity, (X, landmarks, omega, shares)),
        "own similarity": (rff.landmark_similarity, (X, landmarks, own, shares)),
        "pseudo_posterior": (rff.pseudo_posterior, (loss, 3.0, 50)),
        "kl_divergence": (rff.kl_divergence, (shares,)),
        "one distribution": (rff.kl_divergence, (shares[0, ...],)),
    }


def numbers(dtype):
    return [a.astype(dtype) for a in (POINTS, OMEGA, OWN, WEIGHTS, SHARES, LOSS)]


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-6)])
@pytest.mark.parametrize("case", cases(*numbers(np.float64), LABELS))
@pytest.mark.parametrize("labels", ["array", "list"])
def test_results_equal_those_of_numpy(library, case, dtype, tolerance, labels):
    function, given = cases(*numbers(dtype), LABELS, np.arange(L))[case]
    expected = function(*given)
    y = library.array(LABELS) if labels == "array" else LABELS.tolist()
    function, given = cases(*map(library.array, numbers(dtype)), y, np.arange(L))[case]
    result = library.numpy(function(*given))
    np.testing.assert_allclose(result, expected, rtol=0, atol=tolerance)
    assert result.dtype == np.asarray(expected).dtype or case in (
        "pseudo_posterior",
        "kl_divergence",
        "one distribution",
    )


@pytest.mark.slow
def test_blocks_of_rows_and_frequencies_change_nothing(library, monkeypatch):
    from rff_engine import _array_api

    given = [library.array(a) for a in numbers(np.float64)]
    wide = {name: library.numpy(f(*args)) for name, (f, args) in cases(*given, LABELS, np.arange(L)).items()}
    monkeypatch.setattr(_array_api, "_ENTRIES", 30)
    monkeypatch.setattr(_array_api, "_FREQUENCIES", 2)
    for name, (function, args) in cases(*given, LABELS, np.arange(L)).items():
        np.testing.assert_allclose(library.numpy(function(*args)), wide[name], rtol=0, atol=1e-13)


def test_drawn_frequencies_are_copied_to_the_device(library):
    blocks = rff.FrequencyBlocks(rff.GaussianKernel(), 1500, D_IN, seed=3)
    X = library.array(POINTS)
    found = library.numpy(rff.alignment_loss(X, library.array(LABELS), blocks))
    np.testing.assert_allclose(found, rff.alignment_loss(POINTS, LABELS, blocks), rtol=0, atol=1e-12)
    found = library.numpy(rff.landmark_alignment_loss(X, LABELS, X[:L, :], LABELS[:L], blocks))
    expected = rff.landmark_alignment_loss(POINTS, LABELS, POINTS[:L], LABELS[:L], blocks)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_large_phases_of_float32_points_are_computed_in_float64(library):
    X = (1e6 * POINTS).astype(np.float32)
    found = rff.fourier_features(library.array(X), library.array(OMEGA))
    np.testing.assert_allclose(library.numpy(found), rff.fourier_features(X, OMEGA), rtol=0, atol=1e-6)


def test_weights_of_zero_have_no_entropy(library):
    Q = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    np.testing.assert_allclose(library.numpy(rff.kl_divergence(library.array(Q))), rff.kl_divergence(Q), atol=1e-15)


def test_bad_arrays_raise_one_sentence(library):
    X, omega, y = library.array(POINTS), library.array(OMEGA), library.array(LABELS)
    nan = library.array(np.where(POINTS > 2, np.nan, POINTS))
    for call, says in (
        (lambda: rff.fourier_features(nan, omega), "X contains NaN or infinity"),
        (lambda: rff.fourier_features(X, OMEGA), "arrays are of the libraries .*, numpy; all must be of one"),
        (lambda: rff.fourier_features(X, OMEGA.tolist()), "omega is a list"),
        (lambda: rff.fourier_features(X, omega[:, :2]), "omega has 2 columns; 3 are needed"),
        (lambda: rff.fourier_features(library.array(LABELS[:, None]), omega), "X has the dtype .*int64; float32 or"),
        (lambda: rff.alignment_loss(X, library.array(0 * LABELS), omega), "y holds only one class"),
        (lambda: rff.alignment_loss(X, y[:5], omega), r"y has shape \(5,\); \(60,\), one label a row"),
        (lambda: rff.alignment_loss(X, y, omega, sample_weight=library.array(-WEIGHTS)), "sample_weight must be 60"),
        (lambda: rff.landmark_similarity(X, X, omega, omega), r"Q has shape \(7, 3\); \(60, 7\) is needed"),
        (lambda: rff.kl_divergence(library.array(LOSS)), "Q does not sum to 1"),
        (lambda: rff.pseudo_posterior(library.array(LOSS), -1.0, 5), "beta is -1.0"),
    ):
        with pytest.raises(ValueError, match=rf"^{says}.*\.$"):
            call()


def test_the_device_of_the_tests_refuses_numpy():
    library = Library("device1")
    with pytest.raises((RuntimeError, TypeError)):
        np.asarray(library.array(POINTS))


@pytest.fixture
def tensors_stay(monkeypatch):
    """PyTorch whose tensors refuse to become anything else, as on an accelerator; single numbers may be read."""
    pytorch = pytest.importorskip("torch", reason="PyTorch is not installed")

    def refuse(*_, **__):
        raise TypeError("a tensor leaves its device")

    for name in ("__array__", "__dlpack__", "numpy", "tolist", "cpu", "storage", "untyped_storage"):
        monkeypatch.setattr(pytorch.Tensor, name, refuse)
    return pytorch


def test_tensors_that_refuse_numpy_do_so(tensors_stay):
    for convert in (np.asarray, np.array, lambda tensor: tensor.tolist(), np.from_dlpack):
        with pytest.raises(TypeError, match="leaves its device"):
            convert(tensors_stay.ones(3))


@pytest.mark.parametrize("case", cases(*numbers(np.float64), LABELS))
def test_tensors_are_not_copied_to_numpy_on_the_way(tensors_stay, case):
    given = [tensors_stay.tensor(a) for a in numbers(np.float32)]
    function, arguments = cases(*given, tensors_stay.tensor(LABELS), np.arange(L))[case]
    result = function(*arguments)
    assert isinstance(result, tensors_stay.Tensor) and result.device == given[0].device


def test_numpy_arrays_and_lists_take_the_usual_way():
    from rff_engine._array_api import array_namespace

    assert array_namespace(POINTS, LABELS.tolist(), None, POINTS[0, 0]) is None
