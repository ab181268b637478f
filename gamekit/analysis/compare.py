"""Which heuristic is better, by how much, and are we sure: a recipe of meetings, ratings and paired tests."""

from __future__ import annotations

import html
import itertools
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core import Game
from ..errors import GamekitError
from ..experiments.measure import MOVE_SECONDS, Out, accuracy, sweep
from ..games import game as game_of
from ..heuristics import HEURISTICS, Heuristic, heuristic_of
from ..matches.openings import opening_lines
from ..players import player as player_of
from ..specs import Param, Spec, SpecError
from ..statistics import PRIOR, sign_test
from .summaries import mean, paired, rate, ratings

if TYPE_CHECKING:
    import pandas as pd

SURE = 0.05  # the chance of any wrong "better" under one condition, shared out among its pairs of heuristics
COUNTS = {"depths": Param(1, "", 1, 100), "nodes": Param(1, "", 1, 10**12), "games": Param(100, "", 2, 10_000_000)}


@dataclass
class Comparison:
    """The answer in words (`print` it), and the frames behind it.

    `standings`: one row per condition and heuristic: rating, score against the opponents, nodes per move.
    `duels`: one row per condition and pair of heuristics: their direct score and whether one is surely better.
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
            top = group.iloc[0]
            level = group[group["elo"].round(1) == round(top["elo"], 1)]["heuristic"].tolist()
            beaten = [
                row["second"] if row["first"] == top["heuristic"] else row["first"]
                for row in duels.to_dict("records")
                if row["better"] == top["heuristic"]
            ]
            others = [name for name in group["heuristic"].iloc[1:] if name not in beaten]
            who = f"{' and '.join(level)} share the lead" if len(level) > 1 else f"{top['heuristic']} leads"
            text = f"{condition}: {who} with {top['elo']:+.0f} ± {top['elo_high'] - top['elo']:.0f} Elo"
            text += f"; surely better than {', '.join(beaten)}" if beaten else ""
            text += f"; not surely better than {', '.join(others)}" if others else ""
            found.append(text + ".")
        return found

    @property
    def about(self) -> str:
        """How the numbers were made."""
        return (
            f"Elo by Bradley–Terry with {PRIOR:g} virtual wins each way between any two players; 'surely' is a sign test "
            f"on openings, direct or against the opponents, at {SURE:g} for a whole condition."
        )

    def __str__(self) -> str:
        tables = (self.standings.to_string(index=False), self.duels.to_string(index=False))
        return "\n".join(
            [self.game, *self.answers(), "", *itertools.chain(*zip(tables, ("", ""), strict=True)), self.about]
        )

    def to_dict(self) -> dict[str, Any]:
        """What `gamekit compare --json` prints."""
        frames = (t.astype(object).where(t.notna(), None).to_dict("records") for t in (self.standings, self.duels))
        standings, duels = frames
        return {"game": self.game, "answers": self.answers(), "standings": standings, "duels": duels, "prior": PRIOR}

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{html.escape(text)}</li>" for text in self.answers())
        frames = self.standings.to_html(index=False) + self.duels.to_html(index=False)
        return f"<b>{html.escape(self.game)}</b><ul>{lines}</ul>{frames}<p>{html.escape(self.about)}</p>"


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
    max_plies: int | None = None,
    move_seconds: float | None = MOVE_SECONDS,
    seed: int = 0,
    out: Out = None,
    workers: int | None = None,
    executor: Executor | str | None = None,
    progress: bool | None = None,
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
        max_plies, move_seconds, seed, out, workers, executor, progress: as for `gk.sweep`.

    Returns:
        A comparison; `print` it for the answer in words.
    """
    board = game_of(game)
    names = [_name(one, board) for one in _several("heuristics", heuristics)]
    if len(set(names)) < len(names):
        raise SpecError(f"compare: heuristics lists one twice: {', '.join(names)}")
    games = COUNTS["games"].check("compare", "games", games)
    seats: dict[tuple[str, str], str] = {}
    for key, kind, word in (("depths", "alphabeta", "depth"), ("nodes", "search", "nodes")):
        for value in _several(key, depths if key == "depths" else nodes, empty=True):
            limit = COUNTS[key].check("compare", key, value)
            condition = f"depth {limit}" if word == "depth" else f"{limit} nodes per move"
            seats |= {(condition, n): player_of(f"{kind}({word}={limit},heuristic={n})").spec for n in names}
    if not seats:
        raise SpecError("compare: give depths or nodes, at least one")
    rivals = [player_of(one).spec for one in _several("opponents", opponents, empty=True)]
    if not rivals and len(names) < 2:
        raise SpecError("compare: one heuristic needs opponents; give some, or another heuristic")
    conditions = list(dict.fromkeys(condition for condition, _ in seats))
    pairs = [(seats[c, a], seats[c, b]) for c in conditions for a, b in itertools.combinations(names, 2)]
    pairs += [(seat, rival) for seat in seats.values() for rival in rivals if seat != rival]
    played = sweep(
        board,
        [],
        None,
        games,
        meetings=[(board, one, other) for one, other in dict.fromkeys(pairs)],
        openings=_enough(board, games, seed) if openings is None else openings,
        max_plies=max_plies,
        move_seconds=move_seconds,
        seed=seed,
        out=out,
        workers=workers,
        executor=executor,
        progress=progress,
    )
    truth = None
    if exact:
        judged = accuracy(board, list(seats.values()), exact, plies=_late(board), seed=seed, workers=workers)
        truth = rate(judged[judged["solved"]], "exact", by="player").set_index("player")
    return _summary(board, played, seats, rivals, conditions, names, truth)


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


