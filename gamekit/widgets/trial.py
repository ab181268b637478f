"""A heuristic of one's own on trial: checked on random positions, then ranked against the built-in ones, live."""

from __future__ import annotations

import html
import itertools
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from IPython import get_ipython
from IPython.display import display

from ..core import Game, GamekitError, Position
from ..games import game as game_of
from ..heuristics import Heuristic, heuristic_of, names_of
from ..match import match
from ..players import player as player_of
from ..stats import wilson

BATCH = 10  # games of a pair between two looks at the clock


# ------------------------------------------------------------------------------ the check


@dataclass
class Checkup:
    """What a check found; `good` is None where a finding is neither right nor wrong."""

    heuristic: str
    game: str
    findings: list[tuple[str, bool | None, str]] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return all(good is not False for _, good, _ in self.findings)

    def __repr__(self) -> str:
        mark = {True: "ok  ", False: "BAD ", None: "    "}
        return "\n".join([f"{self.heuristic} on {self.game}", *(f"{mark[good]}{name}: {text}" for name, good, text in self.findings)])

    def _repr_html_(self) -> str:
        mark = {True: "<b style='color:#00806a'>✓</b>", False: "<b style='color:#b5367f'>✗</b>", None: "·"}
        rows = "".join(f"<tr><td>{mark[good]}</td><td style='text-align:left'><b>{html.escape(name)}</b></td>"
                       f"<td style='text-align:left'>{html.escape(text)}</td></tr>" for name, good, text in self.findings)
        return f"<b>{html.escape(self.heuristic)}</b> on {html.escape(self.game)}<table>{rows}</table>"


def sample(game: Game, count: int, seed: int = 0) -> list[Position]:
    """Positions out of random games, the running ones only."""
    choose, found = random.Random(f"sample {seed} {game}"), []
    while len(found) < count:
        position = game.start()
        for _ in range(game.longest or 60):
            found.append(position)
            codes = position.codes()
            position = position.after(codes[int(choose.random() * len(codes))])
            if position.winner is not None:
                break
    return choose.sample(found, count)


def check_heuristic(heuristic: Any, game: str | Game | None = None, positions: int = 200, seed: int = 0) -> Checkup:
    """Compile a heuristic and look at it on random positions: agreement, range, symmetry, sides, speed.

    What cannot be compiled, or fails on a position, raises an error that names the line.
    """
    board = _board_of(heuristic, game)
    subject = heuristic_of(heuristic, board)
    started = time.perf_counter()
    subject.leaf(board)
    report = Checkup(str(subject), str(board), [("compiled", True, f"in {time.perf_counter() - started:.2f} s")])
    places = sample(board, positions, seed)
    values = [subject.value(place, 1) for place in places]
    wrong = [place for place, value in zip(places[:50], values, strict=False) if abs(subject.plain(place, 1) - value) > 1e-6 * (1 + abs(value))]
    report.findings.append(("same as plain Python", not wrong, f"on {min(50, positions)} positions" if not wrong else
                            f"differs on {len(wrong)} of {min(50, positions)} positions, such as\n{wrong[0]}"))
    low, high, kinds = min(values), max(values), len(set(values))
    report.findings.append(("range", None if kinds > 1 else False, f"{low:.4g} to {high:.4g}, {kinds} different values on {positions} positions"
                            + ("" if kinds > 1 else ": it tells no position from another")))
    report.findings += [_symmetry(subject, board, places, values), _sides(subject, places, values), _speed(subject, board)]
    return report


def _symmetry(subject: Heuristic, board: Game, places: list[Position], values: list[float]) -> tuple[str, bool | None, str]:
    turns = board.symmetries()
    if not turns:
        return "symmetry", None, f"{board} has none"
    broken = {g.name: sum(abs(subject.value(place.turned(g), 1) - value) > 1e-9 * (1 + abs(value))
                          for place, value in zip(places, values, strict=True)) for g in turns}
    if not any(broken.values()):
        return "symmetry", True, f"the same seen through {', '.join(broken)}"
    return "symmetry", None, "changes with the " + ", ".join(f"{name} ({count} of {len(places)})" for name, count in broken.items() if count)


