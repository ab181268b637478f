"""The exact value of a position, or an honest "not solved"; never a guess.

Values are for the side to move: positive wins, zero draws, negative loses.

- k in a row with gravity: the score, which is how many stones the winner still holds when about to win;
- without gravity, and in Conga: 1, 0 or −1;
- Candy: the margin of the final totals.

Boards of up to 64 bits have solvers of their own (`drop_solver`, `line_solver`). Everything else is left to the
ordinary search, deepened until it sees a forced end. In Conga such a win needs no position twice, so the rule on
repetition cannot spoil it; where none is in sight the value is withheld, for play could go round for ever.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import Game, Leaf, Position, a_position
from ..errors import GamekitError
from ..games import game as game_of
from ..games.candy import Candy
from ..games.k_in_a_row import KInARow
from ..heuristics import heuristic_of
from ..jit.compiled import Compiled
from ..jit.intrinsics import LEAF
from ..search.deepening import DEEPEST, Search
from ..search.ordering import BEST, CENTRE, HISTORY
from ..search.table import DECIDED, WIN
from ..search.workspace import DEPTH, GENERATED
from .bits import BitSolver
from .drop_solver import DropSolver
from .line_solver import LineSolver

LONG = 34  # with so many plies left a table of ordinary size (fast because it fits the cache) is too small


@dataclass(frozen=True)
class Solved:
    """A value with how it was come by; `value` is None where the budget did not suffice."""

    value: int | None
    nodes: int
    plies: int | None = None  # to the end, where known
    note: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return f"not solved ({self.note or 'stopped'}; {self.nodes} positions)"
        end = f" in {self.plies} {'ply' if self.plies == 1 else 'plies'}" if self.plies else ""
        what = "wins" if self.value > 0 else "loses" if self.value < 0 else "draws"
        return f"{self.value} (the side to move {what}{end}; {self.nodes} positions)"


def _nothing(position, me, weights):
    return 0.0


NOTHING = Compiled(_nothing, LEAF, "gamekit.solvers.solver.nothing")  # an evaluation that sees only the end


class Solver:
    """Solves positions of one game; what it learns from one helps with the next."""

    def __init__(self, game: str | Game, megabytes: float | None = None, progress: bool = False):
        game = game_of(game)
        if megabytes is not None and not 0.01 <= megabytes <= 16384:
            raise GamekitError(f"megabytes={megabytes:g} is not allowed; the table takes 0.01 to 16384")
        self.game, self.progress = game, progress
        self._method: _Bits | _Deepening
        if isinstance(game, KInARow) and game.k >= 2 and _kind(game).fits(game.rows, game.cols):
            self._method = _Bits(game, megabytes)
        else:
            self._method = _Deepening(game, megabytes)

    def solve(self, position: Position, seconds: float | None = None) -> Solved:
        """The value of a position; stops after `seconds`, or on Ctrl-C, keeping what was learned."""
        if a_position(position).game != self.game:
            raise GamekitError(f"this solver is for {self.game}, the position is of {position.game}")
        if seconds is not None and not 0 < seconds <= 10**7:
            raise GamekitError(f"seconds={seconds:g} is not allowed; a position may take more than 0 and up to 1e7")
        if position.winner is not None:
            return self._over(position)
        return self._method.run(position, seconds, self.progress)

    def moves(self, position: Position, seconds: float | None = None) -> dict[str, int | None]:
        """Every legal move's value for the side to move."""
        started, found = time.monotonic(), {}
        for code in position.codes():
            left = None if seconds is None else max(seconds - (time.monotonic() - started), 0.001)
            value = self.solve(position.after(code), left).value
            found[self.game.write(code)] = None if value is None else -value
        return found

    def _over(self, position: Position) -> Solved:
        totals, game = self.game.score(position.record), self.game
        if totals is not None:
            return Solved(int(totals[position.turn - 1] - totals[2 - position.turn]), 0)
        sign = 0 if position.winner == 0 else 1 if position.winner == position.turn else -1
        return Solved(sign * _worth(game, position, 0), 0)


def _worth(game: Game, position: Position, plies: int) -> int:
    """What a win is worth that comes after so many plies."""
    if not (isinstance(game, KInARow) and game.gravity):
        return 1
    return (game.left(position.data) - plies + 2) // 2  # stones of the winner's that were left before the last one


