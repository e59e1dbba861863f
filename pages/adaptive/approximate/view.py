"""Data of the page's live view: two methods that approximate a kernel, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pages.adaptive.approximate import compute
from pages.adaptive.approximate.compute import ApproximationSettings, FrequencySequence, MethodView
from pages.shared.live.packing import as_base64, with_version
from rff_engine.plots.style import METHOD_NAMES

#: Numbers of frequencies that may be chosen.
FREQUENCY_COUNTS = tuple(range(1, compute.MOST_FREQUENCIES + 1))
#: Upper end of the colours of all error maps.
_ERROR_LIMIT = 0.3
# What a method needs from the kernel.
_ONE_DISTANCE = "a kernel of the distance ‖x − x′‖ alone, as the Gaussian and the Matérn kernel are"
_NEEDS = dict.fromkeys(("orthogonal", "structured_orthogonal", "fastfood"), _ONE_DISTANCE)
_NEEDS["moment_matching"] = "frequencies of finite variance, as the Gaussian and the Cauchy kernel have"


def live_approximation(settings: ApproximationSettings, pair: tuple[str, str], r: int, reached: bool) -> dict[str, Any]:
    """Pack both methods: a method that is fitted for each r at this r and, if `reached`, at every r of its curve."""
    rows, _ = settings.rows_and_kernel()
    sides, refused = compute.of_fitting(pair, lambda method: _side(settings, method, r, reached))
    said = {method: {"misfit": misfit(settings, method, error)} for method, error in refused.items()}
    packed = {method: _packed(side) for method, side in sides.items()} | said
    return with_version(
        {
            "sides": [{"method": method, "name": METHOD_NAMES[method]} | packed[method] for method in pair],
            "kernel": as_base64(compute.plane_kernel(settings), "<f8"),
            "points": as_base64(rows.in_plane, "<f4"),
            "extent": rows.extent,
            "frequency_extent": compute.frequency_extent(settings),
            "limit": _ERROR_LIMIT,
            "counts": list(FREQUENCY_COUNTS),
        }
    )


def misfit(settings: ApproximationSettings, method: str, error: str) -> str:
    """Say why a method does not fit the kernel."""
    if method not in _NEEDS:
        return error
    return f"{METHOD_NAMES[method]} does not fit the {settings.kernel_name} kernel: it needs {_NEEDS[method]}."


def _side(settings, method, r, reached) -> FrequencySequence | dict[int, MethodView]:
    if method in compute.SEQUENCES:
        return compute.sequence(settings, method)
    counts = {r, *(compute.curve_counts(method) if reached else ())}
    return {count: compute.method_view(settings, method, count) for count in sorted(counts)}


def _packed(side: FrequencySequence | Mapping[int, MethodView]) -> dict[str, Any]:
    if not isinstance(side, Mapping):
        return {"frequencies": as_base64(side.frequencies, "<f8"), "errors": as_base64(side.errors, "<f8")}
    return {"fits": [{"r": r, "error": view.error} | _packed_view(view) for r, view in side.items()]}


def _packed_view(view: MethodView) -> dict[str, str]:
    if view.frequencies is None or view.weights is None:
        assert view.landmarks is not None
        return {"landmarks": as_base64(view.landmarks, "<f8"), "map": as_base64(view.error_map, "<f4")}
    return {"frequencies": as_base64(view.frequencies, "<f8"), "weights": as_base64(view.weights, "<f8")}