def _sides(subject: Heuristic, places: list[Position], values: list[float]) -> tuple[str, bool | None, str]:
    odd = sum(abs(subject.value(place, 2) + value) > 1e-9 * (1 + abs(value)) for place, value in zip(places, values, strict=True))
    return "sides", None, ("what one side gains the other loses" if not odd else
                           f"not a mirror: for {odd} of {len(places)} positions one side's value is not minus the other's")


def _speed(subject: Heuristic, board: Game) -> tuple[str, bool | None, str]:
    rates = {}
    for name in dict.fromkeys([subject.spec, board.default_heuristic]):
        searcher = player_of(f"search(seconds=0.15,heuristic={name})")
        searcher.choose(board.start())
        choice = searcher.choose(board.start())
        rates[name] = choice.counters["leaves"] / max(choice.seconds, 1e-9)
    mine, *other = rates.items()
    return "speed", None, f"{mine[1] / 1e6:.2g} million evaluations a second inside the search" + (
        f" ({other[0][0]}: {other[0][1] / 1e6:.2g})" if other else "")


def _board_of(heuristic: Any, game: str | Game | None) -> Game:
    if game is None and isinstance(heuristic, Heuristic):
        game = heuristic.games[0]
    if game is None:
        raise GamekitError("which game? give game=, such as game='conga'")
    return game_of(game)


# ---------------------------------------------------------------------------- the ranking


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
        """Best first: share of points with Wilson's interval, and the same against one's own heuristic."""
        rows = []
        for name in self.names:
            points, games = self.score(name)
            low, high = wilson(points, games) if games else (0.0, 1.0)
            own = self.score(self.mine, name) if name != self.mine else (0.0, 0)
            rows.append({"heuristic": name, "share": points / games if games else 0.5, "low": low, "high": high, "games": games,
                         "mine_against": f"{own[0]:g} of {own[1]}" if own[1] else ""})
        return sorted(rows, key=lambda row: -row["share"])

    @property
    def place(self) -> int:
        return 1 + [row["heuristic"] for row in self.table].index(self.mine)

    def __repr__(self) -> str:
        return "\n".join([self._head(), *(f"{row['share']:6.1%}  ({row['low']:.1%} – {row['high']:.1%})  {row['games']:4} games  "
                                          f"{row['heuristic']}" for row in self.table)])

    def _head(self) -> str:
        games = int(sum(map(sum, self.results.values())))
        state = "playing" if self.running else f"place {self.place} of {len(self.names)}"
        return f"{self.mine} on {self.game}, depth {self.depth}: {state} after {games} distinct games, {self.seconds:.0f} s"

    def _repr_html_(self) -> str:
        rows, left, wide, high = self.table, 210, 300, 26
        drawn = [f'<line x1="{left + wide * x}" x2="{left + wide * x}" y1="6" y2="{high * len(rows) + 8}" stroke="currentColor" '
                 f'opacity="{0.4 if x == 0.5 else 0.12}"/><text x="{left + wide * x}" y="{high * len(rows) + 22}" font-size="11" '
                 f'text-anchor="middle" fill="currentColor" opacity=".7">{x:.0%}</text>' for x in (0, 0.25, 0.5, 0.75, 1)]
        for i, row in enumerate(rows):
            own, y = row["heuristic"] == self.mine, high * i + 20
            colour, heavy = ("#e69f00", 700) if own else ("#3d8fc4", 400)
            a, m, b = (left + wide * row[key] for key in ("low", "share", "high"))
            drawn.append(f'<text x="{left - 12}" y="{y + 4}" font-size="13" text-anchor="end" fill="currentColor" '
                         f'font-weight="{heavy}">{html.escape(row["heuristic"][:30])}</text><line x1="{a:.1f}" x2="{b:.1f}" y1="{y}" '
                         f'y2="{y}" stroke="{colour}" stroke-width="4" stroke-linecap="round" opacity=".55"/>'
                         + (f'<rect x="{m - 6:.1f}" y="{y - 6}" width="12" height="12" rx="2" fill="{colour}"/>' if own else
                            f'<circle cx="{m:.1f}" cy="{y}" r="5.5" fill="{colour}"/>')
                         + f'<text x="{left + wide + 14}" y="{y + 4}" font-size="12" fill="currentColor" opacity=".75">'
                           f'{row["share"]:.0%} of {row["games"]}'
                         + (f' · yours {row["mine_against"]}' if row["mine_against"] else "") + "</text>")
        return (f'<div class="gk-ranking"><b>{html.escape(self._head())}</b><br><small>share of points, a draw counting half, with 95 % intervals</small><br><svg width="720" height="{high * len(rows) + 30}" '
                f'viewBox="0 0 720 {high * len(rows) + 30}" font-family="system-ui, sans-serif" role="img" '
                f'style="max-width:100%">{"".join(drawn)}</svg></div>')


