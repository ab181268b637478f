"""Where slices are sent: processes on this machine (loky), a Dask cluster, or any `concurrent.futures.Executor`."""

from __future__ import annotations

import os
import signal
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any

from ..errors import GamekitError
from ..matches import sandbox
from ..specs import Param

WORKERS = Param(1, "processes on this machine", 1, 4096)


def _start_worker() -> None:
    sandbox.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinator to handle


class _Here(Executor):
    """Works in this process (or a guarded child of it), one slice at a time."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future:
        future: Future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class Pool:
    """An executor that can be started anew when a worker died in it."""

    def __init__(self, workers: int | None, executor: Executor | str | None, most: int):
        """`most` is how many slices there can be at once: no more workers than that are started."""
        if workers is not None and executor is not None:
            raise GamekitError("give workers or executor, not both")
        if workers is None and os.environ.get("GAMEKIT_WORKERS", "").isdigit():
            workers = int(os.environ["GAMEKIT_WORKERS"])
        if workers is not None:
            workers = WORKERS.check("workers", "workers", workers)
        self.client: Any = None
        self.workers = min(workers or len(os.sched_getaffinity(0)), max(most, 1))
        self.own = executor is None
        if isinstance(executor, str):
            self._connect(executor)
        elif executor is not None:
            self.executor = executor
            self.workers = getattr(executor, "_max_workers", None) or self.workers
        else:
            self.renew()
        self.window = 1 if isinstance(self.executor, _Here) else self.workers + 1

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
        """Let go; `now` ends what is still being measured."""
        if now and self.own and self.workers > 1:
            self.executor.shutdown(wait=True, kill_workers=True)  # type: ignore[call-arg]
        if self.client is not None:
            self.client.close()


def deaths(error: BaseException) -> int:
    """How many deaths of workers an error stands for: none when it is about something else."""
    if isinstance(error, (BrokenExecutor, CancelledError)):
        return 1
    return 4 if type(error).__name__ == "KilledWorker" else 0  # Dask has already tried so often
