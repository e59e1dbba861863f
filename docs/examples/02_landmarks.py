"""
Landmarks learn their neighbourhoods
====================================

Each landmark gets a similarity of its own: a pseudo-posterior on a few frequencies, learned from its pairs with all
other points. A linear SVM on the similarities is the classifier.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/02_landmarks.png'
import numpy as np
import plotly.graph_objects as go
import rff_datasets as datasets
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import rff_engine as rff
from rff_engine.plots import SimilarityMapDisplay

data = datasets.make_toy("spirals", 300, 0.05, random_state=0)
fresh = datasets.make_toy("spirals", 2000, 0.05, random_state=1)
kernel = rff.GaussianKernel(sigma=0.4)

# %%
# Above: the kernel's similarity to each landmark, the star. Below: the learned one, at beta = 3. It is high (green) on
# points of the landmark's class and low (purple) on those of the other.

learned = rff.LandmarkSimilarity(
    kernel, n_landmarks=4, selection="random", n_components=40, beta=3.0, random_state=1
)
learned.fit(data.X, data.y)
SimilarityMapDisplay.from_estimator(learned, data.X, data.y).figure_

# %%
# What a linear SVM makes of twelve similarities, on 2000 points that were not used for learning.


def error(similarity="learned", beta=3.0):
    """Mean test error of three draws."""
    errors = []
    for seed in range(3):
        landmarks = rff.LandmarkSimilarity(
            kernel,
            n_landmarks=12,
            similarity=similarity,
            n_components=40,
            beta=beta,
            random_state=seed,
        )
        model = make_pipeline(landmarks, LinearSVC()).fit(data.X, data.y)
        errors.append(1 - model.score(fresh.X, fresh.y))
    return np.mean(errors)


print(f"test error: prior {error('prior'):.2f}, learned {error():.2f}")

# %%
# Beta trades the loss against the divergence from the prior: too small learns nothing, too large trusts single cosines.

betas = np.geomspace(1e-2, 1e2, 9)
figure = go.Figure(layout={"height": 380})
figure.add_scatter(x=betas, y=[error(beta=beta) for beta in betas], name="learned")
figure.add_hline(error("prior"), line_dash="dash", annotation_text="prior")
figure.update_xaxes(title="inverse temperature β", type="log")
figure.update_yaxes(title="test error")
