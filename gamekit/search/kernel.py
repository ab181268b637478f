"""The one search, compiled once: minimax with every switch, for any game and any evaluation.

It is handed rules and evaluation as addresses and knows nothing else of the game. Values are for the
player who searches (`me`, to move at the root): MAX nodes are those where that player moves.

What `search` gives for a node searched with window (alpha, beta) to its full depth, v being minimax's value:

    alpha < result < beta   →   v = result
    result ≤ alpha          →   v ≤ result
    result ≥ beta           →   v ≥ result

Positions lie on an explicit stack, a block each; a child is a copy of its parent on which `play` acts.
All state lives in arrays, so the search can pause after any number of nodes and go on later: limits,
Ctrl-C and pondering need no threads inside.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ..core import RUNNING
from ..jit.compiled import Compiled
from ..jit.intrinsics import address, call_leaf, call_moves, call_play, caller, copy_blocks, helper, pointer
from . import workspace as w
from .inner_loop import call_walk, keep_line, narrowed, settled
from .ordering import BEST, CENTRE, HISTORY, REPORT, by_rank, by_score, learned, remember_cut, to_front
from .table import DECIDED, EXACT, LOWER, UPPER, digest, from_here, probe, store, usable

SEARCH = types.int32(types.intp)
BELOW = 3  # beside the results of a search: a child is to be searched before the node can go on


def _search(at):
    """Search one depth, or go on with a paused search; returns DONE, PAUSED or BAD_VALUE."""
    s = w.view_at(at)
    bare = not s.use_table and s.order == 0  # no node needs more than its moves
    ply, entering, returned = s.register[w.PLY], s.register[w.PHASE] == w.ENTER, False
    value = 0.0
    if entering:  # a new search, at its root
        root = s.frames[0]
        root.alpha, root.beta, root.entry, root.move = -np.inf, np.inf, 0, -1
        root.first, root.count = s.register[w.ROOT_FIRST], s.register[w.ROOT_COUNT]
    while True:
        turn = np.int64(s.words[ply * s.size >> 3] & np.uint64(0xFFFFFFFF))
        maximising = turn == s.switch[w.ME]
        if entering:
            entering = False
            known, value, remembered = look_up(s, ply)
            if known:
                ply, returned = ply - 1, True
                continue
            enter(s, ply, turn, maximising, remembered)
        if ply > 0 and (bare or (ply + 1 == s.depth and not s.front)):
            s.register[w.PLY] = ply
            result = np.int64(call_walk(s.row[w.WALK_AT], at, 1 if bare else ply))
            ply = s.register[w.PLY]
            frame = s.frames[ply]
            if s.order & HISTORY and result == w.DONE and frame.alpha >= frame.beta:
                move = s.lists[ply * s.width + frame.index - 1]
                remember_cut(move, s.killers, s.history, ply, turn, s.depth - ply)
        else:
            result = try_moves(s, ply, turn, maximising, returned, value)
        if result == BELOW:
            descend(s, ply)
            ply, entering, returned = ply + 1, True, False
            continue
        if result != w.DONE:
            break
        value = leave(s, ply)
        if ply == 0:
            break
        ply, returned = ply - 1, True
    s.register[w.PLY], s.register[w.PHASE] = ply, w.NEXT
    return result


search = Compiled(_search, SEARCH, f"{__name__}.search")
call_search = caller(SEARCH)


# ------------------------------------------------------------------------- node entry


@helper(forceinline=True)
def look_up(s, ply):
    """(known, value, move): what the table has of the position at a new node, which begins here."""
    frame = s.frames[ply]
    frame.low, frame.high, frame.line = frame.alpha, frame.beta, 0
    value, remembered = 0.0, np.int64(-1)
    if not s.use_table:
        return False, value, remembered
    frame.key = digest(s.words, ply * s.size >> 3, s.switch[w.IDENTITY])
    slot = probe(s.table, frame.key, s.switch[w.STAMP])
    s.counts[w.TABLE_PROBES] += 1
    if slot < 0:
        return False, value, remembered
    s.counts[w.TABLE_HITS] += 1
    found = s.table[slot]
    remembered = np.int64(found.move)
    if s.switch[w.USE_TABLE] == 0 or ply == 0 or not usable(found.depth, found.value, s.depth - ply):
        return False, value, remembered
    value, bound = from_here(found.value, -ply), found.bound
    if bound == EXACT or (bound == LOWER and value >= frame.beta) or (bound == UPPER and value <= frame.alpha):
        s.counts[w.TABLE_CUTOFFS] += 1
        return True, value, remembered
    return False, value, remembered


@helper(forceinline=True)
def enter(s, ply, turn, maximising, remembered):
    """List the moves of a node that is to be expanded, in the order in which they are tried."""
    frame, start = s.frames[ply], ply * s.width
    s.counts[w.EXPANDED] += 1
    listed = s.front and frame.first > 0
    if listed:
        count = np.int64(frame.count)
        for i in range(count):
            s.lists[start + i] = s.tree[frame.first + i].move
    else:
        position = address(s.words, ply * s.size)
        count = np.int64(call_moves(s.row[w.MOVES_AT], position, address(s.lists, 4 * start)))
        frame.count = count
    if ply == 0:  # where each move stands in the rules' own order
        call_moves(s.row[w.MOVES_AT], address(s.words, 0), address(s.lists, 4 * s.width))
        for i in range(count):
            s.place[s.lists[s.width + i]] = i
            s.values[i] = np.nan
    if s.order & REPORT:
        outwards = s.order & REPORT == CENTRE or (s.order & REPORT == REPORT and not maximising)
        by_rank(s.lists, start, count, s.rank, outwards, s.buckets, start + s.width)
    if s.order & (BEST | HISTORY):
        for i in range(start, start + count):
            s.scores[i] = learned(s.order, s.lists[i], remembered, s.killers, s.history, ply, turn)
        by_score(s.lists, s.scores, start, count)
    if s.front and not listed and s.register[w.FREE] + count <= s.tree.size:
        frame.first = s.register[w.FREE]
        s.register[w.FREE] += count
        for i in range(count):
            new = s.tree[frame.first + i]
            new.move, new.first, new.depth = s.lists[start + i], 0, 0
        if ply == 0:
            s.register[w.ROOT_FIRST], s.register[w.ROOT_COUNT] = frame.first, count
        else:
            s.tree[frame.entry].first, s.tree[frame.entry].count = frame.first, count
    frame.best = -np.inf if maximising else np.inf
    frame.index, frame.move = 0, -1


# ------------------------------------------------------------------------- the children of a node


@helper(forceinline=True)
def try_moves(s, ply, turn, maximising, returned, value):
    """Play a node's moves one after the other; `value` is the last child's if the search has `returned` from it.

    Returns DONE when the node is finished, BELOW when the last child has to be searched, PAUSED or BAD_VALUE.
    """
    frame, under, child, deepest, start = s.frames[ply], s.frames[ply + 1], ply + 1, ply + 1 == s.depth, ply * s.width
    alpha, beta, best, index, count = frame.alpha, frame.beta, frame.best, np.int64(frame.index), np.int64(frame.count)
    position, made = address(s.words, ply * s.size), address(s.words, child * s.size)
    listed = s.front and frame.first > 0
    result = w.DONE
    while True:
        if returned:
            move = s.lists[start + index - 1]
            better = value > best if maximising else value < best
            if ply == 0:  # ties are broken
                s.values[s.place[move]] = value
                if value == best and (frame.move < 0 or preferred(s.place, move, frame.move, s.switch[w.TIES])):
                    better = True
            if better:
                best, frame.move = value, move
                if not deepest:
                    keep_line(s.lines, ply * s.plies, s.plies, move, under.line)
                    frame.line = under.line + 1
                if listed:
                    to_front(s.tree, frame.first, frame.first + index - 1)
            if s.prune:
                alpha, beta = narrowed(alpha, beta, best, maximising)
                if alpha >= beta:
                    s.counts[w.CUTOFFS] += 1
                    if index == 1:
                        s.counts[w.FIRST_MOVE_CUTOFFS] += 1
                    if s.order & HISTORY:
                        remember_cut(move, s.killers, s.history, ply, turn, s.depth - ply)
                    break
        if index == count:
            break
        if s.counts[w.GENERATED] >= s.register[w.LIMIT]:
            result = w.PAUSED
            break
        move, returned, under.line = s.lists[start + index], True, 0
        index += 1
        if listed:
            entry = s.tree[frame.first + index - 1]
            if entry.depth > 0 and usable(entry.depth, entry.value, s.depth - child):
                value = from_here(entry.value, -child)
                continue
        copy_blocks(made, position, s.size)
        status = call_play(s.row[w.PLAY_AT], made, move)
        s.counts[w.GENERATED] += 1
        s.by_ply[child] += 1
        if status == RUNNING and not deepest:
            result = BELOW
            break
        s.counts[w.LEAVES] += 1
        if status != RUNNING and s.switch[w.WIN_BONUS] != 0:
            value = settled(status, maximising, child)
        else:
            s.register[w.BAD_PLY] = child
            value = call_leaf(s.row[w.LEAF_AT], made, np.int32(s.switch[w.ME]), pointer(s.row[w.WEIGHTS]))
            if not abs(value) < DECIDED:
                result = w.BAD_VALUE
                break
    frame.alpha, frame.beta, frame.best, frame.index = alpha, beta, best, index
    if deepest and result == w.DONE:
        s.lines[ply * s.plies], frame.line = frame.move, 1
    return result


@helper(forceinline=True)
def preferred(place, move, best, ties):
    """Whether a root move goes before the best one so far if it is worth as much."""
    return (place[move] < place[best]) != (ties == w.LAST)


@helper(forceinline=True)
def descend(s, ply):
    """Give the last child its window, and its list of moves where there is one."""
    frame, under = s.frames[ply], s.frames[ply + 1]
    under.alpha, under.beta, under.entry, under.first, under.count = frame.alpha, frame.beta, 0, 0, 0
    rivals = ply == 0 and s.prune and frame.move >= 0  # an equal value may take its place: it must show as equal
    if rivals and (
        s.switch[w.TIES] == w.RANDOM or preferred(s.place, s.lists[frame.index - 1], frame.move, s.switch[w.TIES])
    ):
        under.alpha = np.nextafter(frame.best, -np.inf)
    if s.front and frame.first > 0:
        entry = s.tree[frame.first + frame.index - 1]
        under.entry, under.first, under.count = frame.first + frame.index - 1, entry.first, entry.count


# ------------------------------------------------------------------------- node exit


@helper(forceinline=True)
def leave(s, ply):
    """Keep what was learned of a finished node; its value."""
    frame = s.frames[ply]
    best = frame.best
    exact = not s.prune or (frame.low < best < frame.high)
    if s.use_table:
        bound = EXACT if exact else LOWER if best >= frame.high else UPPER
        store(s.table, frame.key, s.switch[w.STAMP], from_here(best, ply), frame.move, s.depth - ply, bound)
    if frame.entry > 0 and exact and abs(best) > DECIDED:
        s.tree[frame.entry].value, s.tree[frame.entry].depth = from_here(best, ply), s.depth - ply
    return best
