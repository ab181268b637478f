"""What a heuristic is: a plain function of a board, compiled where the search needs it, explained where people do."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import cloudpickle
import numpy as np
from numba import carray, njit, types
from numba.core.errors import NumbaError

from ..core import Game, Leaf, Position, a_position
from ..errors import HeuristicError
from ..games import GAMES, game
from ..jit.compiled import Compiled, compiled
from ..jit.intrinsics import LEAF, address, call_leaf, helper
from ..jit.user_code import fingerprint, fresh
from ..specs import Param, Spec, SpecError, changed, check, check_names, find, parse
from .failures import failed, no_number, not_compiled

HEURISTICS: dict[tuple[str, str], Heuristic] = {}  # (game's name, heuristic's name) → heuristic
MOST_WEIGHTS = 1024  # room for weights that depend on the game's size, which must not change the compiled code


@dataclass(frozen=True)
class Part:
    """One piece of a score: what it is, the cells it lies on, and what it adds."""

    what: str
    cells: tuple[tuple[int, int], ...]
    value: float


def cell_parts(position: Position, me: int, worth: Callable[[int, int], tuple[str, float]]) -> list[Part]:
    """One part for each occupied cell; `worth(cell, owner)` gives what it is, and its worth to its owner."""
    found = []
    for r, row in enumerate(position.game.cells(position.record)):
        for c, (owner, _label) in enumerate(row):
            if owner:
                what, value = worth(r * len(row) + c, owner)
                found.append(Part(what, ((r, c),), float(value if owner == me else -value)))
    return found


@helper(forceinline=True)
def _state(s, pointer, shape):
    return s


@helper(forceinline=True)
def _board(s, pointer, shape):
    return s.board


@dataclass(eq=False, repr=False)
class Heuristic:
    """An evaluation of positions for one player: `value(position, me)`; higher is better for `me`.

    Made by the decorator `heuristic`. `settings` are its weights; `with_` gives the same with others.
    """

    function: Callable
    games: tuple[str, ...]
    params: dict[str, Param]
    report: str = ""  # where it comes from
    about: str = ""  # a line for listings; if not given, the function's docstring
    pack: Callable[[dict, Game], Any] | None = None  # makes of the weights the numbers that the function gets
    parts: Callable[[Position, int, dict], list[Part]] | None = None  # takes a score apart
    fits: Callable[[Game], str | None] | None = None  # says why a game, such as one of another size, does not fit

    def __post_init__(self) -> None:
        self.name = self.function.__name__
        self.about = self.about or (self.function.__doc__ or "").split("\n")[0]
        if not self.name.isidentifier():
            raise HeuristicError(f"a heuristic needs a name that specs can use; given {self.name!r}")
        check_names(f"heuristic {self.name!r}", self.params, "heuristic_")
        names = list(inspect.signature(self.function).parameters)
        if len(names) != 3:
            raise HeuristicError(f"heuristic {self.name!r} takes (board, me, params); given ({', '.join(names)})")
        self.sees_state = names[0] in ("state", "s")
        self.own = not self.function.__module__.startswith(__package__)  # written by the user
        self.settings = check(self.name, self.params, {})
        self._compiled: dict[Any, tuple[bytes, Compiled]] = {}

    # --------------------------------------------------------------------- identity

    @property
    def spec(self) -> str:
        """The name and the weights that are not at their default."""
        return str(Spec(self.name, changed(self.params, self.settings)))

    def __str__(self) -> str:
        return self.spec

    def __repr__(self) -> str:
        return f"<heuristic {self.spec} of {', '.join(self.games)}>"

    def with_(self, **settings: Any) -> Heuristic:
        """The same heuristic with other weights; nothing is compiled again."""
        other = object.__new__(Heuristic)
        other.__dict__.update(self.__dict__)
        other.settings = check(self.name, self.params, {**self.settings, **settings})
        return other

    def __reduce__(self) -> Any:
        if not self.own:
            return _built_in, (self.games[0], self.name, self.settings)
        return _unpacked, (cloudpickle.dumps({**self.__dict__, "_compiled": {}}),)

    # ------------------------------------------------------------------- evaluation

    def suits(self, game: Game) -> None:
        """Refuse a game this heuristic was not made for."""
        if game.name not in self.games:
            raise HeuristicError(f"heuristic {self.name!r} belongs to {' and '.join(self.games)}, not to {game.name}")
        if reason := self.fits and self.fits(game):
            raise HeuristicError(f"heuristic {self.name!r} does not fit {game}: {reason}")

    def weights(self, game: Game) -> np.ndarray:
        """The numbers that the function gets as `params`."""
        values = self.pack(self.settings, game) if self.pack else list(self.settings.values())
        packed = np.zeros(MOST_WEIGHTS if self.pack else max(len(values), 1))
        packed[: len(values)] = values
        return packed

    def leaf(self, game: Game) -> Leaf:
        """Compiled for the search; again whenever a global it reads has changed."""
        self.suits(game)
        stamp = fingerprint(self.function) if self.own else b""
        weights = self.weights(game)
        key = (id(type(game).state), len(weights), None if self.sees_state else game.shape)
        if key not in self._compiled or self._compiled[key][0] != stamp:
            self._compiled[key] = (stamp, self._compile(game, len(weights)))
        try:
            address = self._compiled[key][1].address
        except NumbaError as error:
            raise not_compiled(self.name, self.function, error) from None
        return Leaf(address, weights, self.explain_failure)

    def prepared(self, game: Game) -> list[Compiled]:
        """The compiled forms made so far, this game's among them."""
        self.leaf(game)
        return [code for _stamp, code in self._compiled.values()]

    def _compile(self, game: Game, count: int) -> Compiled:
        kind = type(game)
        state, shape = kind.state, game.shape
        view = _state if self.sees_state else kind.view or _board
        function = njit(boundscheck=self.own, forceinline=True)(fresh(self.function) if self.own else self.function)

        def leaf(position, me, params):
            s = carray(position, (1,), state)[0]
            return function(view(s, position, shape), me, carray(params, (count,), np.float64))

        name = None if self.own else f"{self.function.__module__}.{self.name}.{kind.__module__.split('.')[-1]}"
        if name and shape and not self.sees_state:
            name += f".{shape[0]}x{shape[1]}"
        return Compiled(leaf, LEAF, name, self.function.__module__)

    def value(self, position: Position, me: int | None = None) -> float:
        """What the compiled heuristic says of a position, for player `me` (default: who is to move)."""
        me = _player(position, me)
        leaf = self.leaf(position.game)
        try:
            value = float(evaluate(leaf.address, position.data, me, leaf.weights))
        except Exception as error:
            raise self.explain_failure(position, None, error, me) from None
        if not np.isfinite(value):
            raise no_number(self.name, position, value)
        return value

    def plain(self, position: Position, me: int | None = None) -> float:
        """The same, uncompiled: what the compiled one is compared with."""
        me = _player(position, me)
        self.suits(position.game)
        return float(self._ask(position, me))

    def _ask(self, position: Position, me: int) -> Any:
        """Call the plain function; with wide numbers, for NumPy's bytes overflow where compiled code does not."""
        weights = self.weights(position.game)
        if self.sees_state:
            return self.function(position.record, me, weights)
        board = position.board
        if board.dtype.names:
            wide = board.astype([(name, "i8") for name in board.dtype.names]).view(np.recarray)
            return self.function(wide, me, weights)
        return self.function(board.astype(np.int64), me, weights)

    def explain(self, position: Position, me: int | None = None) -> list[Part]:
        """The parts of a score: which cells, windows, streaks or blocks gave what."""
        me = _player(position, me)
        self.suits(position.game)
        if self.parts is None:
            return [Part(self.name, (), self.value(position, me))]
        return self.parts(position, me, self.settings)

    def explain_failure(
        self, position: Position, value: float | None, error: Exception | None = None, me: int | None = None
    ) -> Exception:
        """The error to raise where the evaluation of a position raised `error`, or gave `value`, which is no number."""
        player = me or 1
        if value is None:
            return failed(self.name, self.function, position, lambda: self._ask(position, player), error)
        if np.isnan(value):  # the search does not keep the number
            leaf = self.leaf(position.game)
            value = float(evaluate(leaf.address, position.data, player, leaf.weights))
        return no_number(self.name, position, value)


