"""A grid → jobs → any executor → records. Stopped at any moment it goes on where it was; the tables do not show it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import figures, tables
from .core import GamekitError
from .plan import BLOCK, LIMIT, Plan, difference, read_sweep
from .pool import Pool, run
from .referee import MEMORY
from .store import RECORDS, Job, Lock, Store, StoreError, clear_drafts, write_file
from .verify import Report, break_seal, keep_whole, seal, verify

if TYPE_CHECKING:
    import pandas as pd

ROOMS = ("core.py", "compiled.py", "games/*.py", "heuristics/*.py", "engine/*.py", "players.py", "agents.py",
         "openings.py", "referee.py")  # the code that decides results


class SweepStopped(KeyboardInterrupt):
    """Ctrl-C or SIGTERM; the message says how far it came and how to go on."""


class Sweep:
    """A sweep's results: `table(name)`, `frame()`, `folder`."""

    def __init__(self, store: Store, folder: Path | None):
        self.store, self.folder = store, folder
        self.plan = store.plan
        self._frame: pd.DataFrame | None = None

    def frame(self) -> pd.DataFrame:
        """Every game, a row each."""
        if self._frame is None:
            self._frame = tables.frame(self.store)
        return self._frame

    def table(self, name: str, params: bool = False) -> pd.DataFrame:
        """One of the tables; with `params` the player's parameters are columns too."""
        found = tables.table(name, self.frame(), self.plan)
        if params and "player" in found:
            about = [self.plan["players"].get(spec, {}).get("params", {}) for spec in found.player]
            for key in dict.fromkeys(key for row in about for key in row):
                if key not in found:
                    found[key] = [row.get(key) for row in about]
        return found

    def tables(self) -> dict[str, pd.DataFrame]:
        return {name: self.table(name) for name in tables.TABLES}

    def export(self, path: str | Path) -> Path:
        """All games as one `.csv` or `.parquet` file."""
        path = Path(path)
        if path.suffix not in (".csv", ".parquet"):
            raise GamekitError(f"export to {path.name!r} is not allowed; a file ends in .csv or .parquet")
        frame = self.frame()
        write_file(path, tables.csv(frame) if path.suffix == ".csv" else frame.to_parquet(index=False))
        return path

    def __repr__(self) -> str:
        pairs, each = len(self.plan["pairs"]), self.plan["games_each"]
        return f"<sweep of {pairs} pairs, {each} games each, in {self.folder or 'memory'}>"

    def __str__(self) -> str:
        shown = self.table("win_rates")[["game", "player", "opponent", "games", "distinct", "wins", "draws", "losses",
                                         "win_rate", "low", "high"]]
        return f"{shown.to_string(index=False)}\n{self!r}"

    def _repr_html_(self) -> str:
        return self.table("win_rates")._repr_html_()  # type: ignore[operator]


def load(folder: str | Path) -> Sweep:
    """The results a folder holds, complete or not."""
    folder = Path(folder)
    if not (folder / RECORDS).is_file():
        raise StoreError(f"{folder} holds no records")
    return Sweep(Store(folder / RECORDS), folder)


def sweep(games: Any, players: Any, opponents: Any = None, games_each: int = 100, openings: Any = None,
          cap: int | None = None, seed: int = 0, out: str | Path | None = None, *, limit: float | None = LIMIT,
          memory: int | None = MEMORY, block: int = BLOCK, workers: int | None = None, scheduler: str | None = None,
          executor: Executor | None = None, progress: bool | None = None) -> Sweep:
    """Play every player against every opponent in every game; stored in `out`, resumed if it is there already.

    Without `opponents` every player meets every other once. Specs may hold choices: `alphabeta(depth={1,2,3})`.
    `workers` processes on this machine (all cores by default), or a Dask `scheduler` by address, or any `executor`.
    `limit` (seconds a move) and `memory` (megabytes) are what a player may take before it forfeits the game. For
    players of the package it is their own computing time that counts, for others the clock on the wall.
    """
    plan = Plan(games, players, opponents, games_each, openings, cap, seed, limit, memory, block)
    return run_plan(plan, out, workers=workers, scheduler=scheduler, executor=executor, progress=progress)


def run_file(path: str | Path, out: str | Path | None = None, workers: int | None = None,
             scheduler: str | None = None, progress: bool | None = None) -> Sweep:
    """Run or resume a sweep file; its folder is `out`, or what the file says, or `results/` and the file's name."""
    given = read_sweep(path)
    folder = out or given.pop("out", None) or Path("results") / Path(path).stem
    return sweep(**{**given, "out": folder}, workers=workers, scheduler=scheduler, progress=progress)


