"""Arrays in, Plotly figures out: every picture of the app, usable in a notebook as well.

A figure leaves background and text colours to the theme it is shown in.
"""
