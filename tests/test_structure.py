"""Rules of the repository: which part imports which, and what the docstring of a public name contains."""

import ast
import importlib.util
import inspect
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from numpydoc.validate import validate

import rff_engine
from pages.components.catalogue import PAGES

ROOT = Path(__file__).resolve().parent.parent
_SPEC = importlib.util.spec_from_file_location("structure", ROOT / ".ci" / "structure.py")
structure = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(structure)

# --- imports ------------------------------------------------------------------------------------------------------

# import-linter would leave gaps here: it takes no modules at the top level (app.py, serve.py), does not see names that
# are given to `import_module`, and finds no circle through a package's `__init__`.

# Which parts may import a library. scikit-learn brings joblib and threadpoolctl.
FREE = {"numpy", "scipy", "sklearn", "joblib", "threadpoolctl", *sys.stdlib_module_names}
LIBRARIES = {
    "streamlit": {"app", "serve", "pages", "pages.components"},
    "plotly": {"rff_engine.figures"},
    "dask": {"rff_engine.experiments.running"},
    "distributed": {"rff_engine.experiments.running"},
    "sqlalchemy": {"rff_engine.experiments.running", "pages.components"},
    "psutil": {"rff_engine.experiments", "rff_engine.experiments.running"},
    "sklearnex": {"rff_engine.experiments"},
}
#: The engine proper, which imports nothing but the free libraries.
ENGINE = structure.PARTS[: structure.PARTS.index("rff_engine.figures")]
MODULES = structure.modules(ROOT)


@pytest.mark.slow
def test_modules_and_their_imports_are_found():
    assert {structure.part_of(module) for module in MODULES} == set(structure.PARTS)
    imported = set(structure.imports(ROOT, "rff_engine.estimators"))
    assert imported >= {"numpy", "sklearn.base", "rff_engine.alignment"}
    assert "rff_engine.bounds" in structure.graph(ROOT)["rff_engine"]


def test_no_upward_imports():
    assert structure.upward_imports(ROOT) == []


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, 2])
def test_no_circles_between_files_and_folders(depth):
    for folder in {path.parent for path in MODULES.values()}:
        assert structure.circles(structure.places(ROOT, folder, depth)[1]) == [], folder


def test_no_circles_between_modules():
    arrows = {(module, name) for module, imported in structure.graph(ROOT).items() for name in imported}
    assert structure.circles(arrows) == []


@pytest.mark.more(after=100)
@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_the_libraries_of_its_part(module):
    part = structure.part_of(module)
    for name in structure.imports(ROOT, module):
        library = name.split(".")[0]
        if structure.part_of(name) is None:
            assert library not in ("tests", "benchmarks", "conftest"), f"{module} imports {name}"
            assert part in LIBRARIES.get(library, {part}), f"{module} ({part}) imports {name}"
            assert part not in ENGINE or library in FREE, f"{module} ({part}) imports {name}"


@pytest.mark.slow
def test_only_rooms_of_classes_have_tables_of_the_app():
    using = [module for module in MODULES if "sqlalchemy" in structure.imports(ROOT, module)]
    assert [module for module in using if module.startswith("pages")] == ["pages.components.server.rooms"]


