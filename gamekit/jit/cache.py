"""Machine code kept on disk: filed under a digest of all source it was made from, checksummed, never trusted blindly.

Numba's own cache is stamped by one file only: edit a helper next door and it answers with yesterday's code.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import stat
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
    return Path(chosen) if chosen else (Path(home) if home else Path.home() / ".cache") / "gamekit"


def _usable(folder: Path) -> bool:
    """Whether only this user can write to the folder: what lies in it is run. A missing folder is usable."""
    try:
        found = folder.stat()
    except OSError:
        return True
    if found.st_uid in (os.geteuid(), 0) and not found.st_mode & stat.S_IWOTH:
        return True
    _warn_once("open", f"gamekit's compile cache is not used: others can write to {folder}; compiling in every process")
    return False


class Cache(NullCache):
    """One checked file per function; anything unreadable is compiled again, never trusted."""

    def __init__(self, name: str, code: str):
        """`code` is a digest of all source that may end up in the machine code."""
        self.name, self.code = name, code

    def _file(self, sig: Any, codegen: Any) -> Path:
        key = hashlib.sha256(repr((self.name, self.code, _VERSIONS, sig, codegen.magic_tuple())).encode()).hexdigest()
        return cache_folder() / f"{self.name}-{key[:12]}.code"

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        target_context.refresh()
        if not _usable(cache_folder()):
            return None
        try:
            raw = self._file(sig, target_context.codegen()).read_bytes()
        except OSError:
            return None
        try:
            if hashlib.sha256(raw[32:]).digest() == raw[:32]:
                return CompileResult._rebuild(target_context, *pickle.loads(raw[32:]))
        except Exception:  # bytes that were never ours may raise anything
            pass
        _warn_once("damaged", f"a file in gamekit's compile cache ({cache_folder()}) is damaged; it is compiled again")
        return None

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        payload = pickle.dumps(data._reduce(), protocol=-1)
        file = self._file(sig, data.codegen)
        if not _usable(file.parent):
            return
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as out:
                out.write(hashlib.sha256(payload).digest() + payload)
            os.replace(out.name, file)
        except OSError as error:
            why = f"cannot be written ({error.strerror}); compiling in every process"
            _warn_once("unwritable", f"gamekit's compile cache {cache_folder()} {why}")
