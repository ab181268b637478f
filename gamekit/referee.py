"""The referee plays one game of two players to its end, whatever they do, and writes the record."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from time import monotonic_ns, thread_time
from typing import Any, NamedTuple

import numpy as np

from . import guard
from .core import Game, MoveError, Position
from .engine import duel
from .engine.duel import Duel, Mind
from .guard import CREDIT, OWN, RENEW, STARTED, WATCHED
from .openings import Opening
from .players import Player
from .players import player as player_of

TERMINATIONS = ("win", "draw", "repetition", "cap", "timeout", "illegal", "crash", "memory")
FORFEITS = TERMINATIONS[4:]  # the player to blame loses
UNDECIDED = ("repetition", "cap")  # no player's doing; win rates are given with and without them
CAP = 500  # plies, for a game that has no bound of its own
REPEATS = 3  # a position seen this often ends a game without bound
MEMORY = 2048  # megabytes a guarded player may take
MOVER, PLIES, NODES, MOVES = (OWN + word for word in (duel.MOVER, duel.PLIES, duel.NODES_OF, duel.MOVES))  # in the log
ENDED = {duel.OVER: "", duel.REPEATED: "repetition", duel.CAPPED: "cap"}
LONGEST = 10_000  # plies of a game that may be played in one call, where each position is compared with all before


class Fixture(NamedTuple):
    """A game to be played: its number, which of the two named players moves first, opening, a seed for each."""

    number: int
    first: int
    opening: Opening
    seeds: tuple[int, int]


class Record(NamedTuple):
    """A game that was played. Players are 1 and 2 as named in the match, whoever moved first."""

    number: int
    first: int
    winner: int  # 0: nobody
    termination: str
    opening: int  # plies that were given
    plies: int
    moves: str
    nodes1: int
    nodes2: int
    score1: float | None
    score2: float | None
    note: str  # of a forfeit: what the player did


def root_seed(seed: int, game: Game, first: Player, second: Player) -> str:
    """What every seed of these two players' games is derived from: never from order, workers or restarts."""
    return f"{seed} {game} {first.spec} {second.spec}"


