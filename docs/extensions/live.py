"""Live views in frames: computed when the site is built, each a page with all that it needs."""

from __future__ import annotations

import re
from pathlib import Path

import rff_engine as rff
from rff_engine.experiments import datasets
from rff_engine.figures import live

_MARK = re.compile(r"<!-- live view: (\w+) -->")
TITLES = {"landmarks": "Live view: what landmarks learn", "kernel": "Live view: a kernel learned from labels"}


def _landmarks() -> live.View:
    data, fresh = (datasets.make_toy("spirals", n, 0.05, random_state=seed) for seed, n in enumerate((300, 2000)))
    settings = {"n_landmarks": 4, "D": 64, "beta": 3.0, "random_state": 0}
    return live.landmarks(data.X, data.y, rff.GaussianKernel(0.4), X_test=fresh.X, y_test=fresh.y, **settings)


def _kernel() -> live.View:
    data = datasets.make_toy("checkerboard", 300, 0.1, random_state=0)
    return live.kernel(data.X, data.y, rff.GaussianKernel(0.25), N=1000, beta=5.0, rho=0.003, random_state=0)


VIEWS = {"landmarks": _landmarks, "kernel": _kernel}


def add_frames(app, page: str, content: list[str]) -> None:
    up = "../" * page.count("/")
    content[0] = _MARK.sub(lambda mark: _frame(mark[1], up), content[0])


def _frame(name: str, up: str) -> str:
    return (
        f'<iframe class="rff-live {name}" src="{up}_static/live/{name}.html" title="{TITLES[name]}" loading="lazy">'
        "</iframe>"
    )


def write_views(app, error) -> None:
    if error is None and app.builder.format == "html":
        folder = Path(app.outdir) / "_static" / "live"
        folder.mkdir(parents=True, exist_ok=True)
        for name, view in VIEWS.items():
            (folder / f"{name}.html").write_text(view().html(), encoding="utf-8")


def setup(app):
    app.connect("source-read", add_frames)
    app.connect("build-finished", write_views)
    return {"parallel_read_safe": True}
