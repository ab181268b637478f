"""Python functions → machine code at an address, kept in a cache that cannot lie.

A game, a heuristic and the search itself are compiled by Numba and meet each other as plain
addresses: the search is compiled once and calls whatever rules and evaluation it is handed,
exceptions included. Handing over an address costs nothing, where Numba's own function objects
cost a quarter of a millisecond a call.

The cache is ours because Numba's is stamped by one file only: edit a helper next door and it
answers with yesterday's code. Here every entry is filed under a digest of *all* compiled rooms,
carries a checksum, and is rewritten whenever anything about it is doubtful.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.extending import intrinsic as _intrinsic
from numba.extending import overload
from numba.extending import register_jitable as helper
from numba.np import linalg

__all__ = [
    "LEAF",
    "MOVES",
    "PLAY",
    "Compiled",
    "address",
    "ahead",
    "block",
    "cache_folder",
    "call_leaf",
    "call_moves",
    "call_play",
    "calls",
    "compiled",
    "copy_blocks",
    "helper",
    "now",
    "pointer",
    "popcount",
    "trailing_zeros",
    "warnings_given",
]

MOVES = types.int32(types.voidptr, types.voidptr)  # position, room for moves → how many
PLAY = types.int32(types.voidptr, types.int32)  # position (changed in place), move → status
LEAF = types.float64(types.voidptr, types.int32, types.voidptr)  # position, player, weights → value

intrinsic: Any = _intrinsic

BLOCK = 64  # positions are copied in chunks of a cache line


def block(size: int) -> int:
    """`size` rounded up to whole blocks."""
    return -(-size // BLOCK) * BLOCK


# ---------------------------------------------------------------- intrinsics


def calls(sig):
    """Code that calls the compiled function at an address; its exceptions pass through."""

    def codegen(context, builder, _signature, args):
        convention = context.call_conv
        pointer = convention.get_function_type(sig.return_type, sig.args).as_pointer()
        function = builder.inttoptr(args[0], pointer)
        status, result = convention.call_function(builder, function, sig.return_type, sig.args, args[1:])
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return result

    return sig.return_type(types.intp, *sig.args), codegen


@intrinsic
def call_moves(_typing, function, position, out):
    return calls(MOVES)


@intrinsic
def call_play(_typing, function, position, move):
    return calls(PLAY)


@intrinsic
def call_leaf(_typing, function, position, player, weights):
    return calls(LEAF)


@intrinsic
def address(_typing, array, offset):
    """Where byte `offset` of an array lies."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.gep(builder.bitcast(data, cgutils.voidptr_t), [args[1]])

    return types.voidptr(array, types.intp), codegen


@intrinsic
def pointer(_typing, number):
    """A number as the address it is."""

    def codegen(_context, builder, _signature, args):
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(types.intp), codegen


@intrinsic
def ahead(_typing, pointer, offset):
    """A pointer `offset` bytes on."""

    def codegen(_context, builder, _signature, args):
        return builder.gep(builder.bitcast(args[0], cgutils.voidptr_t), [args[1]])

    return types.voidptr(types.voidptr, types.intp), codegen


