"""The slow formulas, straight from the definitions, that the engine is compared with."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp
from scipy.special import gamma, kv

from rff_engine.alignment import alignment_loss_plane
from rff_engine.studies.toy.plane import cell_centres, plane_points


def dense(X):
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def alignment_loss(X, y, omega):
    """1/(n(n-1)) sum over i != j of (1 - lambda_ij cos(omega . (x_i - x_j))) / 2."""
    X, n = dense(X), len(y)
    total = np.zeros(len(omega))
    for i in range(n):
        for j in range(n):
            if i != j:
                sign = 1 if y[i] == y[j] else -1
                total += (1 - sign * np.cos(omega @ (X[i] - X[j]))) / 2
    return total / (n * (n - 1))


def alignment_loss_variance(X, y, omega):
    """Half the mean of (loss of (i, j) - loss of (k, l))^2 over all four different points."""
    X, y = dense(X), np.asarray(y)
    sign = np.where(y[:, None] == y, 1, -1)
    losses = (1 - sign[..., None] * np.cos((X[:, None] - X) @ omega.T)) / 2
    four = itertools.permutations(range(len(y)), 4)
    return np.mean([(losses[i, j] - losses[k, l]) ** 2 / 2 for i, j, k, l in four], axis=0)


def landmark_alignment_loss(X, y, landmarks, labels, omega, indices=None):
    """Mean of (1 - lambda_lj cos(omega . (x_l - x_j))) / 2 over all j but the landmark itself."""
    X, landmarks = dense(X), dense(landmarks)
    losses = []
    for l, (point, label) in enumerate(zip(landmarks, labels, strict=True)):
        frequencies = omega if omega.ndim == 2 else omega[l]
        others = [j for j in range(len(y)) if indices is None or j != indices[l]]
        total = np.zeros(len(frequencies))
        for j in others:
            sign = 1 if y[j] == label else -1
            total += (1 - sign * np.cos(frequencies @ (point - X[j]))) / 2
        losses.append(total / len(others))
    return np.array(losses)


def landmark_similarity(X, landmarks, omega, Q):
    """sum_m Q_lm cos(omega_lm . (x_l - x))."""
    X, landmarks = dense(X), dense(landmarks)
    similarity = np.empty((len(X), len(landmarks)))
    for i, x in enumerate(X):
        for l, point in enumerate(landmarks):
            frequencies = omega if omega.ndim == 2 else omega[l]
            similarity[i, l] = sum(
                q * math.cos(w @ (point - x)) for q, w in zip(Q[l], frequencies.astype(float), strict=True)
            )
    return similarity


def gaussian(delta, sigma):
    return math.exp(-sum(t * t for t in delta) / (2 * sigma**2))


def laplacian(delta, gamma):
    return math.exp(-gamma * sum(abs(t) for t in delta))


def cauchy(delta, gamma):
    return math.prod(1 / (1 + (gamma * t) ** 2) for t in delta)


def matern(delta, nu, length_scale):
    z = math.sqrt(2 * nu * sum(t * t for t in delta)) / length_scale
    return 1.0 if z == 0 else 2 ** (1 - nu) / gamma(nu) * z**nu * kv(nu, z)


def matern_half_integer(n, distance):
    """The Matérn kernel of nu = n + 1/2 and length 1, from K_(nu+1) = K_(nu-1) + (2 nu / z) K_nu; nothing overflows."""
    z = np.sqrt(2 * n + 1) * np.asarray(distance, dtype=float)
    before, now = np.exp(-z), (1 + z) * np.exp(-z)  # of nu = 1/2 and 3/2, at this z
    for k in range(1, n):
        nu = k + 0.5
        before, now = now, now + z**2 / (4 * nu * (nu - 1)) * before
    return now


def power_divergence(Q, mu):
    return sum((len(Q) * q) ** mu for q in Q) / len(Q) - 1


def kl_divergence(Q):
    return sum(q * math.log(q * len(Q)) for q in Q if q > 0)


def bernoulli_kl(p, q):
    first = p * math.log(p / q) if p > 0 else 0.0
    return first + ((1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0)


def boosted_vote(X, signs, model):
    """H(x) of a fitted LandmarkBoosting after each round, one cosine at a time."""
    X, vote = dense(X), np.full(X.shape[0], 0.5 * math.log((1 + np.mean(signs)) / (1 - np.mean(signs))))
    votes = [vote]
    for t, alpha in enumerate(model.step_sizes_):
        if model.landmarks_ is None:
            h = np.array([math.cos(model.frequencies_[t] @ x - model.offsets_[t]) for x in X])
        else:
            h = np.zeros(len(X))
            for q, omega in zip(model.weights_[t], model.frequencies_[t], strict=True):
                h += [q * math.cos(omega @ (model.landmarks_[t] - x)) for x in X]
        vote = vote + alpha * h
        votes.append(vote)
    return np.array(votes)


def residual_loss(residuals, predictions):
    """mean_i exp(-r_i h(x_i))."""
    return sum(math.exp(-r * h) for r, h in zip(residuals, predictions, strict=True)) / len(residuals)


def rational_quadratic(delta, alpha, length_scale):
    return (1 + sum(t * t for t in delta) / (2 * alpha * length_scale**2)) ** -alpha


def periodic(delta, period, length_scale):
    return math.exp(-2 * sum(math.sin(math.pi * t / period) ** 2 for t in delta) / length_scale**2)


def frequency_plane(X, y, kernel, extent, cells=121):
    """Prior density and alignment losses, (cells, cells) each, over a square of frequencies."""
    grid = cell_centres(extent, cells)
    prior = kernel.spectral_density(plane_points(grid)).reshape(cells, cells)
    return SimpleNamespace(grid=grid, prior=prior, loss=alignment_loss_plane(X, y, grid, grid), n=len(X))


def plane_posterior(plane, beta):
    """p(omega) exp(-beta sqrt(n) loss) / Z as a density on the plane (G, G), whose integral is 1."""
    weights = plane.prior * np.exp(-beta * np.sqrt(plane.n) * (plane.loss - plane.loss.min()))
    cell = (plane.grid[-1] - plane.grid[0]) / (len(plane.grid) - 1)
    return weights / weights.sum() / cell**2


def weighted_kernel_map(omega, Q, extent, cells):
    """sum_m Q_m cos(omega_m . delta) over the plane, (cells, cells)."""
    return (np.cos(plane_points(cell_centres(extent, cells)) @ omega.T) @ Q).reshape(cells, cells)
