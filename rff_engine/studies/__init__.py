"""Experiments of Letarte et al. (2019) and Li et al. (2019), and toy experiments.

Protocols and problems define the rows of a run, `running` computes and stores them, `reports` makes tables and compares
them with the papers, `toy` has experiments on 2D data. The library does not depend on them.
"""
