"""One game of two players, with all there is to know about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core import Game, Position
from ..games import game as game_of
from .openings import Opening
from .referee import RULES, Referee, Rules, fixtures, two_players


@dataclass(frozen=True)
class Played:
    """One game; `to_dict` is what `gamekit play --json` prints."""

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
        """The game as plain values."""
        score = None if self.score is None else list(self.score)
        return {
            "game": str(self.game),
            "players": list(self.players),
            "moves": self.moves,
            "winner": self.winner,
            "termination": self.termination,
            "score": score,
            "nodes": list(self.nodes),
            "final": str(self.final),
        }

    def __str__(self) -> str:
        end = {0: "nobody wins"}.get(self.winner) or f"{self.game.players[self.winner - 1]} wins"
        lines = [
            f"{self.game}: {self.players[0]} against {self.players[1]}",
            self.game.join(self.moves),
            str(self.final),
            f"{end} ({self.termination}) after {len(self.moves)} moves",
        ]
        if self.note:
            lines.append(self.note)
        if self.score is not None:
            lines.append(f"score {self.score[0]:g} : {self.score[1]:g}")
        return "\n".join([*lines, f"nodes {self.nodes[0]} and {self.nodes[1]}"])

    def _repr_svg_(self) -> str | None:
        return self.final._repr_svg_()


def play_game(
    game: str | Game,
    first: Any,
    second: Any,
    seed: int = 0,
    moves: str | Sequence[str] = (),
    repetition: int | None = 3,
    max_plies: int | None = None,
    move_seconds: float | None = None,
) -> Played:
    """Let two players play one game, the first of them moving first.

    Args:
        game: a game or its spec.
        first: the player who moves first: a spec, a player or a function of a position.
        second: the other player.
        seed: random seed.
        moves: a line of moves to start from.
        repetition: a position seen this often ends a game that has no bound of its own; None: never.
        max_plies: plies after which a game is stopped (default: the game's longest, or 500).
        move_seconds: a player who takes longer forfeits; None: no limit.

    Returns:
        The game: moves, winner, termination, score, nodes, final position.
    """
    board = game_of(game)
    seed = RULES["seed"].check("play", "seed", seed)
    opening = _line(board, moves)
    most = None if max_plies is None else max(RULES["max_plies"].check("play", "max_plies", max_plies), len(opening))
    rules = Rules.checked("play", repetition=repetition, max_plies=most, move_seconds=move_seconds)
    pair = two_players(first, second, board)
    referee = Referee(board, pair, rules)
    schedule = fixtures(seed, board, "", [opening], range(1))
    record = next(iter(referee.games(schedule, guarded=move_seconds is not None)))
    texts = board.split(record.moves)
    score = None if record.score is None or record.opponent_score is None else (record.score, record.opponent_score)
    return Played(
        board,
        (pair[0].spec, pair[1].spec),
        texts,
        record.winner,
        record.termination,
        score,
        (record.generated, record.opponent_generated),
        board.replay(texts),
        record.note,
    )


def _line(game: Game, moves: str | Sequence[str]) -> Opening:
    position, codes = game.start(), []
    for move in game.split(moves) if isinstance(moves, str) else moves:
        codes.append(position.code(move))
        position = position.after(codes[-1])
    return tuple(codes)
