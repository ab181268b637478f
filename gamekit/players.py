"""Players: anything that maps a position to a move. The reports' own agents are in `agents`."""

from __future__ import annotations

import random
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .core import Game, GamekitError, Position, a_position
from .engine.deepen import DEEPEST, Found, Search
from .engine.duel import FIRST_MOVE, RANDOM_MOVE, SEARCHER, Mind
from .engine.montecarlo import MonteCarlo
from .engine.order import ORDERS, order_flags
from .engine.solve import Solver
from .heuristics import Heuristic, heuristic_of
from .specs import Param, Spec, check, find, parse


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


class Player:
    """A player has a spec (its row in every table), begins a game with a seed, and chooses moves."""

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
        return str(Spec(self.name, {k: self.settings[k] for k in self.takes if k in self.given}))

    def params(self) -> dict[str, Any]:
        return {"player": self.name, **{k: str(v) if isinstance(v, (Spec, Heuristic)) else v
                                        for k, v in self.settings.items()}}

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
        raise NotImplementedError

    def pick(self, position: Position) -> int:
        """Just the move's number: the fast way through a match."""
        return self.choose(position).code

    def mind(self) -> Mind | None:
        """What a whole game in compiled code needs of this player, once begun; None: it is asked move by move."""
        return None

    def close(self) -> None:
        """Let go of whatever runs beside the game."""

    def __str__(self) -> str:
        return self.spec

    def __repr__(self) -> str:
        return f"gk.player({self.spec!r})"

    def __reduce__(self) -> Any:
        return _again, (type(self), self.given)


def _again(kind: type[Player], given: dict[str, Any]) -> Player:
    return kind(**given)


class Random(Player):
    """Uniform among the legal moves."""

    name, about, report = "random", "a uniformly random legal move", "000, 004 (RandomAI)"
    deterministic = False

    def pick(self, position: Position) -> int:
        codes = position.codes()
        return codes[int(self.random.random() * len(codes))]

    def mind(self) -> Mind:
        return Mind(RANDOM_MOVE, chance=self.random.random)

    def think(self, position: Position) -> Choice:
        code = self.pick(position)
        return Choice(position.game.write(code), code, stopped_by="chance")


class Leftmost(Player):
    """The first legal move."""

    name, about, report = "leftmost", "the first legal move in canonical order", "004 (StupidAI)"

    def pick(self, position: Position) -> int:
        return position.codes()[0]

    def mind(self) -> Mind:
        return Mind(FIRST_MOVE)

    def think(self, position: Position) -> Choice:
        code = self.pick(position)
        return Choice(position.game.write(code), code, stopped_by="rule")


HEURISTIC = Param(None, "the evaluation; without it the game's default", kind=Spec)
TIES = Param("first", "among equal best moves: the first in move order, one at random, or the last",
             choices=("first", "random", "last"))
WIN_BONUS = Param(True, "a win outranks every evaluation, sooner is better; off: won positions are evaluated too")
SWITCHES: dict[str, Param] = {
    "depth": Param(None, "plies to look ahead", 1, DEEPEST, kind=int),
    "seconds": Param(None, "time for a move", 0.001, 86400.0, kind=float),
    "nodes": Param(None, "positions to generate for a move", 1, 10**12, kind=int),
    "prune": Param(True, "alpha-beta pruning"),
    "table": Param(False, "a transposition table"),
    "order": Param("none", "how moves are ordered: " + ", ".join(ORDERS) + ", or several joined by +", kind=str),
    "deepen": Param(False, "iterative deepening (on by itself with seconds or nodes)"),
    "reuse": Param(False, "keep what was learned from move to move"),
    "ponder": Param(False, "think on the opponent's time"),
    "ties": TIES,
    "win_bonus": WIN_BONUS,
    "megabytes": Param(16.0, "memory of table and lists", 0.001, 8192.0),
    "heuristic": HEURISTIC,
}


