"""Print small cases of what the browser evaluates, computed by the engine, as JSON for the tests in JavaScript.

Frequencies and points are exact in single precision, in which the browser receives them.
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from dataclasses import replace
from itertools import product

import numpy as np
from scipy.special import gammaln, ndtr

import rff_engine as rff
from datasets.points import encode_points
from datasets.toy import draw_toy
from deploy.site import packing, plots
from pages.kernel import compute, view
from pages.kernel.learn.compute import TurnedGaussianKernel
from pages.shared.controls import scales
from pages.shared.controls.toy import SIGMA_LIVE
from pages.shared.figures import narrow
from pages.start import compute as start
from rff_engine.kernels import KERNELS_BY_TITLE
from rff_engine.linear import error_rate, linear_svm_decision
from rff_engine.plots import panels
from rff_engine.plots.style import darken
from rff_engine.studies.toy import (
    coverage,
    kernel as toy_kernels,
    landmarks as toy_landmarks,
)
from rff_engine.studies.toy.plane import cell_centres, plane_points
from tests import naive

N, D, L, M = 40, 12, 3, 25
BETAS, ORDERS, C = (0.0, 0.1, 1.0, 30.0, 1000.0), (1.5, 2.0, 3.0), (0.01, 1.0, 100.0)
EXTENT, CELLS = 1.75, 9
#: Settings of the radio, at the ends of each slider and with a star that was moved.
RADIO_CODES = (
    "",
    "checkerboard~1791-143~1~2000~0.251~posterior",
    "checkerboard~3~0.03~2000~0.251~posterior",
    "checkerboard~3-9~30~2000~0.251~posterior",
    "moons~3-9~1~10~0.251~posterior",
    "spirals~1760~1~2000~0.1~posterior",
    f"own.{encode_points(*start.OWN_START)}~3-9~1~2000~0.5~posterior",
    "spirals~1760~1~2000~1~posterior~0.3~-0.25",
)


def single(values) -> np.ndarray:
    return np.asarray(values, dtype=np.float32).astype(float)


def listed(value):
    """The value with its arrays as flat lists."""
    if isinstance(value, dict):
        return {name: listed(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [listed(part) for part in value]
    return np.asarray(value, dtype=float).ravel().tolist() if isinstance(value, np.ndarray) else value


def exported(maps: dict[str, np.ndarray]) -> dict:
    """A figure as the static edition has it, in the file that a browser reads, and what the browser must make of it."""
    planes = maps["rff"], maps["pbrff"], maps["rff"]
    sheet = panels.square_panels([""] * 3, [EXTENT] * 3, ["ω"] * 3)
    for panel, plane in enumerate(planes, start=1):
        panels.add_map(sheet, panel, plane, EXTENT, "density", title="", scale="Viridis", limits=(0, 1))
    spec = panels.finish_panels(sheet, 420, top=78).to_json()
    figures = {
        "wide light": plots.read(spec),
        "wide dark": darken(plots.read(spec)),
        "narrow light": narrow.stack(plots.read(spec)),
        "narrow dark": darken(narrow.stack(plots.read(spec))),
    }
    variants = {look: plots.small(without_maps(plots.plain(fig))) for look, fig in figures.items()}
    data: dict = {"figure": plots.compact(spec), "float64": b64encode(maps["rff"].tobytes()).decode("ascii")}
    return {"file": packing.packed_file("case", data), "data": data, "variants": variants, "maps": list(planes)}


def without_maps(figure: dict) -> dict:
    for trace in figure["data"]:
        trace.pop("z", None)
    return figure


def posteriors(loss: np.ndarray) -> list[dict]:
    """Weights, and how concentrated they are, at several temperatures."""
    cases = []
    for beta in BETAS:
        Q = rff.pseudo_posterior(loss, beta, N)
        divergences = [rff.power_divergence(Q[0], mu) for mu in ORDERS]
        effective = 1 / (Q[0] ** 2).sum()
        cases.append(
            {"beta": beta, "Q": Q, "kl": rff.kl_divergence(Q), "divergences": divergences, "effective": effective}
        )
    return cases


def plane(X: np.ndarray, y: np.ndarray) -> dict:
    """The frequency plane: prior, losses, and posteriors that sum to 1."""
    made = naive.frequency_plane(X, y, rff.GaussianKernel(0.5), 6.0, 7)
    densities = [naive.plane_posterior(made, beta) for beta in BETAS]
    return {
        "grid": made.grid,
        "prior": made.prior,
        "loss": made.loss,
        "posteriors": [density / density.sum() for density in densities],
    }


def machines(psi: np.ndarray, y: np.ndarray, test_psi: np.ndarray, test_y: np.ndarray) -> list[dict]:
    """Linear SVMs on similarities, with their errors."""
    coefficients, intercepts = rff.linear_svm_path(psi, y, C)
    decisions = [linear_svm_decision(Z, coefficients, intercepts) for Z in (psi, test_psi)]
    return [
        {
            "C": c,
            "w": [*coefficients[k], intercepts[k]],
            "train_error": error_rate(decisions[0][k], y),
            "test_error": error_rate(decisions[1][k], test_y),
        }
        for k, c in enumerate(C)
    ]


def build_up(grid: np.ndarray, landmarks: np.ndarray, omega: np.ndarray, Q: np.ndarray) -> list[dict]:
    """For each landmark, sums of its first 0 to D cosines, the heaviest first, and what they lack of the whole sum."""
    cases = []
    for point, frequencies, weights in zip(landmarks, omega, Q, strict=True):
        order = np.argsort(-weights, kind="stable")
        kept = [np.where(np.isin(np.arange(D), order[:count]), weights, 0) for count in range(D + 1)]
        maps = rff.similarity_maps(grid, grid, np.tile(point, (D + 1, 1)), np.tile(frequencies, (D + 1, 1, 1)), kept)
        distances = [np.sqrt(np.mean((part - maps[-1]) ** 2)) for part in maps]
        cases.append({"order": order, "shares": [row.sum() for row in kept], "distances": distances, "maps": maps})
    return cases


#: Widths, noises, and costs of the SVM, for which the same draws make a problem.
WIDTHS, NOISES, COSTS = (0.126, 0.501, 2.0), (0.0, 0.37, 0.1), (1.0, 0.01, 100.0)
#: Stretches of the prior along an axis and across it, and its angle: none, and both ends of the sliders.
ELLIPSES = ((1.0, 1.0, 0), (3.16, 0.2, 37), (0.2, 3.16, 179))
RADII, ORDERS = (1e-4, 0.01, 0.3, 1.0), (1.1, 1.5, 2.0, 5.0)


def drawn(name: str, n: int, seed: int) -> tuple[dict, dict]:
    """Training and test points of a toy problem, their noise apart."""
    train, test = (vars(draw_toy(name, size, number)) for size, number in ((n, seed), (M, seed + 1)))
    return train, test


def landmark_problems() -> list[dict]:
    """Data of landmark views from draws: landmarks among the points, and centroids."""
    cases = []
    for sigma, noise, C_of_case, selection in zip(WIDTHS, NOISES, COSTS, ("random", "kmeans", [3, 0]), strict=True):
        train, test = drawn("circles", N, 3)
        X, test_X = (draw["positions"] + noise * draw["normals"] for draw in (train, test))
        extent = float(np.ceil(4.2 * np.abs(X).max()) / 4)

        def problem_of(kernel, X=X, y=train["y"], selection=selection):
            return toy_landmarks.landmark_problem(X, y, kernel, 4, D, selection, 3)

        problem = problem_of(rff.GaussianKernel(sigma))
        maps, prior = toy_landmarks.prior_view(problem, test_X, test["y"], C_of_case, extent, CELLS)
        cases.append(
            {"train": train, "test": test, "draws": problem_of(rff.GaussianKernel(1.0)).omega, "sigma": sigma}
            | {"noise": noise, "C": C_of_case, "X": X, "test_X": test_X, "extent": extent}
            | {"rows": problem.indices, "landmarks": problem.landmarks, "labels": problem.labels}
            | {"omega": problem.omega, "loss": problem.loss, "maps": maps, "decision": prior.values}
            | {"train_error": prior.train_error, "test_error": prior.test_error}
        )
    return cases


def kernel_problems() -> list[dict]:
    """Data of views of a learned kernel from draws."""
    weights = rff.optimized_kernel_weights
    cases = []
    for sigma, noise, ellipse in zip(WIDTHS, NOISES, ELLIPSES, strict=True):
        train, _ = drawn("checkerboard", N, 5)
        X, y = train["positions"] + noise * train["normals"], train["y"]
        extent = float(np.ceil(4.2 * np.abs(X).max()) / 4)
        kernel = TurnedGaussianKernel(sigma, *ellipse)
        candidates = toy_kernels.draw_candidates(X, y, kernel, 60, 5)
        plane = naive.frequency_plane(X, y, kernel, scales.WIDTHS / sigma, 7)
        cases.append(
            {"train": train, "draws": rff.GaussianKernel(1.0).sample_frequencies(60, 2, 5), "sigma": sigma}
            | dict(zip(("along", "across", "angle"), ellipse, strict=True))
            | {"noise": noise, "extent": extent, "omega": candidates.omega, "loss": candidates.loss}
            | {"prior": plane.prior, "plane_loss": plane.loss, "radii": RADII, "orders": ORDERS}
            | {"optimized": [[weights(candidates.loss, rho, mu) for rho in RADII] for mu in ORDERS]}
            | {"kernel": kernel(plane_points(cell_centres(2 * extent, CELLS)), np.zeros((1, 2))).reshape(CELLS, CELLS)}
        )
    return cases


def prior_lines() -> list[dict]:
    """Kernels on the line at both ends of the sliders of the width and of D, from draws of width 1."""
    cases = []
    for name in KERNELS_BY_TITLE:
        for nu in (0.5, 1.0, 50.0) if "nu" in KERNELS_BY_TITLE[name].parameters else (0.0,):
            packed = view.live_prior(name, nu, 3)
            for width, D in ((view.WIDTHS[0], 1000), (0.501, 50), (view.WIDTHS[-1], 1)):
                settings = compute.kernel_settings(name, width, nu, 3)
                line, functions = compute.kernel_line(settings, D), compute.kernel_functions(settings, D)
                cases.append({"name": f"{name} {nu}", "width": width, "D": D, "packed": packed if D == 1000 else None})
                cases[-1] |= {name: vars(line)[name] for name in ("density", "exact", "cos_sin", "random_phase")}
                cases[-1] |= {"omega": line.omega, "functions": functions}
    return cases


def landmark_bounds() -> list[tuple[float, ...]]:
    """Losses, divergences, n, numbers of landmarks and epsilon, with the PAC-Bayes-kl bound."""
    cases = product((0.0, 1e-6, 0.1, 0.5, 0.999, 1.0), (0.0, 0.1, 60.0), (2, 301), (1, 301), (0.05, 0.5))
    return [(*case, float(rff.bounds.landmark_kl_inverse(*case[:3], case[4], case[3]))) for case in cases]


def promises() -> list[dict]:
    """Theorem 4 on samples, at both ends of the sliders."""
    cases = []
    for n, mu, epsilon in ((20, 1.1, 0.5), (300, 1.5, 0.05), (310, 2.0, 0.01), (1000, 5.0, 0.05), (1000, 10.0, 0.001)):
        draws = coverage.draw_promises(400, n)
        found = coverage.simulate_promises(n, mu, epsilon, draws)
        widths = {"printed": found.printed_width, "corrected": found.corrected_width}
        true = np.array([0.0, 0.01, 0.13, 0.25, 0.4, 0.499, 0.5])
        rates = {form: coverage.promise_failures(true, n, width) for form, width in widths.items()}
        cases.append({"n": n, "mu": mu, "epsilon": epsilon, "draws": draws, "losses": found.losses, "widths": widths})
        cases[-1] |= {"true": true, "rates": rates}
    return cases


def radio() -> dict:
    """Settings of the radio, at the ends of its sliders too, with their numbers."""
    cases = []
    for code in RADIO_CODES:
        tuning = start.decode(code)
        sample, fresh, place = start.points_of(tuning.data)
        points = {"X": sample.X, "y": sample.y, "testX": single(fresh.X), "testY": fresh.y, "extent": EXTENT}
        points["byHand"] = tuning.data.startswith(start.OWN)
        loss = start.station(replace(tuning, D=start.CANDIDATES)).loss
        table = start.numbers(tuning).astype(object)
        rows = {row.pop("similarity"): row for row in table.where(table.notna(), None).to_dict("records")}
        cases.append({"code": code, "points": points | {"star": place}, "loss": loss, "rows": rows})
    return {"draws": start.candidate_draws(), "cases": cases}


def numbers() -> dict:
    """All cases."""
    rng = np.random.default_rng(0)
    X, test_X = single(rng.normal(size=(N, 2))), single(rng.normal(size=(M, 2)))
    y, test_y = (np.where(points[:, 0] * points[:, 1] > 0, 1, -1) for points in (X, test_X))
    landmarks, labels = X[:L], y[:L]
    omega = single(rng.normal(scale=2.0, size=(L, D, 2)))
    loss = rff.landmark_alignment_loss(X, y, landmarks, labels, omega, np.arange(L))
    Q = rff.pseudo_posterior(loss, 1.0, N)
    grid = cell_centres(EXTENT, CELLS)
    psi, test_psi = (rff.landmark_similarity(points, landmarks, omega, Q) for points in (X, test_X))
    maps = rff.similarity_maps(grid, grid, landmarks, omega, Q)
    return {
        "n": N,
        "D": D,
        "L": L,
        "mu": ORDERS,
        "X": X,
        "y": y,
        "test_X": test_X,
        "test_y": test_y,
        "landmarks": landmarks,
        "omega": omega,
        "loss": loss,
        "alignment_loss": rff.alignment_loss(X, y, omega[0]),
        "posteriors": posteriors(loss),
        "plane": plane(X, y),
        "extent": EXTENT,
        "cells": CELLS,
        "grid": grid,
        "Q": Q,
        "maps": maps,
        "exported": exported(dict(zip(("rff", "pbrff"), maps, strict=False))),
        "kernel_map": rff.similarity_maps(grid, grid, np.zeros((1, 2)), omega[:1], Q[:1]),
        "build_up": build_up(grid, landmarks, omega, Q),
        "psi": psi,
        "test_psi": test_psi,
        "machines": machines(psi, y, test_psi, test_y),
        "cdf": [[x, ndtr(x)] for x in (-9.0, -3.0, -0.5, 0.0, 0.2, 2.0, 8.0)],
        "widths": {"places": scales.exponents(*scales.SIGMA_LIVE), "values": SIGMA_LIVE.values, "shown": scales.WIDTHS},
        "landmark_problems": landmark_problems(),
        "radio": radio(),
        "kernel_problems": kernel_problems(),
        "widths_on_the_line": view.WIDTHS,
        "prior_lines": prior_lines(),
        "landmark_bounds": landmark_bounds(),
        "promises": promises(),
        "gammas": [[x, gammaln(x)] for x in (0.05, 0.5, 1.0, 3.7, 12.0, 1001.0)],
    }


if __name__ == "__main__":
    json.dump(listed(numbers()), sys.stdout, default=float)
