"""The only room that writes results: records in SQLite, a transaction a job, a digest a row; files never half written.

A folder holds `records.sqlite`, `sweep.json` (what was asked for), `tables/`, `figures/`, and `seal.json` once a
run has ended in order: a digest of every other byte. While a sweep runs there is no seal and there is a `lock`.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import socket
import sqlite3
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .core import GamekitError
from .referee import Record

SCHEMA = 1
RECORDS, PLAN, SEAL, LOCK = "records.sqlite", "sweep.json", "seal.json", "lock"
COLUMNS = Record._fields
TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT, digest INTEGER) WITHOUT ROWID;
CREATE TABLE jobs (job INTEGER PRIMARY KEY, id TEXT, pair INTEGER, start INTEGER, games INTEGER, digest INTEGER);
CREATE TABLE games (job INTEGER, {', '.join(COLUMNS)}, digest INTEGER, PRIMARY KEY (job, number)) WITHOUT ROWID;
"""


class StoreError(GamekitError):
    """Results that cannot be read, written or trusted; the message names the file and the place."""


class DamagedError(StoreError):
    """Records that are not what was written."""


class Job(NamedTuple):
    """A block of games of one pair of players, the unit of work and of storing; `id` digests all that defines it."""

    job: int
    id: str
    pair: int
    start: int
    games: int


def digest(*parts: Any) -> int:
    """Sixty-three bits over the written form of plain values."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=8).digest(), "little") >> 1


def sealed_rows(job: Job, records: Iterable[Record]) -> list[tuple[Any, ...]]:
    """A job's rows as they are stored; made where the games are played, so that nothing on the way goes unseen."""
    return [(*record, digest(job.id, *record)) for record in records]