class SearchPlayer(Player):
    """Minimax with every switch; `minimax`, `alphabeta` and `greedy` are the same with some of them set."""

    name, about, report = "search", "minimax search with every switch", "all"
    takes = SWITCHES
    preset: ClassVar[dict[str, Any]] = {}
    default_depth: ClassVar[int] = 4

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        s = self.switch = {**{k: p.default for k, p in SWITCHES.items()}, **self.preset, **self.settings}
        self.order = order_flags(s["order"])
        if not any(s[k] for k in ("depth", "seconds", "nodes")):
            s["depth"] = self.default_depth
        self.timed = s["seconds"] is not None or s["ponder"]  # what pondering learns hangs on the opponent's time
        self.deterministic = s["ties"] != "random" and not self.timed
        self._ponder: threading.Thread | None = None
        self._ponder_errors: list[BaseException] = []
        self._engine: Search | None = None
        self._heuristic: Heuristic | None = None

    def ready(self, game: Game, seed: int) -> None:
        self.close()
        s, before = self.switch, self._heuristic
        found = self._heuristic = heuristic_of(s["heuristic"], game)
        if self._engine is None or self._engine.game != game:
            self._engine = Search(game, found.leaf(game), prune=s["prune"], table=s["table"], order=self.order,
                                  deepen=s["deepen"], win_bonus=s["win_bonus"], ties=s["ties"],
                                  reuse=s["reuse"] or s["ponder"], megabytes=s["megabytes"])
        elif found.own or found is not before:
            self._engine.leaf = found.leaf(game)
        self._engine.forget_all()

    def _search(self, position: Position) -> Found:
        self._stop_pondering()
        if self.game is None or self.game != position.game:
            self.begin(position.game)
        assert self._engine is not None
        assert self._heuristic is not None
        s = self.switch
        if self._heuristic.own:
            self._refresh(position.game)
        found = self._engine.run(position, s["depth"], s["nodes"], s["seconds"])
        if s["ties"] == "random" and found.value is not None:
            best = np.flatnonzero(found.values == found.value)
            code = position.codes()[int(best[int(self.random.random() * best.size)])]
            if code != found.code:
                found.code, found.line = code, [code]
        if s["ponder"]:
            self._start_pondering(position, found)
        return found

    def _refresh(self, game: Game) -> None:
        """A heuristic redefined in a cell, or a global it reads, counts from the next move on."""
        assert self._engine is not None
        self._heuristic = heuristic_of(self.switch["heuristic"], game)
        leaf = self._heuristic.leaf(game)
        if leaf.address != self._engine.leaf.address:
            self._engine.leaf = leaf
            self._engine.forget_all()

    def pick(self, position: Position) -> int:
        found = self._search(position)
        self.nodes += found.counters["generated"]
        return found.code

    def mind(self) -> Mind | None:
        s = self.switch
        if self.timed or s["reuse"] or self._heuristic is None:
            return None
        return Mind(SEARCHER, self._engine, s["depth"], s["nodes"],
                    self.random.random if s["ties"] == "random" else None, self._heuristic.own)

    def think(self, position: Position) -> Choice:
        found, write = self._search(position), position.game.write
        values = {write(c): float(v) for c, v in zip(position.codes(), found.values, strict=False)}
        return Choice(write(found.code), found.code, found.value, [write(c) for c in found.line], found.depth,
                      found.counters, found.stopped_by, values, found.by_ply)

    # --------------------------------------------------------------- the opponent's time

    def _start_pondering(self, position: Position, found: Found) -> None:
        """Search the expected position while the opponent thinks; what is learned is there when it comes about."""
        after = position.after(found.code)
        if len(found.line) < 2 or after.winner is not None:
            return
        expected = after.after(found.line[1])
        if expected.winner is not None or expected.turn != position.turn:
            return
        halt = self._halt = threading.Event()
        self._ponder_errors = []
        # the thread knows the engine, not the player: a player that is dropped calls it off
        self._ponder = threading.Thread(target=_think_ahead, name="gamekit-ponder", daemon=True,
                                        args=(self._engine, expected, self.switch["depth"], halt, self._ponder_errors))
        weakref.finalize(self, halt.set)
        self._ponder.start()

    def _stop_pondering(self) -> None:
        if self._ponder is not None:
            self._halt.set()
            self._ponder.join()
            self._ponder = None
        if self._ponder_errors:
            raise self._ponder_errors.pop()

    def close(self) -> None:
        self._stop_pondering()


def _think_ahead(engine: Search, expected: Position, depth: int | None, halt: threading.Event,
                 errors: list[BaseException]) -> None:
    try:
        engine.run(expected, depth, stop=halt.is_set)
    except BaseException as error:  # raised at the player's next move
        errors.append(error)


class Minimax(SearchPlayer):
    name, about, report = "minimax", "depth-limited minimax", "001, 003"
    preset: ClassVar = {"prune": False}
    takes = {k: p for k, p in SWITCHES.items() if k != "prune"}
    default_depth = 3


class AlphaBeta(SearchPlayer):
    name, about, report = "alphabeta", "depth-limited minimax with alpha-beta pruning", "000, 001, 003, 004"
    preset: ClassVar = {"prune": True}
    takes = {k: p for k, p in SWITCHES.items() if k != "prune"}


