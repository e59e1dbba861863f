"""Draws from which the browser makes the problems of a page, for any width and noise, and for clicked landmarks.

A toy sample is its positions plus the noise times standard normal draws. A frequency of the Gaussian kernel is a draw
over the width. Files of samples are shared by pages; the JavaScript that reads them is `draws.js`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import rff_engine as rff
from datasets.toy import draw_toy
from datasets.toy_data import FRESH_SEED, TEST_POINTS, ToyData
from deploy.site.packing import packed_file
from pages.landmarks.compute import MAX_FREQUENCIES, MAX_LANDMARKS, LandmarkSettings, landmark_problem
from pages.landmarks.view import landmark_draws
from pages.shared.controls.widgets import as_text
from pages.shared.live.packing import as_base64, pack_draw

#: Controls next to the live view that the browser answers, by view.
SCALES = {"landmarks": ("landmarks", "noise"), "kernel": ("noise", "N")}
#: The control among them that changes words of the page.
IN_WORDS = {"kernel": "N"}
#: The folder of the files, which pages share.
FOLDER = "samples"
#: k-means depends on the noise: its centroids are computed for these samples and noises.
KMEANS_POINTS, KMEANS_NOISES = 300, (0.0, 0.1, 0.2, 0.3)
#: Number of candidates of a seed; a smaller number takes the first ones.
CANDIDATES = 5000


@dataclass(frozen=True)
class Sample:
    """A toy sample without its noise."""

    data: str
    n: int
    seed: int

    @classmethod
    def of(cls, settings: dict) -> Sample:
        """Return the sample of a page's settings."""
        return cls(settings["data"], int(settings["n"]), int(settings["seed"]))

    @property
    def file(self) -> str:
        """The name of its file, as `draws.js` has it too."""
        return f"{self.data}_{self.n}_{self.seed}"

    @property
    def settings(self) -> dict[str, str]:
        """The settings of a page that choose it."""
        return {"data": self.data, "n": as_text(self.n), "seed": as_text(self.seed)}

    def problem(self, noise: float, count: int, selection: str):
        """Make the problem on landmarks at width 1. Its frequencies are the draws."""
        data = ToyData(self.data, self.n, noise, self.seed)
        return landmark_problem(LandmarkSettings(data, 1.0, MAX_FREQUENCIES, count, selection))


def rows(view: str, samples: Iterable[Sample]) -> Iterator[dict]:
    """Yield the settings that need files, each with the file of its sample."""
    for sample in samples:
        if view == "kernel":
            yield {"settings": sample.settings, "file": sample.file}
            continue
        for how in ("random", "clicked"):
            yield {"settings": sample.settings | {"how": how}, "file": sample.file}
        if sample.n == KMEANS_POINTS:
            for noise in map(as_text, KMEANS_NOISES):
                yield {"settings": sample.settings | {"how": "k-means", "noise": noise}, "file": sample.file}


def write(view: str, samples: Iterable[Sample], folder: Path) -> None:
    """Write the files that a view needs for these samples, unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    for sample in samples:
        _write(folder, sample.file, lambda sample=sample: _of_sample(sample))
        if view == "landmarks":
            _write(folder, f"{sample.data}_{sample.seed}_fresh", lambda sample=sample: _fresh(sample))
            _write(folder, f"landmarks_{sample.seed}", lambda sample=sample: _draws(landmark_draws(sample.seed)))
        else:
            _write(folder, f"candidates_{sample.seed}", lambda sample=sample: _draws(_candidates(sample.seed)))


def _write(folder: Path, name: str, make) -> None:
    path = folder / f"{name}.js"
    if path.exists():
        return
    # Another page may write the same file at the same time.
    made = path.with_suffix(f".{os.getpid()}")
    made.write_text(packed_file(name, make()), encoding="utf-8")
    made.replace(path)


def _of_sample(sample: Sample) -> dict:
    """Return a sample: positions, draws, labels, rows of random landmarks, and centroids by noise and number."""
    draw = draw_toy(sample.data, sample.n, sample.seed)
    chosen = sample.problem(0.0, MAX_LANDMARKS, "random").indices
    noises = KMEANS_NOISES if sample.n == KMEANS_POINTS else ()
    return {
        **pack_draw(draw, "<f8"),
        "rows": [] if chosen is None else chosen.tolist(),
        "centroids": {as_text(noise): list(_centroids(sample, noise)) for noise in noises},
    }


def _centroids(sample: Sample, noise: float) -> Iterator[dict]:
    for count in range(1, MAX_LANDMARKS + 1):
        problem = sample.problem(noise, count, "kmeans")
        yield {"points": problem.landmarks.ravel().tolist(), "labels": problem.labels.tolist()}


def _fresh(sample: Sample) -> dict:
    """Draw the fresh sample, which gives the test errors, as `ToyData.fresh_sample` does, in single precision."""
    return pack_draw(draw_toy(sample.data, TEST_POINTS, sample.seed + FRESH_SEED), "<f4")


def _candidates(seed: int) -> np.ndarray:
    return rff.GaussianKernel(1.0).sample_frequencies(CANDIDATES, 2, seed)


def _draws(frequencies: np.ndarray) -> dict:
    return {"draws": as_base64(frequencies, "<f8")}
