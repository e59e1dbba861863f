"""Experiments and simulations on 2D data, one file a page.

Throughout, `n` is the sample size, `beta` an inverse temperature, `epsilon` the probability of failure that a bound
allows, and `extent` half the side of a square around 0, along which there are `cells` cells. An argument of an unknown
name, out of range or of a wrong shape raises a ValueError that says what is allowed, and so do labels of one class.
"""
