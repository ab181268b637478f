"""Machine code kept on disk: filed under a digest of all source it was made from, checksummed, never trusted blindly.

Numba's own cache is stamped by one file only: edit a helper next door and it answers with yesterday's code.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult

_VERSIONS = f"{numba.__version__} {np.__version__} {sys.version} {platform.machine()}"
warnings_given: set[str] = set()


def _warn_once(kind: str, message: str) -> None:
    if kind not in warnings_given:
        warnings_given.add(kind)
        warnings.warn(message, RuntimeWarning, stacklevel=3)


def cache_folder() -> Path:
    """Where machine code is kept: $GAMEKIT_CACHE, or the user's cache folder."""
    chosen = os.environ.get("GAMEKIT_CACHE")
    home = os.environ.get("XDG_CACHE_HOME")
    base = Path(chosen) if chosen else (Path(home) if home else Path.home() / ".cache") / "gamekit"
    return base


class Cache(NullCache):
    """One checked file a function; anything unreadable is compiled again, never trusted."""

    def __init__(self, name: str, code: str):
        """`code` is a digest of all source that may end up in the machine code."""
        self.name, self.code = name, code

    def _file(self, sig: Any, codegen: Any) -> Path:
        key = hashlib.sha256(repr((self.name, self.code, _VERSIONS, sig, codegen.magic_tuple())).encode()).hexdigest()
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
