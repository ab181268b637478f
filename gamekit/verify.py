"""Is a results folder what it says it is? Finds every damaged byte, and keeps all that is not damaged."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .store import PLAN, RECORDS, SCHEMA, SEAL, TABLES, DamagedError, Job, Store, StoreError, digest, write_file

BLOCK = 1 << 16  # bytes a digest in the seal; damage outside any row is located to this


@dataclass
class Report:
    """What a folder holds: `done` of `jobs` jobs, and every problem found, in words."""

    folder: Path
    done: int = 0
    jobs: int = 0
    sealed: bool = False
    problems: list[str] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)  # jobs that must be played again
    dropped: int = 0  # by repair

    @property
    def ok(self) -> bool:
        return not self.problems

    @property
    def complete(self) -> bool:
        return self.ok and self.sealed and self.done == self.jobs > 0

    @property
    def status(self) -> str:
        """`absent`, `complete` or `n of m`."""
        if not self.jobs and self.ok:
            return "absent"
        return "complete" if self.complete else f"{self.done - len(self.damaged)} of {self.jobs}"

    def to_dict(self) -> dict[str, Any]:
        return {"folder": str(self.folder), "status": self.status, "jobs": self.jobs, "done": self.done,
                "complete": self.complete, "problems": self.problems, "damaged": self.damaged, "dropped": self.dropped}

    def __str__(self) -> str:
        return "\n".join([f"{self.folder}: {self.status}", *self.problems])


# --------------------------------------------------------------------------------- seal


def _digests(path: Path) -> list[str]:
    with open(path, "rb") as file:
        return [hashlib.blake2b(block, digest_size=8).hexdigest() for block in iter(lambda: file.read(BLOCK), b"")]


def _files(folder: Path) -> list[Path]:
    return [path for name in ("tables", "figures") for path in sorted((folder / name).glob("[!.]*")) if path.is_file()]


def seal(folder: Path, complete: bool) -> None:
    """Write down what every byte is, when a run has ended in order."""
    names = [RECORDS, PLAN, *(str(path.relative_to(folder)) for path in (_files(folder) if complete else []))]
    content = {"complete": complete, "files": {name: [os.path.getsize(folder / name), *_digests(folder / name)]
                                               for name in names}}
    text = json.dumps(content, indent=0)
    write_file(folder / SEAL, json.dumps({"digest": digest(text), "content": content}, indent=0) + "\n")


def break_seal(folder: Path) -> None:
    """Before anything is changed: from now on, and until it is sealed again, the folder is not complete."""
    (folder / SEAL).unlink(missing_ok=True)


def _check_seal(folder: Path, report: Report) -> bool:
    """Whether there is a seal and every byte is as it says."""
    path = folder / SEAL
    try:
        read = json.loads(path.read_text("utf-8"))
        content = read["content"]
        files = {name: (int(size), list(blocks)) for name, (size, *blocks) in content["files"].items()}
        if digest(json.dumps(content, indent=0)) != read["digest"] or RECORDS not in files:
            raise ValueError
    except FileNotFoundError:
        return False
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        report.problems.append(f"{path}: the seal itself is damaged")
        return False
    before = len(report.problems)
    for name, (size, blocks) in files.items():
        try:
            there, now = (folder / name).stat().st_size, _digests(folder / name)
        except OSError as error:
            report.problems.append(f"{folder / name}: {error.strerror}")
            continue
        if there != size:
            report.problems.append(f"{folder / name}: {there} bytes where {size} were written")
        report.problems += [f"{folder / name}: damage between byte {i * BLOCK} and {min((i + 1) * BLOCK, there)}"
                            for i, (was, found) in enumerate(zip(blocks, now, strict=False)) if was != found]
    report.sealed = bool(content["complete"])
    return len(report.problems) == before


# ------------------------------------------------------------------------------- verify


def verify(folder: str | Path, quick: bool = False) -> Report:
    """Check a folder: its seal, the database, and every row. `quick` trusts an unbroken seal."""
    folder = Path(folder)
    report = Report(folder)
    if not (folder / RECORDS).is_file():
        if not quick or (folder / SEAL).exists() or any(_files(folder)):
            report.problems.append(f"{folder / RECORDS} is missing")
        return report
    sound = _check_seal(folder, report)
    store = None
    try:
        store = Store(folder / RECORDS)
        plan = store.plan
        report.jobs, done = plan["jobs"], sorted(store.done())
        if _plan(folder) != plan:
            report.problems.append(f"{folder / PLAN} does not say what {RECORDS} says")
        report.done = len(done)
        if quick and sound:
            return report
        report.problems += _unsound(store, folder)
        for job in done:
            try:
                store.rows(job)
            except StoreError as error:
                report.damaged.append(job)
                report.problems.append(str(error))
        if done and not 0 <= done[0] <= done[-1] < report.jobs:
            report.problems.append(f"{folder / RECORDS}: there are jobs that the sweep does not have")
    except StoreError as error:
        report.problems.append(str(error))
    except (sqlite3.Error, ValueError, TypeError, KeyError) as error:
        report.problems.append(f"{folder / RECORDS} cannot be read: {error}")
    finally:
        if store:
            store.close()
    return report


def _unsound(store: Store, folder: Path) -> list[str]:
    problems = []
    found = [text for (text,) in store.db.execute("PRAGMA integrity_check(20)")]
    if found != ["ok"]:
        problems += [f"{folder / RECORDS}: {' '.join(text.split())}" for text in found]
    rows, games = (store.db.execute(query).fetchone()[0] for query in (
        "SELECT count(*) FROM games", "SELECT total(games) FROM jobs"))
    if rows != games:
        problems.append(f"{folder / RECORDS}: {rows} games where the jobs have {games:g}")
    return problems


# ------------------------------------------------------------------------------- repair


def keep_whole(folder: str | Path) -> Report:
    """Keep every job that is whole, drop the others; running the sweep again plays only those.

    A folder without a problem is left as it is. Tables and figures are dropped with the seal: they are made anew.
    """
    folder = Path(folder)
    before = verify(folder)
    if before.ok:
        return before
    if not (folder / RECORDS).is_file() and _plan(folder) is None:
        raise StoreError(f"{folder} holds no records")
    plan, provenance, kept = _salvage(folder)
    if plan is None:
        raise StoreError(f"{folder} cannot be repaired: neither {RECORDS} nor {PLAN} says what was played; "
                         "remove the folder and run the sweep again")
    break_seal(folder)
    for leftover in [*_files(folder), *folder.glob(f"{RECORDS}-*")]:
        leftover.unlink()
    store = Store.create(folder, plan, provenance)
    for job, rows in kept:
        store.add(job, rows)
    store.close()
    after = verify(folder)
    after.dropped = (before.done if before.jobs else plan["jobs"]) - len(kept)
    return after


def _salvage(folder: Path) -> tuple[dict[str, Any] | None, dict[str, Any], list[tuple[Job, list[Any]]]]:
    """Plan, provenance and whole jobs, as far as they can be read; if need be with a new first page."""
    plan, provenance = _plan(folder), {}
    kept: list[tuple[Job, list[Any]]] = []
    draft = folder / f".{RECORDS}.salvage.part"
    sources = (lambda: folder / RECORDS), (lambda: _with_new_first_page(folder / RECORDS, draft))
    for source in sources if (folder / RECORDS).is_file() else ():
        store = Store(source())
        try:
            with contextlib.suppress(DamagedError, sqlite3.Error):
                plan = store.plan
                provenance = store.meta("provenance")
            kept = _whole_jobs(store, plan["jobs"]) if plan else []
        finally:
            store.close()
        if kept:
            break
    draft.unlink(missing_ok=True)
    return plan, provenance, kept


def _plan(folder: Path) -> dict[str, Any] | None:
    """What the sweep was asked for, from the file beside the records."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        read = json.loads((folder / PLAN).read_text("utf-8"))
        if read["schema"] == SCHEMA and isinstance(read["plan"]["jobs"], int):
            return read["plan"]
    return None


def _whole_jobs(store: Store, count: int) -> list[tuple[Job, list[Any]]]:
    found = []
    for job in range(count):
        with contextlib.suppress(DamagedError, sqlite3.Error, ValueError, TypeError):
            found.append(store.rows(job))
    return found


def _with_new_first_page(path: Path, draft: Path) -> Path:
    """A copy whose first page, with SQLite's header and the tables' places, is made anew.

    That page is the same in every store but for the number of pages, and without it nothing else can be read.
    """
    draft.unlink(missing_ok=True)
    with sqlite3.connect(draft) as fresh:
        fresh.executescript(TABLES)
    fresh.close()
    data = draft.read_bytes()
    size = struct.unpack(">H", data[16:18])[0]
    old = path.read_bytes()[size:]
    old += bytes(-len(old) % size)
    header = bytearray(data[:size])
    header[28:32] = struct.pack(">I", 1 + len(old) // size)
    draft.write_bytes(bytes(header) + old)
    return draft
