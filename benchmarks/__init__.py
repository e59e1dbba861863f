"""Measurements of the engine, the app and the papers' methods."""

import deploy  # noqa: F401 - for Ctrl-C
