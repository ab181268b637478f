"""Where a search works: all its arrays, and one row of words that says where they are.

Compiled code is handed the address of that row and nothing else. So one compiled function can call another, a
whole game can be searched from both sides in one call, and any of it can pause and go on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray

from ..core import Game, Leaf
from ..jit.intrinsics import helper, pointer
from .ordering import BEST, FRONT, NODE
from .table import ENTRY, entries

# the row: code, arrays, sizes
(
    MOVES_AT,
    PLAY_AT,
    LEAF_AT,
    WALK_AT,
    SEARCH_AT,
    DEEPEN_AT,
    WORDS,
    WEIGHTS,
    SWITCH,
    FRAMES,
    LISTS,
    SCORES,
    LINES,
    COUNTS,
    BY_PLY,
    TABLE,
    HISTORY,
    KILLERS,
    RANK,
    BUCKETS,
    VALUES,
    PLACE,
    TREE,
    REGISTER,
    FOUND,
    FOUND_LINE,
    ROOM,
    TABLE_SIZE,
    TREE_SIZE,
    CODES,
    BUCKET_COUNT,
    ROW,
) = range(32)
# switches
ME, DEPTH, PRUNE, USE_TABLE, ORDER, WIN_BONUS, TIES, SIZE, WIDTH, IDENTITY, STAMP, SWITCHES = range(12)
# registers: where a paused search stands, what it has found, and what the caller wants to know of a failure
(
    PLY,
    PHASE,
    LIMIT,
    FREE,
    ROOT_FIRST,
    ROOT_COUNT,
    BAD_PLY,
    KEEP,
    FIRST_DEPTH,
    LAST_DEPTH,
    FOUND_DEPTH,
    FOUND_MOVE,
    FOUND_LENGTH,
    REGISTERS,
) = range(14)
# counters
(
    GENERATED,
    EXPANDED,
    LEAVES,
    CUTOFFS,
    FIRST_MOVE_CUTOFFS,
    TABLE_PROBES,
    TABLE_HITS,
    TABLE_CUTOFFS,
    HORIZON,
    COUNTERS,
) = range(10)
RANDOM, LAST = 1, 2  # ties; 0 is the first
ENTER, NEXT, BETWEEN, FRESH = 0, 1, 2, 3  # phases: at a root, within a tree, before a depth, before everything
DONE, PAUSED, BAD_VALUE = 0, 1, 2  # results

FRAME = np.dtype(
    [
        ("alpha", "f8"),
        ("beta", "f8"),
        ("low", "f8"),
        ("high", "f8"),
        ("best", "f8"),
        ("key", "u8"),
        ("count", "i4"),
        ("index", "i4"),
        ("move", "i4"),
        ("first", "i4"),
        ("entry", "i4"),
        ("line", "i4"),
    ]
)


@helper(forceinline=True)
def row_at(at):
    """The row of words at an address."""
    return carray(pointer(at), (ROW,), np.int64)


@helper(forceinline=True)
def numbers_of(row, which, size):
    """One of the arrays of whole numbers."""
    return carray(pointer(row[which]), (size,), np.int64)


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
        self.values, self.found = np.zeros(game.width), np.zeros(1 + game.width)
        self.place = np.zeros(game.codes, np.int32)
        self.room = 0
        self._lay(
            {
                SWITCH: self.switch,
                REGISTER: self.register,
                COUNTS: self.counts,
                HISTORY: self.history,
                TABLE: self.table,
                TREE: self.tree,
                RANK: self.rank,
                BUCKETS: self.buckets,
                VALUES: self.values,
                FOUND: self.found,
                PLACE: self.place,
            }
        )
        for which, size in (
            (TABLE_SIZE, self.table.size),
            (TREE_SIZE, self.tree.size),
            (CODES, game.codes),
            (BUCKET_COUNT, self.buckets.size),
        ):
            self.row[which] = size

    def _lay(self, arrays: dict[int, np.ndarray]) -> None:
        for which, array in arrays.items():
            self.row[which] = array.ctypes.data

    def make_room(self, depth: int) -> None:
        """Arrays that hold a line of this many plies."""
        if depth <= self.room:
            return
        self.room, plies, game = max(depth, 8), max(depth, 8) + 2, self.game
        self.words = np.zeros(plies * game.size // 8, np.uint64)
        self.top = self.words.view(np.uint8)[: game.size]  # the root's bytes
        self.frames = np.zeros(plies, FRAME)
        self.lists, self.scores = np.zeros(plies * game.width, np.int32), np.zeros(plies * game.width, np.int64)
        self.lines, self.found_line = np.zeros((plies, plies), np.int32), np.zeros(plies, np.int32)
        self.by_ply, self.killers = np.zeros(plies, np.int64), np.full(2 * plies, -1, np.int32)
        self._lay(
            {
                WORDS: self.words,
                FRAMES: self.frames,
                LISTS: self.lists,
                SCORES: self.scores,
                LINES: self.lines,
                FOUND_LINE: self.found_line,
                BY_PLY: self.by_ply,
                KILLERS: self.killers,
            }
        )
        self.row[ROOM] = plies

    def __reduce__(self) -> Any:
        raise TypeError("a search cannot be copied or pickled: its arrays lie where they lie; make another one")

    def use(self, leaf: Leaf) -> None:
        """Evaluate positions with this from now on."""
        self.leaf = leaf  # kept, for the row holds only where its weights are
        self.row[LEAF_AT], self.row[WEIGHTS] = leaf.address, leaf.weights.ctypes.data
