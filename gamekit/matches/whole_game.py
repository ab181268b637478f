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
MOVER, PLIES, NODES, MOVES = OWN, OWN + 1, OWN + 2, OWN + 4  # the log's words about the game so far
NEVER = 1 << 62
NONE = -1  # no move yet


def _words(names: str) -> np.dtype:
    return np.dtype([(name, np.int64) for name in names.split()])


# `left` is the most plies that can follow the first position, `turns` how many did; `code` is the move chosen
GAME = _words("moves_at play_at left cap repeats limit identity thinking code spent turns winner")
# `portion` is how many nodes to search before the next look at the clock; `known` is what searches came to, by rows
SEAT = _words("kind row_at depth nodes from_one portion known_at known_rows known_words")


@compiled(
    from_dtype(GAME)[::1],
    from_dtype(SEAT)[::1],
    types.int64[::1],
    types.uint64[::1],
    types.uint64[:, ::1],
    types.float64[:, ::1],
    types.int32[::1],
    types.int64[::1],
)
def play_on(games, seats, log, words, seen, chance, lists, spare):
    """Play on until the game is over, a slice of time has passed, or someone took too long."""
    game, position, look = games[0], address(words, 0), now(spare)
    while True:
        turn = np.int64(words[0] & np.uint64(0xFFFFFFFF))
        me, luck = seats[turn - 1], chance[turn - 1]
        if game.code == NONE:
            if not game.thinking:
                log[MOVER], log[CREDIT], log[STARTED], game.spent = turn, 0, now(spare), 0
                game.code = without_search(game, me, words, luck, lists)
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
                game.code, game.thinking = found(game, me, row, register, words, luck, lists), 0
            if now(spare) - log[STARTED] > game.limit:
                return LATE
            log[STARTED] = 0
        status = call_play(game.play_at, position, np.int32(game.code))
        game.turns += 1
        log[MOVES + log[PLIES]] = game.code
        log[PLIES] += 1
        log[NODES + turn - 1] += game.spent
        game.code = NONE
        if status != RUNNING:
            game.winner = 0 if status == DRAW else turn if status == WON else 3 - turn
            return OVER
        if game.repeats > 0 and times_seen(seen, words, game.turns, game.identity) == game.repeats:
            return REPEATED
        if log[PLIES] >= game.cap:
            return CAPPED


@helper
def without_search(game, me, words, luck, lists):
    """A move that takes no search: the first, a random one, or what a search of this position came to before."""
    if me.kind == SEARCHER:
        if me.known_rows == 1:
            return NONE
        entry = entry_of(me, words, game.identity)
        for j in range(game.identity):
            if entry[j] != words[j]:
                return NONE
        if entry[game.identity] == np.uint64(0):
            return NONE
        game.spent = np.int64(entry[game.identity + 1])
        return chosen(game, entry, words, luck, lists)
    count = call_moves(game.moves_at, address(words, 0), address(lists, 0))
    return np.int64(lists[np.int64(drawn(luck) * count)] if me.kind == RANDOM_MOVE else lists[0])


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
def found(game, me, row, register, words, luck, lists):
    """The move of a search that has ended: of the deepest finished depth, else the best so far, else the first.

    A finished depth is kept too: the position, the move plus one (0: an empty entry), the nodes, and where ties are
    broken at random, bit by bit which moves were best.
    """
    root = carray(pointer(row[w.FRAMES]), (1,), w.FRAME)[0]
    if register[w.FOUND_DEPTH] == 0:
        call_moves(game.moves_at, address(words, 0), address(lists, 0))
        return np.int64(root.move if root.move >= 0 else lists[0])
    entry, size = entry_of(me, words, game.identity), game.identity
    for j in range(size):
        entry[j] = words[j]
    entry[size], entry[size + 1] = np.uint64(register[w.FOUND_MOVE] + 1), np.uint64(game.spent)
    if luck[0] >= 0.0:
        switch = numbers_of(row, w.SWITCH, w.SWITCHES)
        values = carray(pointer(row[w.FOUND]), (1 + switch[w.WIDTH],), np.float64)  # the best, then each move's
        entry[size + 2 :] = np.uint64(0)
        for i in range(root.count):
            if values[1 + i] == values[0]:
                entry[size + 2 + (i >> 6)] |= np.uint64(1) << np.uint64(i & 63)
    return chosen(game, entry, words, luck, lists)


