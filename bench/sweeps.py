"""What a sweep costs beside the searches in it, how it scales over workers, how fast a million games come and go."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from unittest import mock

import gamekit as gk
from gamekit.matches.openings import openings
from gamekit.matches.referee import Referee, Rules, fixtures, two_players
from gamekit.matches.whole_game import WholeGame

from .measure import Row, timed

GAME, PLAYER, OPPONENT = "connect_four", "alphabeta(depth=4)", "alphabeta(depth=4,ties=random)"


def sweeps(quick: bool) -> Iterator[Row]:
    yield from overhead(200 if quick else 1000, 3)
    yield from workers(500 if quick else 8000, 3)
    yield from a_million(20_000 if quick else 1_000_000)


def overhead(games: int, rounds: int) -> Iterator[Row]:
    """CPU seconds of two sweeps, one four times as large, beside those of their searches alone.

    Between the two what is done once a sweep drops out: reading the plan, tables, figures. The second row has it in.
    """
    swept(games // 10), searched(games // 10)
    small, large, bare = [], [], []
    for _ in range(rounds):
        small.append(swept(games))
        large.append(swept(4 * games))
        bare.append((searched(games), searched(4 * games)))
    # The least of several is what a program costs when nobody disturbs it; of differences a median would not be.
    (few, more), low, high = (min(part) for part in zip(*bare, strict=True)), min(small), min(large)
    each, whole = 1 - (more - few) / (high - low), 1 - more / high
    row = _row("match, record and store, share of a sweep of depth-4 searches", each, floor=0.25, at_most=True)
    row.note = f"{games} and {4 * games} games, one worker"
    yield row
    row = _row(f"the same with plan, tables and figures, {4 * games} games", whole)
    row.ours, row.theirs = high, more
    yield row


def _row(what: str, share: float, **bounds: object) -> Row:
    return Row("sweep", what, share, unit="of its time", **bounds)  # type: ignore[arg-type]


def swept(games: int, workers: int = 1) -> float:
    """CPU seconds of a sweep, in this process and its children."""
    before = _spent()
    with tempfile.TemporaryDirectory() as folder:
        gk.sweep(
            GAME,
            PLAYER,
            [OPPONENT],
            games_each=games,
            openings=games // 2,
            seed=1,
            out=f"{folder}/sweep",
            workers=workers,
            progress=False,
        )
    return _spent() - before


def _spent() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def searched(games: int) -> float:
    """CPU seconds within compiled code of the same games."""
    board = gk.game(GAME)
    schedule = fixtures(1, board, OPPONENT, openings(board, games // 2, 1), range(games))
    referee = Referee(board, two_players(PLAYER, OPPONENT, board), Rules())
    spent, play = [0.0], WholeGame.play

    def watched(game: WholeGame) -> int:
        start = time.process_time()
        try:
            return play(game)
        finally:
            spent[0] += time.process_time() - start

    with mock.patch.object(WholeGame, "play", watched):
        for _record in referee.games(schedule, guarded=False):
            pass
    return spent[0]


def workers(games: int, rounds: int) -> Iterator[Row]:
    """The same sweep by one worker and by two, by the wall clock; both with their processes started."""

    def by(count: int) -> float:
        return timed(lambda: swept(games, count), clock=time.perf_counter)

    swept(200, 2)
    ratios = [by(1) / by(2) for _ in range(rounds)]
    yield Row(
        "sweep",
        f"two workers beside one, {games} games of depth-4 searches",
        statistics.median(ratios),
        min(ratios),
        max(ratios),
        floor=1.7,
        note=f"the machine's load was {os.getloadavg()[0]:.1f}",
    )


READ = """
import sys, time
import pandas, pyarrow
from gamekit.experiments.measure import load
start = time.perf_counter()
frame = load(sys.argv[1])
spent = time.perf_counter() - start
largest = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))  # the parent's does not count
print(len(frame), spent, int(largest.split()[1]) / 1024)
"""


def a_million(games: int) -> Iterator[Row]:
    """Random games played, recorded, and read back by a new process."""
    shown = f"{games:,}".replace(",", " ")
    with tempfile.TemporaryDirectory() as folder:
        spent = timed(
            lambda: gk.sweep(
                GAME, "random", ["random"], games_each=games, seed=1, out=f"{folder}/sweep", workers=2, progress=False
            ),
            clock=time.perf_counter,
        )
        yield Row(
            "sweep",
            "100 000 random games played and recorded, two workers",
            spent * 1e5 / games,
            floor=60,
            at_most=True,
            unit="s",
            ours=spent,
            note=f"{shown} games in {spent:.1f} s",
        )
        done = subprocess.run([sys.executable, "-c", READ, f"{folder}/sweep"], capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"reading failed: {done.stderr.strip().splitlines()[-1]}")
        count, seconds, memory = (float(word) for word in done.stdout.split())
        if count != games:
            raise AssertionError(f"{shown} games were stored, {count:g} read")
        yield Row(
            "sweep", f"{shown} games read into a data frame", seconds, floor=10, at_most=True, unit="s", ours=seconds
        )
        yield Row(
            "sweep", f"{shown} games read, the process at its largest", memory, floor=500, at_most=True, unit="MB"
        )
