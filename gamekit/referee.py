"""The referee plays one game of two players to its end, whatever they do, and writes the record."""

from __future__ import annotations

import copy
import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from time import monotonic_ns
from typing import Any, NamedTuple

from . import guard
from .core import Game, MoveError, Position
from .engine import kernel, montecarlo
from .guard import CREDIT, OWN, RENEW, STARTED, WATCHED
from .openings import Opening
from .players import FlatMonteCarlo, Player, SearchPlayer
from .players import player as player_of

TERMINATIONS = ("win", "draw", "repetition", "cap", "timeout", "illegal", "crash", "memory")
FORFEITS = TERMINATIONS[4:]  # the player to blame loses
UNDECIDED = ("repetition", "cap")  # no player's doing; win rates are given with and without them
CAP = 500  # plies, for a game that has no bound of its own
REPEATS = 3  # a position seen this often ends a game without bound
MEMORY = 2048  # megabytes a guarded player may take
MOVER, PLIES, NODES, MOVES = OWN, OWN + 1, OWN + 2, OWN + 4  # a game's words in the log


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
        self.cap = cap or game.longest or CAP
        self.texts = [game.write(code) for code in range(game.codes)]
        self.counts = type(game).score is not Game.score
        self.log = guard.log_of(MOVES - OWN + self.cap)
        self.start = game.start()
        self.start.after(self.start.codes()[0])  # compiles the rules here, not on a player's clock

    def games(self, schedule: Sequence[Fixture], guarded: bool) -> Iterator[Record]:
        """Every game of a schedule; guarded ones are played in a child process that may die."""
        if not guarded or not hasattr(os, "fork"):
            yield from map(self.play, schedule)
            return
        self.log = guard.log_of(MOVES - OWN + self.cap, shared=True)
        for row in guard.guarded(range(len(schedule)), lambda i: tuple(self.play(schedule[i])),
                                 lambda i, label, note: tuple(self.lost(schedule[i], label, note)),
                                 self.log, self.limit, self.memory):
            yield Record(*row)

    def play(self, fixture: Fixture) -> Record:
        """One game."""
        game, log, limit, cap = self.game, self.log, self.limit, self.cap
        players = self.players if fixture.first == 1 else self.players[::-1]
        seeds = fixture.seeds if fixture.first == 1 else fixture.seeds[::-1]
        log[PLIES], log[NODES], log[NODES + 1] = 0, 0, 0
        position, label, note = self.start, "", ""
        codes: list[int] = []
        seen: Counter[bytes] | None = Counter() if game.longest is None else None
        try:
            for code in fixture.opening:
                position = position.after(code)
                self._write(codes, code)
            for seat in (1, 2):
                log[MOVER], log[STARTED] = seat, monotonic_ns()
                players[seat - 1].begin(game, seeds[seat - 1])
            picks = (players[0].pick, players[1].pick)
            while position.winner is None:
                seat = position.turn
                log[MOVER], log[CREDIT] = seat, 0
                log[STARTED] = started = monotonic_ns()
                code = picks[seat - 1](position)
                log[STARTED] = 0
                if limit and monotonic_ns() - started > limit * 1e9 and guard.overdue(log, limit, started):
                    label, note = "timeout", "answered after the limit"
                    break
                if type(code) is not int or code not in position.codes():
                    label, note = "illegal", _short(f"{code!r} is not a legal move")
                    break
                position = position.after(code)
                self._write(codes, code)
                log[NODES + seat - 1] = players[seat - 1].nodes
                if position.winner is not None:
                    break
                if seen is not None:
                    key = position.key
                    seen[key] += 1
                    if seen[key] == REPEATS:
                        label = "repetition"
                        break
                if len(codes) >= cap:
                    label = "cap"
                    break
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
        return self._record(fixture, position, codes, label, note)

    def _write(self, codes: list[int], code: int) -> None:
        self.log[MOVES + len(codes)] = code
        codes.append(code)
        self.log[PLIES] = len(codes)

    def lost(self, fixture: Fixture, label: str, note: str) -> Record:
        """The record of a game whose process is gone, from the log."""
        codes = list(self.log[MOVES : MOVES + self.log[PLIES]])
        position = self.start
        for code in codes:
            position = position.after(code)
        return self._record(fixture, position, codes, label, note)

    def _record(self, fixture: Fixture, position: Position, codes: list[int], label: str, note: str) -> Record:
        log, first = self.log, fixture.first
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
    if type(player).__module__.startswith(f"{__package__}."):
        player.begin(game, 0)
        player.close()
        if isinstance(player, FlatMonteCarlo):
            assert (montecarlo.grow if player.tree else montecarlo.flat).address
        elif isinstance(player, SearchPlayer):
            assert kernel.search.address
