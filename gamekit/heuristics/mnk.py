"""The m,n,k report's evaluations: the longest streak, and the longest that can still reach k."""

from __future__ import annotations

import numpy as np

from ..core import Position
from ..games.k_in_a_row import board as board_of
from ..jit.intrinsics import helper
from ..specs import Param
from .base import Part, heuristic
from .connect_k import K_IN_A_ROW, STEPS


@helper
def longest_run(state, who):
    """The most stones of a player next to each other in a line."""
    rows, cols = np.int64(state.rows), np.int64(state.cols)
    best = 0
    for direction in range(4):
        down, right = (1 if direction > 0 else 0), (0 if direction == 1 else -1 if direction == 3 else 1)
        for cell in range(rows * cols):
            if state.cells[cell] != who:
                continue
            r, c, length = cell // cols, cell % cols, 0
            while 0 <= r < rows and 0 <= c < cols and state.cells[r * cols + c] == who:
                length += 1
                r += down
                c += right
            best = max(best, length)
    return best


@helper
def streak(state, who, diagonal, open_end, contiguous, alive):
    """A player's best streak among those that can still reach k, in stones.

    Between enemy stones and edges lie segments; one shorter than k is dead (and counts only without `alive`).
    In a live one the streak is all its stones, or with `contiguous` the longest unbroken run; `open_end` is
    added for each free cell at its ends.
    """
    rows, cols, k = np.int64(state.rows), np.int64(state.cols), np.int64(state.k)
    best = 0.0
    for direction in range(4):
        down, right = (1 if direction > 0 else 0), (0 if direction == 1 else -1 if direction == 3 else 1)
        step = down * cols + right
        worth = diagonal if direction >= 2 else 1.0
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
                    best = max(best, in_segment(state, who, start, step, length, worth, open_end, contiguous))
    return best


@helper
def in_segment(state, who, start, step, length, worth, open_end, contiguous):
    """The best streak in one live segment."""
    best, i = 0.0, 0
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
        best = max(best, value)
    return best


def _run_parts(position: Position, me: int, settings: dict) -> list[Part]:
    """The cells of the best streak of each side that counts."""
    s, k = position.record, int(position.record.k)
    board = board_of(s, None)
    weighted = "diagonal" in settings
    parts = []
    for who, sign in ((me, 1.0), (3 - me, -settings["opponent"]) if weighted else (0, 0.0)):
        if not who:
            continue
        best: tuple[float, tuple] = (0.0, ())
        for number, (down, right) in enumerate(STEPS):
            worth = settings["diagonal"] if weighted and number >= 2 else 1.0
            for line in _lines(board.shape, down, right):
                best = max(best, *_streaks(board, who, line, k, worth, settings), key=lambda found: found[0])
        if best[0]:
            parts.append(Part("own streak" if who == me else "opponent's streak", best[1], sign * best[0] / k))
    return parts


def _lines(shape: tuple[int, int], down: int, right: int) -> list[list[tuple[int, int]]]:
    rows, cols = shape
    starts = [(r, c) for r in range(rows) for c in range(cols) if not (0 <= r - down < rows and 0 <= c - right < cols)]
    return [
        [
            (r + i * down, c + i * right)
            for i in range(max(rows, cols))
            if 0 <= r + i * down < rows and 0 <= c + i * right < cols
        ]
        for r, c in starts
    ]


def _streaks(
    board: np.ndarray, who: int, line: list, k: int, worth: float, settings: dict
) -> list[tuple[float, tuple]]:
    """Every streak on a line as (value in stones, cells): runs for the plain count, live segments otherwise."""
    found: list[tuple[float, tuple]] = [(0.0, ())]
    marks = "".join("x" if board[c] == who else "." if board[c] == 0 else "o" for c in line)
    weighted = "diagonal" in settings
    at = 0
    for segment in marks.split("o"):
        if len(segment) >= k or not weighted or not settings["alive"]:
            inner = 0
            pieces = segment.split(".") if not weighted or settings["contiguous"] else [segment]
            for piece in pieces:
                stones = [i for i, mark in enumerate(piece, inner) if mark == "x"]
                if stones:
                    ends = (stones[0] > 0) + (stones[-1] < len(segment) - 1)
                    value = worth * len(stones) + (settings["open_end"] * ends if weighted else 0.0)
                    found.append((value, tuple(line[at + i] for i in stones)))
                inner += len(piece) + 1
        at += len(segment) + 1
    return found


@heuristic(K_IN_A_ROW, report="003 problem 3", about="the longest own streak, divided by k", parts=_run_parts)
def longest_streak(state, me, params):
    return longest_run(state, me) / state.k


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
    parts=_run_parts,
)
def potential_streak(state, me, params):
    unbroken, alive = params[3] != 0.0, params[4] != 0.0
    own = streak(state, me, params[0], params[1], unbroken, alive)
    other = streak(state, 3 - me, params[0], params[1], unbroken, alive)
    return (own - params[2] * other) / state.k
