"""The referee: plays games of two players to their end, whatever they do, and writes down what happened.

There is one way to play a game here; matches, sweeps and single games all call it. Where both players allow it a
game runs whole in compiled code; otherwise the players are asked move by move.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import monotonic_ns, thread_time
from typing import Any, NamedTuple

from ..core import Game, Position
from ..errors import MoveError
from ..players.base import Function, Native, Player
from ..players.base import player as player_of
from ..specs import Param
from . import sandbox, whole_game
from .openings import Opening
from .sandbox import CREDIT, RENEW, STARTED, WATCHED
from .whole_game import MOVER, MOVES, NODES, PLIES, WholeGame

TERMINATIONS = ("win", "draw", "repetition", "cap", "timeout", "illegal", "crash", "memory")
FORFEITS = TERMINATIONS[4:]  # the player to blame loses
MOST_PLIES = 500  # of a game that has no bound of its own
MEGABYTES = 2048  # what a guarded player may take
LONGEST = 10_000  # plies of a game in one compiled call, where each position is compared with all before
Ended = tuple[Position, str, str]  # where a game ended, its label unless it was won or drawn, a note
ENDED = {whole_game.OVER: "", whole_game.REPEATED: "repetition", whole_game.CAPPED: "cap"}

RULES = {
    "repetition": Param(3, "a position seen this often ends a game that has no bound of its own", 2, 1000),
    "max_plies": Param(MOST_PLIES, "plies after which a game is stopped", 1, 100_000),
    "move_seconds": Param(60.0, "seconds a move may take before its player forfeits", 0.001, 86_400),
    "megabytes": Param(MEGABYTES, "megabytes a player may take before it forfeits", 64, 1_000_000),
    "seed": Param(0, "random seed", 0, 2**63 - 1),
}


@dataclass(frozen=True)
class Rules:
    """What decides when a game ends besides the game's own rules; None switches a limit off."""

    repetition: int | None = 3
    max_plies: int | None = None
    move_seconds: float | None = None
    megabytes: int | None = MEGABYTES

    @classmethod
    def checked(cls, owner: str, **given: Any) -> Rules:
        """The rules from values a user gave, each refused by name unless allowed."""
        return cls(**{k: None if v is None else RULES[k].check(owner, k, v) for k, v in given.items()})


class Fixture(NamedTuple):
    """A game to be played: its number and pair, whether the first-named player moves first, opening, luck, seeds."""

    number: int
    pair: int
    player_first: bool
    opening: Opening
    luck: int
    seeds: tuple[int, int]  # of the two seats; seat 1 moves first


class Record(NamedTuple):
    """A game that was played, seen by the player named first (`player`); its rival is the opponent."""

    number: int
    pair: int
    player_first: bool
    opening: str
    opening_plies: int
    plies: int
    winner: int  # the seat: 1 moved first, 0 is nobody
    termination: str
    generated: int
    opponent_generated: int
    score: float | None
    opponent_score: float | None
    luck: int
    moves: str
    note: str  # of a forfeit: what the player did
    elapsed: float
    rows: tuple[tuple[Any, ...], ...]  # one per move where asked for: ply, move, value, reached, generated, …


def fixtures(
    seed: int, game: Game, opponent: str, lines: Sequence[Opening], numbers: range, swap: bool = True
) -> list[Fixture]:
    """Games by number. With `swap` two in a row share opening and luck, and the players change seats.

    Luck comes from seed, game, opponent, opening and pair, never from the player under test: all players meet the
    same luck, so their results can be compared pair by pair.
    """
    found = []
    for number in numbers:
        pair = number // 2 if swap else number
        opening = lines[pair % len(lines)] if lines else ()
        key = repr((seed, str(game), opponent, opening, pair)).encode()
        luck, first, second = (
            int.from_bytes(hashlib.sha256(key + seat).digest()[:8], "little") >> 1 for seat in (b"", b" 1", b" 2")
        )
        found.append(Fixture(number, pair, not (swap and number % 2), opening, luck, (first, second)))
    return found


