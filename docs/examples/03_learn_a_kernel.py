"""
Learn a kernel from labels
==========================

Candidates are drawn from the prior; each has an alignment loss, small where its cosine agrees with the labels. PBRFF
weighs them by ``exp(-beta sqrt(n) loss)``, OKRFF minimises the loss within a divergence of the prior.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/03_learn_a_kernel.png'
import numpy as np
import plotly.graph_objects as go
import rff_datasets as datasets

import rff_engine as rff
from rff_engine.plots import SpectralWeightsDisplay

n, N = 300, 2000
data = datasets.make_toy("checkerboard", n, 0.1, random_state=0)
prior = rff.GaussianKernel(sigma=0.25)
learned = rff.PseudoPosteriorFeatures(prior, n_candidates=N, beta=5.0, random_state=0)
learned = learned.fit(data.X, data.y)

# %%
# The learned kernel of two points, as a function of their difference: it knows that a neighbouring square has the other
# colour, and the next one the same. The prior is a single bump.

omega = prior.sample_frequencies(N, 2, random_state=0)
loss = rff.alignment_loss(data.X, data.y, omega)
Q = rff.pseudo_posterior(loss, beta=5.0, n=n)
u = np.linspace(-1.5, 1.5, 61)
deltas = np.stack(np.meshgrid(u, u), axis=-1).reshape(-1, 2)
values = np.cos(deltas @ omega.T) @ Q
figure = go.Figure(layout={"height": 420})
figure.add_heatmap(
    x=u, y=u, z=values.reshape(61, 61), zmin=-1, zmax=1, colorscale="PRGn"
)
figure.update_yaxes(scaleanchor="x", constrain="domain")
figure.update_xaxes(constrain="domain")

# %%
# The candidates in the plane of frequencies. The area of a dot is its weight: those that agree with the board are found
# among two thousand.

figure = go.Figure(layout={"height": 420})
size = 60 * np.sqrt(Q / Q.max())
figure.add_scatter(x=omega[:, 0], y=omega[:, 1], mode="markers", marker_size=size)
figure.update_xaxes(title="ω₁", range=(-14, 14), constrain="domain")
figure.update_yaxes(title="ω₂", range=(-14, 14), scaleanchor="x", constrain="domain")

# %%
# Both methods as functions, and how far each is from the prior.

for name, weights in {
    "PBRFF": Q,
    "OKRFF": rff.optimized_kernel_weights(loss, rho=0.003),
}.items():
    effective = 1 / (weights**2).sum()
    print(
        f"{name}: {effective:.0f} effective frequencies, KL {rff.kl_divergence(weights):.1f} nats"
    )

# %%
# How unequal the weights of the estimator are, from the largest to the smallest.

SpectralWeightsDisplay.from_estimator(learned).figure_
