"""Where a search works: all its arrays, and one row of words that says where they are.

Compiled code is handed the address of that row and nothing else. So one compiled function can call another, a
whole game can be searched from both sides in one call, and any of it can pause and go on.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
from numba import carray

from ..core import Game, Leaf
from ..jit.intrinsics import helper, pointer
from .ordering import BEST, FRONT, NODE
from .table import ENTRY, entries

# the row: addresses of code, of arrays that stay, of arrays that grow with the depth; sizes
MOVES_AT, PLAY_AT, LEAF_AT, WALK_AT, SEARCH_AT, DEEPEN_AT, WEIGHTS = range(7)
SWITCH, REGISTER, COUNTS, HISTORY, TABLE, TREE, RANK, BUCKETS, PLACE, VALUES, FOUND = range(7, 18)
WORDS, FRAMES, LISTS, SCORES, LINES, FOUND_LINE, BY_PLY, KILLERS = range(18, 26)
ROOM, TABLE_SIZE, TREE_SIZE, CODES, BUCKET_COUNT, ROW = range(26, 32)
# switches
ME, DEPTH, PRUNE, USE_TABLE, ORDER, WIN_BONUS, TIES, SIZE, WIDTH, IDENTITY, STAMP, SWITCHES = range(12)
# registers: where a paused search stands, what it has found, and what the caller wants to know of a failure
PLY, PHASE, LIMIT, FREE, ROOT_FIRST, ROOT_COUNT, BAD_PLY, KEEP, FIRST_DEPTH, LAST_DEPTH = range(10)
FOUND_DEPTH, FOUND_MOVE, FOUND_LENGTH, REGISTERS = range(10, 14)
# counters
GENERATED, EXPANDED, LEAVES, CUTOFFS, FIRST_MOVE_CUTOFFS, TABLE_PROBES, TABLE_HITS, TABLE_CUTOFFS, COUNTERS = range(9)
RANDOM, LAST = 1, 2  # ties; 0 is the first
ENTER, NEXT, BETWEEN, FRESH = range(4)  # phases: at a root, within a tree, before a depth, before everything
DONE, PAUSED, BAD_VALUE = range(3)  # results

FRAME = np.dtype(
    [(name, "f8") for name in ("alpha", "beta", "low", "high", "best")]
    + [("key", "u8")]
    + [(name, "i4") for name in ("count", "index", "move", "first", "entry", "line")]
)


@helper(forceinline=True)
def row_at(at):
    """The row of words at an address."""
    return carray(pointer(at), (ROW,), np.int64)


@helper(forceinline=True)
def numbers_of(row, which, size):
    """One of the arrays of whole numbers."""
    return carray(pointer(row[which]), (size,), np.int64)


# The workspace as compiled code sees it. Passed to helpers that are inlined, it costs nothing.
View = namedtuple(
    "View",
    "row switch register counts history table tree rank buckets place values found "
    "words frames lists scores lines found_line by_ply killers plies "
    "depth prune order front use_table size width",
)


@helper(forceinline=True)
def view_at(at):
    """The workspace whose row is at an address."""
    row = row_at(at)
    switch, plies, codes = numbers_of(row, SWITCH, SWITCHES), row[ROOM], row[CODES]
    size, width, order = switch[SIZE], switch[WIDTH], switch[ORDER]
    return View(
        row,
        switch,
        numbers_of(row, REGISTER, REGISTERS),
        numbers_of(row, COUNTS, COUNTERS),
        carray(pointer(row[HISTORY]), (2, codes), np.int64),
        carray(pointer(row[TABLE]), (row[TABLE_SIZE],), ENTRY),
        carray(pointer(row[TREE]), (row[TREE_SIZE],), NODE),
        carray(pointer(row[RANK]), (codes,), np.int32),
        carray(pointer(row[BUCKETS]), (row[BUCKET_COUNT],), np.int32),
        carray(pointer(row[PLACE]), (codes,), np.int32),
        carray(pointer(row[VALUES]), (width,), np.float64),
        carray(pointer(row[FOUND]), (1 + width,), np.float64),
        carray(pointer(row[WORDS]), (plies * size >> 3,), np.uint64),
        carray(pointer(row[FRAMES]), (plies,), FRAME),
        carray(pointer(row[LISTS]), (plies * width,), np.int32),
        numbers_of(row, SCORES, plies * width),
        carray(pointer(row[LINES]), (plies * plies,), np.int32),
        carray(pointer(row[FOUND_LINE]), (plies,), np.int32),
        numbers_of(row, BY_PLY, plies),
        carray(pointer(row[KILLERS]), (2 * plies,), np.int32),
        plies,
        switch[DEPTH],
        switch[PRUNE] != 0,
        order,
        order & FRONT != 0,
        switch[USE_TABLE] != 0 or order & BEST != 0,
        size,
        width,
    )


class Workspace:
    """The arrays of one searcher, made for its game and switches, and grown with the depth."""

    def __init__(self, game: Game, order: int, table: bool, megabytes: float):
        self.game = game
        self.row = np.zeros(ROW, np.int64)
        self.at = self.row.ctypes.data
        self.switch, self.register = np.zeros(SWITCHES, np.int64), np.zeros(REGISTERS, np.int64)
        self.counts, self.history = np.zeros(COUNTERS, np.int64), np.zeros((2, game.codes), np.int64)
        self.table = np.zeros(entries(megabytes) if table or order & BEST else 2, ENTRY)
        self.tree = np.zeros(int(megabytes * 2**20 / NODE.itemsize) if order & FRONT else 1, NODE)
        self.rank = game.centrality()
        self.buckets = np.zeros(int(self.rank.max(initial=0)) + 1, np.int32)
        self.place = np.zeros(game.codes, np.int32)
        self.values, self.found = np.zeros(game.width), np.zeros(1 + game.width)
        self._lay(SWITCH, self.switch, self.register, self.counts, self.history, self.table, self.tree)
        self._lay(RANK, self.rank, self.buckets, self.place, self.values, self.found)
        self.row[ROOM:ROW] = 0, self.table.size, self.tree.size, game.codes, self.buckets.size

    def _lay(self, first: int, *arrays: np.ndarray) -> None:
        """Write where these arrays are into the row, one after the other."""
        self.row[first : first + len(arrays)] = [array.ctypes.data for array in arrays]

    def make_room(self, depth: int) -> None:
        """Arrays that hold a line of this many plies."""
        plies, game = max(depth, 8) + 2, self.game
        if plies <= self.row[ROOM]:
            return
        self.words = np.zeros(plies * game.size // 8, np.uint64)
        self.top = self.words.view(np.uint8)[: game.size]  # the root's bytes
        self.frames = np.zeros(plies, FRAME)
        self.lists, self.scores = np.zeros(plies * game.width, np.int32), np.zeros(plies * game.width, np.int64)
        self.lines, self.found_line = np.zeros((plies, plies), np.int32), np.zeros(plies, np.int32)
        self.by_ply, self.killers = np.zeros(plies, np.int64), np.full(2 * plies, -1, np.int32)
        self._lay(WORDS, self.words, self.frames, self.lists, self.scores, self.lines, self.found_line)
        self._lay(BY_PLY, self.by_ply, self.killers)
        self.row[ROOM] = plies

    def __reduce__(self) -> Any:
        raise TypeError("a search cannot be copied or pickled: its arrays lie where they lie; make another one")

    def use(self, leaf: Leaf) -> None:
        """Evaluate positions with this from now on."""
        self.leaf = leaf  # kept, for the row holds only where its weights are
        self.row[LEAF_AT], self.row[WEIGHTS] = leaf.address, leaf.weights.ctypes.data
