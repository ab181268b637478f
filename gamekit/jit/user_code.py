"""Users' functions never run as old machine code: what they depend on is watched, and compiled anew with them.

Numba freezes the globals a function reads, and keeps a helper's first compilation for ever. In a notebook, where
cells are edited and run again, both answer with yesterday's numbers.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from functools import partial
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import cloudpickle
import numpy as np
from numba import njit, types

_LIBRARIES = {*sys.stdlib_module_names, "numpy", "numba", "scipy", "gamekit"}  # known by name and version


def helper(function: Callable) -> Callable:
    """Mark a function that custom heuristics or rules call: it is compiled together with them."""
    function.gamekit_helper = True  # type: ignore[attr-defined]
    return function


def fresh(function: Callable, made: dict[Callable, Callable] | None = None) -> Callable:
    """A copy of a user's function whose helpers are compiled for it alone, every index checked."""
    made = {} if made is None else made

    def anew(value: Any) -> Any:
        plain = getattr(value, "py_func", value)
        if not isinstance(plain, FunctionType) or not (plain is not value or hasattr(plain, "gamekit_helper")):
            return value
        if plain not in made:
            made[plain] = value  # a helper that calls itself keeps its own name
            made[plain] = njit(boundscheck=True)(fresh(plain, made))
        return made[plain]

    assert isinstance(function, FunctionType)
    read = _names(function.__code__)
    names = {name: anew(value) if name in read else value for name, value in function.__globals__.items()}
    cells = tuple(CellType(anew(cell.cell_contents)) for cell in function.__closure__ or ())
    copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__, copy.__module__, copy.__doc__ = function.__kwdefaults__, function.__module__, function.__doc__
    return copy


def _inner(code: CodeType) -> list[CodeType]:
    return [const for const in code.co_consts if isinstance(const, CodeType)]


def _names(code: CodeType) -> set[str]:
    """Every global and attribute that a function, or one inside it, mentions."""
    return set(code.co_names).union(*map(_names, _inner(code)))


# ------------------------------------------------------------------------- what a function depends on


class Unclear(Exception):
    """A function reads something whose value cannot be written down; the message names it."""


def fingerprint(function: Callable) -> bytes:
    """Everything that a function's result may depend on, to be compared within one process."""
    return repr(_Description(strict=False).of(function, "")).encode()


def identity(thing: Callable | type) -> str:
    """A digest of a user's function or class with everything it reads: equal digests, equal behaviour.

    Raises:
        Unclear: where it reads a value that cannot be written down (an open file, an object of a class …).
    """
    return hashlib.sha256(repr(_Description(strict=True).of(thing, thing)).encode()).hexdigest()[:16]


class _Description:
    """Values as nested tuples whose `repr` is the same in every process; functions with all they read."""

    def __init__(self, strict: bool):
        """With `strict`, refuse what cannot be written down; else describe it as well as this process can."""
        self.strict = strict
        self.met: set[int] = set()  # functions and classes described already, or being described

    def of(self, value: Any, name: Any) -> Any:
        """The description of a value; `name` says in an error what it is."""
        value = getattr(value, "py_func", value)
        if isinstance(value, (FunctionType, type)):
            if self.met and _in_library(value.__module__):  # never what was asked for itself, whatever its file's name
                return ("from", value.__module__, value.__qualname__)
            if id(value) in self.met:
                return ("again", value.__qualname__)
            self.met.add(id(value))
            return self._function(value) if isinstance(value, FunctionType) else self._class(value)
        if isinstance(value, (int, float, complex, str, bytes, type(None), type(...), np.generic, np.dtype)):
            return repr(value)
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            return ("array", str(value.dtype), value.shape, hashlib.sha256(value.tobytes()).hexdigest())
        if isinstance(value, (list, tuple)):
            return (type(value).__name__, [self.of(one, name) for one in value])
        if isinstance(value, (set, frozenset)):
            return ("set", sorted(repr(self.of(one, name)) for one in value))
        if isinstance(value, dict):
            return ("dict", [(self.of(key, name), self.of(one, name)) for key, one in value.items()])
        if isinstance(value, ModuleType):
            return ("module", value.__name__)
        if isinstance(value, partial):
            return ("partial", self.of((value.func, value.args, value.keywords), name))
        return self._other(value, name)

    def _function(self, function: FunctionType) -> Any:
        code, title = function.__code__, function.__qualname__
        names = _names(code)
        read = {name: function.__globals__[name] for name in sorted(names & function.__globals__.keys())}
        read |= zip(code.co_freevars, (cell.cell_contents for cell in function.__closure__ or ()), strict=True)
        for module_name, module in list(read.items()):
            if isinstance(module, ModuleType) and not _in_library(module.__name__):
                read |= {f"{module_name}.{name}": vars(module)[name] for name in sorted(names & vars(module).keys())}
        reads = [(name, self.of(value, f"{title}: {name}")) for name, value in read.items()]
        defaults = self.of((function.__defaults__, function.__kwdefaults__), f"{title}: a default")
        return ("function", self._code(code), defaults, reads)

    def _code(self, code: CodeType) -> Any:
        constants = [self.of(const, code.co_name) for const in code.co_consts if not isinstance(const, CodeType)]
        return (code.co_code, code.co_names, constants, [self._code(inner) for inner in _inner(code)])

    def _class(self, kind: type) -> Any:
        members = {
            name: value
            for name, value in sorted(vars(kind).items())
            if name == "__init__" or not name.startswith(("__", "_abc_", "_rules", "_stamp"))  # the last two: made anew
        }
        bases = [self.of(base, kind) for base in kind.__bases__]
        title = kind.__qualname__
        return ("class", bases, [(name, self.of(_wrapped(v), f"{title}.{name}")) for name, v in members.items()])

    def _other(self, value: Any, name: Any) -> Any:
        kind = type(value)
        if hasattr(value, "__name__") and _in_library(getattr(value, "__module__", None)):  # a function written in C
            return ("from", value.__module__, value.__name__)
        if isinstance(value, MethodType):
            return ("method", self.of(value.__func__, name), self.of(value.__self__, name))
        if isinstance(value, types.Type):
            return ("type", str(value))
        if kind.__module__.startswith("gamekit."):
            return ("gamekit", str(value), self.of(getattr(value, "function", None), name))
        if self.strict:
            raise Unclear(f"{name} is {kind.__name__}, which cannot be compared between runs")
        try:
            return cloudpickle.dumps(value)
        except Exception:
            return repr(value)


def _in_library(module: str | None) -> bool:
    return (module or "").split(".")[0] in _LIBRARIES


def _wrapped(value: Any) -> Any:
    """The function that a method or property wraps."""
    value = getattr(value, "fget", value)
    return getattr(value, "__func__", value)
