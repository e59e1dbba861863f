"""Your data: the numbers of a view of the page on your own table, which you put into the current folder.

They end with a certificate of your data, where there are enough rows for one.

From the repository's root: python your_data_experiment.py [numbers.csv]
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import datasets
import rff_engine as rff
from datasets.tables.preparation import halves, one_of_each_group, plane, two_classes
from rff_engine.plots.bounds import BOUND_NAMES
from rff_engine.studies.protocols import FeatureSweep
from rff_engine.studies.reports import tables as report
from rff_engine.studies.running.run import run_repeats
from rff_engine.studies.toy import learning as toy_learning
from rff_engine.studies.toy.bounds import bound_curves, candidate_risks
from rff_engine.studies.toy.certificates import Certificate, certificate, certified_classifier
from rff_engine.studies.toy.landmarks import landmark_path, landmark_problem

# The experiment
file = "yours.csv"  # or .tsv, .xlsx, .ods, .arff, .parquet, .svmlight
choices = {}  # of datasets.read_table, such as {"names at line": "none"} where no line has names
target = "class"
columns = ("height", "width")  # to predict it from
task = "classification"  # or "regression": rows above the median against the others
label = 1  # the class against all others: 1 or -1 of two, else its position; None of numbers
scaling = "standard"  # of each column; or "range", "none"
imputation = "fill"  # of missing values; or "drop"
groups = None  # column whose equal values mark rows that belong together; None: each row is a draw of its own
view = "landmarks"  # or "kernel learning", "error against D", "bounds"
axes = None  # positions of the two columns of a map; None: the first two principal components
seed = 0
sigma = 0.501  # bandwidth of the Gaussian prior; for bounds times the square root of d / 2
D = 50  # frequencies: of each landmark, or behind the bounds
landmarks = 5  # how many
selection = "kmeans"  # or "random"
beta = 1.0  # inverse temperature
rho = 0.01  # radius of OKRFF, divided by the number of candidates
C = 1.0  # of the linear SVM on the similarities

ROWS = 2000  # at most: of training rows, and of held-out rows
CANDIDATES = 1000  # of the learned kernel in the plane
CERTIFIED_FREQUENCIES = 50  # of the certified classifier
CERTIFIED_DRAWS = 3  # of its frequencies, among which the prior's rows choose
SPLITS = 4  # of the sweep
SWEEP = FeatureSweep(
    n_candidates=1000,
    n_features=(1, 2, 5, 10, 20, 50, 100),
    betas=(0.1, 1.0, 10.0),
    rhos=(1e-3, 1e-2, 1e-1),
    Cs=(1e-2, 1.0, 100.0),
    gammas=(1e-3, 1e-2, 1e-1, 1.0),
    max_train=1000,
    max_train_svm=400,
)


def landmark_numbers(problem, path, beta) -> pd.DataFrame:
    """Landmarks, their frequencies, and errors along beta; errors are fractions, KL in nats."""
    L, D = problem.loss.shape
    Q = rff.pseudo_posterior(problem.loss, beta, len(problem.X))
    tables = {
        "landmarks": {
            "landmark": np.arange(1, L + 1),
            "x_1": problem.landmarks[:, 0],
            "x_2": problem.landmarks[:, 1],
            "label": problem.labels.astype(int),
        },
        "weights": {
            "landmark": np.repeat(np.arange(1, L + 1), D),
            "frequency": np.tile(np.arange(1, D + 1), L),
            "omega_1": problem.omega[:, :, 0].ravel(),
            "omega_2": problem.omega[:, :, 1].ravel(),
            "loss": problem.loss.ravel(),
            "Q": Q.ravel(),
        },
        "along beta": {
            "beta": path.betas,
            "train_error": path.train_error,
            "test_error": path.test_error,
            "KL": path.kl,  # mean over the landmarks
            "bound": path.bound,  # on the loss, at 95 %, mean over the landmarks
        },
    }
    frames = map(pd.DataFrame, tables.values())
    return pd.concat(frames, keys=tables, names=["table"]).reset_index("table").convert_dtypes()


def kernel_numbers(candidates, beta, rho) -> pd.DataFrame:
    """Candidate frequencies, in radians per unit of the map, their losses, and their weights by both methods."""
    return pd.DataFrame(
        {
            "omega_1": candidates.omega[:, 0],
            "omega_2": candidates.omega[:, 1],
            "loss": candidates.loss,
            "Q_pbrff": rff.pseudo_posterior(candidates.loss, beta, candidates.n),
            "Q_okrff": rff.optimized_kernel_weights(candidates.loss, rho, 2.0),
        }
    )


def bound_numbers(curves) -> pd.DataFrame:
    """Every bound and its terms along beta."""
    frames = [
        pd.DataFrame({"bound": BOUND_NAMES[name], "beta": curve.betas, "value": curve.values, **curve.terms})
        for name, curve in curves.bounds.items()
    ]
    return pd.concat(frames, ignore_index=True)


def certified(train, fresh, seed, epsilon=0.05) -> Certificate:
    """A classifier that bounds its own risk: half of its rows choose the kernel's width and the frequencies."""
    kernel, D, draws = rff.GaussianKernel("scale"), CERTIFIED_FREQUENCIES, CERTIFIED_DRAWS
    model = certified_classifier(train.X, train.y, kernel, "rff", D, tries=draws, epsilon=epsilon, random_state=seed)
    return certificate(model, fresh.X, fresh.y)


