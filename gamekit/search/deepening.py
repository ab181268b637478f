"""Iterative deepening, compiled; and the search as Python sees it: limits, reuse between moves, what was found.

The search runs in slices of a few milliseconds. Between two of them the clock and the caller are asked,
so a deadline is kept, Ctrl-C works and a pondering search can be called off, without any thread in here.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numba import types

from ..core import Game, Leaf, Position
from ..errors import GamekitError
from ..jit.compiled import Compiled
from ..jit.intrinsics import caller, helper
from . import workspace as w
from .inner_loop import walk
from .kernel import call_search, search
from .ordering import FRONT
from .table import DECIDED
from .workspace import Workspace

DEEPEST = 100  # plies; no search here comes near
TIES = ("first", "random", "last")  # which of several best moves is played
SLICE = 0.004  # seconds between two looks at the clock
MOST = 1 << 24  # nodes between two looks, however fast they are
KNOWN = 1 << 16  # searched positions kept where they come back
SOON = 4096  # nodes, at most, to the first look in a new search or depth: its evaluations may be slower
NAMES: tuple[str, ...] = ("generated", "expanded", "leaves", "cutoffs", "first_move_cutoffs")  # of the counters
NAMES += ("table_probes", "table_hits", "table_cutoffs")


@dataclass
class Found:
    """What a search found. `values` are the root moves' values, exact for the best and for ties when asked."""

    code: int
    value: float | None
    depth: int
    line: list[int]
    values: np.ndarray
    stopped_by: str
    counters: dict[str, int]
    by_ply: list[int]


DEEPEN = types.int32(types.intp)


def _deepen(at):
    """Search from the first depth to the last, or until the game is decided; or go on where it was paused."""
    s = w.view_at(at)
    switch, register = s.switch, s.register
    if register[w.PHASE] == w.FRESH:
        forget(s)
        switch[w.DEPTH], register[w.FOUND_DEPTH], register[w.PHASE] = register[w.FIRST_DEPTH], 0, w.BETWEEN
    while True:
        if register[w.PHASE] == w.BETWEEN:
            if s.counts[w.GENERATED] >= register[w.LIMIT]:
                return w.PAUSED
            register[w.PLY], register[w.PHASE] = 0, w.ENTER
        result = call_search(s.row[w.SEARCH_AT], at)
        if result != w.DONE:
            return result
        root, depth = s.frames[0], switch[w.DEPTH]
        register[w.FOUND_DEPTH], register[w.FOUND_MOVE], register[w.FOUND_LENGTH] = depth, root.move, root.line
        s.found[0] = root.best
        for i in range(root.count):
            s.found[1 + i] = s.values[i]
        for i in range(root.line):
            s.found_line[i] = s.lines[i]
        register[w.PHASE] = w.BETWEEN
        if depth == register[w.LAST_DEPTH] or (switch[w.WIN_BONUS] != 0 and abs(root.best) > DECIDED):
            return w.DONE
        switch[w.DEPTH] += 1
        register[w.LIMIT] = min(register[w.LIMIT], s.counts[w.GENERATED] + SOON)


@helper
def forget(s):
    """Before a search: counters at zero, and nothing known of other positions unless it is to be kept."""
    s.counts[:] = 0
    s.by_ply[:] = 0
    s.history[:] = 0
    s.killers[:] = -1
    if s.register[w.KEEP]:
        return
    s.switch[w.STAMP] = s.switch[w.STAMP] % 255 + 1
    if s.switch[w.STAMP] == 1:  # all stamps were used: none of the old ones may pass for a new one
        for i in range(s.table.size):
            s.table[i].stamp = 0
    s.register[w.FREE], s.register[w.ROOT_FIRST], s.register[w.ROOT_COUNT] = 1, 0, 0


deepening = Compiled(_deepen, DEEPEN, f"{__name__}.deepen")
call_deepen = caller(DEEPEN)


@helper
def paced(nodes, done, seconds):
    """How many nodes to search before the next look at the clock, after `done` of `nodes` took so long.

    As many as fit a slice, but never more than twice as many as before: the next may be slower.
    """
    fit = done * SLICE / max(seconds, 1e-9)
    return int(max(1, min(fit, 2 * nodes, MOST)))


