"""Live views of two-dimensional data: landmarks and a learned kernel under sliders, in a notebook or as one HTML page.

The views are those of the app, painted by the same JavaScript. `landmarks` and `kernel` compute one from arrays; the
browser then needs neither Python nor a network.

    from rff_engine.figures import live

    live.landmarks(X, y, n_landmarks=4, random_state=0)
"""

from .notebook import View, kernel, landmarks

__all__ = ["View", "kernel", "landmarks"]
