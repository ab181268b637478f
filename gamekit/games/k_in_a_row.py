"""k in a row: m,n,k, Connect-K and Connect Four are one rule, with or without gravity.

Players put stones on an empty cell (with gravity: on the lowest empty cell of a column). Whoever has
`k` or more in a row, column or diagonal wins; a full board is a draw.

Boards of up to 64 bits also keep each player's stones as a word, which makes the search for a line
four shifts. A column takes `rows + 1` bits, the top one always empty, so that no line runs over an
edge (Connect Four; bit numbers):

     6 13 20 27 34 41 48     always empty
     5 12 19 26 33 40 47     row 0
     4 11 18 25 32 39 46     row 1
     …
     0  7 14 21 28 35 42     row 5
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numba import carray
from numba.extending import overload

from ..core import DRAW, RUNNING, WON, Record, Rules, Symmetry
from ..errors import PositionError
from ..jit.intrinsics import ahead, helper
from ..specs import Param, SpecError, check
from .grid import FillingGame, from_middle

SIDE = 32  # the longest side of a board
STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))  # the four directions of a line: row, column, both diagonals

STATE = np.dtype(
    [
        ("turn", "i4"),
        ("rows", "u1"),
        ("cols", "u1"),
        ("k", "u1"),
        ("gravity", "u1"),
        ("stones", "u8", (2,)),  # each player's stones as bits; zero on a board too large for that
        ("filled", "i4"),
        ("small", "i4"),
        ("height", "u1", (SIDE,)),  # stones in each column, with gravity
        ("cells", "i1", (SIDE * SIDE,)),  # row by row from the top: 0 empty, 1, 2; only rows × cols are used
    ]
)
CELLS, FILLED = (STATE.fields[name][1] for name in ("cells", "filled"))  # type: ignore[index]

ONE, TWO = np.uint64(1), np.uint64(2)


@helper
def moves(s, out):
    """Columns left to right, or empty cells in reading order."""
    count = 0
    for cell in range(s.cols if s.gravity else s.rows * s.cols):  # a column is open while its top cell is
        if s.cells[cell] == 0:
            out[count] = cell
            count += 1
    return count


def near_moves(s, out):
    """Empty cells with a stone in the 3×3 square around them; all of them on an empty board."""
    if s.filled == 0:
        return moves(s, out)
    rows, cols = np.int64(s.rows), np.int64(s.cols)
    count = 0
    for row in range(rows):
        for col in range(cols):
            if s.cells[row * cols + col] == 0 and _beside_a_stone(s, row, col, rows, cols):
                out[count] = row * cols + col
                count += 1
    return count


@helper
def _beside_a_stone(s, row, col, rows, cols):
    for r in range(max(row - 1, 0), min(row + 2, rows)):
        for c in range(max(col - 1, 0), min(col + 2, cols)):
            if s.cells[r * cols + c] != 0:
                return True
    return False


def play(s, move):
    """Put a stone; the mover wins with a line, and the last cell filled without one is a draw."""
    me, rows, cols, k, small = s.turn, np.int32(s.rows), np.int32(s.cols), s.k, s.small
    if s.gravity:
        col = move
        row = rows - 1 - s.height[col]
        s.height[col] += 1
    else:
        row = move // cols
        col = move - row * cols
    s.cells[row * cols + col] = me
    s.filled += 1
    s.turn = 3 - me
    if small:
        s.stones[me - 1] |= np.uint64(1) << np.uint64(col * (rows + 1) + rows - 1 - row)
        won = has_line(s.stones[me - 1], rows, k)
    else:
        won = in_line(s, row, col, me)
    if won:
        return WON
    return DRAW if s.filled == rows * cols else RUNNING


@helper(forceinline=True)
def has_line(stones, rows, k):
    """Whether a word of stones holds k in a row: down, and along the two diagonals and the row."""
    step, k = np.uint64(rows), np.uint64(k)
    return (
        _runs(stones, ONE, k) | _runs(stones, step, k) | _runs(stones, step + ONE, k) | _runs(stones, step + TWO, k)
    ) != np.uint64(0)


@helper(forceinline=True)
def _runs(stones, step, k):
    """Where k stones follow each other `step` bits apart: double the length found, then top it up."""
    if (k - ONE) * step > np.uint64(63):  # no such line fits the board; a word may not be shifted by 64
        return np.uint64(0)
    if k == np.uint64(4):  # without the loop
        stones &= stones >> step
        return stones & (stones >> (step + step))
    length = ONE
    while length + length <= k:
        stones &= stones >> (length * step)
        length += length
    return stones & (stones >> ((k - length) * step))


@helper
def in_line(s, row, col, me):
    """Whether the stone at (row, col) stands in a line of k of `me`'s."""
    rows, cols = np.int32(s.rows), np.int32(s.cols)
    for down, right in STEPS:
        length = 1
        for sign in (-1, 1):
            r, c = row + sign * down, col + sign * right
            while 0 <= r < rows and 0 <= c < cols and s.cells[r * cols + c] == me:
                length += 1
                r += sign * down
                c += sign * right
        if length >= s.k:
            return True
    return False


