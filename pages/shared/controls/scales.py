"""Values of the live views' sliders and curves, which the app's controls and figures share."""

from __future__ import annotations


def exponents(low: int, high: int, per_decade: int) -> list[float]:
    """Return numbers from low to high, `per_decade` to a unit."""
    return [low + k / per_decade for k in range((high - low) * per_decade + 1)]


def powers(low: int, high: int, per_decade: int) -> tuple[float, ...]:
    """Return values from 10^low to 10^high, evenly spaced in their logarithm, rounded to three figures."""
    return tuple(float(f"{10**exponent:.3g}") for exponent in exponents(low, high, per_decade))


def _even(low: float, high: float, _start: float, step: float) -> str:
    return f'min="{low:g}" max="{high:g}" step="{step:g}"'


def _logarithmic(low: int, high: int, per_decade: int) -> str:
    return f'data-scale="log" {_even(low, high, 0, 1 / per_decade)}'


# Ends as powers of ten, and the number of values in a decade.
#: Inverse temperature.
BETA = (-3, 3, 10)
#: Width of the prior.
SIGMA = (-1, 1, 10)
#: Width of a kernel on the line; it has the steps of the live width.
WIDTH = (-0.7, 0.6)
#: Stretch of the prior along its axis and across it; it has the steps of the live width.
ALONG = (-0.7, 0.5)
#: Radius rho / N.
RHO = (-4, 0, 5)
#: Width on the slider of a live view; each value is a place on it.
SIGMA_LIVE = (*SIGMA[:2], 50)
# Ends, start of the app's control, and step.
NOISE = (0.0, 0.5, 0.1, 0.01)
#: Length of the step away from the prior's weights.
STRETCH = (0.0, 3.0, 1.0, 0.05)
STRETCHES = tuple(round(0.05 * k, 2) for k in range(61))
#: Share of the blocks that have come.
ARRIVED = (0.0, 1.0, 1.0, 0.01)
#: Inverse temperatures of curves.
BETAS = powers(*BETA)
#: Inverse temperatures of curves of errors, which cost more.
PATH_BETAS = powers(*BETA[:2], 5)
#: Standard deviations of the Gaussian prior that the plane of frequencies shows, to either side.
WIDTHS = 3.5
#: Attributes of the sliders, by their names in the HTML; a logarithmic one holds the exponent.
SLIDERS = {
    "beta": _logarithmic(*BETA[:2], 50),
    "beta_of_curves": _logarithmic(*BETA),
    "sigma": _logarithmic(*SIGMA_LIVE),
    "width": f'data-scale="log" {_even(*WIDTH, 0, 1 / SIGMA_LIVE[2])}',
    "along": f'data-scale="log" {_even(*ALONG, 0, 1 / SIGMA_LIVE[2])}',
    "angle": _even(0, 179, 0, 1),
    "n": _even(20, 1000, 0, 10),
    "rho": _logarithmic(*RHO),
    "noise": _even(*NOISE),
    "stretch": _even(*STRETCH),
    "arrived": _even(*ARRIVED[:3], 0.002),
}
