"""
Learn with few features
=======================

Learning pays where features are few: ten frequencies from the pseudo-posterior do what a hundred from the prior do.
The classifier is a linear SVM.

With sliders, in the app: `Learn the kernel <http://localhost:8501/learn_kernel>`_.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/04_few_features.png'
import numpy as np

import rff_engine as rff
from rff_engine.experiments import datasets
from rff_engine.experiments.toy.learning import feature_error_curve, mean_and_margin
from rff_engine.figures import learning as figures

n, N = 300, 2000
data = datasets.make_toy("checkerboard", n, 0.1, random_state=0)
fresh = datasets.make_toy("checkerboard", 2000, 0.1, random_state=1)
omega = rff.GaussianKernel(sigma=0.25).sample_frequencies(N, 2, random_state=0)
loss = rff.alignment_loss(data.X, data.y, omega)
weights = {
    "rff": np.full(N, 1 / N),
    "pbrff": rff.pseudo_posterior(loss, 5.0, n),
    "okrff": rff.optimized_kernel_weights(loss, 0.003 * N),
}

# %%
# The test error of D frequencies drawn from each distribution: the mean of ten draws, with its 95 % interval.

D_values = (1, 2, 3, 5, 10, 20, 50, 100)
curves = {
    name: mean_and_margin(
        feature_error_curve(
            data.X,
            data.y,
            fresh.X,
            fresh.y,
            omega,
            Q,
            D_values,
            C=10.0,
            n_draws=10,
            random_state=1,
        )
    )
    for name, Q in weights.items()
}
at_ten = {name: (mean[4], margin[4]) for name, (mean, margin) in curves.items()}
figures.error_curves(D_values, curves, 10, at_ten)

# %%
# The same as an estimator, which draws the candidates, learns the weights and draws the frequencies in ``fit``.

features = rff.PseudoPosteriorFeatures(
    rff.GaussianKernel(0.25), n_components=10, n_candidates=N, beta=5.0, random_state=0
)
Z = features.fit_transform(data.X, data.y)
coef, intercept = rff.linear_svm_path(Z, data.y, [10.0])
error = np.mean(
    np.sign(features.transform(fresh.X) @ coef[0] + intercept[0]) != fresh.y
)
print(f"{Z.shape[1]} features, test error {error:.2f}")
