"""Python functions → machine code at an address.

A game, a heuristic and the search itself are compiled by Numba and meet each other as plain addresses: the
search is compiled once and calls whatever rules and evaluation it is handed, exceptions included. Handing over an
address costs nothing, where Numba's own function objects cost a quarter of a millisecond per call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from numba import njit, types
from numba.np import linalg

from .cache import Cache
from .source import code_digest


def _spare_scipy() -> None:
    """Numba imports scipy.linalg, a quarter of a second, only to ask whether np.convolve may use its BLAS: let it not.

    A heuristic with `np.dot` still finds it when it is compiled.
    """
    if "numba.np.arraymath" in sys.modules:
        return

    def no_blas() -> None:
        raise ImportError

    kept, linalg.ensure_blas = linalg.ensure_blas, no_blas
    try:
        import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = kept


class Compiled:
    """A function compiled for one signature on first use, then frozen.

    `name` files it in the cache; None keeps it out (users' functions are never cached: a changed
    global must never be answered from an old compilation).
    """

    def __init__(self, function: Callable, signature: Any, name: str | None = None, module: str | None = None):
        """`module` is where the code comes from, if not from the function's own module."""
        self.function, self.signature, self.name = function, signature, name
        self.module = module or function.__module__
        self._address = 0
        self._entry: Any = None

    def prepare(self) -> None:
        """Compile now, so that no clock runs meanwhile."""
        if self._entry is not None:
            return
        _spare_scipy()
        dispatcher: Any = njit(nogil=True)(self.function)
        if self.name:
            dispatcher._cache = Cache(self.name, code_digest(self.module))
        dispatcher.compile(self.signature)
        dispatcher.disable_compile()
        result = dispatcher.overloads[tuple(self.signature.args)]
        self._address = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        self._entry = dispatcher

    @property
    def address(self) -> int:
        """Where the machine code lies."""
        self.prepare()
        return self._address

    def __call__(self, *arguments: Any) -> Any:
        if self._entry is None:
            self.prepare()
        return self._entry(*arguments)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_address": 0, "_entry": None}


def compiled(*arguments: Any, returns: Any = types.int64) -> Callable[[Callable], Compiled]:
    """Compile a module's own function for these argument types, cached under its name."""

    def decorate(function: Callable) -> Compiled:
        return Compiled(function, returns(*arguments), f"{function.__module__}.{function.__qualname__}")

    return decorate
