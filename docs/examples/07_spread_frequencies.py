"""
Spread the frequencies
======================

Independent draws clump and leave gaps. Orthogonal directions, Sobol's points and landmark-based methods approximate
the same kernel with fewer features.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/07_spread_frequencies.png'
import numpy as np
import plotly.graph_objects as go
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import rff_engine as rff

X = StandardScaler().fit_transform(load_wine().data)
kernel = rff.GaussianKernel(sigma=5.0)

# %%
# The relative error of the kernel matrix of the wines against the number of features.

counts = (10, 20, 40, 70, 100)
errors = {}
for scheme in ("monte_carlo", "orthogonal", "sobol", "Nyström"):
    errors[scheme] = []
    for F in counts:
        of_draws = []
        for seed in range(5):
            if scheme == "Nyström":
                features = rff.NystroemFeatures(kernel, F, random_state=seed)
            else:
                features = rff.RandomFourierFeatures(
                    kernel, F // 2, sampling=scheme, random_state=seed
                )
            Z = features.fit_transform(X)
            of_draws.append(rff.relative_kernel_error(X, kernel, Z))
        errors[scheme].append(np.mean(of_draws))

figure = go.Figure(layout={"height": 400})
for scheme, of_scheme in errors.items():
    figure.add_scatter(x=counts, y=of_scheme, name=scheme, line_width=4)
    print(f"{scheme}: {of_scheme[-1]:.3f} at 100 features")
figure.update_xaxes(title="number of features", type="log")
figure.update_yaxes(title="relative error", type="log")

# %%
# Why: frequencies of the plane, independent and Sobol's. The first leave gaps.

figure = go.Figure(layout={"height": 420})
for scheme, colour in (("monte_carlo", "#999999"), ("sobol", "#0072B2")):
    omega = rff.draw_frequencies(rff.GaussianKernel(), 128, 2, scheme, random_state=0)
    figure.add_scatter(
        x=omega[:, 0], y=omega[:, 1], mode="markers", name=scheme, marker_color=colour
    )
figure.update_traces(marker_size=11)
figure.update_xaxes(range=(-3.5, 3.5), constrain="domain")
figure.update_yaxes(range=(-3.5, 3.5), scaleanchor="x", constrain="domain")
