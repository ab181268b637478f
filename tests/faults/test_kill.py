"""A sweep killed at any moment, writes included, goes on as if nothing had happened."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from conftest import games, in_child, products, start_child
from gamekit.experiments.old_sweep import sweep
from gamekit.experiments.old_verify import verify

from gamekit.experiments import old_store as rooms


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at_write(number, small, folder):
    """Run the sweep and die at its n-th write: before or after a file's steps, or at a statement of the database."""
    done = 0

    def count():
        nonlocal done
        done += 1
        if done == number:
            die()

    def counted(call):
        def step(*arguments, **named):
            count()
            result = call(*arguments, **named)
            count()
            return result

        return step

    def run():
        connect = sqlite3.connect

        def traced(*arguments, **named):
            db = connect(*arguments, **named)
            db.set_trace_callback(lambda text: count() if "SELECT" not in text else None)
            return db

        rooms.sqlite3.connect = traced
        rooms.os.replace, rooms.os.fsync = counted(os.replace), counted(os.fsync)
        sweep(**small, out=folder, workers=1)
        (folder / "writes").write_text(str(done))

    return in_child(run)


@pytest.fixture(scope="module")
def writes(small, tmp_path_factory):
    """How many writes there are to be killed at."""
    folder = tmp_path_factory.mktemp("count") / "s"
    assert kill_at_write(0, small, folder) == 0
    return int((folder / "writes").read_text())


def resumed(small, folder, expected):
    """Resume, and compare with what an undisturbed sweep leaves."""
    kept = games(folder) if (folder / "records.sqlite").exists() else []
    report = verify(folder, quick=True)
    assert report.ok, report.problems
    assert not report.complete or products(folder) == products(expected)
    with pytest.MonkeyPatch.context() as patch:
        played = []
        import gamekit.pool

        play = gamekit.pool.play_job
        patch.setattr(gamekit.pool, "play_job", lambda packed, job: played.append(job.games) or play(packed, job))
        with pytest.warns(RuntimeWarning, match="is gone") if (folder / "lock").exists() else nothing():
            sweep(**small, out=folder, workers=1)
    assert sum(played) == len(games(expected)) - len(kept)  # nothing stored is played again
    assert games(folder) == games(expected)
    assert products(folder) == products(expected)
    assert verify(folder).complete
    assert {f.name for f in folder.iterdir()} == {f.name for f in expected.iterdir()}  # and no drafts


def nothing():
    import contextlib

    return contextlib.nullcontext()


def check_writes(numbers, small, expected, tmp_path):
    killed = 0
    for number in numbers:
        folder = tmp_path / str(number)
        killed += kill_at_write(number, small, folder) == -signal.SIGKILL
        resumed(small, folder, expected)
    return killed


def test_killed_at_some_writes(small, expected, tmp_path, writes):
    moments = [4, writes // 3, writes * 4 // 5]  # creation, a job's transaction, a figure
    assert check_writes(moments, small, expected, tmp_path) == len(moments)


def test_stopped_then_killed_then_resumed(small, expected, tmp_path, monkeypatch):
    """An orderly stop seals what is there; going on breaks the seal first, so a kill leaves no false one."""
    folder = tmp_path / "s"
    run = sys.modules["gamekit.sweep"].run

    def some(plan, jobs, pool, keep):
        run(plan, jobs[:3], pool, keep)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["gamekit.sweep"], "run", some)
        with pytest.raises(KeyboardInterrupt, match="3 of 8 jobs are stored"):
            sweep(**small, out=folder, workers=1)
    assert verify(folder).status == "3 of 8"
    assert (folder / "seal.json").exists()
    assert kill_at_write(8, small, folder) == -signal.SIGKILL
    resumed(small, folder, expected)


@pytest.mark.long
def test_killed_at_25_writes(small, expected, tmp_path, writes):
    moments = [1 + i * (writes - 1) // 24 for i in range(25)]
    assert check_writes(moments, small, expected, tmp_path) == 25


@pytest.mark.long
def test_killed_at_25_moments(small, expected, tmp_path):
    """From outside, at any time, with workers."""
    chance = random.Random(2)
    midway = 0
    for number in range(25):
        folder = tmp_path / str(number)
        workers = 1 + number % 2
        pid = start_child(lambda folder=folder, workers=workers: sweep(**small, out=folder, workers=workers))
        time.sleep(chance.random() * 1.5 * workers)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        midway += verify(folder, quick=True).status not in ("absent", "complete")
        resumed(small, folder, expected)
    assert midway >= 8  # the others were killed before the first write or after the last


SCRIPT = """
import sys
from gamekit.sweep import sweep
sweep("connect_four", "alphabeta(depth=5)", "random", games_each=100000, block=10, out=sys.argv[1],
      workers=int(sys.argv[2]))
"""


@pytest.mark.parametrize(
    ("number", "workers"),
    [
        (signal.SIGINT, 1),
        pytest.param(signal.SIGTERM, 2, marks=pytest.mark.long),
        pytest.param(signal.SIGTERM, 1, marks=pytest.mark.long),
        pytest.param(signal.SIGINT, 2, marks=pytest.mark.long),
    ],
)
def test_stopping_says_how_to_resume(tmp_path, number, workers):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "s"), str(workers)],
        text=True,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not games_stored(tmp_path / "s") and time.monotonic() < deadline:
        time.sleep(0.1)
    started = time.monotonic()
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert time.monotonic() - started < 2
    assert process.returncode != 0
    assert "run the same command again to resume" in said
    report = verify(tmp_path / "s")
    assert report.ok
    assert not report.complete
    assert 0 < report.done < report.jobs
    assert not (tmp_path / "s" / "lock").exists()


def games_stored(folder):
    try:
        return len(games(folder))
    except sqlite3.Error:
        return 0
