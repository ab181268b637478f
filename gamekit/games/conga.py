"""Conga: ten stones each on a 4×4 board; whoever cannot move loses.

A move takes every stone of one of your cells and runs in one of eight directions: one stone on the
first cell, two on the second, the rest on the third. Only an enemy cell or the edge blocks; the last
open cell takes all that remain. Own cells never block. Player A starts top left, B bottom right.

A move's number is cell × 8 + direction, both in reading order. Moves are listed cell by cell in reading order; the
parameter `directions` sets the order of a cell's directions. It changes no rule, but which of several equal moves
comes first, and so how much a search can cut.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

import numpy as np

from ..core import RUNNING, WON, Record, Rules, Symmetry
from ..errors import PositionError
from ..jit.intrinsics import helper, popcount, trailing_zeros
from ..specs import Param
from .grid import GridGame

DIRECTIONS = ("NW", "N", "NE", "W", "E", "SW", "S", "SE")
STEPS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
STONES = 10

CELL = np.dtype([("owner", "i1"), ("stones", "i1")])
STATE = np.dtype(
    [
        ("turn", "i4"),
        ("owned", "u4", (2,)),  # each player's cells as bits, bit = row × 4 + column
        ("board", CELL, (4, 4)),
    ]
)

NEXT = np.array(
    [
        [4 * r + 4 * dr + c + dc if 0 <= r + dr < 4 and 0 <= c + dc < 4 else -1 for dr, dc in STEPS]
        for r in range(4)
        for c in range(4)
    ],
    np.int8,
)  # the cell one step on, -1 beyond the edge
ORDERS = {
    "rows": DIRECTIONS,  # reading order
    "columns": ("NW", "W", "SW", "N", "S", "NE", "E", "SE"),  # the same, column by column
    "clockwise": ("N", "NE", "E", "SE", "S", "SW", "W", "NW"),
}
LEFT, RIGHT = np.uint32(0x1111), np.uint32(0x8888)  # the outer columns


def _lister(names):
    """A rule that lists every move (cell, direction), the directions of a cell in this order."""
    order = np.array([DIRECTIONS.index(name) for name in names], np.int8)

    def moves(s, out):
        """Every (cell, direction) whose first step is neither off the board nor onto the enemy."""
        count = 0
        mine, theirs = s.owned[s.turn - 1], s.owned[2 - s.turn]
        while mine:
            cell = trailing_zeros(mine)
            mine &= mine - np.uint32(1)
            for i in range(8):
                direction = order[i]
                to = NEXT[cell, direction]
                if to >= 0 and not (theirs >> np.uint32(to)) & np.uint32(1):
                    out[count] = cell * 8 + direction
                    count += 1
        return count

    return moves


def play(s, move):
    """Run the stones; the mover has won when the other player has no move."""
    me = s.turn
    cell, direction = move >> 3, move & 7
    theirs = s.owned[2 - me]
    stones = s.board[cell >> 2, cell & 3].stones
    s.board[cell >> 2, cell & 3].owner = 0
    s.board[cell >> 2, cell & 3].stones = 0
    s.owned[me - 1] &= ~(np.uint32(1) << np.uint32(cell))
    for share in (1, 2, STONES):
        cell = NEXT[cell, direction]
        beyond = NEXT[cell, direction]
        if stones <= share or beyond < 0 or (theirs >> np.uint32(beyond)) & np.uint32(1):
            share = stones
        s.board[cell >> 2, cell & 3].owner = me
        s.board[cell >> 2, cell & 3].stones += share
        s.owned[me - 1] |= np.uint32(1) << np.uint32(cell)
        stones -= share
        if stones == 0:
            break
    s.turn = 3 - me
    return RUNNING if neighbours(theirs) & ~s.owned[me - 1] else WON


@helper
def neighbours(cells):
    """Every cell next to one of `cells` (a set of bits), in any of the eight directions."""
    beside = ((cells & ~LEFT) >> np.uint32(1)) | ((cells & ~RIGHT) << np.uint32(1))
    row = cells | beside
    return beside | (row >> np.uint32(4)) | ((row << np.uint32(4)) & np.uint32(0xFFFF))


@helper
def count_moves(s, who):
    """How many (cell, direction) moves a player has, whoever is to move."""
    mine, theirs = s.owned[who - 1], s.owned[2 - who]
    count = 0
    while mine:
        cell = trailing_zeros(mine)
        mine &= mine - np.uint32(1)
        count += popcount(neighbours(np.uint32(1) << np.uint32(cell)) & ~theirs)
    return count


class Conga(GridGame):
    """Ten stones each on a 4×4 board; whoever cannot move loses.

    Heuristics see `board[row, column]` with `.owner` (0, 1, 2) and `.stones`.
    """

    name = "conga"
    state = STATE
    width = 128
    shape = (4, 4)
    moves = _lister(ORDERS["rows"])
    play = play
    players = ("A", "B")
    marks = ".AB"
    infers_turn = False
    default_heuristic = "moves"
    move_help = "row, column and compass direction, zero-based from the top left, such as 00S or 33NW"
    params: ClassVar = {
        "directions": Param("rows", "the order in which a cell's moves are listed", choices=tuple(ORDERS))
    }

    def __init__(self, directions: str = "rows"):
        super().__init__(**({"directions": directions} if directions != "rows" else {}))
        self._rules = RULES[directions]

    def setup(self, s: Record) -> None:
        s.turn = 1
        s.board[0, 0], s.board[3, 3] = (1, STONES), (2, STONES)
        self.derive(s)

    def write(self, code: int) -> str:
        return f"{code >> 5}{code >> 3 & 3}{DIRECTIONS[code & 7]}"

    def read(self, text: str) -> int:
        found = re.fullmatch(r"([0-3])([0-3])([NSWE]{1,2})", text.upper() if text.isascii() else "")
        if not found:
            raise ValueError
        return (int(found[1]) * 4 + int(found[2])) * 8 + DIRECTIONS.index(found[3])

    def centrality(self) -> np.ndarray:
        """By the directions that leave the cell: centre 8, edge 5, corner 3."""
        return np.repeat(8 - (NEXT >= 0).sum(axis=1), 8).astype(np.int32)

    def symmetries(self) -> list[Symmetry]:
        """The start is symmetric about the long diagonal only."""
        cells = np.arange(16).reshape(4, 4).T.ravel()
        turn = [STEPS.index((dc, dr)) for dr, dc in STEPS]
        return [Symmetry("transpose", cells, np.array([cells[m >> 3] * 8 + turn[m & 7] for m in range(128)]))]

    def derive(self, s: Record) -> None:
        """Owned cells as bits, from the board."""
        owners = s.board["owner"].reshape(16)
        s.owned[:] = [sum(1 << int(cell) for cell in np.flatnonzero(owners == who)) for who in (1, 2)]

    def cells(self, s: Record) -> list[list[tuple[int, str]]]:
        return [[(int(cell["owner"]), str(cell["stones"]) if cell["owner"] else "") for cell in row] for row in s.board]

    def token(self, owner: int, label: str) -> str:
        return self.marks[owner] + label

    def tokens(self, row: int, col: int) -> dict[str, Any]:
        return TOKENS

    def complete(self, s: Record, check: bool) -> None:
        for who, name in enumerate(self.players, 1):
            stones = int(s.board["stones"][s.board["owner"] == who].sum())
            if check and stones != STONES:
                raise PositionError(f"{name} has {stones} stones; each player has {STONES}")
        s.turn = s.turn or 1

    def judge(self, s: Record) -> int:
        return RUNNING if count_moves(s, int(s.turn)) else WON


TOKENS = {".": (0, 0)} | {f"{'.AB'[who]}{count}": (who, count) for who in (1, 2) for count in range(1, STONES + 1)}
RULES = {"rows": Conga._rules} | {
    name: Rules(_lister(order), play, STATE, Conga.width, f"{__name__}.Conga.{name}")
    for name, order in ORDERS.items()
    if name != "rows"
}
