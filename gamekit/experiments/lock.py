"""One measurement a folder: a lock that is released with its owner, however that ends."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import time
import warnings
from pathlib import Path

from .folder import LOCK, FolderError, told


class Lock:
    """One coordinator per folder. The kernel releases the lock when its owner dies, however it dies."""

    held: set[Path] = set()

    def __init__(self, folder: Path):
        self.path = folder.resolve() / LOCK
        if self.path in Lock.held:
            raise FolderError(f"{folder} is in use by another measurement of this process ({os.getpid()})")
        with told(self.path, "write"):
            folder.mkdir(parents=True, exist_ok=True)
            self._take(folder)
            if owner := self._owner():
                warnings.warn(f"{folder}: taking over from {owner}, which is gone", RuntimeWarning, stacklevel=5)
            me = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%F %T")})
            os.ftruncate(self.file, 0)
            os.pwrite(self.file, me.encode(), 0)
        Lock.held.add(self.path)

    def _take(self, folder: Path) -> None:
        while True:
            self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
            try:
                fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self.path.exists() and os.stat(self.path).st_ino == os.fstat(self.file).st_ino:
                    return  # and not a file that its owner has just removed
            except BlockingIOError:
                owner = self._owner() or "another measurement"
                os.close(self.file)
                raise FolderError(f"{folder} is in use by {owner}; wait for it, or stop it and try again") from None
            os.close(self.file)

    def _owner(self) -> str:
        try:
            text = os.pread(self.file, 1000, 0)
            who = json.loads(text or "null") or {}
            return f"process {int(who['pid'])} on {who['host']} since {who['since']}" if who else ""
        except (ValueError, KeyError, TypeError):
            os.close(self.file)
            raise FolderError(f"{self.path} is not a lock of gamekit; choose another folder") from None

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Let others use the folder."""
        if self.path in Lock.held:
            Lock.held.discard(self.path)
            with contextlib.suppress(OSError):
                os.unlink(self.path)
            os.close(self.file)
