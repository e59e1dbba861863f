"""Time and memory of the engine, against plain references and lower bounds ("floors").

`python -m benchmarks.engine` runs every entry of `entries` in its own process, stores each result in a file, checks the
targets, and writes the table of docs/performance.md (`table`) and the figure of growth (`growth`).
"""
