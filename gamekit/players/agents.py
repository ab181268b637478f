"""The agents the reports built for themselves: the m,n,k custom player, the Connect-K agent, a ladder of opponents."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numba import types

from ..core import WON, Game, Position, Rules
from ..errors import GamekitError
from ..games.k_in_a_row import KInARow, near_moves
from ..heuristics import heuristic_of
from ..jit.compiled import compiled
from ..jit.intrinsics import address, call_leaf, call_play
from ..search.deepening import Search
from ..specs import Param
from .base import LIMITS, Choice, Player, register
from .searchers import SWITCHES, SearchPlayer

WINS = 1e9
AT_ONCE = 32  # moves tried between two looks at the clock
NEAR = Rules(near_moves, KInARow.play, KInARow.state, KInARow.width, "gamekit.players.agents.near").moves
BYTES, NUMBERS = types.uint8[::1], types.float64[::1]


@compiled(types.intp, types.intp, BYTES, BYTES, types.int32[::1], types.int32, NUMBERS, NUMBERS)
def try_each(play_at, leaf_at, data, work, codes, who, weights, out):
    """What each move would be worth to `who`, were it theirs to play: WINS where it wins, else what the evaluation
    at `leaf_at` says (0: none is asked)."""
    for i in range(codes.size):
        work[:] = data
        work[0] = who
        status = call_play(play_at, address(work, 0), codes[i])
        if status == WON:
            out[i] = WINS
        elif leaf_at != 0:
            out[i] = call_leaf(leaf_at, address(work, 0), who, address(weights, 0))
    return 0


@register
class Custom(Player):
    """The m,n,k report's custom agent; its eight parts are eight switches."""

    name, report = "custom", "003 question 2"
    about = "the m,n,k report's agent: streak search near the stones, takes wins, blocks threats"
    takes: ClassVar = {
        "depth": Param(3, "plies to look ahead", 1, 20),
        **LIMITS,
        "centre": Param(True, "part 1: open in the centre"),
        "alive": Param(True, "part 2: only streaks that can still reach k"),
        "bonus": Param(True, "part 3: diagonal stones 1.1, open ends 0.25"),
        "rival": Param(True, "part 4: minus half the opponent's streak"),
        "win": Param(True, "part 5: take a win at once"),
        "so_far": Param(True, "part 6: the best so far when time is out (off: the time limit is not kept)"),
        "near": Param(True, "part 7: only cells with a stone in the surrounding 3×3"),
        "block": Param(True, "part 8: block the opponent's most dangerous reply"),
        "limit": Param(0.0, "a reply is dangerous from this value of its maker's streak on; 0: (k − 1) / k", 0.0, 10.0),
        "contiguous": Param(False, "a blank breaks a streak"),
    }

    def ready(self, game: Game, seed: int) -> None:
        if not isinstance(game, KInARow):
            raise GamekitError(f"custom plays k-in-a-row games (mnk, connect_k, connect_four), not {game.name}")
        s = self.settings
        self.timed = s["seconds"] is not None
        diagonal, open_end = (1.1, 0.25) if s["bonus"] else (1.0, 0.0)
        weights = {"diagonal": diagonal, "open_end": open_end, "contiguous": s["contiguous"], "alive": s["alive"]}
        both = heuristic_of("potential_streak", game, **weights, opponent=0.5 if s["rival"] else 0.0)
        self._own = both.with_(opponent=0.0).leaf(game)
        self._engine = Search(
            game,
            both.leaf(game),
            table=True,
            deepen=bool(s["so_far"] and (s["seconds"] or s["nodes"])),
            win_bonus=s["win"],
            moves=NEAR.address if s["near"] and not game.gravity else None,
        )
        try_each.prepare()
        self._limit = (s["limit"] or (game.k - 1) / game.k) - 1e-9

    def think(self, position: Position) -> Choice:
        game, s, started, tried = position.game, self.settings, time.monotonic(), 0
        if s["centre"] and game.left(position.data) == game.longest:
            return self._reply(position, int(game.centrality().argmin()), "centre", tried)
        codes, who = np.array(position.codes(), np.int32), position.turn
        half = started + s["seconds"] / 2 if s["so_far"] and s["seconds"] else math.inf
        for part, player, leaf, least, until in (
            ("win", who, 0, WINS, math.inf),
            ("block", 3 - who, self._own.address, self._limit, half),
        ):
            if s[part]:
                worth = self._try(position, codes, player, leaf, until)
                tried += worth.size
                if worth.max() >= least:
                    return self._reply(position, int(codes[worth.argmax()]), part, tried)
        seconds = s["seconds"] and max(s["seconds"] - (time.monotonic() - started), 0.001)
        found = self._engine.run(position, s["depth"], *((s["nodes"], seconds) if s["so_far"] else ()))
        found.counters["generated"] += tried
        return Choice.of(position, found)

    def _try(self, position: Position, codes: np.ndarray, who: int, leaf: int, until: float) -> np.ndarray:
        """What the moves would be worth to a player; some are left out when the time is over."""
        play, weights = position.game._rules.play.address, self._own.weights
        data, work, worth = position.data.copy(), position.data.copy(), np.zeros(codes.size)
        tried = 0
        while tried < codes.size and (tried == 0 or time.monotonic() < until):
            now = slice(tried, tried + AT_ONCE)
            try_each(play, leaf, data, work, codes[now], who, weights, worth[now])
            tried += AT_ONCE
        return worth[:tried]

    def _reply(self, position: Position, code: int, why: str, tried: int) -> Choice:
        move = position.game.write(code)
        return Choice(move, code, line=[move], depth=0, counters={"generated": tried}, stopped_by=why)


ONE_PLY = {"depth": 1, "prune": False, "ties": "random"}
DEEPENED = {"table": True, "order": "best+history+centre", "deepen": True}


def _some(preset: dict[str, Any], names: str) -> dict[str, Param]:
    """A few of a search's switches, with the preset as their default."""
    return {k: replace(p, default=preset.get(k, p.default)) for k, p in SWITCHES.items() if k in names.split()}


@register
class PoorAI(SearchPlayer):
    """The lowest of the ladder."""

    name, report = "poor_ai", "002 (role only)"
    about = "lowest of a ladder of three (ours, in PoorAI's role): own longest streak, one ply"
    preset: ClassVar = {**ONE_PLY, "win_bonus": False, "heuristic": "longest_streak"}
    takes = _some(preset, "ties")


@register
class AverageAI(SearchPlayer):
    """The middle of the ladder."""

    name, report = "average_ai", "002 (role only)"
    about = "middle of the ladder (ours, in AverageAI's role): both sides' streaks, one ply"
    preset: ClassVar = {**ONE_PLY, "heuristic": "potential_streak"}
    takes = _some(preset, "ties")


@register
class GoodAI(SearchPlayer):
    """The top of the ladder."""

    name, report = "good_ai", "002 (role only)"
    about = "top of the ladder (ours, in GoodAI's role): windows, four plies"
    preset: ClassVar = {"depth": 4, "ties": "random", "heuristic": "windows", **DEEPENED}
    takes = _some(preset, "ties")


@register
class ConnectKAgent(SearchPlayer):
    """The Connect-K report's agent."""

    name, report = "connect_k_agent", "002 parts 2–4"
    about = "the Connect-K report's: deepening to a time limit, move-to-front lists, reuse, pondering"
    preset: ClassVar = {"seconds": 5.0, "order": "front", "deepen": True, "reuse": True, "ponder": True}
    takes = _some(preset, "seconds nodes depth order reuse ponder prune ties megabytes heuristic")
