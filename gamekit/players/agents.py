"""The agents the reports built for themselves: the m,n,k custom player, the Connect-K agent, a ladder of opponents."""

from __future__ import annotations

import time
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
from .base import PLAYERS, Choice, Player
from .searchers import SearchPlayer

WINS = 1e9
NEAR = Rules(near_moves, KInARow.play, KInARow.state, KInARow.width, "gamekit.players.agents.near").moves


@compiled(
    types.intp,
    types.intp,
    types.uint8[::1],
    types.uint8[::1],
    types.int32[::1],
    types.int32,
    types.float64[::1],
    types.float64[::1],
)
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


class Custom(Player):
    """The m,n,k report's custom agent; its eight parts are eight switches."""

    name, report = "custom", "003 question 2"
    about = "the m,n,k report's agent: streak search near the stones, takes wins, blocks threats"
    takes: ClassVar = {
        "depth": Param(3, "plies to look ahead", 1, 20),
        "seconds": Param(None, "time for a move", 0.001, 86400.0, kind=float),
        "nodes": Param(None, "positions to generate for a move", 1, 10**12, kind=int),
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
        streak = {
            "diagonal": 1.1 if s["bonus"] else 1.0,
            "open_end": 0.25 if s["bonus"] else 0.0,
            "contiguous": s["contiguous"],
            "alive": s["alive"],
        }
        both = heuristic_of("potential_streak", game).with_(**streak, opponent=0.5 if s["rival"] else 0.0)
        self._own = heuristic_of("potential_streak", game).with_(**streak, opponent=0.0).leaf(game)
        limited = s["so_far"] and (s["seconds"] or s["nodes"])
        self._engine = Search(
            game,
            both.leaf(game),
            table=True,
            deepen=bool(limited),
            win_bonus=s["win"],
            moves=NEAR.address if s["near"] and not game.gravity else None,
        )
        try_each.prepare()
        self._limit = s["limit"] or (game.k - 1) / game.k

    def think(self, position: Position) -> Choice:
        game, s = position.game, self.settings
        assert isinstance(game, KInARow)
        started = time.monotonic()
        play, own, weights = game._rules.play.address, self._own.address, self._own.weights
        codes = np.array(position.codes(), np.int32)
        middle = int(game.centrality().argmin())
        if s["centre"] and game.left(position.data) == game.longest:
            return self._reply(position, middle, "centre")
        worth = np.zeros(codes.size)
        work = np.zeros(position.data.size, np.uint8)
        data = position.data.copy()
        tried = 0
        if s["win"]:
            try_each(play, 0, data, work, codes, position.turn, weights, worth)
            tried += codes.size
            if worth.max() >= WINS:
                return self._reply(position, int(codes[worth.argmax()]), "win", tried)
        if s["block"]:
            for at in range(0, codes.size, 32):
                part = slice(at, at + 32)
                try_each(play, own, data, work, codes[part], 3 - position.turn, weights, worth[part])
                tried += worth[part].size
                if s["so_far"] and s["seconds"] and time.monotonic() - started > s["seconds"] / 2:
                    break
            if worth.max() > self._limit - 1e-9:
                return self._reply(position, int(codes[worth.argmax()]), "block", tried)
        seconds = s["seconds"] and max(s["seconds"] - (time.monotonic() - started), 0.001)
        limits = (s["nodes"], seconds) if s["so_far"] else (None, None)
        found = self._engine.run(position, s["depth"], *limits)
        write = game.write
        found.counters["generated"] += tried
        return Choice(
            write(found.code),
            found.code,
            found.value,
            [write(c) for c in found.line],
            found.depth,
            found.counters,
            found.stopped_by,
            by_ply=found.by_ply,
        )

    def _reply(self, position: Position, code: int, why: str, tried: int = 0) -> Choice:
        move = position.game.write(code)
        return Choice(move, code, line=[move], depth=0, counters={"generated": tried}, stopped_by=why)


def _fixed(name: str, about: str, report: str, preset: dict[str, Any], takes: tuple[str, ...]) -> type[SearchPlayer]:
    """A search with its switches set, under a name of its own."""
    kept = {
        k: Param(preset.get(k, p.default), p.about, p.low, p.high, p.choices, p.kind or type(p.default))
        for k, p in SearchPlayer.takes.items()
        if k in takes
    }
    kind = type(
        name,
        (SearchPlayer,),
        {"name": name, "about": about, "report": report, "preset": preset, "takes": kept, "__module__": __name__},
    )
    globals()[name] = kind
    return kind


LADDER: dict[str, type[SearchPlayer]] = {
    "poor_ai": _fixed(
        "poor_ai",
        "lowest of a ladder of three (ours, in PoorAI's role): own longest streak, one ply",
        "002 (role only)",
        {"depth": 1, "prune": False, "win_bonus": False, "ties": "random", "heuristic": "longest_streak"},
        ("ties",),
    ),
    "average_ai": _fixed(
        "average_ai",
        "middle of the ladder (ours, in AverageAI's role): both sides' streaks, one ply",
        "002 (role only)",
        {"depth": 1, "prune": False, "ties": "random", "heuristic": "potential_streak"},
        ("ties",),
    ),
    "good_ai": _fixed(
        "good_ai",
        "top of the ladder (ours, in GoodAI's role): windows, four plies",
        "002 (role only)",
        {
            "depth": 4,
            "ties": "random",
            "table": True,
            "order": "best+history+centre",
            "deepen": True,
            "heuristic": "windows",
        },
        ("ties",),
    ),
}

CONNECT_K_AGENT = _fixed(
    "connect_k_agent",
    "the Connect-K report's: deepening to a time limit, move-to-front lists, reuse, pondering",
    "002 parts 2–4",
    {"seconds": 5.0, "order": "front", "deepen": True, "reuse": True, "ponder": True},
    ("seconds", "nodes", "depth", "order", "reuse", "ponder", "prune", "ties", "megabytes", "heuristic"),
)

AGENTS: list[type[Player]] = [Custom, *LADDER.values(), CONNECT_K_AGENT]
PLAYERS.update({kind.name: kind for kind in AGENTS})
