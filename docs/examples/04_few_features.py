"""
Learn with few features
=======================

Learning pays where features are few: ten frequencies from the pseudo-posterior do what a hundred from the prior do.
The classifier is a linear SVM.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/04_few_features.png'
import plotly.graph_objects as go
import rff_datasets as datasets
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import rff_engine as rff

kernel = rff.GaussianKernel(sigma=0.25)
data = datasets.make_toy("checkerboard", 300, 0.1, random_state=0)
fresh = datasets.make_toy("checkerboard", 2000, 0.1, random_state=1)

# %%
# The test error of D frequencies, as the mean of five draws.

counts = (1, 2, 3, 5, 10, 20, 50, 100)
errors = {"drawn": [], "learned": []}
for D in counts:
    tried = {"drawn": [], "learned": []}
    for seed in range(5):
        drawn = rff.RandomFourierFeatures(kernel, n_components=D, random_state=seed)
        learned = rff.PseudoPosteriorFeatures(
            kernel, n_components=D, n_candidates=2000, beta=5.0, random_state=seed
        )
        for name, features in (("drawn", drawn), ("learned", learned)):
            model = make_pipeline(features, LinearSVC(C=10.0, max_iter=10_000))
            model.fit(data.X, data.y)
            tried[name].append(1 - model.score(fresh.X, fresh.y))
    for name, of_draws in tried.items():
        errors[name].append(sum(of_draws) / len(of_draws))

figure = go.Figure(layout={"height": 400})
for (name, of_name), colour in zip(errors.items(), ("#56B4E9", "#D55E00"), strict=True):
    figure.add_scatter(
        x=counts, y=of_name, name=name, mode="lines+markers", line_color=colour
    )
figure.update_traces(line_width=4, marker_size=10)
figure.update_xaxes(title="number of frequencies D", type="log")
figure.update_yaxes(title="test error", rangemode="tozero")

# %%
# In numbers, at ten frequencies.

for name, of_name in errors.items():
    print(f"{name}: {of_name[counts.index(10)]:.2f}")
