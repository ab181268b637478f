"""Players without a search: random, the first move, a person at the terminal, and perfect play by the solver."""

from __future__ import annotations

from ..core import Game, Position
from ..errors import GamekitError
from ..solvers.solver import Solver
from ..specs import Param
from .base import FIRST_MOVE, RANDOM_MOVE, Choice, Native, Player, register


@register
class Random(Player):
    """Uniform among the legal moves."""

    name, about, report = "random", "a uniformly random legal move", "000, 004 (RandomAI)"
    deterministic = False

    def pick(self, position: Position) -> int:
        codes = position.codes()
        return codes[int(self.random.random() * len(codes))]

    def native(self) -> Native:
        return Native(RANDOM_MOVE, chance=self.random.random)

    def think(self, position: Position) -> Choice:
        code = self.pick(position)
        return Choice(position.game.write(code), code, stopped_by="chance")


@register
class Leftmost(Player):
    """The first legal move."""

    name, about, report = "leftmost", "the first legal move in canonical order", "004 (StupidAI)"

    def pick(self, position: Position) -> int:
        return position.codes()[0]

    def native(self) -> Native:
        return Native(FIRST_MOVE)

    def think(self, position: Position) -> Choice:
        code = self.pick(position)
        return Choice(position.game.write(code), code, stopped_by="rule")


@register
class Perfect(Player):
    """Plays the exact best move; refuses a position it cannot solve in its time rather than guess."""

    name, about, report = "perfect", "the first of the best moves by exact value", "ours"
    takes = {"seconds": Param(None, "time to solve a position before giving up", 0.001, 86400.0, kind=float)}

    def ready(self, game: Game, seed: int) -> None:
        self._solver = Solver(game)

    def think(self, position: Position) -> Choice:
        values = self._solver.moves(position, self.settings["seconds"])
        if any(value is None for value in values.values()):
            raise GamekitError(f"perfect cannot solve this position of {position.game} in its time")
        best = max(values, key=lambda move: values[move] or 0)
        exact = {move: float(value or 0) for move, value in values.items()}
        return Choice(best, position.code(best), exact[best], [best], stopped_by="solved", values=exact)


@register
class Human(Player):
    """Asks at the terminal."""

    name, about = "human", "you, at the terminal"
    deterministic = False

    def think(self, position: Position) -> Choice:
        print(position)
        while True:
            move = input("your move: ").strip()
            try:
                return Choice(move, position.code(move), stopped_by="human")
            except GamekitError as error:
                print(error)
