"""Where slices are sent: processes on this machine (loky), a Dask cluster, or any `concurrent.futures.Executor`."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any

from ..errors import GamekitError
from ..matches import sandbox
from ..specs import Param

WORKERS = Param(1, "processes on this machine", 1, 4096)
PATIENCE = 10.0  # seconds to wait for a cluster: for its scheduler, or for workers


def _start_worker(parent: int) -> None:
    sandbox.die_with_parent()
    if os.getppid() != parent:  # it died before this process could ask to die with it
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinator to handle


def workers_of(workers: Any, executor: Any) -> int:
    """How many processes are asked for, or an error that says what is allowed."""
    if workers is not None and executor is not None:
        raise GamekitError("give workers or executor, not both")
    if workers is None and os.environ.get("GAMEKIT_WORKERS", "").isdigit():
        workers = int(os.environ["GAMEKIT_WORKERS"])
    cores = len(os.sched_getaffinity(0))
    return cores if workers is None else WORKERS.check("workers", "workers", workers)


class _Here(Executor):
    """Works in this process (or a guarded child of it), one slice at a time."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future:
        future: Future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Pool:
    """An executor that can be started anew when a worker died in it."""

    def __init__(self, workers: int | None, executor: Executor | str | None, most: int):
        """`most` is how many slices there can be at once: no more workers than that are started."""
        self.client: Any = None
        self.workers = min(workers_of(workers, executor), max(most, 1))
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
        self._lost = f"no Dask scheduler answers at {address!r}"
        try:
            # Asked first, for a client that finds no certificate, or does not know the protocol, takes very long.
            if not address.startswith(("tcp://", "tls://")) or address.split() != [address]:
                raise ValueError("the address of a scheduler looks like tcp://host:port")
            if address.startswith("tls:") and not Security().get_connection_args("client").get("ssl_context"):
                raise ValueError("tls needs a certificate, which Dask's setting distributed.comm.tls names")
            self.client = Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise GamekitError(f"{self._lost}: {error}") from None
        try:
            self.client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            self.client.close()
            raise GamekitError(f"the Dask scheduler at {address!r} has no workers") from None
        self.executor = self.client.get_executor()
        self.workers = max(sum(self.client.nthreads().values()), 1)
        self._alive = time.monotonic()

    def renew(self) -> None:
        """A new executor in place of a broken one; a cluster replaces its workers itself."""
        if self.client is not None:
            self.check()
            return
        if not self.own:
            raise GamekitError("the executor is broken")
        if self.workers == 1:
            self.executor = _Here()
            return
        from loky import get_reusable_executor

        self.executor = get_reusable_executor(
            self.workers, timeout=60, initializer=_start_worker, initargs=(os.getpid(),)
        )

    def check(self) -> None:
        """Refuse to wait for a cluster that is gone."""
        if self.client is None:
            return
        if self.client.status == "running" and self.client.scheduler_info()["workers"]:
            self._alive = time.monotonic()
        elif self.client.status != "running" or time.monotonic() - self._alive > PATIENCE:
            raise GamekitError(f"{self._lost} any more, or it has no workers")

    def stop(self, now: bool) -> None:
        """Let go; `now` ends what is still being measured."""
        if now and self.own and self.workers > 1:
            self.executor.shutdown(wait=True, kill_workers=True)  # type: ignore[call-arg]
        if self.client is not None:
            self.client.close()


def died(error: BaseException) -> bool:
    """Whether an error stands for the death of a worker, and not for something else."""
    return isinstance(error, (BrokenExecutor, CancelledError)) or type(error).__name__ == "KilledWorker"
