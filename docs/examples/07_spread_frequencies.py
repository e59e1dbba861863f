"""
Spread the frequencies
======================

Independent draws clump and leave gaps. Orthogonal directions, Sobol's points and landmark-based methods approximate
the same kernel with fewer features.

With sliders, in the app: `Approximate a kernel <http://localhost:8501/approximate>`_.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/07_spread_frequencies.png'
import rff_engine as rff
from rff_engine.experiments import datasets
from rff_engine.experiments.toy.approximation import (
    approximation_errors,
    approximation_rows,
    frequency_extent,
    method_view,
    scaled_kernel,
)
from rff_engine.figures import approximation as figures

data = datasets.load("wine")
rows = approximation_rows(data.X, data.y, data.task, 200, random_state=0)
kernel = scaled_kernel("Gaussian", 1.0, rows.X.shape[1])

# %%
# The relative error of the kernel matrix of 200 wines against the number of frequencies; for Nyström, of landmarks.

r_values = (5, 10, 20, 50, 100)
methods = ("monte_carlo", "orthogonal", "sobol", "nystroem")
errors = {
    method: approximation_errors(rows, kernel, method, r_values, 5, seed=0)
    for method in methods
}
for method, of_method in errors.items():
    print(f"{method}: {of_method[3].mean():.2f} at r = 50")
figures.errors_against_frequencies(dict.fromkeys(methods, r_values), errors, 50)

# %%
# Independent and Sobol's frequencies, seen in two principal directions of the data.

views = [
    method_view(rows, kernel, method, 50, seed=0) for method in ("monte_carlo", "sobol")
]
figures.two_sets_of_frequencies(
    ("monte_carlo", "sobol"), views, frequency_extent(kernel), rows.extent
)

# %%
# Every scheme is an argument of ``RandomFourierFeatures``.

features = rff.RandomFourierFeatures(
    kernel, n_components=50, sampling="sobol", random_state=0
)
print(features.fit_transform(rows.X).shape)
