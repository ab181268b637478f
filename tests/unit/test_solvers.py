"""The exact solvers against plain searches that share no code with them."""

from __future__ import annotations

import random
import threading
import time
from functools import cache

import numpy as np
import pytest

from gamekit.solvers.drop_solver import DropSolver
from gamekit.solvers.line_solver import LineSolver

Cells = frozenset[tuple[int, int]]
Shape = tuple[int, int, int]  # rows, columns, k

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


def wins(stones: Cells, shape: Shape) -> bool:
    return any(line <= stones for line in lines(*shape))


def moves(taken: Cells, shape: Shape, gravity: bool) -> list[tuple[int, int]]:
    """Row 0 is the bottom where there is gravity."""
    rows, cols, _ = shape
    free = [(row, col) for row in range(rows) for col in range(cols) if (row, col) not in taken]
    return [cell for cell in free if not gravity or cell[0] == 0 or (cell[0] - 1, cell[1]) in taken]


def plain(mine: Cells, theirs: Cells, shape: Shape, gravity: bool, seen: dict) -> int:
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


def in_order(position: tuple[Cells, Cells]) -> tuple:
    return sorted(position[0]), sorted(position[1])


def random_position(rng: random.Random, shape: Shape, gravity: bool, stones: int) -> tuple[Cells, Cells]:
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

SMALL = [
    (1, 1, 2),
    (2, 2, 2),
    (2, 3, 2),
    (3, 2, 3),
    (3, 3, 3),
    (3, 3, 2),
    (3, 3, 9),
    (1, 7, 3),
    (7, 1, 3),
    (2, 5, 3),
    (5, 2, 3),
    (3, 4, 3),
    (4, 3, 3),
    (3, 4, 4),
    (4, 3, 4),
    (2, 7, 4),
    (2, 6, 5),
    (6, 2, 5),
    (1, 9, 4),
    (9, 1, 4),
]


@pytest.mark.parametrize("shape", SMALL, ids=str)
def test_drop_scores_of_whole_small_games(shape):
    """Every position of a small game, not only those a good search would visit."""
    seen: dict = {}
    plain(frozenset(), frozenset(), shape, True, seen)
    rows, cols, k = shape
    # so small that entries are pushed out all the time, and so large that slots nearly tell positions apart
    solvers = [DropSolver(rows, cols, k, megabytes) for megabytes in (0.001, 1)]
    rng = random.Random(1)
    positions = rng.sample(sorted(seen, key=in_order), min(len(seen), 1500))
    for mine, theirs in [(frozenset(), frozenset()), *positions]:
        for solver in solvers:
            assert solver.solve(drop_bits(mine, rows), drop_bits(theirs, rows)) == seen[mine, theirs]


LATE = [
    (4, 4, 4),
    (4, 4, 3),
    (5, 4, 4),
    (4, 5, 4),
    (3, 6, 4),
    (6, 3, 4),
    (5, 5, 5),
    (5, 5, 3),
    (6, 4, 3),
    (3, 8, 5),
    (8, 3, 4),
    (6, 6, 4),
    (15, 4, 4),
    (7, 8, 4),
    (20, 3, 4),
]


@pytest.mark.parametrize("shape", LATE, ids=str)
def test_drop_scores_of_late_positions(shape):
    rows, cols, k = shape
    rng = random.Random(rows * 100 + cols * 10 + k)
    solver = DropSolver(rows, cols, k, megabytes=1)
    for _ in range(12):
        lengths = range(rows * cols - 8, 0, -1)  # few games last long where k is small
        mine, theirs = next(filter(None, (long_game(rng, shape, stones) for stones in lengths)))
        want = plain(mine, theirs, shape, True, {})
        assert solver.solve(drop_bits(mine, rows), drop_bits(theirs, rows)) == want


def long_game(rng: random.Random, shape: Shape, stones: int) -> tuple[Cells, Cells] | None:
    """A random game that avoids winning where it can; None if it is over too early."""
    mine: Cells = frozenset()
    theirs: Cells = frozenset()
    for _ in range(stones):
        quiet = [cell for cell in moves(mine | theirs, shape, True) if not wins(mine | {cell}, shape)]
        quiet = [cell for cell in quiet if not wins(theirs | {cell}, shape)] or quiet
        if not quiet:
            return None
        mine, theirs = theirs, mine | {rng.choice(quiet)}
    return mine, theirs


EMPTY = [(4, 4, 0), (4, 5, 0), (5, 4, 0), (5, 5, 0), (4, 6, -1), (6, 4, 0)]


@pytest.mark.parametrize(("rows", "cols", "sign"), EMPTY)
def test_drop_values_of_empty_boards(rows, cols, sign):
    """Known values; a fresh table, all zeros, must not pass for knowledge of the empty board."""
    solver = DropSolver(rows, cols, megabytes=4)
    assert np.sign(solver.solve(0, 0)) == sign
    assert solver.nodes > 100


