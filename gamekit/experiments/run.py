"""A plan → slices → any executor → parts → one frame. Stopped at any moment it goes on where it was.

Which worker measures what, in which order and how often a run is interrupted does not show: a unit's rows depend on
its group and number alone, and the frame is put together in the plan's order.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import os
import platform
import signal
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, wait
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import cloudpickle
import pyarrow.parquet as pq

from ..errors import GamekitError
from .columns import frame
from .executors import Pool, deaths
from .folder import Folder, FolderError, Lock
from .jobs import code, parquet, run_slice

if TYPE_CHECKING:
    import pandas as pd

BREAKS = 12  # a slice in flight at so many deaths of workers is given up, if it then kills one on its own
UNITS = {"games": "game", "moves": "game"}


class Stopped(KeyboardInterrupt):
    """Ctrl-C or SIGTERM; the message says how far it came and how to go on."""


class Range(NamedTuple):
    """Units of a group."""

    group: int
    first: int
    end: int


@dataclass
class Group:
    """Work that shares one set-up: a meeting of two players, or players on the positions of a game."""

    about: dict[str, Any]  # all that its rows depend on, as plain values
    units: int  # games or positions
    work: Callable[[], Any]  # what a worker needs
    lost: Callable[[int], list[dict[str, Any]]] = field(default=lambda unit: [])  # rows of a unit nobody can measure

    @cached_property
    def id(self) -> str:
        """The same for the same work, in every process."""
        return hashlib.sha256(json.dumps(self.about, sort_keys=True).encode()).hexdigest()[:16]


@dataclass
class Plan:
    """A checked measurement."""

    measure: str
    arguments: dict[str, Any]  # as given, plain values: for messages, and for running again
    groups: list[Group]
    players: Mapping[tuple[str, str], Mapping[str, Any]]
    games: Mapping[str, Mapping[str, Any]]
    extras: Mapping[str, Mapping[str, list[Any]]] = field(default_factory=dict)
    own: Mapping[Any, Any] = field(default_factory=dict)  # heuristics of the user's own, for the workers
    enough: Callable[[list[Any]], int | None] | None = None  # tables so far → units after which to stop

    @property
    def total(self) -> int:
        """Games or positions in all."""
        return sum(group.units for group in self.groups)

    def described(self) -> dict[str, Any]:
        """What `plan.json` holds; equal plans, equal bytes."""
        groups = [{"id": group.id, "units": group.units, **group.about} for group in self.groups]
        found = {"measure": self.measure, "code": code(), "versions": _versions(), "groups": groups}
        return json.loads(json.dumps({**found, "arguments": self.arguments}))

    @cached_property
    def digest(self) -> str:
        """A short name for what is measured and with which code."""
        parts = [self.measure, code(), [(group.id, group.units) for group in self.groups], sorted(self.extras)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]

    def packed(self, number: int) -> bytes:
        """A group's work as it is sent to workers."""
        return cloudpickle.dumps((dict(self.own), self.groups[number].work()))

    def frame(self, tables: list[Any]) -> pd.DataFrame:
        """The rows with their parameters."""
        return frame(self.measure, tables, self.players, self.games, self.extras)


@functools.lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version()}
    for name in ("gamekit", "numpy", "numba", "pandas", "pyarrow"):
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


class Beside:
    """A folder whose name ends in the plan's digest: a changed plan gets a folder of its own."""

    def __init__(self, base: Path, name: str):
        self.base, self.name = base, name

    def at(self, plan: Plan) -> Path:
        """Where this plan's results are."""
        return self.base / f"{self.name}-{plan.digest}"


# -------------------------------------------------------------------------------------- measuring


