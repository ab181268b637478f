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
import glob
import itertools
import marshal
import mmap
import os
import resource
import select
import signal
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

# The log's first words; the task's own follow. STARTED is when the current step began, 0 between steps; CREDIT is how
# long it was suspended, both in nanoseconds; WATCHED is the child's end of the pipe, 0 without a child.
TASK, STARTED, CREDIT, WATCHED, RENEW, OWN = range(6)
TICK = 0.05  # seconds between two looks of the parent
GRACE = 0.4  # seconds beyond the limit before a silent child is ended
ATTEMPTS = 2  # a task whose process dies this often is recorded as a crash
PATIENCE = 60.0  # seconds, in all, that a child alone may stand still at no cost
OUT_OF_MEMORY = 77  # exit code of a child that could not even say so
FLUSH = 0.05  # seconds of results a child may keep to itself
STOPS = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
FORK = threading.Lock()  # held while forking, and by who compiles: a child must not inherit a compiler at work
CHILDREN = itertools.count()


def log_of(words: int, shared: bool = False) -> memoryview:
    """A log with room for that many words of the task's own."""
    size = 8 * (OWN + words)
    return memoryview(mmap.mmap(-1, size) if shared else bytearray(size)).cast("q")


def overdue(log: memoryview, limit: float) -> bool:
    """Whether the current step has taken longer than `limit` seconds, without the time it was suspended."""
    passed = time.monotonic_ns() - log[STARTED]
    if passed > limit * 1e9 and log[WATCHED]:
        time.sleep(4 * TICK)  # after a suspension the parent needs a moment to notice it too
        passed -= log[CREDIT]
    return passed > limit * 1e9


def leave_if_cut_off(log: memoryview) -> None:
    """End a child that can no longer tell its parent anything, while the log still says whose doing it was."""
    try:
        os.fstat(log[WATCHED])
    except OSError:
        os._exit(1)