class Greedy(SearchPlayer):
    name, about, report = "greedy", "the move whose position evaluates best, one ply ahead", "003 (EvaluationPlayer)"
    preset: ClassVar = {"prune": False, "depth": 1, "win_bonus": False}
    takes = {"heuristic": HEURISTIC, "ties": TIES,
             "win_bonus": Param(False, "a win outranks every evaluation")}


class FlatMonteCarlo(Player):
    """The Connect Four report's opponent: random playouts, results summed per first move."""

    name, about, report = "montecarlo", "random playouts, results summed per first move", "004 (MonteCarloAI)"
    tree: ClassVar[bool] = False
    deterministic = False
    takes = {"playouts": Param(None, "games to play out for a move", 1, 10**9, kind=int),
             "seconds": Param(None, "time for a move", 0.001, 86400.0, kind=float)}

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        if not self.settings["playouts"] and not self.settings["seconds"]:
            self.settings["playouts"] = 500
        self.timed = self.settings["seconds"] is not None

    def ready(self, game: Game, seed: int) -> None:
        self._engine = MonteCarlo(game, seed, self.tree, self.settings.get("exploration", 0.0))

    def think(self, position: Position) -> Choice:
        played = self._engine.run(position, self.settings["playouts"], self.settings["seconds"])
        best = int((played.tries if self.tree else played.sums).argmax())
        write = position.game.write
        mean = played.sums / np.maximum(played.tries, 1)
        code = played.codes[best]
        values = {write(c): float(v) for c, v in zip(played.codes, mean if self.tree else played.sums, strict=True)}
        counters = {"generated": played.generated, "playouts": played.playouts}
        return Choice(write(code), code, float(mean[best]), [write(c) for c in played.line] or [write(code)], 0,
                      counters, played.stopped_by, values)


class UCT(FlatMonteCarlo):
    name, about, report = "uct", "Monte-Carlo tree search (UCB1)", "ours"
    tree = True
    takes = {**FlatMonteCarlo.takes, "exploration": Param(2**0.5, "weight of the little-tried", 0.0, 100.0)}


class Perfect(Player):
    """Plays the exact best move; refuses a position it cannot solve in its time rather than guess."""

    name, about, report = "perfect", "the first of the best moves by exact value", "ours"
    takes = {"seconds": Param(None, "time to solve a position before giving up", 0.001, 86400.0, kind=float)}

    def ready(self, game: Game, seed: int) -> None:
        self._solver = Solver(game)

    def think(self, position: Position) -> Choice:
        values = self._solver.moves(position, self.settings["seconds"])
        if any(value is None for value in values.values()):
            raise GamekitError(f"perfect cannot solve this position of {position.game} in its time")
        best = max(values, key=lambda move: values[move] or 0)
        exact = {move: float(value or 0) for move, value in values.items()}
        return Choice(best, position.code(best), exact[best], [best], stopped_by="solved", values=exact)


class Function(Player):
    """Any Python function of a position that returns a move's text."""

    name, about = "function", "a Python function of the position"
    deterministic = False

    def __init__(self, function: Callable[[Position], str]):
        super().__init__()
        self.function = function
        self.given = {"function": function}

    @property
    def spec(self) -> str:
        return getattr(self.function, "__name__", "function")

    def think(self, position: Position) -> Choice:
        move = self.function(position)
        return Choice(move, position.code(move), stopped_by="function")


class Human(Player):
    """Asks at the terminal."""

    name, about = "human", "you, at the terminal"
    deterministic = False

    def think(self, position: Position) -> Choice:
        print(position)
        while True:
            move = input("your move: ").strip()
            try:
                return Choice(move, position.code(move), stopped_by="human")
            except GamekitError as error:
                print(error)


PLAYERS: dict[str, type[Player]] = {p.name: p for p in (Random, Leftmost, Greedy, Minimax, AlphaBeta, SearchPlayer,
                                                       FlatMonteCarlo, UCT, Perfect, Human)}


def player(spec: str | Spec | Player | Callable[[Position], str]) -> Player:
    """A player from its spec, or from a function of a position that returns a move.

    >>> player("alphabeta(depth=2)").choose(__import__("gamekit").game("connect_four").start()).depth
    2
    """
    if isinstance(spec, Player):
        return spec
    if callable(spec) and not isinstance(spec, (str, Spec)):
        return Function(spec)
    wanted = parse(spec)
    kind = PLAYERS[find("player", wanted.name, PLAYERS)]
    return kind(**wanted.settings)


from . import agents  # noqa: E402, F401  (the reports' own agents register themselves)
