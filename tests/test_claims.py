"""Every number and every "always" of the documentation has somebody who holds it: `claims.txt` says who.

A claim is a sentence of README.md, of docs/ or of a docstring that

- gives a measured or computed quantity: a number with a unit or a percent sign, a decimal fraction, or a multiple or a
  share in words ("ten times the", "a quarter"), or
- says always, never, at most, at least, exactly, or "to the last bit".

A table with such a cell is one claim. Code, formulas, citations and numbers of equations do not count, nor what stands
between the marks of a command, which writes it. Of a docstring its prose counts: ranges of arguments are checked where
arguments are. Names and files with an underscore and the list of changes are left out.

Each line of `claims.txt` has a file, the first words of a claim, and its holder, which is one of

    test FILE::NAME         a test fails if the claim does not hold
    code FILE: A & B        the numbers are constants, which stand there so
    command COMMAND         the page names the command, which prints the numbers
    proof PAGE#HEADING      it is proved there
    arithmetic EXPRESSION   it follows from other numbers, and the expression is true
    source WHERE            somebody else's statement or number: a paper, a program, a data set
    definition              it says what a word or a setting means
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from .test_docs import anchors

ROOT = Path(__file__).resolve().parent.parent
#: Written by a command, or holding no text of their own.
LEFT_OUT = {"docs/changelog.md", "docs/contributing.md", "docs/readme.md", "docs/licences.md"}
FOLDERS = ("rff_engine", "datasets", "deploy", "pages")

UNIT = (
    r"(?:\\?%|points|times|s|ms|µs|min|minutes|seconds|hours|days|[kMGT]i?B|bytes|px|pixels|nats|Mbit/s|TB/s|cores?|rows|"
    r"runs|draws|samples|splits|sessions|students|clients|levels|bits)"
)
SHARE = (
    r"twice (?:the|its|as)|(?:two|three|four|ten|twenty|forty|hundred) times|half as|a (?:third|quarter|fifth|tenth) of"
)
MEASURED = re.compile(rf"(?<![\w.])\d[\d ,.]*\s?{UNIT}(?!\w)|\d\.\d|\b(?:{SHARE})\b")
ABSOLUTE = re.compile(r"\b(?:always|never|at most|at least|exactly|to the last bit|to the digit)\b", re.IGNORECASE)
YEAR = r"\b(?:1[89]|20)\d\d\b"
LABELS = r"\d[\d.]*(?:(?:, | and | to )\d[\d.]*)*"
#: What has digits and is no quantity, with what takes its place.
NO_QUANTITY = (
    (r"`[^`]*`", "code"),
    (r"\]\([^)]*\)", "]"),
    (r"\$[^$]*\$", "formula"),
    (rf"\([^()]*{YEAR}[^()]*\)", ""),
    (YEAR, ""),
    (rf"\bEq(?:uation)?s?\.? {LABELS}", ""),
    (rf"\b(?:Table|Figure|Section|[Vv]ersion|Python|PyTorch|scikit-learn|skops)s? {LABELS}", ""),
)


def claims_of(text: str) -> Iterator[str]:
    """The claims of a page: sentences, and first rows of tables."""
    text = re.sub(
        r"<!-- (\w+): begin.*?<!-- \1: end -->|^( *)```.*?^\2```|<!--.*?-->", "\n\n", text, flags=re.DOTALL | re.M
    )
    text = re.sub(r"\$\$.*?\$\$", " $formula$ ", text, flags=re.DOTALL)
    text = re.sub(r"(?<=\n\n)(?: {4}.*\n)+", "\n", text)
    for block in re.split(r"\n\s*\n", text):
        if re.match(r"\|.*\n\|[- |:]+\n", block):
            head, _, *rows = block.splitlines()
            yield from [head] if any(map(is_claim, rows)) else []
            continue
        for item in re.split(r"^(?:#.*| *(?:[-*]|\d+\.) )", block, flags=re.MULTILINE):
            yield from filter(is_claim, sentences(" ".join(item.split())))


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?∎])(?<!al\.)(?<!Eq\.)[*)_]* (?=[*`_(\"A-Z\[$0-9ωζℓα-ω])", text)


def is_claim(sentence: str) -> bool:
    for pattern, replacement in NO_QUANTITY:
        sentence = re.sub(pattern, replacement, sentence)
    return bool(MEASURED.search(sentence) or ABSOLUTE.search(sentence))


def prose(docstring: str) -> str:
    """A docstring up to its first section, without its examples; the notes as well."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", docstring, flags=re.MULTILINE)
    notes = [text for title, text in zip(parts[1::2], parts[2::2], strict=True) if title == "Notes"]
    return re.sub(r"::\n\n(?: {4}.*\n?|\n)+", "\n\n", "\n\n".join([parts[0], *notes]))


