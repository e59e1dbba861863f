"""
Adapt frequencies to the data
=============================

Data on a line or a ring need few frequencies of the plane. A descent moves frequencies and weights until the kernel is
right on the data's landmarks (Li, Zhang, Wang and Kumar 2019).
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/08_adapt_frequencies.png'
import numpy as np
import plotly.graph_objects as go
import rff_datasets as datasets

import rff_engine as rff

X = datasets.make_toy_inputs("line", 300, 0.05, random_state=0)
kernel = rff.GaussianKernel(sigma=1.0)
landmarks, landmark_weights = rff.kernel_landmarks(X, 50, "sample", random_state=0)

# %%
# Which frequencies these points need: of a grid, the weights with which the kernel is right at the landmarks. Waves along
# the line are needed, waves across it are not. The prior is a round hill.

u = np.linspace(-3.4, 3.4, 31)
half = np.stack(np.meshgrid(u, u[u >= 0]), axis=-1).reshape(-1, 2)
weights = rff.feature_weights(landmarks, kernel, half, landmark_weights, ridge=0.1)
z = weights.reshape(-1, len(u))
figure = go.Figure(layout={"height": 420})
figure.add_heatmap(x=u, y=u, z=np.vstack([z[:0:-1, ::-1], z]), colorscale="Viridis")
figure.update_xaxes(title="ω₁", constrain="domain")
figure.update_yaxes(title="ω₂", scaleanchor="x", constrain="domain")

# %%
# Few frequencies that are free to move: the objective, step by step.

start = kernel.sample_frequencies(20, 2, random_state=0)
found = rff.adapt_frequencies(landmarks, kernel, start, landmark_weights)
figure = go.Figure(layout={"height": 380})
figure.add_scatter(y=found.losses)
figure.update_xaxes(title="step")
figure.update_yaxes(title="loss on the landmarks", type="log")

# %%
# The same as an estimator, next to features that are drawn once.

for features in (
    rff.RandomFourierFeatures(kernel, n_components=20, random_state=0),
    rff.AdaptiveFourierFeatures(kernel, n_components=20, random_state=0),
):
    error = rff.relative_kernel_error(X, kernel, features.fit_transform(X))
    print(f"{type(features).__name__}: relative error {error:.4f}")
