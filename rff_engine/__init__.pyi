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

__version__: str

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
