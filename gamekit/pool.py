"""Jobs → workers → rows: where games are played, and how a sweep outlives a worker that dies."""

from __future__ import annotations

import functools
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from typing import Any

import cloudpickle

from . import guard
from .core import GamekitError
from .heuristics import HEURISTICS
from .plan import CHECKS, Plan
from .referee import Record, Referee, fixtures, two_players
from .store import Job, sealed_rows

BREAKS = 12  # a job in the air at so many deaths of workers is given up, if it then kills one on its own


# ------------------------------------------------------------------------------- worker


@functools.lru_cache(maxsize=32)
def _seat(packed: bytes, _thread: int) -> tuple[Referee, Any, str]:
    """Two players at a board, compiled and ready; kept, for many jobs share them, though no two threads do."""
    with guard.FORK:
        game, players, own, lines, root, cap, limit, memory = cloudpickle.loads(packed)
        HEURISTICS.update(own)
        return Referee(game, two_players(players[0], players[1], game), cap, limit, memory), lines, root


def play_job(packed: bytes, job: Job) -> list[tuple[Any, ...]]:
    """Play a job's games, in a guarded process if need be, and give back its rows."""
    referee, lines, root = _seat(packed, threading.get_ident())
    schedule = fixtures(root, lines, range(job.start, job.start + job.games))
    return sealed_rows(job, referee.games(schedule, guarded=not referee.trusted))


def _given_up(plan: Plan, job: Job) -> list[tuple[Any, ...]]:
    """The rows of a job whose worker died whenever it was tried: nobody can tell which player did it."""
    note = f"the worker died {BREAKS} times"
    return sealed_rows(job, [Record(f.number, f.first, 0, "crash", 0, 0, "", 0, 0, None, None, note)
                             for f in plan.schedule(job)])


def _start_worker() -> None:
    guard.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the sweep's to handle


# ---------------------------------------------------------------------------- executors


class _Here(Executor):
    """Plays in this process (or a guarded child of it), one job at a time."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future:
        future: Future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class Pool:
    """Where jobs are sent: an executor that can be started anew when a worker died in it."""

    def __init__(self, workers: int | None, scheduler: str | None, executor: Executor | None, jobs: int):
        if sum(x is not None for x in (workers, scheduler, executor)) > 1:
            raise GamekitError("sweep: give one of workers, scheduler and executor")
        if workers is not None:
            workers = CHECKS["workers"].check("sweep", "workers", workers)
        self.client: Any = None
        self.workers = min(workers or len(os.sched_getaffinity(0)), max(jobs, 1))
        self.own = executor is None and scheduler is None
        if executor is not None:
            self.executor = executor
            self.workers = getattr(executor, "_max_workers", None) or self.workers
        elif scheduler is not None:
            self._connect(scheduler)
        else:
            self.renew()
        self.window = 1 if isinstance(self.executor, _Here) else 2 * self.workers

    def _connect(self, address: str) -> None:
        try:
            from distributed import Client, Security
        except ImportError:
            raise GamekitError("a scheduler needs dask.distributed: pip install 'gamekit[cluster]'") from None
        try:
            # Asked first, for a client that finds no certificate takes twenty seconds to go away.
            if address.startswith("tls:") and not Security().get_connection_args("client").get("ssl_context"):
                raise ValueError("tls needs a certificate, which Dask's setting distributed.comm.tls names")
            self.client = Client(address, timeout=10, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise GamekitError(f"no Dask scheduler answers at {address!r}: {error}") from None
        self.executor = self.client.get_executor()
        self.workers = max(sum(self.client.nthreads().values()), 1)

    def renew(self) -> None:
        """A new executor in place of a broken one."""
        if not self.own:
            return
        if self.workers == 1:
            self.executor = _Here()
            return
        from loky import get_reusable_executor

        self.executor = get_reusable_executor(self.workers, timeout=60, initializer=_start_worker)

    def stop(self, now: bool) -> None:
        """Let go; `now` ends what is still being played."""
        if now and self.own and self.workers > 1:
            self.executor.shutdown(wait=True, kill_workers=True)  # type: ignore[call-arg]
        if self.client is not None:
            self.client.close()


def _lost(error: BaseException) -> int:
    """How many deaths of workers an error stands for: none when it is about something else."""
    if isinstance(error, (BrokenExecutor, CancelledError)):
        return 1
    return 4 if type(error).__name__ == "KilledWorker" else 0  # Dask has already tried so often


def run(plan: Plan, jobs: list[Job], pool: Pool, keep: Callable[[Job, list[Any]], None]) -> None:
    """Send jobs and keep what comes back, until none is left."""
    waiting, flying, strikes = deque(jobs), {}, Counter()  # type: ignore[var-annotated]
    packed = functools.lru_cache(maxsize=256)(plan.table_for)
    try:
        while waiting or flying:
            suspect = bool(waiting) and strikes[waiting[0].job] > BREAKS
            while waiting and len(flying) < (1 if suspect else pool.window):
                job = waiting.popleft()
                try:
                    flying[pool.executor.submit(play_job, packed(job.pair), job)] = job
                except BrokenExecutor:
                    waiting.appendleft(job)
                    pool.renew()
            lost: list[tuple[Job, int]] = []
            for future in wait(flying, return_when=FIRST_COMPLETED).done:
                job = flying.pop(future)
                try:
                    rows = future.result()
                except BaseException as error:
                    deaths = _lost(error)
                    if not deaths:
                        raise
                    lost.append((job, deaths))
                    continue
                keep(job, rows)
            if lost and pool.own:  # a broken executor takes down everything in the air
                lost += [(job, 1) for job in flying.values()]
                flying = {}
                pool.renew()
            for job, deaths in sorted(lost, reverse=True):
                strikes[job.job] += deaths
                if strikes[job.job] > BREAKS + 1 and suspect:
                    keep(job, _given_up(plan, job))
                elif strikes[job.job] > 2 * BREAKS:
                    raise GamekitError(f"the workers were lost {strikes[job.job]} times; run the sweep again to resume")
                else:
                    waiting.appendleft(job)
    finally:
        for future in flying:
            future.cancel()
