"""How fast the engine is, and how much memory it takes: our code, plain references, and the floor below both.

`python -m benchmarks.engine` runs every entry of `entries` in a process of its own, keeps each result as a file,
prints what the targets say, and writes the README's table (`table`) and the figure of growth (`growth`).
"""