def board(s: Record, pointer: Any, shape: tuple[int, int] | None = None) -> np.ndarray:
    """What a heuristic sees: `board[row, column]`, row 0 on top; 0 empty, 1 or 2 the owner."""
    return s.cells[: int(s.rows) * int(s.cols)].reshape(int(s.rows), int(s.cols))


@overload(board)
def _board(s, pointer, shape):
    return lambda s, pointer, shape: carray(ahead(pointer, CELLS), shape, np.int8)


class KInARow(FillingGame):
    """The rule with rows, columns, k and gravity set; the named games below only say it in their own words."""

    state = STATE
    width = SIDE * SIDE
    moves = moves
    play = play
    view = board
    players = ("X", "O")

    def __init__(self, rows: int, cols: int, k: int, gravity: bool, settings: dict[str, Any]):
        super().__init__((rows, cols), settings)
        check(self.name, self.params, settings)
        if k > max(rows, cols):
            raise SpecError(f"{self.name}: k={k} is not allowed; k is at most the longer side, {max(rows, cols)}")
        self.k, self.gravity = k, gravity
        self.small = cols * (rows + 1) <= 64  # the board fits a word
        self.used = CELLS + self.longest
        self.identity = FILLED if self.small else self.used
        self.move_help = f"row,column from 0,0 (top left) to {rows - 1},{cols - 1}"
        if gravity:
            self.codes, self.move_help = cols, f"a column from 1 to {cols}"

    def setup(self, s: Record) -> None:
        s.turn, s.rows, s.cols, s.k, s.gravity, s.small = 1, self.rows, self.cols, self.k, self.gravity, self.small

    def write(self, code: int) -> str:
        return str(code + 1) if self.gravity else f"{code // self.cols},{code % self.cols}"

    def read(self, text: str) -> int:
        parts = text.split(",")
        if not all(part.isascii() and part.isdigit() for part in parts):
            raise ValueError
        row, col = (0, int(text) - 1) if self.gravity else map(int, parts)
        if not (row < self.rows and 0 <= col < self.cols):
            raise ValueError
        return row * self.cols + col

    def split(self, line: str) -> list[str]:
        """With gravity a game is `4435…`, comma-separated beyond nine columns; spaces are fine too."""
        if self.gravity:
            line = line.replace(",", " ")
            if self.cols <= 9 and len(line.split()) == 1:
                return list(line.strip())
        return line.split()

    def join(self, moves: Iterable[str]) -> str:
        return ("" if self.cols <= 9 else ",").join(moves) if self.gravity else " ".join(moves)

    def centrality(self) -> np.ndarray:
        return from_middle(self.cols) if self.gravity else super().centrality()

    def symmetries(self) -> list[Symmetry]:
        found = super().symmetries()
        return [Symmetry("mirror", found[0].cells, np.arange(self.cols)[::-1])] if self.gravity else found

    def derive(self, s: Record) -> None:
        """Stones as bits, heights and the count, from the cells."""
        grid = self.grid(s)
        s.filled = np.count_nonzero(grid)
        s.height[: self.cols] = np.count_nonzero(grid, axis=0) if self.gravity else 0
        if self.small:
            down, across = np.mgrid[: self.rows, : self.cols]
            bits = ONE << (across * (self.rows + 1) + self.rows - 1 - down).astype(np.uint64)
            s.stones[:] = [np.bitwise_or.reduce(bits[grid == owner], initial=0) for owner in (1, 2)]

    def tokens(self, row: int, col: int) -> dict[str, Any]:
        return {".": 0, "0": 0, "X": 1, "1": 1, "O": 2, "2": 2}

    def complete(self, s: Record, check: bool) -> None:
        first, second = (int((s.cells == who).sum()) for who in (1, 2))
        turn = 1 if first <= second else 2
        if not check:
            s.turn = s.turn or turn
            return
        if first - second not in (0, 1):
            raise PositionError(f"X has {first} stones and O {second}; X moves first, so X has as many or one more")
        if s.turn not in (0, turn):
            raise PositionError(f"with {first} against {second} stones it is {self.players[turn - 1]}'s turn")
        s.turn = turn
        grid = self.grid(s)
        floating = (grid[:-1] != 0) & (grid[1:] == 0)
        if self.gravity and floating.any():
            column = 1 + int(floating.any(axis=0).argmax())
            raise PositionError(f"a floating stone in column {column}: with gravity stones lie on each other")
        mover, other = self.players[turn - 1], self.players[2 - turn]
        last, early = self.lines(s, 3 - turn), self.lines(s, turn)
        if last.size and early.size:
            raise PositionError("both players have a line; the game ends with the first")
        if early.size:
            raise PositionError(f"{mover} has a line but the other player moved last")
        shared = np.bincount(last.ravel(), minlength=self.longest).reshape(self.shape) == len(last)
        if self.gravity:  # only the top stone of a column can be the last
            shared[1:] &= grid[:-1] == 0
        if not shared.any():
            raise PositionError(f"{other} has lines that no single last stone made")

    def judge(self, s: Record) -> int:
        if self.lines(s, 3 - int(s.turn)).size:
            return WON
        return DRAW if s.filled == self.longest else RUNNING

    def lines(self, s: Record, who: int) -> np.ndarray:
        """A player's lines of k stones, as cell numbers."""
        every = windows(self.rows, self.cols, self.k)
        return every[(s.cells[every] == who).all(axis=1)]

    def winning_cells(self, s: Record) -> list[tuple[int, int]]:
        """Every cell of a winning line, for pictures."""
        cells = np.unique(np.concatenate([self.lines(s, who) for who in (1, 2)]))
        return [divmod(cell, self.cols) for cell in cells.tolist()]


