"""A heuristic ranked against the built-in ones: a round robin whose chart grows as the games come in."""

from __future__ import annotations

import html
import itertools
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from IPython import get_ipython
from IPython.display import display

from ..core import Game
from ..errors import GamekitError
from ..experiments.grids import fitting_heuristics
from ..experiments.measure import match
from ..heuristics import HEURISTICS, heuristic_of
from ..matches.openings import opening_lines
from ..players import player as player_of
from .checkup import board_of

if TYPE_CHECKING:
    import pandas as pd  # takes its time to load, and the other widgets do without

BATCH = 10  # games of a pair between two looks at the clock
REDRAW = 0.25  # seconds between two drawings of the chart
COUNTED = [
    *("game", "player", "opponent", "player_first", "moves_id", "pair", "luck", "deterministic", "timed", "result"),
    *("points", "termination", "turns", "generated", "own_moves", "opponent_generated", "opponent_moves"),
]  # what a summary needs of a game; parameters differ from pair to pair


@dataclass
class Ranking:
    """Heuristics by their share of points in the distinct games so far; draws its own chart."""

    game: str
    depth: int
    names: list[str]  # of the heuristics; the first is the one being ranked
    games: dict[tuple[str, str], pd.DataFrame] = field(default_factory=dict)  # pair of heuristics → distinct games
    seconds: float = 0.0
    running: bool = True
    handle: Any = None  # of the chart in the cell's output
    drawn: float = 0.0

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per heuristic that has played, best first.

        `points` is a share (a draw counts half) with its interval over `games`; the ranked heuristic `won` so many
        points when it `met` the one in this row.
        """
        import pandas as pd

        from ..analysis.summaries import both_sides, win_rates

        columns = ["heuristic", "points", "points_low", "points_high", "games", "won", "met"]
        if not self.games:
            return pd.DataFrame(columns=columns)
        both = both_sides(pd.concat(self.games.values(), ignore_index=True))
        mine = both[both["player"] == self.names[0]].groupby("opponent")["points"].agg(won="sum", met="size")
        rates = win_rates(both, by="player").rename(columns={"player": "heuristic"})
        rates = rates.merge(mine, left_on="heuristic", right_index=True, how="left")
        return rates[columns].sort_values("points", ascending=False, kind="stable", ignore_index=True)

    @property
    def place(self) -> int | None:
        """The place of the ranked heuristic; None before it has played."""
        order = self.table["heuristic"].tolist()
        return order.index(self.names[0]) + 1 if self.names[0] in order else None

    def add(self, one: str, other: str, played: pd.DataFrame) -> int:
        """Take the games of two heuristics in; how many of them are new."""
        import pandas as pd

        self.__dict__.pop("table", None)
        known = self.games.get((one, other))
        both = pd.concat([known, played[COUNTED].assign(player=one, opponent=other)], ignore_index=True)
        self.games[one, other] = both.drop_duplicates(["player_first", "moves_id"])
        return len(self.games[one, other]) - (0 if known is None else len(known))

    def _head(self) -> str:
        place = f"place {self.place} of {len(self.names)}" if self.place else "no games"
        return (
            f"{self.names[0]} on {self.game}, depth {self.depth}: {'playing' if self.running else place}, "
            f"{sum(map(len, self.games.values()))} distinct games, {self.seconds:.0f} s"
        )

    def __repr__(self) -> str:
        rows = [
            f"{row.points:6.1%}  ({row.points_low:.1%} – {row.points_high:.1%})  {row.games:4} games  {row.heuristic}"
            for row in self.table.itertuples()
        ]
        return "\n".join([self._head(), *rows])

    def _repr_html_(self) -> str:
        rows = "".join(self._row(row) for row in self.table.itertuples())
        marks = "".join(f'<text x="{x}%" y="14" text-anchor="middle">{x} %</text>' for x in (0, 50, 100))
        return (
            f"<div class='gk-ranking'><b>{html.escape(self._head())}</b><br>"
            "<small>share of points, a draw counting half, with 95 % intervals</small>"
            f"<table><tr><th></th><th>{_strip(marks)}</th><th></th><th></th></tr>{rows}</table></div>"
        )

    def _row(self, row: Any) -> str:
        mine = row.heuristic == self.names[0]
        colour, at = ("#e69f00" if mine else "#3d8fc4"), f"{row.points:.1%}"
        drawn = '<line x1="50%" x2="50%" y1="0" y2="100%" stroke="currentColor" opacity="0.3"/>'
        drawn += f'<circle cx="{at}" cy="10" r="5.5" fill="{colour}"/>'
        if row.points_low == row.points_low:  # an interval is known
            drawn += f'<line x1="{row.points_low:.1%}" x2="{row.points_high:.1%}" y1="10" y2="10" stroke="{colour}" '
            drawn += 'stroke-width="4" stroke-linecap="round" opacity="0.55"/>'
        style = " style='font-weight:700'" if mine else ""
        beside = f"{row.points:.0%} of {row.games}", f"yours {row.won:g} of {row.met:g}" if row.met > 0 else ""
        cells = "".join(f"<td style='text-align:left'>{text}</td>" for text in (_strip(drawn), *beside))
        return f"<tr{style}><td>{html.escape(row.heuristic[:30])}</td>{cells}</tr>"

    def draw(self, last: bool = False) -> None:
        """Draw the chart into the cell's output, a few times a second; outside of notebooks nothing happens."""
        if get_ipython() is None or not (last or time.monotonic() - self.drawn > REDRAW):
            return
        if self.handle is None:
            self.handle = display(self._bundle(), raw=True, display_id=True)
        else:
            self.handle.update(self._bundle(), raw=True)
        self.drawn = time.monotonic()

    def _bundle(self) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}

    def _ipython_display_(self) -> None:
        if self.handle is None:  # else the chart is in the output already
            display(self._bundle(), raw=True)


