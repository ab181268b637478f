"""Which heuristic is better, by how much, and are we sure: a recipe of meetings, ratings and paired tests."""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..core import Game
from ..errors import GamekitError
from ..experiments.measure import accuracy, sweep
from ..games import game as game_of
from ..heuristics import HEURISTICS, Heuristic, heuristic_of
from ..matches.openings import opening_lines
from ..players import player as player_of
from ..specs import Param, Spec, SpecError
from ..statistics import PRIOR
from ..statistics import paired as compare_pairs
from .summaries import paired, rate, ratings, win_rates

SURE = 0.05  # the chance of any wrong "better" under one condition, shared out among its tests
COUNTS = {"depths": Param(1, "", 1, 100), "nodes": Param(1, "", 1, 10**12), "games": Param(100, "", 2, 10_000_000)}
ABOUT = (
    f"Elo by Bradley–Terry with {PRIOR:g} virtual wins each way between any two players; 'surely' is a sign test on "
    f"openings, direct or against the opponents, at {SURE:g} for a whole condition."
)


@dataclass
class Comparison:
    """The answer in words (`print` it), and the frames behind it.

    `standings`: one row per condition and heuristic: rating, points against the opponents, nodes per move.
    `duels`: one row per condition and pair of heuristics: their direct games, and which one is surely better.
    `games`: every game played.
    """

    game: str
    standings: pd.DataFrame
    duels: pd.DataFrame
    games: pd.DataFrame

    def answers(self) -> list[str]:
        """One sentence per condition."""
        found = []
        for condition, group in self.standings.groupby("condition", sort=False):
            duels = self.duels[self.duels["condition"] == condition]
            wins = {(row.better, row.first if row.better == row.second else row.second) for row in duels.itertuples()}
            names, top = group["heuristic"].tolist(), group.iloc[0]
            leaders = [name for name, elo in zip(names, group["elo"], strict=True) if round(elo) == round(top["elo"])]
            leaders = [name for name in leaders if (top["heuristic"], name) not in wins]
            rest = [name for name in names if name not in leaders]
            beaten = [name for name in rest if all((leader, name) in wins for leader in leaders)]
            open_ = [name for name in rest if name not in beaten]
            who = f"{' and '.join(leaders)} share the lead" if len(leaders) > 1 else f"{leaders[0]} leads"
            text = f"{condition}: {who} with {top['elo']:+.0f} ± {top['elo_high'] - top['elo']:.0f} Elo"
            text += f"; surely better than {', '.join(beaten)}" if beaten else ""
            found.append(text + (f"; not surely better than {', '.join(open_)}" if open_ else "") + ".")
        return found

    def __str__(self) -> str:
        tables = [self.standings.to_string(index=False), "", self.duels.to_string(index=False), ""]
        return "\n".join([self.game, *self.answers(), "", *tables, ABOUT])

    def to_dict(self) -> dict[str, Any]:
        """What `gamekit compare --json` prints."""
        frames = {"standings": self.standings, "duels": self.duels}
        rows = {name: t.astype(object).where(t.notna(), None).to_dict("records") for name, t in frames.items()}
        return {"game": self.game, "answers": self.answers(), **rows, "prior": PRIOR}

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{html.escape(text)}</li>" for text in self.answers())
        frames = self.standings.to_html(index=False) + self.duels.to_html(index=False)
        return f"<b>{html.escape(self.game)}</b><ul>{lines}</ul>{frames}<p>{html.escape(ABOUT)}</p>"


