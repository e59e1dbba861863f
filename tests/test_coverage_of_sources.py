"""docs/coverage-of-sources.md: everything numbered has a row, no cell is empty, and all names exist."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SECTIONS = re.split(r"^## ", (ROOT / "docs" / "coverage-of-sources.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
COLUMNS = ["source", "what it is", "code", "seen", "test"]


def table(section: str) -> list[dict[str, str]]:
    lines = [line for line in section.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == COLUMNS and all(set(cell) == {"-"} for cell in cells[1])
    return [dict(zip(COLUMNS, row, strict=True)) for row in cells[2:]]


TABLES = {section[1]: table(section) for section in SECTIONS}
ROWS = [pytest.param(row, id=f"{name}: {row['source']}") for name, rows in TABLES.items() for row in rows]


def numbered(name: str, last: int, first: int = 1) -> set[str]:
    return {f"{name} {number}" for number in range(first, last + 1)}


#: What the sources number; the chapter has labels in place of numbers.
NUMBERED = {
    "A": numbered("Equation", 21)
    | numbered("Figure", 6)
    | numbered("Table", 2)
    | numbered("Proposition", 8, 7)
    | {"Theorem 1", "Corollary 2", "Theorem 3", "Theorem 4", "Corollary 5", "Lemma 6"},
    "B": numbered("Equation", 10)
    | numbered("Figure", 2)
    | numbered("Table", 3)
    | numbered("Algorithm", 2)
    | numbered("Proposition", 2)
    | {"Claim 1"},
    "C": {f"Equation: {label}" for label in ("ridge regression", "bochner-scalar", "rff", "rff2")}
    | {f"Figure: {name}" for name in ("monkeys", "nested circles", "feature map")}
    | {f"Theorem: {name}" for name in ("Aronszajn, kernel", "representer", "Aronszajn, features", "Bochner")},
}


@pytest.mark.parametrize("name", NUMBERED)
def test_everything_numbered_has_one_row(name):
    sources = [row["source"] for row in TABLES[name]]
    assert NUMBERED[name] - set(sources) == set() and len(sources) == len(set(sources))


@pytest.mark.parametrize("row", ROWS)
def test_no_cell_is_empty_and_what_it_names_exists(row):
    assert all(re.search(r"\w{2}", cell) for cell in row.values()), row
    (name,) = re.findall(r"^`([\w.]+)`$", row["code"])
    assert resolved(name) is not None
    page, where = re.fullmatch(r"`((?:pages|docs)/[\w/-]+\.(?:py|md))`, (.+)", row["seen"]).groups()
    text = (ROOT / page).read_text("utf-8")
    assert all(f"\n## {entry}. " in text for entry in re.findall(r"\d+", where) if where.startswith("entr"))
    path, test = re.fullmatch(r"`(tests/[\w/]+\.py)::(test_\w+)`", row["test"]).groups()
    assert f"\ndef {test}(" in (ROOT / path).read_text("utf-8")


def resolved(name: str):
    """The object of a dotted name."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    return None


def test_resolving_notices_missing_names():
    assert resolved("no_such_package.name") is None
    for name in ("rff_engine.fourier_feature", "rff_engine.GaussianKernel.no_such_method"):
        with pytest.raises(AttributeError):
            resolved(name)
