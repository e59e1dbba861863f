"""Plotly figures of arrays: all figures of the app, usable in notebooks too.

Background and text colours are left to the theme.
"""
