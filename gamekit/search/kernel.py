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
from numba import carray, types

from ..core import RUNNING
from ..jit.compiled import Compiled
from ..jit.intrinsics import address, call_leaf, call_moves, call_play, caller, copy_blocks, pointer
from . import workspace as w
from .inner_loop import call_walk, settled
from .ordering import BEST, CENTRE, FRONT, HISTORY, NODE, REPORT, by_rank, by_score, learned, remember_cut, to_front
from .table import DECIDED, ENTRY, EXACT, LOWER, UPPER, digest, from_here, from_root, probe, store, usable
from .workspace import numbers_of, row_at

SEARCH = types.int32(types.intp)


def _search(at):
    """Search one depth, or go on with a paused search; returns DONE, PAUSED or BAD_VALUE."""
    row = row_at(at)
    moves_at, play_at, leaf_at, weights = row[w.MOVES_AT], row[w.PLAY_AT], row[w.LEAF_AT], pointer(row[w.WEIGHTS])
    switch, register = numbers_of(row, w.SWITCH, w.SWITCHES), numbers_of(row, w.REGISTER, w.REGISTERS)
    counts, plies = numbers_of(row, w.COUNTS, w.COUNTERS), row[w.ROOM]
    size, width = switch[w.SIZE], switch[w.WIDTH]
    words = carray(pointer(row[w.WORDS]), (plies * size >> 3,), np.uint64)
    frames = carray(pointer(row[w.FRAMES]), (plies,), w.FRAME)
    lists = carray(pointer(row[w.LISTS]), (plies * width,), np.int32)
    scores, by_ply = numbers_of(row, w.SCORES, plies * width), numbers_of(row, w.BY_PLY, plies)
    lines = carray(pointer(row[w.LINES]), (plies, plies), np.int32)
    table = carray(pointer(row[w.TABLE]), (row[w.TABLE_SIZE],), ENTRY)
    history = carray(pointer(row[w.HISTORY]), (2, row[w.CODES]), np.int64)
    killers = carray(pointer(row[w.KILLERS]), (2 * plies,), np.int32)
    rank = carray(pointer(row[w.RANK]), (row[w.CODES],), np.int32)
    buckets = carray(pointer(row[w.BUCKETS]), (row[w.BUCKET_COUNT],), np.int32)
    values = carray(pointer(row[w.VALUES]), (width,), np.float64)
    place = carray(pointer(row[w.PLACE]), (row[w.CODES],), np.int32)
    tree = carray(pointer(row[w.TREE]), (row[w.TREE_SIZE],), NODE)

    me, depth, prune, order = switch[w.ME], switch[w.DEPTH], switch[w.PRUNE] != 0, switch[w.ORDER]
    win_bonus, ties = switch[w.WIN_BONUS] != 0, switch[w.TIES]
    identity, stamp = switch[w.IDENTITY], switch[w.STAMP]
    use_values, use_table = switch[w.USE_TABLE] != 0, switch[w.USE_TABLE] != 0 or (order & BEST) != 0
    front, block = (order & FRONT) != 0, size >> 3
    limit, generated = register[w.LIMIT], counts[w.GENERATED]
    expanded, leaves, horizon = 0, 0, 0
    bare = not use_table and order == 0  # no node needs more than its moves

    ply, entering, returned = register[w.PLY], register[w.PHASE] == w.ENTER, False
    value, result = 0.0, w.DONE
    if entering:  # a new search, at its root
        root = frames[0]
        root.alpha, root.beta, root.entry, root.move = -np.inf, np.inf, 0, -1
        root.first, root.count = register[w.ROOT_FIRST], register[w.ROOT_COUNT]
    while True:
        frame = frames[ply]
        here = ply * block
        turn = np.int64(words[here] & np.uint64(0xFFFFFFFF))
        maximising = turn == me
        start = ply * width

        if entering:
            entering = False
            remembered = -1
            known = False
            frame.low, frame.high = frame.alpha, frame.beta
            if use_table:
                frame.key = digest(words, here, identity)
                slot = probe(table, frame.key, stamp)
                counts[w.TABLE_PROBES] += 1
                if slot >= 0:
                    counts[w.TABLE_HITS] += 1
                    remembered = table[slot].move
                    if use_values and ply > 0 and usable(table[slot].depth, table[slot].value, depth - ply):
                        value = from_root(table[slot].value, ply)
                        bound = table[slot].bound
                        if (
                            bound == EXACT
                            or (bound == LOWER and value >= frame.beta)
                            or (bound == UPPER and value <= frame.alpha)
                        ):
                            counts[w.TABLE_CUTOFFS] += 1
                            known = True
            if known:
                frame.line = 0
                ply -= 1
                returned = True
                continue

            expanded += 1
            listed = front and frame.first > 0
            if listed:
                count = np.int64(frame.count)
                for i in range(count):
                    lists[start + i] = tree[frame.first + i].move
            else:
                count = np.int64(call_moves(moves_at, address(words, ply * size), address(lists, 4 * start)))
                frame.count = count
            if ply == 0:  # where each move stands in the rules' own order
                call_moves(moves_at, address(words, 0), address(lists, 4 * width))
                for i in range(count):
                    place[lists[width + i]] = i
                    values[i] = np.nan
            if order & REPORT:
                outwards = order & REPORT == CENTRE or (order & REPORT == REPORT and not maximising)
                by_rank(lists, start, count, rank, outwards, buckets, start + width)
            if order & (BEST | HISTORY):
                for i in range(start, start + count):
                    scores[i] = learned(order, lists[i], remembered, killers, history, ply, turn)
                by_score(lists, scores, start, count)
            if front and not listed and register[w.FREE] + count <= tree.size:
                frame.first = register[w.FREE]
                register[w.FREE] += count
                for i in range(count):
                    tree[frame.first + i].move = lists[start + i]
                    tree[frame.first + i].first = 0
                    tree[frame.first + i].depth = 0
                if ply == 0:
                    register[w.ROOT_FIRST], register[w.ROOT_COUNT] = frame.first, count
                else:
                    tree[frame.entry].first = frame.first
                    tree[frame.entry].count = count
            frame.best = -np.inf if maximising else np.inf
            frame.index, frame.move, frame.line = 0, -1, 0

        # the children of this node, one after the other, until one has children of its own
        alpha, beta, best = frame.alpha, frame.beta, frame.best
        index, count, deepest = np.int64(frame.index), np.int64(frame.count), ply + 1 == depth
        below, child = False, ply + 1
        walked = ply > 0 and (bare or (deepest and not front))
        if walked:
            counts[w.GENERATED], register[w.PLY] = generated, ply
            result = call_walk(row[w.WALK_AT], at, 1 if bare else ply)
            generated, ply = counts[w.GENERATED], register[w.PLY]
            frame = frames[ply]
            best = frame.best
            if order & HISTORY and result == w.DONE and frame.alpha >= frame.beta:
                remember_cut(lists[start + frame.index - 1], killers, history, ply, turn, depth - ply)
        while not walked:
            if returned:
                returned = False
                move = lists[start + index - 1]
                if ply == 0:
                    values[place[move]] = value
                    better = value > best or (
                        value == best and (frame.move < 0 or (place[move] < place[frame.move]) != (ties == w.LAST))
                    )
                elif maximising:
                    better = value > best
                else:
                    better = value < best
                if better:
                    best = value
                    frame.move = move
                    if not deepest:
                        length = np.int64(frames[child].line)
                        lines[ply, 0] = move
                        for j in range(length):
                            lines[ply, j + 1] = lines[child, j]
                        frame.line = length + 1
                    if front and frame.first > 0:
                        to_front(tree, frame.first, frame.first + index - 1)
                if prune:
                    if maximising:
                        alpha = max(alpha, best)
                    else:
                        beta = min(beta, best)
                    if alpha >= beta:
                        counts[w.CUTOFFS] += 1
                        if index == 1:
                            counts[w.FIRST_MOVE_CUTOFFS] += 1
                        if order & HISTORY:
                            remember_cut(move, killers, history, ply, turn, depth - ply)
                        break
            if index == count:
                break
            if generated >= limit:
                result = w.PAUSED
                break
            move = lists[start + index]
            entry = frame.first + index if front and frame.first > 0 else 0
            index += 1
            if entry > 0 and tree[entry].depth > 0 and usable(tree[entry].depth, tree[entry].value, depth - child):
                value = from_root(tree[entry].value, child)
                frames[child].line = 0
                returned = True
                continue
            copy_blocks(address(words, child * size), address(words, ply * size), size)
            status = call_play(play_at, address(words, child * size), move)
            generated += 1
            by_ply[child] += 1
            if status == RUNNING and not deepest:
                below = True
                break
            leaves += 1
            if status != RUNNING and win_bonus:
                value = settled(status, maximising, child)
            else:
                if status == RUNNING:
                    horizon += 1
                register[w.BAD_PLY] = child
                value = call_leaf(leaf_at, address(words, child * size), np.int32(me), weights)
                if not abs(value) < DECIDED:
                    result = w.BAD_VALUE
                    break
            frames[child].line = 0
            returned = True

        if not walked:
            frame.alpha, frame.beta, frame.best, frame.index = alpha, beta, best, index
        if result != w.DONE:
            break
        if below:
            frames[child].alpha, frames[child].beta = alpha, beta
            if (
                ply == 0
                and prune
                and frame.move >= 0
                and (ties == w.RANDOM or (place[move] < place[frame.move]) != (ties == w.LAST))
            ):
                frames[child].alpha = np.nextafter(best, -np.inf)  # an equal value must show as equal
            frames[child].entry = entry
            frames[child].first, frames[child].count = 0, 0
            if entry > 0:
                frames[child].first, frames[child].count = tree[entry].first, tree[entry].count
            ply, entering = child, True
            continue

        # the node is finished
        value = best
        if deepest and not walked:
            lines[ply, 0] = frame.move
            frame.line = 1
        exact = not prune or (frame.low < best < frame.high)
        if use_table:
            bound = EXACT if exact else LOWER if best >= frame.high else UPPER
            store(table, frame.key, stamp, from_here(best, ply), frame.move, depth - ply, bound)
        if ply == 0:
            break
        if front and frame.entry > 0 and exact and abs(best) > DECIDED:
            tree[frame.entry].value = from_here(best, ply)
            tree[frame.entry].depth = depth - ply
        ply -= 1
        returned = True

    register[w.PLY], register[w.PHASE] = ply, w.NEXT
    counts[w.GENERATED] = generated
    counts[w.EXPANDED] += expanded
    counts[w.LEAVES] += leaves
    counts[w.HORIZON] += horizon
    return result


search = Compiled(_search, SEARCH, f"{__name__}.search")

call_search = caller(SEARCH)
