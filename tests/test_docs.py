"""README and docs: their code runs and prints what is written, their commands parse, their tables come out again.

`make docs` follows the links, and fails where one within the repository leads nowhere.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import re
import shlex
from pathlib import Path

import pytest

from datasets.__main__ import _parser as datasets_parser
from rff_engine.studies.command_line.parser import parser as engine_parser

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs" / "examples").glob("*.py")])
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in PAGES}
#: Code, and what the page says that it prints. `<!-- not run: why -->` above a block leaves it out.
BLOCK = re.compile(r"(<!-- not run: .+? -->\n)?^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", re.DOTALL | re.M)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
MARKED = re.compile(r"<!-- (\w+): begin, written by `(.*?)` -->\n(.*?)<!-- \1: end -->", re.DOTALL)
PARSERS = {"rff_engine": engine_parser, "datasets": datasets_parser}


def blocks(name: str) -> list[tuple[str, str]]:
    """Code and printed text of each block of a page; an example of the gallery is one block."""
    if name.endswith(".py"):
        return [(TEXTS[name], "")]
    return [(code, printed) for left_out, code, printed in BLOCK.findall(TEXTS[name]) if not left_out]


def same(printed: str, written: str) -> bool:
    """Whether two texts agree in their words, and in their numbers up to 10 % or 0.03.

    An error of a classifier is a count of points: another processor may decide a few of them otherwise.
    """
    if NUMBER.sub("#", printed).split() != NUMBER.sub("#", written).split():
        return False
    pairs = zip(NUMBER.findall(printed), NUMBER.findall(written), strict=True)
    return all(abs(float(a) - float(b)) <= max(0.03, 0.1 * abs(float(b))) for a, b in pairs)


def run_as_doctest(code: str, space: dict, name: str) -> None:
    test = doctest.DocTestParser().get_doctest(code, space, name, name, 0)
    printed: list[str] = []
    assert doctest.DocTestRunner().run(test, out=printed.append, clear_globs=False).failed == 0, "".join(printed)
    space |= test.globs


@pytest.mark.slow("runs every block of the page")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in TEXTS if blocks(name)])
def test_code_of_a_page_runs_and_prints_what_is_written(name, tmp_path, monkeypatch):
    for library in re.findall(r"^(?:>>> )?import (\w+)", "\n".join(code for code, _ in blocks(name)), re.MULTILINE):
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed")
    monkeypatch.chdir(tmp_path)
    space = {"__name__": __name__}  # of a module that can be looked up, as a dataclass does
    for code, written in blocks(name):
        if code.startswith(">>>"):
            run_as_doctest(code, space, name)
            continue
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, name, "exec"), space)
        assert not written or same(printed.getvalue(), written), printed.getvalue()


def test_other_numbers_are_seen():
    assert same("error 0.11, x", "error 0.12, x")
    assert not same("error 0.11", "error 0.21") and not same("error 0.11", "loss 0.11")


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_commands_of_a_page_parse(name):
    for module, arguments in re.findall(r"python -m (rff_engine|datasets) ([^`#<\n]+)", TEXTS[name]):
        PARSERS[module]().parse_args(shlex.split(arguments))


# --- what commands write ------------------------------------------------------------------------------------------

TABLES = {(name, mark): (command, text) for name in TEXTS for mark, command, text in MARKED.findall(TEXTS[name])}


@pytest.mark.parametrize("where", TABLES, ids="-".join)
def test_the_command_that_writes_a_table_exists(where):
    command, text = TABLES[where]
    program = re.fullmatch(r"python (?:-m )?(\S+).*|make (\w+)", command)
    if program[2]:
        found = re.search(rf"^{program[2]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    else:
        found = (ROOT / program[1]).exists() or importlib.util.find_spec(program[1])
    assert found and text.strip(), command


@pytest.mark.parametrize("listed", ["requirements.txt", "pyproject.toml"])
def test_every_pin_is_locked_with_hashes(listed):
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    locked = set(re.findall(r"^([\w.-]+==[^\s;]+).*\\\n +--hash=sha256:", lock, re.MULTILINE))
    pins = re.findall(r'(?:^|")([\w.-]+)(?:\[\w+\])?(==[^\s;"]+)', (ROOT / listed).read_text("utf-8"), re.MULTILINE)
    assert pins and {name + version for name, version in pins} <= locked
