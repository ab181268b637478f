"""One game, one match → records: who plays whom from where, legality, clock, repetition, cap, forfeits."""

from __future__ import annotations

import copy
import hashlib
import html
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import Any, NamedTuple

from . import guard
from .core import Game, MoveError, Position
from .engine import kernel, montecarlo
from .games import game as game_of
from .guard import CREDIT, OWN, RENEW, STARTED, WATCHED
from .openings import Opening, openings, read_openings
from .players import FlatMonteCarlo, Player, SearchPlayer
from .players import player as player_of
from .specs import Param
from .stats import SPRT, wilson

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
        start = game.start()
        start.after(start.codes()[0])  # compiles the rules here, not on a player's clock

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
        position, label, note = game.start(), "", ""
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
        position = self.game.start()
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


# ------------------------------------------------------------------------------ one game


@dataclass(frozen=True)
class Played:
    """One game with all there is to know about it; `to_dict` is what `gamekit play --json` prints."""

    game: Game
    players: tuple[str, str]
    moves: list[str]
    winner: int
    termination: str
    score: tuple[float, float] | None
    nodes: tuple[int, int]
    final: Position
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        score = None if self.score is None else list(self.score)
        return {"game": str(self.game), "players": list(self.players), "moves": self.moves, "winner": self.winner,
                "termination": self.termination, "score": score, "nodes": list(self.nodes), "final": str(self.final)}

    def __str__(self) -> str:
        end = {0: "nobody wins"}.get(self.winner) or f"{self.game.players[self.winner - 1]} wins"
        lines = [f"{self.game}: {self.players[0]} against {self.players[1]}", self.game.join(self.moves),
                 str(self.final), f"{end} ({self.termination}) after {len(self.moves)} moves"]
        if self.note:
            lines.append(self.note)
        if self.score is not None:
            lines.append(f"score {self.score[0]:g} : {self.score[1]:g}")
        return "\n".join([*lines, f"nodes {self.nodes[0]} and {self.nodes[1]}"])

    def _repr_svg_(self) -> str | None:
        return self.final._repr_svg_()


def play_game(game: str | Game, first: Any, second: Any, seed: int = 0, moves: str | Sequence[str] = (),
              cap: int | None = None, limit: float | None = None) -> Played:
    """Let two players play one game, the first of them moving first; `moves` is a line to start from."""
    board = game_of(game)
    cap, limit = _check(seed=seed, cap=cap, limit=limit)
    opening = _line(board, moves)
    pair = two_players(first, second, board)
    referee = Referee(board, pair, cap and max(cap, len(opening)), limit)
    schedule = [fixtures(root_seed(seed, board, *pair), [opening], range(1))[0]]
    record = next(iter(referee.games(schedule, guarded=limit is not None)))
    texts = board.split(record.moves)
    final = board.replay(texts)
    score = None if record.score1 is None or record.score2 is None else (record.score1, record.score2)
    return Played(board, (pair[0].spec, pair[1].spec), texts, record.winner, record.termination, score,
                  (record.nodes1, record.nodes2), final, record.note)


def _line(game: Game, moves: str | Sequence[str]) -> Opening:
    position, codes = game.start(), []
    for move in game.split(moves) if isinstance(moves, str) else moves:
        codes.append(position.code(move))
        position = position.after(codes[-1])
    return tuple(codes)


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


PARAMS = {
    "games": Param(100, "games to play", 1, 10_000_000), "seed": Param(0, "where all chance comes from", 0, 2**63 - 1),
    "cap": Param(CAP, "plies after which a game without end is stopped", 1, 100_000),
    "limit": Param(60.0, "seconds a move may take", 0.001, 86_400), "openings": Param(0, "openings", 0, 100_000),
}


def _check(seed: int, cap: int | None, limit: float | None) -> tuple[int | None, float | None]:
    PARAMS["seed"].check("match", "seed", seed)
    return (None if cap is None else PARAMS["cap"].check("match", "cap", cap),
            None if limit is None else PARAMS["limit"].check("match", "limit", limit))


