"""What a heuristic is: a plain function of a board, compiled where the search needs it, explained where people do."""

from __future__ import annotations

import inspect
import linecache
import math
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cloudpickle
import numpy as np
from numba import carray, njit, types
from numba.core.errors import NumbaError

from ..core import Game, Leaf, Position, a_position
from ..errors import GamekitError
from ..games import GAMES, game
from ..jit.compiled import Compiled, compiled
from ..jit.intrinsics import LEAF, address, call_leaf
from ..jit.user_code import fingerprint, fresh
from ..specs import Param, Spec, SpecError, check, find, parse

HEURISTICS: dict[tuple[str, str], Heuristic] = {}  # (game's name, heuristic's name) → heuristic
MOST_WEIGHTS = 1024


class HeuristicError(GamekitError):
    """A heuristic that is unknown, does not fit, does not compile, or failed on a position."""


@dataclass(frozen=True)
class Part:
    """One piece of a score: what it is, the cells it lies on, and what it adds."""

    what: str
    cells: tuple[tuple[int, int], ...]
    value: float


class Heuristic:
    """An evaluation of positions for one player: `value(position, me)`; higher is better for `me`.

    Made by the decorator `heuristic`. `settings` are its weights; `with_` gives the same with others.
    """

    def __init__(
        self,
        function: Callable,
        games: Sequence[str],
        params: dict[str, Param],
        *,
        report: str = "",
        about: str = "",
        pack: Callable | None = None,
        parts: Callable | None = None,
        fits: Callable[[Game], str | None] | None = None,
        settings: dict[str, Any] | None = None,
    ):
        self.function, self.games, self.params = function, tuple(games), params
        self.report, self.about, self.pack, self.parts, self.fits = report, about, pack, parts, fits
        self.name = function.__name__
        if not self.name.isidentifier():
            raise HeuristicError(f"a heuristic needs a name that specs can use; given {self.name!r}")
        self.own = not function.__module__.startswith(__package__)  # written by the user
        self.settings = check(self.name, params, settings or {})
        names = list(inspect.signature(function).parameters)
        if len(names) != 3:
            raise HeuristicError(f"heuristic {self.name!r} takes (board, me, params); given ({', '.join(names)})")
        self.sees_state = names[0] in ("state", "s")
        self._compiled: dict[Any, tuple[bytes, Compiled]] = {}

    # --------------------------------------------------------------------- identity

    @property
    def spec(self) -> str:
        changed = {k: v for k, v in self.settings.items() if v != self.params[k].default}
        return str(Spec(self.name, changed))

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

    def weights(self, game: Game) -> np.ndarray:
        values = self.pack(self.settings, game) if self.pack else list(self.settings.values())
        packed = np.zeros(max(len(values), 1))
        packed[: len(values)] = values
        return packed

    def suits(self, game: Game) -> None:
        """Refuse a game this heuristic was not made for."""
        if game.name not in self.games:
            raise HeuristicError(f"heuristic {self.name!r} belongs to {' and '.join(self.games)}, not to {game.name}")
        reason = self.fits(game) if self.fits else None
        if reason:
            raise HeuristicError(f"heuristic {self.name!r} does not fit {game}: {reason}")

    def leaf(self, game: Game) -> Leaf:
        """Compiled for the search; again whenever a global it reads has changed."""
        self.suits(game)
        kind = type(game)
        stamp = fingerprint(self.function) if self.own else b""
        weights = self.weights(game)
        key = (id(kind.state), len(weights), None if self.sees_state else game.shape)
        if key not in self._compiled or self._compiled[key][0] != stamp:
            self._compiled[key] = (stamp, self._compile(game, len(weights)))
        try:
            address = self._compiled[key][1].address
        except NumbaError as error:
            raise HeuristicError(_why_not_compiled(self, error)) from None
        return Leaf(address, weights, self.explain_failure)

    def prepared(self, game: Game) -> list[Compiled]:
        """The compiled forms made so far, this game's among them."""
        self.leaf(game)
        return [code for _stamp, code in self._compiled.values()]

    def _compile(self, game: Game, count: int) -> Compiled:
        kind, shape = type(game), game.shape
        state, view = kind.state, kind.view
        function = njit(boundscheck=self.own, forceinline=True)(fresh(self.function) if self.own else self.function)
        # room for weights that depend on the game's size must not change the compiled code
        room = MOST_WEIGHTS if self.pack and not self.own else count
        if self.sees_state:

            def leaf(position, me, params):
                return function(carray(position, (1,), state)[0], me, carray(params, (room,), np.float64))
        elif view is None:

            def leaf(position, me, params):
                return function(carray(position, (1,), state)[0].board, me, carray(params, (room,), np.float64))
        else:

            def leaf(position, me, params):
                s = carray(position, (1,), state)[0]
                return function(view(s, position, shape), me, carray(params, (room,), np.float64))

        name = None if self.own else f"{self.function.__module__}.{self.name}.{kind.__module__.split('.')[-1]}"
        if name and view and shape and not self.sees_state:
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
            raise self.explain_failure(position, value, None, me)
        return value

    def plain(self, position: Position, me: int | None = None) -> float:
        """The same, uncompiled: the judge of the compiled one."""
        me = _player(position, me)
        self.suits(position.game)
        return float(self.function(self._seen(position), me, self.weights(position.game)))

    def _seen(self, position: Position) -> Any:
        """What the plain function is given; wide numbers, for NumPy's bytes overflow where compiled code does not."""
        if self.sees_state:
            return position.record
        board = position.board
        if board.dtype.names:
            return board.astype([(name, "i8") for name in board.dtype.names]).view(np.recarray)
        return board.astype(np.int64)

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
        """An error that names the heuristic, what went wrong and the line, by asking once more in plain Python."""
        where = ""
        if value is None:
            try:
                with np.errstate(all="raise"):
                    answer = self.function(self._seen(position), me or 1, self.weights(position.game))
            except Exception as again:
                error = again
                here = [f for f in traceback.extract_tb(again.__traceback__) if f.filename == self._file]
                if here:
                    where = f" at {_short(here[-1].filename)}, line {here[-1].lineno}: {here[-1].line}"
            else:
                if not isinstance(answer, (int, float, np.number)):
                    return HeuristicError(
                        f"heuristic {self.name!r} returned {answer!r}; a value is a number\nin the position\n{position}"
                    )
            what = f"{type(error).__name__}: {error}" if error else "an error in compiled code"
            if not where:  # the evaluation does not fail here, so the rules did
                return GamekitError(f"the rules of {position.game.name} (or {self.name!r}) failed with {what}")
            return HeuristicError(f"heuristic {self.name!r} failed with {what}{where}\nin the position\n{position}")
        if np.isnan(value):  # the search does not keep the number
            leaf = self.leaf(position.game)
            value = float(evaluate(leaf.address, position.data, me or 1, leaf.weights))
        return HeuristicError(
            f"heuristic {self.name!r} returned {value}; a value is a finite number below 1e11"
            f"\nin the position\n{position}"
        )

    @property
    def _file(self) -> str:
        return self.function.__code__.co_filename


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
    for game in made.games:
        HEURISTICS[game, made.name] = made.with_(**{k: p.default for k, p in made.params.items()})
    return made


