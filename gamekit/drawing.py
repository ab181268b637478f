"""Positions as pictures: one drawing of every board, with the last move, winning lines and what made a score.

Colours stand in the drawing itself, so it can be read on any page; pages with a theme restyle its classes.
Players differ in shape as well as in colour: a cross and a ring, or a disc and a square around a number.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Iterator

from .core import Game, Position
from .games.conga import STEPS
from .heuristics import Part
from .search.table import DECIDED, WIN

Cell = tuple[int, int]

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


def effects(position: Position, code: int) -> list[tuple[int, int, int, str]]:
    """The cells a move changes, as (row, column, owner, label) after it."""
    game = position.game
    gravity = getattr(game, "gravity", None)
    if gravity is not None:  # k in a row: one stone, so large boards need no comparing
        cols, rows = game.cols, game.rows  # type: ignore[attr-defined]
        cell = (rows - 1 - int(position.record.height[code]), code) if gravity else divmod(code, cols)
        return [(*cell, position.turn, "")]
    before, after = game.cells(position.record), game.cells(position.after(code).record)
    return [(r, c, *after[r][c]) for r, row in enumerate(before) for c, cell in enumerate(row) if cell != after[r][c]]


def step(game: Game, code: int) -> tuple[Cell, Cell] | None:
    """Where a run of stones starts and the next cell on its way; None for a move on one cell."""
    if game.name != "conga":
        return None
    (r, c), (down, right) = divmod(code >> 3, 4), STEPS[code & 7]
    return (r, c), (r + down, c + right)


def grouped(parts: Iterable[Part]) -> dict[tuple[str, bool], list[Part]]:
    """Parts of one kind and sign together, the weightiest kind first."""
    kinds: dict[tuple[str, bool], list[Part]] = {}
    for part in parts:
        kinds.setdefault((part.what, part.value >= 0), []).append(part)
    return dict(sorted(kinds.items(), key=lambda kind: -abs(sum(p.value for p in kind[1]))))


def svg(position: Position, parts: Iterable[Part] = (), last: bool = True) -> str:
    """A position as a picture.

    Args:
        position: what to draw.
        parts: the parts of an evaluation, drawn over the board.
        last: mark the last move.

    Returns:
        SVG that needs no script and fetches nothing.
    """
    picture = _Picture(position)
    layers = [picture.ground(), picture.pieces(), picture.last_move() if last else (), picture.won()]
    body = "".join(element for layer in [*layers, picture.parts(list(parts))] for element in layer)
    wide, high = (EDGE + 2 * PAD + count * SIZE + 2 for count in (picture.cols, len(picture.rows)))
    scale = min(1.0, WIDEST / max(wide, high))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gk-board" role="img" aria-label="{picture.label()}" '
        f'width="{wide * scale:.0f}" height="{high * scale:.0f}" viewBox="0 0 {wide} {high}" '
        f'font-family="system-ui, sans-serif">{body}</svg>'
    )


def piece(game: Game, owner: int, label: str) -> str:
    """A player's piece around the origin."""
    colour = BLUE if owner == 1 else GREEN if game.name == "candy" else ORANGE
    ink, radius = "#fff" if owner == 1 else INK, SIZE * 0.38
    if game.name == "conga" and label:
        radius = SIZE * (0.24 + 0.17 * math.sqrt(int(label) / 10))
    shape = f'<circle class="gk-body" r="{radius:.4g}" fill="{colour}"/>'
    if owner == 2 and label:
        shape = _box("gk-body", -radius, -radius, 2 * radius, 2 * radius, f'rx="{radius * 0.32:.4g}" fill="{colour}"')
    if label:
        return shape + _text(0, 0, label, 19, ink, "gk-label", bold=True)
    stroke = f'fill="none" stroke="{ink}" stroke-width="5" stroke-linecap="round" opacity="0.85"'
    return shape + (f'<path d="M-7 -7L7 7M-7 7L7 -7" {stroke}/>' if owner == 1 else f'<circle r="8" {stroke}/>')


