"""PAC-Bayesian random Fourier features.

A kernel's Fourier transform is a prior over cosines; this package learns pseudo-posteriors on it, for a whole
kernel or per landmark (Letarte, Morvant and Germain, AISTATS 2019), and bounds what is learned. It needs NumPy,
SciPy and scikit-learn; `rff_engine.figures` and `rff_engine.experiments` are imported where they are used.

Any finite input gets a finite answer, or a ValueError of one sentence: numbers beyond 1e100 in size are refused, and
where a function allows less its docstring says so (tests/engine/test_any_finite_input.py).

What takes `n_jobs` works on threads where there is enough to do: by default on all that are allowed. Those
are as many as OpenMP may use, the cores of this process or what `OMP_NUM_THREADS`, `threadpoolctl.threadpool_limits`
and the share of a joblib worker leave of them, and one in a thread of a joblib pool. As in scikit-learn, `n_jobs=2` is
two of them, 1 none but the caller's, -1 all that are allowed, and ``None`` the number of `joblib.parallel_config`
around the call, where there is one. No result depends on it. BLAS and k-means have threads of their own, for which
`threadpool_limits` is.
"""

from . import bounds
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
    alignment_loss_of_blocks,
    alignment_loss_plane,
    alignment_sums,
    landmark_alignment_loss,
)
from .estimators import (
    LandmarkSimilarity,
    OptimizedKernelFeatures,
    PseudoPosteriorFeatures,
    RandomFourierFeatures,
)
from .features import fourier_features, phases, random_phase_features
from .frequencies import FrequencyBlocks, draw_frequencies
from .kernels import CauchyKernel, GaussianKernel, LaplacianKernel, MaternKernel, SpectralKernel
from .landmarks import landmark_similarity, select_landmarks, similarity_maps
from .linear import linear_svm_path
from .posteriors import kl_divergence, optimized_kernel_weights, power_divergence, pseudo_posterior

__version__ = "0.1.0"

__all__ = [
    "AdaptedFrequencies",
    "AdaptiveFourierFeatures",
    "AlignmentSums",
    "CauchyKernel",
    "FrequencyBlocks",
    "GaussianKernel",
    "LandmarkSimilarity",
    "LaplacianKernel",
    "MaternKernel",
    "OptimizedKernelFeatures",
    "PseudoPosteriorFeatures",
    "RandomFourierFeatures",
    "SpectralKernel",
    "SupervisedFourierFeatures",
    "adapt_frequencies",
    "alignment_loss",
    "alignment_loss_of_blocks",
    "alignment_loss_plane",
    "alignment_sums",
    "bounds",
    "draw_frequencies",
    "feature_weights",
    "fourier_features",
    "importance_density",
    "kernel_landmarks",
    "kl_divergence",
    "landmark_alignment_loss",
    "landmark_similarity",
    "linear_svm_path",
    "optimized_kernel_weights",
    "phases",
    "power_divergence",
    "pseudo_posterior",
    "random_phase_features",
    "relative_kernel_error",
    "select_landmarks",
    "similarity_maps",
    "supervise_frequencies",
]
