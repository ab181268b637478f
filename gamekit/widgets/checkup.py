"""A custom heuristic checked on random positions: agreement with plain Python, range, symmetry, sides, speed."""

from __future__ import annotations

import html
import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import Game, Position
from ..errors import GamekitError
from ..games import game as game_of
from ..heuristics import Heuristic, heuristic_of
from ..matches.single_game import play_game
from ..players import player as player_of

Finding = tuple[str, bool | None, str]  # what was looked at; right, wrong or neither; in words
PLAIN = 50  # positions on which the uncompiled function is asked too
PLIES = 60  # of the random games that positions come from


@dataclass
class Checkup:
    """What a check found."""

    heuristic: str
    game: str
    findings: list[Finding]

    @property
    def good(self) -> bool:
        return all(good is not False for _, good, _ in self.findings)

    def __repr__(self) -> str:
        mark = {True: "ok  ", False: "BAD ", None: "    "}
        lines = [f"{mark[good]}{name}: {text}" for name, good, text in self.findings]
        return "\n".join([f"{self.heuristic} on {self.game}", *lines])

    def _repr_html_(self) -> str:
        mark = {True: "<b style='color:#1a9c80'>✓</b>", False: "<b style='color:#d0559b'>✗</b>", None: "·"}
        left = "<td style='text-align:left'>"
        rows = "".join(
            f"<tr><td>{mark[good]}</td>{left}<b>{html.escape(name)}</b></td>{left}{html.escape(text)}</td></tr>"
            for name, good, text in self.findings
        )
        return f"<b>{html.escape(self.heuristic)}</b> on {html.escape(self.game)}<table>{rows}</table>"


def check_heuristic(heuristic: Any, game: str | Game | None = None, positions: int = 200, seed: int = 0) -> Checkup:
    """Compile a heuristic and look at it on random positions.

    What cannot be compiled, or fails on a position, raises an error that names the line.

    Args:
        heuristic: the heuristic, or its name.
        game: a game or its spec (default: the one the heuristic was made for).
        positions: how many positions to look at.
        seed: random seed.

    Returns:
        What was found, as a table in a notebook; `good` is False where something is wrong.
    """
    board = board_of(heuristic, game)
    subject = heuristic_of(heuristic, board)
    started = time.perf_counter()
    subject.leaf(board)
    compiled: Finding = ("compiled", True, f"in {time.perf_counter() - started:.2f} s")
    findings = [compiled, *_findings(subject, board, sample(board, positions, seed)), _speed(subject, board)]
    return Checkup(str(subject), str(board), findings)


def board_of(heuristic: Any, game: str | Game | None) -> Game:
    """The game asked for, or the one a heuristic was made for."""
    if game is None and isinstance(heuristic, Heuristic):
        game = heuristic.games[0]
    if game is None:
        raise GamekitError("which game? give game=, such as game='conga'")
    return game_of(game)


def sample(game: Game, count: int, seed: int = 0) -> list[Position]:
    """Running positions out of random games."""
    found: list[Position] = []
    while len(found) < count:
        seed += 1
        final = play_game(game, "random", "random", seed=seed, max_plies=PLIES).final
        found += [position for position in final.history if position.winner is None]
    return random.Random(seed).sample(found, count)


def _findings(subject: Heuristic, board: Game, places: list[Position]) -> Iterator[Finding]:
    """What the values of the positions show."""

    def evaluate(positions: Iterable[Position], me: int = 1) -> np.ndarray:
        return np.array([subject.value(position, me) for position in positions])

    def differ(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
        return np.flatnonzero(~np.isclose(found, expected, rtol=1e-9, atol=1e-9))

    values, total = evaluate(places), len(places)
    plain = np.array([subject.plain(place, 1) for place in places[:PLAIN]])
    if (wrong := differ(plain, values[:PLAIN])).size:
        text = f"differs on {wrong.size} of {plain.size} positions, such as\n{places[wrong[0]]}"
        yield "same as plain Python", False, text
    else:
        yield "same as plain Python", True, f"on {plain.size} positions"

    kinds = len(set(values))
    text = f"{values.min():.4g} to {values.max():.4g}, {kinds} different values on {total} positions"
    yield ("range", None, text) if kinds > 1 else ("range", False, f"{text}: it tells no position from another")

    turns = board.symmetries()
    broken = {turn.name: differ(evaluate(place.turned(turn) for place in places), values).size for turn in turns}
    if not turns:
        yield "symmetry", None, f"{board} has none"
    elif any(broken.values()):
        changed = ", ".join(f"{name} ({count} of {total})" for name, count in broken.items() if count)
        yield "symmetry", None, f"changes with the {changed}"
    else:
        yield "symmetry", True, f"the same value through {', '.join(broken)}"

    odd = differ(evaluate(places, 2), -values).size
    told = f"for {odd} of {total} positions one side's value is not minus the other's"
    yield "sides", None, told if odd else "what one side gains the other loses"


def _speed(subject: Heuristic, board: Game) -> Finding:
    """Evaluations per second inside a short search, beside the game's default heuristic."""
    rates = {}
    for name in dict.fromkeys([subject.spec, board.default_heuristic or subject.spec]):
        searcher = player_of(f"search(seconds=0.15,heuristic={name})")
        searcher.choose(board.start())  # the first search also compiles
        choice = searcher.choose(board.start())
        rates[name] = f"{choice.counters['leaves'] / max(choice.seconds, 1e-9) / 1e6:.2g}"
    mine, *others = rates.items()
    beside = "".join(f" ({name}: {rate})" for name, rate in others)
    return "speed", None, f"{mine[1]} million evaluations per second inside the search{beside}"