def _text(x: float, y: float, written: str, size: int, colour: str, kind: str, bold: bool = False) -> str:
    """A word around a point."""
    return (
        f'<text class="{kind}" x="{x:.4g}" y="{y:.4g}" fill="{colour}" font-size="{size}" text-anchor="middle" '
        f'dominant-baseline="central" font-weight="{600 if bold else 400}">{html.escape(written)}</text>'
    )


def _box(kind: str, x: float, y: float, width: float, height: float, look: str) -> str:
    return f'<rect class="{kind}" x="{x:.4g}" y="{y:.4g}" width="{width:.4g}" height="{height:.4g}" {look}/>'


class _Picture:
    """Where things lie in a board's picture, and its layers from the ground up."""

    def __init__(self, position: Position):
        self.position, self.game = position, position.game
        self.rows = self.game.cells(position.record)
        self.cols = len(self.rows[0])
        self.cells = {(r, c): cell for r, row in enumerate(self.rows) for c, cell in enumerate(row)}
        self.gravity = bool(getattr(self.game, "gravity", False))

    def label(self) -> str:
        """The picture in words, for those who do not see it."""
        names, winner = self.game.players, self.position.winner
        if winner is None:
            status = f"{names[self.position.turn - 1]} to move"
        else:
            status = f"{names[winner - 1]} has won" if winner else "a draw"
        return html.escape(f"{self.game}: {status}")

    def centre(self, cell: Cell) -> tuple[int, int]:
        return EDGE + PAD + cell[1] * SIZE + SIZE // 2, EDGE + PAD + cell[0] * SIZE + SIZE // 2

    def square(self, cell: Cell, kind: str, inset: int, look: str) -> str:
        """A rounded square in a cell."""
        x, y = self.centre(cell)
        side = SIZE - 2 * inset
        return _box(kind, x - side / 2, y - side / 2, side, side, f'rx="7" {look}')

    def ground(self) -> Iterator[str]:
        """The frame with its coordinates, as moves are written, and the empty cells."""
        wide, high = (count * SIZE + 2 * PAD for count in (self.cols, len(self.rows)))
        yield _box("gk-ground", EDGE, EDGE, wide, high, f'rx="12" fill="{GROUND}"')
        candy = self.game.name == "candy"
        for c in range(self.cols):
            name = chr(65 + c) if candy else str(c + self.gravity)
            yield _text(self.centre((0, c))[0], EDGE / 2, name, 13, FAINT, "gk-axis")
        for r in range(0 if self.gravity else len(self.rows)):
            yield _text(EDGE / 2, self.centre((r, 0))[1], str(r + candy), 13, FAINT, "gk-axis")
        dearest = max(int(label) for _, label in self.cells.values()) if candy else 0
        for cell, (owner, label) in self.cells.items():
            if self.gravity:
                x, y = self.centre(cell)
                yield f'<circle class="gk-hole" cx="{x}" cy="{y}" r="{SIZE * 0.42:.4g}" fill="{CELL}"/>'
            else:
                yield self.square(cell, "gk-cell", 2, f'fill="{CELL}"')
            if dearest and not owner:  # the dearer a cell, the deeper its tint
                yield self.square(cell, "gk-worth", 2, f'fill="{GOLD}" opacity="{0.45 * int(label) / dearest:.3g}"')

    def pieces(self) -> Iterator[str]:
        for cell, (owner, label) in self.cells.items():
            x, y = self.centre(cell)
            if owner:
                where = f'data-cell="{cell[0]},{cell[1]}" transform="translate({x} {y})"'
                yield f'<g class="gk-piece gk-p{owner}" {where}>{piece(self.game, owner, label)}</g>'
            elif label:
                yield _text(x, y, label, 18, INK, "gk-value")

    def last_move(self) -> Iterator[str]:
        """A frame around what the last move changed; a run of stones also gets its way drawn."""
        before, code = self.position.parent, self.position.last
        if before is None or code is None:
            return
        changed = [(r, c) for r, c, owner, _ in effects(before, code) if owner]
        for cell in changed:
            look = f'fill="none" stroke="{INK}" stroke-width="2.5" stroke-dasharray="5 4"'
            yield self.square(cell, "gk-last", 3, look)
        if run := step(self.game, code):
            start = run[0]
            (x, y), (tx, ty) = self.centre(start), self.centre(max(changed, key=lambda cell: math.dist(cell, start)))
            yield f'<circle class="gk-last" cx="{x}" cy="{y}" r="5" fill="{INK}"/>'
            look = f'stroke="{INK}" stroke-width="2.5" opacity="0.35"'
            yield f'<line class="gk-last" x1="{x}" y1="{y}" x2="{tx}" y2="{ty}" {look}/>'

    def won(self) -> Iterator[str]:
        """Rings on the winning line, in games that have one."""
        find = getattr(self.game, "winning_cells", None)
        for cell in find(self.position.record) if find and self.position.winner else ():
            x, y = self.centre(cell)
            for colour, width in ((INK, 8), (GOLD, 5)):
                look = f'fill="none" stroke="{colour}" stroke-width="{width}"'
                yield f'<circle class="gk-win" cx="{x}" cy="{y}" r="{SIZE * 0.43:.4g}" {look}/>'

    def parts(self, parts: list[Part]) -> Iterator[str]:
        """Parts of a score: lines over several cells, badges on single ones, stronger where they weigh more."""
        strongest = max((abs(p.value) for p in parts), default=0.0) or 1.0
        kinds = {key: f"gk-kind{i}" for i, key in enumerate(grouped(parts))}
        crowded = sum(len(p.cells) > 1 for p in parts) > 4
        badges: dict[Cell, list[Part]] = {}
        for number, part in enumerate(sorted(parts, key=lambda p: abs(p.value))):
            if len(part.cells) == 1:
                badges.setdefault(part.cells[0], []).append(part)
            elif part.cells:
                aside = (number % 7 - 3) * 3.2 if crowded else 0.0  # windows on one line lie side by side
                look = f'stroke-width="{4 if crowded else 7}" opacity="{0.2 + 0.7 * abs(part.value) / strongest:.3g}"'
                yield self._line(part, kinds[part.what, part.value >= 0], aside, look)
        for cell, here in badges.items():
            yield self._badge(cell, here, " ".join(sorted({kinds[p.what, p.value >= 0] for p in here})))

    def _line(self, part: Part, kind: str, aside: float, look: str) -> str:
        (x1, y1), (x2, y2) = self.centre(part.cells[0]), self.centre(part.cells[-1])
        far = math.hypot(x2 - x1, y2 - y1) or 1.0
        dx, dy = -(y2 - y1) / far * aside, (x2 - x1) / far * aside
        look += f' stroke="{GAIN}"' if part.value >= 0 else f' stroke="{LOSS}" stroke-dasharray="9 6"'
        return (
            f'<line class="gk-part {kind}" x1="{x1 + dx:.4g}" y1="{y1 + dy:.4g}" x2="{x2 + dx:.4g}" '
            f'y2="{y2 + dy:.4g}" stroke-linecap="round" {look}>'
            f"<title>{html.escape(part.what)} {signed(part.value)}</title></line>"
        )

    def _badge(self, cell: Cell, here: list[Part], kinds: str) -> str:
        total = sum(p.value for p in here)
        wide, (x, y) = 7.2 * len(signed(total)) + 8, self.centre(cell)
        middle, top, colour = x + SIZE / 2 - wide / 2, y - SIZE / 2, GAIN if total >= 0 else LOSS
        return (
            f'<g class="gk-part {kinds}"><title>{html.escape(", ".join(p.what for p in here))}</title>'
            + _box("", middle - wide / 2, top, wide, 18, f'rx="9" stroke="#fff" fill="{colour}"')
            + _text(middle, top + 9, signed(total), 12, "#fff", "gk-badge", bold=True)
            + "</g>"
        )
