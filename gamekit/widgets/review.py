"""A recorded game to go through: the evaluation move by move, and where the game is solvable, what each move lost."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core import Game, Position
from ..drawing import signed, svg, value_text
from ..errors import GamekitError
from ..games import game as game_of
from ..heuristics import Heuristic, heuristic_of
from ..matches.transcripts import read_transcript
from ..solvers.solver import Solver
from .base import Live, bars, ending, value_for_first

Values = Mapping[str, float | None]  # every move's exact value for the mover, where known
Judge = Callable[[Position], Values | None]
WORDS = {1: "win", 0: "draw", -1: "loss"}
LOST, SLOWER = "lost value", "slower"


@dataclass
class Ply:
    """A move that was played: what the position after it is worth to the first player, and what it lost."""

    move: str
    player: int
    value: float
    text: str  # the value, or how the game ended
    exact: Values = field(default_factory=dict)
    verdict: str = ""  # LOST, SLOWER, or "" where the move is fine or nobody knows
    remark: str = ""

    def judge(self, values: Values) -> None:
        """Compare the move with the best one; what the judge could not tell is left open."""
        self.exact = values
        known = [value for value in values.values() if value is not None]
        mine, best = values.get(self.move), max(known, default=None)
        if best is None or (mine is None and (best <= 0 or len(known) == len(values))):
            return
        good = ", ".join(move for move, value in values.items() if value == best)
        if mine is None:
            self.verdict, self.remark = LOST, f"misses a forced win: {good}"
        elif _sign(mine) < _sign(best):
            change = f"turns a {WORDS[_sign(best)]} into a {WORDS[_sign(mine)]}"
            self.verdict, self.remark = LOST, f"{change}; better: {good}"
        elif mine < best:
            self.verdict, self.remark = SLOWER, f"{value_text(mine)} instead of {value_text(best)}: {good}"


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def exact(game: Game, seconds: float = 3.0) -> Judge:
    """A judge by the game's solver that stops judging when its time is used up."""
    solver = Solver(game, megabytes=16)
    solver.solve(game.start(), 0.001)  # compiles on first use; that is not the judge's time
    end = time.monotonic() + seconds

    def judge(position: Position) -> Values | None:
        left = end - time.monotonic()
        if left <= 0:
            return None
        # Conga has no bound: a little for every position, and forced wins nearby are found
        return solver.moves(position, left if game.longest else min(left, seconds / 40))

    return judge


def game_and_moves(record: Any, game: str | Game | None) -> tuple[Game, list[str]]:
    """The game and its moves out of whatever holds them: a played game, a row of a sweep, a position, text, a list."""
    board = getattr(record, "game", None) if game is None else game
    if board is None:
        raise GamekitError("whose game is this? give game=, such as game='connect_four'")
    board = game_of(board)
    moves = record.line if isinstance(record, Position) else getattr(record, "moves", record)
    if isinstance(moves, str):
        return board, read_transcript(board, moves)
    if not isinstance(moves, Iterable):
        raise GamekitError(f"a game to review is a record, a position, a transcript or a list of moves, not {record!r}")
    return board, board.replay(moves).line


class Review(Live):
    """A game on its board, a move at a time."""

    script = "review.js"

    def __init__(self, final: Position, heuristic: Heuristic, judge: Judge | None):
        super().__init__()
        self.final, self.game, self.steps, self.heuristic = final, final.game, final.history, heuristic
        self.status = ending(final, self.game.players)
        self.plies = [
            self._ply(before, after, move)
            for before, after, move in zip(self.steps, self.steps[1:], final.line, strict=False)
        ]
        self.judged = self._judge(judge) if judge else 0
        self.at = len(self.plies)
        self.show()

    def _ply(self, before: Position, after: Position, move: str) -> Ply:
        value = value_for_first(after, self.heuristic) or 0.0
        return Ply(move, before.turn, value, signed(value) if after.winner is None else self.status)

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
        return [number for number, ply in enumerate(self.plies, 1) if ply.verdict == LOST]

    def __repr__(self) -> str:
        judged = f"{self.judged} judged exactly, {len(self.lost)} of them lost value"
        return f"{self.game}: {len(self.plies)} moves, {judged}\n{self.final}"

    def do_at(self, ply: int) -> None:
        self.at = min(max(int(ply), 0), len(self.plies))
        self.show()

    def snapshot(self) -> dict[str, Any]:
        shown = self.plies[self.at - 1 : self.at] if self.at else []
        known = [(move, value) for ply in shown for move, value in ply.exact.items() if value is not None]
        return {
            "svg": svg(self.steps[self.at]),
            "at": self.at,
            "marks": self.game.players,
            "plies": [{key: value for key, value in vars(ply).items() if key != "exact"} for ply in self.plies],
            "bars": bars(known, 12, [ply.move for ply in shown]),
            "by": str(self.heuristic),
            "judged": self.judged,
            "lost": len(self.lost),
            "status": self.status,
            "kind": self.game.name,
        }

    def picture(self) -> str:
        return svg(self.final)

    def still(self) -> str:
        rows = "".join(
            f"<tr><td>{number}</td><td>{html.escape(self.game.players[ply.player - 1])}</td>"
            f"<td>{html.escape(ply.move)}</td><td>{html.escape(ply.text)}</td>"
            f"<td style='text-align:left'>{html.escape(ply.remark)}</td></tr>"
            for number, ply in enumerate(self.plies, 1)
        )
        titles = f"<tr><th>ply</th><th></th><th>move</th><th>{html.escape(str(self.heuristic))}</th><th></th></tr>"
        return (
            f"<p>{html.escape(repr(self).splitlines()[0])}</p><div style='display:flex;flex-wrap:wrap;gap:20px'>"
            f"{self.picture()}<div style='max-height:420px;overflow:auto'><table>{titles}{rows}</table></div></div>"
        )


def review(
    record: Any,
    game: str | Game | None = None,
    heuristic: Any = None,
    judge: Judge | str | None = "exact",
    seconds: float = 3.0,
) -> Review:
    """Go through a game move by move.

    Args:
        record: a played game, a row of a sweep, a position (its moves), a transcript or a list of moves.
        game: the game, where the record does not tell.
        heuristic: a heuristic or its spec, for the curve (default: the game's).
        judge: "exact" for the game's solver, from the end of the game as far back as it gets; a function that gives
            the exact value of every move in a position, or None; None: moves are not judged.
        seconds: time for the solver.

    Returns:
        The widget; `lost` are the moves that lost value.
    """
    board, moves = game_and_moves(record, game)
    wanted = exact(board, seconds) if judge == "exact" else judge
    if wanted is not None and not callable(wanted):
        raise GamekitError(f"judge={judge!r} is not allowed; judge is 'exact', None, or a function of a position")
    return Review(board.replay(moves), heuristic_of(heuristic, board), wanted)
