"""Which heuristic is better, by how much, and are we sure: at equal depth and at equal node budget, in one call."""

from __future__ import annotations

import html
import itertools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import tables
from .core import Game, GamekitError
from .games import game as game_of
from .heuristics import HEURISTICS, Heuristic, heuristic_of
from .match import opening_lines
from .plan import LIMIT, Plan
from .players import Player
from .players import player as player_of
from .specs import Param, SpecError
from .stats import PRIOR, bradley_terry, paired, wilson
from .sweep import Sweep, run_plan

if TYPE_CHECKING:
    import pandas as pd

SURE = 0.05  # the chance of any wrong "better" under one condition, shared out among its pairs of heuristics
BUDGET = (1000,)  # nodes a move, unless told otherwise
Measure = Callable[[Game, Player], Mapping[str, float]]


@dataclass
class Comparison:
    """The answer in words (`print` it), and the tables behind it.

    `standings`: a line a heuristic and condition, with its rating, error, score against the opponents and nodes a
    move. `duels`: a line a pair of heuristics, both from direct games and from games against the same
    opponents on the same openings.
    """

    game: str
    standings: pd.DataFrame
    duels: pd.DataFrame
    sweep: Sweep
    prior: float = PRIOR

    def answers(self) -> list[str]:
        """One sentence a condition."""
        found = []
        for condition, group in self.standings.groupby("condition", sort=False):
            duels = self.duels[self.duels.condition == condition]
            top = group.iloc[0]
            beaten = [row.second if row.first == top.heuristic else row.first for row in _each(duels)
                      if row.better == top.heuristic]
            others = [name for name in group.heuristic.iloc[1:] if name not in beaten]
            text = f"{condition}: {top.heuristic} leads with {top.elo:+.0f} ± {top.error:.0f} Elo"
            text += f"; surely better than {', '.join(beaten)}" if beaten else ""
            text += f"; not surely better than {', '.join(others)}" if others else ""
            found.append(text + ".")
        return found

    @property
    def about(self) -> str:
        return (f"Elo by Bradley–Terry with {self.prior:g} virtual wins each way between any two; 'surely' is a sign "
                f"test on openings, direct or against the opponents, at {SURE:g} for a whole condition.")

    def __str__(self) -> str:
        return "\n".join([f"{self.game}", *self.answers(), "", self.standings.to_string(index=False), "",
                          self.duels.to_string(index=False), "", self.about])

    def to_dict(self) -> dict[str, Any]:
        """What `gamekit compare --json` prints."""
        standings, duels = (table.astype(object).where(table.notna(), None).to_dict("records")
                            for table in (self.standings, self.duels))
        return {"game": self.game, "answers": self.answers(), "standings": standings, "duels": duels,
                "prior": self.prior}

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{html.escape(text)}</li>" for text in self.answers())
        return (f"<b>{html.escape(self.game)}</b><ul>{lines}</ul>{self.standings.to_html(index=False)}"
                f"{self.duels.to_html(index=False)}<p>{html.escape(self.about)}</p>")


def compare(game: str | Game, heuristics: Sequence[Any], depths: Sequence[int] = (1, 2, 3),
            opponents: Sequence[Any] = ("random",), games: int = 100, seed: int = 0, *,
            nodes: Sequence[int] = BUDGET, openings: int | None = None, cap: int | None = None,
            limit: float | None = LIMIT, out: str | Path | None = None, workers: int | None = None,
            scheduler: str | None = None, executor: Executor | None = None, progress: bool | None = None,
            measure: Measure | None = None) -> Comparison:
    """Let heuristics play each other and the opponents, at every depth and at every node budget.

    Every pair plays `games` games, each opening from both sides, and all meet on the same openings.
    `measure(game, player)` may add columns to the standings, such as how often a move keeps the game's exact value.
    """
    board = game_of(game)
    names = [_name(h, board) for h in _several("heuristics", heuristics)]
    if len(set(names)) < len(names):
        raise SpecError(f"compare: heuristics lists one twice: {', '.join(names)}")
    depths = [Param(1, "", 1, 100).check("compare", "depths", d) for d in _several("depths", depths, empty=True)]
    budgets = [Param(1, "", 1, 10**12).check("compare", "nodes", n) for n in _several("nodes", nodes, empty=True)]
    games = Param(100, "", 2, 10_000_000).check("compare", "games", games)
    conditions = {f"depth {d}": f"alphabeta(depth={d},heuristic={{}})" for d in depths}
    conditions |= {f"{n} nodes a move": f"search(nodes={n},heuristic={{}})" for n in budgets}
    if not conditions:
        raise SpecError("compare: give depths or nodes, at least one")
    seats = {(condition, name): player_of(template.format(name))
             for condition, template in conditions.items() for name in names}
    rivals = {str(p): p for p in map(player_of, _several("opponents", opponents, empty=True))}
    if not rivals and len(names) < 2:
        raise SpecError("compare: one heuristic needs opponents; give some, or another heuristic")
    meetings = [(str(seats[c, a]), str(seats[c, b])) for c in conditions for a, b in itertools.combinations(names, 2)]
    meetings += [(str(seat), rival) for seat in seats.values() for rival in rivals if str(seat) != rival]
    players = {str(p): p for p in [*seats.values(), *rivals.values()]}
    count = openings if openings is not None else _enough_openings(board, games, seed)
    plan = Plan([board], list(players.values()), None, games, count, cap, seed, limit,
                pairs=list(dict.fromkeys(meetings)))
    result = run_plan(plan, out, workers=workers, scheduler=scheduler, executor=executor, progress=progress)
    return _summary(board, result, seats, list(rivals), list(conditions), names, measure)


