"""The Candy game: drop candies on a board of values; a drop beside an own candy turns its enemy neighbours.

Blue moves first. A player owns the cell a candy is dropped on. If the candy lies orthogonally next to
another of the same colour, every enemy candy orthogonally next to it changes owner. When the board is
full the higher total of owned values wins.

A move's number is its cell in reading order; it is written as column letter and row, `D4`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numba import carray
from numba.extending import overload

from ..core import DRAW, LOST, RUNNING, WON, Record, Symmetry
from ..errors import GamekitError, PositionError, nearest
from ..jit.intrinsics import ahead, helper, trailing_zeros
from ..specs import Param
from .grid import FillingGame

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
CELLS, INSIDE = (STATE.fields[name][1] for name in ("cells", "inside"))  # type: ignore[index]
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
    known = board_names()
    if name in known:
        return BOARDS / f"{name}.txt"
    path = Path(name)
    if not re.search(r"[/\\.]", name):
        some = f"there are {', '.join(known)}, or a file's path"
        raise BoardError(f"there is no board {name!r}; {some}{nearest(name, known)}")
    if ".." in path.parts:
        raise BoardError(f"board {name!r} is not read: a path may not climb with '..'")
    return path


def read_board(path: Path) -> np.ndarray:
    """A board of values 1–99 from a text file: one row per line, values apart by spaces, tabs or commas."""

    def wrong(line: int, column: int, what: str) -> BoardError:
        return BoardError(f"{path}, line {line}, column {column}: {what}")

    try:
        if not path.is_file():
            some = f"give a path to a file, or one of {', '.join(board_names())}"
            raise BoardError(f"there is no board file {str(path)[:200]!r}; {some}")
        if path.stat().st_size > 10_000:
            raise wrong(1, 1, f"too large for a board, which has at most {MOST} cells")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BoardError(f"{path} cannot be read as text: {error}") from None
    rows: list[list[int]] = []
    for number, line in enumerate(text.splitlines(), 1):
        row = []
        for found in re.finditer(r"[^\s,]+", line):
            if not re.fullmatch(r"0*[1-9]\d?", found[0], re.ASCII):
                raise wrong(number, found.start() + 1, f"{found[0][:20]!r} is not a value from 1 to 99")
            row.append(int(found[0]))
        if not row:
            continue
        rows.append(row)
        if len(row) != len(rows[0]):
            raise wrong(number, len(line.rstrip()) + 1, f"{len(row)} values where the first row has {len(rows[0])}")
        if len(rows) * len(row) > MOST or len(row) > 26:
            raise wrong(number, 1, f"a board has at most {MOST} cells and 26 columns")
    if not rows:
        raise wrong(1, 1, "the file holds no values")
    return np.array(rows, np.int8)


class Candy(FillingGame):
    """Drop candies on a board of values; a drop beside an own candy captures its enemy neighbours.

    Heuristics see `board[row, column]` with `.owner` (0, 1, 2) and `.value`.
    """

    name = "candy"
    state = STATE
    width = MOST
    identity = INSIDE
    moves = moves
    play = play
    view = board
    players = ("Blue", "Green")
    marks = ".BG"
    default_heuristic = "score_difference"
    move_help = "a column letter and a row number, such as D4"
    params: ClassVar = {"board": Param("AlmondJoy", "a board's name, or the path of a file")}

    def __init__(self, board: str = "AlmondJoy", values: np.ndarray | None = None):
        self.values = read_board(find_board(board)) if values is None else values
        super().__init__(self.values.shape, {"board": board})
        self.used = CELLS + self.longest * CELL.itemsize

    def __eq__(self, other: object) -> bool:
        """A file may have changed since: the values count, not the name alone."""
        return super().__eq__(other) and isinstance(other, Candy) and np.array_equal(self.values, other.values)

    __hash__ = FillingGame.__hash__

    def __reduce__(self) -> Any:
        return Candy, (self.settings["board"], self.values)  # a file need not exist where this is unpacked

    def setup(self, s: Record) -> None:
        column = np.arange(self.longest) % self.cols
        s.turn, s.rows, s.cols, s.count = 1, self.rows, self.cols, self.longest
        s.inside, s.not_first, s.not_last = map(_word, (column >= 0, column > 0, column < self.cols - 1))
        s.cells["value"][: self.longest] = self.values.ravel()

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

    def symmetries(self) -> list[Symmetry]:
        """The turns of the board that leave its values as they are."""
        flat = self.values.ravel()
        return [turn for turn in super().symmetries() if (flat[turn.cells] == flat).all()]

    def derive(self, s: Record) -> None:
        """Owned cells as bits, totals and the count, from the cells."""
        cells = s.cells[: self.longest]
        s.filled = np.count_nonzero(cells["owner"])
        s.owned[:] = [_word(cells["owner"] == who) for who in (1, 2)]
        s.total[:] = [cells["value"][cells["owner"] == who].sum(dtype=int) for who in (1, 2)]

    def cells(self, s: Record) -> list[list[tuple[int, str]]]:
        return [[(int(cell["owner"]), str(cell["value"])) for cell in row] for row in self.grid(s)]

    def token(self, owner: int, label: str) -> str:
        return label + (self.marks[owner] if owner else " ")

    def tokens(self, row: int, col: int) -> dict[str, Any]:
        value = int(self.values[row, col])
        return {self.token(owner, str(value)).strip(): (owner, value) for owner in range(3)}

    def complete(self, s: Record, check: bool) -> None:
        turn = int(s.filled) % 2 + 1
        if check and s.turn not in (0, turn):
            raise PositionError(f"with {int(s.filled)} candies on the board it is {self.players[turn - 1]}'s turn")
        s.turn = s.turn or turn

    def judge(self, s: Record) -> int:
        if s.filled < self.longest:
            return RUNNING
        mine, theirs = s.total[2 - s.turn], s.total[s.turn - 1]
        return DRAW if mine == theirs else WON if mine > theirs else LOST

    def score(self, s: Record) -> tuple[float, float]:
        return int(s.total[0]), int(s.total[1])


def _word(cells: np.ndarray) -> np.uint64:
    """A set of cells as bits."""
    return np.uint64(sum(1 << int(cell) for cell in np.flatnonzero(cells)))
