"""The folder is the frame: immutable Parquet parts, each named by what it holds and a digest of its bytes.

    plan.json                        arguments, groups of work, code digest, versions
    parts/<group>.<first>-<end>.<digest>.parquet
    games.parquet …                  derived, in plan order: what pandas and DuckDB read
    done.json                        digests of the derived files, written last
    tables/  figures/

What is there is done; what is missing or damaged is measured again. That is all there is to resuming, verifying
and repairing. Nothing that does not carry these names is read, changed or removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import json
import os
import re
import socket
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from ..errors import GamekitError

SCHEMA = 2
PLAN, DONE, LOCK, PARTS = "plan.json", "done.json", "lock", "parts"
OURS = {PLAN, DONE, LOCK, PARTS, "tables", "figures"} | {
    f"{name}.parquet" for name in ("games", "moves", "searches", "root_moves", "accuracy", "values")
}
_PART = re.compile(r"([0-9a-f]{16})\.(\d+)-(\d+)\.([0-9a-f]{32})\.parquet")
_DRAFT = re.compile(r"\.gamekit-\w+\.part")


class FolderError(GamekitError):
    """A folder of results that cannot be read, written or trusted; the message names the file."""


class Part(NamedTuple):
    """A file of rows: units `first` to `end` of a group."""

    group: str
    first: int
    end: int
    path: Path


def digest(data: bytes) -> str:
    """A digest of bytes."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


