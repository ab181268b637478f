"""One match, or one game, → records: who meets whom from where, and what came of it."""

from __future__ import annotations

import html
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .core import Game, Position
from .games import game as game_of
from .openings import Opening, openings, read_openings
from .referee import CAP, MEMORY, TERMINATIONS, Record, Referee, fixtures, root_seed, two_players
from .specs import Param
from .stats import SPRT, wilson

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
          progress: bool = False) -> Match:
    """Play a match. Colours swap every other game; with `openings` each is played from both sides.

    `limit` is in seconds a move: whoever takes longer, or never answers, loses the game. With `sprt=(elo0, elo1)`
    the match ends as soon as that is decided, after `games` at the latest.

    >>> result = match("mnk", "random", "leftmost", games=20, seed=1)
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
    schedule = fixtures(root_seed(seed, board, *pair), lines, range(games), swap)
    found: Iterable[Record] = referee.games(schedule, guarded=limit is not None)
    if progress and sys.stderr.isatty():
        from tqdm.auto import tqdm

        found = tqdm(found, total=games, unit="game")
    for record in found:
        result.records.append(record)
        if test and test.add({1: 1.0, 2: 0.0}.get(record.winner, 0.5)):
            break
    return result
