"""Experiments of Letarte et al. (2019) and Li et al. (2019), and toy experiments.

`studies` has the protocols and the units that compute their rows, `running` runs them and stores rows, `reports` makes
tables and compares them with the papers, `toy` has experiments on 2D data. The engine itself does not depend on them.
"""
