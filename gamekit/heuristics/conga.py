"""The Conga report's three evaluations: moves, squares, squares weighted by their directions."""

from __future__ import annotations

import numpy as np

from ..core import Position
from ..games.conga import NEXT, count_moves
from ..jit.intrinsics import popcount, trailing_zeros
from ..specs import Param
from .base import Part, cell_parts, heuristic

WAYS = (NEXT >= 0).sum(axis=1)  # directions that stay on the board: corner 3, edge 5, centre 8
KIND = np.searchsorted([3, 5, 8], WAYS)  # 0 corner, 1 edge, 2 centre


def _moves_parts(position: Position, me: int, _settings: dict) -> list[Part]:
    owned = [int(cells) for cells in position.record.owned]

    def worth(cell: int, owner: int) -> tuple[str, float]:
        open_ = sum(to >= 0 and not owned[2 - owner] >> to & 1 for to in NEXT[cell].tolist())
        return f"{open_} moves", open_

    return cell_parts(position, me, worth)


def _squares_parts(position: Position, me: int, settings: dict) -> list[Part]:
    worth = list(settings.values()) or [1.0, 1.0, 1.0]
    names = ("corner", "edge", "centre")
    return cell_parts(position, me, lambda cell, _owner: (names[KIND[cell]], worth[KIND[cell]]))


@heuristic("conga", report="000 part 3", about="own moves minus the opponent's", parts=_moves_parts)
def moves(state, me, params):
    """Own (cell, direction) moves minus the opponent's.

    This is the same function as `weighted`. A cell offers as many moves as it has directions on the board,
    less those that an enemy neighbour blocks; and every pair of enemy neighbours blocks exactly one move of
    either side, so what is blocked cancels in the difference.
    """
    return count_moves(state, me) - count_moves(state, 3 - me)


@heuristic("conga", report="000 part 3", about="own squares minus the opponent's", parts=_squares_parts)
def squares(state, me, params):
    return popcount(state.owned[me - 1]) - popcount(state.owned[2 - me])


@heuristic(
    "conga",
    {
        "corner": Param(3.0, "worth of a corner"),
        "edge": Param(5.0, "worth of an edge square"),
        "centre": Param(8.0, "worth of a centre square"),
    },
    report="000 part 3",
    about="own squares minus the opponent's, each worth its directions on the board",
    parts=_squares_parts,
)
def weighted(state, me, params):
    """Squares by their directions on the board; with 3, 5, 8 the same function as `moves`, see there."""
    total = 0.0
    for who in range(2):
        cells = state.owned[who]
        while cells:
            cell = trailing_zeros(cells)
            cells &= cells - np.uint32(1)
            if who == me - 1:
                total += params[KIND[cell]]
            else:
                total -= params[KIND[cell]]
    return total