def _several(name: str, given: Any, empty: bool = False) -> list[Any]:
    items = [given] if isinstance(given, (str, int, Heuristic, Player)) or callable(given) else given
    if items is None or not hasattr(items, "__iter__") or isinstance(items, dict) or not (empty or list(items)):
        raise SpecError(f"compare: {name}={given!r} is not allowed; {name} is a list of at least one")
    return list(items)


def _name(given: Any, game: Game) -> str:
    """The spec of a heuristic, known by name from here on."""
    if isinstance(given, Heuristic):
        known = HEURISTICS.setdefault((game.name, given.name), given)
        if known.function is not given.function:
            raise GamekitError(f"two heuristics are called {given.name!r}; run the cell that defines this one again")
    return heuristic_of(given, game).spec


def _enough_openings(game: Game, games: int, seed: int) -> int:
    """An opening for every two games, or as many as a small game has."""
    count = games // 2
    while count > 1:
        try:
            opening_lines(game, count, seed, games)
        except GamekitError:
            count //= 2
        else:
            return count
    return 0


# ------------------------------------------------------------------------------ summary


def _each(table: pd.DataFrame) -> Any:
    return table.itertuples()


def _summary(game: Game, result: Sweep, seats: dict[tuple[str, str], Player], rivals: list[str], conditions: list[str],
             names: list[str], measure: Measure | None) -> Comparison:
    import pandas as pd

    meetings = _meetings(result)
    spent = result.table("nodes").groupby("of", observed=True)[["nodes", "moves"]].sum()
    standings: list[dict[str, Any]] = []
    duels: list[dict[str, Any]] = []
    for condition in conditions:
        specs = {name: str(seats[condition, name]) for name in names}
        here = {pair: found for pair, found in meetings.items() if pair[0] in specs.values()
                and (pair[1] in specs.values() or pair[1] in rivals)}
        rated = bradley_terry({pair: found.points for pair, found in here.items()})
        place = {name: i for i, name in enumerate(rated.names)}
        rows: list[dict[str, Any]] = []
        for name, spec in specs.items():
            against = [here[spec, rival].points for rival in rivals if (spec, rival) in here]
            won, games = sum(mine for mine, _ in against), sum(mine + theirs for mine, theirs in against)
            low, high = wilson(won, games) if games else (None, None)
            rows.append({"condition": condition, "heuristic": name, "elo": round(float(rated.elo[place[spec]]), 1),
                         "error": round(float(rated.error[place[spec]]), 1), "score": won / games if games else None,
                         "low": low, "high": high,
                         "nodes_per_move": float(spent.nodes[spec] / max(spent.moves[spec], 1)),
                         **(measure(game, seats[condition, name]) if measure else {})})
        standings += sorted(rows, key=lambda row: (-row["elo"], row["heuristic"]))
        duels += _duels(condition, specs, rivals, here)
    return Comparison(str(game), pd.DataFrame(standings), pd.DataFrame(duels, columns=DUEL), result)


DUEL = ["condition", "first", "second", "games", "wins", "draws", "losses", "win_rate", "low", "high", "openings",
        "difference", "p_value", "difference_opponents", "p_value_opponents", "better"]


@dataclass
class _Meeting:
    """Two players' games: the row of the win rates, points of each, and the first's mean score by opening."""

    row: Any
    points: tuple[float, float]
    by_opening: Any


def _meetings(result: Sweep) -> dict[tuple[str, str], _Meeting]:
    """All games on one opening are one observation: repeating them adds nothing to a paired test."""
    games = result.frame()
    games = games.assign(score=games.winner.map({1: 1.0, 0: 0.5, 2: 0.0}), start=games.number // 2)
    rows = {(row.player, row.opponent): row for row in _each(result.table("win_rates"))}
    lines = result.plan["openings"] or 0
    found = {}
    groups: Any = games.groupby(["player", "opponent"], observed=True)
    for pair, group in groups:
        again = tables.replayed(group, result.plan, pair)
        count = lines or (1 if again else len(group))
        found[pair] = _Meeting(rows[pair], tables.points(group, result.plan, pair),
                               group.score.groupby(group.start % count).mean())
    return found


def _duels(condition: str, specs: dict[str, str], rivals: list[str],
           meetings: dict[tuple[str, str], _Meeting]) -> list[dict[str, Any]]:
    found = []
    pairs = list(itertools.combinations(specs, 2))
    for one, other in pairs:
        direct = meetings[specs[one], specs[other]]
        tests = [paired(direct.by_opening, 1 - direct.by_opening)]
        shared = [rival for rival in rivals if (specs[one], rival) in meetings and (specs[other], rival) in meetings]
        if shared:
            first, second = ([x for rival in shared for x in meetings[specs[name], rival].by_opening]
                             for name in (one, other))
            tests.append(paired(first, second))
        sure = {one if test.better > test.worse else other for test in tests
                if test.p_value < SURE / len(pairs) / len(tests)}
        row = direct.row
        found.append({"condition": condition, "first": one, "second": other, "games": row.games, "wins": row.wins,
                      "draws": row.draws, "losses": row.losses, "win_rate": row.win_rate, "low": row.low,
                      "high": row.high, "openings": tests[0].pairs, "difference": tests[0].difference,
                      "p_value": tests[0].p_value, "better": sure.pop() if len(sure) == 1 else "",
                      **({"difference_opponents": tests[1].difference, "p_value_opponents": tests[1].p_value}
                         if shared else {})})
    return found
