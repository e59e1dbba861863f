"""Print how the packages are divided: places, imports between them, circles, and lengths of functions.

    python .ci/structure.py [ROOT]

ROOT is a checkout, by default this one, so two commits can be compared. A place is a file or a folder, an arrow a pair
of places of which one imports the other. "As a whole" counts the files and folders inside a package's folders too.
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGES = ("rff_engine", "datasets", "pages")
#: Parts from low to high, by prefixes of which the longest match counts: each may import itself and lower ones.
PARTS = (
    "rff_engine",  # the core
    *("rff_engine.estimators", "rff_engine.adaptive_estimators", "rff_engine.landmark_boosting"),
    "rff_engine.certified_classifier",
    "rff_engine.__init__",  # the public names
    "rff_engine.figures",
    "datasets",
    *("rff_engine.experiments", "rff_engine.experiments.running", "rff_engine.experiments.reports"),
    *("rff_engine.experiments.command_line", "rff_engine.__main__"),
    *("pages.components", "pages", "app", "serve"),
)
IMPORT_NO_OTHER_PART = {"datasets"}
NEVER_IMPORTED = {"rff_engine.__main__", "pages", "app", "serve"}


@cache
def modules(root: Path) -> dict[str, Path]:
    """Dotted names and files of all modules outside tests and benchmarks."""
    paths = [root / "app.py", root / "serve.py", *(path for name in PACKAGES for path in (root / name).rglob("*.py"))]
    named = {path.relative_to(root).with_suffix("").parts: path for path in paths if path.exists()}
    return {".".join(names[:-1] if names[-1] == "__init__" else names): path for names, path in sorted(named.items())}


@cache
def syntax(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def executed(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below one, except what is imported for the type checker alone."""
    typed = isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING"
    for child in node.orelse if typed else ast.iter_child_nodes(node):
        yield child
        yield from executed(child)


def imports(root: Path, module: str) -> Iterator[str]:
    """Dotted names that a module imports anywhere: modules of `PACKAGES`, and names of other libraries as written."""
    known = modules(root)
    package = module.split(".") if known[module].name == "__init__.py" else module.split(".")[:-1]
    for node in executed(syntax(known[module])):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*base, *(node.module.split(".") if node.module else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if inner in known else base
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "import_module":
            yield from (str(given.value) for given in node.args[:1] if isinstance(given, ast.Constant))


@cache
def graph(root: Path) -> dict[str, set[str]]:
    """The modules that each module imports."""
    return {module: {name for name in imports(root, module) if name in modules(root)} for module in modules(root)}


def place_of(root: Path, module: str, folder: Path, depth: int = 1) -> str | None:
    """The file or folder that a module is in, at most `depth` levels below `folder`."""
    path = modules(root)[module]
    return "/".join(path.relative_to(folder).parts[:depth]) if folder in path.parents else None


def places(root: Path, folder: Path, depth: int = 1) -> tuple[set[str], set[tuple[str, str]]]:
    """Places of a folder and the arrows between them; an `__init__.py` without arrows is no place."""
    place = {module: place_of(root, module, folder, depth) for module in modules(root)}
    pairs = {(place[module], place[name]) for module, imported in graph(root).items() for name in imported}
    arrows = {(here, there) for here, there in pairs if here and there and here != there}
    at_arrows = {here for arrow in arrows for here in arrow}
    return {here for here in place.values() if here and (here in at_arrows or "__init__" not in here)}, arrows


def circles(arrows: set[tuple[str, str]]) -> list[list[str]]:
    """Groups of places that reach each other."""
    reached = {start: {start} for arrow in arrows for start in arrow}
    for members in reached.values():
        while new := {after for before, after in arrows if before in members} - members:
            members |= new
    groups = {frozenset(b for b in members if a in reached[b]) for a, members in reached.items()}
    return sorted(sorted(group) for group in groups if len(group) > 1)


def part_of(module: str) -> str | None:
    """The entry of `PARTS` that a module belongs to, or None for a module of another library."""
    name = "rff_engine.__init__" if module == "rff_engine" else module
    return max((part for part in PARTS if f"{name}.".startswith(f"{part}.")), key=len, default=None)


def upward_imports(root: Path) -> list[str]:
    """Imports that the order of `PARTS` forbids."""
    upward = []
    for module, imported in graph(root).items():
        here = PARTS.index(part_of(module))
        allowed = {PARTS[here]} if PARTS[here] in IMPORT_NO_OTHER_PART else set(PARTS[: here + 1]) - NEVER_IMPORTED
        upward += [f"{module} -> {name}" for name in imported if part_of(name) not in allowed]
    return sorted(upward)


def function_lengths(root: Path, package: str) -> list[tuple[int, str]]:
    """Lines of code of each function of a package, without docstrings, comments and blank lines."""
    lengths = []
    for module, path in modules(root).items():
        if root / package not in path.parents:
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        for node in ast.walk(syntax(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
                code = lines[body[0].lineno - 1 : node.end_lineno] if body else []
                length = sum(1 for line in code if line.strip() and not line.strip().startswith("#"))
                lengths.append((length, f"{module}.{node.name}"))
    return sorted(lengths, reverse=True)


def report(root: Path) -> Iterator[str]:
    """The lines that are printed."""
    folders = sorted({path.parent for path in modules(root).values()} - {root})
    for folder, depth in [*((root / package, 2) for package in PACKAGES), *((folder, 1) for folder in folders)]:
        names, arrows = places(root, folder, depth)
        if len(names) < 2:
            continue
        name = f"{folder.relative_to(root)}{', as a whole' if depth > 1 else ''}"
        yield f"{name:<36} {len(names):>3} places {len(arrows):>4} arrows {len(circles(arrows)):>2} circles"
        yield from (f"    circle: {', '.join(group)}" for group in circles(arrows))
    upward = upward_imports(root)
    yield f"\n{len(upward)} upward imports"
    yield from (f"    {line}" for line in upward)
    for package in ("rff_engine", "pages"):
        sized = function_lengths(root, package)
        lengths = [length for length, _ in sized]
        median = statistics.median(lengths)
        decile = statistics.quantiles(lengths, n=10)[8]
        yield f"\n{package}: {len(sized)} functions, median {median:g} lines, ninth decile {decile:g}; the longest:"
        yield from (f"    {length:>4} {name}" for length, name in sized[:10])


if __name__ == "__main__":
    print("\n".join(report(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve())))
