"""Positions as pictures: one drawing of every board, with the last move, winning lines and what made a score.

Colours stand in the drawing itself, so it can be read on any page; pages with a theme restyle its classes.
Players differ in shape as well as in colour: a cross and a ring, or a disc and a square around a number.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .core import Game, Position
from .engine.table import DECIDED, WIN
from .heuristics import Heuristic, Part, heuristic_of
from .specs import Spec

Cell = tuple[int, int]

SIZE, EDGE, PAD = 56, 24, 6  # a cell, the strip for coordinates, the frame around the cells
WIDEST = 448  # pixels of a picture; larger boards shrink to it
BLUE, ORANGE, GREEN = "#0072b2", "#e69f00", "#35bd92"  # far apart for every kind of colour vision
GROUND, CELL, HOLE, FAINT, INK, GOLD = "#d9dfe7", "#f7f9fb", "#f7f9fb", "#7b8591", "#1d232a", "#f5c400"
GAIN, LOSS = "#00806a", "#b5367f"  # parts of a score for and against; the latter also dashed


def value_text(value: float | None) -> str:
    """A value as people read it: a win by the ply it comes at.

    >>> value_text(0.5), value_text(-120.0), value_text(float("inf"))
    ('0.5', '−120', '∞')
    """
    if value is None:
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) > DECIDED:
        return f"{'win' if value > 0 else 'loss'} at ply {round(WIN - abs(value))}"
    return f"{value:.4g}".replace("-", "−")


def signed(value: float) -> str:
    """A part of a score with its sign."""
    return ("+" if value >= 0 else "") + value_text(value)


# ------------------------------------------------------------------------- where moves are


def effects(position: Position, code: int) -> list[tuple[int, int, int, str]]:
    """The cells a move changes, as (row, column, owner, label) after it."""
    game = position.game
    gravity = getattr(game, "gravity", None)
    if gravity is not None:  # k in a row: one stone, told without comparing boards
        cols, rows = game.cols, game.rows  # type: ignore[attr-defined]
        if not gravity:
            return [(*divmod(code, cols), position.turn, "")]
        return [(rows - 1 - int(position.record.height[code]), code, position.turn, "")]
    before, after = game.cells(position.record), game.cells(position.after(code).record)
    return [(r, c, *after[r][c]) for r, row in enumerate(before) for c, cell in enumerate(row) if cell != after[r][c]]


def step(game: Game, code: int) -> tuple[Cell, Cell] | None:
    """The first cell of a move that runs, and the next one on its way; None for a move on one cell."""
    if game.name != "conga":
        return None
    from .games.conga import STEPS

    (r, c), (down, right) = divmod(code >> 3, 4), STEPS[code & 7]
    return (r, c), (r + down, c + right)


# --------------------------------------------------------------------------- one drawing


@dataclass(frozen=True)
class Sheet:
    """Where things lie in a board's picture."""

    rows: int
    cols: int

    @property
    def width(self) -> int:
        return EDGE + 2 * PAD + self.cols * SIZE + 2

    @property
    def height(self) -> int:
        return EDGE + 2 * PAD + self.rows * SIZE + 2

    def centre(self, cell: Cell) -> tuple[float, float]:
        return EDGE + PAD + (cell[1] + 0.5) * SIZE, EDGE + PAD + (cell[0] + 0.5) * SIZE


def svg(position: Position, parts: Iterable[Part] = (), last: bool = True) -> str:
    """The position as SVG; with `parts` what made its score is drawn on it."""
    rows = position.game.cells(position.record)
    sheet = Sheet(len(rows), len(rows[0]))
    scale = min(1.0, WIDEST / max(sheet.width, sheet.height))
    body = [_ground(position.game, sheet, rows), _pieces(position, sheet, rows)]
    if last and position.parent is not None and position.last is not None:
        body.append(_last(position.parent, position.last, sheet))
    body += [_won(position, sheet), _overlay(list(parts), sheet)]
    what = html.escape(f"{position.game}: {_status(position)}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" class="gk-board" role="img" aria-label="{what}" '
            f'width="{sheet.width * scale:.0f}" height="{sheet.height * scale:.0f}" '
            f'viewBox="0 0 {sheet.width} {sheet.height}" font-family="system-ui, sans-serif">{"".join(body)}</svg>')


