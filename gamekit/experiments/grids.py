"""Grids of games, players and heuristics: a list as a value means "each of these".

gk.grid("search", depth=[1, 2, 3], heuristic=["moves", "squares"])     # six players
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sized
from typing import Any

import numpy as np

from ..core import Game
from ..errors import GamekitError
from ..games import GAMES
from ..games import game as game_of
from ..heuristics import HEURISTICS, Heuristic, heuristic_of, names_of
from ..players import PLAYERS, Player
from ..players import player as player_of
from ..players.simple import Human
from ..specs import MOST, Param, Spec, SpecError, expand, find


def grid(name: Any, /, **parameters: Any) -> list[Spec]:
    """Every combination of parameters, as a plain list of specs; `+` joins two grids.

    Args:
        name: a game, player or heuristic by name, or a list of names.
        parameters: values; a list, tuple, range, set, array or Series means each of its elements, and a grid may
            stand inside another (`heuristic=gk.grid("windows", count=[5, 15])`). The last one varies fastest.

    Returns:
        Specs that `gk.sweep` and the other measurements take; `heuristic="all"` is expanded when they meet a game.

    >>> [str(one) for one in grid("alphabeta", depth=[1, 2], heuristic="moves")]
    ['alphabeta(depth=1,heuristic=moves)', 'alphabeta(depth=2,heuristic=moves)']
    """
    values = [each(value) for value in parameters.values()]
    names = each(name)
    if not names or not all(values):
        empty = next((key for key, value in zip(parameters, values, strict=True) if not value), "name")
        raise SpecError(f"grid: {empty} is an empty list; give at least one value")
    if (count := len(names) * int(np.prod([len(v) for v in values], dtype=float))) > MOST:
        raise SpecError(f"grid: {count:,} combinations are too many; at most {MOST:,} are allowed")
    found = []
    for one in names:
        for spec in expand(one):
            _check(spec.name, {**spec.settings, **parameters})
            points = itertools.product(*values)
            found += [Spec(spec.name, {**spec.settings, **dict(zip(parameters, p, strict=True))}) for p in points]
    _no_twins("grid", [(str(one), _canonical(one)) for one in found])
    return found


def each(value: Any) -> list[Any]:
    """What a value in a grid stands for: the elements of a list and the like, else itself."""
    if hasattr(value, "to_list"):  # a pandas Series or Index
        return value.to_list()
    if isinstance(value, np.ndarray):
        return value.ravel().tolist()
    if isinstance(value, (list, tuple, range)):
        return list(value)
    return sorted(value, key=repr) if isinstance(value, (set, frozenset)) else [value]


def _kinds(name: str) -> dict[str, Mapping[str, Param]]:
    """What a name may mean: kind → the parameters it takes."""
    heuristic = next((one for (_, known), one in HEURISTICS.items() if known == name), None)
    known = {"player": PLAYERS.get(name), "game": GAMES.get(name), "heuristic": heuristic}
    return {kind: getattr(one, "takes" if kind == "player" else "params") for kind, one in known.items() if one}


def _check(name: str, parameters: Mapping[str, Any]) -> None:
    """Refuse an unknown name or parameter at once, where the mistake was made."""
    kinds = _kinds(name)
    if not kinds:
        find("game, player or heuristic", name, [*GAMES, *PLAYERS, *dict.fromkeys(h for _, h in HEURISTICS)])
    for key in parameters:
        if not any(key in params for params in kinds.values()):
            kind, params = next(iter(kinds.items()))
            find(f"parameter of {kind} {name}", key, params)


def _canonical(spec: Spec) -> str:
    """The spelling under which a spec is known once it is made; itself where it cannot be made alone."""
    makers: dict[str, Callable[[Spec], Any]] = {"player": player_of, "game": game_of}
    kinds = list(_kinds(spec.name))
    if len(kinds) > 1 or kinds[0] not in makers or "all" in map(str, spec.settings.values()):
        return str(spec)
    return str(makers[kinds[0]](spec))


def _no_twins(owner: str, spellings: Iterable[tuple[str, str]]) -> None:
    seen: dict[str, str] = {}
    for given, canonical in spellings:
        if canonical in seen:
            same = f"{seen[canonical]!r} and {given!r} are the same" if seen[canonical] != given else f"{given!r} twice"
            raise SpecError(f"{owner}: {same}; list each once")
        seen[canonical] = given


# -------------------------------------------------------------------------------- lists of specs


def listed(
    owner: str, name: str, given: Any, make: Callable[[Any], Any], spread: Callable[[Any], list[Spec]] = expand
) -> dict[str, Any]:
    """Objects by their canonical spec, made of specs or given as they are; twins are refused, both spellings named.

    Args:
        owner, name: the function and its argument, for messages.
        given: one or several.
        make: spec → object.
        spread: a text or spec → every spec it stands for.
    """
    single = isinstance(given, (str, Spec, Game, Player, Heuristic)) or callable(given)
    if not single and (not isinstance(given, Iterable) or isinstance(given, (dict, bytes))):
        raise SpecError(f"{owner}: {name}={given!r} is not allowed; {name} is a list of specs"[:400])
    items = [given] if single else each(given if isinstance(given, Sized) else list(given))
    specs = [one for item in items for one in (spread(item) if isinstance(item, (str, Spec)) else [item])]
    if not specs:
        raise SpecError(f"{owner}: {name} is empty; {name} is a list of at least one spec")
    made = [make(one) for one in specs]
    spellings = [str(one) if isinstance(one, Spec) else repr(one) for one in specs]
    _no_twins(f"{owner}: {name}", zip(spellings, map(str, made), strict=True))
    return {str(thing): thing for thing in made}


def games_of(owner: str, given: Any) -> dict[str, Game]:
    """The games of a measurement by their spec."""
    return listed(owner, "games", given, game_of)


def players_of(owner: str, name: str, given: Any, game: Game) -> dict[str, Player]:
    """The players of a measurement for one game: `heuristic=all` becomes each heuristic the game has."""

    def spread(item: str | Spec) -> list[Spec]:
        found = []
        for one in expand(item):
            every = str(one.settings.get("heuristic")) == "all"
            given = [{"heuristic": name} for name in fitting_heuristics(game)] if every else [{}]
            found += [Spec(one.name, {**one.settings, **heuristic}) for heuristic in given]
        return found

    def make(one: Any) -> Player:
        found = player_of(one)
        if isinstance(found, Human):
            raise SpecError(f"{owner}: {name}=human is not allowed; measurements play by themselves")
        return found

    return listed(owner, name, given, make, spread)


def heuristics_of(owner: str, given: Any, game: Game) -> dict[str, Heuristic]:
    """The heuristics of a measurement for one game."""
    wanted = fitting_heuristics(game) if isinstance(given, str) and given == "all" else given
    return listed(owner, "heuristics", wanted, lambda one: heuristic_of(one, game))


def fitting_heuristics(game: Game) -> list[str]:
    """The heuristics a game has and that suit its size."""
    found = []
    for name in names_of(game.name):
        with contextlib.suppress(GamekitError):
            heuristic_of(name, game)
            found.append(name)
    return found


def parameters(player: Player, game: Game) -> dict[str, Any]:
    """A player's parameters as columns: values in effect, the game's default heuristic and its weights resolved.

    Where a parameter is not set its type stands for it, so that its column has the same dtype as anywhere else.
    """
    found: dict[str, Any] = {}
    for name, value in player.parameters().items():
        if name == "heuristic":
            heuristic = heuristic_of(value, game)
            found |= {name: heuristic.name, **weights(heuristic)}
        else:
            found[name] = player.takes[name].kind if value is None and name in player.takes else value
    return found


def weights(heuristic: Heuristic) -> dict[str, Any]:
    """A heuristic's weights as columns."""
    return {f"heuristic_{name}": value for name, value in heuristic.settings.items()}
