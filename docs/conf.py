"""Settings of the documentation's site; `make docs` builds it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent), str(FOLDER / "extensions")]

import rff_engine  # noqa: E402

project = "rff-engine"
author = "The authors of rff-engine"
copyright = author
version = release = rff_engine.__version__
language = "en"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    # Of this folder.
    "api",
    "figures",
    "formulas",
    "links",
    "live",
]
exclude_patterns = ["_build", "examples", "gallery/**/*.ipynb", "**/*.codeobj.json"]
suppress_warnings = ["config.cache"]  # functions among the settings

# Pages are read on GitHub as well, so they are plain Markdown with its anchors.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
#: Address of an app, to which pages link; without one they link to the static edition in the site.
links_app = os.environ.get("RFF_APP", "")

default_role = (
    "py:obj"  # single backticks in docstrings: a link where the name is known
)
autodoc_typehints = "signature"
autodoc_type_aliases = {
    name: name for name in ("ArrayLike", "MatrixLike", "FloatOrArray", "RandomState")
}
autodoc_member_order = "bysource"
autosummary_generate = True
numpydoc_show_class_members = False
math_number_all = False
linkcheck_ignore = [r"https?://", r"(\.\./)*app/"]  # elsewhere, and the static edition
html_math_renderer = "mathml"

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": ("_repr_html_",),
    "image_scrapers": (),
    "reset_modules": (),
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "download_all_examples": True,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,  # times depend on the machine
    "write_computation_times": False,
    "first_notebook_cell": (
        "# In a checkout: pip install '.[experiments]'. Figures need Plotly and nbformat."
    ),
}

toc_object_entries_show_parents = "hide"
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "rff-engine"
html_static_path = ["_static"]
html_favicon = "_static/icon.svg"
html_context = {"default_mode": "auto"}
html_css_files = ["site.css"]
html_js_files = [("figures.js", {"defer": "defer"})]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "rff-engine"},
    "show_prev_next": True,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 8,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "article_header_start": ["breadcrumbs"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "tutorial": [], "gallery/*": ["sidebar-nav-bs"]}
