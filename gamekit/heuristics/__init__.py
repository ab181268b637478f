"""The heuristics by game and name; `heuristic` makes one of a plain function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ..core import Game
from ..games import GAMES, game
from ..specs import Param, Spec, SpecError, find, parse
from .base import Heuristic, HeuristicError, Part

__all__ = ["HEURISTICS", "Heuristic", "HeuristicError", "Part", "heuristic", "heuristic_of"]

HEURISTICS: dict[tuple[str, str], Heuristic] = {}  # (game's name, heuristic's name) → heuristic


def heuristic(games: str | tuple[str, ...], params: Mapping[str, float | Param] | None = None,
              **facts: Any) -> Callable[[Callable], Heuristic]:
    """Make a plain function a heuristic of a game, usable wherever a name is, at native speed.

    The function takes `(board, me, params)`: the board as an array (see each game), the player the value
    is for (1 or 2; the other is `3 - me`), and the weights in the order of `params`. Name the first
    argument `state` to see every field of the position instead.

    >>> import gamekit as gk
    >>> @gk.heuristic("connect_four", params={"middle": 1.0})
    ... def middle_column(board, me, params):
    ...     score = 0.0
    ...     for row in range(board.shape[0]):
    ...         if board[row, 3] == me:
    ...             score += params[0]
    ...     return score
    >>> gk.player("alphabeta(depth=2,heuristic=middle_column)").choose(gk.game("connect_four").start()).move
    '4'
    """
    if isinstance(games, str):
        games = (games,)
    if not isinstance(games, (tuple, list)) or not all(isinstance(name, str) for name in games):
        raise HeuristicError(f"@heuristic takes a game's name or several; given {games!r}")
    names: tuple[str, ...] = tuple(games)
    for name in names:
        find("game", parse(name).name, GAMES)
    names = tuple(parse(name).name for name in names)
    weights = {key: value if isinstance(value, Param) else _weight(key, value) for key, value in (params or {}).items()}

    def decorate(function: Callable) -> Heuristic:
        made = Heuristic(function, names, weights, about=facts.pop("about", (function.__doc__ or "").split("\n")[0]),
                         **facts)
        for name in names:
            there = HEURISTICS.get((name, made.name))
            if there is not None and not there.own and made.own:
                raise HeuristicError(f"{name} already has a built-in heuristic {made.name!r}; choose another name")
            HEURISTICS[name, made.name] = made
        return made

    return decorate


def _weight(key: str, value: float) -> Param:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise SpecError(f"weight {key!r} is a finite number; given {value!r}")
    return Param(float(value), "a weight")


def names_of(game_name: str) -> list[str]:
    """The heuristics of a game."""
    return [name for owner, name in HEURISTICS if owner == game_name]


def heuristic_of(spec: str | Spec | Heuristic | None, of: Game | str) -> Heuristic:
    """The heuristic a spec names for a game; without one, the game's default."""
    board = game(of)
    if isinstance(spec, Heuristic):
        spec.suits(board)
        return spec
    if spec is None:
        if board.default_heuristic is None:
            known = ", ".join(names_of(board.name)) or "your own"
            raise HeuristicError(f"{board.name} has no default heuristic; name one of {known}")
        spec = board.default_heuristic
    wanted = parse(spec)
    found = HEURISTICS.get((board.name, wanted.name))
    if found is None:
        homes = sorted({owner for owner, name in HEURISTICS if name == wanted.name})
        if homes:
            raise HeuristicError(f"heuristic {wanted.name!r} belongs to {' and '.join(homes)}, not to {board.name}; "
                                 f"{board.name} has {', '.join(names_of(board.name)) or 'none'}")
        find(f"heuristic of {board.name}", wanted.name, names_of(board.name))
    assert found is not None
    found.suits(board)
    return found.with_(**wanted.settings) if wanted.settings else found


from . import candy, conga, connect_four, connect_k, mnk  # noqa: E402, F401  (they register themselves)
