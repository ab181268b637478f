"""A recorded game to go through: the evaluation move by move, and where the game is solvable, what each move lost."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..core import Game, Position
from ..drawing import signed, svg, value_text
from ..errors import GamekitError
from ..games import game as game_of
from ..heuristics import Heuristic, heuristic_of
from ..matches.transcripts import read_transcript
from ..solvers.solver import Solver
from .base import Live

Judge = Callable[[Position], Mapping[str, float | None] | None]  # every move's exact value for the mover, where known
WORDS = {1: "win", 0: "draw", -1: "loss"}


@dataclass
class Ply:
    """A move that was played: what the position after it is worth to the first player, and what it lost."""

    move: str
    player: int
    value: float
    exact: dict[str, float | None] | None = None
    verdict: str = ""  # "" fine or unknown, "slower", or "lost value"
    remark: str = ""

    def judge(self, values: Mapping[str, float | None]) -> None:
        """Compare the move with the best there was; what the judge could not tell is left open."""
        self.exact = dict(values)
        known = [value for value in values.values() if value is not None]
        mine, best = values.get(self.move), max(known, default=None)
        if best is None or (mine is None and (best <= 0 or len(known) == len(values))):
            return
        good = ", ".join(move for move, value in values.items() if value == best)
        if mine is None:
            self.verdict, self.remark = "lost value", f"misses a forced win: {good}"
        elif _sign(mine) < _sign(best):
            self.verdict = "lost value"
            self.remark = f"turns a {WORDS[_sign(best)]} into a {WORDS[_sign(mine)]}; better: {good}"
        elif mine < best:
            self.verdict, self.remark = "slower", f"{value_text(mine)} where {value_text(best)} was there: {good}"


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def exact(game: Game, seconds: float = 3.0) -> Judge:
    """A judge by the game's solver that stops judging when its time is used up."""
    solver = Solver(game, megabytes=16)
    solver.solve(game.start(), 0.001)  # compiles on first use; that is not the judge's time
    end = time.monotonic() + seconds

    def judge(position: Position) -> Mapping[str, float | None] | None:
        left = end - time.monotonic()
        if left <= 0:
            return None
        # Conga has no bound: a little for every position, and forced wins nearby are found
        return solver.moves(position, left if game.longest else min(left, seconds / 40))

    return judge


def moves_of(record: Any, game: str | Game | None) -> tuple[Game, list[str]]:
    """The game and its moves out of whatever holds them: a played game, a record, a position, a text, a list."""
    board = getattr(record, "game", None) if game is None else game
    if isinstance(record, tuple) and not hasattr(record, "moves") and len(record) == 2 and game is None:
        board, record = record
    if board is None:
        raise GamekitError("whose game is this? give game=, such as game='connect_four'")
    board = game_of(board)
    moves = record.line if isinstance(record, Position) else getattr(record, "moves", record)
    if isinstance(moves, str):
        return board, read_transcript(board, moves)
    if not isinstance(moves, Iterable):
        raise GamekitError(f"a game to review is a record, a position, a transcript or a list of moves, not {record!r}")
    return board, board.replay(list(moves)).line