def _status(position: Position) -> str:
    names = position.game.players
    if position.winner is None:
        return f"{names[position.turn - 1]} to move"
    return f"{names[position.winner - 1]} has won" if position.winner else "a draw"


def _axes(game: Game, sheet: Sheet) -> tuple[list[str], list[str]]:
    """What stands above the columns and beside the rows, as moves are written."""
    if game.name == "candy":
        return [chr(65 + c) for c in range(sheet.cols)], [str(r + 1) for r in range(sheet.rows)]
    if getattr(game, "gravity", False):
        return [str(c + 1) for c in range(sheet.cols)], [""] * sheet.rows
    return [str(c) for c in range(sheet.cols)], [str(r) for r in range(sheet.rows)]


def _ground(game: Game, sheet: Sheet, rows: list) -> str:
    across, down = _axes(game, sheet)
    parts = [f'<rect class="gk-ground" x="{EDGE}" y="{EDGE}" width="{sheet.cols * SIZE + 2 * PAD}" '
             f'height="{sheet.rows * SIZE + 2 * PAD}" rx="12" fill="{GROUND}"/>']
    for c, name in enumerate(across):
        parts.append(_text(sheet.centre((0, c))[0], EDGE / 2, name, 13, FAINT, "gk-axis"))
    for r, name in enumerate(down):
        parts.append(_text(EDGE / 2, sheet.centre((r, 0))[1], name, 13, FAINT, "gk-axis"))
    highest = max((int(label) for row in rows for _, label in row if label), default=1) if game.name == "candy" else 0
    for r, row in enumerate(rows):
        for c, (owner, label) in enumerate(row):
            x, y = sheet.centre((r, c))
            if getattr(game, "gravity", False):
                parts.append(f'<circle class="gk-hole" cx="{x:g}" cy="{y:g}" r="{SIZE * 0.42:g}" fill="{HOLE}"/>')
                continue
            parts.append(f'<rect class="gk-cell" x="{x - SIZE / 2 + 2:g}" y="{y - SIZE / 2 + 2:g}" width="{SIZE - 4}" '
                         f'height="{SIZE - 4}" rx="7" fill="{CELL}"/>')
            if highest and not owner:  # the dearer a cell, the deeper its tint
                parts.append(f'<rect class="gk-worth" x="{x - SIZE / 2 + 2:g}" y="{y - SIZE / 2 + 2:g}" '
                             f'width="{SIZE - 4}" height="{SIZE - 4}" rx="7" fill="{GOLD}" '
                             f'opacity="{0.45 * int(label) / highest:.2f}"/>')
    return "".join(parts)


def _pieces(position: Position, sheet: Sheet, rows: list) -> str:
    parts = []
    for r, row in enumerate(rows):
        for c, (owner, label) in enumerate(row):
            x, y = sheet.centre((r, c))
            if owner:
                parts.append(f'<g class="gk-piece gk-p{owner}" data-cell="{r},{c}" transform="translate({x:g} {y:g})">'
                             f"{piece(position.game, owner, label)}</g>")
            elif label:
                parts.append(_text(x, y, label, 18, INK, "gk-value"))
    return "".join(parts)


def piece(game: Game, owner: int, label: str) -> str:
    """A player's piece around the origin."""
    colour = BLUE if owner == 1 else GREEN if game.name == "candy" else ORANGE
    ink = "#fff" if owner == 1 else INK
    radius = SIZE * 0.38
    if game.name == "conga" and label:
        radius = SIZE * (0.24 + 0.17 * math.sqrt(int(label) / 10))
    if owner == 2 and label:
        shape = (f'<rect class="gk-body" x="{-radius:.1f}" y="{-radius:.1f}" width="{2 * radius:.1f}" '
                 f'height="{2 * radius:.1f}" rx="{radius * 0.32:.1f}" fill="{colour}"/>')
    else:
        shape = f'<circle class="gk-body" r="{radius:.1f}" fill="{colour}"/>'
    if label:
        return shape + _text(0, 0, label, 19, ink, "gk-label", bold=True)
    arm = SIZE * 0.13
    if owner == 1:
        return shape + (f'<path d="M{-arm:g} {-arm:g}L{arm:g} {arm:g}M{-arm:g} {arm:g}L{arm:g} {-arm:g}" fill="none" '
                        f'stroke="{ink}" stroke-width="5" stroke-linecap="round" opacity=".85"/>')
    return shape + f'<circle r="{arm * 1.15:.1f}" fill="none" stroke="{ink}" stroke-width="5" opacity=".8"/>'


