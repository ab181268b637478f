"""Runs tasks in a child process that may hang, crash or eat memory; its parent tells which and goes on.

Nothing inside a process can stop a player that swallows exceptions or loops in compiled code, so games in which
code of the user's own takes part are played in a forked child. The two share a log, a few words of memory: the
child notes what it is about to do, and when it is gone or overdue its parent reads there whose fault it was.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gc
import marshal
import mmap
import os
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

# The log's first words; the task's own follow. STARTED is when the current step began, 0 between steps.
TASK, STARTED, CREDIT, WATCHED, RENEW, OWN = range(6)
TICK = 0.05  # seconds between two looks of the parent
GRACE = 0.4  # seconds beyond the limit before a silent child is ended
ATTEMPTS = 2  # a task whose process dies this often is recorded as a crash
OUT_OF_MEMORY = 77  # exit code of a child that could not even say so
FLUSH = 0.05  # seconds of results a child may keep to itself
FORK = threading.Lock()  # held while forking, and by who compiles: a child must not inherit a compiler at work


def log_of(words: int, shared: bool = False) -> memoryview:
    """A log with room for that many words of the task's own."""
    size = 8 * (OWN + words)
    return memoryview(mmap.mmap(-1, size) if shared else bytearray(size)).cast("q")


def overdue(log: memoryview, limit: float, started: int) -> bool:
    """Whether a step that took longer than `limit` seconds really did, or was suspended meanwhile."""
    passed = time.monotonic_ns() - started
    if not log[WATCHED]:
        return passed > limit * 1e9
    time.sleep(4 * TICK)  # after a suspension the parent needs a moment to notice it too
    return passed - log[CREDIT] > limit * 1e9


