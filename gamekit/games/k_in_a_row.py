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

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numba import carray
from numba.extending import overload

from ..core import DRAW, RUNNING, WON, Game, Record, Rules, Symmetry
from ..errors import PositionError
from ..jit.intrinsics import ahead, helper
from ..specs import Param, SpecError

SIDE = 32  # the longest side of a board

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
    if s.gravity:
        for column in range(s.cols):
            if s.cells[column] == 0:
                out[count] = column
                count += 1
    else:
        for cell in range(s.rows * s.cols):
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
            if s.cells[row * cols + col] != 0:
                continue
            near = False
            for r in range(row - 1, row + 2):
                for c in range(col - 1, col + 2):
                    if 0 <= r < rows and 0 <= c < cols and s.cells[r * cols + c] != 0:
                        near = True
            if near:
                out[count] = row * cols + col
                count += 1
    return count


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
    if (k - ONE) * step > np.uint64(63):  # no such line fits the board, and a shift of 64 would come to none at all
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
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
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


class KInARow(Game):
    """The rule with rows, columns, k and gravity set; the named games below only say it in their own words."""

    state = STATE
    width = SIDE * SIDE
    moves = moves
    play = play
    view = board
    rows: int
    cols: int
    k: int
    gravity: bool

    def _shape(self, rows: int, cols: int, k: int, gravity: bool) -> None:
        if not (1 <= rows <= SIDE and 1 <= cols <= SIDE and k >= 1):
            raise SpecError(f"{self.name}: {rows} rows, {cols} columns, k={k} are not allowed; sides are 1 to {SIDE}")
        if k > max(rows, cols):
            raise SpecError(f"{self.name}: k={k} is not allowed; k is at most the longer side, {max(rows, cols)}")
        self.rows, self.cols, self.k, self.gravity, self.shape = rows, cols, k, gravity, (rows, cols)
        self.move_help = (
            "a column from 1 to " + str(cols) if gravity else f"row,column from 0,0 (top left) to {rows - 1},{cols - 1}"
        )

    @property
    def small(self) -> bool:
        """The board fits a word."""
        return self.cols * (self.rows + 1) <= 64

    def setup(self, s: Record) -> None:
        s.turn, s.rows, s.cols, s.k, s.gravity, s.small = 1, self.rows, self.cols, self.k, self.gravity, self.small

    @property
    def used(self) -> int:
        return CELLS + self.rows * self.cols

    @property
    def identity(self) -> int:
        return FILLED if self.small else self.used

    @property
    def codes(self) -> int:
        return self.cols if self.gravity else self.rows * self.cols

    @property
    def longest(self) -> int:
        return self.rows * self.cols

    def left(self, data: np.ndarray) -> int:
        return self.longest - data.item(FILLED) - 256 * data.item(FILLED + 1)  # never more than two bytes of it

    def write(self, code: int) -> str:
        return str(code + 1) if self.gravity else f"{code // self.cols},{code % self.cols}"

    def read(self, text: str) -> int:
        if not text.isascii():
            raise ValueError
        if self.gravity:
            if not text.isdigit() or not 1 <= int(text) <= self.cols:
                raise ValueError
            return int(text) - 1
        row, comma, col = text.partition(",")
        if not (comma and row.isdigit() and col.isdigit() and int(row) < self.rows and int(col) < self.cols):
            raise ValueError
        return int(row) * self.cols + int(col)

    def split(self, line: str) -> list[str]:
        """With gravity a game is `4435…`, comma-separated beyond nine columns; spaces are fine too."""
        if self.gravity:
            line = line.replace(",", " ")
            if self.cols <= 9 and len(line.split()) == 1:
                return list(line.strip())
        return line.split()

    def join(self, moves: Any) -> str:
        return ("" if self.cols <= 9 else ",").join(moves) if self.gravity else " ".join(moves)

    def centrality(self) -> np.ndarray:
        """Columns by distance from the middle one; cells by distance from the middle cell."""
        across = np.abs(2 * np.arange(self.cols) - (self.cols - 1))
        if self.gravity:
            return across.astype(np.int32)
        down = np.abs(2 * np.arange(self.rows) - (self.rows - 1))
        return (np.maximum(down[:, None], across[None, :])).ravel().astype(np.int32)

    def symmetries(self) -> list[Symmetry]:
        grid = np.arange(self.rows * self.cols).reshape(self.rows, self.cols)
        turned = grid_symmetries(grid, square=self.rows == self.cols and not self.gravity)
        if self.gravity:
            columns = np.arange(self.cols)[::-1]
            return [Symmetry("mirror", turned["mirror"], columns)]
        return [Symmetry(name, cells, cells) for name, cells in turned.items()]

    def turned(self, s: Record, symmetry: Symmetry, out: Record) -> None:
        n = self.rows * self.cols
        out.cells[symmetry.cells] = s.cells[:n]
        self._derive(out)
        out.turn, out.filled = s.turn, s.filled

    def _derive(self, s: Record) -> None:
        """Stones as bits, heights and the count, from the cells."""
        grid = s.cells[: self.rows * self.cols].reshape(self.rows, self.cols)
        s.filled = np.count_nonzero(grid)
        s.height[: self.cols] = np.count_nonzero(grid, axis=0) if self.gravity else 0
        if self.small:
            s.stones[:] = [np.bitwise_or.reduce(self.bits[grid == owner], initial=0) for owner in (1, 2)]

    @cached_property
    def bits(self) -> np.ndarray:
        """Where each cell's stone stands in a word."""
        down, across = np.mgrid[: self.rows, : self.cols]
        return ONE << (across * (self.rows + 1) + self.rows - 1 - down).astype(np.uint64)

    def cells(self, s: Record) -> list[list[tuple[int, str]]]:
        return [[(int(owner), "") for owner in row] for row in board(s, None)]

    def fill(self, s: Record, rows: list[list[str]], check: bool = True) -> None:
        if all(len(row) == 1 for row in rows) and self.cols > 1:
            rows = [list(row[0]) for row in rows]
        if [len(row) for row in rows] != [self.cols] * self.rows:
            raise PositionError(
                f"{self} has {self.rows} rows of {self.cols} cells; given rows of "
                f"{', '.join(str(len(row)) for row in rows) or 'nothing'}"
            )
        kinds = {".": 0, "0": 0, "x": 1, "1": 1, "o": 2, "2": 2}
        for r, row in enumerate(rows):
            for c, mark in enumerate(row):
                if mark.lower() not in kinds:
                    raise PositionError(f"row {r + 1}, column {c + 1}: {mark!r} is no cell; allowed: . X O (or 0 1 2)")
                s.cells[r * self.cols + c] = kinds[mark.lower()]
        self._derive(s)
        if check:
            self._possible(s)
        elif not s.turn:
            s.turn = 1 + int((s.cells == 1).sum() > (s.cells == 2).sum())

    def _possible(self, s: Record) -> None:
        grid = board(s, None)
        first, second = int((grid == 1).sum()), int((grid == 2).sum())
        if first - second not in (0, 1):
            raise PositionError(f"X has {first} stones and O {second}; X moves first, so X has as many or one more")
        turn = 1 if first == second else 2
        if s.turn not in (0, turn):
            raise PositionError(f"with {first} against {second} stones it is {self.players[turn - 1]}'s turn")
        s.turn = turn
        if self.gravity:
            for c in range(self.cols):
                column = grid[:, c] != 0
                if (column[:-1] & ~column[1:]).any():
                    raise PositionError(f"a floating stone in column {c + 1}: with gravity stones lie on each other")
        lines = [self._lines(s, who) for who in (1, 2)]
        if all(lines):
            raise PositionError("both players have a line; the game ends with the first")
        if lines[turn - 1]:
            raise PositionError(f"{self.players[turn - 1]} has a line but the other player moved last")
        if lines[2 - turn] and not self._one_stone_made(s, 3 - turn):
            raise PositionError(f"{self.players[2 - turn]} has lines that no single last stone made")

    def _one_stone_made(self, s: Record, who: int) -> bool:
        """Whether without some one stone (with gravity, the top one of a column) there is no line."""
        grid = board(s, None)
        for r, c in np.argwhere(grid == who).tolist():
            if self.gravity and r > 0 and grid[r - 1, c]:
                continue
            grid[r, c] = 0
            before = self._lines(s, who)
            grid[r, c] = who
            if not before:
                return True
        return False

    def _lines(self, s: Record, who: int) -> bool:
        grid = board(s, None)
        return any(in_line(s, r, c, who) for r, c in np.argwhere(grid == who).tolist())

    def judge(self, s: Record) -> int:
        if self._lines(s, 3 - int(s.turn)):
            return WON
        return DRAW if s.filled == self.rows * self.cols else RUNNING

    def winning_cells(self, s: Record) -> list[tuple[int, int]]:
        """Every cell of a winning line, for pictures."""
        grid, found = board(s, None), set()
        for r, c in np.argwhere(grid != 0).tolist():
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                line = [(r + i * down, c + i * right) for i in range(self.k)]
                er, ec = line[-1]
                if 0 <= er < self.rows and 0 <= ec < self.cols and len({int(grid[x]) for x in line}) == 1:
                    found |= set(line)
        return sorted(found)

    players: ClassVar[tuple[str, str]] = ("X", "O")


