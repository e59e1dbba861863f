"""
Landmarks learn their neighbourhoods
====================================

Each landmark gets a similarity of its own: a pseudo-posterior on a few frequencies, learned from its pairs with all
other points. A linear SVM on the similarities is the classifier.

With sliders, in the app: `Landmarks <http://localhost:8501/landmarks>`_.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/02_landmarks.png'
import numpy as np

import rff_engine as rff
from rff_engine.experiments import datasets
from rff_engine.experiments.toy.landmarks import (
    landmark_path,
    landmark_problem,
    landmark_view,
)
from rff_engine.figures import landmarks as figures, paths

data = datasets.make_toy("spirals", 300, 0.05, random_state=0)
fresh = datasets.make_toy("spirals", 2000, 0.05, random_state=1)
kernel = rff.GaussianKernel(sigma=0.4)
problem = landmark_problem(data.X, data.y, kernel, 6, 40, "random", random_state=0)
view = landmark_view(problem, fresh.X, fresh.y, beta=3.0, C=1.0, extent=2.0)

# %%
# Above: the kernel's similarity to each landmark, the star. Below: the learned one, at beta = 3. It is high (green) on
# points of the landmark's class and low (purple) on those of the other.

figures.prior_and_learned_maps(problem, view, 2.0)

# %%
# What the SVM makes of six similarities, on 2000 points that were not used for learning.

errors = view.prior.test_error, view.learned.test_error
print("test error: prior {:.2f}, learned {:.2f}".format(*errors))
figures.decision_maps(
    2.0,
    np.stack([view.prior.values, view.learned.values]),
    problem.landmarks,
    problem.X,
    problem.y,
    titles=("prior", "learned"),
)

# %%
# Beta trades the loss against the divergence from the prior: too small learns nothing, too large trusts single cosines.

betas = np.geomspace(1e-2, 1e2, 17)
path = landmark_path(problem, fresh.X, fresh.y, betas, C=1.0)
errors = {
    "test error": paths.ErrorPath(betas, path.test_error),
    "train error": paths.ErrorPath(betas, path.train_error),
}
paths.errors_and_kl(3.0, errors, betas, path.kl, "mean KL(Q‖P)")
