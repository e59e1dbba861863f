"""
Adapt frequencies to the data
=============================

Data on a line or a ring need few frequencies of the plane. A descent moves frequencies and weights until the kernel is
right on the data's landmarks (Li, Zhang, Wang and Kumar 2019).

With sliders, in the app: `Adaptive frequencies <http://localhost:8501/adaptive>`_.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/08_adapt_frequencies.png'
import numpy as np

import rff_engine as rff
from rff_engine.experiments import datasets
from rff_engine.experiments.toy import adaptive as toy
from rff_engine.figures import adaptive as figures

X = datasets.make_toy_inputs("line", 300, 0.05, random_state=0)
kernel = rff.GaussianKernel(sigma=1.0)
landmarks, landmark_weights = rff.kernel_landmarks(X, 50, "sample", random_state=0)

# %%
# The points; the prior's weights on a grid of frequencies; and weights fitted to the points. Only waves along the line
# are needed.

grid = toy.grid_weights(landmarks, landmark_weights, kernel, 3.5, ridge=0.1)
figures.inputs_and_grid(X, landmarks, float(np.abs(X).max()), grid, 3.5)

# %%
# Twenty frequencies that are free to move. Press Play.

descent = toy.descent(
    X,
    landmarks,
    landmark_weights,
    kernel,
    toy.first_frequencies(kernel, 20, random_state=0),
)
figures.descent_player(descent, 3.5)

# %%
# The same as an estimator, next to features that are drawn once.

sampled = rff.RandomFourierFeatures(
    kernel, n_components=20, random_state=0
).fit_transform(X)
adapted = rff.AdaptiveFourierFeatures(
    kernel, n_components=20, n_landmarks=50, random_state=0
).fit_transform(X)
for name, features in {"drawn": sampled, "adapted": adapted}.items():
    print(
        f"{name}: relative error {rff.relative_kernel_error(X, kernel, features):.3f}"
    )
