"""A heuristic ranked against the built-in ones: a round robin whose chart grows as the games come in."""

from __future__ import annotations

import html
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from IPython import get_ipython
from IPython.display import display

from ..core import Game
from ..drawing import tag
from ..errors import GamekitError
from ..experiments.measure import sweep
from ..heuristics import heuristic_of, names_of
from ..players import player as player_of
from ..statistics import wilson
from .checkup import board_of

BATCH = 10  # games of a pair between two looks at the clock
LEFT, WIDE, HIGH = 210, 300, 26  # of the chart: where the scale begins, how long it is, a row


@dataclass
class Ranking:
    """Who won how many of the distinct games so far; draws its own chart."""

    game: str
    names: list[str]
    mine: str
    depth: int
    results: dict[tuple[str, str], list[float]] = field(default_factory=dict)  # pair → wins of each, draws
    seconds: float = 0.0
    running: bool = True
    shown: bool = False  # the chart stands in the cell already

    def score(self, name: str, other: str | None = None) -> tuple[float, int]:
        """Points (a draw is half) and games, against all or one."""
        points, games = 0.0, 0
        for pair, (first, second, draws) in self.results.items():
            if name in pair and (other is None or other in pair):
                points += (first if pair[0] == name else second) + draws / 2
                games += int(first + second + draws)
        return points, games

    @property
    def table(self) -> list[dict[str, Any]]:
        """Best first: share of points with Wilson's interval, and how one's own fared against each."""
        rows = []
        for name in self.names:
            points, games = self.score(name)
            low, high = wilson(points, games) if games else (0.0, 1.0)
            own = self.score(self.mine, name) if name != self.mine else (0.0, 0)
            rows.append(
                {
                    "heuristic": name,
                    "share": points / games if games else 0.5,
                    "low": low,
                    "high": high,
                    "games": games,
                    "mine": f"{own[0]:g} of {own[1]}" if own[1] else "",
                }
            )
        return sorted(rows, key=lambda row: -row["share"])

    @property
    def place(self) -> int:
        return 1 + [row["heuristic"] for row in self.table].index(self.mine)

    def _head(self) -> str:
        games = int(sum(map(sum, self.results.values())))
        state = "playing" if self.running else f"place {self.place} of {len(self.names)}"
        return f"{self.mine} on {self.game}, depth {self.depth}: {state}, {games} distinct games, {self.seconds:.0f} s"

    def __repr__(self) -> str:
        rows = [
            f"{row['share']:6.1%}  ({row['low']:.1%} – {row['high']:.1%})  {row['games']:4} games  " + row["heuristic"]
            for row in self.table
        ]
        return "\n".join([self._head(), *rows])

    def _repr_html_(self) -> str:
        rows = self.table
        high = HIGH * len(rows)
        drawn = [self._mark(x, high) for x in (0, 0.25, 0.5, 0.75, 1)]
        drawn += [self._row(row, HIGH * i + 20) for i, row in enumerate(rows)]
        about = "share of points, a draw counting half, with 95 % intervals"
        return (
            f"<div class='gk-ranking'><b>{html.escape(self._head())}</b><br><small>{about}</small><br>"
            f"<svg width='720' height='{high + 30}' viewBox='0 0 720 {high + 30}' style='max-width:100%' "
            f"role='img' font-family='system-ui, sans-serif'>{''.join(drawn)}</svg></div>"
        )

    @staticmethod
    def _mark(x: float, high: int) -> str:
        at = LEFT + WIDE * x
        line = tag("line", x1=at, x2=at, y1=6, y2=high + 8, stroke="currentColor", opacity=0.4 if x == 0.5 else 0.12)
        return line + tag(
            "text",
            "",
            f"{x:.0%}",
            x=at,
            y=high + 22,
            font_size=11,
            text_anchor="middle",
            fill="currentColor",
            opacity=0.7,
        )

    def _row(self, row: dict[str, Any], y: int) -> str:
        own = row["heuristic"] == self.mine
        colour = "#e69f00" if own else "#3d8fc4"
        low, share, high = (LEFT + WIDE * row[key] for key in ("low", "share", "high"))
        dot = (
            tag("rect", x=share - 6, y=y - 6, width=12, height=12, rx=2, fill=colour)
            if own
            else tag("circle", cx=share, cy=y, r=5.5, fill=colour)
        )
        beside = f"{row['share']:.0%} of {row['games']}" + (f" · yours {row['mine']}" if row["mine"] else "")
        return (
            tag(
                "text",
                "",
                html.escape(row["heuristic"][:30]),
                x=LEFT - 12,
                y=y + 4,
                font_size=13,
                text_anchor="end",
                fill="currentColor",
                font_weight=700 if own else 400,
            )
            + tag(
                "line", x1=low, x2=high, y1=y, y2=y, stroke=colour, stroke_width=4, stroke_linecap="round", opacity=0.55
            )
            + dot
            + tag("text", "", beside, x=LEFT + WIDE + 14, y=y + 4, font_size=12, fill="currentColor", opacity=0.75)
        )

    def _ipython_display_(self) -> None:
        if not self.shown:
            display({"text/html": self._repr_html_(), "text/plain": repr(self)}, raw=True)


