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
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from .files import LOCK, FolderError, digest, sealed, told, unsealed, write_file

SCHEMA = 2
PLAN, DONE, PARTS = "plan.json", "done.json", "parts"
OURS = {PLAN, DONE, LOCK, PARTS, "tables", "figures"} | {
    f"{name}.parquet" for name in ("games", "moves", "searches", "root_moves", "accuracy", "values")
}
_PART = re.compile(r"([0-9a-f]{16})\.(\d+)-(\d+)\.([0-9a-f]{32})\.parquet")
_DRAFT = re.compile(r"\.gamekit-\w+\.part")


class Part(NamedTuple):
    """A file of rows: units `first` to `end` of a group."""

    group: str
    first: int
    end: int
    path: Path


def _part_name(group: str, first: int, end: int, data: bytes) -> str:
    span = f"{group}.{first}-{end}"
    return f"{span}.{digest(span.encode() + data)}.parquet"


class Folder:
    """A measurement's folder."""

    def __init__(self, path: str | Path):
        self.path = Path(path)

    def examine(self) -> None:
        """Refuse a folder that holds other people's files or links, before anything is touched."""
        if self.path.is_symlink() or (self.path.exists() and not self.path.is_dir()):
            raise FolderError(f"{self.path} is not a folder; choose another place for the results")
        there = _entries(self.path)
        others = [p.name for p in there if p.name not in OURS and not _DRAFT.fullmatch(p.name)]
        if others and not (self.path / PLAN).is_file():
            raise FolderError(f"{self.path} holds other files ({others[0]}); choose an empty or new folder")
        if links := [p for p in there if p.name in OURS and p.is_symlink()]:
            raise FolderError(f"{links[0]} is a symbolic link, which is not followed; remove it")

    def clear(self) -> None:
        """Remove drafts that a measurement left when it was killed."""
        for place in (self.path, self.path / PARTS, self.path / "tables", self.path / "figures"):
            for draft in filter(lambda p: _DRAFT.fullmatch(p.name), _entries(place)):
                with told(draft, "remove"):
                    draft.unlink()

    @property
    def plan(self) -> dict[str, Any] | None:
        """What was asked for, or None where nothing is stored yet."""
        if not (self.path / PLAN).is_file():
            return None
        found = unsealed(self.path / PLAN)
        if found.get("schema") != SCHEMA:
            raise FolderError(f"{self.path} has schema {found.get('schema')}; this version reads schema {SCHEMA}")
        return found

    def begin(self, plan: dict[str, Any]) -> None:
        """Write down what is asked for; from now on, and until `finish`, the folder is not complete."""
        (self.path / DONE).unlink(missing_ok=True)
        write_file(self.path / PLAN, sealed({"schema": SCHEMA, **plan}))

    def parts(self) -> list[Part]:
        """The parts by name, unread; two that hold the same units are refused."""
        named = [(_PART.fullmatch(p.name), p) for p in _entries(self.path / PARTS) if not p.is_symlink()]
        found = sorted(Part(m[1], int(m[2]), int(m[3]), path) for m, path in named if m)
        for one, two in itertools.pairwise(found):
            if one.group == two.group and two.first < one.end:
                raise FolderError(f"{one.path} and {two.path} hold the same; remove one of them")
        return found

    def add(self, group: str, first: int, end: int, data: bytes) -> None:
        """Store a slice."""
        write_file(self.path / PARTS / _part_name(group, first, end, data), data)

    def data(self, part: Part) -> bytes:
        """A part's bytes; refused when one has changed."""
        with told(part.path, "read"):
            data = part.path.read_bytes()
        if part.path.name != _part_name(part.group, part.first, part.end, data):
            raise FolderError(f"{part.path} is damaged; 'gamekit verify {self.path} --repair' measures it again")
        return data

    def finish(self, files: dict[str, bytes], units: int | None = None) -> None:
        """Store derived files, and the mark that says all is there; files marked before stay marked."""
        seal = self.seal() or {"units": units, "files": {}}
        for name, data in files.items():
            write_file(self.path / name, data)
            seal["files"][name] = digest(data)
        write_file(self.path / DONE, sealed(seal))

    def seal(self) -> dict[str, Any] | None:
        """What a complete measurement is marked with: its units, the digests of derived files."""
        return unsealed(self.path / DONE) if (self.path / DONE).is_file() else None

    def done(self) -> dict[str, str] | None:
        """The digests of the derived files, if the measurement is complete."""
        seal = self.seal()
        return seal["files"] if seal else None

    def intact(self, name: str) -> bool:
        """Whether a derived file is there as it was left."""
        try:
            return (self.done() or {}).get(name) == digest((self.path / name).read_bytes())
        except (FolderError, OSError):
            return False


def _entries(place: Path) -> list[Path]:
    with told(place, "read"):
        return sorted(place.iterdir()) if place.is_dir() and not place.is_symlink() else []


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
        return self.ok and self.sealed and self.done >= self.units > 0

    @property
    def status(self) -> str:
        """`absent`, `complete` or `n of m`."""
        if not self.units:
            return "damaged" if self.damaged else "absent"
        return "complete" if self.complete else f"{self.done} of {self.units}"

    def to_dict(self) -> dict[str, Any]:
        """What `gamekit verify --json` prints."""
        damaged = [path.name for path in self.damaged]
        return {"folder": str(self.folder), "status": self.status, "done": self.done, "units": self.units,
                "complete": self.complete, "problems": self.problems, "damaged": damaged}  # fmt: skip

    def __str__(self) -> str:
        return "\n".join([f"{self.folder}: {self.status}", *self.problems])

    @contextlib.contextmanager
    def checking(self, path: Path | None = None) -> Iterator[None]:
        """What is refused meanwhile is a problem, and `path` damaged."""
        try:
            yield
        except FolderError as error:
            self.problems.append(str(error))
            self.damaged += [path] if path else []


def verify(path: str | Path) -> Report:
    """Check every byte of a folder: plan, parts, derived files."""
    folder, report = Folder(path), Report(Path(path))
    plan, seal, parts = None, None, list[Part]()
    with report.checking(folder.path / DONE):
        seal = folder.seal()  # before the parts: all that is marked as done was there by then
    with report.checking(folder.path / PLAN):
        plan = folder.plan
        if plan is None:
            there = seal or _entries(folder.path / PARTS)
            report.problems.append(f"{folder.path / PLAN} is missing" if there else f"no results found in {path}")
    with report.checking():
        parts = folder.parts()
    sizes = {group["id"]: group["units"] for group in plan["groups"]} if plan else {}
    report.units = seal["units"] if seal else sum(sizes.values())
    for part in parts:
        with report.checking(part.path):
            folder.data(part)
            report.done += part.end - part.first
    known = {part.path for part in parts if part.group in sizes or not plan}
    for stray in _entries(folder.path / PARTS):
        if stray not in known and not _DRAFT.fullmatch(stray.name):
            report.problems.append(f"{stray} is not a part of this measurement")
    for name in seal["files"] if seal else ():
        if not folder.intact(name):
            report.problems.append(f"{folder.path / name} is damaged or missing")
            report.damaged.append(folder.path / name)
    report.sealed = seal is not None
    if seal and report.done < report.units:
        report.problems.append(f"{folder.path / PARTS}: {report.units - report.done} of {report.units} are missing")
    return report


def drop_damaged(path: str | Path) -> Report:
    """Remove what is damaged, so that measuring again makes only that anew."""
    report = verify(path)
    for one in report.damaged:
        with told(one, "remove"):
            one.unlink(missing_ok=True)
    return report
