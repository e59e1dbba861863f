"""Plotly figures of arrays: all figures of the app.

Background and text colours are left to the theme. Throughout, an `extent` is half the side of a square around 0, a
`height` is in pixels, and `chosen` is the number that the figure marks.
"""
