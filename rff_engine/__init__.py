"""PAC-Bayesian random Fourier features.

A kernel's Fourier transform is a prior over cosines; this package learns pseudo-posteriors on it, for a whole
kernel or per landmark (Letarte, Morvant and Germain, AISTATS 2019), and bounds their losses. It needs NumPy,
SciPy and scikit-learn; `rff_engine.plots` and `rff_engine.studies` are imported where they are used.

Finite input gives finite output or a ValueError of one sentence: numbers above 1e100 in size are refused, and a
function with a lower limit documents it (tests/engine/test_every_call.py).

Arrays are NumPy's, points also SciPy's sparse ones. Arrays of other libraries, such as PyTorch, are refused:
pass ``numpy.asarray(X)``.

Functions with `n_jobs` use threads if there is enough work, by default all that are allowed. This is the number that
OpenMP may use: the cores of this process, or the limit set by `OMP_NUM_THREADS`, `threadpoolctl.threadpool_limits` or
a joblib worker. In a thread of a joblib pool it is 1. As in scikit-learn, `n_jobs=2` uses two threads, 1 only the
caller's, -1 all that are allowed, and ``None`` the number set by `joblib.parallel_config`, if any. Results do not
depend on it. BLAS and k-means have their own threads, limited by `threadpool_limits`.
"""

import signal as _signal
import sys as _sys
from pathlib import Path as _Path

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler and (
    _Path(_sys.argv[0]).stem == "rff-engine"
    or (_sys.argv[0] == "-m" and any(name.partition(".")[0] == "rff_engine" for name in _sys.orig_argv))
):  # until a program of this package has imported its modules, Ctrl-C ends it without a traceback
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

from . import bounds, losses
from .adaptive import (
    AdaptedFrequencies,
    adapt_frequencies,
    feature_weights,
    importance_density,
    kernel_landmarks,
    relative_kernel_error,
    supervise_frequencies,
)
from .adaptive_estimators import AdaptiveFourierFeatures, SupervisedFourierFeatures
from .alignment import (
    AlignmentSums,
    alignment_loss,
    alignment_loss_batched,
    alignment_loss_plane,
    alignment_loss_variance,
    alignment_sums,
    landmark_alignment_loss,
)
from .approximation_bounds import cluster_loss_bound, kernel_approximation_loss, sample_loss_bound
from .certified_classifier import CertifiedClassifier
from .column_kernels import AnisotropicGaussianKernel, PeriodicKernel
from .composed_kernels import ProductKernel, SumKernel
from .estimators import (
    LandmarkSimilarity,
    NystroemFeatures,
    OptimizedKernelFeatures,
    PseudoPosteriorFeatures,
    RandomFourierFeatures,
)
from .features import fourier_features, phases, random_phase_features
from .frequencies import FrequencyBlocks, draw_frequencies
from .kernels import (
    CauchyKernel,
    GaussianKernel,
    LaplacianKernel,
    MaternKernel,
    RationalQuadraticKernel,
    SpectralKernel,
)
from .landmark_boosting import LandmarkBoosting
from .landmarks import landmark_similarity, select_landmarks, similarity_maps
from .linear import linear_svm_path
from .posteriors import kl_divergence, optimized_kernel_weights, power_divergence, pseudo_posterior
from .ridge import kernel_ridge_path, ridge_path

__version__ = "0.1.0"

__all__ = [
    "AdaptedFrequencies",
    "AdaptiveFourierFeatures",
    "AlignmentSums",
    "AnisotropicGaussianKernel",
    "CauchyKernel",
    "CertifiedClassifier",
    "FrequencyBlocks",
    "GaussianKernel",
    "LandmarkBoosting",
    "LandmarkSimilarity",
    "LaplacianKernel",
    "MaternKernel",
    "NystroemFeatures",
    "OptimizedKernelFeatures",
    "PeriodicKernel",
    "ProductKernel",
    "PseudoPosteriorFeatures",
    "RandomFourierFeatures",
    "RationalQuadraticKernel",
    "SpectralKernel",
    "SumKernel",
    "SupervisedFourierFeatures",
    "adapt_frequencies",
    "alignment_loss",
    "alignment_loss_batched",
    "alignment_loss_plane",
    "alignment_loss_variance",
    "alignment_sums",
    "bounds",
    "cluster_loss_bound",
    "draw_frequencies",
    "feature_weights",
    "fourier_features",
    "importance_density",
    "kernel_approximation_loss",
    "kernel_landmarks",
    "kernel_ridge_path",
    "kl_divergence",
    "landmark_alignment_loss",
    "landmark_similarity",
    "linear_svm_path",
    "losses",
    "optimized_kernel_weights",
    "phases",
    "power_divergence",
    "pseudo_posterior",
    "random_phase_features",
    "relative_kernel_error",
    "ridge_path",
    "sample_loss_bound",
    "select_landmarks",
    "similarity_maps",
    "supervise_frequencies",
]
