"""Errors printed by Letarte et al. (2019) or Li et al. (2019), with those of finished reruns.

They are fractions, except for the relative errors of "li-table2" and the root mean squares of "li-table3".

From the repository's root: python paper_experiment.py [errors.csv]
"""

import sys

from rff_engine.studies.reports import reproduction
from rff_engine.studies.running.store import Store

# The experiment
target = "table1"  # or "figure2", "figure3", "figure5", "figure6", "li-table2", "li-table3"
dataset = "breast"  # that of a figure; a table has all
r = 200  # frequencies, of "li-table2"
scaled = ()  # data sets whose columns are standardised: ("adult",)


def numbers(comparison, target, dataset, r):
    """The rows of one figure, of one number of frequencies, or of the whole table."""
    if target == "li-table2":
        return comparison[comparison["D"] == r]
    if target == "li-table3":
        return comparison
    return comparison if target == "table1" else comparison[comparison["dataset"] == dataset]


if __name__ == "__main__":
    with Store(reproduction.SHIPPED, read_only=True) as store:
        rows = reproduction.known_rows(store, target, scaled=scaled)
    comparison = reproduction.compare_with_paper(target, rows)
    numbers(comparison, target, dataset, r).to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
