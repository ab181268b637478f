"""In which order moves are tried. Order never changes a value, only how much has to be looked at."""

from __future__ import annotations

import numpy as np

from ..errors import nearest
from ..jit.intrinsics import helper
from ..specs import SpecError

CENTRE, SIDES, BEST, HISTORY, FRONT = 1, 2, 4, 8, 16
REPORT = CENTRE | SIDES  # MIN centre first, MAX sides first

ORDERS = {
    "none": 0,  # as the rules list them
    "centre": CENTRE,  # from the middle outwards
    "sides": SIDES,  # from the edge inwards
    "report": REPORT,  # the Connect Four report's: MIN from the middle, MAX from the sides
    "history": HISTORY,  # killers of this ply, then moves that cut elsewhere
    "best": BEST,  # what was best here in the last search first
    "front": FRONT,  # the Connect-K report's lists: each new best moves to the front, and stays there
}


def order_flags(text: str) -> int:
    """`best+history+centre` → the flags of the search."""
    flags = 0
    for word in text.split("+") if isinstance(text, str) else [text]:
        if word not in ORDERS:
            raise SpecError(
                f"order {text!r} is not known; allowed: {', '.join(ORDERS)}, or several joined by +"
                + nearest(word, ORDERS)
            )
        if flags & (CENTRE | SIDES) and ORDERS[word] & (CENTRE | SIDES):
            raise SpecError(f"order {text!r} names two fixed orders; centre, sides and report exclude each other")
        flags |= ORDERS[word]
    if flags & FRONT and flags != FRONT:
        raise SpecError(f"order {text!r} mixes front with another; its lists are an order of their own")
    return flags


KILLER = 1 << 60


@helper
def by_rank(moves, start, count, rank, outwards, buckets, spare):
    """Sort moves by rank (a stable counting sort), from the middle outwards or the reverse."""
    top = buckets.size - 1
    for j in range(top + 1):
        buckets[j] = 0
    for i in range(start, start + count):
        buckets[rank[moves[i]] if outwards else top - rank[moves[i]]] += 1
    below = 0
    for j in range(top + 1):
        here = buckets[j]
        buckets[j] = below
        below += here
    for i in range(count):
        move = moves[start + i]
        j = rank[move] if outwards else top - rank[move]
        moves[spare + buckets[j]] = move
        buckets[j] += 1
    for i in range(count):
        moves[start + i] = moves[spare + i]


@helper
def by_score(moves, scores, start, count):
    """Sort moves by falling score; equal scores keep their order."""
    for i in range(start + 1, start + count):
        move, score = moves[i], scores[i]
        j = i
        while j > start and scores[j - 1] < score:
            moves[j], scores[j] = moves[j - 1], scores[j - 1]
            j -= 1
        moves[j], scores[j] = move, score


@helper
def learned(order, move, remembered, killers, history, ply, side):
    """How promising a move is by what the search has learned: remembered best, killers, history."""
    if order & BEST and move == remembered:
        return KILLER * 4
    if not order & HISTORY:
        return 0
    if move == killers[2 * ply]:
        return KILLER * 2
    if move == killers[2 * ply + 1]:
        return KILLER
    return history[side - 1, move]


@helper
def remember_cut(move, killers, history, ply, side, depth):
    """A move that cut becomes its ply's first killer and gains in history."""
    if killers[2 * ply] != move:
        killers[2 * ply + 1] = killers[2 * ply]
        killers[2 * ply] = move
    history[side - 1, move] += depth * depth


NODE = np.dtype([("value", "f8"), ("move", "i4"), ("first", "i4"), ("count", "i4"), ("depth", "i4")])
"""A move in the lists of `front`: its own children stand at first … first + count (first = 0: not listed
yet); `depth` > 0 says that `value` decided it after searching that deep."""


@helper
def to_front(tree, first, at):
    """Move the entry at `at` to the front of its list."""
    if at == first:
        return
    value, move, child, count, depth = tree[at].value, tree[at].move, tree[at].first, tree[at].count, tree[at].depth
    for j in range(at, first, -1):
        tree[j] = tree[j - 1]
    tree[first].value = value
    tree[first].move = move
    tree[first].first = child
    tree[first].count = count
    tree[first].depth = depth
