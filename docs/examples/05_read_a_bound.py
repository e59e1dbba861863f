"""
Read a bound
============

A bound on the alignment loss is a sum: the loss on the sample, the divergence from the prior, and the price of
confidence. It holds with probability 95 % over samples, for all posteriors at once.

With sliders, in the app: `Bounds <http://localhost:8501/bounds>`_.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/05_read_a_bound.png'
import numpy as np

import rff_engine as rff
from rff_engine.experiments import datasets
from rff_engine.experiments.toy.bounds import bound_curves, candidate_risks
from rff_engine.figures import bounds as figures

n, epsilon = 1000, 0.05
data = datasets.make_toy("moons", n, 0.1, random_state=0)
fresh = datasets.make_toy("moons", 10_000, 0.1, random_state=1)
risks = candidate_risks(
    data.X, data.y, fresh.X, fresh.y, rff.GaussianKernel(0.5), 200, random_state=0
)
betas = np.geomspace(1e-2, 1e2, 41)
curves = bound_curves(risks, betas, epsilon)

# %%
# Theorem 3 along beta, taken apart. Its parameter is t = beta sqrt(n), fixed before the data are seen. At small beta
# confidence and complexity are divided by little; at large beta the deviation term takes over.

figures.bound_taken_apart(curves, "second_order_kl", 1.0)

# %%
# All bounds, and the true loss, which is estimated on 10,000 other points. Every bound is above it.

figures.bounds_along_beta(curves, 1.0)

# %%
# One number by hand. PAC-Bayes-kl has no t, so beta may be chosen by looking at the bound.

loss = risks.kernel_loss
values = []
for beta in betas:
    Q = rff.pseudo_posterior(loss, beta, n)
    values.append(
        rff.bounds.second_order_kl_inverse(Q @ loss, rff.kl_divergence(Q), n, epsilon)
    )
best = int(np.argmin(values))
Q = rff.pseudo_posterior(loss, betas[best], n)
print(f"loss on the sample {Q @ loss:.2f}, true loss {Q @ risks.kernel_risk:.2f},")
print(f"at most {values[best]:.2f} by the bound")