def with_certificate(results, view, certify) -> pd.DataFrame:
    """The numbers of a view, then the terms of the certificate and its bounds; `certify` makes it, if rows allow."""
    tables = [results if "table" in results or results.empty else results.assign(table=view)]
    try:
        promise = certify()
    except ValueError as error:
        print(f"No certificate: {error}", file=sys.stderr)
    else:
        names = ("n_bound", "risk_bound", "test_error", "gibbs_bound", "gibbs_error", "test_set_bound")
        tables.append(pd.DataFrame(promise.terms).assign(table="terms of the certificate"))
        tables.append(pd.DataFrame([{name: getattr(promise, name) for name in names}]).assign(table="certificate"))
    joined = pd.concat([one for one in tables if len(one)] or tables, ignore_index=True).convert_dtypes()
    return joined[sorted(joined, key=lambda name: name != "table")]


if __name__ == "__main__":
    if sys.argv[1:] and Path(sys.argv[1]).exists() and Path(sys.argv[1]).samefile(file):
        sys.exit(f"{sys.argv[1]} is the table itself; another file is needed for the numbers.")
    table = datasets.read_table(Path(file).read_bytes(), file, choices=choices)
    problem = datasets.prepare(table, target, columns, scaling, imputation, task, groups=groups)
    dataset = two_classes(problem, label)
    if view == "error against D":
        steps = run_repeats(
            SWEEP,
            lambda s: datasets.random_split(dataset, s),
            SPLITS,
            dataset=dataset.name,
            split_name="random",
            seed=seed,
        )
        results = report.error_by_features([row for step in steps for row in step.rows])
    elif view == "bounds":
        train, fresh = halves(one_of_each_group(dataset, seed), ROWS, seed)
        kernel = rff.GaussianKernel(sigma * float(np.sqrt(dataset.n_features / 2)))
        risks = candidate_risks(train.X, train.y, fresh.X, fresh.y, kernel, D, random_state=seed)
        betas = [float(f"{10 ** (k / 10):.3g}") for k in range(-30, 31)]
        results = bound_numbers(bound_curves(risks, betas, epsilon=0.05, form="corrected"))
    else:
        train, test = halves(plane(dataset, axes), ROWS, seed)
        kernel = rff.GaussianKernel(sigma)
        if view == "landmarks":
            problem = landmark_problem(train.X, train.y, kernel, landmarks, D, selection, seed)
            betas = [float(f"{10**power:.3g}") for power in np.linspace(-3, 3, 31)]
            results = landmark_numbers(problem, landmark_path(problem, test.X, test.y, betas, C), beta)
        else:
            results = kernel_numbers(
                toy_learning.draw_candidates(train.X, train.y, kernel, CANDIDATES, seed), beta, rho
            )

    def certify() -> Certificate:
        return certified(*halves(one_of_each_group(dataset, seed), ROWS, seed), seed)

    with_certificate(results, view, certify).to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
