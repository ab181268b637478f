"""A heuristic's weights on sliders: the shown position is evaluated again at every touch."""

from __future__ import annotations

import html
from typing import Any

from ..core import Position
from ..drawing import value_text
from ..heuristics import Heuristic, heuristic_of
from ..specs import Param
from .base import Live
from .explanation import Explanation


class Weights(Live):
    """Sliders, the evaluation seen, and what each move would be worth. `heuristic` is the tuned one."""

    script = "weights.js"

    def __init__(self, heuristic: Heuristic, position: Position, me: int):
        super().__init__()
        self.heuristic, self.position, self.me = heuristic, position, me
        self.show()

    def __repr__(self) -> str:
        return repr(Explanation(self.position, self.heuristic, self.me))

    def do_set(self, name: str, value: Any) -> None:
        """A value that is not allowed is refused by name; the last good one stays."""
        self.heuristic = self.heuristic.with_(**{name: value})
        self.show()

    def do_reset(self) -> None:
        self.heuristic = self.heuristic.with_(**{name: param.default for name, param in self.heuristic.params.items()})
        self.show()

    def moves(self) -> list[tuple[str, float]]:
        """Every move with the value of the position after it, for the player who evaluates; best first."""
        found = [
            (self.position.game.write(code), self.heuristic.value(self.position.after(code), self.me))
            for code in self.position.codes()
        ]
        return sorted(found, key=lambda item: -item[1])

    def snapshot(self) -> dict[str, Any]:
        settings, ranked = self.heuristic.settings, self.moves()
        return {
            "seen": Explanation(self.position, self.heuristic, self.me)._repr_html_(),
            "spec": str(self.heuristic),
            "weights": [
                {"name": name, "value": settings[name], "about": param.about, **_range(param)}
                for name, param in self.heuristic.params.items()
            ],
            "bars": [
                {"move": move, "value": value, "text": value_text(value), "best": value == ranked[0][1]}
                for move, value in ranked[:12]
            ],
            "moves": len(ranked),
        }

    def picture(self) -> str:
        return Explanation(self.position, self.heuristic, self.me)._repr_svg_()

    def still(self) -> str:
        settings = ", ".join(f"{name} = {value}" for name, value in self.heuristic.settings.items())
        return (
            f'<div class="gk-still">{Explanation(self.position, self.heuristic, self.me)._repr_html_()}'
            f"<p>{html.escape(settings)}</p></div>"
        )


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
    """Turn a heuristic's weights and see at once what the position and its moves are worth then."""
    return Weights(heuristic_of(heuristic, position.game), position, position.turn if me is None else me)