def _player(position: Position, me: int | None) -> int:
    a_position(position)
    if me is None:
        return position.turn
    if me not in (1, 2):
        raise HeuristicError(f"me={me!r} is not allowed; a player is 1 or 2")
    return int(me)


@compiled(
    types.intp, types.Array(types.uint8, 1, "C", readonly=True), types.int32, types.float64[::1], returns=types.float64
)
def evaluate(function, data, me, weights):
    """One evaluation, from Python."""
    return call_leaf(function, address(data, 0), me, address(weights, 0))


def _built_in(game: str, name: str, settings: dict[str, Any]) -> Heuristic:
    return HEURISTICS[game, name].with_(**settings)


def _unpacked(raw: bytes) -> Heuristic:
    """A user's heuristic in another process: known there by its name as well."""
    made = object.__new__(Heuristic)
    made.__dict__.update(cloudpickle.loads(raw))
    for name in made.games:
        HEURISTICS[name, made.name] = made.with_(**{k: p.default for k, p in made.params.items()})
    return made


# --------------------------------------------------------------------------------------- registry


def heuristic(
    games: str | tuple[str, ...], params: Mapping[str, float | Param] | None = None, **facts: Any
) -> Callable[[Callable], Heuristic]:
    """Make a plain function a heuristic of a game, usable wherever a name is, at native speed.

    The function takes `(board, me, params)`: the board as an array (see each game), the player the value
    is for (1 or 2; the other is `3 - me`), and the weights in the order of `params`. Name the first
    argument `state` to see every field of the position instead.

    Args:
        games: the name of a game, or several.
        params: weights by name, each with its default or a `Param`.
        facts: `about` (a line for listings), `parts` (explains a score) and whatever else `Heuristic` takes.

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
    given = (games,) if isinstance(games, str) else games
    if not isinstance(given, (tuple, list)) or not all(isinstance(name, str) for name in given):
        raise HeuristicError(f"@heuristic takes a game's name or several; given {games!r}")
    names = tuple(find("game", parse(name).name, GAMES) for name in given)
    weights = {key: value if isinstance(value, Param) else _weight(key, value) for key, value in (params or {}).items()}

    def decorate(function: Callable) -> Heuristic:
        made = Heuristic(function, names, weights, **facts)
        for name in names:
            known = HEURISTICS.get((name, made.name))
            if known is not None and made.own and not known.own:
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


def heuristic_of(spec: str | Spec | Heuristic | None, of: Game | str, /, **weights: Any) -> Heuristic:
    """The heuristic that a spec names for a game.

    Args:
        spec: such as "windows(count=30)"; None: the game's default.
        of: the game, or its spec.
        weights: win over those in the spec.
    """
    board = game(of)
    if isinstance(spec, Heuristic):
        spec.suits(board)
        return spec.with_(**weights) if weights else spec
    known = names_of(board.name)
    if spec is None:
        if board.default_heuristic is None:
            raise HeuristicError(f"{board.name} has no default heuristic; name one of {', '.join(known) or 'your own'}")
        spec = board.default_heuristic
    wanted = parse(spec, weights)
    if wanted.name not in known:
        homes = sorted({owner for owner, name in HEURISTICS if name == wanted.name})
        if homes:
            theirs = f"heuristic {wanted.name!r} belongs to {' and '.join(homes)}, not to {board.name}"
            raise HeuristicError(f"{theirs}; {board.name} has {', '.join(known) or 'none'}")
        find(f"heuristic of {board.name}", wanted.name, known)
    found = HEURISTICS[board.name, wanted.name]
    found.suits(board)
    return found.with_(**wanted.settings) if wanted.settings else found
