"""Heuristics judged by exact truth: how often a move keeps the game's value, and how much it gives away.

A thousand games say who wins; a few hundred solved positions say why. Positions are drawn by seeded random
play, symmetric copies merged, kept only where moves differ in value; each player then chooses, and its choice
is looked up.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .core import Game, GamekitError, Position
from .engine.solve import Solver
from .games import game as game_of
from .players import player as player_of
from .stats import wilson

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Truth:
    """A position with the exact value of every move."""

    position: Position
    values: dict[str, int]

    @property
    def best(self) -> int:
        return max(self.values.values())


def sample(game: str | Game, count: int, plies: Sequence[int], seed: int = 0) -> list[Position]:
    """Positions of random games after so many plies, in turn; no two alike, mirror images counted as alike."""
    board, rng = game_of(game), random.Random(f"{seed} {game_of(game)}")
    if count < 1 or not plies or min(plies) < 0:
        raise GamekitError(f"count={count}, plies={list(plies)} are not allowed; at least one position and one ply")
    found: dict[bytes, Position] = {}
    for attempt in range(200 * count):
        position = board.start()
        for _ in range(plies[attempt % len(plies)]):
            if position.winner is not None:
                break
            position = position.after(rng.choice(position.codes()))
        if position.winner is None and len(position.codes()) > 1:
            found.setdefault(position.canonical(), position)
        if len(found) == count:
            break
    return list(found.values())


def truths(game: str | Game, count: int, plies: Sequence[int], seed: int = 0, seconds: float = 10.0,
           progress: bool = False) -> list[Truth]:
    """Sampled positions solved exactly; those with nothing to choose, or not solved in time, are left out."""
    board = game_of(game)
    from tqdm.auto import tqdm

    solver, found = Solver(board), []
    for position in tqdm(sample(board, 4 * count, plies, seed), desc="solving", disable=not progress):
        values = solver.moves(position, seconds)
        exact = {move: value for move, value in values.items() if value is not None}
        if len(exact) == len(values) and len(set(exact.values())) > 1:
            found.append(Truth(position, exact))
        if len(found) == count:
            break
    return found


def accuracy(game: str | Game, players: Sequence[Any], positions: int = 100, plies: Sequence[int] = (18, 20, 22),
             seed: int = 0, solved: Sequence[Truth] | None = None, progress: bool = False) -> pd.DataFrame:
    """A row a player: how often its move keeps the outcome (win, draw or loss), how often the exact score, and
    how much it loses on average; with Wilson's intervals."""
    import pandas as pd

    board = game_of(game)
    solved = truths(board, positions, plies, seed, progress=progress) if solved is None else solved
    if not solved:
        raise GamekitError(f"no position of {board} after {list(plies)} plies could be solved in time; try later ones")
    rows = []
    for spec in players:
        chooser = player_of(spec)
        chooser.begin(board, seed)
        kept, exact, lost = 0, 0, 0
        for truth in solved:
            value = truth.values[board.write(chooser.pick(truth.position))]
            kept += _sign(value) == _sign(truth.best)
            exact += value == truth.best
            lost += truth.best - value
        chooser.close()
        n = len(solved)
        (low, high), (exact_low, exact_high) = wilson(kept, n), wilson(exact, n)
        rows.append({"player": chooser.spec, "positions": n, "kept": kept / n, "kept_low": low, "kept_high": high,
                     "exact": exact / n, "exact_low": exact_low, "exact_high": exact_high, "mean_loss": lost / n,
                     "nodes_per_move": chooser.nodes / n})
    return pd.DataFrame(rows)


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def measure(positions: int = 50, plies: Sequence[int] = (18, 20, 22), seed: int = 0) -> Callable[..., dict[str, float]]:
    """A column for `gk.compare`: `gk.compare(…, measure=measure())` also says how often a player keeps the value."""
    solved: dict[str, list[Truth]] = {}

    def judge(game: str | Game, player: Any) -> dict[str, float]:
        name = str(game)
        if name not in solved:
            solved[name] = truths(game, positions, plies, seed)
        row = accuracy(game, [player], seed=seed, solved=solved[name]).iloc[0]
        return {"kept": float(row["kept"]), "exact": float(row["exact"]), "mean_loss": float(row["mean_loss"])}

    return judge
