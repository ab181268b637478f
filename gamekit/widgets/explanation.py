"""The evaluation explained: a position with what made its score drawn on the board, and the sums beside it."""

from __future__ import annotations

import html
from typing import Any

from ..core import Position
from ..drawing import GAIN, LOSS, grouped, signed, svg, value_text
from ..heuristics import heuristic_of

LEFT = "style='text-align:left'"


class Explanation:
    """A position as a heuristic sees it. `parts` are the pieces of the score, `value` is what the search would get."""

    def __init__(self, position: Position, heuristic: Any = None, me: int | None = None):
        self.position, self.heuristic = position, heuristic_of(heuristic, position.game)
        self.me = position.turn if me is None else me
        self.parts = self.heuristic.explain(position, self.me)
        self.value = self.heuristic.value(position, self.me)
        self.player = position.game.players[self.me - 1]
        self.kinds = [
            (what, len(parts), gain, signed(sum(p.value for p in parts)))
            for (what, gain), parts in grouped(self.parts).items()
        ]

    @property
    def total(self) -> float:
        """What the parts add up to; the value itself where they explain all of it."""
        return sum(part.value for part in self.parts)

    def __repr__(self) -> str:
        lines = [f"{self.heuristic} = {value_text(self.value)} for {self.player}"]
        return "\n".join(lines + [f"{share:>8}  {count} × {what}" for what, count, _, share in self.kinds])

    def _repr_svg_(self) -> str:
        return svg(self.position, self.parts, last=False)

    def _repr_html_(self) -> str:
        """Pointing at a row leaves only its parts on the board; no script is needed for that."""
        name = f"gk-explained-{id(self):x}"
        rows, rules = [], [f".{name} :is(td,th){{padding:1px 8px;text-align:right}}"]
        for i, (what, count, gain, share) in enumerate(self.kinds):
            colour, sign = (GAIN, "━") if gain else (LOSS, "╍")
            cells = f"<td style='color:{colour}'>{sign}</td><td {LEFT}>{html.escape(what)}</td><td>{count}</td>"
            rows.append(f"<tr class='gk-row{i}'>{cells}<td>{share}</td></tr>")
            rules.append(f".{name}:has(.gk-row{i}:hover) .gk-part:not(.gk-kind{i}){{opacity:.06}}")
        table = ""
        if any(part.cells for part in self.parts):  # else the heuristic does not say what it is made of
            titles = f"<tr><th></th><th {LEFT}>part</th><th>how many</th><th>adds</th></tr>"
            table = f"<table style='border-collapse:collapse;margin:8px 0'>{titles}{''.join(rows)}</table>"
        return (
            f"<style>{''.join(rules)}</style><div class='gk-explained {name}' style='display:flex;flex-wrap:wrap;"
            f"gap:20px;align-items:flex-start'>{self._repr_svg_()}<div style='flex:1 1 15em;max-width:26em'>"
            f"<b>{html.escape(str(self.heuristic))}</b> = <b>{value_text(self.value)}</b> for "
            f"{html.escape(self.player)}<div style='opacity:.75'>{html.escape(self.heuristic.about)}</div>{table}</div>"
            "</div>"
        )


def explain(position: Position, heuristic: Any = None, me: int | None = None) -> Explanation:
    """Which cells, windows, streaks or blocks made the score of a position, drawn on its board.

    Args:
        position: what is evaluated.
        heuristic: a heuristic or its spec (default: the game's).
        me: for which player, 1 or 2 (default: who is to move).

    Returns:
        The explanation: a picture in a notebook, with `parts`, their `total`, and the `value`.

    >>> import gamekit as gk
    >>> explain(gk.game("conga").start(), "squares").total
    0.0
    """
    return Explanation(position, heuristic, me)