def measure(
    plan: Plan,
    out: str | Path | Beside | None,
    workers: int | None,
    executor: Executor | str | None,
    progress: bool | None,
) -> pd.DataFrame:
    """Measure what is left of a plan; the frame of all its rows."""
    if out is None:
        kept: dict[Range, Any] = {}

        def keep(span: Range, data: bytes) -> None:
            kept[span] = pq.read_table(io.BytesIO(data))

        with _stoppable():
            _run(
                plan,
                [Range(i, 0, group.units) for i, group in enumerate(plan.groups)],
                keep,
                kept,
                workers,
                executor,
                progress,
            )
        return plan.frame(_in_order(plan, kept))
    folder = Folder(out.at(plan) if isinstance(out, Beside) else out)
    folder.examine()
    lock = Lock(folder.path)
    name = f"{plan.measure}.parquet"
    stored = 0
    try:
        there = folder.plan
        if there is not None:
            refuse_other(folder.path, there, plan)
        if there == {"schema": (there or {}).get("schema"), **plan.described()} and folder.intact(name):
            return read(folder.path / name)
        spans = _stored(folder, plan)
        tables = {span: folder.table(part) for span, part in spans.items()}
        stored = sum(span.end - span.first for span in spans)
        folder.begin(plan.described())

        def store(span: Range, data: bytes) -> None:
            nonlocal stored
            folder.add(plan.groups[span.group].id, span.first, span.end, data)
            tables[span] = pq.read_table(io.BytesIO(data))
            stored += span.end - span.first

        with _stoppable():
            _run(plan, _missing(plan, tables), store, tables, workers, executor, progress)
        made = plan.frame(_in_order(plan, tables))
        data = io.BytesIO()
        made.to_parquet(data, index=False)
        folder.finish({name: data.getvalue()})
        return made
    except KeyboardInterrupt:
        unit = UNITS.get(plan.measure, "position")
        raise Stopped(
            f"stopped: {stored:,} of {plan.total:,} {unit}s are stored in {folder.path}; run the same again to resume"
        ) from None
    finally:
        lock.release()


def read(path: Path) -> pd.DataFrame:
    """A derived file as the frame that was returned when it was made."""
    import pandas as pd

    return pd.read_parquet(path)


def refuse_other(path: Path, there: dict[str, Any], plan: Plan) -> None:
    """Accept a plan that extends what is stored, under equal code; anything else is refused, both named."""
    here = plan.described()
    for key in ("measure", "code"):
        if there[key] != here[key]:
            what = "other code of gamekit" if key == "code" else "another measurement"
            raise FolderError(
                f"{path} holds results of {what}: there {there[key]}, here {here[key]}; choose another folder"
            )
    sizes = {group.id: group.units for group in plan.groups}
    if all(sizes.get(group["id"], 0) >= group["units"] for group in there["groups"]):
        return
    was, now = there["arguments"], here["arguments"]
    for key in now:
        if was.get(key) != now[key]:
            raise FolderError(
                f"{path} holds another measurement: {key} there {_brief(was.get(key))}, here {_brief(now[key])}; "
                "choose another folder"
            )
    for old in there["groups"]:  # equal names that mean something else
        new = next((g for g in here["groups"] if g["id"] == old["id"]), None)
        alike = [g for g in here["groups"] if all(g.get(k) == old.get(k) for k in ("game", "player", "opponent"))]
        if new is None and alike:
            key = next(k for k in old if k not in ("id", "units") and alike[0].get(k) != old[k])
            raise FolderError(f"{path} holds another measurement: {key} has changed; choose another folder")
    raise FolderError(f"{path} holds another measurement; choose another folder")


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:119] + "…"


def _stored(folder: Folder, plan: Plan) -> dict[Range, Any]:
    place = {group.id: i for i, group in enumerate(plan.groups)}
    return {Range(place[p.group], p.first, p.end): p for p in folder.parts() if p.group in place}


def _missing(plan: Plan, have: Mapping[Range, Any]) -> list[Range]:
    """What no part covers, in plan order."""
    found = []
    for number, group in enumerate(plan.groups):
        at = 0
        for span in sorted(span for span in have if span.group == number):
            if span.first > at:
                found.append(Range(number, at, span.first))
            at = max(at, span.end)
        if at < group.units:
            found.append(Range(number, at, group.units))
    return found


def _in_order(plan: Plan, tables: Mapping[Range, Any]) -> list[Any]:
    """The parts' rows in plan order."""
    return [tables[span] for span in sorted(tables)]


# ----------------------------------------------------------------------------------------- slices


