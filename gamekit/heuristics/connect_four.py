"""The Connect Four report's evaluation (`valhalla`), in its readings, and a plain positional one.

Offence: from every own token look up, left, right, up-left and up-right. The first, second and third
further cell add 1, 2, 4 times the token's weight while they are own or empty; an enemy or the edge stops.
This is what the report's worked example does (449 = 299 + 150). Its wording asks for own tokens (and an
empty cell at the fourth place only), which is the variant `strict` and gives the example 24 instead of 299.

Defence: 50 for every two enemy tokens next to each other in one of the five directions with an own token
at either end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import Game, Position
from ..games.k_in_a_row import KInARow, windows
from ..jit.intrinsics import helper
from ..specs import Param
from .base import Part, cell_parts, heuristic
from .connect_k import K_IN_A_ROW

UP = (1, 2, 3, 3, 2, 1)  # by row, from the bottom
ACROSS = (1, 2, 3, 4, 3, 2, 1)  # by column


def _matrix(rows: str) -> np.ndarray:
    """Rows of digits as an array."""
    return np.array([[int(digit) for digit in row] for row in rows.split()])


RIGHT = _matrix("0001111 0012221 0123321 1233210 1222100 1111000")
LEFT_AS_PRINTED = _matrix("1111000 1222190 1233310 0123321 0012221 0001111")
LEFT = RIGHT[:, ::-1]  # what the printed left matrix is but for two slips

# where the packed numbers stand: switches, then a table of weights for each direction, row by row from the bottom
STRICT, BLOCK, MULTIPLY, WEIGHTS = 0, 1, 2, 5
STEPS = ((1, 0), (0, -1), (0, 1), (1, -1), (1, 1))  # (rows up, columns) of the directions
NAMES = ("up", "left", "right", "up-left", "up-right")


def _pack(settings: dict[str, Any], _game: Game) -> np.ndarray:
    """All numbers of the evaluation in a row, by variant."""
    s = settings
    left = LEFT_AS_PRINTED if s["variant"] == "as_printed" else LEFT
    turn = -1 if s["matrix"] == "top_first" else 1  # the first printed row is the bottom row, or the top one
    numbers = [s["variant"] == "strict", s["block"], s["first"], s["second"], s["third"]]
    tables = [np.repeat(UP, 7), *[np.tile(ACROSS, 6)] * 2, left[::turn].ravel(), RIGHT[::turn].ravel()]
    return np.concatenate([numbers, *tables])


def _fits(game: Game) -> str | None:
    rows, cols = game.rows, game.cols  # type: ignore[attr-defined]
    return None if (rows, cols) == (6, 7) else f"its matrices are for 7 columns of 6, this board has {cols} of {rows}"


def _parts(position: Position, me: int, settings: dict) -> list[Part]:
    s, params = position.record, _pack(settings, position.game)
    parts = []
    for up, col, direction in np.ndindex(6, 7, 5):
        owner, (rise, right) = owner_at(s, up, col), STEPS[direction]
        cells = tuple((5 - up - i * rise, col + i * right) for i in range(4))
        if owner == me:
            value, used = attack(s, me, up, col, direction, params)
            if value:
                parts.append(Part(f"{NAMES[direction]} attack", cells[: used + 1], float(value)))
        elif owner == 3 - me and blocked(s, me, up, col, direction):
            parts.append(Part(f"{NAMES[direction]} block", cells[:2], float(settings["block"])))
    return parts


@helper
def owner_at(state, up, col):
    """Whose token lies `up` rows above the bottom; −1 beyond the edge."""
    if 0 <= up < 6 and 0 <= col < 7:
        return np.int64(state.cells[(5 - up) * 7 + col])
    return np.int64(-1)


@helper
def attack(state, me, up, col, direction, params):
    """What a token gains in a direction, and over how many further cells."""
    rise, right = STEPS[direction]
    weight = params[WEIGHTS + direction * 42 + up * 7 + col]
    total, used = 0.0, 0
    for i in range(3):
        owner = owner_at(state, up + (i + 1) * rise, col + (i + 1) * right)
        if owner != me and (owner != 0 or (params[STRICT] != 0.0 and i < 2)):
            break
        total += params[MULTIPLY + i] * weight
        used = i + 1
    return total, used


@helper
def blocked(state, me, up, col, direction):
    """Whether an enemy token and its neighbour in a direction make two with an own token at either end."""
    rise, right = STEPS[direction]
    if owner_at(state, up + rise, col + right) != 3 - me:
        return False
    return owner_at(state, up + 2 * rise, col + 2 * right) == me or owner_at(state, up - rise, col - right) == me


@heuristic(
    "connect_four",
    {
        "variant": Param("as_printed", "which reading of the report", choices=("as_printed", "corrected", "strict")),
        "block": Param(50.0, "for two enemy tokens with an own one at an end"),
        "first": Param(1.0, "times the weight for the first further cell"),
        "second": Param(2.0, "times the weight for the second"),
        "third": Param(4.0, "times the weight for the third"),
        "matrix": Param(
            "bottom_first", "which row the diagonal matrices print first", choices=("bottom_first", "top_first")
        ),
    },
    report="004 part 1",
    about="lines each token could still grow into, plus 50 for every block",
    pack=_pack,
    fits=_fits,
    parts=_parts,
)
def valhalla(state, me, params):
    total = 0.0
    for up in range(6):
        for col in range(7):
            owner = state.cells[(5 - up) * 7 + col]
            if owner == me:
                for direction in range(5):
                    gain, _used = attack(state, me, up, col, direction, params)
                    total += gain
            elif owner != 0:
                for direction in range(5):
                    if blocked(state, me, up, col, direction):
                        total += params[BLOCK]
    return total


def lines_through(game: Game) -> np.ndarray:
    """How many windows of k cells pass through each cell, in reading order."""
    assert isinstance(game, KInARow)
    return np.bincount(windows(game.rows, game.cols, game.k).ravel(), minlength=game.longest)


def _positional_parts(position: Position, me: int, _settings: dict) -> list[Part]:
    worth = lines_through(position.game)
    return cell_parts(position, me, lambda cell, _owner: (f"{worth[cell]} lines", worth[cell]))


@heuristic(
    K_IN_A_ROW,
    report="ours",
    about="each stone counts the lines of k that pass through its cell",
    pack=lambda _settings, game: lines_through(game),
    parts=_positional_parts,
)
def positional(state, me, params):
    total = 0.0
    for cell in range(np.int64(state.rows) * np.int64(state.cols)):
        owner = state.cells[cell]
        if owner == me:
            total += params[cell]
        elif owner != 0:
            total -= params[cell]
    return total
