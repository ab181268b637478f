"""Summaries: pure functions from a tidy frame of games or positions to a small table with intervals.

`by` is always a column, a list of columns or None for one group; missing values make a group of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import isnan, nan
from typing import Any

import numpy as np
import pandas as pd

from ..errors import GamekitError
from ..statistics import PRIOR, SPRT, Paired, bradley_terry, mean_interval, strength, wilson
from ..statistics import paired as compare_pairs
from .frames import codes_of, flags, need, numbers

By = str | Sequence[str] | None
Rows = Iterable[dict[str, Any]]

MEETING = ["game", "player", "opponent"]
GAME = [*MEETING, "moves_id"]  # deterministic rows that agree in these are one game, replayed
SHARED = {*GAME, "player_first", "pair", "opening", "opening_plies", "plies", "turns", "result", "points", "winner",
          "termination", "deterministic", "timed", "luck", "moves", "note", "sequential"}  # fmt: skip
RESULTS = {"wins": "win", "draws": "draw", "losses": "loss"}
ENDS = {"forfeits": ("timeout", "illegal", "crash", "memory"), "unfinished": ("repetition", "cap")}
PAIRS = ("pairs_0", "pairs_half", "pairs_1", "pairs_1half", "pairs_2")


def win_rates(frame: pd.DataFrame, by: By = None) -> pd.DataFrame:
    """Results of the games of each group.

    Args:
        frame: one row per game, as `gk.sweep` returns it.
    Returns:
        One row per group: games, distinct games, wins, draws, losses, forfeits, unfinished games (repetition, cap),
        win_rate, points (both fractions) and turns with intervals, nodes per move of either side, and timed.
    """

    def one(part: pd.DataFrame, samples: np.ndarray) -> Rows:
        result, ended = part["result"], part["termination"]
        total = {c: np.nansum(numbers(part, c)) for c in efforts}
        yield {
            "games": len(part),
            "distinct": len(part.drop_duplicates([*GAME, "seat"])),
            **{name: int(result.eq(word).sum()) for name, word in RESULTS.items()},
            **{name: int(ended.isin(kinds).sum()) for name, kinds in ENDS.items()},
            **_estimate("win_rate", result.eq("win").to_numpy(float), samples, "rate"),
            **_estimate("points", numbers(part, "points"), samples, "points"),
            **_estimate("turns", numbers(part, "turns"), samples),
            "nodes": float(total["generated"] / (total["own_moves"] or nan)),
            "opponent_nodes": float(total["opponent_generated"] / (total["opponent_moves"] or nan)),
            "timed": bool(flags(part, "timed").any()),
        }

    efforts = ["generated", "own_moves", "opponent_generated", "opponent_moves"]
    return _table(
        _seated(frame), by, [*GAME, "seat", "result", "points", "termination", "turns", "timed", *efforts], one
    )


def rate(frame: pd.DataFrame, column: str, by: By = None) -> pd.DataFrame:
    """How often a yes/no column is true.

    Args:
        frame: what a measurement returned.
        column: the yes/no column.
    Returns:
        One row per group: n (rows with a value), count, and the rate with Wilson's interval.
    """

    def one(part: pd.DataFrame, samples: np.ndarray) -> Rows:
        values = numbers(part, column)
        if not np.isin(values[~np.isnan(values)], (0, 1)).all():
            raise GamekitError(f"rate: column {column!r} is not yes/no; use gk.mean for numbers")
        found = _estimate(column, values, samples, "rate")
        yield {"n": int((~np.isnan(values)).sum()), "count": int(np.nansum(values)), **found}

    return _table(frame, by, [column], one)


def mean(frame: pd.DataFrame, column: str, by: By = None) -> pd.DataFrame:
    """The mean of a column of numbers.

    Args:
        frame: what a measurement returned.
        column: the numbers.
    Returns:
        One row per group: n (rows with a value), and the mean with Student's t interval.
    """

    def one(part: pd.DataFrame, samples: np.ndarray) -> Rows:
        values = numbers(part, column)
        yield {"n": int((~np.isnan(values)).sum()), **_estimate(column, values, samples)}

    return _table(frame, by, [column], one)


def ratings(frame: pd.DataFrame, by: By = "game", of: str = "player", prior: float = PRIOR) -> pd.DataFrame:
    """Bradley–Terry ratings in Elo, with mean 0 in each group. Replayed games and mirrored rows count once.

    Args:
        frame: one row per game.
        of: what is rated: "player", or a parameter whose opponents' values are in the column `opponent_<of>`.
        prior: virtual wins each way between any two, so that a perfect record has a finite rating.
    Returns:
        One row per group and rated value, strongest first: elo with its interval, games and the prior.
    """
    rival = "opponent" if of == "player" else f"opponent_{of}"

    def one(part: pd.DataFrame, samples: np.ndarray) -> Rows:
        codes, names = pd.factorize(pd.concat([part[of], part[rival]]).astype(object), use_na_sentinel=False)
        first, second = np.split(codes, 2)
        points = pd.Series(numbers(part, "points")).groupby([first, second]).agg(["sum", "size"])
        rated = bradley_terry({pair: (won, games - won) for pair, won, games in points.itertuples()}, prior)
        for i in np.argsort(-rated.elo, kind="stable"):
            elo, reach = float(rated.elo[i]), float(rated.error[i]) if samples[0] >= 0 else nan
            interval = {"elo": elo, "elo_low": elo - reach, "elo_high": elo + reach}
            yield {of: names[rated.names[i]], **interval, "games": int(rated.games[i]), "prior": prior}

    once = _distinct(frame).assign(deterministic=False)  # replays are gone: what is left are samples
    return _table(once, by, [of, rival, "points"], one, sided=False)


def paired(
    frame: pd.DataFrame, between: str, baseline: Any, value: str = "points", by: By = None, ratio: bool = False
) -> pd.DataFrame:
    """Compare each value of a column with a baseline on the same games or positions.

    Rows match if they agree in game, opponent, pair and player_first (sweeps), or in game and position. Games of the
    same luck, such as the two of a colour pair, are averaged into one observation.

    Args:
        frame: one row per game or position.
        between: the column that differs, for example "heuristic".
        baseline: the value in that column to compare with.
        value: the column of numbers to compare.
        ratio: compare by ratio (geometric mean) instead of by difference.
    Returns:
        One row per group and value: pairs (observations), difference or ratio with its interval, the number of
        observations in which it is higher (better) or lower (worse), and the p-value of the sign test.
    """
    need(frame, [between])
    if not frame[between].eq(baseline).any():
        allowed = ", ".join(map(str, frame[between].dropna().unique()))
        raise GamekitError(f"paired: baseline={baseline!r} is not in column {between!r}; allowed: {allowed}")
    effect = "ratio" if ratio else "difference"
    match = ["game", "opponent", "pair", "player_first"] if "luck" in frame else ["game", "position"]

    def one(part: pd.DataFrame, samples: np.ndarray) -> Rows:
        measured = numbers(part, value)
        if ratio and (measured <= 0).any():
            raise GamekitError(f"paired: a ratio needs positive numbers; column {value!r} has others")
        kinds, names = pd.factorize(part[between].astype(object), use_na_sentinel=False)
        data = pd.DataFrame({"value": np.log(measured) if ratio else measured, "kind": kinds, "sample": samples})
        data = data.assign(
            key=codes_of(part, match), luck=codes_of(part, ["luck"] if "luck" in part else match)
        ).dropna()
        means = {"value": ("value", "mean"), "rows": ("value", "size"), "luck": ("luck", "first")}
        table = data.groupby(["kind", "key"]).agg(**means, sample=("sample", "min"))
        cells = {names[kind]: rows.droplevel("kind") for kind, rows in table.groupby("kind")}
        base = cells.pop(baseline, table[:0].droplevel("kind"))
        for name, cell in cells.items():
            both = cell.merge(base, left_index=True, right_index=True, suffixes=("", "_base"))
            if (both["rows"] != both["rows_base"]).any():
                hint = "add the column that tells its players apart to by"
                raise GamekitError(f"paired: {between}={name} and {baseline} differ in rows per game; {hint}")
            found = Paired(0, 0, 0, nan, nan, nan, nan)
            if len(both):
                pairs = both.groupby("luck")[["value", "value_base"]].mean()
                pairs = np.exp(pairs) if ratio else pairs
                found = compare_pairs(pairs["value"], pairs["value_base"], ratio=ratio)
                if both[["sample", "sample_base"]].min(axis=None) < 0:
                    found = found._replace(low=nan, high=nan, p_value=nan)
            interval = {effect: found.difference, f"{effect}_low": found.low, f"{effect}_high": found.high}
            counts = {"better": found.better, "worse": found.worse, "p_value": found.p_value}
            yield {between: name, "baseline": baseline, "pairs": found.pairs, **interval, **counts}

    needs = [between, value, *match, *(["luck"] if "luck" in frame else [])]
    return _table(frame, by, needs, one, within=[between], sided=False)


def elo(frame: pd.DataFrame, by: By = None) -> pd.DataFrame:
    """Elo, normalised Elo and likelihood of superiority (los) of the players over their opponents.

    Args:
        frame: one row per game.
    Returns:
        One row per group: model ("pentanomial" on colour pairs, "trinomial" on games where there is no complete
        pair), games, wins, draws, losses, the numbers of pairs with 0, ½, 1, 1½ and 2 points, score, elo and nelo
        with intervals, los, and left_out: the number of games without their colour-swapped partner.
    """

    def one(part: pd.DataFrame, samples: np.ndarray) -> Rows:
        scores, kinds, used = _observations(part)
        counts = np.bincount(np.rint(scores * (kinds - 1)).astype(int), minlength=kinds)
        found = strength(counts, len(np.unique(samples[used])) / (kinds // 2))._asdict()
        if samples[0] < 0:
            found |= {name: nan for name in found if name.endswith(("_low", "_high", "los"))}
        points = numbers(part, "points")[used]
        results = {name: int((points == x).sum()) for name, x in (("wins", 1), ("draws", 0.5), ("losses", 0))}
        pairs = dict(zip(PAIRS, map(int, counts) if kinds == 5 else [0] * 5, strict=True))
        model = "pentanomial" if kinds == 5 else "trinomial"
        yield {"model": model, "games": len(points), **results, **pairs, **found, "left_out": int((~used).sum())}

    return _table(frame, by, [*MEETING, "pair", "luck", "player_first", "points"], one)


def sprt(
    frame: pd.DataFrame, elo0: float, elo1: float, alpha: float = 0.05, beta: float = 0.05, model: str = "normalized"
) -> pd.DataFrame:
    """The sequential test of one meeting, on its distinct games in the order of their pairs.

    Args:
        frame: one row per game, of one meeting.
        elo0, elo1: hypotheses about the player's lead, in Elo ("logistic") or normalised Elo ("normalized").
        alpha, beta: the probabilities of accepting elo1, or elo0, wrongly.
        model: "normalized" or "logistic": whose Elo the hypotheses are in.
    Returns:
        One row: outcomes (5 for colour pairs, 3 for games where there is no complete pair), pairs (or games) up to
        the decision, llr, the bounds lower and upper, and decision: "elo0", "elo1", or "" while it is open.
    """
    need(frame, [*MEETING, "pair", "points"])
    meetings = len(frame[MEETING].drop_duplicates())
    if meetings != 1:
        raise GamekitError(f"sprt: the frame has {meetings} meetings; choose one game, player and opponent")
    scores, kinds, _ = _observations(_distinct(frame.sort_values("pair", kind="stable")))
    test = SPRT(elo0, elo1, alpha, beta, model, [0] * kinds)
    test.add_until_decided(scores)
    lower, upper = test.bounds
    found = {"outcomes": kinds, "pairs": sum(test.counts), "llr": test.llr, "lower": lower, "upper": upper}
    return pd.DataFrame([found | {"decision": test.decision or ""}])


def both_sides(frame: pd.DataFrame) -> pd.DataFrame:
    """Each game seen from either side: the rows of the frame, then the same rows with the players exchanged.

    Columns `x` and `opponent_x` change places; result, points and player_first are turned round.

    Args:
        frame: one row per game, as `gk.sweep` returns it.
    Returns:
        Twice as many rows.
    """
    need(frame, [*GAME, "player_first", "result", "points"])
    swap = {c.removeprefix("opponent_"): c for c in frame if c.startswith("opponent_")} | {"player": "opponent"}
    if swap.pop("moves", None):
        swap["own_moves"] = "opponent_moves"
    unclear = [c for c in {*frame} ^ {*swap} ^ {*swap.values()} if c not in SHARED]
    if unclear and set(frame["player"]).isdisjoint(frame["opponent"]):
        raise GamekitError(f"both_sides: {', '.join(unclear)} may describe one side only; drop these columns first")
    turned = frame.rename(columns=swap | {theirs: own for own, theirs in swap.items()}).assign(
        result=frame["result"].astype(object).map({"win": "loss", "draw": "draw", "loss": "win"}),
        points=1 - frame["points"],
        player_first=~flags(frame, "player_first"),
    )
    names = [c for c in frame if isinstance(frame[c].dtype, pd.CategoricalDtype)]
    sides = [f.astype(dict.fromkeys(names, object)) for f in (frame, turned)]
    rows = [
        set(f.loc[f["player"].ne(f["opponent"]), [*GAME, "player_first"]].itertuples(index=False, name=None))
        for f in sides
    ]
    if rows[0] and rows[0] == rows[1]:
        raise GamekitError("both_sides: the frame already has both sides of every game")
    return pd.concat(sides, ignore_index=True).astype(dict.fromkeys(names, "category"))


# ----------------------------------------------------------------------------- groups, samples and pairs


def _table(
    frame: pd.DataFrame,
    by: By,
    needs: list[str],
    one: Callable[[pd.DataFrame, np.ndarray], Rows],
    within: Sequence[str] = (),
    sided: bool = True,
) -> pd.DataFrame:
    """The rows that `one` makes of each group and its samples, after the columns of the group.

    `within` splits the groups further for the interval rule; `sided` is for summaries from the player's side.
    """
    by = [by] if isinstance(by, str) else list(by or [])
    need(frame, [*by, *needs])
    if sided:
        _refuse_one_sided(frame, by)
    samples, codes = _samples(frame, [*by, *within]), codes_of(frame, by)
    order = np.argsort(codes, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    data = frame[list(dict.fromkeys(needs))]
    rows = [(group[0], row) for group in groups for row in one(data.iloc[group], samples[group])]
    keys = frame[by].iloc[[first for first, _ in rows]].reset_index(drop=True)
    return pd.concat([keys, pd.DataFrame([row for _, row in rows])], axis=1)


def _samples(frame: pd.DataFrame, by: list[str]) -> np.ndarray:
    """The interval rule of all summaries: the number of the independent sample that each row belongs to.

    Rows with the same luck and seat, or with the same position, are one sample, whoever plays or searches. Groups
    that are no sample have −1, and get no interval: those with a deterministic game that was played again, with
    listed instead of sampled positions, or with a match that was stopped early by its result.
    """
    if "luck" in frame:
        # A row per move has no digest of its game, but opening and seat decide a deterministic game.
        game = [*MEETING, "player_first", "opening", "ply"] if "ply" in frame else [*GAME, "seat"]
        key, again = ["luck", "player_first"], list(dict.fromkeys([*by, *game]))
        frame = _seated(frame)
        need(frame, [*key, *game, "deterministic"])
        no_sample = flags(frame, "deterministic") & frame.duplicated(again, keep=False).to_numpy()
    else:
        key = ["game", "position"]
        need(frame, [*key, "sampled"])
        no_sample = ~flags(frame, "sampled")
    if "sequential" in frame:
        no_sample |= flags(frame, "sequential")
    groups = codes_of(frame, by)
    return np.where(np.isin(groups, groups[no_sample]), -1, codes_of(frame, key))


def _seated(frame: pd.DataFrame) -> pd.DataFrame:
    """With a column `seat`: whether the player moved first after an opening.

    Two players that choose alike play equal games from both sides of an opening. These are no replay: the players
    have changed seats. Without openings there is only one game to play, and all others repeat it.
    """
    known = {"opening", "player_first"} <= {*frame}
    opened = frame["opening"].astype(object).fillna("").ne("") if known else False
    return frame.assign(seat=flags(frame, "player_first") & opened if known else False)


def _estimate(name: str, values: np.ndarray, samples: np.ndarray, kind: str = "mean") -> dict[str, float]:
    """The mean of the known values, with an interval over the averages of their samples."""
    known = ~np.isnan(values)
    values, samples = values[known], samples[known]
    centre, low, high = float(values.mean()) if len(values) else nan, nan, nan
    if len(values) and samples[0] >= 0:
        _, unit = np.unique(samples, return_inverse=True)
        n = int(unit.max()) + 1
        if kind != "rate":  # samples of more rows weigh more, so that the averages have the rows' mean
            _, low, high = mean_interval(centre + np.bincount(unit, values - centre) * n / len(values))
        if kind == "rate" or (kind == "points" and isnan(low)):  # no spread: all games were won, drawn or lost
            low, high = wilson(centre * n, n)
        elif kind == "points":
            low, high = max(0.0, low), min(1.0, high)
    return {name: centre, f"{name}_low": low, f"{name}_high": high}


def _refuse_one_sided(frame: pd.DataFrame, by: list[str]) -> None:
    """Among players who met each other, a player's row says nothing of the games listed under its opponents."""
    players_only = any(c == "player" or f"opponent_{c}" in frame for c in by)
    if not players_only or any(c.startswith("opponent") for c in by) or not {*MEETING} <= {*frame}:
        return
    met = frame[MEETING].drop_duplicates().astype(object)
    meetings = {(game, a, b) for game, a, b in met.itertuples(index=False) if a != b}
    both = {(game, a) for game, a, _ in meetings} & {(game, b) for game, _, b in meetings}
    mirrored = any((game, b, a) in meetings for game, a, b in meetings)
    everyone = met.groupby("game")[["player", "opponent"]].nunique().prod(axis=1).sum()
    if both and not mirrored and len(met) < everyone:
        raise GamekitError(f"by={by} names only players, but half of their games are listed under their opponents; "
                           "use gk.both_sides(frame) first")  # fmt: skip