def connect_four(rng: random.Random, stones: int) -> tuple[int, int]:
    mine, theirs = random_position(rng, (6, 7, 4), True, stones)
    return drop_bits(mine, 6), drop_bits(theirs, 6)


def mirrored(word: int) -> int:
    return sum((word >> 7 * col & 127) << 7 * (6 - col) for col in range(7))


def replies(solver: DropSolver, mine: int, theirs: int) -> list[int | None]:
    """What playing each column scores for the side to move, None where it is full."""
    mask, height = mine | theirs, solver.rows + 1
    left, scores = solver.rows * solver.cols - mask.bit_count(), []
    for col in range(solver.cols):
        stones = mask >> col * height & (1 << height) - 1
        after = mine | (stones + 1) << col * height
        if stones.bit_count() == solver.rows:
            scores.append(None)
        elif solver.has_won(after):
            scores.append((left + 1) // 2)
        else:
            scores.append(-solver.solve(theirs, after))
    return scores


@pytest.mark.parametrize("stones", range(14, 35, 2))
def test_connect_four_agrees_with_its_own_replies_and_its_mirror_image(stones):
    """Each side of the comparison is solved with a table of its own."""
    rng = random.Random(stones)
    for _ in range(4):
        mine, theirs = connect_four(rng, stones)
        value = DropSolver(megabytes=1).solve(mine, theirs)
        scores = replies(DropSolver(megabytes=1), mine, theirs)
        assert max(score for score in scores if score is not None) == value
        assert replies(DropSolver(megabytes=1), mirrored(mine), mirrored(theirs)) == scores[::-1]


@pytest.mark.parametrize("stones", range(28, 42))
def test_connect_four_late_positions_by_plain_search(stones):
    rng = random.Random(stones)
    solver = DropSolver(megabytes=1)
    for _ in range(3):
        mine, theirs = connect_four(rng, stones)
        assert solver.solve(mine, theirs) == alpha_beta(mine, theirs, -99, 99)


def alpha_beta(mine: int, theirs: int, alpha: int, beta: int) -> int:
    """Connect Four without table, threats or ordering."""
    left = 42 - (mine | theirs).bit_count()
    if left == 0:
        return 0
    for col in range(7):
        height = (mine | theirs) >> 7 * col & 127
        if height == 63:
            continue
        after = mine | (height + 1) << 7 * col
        for step in (1, 6, 7, 8):
            pair = after & after >> step
            if pair & pair >> 2 * step:
                return (left + 1) // 2
        alpha = max(alpha, -alpha_beta(theirs, after, -beta, -alpha))
        if alpha >= beta:
            break
    return alpha


def test_drop_scores_of_full_columns_and_wins():
    solver = DropSolver(4, 4, 3)
    column = 0b0101, 0b1010  # side to move holds rows 0 and 2 of the full first column
    scores = replies(solver, *column)
    assert scores[0] is None
    assert None not in scores[1:]
    assert solver.solve(*column) == max(scores[1:])
    assert DropSolver().solve(0b111, 0b111 << 7) == (42 - 6 + 1) // 2


# ------------------------------------------------------------------------ no gravity


WHOLE = [(r, c, k) for r, c in [(1, 1), (1, 6), (2, 2), (2, 3), (3, 2), (3, 3), (2, 5)] for k in range(1, 6)]


@pytest.mark.parametrize("shape", [*WHOLE, (4, 3, 3)], ids=str)
def test_line_values_of_whole_small_games(shape):
    seen: dict = {}
    value = plain(frozenset(), frozenset(), shape, False, seen)
    rows, cols, k = shape
    solver = LineSolver(rows, cols, k, megabytes=0.01)
    assert solver.solve(0, 0) == np.sign(value)
    rng = random.Random(1)
    for mine, theirs in rng.sample(sorted(seen, key=in_order), min(len(seen), 800)):
        assert solver.solve(line_bits(mine, cols), line_bits(theirs, cols)) == np.sign(seen[mine, theirs])


CROWDED = [
    (4, 4, 4),
    (4, 4, 3),
    (5, 4, 4),
    (4, 5, 3),
    (5, 5, 4),
    (5, 5, 5),
    (6, 6, 4),
    (3, 7, 4),
    (7, 3, 3),
    (6, 7, 5),
    (2, 9, 4),
    (7, 8, 5),
    (12, 4, 4),
]


@pytest.mark.parametrize("shape", CROWDED, ids=str)
def test_line_values_of_late_positions(shape):
    rows, cols, k = shape
    rng = random.Random(rows * 100 + cols * 10 + k)
    solver = LineSolver(rows, cols, k, megabytes=0.1)
    for _ in range(25):
        mine, theirs = shuffled(rng, shape, 7)
        want = np.sign(plain(mine, theirs, shape, False, {}))
        assert solver.solve(line_bits(mine, cols), line_bits(theirs, cols)) == want


def shuffled(rng: random.Random, shape: Shape, free: int) -> tuple[Cells, Cells]:
    """Random stones that nobody has won with, `free` cells open; lines are swapped away, stone by stone."""
    rows, cols, _ = shape
    cells = [(row, col) for row in range(rows) for col in range(cols)]
    rng.shuffle(cells)
    stones = len(cells) - free
    sides = [frozenset(cells[: stones // 2]), frozenset(cells[stones // 2 : stones])]
    for _ in range(10_000):
        full = [line for side in sides for line in lines(*shape) if line <= side]
        if not full:
            return sides[0], sides[1]
        give = rng.choice(sorted(full[0]))
        winner = 0 if give in sides[0] else 1
        take = rng.choice(sorted(sides[1 - winner]))
        sides[winner] = sides[winner] - {give} | {take}
        sides[1 - winner] = sides[1 - winner] - {take} | {give}
    raise AssertionError("no position without a line found")


KNOWN = {
    (3, 3, 3): 0,
    (3, 4, 3): 1,
    (4, 3, 3): 1,
    (4, 4, 3): 1,
    (5, 5, 3): 1,
    (2, 9, 3): 0,
    (1, 5, 2): 1,
    (4, 4, 4): 0,
    (4, 5, 4): 0,
    (5, 4, 4): 0,
    (4, 6, 4): 0,
    (5, 5, 4): 0,
    (5, 6, 4): 1,
    (6, 5, 4): 1,
    (6, 6, 4): 1,
    (7, 7, 4): 1,
    (4, 4, 5): 0,
    (5, 5, 5): 0,
    (6, 6, 5): 0,
    (6, 6, 6): 0,
}


@pytest.mark.parametrize("shape", KNOWN, ids=str)
def test_line_values_of_empty_boards(shape):
    assert LineSolver(*shape).solve(0, 0) == KNOWN[shape]


def test_line_values_agree_with_their_own_replies():
    rng = random.Random(5)
    for _ in range(12):
        mine, theirs = random_position(rng, (5, 5, 4), False, rng.randrange(2, 12))
        value = LineSolver(5, 5, 4, megabytes=1).solve(line_bits(mine, 5), line_bits(theirs, 5))
        solver, best = LineSolver(5, 5, 4, megabytes=1), -1
        for cell in moves(mine | theirs, (5, 5, 4), False):
            after = mine | {cell}
            won = wins(after, (5, 5, 4))
            best = max(best, 1 if won else -solver.solve(line_bits(theirs, 5), line_bits(after, 5)))
        assert value == best


# -------------------------------------------------------------------------- stopping


@pytest.mark.parametrize("solver", [DropSolver(), LineSolver(7, 7, 5)], ids=["drop", "line"])
def test_a_budget_that_is_too_small_gives_no_value(solver):
    before = solver.nodes
    assert solver.solve(0, 0, nodes=20_000) is None
    assert 0 < solver.nodes - before <= 21_100
    low, high = solver.progress[1:3]
    assert low < high


@pytest.mark.parametrize("solver", [DropSolver(), LineSolver(7, 7, 5)], ids=["drop", "line"])
def test_another_thread_can_stop_it(solver):
    solver.solve(0, 0, nodes=1000)  # compiled
    stop = np.zeros(1, np.uint8)
    timer = threading.Timer(0.2, lambda: stop.__setitem__(0, 1))
    timer.start()
    begun = time.monotonic()
    assert solver.solve(0, 0, stop=stop) is None
    assert time.monotonic() - begun < 10


def test_an_interrupted_solution_goes_on_where_it_was():
    solver, whole = DropSolver(5, 6), DropSolver(5, 6)
    value = whole.solve(0, 0)
    runs = 0
    while (result := solver.solve(0, 0, nodes=whole.nodes // 4 + 2048)) is None:
        runs += 1
        assert runs < 40
    assert result == value
    assert runs >= 1


@pytest.mark.parametrize(
    ("solver", "shape"),
    [
        (DropSolver, (8, 8, 4)),
        (DropSolver, (0, 4, 4)),
        (DropSolver, (6, 7, 1)),
        (LineSolver, (8, 8, 5)),
        (LineSolver, (3, 0, 3)),
        (LineSolver, (3, 3, 0)),
    ],
)
def test_boards_that_do_not_fit_are_named(solver, shape):
    with pytest.raises(ValueError, match=r"64 bits|k is at least"):
        solver(*shape)
