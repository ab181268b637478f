"""How the search scales over threads and workers, how its cost grows, how soon it is ready."""

from __future__ import annotations

import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import gamekit as gk
from gamekit.search.deepening import Search

from .beside_c import midgame
from .evaluations import bench_centre, bench_open_rows, bench_owned, bench_pairs, bench_squares
from .measure import Row, timed

DEPTH = 10


def work(depth: int) -> int:
    """One search, in whatever thread or process."""
    game = gk.game("connect_four")
    return Search(game, bench_centre.leaf(game)).run(game.start(), depth=depth).counters["generated"]


def scaling(quick: bool) -> Iterator[Row]:
    """The same search several times at once, beside once."""
    many, depth, rounds = min(os.cpu_count() or 1, 8), DEPTH - 2 if quick else DEPTH, 3 if quick else 5
    work(2)  # warm, so that workers are forked ready

    def together(pool: Executor) -> float:
        return timed(lambda: list(pool.map(work, [depth] * many)), clock=time.perf_counter)

    fork = get_context("fork")
    for name, pool in (("threads", ThreadPoolExecutor(many)), ("workers", ProcessPoolExecutor(many, fork))):
        with pool:
            list(pool.map(work, [2] * many))
            alone, at_once = [], []
            for _ in range(rounds):
                alone.append(timed(lambda: work(depth), clock=time.perf_counter))
                at_once.append(together(pool))
        ratios = [many * a / b for a, b in zip(alone, at_once, strict=True)]
        yield Row(
            "scaling",
            f"{many} {name} beside one",
            statistics.median(ratios),
            min(ratios),
            max(ratios),
            ours=statistics.median(at_once),
            theirs=statistics.median(alone),
            note=f"at best {many}; the machine's load was {os.getloadavg()[0]:.1f}",
        )


GROWTH = (
    ("connect_four", bench_centre, 10),
    ("candy(board=ReesesPieces)", bench_owned, 6),
    ("conga", bench_squares, 7),
    ("mnk(m=15,n=15,k=5)", bench_pairs, 4),
    ("connect_k(columns=9,rows=7,k=5)", bench_open_rows, 5),
)


def growth(quick: bool) -> Iterator[Row]:
    """Alpha-beta by depth for every game, and by board size for m,n,k."""
    for spec, heuristic, deepest in GROWTH:
        game = gk.game(spec)
        start = midgame(game) if spec == "conga" else game.start()
        for depth in range(1, deepest + (0 if quick else 1)):
            yield growing(game, heuristic, start, depth, f"{game.name}, depth {depth}")
    for side in (3, 5, 7, 9, 11, 13, 15):
        game = gk.game(f"mnk(m={side},n={side},k={min(side, 5)})")
        yield growing(game, bench_pairs, game.start(), 2 if quick else 3, f"mnk {side}×{side}")


def growing(game: gk.Game, heuristic: gk.Heuristic, start: gk.Position, depth: int, what: str) -> Row:
    search = Search(game, heuristic.leaf(game))
    found = search.run(start, depth=depth)
    spent = statistics.median(timed(lambda: search.run(start, depth=depth)) for _ in range(3))
    nodes = found.counters["generated"]
    return Row("growth", what, 1e9 * spent / nodes, unit="ns a node", ours=spent, nodes=nodes)


START_UP = """
import json
from time import process_time as now

times = [now()]
import gamekit as gk
from gamekit.search import deepening as deepen
times.append(now())
for part in (deepen.walk, deepen.search, deepen.deepening):
    part.prepare()
times.append(now())
gk.player("alphabeta(depth=4)").choose(gk.game("connect_four").start())
times.append(now())

def first_one(board, me, params):
    n = 0
    for row in range(4):
        for col in range(4):
            if board[row, col].owner == me:
                n += board[row, col].stones
    return n

def later_one(board, me, params):
    n = 0
    for row in range(4):
        for col in range(4):
            if board[row, col].owner == 3 - me:
                n -= 1
    return n

for function in (first_one, later_one):
    gk.heuristic("conga")(function).leaf(gk.game("conga"))
    times.append(now())
print(json.dumps(times))
"""
WHEN_READY = (
    # what, floor, aim; in the order of the script
    ("Python itself", None, None),
    ("import gamekit", None, None),
    ("the kernel from cache, numba's own first use included", 0.3, 0.05),
    ("a first search with a built-in heuristic, from cache", None, None),
    ("compiling a process's first heuristic", 2.0, 0.5),
    ("compiling a later heuristic", 0.8, 0.3),
)
READY = 4  # so many of them come before a process is ready


def startup(quick: bool) -> Iterator[Row]:
    """Fresh processes with a warm cache, by their own CPU time: less than the wall clock where others compute too.

    Whatever comes first also pays for numba's own first use; here that is the kernel.
    """
    runs = []
    for _ in range(3 if quick else 6):
        done = subprocess.run([sys.executable, "-c", START_UP], capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"a new process failed: {done.stderr.strip().splitlines()[-1]}")
        times = [0.0, *json.loads(done.stdout)]
        runs.append([b - a for a, b in itertools.pairwise(times)])
    del runs[0]  # it warmed the cache
    yield ready("a new process until its first search is done", [sum(run[:READY]) for run in runs], 1.5, None)
    for (what, floor, aim), spent in zip(WHEN_READY, zip(*runs, strict=True), strict=True):
        yield ready(what, list(spent), floor, aim)


def ready(what: str, spent: list[float], floor: float | None, aim: float | None) -> Row:
    middle = statistics.median(spent)
    return Row(
        "startup", what, middle, min(spent), max(spent), floor=floor, aim=aim, at_most=True, unit="s", ours=middle
    )