class Referee:
    """Plays games of two players to the end, whatever they do."""

    def __init__(self, game: Game, players: Sequence[Player], rules: Rules, move_rows: bool = False):
        """`move_rows` keeps what each move was chosen by; such games are played move by move."""
        self.game, self.players, self.rules, self.move_rows = game, players, rules, move_rows
        self.limit = rules.move_seconds
        self.cap = min(rules.max_plies or game.longest or MOST_PLIES, game.longest or sys.maxsize)
        self.repeats = (rules.repetition or 0) if game.longest is None else 0
        self.texts = [game.write(code) for code in range(game.codes)]
        self.rows: list[tuple[Any, ...]] = []
        self.counts = type(game).score is not Game.score
        self.start = game.start()
        self.start.after(self.start.codes()[0])  # compiles the rules here, not on a player's clock
        self._open_log()

    def _open_log(self, plies: int = 0, shared: bool = False) -> None:
        """The words in which the game so far stands, for whoever is left when a player takes the process down."""
        self.log = sandbox.log_of(MOVES - sandbox.OWN + max(plies, self.cap), shared)
        self.whole: WholeGame | None = None
        known = all(map(ours, (self.game, *self.players))) and not self.move_rows
        if known and not (self.repeats and self.cap > LONGEST):
            self.whole = WholeGame(self.game, self.cap, self.repeats, self.limit, self.log)

    @property
    def trusted(self) -> bool:
        """No code of the user's own is in play, and what is can be stopped between two slices: no sandbox is needed."""
        natives = [player.native() for player in self.players] if self.whole else [None]
        room = (self.rules.megabytes or math.inf) * 2**20
        return all(native is not None and not native.own and native.memory < room for native in natives)

    def games(self, schedule: Sequence[Fixture], guarded: bool) -> Iterator[Record]:
        """Every game of a schedule; guarded ones are played in a child process that may die."""
        self._open_log(max((len(fixture.opening) for fixture in schedule), default=0), shared=guarded)
        if not guarded:
            yield from map(self.play, schedule)
            return
        rows = sandbox.guarded(
            len(schedule),
            lambda i: tuple(self.play(schedule[i])),
            lambda i, label, note: tuple(self._record(schedule[i], None, label, note)),
            self.log,
            self.limit,
            self.rules.megabytes,
        )
        yield from (Record(*row) for row in rows)

    def play(self, fixture: Fixture) -> Record:
        """One game."""
        log, started = self.log, monotonic_ns()
        players = self.players if fixture.player_first else self.players[::-1]
        log[MOVER], log[PLIES], log[NODES], log[NODES + 1] = 1, 0, 0, 0
        end, label, note, self.rows = None, "", "", []
        try:
            position = self.start
            for code in fixture.opening:
                position = position.after(code)
                self._write(code)
            for seat in (1, 2):
                log[MOVER], log[STARTED] = seat, monotonic_ns()
                players[seat - 1].begin(self.game, fixture.seeds[seat - 1])
            natives = [native for player in players if (native := player.native())] if self.whole else []
            if position.winner is not None:
                end = position
            elif log[PLIES] >= self.cap:
                end, label = position, "cap"
            elif len(natives) == 2:
                end, label, note = self._at_once(position, natives)
            else:
                end, label, note = self._by_moves(position, players)
        except MoveError as error:
            label, note = "illegal", _short(str(error))
        except MemoryError:
            label, note, log[RENEW] = "memory", "MemoryError", 1
        except (Exception, SystemExit) as error:
            label, note = "crash", _short(f"{type(error).__name__}: {error}")
        except KeyboardInterrupt:
            if not log[WATCHED]:
                raise
            label, note = "crash", "KeyboardInterrupt"
        record = self._record(fixture, end, label, note, (monotonic_ns() - started) / 1e9)
        for seat, player in enumerate(players, 1):
            log[MOVER], log[STARTED] = seat, monotonic_ns()
            try:  # noqa: SIM105  (a `with` costs as much as a move)
                player.close()
            except (Exception, SystemExit):  # the game is over; what a player does on leaving changes nothing
                pass
        log[STARTED] = 0
        return record

    def _by_moves(self, position: Position, players: Sequence[Player]) -> Ended:
        """Ask for one move after the other."""
        log, limit, seen = self.log, self.limit, Counter[bytes]()
        asked: list[Any] = [player.choose if self.move_rows else player.pick for player in players]
        strange = [isinstance(player, Function) or not ours(player) for player in players]
        copies: tuple[list[Position], list[Position]] = [], []
        while True:
            seat = position.turn
            log[MOVER], log[CREDIT] = seat, 0
            log[STARTED] = started = monotonic_ns()
            answer = asked[seat - 1](_shown(position, copies[seat - 1]) if strange[seat - 1] else position)
            if limit and monotonic_ns() - started > limit * 1e9 and sandbox.overdue(log, limit):
                return position, "timeout", "answered after the limit"
            if strange[seat - 1] and log[WATCHED]:
                sandbox.leave_if_cut_off(log)
            code = answer.code if self.move_rows else answer
            if type(code) is not int or code not in position.codes():
                return position, "illegal", _short(f"{code!r} is not a legal move")
            if self.move_rows:
                self.rows.append(self._evidence(position, answer))
            log[STARTED] = 0
            position = position.after(code)
            self._write(code)
            log[NODES + seat - 1] = players[seat - 1].nodes
            if position.winner is not None:
                return position, "", ""
            if self.repeats:
                key = position.key
                seen[key] += 1
                if seen[key] == self.repeats:
                    return position, "repetition", ""
            if log[PLIES] >= self.cap:
                return position, "cap", ""

    def _at_once(self, position: Position, natives: Sequence[Native]) -> Ended:
        """The same in compiled code, for players that allow it."""
        game, limit, watched = self.whole, self.limit or math.inf, self.log[WATCHED]
        assert game is not None
        plies, clock = self.log[PLIES], thread_time()
        with contextlib.ExitStack() as held:
            for native in natives:
                if native.engine is not None:
                    held.enter_context(native.engine.held())
            game.start(position, natives)
            while True:
                result = game.play()
                if result in ENDED:
                    return game.position(result), ENDED[result], ""
                if watched:
                    if result == whole_game.LATE and sandbox.overdue(self.log, limit):
                        return game.position(result), "timeout", "answered after the limit"
                elif self.log[PLIES] > plies:
                    plies, clock = self.log[PLIES], thread_time()
                elif thread_time() - clock > limit:  # nobody looks on: its own time counts, not a suspension
                    return game.position(result), "timeout", "no answer within the limit"

    def _write(self, code: int) -> None:
        log = self.log
        plies = log[PLIES]
        log[MOVES + plies] = code
        log[PLIES] = plies + 1

    def _evidence(self, position: Position, choice: Any) -> tuple[Any, ...]:
        """What a move was chosen by, as plain values."""
        expected = _short(choice.line[1]) if len(choice.line) > 1 else ""
        value = None if choice.value is None else float(choice.value)
        generated, stopped_by = int(choice.counters.get("generated", 0)), _short(choice.stopped_by)
        move, reached, seconds = self.texts[choice.code], int(choice.depth), float(choice.seconds)
        return position.ply, position.turn, move, value, reached, generated, stopped_by, expected, seconds

    def _record(self, fixture: Fixture, end: Position | None, label: str, note: str, elapsed: float = 0.0) -> Record:
        """What happened, from the log; without a position to end at, the one that the log leads to."""
        log, opening = self.log, len(fixture.opening)
        codes = log[MOVES : MOVES + log[PLIES]].tolist()
        if end is None:
            end = self.start
            for code in codes:
                end = end.after(code)
        if not label:
            winner, label = end.winner or 0, "win" if end.winner else "draw"
        else:
            winner = 3 - log[MOVER] if label in FORFEITS else 0
        nodes, totals = (log[NODES], log[NODES + 1]), (self.counts and self.game.score(end.record)) or (None, None)
        if not fixture.player_first:
            nodes, totals = nodes[::-1], totals[::-1]
        texts = [self.texts[code] for code in codes]
        played = self.game.join(texts[:opening]), opening, len(codes), winner, label, *nodes, *totals
        told = fixture.luck, self.game.join(texts), note, elapsed, tuple(self.rows)
        return Record._make((*fixture[:3], *played, *told))


