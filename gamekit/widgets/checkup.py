"""A heuristic of one's own looked over on random positions: agreement, range, symmetry, sides, speed."""

from __future__ import annotations

import html
import random
import time
from dataclasses import dataclass, field
from typing import Any

from ..core import Game, Position
from ..errors import GamekitError
from ..games import game as game_of
from ..heuristics import Heuristic, heuristic_of
from ..players import player as player_of

Finding = tuple[str, bool | None, str]  # what was looked at; right, wrong or neither; in words
PLAIN = 50  # positions on which the uncompiled function is asked too


@dataclass
class Checkup:
    """What a check found."""

    heuristic: str
    game: str
    findings: list[Finding] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return all(good is not False for _, good, _ in self.findings)

    def __repr__(self) -> str:
        mark = {True: "ok  ", False: "BAD ", None: "    "}
        lines = [f"{mark[good]}{name}: {text}" for name, good, text in self.findings]
        return "\n".join([f"{self.heuristic} on {self.game}", *lines])

    def _repr_html_(self) -> str:
        mark = {True: "<b style='color:#1a9c80'>✓</b>", False: "<b style='color:#d0559b'>✗</b>", None: "·"}
        rows = "".join(
            f"<tr><td>{mark[good]}</td><td style='text-align:left'><b>{html.escape(name)}</b></td>"
            f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
            for name, good, text in self.findings
        )
        return f"<b>{html.escape(self.heuristic)}</b> on {html.escape(self.game)}<table>{rows}</table>"


def check_heuristic(heuristic: Any, game: str | Game | None = None, positions: int = 200, seed: int = 0) -> Checkup:
    """Compile a heuristic and look at it on random positions.

    What cannot be compiled, or fails on a position, raises an error that names the line.
    """
    board = board_of(heuristic, game)
    subject = heuristic_of(heuristic, board)
    started = time.perf_counter()
    subject.leaf(board)
    compiled: Finding = ("compiled", True, f"in {time.perf_counter() - started:.2f} s")
    places = sample(board, positions, seed)
    values = [subject.value(place, 1) for place in places]
    return Checkup(
        str(subject),
        str(board),
        [
            compiled,
            _agreement(subject, places, values),
            _range(values),
            _symmetry(subject, board, places, values),
            _sides(subject, places, values),
            _speed(subject, board),
        ],
    )


def board_of(heuristic: Any, game: str | Game | None) -> Game:
    """The game asked for, or the one a heuristic was made for."""
    if game is None and isinstance(heuristic, Heuristic):
        game = heuristic.games[0]
    if game is None:
        raise GamekitError("which game? give game=, such as game='conga'")
    return game_of(game)


def sample(game: Game, count: int, seed: int = 0) -> list[Position]:
    """Positions out of random games, the running ones only."""
    choose = random.Random(f"sample {seed} {game}")
    found: list[Position] = []
    while len(found) < count:
        position = game.start()
        for _ in range(game.longest or 60):
            found.append(position)
            codes = position.codes()
            position = position.after(codes[int(choose.random() * len(codes))])
            if position.winner is not None:
                break
    return choose.sample(found, count)


def _differ(a: float, b: float) -> bool:
    return abs(a - b) > 1e-9 * (1 + abs(b))


def _agreement(subject: Heuristic, places: list[Position], values: list[float]) -> Finding:
    asked = list(zip(places, values, strict=True))[:PLAIN]
    wrong = [place for place, value in asked if _differ(subject.plain(place, 1), value)]
    if wrong:
        return "same as plain Python", False, f"differs on {len(wrong)} of {len(asked)} positions, such as\n{wrong[0]}"
    return "same as plain Python", True, f"on {len(asked)} positions"


def _range(values: list[float]) -> Finding:
    kinds = len(set(values))
    text = f"{min(values):.4g} to {max(values):.4g}, {kinds} different values on {len(values)} positions"
    return ("range", None, text) if kinds > 1 else ("range", False, f"{text}: it tells no position from another")


def _symmetry(subject: Heuristic, board: Game, places: list[Position], values: list[float]) -> Finding:
    turns = board.symmetries()
    if not turns:
        return "symmetry", None, f"{board} has none"
    pairs = list(zip(places, values, strict=True))
    broken = {g.name: sum(_differ(subject.value(place.turned(g), 1), value) for place, value in pairs) for g in turns}
    if not any(broken.values()):
        return "symmetry", True, f"the same seen through {', '.join(broken)}"
    changed = ", ".join(f"{name} ({count} of {len(places)})" for name, count in broken.items() if count)
    return "symmetry", None, f"changes with the {changed}"


def _sides(subject: Heuristic, places: list[Position], values: list[float]) -> Finding:
    odd = sum(_differ(subject.value(place, 2), -value) for place, value in zip(places, values, strict=True))
    if not odd:
        return "sides", None, "what one side gains the other loses"
    return "sides", None, f"for {odd} of {len(places)} positions one side's value is not minus the other's"


def _speed(subject: Heuristic, board: Game) -> Finding:
    """Evaluations a second inside a short search, beside the game's default heuristic."""
    rates = {}
    for name in dict.fromkeys([subject.spec, board.default_heuristic or subject.spec]):
        searcher = player_of(f"search(seconds=0.15,heuristic={name})")
        searcher.choose(board.start())  # the first search also compiles
        choice = searcher.choose(board.start())
        rates[name] = choice.counters["leaves"] / max(choice.seconds, 1e-9) / 1e6
    mine, *other = rates.items()
    beside = f" ({other[0][0]}: {other[0][1]:.2g})" if other else ""
    return "speed", None, f"{mine[1]:.2g} million evaluations a second inside the search{beside}"