@contextlib.contextmanager
def _told(path: Path, doing: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FolderError(f"cannot {doing} {path}: {error.strerror or error}") from None


def write_file(path: Path, data: bytes | str) -> None:
    """Write a file whole or not at all; one that already says this is left alone."""
    data = data.encode() if isinstance(data, str) else data
    with _told(path, "write"):
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


def _sealed(content: Any) -> str:
    return json.dumps({"digest": digest(json.dumps(content).encode()), "content": content}, indent=1) + "\n"


def _unsealed(path: Path) -> Any:
    """The content of a JSON file of ours; refused when a byte of it has changed."""
    try:
        text = path.read_text("utf-8")
        read = json.loads(text)
        if read["digest"] != digest(json.dumps(read["content"]).encode()) or text != _sealed(read["content"]):
            raise ValueError
    except OSError as error:
        raise FolderError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise FolderError(f"{path} is damaged") from None
    return read["content"]


# ------------------------------------------------------------------------------------------- lock


class Lock:
    """One coordinator per folder. The kernel releases the lock when its owner dies, however it dies."""

    held: set[Path] = set()

    def __init__(self, folder: Path):
        self.path = folder.resolve() / LOCK
        if self.path in Lock.held:
            raise FolderError(f"{folder} is in use by another measurement of this process ({os.getpid()})")
        with _told(folder, "write"):
            folder.mkdir(parents=True, exist_ok=True)
            while True:
                self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
                try:
                    fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    owner = self._owner() or "another measurement"
                    os.close(self.file)
                    raise FolderError(f"{folder} is in use by {owner}; wait for it, or stop it and try again") from None
                if self.path.exists() and os.stat(self.path).st_ino == os.fstat(self.file).st_ino:
                    break
                os.close(self.file)
            if owner := self._owner():
                warnings.warn(f"{folder}: taking over from {owner}, which is gone", RuntimeWarning, stacklevel=4)
            me = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%F %T")})
            os.ftruncate(self.file, 0)
            os.pwrite(self.file, me.encode(), 0)
        Lock.held.add(self.path)

    def _owner(self) -> str:
        try:
            who = json.loads(os.pread(self.file, 1000, 0))
            return f"process {int(who['pid'])} on {who['host']} since {who['since']}"
        except (ValueError, KeyError, TypeError):
            return ""

    def release(self) -> None:
        """Let others use the folder."""
        if self.path in Lock.held:
            Lock.held.discard(self.path)
            with contextlib.suppress(OSError):
                os.unlink(self.path)
            os.close(self.file)


# ----------------------------------------------------------------------------------------- folder


class Folder:
    """A measurement's folder."""

    def __init__(self, path: str | Path):
        self.path = Path(path)

    def examine(self) -> None:
        """Refuse a folder that holds other people's files, before anything is touched; drop our own drafts."""
        if self.path.is_symlink() or (self.path.exists() and not self.path.is_dir()):
            raise FolderError(f"{self.path} is not a folder; choose another place for the results")
        others = [p.name for p in self._entries(self.path) if p.name not in OURS and not _DRAFT.fullmatch(p.name)]
        if others and not (self.path / PLAN).is_file():
            raise FolderError(f"{self.path} holds other files ({others[0]}); choose an empty or new folder")
        for place in (self.path, self.path / PARTS, self.path / "tables", self.path / "figures"):
            for draft in self._entries(place):
                if _DRAFT.fullmatch(draft.name) and not draft.is_symlink():
                    with _told(draft, "remove"):
                        draft.unlink(missing_ok=True)

    @staticmethod
    def _entries(place: Path) -> list[Path]:
        with _told(place, "read"):
            return sorted(place.iterdir()) if place.is_dir() and not place.is_symlink() else []

    @property
    def plan(self) -> dict[str, Any] | None:
        """What was asked for, or None where nothing is stored yet."""
        if not (self.path / PLAN).is_file():
            return None
        found = _unsealed(self.path / PLAN)
        if found.get("schema") != SCHEMA:
            raise FolderError(f"{self.path} has schema {found.get('schema')}; this version reads schema {SCHEMA}")
        return found

    def begin(self, plan: dict[str, Any]) -> None:
        """Write down what is asked for; from now on, and until `finish`, the folder is not complete."""
        (self.path / DONE).unlink(missing_ok=True)
        write_file(self.path / PLAN, _sealed({"schema": SCHEMA, **plan}))

    def parts(self) -> list[Part]:
        """The parts by name, unread."""
        found = [(_PART.fullmatch(p.name), p) for p in self._entries(self.path / PARTS) if not p.is_symlink()]
        return [Part(m[1], int(m[2]), int(m[3]), path) for m, path in found if m]

    def add(self, group: str, first: int, end: int, data: bytes) -> None:
        """Store a slice."""
        write_file(self.path / PARTS / f"{group}.{first}-{end}.{digest(data)}.parquet", data)

    def table(self, part: Part) -> Any:
        """A part's rows; refused when a byte has changed."""
        data = self._bytes(part)
        if data is None:
            raise FolderError(f"{part.path} is damaged; 'gamekit verify {self.path} --repair' measures it again")
        return pq.read_table(io.BytesIO(data))

    @staticmethod
    def _bytes(part: Part) -> bytes | None:
        with _told(part.path, "read"):
            data = part.path.read_bytes()
        return data if part.path.name.endswith(f".{digest(data)}.parquet") else None

    def finish(self, files: dict[str, bytes]) -> None:
        """Store derived files, and the mark that says all is there; files marked before stay marked."""
        known = self.done() or {}
        for name, data in files.items():
            write_file(self.path / name, data)
        write_file(self.path / DONE, _sealed({**known, **{name: digest(data) for name, data in files.items()}}))

    def done(self) -> dict[str, str] | None:
        """The digests of the derived files, if the measurement is complete."""
        return _unsealed(self.path / DONE) if (self.path / DONE).is_file() else None

    def intact(self, name: str) -> bool:
        """Whether a derived file is there as it was left."""
        try:
            done = self.done() or {}
            return done.get(name) == digest((self.path / name).read_bytes())
        except (FolderError, OSError):
            return False


# ----------------------------------------------------------------------------------------- verify


@dataclass
class Report:
    """What a folder holds: `done` of `units` games or positions, and every problem found, in words."""

    folder: Path
    done: int = 0
    units: int = 0
    problems: list[str] = field(default_factory=list)
    damaged: list[Path] = field(default_factory=list)
    sealed: bool = False

    @property
    def ok(self) -> bool:
        """No problem was found."""
        return not self.problems

    @property
    def complete(self) -> bool:
        """Everything is measured, stored and undamaged."""
        return self.ok and self.sealed and self.done == self.units > 0

    @property
    def status(self) -> str:
        """`absent`, `complete` or `n of m`."""
        if not self.units and self.ok:
            return "absent"
        return "complete" if self.complete else f"{self.done} of {self.units}"

    def to_dict(self) -> dict[str, Any]:
        """What `gamekit verify --json` prints."""
        damaged = [path.name for path in self.damaged]
        return {"folder": str(self.folder), "status": self.status, "done": self.done, "units": self.units,
                "complete": self.complete, "problems": self.problems, "damaged": damaged}  # fmt: skip

    def __str__(self) -> str:
        return "\n".join([f"{self.folder}: {self.status}", *self.problems])


def verify(path: str | Path) -> Report:
    """Check every byte of a folder: plan, parts, derived files."""
    folder, report = Folder(path), Report(Path(path))
    sizes: dict[str, int] = {}
    try:
        plan = folder.plan
        if plan is None:
            if (folder.path / PARTS).exists() or (folder.path / DONE).exists():
                report.problems.append(f"{folder.path / PLAN} is missing")
            elif not folder.path.is_dir():
                report.problems.append(f"no results found in {folder.path}")
            return report
        sizes = {group["id"]: group["units"] for group in plan["groups"]}
    except FolderError as error:
        report.problems.append(str(error))
    report.units = sum(sizes.values())
    for part in folder.parts():
        if folder._bytes(part) is None:
            report.damaged.append(part.path)
            report.problems.append(f"{part.path} is damaged")
        else:
            report.done += max(0, min(part.end, sizes.get(part.group, part.end)) - part.first)
    for stray in folder._entries(folder.path / PARTS):
        if not _PART.fullmatch(stray.name) and not _DRAFT.fullmatch(stray.name):
            report.problems.append(f"{stray} is not a part of this measurement")
    try:
        for name in folder.done() or {}:
            if not folder.intact(name):
                report.problems.append(f"{folder.path / name} is damaged or missing")
                report.damaged.append(folder.path / name)
        report.sealed = folder.done() is not None
    except FolderError as error:
        report.problems.append(str(error))
        report.damaged.append(folder.path / DONE)
    if report.sealed and report.done < report.units:
        report.problems.append(f"{folder.path / PARTS}: {report.units - report.done} of {report.units} are missing")
    return report


def drop_damaged(path: str | Path) -> Report:
    """Remove what is damaged, so that measuring again makes only that anew."""
    report = verify(path)
    for one in report.damaged:
        with _told(one, "remove"):
            one.unlink(missing_ok=True)
    return report
