"""The Connect-K report's evaluation: every window of k cells that only one colour has entered.

Such a window scores count × 30 − empties × 5 for its colour; mixed and empty ones score nothing. With one
stone that is 30 − 5 (k − 1), which turns negative from k = 8 on.
"""

from __future__ import annotations

import numpy as np

from ..core import Position
from ..games.k_in_a_row import STEPS
from ..games.k_in_a_row import windows as windows_of
from ..jit.intrinsics import helper, popcount
from ..specs import Param
from .base import Part, heuristic

K_IN_A_ROW = ("connect_k", "mnk", "connect_four")


def _parts(position: Position, me: int, settings: dict) -> list[Part]:
    board, k = position.board, int(position.record.k)
    parts = []
    for window in windows_of(*board.shape, k).tolist():
        cells = tuple(divmod(cell, board.shape[1]) for cell in window)
        owners = [int(board[cell]) for cell in cells]
        mine, theirs = owners.count(me), owners.count(3 - me)
        if bool(mine) != bool(theirs):
            worth = settings["count"] * (mine + theirs) - settings["empty"] * (k - mine - theirs)
            parts.append(Part(f"{mine + theirs} of {k}", cells, worth if mine else -worth))
    return parts


@heuristic(
    K_IN_A_ROW,
    {"count": Param(30.0, "for each stone in a window"), "empty": Param(5.0, "off for each empty cell in a window")},
    report="002 parts 1, 5",
    about="windows of k cells held by one colour: 30 a stone, −5 an empty cell",
    parts=_parts,
)
def windows(state, me, params):
    """On boards that fit a word all windows of a direction at once; else in one pass, as the report does."""
    if state.small:
        return by_words(state, me, params) - by_words(state, 3 - me, params)
    return in_one_pass(state, me, params)


@helper
def by_words(state, who, params):
    """A player's windows: those the enemy has not entered, all of a direction at once, with shifts."""
    mine, theirs = state.stones[who - 1], state.stones[2 - who]
    rows, cols, k = np.int64(state.rows), np.int64(state.cols), np.int64(state.k)
    column = (np.uint64(1) << np.uint64(rows)) - np.uint64(1)
    cells = np.uint64(0)
    for c in range(cols):
        cells |= column << np.uint64(c * (rows + 1))
    stones, held = 0, 0
    for direction in range(4):
        step = 1 if direction == 0 else rows + direction - 1
        if (k - 1) * step > 63:
            continue  # no window of this direction fits the board
        free, entered, here = cells & ~theirs, mine, np.uint64(0)
        alive = free
        for i in range(1, k):
            alive &= free >> np.uint64(i * step)
            entered |= mine >> np.uint64(i * step)
        for i in range(k):
            here = alive & (mine >> np.uint64(i * step))
            stones += popcount(here)
        held += popcount(alive & entered)
    return params[0] * stones - params[1] * (held * k - stones)


@helper
def in_one_pass(state, me, params):
    """Slide along every line once: a stone enters the window in front, another leaves it behind."""
    rows, cols, k = np.int64(state.rows), np.int64(state.cols), np.int64(state.k)
    total = 0.0
    for down, right in STEPS:
        step = down * cols + right
        for cell in range(rows * cols):
            r, c = cell // cols, cell % cols
            before_r, before_c = r - down, c - right
            if 0 <= before_r < rows and 0 <= before_c < cols:
                continue  # not the first cell of its line
            mine, theirs, length = 0, 0, 0
            while 0 <= r < rows and 0 <= c < cols:
                at = r * cols + c
                owner = state.cells[at]
                if owner == me:
                    mine += 1
                elif owner != 0:
                    theirs += 1
                length += 1
                if length > k:
                    owner = state.cells[at - k * step]
                    if owner == me:
                        mine -= 1
                    elif owner != 0:
                        theirs -= 1
                if length >= k:
                    if mine > 0 and theirs == 0:
                        total += params[0] * mine - params[1] * (k - mine)
                    elif theirs > 0 and mine == 0:
                        total -= params[0] * theirs - params[1] * (k - theirs)
                r += down
                c += right
    return total
