"""Runs the compiled search: workspace, limits, iterative deepening, reuse between moves.

The search runs in slices of a few milliseconds. Between two of them the clock and the caller are asked,
so a deadline is kept, Ctrl-C works and a pondering search can be called off, without any thread in here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..core import Game, GamekitError, Leaf, Position
from . import walk as k
from .kernel import search
from .order import BEST, FRONT, NODE
from .table import DECIDED, ENTRY, entries

DEEPEST = 100  # plies; no search here comes near
TIES = ("first", "random", "last")  # which of several best moves is played
SLICE = 0.004  # seconds between two looks at the clock
NAMES = ("generated", "expanded", "leaves", "cutoffs", "first_move_cutoffs", "table_probes", "table_hits",
         "table_cutoffs")


@dataclass
class Found:
    """What a search found. `values` are the root moves' values, exact for the best and for ties when asked."""

    code: int
    value: float | None
    depth: int
    line: list[int]
    values: np.ndarray
    stopped_by: str
    counters: dict[str, int] = field(default_factory=dict)
    by_ply: list[int] = field(default_factory=list)


class Search:
    """One searcher of one game with its switches; keeps its workspace, and with `reuse` what it learned."""

    def __init__(self, game: Game, leaf: Leaf, *, prune: bool = True, table: bool = False, order: int = 0,
                 deepen: bool = False, win_bonus: bool = True, ties: str = "first", reuse: bool = False,
                 megabytes: float = 16, moves: int | None = None):
        """`moves` may name other code than the game's own to list moves (a restriction of them)."""
        self.game, self.leaf, self.deepen, self.reuse, self.table_on = game, leaf, deepen, reuse, table
        use_table, use_tree = table or order & BEST, order & FRONT
        self.table = np.zeros(entries(megabytes) if use_table else 2, ENTRY)
        self.tree = np.zeros(int(megabytes * 2**20 / NODE.itemsize) if use_tree else 1, NODE)
        self.rank = game.centrality()
        self.buckets = np.zeros(int(self.rank.max(initial=0)) + 1, np.int32)
        self.history = np.zeros((2, game.codes), np.int64)
        self.place = np.zeros(game.codes, np.int32)
        self.values = np.zeros(game.width, np.float64)
        self.counts = np.zeros(k.COUNTERS, np.int64)
        self.register = np.zeros(k.REGISTERS, np.int64)
        self.switch = np.zeros(k.SWITCHES, np.int64)
        s = self.switch
        s[k.PRUNE], s[k.TABLE], s[k.ORDER], s[k.WIN_BONUS] = prune, table, order, win_bonus
        s[k.TIES] = TIES.index(ties)
        s[k.SIZE], s[k.WIDTH], s[k.IDENTITY] = game.size, game.width, -(-game.identity // 8)
        self.depth_room = 0
        self._slice = 16
        self._root: Position | None = None  # where the lists of `front` start
        self._player = 0
        self._moves = moves if moves is not None else game._rules.moves.address
        self._play = game._rules.play.address
        search.prepare()
        k.walk.prepare()

    def _make_room(self, depth: int) -> None:
        if depth <= self.depth_room:
            return
        room = self.depth_room = max(depth, 8)
        self.words = np.zeros((room + 2) * self.game.size // 8, np.uint64)
        self.frames = np.zeros(room + 2, k.FRAME)
        self.lists = np.zeros((room + 2) * self.game.width, np.int32)
        self.scores = np.zeros((room + 2) * self.game.width, np.int64)
        self.lines = np.zeros((room + 2, room + 2), np.int32)
        self.by_ply = np.zeros(room + 2, np.int64)
        self.killers = np.full(2 * (room + 2), -1, np.int32)

    def forget_all(self) -> None:
        """A new game: nothing learned before counts."""
        self._player, self._root = 0, None

    def _forget(self, position: Position) -> None:
        """Start afresh, or with `reuse` keep what still holds for this position."""
        keep = self.reuse and self._player == position.turn
        self._player = position.turn
        self.history[:] = 0
        self.killers[:] = -1
        if not keep:
            stamp = self.switch[k.STAMP] = self.switch[k.STAMP] % 255 + 1
            if stamp == 1:
                self.table["stamp"] = 0
        if self.switch[k.ORDER] & FRONT:
            self._follow(position if keep else None)
            self._root = position

    def _follow(self, position: Position | None) -> None:
        """Find the position's lists below the last root; without it, or when nearly full, start new ones."""
        first, count = 0, 0
        if position is not None and self._root is not None and self.register[k.FREE] < self.tree.size // 2:
            path: list[int | None] = []
            node: Position | None = position
            while node is not None and node.key != self._root.key and len(path) < 3:
                path.append(node.last)
                node = node.parent
            if node is not None and node.key == self._root.key:
                first, count = int(self.register[k.ROOT_FIRST]), int(self.register[k.ROOT_COUNT])
                for code in reversed(path):
                    here = np.flatnonzero(self.tree["move"][first : first + count] == code)
                    entry = self.tree[first + int(here[0])] if first and here.size else None
                    first, count = (int(entry["first"]), int(entry["count"])) if entry is not None else (0, 0)
        if not first:
            self.register[k.FREE] = 1
        self.register[k.ROOT_FIRST], self.register[k.ROOT_COUNT] = first, count

    def run(self, position: Position, depth: int | None = None, nodes: int | None = None,
            seconds: float | None = None, stop: Callable[[], bool] | None = None) -> Found:
        """The best move within the limits; always a move, from the last depth that was finished."""
        started = time.monotonic()
        if position.winner is not None:
            raise GamekitError("the game is over: there is no move to search for")
        if depth is not None and depth < 1:
            raise GamekitError(f"depth={depth} is not allowed; depth is at least 1")
        deepest = min(depth or DEEPEST, self.game.left(position.data) or DEEPEST, DEEPEST)
        self._make_room(deepest)
        self.words[: self.game.size // 8] = position.data.view(np.uint64)
        self.counts[:] = 0
        self.by_ply[:] = 0
        self._forget(position)
        self.switch[k.ME] = position.turn
        deadline = None if seconds is None else started + seconds
        if seconds is not None or stop is not None:
            self._slice = 16  # evaluations may have turned slow since the last move
        found = Found(position.codes()[0], None, 0, [], np.empty(0), "depth")
        first = 1 if self.deepen or depth is None else deepest
        for d in range(first, deepest + 1):
            reason = self._iterate(position, d, nodes, deadline, stop)
            if reason:
                found.stopped_by = reason
                if found.depth == 0 and self.frames[0]["move"] >= 0:  # nothing finished: the best so far
                    found.code = int(self.frames[0]["move"])
                break
            value = float(self.frames[0]["best"])
            line = self.lines[0, : self.frames[0]["line"]].tolist()
            values = self.values[: len(position.codes())].copy()
            found = Found(int(self.frames[0]["move"]), value, d, line, values, "depth")
            if self.switch[k.WIN_BONUS] and abs(value) > DECIDED:
                found.stopped_by = "decided" if d < deepest else "depth"
                break
        found.counters = dict(zip(NAMES, self.counts.tolist(), strict=False))
        found.by_ply = self.by_ply[1 : deepest + 1].tolist()
        return found

    def _iterate(self, position: Position, depth: int, nodes: int | None, deadline: float | None,
                 stop: Callable[[], bool] | None) -> str | None:
        """Search one depth; the reason if it was not finished."""
        self.switch[k.DEPTH] = depth
        root = self.frames[0]
        root["alpha"], root["beta"], root["entry"], root["move"] = -np.inf, np.inf, 0, -1
        root["first"], root["count"] = self.register[k.ROOT_FIRST], self.register[k.ROOT_COUNT]
        self.register[k.PLY], self.register[k.PHASE] = 0, k.ENTER
        slice_nodes, done = self._slice, int(self.counts[k.GENERATED])
        while True:
            if nodes is not None and done >= nodes:
                return "nodes"
            self.register[k.LIMIT] = done + slice_nodes if nodes is None else min(done + slice_nodes, nodes)
            before = time.monotonic()
            try:
                result = search(self._moves, self._play, self.leaf.address, k.walk.address, self.words,
                                self.leaf.weights, self.switch, self.frames, self.lists, self.scores, self.lines,
                                self.counts, self.by_ply, self.table, self.history, self.killers, self.rank,
                                self.buckets, self.values, self.place, self.tree, self.register)
            except Exception as error:
                raise self._failure(position, None, error) or error from None
            if result == k.DONE:
                return None
            if result == k.BAD_VALUE:
                raise self._failure(position, np.nan) or GamekitError("the heuristic returned no finite number")
            done, now = int(self.counts[k.GENERATED]), time.monotonic()
            if deadline is not None and now >= deadline:
                return "time"
            if stop is not None and stop():
                return "stopped"
            if now - before < SLICE / 2:
                slice_nodes = min(slice_nodes * 2, 1 << 24)
            elif now - before > SLICE:
                slice_nodes = max(1, int(slice_nodes * SLICE / (now - before)))
            self._slice = min(slice_nodes, 4096)  # where the next one starts

    def _failure(self, position: Position, value: float | None, error: Exception | None = None) -> Exception | None:
        """Why the evaluation failed, found by asking it again about the same position, uncompiled."""
        if self.leaf.explain_failure is None:
            return None
        ply, size = int(self.register[k.BAD_PLY]), self.game.size
        data = self.words.view(np.uint8)[ply * size : (ply + 1) * size].copy()
        return self.leaf.explain_failure(Position(self.game, data), value, error, int(self.switch[k.ME]))
