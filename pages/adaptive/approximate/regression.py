"""Cached results of kernel ridge regression beside ridge regression on features; times are those of the first run."""

from __future__ import annotations

import datasets
from pages.adaptive.approximate import toy_regression
from pages.adaptive.approximate.results import REAL_DATA, ApproximationSettings, approximation_rows
from pages.adaptive.approximate.toy import approximation_rows as scaled_rows, scaled_kernel
from pages.shared.controls.toy_data import ToyData, toy_sample
from pages.shared.server import workers
from pages.shared.server.cache import shared_cache

#: Rows that are split into training, validation and test; numbers of frequencies, draws, and points of the timing.
ROWS, R_VALUES, DRAWS, N_VALUES = 1200, (5, 10, 20, 50, 100, 200), 3, (125, 250, 500, 1000, 2000)
#: lambda of the fits on the line.
LINE_DECAY = 1e-2


@shared_cache
def line_fit(kernel_name: str, width: float, nu: float, r: int, seed: int) -> toy_regression.LineFit:
    kernel = scaled_kernel(kernel_name, width, 1, nu)
    return toy_regression.line_fit(kernel, r, LINE_DECAY, seed)


@shared_cache
def learning_errors(settings: ApproximationSettings) -> toy_regression.LearningErrors:
    if settings.data in REAL_DATA:
        sample = datasets.load(settings.data)
    else:
        sample = toy_sample(ToyData(settings.data, ROWS, 0.1, settings.seed))
    rows = scaled_rows(sample.X, sample.y, sample.task, min(ROWS, len(sample.y)), settings.seed)
    kernel = scaled_kernel(settings.kernel_name, settings.width, rows.X.shape[1], settings.nu)
    # On one thread: times then do not depend on how many cores are free.
    fitted = toy_regression.kernel_and_feature_errors
    return workers.compute(fitted, rows.X, rows.y, rows.task, kernel, R_VALUES, DRAWS, settings.seed)


@shared_cache
def learning_seconds(settings: ApproximationSettings, r: int) -> toy_regression.LearningSeconds:
    X = approximation_rows(settings.data, settings.seed).X
    kernel = settings.kernel()
    return workers.compute(toy_regression.seconds_against_n, X, kernel, N_VALUES, r, settings.seed)
