"""Figures of fitted estimators and a user's own data, in the manner of scikit-learn's displays."""

import lazy_loader

# The names, with the modules that are imported at their first use, stand in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
