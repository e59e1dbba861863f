"""Test error on real data against the number of features, or of landmarks, by the protocols of Letarte et al. (2019).

After `pip install ".[experiments]" ./datasets/data` in a copy of the repository, from any folder:
python compute.py [rows.csv]; it reproduces all columns except seconds.
"""

import sys

from rff_engine.studies.protocols import FeatureSweep, LandmarkStudy, RunSpec
from rff_engine.studies.reports import tables as report
from rff_engine.studies.running.run import run_stored

if __name__ == "__main__":
    # The experiment
    study = "features"  # test error against "features", or "landmarks"
    dataset = "breast"
    preset = "quick"  # the grid; or "splits", "paper"
    split = "published"  # or "random", drawn from the seed
    scaling = "none"  # of the columns; or "standard"
    seed = 0  # of the first repeat
    repeats = 10
    methods = ("svm", "rff", "pbrff", "okrff")

    protocol = {"features": FeatureSweep, "landmarks": LandmarkStudy}[study].preset(
        preset, methods=methods, scaling=scaling
    )
    steps = run_stored(None, RunSpec(protocol, dataset, split, repeats, seed))
    rows = [row for step in steps for row in step.rows]
    report.to_frame(rows).to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