def _last(before: Position, code: int, sheet: Sheet) -> str:
    """Rings around what the last move changed; a run of stones also gets its way drawn."""
    parts, run = [], step(before.game, code)
    changed = [(r, c) for r, c, owner, _ in effects(before, code) if owner]
    for r, c in changed:
        x, y = sheet.centre((r, c))
        parts.append(f'<rect class="gk-last" x="{x - SIZE / 2 + 3:g}" y="{y - SIZE / 2 + 3:g}" width="{SIZE - 6}" '
                     f'height="{SIZE - 6}" rx="8" fill="none" stroke="{INK}" stroke-width="2.5" stroke-dasharray="5 4"/>')
    if run:
        (x, y), end = sheet.centre(run[0]), max(changed, key=lambda cell: math.dist(cell, run[0]))
        tx, ty = sheet.centre(end)
        parts.append(f'<circle class="gk-last" cx="{x:g}" cy="{y:g}" r="5" fill="{INK}"/><line class="gk-last" x1="{x:g}" '
                     f'y1="{y:g}" x2="{tx:g}" y2="{ty:g}" stroke="{INK}" stroke-width="2.5" opacity=".35"/>')
    return "".join(parts)


def _won(position: Position, sheet: Sheet) -> str:
    find = getattr(position.game, "winning_cells", None)
    if not position.winner or find is None:
        return ""
    rings = []
    for cell in find(position.record):
        x, y = sheet.centre(cell)
        rings.append(f'<circle class="gk-win" cx="{x:g}" cy="{y:g}" r="{SIZE * 0.43:g}" fill="none" stroke="{INK}" '
                     f'stroke-width="8"/><circle class="gk-win" cx="{x:g}" cy="{y:g}" r="{SIZE * 0.43:g}" fill="none" '
                     f'stroke="{GOLD}" stroke-width="5"/>')
    return "".join(rings)


def _text(x: float, y: float, text: str, size: float, colour: str, kind: str, bold: bool = False) -> str:
    return (f'<text class="{kind}" x="{x:g}" y="{y:g}" fill="{colour}" font-size="{size:g}" text-anchor="middle" '
            f'dominant-baseline="central" font-weight="{600 if bold else 400}">{html.escape(text)}</text>')


# --------------------------------------------------------------------- the evaluation seen


def _overlay(parts: Sequence[Part], sheet: Sheet) -> str:
    """Parts on the board: lines over several cells, badges on single ones, stronger where they weigh more."""
    drawn, strongest = [], max((abs(p.value) for p in parts), default=0.0) or 1.0
    kinds = {key: i for i, key in enumerate(grouped(parts))}
    badges: dict[Cell, list[Part]] = {}
    crowded = sum(len(p.cells) > 1 for p in parts) > 4
    for number, part in enumerate(sorted(parts, key=lambda p: abs(p.value))):
        colour = GAIN if part.value >= 0 else LOSS
        kind = f"gk-part gk-kind{kinds[part.what, part.value >= 0]}"
        if len(part.cells) == 1:
            badges.setdefault(part.cells[0], []).append(part)
        elif part.cells:
            (x1, y1), (x2, y2) = sheet.centre(part.cells[0]), sheet.centre(part.cells[-1])
            far = math.hypot(x2 - x1, y2 - y1) or 1.0
            aside = (number % 7 - 3) * 3.2 if crowded else 0.0  # windows on one line lie side by side
            dx, dy = -(y2 - y1) / far * aside, (x2 - x1) / far * aside
            dash = "" if part.value >= 0 else ' stroke-dasharray="9 5"'
            drawn.append(f'<line class="{kind}" x1="{x1 + dx:.1f}" y1="{y1 + dy:.1f}" x2="{x2 + dx:.1f}" y2="{y2 + dy:.1f}" '
                         f'stroke="{colour}" stroke-width="{4 if crowded else 7}" stroke-linecap="round"{dash} '
                         f'opacity="{0.2 + 0.7 * abs(part.value) / strongest:.2f}"><title>'
                         f"{html.escape(part.what)} {signed(part.value)}</title></line>")
    for cell, here in badges.items():
        x, y = sheet.centre(cell)
        total = sum(p.value for p in here)
        text, names = signed(total), " ".join(sorted({f"gk-kind{kinds[p.what, p.value >= 0]}" for p in here}))
        wide = 7.2 * len(text) + 8
        x, y = x + SIZE / 2 - wide / 2, y - SIZE / 2 + 9
        drawn.append(f'<g class="gk-part {names}"><title>{html.escape(", ".join(p.what for p in here))}</title>'
                     f'<rect x="{x - wide / 2:.1f}" y="{y - 9:.1f}" width="{wide:.1f}" height="18" rx="9" stroke="#fff" '
                     f'fill="{GAIN if total >= 0 else LOSS}"/>{_text(x, y, text, 12, "#fff", "gk-badge", bold=True)}</g>')
    return "".join(drawn)