def fixtures(root: str, lines: Sequence[Opening], numbers: range, swap: bool = True) -> list[Fixture]:
    """The games by number: two in a row share an opening, and with `swap` change who moves first."""
    found = []
    for number in numbers:
        digest = hashlib.sha256(f"{root} {number}".encode()).digest()
        seeds = (int.from_bytes(digest[:8], "little") >> 1, int.from_bytes(digest[8:16], "little") >> 1)
        opening = lines[number // 2 % len(lines)] if lines else ()
        found.append(Fixture(number, 2 if swap and number % 2 else 1, opening, seeds))
    return found


class Referee:
    """Plays games of two players to the end, whatever they do, and writes the record."""

    def __init__(self, game: Game, players: Sequence[Player], cap: int | None = None, limit: float | None = None,
                 memory: int | None = MEMORY):
        self.game, self.players, self.limit, self.memory = game, players, limit, memory
        self.cap = min(cap or game.longest or CAP, game.longest or sys.maxsize)
        self.texts = [game.write(code) for code in range(game.codes)]
        self.counts = type(game).score is not Game.score
        self.repeats = REPEATS if game.longest is None else 0
        self.start = game.start()
        self.start.after(self.start.codes()[0])  # compiles the rules here, not on a player's clock
        self._open_log()

    def _open_log(self, plies: int = 0, shared: bool = False) -> None:
        """The words in which the game so far stands, for whoever is left when a player takes the process down."""
        self.log = guard.log_of(MOVES - OWN + max(plies, self.cap), shared)
        words = np.frombuffer(self.log, np.int64)
        known = all(map(ours, (self.game, *self.players)))
        self.duel = (Duel(self.game, self.cap, self.repeats, self.limit, words[STARTED : CREDIT + 1], words[OWN:])
                     if known and not (self.repeats and self.cap > LONGEST) else None)

    @property
    def trusted(self) -> bool:
        """No code of the user's own is in play, and what is can be stopped between two slices: no guard is needed."""
        minds = [player.mind() for player in self.players] if self.duel else [None]
        room = (self.memory or math.inf) * 2**20
        return all(mind is not None and not mind.own and mind.memory < room for mind in minds)

    def games(self, schedule: Sequence[Fixture], guarded: bool) -> Iterator[Record]:
        """Every game of a schedule; guarded ones are played in a child process that may die."""
        guarded = guarded and hasattr(os, "fork")
        self._open_log(max((len(fixture.opening) for fixture in schedule), default=0), shared=guarded)
        if not guarded:
            yield from map(self.play, schedule)
            return
        for row in guard.guarded(range(len(schedule)), lambda i: tuple(self.play(schedule[i])),
                                 lambda i, label, note: tuple(self.lost(schedule[i], label, note)),
                                 self.log, self.limit, self.memory):
            yield Record(*row)

    def play(self, fixture: Fixture) -> Record:
        """One game."""
        log = self.log
        players = self.players if fixture.first == 1 else self.players[::-1]
        seeds = fixture.seeds if fixture.first == 1 else fixture.seeds[::-1]
        log[MOVER], log[PLIES], log[NODES], log[NODES + 1] = 1, 0, 0, 0
        end, label, note = None, "", ""
        try:
            position = self.start
            for code in fixture.opening:
                position = position.after(code)
                self._write(code)
            for seat in (1, 2):
                log[MOVER], log[STARTED] = seat, monotonic_ns()
                players[seat - 1].begin(self.game, seeds[seat - 1])
            minds = [mind for player in players if (mind := player.mind())] if self.duel else []
            if position.winner is not None:
                end = position
            elif log[PLIES] >= self.cap:
                end, label = position, "cap"
            elif len(minds) == 2:
                end, label, note = self._at_once(position, minds)
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
        log[STARTED] = 0
        for player in players:
            try:
                player.close()
            except Exception:
                continue  # the game is over; what a player does on leaving changes nothing
        return self._record(fixture, end, label, note) if end else self.lost(fixture, label, note)

    def _by_moves(self, position: Position, players: Sequence[Player]) -> tuple[Position, str, str]:
        """Ask for one move after the other; where the game ended, the label unless it was won or drawn, a note."""
        log, limit, picks = self.log, self.limit, (players[0].pick, players[1].pick)
        seen: Counter[bytes] = Counter()
        while True:
            seat = position.turn
            log[MOVER], log[CREDIT] = seat, 0
            log[STARTED] = started = monotonic_ns()
            code = picks[seat - 1](position)
            log[STARTED] = 0
            if limit and monotonic_ns() - started > limit * 1e9 and guard.overdue(log, limit, started):
                return position, "timeout", "answered after the limit"
            if type(code) is not int or code not in position.codes():
                return position, "illegal", _short(f"{code!r} is not a legal move")
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

    def _at_once(self, position: Position, minds: Sequence[Mind]) -> tuple[Position, str, str]:
        """The same in compiled code, for players that allow it."""
        game, limit, watched = self.duel, self.limit or math.inf, self.log[WATCHED]
        assert game is not None
        plies, clock = self.log[PLIES], thread_time()
        with contextlib.ExitStack() as held:
            for mind in minds:
                if mind.engine is not None:
                    held.enter_context(mind.engine.held())
            game.start(position, minds)
            while True:
                result = game.play()
                if result in ENDED:
                    return game.position(result), ENDED[result], ""
                if watched:
                    if result == duel.LATE and guard.overdue(self.log, limit, game.began):
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

    def lost(self, fixture: Fixture, label: str, note: str) -> Record:
        """The record of a game whose players or process failed, from the log."""
        position = self.start
        for code in self.log[MOVES : MOVES + self.log[PLIES]]:
            position = position.after(code)
        return self._record(fixture, position, label, note)

    def _record(self, fixture: Fixture, position: Position, label: str, note: str) -> Record:
        log, first = self.log, fixture.first
        codes = log[MOVES : MOVES + log[PLIES]].tolist()
        if not label:
            winner, label = position.winner or 0, "win" if position.winner else "draw"
        else:
            winner = 3 - log[MOVER] if label in FORFEITS else 0
        score = self.game.score(position.record) if self.counts else None
        nodes, totals = (log[NODES], log[NODES + 1]), score or (None, None)
        if first == 2:
            winner, nodes, totals = (0, 2, 1)[winner], nodes[::-1], totals[::-1]
        moves = self.game.join(map(self.texts.__getitem__, codes))
        return Record(fixture.number, first, winner, label, len(fixture.opening), len(codes), moves,
                      nodes[0], nodes[1], totals[0], totals[1], note)


def ours(thing: Any) -> bool:
    """Whether a game or player is of this package, not of the user's own making."""
    return type(thing).__module__.startswith(f"{__package__}.")


def _short(text: str) -> str:
    """One line of at most 200 characters, without addresses: the same in every run."""
    return re.sub(r"0x[0-9a-fA-F]+", "0x…", " ".join(text.split()))[:200]


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
