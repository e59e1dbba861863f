"""
A kernel is a prior
===================

A shift-invariant kernel is an average of cosines, ``k(x - x') = E cos(omega . (x - x'))``, over frequencies drawn from
its spectral density. D draws give 2 D features whose inner products approximate it.

With sliders, in the app: `A kernel is a prior <http://localhost:8501/kernel>`_.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/01_kernel_as_prior.png'
import numpy as np

import rff_engine as rff
from rff_engine.experiments.toy import kernel as toy
from rff_engine.figures import kernel as figures

kernel = rff.GaussianKernel(sigma=0.5)
omega, offsets = toy.draw_frequencies_and_offsets(kernel, 2000, 1, random_state=0)

# %%
# Left: the density of the frequencies, and 50 draws from it. Right: the kernel, and the mean of the 50 cosines.
# The second feature map uses one cosine with a random phase for each of 100 frequencies, so that both maps have 100
# features.

D = 50
line = toy.kernel_line(
    kernel, omega[: 2 * D], offsets[: 2 * D], frequency_range=10.0, delta_range=4.0
)
figures.spectrum_and_kernel(line)

# %%
# The same with the functions of the engine: features, inner products, and the largest error on a grid.

x = np.linspace(-2, 2, 81)[:, None]
features = rff.fourier_features(x, omega[:D])
error = np.abs(features @ features.T - kernel(x)).max()
print(f"{features.shape[1]} features, largest error {error:.1f}")

# %%
# The error falls as one over the root of the number of features. Markers are simulated, lines are the formula.

counts = (1, 2, 5, 10, 20, 50, 100, 200, 500)
points = toy.uniform_points(1.0, 25, random_state=0)
measured = toy.approximation_error(kernel, points, counts, 20, random_state=0)
expected = toy.expected_error(kernel, points, [2 * count for count in counts])
figures.approximation_error(
    [2 * count for count in counts], measured, expected, counts.index(50)
)
