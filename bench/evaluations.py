"""Heuristics as a user writes them, one a game. `twin.c` has the same in C."""

from __future__ import annotations

import numpy as np
from numba import carray, njit

import gamekit as gk
from gamekit.core import Leaf
from gamekit.jit.compiled import Compiled
from gamekit.jit.intrinsics import LEAF, popcount

# No sum reaches 1, which is a win in open_spiel; all are exact, so that the order of adding makes no difference.
COLUMN_WEIGHTS = {f"column{c + 1}": (4 - abs(c - 3)) / 128 for c in range(7)}
ROW_OF = 5  # cells of a row that `open_rows` looks at together
OPEN_WEIGHTS = {f"stones{n}": float(n * n) for n in range(ROW_OF + 1)}


@gk.heuristic("connect_four", params=COLUMN_WEIGHTS)
def bench_centre(board, me, params):
    """Stones weighted by column, mine less theirs."""
    value = 0.0
    for row in range(board.shape[0]):
        for col in range(board.shape[1]):
            owner = board[row, col]
            if owner == me:
                value += params[col]
            elif owner != 0:
                value -= params[col]
    return value


@gk.heuristic("connect_four")
def bench_nothing(board, me, params):
    """Only the end of a game counts."""
    return 0.0


@gk.heuristic("candy")
def bench_owned(board, me, params):
    """The values of owned cells, mine less theirs."""
    value = 0
    for row in range(board.shape[0]):
        for col in range(board.shape[1]):
            owner = board[row, col].owner
            if owner == me:
                value += board[row, col].value
            elif owner != 0:
                value -= board[row, col].value
    return value


@gk.heuristic("conga")
def bench_squares(board, me, params):
    """Owned squares, mine less theirs."""
    value = 0
    for row in range(4):
        for col in range(4):
            owner = board[row, col].owner
            if owner == me:
                value += 1
            elif owner != 0:
                value -= 1
    return value


@gk.heuristic("mnk")
def bench_pairs(board, me, params):
    """Like neighbours to the right and below, mine less theirs."""
    value = 0
    for row in range(board.shape[0] - 1):
        for col in range(board.shape[1] - 1):
            owner = board[row, col]
            if owner == 0:
                continue
            pairs = 0
            if board[row, col + 1] == owner:
                pairs += 1
            if board[row + 1, col] == owner:
                pairs += 1
            if owner == me:
                value += pairs
            else:
                value -= pairs
    return value


@gk.heuristic("connect_k", params=OPEN_WEIGHTS)
def bench_open_rows(board, me, params):
    """Stones in rows of five that the other player does not touch."""
    value = 0.0
    for row in range(board.shape[0]):
        for col in range(board.shape[1] - ROW_OF + 1):
            mine = theirs = 0
            for i in range(ROW_OF):
                owner = board[row, col + i]
                if owner == me:
                    mine += 1
                elif owner != 0:
                    theirs += 1
            if theirs == 0:
                value += params[mine]
            elif mine == 0:
                value -= params[theirs]
    return value


@gk.heuristic("connect_four", params={"weight": 1 / 128})
def bench_bits(state, me, params):
    """Like neighbours in all directions, mine less theirs, counted on bits as a built-in evaluation would."""
    one = np.uint64(1)
    up = np.uint64(state.rows)
    mine, theirs = state.stones[me - 1], state.stones[2 - me]
    pairs = popcount(mine & (mine >> one)) - popcount(theirs & (theirs >> one))
    for _ in range(3):
        pairs += popcount(mine & (mine >> up)) - popcount(theirs & (theirs >> up))
        up += one
    return params[0] * pairs


def built_in(heuristic: gk.Heuristic, game: gk.Game) -> tuple[Leaf, Compiled]:
    """A heuristic of the state compiled as gamekit's own are: without checks of every index."""
    weights = heuristic.weights(game)
    inner, state, room = njit(forceinline=True)(heuristic.function), type(game).state, len(weights)

    def leaf(position, me, params):
        return inner(carray(position, (1,), state)[0], me, carray(params, (room,), np.float64))

    code = Compiled(leaf, LEAF)
    return Leaf(code.address, weights), code