def _strip(drawn: str) -> str:
    """A drawing whose width is 100 %."""
    style = "overflow:visible;margin:0 12px;font:11px system-ui,sans-serif;fill:currentColor"
    return f'<svg width="300" height="20" style="{style}">{drawn}</svg>'


def rank(
    heuristic: Any,
    game: str | Game | None = None,
    against: Sequence[str] | None = None,
    depth: int = 2,
    games: int = 100,
    seconds: float = 20.0,
    seed: int = 0,
) -> Ranking:
    """Let a heuristic and others play each other until each pair has had `games`, or time is up.

    In a notebook the chart grows as the games come in. Only distinct games count, so the intervals mean something.

    Args:
        heuristic: the heuristic to rank, or its name.
        game: a game or its spec (default: the one the heuristic was made for).
        against: heuristics by name (default: all built-in ones that suit the game).
        depth: plies that everyone looks ahead.
        games: distinct games for each pair, at most.
        seconds: time for all games.
        seed: random seed.

    Returns:
        The ranking; its `table` is a DataFrame.
    """
    board = board_of(heuristic, game)
    if not (1 <= depth <= 20 and games >= 2 and 0.1 <= seconds <= 3600):
        raise GamekitError(
            "rank: depth is 1 to 20, games at least 2, seconds 0.1 to 3600; "
            f"given depth={depth}, games={games}, seconds={seconds:g}"
        )
    mine = heuristic_of(heuristic, board).spec
    others = against or [name for name in fitting_heuristics(board) if not HEURISTICS[board.name, name].own]
    found = Ranking(str(board), depth, list(dict.fromkeys([mine, *others])))
    players = {name: player_of(f"alphabeta(depth={depth},heuristic={name})") for name in found.names}
    found.draw()
    started, openings = time.monotonic(), _enough_openings(board, seed)
    for batch in itertools.count(seed):
        fresh = 0
        options: dict[str, Any] = {"openings": openings, "seed": batch, "workers": 1, "progress": False}
        for one, other in itertools.combinations(found.names, 2):
            if found.seconds > seconds or len(found.games.get((one, other), ())) >= games:
                continue
            fresh += found.add(one, other, match(board, players[one], players[other], 2 * max(openings, 1), **options))
            found.seconds = time.monotonic() - started
            found.draw()
        if not fresh:
            break
    found.running = False
    found.draw(last=True)
    return found


def _enough_openings(board: Game, seed: int) -> int:
    """Openings of a batch, each played from both sides; a tiny game has fewer."""
    for count in (BATCH // 2, 2):
        with suppress(GamekitError):
            return len(opening_lines(board, count, seed, "rank"))
    return 0
