from .displays import BoundCurveDisplay, ErrorCurveDisplay, SimilarityMapDisplay, SpectralWeightsDisplay

__all__ = ["BoundCurveDisplay", "ErrorCurveDisplay", "SimilarityMapDisplay", "SpectralWeightsDisplay"]
