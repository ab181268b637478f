"""One game of two players, with all there is to know about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core import Game, Position
from ..games import game as game_of
from .openings import codes_of
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
        return {
            "game": str(self.game),
            "players": list(self.players),
            "moves": self.moves,
            "winner": self.winner,
            "termination": self.termination,
            "score": self.score and list(self.score),
            "nodes": list(self.nodes),
            "final": str(self.final),
        }

    def __str__(self) -> str:
        end = f"{self.game.players[self.winner - 1]} wins" if self.winner else "nobody wins"
        lines = [
            f"{self.game}: {self.players[0]} against {self.players[1]}",
            self.game.join(self.moves),
            str(self.final),
            f"{end} ({self.termination}) after {len(self.moves)} moves",
            self.note,
            f"score {self.score[0]:g} : {self.score[1]:g}" if self.score else "",
            f"nodes {self.nodes[0]} and {self.nodes[1]}",
        ]
        return "\n".join(line for line in lines if line)

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
    opening = codes_of(board.replay(moves))
    rules = Rules.checked("play", repetition=repetition, max_plies=max_plies, move_seconds=move_seconds)
    pair = two_players(first, second, board)
    schedule = fixtures(RULES["seed"].check("play", "seed", seed), board, "", [opening], range(1))
    (told,) = Referee(board, pair, rules).games(schedule, guarded=move_seconds is not None)
    texts = board.split(told.moves)
    score = None if told.score is None or told.opponent_score is None else (told.score, told.opponent_score)
    return Played(
        game=board,
        players=(pair[0].spec, pair[1].spec),
        moves=texts,
        winner=told.winner,
        termination=told.termination,
        score=score,
        nodes=(told.generated, told.opponent_generated),
        final=board.replay(texts),
        note=told.note,
    )
