"""
Learn a kernel from labels
==========================

Candidates are drawn from the prior; each has an alignment loss, small where its cosine agrees with the labels. PBRFF
weighs them by ``exp(-beta sqrt(n) loss)``, OKRFF minimises the loss within a divergence of the prior.

With sliders, in the app: `Learn the kernel <http://localhost:8501/learn_kernel>`_.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/03_learn_a_kernel.png'
import numpy as np

import rff_engine as rff
from rff_engine.experiments import datasets
from rff_engine.experiments.toy.kernel import kernel_map, weighted_kernel_map
from rff_engine.figures import learning as figures

n, N, beta = 300, 2000, 5.0
data = datasets.make_toy("checkerboard", n, 0.1, random_state=0)
prior = rff.GaussianKernel(sigma=0.25)
omega = prior.sample_frequencies(N, 2, random_state=0)
loss = rff.alignment_loss(data.X, data.y, omega)
weights = {
    "pbrff": rff.pseudo_posterior(loss, beta, n),
    "okrff": rff.optimized_kernel_weights(loss, rho=0.003 * N),
}
for name, Q in weights.items():
    effective = 1 / (Q**2).sum()
    divergence = rff.kl_divergence(Q)
    print(
        f"{name}: {effective:.0f} effective frequencies of {N}, KL {divergence:.1f} nats"
    )

# %%
# The data, and the candidates in the plane of frequencies. The area of a dot is its weight. Both methods find the
# frequencies of the checkerboard.

titles = {"pbrff": "<b>PBRFF</b>", "okrff": "<b>OKRFF</b>"}
figures.weighted_candidates(data.X, data.y, 1.5, omega, weights, titles, 14.0)

# %%
# The kernels, as functions of the difference of two points. The prior is a bump; the learned kernels know that a
# neighbouring square has the other colour.

maps = {
    "rff": kernel_map(prior, 2.0),
    **{name: weighted_kernel_map(omega, Q, 2.0) for name, Q in weights.items()},
}
figures.kernel_maps(maps, 2.0)

# %%
# How unequal the weights are, from the largest to the smallest.

figures.sorted_weights({"rff": np.full(N, 1 / N), **weights})
