"""The rules of the house: who may import whom, and what a public name must say of itself."""

import ast
import inspect
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import rff_engine

ROOT = Path(__file__).resolve().parent.parent
OUR_FOLDERS = ("rff_engine", "datasets", "pages")

# --- who imports whom ---------------------------------------------------------------------------------------------

# What each part of the house may import of ours: itself, its neighbours on its floor, and what is below.
ALLOWED = {
    "core": {"core"},
    "estimators": {"core", "estimators"},
    "package": {"core", "estimators"},
    "figures": {"core", "estimators", "package", "figures"},
    "datasets": {"datasets"},
    "experiments": {"core", "estimators", "package", "figures", "experiments", "datasets"},
    "command line": {"core", "estimators", "package", "figures", "experiments", "datasets"},
    "components": {"core", "estimators", "package", "figures", "experiments", "datasets", "components"},
    "page": {"core", "estimators", "package", "figures", "experiments", "datasets", "components"},
    "app": {"core", "estimators", "package", "figures", "experiments", "datasets", "components"},
    "serve": {"serve"},
}
# Which parts may import a library. scikit-learn brings joblib and threadpoolctl.
FREE = {"numpy", "scipy", "sklearn", "joblib", "threadpoolctl", *sys.stdlib_module_names}
LIBRARIES = {
    "streamlit": {"app", "serve", "page", "components"},
    "plotly": {"figures"},
    "dask": {"experiments"},
    "distributed": {"experiments"},
    "sqlalchemy": {"experiments"},
    "psutil": {"experiments"},
    "sklearnex": {"experiments"},
}
BARE = {"core", "estimators", "package"}  # import nothing but the free ones


def part_of(module):
    names = module.split(".")
    if names[0] == "rff_engine":
        if len(names) == 1:
            return "package"
        if names[1] in ("figures", "experiments", "estimators"):
            return names[1]
        if names[1] == "adaptive_estimators":
            return "estimators"
        return "command line" if names[1] == "__main__" else "core"
    if names[0] == "pages":
        return "components" if names[1:2] == ["components"] else "page"
    return names[0] if names[0] in ("datasets", "app", "serve") else None


@cache
def modules():
    """Every module of ours outside tests and benchmarks: its dotted name and its file."""
    files = {"app": ROOT / "app.py", "serve": ROOT / "serve.py"}
    for folder in OUR_FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            names = path.relative_to(ROOT).with_suffix("").parts
            files[".".join(names[:-1] if names[-1] == "__init__" else names)] = path
    return {name: path for name, path in files.items() if path.exists()}


def imports_of(module):
    """The dotted names that a module imports anywhere in its code, those of ours down to the module."""
    path = modules()[module]
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*base, *(node.module.split(".") if node.module else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if inner in modules() else base
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "import_module":
            yield from (argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant))


def test_the_house_is_found():
    found = {part_of(module) for module in modules()}
    assert {"core", "estimators", "package", "datasets"} <= found
    assert {"rff_engine.kernels", "rff_engine.posteriors", "datasets"} <= set(modules())
    assert set(imports_of("rff_engine.estimators")) >= {"numpy", "sklearn.base", "rff_engine.alignment"}
    assert "rff_engine.bounds" in set(imports_of("rff_engine"))


@pytest.mark.parametrize("module", sorted(modules()))
def test_a_module_imports_only_what_is_below_it(module):
    part = part_of(module)
    for name in imports_of(module):
        below = part_of(name)
        if below is not None:
            assert below in ALLOWED[part], f"{module} ({part}) imports {name} ({below})"
            continue
        library = name.split(".")[0]
        assert library not in ("tests", "benchmarks", "conftest"), f"{module} imports {name}"
        assert part in LIBRARIES.get(library, {part}), f"{module} ({part}) imports {name}"
        assert part not in BARE or library in FREE, f"{module} ({part}) imports {name}"


def test_no_circular_imports():
    graph = {module: {name for name in imports_of(module) if name in modules()} for module in modules()}
    done = set()

    def visit(module, path):
        assert module not in path, " -> ".join([*path[path.index(module) :], module])
        if module not in done:
            for name in sorted(graph[module]):
                visit(name, [*path, module])
            done.add(module)

    for module in sorted(graph):
        visit(module, [])


@pytest.mark.slow
def test_the_engine_works_where_only_its_own_libraries_are():
    # Refused as if they were not installed; scikit-learn itself loads pandas where it can.
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
    ours = [name for name in loaded if part_of(name) is not None]
    assert not [name for name in ours if part_of(name) not in BARE]


def test_tests_import_no_test_of_another_folder():
    for path in (ROOT / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level:
                assert not (node.module or "").startswith("tests."), f"{path} imports {node.module}"


# --- what a public name says of itself ----------------------------------------------------------------------------

# Names that implement no formula of a paper: they only draw, or multiply.
FROM_NO_PAPER = {"FrequencyBlocks", "SpectralKernel", "phases", "KLTerms", "kl_terms"}
_CITATION = re.compile(r"[A-Z][\w ,.]+ (19|20)\d\d\b")


def public():
    """(qualified name, object) of every public function, class and method."""
    for module in (rff_engine, rff_engine.bounds):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.ismodule(value):
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
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value) and not inspect.isabstract(value)}


def sections(value):
    """The numpydoc sections of a docstring, by title."""
    text = inspect.cleandoc(value.__doc__ or "")
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def documented_names(section):
    """The names that a Parameters section lists: its lines that are not indented, up to a colon."""
    lines = [line for line in section.splitlines() if line and not line.startswith(" ")]
    return [name.strip() for line in lines for name in line.split(" : ")[0].split(",")]


def parameters(function):
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


def syntax(function):
    return ast.parse(inspect.cleandoc("\n" + inspect.getsource(function)))


@cache
def raising_names():
    """Names of functions and methods of the core that raise, or call one that does (by name)."""
    raises, calls = {"check_is_fitted", "validate_data"}, {}
    for module, path in modules().items():
        if part_of(module) not in BARE:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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


@pytest.mark.parametrize("name", PUBLIC)
def test_it_has_a_docstring_that_opens_with_a_sentence(name):
    text = inspect.cleandoc(PUBLIC[name].__doc__ or "")
    first = text.split("\n\n")[0]
    assert len(first) > 10 and first.endswith(".")


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_it_documents_each_parameter(name):
    value = PUBLIC[name]
    if inspect.isclass(value) and issubclass(value, tuple):
        return
    given = parameters(value)
    if given:
        assert documented_names(sections(value).get("Parameters", "")) == given
    else:
        assert "Parameters" not in sections(value)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_documents_what_it_returns_and_raises(name):
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
def test_it_cites_the_paper_of_its_formula(name):
    assert _CITATION.search(PUBLIC[name].__doc__)


def test_the_exceptions_from_citing_are_still_there():
    assert set(PUBLIC) >= FROM_NO_PAPER


def test_public_names_are_those_of_all():
    for module in (rff_engine, rff_engine.bounds):
        assert list(module.__all__) == sorted(module.__all__) and len(set(module.__all__)) == len(module.__all__)
    for name, value in vars(rff_engine).items():
        if not name.startswith("_") and not inspect.ismodule(value):
            assert name in rff_engine.__all__
