"""Users' functions never run as old machine code: what they depend on is watched, and compiled anew with them.

Numba freezes the globals a function reads, and keeps a helper's first compilation for ever. In a notebook, where
cells are edited and run again, both answer with yesterday's numbers.
"""

from __future__ import annotations

import hashlib
import pickle
import types as pytypes
from collections.abc import Callable
from typing import Any

import cloudpickle
import numpy as np
from numba import njit


def helper(function: Callable) -> Callable:
    """Mark a function that heuristics or rules of one's own call: it is compiled together with them."""
    function.gamekit_helper = True  # type: ignore[attr-defined]
    return function


def fresh(function: Callable, made: dict[Callable, Callable] | None = None) -> Callable:
    """A copy of a user's function whose helpers are compiled for it alone, every index checked."""
    made = {} if made is None else made

    def anew(value: Any) -> Any:
        plain = getattr(value, "py_func", value)
        if not isinstance(plain, pytypes.FunctionType) or not (plain is not value or hasattr(plain, "gamekit_helper")):
            return value
        if plain not in made:
            made[plain] = value  # a helper that calls itself keeps its own name
            made[plain] = njit(boundscheck=True)(fresh(plain, made))
        return made[plain]

    assert isinstance(function, pytypes.FunctionType)
    read = _names(function.__code__)
    names = {name: anew(value) if name in read else value for name, value in function.__globals__.items()}
    cells = tuple(pytypes.CellType(anew(cell.cell_contents)) for cell in function.__closure__ or ())
    copy = pytypes.FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__, copy.__module__, copy.__doc__ = function.__kwdefaults__, function.__module__, function.__doc__
    return copy


def fingerprint(function: Callable, seen: frozenset[int] = frozenset()) -> bytes:
    """Everything a function's result may hang on: its code, and the globals and cells it reads."""
    plain = getattr(function, "py_func", function)
    if not isinstance(plain, pytypes.FunctionType) or id(plain) in seen:
        return repr(function).encode()
    seen = seen | {id(plain)}
    values: dict[str, Any] = {}
    for name in _names(plain.__code__):
        if name in plain.__globals__:
            values[name] = plain.__globals__[name]
    for name, cell in zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=False):
        values[name] = cell.cell_contents
    parts = [*_codes(plain.__code__), _frozen(plain.__defaults__), _frozen(plain.__kwdefaults__)]
    for name, value in sorted(values.items()):
        parts.append(name.encode())
        if callable(value) and hasattr(getattr(value, "py_func", value), "__code__"):
            parts.append(fingerprint(value, seen))
        elif isinstance(value, pytypes.ModuleType):
            parts += [value.__name__.encode(), *_read_of(value, _names(plain.__code__), seen)]
        elif isinstance(value, type):
            parts.append(value.__name__.encode())
        else:
            parts.append(_frozen(value))
    return b"|".join(parts)


def _codes(code: pytypes.CodeType) -> list[bytes]:
    """A function's code and that of the functions inside it, names included."""
    own = [
        code.co_code,
        repr(code.co_names).encode(),
        repr([const for const in code.co_consts if not isinstance(const, pytypes.CodeType)]).encode(),
    ]
    return own + [part for const in code.co_consts if isinstance(const, pytypes.CodeType) for part in _codes(const)]


def _read_of(module: pytypes.ModuleType, names: set[str], seen: frozenset[int]) -> list[bytes]:
    """What code that mentions these names may read of a module."""
    found = [(name, vars(module)[name]) for name in sorted(names & set(vars(module)))]
    return [
        fingerprint(value, seen)
        if isinstance(value, pytypes.FunctionType)
        else _frozen(value)
        if isinstance(value, (int, float, tuple, np.ndarray))
        else repr(value).encode()
        for _name, value in found
    ]


def _names(code: pytypes.CodeType) -> set[str]:
    inner = [const for const in code.co_consts if isinstance(const, pytypes.CodeType)]
    return set(code.co_names).union(*(_names(const) for const in inner)) if inner else set(code.co_names)


def _frozen(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception:
        return cloudpickle.dumps(value)


# --------------------------------------------------------------------------------------- identity


class Unclear(Exception):
    """A function reads something whose value cannot be written down; the message names it."""


def identity(thing: Callable | type) -> str:
    """A digest of a user's function or class with everything it reads: equal digests, equal behaviour.

    Raises:
        Unclear: where it reads a value that cannot be written down (an open file, an object of a class …).
    """
    return hashlib.sha256(repr(_told(thing, thing, set())).encode()).hexdigest()[:16]


def _told(value: Any, owner: Any, seen: set[int]) -> Any:
    """A value as something whose `repr` is the same in every process."""
    plain = getattr(value, "py_func", value)
    if isinstance(plain, pytypes.FunctionType):
        if id(plain) in seen:
            return plain.__qualname__
        seen.add(id(plain))
        code, read = plain.__code__, _names(plain.__code__)
        outer = {name: plain.__globals__[name] for name in sorted(read) if name in plain.__globals__}
        for name, cell in zip(code.co_freevars, plain.__closure__ or (), strict=False):
            outer[name] = cell.cell_contents
        reads = [(name, _told(one, f"{plain.__qualname__}: {name}", seen)) for name, one in outer.items()]
        return ("function", _codes(code), _told(plain.__defaults__, owner, seen), reads)
    if isinstance(value, pytypes.ModuleType):
        return ("module", value.__name__)
    if isinstance(value, type):
        if value.__module__ in ("builtins", "typing", "numpy") or value.__module__.startswith("gamekit."):
            return ("class", value.__module__, value.__qualname__)
        if id(value) in seen:
            return value.__qualname__
        seen.add(id(value))
        derived = ("__", "_abc_", "_rules", "_stamp")  # the last two are made of a game's rules, anew in every process
        parts = {k: v for k, v in vars(value).items() if k == "__init__" or not k.startswith(derived)}
        bases = [_told(base, owner, seen) for base in value.__bases__]
        return (
            "class",
            bases,
            [(k, _told(_bare(v), f"{value.__qualname__}.{k}", seen)) for k, v in sorted(parts.items())],
        )
    if isinstance(value, np.ndarray):
        return ("array", str(value.dtype), value.shape, value.tobytes())
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [_told(one, owner, seen) for one in value])
    if isinstance(value, (set, frozenset)):
        return ("set", sorted(map(repr, value)))
    if isinstance(value, dict):
        return ("dict", [(repr(k), _told(v, owner, seen)) for k, v in value.items()])
    if isinstance(value, (int, float, complex, str, bytes, bool, type(None), np.generic, np.dtype)):
        return repr(value)
    if callable(value) and getattr(value, "__module__", None):
        return ("callable", value.__module__, getattr(value, "__qualname__", type(value).__qualname__))
    if type(value).__module__.startswith("gamekit."):
        return ("gamekit", str(value))
    raise Unclear(f"{owner} is {type(value).__name__}, which cannot be compared between runs")


def _bare(value: Any) -> Any:
    """What a method or property wraps."""
    value = getattr(value, "fget", value)
    return getattr(value, "__func__", value)
