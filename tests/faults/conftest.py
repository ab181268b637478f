"""What the fault tests share: sweeps in processes that may be killed, and what a folder holds afterwards."""

import os
import sqlite3
import sys
import traceback
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def in_child(work):
    """Run `work` in a forked process; its exit code, or minus the signal that ended it."""
    pid = start_child(work)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def start_child(work):
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def products(folder):
    """Tables and figures, byte by byte."""
    return {
        str(f.relative_to(folder)): f.read_bytes()
        for part in ("tables", "figures")
        if (folder / part).exists()
        for f in sorted((folder / part).iterdir())
    }


def games(folder):
    """Every record, in the order of the grid, without its digest."""
    db = sqlite3.connect(f"file:{folder / 'records.sqlite'}?mode=rw", uri=True)  # never makes the file by looking
    try:
        return db.execute("SELECT * FROM games ORDER BY job, number").fetchall()
    finally:
        db.close()


@pytest.fixture(scope="session")
def small():
    """A short sweep in eight jobs: wins and loops, random and deterministic players."""
    return {
        "games": ["conga"],
        "players": ["alphabeta(depth=1)", "random"],
        "opponents": ["alphabeta(depth=1,ties=random)"],
        "games_each": 8,
        "openings": 2,
        "seed": 3,
        "block": 2,
    }


@pytest.fixture(scope="session")
def expected(small, tmp_path_factory):
    """What that sweep leaves when nothing happens to it."""
    from gamekit.experiments.old_sweep import sweep

    folder = tmp_path_factory.mktemp("expected") / "s"
    sweep(**small, out=folder, workers=1)
    return folder
