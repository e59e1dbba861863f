"""
A classifier that certifies itself
==================================

``CertifiedClassifier`` learns features and a vote on one half of the rows and bounds the risk of its predictions on the
other: by counting errors, or by a bound on a vote that learns from these rows too, whichever is smaller.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/06_certified_classifier.png'
import numpy as np
import plotly.graph_objects as go
import rff_datasets as datasets

import rff_engine as rff

data = datasets.make_toy("checkerboard", 2000, 0.1, random_state=0)
fresh = datasets.make_toy("checkerboard", 4000, 0.1, random_state=1)
features = rff.PseudoPosteriorFeatures(
    rff.GaussianKernel(0.25), n_components=20, n_candidates=2000, beta=1.0
)
model = rff.CertifiedClassifier(features, random_state=0).fit(data.X, data.y)
error = 1 - model.score(fresh.X, fresh.y)
print(
    f"certified: risk at most {model.risk_bound_:.2f}; error on other points {error:.2f}"
)

# %%
# The vote over the plane, and some of the points.

u = np.linspace(-1.5, 1.5, 121)
plane = np.stack(np.meshgrid(u, u), axis=-1).reshape(-1, 2)
vote = model.predict(plane).reshape(121, 121)
figure = go.Figure(layout={"height": 420})
colours = [[0, "#92c5de"], [1, "#f4a582"]]
figure.add_heatmap(x=u, y=u, z=vote, colorscale=colours, showscale=False)
for label, colour in ((-1, "#0571b0"), (1, "#ca0020")):
    x, y = data.X[:300][data.y[:300] == label].T
    figure.add_scatter(x=x, y=y, mode="markers", marker_color=colour, name=str(label))
figure.update_xaxes(range=(-1.5, 1.5), constrain="domain")
figure.update_yaxes(range=(-1.5, 1.5), scaleanchor="x", constrain="domain")

# %%
# The terms of the certificate, each at what it adds to the bound.

terms = [term for term in model.certificate_ if abs(term.risk) > 1e-4]
figure = go.Figure(layout={"height": 60 + 40 * len(terms)})
figure.add_bar(
    x=[term.risk for term in terms], y=[term.name for term in terms], orientation="h"
)
figure.update_xaxes(title="risk")
figure.update_yaxes(autorange="reversed", automargin=True)
