"""The m,n,k report's evaluations: the longest streak, and the longest that can still reach k."""

from __future__ import annotations

import numpy as np

from ..core import Position
from ..games.k_in_a_row import STEPS
from ..jit.intrinsics import helper
from ..specs import Param
from .base import Part, heuristic
from .connect_k import K_IN_A_ROW


@helper
def longest_run(state, who):
    """The most stones of a player next to each other in a line: (how many, the first cell, the step to the next)."""
    rows, cols = np.int64(state.rows), np.int64(state.cols)
    best, start, step = 0, 0, np.int64(0)
    for down, right in STEPS:
        for cell in range(rows * cols):
            if state.cells[cell] != who:
                continue
            r, c, length = cell // cols, cell % cols, 0
            while 0 <= r < rows and 0 <= c < cols and state.cells[r * cols + c] == who:
                length += 1
                r += down
                c += right
            if length > best:
                best, start, step = length, cell, down * cols + right
    return best, start, step


@helper
def streak(state, who, diagonal, open_end, contiguous, alive):
    """A player's best streak among those that can still reach k: (stones, the first cell, the step, how many cells).

    Between enemy stones and edges lie segments; one shorter than k is dead (and counts only without `alive`).
    In a live one the streak is all its stones, or with `contiguous` the longest unbroken run; `open_end` is
    added for each free cell at its ends.
    """
    rows, cols, k = np.int64(state.rows), np.int64(state.cols), np.int64(state.k)
    best, best_start, best_step, best_span = 0.0, np.int64(0), np.int64(0), 0
    for down, right in STEPS:
        step = down * cols + right
        worth = diagonal if down != 0 and right != 0 else 1.0
        for cell in range(rows * cols):
            r, c = cell // cols, cell % cols
            if 0 <= r - down < rows and 0 <= c - right < cols:
                continue  # not the first cell of its line
            while 0 <= r < rows and 0 <= c < cols:
                if state.cells[r * cols + c] == 3 - who:
                    r += down
                    c += right
                    continue
                start, length = r * cols + c, 0
                while 0 <= r < rows and 0 <= c < cols and state.cells[r * cols + c] != 3 - who:
                    length += 1
                    r += down
                    c += right
                if length >= k or not alive:
                    value, first, span = in_segment(state, who, start, step, length, worth, open_end, contiguous)
                    if value > best:
                        best, best_start, best_step, best_span = value, start + first * step, step, span
    return best, best_start, best_step, best_span


@helper
def in_segment(state, who, start, step, length, worth, open_end, contiguous):
    """The best streak in one segment: (stones, its first cell's place in the segment, how many cells)."""
    best, best_first, best_span, i = 0.0, 0, 0, 0
    while i < length:
        if state.cells[start + i * step] != who:
            i += 1
            continue
        first, last, stones = i, i, 0
        while i < length:
            if state.cells[start + i * step] == who:
                stones += 1
                last = i
            elif contiguous:
                break
            i += 1
        value = stones * worth
        if first > 0:
            value += open_end
        if last < length - 1:
            value += open_end
        if value > best:
            best, best_first, best_span = value, first, last + 1 - first
    return best, best_first, best_span


def _part(position: Position, who: int, what: str, value: float, place: tuple[int, int, int]) -> list[Part]:
    """A streak as a part of a score: the stones among `place`, which is (first cell, step, how many cells)."""
    start, step, span = place
    found = [divmod(start + i * step, position.board.shape[1]) for i in range(span)]
    return [Part(what, tuple(cell for cell in found if position.board[cell] == who), value)] if span else []


def _longest_parts(position: Position, me: int, _settings: dict) -> list[Part]:
    length, *place = longest_run(position.record, me)
    return _part(position, me, "own streak", length / position.record.k, (*place, length))


def _potential_parts(position: Position, me: int, settings: dict) -> list[Part]:
    diagonal, open_end, opponent, contiguous, alive = settings.values()
    parts = []
    for who, what, weight in ((me, "own streak", 1.0), (3 - me, "opponent's streak", -opponent)):
        stones, *place = streak(position.record, who, diagonal, open_end, contiguous, alive)
        parts += _part(position, who, what, weight * stones / position.record.k, place)
    return parts


@heuristic(K_IN_A_ROW, report="003 problem 3", about="the longest own streak, divided by k", parts=_longest_parts)
def longest_streak(state, me, params):
    return longest_run(state, me)[0] / state.k


@heuristic(
    K_IN_A_ROW,
    {
        "diagonal": Param(1.1, "worth of a stone on a diagonal"),
        "open_end": Param(0.25, "for each free end of a streak"),
        "opponent": Param(0.5, "weight of the opponent's best streak"),
        "contiguous": Param(False, "a blank breaks a streak (the text's counter runs on)"),
        "alive": Param(True, "only streaks that can still reach k"),
    },
    report="003 question 2, parts 2–4",
    about="best streak that can still reach k, minus half the opponent's",
    parts=_potential_parts,
)
def potential_streak(state, me, params):
    unbroken, alive = params[3] != 0.0, params[4] != 0.0
    own = streak(state, me, params[0], params[1], unbroken, alive)[0]
    other = streak(state, 3 - me, params[0], params[1], unbroken, alive)[0]
    return (own - params[2] * other) / state.k
