"""The experiments of Letarte et al. (2019): what to run, how, and what comes out.

`protocols` says what to run, `runner` runs it, `report` reads the rows, `coverage` simulates how often a bound fails.
The engine itself is elsewhere and knows nothing of experiments.
"""