def rank(
    heuristic: Any,
    game: str | Game | None = None,
    against: Sequence[str] | None = None,
    depth: int = 2,
    games: int = 100,
    seconds: float = 20.0,
    seed: int = 0,
) -> Ranking:
    """Let a heuristic and the built-in ones play each other until each pair has had `games`, or time is up.

    In a notebook the chart grows as the games come in. Only distinct games count, so the intervals mean something.
    """
    board = board_of(heuristic, game)
    if not (1 <= depth <= 20 and games >= 2 and 0.1 <= seconds <= 3600):
        raise GamekitError(
            "rank: depth is 1 to 20, games at least 2, seconds 0.1 to 3600; "
            f"given depth={depth}, games={games}, seconds={seconds:g}"
        )
    mine = heuristic_of(heuristic, board).spec
    others = [name for name in (against or names_of(board.name)) if name != mine and _plays(name, board, bool(against))]
    found = Ranking(str(board), [mine, *others], mine, depth)
    found.results = {pair: [0.0, 0.0, 0.0] for pair in itertools.combinations(found.names, 2)}
    show = _Chart(found)
    _round_robin(found, board, games, seconds, seed, show)
    found.running = False
    show(last=True)
    return found


def _round_robin(found: Ranking, board: Game, games: int, seconds: float, seed: int, show: _Chart) -> None:
    """Batch after batch for every pair that lacks games, until nothing new comes or time is up."""
    players = {name: player_of(f"alphabeta(depth={found.depth},heuristic={name})") for name in found.names}
    started = time.monotonic()
    seen: set[tuple[Any, ...]] = set()
    for number in itertools.count():
        fresh = 0
        for pair, result in found.results.items():
            if found.seconds > seconds or sum(result) >= games:
                continue
            for first, moves, ended in _some_games(board, players[pair[0]], players[pair[1]], seed + number):
                if (pair, first, moves) not in seen:
                    seen.add((pair, first, moves))
                    result[("win", "loss", "draw").index(ended)] += 1
                    fresh += 1
            found.seconds = time.monotonic() - started
            show()
        if not fresh:
            return


class _Chart:
    """The chart in the cell's output, drawn again a few times a second; elsewhere nothing."""

    def __init__(self, ranking: Ranking):
        self.ranking, self.drawn = ranking, time.monotonic()
        self.handle = display(self._bundle(), raw=True, display_id=True) if get_ipython() is not None else None
        ranking.shown = self.handle is not None

    def _bundle(self) -> dict[str, str]:
        return {"text/html": self.ranking._repr_html_(), "text/plain": repr(self.ranking)}

    def __call__(self, last: bool = False) -> None:
        if self.handle is not None and (last or time.monotonic() - self.drawn > 0.25):
            self.drawn = time.monotonic()
            self.handle.update(self._bundle(), raw=True)


def _plays(name: str, board: Game, named: bool) -> bool:
    """Whether a heuristic plays this board; one asked for by name must, the others may."""
    try:
        return named or not heuristic_of(name, board).own
    except GamekitError:
        if named:
            raise
        return False


def _some_games(board: Game, first: Any, second: Any, seed: int) -> list[tuple[bool, str, str]]:
    """A batch from fresh openings, each from both sides; a tiny game has fewer openings."""
    for count in (BATCH // 2, 2, 1):
        try:
            played = sweep(board, first, second, 2 * count, openings=count, seed=seed, workers=1, progress=False)
        except GamekitError:
            if count == 1:
                raise
        else:
            return list(zip(played["player_first"], played["moves"], played["result"], strict=True))
    return []