def _distinct(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame without games that are there twice: replays of deterministic players, and mirrored rows."""
    need(frame, [*GAME, "player_first", "luck", "deterministic"])
    seat, fixed = flags(frame, "player_first"), flags(frame, "deterministic")
    one, other = (frame[c].astype(object).to_numpy() for c in ("player", "opponent"))
    identity = {"first": np.where(seat, one, other), "second": np.where(seat, other, one)}
    identity |= {"luck": np.where(fixed, 0, frame["luck"].to_numpy())}
    return frame[~frame[["game", "moves_id"]].assign(**identity).duplicated().to_numpy()]


def _observations(part: pd.DataFrame) -> tuple[np.ndarray, int, np.ndarray]:
    """Mean scores of complete colour pairs in order, the number of possible outcomes, and which rows were used.

    Where no colours were swapped, games take the place of pairs.
    """
    points, seat, number = numbers(part, "points"), flags(part, "player_first"), numbers(part, "pair")
    codes = codes_of(part, [*MEETING, "pair", "luck"])
    seats = np.array([np.bincount(codes[side], minlength=codes.max() + 1) for side in (seat, ~seat)])
    whole = (seats == 1).all(axis=0)
    if not whole.any():
        return points[np.argsort(number, kind="stable")], 3, np.ones(len(part), bool)
    scores, place = np.bincount(codes, points) / 2, np.zeros(len(whole))
    place[codes] = number
    return scores[whole][np.argsort(place[whole], kind="stable")], 5, whole[codes]
