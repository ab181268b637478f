"""The Candy game: drop candies on a board of values; a drop beside an own candy turns its enemy neighbours.

Blue moves first. A player owns the cell a candy is dropped on. If the candy lies orthogonally next to
another of the same colour, every enemy candy orthogonally next to it changes owner. When the board is
full the higher total of owned values wins.

A move's number is its cell in reading order; it is written as column letter and row, `D4`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numba import carray
from numba.extending import overload

from ..core import DRAW, LOST, RUNNING, WON, Game, Record, Symmetry
from ..errors import GamekitError, PositionError, nearest
from ..jit.intrinsics import ahead, helper, trailing_zeros
from ..specs import Param
from .k_in_a_row import grid_symmetries

MOST = 64  # cells of the largest board
CELL = np.dtype([("owner", "i1"), ("value", "i1")])
STATE = np.dtype(
    [
        ("turn", "i4"),
        ("rows", "u1"),
        ("cols", "u1"),
        ("filled", "u1"),
        ("count", "u1"),
        ("owned", "u8", (2,)),  # each player's cells as bits, in reading order
        ("inside", "u8"),
        ("not_first", "u8"),
        ("not_last", "u8"),  # all cells; without the first, the last column
        ("total", "i4", (2,)),
        ("cells", CELL, (MOST,)),  # row by row; only rows × cols are used
    ]
)
CELLS, FILLED = (STATE.fields[name][1] for name in ("cells", "filled"))  # type: ignore[index]
ONE = np.uint64(1)


class BoardError(GamekitError):
    """A board file that cannot be used; the message names file, line and column."""


def moves(s, out):
    """Empty cells in reading order."""
    count = 0
    free = s.inside & ~(s.owned[0] | s.owned[1])
    while free:
        out[count] = trailing_zeros(free)
        free &= free - ONE
        count += 1
    return count


def play(s, move):
    """Drop, capture where an own candy is next to it, and compare totals on a full board."""
    me, them = s.turn - 1, 2 - s.turn
    drop = ONE << np.uint64(move)
    near = neighbours(s, drop)
    taken = near & s.owned[them]
    if not near & s.owned[me]:
        taken = np.uint64(0)
    s.owned[me] |= drop | taken
    s.owned[them] &= ~taken
    s.cells[move].owner = me + 1
    s.total[me] += s.cells[move].value
    while taken:
        cell = trailing_zeros(taken)
        taken &= taken - ONE
        s.cells[cell].owner = me + 1
        s.total[me] += s.cells[cell].value
        s.total[them] -= s.cells[cell].value
    s.turn = them + 1
    s.filled += 1
    if s.filled < s.count:
        return RUNNING
    if s.total[me] == s.total[them]:
        return DRAW
    return WON if s.total[me] > s.total[them] else LOST


@helper
def neighbours(s, cells):
    """Every cell orthogonally next to one of `cells` (a set of bits)."""
    cols = np.uint64(s.cols)
    beside = ((cells & s.not_first) >> ONE) | ((cells & s.not_last) << ONE)
    return (beside | (cells >> cols) | (cells << cols)) & s.inside


def board(s: Record, pointer: Any, shape: tuple[int, int] | None = None) -> np.ndarray:
    """What a heuristic sees: `board[row, column]` with `.owner` (0, 1, 2) and `.value`."""
    rows, cols = int(s.rows), int(s.cols)
    return s.cells[: rows * cols].reshape(rows, cols).view(np.recarray)


@overload(board)
def _board(s, pointer, shape):
    return lambda s, pointer, shape: carray(ahead(pointer, CELLS), shape, CELL)


# ---------------------------------------------------------------------- boards

BOARDS = Path(__file__).resolve().parents[2] / "data" / "boards"


def board_names() -> list[str]:
    """The boards that come with the project."""
    return sorted(file.stem for file in BOARDS.glob("*.txt"))


def find_board(name: str) -> Path:
    """The file of a board given by name or by path."""
    if name in board_names():
        return BOARDS / f"{name}.txt"
    path = Path(name)
    if not re.search(r"[/\\.]", name):
        raise BoardError(
            f"there is no board {name!r}; there are {', '.join(board_names())}, or a file's path"
            + nearest(name, board_names())
        )
    if ".." in path.parts:
        raise BoardError(f"board {name!r} is not read: a path may not climb with '..'")
    try:
        there = path.is_file()
    except OSError:
        there = False
    if not there:
        raise BoardError(
            f"there is no board file {name[:200]!r}; give a path to a file, or one of " + ", ".join(board_names())
        )
    return path


def read_board(path: Path) -> np.ndarray:
    """A board of values 1–99 from a text file: a row a line, values apart by spaces, tabs or commas."""

    def wrong(line: int, column: int, what: str) -> BoardError:
        return BoardError(f"{path}, line {line}, column {column}: {what}")

    try:
        if path.stat().st_size > 10_000:
            raise wrong(1, 1, f"too large for a board, which has at most {MOST} cells")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BoardError(f"{path} cannot be read as text: {error}") from None
    rows: list[list[int]] = []
    for number, line in enumerate(text.splitlines(), 1):
        row = []
        for found in re.finditer(r"[^\s,]+", line):
            value = int(found[0]) if re.fullmatch(r"\d{1,4}", found[0], re.ASCII) else 0
            if not 1 <= value <= 99:
                raise wrong(number, found.start() + 1, f"{found[0][:20]!r} is not a value from 1 to 99")
            row.append(value)
        if row and rows and len(row) != len(rows[0]):
            raise wrong(number, len(line.rstrip()) + 1, f"{len(row)} values where the first row has {len(rows[0])}")
        if row:
            rows.append(row)
        if len(rows) * len(rows[0] if rows else []) > MOST or len(row) > 26:
            raise wrong(number, 1, f"a board has at most {MOST} cells and 26 columns")
    if not rows:
        raise wrong(1, 1, "the file holds no values")
    return np.array(rows, np.int8)


@lru_cache(maxsize=64)
def _load(path: Path, _stamp: tuple[int, int]) -> np.ndarray:
    return read_board(path)


class Candy(Game):
    """Drop candies on a board of values; a drop beside an own candy captures its enemy neighbours.

    Heuristics see `board[row, column]` with `.owner` (0, 1, 2) and `.value`.
    """

    name = "candy"
    state = STATE
    width = MOST
    moves = moves
    play = play
    view = board
    players = ("Blue", "Green")
    marks = ".BG"
    default_heuristic = "score_difference"
    move_help = "a column letter and a row number, such as D4"
    params: ClassVar[dict[str, Any]] = {"board": Param("AlmondJoy", "a board's name, or the path of a file")}

    def __init__(self, board: str = "AlmondJoy", values: np.ndarray | None = None):
        super().__init__(board=board)
        if values is None:
            path = find_board(board)
            about = path.stat()
            values = _load(path, (about.st_mtime_ns, about.st_size))
        self.values = values
        self.rows, self.cols = self.shape = values.shape

    def __eq__(self, other: object) -> bool:
        """A file may have changed since: the values count, not the name alone."""
        return super().__eq__(other) and isinstance(other, Candy) and np.array_equal(self.values, other.values)

    __hash__ = Game.__hash__

    def __reduce__(self) -> Any:
        return Candy, (self.settings["board"], self.values)  # a file need not exist where this is unpacked

    def setup(self, s: Record) -> None:
        rows, cols = self.rows, self.cols
        column = np.arange(rows * cols) % cols
        s.turn, s.rows, s.cols, s.count = 1, rows, cols, rows * cols
        s.inside = _word(column >= 0)
        s.not_first, s.not_last = _word(column > 0), _word(column < cols - 1)
        s.cells["value"][: rows * cols] = self.values.ravel()

    @property
    def used(self) -> int:
        return CELLS + self.rows * self.cols * CELL.itemsize

    @property
    def identity(self) -> int:
        return STATE.fields["inside"][1]  # type: ignore[index]

    @property
    def codes(self) -> int:
        return self.rows * self.cols

    @property
    def longest(self) -> int:
        return self.rows * self.cols

    def left(self, data: np.ndarray) -> int:
        return self.longest - int(data[FILLED])

    def write(self, code: int) -> str:
        return f"{chr(65 + code % self.cols)}{code // self.cols + 1}"

    def read(self, text: str) -> int:
        found = re.fullmatch(r"([A-Z])(\d{1,2})", text.upper() if text.isascii() else "", re.ASCII)
        if not found:
            raise ValueError
        col, row = ord(found[1]) - 65, int(found[2]) - 1
        if not (0 <= row < self.rows and col < self.cols):
            raise ValueError
        return row * self.cols + col

    def centrality(self) -> np.ndarray:
        down = np.abs(2 * np.arange(self.rows) - (self.rows - 1))
        across = np.abs(2 * np.arange(self.cols) - (self.cols - 1))
        return np.maximum(down[:, None], across[None, :]).ravel().astype(np.int32)

    def symmetries(self) -> list[Symmetry]:
        """The turns of the board that leave its values as they are."""
        grid, flat = np.arange(self.rows * self.cols).reshape(self.rows, self.cols), self.values.ravel()
        turned = grid_symmetries(grid, square=self.rows == self.cols)
        return [Symmetry(name, cells, cells) for name, cells in turned.items() if (flat[cells] == flat).all()]

    def turned(self, s: Record, symmetry: Symmetry, out: Record) -> None:
        out.cells["owner"][symmetry.cells] = s.cells["owner"][: self.rows * self.cols]
        self._derive(out)
        out.turn = s.turn

    def _derive(self, s: Record) -> None:
        n = self.rows * self.cols
        owner = s.cells["owner"][:n]
        s.filled = np.count_nonzero(owner)
        for who in (1, 2):
            s.owned[who - 1] = _word(owner == who)
            s.total[who - 1] = s.cells["value"][:n][owner == who].sum(dtype=int)

    def cells(self, s: Record) -> list[list[tuple[int, str]]]:
        return [[(int(cell["owner"]), str(cell["value"])) for cell in row] for row in board(s, None)]

    def token(self, owner: int, label: str) -> str:
        return label + (self.marks[owner] if owner else " ")

    def fill(self, s: Record, rows: list[list[str]], check: bool = True) -> None:
        if [len(row) for row in rows] != [self.cols] * self.rows:
            raise PositionError(f"{self} has {self.rows} rows of {self.cols} cells, a value and B or G where owned")
        for r, row in enumerate(rows):
            for c, text in enumerate(row):
                value = str(self.values[r, c])
                if text.upper() not in (value, value + "B", value + "G"):
                    raise PositionError(
                        f"row {r + 1}, column {c + 1}: {text!r} is no cell of this board; "
                        f"allowed: {value}, {value}B, {value}G"
                    )
                s.cells["owner"][r * self.cols + c] = self.marks.find(text[-1].upper()) if text[-1].isalpha() else 0
        self._derive(s)
        turn = int(s.filled) % 2 + 1
        if check and s.turn not in (0, turn):
            raise PositionError(f"with {int(s.filled)} candies on the board it is {self.players[turn - 1]}'s turn")
        s.turn = turn if check else s.turn or turn

    def judge(self, s: Record) -> int:
        if s.filled < s.count:
            return RUNNING
        mine, theirs = s.total[2 - s.turn], s.total[s.turn - 1]
        return DRAW if mine == theirs else WON if mine > theirs else LOST

    def score(self, s: Record) -> tuple[float, float]:
        return int(s.total[0]), int(s.total[1])


def _word(cells: np.ndarray) -> np.uint64:
    return np.uint64(sum(1 << int(i) for i in np.flatnonzero(cells)))
