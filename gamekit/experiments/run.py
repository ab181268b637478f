"""A plan → slices → any executor → parts → one frame. Stopped at any moment it goes on where it was.

Which worker measures what, in which order and how often a run is interrupted does not show: a unit's rows depend on
its group and number alone, and the frame is put together in the plan's order.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import signal
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import GamekitError
from .executors import Pool, died, workers_of
from .files import FolderError, Lock
from .folder import SCHEMA, Folder, Part
from .jobs import OtherCode, code, parquet, run_slice, table
from .plan import Beside, Plan

if TYPE_CHECKING:
    import pandas as pd

DEATHS = 4  # of workers, one after the other with nothing beside it, make a game or position count as lost
BREAKS = 12  # of workers by one group: all that is under suspicion then counts as lost


class Stopped(KeyboardInterrupt):
    """Ctrl-C or SIGTERM; the message says how far it came and how to go on."""


class Range(NamedTuple):
    """Units of a group."""

    group: int
    first: int
    end: int

    @property
    def units(self) -> int:
        return self.end - self.first


def measure(plan: Plan) -> pd.DataFrame:
    """Measure what is left of a plan; the frame of all its rows."""
    plan.check_columns()
    workers_of(plan.given["workers"], plan.given["executor"])
    out = plan.given["out"]
    if out is None:
        with _stoppable() as check:
            return plan.frame(_Run(plan, {}).all(check))
    folder = Folder(out.at(plan) if isinstance(out, Beside) else out)
    folder.examine()
    with Lock(folder.path), _stoppable() as check:
        folder.clear()
        name = f"{plan.measure}.parquet"
        there = folder.plan
        if there is not None:
            plan.refuse_other(folder.path, there)
        parts = _parts(folder, plan)
        whole = there == {"schema": SCHEMA, **plan.described} and folder.intact(name)
        if whole and sum(span.units for span in parts) >= (folder.seal() or {})["units"]:
            return read(folder)
        run = _Run(plan, {span: table(folder.data(part)) for span, part in parts.items()}, folder)
        folder.begin(plan.described)
        try:
            made = plan.frame(run.all(check))
        except (KeyboardInterrupt, GamekitError) as error:
            count = sum(span.units for span in _parts(folder, plan))
            stored = f"{count:,} of {run.total:,} {plan.groups[0].work.unit}s are stored in {folder.path}"
            if isinstance(error, KeyboardInterrupt):
                raise Stopped(f"stopped: {stored}; run the same again to resume") from None
            raise GamekitError(f"{error}; {stored}; run the same again to resume") from error
        data = io.BytesIO()
        made.to_parquet(data, index=False)
        folder.finish({name: data.getvalue()}, units=run.stored)
        return made


def read(folder: Folder) -> pd.DataFrame:
    """The derived file of a complete folder, as the frame that was returned when it was made."""
    import pandas as pd

    plan = folder.plan
    if plan is None:
        raise FolderError(f"no results found in {folder.path}")
    path = folder.path / f"{plan['measure']}.parquet"
    if not folder.intact(path.name):
        state = "damaged" if folder.done() else "not complete"
        raise FolderError(f"{path} is {state}; run the measurement again, or 'gamekit verify {folder.path}'")
    return pd.read_parquet(path)


def _parts(folder: Folder, plan: Plan) -> dict[Range, Part]:
    """What is stored, unread; refused where it belongs to something else."""
    place = {group.id: i for i, group in enumerate(plan.groups)}
    found = {}
    for part in folder.parts():
        if part.group not in place:
            raise FolderError(f"{part.path} belongs to another measurement; choose another folder")
        found[Range(place[part.group], part.first, part.end)] = part
    return found


class _Run:
    """Sends slices and keeps what comes back, until nothing is left or the plan has enough."""

    def __init__(self, plan: Plan, tables: dict[Range, Any], folder: Folder | None = None):
        self.plan, self.tables, self.folder = plan, tables, folder
        self.total = sum(group.units for group in plan.groups)
        self.waiting = deque(_missing(plan, tables))
        self.flying: dict[Future, Range] = {}
        self.suspects: deque[Range] = deque()  # in flight when a worker died: each is tried again …
        self.trial: Range | None = None  # … with nothing beside it
        self.deaths: Counter[Range | int] = Counter()  # by slice and by group, of those that were alone
        self.failed: list[str] = []
        self.packed = functools.lru_cache(maxsize=256)(plan.packed)

    def all(self, check: Callable[[], None]) -> list[Any]:
        """Measure what is missing, and look now and then whether to stop; all tables in plan order."""
        how, left = self.plan.given, sum(span.units for span in self.waiting)
        stop = self._enough()
        if left and stop is None:
            self.pool = Pool(how["workers"], how["executor"], sum(-(-span.units // 2) for span in self.waiting))
            bar = _bar(self.total, left, self.plan.groups[0].work.unit, how["progress"])
            try:
                while stop is None and (self.waiting or self.suspects or self.flying):
                    self._send()
                    done = wait(self.flying, timeout=1, return_when=FIRST_COMPLETED).done
                    for future in done:
                        bar.update(self._receive(future, self.flying.pop(future)))
                    if not done:
                        self.pool.check()
                    check()
                    stop = self._enough()
                for future in self.flying:
                    future.cancel()
            except BaseException:
                self.pool.stop(now=True)
                raise
            finally:
                bar.close()
            self.pool.stop(now=False)
        if self.failed:
            more = f" and {len(self.failed) - 3} more" if len(self.failed) > 3 else ""
            raise GamekitError(f"{len(self.failed)} of the jobs failed: {'; '.join(self.failed[:3])}{more}")
        if stop is not None:
            self._cut(stop)
        return [self.tables[span] for span in sorted(self.tables)]

    @property
    def stored(self) -> int:
        """Units measured so far."""
        return sum(span.units for span in self.tables)

    def _send(self) -> None:
        """Keep the workers busy; what may have killed one is sent alone."""
        if self.suspects and not self.flying:
            self.trial = self.suspects.popleft()
            self._submit(self.trial)
        if self.suspects or self.trial:
            return
        while self.waiting and len(self.flying) < self.pool.window:
            self._share_out(self.pool.window - len(self.flying))
            self._submit(self.waiting.popleft())

    def _submit(self, span: Range) -> None:
        work = self.packed(span.group), self.plan.measure, span.first, span.end, code()
        try:
            future = self.pool.executor.submit(run_slice, *work)
        except BrokenExecutor:
            self.pool.renew()
            future = self.pool.executor.submit(run_slice, *work)
        self.flying[future] = span

    def _receive(self, future: Future, span: Range) -> int:
        """Keep what a slice gave; how many units that were."""
        alone, self.trial = self.trial is not None, None
        try:
            data, reached = future.result()
        except (KeyboardInterrupt, SystemExit, OtherCode):
            raise
        except BaseException as error:
            if died(error):
                self.pool.renew()
                return self._mourn(span, alone)
            self.failed.append(f"{self._named(span)}: {type(error).__name__}: {error}")
            return 0
        if reached < span.end:
            self.waiting.appendleft(Range(span.group, reached, span.end))
        return self._keep(Range(span.group, span.first, reached), data)

    def _keep(self, span: Range, data: bytes) -> int:
        if self.folder is not None:
            self.folder.add(self.plan.groups[span.group].id, span.first, span.end, data)
        self.tables[span] = table(data)
        return span.units

    def _mourn(self, span: Range, alone: bool) -> int:
        """Find out which unit kills its worker, by halves; one that does it again and again is recorded as lost."""
        if not alone:
            self.suspects.append(span)
            return 0
        self.deaths.update([span, span.group])
        group = self.plan.groups[span.group]
        half = span.units // 2 // group.work.together * group.work.together
        if self.deaths[span.group] > BREAKS or (not half and self.deaths[span] >= DEATHS):
            if not self.tables and self.deaths[span.group] > BREAKS:
                raise GamekitError(
                    f"{BREAKS} workers died one after the other, the last of them in {self._named(span)}"
                )
            rows = [row for unit in range(span.first, span.end) for row in group.work.lost(unit)]
            return self._keep(span, parquet(rows, self.plan.measure))
        middle = span.first + half
        self.suspects.extendleft([span._replace(first=middle), *([span._replace(end=middle)] if half else [])])
        return 0

    def _named(self, span: Range) -> str:
        about, unit = self.plan.groups[span.group].about, self.plan.groups[span.group].work.unit
        players = " against ".join(about[who] for who in ("player", "opponent") if who in about)
        return ", ".join(filter(None, [about["game"], players, f"{unit}s {span.first + 1} to {span.end}"]))

    def _share_out(self, free: int) -> None:
        """Cut the longest range where there are fewer ranges than free workers."""
        while len(self.waiting) < free:
            widest = max(range(len(self.waiting)), key=lambda i: self.waiting[i].units)
            span = self.waiting[widest]
            together = self.plan.groups[span.group].work.together
            middle = span.first + -(-span.units // 2 // together) * together
            if not span.first < middle < span.end:
                return
            self.waiting[widest] = span._replace(end=middle)
            self.waiting.insert(widest + 1, span._replace(first=middle))

    def _enough(self) -> int | None:
        """The unit after which to stop, if the plan has one; it judges by what is known up to the first gap."""
        if self.plan.enough is None:
            return None
        found, at = [], 0
        for span in sorted(self.tables):
            if span.first != at:
                break
            found.append(self.tables[span])
            at = span.end
        return self.plan.enough(found)

    def _cut(self, stop: int) -> None:
        """Leave out what lies beyond the unit at which it was decided."""
        kept = {span: rows for span, rows in self.tables.items() if span.first < stop}
        self.tables = {
            span._replace(end=min(span.end, stop)): rows.slice(0, stop - span.first) for span, rows in kept.items()
        }


def _missing(plan: Plan, have: Mapping[Range, Any]) -> list[Range]:
    """What no part covers, in plan order."""
    found, at = [], dict.fromkeys(range(len(plan.groups)), 0)
    ends = [Range(number, group.units, group.units) for number, group in enumerate(plan.groups)]
    for span in sorted([*have, *ends]):
        if span.first > at[span.group]:
            found.append(Range(span.group, at[span.group], span.first))
        at[span.group] = max(at[span.group], span.end)
    return found


def _bar(total: int, left: int, unit: str, progress: bool | None) -> Any:
    """A bar in a terminal, or where someone looks on in a notebook: a program that runs one wants no bars."""
    from tqdm.auto import tqdm

    seen = sys.stderr.isatty() or ("ipykernel" in sys.modules and not os.environ.get("GAMEKIT_QUIET"))
    hidden = not (seen if progress is None else progress)
    return tqdm(total=total, initial=total - left, unit=unit, leave=sys.stderr.isatty(), delay=1, disable=hidden)


@contextlib.contextmanager
def _stoppable() -> Iterator[Callable[[], None]]:
    """SIGTERM is as good as Ctrl-C; yields a check for either, since Python drops what is raised in a finalizer."""
    came: list[int] = []

    def stop(number: int, _frame: Any) -> None:
        came.append(number)
        raise KeyboardInterrupt

    def check() -> None:
        if came:
            raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    before = {number: handler for number, handler in before.items() if handler not in (None, signal.SIG_IGN)}
    if threading.current_thread() is not threading.main_thread():
        before = {}
    try:
        for number in before:
            signal.signal(number, stop)
        yield check
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
