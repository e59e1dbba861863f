"""What if a kernel were only a first guess? The numbers of the radio.

After `pip install ".[experiments]"` in a copy of the repository, from any folder: python compute.py [numbers.csv]
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd

import rff_engine as rff
from rff_datasets import Dataset, ToyData

#: Candidates on the card of the radio, and what the confidence of its bounds lacks to 1.
CANDIDATES, EPSILON = 2000, 0.05
#: Its data sets, each with the place of the star, chosen before any label is seen, and the width of the kernel.
STATIONS = {
    "checkerboard": (ToyData("checkerboard", 300, 0.03, 0), (0.375, 0.375), 0.251),
    "moons": (ToyData("moons", 300, 0.1, 0), (-1.5, 0.25), 0.251),
    "spirals": (ToyData("spirals", 300, 0.1, 0), (-1.4, 0.9), 0.251),
}
#: Points drawn by hand: what is before their code, the points to begin with and their classes, the star, and the width.
OWN = "own."
OWN_START = (((1.0, 1.0), (-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0)), (1, 1, -1, -1))
OWN_STAR = (0.8, 0.8)
OWN_SIGMA = 0.5
#: Ends of its sliders.
LIMITS = {"beta": (0.03, 30.0), "D": (10, CANDIDATES), "sigma": (0.1, 1.0)}
#: The farthest coordinate of its star.
FARTHEST = 3.0
_NUMBER, _PLACE = r"\d{1,4}(?:\.\d{1,4})?", r"-?\d(?:\.\d{1,3})?"
_CODE = re.compile(
    rf"(?P<data>[a-z]+|own\.[\w-]+)~(?P<waves>(?:\d{{1,4}}(?:-\d{{1,4}}){{0,19}})?)~(?P<beta>{_NUMBER})~(?P<D>\d{{1,4}})"
    rf"~(?P<sigma>{_NUMBER})(?P<posterior>~posterior)?(?:~(?P<x>{_PLACE})~(?P<z>{_PLACE}))?",
    re.ASCII,
)


@dataclass(frozen=True)
class Tuning:
    """A setting of the radio: the data, the waves that are kept, and what the posterior is set to."""

    data: str = "checkerboard"
    """One of `STATIONS`, or `own.` and the code of points drawn by hand"""
    waves: tuple[int, ...] = ()
    """Numbers of candidates"""
    beta: float = 1.0
    D: int = CANDIDATES
    """How many candidates are on the card"""
    sigma: float = 0.251
    posterior: bool = False
    """Whether it is shown"""
    star: tuple[float, float] | None = None
    """Where the reader has moved the star; None: where it was"""


def points_of(data: str) -> tuple[Dataset, Dataset, tuple[float, float]]:
    """Return points, fresh ones, and where the star is. Points drawn by hand have no fresh ones: they stand for both.

    Raises
    ------
    ValueError
        If the name is none of `STATIONS`, nor the code of points with two of each class or more.
    """
    if data.startswith(OWN):
        sample = ToyData("points", 0, 0.0, 0, data.removeprefix(OWN)).sample()
        return sample, sample, OWN_STAR
    if data not in STATIONS:
        raise ValueError(f"there is no station {data!r}")
    known, star, _ = STATIONS[data]
    return known.sample(), known.fresh_sample(), star


@dataclass(frozen=True)
class Station:
    """A star among points, with the candidates that the prior draws for it."""

    label: int
    """The class of the star: that of the nearest point"""
    kernel: tuple[np.ndarray, np.ndarray]
    """Values of the kernel to the star, at the points and at the test points"""
    loss: np.ndarray
    """Alignment loss of each candidate, (D,)"""
    test_waves: np.ndarray
    """Each candidate's cosine at the test points, (m, D)"""
    y: np.ndarray
    test_y: np.ndarray


def candidate_draws() -> np.ndarray:
    """Return the standard normal draws of the candidates, (N, 2); divided by sigma they are frequencies."""
    return np.random.default_rng(0).standard_normal((CANDIDATES, 2)).astype(np.float32)


