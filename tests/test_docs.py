"""README and docs: links lead somewhere, files and names exist, commands parse, and the README's example runs."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

import rff_engine
from datasets.__main__ import _parser as datasets_parser
from rff_engine.experiments.command_line.parser import parser as engine_parser

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
page_tables = SimpleNamespace(**runpy.run_path(str(ROOT / ".ci" / "page_tables.py")))
PARSERS = {"rff_engine": engine_parser, "datasets": datasets_parser}
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """The fragments of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_page
def test_relative_links_and_anchors_exist(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", text(page))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), target


@every_page
def test_named_files_exist(page):
    tops = "app.py|serve.py|(?:rff_engine|datasets|pages|tests|benchmarks|docs)/"
    for name in re.findall(rf"`((?:{tops})[\w./*-]*)`", text(page)):
        assert list(ROOT.glob(name)), name


@pytest.mark.slow
@every_page
def test_commands_parse(page):
    for module, arguments in re.findall(r"python -m (rff_engine|datasets) ([^`#<\n]+)", text(page)):
        PARSERS[module]().parse_args(shlex.split(arguments))


@every_page
def test_names_of_the_engine_exist(page):
    for name in re.findall(r"\brff\.(\w+)\(", text(page)):
        assert hasattr(rff_engine, name), name


def test_every_environment_variable_is_listed():
    listed = text(ROOT / "docs" / "deployment.md").split("| environment variable |")[1].split("\n\n")[0]
    files = [ROOT / "Dockerfile", ROOT / "Makefile", ROOT / ".ci" / "run"]
    files += [path for folder in ("rff_engine", "datasets", "pages", "tests") for path in (ROOT / folder).rglob("*.py")]
    used = {name for path in files for name in re.findall(r"\bRFF_[A-Z_]*[A-Z]", text(path))}
    assert used == set(re.findall(r"RFF_[A-Z_]+", listed))


@pytest.mark.parametrize("file", page_tables.FILES)
def test_tables_and_lists_are_those_of_the_records(file):
    written = [table for (where, _), table in page_tables.TABLES.items() if where == file]
    assert all(table in text(ROOT / file) for table in written) and page_tables.renewed(file) == text(ROOT / file)


@pytest.mark.slow
def test_the_example_of_the_readme_prints_an_error_and_a_divergence():
    (code,) = re.findall(r"^```python\n(.*?)^```", text(ROOT / "README.md"), re.DOTALL | re.MULTILINE)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "README.md", "exec"), {})
    error, divergence = map(float, printed.getvalue().split())
    assert 0 < error < 0.2 and divergence > 0


def test_the_formatter_of_pre_commit_is_the_pinned_one():
    pinned = re.search(r"^ruff==(\S+)", text(ROOT / "requirements-dev.txt"), re.MULTILINE)[1]
    hooks = text(ROOT / ".pre-commit-config.yaml")
    assert re.search(r"ruff-pre-commit\n +rev: v(\S+)", hooks)[1] == pinned
