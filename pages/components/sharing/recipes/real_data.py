"""Test error on real data against the number of features, or of landmarks, by the protocols of Letarte et al. (2019).

From the repository's root: python real_data_experiment.py [rows.csv]; all is reproduced but the column of seconds.
"""

import sys

import datasets
from rff_engine.experiments import report
from rff_engine.experiments.protocols import FeatureSweep, LandmarkStudy
from rff_engine.experiments.runner import run_repeats

# The experiment
study = "features"  # test error against "features", or "landmarks"
dataset = "breast"
preset = "quick"  # the grid; or "paper"
split = "published"  # or "random", drawn from the seed
seed = 0  # of the first repeat
repeats = 10
methods = ("svm", "rff", "pbrff", "okrff")

if __name__ == "__main__":

    def split_of(seed: int) -> datasets.Split:
        if split == "published":
            return datasets.published_split(dataset)
        return datasets.random_split(datasets.load(dataset), seed)

    protocol = {"features": FeatureSweep, "landmarks": LandmarkStudy}[study].preset(preset, methods=methods)
    steps = run_repeats(protocol, split_of, repeats, dataset=dataset, split_name=split, seed=seed)
    rows = [row for step in steps for row in step.rows]
    report.to_frame(rows).to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
