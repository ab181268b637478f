"""gamekit's search beside the same search in C, built here and now by gcc -O3 -march=native."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import gamekit as gk
from gamekit.core import Leaf, Position
from gamekit.search.deepening import Search

from .evaluations import bench_bits, bench_centre, bench_open_rows, bench_owned, bench_pairs, bench_squares, built_in
from .measure import ABSENT, Row, paired

SOURCE = Path(__file__).with_name("twin.c")
COUNTERS = ("generated", "expanded", "leaves", "cutoffs")
NEEDED = 0.03  # seconds a measurement should last at least


def compiler() -> str | None:
    return shutil.which(os.environ.get("CC", "gcc"))


def build(folder: str, name: str, defines: dict[str, object]) -> Callable:
    """The C search with a game's constants."""
    library = Path(folder) / f"{name}.so"
    given = [f"-D{key}={value}" for key, value in defines.items()]
    subprocess.run(
        [compiler() or "gcc", "-O3", "-march=native", "-shared", "-fPIC", *given, "-o", library, SOURCE], check=True
    )
    search = ctypes.CDLL(str(library)).search
    search.restype = ctypes.c_double
    search.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    return search


@dataclass
class Case:
    """A game, where its search starts, and the depths of minimax and of alpha-beta."""

    group: str
    name: str
    game: str
    heuristic: gk.Heuristic
    defines: dict[str, object]
    start: Callable[[gk.Game], Position]
    depths: tuple[int, int]
    floor: float
    aim: float


def first(game: gk.Game) -> Position:
    return game.start()


def midgame(game: gk.Game, plies: int = 24, seed: int = 3) -> Position:
    """A position after random moves: Conga's first moves are too few to measure."""
    chance = random.Random(seed)
    position = game.start()
    for _ in range(plies):
        position = position.after(chance.choice(position.codes()))
    return position


def crowded(game: gk.Game, empty: int = 12, seed: int = 1) -> Position:
    """A large board with few empty cells and no line of five: deep searches of it end."""
    chance = random.Random(seed)
    rows, cols = game.rows, game.cols  # type: ignore[attr-defined]
    cells: tuple[list[int], list[int]] = ([], [])
    for cell in range(rows * cols):
        row, col = divmod(cell, cols)
        cells[(row + 2 * col) // 2 % 2].append(cell)  # a pattern of twos
    for half in cells:
        chance.shuffle(half)
    position = game.start()
    for ply in range(rows * cols - empty):
        position = position.after(cells[ply % 2].pop())
    return position


def k_in_a_row(rows: int, cols: int, k: int, gravity: int, evaluate: str) -> dict[str, object]:
    return {"GAME": "K_IN_A_ROW", "ROWS": rows, "COLS": cols, "K": k, "GRAVITY": gravity, "EVALUATE": evaluate}


CASES = (
    Case("c", "Connect Four", "connect_four", bench_centre, k_in_a_row(6, 7, 4, 1, "CENTRE"), first, (8, 10), 0.6, 0.9),
    Case(
        "c",
        "Candy",
        "candy(board=ReesesPieces)",
        bench_owned,
        {"GAME": "CANDY", "ROWS": 6, "COLS": 6},
        first,
        (4, 6),
        0.6,
        0.9,
    ),
    Case("c", "Conga", "conga", bench_squares, {"GAME": "CONGA"}, midgame, (5, 7), 0.6, 0.9),
    Case(
        "c",
        "m,n,k 15×15",
        "mnk(m=15,n=15,k=5)",
        bench_pairs,
        k_in_a_row(15, 15, 5, 0, "PAIRS"),
        crowded,
        (6, 7),
        0.9,
        1.2,
    ),
    Case(
        "c",
        "Connect-K 9×7",
        "connect_k(columns=9,rows=7,k=5)",
        bench_open_rows,
        k_in_a_row(7, 9, 5, 0, "ROWS_OF_K"),
        first,
        (3, 4),
        0.6,
        0.9,
    ),
    Case(
        "bits",
        "Connect Four on bits",
        "connect_four",
        bench_bits,
        k_in_a_row(6, 7, 4, 1, "BITS"),
        first,
        (8, 10),
        0.5,
        0.9,
    ),
)


def beside_c(quick: bool, groups: set[str]) -> Iterator[Row]:
    """Minimax and alpha-beta of every game; values, moves and counters must be equal."""
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            if case.group not in groups:
                continue
            for prune, full_depth in zip((False, True), case.depths, strict=True):
                depth = full_depth - 1 if quick else full_depth
                what = f"{case.name}, {'alpha-beta' if prune else 'minimax'} to {depth}, beside C"
                if compiler() is None:
                    yield Row(case.group, what, floor=case.floor, aim=case.aim, note=f"{ABSENT}: gcc")
                else:
                    yield compare(case, folder, what, prune, depth, 3 if quick else 15)


def compare(case: Case, folder: str, what: str, prune: bool, depth: int, rounds: int) -> Row:
    game = gk.game(case.game)
    leaf, _code = leaf_of(case, game)
    in_c, position = build(folder, f"{case.group}{case.name}".replace(" ", "_"), case.defines), case.start(game)
    search, data, counts = Search(game, leaf, prune=prune), position.data.copy(), np.zeros(5, np.int64)

    def ours():
        return search.run(position, depth=depth)

    def theirs():
        return in_c(data.ctypes.data, depth, prune, leaf.weights.ctypes.data, counts.ctypes.data)

    found, value = ours(), theirs()
    expected = (found.value, found.code, *(found.counters[name] for name in COUNTERS))
    if expected != (value, counts[4], *counts[:4]):
        raise AssertionError(f"{what}: gamekit found {expected}, C {(value, counts[4], *counts[:4])}")
    nodes = found.counters["generated"]
    repeat = max(1, round(NEEDED / (nodes * 50e-9)))
    pair = paired(lambda: [ours() for _ in range(repeat)], lambda: [theirs() for _ in range(repeat)], rounds)
    row = pair.row(case.group, what, floor=case.floor, aim=case.aim, nodes=nodes)
    row.ours, row.theirs = pair.ours / repeat, pair.theirs / repeat
    row.note = f"{1e9 * row.ours / nodes:.0f} ns a node, C {1e9 * row.theirs / nodes:.0f}"
    return row


def leaf_of(case: Case, game: gk.Game) -> tuple[Leaf, object]:
    if case.heuristic is bench_bits:
        return built_in(bench_bits, game)
    return case.heuristic.leaf(game), None