def _run(
    plan: Plan,
    ranges: list[Range],
    keep: Callable[[Range, bytes], None],
    tables: dict[Range, Any],
    workers: int | None,
    executor: Executor | str | None,
    progress: bool | None,
) -> None:
    """Send ranges and keep what comes back, until none is left or `plan.enough` says so."""
    if not ranges:
        return
    pool = Pool(workers, executor, sum(-(-(span.end - span.first) // 2) for span in ranges))
    bar = _bar(plan, ranges, progress)
    waiting, flying = deque(ranges), {}  # type: ignore[var-annotated]
    packed = functools.lru_cache(maxsize=256)(plan.packed)
    strikes: Counter[int] = Counter()
    try:
        while waiting or flying:
            suspect = bool(waiting) and strikes[waiting[0].group] > BREAKS
            room = 1 if suspect else pool.window
            while waiting and len(flying) < room:
                _share_out(waiting, room - len(flying))
                span = waiting.popleft()
                try:
                    slice_ = run_slice, packed(span.group), plan.measure, span.first, span.end, code()
                    flying[pool.executor.submit(*slice_)] = span
                except BrokenExecutor:
                    waiting.appendleft(span)
                    pool.renew()
            lost: list[tuple[Range, int]] = []
            for future in wait(flying, return_when=FIRST_COMPLETED).done:
                span = flying.pop(future)
                try:
                    data, reached = future.result()
                except BaseException as error:
                    if not (count := deaths(error)):
                        raise
                    lost.append((span, count))
                    continue
                keep(Range(span.group, span.first, reached), data)
                if reached < span.end:
                    waiting.appendleft(Range(span.group, reached, span.end))
                if bar is not None:
                    bar.update(reached - span.first)
            if lost and pool.own:  # a broken executor takes down everything in flight
                lost += [(span, 1) for span in flying.values()]
                flying = {}
                pool.renew()
            for span, count in sorted(lost, reverse=True):
                strikes[span.group] += count
                if strikes[span.group] > BREAKS + 1 and suspect:
                    rows = [row for unit in range(span.first, span.end) for row in plan.groups[span.group].lost(unit)]
                    keep(span, parquet(rows, plan.measure))
                elif strikes[span.group] > 2 * BREAKS:
                    raise GamekitError(f"workers died {strikes[span.group]} times; run the same again to resume")
                else:
                    waiting.appendleft(span)
            if plan.enough is not None and (stop := plan.enough(_prefix(tables))) is not None:
                _cut(tables, stop)
                break
    except BaseException:
        pool.stop(now=True)
        raise
    finally:
        for future in flying:
            future.cancel()
        if bar is not None:
            bar.close()
    pool.stop(now=False)


def _share_out(waiting: deque[Range], free: int) -> None:
    """Cut the first range where there are fewer ranges than free workers; pairs of games stay together."""
    while len(waiting) < free:
        widest = max(range(len(waiting)), key=lambda i: waiting[i].end - waiting[i].first)
        group, first, end = waiting[widest]
        middle = first + (end - first) // 2
        middle += middle % 2
        if not first < middle < end:
            return
        waiting[widest] = Range(group, first, middle)
        waiting.insert(widest + 1, Range(group, middle, end))


def _prefix(tables: Mapping[Range, Any]) -> list[Any]:
    """The tables of a single group up to the first gap."""
    found, at = [], 0
    for span in sorted(tables):
        if span.first != at:
            break
        found.append(tables[span])
        at = span.end
    return found


def _cut(tables: dict[Range, Any], stop: int) -> None:
    """Leave out what lies beyond the unit at which it was decided."""
    for span in list(tables):
        if span.first >= stop:
            del tables[span]
        elif span.end > stop:
            tables[span] = tables[span].slice(0, stop - span.first)


def _bar(plan: Plan, ranges: list[Range], progress: bool | None) -> Any:
    shown = progress if progress is not None else sys.stderr.isatty() or _in_notebook()
    if not shown:
        return None
    from tqdm.auto import tqdm

    left = sum(span.end - span.first for span in ranges)
    unit = UNITS.get(plan.measure, "position")
    return tqdm(total=plan.total, initial=plan.total - left, unit=unit, leave=sys.stderr.isatty(), delay=1)


def _in_notebook() -> bool:
    """Someone looks on from a notebook; where a program runs it, it says so and wants no bars."""
    return "ipykernel" in sys.modules and not os.environ.get("GAMEKIT_QUIET")


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """SIGTERM is as good as Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