def opening_lines(game: Game, wanted: int | Sequence[str] | None, seed: int, games: int,
                  owner: str = "match") -> list[Opening]:
    """The openings a match or sweep plays: so many at random from the seed, or the lines given."""
    if wanted is None or isinstance(wanted, (int, float)):
        count = PARAMS["openings"].check(owner, "openings", wanted or 0)
        return openings(game, min(count, -(-games // 2)), seed) if count else []
    return read_openings(game, [wanted] if isinstance(wanted, str) else wanted)


# ----------------------------------------------------------------------------- one match


@dataclass
class Match:
    """The result of a match. Wins and nodes are by player as named, whoever moved first."""

    game: str
    players: tuple[str, str]
    deterministic: bool
    records: list[Record] = field(default_factory=list)
    sprt: SPRT | None = None

    @property
    def games(self) -> int:
        return len(self.records)

    @property
    def wins(self) -> tuple[int, int]:
        return sum(r.winner == 1 for r in self.records), sum(r.winner == 2 for r in self.records)

    @property
    def draws(self) -> int:
        return self.games - sum(self.wins)

    @property
    def distinct(self) -> int:
        """How many different games were played."""
        return len({r.moves for r in self.records})

    @property
    def terminations(self) -> dict[str, int]:
        counts = Counter(r.termination for r in self.records)
        return {label: counts[label] for label in TERMINATIONS if counts[label]}

    @property
    def replayed(self) -> bool:
        """Deterministic players repeated themselves: the games are no independent samples."""
        return self.deterministic and self.distinct < self.games

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's interval of the first player's win rate; none where the games are not independent."""
        return None if self.replayed else wilson(self.wins[0], self.games)

    @property
    def turns(self) -> float:
        """Mean length of a game in plies."""
        return sum(r.plies for r in self.records) / max(self.games, 1)

    @property
    def nodes(self) -> tuple[int, int]:
        return sum(r.nodes1 for r in self.records), sum(r.nodes2 for r in self.records)

    @property
    def warning(self) -> str | None:
        if not self.replayed:
            return None
        return (f"both players are deterministic: {self.games} games were played, distinct games = {self.distinct}; "
                "they are not independent, so no interval is given (use openings=N to vary the start)")

    def to_dict(self) -> dict[str, Any]:
        """What `gamekit match --json` prints."""
        found = {"game": self.game, "players": list(self.players), "games": self.games, "wins": list(self.wins),
                 "draws": self.draws, "distinct": self.distinct, "terminations": self.terminations,
                 "interval": None if self.interval is None else list(self.interval), "turns": self.turns,
                 "nodes": list(self.nodes), "warning": self.warning}
        return found | ({"sprt": self.sprt.to_dict()} if self.sprt else {})

    def rows(self) -> list[tuple[str, str]]:
        """The result as lines of a table."""
        share = f"{self.wins[0] / max(self.games, 1):.1%}"
        if self.interval:
            share += f" (95 %: {self.interval[0]:.1%} – {self.interval[1]:.1%})"
        rows = [("game", self.game), ("player 1", self.players[0]), ("player 2", self.players[1]),
                ("games", f"{self.games}, distinct games = {self.distinct}"),
                ("wins of player 1", f"{self.wins[0]} = {share}"), ("wins of player 2", str(self.wins[1])),
                ("draws", str(self.draws)),
                ("ended by", ", ".join(f"{label} {count}" for label, count in self.terminations.items())),
                ("mean plies", f"{self.turns:.1f}"), ("nodes", f"{self.nodes[0]} and {self.nodes[1]}")]
        if self.sprt:
            low, high = self.sprt.bounds
            rows.append(("sprt", f"elo0 {self.sprt.elo0:g}, elo1 {self.sprt.elo1:g}: "
                         + (f"{self.sprt.decision} accepted" if self.sprt.decision else "not decided")
                         + f" (llr {self.sprt.llr:.2f}, bounds {low:.2f} {high:.2f})"))
        if self.warning:
            rows.append(("warning", self.warning))
        return rows

    def __str__(self) -> str:
        return "\n".join(f"{name:17} {text}" for name, text in self.rows())

    def _repr_html_(self) -> str:
        cells = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>"
                        for name, text in self.rows())
        return f"<table>{cells}</table>"


def match(game: str | Game, first: Any, second: Any, games: int = 100, openings: int | Sequence[str] | None = None,
          seed: int = 0, cap: int | None = None, limit: float | None = None, memory: int | None = MEMORY,
          swap: bool = True, sprt: tuple[float, float] | SPRT | None = None,
          progress: Callable[[Record], Any] | None = None) -> Match:
    """Play a match. Colours swap every other game; with `openings` each is played from both sides.

    `limit` is in seconds a move: whoever takes longer, or never answers, loses the game. With `sprt=(elo0, elo1)`
    the match ends as soon as that is decided, after `games` at the latest.

    >>> import gamekit as gk
    >>> result = gk.match("mnk", "random", "leftmost", games=20, seed=1)
    >>> sum(result.wins) + result.draws
    20
    """
    board = game_of(game)
    games = PARAMS["games"].check("match", "games", games)
    cap, limit = _check(seed=seed, cap=cap, limit=limit)
    pair = two_players(first, second, board)
    lines = opening_lines(board, openings, seed, games)
    test = SPRT(*sprt) if isinstance(sprt, (tuple, list)) else sprt
    result = Match(str(board), (pair[0].spec, pair[1].spec), pair[0].deterministic and pair[1].deterministic, sprt=test)
    referee = Referee(board, pair, cap, limit, memory)
    for record in referee.games(fixtures(root_seed(seed, board, *pair), lines, range(games), swap), limit is not None):
        result.records.append(record)
        if progress:
            progress(record)
        if test and test.add({1: 1.0, 2: 0.0}.get(record.winner, 0.5)):
            break
    return result


__all__ = ["FORFEITS", "TERMINATIONS", "Fixture", "Match", "Played", "Record", "Referee", "fixtures",
           "match", "play_game"]
