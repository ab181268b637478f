"""The transposition table: what was learned of a position, bounded in memory.

A slot pair per index: the first keeps the deeper search, the second the latest. Values of won and lost
positions are kept relative to the position (moves still to go), all others as they are.

An entry counts only if it carries the present stamp, so emptying the table is one increment, and a
zeroed slot can never pass for the empty board.
"""

from __future__ import annotations

import numpy as np

from ..jit.intrinsics import helper

EXACT, LOWER, UPPER = 1, 2, 3  # the true value is equal, at least, at most the one kept

ENTRY = np.dtype([("key", "u8"), ("value", "f8"), ("move", "i4"), ("depth", "i2"), ("bound", "u1"), ("stamp", "u1")])

WIN = 1e12  # a win at ply p is worth WIN − p
DECIDED = 1e11  # values beyond this are wins and losses, no evaluation may reach it


def entries(megabytes: float) -> int:
    """The largest power of two of entries that fits."""
    return 1 << max(1, int(megabytes * 2**20 / ENTRY.itemsize).bit_length() - 1)


@helper
def digest(words, start, count):
    """A 64-bit digest of `count` words: equal positions, equal digests."""
    h = np.uint64(0x9E3779B97F4A7C15)
    for j in range(start, start + count):
        h = (h ^ words[j]) * np.uint64(0xFF51AFD7ED558CCD)
        h ^= h >> np.uint64(32)
    return h


@helper
def probe(table, key, stamp):
    """The slot that holds a position, or −1."""
    slot = np.int64(key & np.uint64(table.size - 1)) & ~1
    for at in (slot, slot + 1):
        if table[at].stamp == stamp and table[at].key == key:
            return at
    return -1


@helper
def store(table, key, stamp, value, move, depth, bound):
    """Keep what was learned: in the first slot if it is free, the same position's or not deeper."""
    slot = np.int64(key & np.uint64(table.size - 1)) & ~1
    if table[slot].stamp == stamp and table[slot].key != key and table[slot].depth > depth:
        slot += 1
    table[slot].key = key
    table[slot].value = value
    table[slot].move = move
    table[slot].depth = depth
    table[slot].bound = bound
    table[slot].stamp = stamp


@helper
def from_here(value, ply):
    """A value counted from the root → counted from the position at `ply` (and back with −ply)."""
    if value > DECIDED:
        return value + ply
    if value < -DECIDED:
        return value - ply
    return value


@helper
def usable(kept_depth, kept_value, depth):
    """An entry speaks for a search of `depth` if it searched as deep, or decided the game no deeper."""
    return kept_depth == depth or (kept_depth < depth and abs(kept_value) > DECIDED)