def compare(
    game: str | Spec | Game,
    heuristics: Sequence[Any],
    depths: Sequence[int] = (1, 2, 3),
    opponents: Sequence[Any] = ("random",),
    games: int = 100,
    *,
    nodes: Sequence[int] = (1000,),
    openings: int | None = None,
    exact: int = 0,
    seed: int = 0,
    workers: int | None = None,
    **options: Any,
) -> Comparison:
    """Let heuristics play each other and the opponents, at every depth and at every node budget.

    Args:
        game: a game or its spec.
        heuristics: heuristics or specs.
        depths: the depths of alpha-beta at which they meet.
        opponents: players that all of them meet as well.
        games: games of every meeting, each opening from both sides.
        nodes: node budgets per move at which they meet.
        openings: random openings (default: one for every two games, or as many as a small game has).
        exact: also judge each by so many exactly solved positions.
        seed: random seed.
        workers: processes on this machine (default: all cores).
        options: what `gk.sweep` takes besides: max_plies, move_seconds, out, executor, progress …

    Returns:
        A comparison; `print` it for the answer in words.
    """
    board = game_of(game)
    names = [_name(one, board) for one in _several("heuristics", heuristics)]
    if len(set(names)) < len(names):
        raise SpecError(f"compare: heuristics lists one twice: {', '.join(names)}")
    games = COUNTS["games"].check("compare", "games", games)
    depths = [COUNTS["depths"].check("compare", "depths", depth) for depth in _several("depths", depths, empty=True)]
    nodes = [COUNTS["nodes"].check("compare", "nodes", budget) for budget in _several("nodes", nodes, empty=True)]
    players = {f"depth {depth}": f"alphabeta(depth={depth},heuristic={{}})" for depth in depths}
    players |= {f"{budget} nodes per move": f"search(nodes={budget},heuristic={{}})" for budget in nodes}
    conditions = {c: {player_of(spec.format(n)).spec: n for n in names} for c, spec in players.items()}
    if not conditions:
        raise SpecError("compare: give depths or nodes, at least one")
    rivals = [player_of(one).spec for one in _several("opponents", opponents, empty=True)]
    if not rivals and len(names) < 2:
        raise SpecError("compare: one heuristic needs opponents; give some, or another heuristic")
    pairs = [pair for seats in conditions.values() for pair in itertools.combinations(seats, 2)]
    pairs += [(seat, rival) for seats in conditions.values() for seat in seats for rival in rivals if seat != rival]
    met = [(board, one, other) for one, other in dict.fromkeys(pairs)]
    lines = _enough(board, games, seed) if openings is None else openings
    played = sweep(board, [], None, games, meetings=met, openings=lines, seed=seed, workers=workers, **options)
    truth = None
    if exact:
        longest = board.longest  # near the end of a game, positions are solved at once
        plies = (4, 12) if longest is None else (max(0, longest - 22), max(0, longest - 14))
        everyone = list(dict.fromkeys(seat for seats in conditions.values() for seat in seats))
        judged = accuracy(board, everyone, exact, plies=plies, seed=seed, workers=workers)
        truth = rate(judged[judged["solved"]], "exact", by="player").set_index("player")["exact"]
    standings, duels = [], []
    for condition, seats in conditions.items():
        here = played[played["player"].isin(list(seats))]
        standings.append(_standings(condition, here, seats, rivals, truth))
        duels += [{"condition": condition, **row} for row in _duels(here, seats, rivals)]
    columns = ["condition", "first", "second", "games", "wins", "draws", "losses", "points", "points_low",
               "points_high", "openings", "p_value", "p_value_opponents", "better"]  # fmt: skip
    return Comparison(str(board), pd.concat(standings, ignore_index=True), pd.DataFrame(duels, columns=columns), played)


def _several(name: str, given: Any, empty: bool = False) -> list[Any]:
    items = [given] if isinstance(given, (str, int, Spec, Heuristic)) or callable(given) else given
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


def _enough(game: Game, games: int, seed: int) -> int:
    """An opening for every two games, or as many as a small game has."""
    count = games // 2
    while count > 1:
        try:
            opening_lines(game, count, seed, "compare")
        except GamekitError:
            count //= 2
        else:
            return count
    return 0


def _standings(
    condition: str, here: pd.DataFrame, seats: Mapping[str, str], rivals: list[str], truth: pd.Series | None
) -> pd.DataFrame:
    """The heuristics of one condition, `seats` by their players' specs, strongest first."""
    found = ratings(here).set_index("player").loc[list(seats), ["elo", "elo_low", "elo_high"]].round(6)
    against = here[here["opponent"].isin(rivals) & ~here["opponent"].isin(list(seats))]
    if len(against):
        found = found.join(win_rates(against, "player").set_index("player")[["points", "points_low", "points_high"]])
    theirs = {"opponent": "player", "opponent_generated": "generated", "opponent_moves": "own_moves"}
    both = pd.concat([here[[*theirs.values()]], here[[*theirs]].rename(columns=theirs)]).astype({"player": str})
    spent = both.groupby("player").sum()
    found["nodes_per_move"] = spent["generated"] / spent["own_moves"].clip(lower=1)
    if truth is not None:
        found["exact"] = truth
    found.insert(0, "heuristic", found.index.map(dict(seats)))
    found.insert(0, "condition", condition)
    return found.sort_values(["elo", "heuristic"], ascending=[False, True])


def _duels(here: pd.DataFrame, seats: Mapping[str, str], rivals: list[str]) -> Iterator[dict[str, Any]]:
    """What each pair's games say: direct ones, where all games of an opening count once, and those against rivals."""
    pairs = list(itertools.combinations(seats, 2))
    for one, other in pairs:
        direct = here[(here["player"] == one) & (here["opponent"] == other)]
        unit = "opening" if direct["deterministic"].all() or direct["opening_plies"].any() else "pair"
        scores = direct.groupby(unit, observed=True)["points"].mean()
        test = compare_pairs(scores, 1 - scores)
        row = {"first": seats[one], "second": seats[other], **win_rates(direct).to_dict("records")[0]}
        row |= {"openings": test.pairs, "p_value": test.p_value}
        tests = [(test.p_value, test.difference)]
        against = here[here["player"].isin([one, other]) & here["opponent"].isin(rivals)]
        if against["player"].nunique() == 2:
            shared = paired(against, "player", other).iloc[0]
            row["p_value_opponents"] = shared["p_value"]
            tests.append((shared["p_value"], shared["difference"]))
        limit = SURE / len(pairs) / len(tests)
        better = {seats[one if lead > 0 else other] for p_value, lead in tests if p_value < limit}
        yield {**row, "better": better.pop() if len(better) == 1 else ""}