def grouped(parts: Iterable[Part]) -> dict[tuple[str, bool], list[Part]]:
    """Parts of one kind and sign together, the weightiest kind first."""
    kinds: dict[tuple[str, bool], list[Part]] = {}
    for part in parts:
        kinds.setdefault((part.what, part.value >= 0), []).append(part)
    return dict(sorted(kinds.items(), key=lambda kind: -abs(sum(p.value for p in kind[1]))))


class Seen:
    """An evaluation seen: the board with what made the score drawn on it, and the sums beside it."""

    def __init__(self, position: Position, heuristic: str | Spec | Heuristic | None = None, me: int | None = None):
        self.position, self.heuristic = position, heuristic_of(heuristic, position.game)
        self.me = position.turn if me is None else me
        self.parts = self.heuristic.explain(position, self.me)
        self.value = self.heuristic.value(position, self.me)

    @property
    def total(self) -> float:
        """What the parts add up to; the heuristic's own value where they explain all of it."""
        return sum(part.value for part in self.parts)

    def __repr__(self) -> str:
        lines = [f"{self.heuristic} = {value_text(self.value)} for {self.position.game.players[self.me - 1]}"]
        return "\n".join(lines + [f"{signed(sum(p.value for p in parts)):>8}  {len(parts)} × {what}"
                                  for (what, _), parts in grouped(self.parts).items()])

    def _repr_svg_(self) -> str:
        return svg(self.position, self.parts, last=False)

    def _repr_html_(self) -> str:
        """Hovering over a row leaves only its parts on the board; no script is needed for that."""
        rows, rules, name = [], [], f"gk-seen-{id(self):x}"
        for i, ((what, gain), parts) in enumerate(grouped(self.parts).items()):
            share = sum(p.value for p in parts)
            rows.append(f'<tr class="gk-row{i}"><td style="color:{GAIN if gain else LOSS}">{"━" if gain else "╍"}</td>'
                        f'<td style="text-align:left">{html.escape(what)}</td><td>{len(parts)}</td><td>{signed(share)}</td></tr>')
            rules.append(f".{name} :is(td,th){{padding:1px 8px;text-align:right}}" if not i else "")
            rules.append(f".{name}:has(.gk-row{i}:hover) .gk-part:not(.gk-kind{i}){{opacity:.06}}")
        who = html.escape(self.position.game.players[self.me - 1])
        head = (f"<b>{html.escape(str(self.heuristic))}</b> = <b>{value_text(self.value)}</b> for {who}"
                f"<div style='opacity:.75'>{html.escape(self.heuristic.about)}</div>")
        table = ("<table style='border-collapse:collapse;margin:8px 0'><tr><th></th><th style='text-align:left'>part</th>"
                 f"<th>how many</th><th>adds</th></tr>{''.join(rows)}</table>") if any(p.cells for p in self.parts) else ""
        return (f'<style>{"".join(rules)}</style><div class="gk-seen {name}" style="display:flex;flex-wrap:wrap;gap:20px;'
                f'align-items:flex-start">{self._repr_svg_()}<div style="min-width:14em;max-width:26em">{head}{table}</div></div>')


def seen(position: Position, heuristic: Any = None, me: int | None = None) -> Seen:
    """Which cells, windows, streaks or blocks made the score of a position, drawn on its board.

    >>> import gamekit as gk
    >>> seen(gk.game("conga").start(), "squares").total
    0.0
    """
    return Seen(position, heuristic, me)


Position.picture = staticmethod(svg)  # type: ignore[assignment]  # a position draws itself in a notebook