class Search:
    """One searcher of one game with its switches; keeps its workspace, and with `reuse` what it learned."""

    def __init__(
        self,
        game: Game,
        leaf: Leaf,
        *,
        prune: bool = True,
        table: bool = False,
        order: int = 0,
        deepen: bool = False,
        win_bonus: bool = True,
        ties: str = "first",
        reuse: bool = False,
        megabytes: float = 16,
        moves: int | None = None,
    ):
        """`moves` may name other code than the game's own to list moves (a restriction of them)."""
        self.game, self.deepen, self.reuse = game, deepen, reuse
        self.work = Workspace(game, order, table, megabytes)
        self.work.use(leaf)
        self.counts, self.register, self.switch = self.work.counts, self.work.register, self.work.switch
        # in the order of the switches
        switches = (prune, table, order, win_bonus, TIES.index(ties), game.size, game.width, -(-game.identity // 8))
        self.switch[w.PRUNE : w.STAMP] = switches
        rules = game._rules.moves.address if moves is None else moves, game._rules.play.address
        self.work.row[: w.LEAF_AT] = rules
        self.work.row[w.WALK_AT : w.WEIGHTS] = walk.address, search.address, deepening.address
        self.slice = 16  # nodes
        self.busy = threading.Lock()  # held while it works: two threads at once would write into each other's tree
        # Positions of a game without bound come back: what their searches came to, kept by `matches.whole_game`.
        self.known = np.zeros((1, 1), np.uint64)
        if game.longest is None:
            self.known = np.zeros((KNOWN, -(-game.identity // 8) + 2 - (-game.width // 64)), np.uint64)
        self._root: Position | None = None  # where the lists of `front` start
        self._player = 0

    @property
    def leaf(self) -> Leaf:
        return self.work.leaf

    @leaf.setter
    def leaf(self, leaf: Leaf) -> None:
        if leaf.address != self.leaf.address or not np.array_equal(leaf.weights, self.leaf.weights):
            self.known[:] = 0
        self.work.use(leaf)

    def forget_all(self) -> None:
        """A new game: nothing learned before counts."""
        self._player, self._root = 0, None

    def _begin(self, position: Position) -> None:
        """Start afresh, or with `reuse` keep what still holds for this position."""
        keep = self.reuse and self._player == position.turn
        self._player = position.turn
        self.register[w.KEEP], self.register[w.PHASE] = keep, w.FRESH
        if self.switch[w.ORDER] & FRONT:
            if keep:
                self._follow(position)
            self._root = position

    def _follow(self, position: Position) -> None:
        """Find the position's lists below the last root; when there are none, or they are nearly full, start anew."""
        first, count, tree, register = 0, 0, self.work.tree, self.register
        if self._root is not None and register[w.FREE] < tree.size // 2:
            path: list[int | None] = []
            node: Position | None = position
            while node is not None and node.key != self._root.key and len(path) < 3:
                path.append(node.last)
                node = node.parent
            if node is not None and node.key == self._root.key:
                first, count = int(register[w.ROOT_FIRST]), int(register[w.ROOT_COUNT])
                for code in reversed(path):
                    here = np.flatnonzero(tree["move"][first : first + count] == code)
                    entry = tree[first + int(here[0])] if first and here.size else None
                    first, count = (int(entry["first"]), int(entry["count"])) if entry is not None else (0, 0)
        if not first:
            register[w.FREE] = 1
        register[w.ROOT_FIRST], register[w.ROOT_COUNT] = first, count

    def depths(self, depth: int | None, left: int | None) -> tuple[int, int]:
        """The first and the last depth to search, where at most `left` plies can follow."""
        last = min(depth or DEEPEST, left or DEEPEST, DEEPEST)
        return (1 if self.deepen or depth is None else last), last

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else may use this searcher meanwhile."""
        if not self.busy.acquire(blocking=False):
            raise GamekitError("this player is thinking in another thread; give each thread a player of its own")
        try:
            yield
        finally:
            self.busy.release()

    def run(
        self,
        position: Position,
        depth: int | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Found:
        """The best move within the limits; always a move, from the last depth that was finished."""
        deadline = None if seconds is None else time.monotonic() + seconds
        if position.winner is not None:
            raise GamekitError("the game is over: there is no move to search for")
        if depth is not None and depth < 1:
            raise GamekitError(f"depth={depth} is not allowed; depth is at least 1")
        with self.held():
            work, register = self.work, self.register
            first, last = self.depths(depth, self.game.left(position.data))
            work.make_room(last)
            work.top[:] = position.data
            self._begin(position)
            self.switch[w.ME], register[w.FIRST_DEPTH], register[w.LAST_DEPTH] = position.turn, first, last
            self.slice = min(self.slice, SOON if deadline is None and stop is None else 16)
            reason = self._within(nodes, deadline, stop)
            return self._found(position.codes(), last, reason)

    def _found(self, codes: tuple[int, ...], last: int, reason: str) -> Found:
        work, depth = self.work, self.register.item(w.FOUND_DEPTH)
        counters = dict(zip(NAMES, self.counts.tolist(), strict=True))
        by_ply = work.by_ply[1 : last + 1].tolist()
        if not depth:  # nothing finished: the best so far, if there is one
            best = work.frames[0]["move"].item()
            return Found(best if best >= 0 else codes[0], None, 0, [], np.empty(0), reason, counters, by_ply)
        line = work.found_line[: self.register.item(w.FOUND_LENGTH)].tolist()
        values = work.found[1 : 1 + len(codes)].copy()
        move, value = self.register.item(w.FOUND_MOVE), work.found.item(0)
        return Found(move, value, depth, line, values, reason, counters, by_ply)

    def _within(self, nodes: int | None, deadline: float | None, stop: Callable[[], bool] | None) -> str:
        """Search until the end or a limit; why it stopped."""
        register, done = self.register, 0
        while True:
            register[w.LIMIT] = done + self.slice if nodes is None else min(done + self.slice, nodes)
            before = time.monotonic()
            try:
                result = deepening(self.work.at)
            except Exception as error:
                raise self.failure(error) from None
            if result == w.DONE:
                return "depth" if register[w.FOUND_DEPTH] == register[w.LAST_DEPTH] else "decided"
            if result == w.BAD_VALUE:
                raise self.failure()
            now, since, done = time.monotonic(), done, self.counts.item(w.GENERATED)
            if nodes is not None and done >= nodes:
                return "nodes"
            if deadline is not None and now >= deadline:
                return "time"
            if stop is not None and stop():
                return "stopped"
            self.slice = paced(self.slice, done - since, now - before)

    def failure(self, error: Exception | None = None) -> Exception:
        """Why the evaluation failed, found by asking it again about the same position, uncompiled."""
        if self.leaf.explain_failure is None:
            return error or GamekitError("the heuristic returned no finite number")
        ply, size = int(self.register[w.BAD_PLY]), self.game.size
        data = self.work.words.view(np.uint8)[ply * size : (ply + 1) * size].copy()
        return self.leaf.explain_failure(
            Position(self.game, data), None if error else np.nan, error, int(self.switch[w.ME])
        )
