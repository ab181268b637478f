"""Evaluations of the Candy game: the totals, and three of our own.

A candy changes hands only when the enemy drops next to it, on an empty cell that touches another enemy
candy. So whoever is to move may count on the best capture at hand (`capture_threat`), and empty cells beside
one's own candies are where captures will come from (`reach`); both beat the plain totals at equal depth.
That a candy without an empty neighbour is safe for good sounds as useful (`safe_score`) and is not: discounting
the others loses to the plain totals. It stays as the refuted idea it is.
"""

from __future__ import annotations

import numpy as np

from ..core import Position
from ..games.candy import ONE, neighbours
from ..jit.intrinsics import helper, trailing_zeros
from ..specs import Param
from .base import Part, cell_parts, heuristic


def _owned_parts(position: Position, me: int, _settings: dict) -> list[Part]:
    values = position.record.cells["value"]
    return cell_parts(position, me, lambda cell, _owner: ("owned", values[cell]))


@heuristic("candy", report="001", about="own total minus the opponent's", parts=_owned_parts)
def score_difference(state, me, params):
    return state.total[me - 1] - state.total[2 - me]


def _safe_parts(position: Position, me: int, settings: dict) -> list[Part]:
    s = position.record
    free = s.inside & ~(s.owned[0] | s.owned[1])

    def worth(cell: int, _owner: int) -> tuple[str, float]:
        exposed, value = neighbours(s, ONE << np.uint64(cell)) & free, float(s.cells["value"][cell])
        return ("exposed", settings["exposed"] * value) if exposed else ("safe", value)

    return cell_parts(position, me, worth)


@heuristic(
    "candy",
    {"exposed": Param(0.6, "share of a candy's value while it has an empty neighbour", 0.0, 1.0)},
    report="ours",
    about="the totals, candies that can still be captured counted in part (refuted: worse)",
    parts=_safe_parts,
)
def safe_score(state, me, params):
    free = state.inside & ~(state.owned[0] | state.owned[1])
    open_ = neighbours(state, free)
    total = 0.0
    for who in range(2):
        exposed = state.owned[who] & open_
        share = state.total[who] - (1.0 - params[0]) * worth(state, exposed)
        if who == me - 1:
            total += share
        else:
            total -= share
    return total


@helper
def worth(state, cells):
    """The values of a set of cells, summed."""
    total = np.int64(0)
    while cells:
        total += np.int64(state.cells[trailing_zeros(cells)].value)
        cells &= cells - ONE
    return total


@helper
def best_capture(state, who):
    """The most that a player could capture with one drop, and where."""
    mine, theirs = state.owned[who - 1], state.owned[2 - who]
    free = state.inside & ~(mine | theirs)
    free &= neighbours(state, mine) & neighbours(state, theirs)
    best, where = 0, -1
    while free:
        cell = trailing_zeros(free)
        free &= free - ONE
        taken = worth(state, neighbours(state, ONE << np.uint64(cell)) & theirs)
        if taken > best:
            best, where = taken, cell
    return best, where


def _threat_parts(position: Position, me: int, settings: dict) -> list[Part]:
    s = position.record
    taken, where = best_capture(s, int(s.turn))
    parts = _owned_parts(position, me, {})
    if taken:
        swing = 2.0 * settings["threat"] * taken
        swing = swing if s.turn == me else -swing
        cell = divmod(where, position.board.shape[1])
        parts.append(Part(f"capture of {taken} threatened", (cell,), swing))
    return parts


@heuristic(
    "candy",
    {"threat": Param(0.5, "how much of the best capture at hand is counted", 0.0, 2.0)},
    report="ours",
    about="the totals, plus a share of the best capture open to whoever is to move",
    parts=_threat_parts,
)
def capture_threat(state, me, params):
    total = float(state.total[me - 1] - state.total[2 - me])
    taken, _where = best_capture(state, state.turn)
    swing = 2.0 * params[0] * taken
    return total + swing if state.turn == me else total - swing


def _reach_parts(position: Position, me: int, settings: dict) -> list[Part]:
    s, parts = position.record, _owned_parts(position, me, {})
    free = s.inside & ~(s.owned[0] | s.owned[1])
    for who, weight in ((me, settings["weight"]), (3 - me, -settings["weight"])):
        near = int(free & neighbours(s, s.owned[who - 1]))
        for cell, value in enumerate(position.board["value"].ravel().tolist()):
            if near >> cell & 1:
                parts.append(Part("in reach", (divmod(cell, int(s.cols)),), weight * value))
    return parts


@heuristic(
    "candy",
    {"weight": Param(0.1, "share of an empty cell's value for who has a candy next to it", -2.0, 2.0)},
    report="ours",
    about="the totals, plus a little for empty cells next to own candies",
    parts=_reach_parts,
)
def reach(state, me, params):
    free = state.inside & ~(state.owned[0] | state.owned[1])
    mine = worth(state, free & neighbours(state, state.owned[me - 1]))
    theirs = worth(state, free & neighbours(state, state.owned[2 - me]))
    return state.total[me - 1] - state.total[2 - me] + params[0] * (mine - theirs)
