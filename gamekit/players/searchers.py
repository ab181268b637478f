"""Players that search: `search` with every switch; `minimax`, `alphabeta` and `greedy` are the same with some set."""

from __future__ import annotations

import threading
import weakref
from typing import Any, ClassVar

import numpy as np

from ..core import Game, Position
from ..heuristics import Heuristic, heuristic_of
from ..search.deepening import DEEPEST, Found, Search
from ..search.ordering import ORDERS, order_flags
from ..specs import Param, Spec
from .base import SEARCHER, Choice, Native, Player, register

HEURISTIC = Param(None, "the evaluation; without it the game's default", kind=Spec)
TIES = Param(
    "first",
    "among equal best moves: the first in move order, one at random, or the last",
    choices=("first", "random", "last"),
)
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
        self.timed = s["seconds"] is not None or s["ponder"]  # what pondering learns hangs on the opponent's time
        self.deterministic = s["ties"] != "random" and not self.timed
        self._ponder: threading.Thread | None = None
        self._ponder_errors: list[BaseException] = []
        self._engine: Search | None = None
        self._heuristic: Heuristic | None = None

    def parameters(self) -> dict[str, Any]:
        return dict(self.switch)

    def ready(self, game: Game, seed: int) -> None:
        self.close()
        s, before = self.switch, self._heuristic
        found = self._heuristic = heuristic_of(s["heuristic"], game)
        if self._engine is None or self._engine.game != game:
            self._engine = Search(
                game,
                found.leaf(game),
                prune=s["prune"],
                table=s["table"],
                order=self.order,
                deepen=s["deepen"],
                win_bonus=s["win_bonus"],
                ties=s["ties"],
                reuse=s["reuse"] or s["ponder"],
                megabytes=s["megabytes"],
            )
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

    def native(self) -> Native | None:
        s = self.switch
        if self.timed or s["reuse"] or self._heuristic is None:
            return None
        return Native(
            SEARCHER,
            self._engine,
            s["depth"],
            s["nodes"],
            self.random.random if s["ties"] == "random" else None,
            self._heuristic.own,
        )

    def think(self, position: Position) -> Choice:
        found, write = self._search(position), position.game.write
        values = {write(c): float(v) for c, v in zip(position.codes(), found.values, strict=False)}
        return Choice(
            write(found.code),
            found.code,
            found.value,
            [write(c) for c in found.line],
            found.depth,
            found.counters,
            found.stopped_by,
            values,
            found.by_ply,
        )

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
        self._ponder = threading.Thread(
            target=_think_ahead,
            name="gamekit-ponder",
            daemon=True,
            args=(self._engine, expected, self.switch["depth"], halt, self._ponder_errors),
        )
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


def _think_ahead(
    engine: Search, expected: Position, depth: int | None, halt: threading.Event, errors: list[BaseException]
) -> None:
    try:
        engine.run(expected, depth, stop=halt.is_set)
    except BaseException as error:  # raised at the player's next move
        errors.append(error)


@register
class Minimax(SearchPlayer):
    name, about, report = "minimax", "depth-limited minimax", "001, 003"
    preset: ClassVar = {"prune": False}
    takes = {k: p for k, p in SWITCHES.items() if k != "prune"}
    default_depth = 3


@register
class AlphaBeta(SearchPlayer):
    name, about, report = "alphabeta", "depth-limited minimax with alpha-beta pruning", "000, 001, 003, 004"
    preset: ClassVar = {"prune": True}
    takes = {k: p for k, p in SWITCHES.items() if k != "prune"}


@register
class Greedy(SearchPlayer):
    name, about, report = "greedy", "the move whose position evaluates best, one ply ahead", "003 (EvaluationPlayer)"
    preset: ClassVar = {"prune": False, "depth": 1, "win_bonus": False}
    takes = {"heuristic": HEURISTIC, "ties": TIES, "win_bonus": Param(False, "a win outranks every evaluation")}
