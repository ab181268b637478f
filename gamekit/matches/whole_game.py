"""A whole game of two players in one compiled call: searches with a bound on depth or nodes, random and first moves.

A search of a few hundred nodes is over sooner than Python has asked for it, so where both players allow it a
match hands the game over whole. It plays exactly what it would move by move.

In games without a bound positions come back, often hundreds of times. A search that always comes to the same result
is then not repeated: its move and its node count are kept and counted again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import carray, types

from ..core import DRAW, RUNNING, WON, Game, Position
from ..errors import GamekitError
from ..jit.compiled import compiled
from ..jit.intrinsics import address, call_moves, call_play, helper, now, pointer, popcount
from ..players.base import RANDOM_MOVE, SEARCHER, Native
from ..search import workspace as w
from ..search.deepening import DEEPEST, SLICE, SOON, call_deepen, paced
from ..search.table import digest
from ..search.workspace import numbers_of, row_at

OVER, PAUSED, BAD_VALUE, LATE, REPEATED, CAPPED = w.DONE, w.PAUSED, w.BAD_VALUE, 3, 4, 5  # why it returned
# the table at which they sit; the last six have a word for either seat
(
    MOVES_AT,
    PLAY_AT,
    LEFT,
    CAP,
    REPEATS,
    LIMIT,
    IDENTITY,
    STATE,
    CODE,
    BEGAN,
    WINNER,
    TURNS,
    SPENT,
    KIND,
    ROW_AT,
    DEPTH,
    NODES,
    FROM_ONE,
    PORTION,
    TABLE,
) = (*range(13), 13, 15, 17, 19, 21, 23, 25)
IDLE, THINKING, CHOSEN = 0, 1, 2  # STATE: about to begin a move, in the middle of it, about to make it
STARTED, CREDIT = 0, 1  # the clock that the referee's guard looks at
MOVER, PLIES, NODES_OF, MOVES = 0, 1, 2, 4  # the game so far, kept where it outlives this process
NEVER = 1 << 62
NOTHING = np.zeros((1, 1), np.uint64)


_NUMBERS = types.int64[::1]


@compiled(
    _NUMBERS,
    _NUMBERS,
    _NUMBERS,
    types.uint64[::1],
    types.uint64[:, ::1],
    types.float64[:, ::1],
    types.int32[::1],
    _NUMBERS,
    types.uint64[:, ::1],
    types.uint64[:, ::1],
)
def play_on(table, clock, book, words, seen, chance, lists, spare, known_first, known_second):
    """Play on until the game is over, a slice of time has passed, or someone took too long."""
    position, look = address(words, 0), now(spare)
    while True:
        turn = np.int64(words[0] & np.uint64(0xFFFFFFFF))
        seat = turn - 1
        if table[STATE] == IDLE:
            book[MOVER], clock[CREDIT], table[BEGAN] = turn, 0, now(spare)
            clock[STARTED], table[STATE] = table[BEGAN], THINKING
            if table[KIND + seat] == SEARCHER:
                known = known_first if seat == 0 else known_second
                if recall(known, words, table, chance, seat, lists):
                    table[STATE], clock[STARTED] = CHOSEN, 0
                else:
                    begin(table, seat, words, turn)
        if table[STATE] == THINKING:
            if table[KIND + seat] == SEARCHER:
                row = row_at(table[ROW_AT + seat])
                counts, register = numbers_of(row, w.COUNTS, w.COUNTERS), numbers_of(row, w.REGISTER, w.REGISTERS)
                before, since = 0 if register[w.PHASE] == w.FRESH else counts[w.GENERATED], now(spare)
                register[w.LIMIT] = min(before + table[PORTION + seat], table[NODES + seat])
                result = call_deepen(row[w.DEEPEN_AT], table[ROW_AT + seat])
                if result == w.BAD_VALUE:
                    return BAD_VALUE
                if result == w.PAUSED and counts[w.GENERATED] < table[NODES + seat]:
                    done, clock_now = counts[w.GENERATED] - before, now(spare)
                    table[PORTION + seat] = paced(table[PORTION + seat], done, (clock_now - since) / 1e9)
                    if clock_now - look > SLICE * 1e9:
                        return PAUSED
                    continue
                code = decided(row, register, lists, position, chance, seat, table)
                table[SPENT] = counts[w.GENERATED]
                remember(known_first if seat == 0 else known_second, words, table, code, row, register)
            else:
                count = call_moves(table[MOVES_AT], position, address(lists, 0))
                code = lists[0]
                if table[KIND + seat] == RANDOM_MOVE:
                    code = lists[np.int64(drawn(chance, seat) * count)]
            table[CODE], table[STATE], clock[STARTED] = code, CHOSEN, 0
            if now(spare) - table[BEGAN] > table[LIMIT]:
                return LATE
        table[STATE] = IDLE
        status = call_play(table[PLAY_AT], position, np.int32(table[CODE]))
        table[TURNS] += 1
        plies = book[PLIES] + 1
        book[MOVES + plies - 1], book[PLIES] = table[CODE], plies
        if table[KIND + seat] == SEARCHER:
            book[NODES_OF + seat] += table[SPENT]
        if status != RUNNING:
            table[WINNER] = 0 if status == DRAW else turn if status == WON else 3 - turn
            return OVER
        if table[REPEATS] > 0 and times_seen(seen, words, table[TURNS], table[IDENTITY]) == table[REPEATS]:
            return REPEATED
        if plies >= table[CAP]:
            return CAPPED


@helper
def recall(known, words, table, chance, seat, lists):
    """What a search of this position came to before: the same search would come to it again.

    An entry has the position, the move plus one (0: an empty entry), the nodes, and bit by bit which moves were best.
    """
    identity = table[IDENTITY]
    if known.shape[0] < 2:
        return False
    entry = known[np.int64(digest(words, 0, identity) & np.uint64(known.shape[0] - 1))]
    for j in range(identity):
        if entry[j] != words[j]:
            return False
    if entry[identity] == np.uint64(0):
        return False
    table[CODE], table[SPENT] = np.int64(entry[identity]) - 1, np.int64(entry[identity + 1])
    if chance[seat, 0] < 0.0:  # ties are not broken at random
        return True
    best = 0
    for j in range(identity + 2, entry.size):
        best += popcount(entry[j])
    pick = np.int64(drawn(chance, seat) * best)
    call_moves(table[MOVES_AT], address(words, 0), address(lists, 0))
    for i in range(lists.size):
        if (entry[identity + 2 + (i >> 6)] >> np.uint64(i & 63)) & np.uint64(1):
            if pick == 0:
                table[CODE] = lists[i]
                break
            pick -= 1
    return True


@helper
def remember(known, words, table, code, row, register):
    """Keep what a finished search came to, where positions come back."""
    identity = table[IDENTITY]
    if known.shape[0] < 2 or register[w.FOUND_DEPTH] == 0:
        return
    entry = known[np.int64(digest(words, 0, identity) & np.uint64(known.shape[0] - 1))]
    for j in range(identity):
        entry[j] = words[j]
    entry[identity], entry[identity + 1] = np.uint64(code + 1), np.uint64(table[SPENT])
    switch = numbers_of(row, w.SWITCH, w.SWITCHES)
    found = carray(pointer(row[w.FOUND]), (1 + switch[w.WIDTH],), np.float64)
    root = carray(pointer(row[w.FRAMES]), (1,), w.FRAME)[0]
    for j in range(identity + 2, entry.size):
        entry[j] = np.uint64(0)
    for i in range(root.count):
        if found[1 + i] == found[0]:
            entry[identity + 2 + (i >> 6)] |= np.uint64(1) << np.uint64(i & 63)


@helper
def begin(table, seat, words, turn):
    """Hand the position to a searcher; it starts with the next call."""
    row = row_at(table[ROW_AT + seat])
    switch, register = numbers_of(row, w.SWITCH, w.SWITCHES), numbers_of(row, w.REGISTER, w.REGISTERS)
    root = carray(pointer(row[w.WORDS]), (words.size,), np.uint64)
    for i in range(words.size):
        root[i] = words[i]
    last = table[DEPTH + seat]
    if table[LEFT] > 0:
        last = min(last, table[LEFT] - table[TURNS])
    register[w.LAST_DEPTH] = last
    register[w.FIRST_DEPTH] = 1 if table[FROM_ONE + seat] else last
    register[w.KEEP], register[w.PHASE], switch[w.ME] = 0, w.FRESH, turn
    table[PORTION + seat] = min(table[PORTION + seat], SOON)


@helper
def decided(row, register, lists, position, chance, seat, table):
    """The move of a search that has ended: of the deepest finished depth, else the best so far, else the first."""
    if register[w.FOUND_DEPTH] > 0:
        switch = numbers_of(row, w.SWITCH, w.SWITCHES)
        if switch[w.TIES] != w.RANDOM:
            return register[w.FOUND_MOVE]
        found = carray(pointer(row[w.FOUND]), (1 + switch[w.WIDTH],), np.float64)
        count = call_moves(table[MOVES_AT], position, address(lists, 0))
        best = 0
        for i in range(count):
            if found[1 + i] == found[0]:
                best += 1
        pick = np.int64(drawn(chance, seat) * best)
        for i in range(count):
            if found[1 + i] == found[0]:
                if pick == 0:
                    return np.int64(lists[i])
                pick -= 1
    root = carray(pointer(row[w.FRAMES]), (1,), w.FRAME)[0]
    if root.move >= 0:
        return np.int64(root.move)
    call_moves(table[MOVES_AT], position, address(lists, 0))
    return np.int64(lists[0])


@helper
def drawn(chance, seat):
    """The seat's next number between 0 and 1; the first of its row says how many are used."""
    at = np.int64(chance[seat, 0]) + 1
    chance[seat, 0] = at
    return chance[seat, at]


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

    def __init__(self, game: Game, cap: int, repeats: int, limit: float | None, clock: np.ndarray, book: np.ndarray):
        """`clock` and `book` are where the referee looks; `limit` is in seconds a move."""
        identity = -(-game.identity // 8)
        self.game, self.clock, self.book = game, clock, book
        self.table, self.spare = np.zeros(TABLE, np.int64), np.zeros(2, np.int64)
        self.words, self.lists = np.zeros(game.size // 8, np.uint64), np.zeros(game.width, np.int32)
        self.seen = np.zeros((cap if repeats else 1, identity), np.uint64)
        self.chance = np.zeros((2, cap // 2 + 2))
        for which, value in (
            (MOVES_AT, game._rules.moves.address),
            (PLAY_AT, game._rules.play.address),
            (CAP, cap),
            (REPEATS, repeats),
            (LIMIT, NEVER if limit is None else int(limit * 1e9)),
            (IDENTITY, identity),
            (PORTION, 16),
            (PORTION + 1, 16),
        ):
            self.table[which] = value
        play_on.prepare()

    def start(self, position: Position, natives: Sequence[Native]) -> None:
        """A game from this position, the first native being player 1."""
        self.natives, table, left = natives, self.table, self.game.left(position.data)
        table[LEFT], table[STATE], table[TURNS] = left or 0, IDLE, 0
        self.words.view(np.uint8)[:] = position.data
        self.known = [NOTHING if native.engine is None else native.engine.known for native in natives]
        for seat, native in enumerate(natives):
            table[KIND + seat] = native.kind
            if native.engine is not None:
                native.engine.work.make_room(native.engine.depths(native.depth, left)[1])
                table[ROW_AT + seat], table[DEPTH + seat] = native.engine.work.at, native.depth or DEEPEST
                table[NODES + seat] = native.nodes or NEVER
                table[FROM_ONE + seat] = native.engine.deepen or native.depth is None
            self.chance[seat, 0] = -1
            if native.chance is not None:
                self.chance[seat, 0] = 0
                self.chance[seat, 1:] = [native.chance() for _ in range(self.chance.shape[1] - 1)]

    def play(self) -> int:
        """Go on for a slice; why it stopped. What goes wrong in an evaluation is raised as its search would."""
        error = None
        try:
            result = play_on(
                self.table,
                self.clock,
                self.book,
                self.words,
                self.seen,
                self.chance,
                self.lists,
                self.spare,
                *self.known,
            )
        except Exception as given:
            result, error = BAD_VALUE, given
        if result == BAD_VALUE:
            failed = self.natives[self.book[MOVER] - 1].engine
            raise (failed.failure(error) if failed else error or GamekitError("a player failed")) from None
        return result

    @property
    def began(self) -> int:
        """When the last move was begun, as `time.monotonic_ns` counts."""
        return self.table.item(BEGAN)

    def position(self, result: int) -> Position:
        """The board as the last result left it."""
        winner = self.table.item(WINNER) if result == OVER else None
        return Position(self.game, self.words.view(np.uint8).copy(), winner)