def die_with_parent() -> None:
    """Ask the kernel to end this process with the thread that started it."""
    _prctl(1, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    """Linux's process control; elsewhere nothing happens."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value)


def _limit_of(pid: int) -> int:
    try:
        return resource.prlimit(pid, resource.RLIMIT_AS)[0]
    except OSError:  # gone, or somebody else's
        return 0


def guarded(
    count: int,
    work: Callable[[int], Any],
    failed: Callable[[int, str, str], Any],
    log: memoryview,
    limit: float | None = None,
    memory: int | None = None,
) -> Iterator[Any]:
    """`work(task)` for every task below `count`, in order; a task that fails gives `failed(task, label, note)`.

    Results are plain tuples, numbers and texts. `limit` is in seconds a step, `memory` in megabytes beyond what the
    process already uses.
    """
    at, known, deaths = 0, dict[int, Any](), Counter[int]()
    while at < count:
        pending = [task for task in range(at, count) if task not in known]
        child = _Child(log, memory)
        try:
            child.start(pending, work)
            for result in child.results(limit):
                known[pending.pop(0)] = result
                while at in known:
                    yield known.pop(at)
                    at += 1
        finally:
            child.end()
        label, note = child.verdict() if pending else ("", "")
        if label:
            culprit = log[TASK] if log[TASK] in pending else pending[0]
            deaths[culprit] += 1
            if label != "crash" or deaths[culprit] >= ATTEMPTS:
                known[culprit] = failed(culprit, label, note)
        while at in known:
            yield known.pop(at)
            at += 1


class _Child:
    """One forked process at work."""

    def __init__(self, log: memoryview, memory: int | None):
        self.log, self.late, self.pid, self.patience = log, False, 0, PATIENCE
        self.status: int | None = None
        self.read, self.write = os.pipe()
        # A limit on memory is inherited by whatever the child starts. As no two children have quite the same, strays
        # are known by it.
        self.room = 2**62
        if memory:
            with contextlib.suppress(OSError), open("/proc/self/statm", "rb") as file:
                self.room = int(file.read().split()[0]) * mmap.PAGESIZE + memory * 2**20
        self.room += next(CHILDREN) % mmap.PAGESIZE

    def start(self, tasks: list[int], work: Callable[[int], Any]) -> None:
        log, parent = self.log, os.getpid()
        log[TASK], log[STARTED], log[CREDIT], log[WATCHED], log[RENEW] = tasks[0], 0, 0, self.write, 0
        sys.stdout.flush()
        sys.stderr.flush()
        _prctl(36, 1)  # strays of the child become this process's children
        # Ctrl-C between the fork and the child's first line would leave a second sweep running in the child.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
        try:
            with FORK, warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads: the child starts none
                self.pid = os.fork()
            if self.pid == 0:
                self._live(parent, tasks, work, mask)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.close(self.write)
        self.write = -1

    def results(self, limit: float | None) -> Iterator[Any]:
        """What the child sends until it ends, or is overdue."""
        buffer, closed, gone, last = bytearray(), False, False, time.monotonic()
        while True:
            wait = 0 if gone else 0.001 if closed else TICK
            ready, _, _ = select.select([] if closed else [self.read], [], [], wait)
            now = time.monotonic()
            if ready:
                data = os.read(self.read, 1 << 16)
                closed = not data  # by its end, or on purpose
                buffer += data
                while len(buffer) >= 4 and len(buffer) >= 4 + (size := int.from_bytes(buffer[:4], "little")):
                    batch = marshal.loads(bytes(buffer[4 : 4 + size]))
                    del buffer[: 4 + size]
                    yield from batch
            elif gone:
                return
            else:
                gone = self._ended()  # whoever else may still hold the pipe
            if limit and not gone:
                self.log[CREDIT] += int(self._asleep(now - last) * 1e9)
                started = self.log[STARTED]
                self.late = bool(started) and now * 1e9 - started - self.log[CREDIT] > (limit + GRACE) * 1e9
                if self.late:
                    return
            last = now

    def _asleep(self, passed: float) -> float:
        """Seconds since the last look for which the child need not pay: somebody suspended it."""
        if passed > 5 * TICK:  # this process as well
            return passed - TICK
        asleep = passed if self.patience > 0 and self._suspended() else 0.0
        self.patience -= asleep
        return asleep

    def _suspended(self) -> bool:
        """Whether somebody else seems to have stopped the child: no system call of its own, and no helper it has."""
        home, whom = Path("/proc", str(self.pid)), {0, self.pid, 2**32 - self.pid}
        try:
            if (home / "stat").read_bytes().rsplit(b")", 1)[1].split()[0] != b"T":
                return False
            calls = [[int(word, 0) for word in file.read_text().split()] for file in home.glob("task/*/syscall")]
        except (OSError, ValueError):
            return False
        if any(len(call) > 3 and call[1] & 0xFFFFFFFF in whom and STOPS & set(call[2:4]) for call in calls):
            return False  # such as kill(pid, SIGSTOP)
        return self._strays() == [self.pid] and not any(f.read_text() for f in home.glob("task/*/children"))

    def _ended(self, options: int = os.WNOHANG) -> bool:
        if self.status is None:
            pid, status = os.waitpid(self.pid, options)
            self.status = os.waitstatus_to_exitcode(status) if pid else None
        return self.status is not None

    def end(self) -> None:
        """End the child and all that it has started, wherever that has gone."""
        os.close(self.read)
        if self.write >= 0:
            os.close(self.write)
        if self.pid:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            if not self._ended():
                os.kill(self.pid, signal.SIGKILL)
                self._ended(0)
            while strays := self._strays():
                for pid in strays:
                    with contextlib.suppress(ProcessLookupError, ChildProcessError):
                        os.kill(pid, signal.SIGKILL)
                        os.waitpid(pid, 0)
        _prctl(36, 0)

    def _strays(self) -> list[int]:
        """Processes that have become this one's children and have the child's limit."""
        found = []
        for file in glob.glob("/proc/self/task/*/children"):
            with contextlib.suppress(OSError):
                found += [pid for pid in map(int, Path(file).read_text().split()) if _limit_of(pid) == self.room]
        return found

    def verdict(self) -> tuple[str, str]:
        """Why the child stopped before its tasks were done: a label and a note; none if it asked to be renewed."""
        if self.late:
            return "timeout", "no answer within the limit"
        code = self.status or 0
        if code == 0 and self.log[RENEW]:
            return "", ""
        if code == OUT_OF_MEMORY:
            return "memory", "MemoryError"
        return "crash", f"the process ended by signal {-code}" if code < 0 else f"the process ended with exit {code}"

    # ---------------------------------------------------------------------------- in the child

    def _live(self, parent: int, tasks: list[int], work: Callable[[int], Any], mask: Any) -> NoReturn:
        """All that a child does, from the fork to its end."""
        try:
            os.setpgid(0, 0)
            die_with_parent()
            if os.getppid() != parent:
                os._exit(1)
            self._keep_to_itself()
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            self._work(tasks, work)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        except BaseException:
            os._exit(1)
        finally:
            os._exit(0)

    def _keep_to_itself(self) -> None:
        """Leave the parent's terminal alone, and keep within bounds."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        faulthandler.disable()  # its last words would go to the parent's terminal
        gc.freeze()  # the parent's objects are not worth a look, and looking would copy their pages
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  (a notebook's own stdout is no file)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (self.room, resource.RLIM_INFINITY))

    def _work(self, tasks: list[int], work: Callable[[int], Any]) -> None:
        log, batch, sent = self.log, [], time.monotonic()
        for task in tasks:
            log[TASK] = task
            batch.append(work(task))
            if log[RENEW] or task == tasks[-1] or time.monotonic() - sent > FLUSH:
                data = marshal.dumps(batch)
                data = len(data).to_bytes(4, "little") + data
                while data:
                    data = data[os.write(self.write, data) :]
                batch, sent = [], time.monotonic()
            if log[RENEW]:
                return