def repair(folder: str | Path, workers: int | None = None) -> Report:
    """Keep what is whole and play the damaged jobs again; with code of the user's own, run the sweep again for that."""
    report = keep_whole(folder)
    if report.complete:
        return report
    store = Store(Path(folder) / RECORDS)
    try:
        asked = store.plan
    finally:
        store.close()
    if any(about["code"] for about in asked["players"].values()):
        return report
    run_plan(Plan.again(asked), folder, workers=workers)
    after = verify(folder)
    after.dropped = report.dropped
    return after


def run_plan(plan: Plan, out: str | Path | None = None, *, workers: int | None = None, scheduler: str | None = None,
             executor: Executor | None = None, progress: bool | None = None) -> Sweep:
    """Play what is left of a plan."""
    if out is None:
        kept = Store.create(None, plan.described, _provenance())
        _play(plan, plan.jobs, kept, workers, scheduler, executor, progress)
        return Sweep(kept, None)
    folder = Path(out)
    lock = Lock(folder)
    store: Store | None = None
    try:
        clear_drafts(folder)
        store, report = _open(folder, plan)
        result = Sweep(store, folder)
        if not report.complete:
            done = store.done()
            break_seal(folder)
            with _sealed_at_the_end(folder), _stoppable():
                left = [job for job in plan.jobs if job.job not in done]
                _play(plan, left, store, workers, scheduler, executor, progress)
                finish(result)
        return result
    except KeyboardInterrupt:
        stored = len(store.done()) if store else 0
        raise SweepStopped(f"stopped: {stored} of {len(plan.jobs)} jobs are stored in {folder}; "
                           "run the same command again to resume") from None
    except BaseException:
        if store is not None:
            store.close()
        raise
    finally:
        lock.release()


@contextlib.contextmanager
def _sealed_at_the_end(folder: Path) -> Iterator[None]:
    """A seal over whatever there is, `complete` only if nothing went wrong."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):
            seal(folder, complete=False)
        raise
    seal(folder, complete=True)


def finish(result: Sweep) -> None:
    """Tables and figures of a folder's records."""
    assert result.folder is not None
    found = result.tables()
    for name, table in found.items():
        write_file(result.folder / "tables" / f"{name}.csv", tables.csv(table))
    for name, data in figures.of_sweep(found).items():
        write_file(result.folder / "figures" / name, data)


def _open(folder: Path, plan: Plan) -> tuple[Store, Report]:
    """The folder's store, new or resumed; refused when it is damaged or holds another sweep."""
    report = verify(folder, quick=True)
    if report.status == "absent":
        return Store.create(folder, plan.described, _provenance()), report
    if report.jobs:  # readable: first say whether it is the same sweep at all
        there = Store(folder / RECORDS)
        try:
            unlike = difference(there.plan, plan.described)
            code = there.meta("provenance").get("code")
        finally:
            there.close()
        if unlike:
            raise StoreError(f"{folder} holds the records of another sweep: {unlike}; choose another folder")
        if not report.complete and code and code != _provenance()["code"]:
            warnings.warn(f"{folder} was begun with other code of gamekit ({code}); it goes on with this",
                          RuntimeWarning, stacklevel=5)
    if not report.ok:
        more = f" (and {len(report.problems) - 1} more)" if len(report.problems) > 1 else ""
        raise StoreError(f"{folder} cannot be trusted: {report.problems[0]}{more}; "
                         f"'gamekit verify {folder} --repair' keeps what is whole")
    return Store(folder / RECORDS), report


def _play(plan: Plan, jobs: list[Job], store: Store, workers: int | None, scheduler: str | None,
          executor: Executor | None, progress: bool | None) -> None:
    if not jobs:
        return
    from tqdm.auto import tqdm

    shown = progress if progress is not None else sys.stderr.isatty() or _in_notebook()
    total = len(plan.pairs) * plan.games_each
    pool = Pool(workers, scheduler, executor, len(jobs))
    bar = None
    if shown:  # a bar brings a thread along, which a process that forks is better without
        bar = tqdm(total=total, initial=total - sum(job.games for job in jobs), unit="game", leave=sys.stderr.isatty())

    def keep(job: Job, rows: list[Any]) -> None:
        store.add(job, rows)
        if bar is not None:
            bar.update(job.games)

    try:
        run(plan, jobs, pool, keep)
    except BaseException:
        pool.stop(now=True)
        raise
    finally:
        if bar is not None:
            bar.close()
    pool.stop(now=False)


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


@functools.lru_cache(maxsize=1)
def _provenance() -> dict[str, Any]:
    """What the records were made with."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {}
    for name in ("gamekit", "numpy", "numba", "pandas"):
        with contextlib.suppress(PackageNotFoundError):
            versions[name] = version(name)
    here = Path(__file__).parent
    code = hashlib.sha256()
    for file in sorted(file for room in ROOMS for file in here.glob(room)):
        code.update(str(file.relative_to(here)).encode() + file.read_bytes())
    return {"versions": versions, "python": platform.python_version(), "platform": platform.platform(),
            "code": code.hexdigest()[:16], "begun": time.strftime("%F %T")}
