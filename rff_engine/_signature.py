"""Calls of public classes with wrong arguments: one sentence that names what was typed and what to write."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from types import FunctionType
from typing import Any, Self

from ._validation import shown

#: What to write for a parameter of a kernel, by its names here and in scikit-learn.
_KERNEL_OF = {
    "gamma": "GaussianKernel.from_gamma({})",
    "sigma": "GaussianKernel(sigma={})",
    "length_scale": "GaussianKernel(sigma={})",
    "nu": "MaternKernel(nu={})",
}


def parameters_of(owner: type) -> list[inspect.Parameter]:
    """The parameters of a constructor."""
    return list(inspect.signature(owner.__init__).parameters.values())[1:]


def unknown_parameter(owner: type, name: str, value: Any, known: Iterable[str]) -> str:
    """Message about a parameter that is not among those that a class has."""
    kernel = _KERNEL_OF.get(name, "").format(shown(value))
    if kernel and "kernel" in known:
        return f"{owner.__name__} has no parameter {name!r}; write kernel={kernel}."
    if kernel.startswith(owner.__name__):
        return f"{owner.__name__} has no parameter {name!r}; write {kernel}."
    return f"{owner.__name__} has no parameter {name!r}; it must be one of {', '.join(map(repr, known))}."


class _OfConstructor:
    """The signature of a class, for help and documentation: that of its constructor, not of `Signed.__new__`."""

    def __get__(self, instance: object, owner: type) -> inspect.Signature:
        if instance is not None:  # kernels can be called
            raise AttributeError("__signature__")
        return inspect.Signature(parameters_of(owner))


class Signed:
    """Base of public classes; Python's own messages about arguments name the class that was typed."""

    __signature__: _OfConstructor = _OfConstructor()

    def __init_subclass__(cls, **options: Any) -> None:
        # Python names a method by where it was defined, which may be a base that is not public.
        for base in cls.__mro__[1:]:
            if not all(kind.__module__.startswith("rff_engine.") for kind in (cls, base)):
                continue
            for name, method in vars(base).items():
                if isinstance(method, FunctionType) and not name.startswith("_") and name not in vars(cls):
                    setattr(cls, name, _named(inspect.unwrap(method), f"{cls.__name__}.{name}"))
        super().__init_subclass__(**options)

    def __new__(cls, *given: Any, **named: Any) -> Self:
        parameters = parameters_of(cls)
        known = [parameter.name for parameter in parameters]
        kinds = {parameter.kind for parameter in parameters}
        for name, value in named.items():
            if name not in known and inspect.Parameter.VAR_KEYWORD not in kinds:
                raise TypeError(unknown_parameter(cls, name, value, known))
        if given and kinds == {inspect.Parameter.KEYWORD_ONLY}:
            names = ", ".join(f"{name}=..." for name in known)
            raise TypeError(f"{cls.__name__} got {shown(given[0])} without a name; write {cls.__name__}({names}).")
        return super().__new__(cls)


def _named(method: FunctionType, name: str) -> FunctionType:
    """A copy of a method under a name."""
    copied = FunctionType(method.__code__, method.__globals__, method.__name__, method.__defaults__, method.__closure__)
    vars(copied).update(vars(method))
    for attribute in ("__kwdefaults__", "__annotations__", "__doc__", "__module__"):
        setattr(copied, attribute, getattr(method, attribute))
    copied.__qualname__ = name
    return copied
