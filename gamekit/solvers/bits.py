"""What the two solvers on words share: numbers, the price of a table entry, and how Python asks for a value."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..jit.compiled import Compiled
from ..jit.intrinsics import helper

WORD = np.uint64
NONE, ONE = WORD(0), WORD(1)
STOPPED = -1000  # no value: the search was told to stop
SPREAD = WORD(0x9E3779B97F4A7C15)  # odd: multiplying by it within a word of any size is one to one
NEVER = np.zeros(1, np.uint8)  # a flag that nobody sets


@helper
def work_of(nodes):
    """What a table entry cost, in few bits: the length of the number of positions visited for it."""
    work = NONE
    while nodes > 0:
        nodes >>= 1
        work += ONE
    return work


class BitSolver:
    """Values of positions of one board; what it learns from one helps with the next.

    `progress` holds the positions visited so far and the bounds known of the value being sought, and may be read
    while another thread solves.
    """

    compiled: ClassVar[Compiled]  # (mine, theirs, *board, stop, progress, limit) → value or STOPPED
    gravity: ClassVar[bool]

    def __init__(self, rows: int, cols: int, k: int, least_k: int):
        self.rows, self.cols, self.k = rows, cols, k
        if not self.fits(rows, cols):
            raise ValueError(f"{rows} rows and {cols} columns do not fit 64 bits with a spare bit beside each line")
        if k < least_k:
            raise ValueError(f"k is at least {least_k}, not {k}")
        self.progress = np.zeros(3, np.int64)
        self._board: tuple[Any, ...] = ()  # what the compiled function knows of the board, and its table

    @classmethod
    def fits(cls, rows: int, cols: int) -> bool:
        """Whether a board fits 64 bits, one of them spare for each column (with gravity) or row."""
        return rows >= 1 and cols >= 1 and (cols * (rows + 1) if cls.gravity else rows * (cols + 1)) <= 64

    def bit(self, row: int, col: int) -> int:
        """The bit of a cell, rows counted from the top."""
        return col * (self.rows + 1) + self.rows - 1 - row if self.gravity else row * (self.cols + 1) + col

    @property
    def nodes(self) -> int:
        """Positions visited so far."""
        return int(self.progress[0])

    def solve(self, mine: int, theirs: int, stop: np.ndarray | None = None, nodes: int | None = None) -> int | None:
        """The value for the side to move of a game that is not over.

        Args:
            mine: the stones of the side to move.
            theirs: those of the other side.
            stop: a flag that another thread may set.
            nodes: positions to visit at most.

        Returns:
            The value; None if `stop` was set, or `nodes` visited, before it was known.
        """
        limit = 2**62 if nodes is None else self.nodes + nodes
        flag = NEVER if stop is None else stop
        result = self.compiled(WORD(mine), WORD(theirs), *self._board, flag, self.progress, limit)
        return None if result == STOPPED else int(result)