class Review(Live):
    """A game on its board, a move at a time."""

    script = "review.js"

    def __init__(self, game: Game, moves: list[str], heuristic: Heuristic, judge: Judge | None):
        super().__init__()
        self.game, self.heuristic = game, heuristic
        self.steps = [game.start()]
        self.plies: list[Ply] = []
        for move in moves:
            before = self.steps[-1]
            self.steps.append(before.play(move))
            self.plies.append(Ply(move, before.turn, self._value(self.steps[-1])))
        self.judged = self._judge(judge) if judge else 0
        self.at = len(moves)
        self.show()

    def _value(self, position: Position) -> float:
        if position.winner is not None:
            return {0: 0.0, 1: 1e12, 2: -1e12}[position.winner]
        return self.heuristic.value(position, 1)

    def _judge(self, judge: Judge) -> int:
        """From the end, where judging is easy, backwards; how many moves were judged."""
        count = 0
        for ply, before in zip(reversed(self.plies), reversed(self.steps[:-1]), strict=True):
            values = judge(before)
            if values is None or (self.game.longest and None in values.values()):
                break  # earlier positions are harder still
            ply.judge(values)
            count += any(value is not None for value in values.values())
        return count

    @property
    def lost(self) -> list[int]:
        """The numbers (from 1) of the moves that lost value."""
        return [number for number, ply in enumerate(self.plies, 1) if ply.verdict == "lost value"]

    def __repr__(self) -> str:
        return (
            f"{self.game}: {len(self.plies)} moves, {self.judged} judged exactly, "
            f"{len(self.lost)} of them lost value\n{self.steps[-1]}"
        )

    def _words(self, number: int) -> str:
        """What the position after a move is worth to the first player, in words."""
        return self._status() if self.steps[number].winner is not None else signed(self.plies[number - 1].value)

    def do_at(self, ply: int) -> None:
        self.at = min(max(int(ply), 0), len(self.plies))
        self.show()

    def _status(self) -> str:
        outcome = self.steps[-1].outcome()
        who = self.game.players
        end = "unfinished" if outcome is None else f"{who[outcome.winner - 1]} won" if outcome.winner else "a draw"
        return end + (f", {outcome.score[0]:g} : {outcome.score[1]:g}" if outcome and outcome.score else "")

    def snapshot(self) -> dict[str, Any]:
        plies = [
            {
                "move": p.move,
                "player": p.player,
                "value": p.value,
                "text": self._words(n),
                "verdict": p.verdict,
                "remark": p.remark,
            }
            for n, p in enumerate(self.plies, 1)
        ]
        return {
            "title": str(self.game),
            "svg": svg(self.steps[self.at]),
            "at": self.at,
            "marks": list(self.game.players),
            "plies": plies,
            "bars": self._bars(),
            "by": str(self.heuristic),
            "judged": self.judged,
            "lost": len(self.lost),
            "status": self._status(),
            "kind": self.game.name,
        }

    def _bars(self) -> list[dict[str, Any]]:
        """The exact values of the moves there were, where they are known."""
        ply = self.plies[self.at - 1] if self.at else None
        known = [(move, value) for move, value in (ply.exact or {}).items() if value is not None] if ply else []
        return [
            {"move": move, "value": value, "text": value_text(value), "best": ply is not None and move == ply.move}
            for move, value in sorted(known, key=lambda item: -item[1])[:12]
        ]

    def picture(self) -> str:
        return svg(self.steps[-1])

    def still(self) -> str:
        rows = "".join(
            f"<tr><td>{n}</td><td>{html.escape(self.game.players[p.player - 1])}</td>"
            f"<td>{html.escape(p.move)}</td><td>{html.escape(self._words(n))}</td>"
            f"<td style='text-align:left'>{html.escape(p.remark)}</td></tr>"
            for n, p in enumerate(self.plies, 1)
        )
        titles = f"<tr><th>ply</th><th></th><th>move</th><th>{html.escape(str(self.heuristic))}</th><th></th></tr>"
        return (
            f"<div class='gk-still'><p>{html.escape(repr(self).splitlines()[0])}</p><div style='display:flex;"
            f"flex-wrap:wrap;gap:20px'>{self.picture()}<div style='max-height:420px;overflow:auto'>"
            f"<table>{titles}{rows}</table></div></div></div>"
        )


def review(
    record: Any,
    game: str | Game | None = None,
    heuristic: Any = None,
    judge: Judge | str | None = "exact",
    seconds: float = 3.0,
) -> Review:
    """Go through a played game, a record, a position's moves or a transcript, move by move.

    `judge(position)` gives the exact value of every move there, or None; by default the game's solver, as far
    as `seconds` reach from the end of the game. `judge=None` leaves judging out.
    """
    board, moves = moves_of(record, game)
    wanted = exact(board, seconds) if judge == "exact" else judge
    if wanted is not None and not callable(wanted):
        raise GamekitError(f"judge={judge!r} is not allowed; judge is 'exact', None, or a function of a position")
    return Review(board, moves, heuristic_of(heuristic, board), wanted)
