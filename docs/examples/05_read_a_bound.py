"""
Read a bound
============

A bound on the alignment loss is a sum: the loss on the sample, the divergence from the prior, and the price of
confidence. It holds with probability 95 % over samples, for all posteriors at once.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/05_read_a_bound.png'
import numpy as np
import plotly.graph_objects as go
import rff_datasets as datasets

import rff_engine as rff
from rff_engine.plots import BoundCurveDisplay

n, epsilon = 1000, 0.05
data = datasets.make_toy("moons", n, 0.1, random_state=0)
omega = rff.GaussianKernel(0.5).sample_frequencies(200, 2, random_state=0)
loss = rff.alignment_loss(data.X, data.y, omega)

# %%
# Theorem 3 along beta, taken apart. Its parameter is t = beta sqrt(n), fixed before the data are seen. At small beta
# confidence and complexity are divided by little; at large beta the deviation term takes over.

betas = np.geomspace(1e-1, 1e2, 41)
rows = []
for beta in betas:
    Q = rff.pseudo_posterior(loss, beta, n)
    kl, t = rff.kl_divergence(Q), beta * n**0.5
    rows.append(rff.bounds.kl_terms("second_order_kl", Q @ loss, kl, n, t, epsilon))
colours = {
    "loss": "#999999",
    "complexity": "#D55E00",
    "deviation": "#0072B2",
    "confidence": "#F0E442",
}
figure = go.Figure(layout={"height": 400})
for name, colour in colours.items():
    height = [getattr(terms, name) for terms in rows]
    figure.add_scatter(
        x=betas, y=height, name=name, stackgroup="bound", fillcolor=colour, line_width=0
    )
figure.update_xaxes(title="inverse temperature β", type="log")
figure.update_yaxes(title="bound", range=(0, 1))

# %%
# One number. PAC-Bayes-kl has no t, so beta may be chosen by looking at the bound.

learned = rff.PseudoPosteriorFeatures(
    rff.GaussianKernel(0.5), n_candidates=200, beta="bound", random_state=0
)
learned.fit(data.X, data.y)
on_sample = learned.weights_ @ learned.alignment_loss_
print(f"loss on the sample {on_sample:.2f}, at most {learned.bound_:.2f} by the bound")

# %%
# The same bound along beta, next to the loss on the sample.

BoundCurveDisplay.from_estimator(learned).figure_
