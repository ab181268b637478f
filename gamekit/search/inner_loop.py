"""The inner loop of the search: nodes that need nothing remembered and nothing sorted.

Nearly all nodes are made here: the whole tree of a bare search, and the last ply of every other. It shares its
state with `kernel.search`, which hands over at a node and takes the finished node back.
"""

from __future__ import annotations

import numpy as np
from numba import carray, types

from ..core import DRAW, RUNNING, WON
from ..jit.compiled import Compiled
from ..jit.intrinsics import ahead, call_leaf, call_moves, call_play, caller, copy_blocks, helper, pointer
from . import workspace as w
from .table import DECIDED, WIN
from .workspace import numbers_of, row_at

WALK = types.int32(types.intp, types.intp)


def _walk(at, base):
    """Go on with the node where the search stands until the node at ply `base` is finished; nothing is
    remembered and nothing sorted on the way.

    A function of its own, on bare pointers, because among all the search's switches and arrays no value would
    stay in a register.
    """
    row = row_at(at)
    moves_at, play_at, leaf_at, room = row[w.MOVES_AT], row[w.PLAY_AT], row[w.LEAF_AT], row[w.ROOM]
    words, weights, lists = pointer(row[w.WORDS]), pointer(row[w.WEIGHTS]), pointer(row[w.LISTS])
    switch, register = numbers_of(row, w.SWITCH, 1), numbers_of(row, w.REGISTER, 1)
    counts = numbers_of(row, w.COUNTS, 1)
    by_ply = carray(pointer(row[w.BY_PLY]), (1,), np.uint64)
    frames, lines = carray(pointer(row[w.FRAMES]), (1,), w.FRAME), carray(pointer(row[w.LINES]), (1,), np.int32)
    me, depth, size, width = np.int32(switch[w.ME]), switch[w.DEPTH], switch[w.SIZE], switch[w.WIDTH]
    prune, win_bonus = switch[w.PRUNE] != 0, switch[w.WIN_BONUS] != 0
    left, expanded, leaves = register[w.LIMIT] - counts[w.GENERATED], 0, 0
    ply, returned, value, result = register[w.PLY], False, 0.0, w.DONE
    while True:
        frame, under = frames[np.uint64(ply)], frames[np.uint64(ply + 1)]
        position, made = ahead(words, ply * size), ahead(words, (ply + 1) * size)
        moves = carray(ahead(lists, 4 * ply * width), (1,), np.int32)
        maximising = carray(position, (1,), np.int32)[0] == me
        alpha, beta, best = frame.alpha, frame.beta, frame.best
        index, count, child = np.uint64(frame.index), np.uint64(frame.count), ply + 1
        register[w.BAD_PLY] = child
        below = False
        while True:
            if returned:
                returned = False
            else:
                if index == count:
                    break
                if left == 0:
                    result = w.PAUSED
                    break
                copy_blocks(made, position, size)
                status = call_play(play_at, made, moves[index])
                index += np.uint64(1)
                left -= 1
                by_ply[np.uint64(child)] += np.uint64(1)
                if status == RUNNING and child < depth:
                    below = True
                    break
                leaves += 1
                under.line = 0
                if status != RUNNING and win_bonus:
                    value = settled(status, maximising, child)
                else:
                    value = call_leaf(leaf_at, made, me, weights)
                    if not abs(value) < DECIDED:
                        result = w.BAD_VALUE
                        break
            if value > best if maximising else value < best:
                best = value
                frame.move = moves[index - np.uint64(1)]
                if child < depth:
                    keep_line(lines, ply * room, room, frame.move, under.line)
                    frame.line = under.line + 1
            if prune:
                alpha, beta = narrowed(alpha, beta, best, maximising)
                if alpha >= beta:
                    counts[w.CUTOFFS] += 1
                    if index == np.uint64(1):
                        counts[w.FIRST_MOVE_CUTOFFS] += 1
                    break
        frame.alpha, frame.beta, frame.best, frame.index = alpha, beta, best, index
        if result != w.DONE:
            break
        if below:
            expanded += 1
            under.alpha, under.beta = alpha, beta
            under.best = np.inf if maximising else -np.inf
            under.count = call_moves(moves_at, made, ahead(lists, 4 * child * width))
            under.index, under.move, under.line = 0, -1, 0
            ply = child
            continue
        if child == depth:
            lines[np.uint64(ply * room)] = frame.move
            frame.line = 1
        if ply == base:
            break
        value, returned = best, True
        ply -= 1
    register[w.PLY] = ply
    counts[w.GENERATED] = register[w.LIMIT] - left
    counts[w.EXPANDED] += expanded
    counts[w.LEAVES] += leaves
    return result


walk = Compiled(_walk, WALK, f"{__name__}.walk")

call_walk = caller(WALK)


@helper(forceinline=True)
def narrowed(alpha, beta, best, maximising):
    """The window after the side to move has found a move worth `best`."""
    return (max(alpha, best), beta) if maximising else (alpha, min(beta, best))


@helper(forceinline=True)
def settled(status, maximising, ply):
    """What a finished game is worth; a sooner win is worth more."""
    if status == DRAW:
        return 0.0
    return WIN - ply if (status == WON) == maximising else ply - WIN


@helper
def keep_line(lines, at, room, move, length):
    """The line of a node: its move, then the line of the child."""
    lines[np.uint64(at)] = move
    for j in range(length):
        lines[np.uint64(at + 1 + j)] = lines[np.uint64(at + room + j)]
