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
from .heuristics import Part
from .search.table import DECIDED, WIN

Cell = tuple[int, int]
Rows = list[list[tuple[int, str]]]

SIZE, EDGE, PAD = 56, 24, 6  # a cell, the strip for coordinates, the frame around the cells
WIDEST = 448  # pixels of a picture; larger boards shrink to it
BLUE, ORANGE, GREEN = "#0072b2", "#e69f00", "#35bd92"  # far apart for every kind of colour vision
GROUND, CELL, FAINT, INK, GOLD = "#d9dfe7", "#f7f9fb", "#7b8591", "#1d232a", "#f5c400"
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


def tag(name: str, kind: str = "", inside: str = "", **facts: Any) -> str:
    """An SVG element of a class; numbers are rounded, `stroke_width` becomes `stroke-width`."""
    given = {"class": kind, **{key.replace("_", "-"): value for key, value in facts.items()}}
    written = "".join(
        f' {key}="{value:.4g}"' if isinstance(value, float) else f' {key}="{value}"'
        for key, value in given.items()
        if value != ""
    )
    return f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>"


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

    def square(self, cell: Cell, kind: str, inset: float, **facts: Any) -> str:
        """A rounded square in a cell."""
        x, y = self.centre(cell)
        side = SIZE - 2 * inset
        return tag("rect", kind, x=x - side / 2, y=y - side / 2, width=side, height=side, rx=7, **facts)


def svg(position: Position, parts: Iterable[Part] = (), last: bool = True) -> str:
    """The position as SVG; with `parts` what made its score is drawn on it."""
    rows = position.game.cells(position.record)
    sheet = Sheet(len(rows), len(rows[0]))
    scale = min(1.0, WIDEST / max(sheet.width, sheet.height))
    body = [_ground(position.game, sheet, rows), _pieces(position.game, sheet, rows)]
    if last and position.parent is not None and position.last is not None:
        body.append(_last(position.parent, position.last, sheet))
    body += [_won(position, sheet), _overlay(list(parts), sheet)]
    what = html.escape(f"{position.game}: {_status(position)}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gk-board" role="img" aria-label="{what}" '
        f'width="{sheet.width * scale:.0f}" height="{sheet.height * scale:.0f}" '
        f'viewBox="0 0 {sheet.width} {sheet.height}" font-family="system-ui, sans-serif">{"".join(body)}</svg>'
    )


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


def _ground(game: Game, sheet: Sheet, rows: Rows) -> str:
    across, down = _axes(game, sheet)
    drawn = [
        tag(
            "rect",
            "gk-ground",
            x=EDGE,
            y=EDGE,
            width=sheet.cols * SIZE + 2 * PAD,
            height=sheet.rows * SIZE + 2 * PAD,
            rx=12,
            fill=GROUND,
        )
    ]
    drawn += [text(sheet.centre((0, c))[0], EDGE / 2, name, 13, FAINT, "gk-axis") for c, name in enumerate(across)]
    drawn += [text(EDGE / 2, sheet.centre((r, 0))[1], name, 13, FAINT, "gk-axis") for r, name in enumerate(down)]
    highest = max(int(label) for row in rows for _, label in row) if game.name == "candy" else 0
    for r, row in enumerate(rows):
        for c, (owner, label) in enumerate(row):
            if getattr(game, "gravity", False):
                x, y = sheet.centre((r, c))
                drawn.append(tag("circle", "gk-hole", cx=x, cy=y, r=SIZE * 0.42, fill=CELL))
                continue
            drawn.append(sheet.square((r, c), "gk-cell", 2, fill=CELL))
            if highest and not owner:  # the dearer a cell, the deeper its tint
                drawn.append(sheet.square((r, c), "gk-worth", 2, fill=GOLD, opacity=0.45 * int(label) / highest))
    return "".join(drawn)


def _pieces(game: Game, sheet: Sheet, rows: Rows) -> str:
    drawn = []
    for r, row in enumerate(rows):
        for c, (owner, label) in enumerate(row):
            x, y = sheet.centre((r, c))
            if owner:
                drawn.append(
                    f'<g class="gk-piece gk-p{owner}" data-cell="{r},{c}" transform="translate({x:g} {y:g})">'
                    f"{piece(game, owner, label)}</g>"
                )
            elif label:
                drawn.append(text(x, y, label, 18, INK, "gk-value"))
    return "".join(drawn)


def piece(game: Game, owner: int, label: str) -> str:
    """A player's piece around the origin."""
    colour = BLUE if owner == 1 else GREEN if game.name == "candy" else ORANGE
    ink, radius, arm = "#fff" if owner == 1 else INK, SIZE * 0.38, SIZE * 0.13
    if game.name == "conga" and label:
        radius = SIZE * (0.24 + 0.17 * math.sqrt(int(label) / 10))
    if owner == 2 and label:
        shape = tag(
            "rect", "gk-body", x=-radius, y=-radius, width=2 * radius, height=2 * radius, rx=radius * 0.32, fill=colour
        )
    else:
        shape = tag("circle", "gk-body", r=radius, fill=colour)
    if label:
        return shape + text(0, 0, label, 19, ink, "gk-label", bold=True)
    stroke: dict[str, Any] = {
        "fill": "none",
        "stroke": ink,
        "stroke_width": 5,
        "stroke_linecap": "round",
        "opacity": 0.85,
    }
    if owner == 1:
        return shape + tag("path", d=f"M{-arm:g} {-arm:g}L{arm:g} {arm:g}M{-arm:g} {arm:g}L{arm:g} {-arm:g}", **stroke)
    return shape + tag("circle", r=arm * 1.15, **stroke)