def die_with_parent() -> None:
    """Ask the kernel to end this process with the thread that started it (Linux; elsewhere nothing happens)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def guarded(
    tasks: Iterable[int],
    work: Callable[[int], Any],
    failed: Callable[[int, str, str], Any],
    log: memoryview,
    limit: float | None = None,
    memory: int | None = None,
) -> Iterator[Any]:
    """`work(task)` for every task, in children; what cannot be had that way comes from `failed(task, label, note)`.

    Results are plain tuples, numbers and texts, in the order of the tasks. `limit` is in seconds a step,
    `memory` in megabytes beyond what the process already uses.
    """
    todo = list(tasks)
    known: dict[int, Any] = {}
    deaths = dict.fromkeys(todo, 0)
    while todo:
        pending = [task for task in todo if task not in known]
        child = _Child(log)
        try:
            child.start(pending, work, memory)
            for result in child.results(limit):
                known[pending.pop(0)] = result
                while todo and todo[0] in known:
                    yield known.pop(todo.pop(0))
            label, note = child.verdict() if pending else ("", "")
        finally:
            child.end()
        if label:
            culprit = log[TASK] if log[TASK] in pending else pending[0]
            deaths[culprit] += 1
            if label != "crash" or deaths[culprit] >= ATTEMPTS:
                known[culprit] = failed(culprit, label, note)
        while todo and todo[0] in known:
            yield known.pop(todo.pop(0))


class _Child:
    """One forked process at work, seen from its parent."""

    def __init__(self, log: memoryview):
        self.log, self.late = log, False
        self.read, self.write = os.pipe()
        self.pid = 0
        self.status: int | None = None

    def start(self, tasks: list[int], work: Callable[[int], Any], memory: int | None) -> None:
        log = self.log
        log[TASK], log[STARTED], log[CREDIT], log[WATCHED], log[RENEW] = tasks[0], 0, 0, 1, 0
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        # Ctrl-C between the fork and the child's first line would leave a second sweep running in the child.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
        try:
            with FORK, warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads: the child starts none
                self.pid = os.fork()
            if self.pid == 0:
                _live(parent, tasks, work, log, self.write, memory, mask)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.close(self.write)
        self.write = -1

    def results(self, limit: float | None) -> Iterator[Any]:
        """What the child sends until it ends, or is ended for being overdue."""
        buffer = bytearray()
        last = time.monotonic()
        while True:
            ready, _, _ = select.select([self.read], [], [], TICK if limit else None)
            now = time.monotonic()
            if limit:
                # A parent that slept too long was suspended, and the child with it; nobody pays for that.
                asleep = now - last - TICK if now - last > 5 * TICK else TICK if self._stopped() else 0.0
                self.log[CREDIT] += int(asleep * 1e9)
            last = now
            if ready:
                data = os.read(self.read, 1 << 16)
                if not data:
                    return
                buffer += data
                while len(buffer) >= 4 and len(buffer) >= 4 + (size := int.from_bytes(buffer[:4], "little")):
                    batch = marshal.loads(bytes(buffer[4 : 4 + size]))
                    del buffer[: 4 + size]
                    yield from batch
            started = self.log[STARTED]
            if limit and started and now * 1e9 - started - self.log[CREDIT] > (limit + GRACE) * 1e9:
                self.late = True
                return

    def verdict(self) -> tuple[str, str]:
        """Why the child stopped before its tasks were done: a label and a note; none if it asked to be renewed."""
        if self.late:
            return "timeout", "no answer within the limit"
        code = self._wait()
        if code == 0 and self.log[RENEW]:
            return "", ""
        if code == OUT_OF_MEMORY:
            return "memory", "MemoryError"
        return "crash", f"the process ended by signal {-code}" if code < 0 else f"the process ended with exit {code}"

    def end(self) -> None:
        if self.write >= 0:
            os.close(self.write)
        if self.pid and self.status is None:
            for kill, target in ((os.killpg, self.pid), (os.kill, self.pid)):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    kill(target, signal.SIGKILL)
            self._wait()
        os.close(self.read)

    def _wait(self) -> int:
        if self.status is None:
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.status

    def _stopped(self) -> bool:
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as file:
                return file.read().rsplit(b")", 1)[1].split()[0] in (b"T", b"t")
        except OSError:
            return False


def _live(
    parent: int,
    tasks: list[int],
    work: Callable[[int], Any],
    log: memoryview,
    write: int,
    memory: int | None,
    mask: Any,
) -> NoReturn:
    """All that a child does, from the fork to its end."""
    try:
        _be_child(parent, memory)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _work(tasks, work, log, write)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except BaseException:
        os._exit(1)
    finally:
        os._exit(0)


def _be_child(parent: int, memory: int | None) -> None:
    """Die with the parent, leave its terminal alone, and keep within bounds."""
    os.setpgid(0, 0)
    die_with_parent()
    if os.getppid() != parent:
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    faulthandler.disable()  # its last words would go to the parent's terminal
    gc.freeze()  # the parent's objects are not worth a look, and looking would copy their pages
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  (a notebook's own stdout is no file)
    if memory:
        import resource

        with contextlib.suppress(OSError, ValueError), open("/proc/self/statm", "rb") as file:
            used = int(file.read().split()[0]) * mmap.PAGESIZE
            resource.setrlimit(resource.RLIMIT_AS, (used + memory * 2**20, resource.RLIM_INFINITY))


def _work(tasks: list[int], work: Callable[[int], Any], log: memoryview, write: int) -> None:
    batch: list[Any] = []
    sent = time.monotonic()
    for task in tasks:
        log[TASK] = task
        batch.append(work(task))
        if log[RENEW] or time.monotonic() - sent > FLUSH:
            _send(write, batch)
            batch, sent = [], time.monotonic()
            if log[RENEW]:
                return
    _send(write, batch)


def _send(write: int, batch: list[Any]) -> None:
    data = marshal.dumps(batch)
    data = len(data).to_bytes(4, "little") + data
    while data:
        data = data[os.write(write, data) :]
