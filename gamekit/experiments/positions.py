"""The positions that searches, evaluations and exact judgements are measured on: drawn at random, or given."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core import Game, Position
from ..errors import GamekitError
from ..games import game as game_of
from ..specs import Param, Spec
from .grids import games_of

COUNT = Param(100, "positions to draw", 1, 10_000_000)


@dataclass(frozen=True)
class Listed:
    """Positions of one game as texts, whether they are a random sample, and what else is known of each."""

    texts: list[str]
    sampled: bool
    identity: Any  # equal where the positions are, or where one list goes on where another ends
    extras: dict[str, list[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.texts)


def positions(games: Any, count: int = 100, plies: Sequence[int] = (4, 12), seed: int = 0) -> list[Position]:
    """Distinct running positions from random play, symmetric copies merged.

    Args:
        games: a game, or several.
        count: how many of each game.
        plies: the least and the most plies into the game; drawn in turn.
        seed: random seed.

    Returns:
        The positions, each with the line of moves that led to it.

    >>> len(positions("connect_four", 5, plies=(6, 8), seed=1))
    5
    """
    count = COUNT.check("positions", "positions", count)
    low, high = _span(plies)
    found = []
    for game in games_of("positions", games).values():
        drawn = _draw(game, count, low, high, seed)
        if len(drawn) < count:
            raise GamekitError(
                f"positions: only {len(drawn)} distinct positions of {game} after {low} to {high} plies were found; "
                f"{count} were asked for"
            )
        found += drawn
    return found


def _span(plies: Any) -> tuple[int, int]:
    ends = list(plies) if isinstance(plies, Iterable) and not isinstance(plies, str) else [plies, plies]
    good = len(ends) == 2 and all(isinstance(p, int) and not isinstance(p, bool) for p in ends)
    if not good or not 0 <= ends[0] <= ends[1]:
        raise GamekitError(f"plies={plies!r} is not allowed; plies is a pair such as (4, 12), the least first")
    return ends[0], ends[1]


def _draw(game: Game, count: int, low: int, high: int, seed: int) -> list[Position]:
    choose = random.Random(f"positions {seed} {game} {low} {high}")
    found: dict[bytes, Position] = {}
    missed, wanted = 0, low
    while len(found) < count and missed < 200 + 3 * len(found):
        position = game.start()
        while position.ply < wanted and position.winner is None:
            codes = position.codes()
            position = position.after(codes[int(choose.random() * len(codes))])
        wanted = low + (wanted - low + 1) % (high - low + 1)
        before = len(found)
        if position.winner is None and len(position.codes()) > 1:
            found.setdefault(position.canonical(), position)
        missed = 0 if len(found) > before else missed + 1
    return list(found.values())


def listed(owner: str, game: Game, given: Any, plies: Sequence[int], seed: int) -> Listed:
    """What `positions=` means for one game: a number, "start", positions, texts of moves, or a frame of them."""
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        drawn = positions(game, COUNT.check(owner, "positions", given), plies, seed)
        return Listed([text_of(one) for one in drawn], True, ["drawn", *_span(plies)])
    extras: dict[str, list[Any]] = {}
    if hasattr(given, "columns"):
        if "position" not in given.columns:
            raise GamekitError(f"{owner}: a frame of positions has a column 'position'; it has {list(given.columns)}")
        extras = {str(name): given[name].to_list() for name in given.columns if name != "position"}
        given = given["position"].to_list()
    if isinstance(given, (str, Position)):
        given = [given]
    if not isinstance(given, Iterable):
        raise GamekitError(f"{owner}: positions={given!r} is not allowed; give a number, 'start', positions or moves")
    texts = [text_of(position_from(game, one)) for one in given]
    if not texts:
        raise GamekitError(f"{owner}: positions is empty; give at least one")
    return Listed(texts, False, hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16], extras)


def text_of(position: Position) -> str:
    """A position as a text that `position_from` reads: its moves from the start, or else its board."""
    known = position.history[0].key == position.game.start().key
    return position.game.join(position.line) if known else str(position)


def position_from(game: str | Spec | Game, given: str | Position) -> Position:
    """A position of a game from a text (moves, `start`, or a board), or one that is replayed in this game."""
    board = game_of(game)
    if isinstance(given, Position):
        if given.game == board:
            return given
        return board.replay(given.line) if given.ply or not str(given).strip() else board.position(str(given))
    if not isinstance(given, str):
        raise GamekitError(f"a position is a Position or a text of moves; given {given!r}")
    if "\n" in given:
        return board.position(given, check=False)
    return board.start() if given == "start" else board.replay(given)