def _last(before: Position, code: int, sheet: Sheet) -> str:
    """A frame around what the last move changed; a run of stones also gets its way drawn."""
    run = step(before.game, code)
    changed = [(r, c) for r, c, owner, _ in effects(before, code) if owner]
    drawn = [
        sheet.square(cell, "gk-last", 3, fill="none", stroke=INK, stroke_width=2.5, stroke_dasharray="5 4")
        for cell in changed
    ]
    if run:
        (x, y), (tx, ty) = sheet.centre(run[0]), sheet.centre(max(changed, key=lambda cell: math.dist(cell, run[0])))
        drawn += [
            tag("circle", "gk-last", cx=x, cy=y, r=5, fill=INK),
            tag("line", "gk-last", x1=x, y1=y, x2=tx, y2=ty, stroke=INK, stroke_width=2.5, opacity=0.35),
        ]
    return "".join(drawn)


def _won(position: Position, sheet: Sheet) -> str:
    find = getattr(position.game, "winning_cells", None)
    if not position.winner or find is None:
        return ""
    rings = []
    for cell in find(position.record):
        x, y = sheet.centre(cell)
        rings += [
            tag("circle", "gk-win", cx=x, cy=y, r=SIZE * 0.43, fill="none", stroke=colour, stroke_width=width)
            for colour, width in ((INK, 8), (GOLD, 5))
        ]
    return "".join(rings)


def text(x: float, y: float, written: str, size: float, colour: str, kind: str, bold: bool = False) -> str:
    """A word around a point."""
    return tag(
        "text",
        kind,
        html.escape(written) or " ",
        x=x,
        y=y,
        fill=colour,
        font_size=size,
        text_anchor="middle",
        dominant_baseline="central",
        font_weight=600 if bold else 400,
    )


# --------------------------------------------------------------------- what made the score


def grouped(parts: Iterable[Part]) -> dict[tuple[str, bool], list[Part]]:
    """Parts of one kind and sign together, the weightiest kind first."""
    kinds: dict[tuple[str, bool], list[Part]] = {}
    for part in parts:
        kinds.setdefault((part.what, part.value >= 0), []).append(part)
    return dict(sorted(kinds.items(), key=lambda kind: -abs(sum(p.value for p in kind[1]))))


def _overlay(parts: Sequence[Part], sheet: Sheet) -> str:
    """Parts on the board: lines over several cells, badges on single ones, stronger where they weigh more."""
    drawn, strongest = [], max((abs(p.value) for p in parts), default=0.0) or 1.0
    kinds = {key: f"gk-kind{i}" for i, key in enumerate(grouped(parts))}
    crowded = sum(len(p.cells) > 1 for p in parts) > 4
    badges: dict[Cell, list[Part]] = {}
    for number, part in enumerate(sorted(parts, key=lambda p: abs(p.value))):
        if len(part.cells) == 1:
            badges.setdefault(part.cells[0], []).append(part)
        elif part.cells:
            aside = (number % 7 - 3) * 3.2 if crowded else 0.0  # windows on one line lie side by side
            strength = 0.2 + 0.7 * abs(part.value) / strongest
            drawn.append(_line(part, sheet, kinds[part.what, part.value >= 0], aside, strength, 4 if crowded else 7))
    for cell, here in badges.items():
        names = " ".join(sorted({kinds[p.what, p.value >= 0] for p in here}))
        drawn.append(_badge(cell, here, sheet, names))
    return "".join(drawn)


def _line(part: Part, sheet: Sheet, kind: str, aside: float, strength: float, width: int) -> str:
    (x1, y1), (x2, y2) = sheet.centre(part.cells[0]), sheet.centre(part.cells[-1])
    far = math.hypot(x2 - x1, y2 - y1) or 1.0
    dx, dy = -(y2 - y1) / far * aside, (x2 - x1) / far * aside
    return tag(
        "line",
        f"gk-part {kind}",
        f"<title>{html.escape(part.what)} {signed(part.value)}</title>",
        x1=x1 + dx,
        y1=y1 + dy,
        x2=x2 + dx,
        y2=y2 + dy,
        stroke=GAIN if part.value >= 0 else LOSS,
        stroke_width=width,
        stroke_linecap="round",
        opacity=strength,
        stroke_dasharray="none" if part.value >= 0 else "9 6",
    )


def _badge(cell: Cell, here: list[Part], sheet: Sheet, names: str) -> str:
    total = sum(p.value for p in here)
    written = signed(total)
    wide = 7.2 * len(written) + 8
    x, y = sheet.centre(cell)
    x, y = x + SIZE / 2 - wide / 2, y - SIZE / 2 + 9
    return (
        f'<g class="gk-part {names}"><title>{html.escape(", ".join(p.what for p in here))}</title>'
        + tag(
            "rect",
            x=x - wide / 2,
            y=y - 9,
            width=wide,
            height=18,
            rx=9,
            stroke="#fff",
            fill=GAIN if total >= 0 else LOSS,
        )
        + text(x, y, written, 12, "#fff", "gk-badge", bold=True)
        + "</g>"
    )
