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
from numba import from_dtype, types

from ..compiled import address, call_leaf, call_moves, call_play, compiled, copy_blocks
from ..core import RUNNING
from .order import BEST, CENTRE, FRONT, HISTORY, NODE, REPORT, by_rank, by_score, learned, remember_cut, to_front
from .table import DECIDED, ENTRY, EXACT, LOWER, UPPER, digest, from_here, from_root, probe, store, usable
from .walk import (
    BAD_PLY,
    BAD_VALUE,
    CUTOFFS,
    DEPTH,
    DONE,
    ENTER,
    EXPANDED,
    FIRST_MOVE_CUTOFFS,
    FRAME,
    FREE,
    GENERATED,
    HORIZON,
    IDENTITY,
    LAST,
    LEAVES,
    LIMIT,
    ME,
    NEXT,
    ORDER,
    PAUSED,
    PHASE,
    PLY,
    PRUNE,
    RANDOM,
    ROOT_COUNT,
    ROOT_FIRST,
    SIZE,
    STAMP,
    TABLE,
    TABLE_CUTOFFS,
    TABLE_HITS,
    TABLE_PROBES,
    TIES,
    WIDTH,
    WIN_BONUS,
    call_walk,
    settled,
)

_FRAMES, _TABLE, _TREE = (types.Array(from_dtype(d), 1, "C") for d in (FRAME, ENTRY, NODE))


@compiled(types.intp, types.intp, types.intp, types.intp, types.uint64[::1], types.float64[::1], types.int64[::1],
          _FRAMES, types.int32[::1], types.int64[::1], types.int32[:, ::1], types.int64[::1], types.int64[::1], _TABLE,
          types.int64[:, ::1], types.int32[::1], types.int32[::1], types.int32[::1], types.float64[::1],
          types.int32[::1], _TREE, types.int64[::1])
def search(moves_at, play_at, leaf_at, walk_at, words, weights, switch, frames, lists, scores, lines, counts, by_ply,
           table, history, killers, rank, buckets, values, place, tree, register):
    """Search one depth, or go on with a paused search; returns DONE, PAUSED or BAD_VALUE."""
    me, depth, prune, order = switch[ME], switch[DEPTH], switch[PRUNE] != 0, switch[ORDER]
    win_bonus, ties = switch[WIN_BONUS] != 0, switch[TIES]
    size, width, identity, stamp = switch[SIZE], switch[WIDTH], switch[IDENTITY], switch[STAMP]
    use_values, use_table = switch[TABLE] != 0, switch[TABLE] != 0 or (order & BEST) != 0
    front, block = (order & FRONT) != 0, size >> 3
    limit, generated = register[LIMIT], counts[GENERATED]
    expanded, leaves, horizon = 0, 0, 0
    bare = not use_table and order == 0  # no node needs more than its moves

    ply, entering, returned = register[PLY], register[PHASE] == ENTER, False
    value, result = 0.0, DONE
    while True:
        frame = frames[ply]
        at = ply * block
        turn = np.int64(words[at] & np.uint64(0xFFFFFFFF))
        maximising = turn == me
        start = ply * width

        if entering:
            entering = False
            remembered = -1
            known = False
            frame.low, frame.high = frame.alpha, frame.beta
            if use_table:
                frame.key = digest(words, at, identity)
                slot = probe(table, frame.key, stamp)
                counts[TABLE_PROBES] += 1
                if slot >= 0:
                    counts[TABLE_HITS] += 1
                    remembered = table[slot].move
                    if use_values and ply > 0 and usable(table[slot].depth, table[slot].value, depth - ply):
                        value = from_root(table[slot].value, ply)
                        bound = table[slot].bound
                        if (bound == EXACT or (bound == LOWER and value >= frame.beta)
                                or (bound == UPPER and value <= frame.alpha)):
                            counts[TABLE_CUTOFFS] += 1
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
            if front and not listed and register[FREE] + count <= tree.size:
                frame.first = register[FREE]
                register[FREE] += count
                for i in range(count):
                    tree[frame.first + i].move = lists[start + i]
                    tree[frame.first + i].first = 0
                    tree[frame.first + i].depth = 0
                if ply == 0:
                    register[ROOT_FIRST], register[ROOT_COUNT] = frame.first, count
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
            counts[GENERATED], register[PLY] = generated, ply
            result = call_walk(walk_at, moves_at, play_at, leaf_at, address(words, 0), address(weights, 0),
                               address(switch, 0), address(frames, 0), address(lists, 0), address(lines, 0),
                               address(counts, 0), address(by_ply, 0), address(register, 0), 1 if bare else ply,
                               lines.shape[1])
            generated, ply = counts[GENERATED], register[PLY]
            frame = frames[ply]
            best = frame.best
            if order & HISTORY and result == DONE and frame.alpha >= frame.beta:
                remember_cut(lists[start + frame.index - 1], killers, history, ply, turn, depth - ply)
        while not walked:
            if returned:
                returned = False
                move = lists[start + index - 1]
                if ply == 0:
                    values[place[move]] = value
                    better = value > best or (value == best and (
                        frame.move < 0 or (place[move] < place[frame.move]) != (ties == LAST)))
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
                        counts[CUTOFFS] += 1
                        if index == 1:
                            counts[FIRST_MOVE_CUTOFFS] += 1
                        if order & HISTORY:
                            remember_cut(move, killers, history, ply, turn, depth - ply)
                        break
            if index == count:
                break
            if generated >= limit:
                result = PAUSED
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
                register[BAD_PLY] = child
                value = call_leaf(leaf_at, address(words, child * size), np.int32(me), address(weights, 0))
                if not abs(value) < DECIDED:
                    result = BAD_VALUE
                    break
            frames[child].line = 0
            returned = True

        if not walked:
            frame.alpha, frame.beta, frame.best, frame.index = alpha, beta, best, index
        if result != DONE:
            break
        if below:
            frames[child].alpha, frames[child].beta = alpha, beta
            if ply == 0 and prune and frame.move >= 0 and (
                    ties == RANDOM or (place[move] < place[frame.move]) != (ties == LAST)):
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

    register[PLY], register[PHASE] = ply, NEXT
    counts[GENERATED] = generated
    counts[EXPANDED] += expanded
    counts[LEAVES] += leaves
    counts[HORIZON] += horizon
    return result
