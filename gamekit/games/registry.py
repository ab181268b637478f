"""The games by name; `register` adds a custom game."""

from __future__ import annotations

from typing import Any

from numba.core.errors import NumbaError

from ..core import DRAW, LOST, RUNNING, WON, Game, make_move
from ..errors import GamekitError
from ..specs import Spec, check, check_names, find, parse
from .candy import Candy
from .conga import Conga
from .k_in_a_row import MNK, ConnectFour, ConnectK

GAMES: dict[str, type[Game]] = {g.name: g for g in (Conga, Candy, ConnectK, MNK, ConnectFour)}


def game(spec: str | Spec | Game, /, **parameters: Any) -> Game:
    """A game from its spec.

    Args:
        spec: such as "mnk(m=5,n=6,k=4)"; a game is returned as it is.
        parameters: win over those in the spec.

    >>> game("mnk(m=5,n=6)", k=4).start().moves()[:3]
    ['0,0', '0,1', '0,2']
    """
    if isinstance(spec, Game) and not parameters:
        return spec
    wanted = parse(Spec(spec.name, spec.settings) if isinstance(spec, Game) else spec, parameters)
    kind = GAMES[find("game", wanted.name, GAMES)]
    return kind(**check(wanted.name, kind.params, wanted.settings))


def register(kind: type[Game]) -> type[Game]:
    """Make a game known by its name; a hundred random games must go well first.

    A class decorator: `@gk.register` above `class Misere(gk.Game): …`.
    """
    name = getattr(kind, "name", None)
    if not isinstance(name, str) or not name.isidentifier():
        raise GamekitError(f"a game needs a name of letters, digits and underscores; given {name!r}")
    if name in GAMES and GAMES[name].__module__.startswith(__package__):
        raise GamekitError(f"there is already a built-in game {name!r}; choose another name")
    check_names(f"game {name!r}", kind.params)
    try:
        _try_out(kind())
    except GamekitError:
        raise
    except NumbaError as error:
        reason = next((line.strip() for line in str(error).splitlines()[1:] if line.strip()), "unknown reason")
        raise GamekitError(f"{name}: its rules cannot be compiled: {reason}") from None
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise GamekitError(f"{name}: its rules failed with {what} (width is {kind.width})") from error
    GAMES[name] = kind
    return kind


def _try_out(game: Game, games: int = 100, plies: int = 400) -> None:
    """Random games that must stay inside the declared limits."""

    def require(kept: bool, what: str) -> None:
        if not kept:
            raise GamekitError(f"{game.name}: {what}")

    choice = 1
    for _ in range(games):
        position = game.start()
        for _ply in range(plies):
            codes, before = position.codes(), position.turn
            require(len(codes) <= game.width, f"{len(codes)} moves in a position; width says at most {game.width}")
            proper = len(set(codes)) == len(codes) and all(0 <= code < game.codes for code in codes)
            require(proper, f"moves must be distinct numbers from 0 to {game.codes - 1}; {codes}")
            if not codes:
                require(position.winner is not None, f"a position with no move where play said {RUNNING} (running)")
                break
            choice = choice * 48271 % 2147483647  # a fixed sequence: registration is the same every time
            code = codes[choice % len(codes)]
            status = make_move(game._rules.play.address, position.data.copy(), code)
            known = status in (RUNNING, WON, DRAW, LOST)
            require(known, f"play returned {status}; allowed: RUNNING, WON, DRAW, LOST (0 to 3)")
            position = position.after(code)
            turn = position.turn
            require(status != RUNNING or turn in (1, 2), f"turn became {turn} after player {before}; it is 1 or 2")
