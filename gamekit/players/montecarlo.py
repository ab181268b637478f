"""Players that play games out at random: flat Monte-Carlo, and UCT."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..core import Game, Position
from ..search.montecarlo import MonteCarlo
from ..specs import Param
from .base import SECONDS, Choice, Player, register


@register
class FlatMonteCarlo(Player):
    """The Connect Four report's opponent: random playouts, results summed per first move."""

    name, about, report = "montecarlo", "random playouts, results summed per first move", "004 (MonteCarloAI)"
    tree: ClassVar[bool] = False
    deterministic = False
    takes = {"playouts": Param(None, "games to play out for a move", 1, 10**9, kind=int), "seconds": SECONDS}

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        if not self.settings["playouts"] and not self.settings["seconds"]:
            self.settings["playouts"] = 500
        self.timed = self.settings["seconds"] is not None

    def ready(self, game: Game, seed: int) -> None:
        self._engine = MonteCarlo(game, seed, self.tree, self.settings.get("exploration", 0.0))

    def think(self, position: Position) -> Choice:
        played = self._engine.run(position, self.settings["playouts"], self.settings["seconds"])
        write, mean = position.game.write, played.sums / np.maximum(played.tries, 1)
        best = int((played.tries if self.tree else played.sums).argmax())
        shown = (mean if self.tree else played.sums).tolist()
        code = played.codes[best]
        return Choice(
            write(code),
            code,
            float(mean[best]),
            line=[write(c) for c in played.line] or [write(code)],
            counters={"generated": played.generated, "playouts": played.playouts},
            stopped_by=played.stopped_by,
            values=dict(zip(map(write, played.codes), shown, strict=True)),
        )


@register
class UCT(FlatMonteCarlo):
    """Monte-Carlo tree search."""

    name, about, report = "uct", "Monte-Carlo tree search (UCB1)", "ours"
    tree = True
    takes = {
        **FlatMonteCarlo.takes,
        "exploration": Param(2**0.5, "how much moves that were tried less often are preferred", 0.0, 100.0),
    }
