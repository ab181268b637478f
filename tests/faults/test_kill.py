"""A sweep killed at any moment, writes included, goes on as if nothing had happened."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future

import psutil
import pytest
from conftest import in_child, parts, products, start_child, stored

import gamekit as gk
from gamekit.analysis.overview import run_file
from gamekit.experiments.folder import verify


def kill_at_write(number, sweep_file, folder):
    """Run the sweep and die at its n-th step of writing: before or after a file is made, flushed, renamed, removed."""
    done = 0

    def counted(call):
        def step(*arguments, **named):
            count()
            result = call(*arguments, **named)
            count()
            return result

        return step

    def count():
        nonlocal done
        done += 1
        if done == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def run():
        for name in ("open", "fsync", "replace", "unlink", "mkdir"):
            setattr(os, name, counted(getattr(os, name)))
        run_file(sweep_file, out=folder, workers=1)
        folder.with_suffix(".writes").write_text(str(done))

    return in_child(run)


@pytest.fixture(scope="module")
def writes(sweep_file, tmp_path_factory):
    """How many moments of writing there are to be killed at."""
    folder = tmp_path_factory.mktemp("count") / "s"
    assert kill_at_write(0, sweep_file, folder) == 0
    return int(folder.with_suffix(".writes").read_text())


def resumed(sweep_file, folder, expected):
    """Resume, and compare with what an undisturbed sweep leaves."""
    report = verify(folder)
    assert report.ok or report.status == "absent", report.problems
    if report.complete:
        assert products(folder)["games.parquet"] == products(expected)["games.parquet"]
    kept = {name: (folder / "parts" / name).stat().st_mtime_ns for name in parts(folder)}
    left = (folder / "lock").exists() and (folder / "lock").read_text()
    with pytest.warns(RuntimeWarning, match="is gone") if left else contextlib.nullcontext():
        run_file(sweep_file, out=folder, workers=1)
    assert stored(folder) == 32
    now = {name: (folder / "parts" / name).stat().st_mtime_ns for name in parts(folder)}
    assert kept.items() <= now.items()  # nothing stored is played again
    assert products(folder) == products(expected)
    assert verify(folder).complete
    assert {f.name for f in folder.iterdir()} == {f.name for f in expected.iterdir()}
    assert not list(folder.rglob(".*"))  # and no drafts


def check_writes(numbers, sweep_file, expected, tmp_path):
    killed = 0
    for number in numbers:
        folder = tmp_path / str(number)
        killed += kill_at_write(number, sweep_file, folder) == -signal.SIGKILL
        resumed(sweep_file, folder, expected)
    return killed


def test_killed_at_some_writes(sweep_file, expected, tmp_path, writes):
    moments = [1 + i * (writes - 1) // 5 for i in range(6)]  # the lock, the plan, parts, the frame, a figure, the end
    assert check_writes(moments, sweep_file, expected, tmp_path) == len(moments)


@pytest.mark.long
def test_killed_at_every_write(sweep_file, expected, tmp_path, writes):
    assert check_writes(range(1, writes + 1), sweep_file, expected, tmp_path) == writes


def check_moments(count, sweep_file, expected, tmp_path):
    """Killed from outside, at any time, with one worker and with two."""
    chance, midway = random.Random(2), 0
    for number in range(count):
        folder = tmp_path / str(number)
        workers = 1 + number % 2
        pid = start_child(lambda folder=folder, workers=workers: run_file(sweep_file, out=folder, workers=workers))
        time.sleep(chance.random() * 1.5 * workers)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        midway += verify(folder).status not in ("absent", "complete")
        resumed(sweep_file, folder, expected)
    return midway


def test_killed_at_some_moments(sweep_file, expected, tmp_path):
    check_moments(4, sweep_file, expected, tmp_path)


@pytest.mark.long
def test_killed_at_25_moments(sweep_file, expected, tmp_path):
    assert check_moments(25, sweep_file, expected, tmp_path) >= 5  # the others: before the first write, after the last


SLOW = {"games": "connect_four", "players": "alphabeta(depth=6)", "opponents": "random", "games_each": 100_000}
SCRIPT = f"""
import sys
import gamekit as gk
gk.sweep(**{SLOW}, out=sys.argv[1], workers=int(sys.argv[2]))
"""


def started(folder, workers):
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), str(workers)],
        text=True,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def wait_for(condition, seconds=60, pause=0.05):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(pause)


@pytest.mark.parametrize(
    ("number", "workers"),
    [
        (signal.SIGINT, 1),
        (signal.SIGTERM, 2),
        pytest.param(signal.SIGTERM, 1, marks=pytest.mark.long),
        pytest.param(signal.SIGINT, 2, marks=pytest.mark.long),
    ],
)
def test_stopping_says_how_to_resume(tmp_path, number, workers):
    folder = tmp_path / "s"
    process = started(folder, workers)
    wait_for(lambda: stored(folder))
    family = psutil.Process(process.pid).children(recursive=True)
    before = time.monotonic()
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
    _, said = process.communicate(timeout=30)
    busy = os.getloadavg()[0] > os.cpu_count()
    assert time.monotonic() - before < (6 if busy else 2)
    assert process.returncode != 0
    assert f"{stored(folder):,} of 100,000 games are stored in {folder}; run the same again to resume" in said
    report = verify(folder)
    assert report.ok
    assert 0 < report.done < report.units
    assert not (folder / "lock").exists()
    assert psutil.wait_procs(family, timeout=3)[1] == []


def test_an_interrupt_that_a_finalizer_swallows_is_heard(tmp_path):
    """What is raised inside `__del__` Python only prints; the sweep stops all the same."""

    class Interrupting:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):
                pass

    class Inside(Executor):
        def submit(self, work, /, *arguments, **named):
            future = Future()
            future.set_result(work(*arguments, **named))
            Interrupting()
            return future

    def run():
        try:
            gk.sweep("mnk", "random", "alphabeta(depth={1,2,3,4,5,6,7,8})", 4, out=tmp_path / "s", executor=Inside())
        except KeyboardInterrupt as error:
            (tmp_path / "said").write_text(str(error))
            os._exit(7)

    assert in_child(run) == 7
    assert "of 32 games are stored in" in (tmp_path / "said").read_text()
    assert 0 < verify(tmp_path / "s").done < 32


def test_stopped_then_killed_then_resumed(tmp_path):
    """Each time what was stored stays, and is not played again."""
    folder, kept = tmp_path / "s", {}
    for number in (signal.SIGINT, signal.SIGKILL, signal.SIGTERM):
        process = started(folder, 1)
        wait_for(lambda: len(parts(folder)) > len(kept))  # noqa: B023
        process.send_signal(number)
        process.communicate(timeout=30)
        now = {name: (folder / "parts" / name).stat().st_mtime_ns for name in parts(folder)}
        assert kept.items() < now.items()
        assert verify(folder).ok
        kept = now
    assert stored(folder) < 100_000


def check_no_worker_is_left(folder, pause):
    process = started(folder, 2)
    if pause is None:
        wait_for(lambda: stored(folder))
    else:
        wait_for(psutil.Process(process.pid).children, pause=0.005)
        time.sleep(pause)
    family = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate(timeout=10)
    _, alive = psutil.wait_procs(family, timeout=3)
    alive = [one for one in alive if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
    for one in alive:
        one.kill()
    return len(family), [one.pid for one in alive]


def test_no_worker_outlives_its_sweep(tmp_path):
    count, alive = check_no_worker_is_left(tmp_path / "s", None)
    assert count >= 2
    assert alive == []


@pytest.mark.long
def test_no_worker_outlives_its_sweep_at_start_up(tmp_path):
    """Killed while workers start: those that are half up go too."""
    chance, seen = random.Random(3), 0
    for number in range(15):
        count, alive = check_no_worker_is_left(tmp_path / str(number), chance.random())
        assert alive == []
        seen += count > 0
    assert seen >= 8


def test_a_measurement_of_positions_is_resumed_too(tmp_path):
    """The other measurements share all of this."""
    folder = tmp_path / "s"
    what = {"games": "connect_four", "players": "alphabeta(depth=8)", "positions": 100, "seed": 1}
    pid = start_child(lambda: gk.searches(**what, out=folder, workers=1))
    wait_for(lambda: stored(folder))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert 0 < verify(folder).done < 100
    kept = set(parts(folder))
    with pytest.warns(RuntimeWarning, match="is gone"):
        found = gk.searches(**what, out=folder, workers=2)
    assert kept < set(parts(folder))
    assert found.equals(gk.searches(**what, workers=1))