def _short(file: str) -> str:
    return "the cell" if "ipykernel" in file or file.startswith("<") else file.rsplit("/", 1)[-1]


def _why_not_compiled(heuristic: Heuristic, error: NumbaError) -> str:
    """Numba's long story → one sentence with the line."""
    text = [line.strip() for line in str(error).splitlines() if line.strip()]
    skip = (
        "Failed in nopython",
        "During:",
        "Pass ",
        "raised from",
        "- Resolution",
        "There are",
        "File ",
        "Overload",
        "- Of which",
        "With argument",
        "Rejected as",
        "This error may",
    )
    reason = next((line for line in text if not line.startswith(skip)), text[0] if text else "unknown reason")
    numbers = [
        int(part.split()[0].rstrip(":,)"))
        for line in text
        if heuristic._file.rsplit("/", 1)[-1] in line
        for part in line.split("line ")[1:]
        if part.split()[0].rstrip(":,)").isdigit()
    ]
    line = numbers[-1] if numbers else heuristic.function.__code__.co_firstlineno
    source = linecache.getline(heuristic._file, line).strip()
    where = f"{_short(heuristic._file)}, line {line}: {source}"
    return (
        f"heuristic {heuristic.name!r} cannot be compiled: {reason} ({where}); "
        "use plain Python on numbers and arrays, and decorate functions it calls with @gk.helper"
    )


# --------------------------------------------------------------------------------------- registry


def heuristic(
    games: str | tuple[str, ...], params: Mapping[str, float | Param] | None = None, **facts: Any
) -> Callable[[Callable], Heuristic]:
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
        made = Heuristic(
            function, names, weights, about=facts.pop("about", (function.__doc__ or "").split("\n")[0]), **facts
        )
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
            raise HeuristicError(
                f"heuristic {wanted.name!r} belongs to {' and '.join(homes)}, not to {board.name}; "
                f"{board.name} has {', '.join(names_of(board.name)) or 'none'}"
            )
        find(f"heuristic of {board.name}", wanted.name, names_of(board.name))
    assert found is not None
    found.suits(board)
    return found.with_(**wanted.settings) if wanted.settings else found
