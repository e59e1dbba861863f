"""Pages of the reference: members of the engine only, whole first sentences, and signs that reStructuredText reads
otherwise."""

from __future__ import annotations

import inspect
import re

from sphinx.ext import autosummary

# Code and roles stay; a bar or a star elsewhere is a mathematical sign.
_CODE = re.compile(r"(``.+?``|:\w+:`[^`]+`|`[^`]+`)")

_ALIAS = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
_ABBREVIATIONS = ("Alg.", "Cor.", "Eq.", "Fig.", "Lem.", "Prop.", "Sec.", "Thm.")


def escape(app, what, name, obj, options, lines: list[str]) -> None:
    """Escape bars outside code, as in |Delta| <= 1."""
    for i, line in enumerate(lines):
        parts = _CODE.split(line)
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        lines[i] = "".join(parts)


def name_types(app, what, name, obj, options, signature: str | None, returned: str | None):
    """Names of types in place of Sphinx's own objects for them."""
    return tuple(text and _ALIAS.sub(r"\1", text) for text in (signature, returned))


def leave_out(app, what, name, obj, skip, options) -> bool | None:
    """Leave out what a class inherits from a library."""
    function = getattr(obj, "fget", obj)
    if inspect.isroutine(function) and not (getattr(function, "__module__", None) or "").startswith("rff_engine"):
        return True
    return None


def setup(app):
    # A summary ends with its sentence, not within a source as in (Letarte et al. 2019, Prop. 8).
    autosummary.WELL_KNOWN_ABBREVIATIONS = (*autosummary.WELL_KNOWN_ABBREVIATIONS, *_ABBREVIATIONS)
    app.connect("autodoc-process-docstring", escape, priority=400)  # before numpydoc
    app.connect("autodoc-process-signature", name_types)
    app.connect("autodoc-skip-member", leave_out)
    return {"parallel_read_safe": True}