@lru_cache(maxsize=256)
def windows(rows: int, cols: int, k: int) -> np.ndarray:
    """Every k cells in a line: one row each, as cell numbers, direction by direction, by their first cell."""
    cell = np.arange(rows * cols)
    found = []
    for down, right in STEPS:
        row, col = cell // cols + (k - 1) * down, cell % cols + (k - 1) * right  # where the last of them would be
        starts = cell[(row < rows) & (col >= 0) & (col < cols)]
        found.append(starts[:, None] + (down * cols + right) * np.arange(k))
    return np.concatenate(found)


class MNK(KInARow):
    """m rows, n columns, k in a row; no gravity."""

    name = "mnk"
    default_heuristic = "potential_streak"
    params: ClassVar = {
        "m": Param(3, "rows", 1, 19),
        "n": Param(3, "columns", 1, 19),
        "k": Param(3, "stones in a row that win", 1, 19),
    }

    def __init__(self, m: int = 3, n: int = 3, k: int = 3):
        super().__init__(m, n, k, False, {"m": m, "n": n, "k": k})


class ConnectK(KInARow):
    """Connect-K of the second report: any size, any k, gravity on or off."""

    name = "connect_k"
    default_heuristic = "windows"
    params: ClassVar = {
        "columns": Param(9, "columns", 1, SIDE),
        "rows": Param(7, "rows", 1, SIDE),
        "k": Param(5, "stones in a row that win", 1, SIDE),
        "gravity": Param(False, "stones fall to the bottom"),
    }

    def __init__(self, columns: int = 9, rows: int = 7, k: int = 5, gravity: bool = False):
        settings = {"columns": columns, "rows": rows, "k": k, "gravity": gravity}
        super().__init__(rows, columns, k, gravity, settings)


def _standard_size(s):
    s.rows, s.cols, s.k, s.gravity, s.small = 6, 7, 4, 1, 1


STANDARD = Rules(moves, play, STATE, SIDE * SIDE, f"{__name__}.ConnectFour", _standard_size)


class ConnectFour(KInARow):
    """Connect Four: four in a row, with gravity, on seven columns of six (or another size)."""

    name = "connect_four"
    params: ClassVar = {"columns": Param(7, "columns", 1, SIDE), "rows": Param(6, "rows", 1, SIDE)}

    def __init__(self, columns: int = 7, rows: int = 6):
        standard = (columns, rows) == (7, 6)
        super().__init__(rows, columns, 4, True, {} if standard else {"columns": columns, "rows": rows})
        self.default_heuristic = "valhalla" if standard else "windows"
        if standard:
            self._rules = STANDARD