@pytest.mark.second
def test_engine_works_without_the_libraries_of_the_other_parts():
    # As if they were not installed; scikit-learn loads pandas where it can.
    code = """
import sys
class Refuse:
    def find_spec(name, *_):
        if name in "pandas plotly streamlit sqlalchemy matplotlib cvxpy dask distributed".split():
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse)
import rff_engine
rff_engine.LandmarkSimilarity(n_landmarks=2).fit_transform([[0.0], [1.0], [2.0]], [0, 1, 1])
print(*sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    loaded = ran.stdout.split()
    assert "rff_engine.estimators" in loaded
    assert {structure.part_of(name) for name in loaded} <= {None, *ENGINE}


def test_records_of_pages_import_nothing_of_the_app():
    assert sys.stdlib_module_names >= {
        name.split(".")[0] for name in structure.imports(ROOT, "pages.components.catalogue")
    }


@pytest.mark.second
def test_pages_without_runs_need_no_store_of_results():
    """They are imported where two libraries are missing that exist in no browser."""
    pages = [page.name for page in PAGES if page.grid and page.path] + ["errata"]
    program = (
        "import importlib, sys\n"
        "sys.modules['psutil'] = sys.modules['sqlalchemy'] = None\n"
        f"for page in {pages}: importlib.import_module(f'pages.{{page}}')\n"
    )
    imported = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert imported.returncode == 0, imported.stderr


@pytest.mark.slow
def test_tests_import_no_tests_of_other_folders():
    for path in (ROOT / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level:
                assert not (node.module or "").startswith("tests."), f"{path} imports {node.module}"


# --- docs/architecture.md -----------------------------------------------------------------------------------------

ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
FILES = {path.relative_to(ROOT).as_posix(): module for module, path in MODULES.items()}
WALKS = dict(re.findall(r"^## ([^\n]+, from [^\n]+)\n(.*?)(?=^## )", ARCHITECTURE, re.DOTALL | re.MULTILINE))


def lines_of_the_plan():
    """The lines of the plan, by the beginnings of the files in them."""
    (figure,) = re.findall(r"^```text\n(.*?)^```", ARCHITECTURE, re.DOTALL | re.MULTILINE)
    lines, folder = {}, ""
    for number, line in enumerate(figure.splitlines()):
        if " " not in line:
            folder = line
        else:
            names = re.split(" {2,}", line.strip())[0].split(", ")
            lines |= {folder + name.rstrip("*"): number for name in names}
    return lines


@pytest.mark.slow
def test_a_line_of_the_plan_imports_nothing_above_it():
    lines = lines_of_the_plan()
    line_of = {
        module: lines[max((start for start in lines if file.startswith(start)), key=len)]
        for file, module in FILES.items()
    }
    assert set(line_of.values()) == set(lines.values())
    arrows = [(module, name) for module, imported in structure.graph(ROOT).items() for name in imported]
    assert [arrow for arrow in arrows if line_of[arrow[1]] < line_of[arrow[0]]] == []


def hands_over(file, other):
    """Whether a file imports another or names it: as a module, a file, or an entry of a list such as `parts.VIEWS`."""
    if FILES.get(other) in structure.graph(ROOT).get(FILES.get(file), ()):
        return True
    named = (FILES.get(other, other), Path(other).name, f'"{Path(other).stem}"')
    return any(name in (ROOT / file).read_text(encoding="utf-8") for name in named)


@pytest.mark.parametrize("walk", WALKS)
def test_a_file_of_a_walk_imports_one_before_it_or_is_imported_there(walk):
    files = re.findall(r"^\d+\. `([^`]+)`", WALKS[walk], re.MULTILINE)
    assert len(files) > 1
    for k, file in enumerate(files[1:], 1):
        assert any(hands_over(before, file) or hands_over(file, before) for before in files[:k]), file


# --- statements ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_statement_makes_no_two_calls_for_two_names():
    """A pair such as `a, b = 0, 1` may stand in one line; of `a, b = f(x), g(y)` a reader misses the second."""
    packed = []
    for path in (*(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "deploy").rglob("*.py"), *MODULES.values()):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
                values = node.value.elts if isinstance(node.value, ast.Tuple) else []
                if sum(any(isinstance(part, ast.Call) for part in ast.walk(value)) for value in values) > 1:
                    packed.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert packed == []


# --- docstrings ---------------------------------------------------------------------------------------------------

# Names without a formula of a paper.
FROM_NO_PAPER = {"FrequencyBlocks", "SpectralKernel", "phases", "KLTerms", "kl_terms"}
#: What numpydoc asks for beyond the rules here: extended summaries, examples, links, verbs, and capitals.
NOT_REQUIRED = {"ES01", "EX01", "PR04", "PR08", "RT03", "SA01", "SS02", "SS05"}
_CITATION = re.compile(r"[A-Z][\w ,.]+ (19|20)\d\d\b")


#: Public modules whose names the package itself does not have.
SUBMODULES = (rff_engine.bounds, rff_engine.losses)


def public():
    """Qualified names and objects of all public functions, classes and methods."""
    for module in (rff_engine, *SUBMODULES):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.ismodule(value) or name == "LOSSES":
                continue
            yield name, value
            if not inspect.isclass(value) or issubclass(value, tuple):
                continue
            for method, function in inspect.getmembers(value, callable):
                ours = (getattr(function, "__module__", None) or "").startswith("rff_engine")
                if ours and (not method.startswith("_") or method == "__call__") and not inspect.isclass(function):
                    yield f"{name}.{method}", function


PUBLIC = dict(public())
FUNCTIONS = {name: value for name, value in PUBLIC.items() if not inspect.isclass(value)}


def sections(value):
    """The titles and texts of the numpydoc sections of a docstring."""
    text = inspect.cleandoc(value.__doc__ or "")
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def syntax(function):
    return ast.parse(inspect.cleandoc("\n" + inspect.getsource(function)))


@cache
def raising_names():
    """Names of functions and methods of the core that raise, or call one that does (by name)."""
    raises, calls = {"check_is_fitted", "validate_data"}, {}
    for module, path in MODULES.items():
        if structure.part_of(module) not in ENGINE:
            continue
        for node in ast.walk(structure.syntax(path)):
            if isinstance(node, ast.FunctionDef):
                inside = list(ast.walk(node))
                if any(isinstance(inner, ast.Raise) for inner in inside):
                    raises.add(node.name)
                called = [inner.func for inner in inside if isinstance(inner, ast.Call)]
                names = {getattr(f, "id", getattr(f, "attr", None)) for f in called}
                calls.setdefault(node.name, set()).update(names)
    while more := {name for name, called in calls.items() if called & raises} - raises:
        raises |= more
    return raises


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLIC)
def test_docstring_is_valid_numpydoc(name):
    module = next((module.__name__ for module in SUBMODULES if name in module.__all__), "rff_engine")
    errors = {code: message for code, message in validate(f"{module}.{name}")["errors"] if code not in NOT_REQUIRED}
    if inspect.isclass(PUBLIC[name]) and issubclass(PUBLIC[name], tuple):
        errors.pop("PR01", None)  # its fields have docstrings of their own
    assert errors == {}


def set_by(cls):
    """Names of the attributes that the methods of a class set for its users."""
    for base in inspect.getmro(cls):
        if base.__module__.startswith("rff_engine"):
            names = re.findall(r"^ +self\.([a-z]\w*_)(?:: .+)? = ", inspect.getsource(base), re.MULTILINE)
            yield from names


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, value in PUBLIC.items() if inspect.isclass(value)])
def test_every_attribute_has_a_sentence(name):
    text = sections(PUBLIC[name]).get("Attributes", "")
    described = dict(re.findall(r"^(\w[\w, ]*) : .+\n((?: {4}.+\n?)*)", text, re.MULTILINE))
    names = {name for group in described for name in group.split(", ")}
    assert names >= set(set_by(PUBLIC[name])) and all(described.values())
    assert all(getattr(PUBLIC[name], field).__doc__ for field in getattr(PUBLIC[name], "_fields", ()))


@pytest.mark.more(after=100)
@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_returns_and_raises_are_documented_where_there_are_any(name):
    function = FUNCTIONS[name]
    returned = [node for node in ast.walk(syntax(function)) if isinstance(node, ast.Return) and node.value is not None]
    assert bool(returned) == ("Returns" in sections(function))
    called = {
        getattr(node.func, "id", getattr(node.func, "attr", None))
        for node in ast.walk(syntax(function))
        if isinstance(node, ast.Call)
    }
    raises = any(isinstance(node, ast.Raise) for node in ast.walk(syntax(function))) or bool(called & raising_names())
    assert not raises or re.match(r"(ValueError|NotFittedError)\n", sections(function).get("Raises", "")), called


@pytest.mark.parametrize("name", [name for name in PUBLIC if "." not in name and name not in FROM_NO_PAPER])
def test_docstring_cites_the_paper_of_its_formula(name):
    assert _CITATION.search(PUBLIC[name].__doc__)


def test_names_without_a_formula_exist():
    assert set(PUBLIC) >= FROM_NO_PAPER


def test_public_names_are_in_all():
    for module in (rff_engine, *SUBMODULES):
        assert list(module.__all__) == sorted(module.__all__) and len(set(module.__all__)) == len(module.__all__)
    for name, value in vars(rff_engine).items():
        if not name.startswith("_") and not inspect.ismodule(value):
            assert name in rff_engine.__all__
