"""A whole game of two players in one compiled call: searches with a bound on depth or nodes, random and first moves.

A search of a few hundred nodes is over sooner than Python has asked for it, so where both players allow it a
match hands the game over whole. It plays exactly what it would move by move.

In games without a bound positions come back, often hundreds of times. A search that always comes to the same result
is then not repeated: its move and its node count are kept and counted again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import carray, from_dtype, types

from ..core import DRAW, RUNNING, WON, Game, Position
from ..errors import GamekitError
from ..jit.compiled import compiled
from ..jit.intrinsics import address, call_moves, call_play, helper, now, pointer, popcount
from ..players.base import RANDOM_MOVE, SEARCHER, Native
from ..search import workspace as w
from ..search.deepening import DEEPEST, SLICE, SOON, call_deepen, paced
from ..search.table import digest
from ..search.workspace import numbers_of, row_at
from .sandbox import CREDIT, OWN, STARTED

OVER, PAUSED, BAD_VALUE, LATE, REPEATED, CAPPED = w.DONE, w.PAUSED, w.BAD_VALUE, 3, 4, 5  # why it returned
# The log's words about the game so far: who is to move, how many moves there are, the nodes of either seat, two words
# to spare, the moves.
MOVER, PLIES, NODES, SPARE, MOVES = OWN, OWN + 1, OWN + 2, OWN + 4, OWN + 6
NEVER = 1 << 62
NONE = -1  # no move yet


def _words(names: str) -> np.dtype:
    return np.dtype([(name, np.int64) for name in names.split()])


# `left` is the most plies that can follow the first position, `turns` how many did; `code` is the move chosen
GAME = _words("moves_at play_at cap repeats limit identity left thinking code spent turns winner")
# `portion` is how many nodes to search before the next look at the clock
SEAT = _words("kind row_at depth nodes from_one portion")
_LOG, _WORDS, _ROWS = types.int64[::1], types.uint64[::1], types.uint64[:, ::1]
_GAME, _SEATS, _CHANCE, _LISTS = from_dtype(GAME)[::1], from_dtype(SEAT)[::1], types.float64[:, ::1], types.int32[::1]


@compiled(_GAME, _SEATS, _LOG, _WORDS, _ROWS, _CHANCE, _LISTS, _ROWS, _ROWS)
def play_on(games, seats, log, words, seen, chance, lists, known_first, known_second):
    """Play on until the game is over, a slice of time has passed, or someone took too long."""
    game, position, spare = games[0], address(words, 0), log[SPARE:]
    look = now(spare)
    while True:
        turn = np.int64(words[0] & np.uint64(0xFFFFFFFF))
        seat = turn - 1
        me, known = seats[seat], known_first if seat == 0 else known_second
        if game.code == NONE:
            if not game.thinking:
                log[MOVER], log[CREDIT], log[STARTED], game.spent = turn, 0, now(spare), 0
                game.code = without_search(game, me, known, words, chance, seat, lists)
            if game.code == NONE:
                row = row_at(me.row_at)
                counts, register = numbers_of(row, w.COUNTS, w.COUNTERS), numbers_of(row, w.REGISTER, w.REGISTERS)
                if not game.thinking:
                    begin(game, me, row, register, words, turn)
                before, since = 0 if register[w.PHASE] == w.FRESH else counts[w.GENERATED], now(spare)
                register[w.LIMIT] = min(before + me.portion, me.nodes)
                result = call_deepen(row[w.DEEPEN_AT], me.row_at)
                if result == w.BAD_VALUE:
                    return BAD_VALUE
                if result == w.PAUSED and counts[w.GENERATED] < me.nodes:
                    done, clock_now = counts[w.GENERATED] - before, now(spare)
                    me.portion = paced(me.portion, done, (clock_now - since) / 1e9)
                    if clock_now - look > SLICE * 1e9:
                        return PAUSED
                    continue
                game.spent = counts[w.GENERATED]
                game.code, game.thinking = found(game, known, row, register, words, chance, seat, lists), 0
            if now(spare) - log[STARTED] > game.limit:
                return LATE
            log[STARTED] = 0
        status = call_play(game.play_at, position, np.int32(game.code))
        game.turns += 1
        log[MOVES + log[PLIES]] = game.code
        log[PLIES] += 1
        log[NODES + seat] += game.spent
        game.code = NONE
        if status != RUNNING:
            game.winner = 0 if status == DRAW else turn if status == WON else 3 - turn
            return OVER
        if game.repeats > 0 and times_seen(seen, words, game.turns, game.identity) == game.repeats:
            return REPEATED
        if log[PLIES] >= game.cap:
            return CAPPED


@helper
def without_search(game, me, known, words, chance, seat, lists):
    """A move that takes no search: the first, a random one, or what a search of this position came to before."""
    if me.kind != SEARCHER:
        count = call_moves(game.moves_at, address(words, 0), address(lists, 0))
        return np.int64(lists[np.int64(drawn(chance, seat) * count)] if me.kind == RANDOM_MOVE else lists[0])
    if len(known) == 1:
        return NONE
    place, size = place_of(known, words, game.identity), game.identity
    if known[place, size] == np.uint64(0) or not same(known, place, words, size):
        return NONE
    game.spent = np.int64(known[place, size + 1])
    return chosen(game, known, place, words, chance, seat, lists)


@helper
def begin(game, me, row, register, words, turn):
    """Hand the position to a searcher; it starts with the next call."""
    switch = numbers_of(row, w.SWITCH, w.SWITCHES)
    root = carray(pointer(row[w.WORDS]), (words.size,), np.uint64)
    for i in range(words.size):
        root[i] = words[i]
    last = min(me.depth, game.left - game.turns) if game.left > 0 else me.depth
    register[w.FIRST_DEPTH], register[w.LAST_DEPTH] = 1 if me.from_one else last, last
    register[w.KEEP], register[w.PHASE], switch[w.ME] = 0, w.FRESH, turn
    me.portion, game.thinking = min(me.portion, SOON), 1


@helper
def found(game, known, row, register, words, chance, seat, lists):
    """The move of a search that has ended: of the deepest finished depth, else the best so far, else the first.

    What a finished depth came to is kept: the position, the move plus one (0: nothing is known), the nodes, and where
    ties are broken at random, bit by bit which moves were best.
    """
    root = carray(pointer(row[w.FRAMES]), (1,), w.FRAME)[0]
    if register[w.FOUND_DEPTH] == 0:
        call_moves(game.moves_at, address(words, 0), address(lists, 0))
        return np.int64(root.move if root.move >= 0 else lists[0])
    if len(known) == 1 and chance[seat, 0] < 0.0:
        return np.int64(register[w.FOUND_MOVE])
    place, size = place_of(known, words, game.identity), game.identity
    for j in range(size):
        known[place, j] = words[j]
    known[place, size], known[place, size + 1] = np.uint64(register[w.FOUND_MOVE] + 1), np.uint64(game.spent)
    if chance[seat, 0] >= 0.0:
        values = carray(pointer(row[w.FOUND]), (1 + root.count,), np.float64)  # the best, then each move's
        for j in range(size + 2, known.shape[1]):
            known[place, j] = np.uint64(0)
        for i in range(root.count):
            if values[1 + i] == values[0]:
                known[place, size + 2 + (i >> 6)] |= np.uint64(1) << np.uint64(i & 63)
    return chosen(game, known, place, words, chance, seat, lists)


@helper
def chosen(game, known, place, words, chance, seat, lists):
    """The move that is known to be best; one of the best where ties are broken at random."""
    size = game.identity
    if chance[seat, 0] < 0.0:
        return np.int64(known[place, size]) - 1
    best = 0
    for j in range(size + 2, known.shape[1]):
        best += popcount(known[place, j])
    pick = np.int64(drawn(chance, seat) * best)
    if best < 2:
        return np.int64(known[place, size]) - 1
    count = call_moves(game.moves_at, address(words, 0), address(lists, 0))
    for i in range(count):
        if (known[place, size + 2 + (i >> 6)] >> np.uint64(i & 63)) & np.uint64(1):
            if pick == 0:
                return np.int64(lists[i])
            pick -= 1
    return np.int64(lists[0])


@helper
def place_of(known, words, identity):
    """The row for a position among those that are known."""
    return np.int64(digest(words, 0, identity) & np.uint64(len(known) - 1)) if len(known) > 1 else 0


@helper
def drawn(chance, seat):
    """The seat's next number between 0 and 1; the first of its row says how many are used, or that it has none."""
    at = np.int64(chance[seat, 0]) + 1
    chance[seat, 0] = at
    return chance[seat, at]


