"""What games on a grid of cells share: positions read from text, symmetries, the distance from the middle."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import DRAW, LOST, RUNNING, WON, Game, Position, Record, Symmetry
from ..errors import PositionError


class GridGame(Game):
    """A game on a grid of cells, whose positions are read from text."""

    shape: tuple[int, int]

    def tokens(self, row: int, col: int) -> dict[str, Any]:
        """Every way to write a cell, in capitals, with what the board then holds there."""
        raise NotImplementedError

    def complete(self, s: Record, check: bool) -> None:
        """Settle whose turn it is on a board read from text; with `check` refuse a position that cannot arise."""
        raise NotImplementedError

    def judge(self, s: Record) -> int:
        """RUNNING, or the end of a position read from text, seen by the player who is NOT to move."""
        raise NotImplementedError

    def position(self, text: str, check: bool = True) -> Position:
        if not isinstance(text, str):
            raise PositionError(f"a position is read from a text; given {text!r}")
        lines = [line.split() for line in text.strip().splitlines() if line.strip()]
        data, s = self.blank()
        self.setup(s)
        s.turn = self._read_turn(lines.pop()[:-2]) if lines and lines[-1][-2:] == ["to", "move"] else 0
        cells = self.grid(s).reshape(-1)
        cells[:] = np.array(self._read_cells(lines), cells.dtype)
        self.derive(s)
        self.complete(s, check)
        status, mover = self.judge(s), 3 - int(s.turn)
        winner = {RUNNING: None, WON: mover, DRAW: 0, LOST: 3 - mover}[status]
        return Position(self, data[: self.size].copy(), winner)

    def _read_turn(self, words: list[str]) -> int:
        names, who = [name.lower() for name in self.players], " ".join(words)
        if who.lower() not in names:
            raise PositionError(f"{who!r} is not a player of {self.name}; allowed: {' and '.join(self.players)}")
        return names.index(who.lower()) + 1

    def _read_cells(self, rows: list[list[str]]) -> list[Any]:
        """What each cell of a text holds, in reading order; single characters need no spaces between them."""
        height, width = self.shape
        rows = [list(row[0]) if len(row) == 1 < width else row for row in rows]
        if [len(row) for row in rows] != [width] * height:
            given = ", ".join(str(len(row)) for row in rows) or "nothing"
            raise PositionError(f"{self} has {height} rows of {width} cells; given rows of {given}")
        found = []
        for r, row in enumerate(rows):
            for c, text in enumerate(row):
                tokens = self.tokens(r, c)
                if text.upper() not in tokens:
                    where = f"row {r + 1}, column {c + 1}: {text!r} is no cell of this board"
                    raise PositionError(f"{where}; allowed: {', '.join(tokens)}")
                found.append(tokens[text.upper()])
        return found


class FillingGame(GridGame):
    """A game in which every move fills a cell for good; it is over when the board is full, if not before.

    Its record has a field `filled`, the number of cells that are.
    """

    longest: int

    def __init__(self, shape: tuple[int, int], settings: dict[str, Any]):
        super().__init__(**settings)
        self.shape = self.rows, self.cols = shape
        self.longest = self.codes = self.rows * self.cols
        kind, at = self.state.fields["filled"][:2]  # type: ignore[index]
        self._filled = slice(at, at + kind.itemsize)

    def left(self, data: np.ndarray) -> int:
        return self.longest - int.from_bytes(data[self._filled].tobytes(), "little")

    def centrality(self) -> np.ndarray:
        down, across = from_middle(self.rows), from_middle(self.cols)
        return np.maximum(down[:, None], across[None, :]).ravel()

    def symmetries(self) -> list[Symmetry]:
        cells = np.arange(self.longest).reshape(self.shape)
        images = {"mirror": cells[:, ::-1], "flip": cells[::-1], "half turn": cells[::-1, ::-1]}
        if self.rows == self.cols:
            images |= {"transpose": cells.T, "quarter turn": np.rot90(cells)}
            images |= {"three quarters": np.rot90(cells, 3), "antitranspose": cells[::-1, ::-1].T}
        # image[r, c] names the cell that lands on (r, c); its inverse says where each cell goes
        turns = {name: np.argsort(image.ravel(), kind="stable") for name, image in images.items()}
        return [Symmetry(name, turn, turn) for name, turn in turns.items()]


def from_middle(count: int) -> np.ndarray:
    """How far each of `count` cells in a row is from their middle, in half cells."""
    return np.abs(2 * np.arange(count, dtype=np.int32) - (count - 1))