def rank(heuristic: Any, game: str | Game | None = None, against: Sequence[str] | None = None, depth: int = 2,
         games: int = 100, seconds: float = 20.0, seed: int = 0) -> Ranking:
    """Let a heuristic and the built-in ones play each other until each pair has had `games`, or time is up.

    In a notebook the chart grows as the games come in. Only distinct games count, so the intervals mean something.
    """
    board = _board_of(heuristic, game)
    if not (1 <= depth <= 20 and games >= 2 and 0.1 <= seconds <= 3600):
        raise GamekitError("rank: depth is 1 to 20, games at least 2, seconds 0.1 to 3600; "
                           f"given depth={depth}, games={games}, seconds={seconds:g}")
    mine = heuristic_of(heuristic, board).spec
    others = [name for name in (against or names_of(board.name)) if name != mine and _fits(name, board, named=against is not None)]
    found = Ranking(str(board), [mine, *others], mine, depth)
    found.results = {pair: [0.0, 0.0, 0.0] for pair in itertools.combinations(found.names, 2)}
    players = {name: player_of(f"alphabeta(depth={depth},heuristic={name})") for name in found.names}
    live = display(found, display_id=True) if get_ipython() is not None else None
    started = shown = time.monotonic()
    seen: set[tuple[Any, ...]] = set()
    for number in itertools.count():
        fresh = 0
        for pair, result in found.results.items():
            if found.seconds > seconds or sum(result) >= games:
                continue
            for record in _some_games(board, players[pair[0]], players[pair[1]], seed + number):
                if (pair, record.first, record.moves) not in seen:
                    seen.add((pair, record.first, record.moves))
                    result[{1: 0, 2: 1}.get(record.winner, 2)] += 1
                    fresh += 1
            found.seconds = time.monotonic() - started
            if live and time.monotonic() - shown > 0.25:
                shown = time.monotonic()
                live.update(found)
        if not fresh:
            break
    found.running = False
    if live:
        live.update(found)
    return _Quiet(found) if live else found


def _fits(name: str, board: Game, named: bool) -> bool:
    """Whether a heuristic plays this board; one asked for by name must, the others may."""
    try:
        return heuristic_of(name, board) is not None and (named or not heuristic_of(name, board).own)
    except GamekitError:
        if named:
            raise
        return False


def _some_games(board: Game, first: Any, second: Any, seed: int) -> list[Any]:
    """A batch from fresh openings, each from both sides; a tiny game has fewer openings."""
    for count in (BATCH // 2, 2, 1):
        try:
            return match(board, first, second, games=2 * count, openings=count, seed=seed).records
        except GamekitError:
            if count == 1:
                raise
    return []


class _Quiet(Ranking):
    """A ranking whose chart stands in the cell already: as a cell's last value it shows nothing again."""

    def __init__(self, shown: Ranking):
        self.__dict__.update(shown.__dict__)

    def _ipython_display_(self) -> None:
        return None
