"""Clocks that jump and processes that are suspended cost nobody the game."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import in_child

import gamekit as gk


def steady(position):
    time.sleep(0.02)
    return position.moves()[0]


JUMPING = """
import time
now = time.time_ns
time.time_ns = lambda: now() + 86_400 * 10**9 * (now() // 10**7 % 2)  # a day on and back, a hundred times a second
time.time = lambda: time.time_ns() / 1e9
import gamekit as gk

def steady(position):
    time.sleep(0.013)
    return position.moves()[0]

for player in (steady, "alphabeta(depth=3)"):
    print(*gk.match("connect_four", player, "random", games=2, move_seconds=0.5, workers=1).termination)
"""


def test_a_jump_of_the_wall_clock_is_no_forfeit():
    run = subprocess.run([sys.executable, "-c", JUMPING], capture_output=True, text=True, check=False)
    assert run.stdout == "win win\nwin win\n", run.stderr


def check_suspended(seconds):
    """A player's process stopped in the middle of a move: it goes on, and the move counts."""
    stopped = []

    def pause():
        time.sleep(0.4)
        for child in children():
            os.kill(child, signal.SIGSTOP)
            stopped.append(child)
        time.sleep(seconds)
        for child in stopped:
            os.kill(child, signal.SIGCONT)

    thread = threading.Thread(target=pause)
    thread.start()
    found = gk.match("connect_four", steady, steady, games=4, move_seconds=0.5, workers=1)
    thread.join()
    assert stopped
    assert set(found.termination) == {"win"}


def children():
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return [int(pid) for pid in file.read().split() if is_player(int(pid))]


def is_player(pid):
    """The guarded process is a fork of this one: the same command line."""
    with open(f"/proc/{pid}/cmdline", "rb") as theirs, open("/proc/self/cmdline", "rb") as ours:
        return theirs.read() == ours.read()


def test_a_suspended_player_does_not_forfeit():
    check_suspended(1.5)


@pytest.mark.long
def test_a_player_suspended_five_seconds_does_not_forfeit():
    check_suspended(5)


@pytest.mark.parametrize("kind", ["function", "trusted", "custom heuristic"])
def test_everything_suspended_is_no_forfeit(kind):
    """As Ctrl-Z or a sleeping laptop would: parent and player stop together, whichever way the game is played."""

    @gk.heuristic("connect_four")
    def middle(board, me, params):
        return 1.0 if board[5, 3] == me else 0.0

    player = {"function": steady, "trusted": "alphabeta(depth=7)"}.get(kind, "alphabeta(depth=7,heuristic=middle)")

    def work():
        me = os.getpid()
        os.setpgid(0, 0)
        gk.match("connect_four", player, player, games=2, move_seconds=9, workers=1)  # nothing is compiled later
        waker = os.fork()
        if waker == 0:
            time.sleep(0.5)
            with open(f"/proc/{me}/task/{me}/children") as file:
                everyone = [me, *(int(pid) for pid in file.read().split() if int(pid) != os.getpid())]
            for pid in everyone:
                os.kill(pid, signal.SIGSTOP)
            time.sleep(1.5)
            for pid in everyone:
                os.kill(pid, signal.SIGCONT)
            os._exit(0)
        found = set()
        while os.waitpid(waker, os.WNOHANG) == (0, 0):
            found |= set(gk.match("connect_four", player, player, games=2, move_seconds=0.5, workers=1).termination)
        os._exit(0 if found == {"win"} else 3)

    assert in_child(work) == 0
