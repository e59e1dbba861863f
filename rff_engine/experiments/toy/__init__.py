"""Experiments and simulations on 2D data, one file a page.

An argument of an unknown name, out of range or of a wrong shape raises a ValueError that says what is allowed.
"""