@intrinsic
def copy_blocks(_typing, to, source, size):
    """Copy `size` bytes, whole blocks, one at a time; written out, for an index costs more than the copy."""

    def codegen(context, builder, _signature, args):
        line = ir.VectorType(ir.IntType(64), BLOCK // 8)
        to, source, size = args
        with cgutils.for_range_slice(builder, size.type(0), size, size.type(BLOCK), size.type) as (offset, _):
            part = builder.load(builder.bitcast(builder.gep(source, [offset]), line.as_pointer()), align=8)
            builder.store(part, builder.bitcast(builder.gep(to, [offset]), line.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(types.voidptr, types.voidptr, types.intp), codegen


_clock_gettime: Any = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.voidptr))
_MONOTONIC = np.int32(time.CLOCK_MONOTONIC)


@helper
def now(room):
    """Nanoseconds as `time.monotonic_ns` counts them; `room` has two words to spare."""
    _clock_gettime(_MONOTONIC, address(room, 0))
    return room[0] * 1_000_000_000 + room[1]


@intrinsic
def _ctpop(_typing, word):
    return types.int64(types.uint64), lambda _c, builder, _s, args: builder.ctpop(args[0])


@intrinsic
def _cttz(_typing, word):
    return types.int64(types.uint64), lambda _c, builder, _s, args: builder.cttz(args[0], cgutils.true_bit)


def popcount(word) -> int:
    """How many bits of a 64-bit word are set.

    >>> popcount(0b1011)
    3
    """
    return int(word).bit_count()


def trailing_zeros(word) -> int:
    """The number of the lowest set bit of a 64-bit word that is not zero.

    >>> trailing_zeros(0b1000)
    3
    """
    return (int(word) & -int(word)).bit_length() - 1


@overload(popcount)
def _popcount(word):
    return lambda word: _ctpop(np.uint64(word))


@overload(trailing_zeros)
def _trailing_zeros(word):
    return lambda word: _cttz(np.uint64(word))


# --------------------------------------------------------------------- cache

_ROOMS = ("compiled.py", "freshness.py", "core.py", "games", "heuristics", "engine", "agents.py")
warnings_given: set[str] = set()


def _warn_once(kind: str, message: str) -> None:
    if kind not in warnings_given:
        warnings_given.add(kind)
        warnings.warn(message, RuntimeWarning, stacklevel=3)


@lru_cache(maxsize=1)
def _source_digest() -> str:
    """A digest of everything that may end up in machine code."""
    here = Path(__file__).parent
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version} {platform.machine()}".encode())
    for room in _ROOMS:
        path = here / room
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where machine code is kept: $GAMEKIT_CACHE, or the user's cache folder."""
    chosen = os.environ.get("GAMEKIT_CACHE")
    home = os.environ.get("XDG_CACHE_HOME")
    base = Path(chosen) if chosen else (Path(home) if home else Path.home() / ".cache") / "gamekit"
    return base / _source_digest()


class _Cache(NullCache):
    """One checked file a function; anything unreadable is compiled again, never trusted."""

    def __init__(self, name: str):
        self.name = name

    def _file(self, sig: Any, codegen: Any) -> Path:
        key = hashlib.sha256(repr((self.name, sig, codegen.magic_tuple())).encode()).hexdigest()
        return cache_folder() / f"{self.name}-{key[:12]}.code"

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        target_context.refresh()
        try:
            raw = self._file(sig, target_context.codegen()).read_bytes()
        except OSError:
            return None
        if hashlib.sha256(raw[32:]).digest() != raw[:32]:
            _warn_once("damaged", "a file in gamekit's compile cache was damaged; it is compiled anew")
            return None
        return CompileResult._rebuild(target_context, *pickle.loads(raw[32:]))

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        payload = pickle.dumps(data._reduce(), protocol=-1)
        file = self._file(sig, data.codegen)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as out:
                out.write(hashlib.sha256(payload).digest() + payload)
            os.replace(out.name, file)
        except OSError as error:
            _warn_once("unwritable", f"gamekit's compile cache cannot be written ({error.strerror}: "
                                     f"{cache_folder().parent}); compiling afresh in every process")


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

    def __init__(self, function: Callable, signature: Any, name: str | None = None, boundscheck: bool = False):
        self.function, self.signature, self.name = function, signature, name
        self._options: dict[str, Any] = {"nogil": True, "boundscheck": boundscheck}
        self._address: int | None = None
        self._entry: Any = None

    def _compile(self) -> None:
        _spare_scipy()
        dispatcher = njit(**self._options)(self.function)
        if self.name:
            dispatcher._cache = _Cache(self.name)
        arguments = self.signature.args if hasattr(self.signature, "args") else self.signature
        dispatcher.compile(self.signature)
        dispatcher.disable_compile()
        result = dispatcher.overloads[tuple(arguments)]
        self._address = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        self._entry = dispatcher

    @property
    def address(self) -> int:
        if self._address is None:
            self._compile()
        assert self._address is not None
        return self._address

    def prepare(self) -> None:
        """Compile now, so that no clock runs meanwhile."""
        if self._entry is None:
            self._compile()

    def __call__(self, *arguments: Any) -> Any:
        if self._entry is None:
            self._compile()
        return self._entry(*arguments)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_address": None, "_entry": None}


def compiled(*arguments: Any, returns: Any = types.int64) -> Callable[[Callable], Compiled]:
    """Compile a module's own function for these argument types, cached under its name."""

    def decorate(function: Callable) -> Compiled:
        return Compiled(function, returns(*arguments), f"{function.__module__}.{function.__qualname__}")

    return decorate
