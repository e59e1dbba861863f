"""Experiments and simulations on 2D data, one file a page."""