def station(tuning: Tuning) -> Station:
    """Compute the alignment losses of the candidates of a star (Letarte et al. 2019, Eq. 10)."""
    sample, fresh, place = points_of(tuning.data)
    star = np.array([tuning.star or place])
    label = int(sample.y[((sample.X - star) ** 2).sum(axis=1).argmin()])
    omega = candidate_draws()[: tuning.D].astype(float) / tuning.sigma
    kernel = rff.GaussianKernel(tuning.sigma)
    return Station(
        label,
        (kernel(sample.X, star)[:, 0], kernel(fresh.X, star)[:, 0]),
        rff.landmark_alignment_loss(sample.X, sample.y, star, [label], omega)[0],
        np.cos((star - fresh.X) @ omega.T),
        sample.y,
        fresh.y,
    )


def numbers(tuning: Tuning) -> pd.DataFrame:
    """Compare the kernel, the waves that are kept, and the posterior: test error, mean loss, KL in nats, and bound.

    There is no bound (nan) for a star that was moved after a look at the labels, nor for points drawn by hand.
    """
    of = station(tuning)
    n = len(of.y)
    D = len(of.loss)
    holds = tuning.star is None and not tuning.data.startswith(OWN)
    kept = [m for m in tuning.waves if m < D]
    weights = {"posterior": rff.pseudo_posterior(of.loss, tuning.beta, n)}
    if kept:
        weights = {"yours": np.bincount(kept, minlength=D) / len(kept)} | weights
    similar = {"kernel": of.kernel[1]} | {name: of.test_waves @ Q for name, Q in weights.items()}
    loss = {"kernel": 0.5 - of.label * (of.y @ of.kernel[0]) / (2 * n)} | {
        name: Q @ of.loss for name, Q in weights.items()
    }
    kl = {"kernel": 0.0} | {name: float(rff.kl_divergence(Q)) for name, Q in weights.items()}
    rows = [
        {
            "similarity": name,
            "test_error": np.mean((values > 0) != (of.test_y == of.label)),
            "loss": loss[name],
            "kl": kl[name],
            # The star is no training point, so its pairs are n.
            "bound": rff.bounds.landmark_kl_inverse(loss[name], kl[name], n + 1, EPSILON) if holds else np.nan,
        }
        for name, values in similar.items()
    ]
    return pd.DataFrame(rows)


def decode(code: str) -> Tuning:
    """Return the setting of a code, such as `checkerboard~12-480~1~2000~0.251`; the default for an empty code.

    After the width may follow `posterior`, if it is shown, and the place of a star that was moved.

    Raises
    ------
    ValueError
        If the code is malformed, or a value is out of range.
    """
    if not code:
        return Tuning()
    found = _CODE.fullmatch(code)
    if not found:
        raise ValueError("no code of the radio")
    points_of(found["data"])
    numbers = [float(found[name]) for name in ("beta", "D", "sigma")]
    waves = tuple(map(int, found["waves"].split("-"))) if found["waves"] else ()
    star = (float(found["x"]), float(found["z"])) if found["x"] else None
    inside = all(low <= value <= high for value, (low, high) in zip(numbers, LIMITS.values(), strict=True))
    if not inside or len({*waves}) < len(waves) or max(waves, default=0) >= CANDIDATES or _too_far(star):
        raise ValueError("no code of the radio")
    beta, D, sigma = numbers
    return Tuning(found["data"], waves, beta, int(D), sigma, found["posterior"] is not None, star)


def beside_own_waves(own: str, shown: str) -> str:
    """Return the code `shown` with the reader's waves in place of its own, if it is a posterior of the same points."""
    mine = decode(own)
    asked = decode(shown)
    if not asked.posterior or not mine.waves or mine.data != asked.data:
        return shown
    data, _, rest = shown.split("~", 2)
    return "~".join((data, own.split("~")[1], rest))


def _too_far(star: tuple[float, float] | None) -> bool:
    return star is not None and max(map(abs, star)) > FARTHEST


if __name__ == "__main__":
    # The experiment
    data = "checkerboard"
    waves = ()  # numbers of the candidates that are kept, from 0
    beta = 1.0
    D = 2000  # candidates
    sigma = 0.251
    star = None  # its place, if it was moved

    table = numbers(Tuning(data, waves, beta, D, sigma, star=star))
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