@helper
def entry_of(me, words, identity):
    """The place for what is known of a position."""
    row = np.int64(digest(words, 0, identity) & np.uint64(me.known_rows - 1)) if me.known_rows > 1 else 0
    return carray(pointer(me.known_at + 8 * row * me.known_words), (me.known_words,), np.uint64)


@helper
def chosen(game, entry, words, luck, lists):
    """The move of an entry; one of the best where ties are broken at random."""
    size = game.identity
    if luck[0] < 0.0:
        return np.int64(entry[size]) - 1
    best = 0
    for j in range(size + 2, entry.size):
        best += popcount(entry[j])
    pick = np.int64(drawn(luck) * best)
    count = call_moves(game.moves_at, address(words, 0), address(lists, 0))
    for i in range(count):
        if (entry[size + 2 + (i >> 6)] >> np.uint64(i & 63)) & np.uint64(1):
            if pick == 0:
                return np.int64(lists[i])
            pick -= 1
    return np.int64(lists[0])


@helper
def drawn(luck):
    """A seat's next number between 0 and 1; the first of its row says how many are used, or that it has none."""
    luck[0] += 1
    return luck[np.int64(luck[0])]


@helper
def times_seen(seen, words, turns, identity):
    """How often the position after this many turns has come about, itself included; and remember it."""
    times = 1
    for i in range(turns - 1):
        same = True
        for j in range(identity):
            if seen[i, j] != words[j]:
                same = False
                break
        if same:
            times += 1
    for j in range(identity):
        seen[turns - 1, j] = words[j]
    return times


class WholeGame:
    """Two players at a board. `start` sets up a game, `play` goes on with it for a few milliseconds."""

    def __init__(self, game: Game, cap: int, repeats: int, limit: float | None, log: memoryview):
        """`log` is where the referee looks; `limit` is in seconds a move."""
        identity = -(-game.identity // 8)
        self.game, self.log = game, np.frombuffer(log, np.int64)
        self.table, self.seats, self.spare = np.zeros(1, GAME), np.zeros(2, SEAT), np.zeros(2, np.int64)
        self.words, self.lists = np.zeros(game.size // 8, np.uint64), np.zeros(game.width, np.int32)
        self.seen = np.zeros((cap if repeats else 1, identity), np.uint64)
        self.chance = np.zeros((2, cap // 2 + 2))
        self.known = np.zeros((2, 1, identity + 2 - (-game.width // 64)), np.uint64)  # of searches that keep nothing
        limit_ns, rules = NEVER if limit is None else int(limit * 1e9), game._rules
        self.table[0] = (rules.moves.address, rules.play.address, 0, cap, repeats, limit_ns, identity, 0, NONE, 0, 0, 0)
        self.seats["portion"] = 16
        play_on.prepare()

    def start(self, position: Position, natives: Sequence[Native]) -> None:
        """A game from this position, the first native being player 1."""
        self.natives, left = natives, self.game.left(position.data)
        for name, value in {"left": left or 0, "thinking": 0, "code": NONE, "turns": 0}.items():
            self.table[name] = value
        self.words.view(np.uint8)[:] = position.data
        for native, seat, luck, known in zip(natives, self.seats, self.chance, self.known, strict=True):
            seat["kind"] = native.kind
            if (engine := native.engine) is not None:
                engine.work.make_room(engine.depths(native.depth, left)[1])
                seat["row_at"], seat["depth"] = engine.work.at, native.depth or DEEPEST
                seat["nodes"], seat["from_one"] = native.nodes or NEVER, engine.deepen or native.depth is None
                known = engine.known if len(engine.known) > 1 else known
                seat["known_at"], (seat["known_rows"], seat["known_words"]) = known.ctypes.data, known.shape
            luck[0] = -1
            if native.chance is not None:
                luck[0], luck[1:] = 0, [native.chance() for _ in range(len(luck) - 1)]

    def play(self) -> int:
        """Go on for a slice; why it stopped. What goes wrong in an evaluation is raised as its search would."""
        error = None
        try:
            result = play_on(
                self.table, self.seats, self.log, self.words, self.seen, self.chance, self.lists, self.spare
            )
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
