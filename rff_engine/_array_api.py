"""Losses, posteriors, features and similarities of arrays that are not NumPy's.

The functions have the formulas of those of the same names elsewhere, for any library of the array API standard
(2023.12 and later) and for PyTorch. Arrays stay on their device: nothing is copied to NumPy; single numbers are read
for checks. Rows and frequencies are taken in blocks, so no array of a block has more than 2^22 entries. Frequencies in
`FrequencyBlocks` and labels that are no such array are copied to the device.

Features cost 2 n D d operations and 2 n D cosines and sines, and write 2 n D numbers. Losses cost as much and 4 n D K
more operations for K classes, and read n d numbers for each 512 frequencies. A similarity costs 2 n L D d operations
and n L D cosines, or with frequencies that landmarks share 2 n D d + 4 n D L and 2 n D. Accelerators have not been
measured; docs/how-to/tensors.md counts the bytes of phases as well.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np

from ._blocks import pieces
from ._validation import ROUNDING, as_labels, check_count, check_nonnegative
from .frequencies import FrequencyBlocks

_ENTRIES = 2**22
_FREQUENCIES = 512
# Beyond this many radians a float32 phase is off by more than 2e-4.
_LARGEST_FLOAT32_PHASE = 4096.0


def array_namespace(*arrays) -> Any:
    """The array library of the arguments, or `None` for NumPy, lists, and sparse matrices.

    Arguments of other kinds, such as lists of labels, do not count. Two libraries at once, or two devices, are refused.
    """
    libraries, devices = {}, {}
    for array in arrays:
        if (library := _library_of(array)) is not None:
            libraries[library.__name__] = library
            devices[str(array.device)] = None
    if not libraries:
        return None
    numpy_too = any(isinstance(array, np.ndarray) for array in arrays)
    if len(libraries) > 1 or numpy_too:
        names = ", ".join([*libraries, *(["numpy"] if numpy_too else [])])
        raise ValueError(f"arrays are of the libraries {names}; all must be of one.")
    if len(devices) > 1:
        raise ValueError(f"arrays are on the devices {', '.join(devices)}; all must be on one.")
    return next(iter(libraries.values()))


def _library_of(array) -> Any:
    if isinstance(array, np.ndarray | np.generic):
        return None
    pytorch = sys.modules.get("torch")
    if pytorch is not None and isinstance(array, pytorch.Tensor):
        return _torch_namespace(pytorch)
    if not hasattr(array, "__array_namespace__"):
        return None
    namespace = array.__array_namespace__()
    return None if namespace is np else namespace


def _torch_namespace(pytorch) -> SimpleNamespace:
    """The functions used here, under their names in the standard."""
    same = ["cos", "sin", "exp", "log", "sqrt", "where", "isfinite", "all", "abs", "matmul", "asarray"]
    same += ["float32", "float64"]
    return SimpleNamespace(
        __name__="torch",
        **{name: getattr(pytorch, name) for name in same},
        astype=lambda x, dtype: x.to(dtype),
        concat=lambda arrays, axis: pytorch.cat(arrays, dim=axis),
        min=lambda x, axis=None, keepdims=False: x.amin() if axis is None else x.amin(dim=axis, keepdim=keepdims),
        max=lambda x: x.amax(),
        sum=lambda x, axis=None, keepdims=False: x.sum() if axis is None else x.sum(dim=axis, keepdim=keepdims),
        unique_values=pytorch.unique,
        matrix_transpose=lambda x: x.mT,
        stack=lambda arrays, axis: pytorch.stack(arrays, dim=axis),
    )


# --- checks -------------------------------------------------------------------------------------------------------


def _checked(xp, x, name: str, n_dimensions: tuple[int, ...], columns: int | None = None):
    """A floating array of the right shape whose values are finite."""
    if _library_of(x) is None:
        raise ValueError(f"{name} is a {type(x).__name__}; an array of {xp.__name__} is needed, as the others are.")
    if x.dtype not in (xp.float32, xp.float64):
        raise ValueError(f"{name} has the dtype {x.dtype}; float32 or float64 is needed.")
    if x.ndim not in n_dimensions or 0 in tuple(x.shape):
        allowed = " or ".join(map(str, n_dimensions))
        raise ValueError(f"{name} has shape {tuple(x.shape)}; {allowed} dimensions and no empty one are needed.")
    if columns is not None and x.shape[-1] != columns:
        raise ValueError(f"{name} has {x.shape[-1]} columns; {columns} are needed to match X.")
    if not bool(xp.all(xp.isfinite(x))):
        raise ValueError(f"{name} contains NaN or infinity; every value must be finite.")
    return x


def _frequencies(xp, omega, X, dimensions: tuple[int, ...] = (2,)):
    if isinstance(omega, FrequencyBlocks):
        if omega.shape[1] != X.shape[1]:
            raise ValueError(f"omega has {omega.shape[1]} columns; {X.shape[1]} are needed to match X.")
        return omega
    return _checked(xp, omega, "omega", dimensions, X.shape[1])


def _one_hot(xp, labels, X, name: str, classes=None):
    """Classes and a float64 array (n, K) with a 1 for the class of each row; a label not in `classes` has none."""
    n = X.shape[0]
    if _library_of(labels) is None:
        known = None if classes is None else classes.tolist()
        distinct, codes = as_labels(labels, n, name, 1)
        labels = distinct[codes] if known is None else [label.item() for label in distinct[codes]]
        classes = distinct if known is None else classes
        rows = np.asarray(labels)[:, None] == np.asarray(classes)[None, :]
        return classes, xp.asarray(rows.astype(np.float64), device=X.device)
    if labels.ndim != 1 or labels.shape[0] != n:
        raise ValueError(f"{name} has shape {tuple(labels.shape)}; ({n},), one label a row, is needed.")
    classes = xp.unique_values(labels) if classes is None else classes
    return classes, xp.astype(labels[:, None] == classes[None, :], xp.float64)


def _classes_of(xp, y, X):
    classes, one_hot = _one_hot(xp, y, X, "y")
    if one_hot.shape[1] < 2:
        raise ValueError("y holds only one class; at least 2 classes are needed.")
    return classes, one_hot


def _weights(xp, sample_weight, X):
    if sample_weight is None:
        return None
    weights = _checked(xp, sample_weight, "sample_weight", (1,))
    if weights.shape[0] != X.shape[0] or not bool(xp.all(weights >= 0)) or not float(xp.sum(weights)) > 0:
        raise ValueError(f"sample_weight must be {X.shape[0]} numbers of at least 0, one a row and not all 0.")
    return xp.astype(weights, xp.float64)


# --- phases -------------------------------------------------------------------------------------------------------


def _largest_norm(xp, points) -> float:
    return float(xp.sqrt(xp.max(xp.sum(xp.astype(points, xp.float64) ** 2, axis=-1))))


def _phase_type(xp, X, omega):
    """float32 for float32 points, unless phases may be too large for it."""
    small = X.dtype == xp.float32 and _largest_norm(xp, X) * _largest_norm(xp, omega) <= _LARGEST_FLOAT32_PHASE
    return xp.float32 if small else xp.float64


def _phases(xp, X, omega, dtype):
    return xp.matmul(xp.astype(X, dtype), xp.matrix_transpose(xp.astype(omega, dtype)))


def _rows(X, width: int) -> list[slice]:
    return pieces(0, X.shape[0], max(1, _ENTRIES // max(width, X.shape[1])))


def _blocks_of(xp, omega, X):
    """Blocks of the frequencies, as arrays on the device of the points."""
    if isinstance(omega, FrequencyBlocks):
        return (xp.asarray(block, dtype=xp.float64, device=X.device) for block in omega)
    return (omega[at, :] for at in pieces(0, omega.shape[0], _FREQUENCIES))


# --- the functions ------------------------------------------------------------------------------------------------


def pseudo_posterior(xp, loss, beta: float, n: int):
    """`posteriors.pseudo_posterior`, in the precision of `loss`."""
    loss = _checked(xp, loss, "loss", (1, 2))
    strength = check_nonnegative(beta, "beta") * check_count(n, "n") ** 0.5
    weights = xp.exp(-strength * (loss - xp.min(loss, axis=-1, keepdims=True)))
    return weights / xp.sum(weights, axis=-1, keepdims=True)


def kl_divergence(xp, Q):
    """`posteriors.kl_divergence`, in the precision of `Q`."""
    Q = _checked(xp, Q, "Q", (1, 2))
    if float(xp.min(Q)) < -ROUNDING:
        raise ValueError(f"Q has a weight of {float(xp.min(Q)):.3g}; weights must be nonnegative.")
    Q = xp.where(Q > 0, Q, 0 * Q)
    if float(xp.max(xp.abs(xp.sum(Q, axis=-1) - 1))) > ROUNDING:
        raise ValueError("Q does not sum to 1 on its last axis; the sum must be 1.")
    positive = Q > 0
    entropy = Q * xp.log(xp.where(positive, Q, 1 + 0 * Q))
    divergence = float(np.log(Q.shape[-1])) + xp.sum(xp.where(positive, entropy, 0 * Q), axis=-1)
    return xp.where(divergence > 0, divergence, 0 * divergence)


def phases(xp, X, omega):
    """`features.phases`, in the precision of `X` where phases are small, otherwise in float64."""
    X = _checked(xp, X, "X", (2,))
    omega = _checked(xp, omega, "omega", (2,), X.shape[1])
    return _phases(xp, X, omega, _phase_type(xp, X, omega))


def random_phase_features(xp, X, omega, offsets):
    """`features.random_phase_features`, in the precision of `X`."""
    angle = phases(xp, X, omega)
    D = omega.shape[0]
    offsets = _checked(xp, offsets, "offsets", (1,))
    if offsets.shape[0] != D:
        raise ValueError(f"offsets has shape {tuple(offsets.shape)}; {D} numbers, one a frequency, are needed.")
    turned = xp.astype(xp.astype(offsets, xp.float64) % (2 * np.pi), angle.dtype)
    return xp.astype((2 / D) ** 0.5 * xp.cos(angle + turned), X.dtype)


def fourier_features(xp, X, omega, weights=None):
    """`features.fourier_features`, in the precision of `X`."""
    X = _checked(xp, X, "X", (2,))
    omega = _checked(xp, omega, "omega", (2,), X.shape[1])
    D = omega.shape[0]
    if weights is None:
        scale = D**-0.5
    else:
        weights = _checked(xp, weights, "weights", (1,))
        if weights.shape[0] != D or not bool(xp.all(weights >= 0)):
            raise ValueError(f"weights must be {D} numbers of at least 0, one a frequency.")
        scale = xp.astype(xp.sqrt(xp.astype(weights, xp.float64)), X.dtype)
    dtype = _phase_type(xp, X, omega)
    blocks = []
    for rows in _rows(X, 2 * D):
        angle = _phases(xp, X[rows, :], omega, dtype)
        waves = [xp.astype(wave, X.dtype) * scale for wave in (xp.cos(angle), xp.sin(angle))]
        blocks.append(xp.concat(waves, axis=1))
    return xp.concat(blocks, axis=0)


def _class_sums(xp, X, one_hot, omega):
    """Class-wise sums of cosines and sines, (K, D) each, float64."""
    cosines, sines = [], []
    transposed = xp.matrix_transpose(one_hot)
    for block in _blocks_of(xp, omega, X):
        dtype = _phase_type(xp, X, block)
        of_cos = of_sin = 0.0
        for rows in _rows(X, block.shape[0]):
            angle = _phases(xp, X[rows, :], block, dtype)
            of_cos = of_cos + xp.matmul(transposed[:, rows], xp.astype(xp.cos(angle), xp.float64))
            of_sin = of_sin + xp.matmul(transposed[:, rows], xp.astype(xp.sin(angle), xp.float64))
        cosines.append(of_cos)
        sines.append(of_sin)
    return xp.concat(cosines, axis=1), xp.concat(sines, axis=1)


def alignment_loss(xp, X, y, omega, sample_weight=None):
    """`alignment.alignment_loss`, float64."""
    X = _checked(xp, X, "X", (2,))
    omega = _frequencies(xp, omega, X)
    _, one_hot = _classes_of(xp, y, X)
    weights = _weights(xp, sample_weight, X)
    n = float(X.shape[0])
    pairs = float(X.shape[0]) * (X.shape[0] - 1)
    if weights is not None:
        n, one_hot = float(xp.sum(weights)), one_hot * weights[:, None]
        pairs = n**2 - float(xp.sum(weights * xp.where(weights < 1, weights, 1 + 0 * weights)))
        if int(xp.sum(xp.astype(xp.sum(one_hot, axis=0) > 0, xp.float64))) < 2 or pairs < 1e-6 * n**2:
            raise ValueError("sample_weight leaves one class or one row; pairs of two classes are needed.")
    cosines, sines = _class_sums(xp, X, one_hot, omega)
    within = xp.sum(cosines**2 + sines**2, axis=0)
    total = xp.sum(cosines, axis=0) ** 2 + xp.sum(sines, axis=0) ** 2
    return n**2 / (2 * pairs) - (2 * within - total) / (2 * pairs)


def landmark_alignment_loss(xp, X, y, landmarks, landmark_labels, omega, landmark_indices=None, sample_weight=None):
    """`alignment.landmark_alignment_loss`, float64; `landmark_indices` are not compared with the landmarks."""
    X = _checked(xp, X, "X", (2,))
    landmarks = _checked(xp, landmarks, "landmarks", (2,), X.shape[1])
    omega = _frequencies(xp, omega, X, (2, 3))
    classes, one_hot = _classes_of(xp, y, X)
    _, own = _one_hot(xp, landmark_labels, landmarks, "landmark_labels", classes)
    weights = _weights(xp, sample_weight, X)
    n, itself = float(X.shape[0]), 0.0
    if weights is not None:
        n, one_hot = float(xp.sum(weights)), one_hot * weights[:, None]
    if landmark_indices is not None:
        itself = 1.0
        if weights is not None:
            rows = np.asarray(landmark_indices) if _library_of(landmark_indices) is None else landmark_indices
            own_weights = xp.stack([weights[int(row)] for row in rows], axis=0)[:, None]
            itself = xp.where(own_weights < 1, own_weights, 1 + 0 * own_weights)
    if not isinstance(omega, FrequencyBlocks) and omega.ndim == 3:
        _one_set_each(omega, landmarks)
        signs = 2 * xp.matmul(own, xp.matrix_transpose(one_hot)) - xp.sum(one_hot, axis=1)[None, :]
        aligned = xp.stack(
            [_aligned(xp, X, signs[l, :], landmarks[l : l + 1, :], omega[l, ...]) for l in range(omega.shape[0])],
            axis=0,
        )
    else:
        cosines, sines = _class_sums(xp, X, one_hot, omega)
        of_cos, of_sin = (2 * xp.matmul(own, sums) - xp.sum(sums, axis=0)[None, :] for sums in (cosines, sines))
        parts = [_phases(xp, landmarks, block, xp.float64) for block in _blocks_of(xp, omega, X)]
        angle = xp.concat(parts, axis=1)
        aligned = xp.cos(angle) * of_cos + xp.sin(angle) * of_sin
    loss = 0.5 - (aligned - itself) / (2 * (n - itself))
    loss = xp.where(loss > 0, loss, 0 * loss)
    return xp.where(loss < 1, loss, 1 + 0 * loss)


def _one_set_each(omega, landmarks) -> None:
    sets, L = omega.shape[0], landmarks.shape[0]
    if sets != L:
        raise ValueError(f"omega holds frequencies for {sets} landmarks; one set for each of {L} is needed.")


def _aligned(xp, X, signs, landmark, omega):
    """sum_j signs_j cos(omega . (x_j - landmark)), (D,), float64."""
    dtype = _phase_type(xp, X, omega)
    offset = xp.astype(_phases(xp, landmark, omega, xp.float64), dtype)
    return sum(
        xp.matmul(signs[rows], xp.astype(xp.cos(_phases(xp, X[rows, :], omega, dtype) - offset), xp.float64))
        for rows in _rows(X, omega.shape[0])
    )


def landmark_similarity(xp, X, landmarks, omega, Q):
    """`landmarks.landmark_similarity`, in the precision of `X`; one setting of weights, (L, D)."""
    X = _checked(xp, X, "X", (2,))
    landmarks = _checked(xp, landmarks, "landmarks", (2,), X.shape[1])
    omega = _checked(xp, omega, "omega", (2, 3), X.shape[1])
    Q = _checked(xp, Q, "Q", (2,))
    if tuple(Q.shape) != (landmarks.shape[0], omega.shape[-2]):
        raise ValueError(f"Q has shape {tuple(Q.shape)}; {(landmarks.shape[0], omega.shape[-2])} is needed.")
    dtype = _phase_type(xp, X, omega)
    if omega.ndim == 3:
        _one_set_each(omega, landmarks)
        columns = [_own(xp, X, landmarks[l : l + 1, :], omega[l, ...], Q[l, :], dtype) for l in range(Q.shape[0])]
        return xp.astype(xp.stack(columns, axis=1), X.dtype)
    angle = _phases(xp, landmarks, omega, xp.float64)
    weights = xp.astype(Q, xp.float64)
    of_cos, of_sin = (xp.matrix_transpose(xp.astype(weights * wave, dtype)) for wave in (xp.cos(angle), xp.sin(angle)))
    blocks = []
    for rows in _rows(X, omega.shape[0]):
        angle = _phases(xp, X[rows, :], omega, dtype)
        blocks.append(xp.matmul(xp.cos(angle), of_cos) + xp.matmul(xp.sin(angle), of_sin))
    return xp.astype(xp.concat(blocks, axis=0), X.dtype)


def _own(xp, X, landmark, omega, weights, dtype):
    """Similarities to one landmark with frequencies of its own, (n,)."""
    offset = xp.astype(_phases(xp, landmark, omega, xp.float64), dtype)
    weights = xp.astype(weights, dtype)
    blocks = [
        xp.matmul(xp.cos(_phases(xp, X[rows, :], omega, dtype) - offset), weights) for rows in _rows(X, omega.shape[0])
    ]
    return xp.concat(blocks, axis=0)