def _late(game: Game) -> tuple[int, int]:
    """Plies at which a game can be solved at once."""
    longest = game.longest
    return (4, 12) if longest is None else (max(0, longest - 22), max(0, longest - 14))


def _summary(
    game: Game,
    played: pd.DataFrame,
    seats: dict[tuple[str, str], str],
    rivals: list[str],
    conditions: list[str],
    names: list[str],
    truth: pd.DataFrame | None,
) -> Comparison:
    import pandas as pd

    standings, duels = [], []
    for condition in conditions:
        specs = {seats[condition, name]: name for name in names}
        here = played[played["player"].isin(list(specs))]
        rated = ratings(here, by="game").set_index("player")
        against = here[here["opponent"].isin(rivals)]
        scores = mean(against, "points", by="player").set_index("player") if len(against) else None
        spent = here.groupby("player", observed=True)[["generated", "own_moves"]].sum()
        rows = []
        for spec, name in specs.items():
            row = {
                "condition": condition,
                "heuristic": name,
                **rated.loc[spec, ["elo", "elo_low", "elo_high"]].to_dict(),
            }
            if scores is not None and spec in scores.index:
                row |= scores.loc[spec, ["points", "points_low", "points_high"]].to_dict()
            if spec in spent.index:
                row["nodes_per_move"] = float(spent.loc[spec, "generated"] / max(spent.loc[spec, "own_moves"], 1))
            rows.append(row | ({} if truth is None else {"exact": float(truth.loc[spec, "exact"])}))
        standings += sorted(rows, key=lambda row: (-row["elo"], row["heuristic"]))
        duels += _duels(condition, specs, here, against)
    columns = ["condition", "first", "second", "games", "points", "p_value", "p_value_opponents", "better"]
    return Comparison(str(game), pd.DataFrame(standings), pd.DataFrame(duels, columns=columns), played)


def _duels(condition: str, specs: dict[str, str], here: pd.DataFrame, against: pd.DataFrame) -> list[dict[str, Any]]:
    pairs = list(itertools.combinations(specs, 2))
    found = []
    for one, other in pairs:
        direct = here[(here["player"] == one) & (here["opponent"] == other)]
        by_opening = direct.groupby(direct["opening"] if direct["opening_plies"].any() else "pair", observed=True)[
            "points"
        ].mean()
        row = {"condition": condition, "first": specs[one], "second": specs[other], "games": len(direct)}
        row |= {
            "points": direct["points"].mean(),
            "p_value": sign_test(int((by_opening > 0.5).sum()), int((by_opening < 0.5).sum())),
        }
        better = (
            {specs[one] if by_opening.mean() > 0.5 else specs[other]}
            if row["p_value"] < SURE / len(pairs) / 2
            else set()
        )
        both = against[against["player"].isin([one, other])]
        if both["player"].nunique() == 2:
            test = paired(both, "player", other).iloc[0]
            row["p_value_opponents"] = test["p_value"]
            if test["p_value"] < SURE / len(pairs) / 2:
                better.add(specs[one] if test["difference"] > 0 else specs[other])
        found.append(row | {"better": better.pop() if len(better) == 1 else ""})
    return found
