"""
A classifier that certifies itself
==================================

``CertifiedClassifier`` learns features and a vote on one half of the rows and bounds the risk of the vote on the other.
No test set is needed for the bound.

With sliders, in the app: `Certificates <http://localhost:8501/certificates>`_.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/06_certified_classifier.png'
import rff_engine as rff
from rff_engine.experiments import datasets
from rff_engine.experiments.toy.certificates import certified_vote
from rff_engine.figures import certificates as figures

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
# The terms of the certificate, each at what it adds to the bound.

vote = certified_vote(model, data.X, data.y, fresh.X, fresh.y, extent=1.5)
certificate = vote.certificate()
figures.ledger(certificate)

# %%
# How the voters decide over the plane: they agree but for a thin band at the borders of the squares.

figures.vote_map(vote.votes(), data.X[:300], data.y[:300], 1.5)

# %%
# The bound at more rows, if all else stayed the same.

figures.bound_against_rows(
    certificate, (500, 1000, 2000, 5000, 10_000, 20_000, 50_000), 0.1
)
