"""Players that search: `search` with every switch; `minimax`, `alphabeta` and `greedy` are the same with some set."""

from __future__ import annotations

import threading
import weakref
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..core import Game, Position
from ..heuristics import Heuristic, heuristic_of
from ..search.deepening import DEEPEST, TIES, Found, Search
from ..search.ordering import ORDERS, order_flags
from ..specs import Param, Spec
from .base import LIMITS, SEARCHER, Choice, Native, Player, register

SWITCHES: dict[str, Param] = {
    "depth": Param(None, "plies to look ahead", 1, DEEPEST, kind=int),
    **LIMITS,
    "prune": Param(True, "alpha-beta pruning"),
    "table": Param(False, "a transposition table"),
    "order": Param("none", "how moves are ordered: " + ", ".join(ORDERS) + ", or several joined by +", kind=str),
    "deepen": Param(False, "iterative deepening (on by itself with seconds or nodes)"),
    "reuse": Param(False, "keep what was learned from move to move"),
    "ponder": Param(False, "think on the opponent's time"),
    "ties": Param("first", "among equal best moves: the first in move order, one at random, or the last", choices=TIES),
    "win_bonus": Param(True, "a win outranks every evaluation, sooner is better; off: won positions are evaluated too"),
    "megabytes": Param(16.0, "memory of table and lists", 0.001, 8192.0),
    "heuristic": Param(None, "the evaluation; without it the game's default", kind=Spec),
}
ENGINE = ("prune", "table", "deepen", "win_bonus", "ties", "megabytes")  # what the engine takes as it stands


@register
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
        self.timed = s["seconds"] is not None or s["ponder"]  # what pondering learns depends on the opponent's time
        self.deterministic = s["ties"] != "random" and not self.timed
        self._ponder: threading.Thread | None = None
        self._ponder_errors: list[BaseException] = []
        self._engine: Search | None = None
        self._heuristic: Heuristic | None = None

    def parameters(self) -> dict[str, Any]:
        return dict(self.switch)

    def ready(self, game: Game, seed: int) -> None:
        self.close()
        self._load(game).forget_all()

    def _load(self, game: Game) -> Search:
        """The engine for a game, with the heuristic as it is now: one that was redefined in a cell counts at once."""
        s, engine, heuristic = self.switch, self._engine, heuristic_of(self.switch["heuristic"], game)
        if engine is None or engine.game != game:
            switches = {name: s[name] for name in ENGINE}
            leaf, reuse = heuristic.leaf(game), s["reuse"] or s["ponder"]
            engine = self._engine = Search(game, leaf, order=self.order, reuse=reuse, **switches)
        elif heuristic.own or heuristic is not self._heuristic:
            leaf = heuristic.leaf(game)
            if leaf.address != engine.leaf.address:
                engine.forget_all()
            engine.leaf = leaf
        self._heuristic = heuristic
        return engine

    def _search(self, position: Position) -> Found:
        self._stop_pondering()
        if self.game is None or self.game != position.game:
            self.begin(position.game)
        engine, s = self._engine, self.switch
        if engine is None or (self._heuristic is not None and self._heuristic.own):
            engine = self._load(position.game)
        found = engine.run(position, s["depth"], s["nodes"], s["seconds"])
        if s["ties"] == "random" and found.value is not None:
            best = np.flatnonzero(found.values == found.value)
            code = position.codes()[int(best[int(self.random.random() * best.size)])]
            if code != found.code:
                found.code, found.line = code, [code]
        if s["ponder"]:
            self._start_pondering(engine, position, found)
        return found

    def pick(self, position: Position) -> int:
        found = self._search(position)
        self.nodes += found.counters["generated"]
        return found.code

    def native(self) -> Native | None:
        s = self.switch
        if self.timed or s["reuse"] or self._heuristic is None:
            return None
        chance = self.random.random if s["ties"] == "random" else None
        return Native(SEARCHER, self._engine, s["depth"], s["nodes"], chance, self._heuristic.own)

    def think(self, position: Position) -> Choice:
        found, write = self._search(position), position.game.write
        values = {write(code): float(v) for code, v in zip(position.codes(), found.values, strict=False)}
        return Choice.of(position, found, values)

    # --------------------------------------------------------------- the opponent's time

    def _start_pondering(self, engine: Search, position: Position, found: Found) -> None:
        """Search the expected position while the opponent thinks; what is learned is there when it comes about."""
        after = position.after(found.code)
        if len(found.line) < 2 or after.winner is not None:
            return
        expected = after.after(found.line[1])
        if expected.winner is not None or expected.turn != position.turn:
            return
        halt = self._halt = threading.Event()
        errors = self._ponder_errors = []
        depth = self.switch["depth"]

        def think_ahead() -> None:  # knows the engine, not the player: a player that is dropped calls it off
            try:
                engine.run(expected, depth, stop=halt.is_set)
            except BaseException as error:  # raised at the player's next move
                errors.append(error)

        self._ponder = threading.Thread(target=think_ahead, name="gamekit-ponder", daemon=True)
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


@register
class Minimax(SearchPlayer):
    """`search` without pruning."""

    name, about, report = "minimax", "depth-limited minimax", "001, 003"
    preset: ClassVar = {"prune": False}
    takes = {name: param for name, param in SWITCHES.items() if name != "prune"}
    default_depth = 3


@register
class AlphaBeta(SearchPlayer):
    """`search` with pruning."""

    name, about, report = "alphabeta", "depth-limited minimax with alpha-beta pruning", "000, 001, 003, 004"
    takes = Minimax.takes


@register
class Greedy(SearchPlayer):
    """`search` one ply deep, evaluations alone."""

    name, about, report = "greedy", "the move whose position evaluates best, one ply ahead", "003 (EvaluationPlayer)"
    preset: ClassVar = {"prune": False, "depth": 1, "win_bonus": False}
    takes = {
        **{name: SWITCHES[name] for name in ("heuristic", "ties")},
        "win_bonus": replace(SWITCHES["win_bonus"], default=False),
    }
