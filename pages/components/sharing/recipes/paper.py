"""Test errors that Letarte et al. (2019) print beside those of finished reruns; errors are fractions.

From the repository's root: python paper_experiment.py [errors.csv]
"""

import sys

from rff_engine.experiments import reproduction
from rff_engine.experiments.store import Store

# The experiment
target = "table1"  # or "figure2", "figure3", "figure5", "figure6"
dataset = "breast"  # that of a figure; the table has all
scaled = ()  # data sets whose columns are standardised: ("adult",)


def numbers(found, target, dataset):
    """Of what stands beside the paper, that of one figure, or the whole table."""
    return found if target == "table1" else found[found["dataset"] == dataset]


if __name__ == "__main__":
    with Store(reproduction.SHIPPED, read_only=True) as store:
        rows = reproduction.known_rows(store, target, scaled=scaled)
    found = reproduction.beside_paper(target, rows)
    numbers(found, target, dataset).to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
