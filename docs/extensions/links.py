"""Links of pages that are read both on GitHub, as files of the repository, and as pages of the site."""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

ROOT = Path(__file__).resolve().parents[2]
LOCAL_APP = "http://localhost:8501"
#: Pages that show a file of the repository.
SHOWN = {"readme": "README.md", "contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}
PAGES = {file: f"{page}.md" for page, file in SHOWN.items()}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
_CODE = re.compile(r"<code\b.*?</code>", re.DOTALL)
_NAME = re.compile(r"(?:rff|rff_engine)\.([A-Za-z][\w.]*)(?:\(.*\))?")


def rewrite(app, page: str, content: list[str]) -> None:
    """Show a file of the repository on its page, and lead links to pages of the site."""
    folder = (Path(app.srcdir) / page).parent
    text = content[0]
    if page in SHOWN:
        folder, text = ROOT, (ROOT / SHOWN[page]).read_text(encoding="utf-8")
    text = text.replace(LOCAL_APP, app.config.links_app) if page != "readme" else text
    content[0] = _LINK.sub(lambda link: _relinked(link, folder, (Path(app.srcdir) / page).parent), text)


def _relinked(link: re.Match, folder: Path, here: Path) -> str:
    mark, words, target = link.groups()
    path, sharp, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return link[0]
    file = (folder / path).resolve()
    if not file.exists():
        return link[0]  # the build warns
    docs = ROOT / "docs"
    if file.is_relative_to(docs / "examples"):
        name = "index" if file.stem == "GALLERY_HEADER" else file.stem
        file = docs / "gallery" / f"{name}.rst"
    elif file.parent == ROOT and file.name in PAGES:
        file = docs / PAGES[file.name]
    if not file.is_relative_to(docs):
        return f"`{words.strip('`')}`"  # a file of the repository that is no page
    return f"{mark}[{words}]({_relative(file, here)}{sharp}{anchor})"


def _relative(target: Path, here: Path) -> str:
    common = next(folder for folder in (here, *here.parents) if target.is_relative_to(folder))
    ups = len(here.relative_to(common).parts)
    return "../" * ups + target.relative_to(common).as_posix()


def link_names(app, doctree) -> None:
    """Link names of the engine in code, as ``rff.alignment_loss``, to their reference."""
    for literal in list(doctree.findall(nodes.literal)):
        name = _NAME.fullmatch(literal.astext())
        if name is None or isinstance(literal.parent, nodes.reference | addnodes.pending_xref):
            continue
        place = {"refdomain": "py", "reftype": "obj", "reftarget": f"rff_engine.{name[1]}", "refexplicit": True}
        link = addnodes.pending_xref("", literal.deepcopy(), **place, refdoc=app.env.docname, refwarn=False)
        literal.replace_self(link)


def let_names_break(app, page: str, template: str, context: dict, doctree) -> None:
    """Let names in the cells of tables break after a dot, a slash or an underscore."""
    if "body" in context:
        context["body"] = _CELL.sub(lambda cell: _CODE.sub(_with_breaks, cell[0]), context["body"])


def _with_breaks(code: re.Match) -> str:
    return re.sub(r">([^<]+)<", lambda text: ">" + re.sub(r"(?<=[./_])(?=\w)", "<wbr>", text[1]) + "<", code[0])


def setup(app):
    app.add_config_value("links_app", LOCAL_APP, "env")
    app.connect("source-read", rewrite)
    app.connect("doctree-read", link_names)
    app.connect("html-page-context", let_names_break)
    return {"parallel_read_safe": True}