def docstrings(source: str) -> Iterator[str]:
    """Docstrings of a module and of what it defines without an underscore."""
    pending: list[ast.AST] = [ast.parse(source)]
    for node in pending:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""
            pending += [inner for inner in node.body if not getattr(inner, "name", "_").startswith("_")]


@cache
def claims() -> list[tuple[str, str]]:
    """File and words of every claim."""
    claims = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        name = path.relative_to(ROOT).as_posix()
        if name not in LEFT_OUT and "generated" not in name and "gallery" not in name:
            claims += [(name, claim) for claim in claims_of(path.read_text("utf-8"))]
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("[!_]*.py")):
        texts = docstrings(path.read_text("utf-8"))
        claims += [(path.relative_to(ROOT).as_posix(), claim) for text in texts for claim in claims_of(prose(text))]
    return claims


@cache
def lines() -> list[tuple[str, str, str]]:
    """File, first words and holder of each line of the list."""
    text = (ROOT / "tests" / "claims.txt").read_text("utf-8")
    return [(file, *rest.rsplit(" => ", 1)) for file, rest in (line.split(": ", 1) for line in text.splitlines())]


def is_held(file: str, holder: str) -> bool:
    kind, _, what = holder.partition(" ")
    if kind == "test":
        path, _, name = what.partition("::")
        return path.startswith("tests/") and f"def {name}(" in (ROOT / path).read_text("utf-8")
    if kind == "code":
        path, _, literals = what.partition(": ")
        text = (ROOT / path).read_text("utf-8")
        return all(literal in text for literal in literals.split(" & "))
    if kind == "command":
        module = re.match(r"python -m ([\w.]+)", what)
        place = ROOT / module[1].replace(".", "/") if module else ROOT
        exists = place.with_suffix(".py").exists() or (place / "__main__.py").exists() or not module
        return exists and what in " ".join((ROOT / file).read_text("utf-8").split())
    if kind == "proof":
        page, _, anchor = what.partition("#")
        return anchor in anchors(ROOT / page)
    if kind == "arithmetic":
        return eval(what, {"__builtins__": {}, "math": math, "abs": abs, "round": round}) is True
    return (kind == "source" and bool(what)) or holder == "definition"


@pytest.mark.slow
def test_every_claim_has_one_holder():
    keys = [(file, key) for file, key, _ in lines()]
    held = {claim: sum(claim[0] == file and claim[1].startswith(key) for file, key in keys) for claim in claims()}
    assert [claim for claim, holders in held.items() if holders != 1] == []


@pytest.mark.slow
def test_every_line_of_the_list_is_about_a_claim():
    keys = [(file, key) for file, key, _ in lines()]
    assert [key for key in keys if not any(key[0] == file and text.startswith(key[1]) for file, text in claims())] == []
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("file", sorted({file for file, _, _ in lines()}))
def test_the_holders_of_a_file_exist(file):
    assert [line for line in lines() if line[0] == file and not is_held(file, line[2])] == []


def test_what_is_a_claim():
    claim = "It takes 3 s. It is fast.\n\nOf `2 s` (Rahimi and Recht 2007, Equation 2.1).\n\n- It is never 0.\n"
    assert list(claims_of(claim)) == ["It takes 3 s.", "It is never 0."]
    assert list(claims_of("| n | error |\n|---|---|\n| few | 0.5 |\n")) == ["| n | error |"]
    assert list(claims_of("<!-- a: begin -->\nTwice the 2 s.\n<!-- a: end -->\n")) == []
    assert not is_held("README.md", "test tests/test_claims.py::test_that_is_gone")
    assert not is_held("README.md", "command python -m benchmarks.gone")
    assert not is_held("README.md", "nothing")
