"""A heuristic's weights on sliders: the shown position is evaluated again at every touch."""

from __future__ import annotations

import html
from typing import Any

from ..core import Position
from ..heuristics import Heuristic, heuristic_of
from ..specs import Param
from .base import Live, bars
from .explanation import Explanation


class Weights(Live):
    """Sliders, the evaluation explained, and what each move would be worth. `heuristic` is the tuned one."""

    script = "weights.js"

    def __init__(self, heuristic: Heuristic, position: Position, me: int):
        super().__init__()
        self.heuristic, self.position, self.me = heuristic, position, me
        self.show()

    def explanation(self) -> Explanation:
        return Explanation(self.position, self.heuristic, self.me)

    def __repr__(self) -> str:
        return repr(self.explanation())

    def do_set(self, name: str, value: Any) -> None:
        """A value that is not allowed is refused by name; the last good one stays."""
        self.heuristic = self.heuristic.with_(**{name: value})
        self.show()

    def do_reset(self) -> None:
        self.heuristic = self.heuristic.with_(**{name: param.default for name, param in self.heuristic.params.items()})
        self.show()

    def snapshot(self) -> dict[str, Any]:
        after = {move: self.position.play(move) for move in self.position.moves()}
        values = {move: self.heuristic.value(position, self.me) for move, position in after.items()}
        top, settings = max(values.values(), default=0.0), self.heuristic.settings
        return {
            "explanation": self.explanation()._repr_html_(),
            "spec": str(self.heuristic),
            "weights": [
                {"name": name, "value": settings[name], "about": param.about, **_range(param)}
                for name, param in self.heuristic.params.items()
            ],
            "bars": bars(values.items(), 12, [move for move, value in values.items() if value == top]),
            "moves": len(values),
        }

    def picture(self) -> str:
        return self.explanation()._repr_svg_()

    def still(self) -> str:
        settings = ", ".join(f"{name} = {value}" for name, value in self.heuristic.settings.items())
        return f"{self.explanation()._repr_html_()}<p>{html.escape(settings)}</p>"


def _range(param: Param) -> dict[str, Any]:
    """How a weight is set: by a choice, a switch, or a slider around its default."""
    if param.choices:
        return {"choices": list(param.choices)}
    if isinstance(param.default, bool):
        return {"switch": True}
    size = abs(float(param.default)) or 5.0
    low = -2 * size if param.low is None else param.low
    high = 4 * size if param.high is None else param.high
    return {"low": low, "high": high, "step": (high - low) / 120}


def weights(heuristic: Any, position: Position, me: int | None = None) -> Weights:
    """Turn a heuristic's weights and see at once what the position and its moves are worth then.

    Args:
        heuristic: a heuristic or its spec.
        position: what is evaluated.
        me: for which player, 1 or 2 (default: who is to move).

    Returns:
        The widget; its `heuristic` is the tuned one.
    """
    return Weights(heuristic_of(heuristic, position.game), position, position.turn if me is None else me)
