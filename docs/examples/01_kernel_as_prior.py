"""
A kernel is a prior
===================

A shift-invariant kernel is an average of cosines, ``k(x - x') = E cos(omega . (x - x'))``, over frequencies drawn from
its spectral density. D draws give 2 D features whose inner products approximate it.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/01_kernel_as_prior.png'
import numpy as np
import plotly.graph_objects as go

import rff_engine as rff

kernel = rff.GaussianKernel(sigma=0.5)
omega = kernel.sample_frequencies(2000, 1, random_state=0)

# %%
# The kernel, and the means of 5 and of 50 cosines. Where two points are far apart the cosines cancel.

delta = np.linspace(-3, 3, 301)[:, None]
figure = go.Figure(layout={"height": 380})
for D, colour in ((5, "#56B4E9"), (50, "#0072B2")):
    mean = np.cos(delta @ omega[:D].T).mean(axis=1)
    figure.add_scatter(x=delta[:, 0], y=mean, name=f"{D} cosines", line_color=colour)
values = kernel(delta, np.zeros((1, 1)))[:, 0]
figure.add_scatter(x=delta[:, 0], y=values, name="kernel", line_color="#D55E00")
figure.update_traces(line_width=4)
figure.update_xaxes(title="x − x′")

# %%
# As features: their inner products, and the largest error on a grid.

x = np.linspace(-2, 2, 81)[:, None]
features = rff.fourier_features(x, omega[:50])
error = np.abs(features @ features.T - kernel(x)).max()
print(f"{features.shape[1]} features, largest error {error:.1f}")

# %%
# The error falls as one over the root of the number of features. The other map has one cosine with a random phase for
# each frequency: twice as many frequencies for as many features, and about the same error.

counts = [10, 20, 50, 100, 200, 500, 1000]
rng = np.random.default_rng(0)
errors = {"cosine and sine": [], "random phase": []}
for F in counts:
    draws = [kernel.sample_frequencies(F, 1, random_state=seed) for seed in range(20)]
    pairs = [rff.fourier_features(x, draw[: F // 2]) for draw in draws]
    phased = [
        rff.random_phase_features(x, draw, rng.uniform(0, 2 * np.pi, F))
        for draw in draws
    ]
    for name, maps in zip(errors, (pairs, phased), strict=True):
        relative = [rff.relative_kernel_error(x, kernel, Z) for Z in maps]
        errors[name].append(np.mean(relative))
figure = go.Figure(layout={"height": 380})
for name, of_map in errors.items():
    figure.add_scatter(x=counts, y=of_map, name=name, mode="lines+markers")
figure.update_xaxes(title="number of features", type="log")
figure.update_yaxes(title="relative error", type="log")
