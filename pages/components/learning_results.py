"""Cached results of the page on kernel learning; what depends on beta or rho is kept apart from what does not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

import rff_engine as rff
from pages.components.toy_data import ToyData, read_only, toy_fresh_sample, toy_sample
from rff_engine.experiments import toy_kernels, toy_learning

#: Numbers of frequencies of the error curves, and how often frequencies are drawn for each.
CURVE_COUNTS, CURVE_DRAWS = (1, 2, 5, 10, 20, 50, 100, 200), 10


@dataclass(frozen=True)
class CandidateSettings:
    """All that the losses of the candidates depend on."""

    data: ToyData
    sigma: float
    n_candidates: int


@dataclass(frozen=True)
class PriorWeights:
    """RFF: every candidate weighs the same."""

    method = "rff"

    def __call__(self, loss: np.ndarray, n: int) -> np.ndarray:
        return np.full(len(loss), 1 / len(loss))


@dataclass(frozen=True)
class PseudoPosterior:
    """PBRFF: exponential weights."""

    beta: float
    method = "pbrff"

    def __call__(self, loss: np.ndarray, n: int) -> np.ndarray:
        return rff.pseudo_posterior(loss, self.beta, n)


@dataclass(frozen=True)
class OptimizedKernel:
    """OKRFF: the best-aligned weights within a divergence of rho from the prior; `rho_share` is rho / N."""

    rho_share: float
    mu: float
    method = "okrff"

    def __call__(self, loss: np.ndarray, n: int) -> np.ndarray:
        return rff.optimized_kernel_weights(loss, self.rho_share * len(loss), self.mu)


Weighting = PriorWeights | PseudoPosterior | OptimizedKernel


@st.cache_resource(max_entries=64, show_spinner=False)
def frequency_plane(data: ToyData, sigma: float, extent: float) -> toy_learning.FrequencyPlane:
    sample = toy_sample(data)
    return read_only(toy_learning.frequency_plane(sample.X, sample.y, rff.GaussianKernel(sigma), extent))


@st.cache_resource(max_entries=32, show_spinner=False)
def candidates(settings: CandidateSettings) -> toy_learning.Candidates:
    sample = toy_sample(settings.data)
    return read_only(
        toy_learning.draw_candidates(
            sample.X, sample.y, rff.GaussianKernel(settings.sigma), settings.n_candidates, settings.data.seed
        )
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def candidate_weights(settings: CandidateSettings, weighting: Weighting) -> np.ndarray:
    drawn = candidates(settings)
    return read_only(weighting(drawn.loss, drawn.n))


@st.cache_resource(max_entries=64, show_spinner=False)
def prior_map(sigma: float, extent: float) -> np.ndarray:
    return read_only(toy_kernels.kernel_map(rff.GaussianKernel(sigma), extent))


@st.cache_resource(max_entries=64, show_spinner=False)
def weighted_map(settings: CandidateSettings, weighting: Weighting, extent: float) -> np.ndarray:
    return read_only(
        toy_kernels.weighted_kernel_map(candidates(settings).omega, candidate_weights(settings, weighting), extent)
    )


@st.cache_resource(max_entries=256, show_spinner=False)
def feature_errors(
    settings: CandidateSettings, weighting: Weighting, C: float, D_values: tuple[int, ...]
) -> np.ndarray:
    """Test errors, (len(D_values), CURVE_DRAWS); the draws do not depend on which D are asked for."""
    sample, fresh = toy_sample(settings.data), toy_fresh_sample(settings.data)
    return read_only(
        toy_learning.feature_error_curve(
            sample.X,
            sample.y,
            fresh.X,
            fresh.y,
            candidates(settings).omega,
            candidate_weights(settings, weighting),
            D_values,
            C,
            CURVE_DRAWS,
            # Not the stream that the candidates came from.
            np.random.default_rng((settings.data.seed, 1)),
        )
    )


def feature_errors_at(settings: CandidateSettings, weighting: Weighting, C: float, D: int) -> np.ndarray:
    """Test errors at one D, (CURVE_DRAWS,): off the curve if D is on it."""
    if D in CURVE_COUNTS:
        return feature_errors(settings, weighting, C, CURVE_COUNTS)[CURVE_COUNTS.index(D)]
    return feature_errors(settings, weighting, C, (D,))[0]
