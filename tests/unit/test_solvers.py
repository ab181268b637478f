"""The exact solvers against plain searches that share no code with them."""

from __future__ import annotations

import random
import threading
from functools import cache

import numpy as np
import pytest

from gamekit.engine.drop_solver import DropSolver
from gamekit.engine.line_solver import LineSolver

Cells = frozenset[tuple[int, int]]

# ------------------------------------------------- plain rules, on sets of (row, column)


@cache
def lines(rows: int, cols: int, k: int) -> tuple[Cells, ...]:
    found = []
    for row in range(rows):
        for col in range(cols):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                line = [(row + i * down, col + i * right) for i in range(k)]
                if all(0 <= r < rows and 0 <= c < cols for r, c in line):
                    found.append(frozenset(line))
    return tuple(found)


def wins(stones: Cells, shape: tuple[int, int, int]) -> bool:
    return any(line <= stones for line in lines(*shape))


def moves(taken: Cells, shape: tuple[int, int, int], gravity: bool) -> list[tuple[int, int]]:
    """Row 0 is the bottom where there is gravity."""
    rows, cols, _ = shape
    free = [(row, col) for row in range(rows) for col in range(cols) if (row, col) not in taken]
    return [cell for cell in free if not gravity or cell[0] == 0 or (cell[0] - 1, cell[1]) in taken]


def plain(mine: Cells, theirs: Cells, shape: tuple[int, int, int], gravity: bool, seen: dict, lo: int = -99,
          hi: int = 99) -> int:
    """The score of the drop solver by memoised negamax over sets; without gravity its sign is the value."""
    if (mine, theirs) in seen:
        return seen[mine, theirs]
    left = shape[0] * shape[1] - len(mine) - len(theirs)
    if left == 0:
        return 0
    best = -99
    for cell in moves(mine | theirs, shape, gravity):
        after = mine | {cell}
        value = (left + 1) // 2 if wins(after, shape) else -plain(theirs, after, shape, gravity, seen)
        best = max(best, value)
    seen[mine, theirs] = best
    return best


def random_position(rng: random.Random, shape: tuple[int, int, int], gravity: bool, stones: int) -> tuple[Cells, Cells]:
    """A position reached by random play that nobody has won, side to move first."""
    while True:
        mine: Cells = frozenset()
        theirs: Cells = frozenset()
        for _ in range(stones):
            after = mine | {rng.choice(moves(mine | theirs, shape, gravity))}
            if wins(after, shape):
                break
            mine, theirs = theirs, after
        else:
            return mine, theirs


def drop_bits(cells: Cells, rows: int) -> int:
    return sum(1 << col * (rows + 1) + row for row, col in cells)


def line_bits(cells: Cells, cols: int) -> int:
    return sum(1 << row * (cols + 1) + col for row, col in cells)


# --------------------------------------------------------------------------- gravity

SMALL = [(2, 2, 2), (2, 3, 2), (3, 2, 3), (3, 3, 3), (1, 7, 3), (7, 1, 3), (2, 5, 3), (5, 2, 3), (3, 4, 3), (4, 3, 3),
         (3, 4, 4), (4, 3, 4), (2, 7, 4), (3, 3, 2), (4, 4, 5), (2, 6, 5), (6, 2, 5), (1, 9, 4), (9, 1, 4), (3, 3, 9)]


@pytest.mark.parametrize("shape", SMALL, ids=str)
def test_drop_scores_of_whole_small_games(shape):
    """Every position of a small game, not only those a good search would visit."""
    seen: dict = {}
    plain(frozenset(), frozenset(), shape, True, seen)
    rows, cols, k = shape
    solver = DropSolver(rows, cols, k, megabytes=1)
    assert solver.solve(0, 0) == seen[frozenset(), frozenset()]
    rng = random.Random(1)
    for mine, theirs in rng.sample(sorted(seen, key=lambda p: (sorted(p[0]), sorted(p[1]))), min(len(seen), 1500)):
        assert solver.solve(drop_bits(mine, rows), drop_bits(theirs, rows)) == seen[mine, theirs]