def _kind(game: KInARow) -> Any:
    return DropSolver if game.gravity else LineSolver


class _Bits:
    """The two solvers on words, run beside a clock."""

    def __init__(self, game: KInARow, megabytes: float | None):
        self.game, self.megabytes = game, megabytes
        self.solver = self._new(megabytes or 32)
        self.solver.compiled.prepare()  # not on the clock of a first position

    def _new(self, megabytes: float) -> BitSolver:
        return _kind(self.game)(self.game.rows, self.game.cols, self.game.k, megabytes=megabytes)

    def words(self, position: Position) -> tuple[int, int]:
        """The stones of the side to move and of the other, laid out as the solver wants them."""
        found = [0, 0]
        for (row, col), owner in np.ndenumerate(position.board):
            if owner:
                found[0 if owner == position.turn else 1] |= 1 << self.solver.bit(row, col)
        return found[0], found[1]

    def run(self, position: Position, seconds: float | None, progress: bool) -> Solved:
        if self.megabytes is None and self.game.left(position.data) >= LONG:
            self.megabytes = 256
            self.solver = self._new(self.megabytes)
        stop, before = np.zeros(1, np.uint8), self.solver.nodes
        mine, theirs = self.words(position)
        value = _beside_a_clock(
            lambda: self.solver.solve(mine, theirs, stop), stop, seconds, self.solver.progress if progress else None
        )
        return Solved(value, self.solver.nodes - before, note="" if value is not None else "out of time")


class _Deepening:
    """The ordinary search, deeper and deeper, until it sees the end."""

    def __init__(self, game: Game, megabytes: float | None):
        self.counts = isinstance(game, Candy)
        leaf = heuristic_of("score_difference", game).leaf(game) if self.counts else Leaf(NOTHING.address, np.zeros(1))
        self.search = Search(
            game,
            leaf,
            table=True,
            order=BEST | HISTORY | CENTRE,
            deepen=True,
            win_bonus=not self.counts,
            megabytes=megabytes or 256,
        )

    def run(self, position: Position, seconds: float | None, progress: bool) -> Solved:
        left = position.game.left(position.data)
        if seconds is None and (left is None or left > DEEPEST):
            seconds = 60.0  # the end may be out of reach
        shown = [time.monotonic()]

        def look() -> bool:
            if progress and time.monotonic() - shown[0] > 0.5:
                shown[0] = time.monotonic()
                _show(f"depth {self.search.switch[DEPTH]}, {self.search.counts[GENERATED]} positions")
            return False

        found = self.search.run(position, depth=left, seconds=seconds, stop=look if progress else None)
        nodes, value = found.counters["generated"], found.value
        if self.counts:
            if found.depth != left or value is None:
                return Solved(None, nodes, note=f"reached depth {found.depth} of {left}")
            return Solved(round(value), nodes, left)
        if value is not None and abs(value) > DECIDED:
            plies = round(WIN - abs(value))
            return Solved((1 if value > 0 else -1) * _worth(position.game, position, plies), nodes, plies)
        if left is not None and found.depth == left:
            return Solved(0, nodes)
        return Solved(None, nodes, note=f"no forced end within {found.depth} plies")


def _beside_a_clock(
    work: Callable[[], int | None], stop: np.ndarray, seconds: float | None, progress: np.ndarray | None
) -> int | None:
    """Run compiled work in a thread, so that Ctrl-C and the clock can stop it; what it learned stays."""
    result: list[int | None] = [None]
    thread = threading.Thread(target=lambda: result.__setitem__(0, work()), name="gamekit-solve", daemon=True)
    started = time.monotonic()
    thread.start()
    try:
        wait = 0.001
        while thread.is_alive():
            thread.join(wait)
            wait = min(wait * 2, 0.2)
            passed = time.monotonic() - started
            if seconds is not None and passed >= seconds:
                stop[0] = 1
            if progress is not None and passed > 0.5 and thread.is_alive():
                _show(f"{progress[0]:,} positions, {passed:.0f} s, score between {progress[1]} and {progress[2]}")
    except BaseException:
        stop[0] = 1
        thread.join()
        raise
    return result[0]


def _show(text: str) -> None:
    print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)
