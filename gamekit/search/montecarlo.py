"""Random playouts, compiled: flat Monte-Carlo as in the Connect Four report, and UCT with its tree in flat arrays."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import float64, from_dtype, int32, int64, intp, uint64

from ..core import DRAW, RUNNING, WON, Game, Position
from ..jit.compiled import compiled
from ..jit.intrinsics import address, call_moves, call_play, helper

LONGEST = 1000  # plies of a playout; then it counts as a draw (Conga can go round for ever)
NODE = np.dtype([("total", "f8"), ("visits", "i4"), ("move", "i4"), ("first", "i4"), ("count", "i4")])
FREE, GENERATED, REGISTERS = range(3)
RULES = intp, intp, uint64[::1], int64  # where the rules lie, room for two positions, words of one


@helper
def draw(random, below):
    """A uniform number under `below`, and the generator one step on (xorshift*)."""
    x = random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    random[0] = x
    high = (x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(32)
    return np.int64((high * np.uint64(below)) >> np.uint64(32))


@helper
def to_move(words, at):
    """The player to move in the position that starts at a word."""
    return np.int64(words[at] & np.uint64(0xFFFFFFFF))


@helper
def play_out(moves_at, play_at, words, at, lists, random, status, mover, register):
    """Play uniformly at random after `mover` moved with `status`; who won, 0 for nobody."""
    position = address(words, 8 * at)
    for _ply in range(LONGEST):
        if status != RUNNING:
            return 0 if status == DRAW else mover if status == WON else 3 - mover
        mover = to_move(words, at)
        count = call_moves(moves_at, position, address(lists, 0))
        status = call_play(play_at, position, lists[draw(random, count)])
        register[GENERATED] += 1
    return 0


@compiled(*RULES, int32[::1], int32[::1], float64[::1], int64[::1], uint64[::1], int64, int64[::1])
def flat(moves_at, play_at, words, block, root_moves, lists, sums, tries, random, playouts, register):
    """Playouts from the root: a uniform first move, then uniform play; +1, 0, −1 summed per first move."""
    me = to_move(words, 0)
    for _ in range(playouts):
        for j in range(block):
            words[block + j] = words[j]
        first = draw(random, root_moves.size)
        status = call_play(play_at, address(words, 8 * block), root_moves[first])
        register[GENERATED] += 1
        winner = play_out(moves_at, play_at, words, block, lists, random, status, me, register)
        tries[first] += 1
        if winner != 0:
            sums[first] += 1.0 if winner == me else -1.0
    return 0


@compiled(*RULES, int32[::1], from_dtype(NODE)[::1], int32[:, ::1], uint64[::1], int64, float64, int64[::1])
def grow(moves_at, play_at, words, block, lists, tree, path, random, playouts, exploration, register):
    """Playouts that grow a tree (UCB1): down the most promising line, one new list of moves, a random game, back up.

    Node 0 is the root; a node's `total` is for the player who moved into it.
    """
    for _ in range(playouts):
        for j in range(block):
            words[block + j] = words[j]
        node, depth, status = 0, 0, RUNNING
        mover = 3 - to_move(words, 0)  # who moved into the root
        path[0, 0], path[0, 1] = 0, mover
        while status == RUNNING and depth < LONGEST - 1:
            if tree[node].first == 0:
                if (node != 0 and tree[node].visits == 0) or register[FREE] + lists.size > tree.size:
                    break
                count = np.int64(call_moves(moves_at, address(words, 8 * block), address(lists, 0)))
                first = register[FREE]
                register[FREE] += count
                for i in range(count):
                    new = tree[first + i]
                    new.move, new.total, new.visits, new.first = lists[i], 0.0, 0, 0
                tree[node].first, tree[node].count = first, count
            node, mover = select(tree, node, exploration, random), to_move(words, block)
            depth += 1
            path[depth, 0], path[depth, 1] = node, mover
            status = call_play(play_at, address(words, 8 * block), tree[node].move)
            register[GENERATED] += 1
        winner = play_out(moves_at, play_at, words, block, lists, random, status, mover, register)
        for i in range(depth + 1):
            at = path[i, 0]
            tree[at].visits += 1
            if winner != 0:
                tree[at].total += 1.0 if winner == path[i, 1] else -1.0
    return 0


@helper
def select(tree, node, exploration, random):
    """A child never tried, at random; else the one of highest upper confidence bound."""
    first, count = np.int64(tree[node].first), np.int64(tree[node].count)
    fresh = 0
    for i in range(first, first + count):
        if tree[i].visits == 0:
            fresh += 1
    if fresh:
        skip = draw(random, fresh)
        for i in range(first, first + count):
            if tree[i].visits == 0:
                if skip == 0:
                    return i
                skip -= 1
    best: Any = first
    top = -np.inf
    spread = exploration * exploration * np.log(np.float64(tree[node].visits))
    for i in range(first, first + count):
        bound = tree[i].total / tree[i].visits + np.sqrt(spread / tree[i].visits)
        if bound > top:
            best, top = i, bound
    return best


@dataclass
class Played:
    """What the playouts said of each root move: summed results and how often it was tried."""

    codes: tuple[int, ...]
    sums: np.ndarray
    tries: np.ndarray
    playouts: int
    generated: int
    line: list[int]
    stopped_by: str


class MonteCarlo:
    """Playouts of one game; `tree` chooses UCT instead of flat sums. Seeded: same seed and budget, same result."""

    def __init__(self, game: Game, seed: int, tree: bool, exploration: float = 2**0.5, megabytes: float = 32):
        self.game, self.exploration = game, exploration
        self.random = np.array([(seed * 0x9E3779B97F4A7C15 + 0x1234567) % 2**64 or 1], np.uint64)
        self.words = np.zeros(2 * game.size // 8, np.uint64)
        self.lists = np.zeros(game.width, np.int32)
        self.register = np.zeros(REGISTERS, np.int64)
        self.path = np.zeros((LONGEST, 2), np.int32)
        self.tree = np.zeros(max(int(megabytes * 2**20 / NODE.itemsize), 4 * game.width), NODE) if tree else None
        self._rules = game._rules.moves.address, game._rules.play.address, self.words, game.size // 8
        (grow if tree else flat).prepare()

    def run(
        self, position: Position, playouts: int | None, seconds: float | None, stop: Callable[[], bool] | None = None
    ) -> Played:
        """Play until a limit is reached; with neither limit, until `stop` says so."""
        started, codes = time.monotonic(), np.array(position.codes(), np.int32)
        sums, tries = np.zeros(codes.size), np.zeros(codes.size, np.int64)
        self.words[: self.game.size // 8] = position.data.view(np.uint64)
        self.register[:] = 0
        if self.tree is not None:
            self.tree[0] = (0.0, 0, 0, 0, 0)
            self.register[FREE] = 1
        done, portion, reason = 0, 16, "playouts"
        while playouts is None or done < playouts:
            now = portion if playouts is None else min(portion, playouts - done)
            before = time.monotonic()
            rules, lists, tree, random, register = self._rules, self.lists, self.tree, self.random, self.register
            if tree is None:
                flat(*rules, codes, lists, sums, tries, random, now, register)
            else:
                grow(*rules, lists, tree, self.path, random, now, self.exploration, register)
            done += now
            clock = time.monotonic()
            if seconds is not None and clock - started >= seconds:
                reason = "time"
                break
            if stop is not None and stop():
                reason = "stopped"
                break
            if clock - before < 0.002:
                portion *= 2
            elif clock - before > 0.005 and portion > 1:
                portion //= 2
        line: list[int] = []
        if self.tree is not None:
            children, line = self._children(self.tree[0]), self._line()
            sums, tries = children["total"].copy(), children["visits"].astype(np.int64)
        return Played(position.codes(), sums, tries, done, int(self.register[GENERATED]), line, reason)

    def _children(self, node: np.void) -> np.ndarray:
        assert self.tree is not None
        return self.tree[node["first"] : node["first"] + node["count"]]

    def _line(self) -> list[int]:
        """The most visited path."""
        assert self.tree is not None
        line: list[int] = []
        node = self.tree[0]
        while node["first"] and len(line) < 30:
            children = self._children(node)
            node = children[int(children["visits"].argmax())]
            if node["visits"] == 0:
                break
            line.append(int(node["move"]))
        return line