def grid_symmetries(grid: np.ndarray, square: bool) -> dict[str, np.ndarray]:
    """Where each cell of a grid of cell numbers goes under its turns and mirrors (identity left out)."""
    images = {"mirror": grid[:, ::-1], "flip": grid[::-1], "half turn": grid[::-1, ::-1]}
    if square:
        images |= {
            "transpose": grid.T,
            "quarter turn": np.rot90(grid),
            "three quarters": np.rot90(grid, 3),
            "antitranspose": grid[::-1, ::-1].T,
        }
    # image[r, c] names the cell that lands on (r, c); its inverse says where each cell goes
    return {name: np.argsort(image.ravel(), kind="stable") for name, image in images.items()}


class MNK(KInARow):
    """m rows, n columns, k in a row; no gravity."""

    name = "mnk"
    default_heuristic = "potential_streak"
    params: ClassVar[dict[str, Any]] = {
        "m": Param(3, "rows", 1, 19),
        "n": Param(3, "columns", 1, 19),
        "k": Param(3, "stones in a row that win", 1, 19),
    }

    def __init__(self, m: int = 3, n: int = 3, k: int = 3):
        super().__init__(m=m, n=n, k=k)
        self._shape(m, n, k, False)


class ConnectK(KInARow):
    """Connect-K of the second report: any size, any k, gravity on or off."""

    name = "connect_k"
    default_heuristic = "windows"
    params: ClassVar[dict[str, Any]] = {
        "columns": Param(9, "columns", 1, SIDE),
        "rows": Param(7, "rows", 1, SIDE),
        "k": Param(5, "stones in a row that win", 1, SIDE),
        "gravity": Param(False, "stones fall to the bottom"),
    }

    def __init__(self, columns: int = 9, rows: int = 7, k: int = 5, gravity: bool = False):
        super().__init__(columns=columns, rows=rows, k=k, gravity=gravity)
        self._shape(rows, columns, k, gravity)


def _standard_size(s):
    s.rows, s.cols, s.k, s.gravity, s.small = 6, 7, 4, 1, 1


STANDARD = Rules(moves, play, STATE, SIDE * SIDE, f"{__name__}.ConnectFour", _standard_size)


class ConnectFour(KInARow):
    """Connect Four: four in a row, with gravity, on seven columns of six (or another size)."""

    name = "connect_four"
    params: ClassVar[dict[str, Any]] = {"columns": Param(7, "columns", 1, SIDE), "rows": Param(6, "rows", 1, SIDE)}

    def __init__(self, columns: int = 7, rows: int = 6):
        standard = (columns, rows) == (7, 6)
        super().__init__(**({} if standard else {"columns": columns, "rows": rows}))
        self._shape(rows, columns, 4, True)
        if self.shape == (6, 7):
            self._rules = STANDARD
        self.default_heuristic = "valhalla" if standard else "windows"