@contextlib.contextmanager
def _told(path: Path | str, doing: str = "write") -> Iterator[None]:
    """Errors of disk and database as one sentence with the path."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        kind = DamagedError if doing == "read" else StoreError
        raise kind(f"cannot {doing} {path}: {reason}") from None


def write_file(path: Path, data: bytes | str) -> None:
    """Write a file whole or not at all; one that already says this is left alone."""
    data = data.encode() if isinstance(data, str) else data
    with _told(path):
        if path.is_file() and path.read_bytes() == data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
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


def clear_drafts(folder: Path) -> None:
    """Take away what a killed sweep was writing; only for who holds the lock."""
    with _told(folder):
        for draft in folder.rglob(".*.part*"):
            draft.unlink(missing_ok=True)


# --------------------------------------------------------------------------------- lock


class Lock:
    """One sweep a folder. The kernel lets go of it when its owner dies, however it dies."""

    held: set[Path] = set()

    def __init__(self, folder: Path):
        self.path = folder.resolve() / LOCK
        if self.path in Lock.held:
            raise StoreError(f"{folder} is in use by another sweep of this process ({os.getpid()})")
        with _told(folder):
            folder.mkdir(parents=True, exist_ok=True)
            while True:
                self.file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
                try:
                    fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    owner = self._owner()
                    os.close(self.file)
                    raise StoreError(f"{folder} is in use by {owner or 'another sweep'}; wait for it, or stop it "
                                     "and run this again") from None
                if self._still_there():
                    break
                os.close(self.file)
            owner = self._owner()
            if owner:
                warnings.warn(f"{folder}: taking over from {owner}, which is gone", RuntimeWarning, stacklevel=4)
            me = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%F %T")})
            os.ftruncate(self.file, 0)
            os.pwrite(self.file, me.encode(), 0)
        Lock.held.add(self.path)

    def _still_there(self) -> bool:
        try:
            return os.stat(self.path).st_ino == os.fstat(self.file).st_ino
        except FileNotFoundError:
            return False

    def _owner(self) -> str:
        try:
            who = json.loads(os.pread(self.file, 1000, 0))
            return f"process {int(who['pid'])} on {who['host']} since {who['since']}"
        except (ValueError, KeyError, TypeError):
            return ""

    def release(self) -> None:
        if self.path in Lock.held:
            Lock.held.discard(self.path)
            with contextlib.suppress(OSError):
                os.unlink(self.path)
            os.close(self.file)


# ------------------------------------------------------------------------------ records


class Store:
    """The records of one sweep, open for reading and adding; without a folder they live in memory."""

    def __init__(self, path: Path | None):
        self.path = path
        with _told(path or "memory", "open"):
            self.db = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)

    @classmethod
    def create(cls, folder: Path | None, plan: dict[str, Any], provenance: dict[str, Any]) -> Store:
        """An empty store that already knows what it is for; under its final name only when it is whole."""
        if folder is None:
            store = cls(None)
            store._fill(plan, provenance)
            return store
        path = folder / RECORDS
        draft = folder / f".{RECORDS}.part"
        with _told(path):
            draft.unlink(missing_ok=True)
            store = cls(draft)
            try:
                store._fill(plan, provenance)
            finally:
                store.close()
            write_file(folder / PLAN, json.dumps({"schema": SCHEMA, "plan": plan}, indent=1, ensure_ascii=False) + "\n")
            os.replace(draft, path)
        return cls(path)

    def _fill(self, plan: dict[str, Any], provenance: dict[str, Any]) -> None:
        with _told(self.path or "memory"):
            self.db.executescript(TABLES)
            for key, value in {"schema": SCHEMA, "plan": plan, "provenance": provenance}.items():
                text = json.dumps(value, ensure_ascii=False, sort_keys=True)
                self.db.execute("INSERT INTO meta VALUES (?, ?, ?)", (key, text, digest(key, text)))

    def meta(self, key: str) -> Any:
        """One of `schema`, `plan`, `provenance`; refused when damaged or written by another version."""
        with _told(self.path or "memory", "read"):
            found = self.db.execute("SELECT value, digest FROM meta WHERE key = ?", (key,)).fetchone()
        if found is None or digest(key, found[0]) != found[1]:
            raise DamagedError(f"{self.path}: the entry {key!r} is damaged")
        return json.loads(found[0])

    @property
    def plan(self) -> dict[str, Any]:
        schema = self.meta("schema")
        if schema != SCHEMA:
            raise StoreError(f"{self.path} has records of schema {schema}; this version reads schema {SCHEMA}")
        return self.meta("plan")

    def done(self) -> set[int]:
        """The jobs that are stored."""
        with _told(self.path or "memory", "read"):
            return {job for (job,) in self.db.execute("SELECT job FROM jobs")}

    def add(self, job: Job, rows: Sequence[tuple[Any, ...]]) -> None:
        """Store a job's games, all or none."""
        if len(rows) != job.games or any(digest(job.id, *row[:-1]) != row[-1] for row in rows):
            raise StoreError(f"job {job.job} came back damaged: {len(rows)} games of {job.games}")
        marks = ", ".join("?" * (len(COLUMNS) + 2))
        with _told(self.path or "memory"):
            try:
                self.db.execute("BEGIN IMMEDIATE")
                self.db.executemany(f"INSERT INTO games VALUES ({marks})", [(job.job, *row) for row in rows])
                self.db.execute("INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?)", (*job, _job_digest(job, rows)))
                self.db.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self.db.execute("ROLLBACK")
                raise

    def rows(self, job: int) -> tuple[Job, list[tuple[Any, ...]]]:
        """A stored job with its rows, each checked; raises StoreError that names the game that is damaged."""
        with _told(f"{self.path}, job {job}", "read"):
            head = self.db.execute("SELECT * FROM jobs WHERE job = ?", (job,)).fetchone()
            rows = self.db.execute("SELECT * FROM games WHERE job = ? ORDER BY number", (job,)).fetchall()
        if head is None:
            raise DamagedError(f"{self.path}, job {job}: its entry is missing")
        found, rows = Job(*head[:-1]), [row[1:] for row in rows]
        for row in rows:
            if digest(found.id, *row[:-1]) != row[-1]:
                raise DamagedError(f"{self.path}, job {job}, game {row[0]!r}: the row is damaged")
        if len(rows) != found.games or _job_digest(found, rows) != head[-1]:
            raise DamagedError(f"{self.path}, job {job}: the entry is damaged, or rows are missing")
        return found, rows

    def stream(self, columns: Sequence[str], size: int = 50_000) -> Iterator[list[tuple[Any, ...]]]:
        """Games in the order of the grid, some thousands at a time: `pair`, then the columns asked for."""
        chosen = ", ".join(f"g.{name}" for name in columns)
        with _told(self.path or "memory", "read"):
            found = self.db.execute(f"SELECT j.pair, {chosen} FROM games g JOIN jobs j ON j.job = g.job "
                                    "ORDER BY g.job, g.number")
            while chunk := found.fetchmany(size):
                yield chunk

    def close(self) -> None:
        self.db.close()


def _job_digest(job: Job, rows: Sequence[tuple[Any, ...]]) -> int:
    return digest(*job, *(row[-1] for row in rows))
