"""Links of pages that are read both on GitHub, as files of the repository, and as pages of the site.

A link to the file of a page of the app leads to that page: of the static edition in the folder `app` of the site, or of
the app at the address `RFF_APP`.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

from pages.components.catalogue import BY_NAME, PAGES as APP_PAGES

ROOT = Path(__file__).resolve().parents[2]
#: Without an edition: what says how to run the app.
RUN_IT = "app.html#run-it"
#: Pages that show a file of the repository.
SHOWN = {"readme": "README.md", "contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}
PAGES = {file: f"{page}.md" for page, file in SHOWN.items()}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_TABLES = re.compile(r"<!-- tables of (\S+): (\w+) -->")
_CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
_CODE = re.compile(r"<code\b.*?</code>", re.DOTALL)
_FIRST_CODE = ".. GENERATED FROM PYTHON SOURCE LINES"
_NAME = re.compile(r"(?:rff|rff_engine)\.([A-Za-z][\w.]*)(?:\(.*\))?")


def rewrite(app, page: str, content: list[str]) -> None:
    """Show a file of the repository on its page, and lead links to pages of the site."""
    folder = (Path(app.srcdir) / page).parent
    text = content[0]
    if page in SHOWN:
        folder, text = ROOT, (ROOT / SHOWN[page]).read_text(encoding="utf-8")
    text = _TABLES.sub(lambda mark: _tables(ROOT / "docs" / mark[1], mark[2]), text)
    if page.startswith("gallery/"):
        text = _with_sliders(text, page, app.config.links_app)
    up = "../" * page.count("/")
    content[0] = _LINK.sub(
        lambda link: _relinked(link, folder, (Path(app.srcdir) / page).parent, up, app.config.links_app), text
    )


def _tables(file: Path, mark: str) -> str:
    """What a command wrote into another page between its marks; GitHub shows only the link to that page."""
    return re.search(rf"<!-- {mark}: begin.*?-->\n(.*?)<!-- {mark}: end -->", file.read_text("utf-8"), re.DOTALL)[1]


def app_address(name: str, up: str, app: str) -> str:
    """Address of a page of the app; `up` leads from the page that links to the start of the site."""
    if app:
        return f"{app.rstrip('/')}/{BY_NAME[name].path}"
    if BY_NAME[name].grid or name == "glossary":
        return f"{up}app/{BY_NAME[name].path or 'index'}.html"
    return up + RUN_IT


def _with_sliders(text: str, page: str, app: str) -> str:
    """An example with a link to its page of the app below its introduction."""
    example = page.replace("gallery/", "examples/") + ".py"
    for record in (record for record in APP_PAGES if example in record.documentation):
        line = f"With sliders: `{record.title} <{app_address(record.name, '../', app)}>`__.\n\n"
        text = text.replace(_FIRST_CODE, line + _FIRST_CODE, 1)
    return text


def _relinked(link: re.Match, folder: Path, here: Path, up: str, app: str) -> str:
    mark, words, target = link.groups()
    path, sharp, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return link[0]
    file = (folder / path).resolve()
    if not file.exists():
        return link[0]  # the build warns
    docs = ROOT / "docs"
    if file.parent == ROOT / "pages" and file.stem in BY_NAME:
        return f'<a class="reference external" href="{app_address(file.stem, up, app)}">{words}</a>'
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
    app.add_config_value("links_app", "", "env")
    app.connect("source-read", rewrite)
    app.connect("doctree-read", link_names)
    app.connect("html-page-context", let_names_break)
    return {"parallel_read_safe": True}