def _shown(position: Position, copies: list[Position]) -> Position:
    """The game as a stranger sees it: copies, ply by ply, so that what it writes into them stays with it."""
    missing = [position]
    while len(missing) + len(copies) <= position.ply and missing[-1].parent is not None:
        missing.append(missing[-1].parent)
    for one in reversed(missing):
        copied = one.copy()
        copied.parent = copies[-1] if copies else None
        copies.append(copied)
    return copies[-1]


def ours(thing: Any) -> bool:
    """Whether a game or player is of this package, not of the user's own making."""
    return type(thing).__module__.startswith("gamekit.")


def _short(text: str) -> str:
    """One line of at most 200 characters, without addresses: the same in every run; always text that can be stored."""
    text = re.sub(r"0x[0-9a-fA-F]+", "0x…", " ".join(text.split()))[:200]
    return text.encode("utf-8", "replace").decode("utf-8")


def two_players(first: Any, second: Any, game: Game) -> tuple[Player, Player]:
    """Two players that share nothing, even when one object was given twice, and that fit the game."""
    pair = player_of(first), player_of(second)
    if pair[0] is pair[1]:
        pair = pair[0], copy.copy(pair[1])
    for one in pair:
        make_ready(one, game)
    return pair


def make_ready(player: Player, game: Game) -> None:
    """Refuse a player that does not fit the game, and compile what it needs, before any game is played.

    Players from outside the package are not touched: what they do must stay in a guarded process.
    """
    if ours(player):
        player.begin(game, 0)
        player.close()
