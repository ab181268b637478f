"""Counting positions: the proof that rules are right, and the size of small games' trees."""

from __future__ import annotations

import numpy as np
from numba import int32, int64, intp, uint64

from ..core import RUNNING, Position, a_position
from ..errors import GamekitError
from ..jit.compiled import compiled
from ..jit.intrinsics import address, call_moves, call_play


@compiled(intp, intp, uint64[::1], int64, int64, int32[::1], int32[:, ::1], int64, int64, int64[::1])
def walk(moves_at, play_at, words, block, width, lists, cursor, depth, limit, counts):
    """Play every line to `depth` and count positions by ply; goes on where it paused; 1 when finished."""
    ply, generated = cursor[depth, 0], 0
    while ply >= 0:
        if cursor[ply, 0] == cursor[ply, 1]:
            ply -= 1
            continue
        if generated >= limit:
            cursor[depth, 0] = ply
            return 0
        move = lists[ply * width + cursor[ply, 0]]
        cursor[ply, 0] += 1
        for j in range(block):
            words[(ply + 1) * block + j] = words[ply * block + j]
        child = address(words, 8 * (ply + 1) * block)
        status = call_play(play_at, child, move)
        counts[ply + 1] += 1
        generated += 1
        if status == RUNNING and ply + 1 < depth:
            ply += 1
            cursor[ply, 0] = 0
            cursor[ply, 1] = call_moves(moves_at, child, address(lists, 4 * ply * width))
    return 1


def perft(position: Position, depth: int) -> list[int]:
    """How many lines of 1, 2, … `depth` moves a position has; a finished game has no further ones.

    >>> import gamekit as gk
    >>> perft(gk.game("conga").start(), 4)
    [3, 8, 96, 1112]
    """
    a_position(position)
    if not isinstance(depth, int) or not 1 <= depth <= 1000:
        raise GamekitError(f"depth={depth} is not allowed; depth is a whole number from 1 to 1000")
    game, codes = position.game, position.codes()
    if not codes:
        return [0] * depth
    words = np.zeros((depth + 1) * game.size // 8, np.uint64)
    words[: game.size // 8] = position.data.view(np.uint64)
    lists = np.zeros((depth + 1) * game.width, np.int32)
    lists[: len(codes)] = codes
    cursor = np.zeros((depth + 1, 2), np.int32)
    cursor[0, 1] = len(codes)
    counts = np.zeros(depth + 1, np.int64)
    rules = game._rules.moves.address, game._rules.play.address
    while not walk(*rules, words, game.size // 8, game.width, lists, cursor, depth, 1 << 22, counts):
        pass  # between two slices Ctrl-C is heard
    return counts[1:].tolist()


def distinct(position: Position, depth: int) -> list[int]:
    """How many different positions there are after 0, 1, … `depth` moves."""
    layer, sizes = {position.key: position}, [1]
    for _ in range(depth):
        layer = {child.key: child for parent in layer.values() for child in map(parent.after, parent.codes())}
        sizes.append(len(layer))
    return sizes


def tree_size(position: Position) -> int:
    """Nodes of the whole game tree below a position, the position itself included."""
    left = position.game.left(position.data)
    if left is None:
        raise GamekitError(f"{position.game.name} has no longest game, so its tree has no size")
    return 1 + sum(perft(position, left)) if left else 1
