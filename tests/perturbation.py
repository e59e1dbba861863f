"""Simulated rounding errors of another processor in the engine's products and cosines.

BLAS libraries sum in different orders, and NumPy computes cosines differently for other instruction sets. `install`
compiles the modules of `rff_engine` with the results of `@`, `np.einsum`, `np.cos` and their like multiplied by 1 + e,
where |e| is at most 1e-12, or one unit in the last place of float32. The factor depends on the value alone, so equal
computations stay equal, as on one processor. Whole numbers do not change: their sums are exact on every processor.
"""

from __future__ import annotations

import ast
import functools
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path

import numpy as np

RELATIVE_NOISE = 1e-12
#: Line of code that installs the same perturbation in another program; empty without one.
installed = ""
_ROUNDED = {"cos", "sin", "einsum", "dot", "vdot", "matmul"}
_AT_A_TIME = 2**13  # entries, few enough not to affect tests of memory
_BITS = {8: np.uint64, 4: np.uint32}


def install(seed: int) -> None:
    """Perturb every module of `rff_engine` that is imported from now on; `seed` selects the noise."""
    global installed
    if "rff_engine" in sys.modules:
        raise RuntimeError("rff_engine has been imported already; install the perturbation before.")
    sys.meta_path.insert(0, _Finder(seed))
    installed = f"from tests import perturbation; perturbation.install({seed})\n"


def perturbed(values, seed: int):
    """The values times 1 + e; an array of floats is changed in place.

    Parameters
    ----------
    values : object
        Returned unchanged unless it is a float, an array of floats or a sparse matrix of them.
    seed : int
    """
    if isinstance(values, np.floating | float):
        return type(values)(perturbed(np.array([values]), seed)[0])
    if hasattr(values, "data") and not isinstance(values, np.ndarray) and hasattr(values, "nnz"):  # a sparse matrix
        perturbed(values.data, seed)
        return values
    if not (isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.dtype.itemsize in _BITS):
        return values
    whole = values if values.flags.c_contiguous else values.T
    parts = whole.reshape(-1) if whole.flags.c_contiguous else whole
    for start in range(0, len(parts), _AT_A_TIME):
        _perturb(parts[start : start + _AT_A_TIME], seed)
    return values


def _perturb(values: np.ndarray, seed: int) -> None:
    size = max(RELATIVE_NOISE, float(np.finfo(values.dtype).eps))
    exact = (values == np.rint(values)) | ~np.isfinite(values)
    values *= np.where(exact, 1, 1 + size * _noise(values, seed)).astype(values.dtype)


def _noise(values: np.ndarray, seed: int) -> np.ndarray:
    """Numbers in [-1, 1) from a hash of the bits of the values."""
    bits = np.ascontiguousarray(values).view(_BITS[values.dtype.itemsize]).astype(np.uint64)
    bits ^= np.uint64(0x9E3779B97F4A7C15 * (seed + 1) % 2**64)
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        bits ^= bits >> np.uint64(30)
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1


class _Finder:
    def __init__(self, seed: int):
        self._seed = seed

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] != "rff_engine":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(name, spec.origin, self._seed)
        return spec


class _Loader(SourceFileLoader):
    """Compiles a module from its rewritten source; bytecode on disk is neither read nor written."""

    def __init__(self, name: str, path: str, seed: int):
        super().__init__(name, path)
        self._seed = seed

    def get_code(self, fullname):
        tree = _Rewriter().visit(ast.parse(Path(self.path).read_text(encoding="utf-8")))
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)

    def exec_module(self, module):
        module.__dict__["_perturbed_"] = functools.partial(perturbed, seed=self._seed)
        module.__dict__["_perturbing_"] = self._perturbing
        super().exec_module(module)

    def _perturbing(self, function):
        """The function, or each of a list of them, with perturbed results."""
        if isinstance(function, list | tuple):
            return [self._perturbing(each) for each in function]

        @functools.wraps(function, updated=())
        def wrapper(*args, **kwargs):
            return perturbed(function(*args, **kwargs), self._seed)

        return wrapper


class _Rewriter(ast.NodeTransformer):
    def visit_BinOp(self, node):
        self.generic_visit(node)
        return _call("_perturbed_", node) if isinstance(node.op, ast.MatMult) else node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        numpys = isinstance(node.value, ast.Name) and node.value.id == "np" and node.attr in _ROUNDED
        return _call("_perturbing_", node) if numpys and isinstance(node.ctx, ast.Load) else node

    def visit_Call(self, node):
        self.generic_visit(node)
        blas = isinstance(node.func, ast.Name) and node.func.id == "get_blas_funcs"
        return _call("_perturbing_", node) if blas else node


def _call(name: str, argument: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [argument], []), argument)
