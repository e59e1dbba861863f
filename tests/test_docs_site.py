"""The documentation's site, without building it: its pages are in the menus, its code runs, its reference is whole."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
from pathlib import Path

import plotly.graph_objects as go
import pytest
import yaml
from numpydoc.validate import validate

import rff_engine

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SITE = ROOT / "build" / "docs"
GENERATED = {"gallery/index"}
EXAMPLES = sorted((DOCS / "examples").glob("*.py"))
BLOCK = re.compile(r"```python\n((?:(?!```).)*)```(?:\n\n```text\n((?:(?!```).)*)```)?", re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
TAUGHT = [DOCS / "index.md", DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]


def pages() -> set[str]:
    return {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}


def menus() -> list[str]:
    """The entries of all menus."""
    entries = []
    for path in DOCS.rglob("*.md"):
        for block in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text("utf-8"), re.DOTALL):
            for entry in re.findall(r"^[\w/-]+$", block, re.MULTILINE):
                entries.append((path.parent / entry).relative_to(DOCS).as_posix())
    return entries


def test_every_page_is_in_one_menu():
    assert sorted(menus()) == sorted((pages() - {"index"}) | GENERATED)


REFERENCE = re.findall(r"^   ((?:\w+\.)*\w+)$", (DOCS / "reference" / "index.md").read_text("utf-8"), re.MULTILINE)
#: Of modules that are imported where they are used.
FURTHER = [name for name in REFERENCE if name.startswith(("figures.", "experiments."))]


def test_reference_lists_every_public_name():
    public = {name for name in rff_engine.__all__ if callable(getattr(rff_engine, name))}
    for module in (rff_engine.bounds, rff_engine.losses):
        own = module.__name__.split(".")[-1]
        public |= {f"{own}.{name}" for name in module.__all__ if callable(getattr(module, name))}
    assert sorted(set(REFERENCE) - set(FURTHER)) == sorted(public) and len(set(REFERENCE)) == len(REFERENCE)


@pytest.mark.slow
@pytest.mark.parametrize("name", FURTHER)
def test_what_the_reference_has_besides_is_described(name):
    errors = {code for code, _ in validate(f"rff_engine.{name}")["errors"]}
    assert not errors & {"PR01", "PR02", "PR07", "RT01", "YD01"}, errors


@pytest.mark.parametrize("page", [*TAUGHT, *EXAMPLES], ids=lambda page: page.stem)
def test_code_imports_only_what_the_reference_has(page):
    text = page.read_text("utf-8")
    code = text if page.suffix == ".py" else "\n".join(code for code, _ in BLOCK.findall(text))
    used = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rff_engine."):
            module = node.module.removeprefix("rff_engine.")
            for name in (alias.name for alias in node.names):
                parts = re.findall(rf"\b{name}\.(\w+)\(", code) if name == "datasets" else []
                used |= {f"{module}.{name}.{part}" for part in parts} or {f"{module}.{name}"}
    assert used <= set(REFERENCE)


def test_the_first_page_leads_to_what_a_newcomer_asks():
    first = (DOCS / "index.md").read_text("utf-8")
    assert "](how-to/pipeline.md#my-own-kernel)" in first and "](performance.md)" in first
    code = "\n".join(code for code, _ in BLOCK.findall((DOCS / "how-to" / "pipeline.md").read_text("utf-8")))
    assert "(rff.SpectralKernel)" in code and code.count("GridSearchCV(model, grid") == 2


def test_no_link_leads_to_a_server_of_the_readers_own():
    for path in [*DOCS.rglob("*.md"), *EXAMPLES]:
        if "gallery" not in path.parts:
            assert not re.search(r"[(<]https?://(?:localhost|127\.)", path.read_text("utf-8")), path


def test_pages_that_show_a_file_exist():
    text = (DOCS / "extensions" / "links.py").read_text("utf-8")
    shown = ast.literal_eval(re.search(r"^SHOWN = (\{.*?\})$", text, re.MULTILINE)[1])
    assert len(shown) == 3
    assert all((ROOT / file).exists() and (DOCS / f"{page}.md").exists() for page, file in shown.items())


# --- code -------------------------------------------------------------------------------------------------------------


def same(printed: str, written: str) -> bool:
    """Whether two texts agree in their words, and in their numbers up to 10 % or 0.03.

    An error of a classifier is a count of points: another processor may decide a few of them otherwise.
    """
    if NUMBER.sub("#", printed).split() != NUMBER.sub("#", written).split():
        return False
    pairs = zip(NUMBER.findall(printed), NUMBER.findall(written), strict=True)
    return all(abs(float(a) - float(b)) <= max(0.03, 0.1 * abs(float(b))) for a, b in pairs)


def test_other_numbers_are_found():
    assert same("error 0.11, x", "error 0.12, x")
    assert not same("error 0.11", "error 0.21") and not same("error 0.11", "loss 0.11")


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("page", TAUGHT, ids=lambda page: page.stem)
def test_code_of_the_page_prints_what_is_written(page, tmp_path, monkeypatch):
    if "import torch" in page.read_text("utf-8"):
        pytest.importorskip("torch", reason="PyTorch is not installed")
    if "import skops" in page.read_text("utf-8"):
        pytest.importorskip("skops", reason="skops is not installed")
    monkeypatch.chdir(tmp_path)
    space = {"__name__": __name__}  # of a module that can be looked up, as a dataclass does
    for code, written in BLOCK.findall(page.read_text("utf-8")):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, str(page), "exec"), space)
        assert same(printed.getvalue(), written), printed.getvalue()


@pytest.mark.more(after=1)
@pytest.mark.slow("each runs an experiment in the plane, a second or two")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_of_the_gallery_draws_figures(path):
    space = {"__name__": "__main__"}
    drawn = []
    for statement in ast.parse(path.read_text("utf-8")).body:
        if isinstance(statement, ast.Expr):
            drawn.append(eval(compile(ast.Expression(statement.value), str(path), "eval"), space))
        else:
            exec(compile(ast.Module([statement], []), str(path), "exec"), space)
    figures = [value for value in drawn if isinstance(value, go.Figure)]
    assert len(figures) >= 1 and all(figure.data for figure in figures)


def test_every_example_has_a_title_and_a_picture():
    assert len(EXAMPLES) == 8
    for path in EXAMPLES:
        text = path.read_text("utf-8")
        title, line = ast.get_docstring(ast.parse(text)).splitlines()[:2]
        assert line == "=" * len(title)
        picture = re.search(r"^# sphinx_gallery_thumbnail_path = '(.+)'$", text, re.MULTILINE)[1]
        assert Path(picture).stem == path.stem and (DOCS / picture).stat().st_size > 5000


# --- releases ---------------------------------------------------------------------------------------------------------


def test_citation_has_the_version_and_what_an_archive_needs():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["cff-version"] == "1.2.0" and cited["version"] == rff_engine.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", rff_engine.__version__)
    assert cited["license"] == "BSD-3-Clause" and cited["title"] and cited["message"] and cited["authors"]
    for one in cited["references"]:
        assert one["type"] and one["title"] and one["year"] > 1900
        assert all(author["family-names"] and author["given-names"] for author in one["authors"])


# --- the finished site ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def site() -> Path:
    if not (SITE / "index.html").exists():
        reason = "the documentation is not built; `make docs` does"
        if "docs" in os.environ.get("RFF_TEST_REQUIRE", "").replace(",", " ").split():
            pytest.fail(reason)
        pytest.skip(reason)
    return SITE


@pytest.mark.second
def test_every_link_of_the_finished_site_leads_somewhere(site, monkeypatch):
    """The build checks it as well; a site that was changed afterwards is found here."""
    monkeypatch.syspath_prepend(DOCS / "extensions")
    from whole import broken

    assert broken(site) == []


@pytest.mark.second
@pytest.mark.slow("each runs an experiment in the plane, a second or two")
@pytest.mark.parametrize("name", [path.stem for path in EXAMPLES])
def test_notebook_of_an_example_is_valid_and_its_cells_run(site, name):
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    (path,) = (site / "_downloads").glob(f"*/{name}.ipynb")
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    assert notebook.nbformat == 4 and notebook.cells[1].cell_type == "markdown"
    space = {"__name__": "__main__"}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, str(path), "exec"), space)
    assert "fig" not in space and "rff" in space


def test_links_that_lead_nowhere_are_found(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "extensions")
    from whole import broken

    (tmp_path / "a.html").write_text('<p id="here"></p><a href="b.html#there">b</a><a href="#here">a</a>', "utf-8")
    (tmp_path / "b.html").write_text('<p id="there"></p><a href="https://example.org">x</a><img src="c.png">', "utf-8")
    assert broken(tmp_path) == ["b.html: c.png"]
    (tmp_path / "b.html").write_text('<a href="a.html#gone">a</a>', "utf-8")
    assert broken(tmp_path) == ["a.html: b.html#there", "b.html: a.html#gone"]
