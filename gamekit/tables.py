"""Records → tables: functions of the set of records alone, whatever order they came in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .core import nearest
from .referee import FORFEITS, TERMINATIONS, UNDECIDED, Record
from .specs import SpecError
from .stats import PRIOR, bradley_terry, wilson
from .store import Store

if TYPE_CHECKING:
    import pandas as pd

PAIR = ["game", "player", "opponent"]
COLUMNS = Record._fields


def frame(store: Store, columns: tuple[str, ...] = COLUMNS) -> pd.DataFrame:
    """The games as a data frame, read in pieces so that a million of them fit a small memory."""
    import pyarrow as pa

    kinds = {"number": pa.int32(), "first": pa.int8(), "winner": pa.int8(), "opening": pa.int16(), "plies": pa.int32(),
             "moves": pa.string(), "note": pa.string(), "nodes1": pa.int64(), "nodes2": pa.int64(),
             "score1": pa.float64(), "score2": pa.float64(), "termination": pa.int8()}
    places = {label: i for i, label in enumerate(TERMINATIONS)}
    names = ["pair", *columns]
    schema = pa.schema([("pair", pa.int32()), *((name, kinds[name]) for name in columns)])
    pieces = []
    for chunk in store.stream(columns):
        by_column = dict(zip(names, zip(*chunk, strict=True), strict=True))
        if "termination" in by_column:
            by_column["termination"] = tuple(places[label] for label in by_column["termination"])
        pieces.append(pa.record_batch([pa.array(by_column[f.name], f.type) for f in schema], schema=schema))
    table = pa.Table.from_batches(pieces, schema)
    pairs = store.plan["pairs"]
    for i, name in enumerate(PAIR):
        words = list(dict.fromkeys(pair[i] for pair in pairs))
        place = pa.array([words.index(pair[i]) for pair in pairs], pa.int32())
        table = table.add_column(i, name, _coded(place.take(table["pair"].combine_chunks()), words))
    if "termination" in columns:
        at = table.column_names.index("termination")
        table = table.set_column(at, "termination", _coded(table["termination"].combine_chunks().cast(pa.int32()),
                                                           list(TERMINATIONS)))
    return table.drop(["pair"]).to_pandas(self_destruct=True, split_blocks=True)


def _coded(places: Any, words: list[str]) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(places, pa.array(words, pa.string()))


def _groups(games: pd.DataFrame) -> Any:
    return games.groupby(PAIR, observed=True, sort=True)


def _table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)


def _facts(plan: Mapping[str, Any], key: tuple[str, str, str]) -> dict[str, Any]:
    return dict(zip(PAIR, key, strict=True))


def replayed(group: pd.DataFrame, plan: Mapping[str, Any], specs: Sequence[str]) -> bool:
    """Two deterministic players repeated themselves: these games are no independent samples."""
    return (all(plan["players"].get(spec, {}).get("deterministic") for spec in specs)
            and group.moves.nunique() < len(group))


def win_rates(games: pd.DataFrame, plan: Mapping[str, Any]) -> pd.DataFrame:
    """Wins with their interval, distinct games, and the same without loops and caps.

    No interval where deterministic players only replayed games; timed players are marked, for their
    results cannot be had again exactly.
    """
    rows = []
    for key, group in _groups(games):
        n, wins, losses = len(group), int((group.winner == 1).sum()), int((group.winner == 2).sum())
        distinct, counted = group.moves.nunique(), int((~group.termination.isin(UNDECIDED)).sum())
        again = replayed(group, plan, key[1:])
        low, high = (None, None) if again else wilson(wins, n)
        low_counted, high_counted = (None, None) if again or not counted else wilson(wins, counted)
        first = group[group["first"] == 1]
        rows.append({**_facts(plan, key), "games": n, "distinct": distinct, "wins": wins, "draws": n - wins - losses,
                     "losses": losses, "forfeits": int(group.termination.isin(FORFEITS).sum()), "win_rate": wins / n,
                     "low": low, "high": high, "decided_games": counted,
                     "win_rate_decided": wins / counted if counted else None, "low_decided": low_counted,
                     "high_decided": high_counted, "games_first": len(first),
                     "wins_first": int((first.winner == 1).sum()),
                     "timed": any(plan["players"].get(spec, {}).get("timed", False) for spec in key[1:])})
    return _table(rows)


def turns(games: pd.DataFrame, plan: Mapping[str, Any]) -> pd.DataFrame:
    """Lengths of games in plies."""
    rows = []
    for key, group in _groups(games):
        plies = group.plies
        rows.append({**_facts(plan, key), "games": len(group), "mean": plies.mean(), "median": plies.median(),
                     "least": int(plies.min()), "most": int(plies.max())})
    return _table(rows)


def nodes(games: pd.DataFrame, plan: Mapping[str, Any]) -> pd.DataFrame:
    """Positions generated, by player: in all, a game, and a move of that player's own."""
    rows = []
    for key, group in _groups(games):
        own = group.plies - group.opening
        for who, spec in ((1, key[1]), (2, key[2])):
            # The player who moves first after an even opening makes the odd move out.
            leads = (group["first"] == who) == (group.opening % 2 == 0)
            moves = int((own // 2 + (own % 2) * leads).sum())
            total = int(group[f"nodes{who}"].sum())
            rows.append({**_facts(plan, key), "of": spec, "side": ("player", "opponent")[who - 1], "games": len(group),
                         "moves": moves, "nodes": total, "per_game": total / len(group),
                         "per_move": total / moves if moves else None})
    return _table(rows)


def terminations(games: pd.DataFrame, plan: Mapping[str, Any]) -> pd.DataFrame:
    """How games ended, every way in a column."""
    rows = []
    for key, group in _groups(games):
        counts = group.termination.value_counts()
        rows.append({**_facts(plan, key), "games": len(group), **{label: int(counts.get(label, 0))
                                                                  for label in TERMINATIONS}})
    return _table(rows)


def crosstable(games: pd.DataFrame, plan: Mapping[str, Any]) -> pd.DataFrame:
    """Points of the row's player against the column's, a draw counting half; as played, one side a row."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for key, group in _groups(games):
        points = (group.winner == 1).sum() + (group.winner == 0).sum() / 2
        rows.setdefault(key[:2], dict(zip(PAIR[:2], key[:2], strict=True)))[key[2]] = f"{points:g}/{len(group)}"
    return _table(list(rows.values())).fillna("")


def ratings(games: pd.DataFrame, plan: Mapping[str, Any]) -> pd.DataFrame:
    """Bradley–Terry ratings in Elo for each game, with error and the prior they were made with.

    Where deterministic players replayed games, each different one counts once.
    """
    rows: list[dict[str, Any]] = []
    for game, group in games.groupby("game", observed=True, sort=True):
        results: dict[tuple[str, str], tuple[float, float]] = {}
        meetings: Any = group.groupby(["player", "opponent"], observed=True, sort=True)
        for (one, other), pair in meetings:
            results[one, other] = points(pair, plan, (one, other))
        rated = bradley_terry(results, PRIOR)
        found = [{"game": game, "player": name, "elo": round(float(elo), 1), "error": round(float(error), 1),
                  "games": int(count), "prior": rated.prior}
                 for name, elo, error, count in zip(rated.names, rated.elo, rated.error, rated.games, strict=True)]
        rows += sorted(found, key=lambda row: (-row["elo"], row["player"]))
    return _table(rows)


def points(group: pd.DataFrame, plan: Mapping[str, Any], specs: tuple[str, str]) -> tuple[float, float]:
    """What two players took from each other, a draw counting half, a replayed game once in all."""
    share = group.moves.nunique() / len(group) if replayed(group, plan, specs) else 1.0
    won, lost = float((group.winner == 1).sum()), float((group.winner == 2).sum())
    drawn = (len(group) - won - lost) / 2
    return (won + drawn) * share, (lost + drawn) * share


TABLES: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    t.__name__: t for t in (win_rates, turns, nodes, terminations, crosstable, ratings)}


def table(name: str, games: pd.DataFrame, plan: Mapping[str, Any]) -> pd.DataFrame:
    """One of the tables by name."""
    if name not in TABLES:
        raise SpecError(f"there is no table {name!r}; there are {', '.join(TABLES)}{nearest(name, TABLES)}")
    return TABLES[name](games, plan)


def csv(found: pd.DataFrame) -> str:
    """A table as text, the same bytes every time."""
    return found.to_csv(index=False, float_format="%.6g", lineterminator="\n")
