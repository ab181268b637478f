"""Files never half written, JSON that knows its digest, and a lock that is released with its owner."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import socket
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import GamekitError

LOCK = "lock"


class FolderError(GamekitError):
    """A folder of results that cannot be read, written or trusted; the message names the file."""


def digest(data: bytes) -> str:
    """A digest of bytes."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


@contextlib.contextmanager
def told(path: Path, doing: str) -> Iterator[None]:
    """An error of the file system names the path."""
    try:
        yield
    except OSError as error:
        raise FolderError(f"cannot {doing} {path}: {error.strerror or error}") from None


def write_file(path: Path, data: bytes | str) -> None:
    """Write a file whole or not at all; one that already says this is left alone."""
    data = data.encode() if isinstance(data, str) else data
    with told(path, "write"):
        if path.is_file() and not path.is_symlink() and path.read_bytes() == data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".gamekit-", suffix=".part", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise


def sealed(content: Any) -> str:
    """JSON that knows its own digest."""
    return json.dumps({"digest": digest(json.dumps(content).encode()), "content": content}, indent=1) + "\n"


def unsealed(path: Path) -> Any:
    """The content of a JSON file of ours; refused when a byte of it has changed."""
    try:
        text = path.read_text("utf-8")
        read = json.loads(text)
        if text != sealed(read["content"]):
            raise ValueError
    except OSError as error:
        raise FolderError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise FolderError(f"{path} is damaged; 'gamekit verify {path.parent} --repair' removes it") from None
    return read["content"]


class Lock:
    """One measurement a folder. The kernel releases the lock when its owner dies, however it dies."""

    held: set[Path] = set()

    def __init__(self, folder: Path):
        self.path = folder.resolve() / LOCK
        if self.path in Lock.held:
            raise FolderError(f"{folder} is in use by another measurement of this process ({os.getpid()})")
        with told(self.path, "write"):
            folder.mkdir(parents=True, exist_ok=True)
            while not self._taken(folder):
                pass
        Lock.held.add(self.path)

    def _taken(self, folder: Path) -> bool:
        """Take the lock, unless this is a file that its owner has just removed."""
        with contextlib.ExitStack() as opened:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
            opened.callback(os.close, file)
            try:
                owner = json.loads(os.pread(file, 1000, 0) or '""')
                owner = owner and f"process {int(owner['pid'])} on {owner['host']} since {owner['since']}"
            except (ValueError, KeyError, TypeError):
                raise FolderError(f"{self.path} is not a lock of gamekit; choose another folder") from None
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = owner or "another measurement"
                raise FolderError(f"{folder} is in use by {owner}; wait for it, or stop it and try again") from None
            if not self.path.exists() or os.stat(self.path).st_ino != os.fstat(file).st_ino:
                return False
            if owner:
                warnings.warn(f"{folder}: taking over from {owner}, which is gone", RuntimeWarning, stacklevel=6)
            me = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%F %T")}
            os.ftruncate(file, 0)
            os.pwrite(file, json.dumps(me).encode(), 0)
            opened.pop_all()
            self.file = file
        return True

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        if self.path in Lock.held:
            Lock.held.discard(self.path)
            with contextlib.suppress(OSError):
                os.unlink(self.path)
            os.close(self.file)