@helper
def times_seen(seen, words, turns, identity):
    """How often the position after this many turns has come about, itself included; and remember it."""
    times = 1
    for i in range(turns - 1):
        if same(seen, i, words, identity):
            times += 1
    for j in range(identity):
        seen[turns - 1, j] = words[j]
    return times


@helper
def same(rows, i, words, size):
    """Whether a row begins with these words."""
    for j in range(size):  # noqa: SIM110  (compiled code knows no generators)
        if rows[i, j] != words[j]:
            return False
    return True


class WholeGame:
    """Two players at a board. `start` sets up a game, `play` goes on with it for a few milliseconds."""

    def __init__(self, game: Game, cap: int, repeats: int, limit: float | None, log: memoryview):
        """`log` is where the referee looks; `limit` is in seconds a move."""
        identity = -(-game.identity // 8)
        self.game, self.log = game, np.frombuffer(log, np.int64)
        self.table, self.seats = np.zeros(1, GAME), np.zeros(2, SEAT)
        self.words, self.lists = np.zeros(game.size // 8, np.uint64), np.zeros(game.width, np.int32)
        self.seen = np.zeros((cap if repeats else 1, identity), np.uint64)
        self.chance = np.zeros((2, cap // 2 + 2))
        self.nothing = np.zeros(
            (1, identity + 2 - (-game.width // 64)), np.uint64
        )  # room for searches that keep nothing
        limit_ns, rules = NEVER if limit is None else int(limit * 1e9), game._rules
        self.settled = rules.moves.address, rules.play.address, cap, repeats, limit_ns, identity
        play_on.prepare()

    def start(self, position: Position, natives: Sequence[Native]) -> None:
        """A game from this position, the first native being player 1."""
        self.natives, left = natives, self.game.left(position.data)
        self.table[0] = (*self.settled, left or 0, 0, NONE, 0, 0, 0)
        self.words.view(np.uint8)[:] = position.data
        self.known = [self.nothing, self.nothing]
        for seat, native in enumerate(natives):
            engine, luck = native.engine, self.chance[seat]
            if engine is None:
                self.seats[seat] = (native.kind, 0, 0, 0, 0, 0)
            else:
                engine.work.make_room(engine.depths(native.depth, left)[1])
                bounds = native.depth or DEEPEST, native.nodes or NEVER, engine.deepen or native.depth is None
                self.seats[seat] = (native.kind, engine.work.at, *bounds, 16)
                self.known[seat] = engine.known if len(engine.known) > 1 else self.nothing
            luck[0] = -1
            if native.chance is not None:
                luck[0], luck[1:] = 0, [native.chance() for _ in range(len(luck) - 1)]

    def play(self) -> int:
        """Go on for a slice; why it stopped. What goes wrong in an evaluation is raised as its search would."""
        error = None
        try:
            arrays = self.log, self.words, self.seen, self.chance, self.lists, *self.known
            result = play_on(self.table, self.seats, *arrays)
        except Exception as given:
            result, error = BAD_VALUE, given
        if result == BAD_VALUE:
            failed = self.natives[self.log[MOVER] - 1].engine
            raise (failed.failure(error) if failed else error or GamekitError("a player failed")) from None
        return result

    def position(self, result: int) -> Position:
        """The board as the last result left it."""
        winner = self.table["winner"].item() if result == OVER else None
        return Position(self.game, self.words.view(np.uint8).copy(), winner)
