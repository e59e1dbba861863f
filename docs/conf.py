"""Settings of the documentation's site; `make docs` builds it. No page needs an address of the web."""

import inspect
import re
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import plotly.graph_objects as go
from sphinx.ext import autosummary
from sphinx.ext.autosummary import generate

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import rff_engine


def package_file(package: str, name: str) -> str:
    """Return the path of a file of an installed package."""
    return str(Path(find_spec(package).origin).parent / name)


project = "rff-engine"
author = copyright = "The authors of rff-engine"
version = release = rff_engine.__version__
language = "en"
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["examples", "gallery/**/*.ipynb", "**/*.codeobj.json"]
suppress_warnings = ["config.cache"]  # a function among the settings

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4  # as on GitHub, where the pages are read as well
default_role = "py:obj"
autodoc_typehints = "none"  # numpydoc lists the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
linkcheck_ignore = [r"https?://"]
# A summary ends with its sentence, not within a source as in (Letarte et al. 2019, Prop. 8).
autosummary.WELL_KNOWN_ABBREVIATIONS += ("Alg.", "Cor.", "Eq.", "Lem.", "Prop.", "Thm.")

# Plotly's own scraper loads its script from the web.
go.Figure._repr_html_ = lambda figure: figure.to_html(
    full_html=False, include_plotlyjs="../_static/plotly.min.js"
)
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": ("_repr_html_",),
    "image_scrapers": (),
    "reset_modules": (),
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "min_reported_time": 1e9,  # times depend on the machine
    "write_computation_times": False,
}

templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "rff-engine"
html_favicon = "_static/icon.svg"
html_static_path = [
    "_static",
    package_file("plotly", "package_data/plotly.min.js"),
    package_file("sphinx-mathjax-offline", "static/mathjax/tex-svg.js"),
]
html_css_files = ["site.css"]
mathjax_path = "tex-svg.js"
html_copy_source = False
html_theme_options = {
    "logo": {"text": "rff-engine"},
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "tutorial": []}


def escape_bars(app, what, name, obj, options, lines: list[str]) -> None:
    """Escape bars outside code, as in |Delta| <= 1: they are mathematical signs."""
    for i, line in enumerate(lines):
        parts = line.split("`")
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        lines[i] = "`".join(parts)


def leave_out(app, what, name, obj, skip, options) -> bool | None:
    """Leave out what a class inherits from a library."""
    function = getattr(obj, "fget", obj)
    module = getattr(function, "__module__", None) or ""
    return (
        True
        if inspect.isroutine(function) and not module.startswith("rff_engine")
        else None
    )


def with_names(text: str) -> str:
    """Put the public names of a module in the place of a line such as "bounds.*"."""

    def names(line: re.Match) -> str:
        module = import_module(f"rff_engine.{line[1]}")
        known = (
            name if hasattr(rff_engine, name) else f"{line[1]}.{name}"
            for name in module.__all__
        )
        return "\n".join(f"   {name}" for name in known)

    return re.sub(r"^   (\w+)\.\*$", names, text, flags=re.MULTILINE)


def expand(app, page: str, source: list[str]) -> None:
    """Expand the names of modules in the reference."""
    source[0] = with_names(source[0])


# Its pages are found in the files, before they are expanded.
_find = generate.find_autosummary_in_lines
generate.find_autosummary_in_lines = lambda lines, *rest, **named: _find(
    with_names("\n".join(lines)).splitlines(), *rest, **named
)


def setup(app) -> None:
    app.connect("source-read", expand)
    app.connect(
        "autodoc-process-docstring", escape_bars, priority=400
    )  # before numpydoc
    app.connect("autodoc-skip-member", leave_out)
