"""What a player is: anything that maps a position to a move. The registry finds players by name."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from ..core import Game, Position, a_position
from ..errors import GamekitError
from ..search.deepening import Found, Search
from ..specs import Param, Spec, changed, check, check_names, find, parse

PLAYERS: dict[str, type[Player]] = {}
FIRST_MOVE, RANDOM_MOVE, SEARCHER = 0, 1, 2  # kinds of players that a game in compiled code knows

SECONDS = Param(None, "time for a move", 0.001, 86400.0, kind=float)
LIMITS = {"seconds": SECONDS, "nodes": Param(None, "positions to generate for a move", 1, 10**12, kind=int)}


@dataclass
class Native:
    """A player as a game in compiled code takes it: its kind, a search's engine and bounds, its source of chance."""

    kind: int
    engine: Search | None = None
    depth: int | None = None
    nodes: int | None = None
    chance: Callable[[], float] | None = None  # numbers from 0 to 1
    own: bool = False  # it runs code that the user wrote

    @property
    def memory(self) -> int:
        """Bytes it works with."""
        return self.engine.work.table.nbytes + self.engine.work.tree.nbytes if self.engine else 0


@dataclass
class Choice:
    """A move with its evidence. `value` is for the player who chose; `line` the expected continuation."""

    move: str
    code: int
    value: float | None = None
    line: list[str] = field(default_factory=list)
    depth: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    stopped_by: str = ""
    values: dict[str, float] = field(default_factory=dict)
    by_ply: list[int] = field(default_factory=list)
    seconds: float = 0.0

    @classmethod
    def of(cls, position: Position, found: Found, values: dict[str, float] | None = None) -> Choice:
        """What a search found, in the words of the game."""
        write = position.game.write
        line, told = [write(code) for code in found.line], (found.counters, found.stopped_by, values or {})
        return cls(write(found.code), found.code, found.value, line, found.depth, *told, found.by_ply)


class Player:
    """A player has a spec (its row in every table), begins a game with a seed, and chooses moves.

    A kind of player gives a `name`, the parameters it `takes`, and `think`; `ready` if it has something to prepare.
    """

    name: ClassVar[str] = ""
    about: ClassVar[str] = ""
    report: ClassVar[str] = ""
    takes: ClassVar[dict[str, Param]] = {}
    deterministic: bool = True
    timed: bool = False

    def __init__(self, **settings: Any):
        self.given = settings
        self.settings = check(self.name, self.takes, settings)
        self.nodes = 0
        self.game: Game | None = None

    @property
    def spec(self) -> str:
        """Canonical: parameters in declared order, those left at their default not named."""
        given = {name: self.settings[name] for name in self.given}
        return str(Spec(self.name, changed(self.takes, given)))

    def parameters(self) -> dict[str, Any]:
        """Every parameter with its value in effect."""
        return dict(self.settings)

    def begin(self, game: Game, seed: int = 0) -> None:
        """Start a game: forget the last one, reseed."""
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise GamekitError(f"seed={seed!r} is not allowed; a seed is a whole number")
        self.game, self.nodes = game, 0
        self.random = random.Random(seed)
        self.ready(game, seed)

    def ready(self, game: Game, seed: int) -> None:
        """What a kind of player sets up for a game."""

    def choose(self, position: Position) -> Choice:
        """The move in a position, with its evidence."""
        if self.game is None or self.game != a_position(position).game:
            self.begin(a_position(position).game)
        if position.winner is not None:
            raise GamekitError("the game is over: there is no move to choose")
        started = time.monotonic()
        choice = self.think(position)
        choice.seconds = time.monotonic() - started
        self.nodes += choice.counters.get("generated", 0)
        return choice

    def think(self, position: Position) -> Choice:
        """What a kind of player answers in a position where there is a move."""
        raise NotImplementedError

    def pick(self, position: Position) -> int:
        """Just the move's number: the fast way through a match."""
        return self.choose(position).code

    def native(self) -> Native | None:
        """What a whole game in compiled code needs of this player, once begun; None: it is asked move by move."""
        return None

    def close(self) -> None:
        """Let go of whatever runs beside the game."""

    def __str__(self) -> str:
        return self.spec

    def __repr__(self) -> str:
        return f"gk.player({self.spec!r})"

    def __reduce__(self) -> Any:
        return partial(type(self), **self.given), ()


class Function(Player):
    """Any Python function of a position that returns a move's text."""

    name, about = "function", "a Python function of the position"
    deterministic = False

    def __init__(self, function: Callable[[Position], str]):
        super().__init__()
        self.function, self.given = function, {"function": function}

    @property
    def spec(self) -> str:
        return getattr(self.function, "__name__", "function")

    def think(self, position: Position) -> Choice:
        move = self.function(position)
        return Choice(move, position.code(move), stopped_by="function")


def register(kind: type[Player]) -> type[Player]:
    """Make a kind of player known by its name (a class decorator)."""
    check_names(f"player {kind.name!r}", kind.takes)
    PLAYERS[kind.name] = kind
    return kind


def player(spec: str | Spec | Player | Callable[[Position], str], /, **parameters: Any) -> Player:
    """A player from its spec, or from a function of a position that returns a move.

    Args:
        spec: such as "alphabeta(depth=4,heuristic=windows)", or a function.
        parameters: win over those in the spec.

    >>> player("alphabeta", depth=2).choose(__import__("gamekit").game("connect_four").start()).depth
    2
    """
    if isinstance(spec, Player):
        return type(spec)(**{**spec.given, **parameters}) if parameters else spec
    if callable(spec) and not isinstance(spec, (str, Spec)):
        return Function(spec)
    wanted = parse(spec, parameters)
    kind = PLAYERS[find("player", wanted.name, PLAYERS)]
    return kind(**wanted.settings)
