"""The columns of every measurement: fixed here, never inferred; and frames made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd

_WORD = pa.dictionary(pa.int32(), pa.string())
_TYPES = {"word": _WORD, "text": pa.string(), "yes": pa.bool_(), "int": pa.int64(), "number": pa.float64()}
_TYPES["list"] = pa.list_(pa.int64())


def _schema(text: str) -> pa.Schema:
    """`name:type` words → a schema."""
    return pa.schema([(word.split(":")[0], _TYPES[word.split(":")[1]]) for word in text.split()])


COLUMNS: dict[str, pa.Schema] = {
    "games": _schema(
        "game:word player:word opponent:word number:int pair:int player_first:yes opening:word opening_plies:int plies:int "
        "turns:int result:word points:number winner:int termination:word own_moves:int opponent_moves:int generated:int "
        "opponent_generated:int score:number opponent_score:number deterministic:yes timed:yes luck:int moves_id:int "
        "moves:text note:text elapsed:number"
    ),
    "moves": _schema(
        "game:word player:word opponent:word pair:int player_first:yes opening:word luck:int moves_id:int termination:word winner:int "
        "ply:int mover:word move:word value:number reached:int generated:int stopped_by:word expected:word "
        "deterministic:yes timed:yes elapsed:number"
    ),
    "searches": _schema(
        "game:word player:word number:int position:text ply:int move:word value:number decided:int reached:int "
        "generated:int expanded:int leaves:int cutoffs:int first_move_cutoffs:int table_probes:int table_hits:int "
        "table_cutoffs:int played_out:int by_ply:list expected:word stopped_by:word sampled:yes deterministic:yes timed:yes "
        "error:text elapsed:number"
    ),
    "root_moves": _schema(
        "game:word player:word number:int position:text ply:int move:word value:number decided:int best:yes first_best:yes "
        "reached:int stopped_by:word sampled:yes deterministic:yes timed:yes error:text"
    ),
    "accuracy": _schema(
        "game:word player:word number:int position:text ply:int move:word exact_before:int exact_after:int kept:yes "
        "exact:yes loss:int best_moves:int legal_moves:int generated:int solved:yes sampled:yes deterministic:yes timed:yes "
        "error:text"
    ),
    "values": _schema(
        "game:word heuristic:word number:int position:text ply:int side:int value:number sampled:yes error:text"
    ),
}
OPTIONAL = ("elapsed", "played_out", "error")  # dropped where nothing stands in them


def frame(
    measure: str,
    tables: Iterable[pa.Table],
    players: Mapping[tuple[str, str], Mapping[str, Any]],
    games: Mapping[str, Mapping[str, Any]],
    extras: Mapping[str, Mapping[str, list[Any]]],
) -> pd.DataFrame:
    """Measured rows with every parameter of player, opponent and game as a column.

    Args:
        measure: which columns.
        tables: the parts, in plan order.
        players: parameters by (game, player); heuristics' weights by (game, heuristic).
        games: parameters by game.
        extras: further columns of listed positions, by game.
    """
    import pandas as pd

    schema = COLUMNS[measure]
    whole = pa.concat_tables([schema.empty_table(), *tables]).unify_dictionaries()
    found: dict[str, Any] = {}
    for name in schema.names:
        column = whole.column(name)
        if name in OPTIONAL and column.null_count == len(column):
            continue
        found[name] = _series(column)
    made = pd.DataFrame(found)
    one = "heuristic" if measure == "values" else "player"
    _join(made, [one], players, "")
    if "opponent" in made:
        _join(made, ["opponent"], players, "opponent_")
    _join(made, [], {(game, ""): values for game, values in games.items()}, "")
    for name in dict.fromkeys(name for columns in extras.values() for name in columns):
        made[name] = [
            extras.get(game, {}).get(name, {number: None})[number] if name in extras.get(game, {}) else None
            for game, number in zip(made["game"], made["number"], strict=True)
        ]
    return made


def _series(column: pa.ChunkedArray) -> Any:
    """A column in the dtype its kind always has: category, text, boolean, Int64 where something is missing."""
    import pandas as pd

    if pa.types.is_dictionary(column.type):
        text = column.cast(pa.string()).to_pandas()
        return pd.Categorical(text, categories=list(dict.fromkeys(text.dropna())))
    if pa.types.is_boolean(column.type):
        return column.to_pandas().astype("boolean") if column.null_count else column.to_pandas()
    if pa.types.is_integer(column.type):
        return (
            column.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
            if column.null_count
            else column.to_pandas()
        )
    return column.to_pandas()


def _join(made: pd.DataFrame, by: list[str], known: Mapping[tuple[str, str], Mapping[str, Any]], prefix: str) -> None:
    """Parameters of the player (or opponent, or game) of each row, in nullable dtypes."""
    import pandas as pd

    keys = list(known)
    place = {key: i for i, key in enumerate(keys)}
    game = made["game"].cat
    names = made[by[0]].cat.categories if by else [""]
    grid = np.array([[place.get((one, name), -1) for name in names] for one in game.categories], dtype=int)
    codes = made[by[0]].cat.codes.to_numpy() if by else np.zeros(len(made), int)
    rows = grid.reshape(len(game.categories), len(names))[game.codes.to_numpy(), codes] if len(made) else codes
    for name in dict.fromkeys(name for values in known.values() for name in values):
        column = pd.Series([known[key].get(name) for key in keys] + [None], dtype=object)
        made[prefix + name] = _typed(column).take(rows).set_axis(made.index)


def _typed(values: pd.Series) -> pd.Series:
    import pandas as pd

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {bool}:
        return values.astype("boolean")
    if kinds <= {int}:
        return values.astype("Int64")
    if kinds <= {int, float}:
        return values.astype("Float64")
    words = values.map(lambda value: None if value is None else str(value))
    return pd.Series(pd.Categorical(words, categories=list(dict.fromkeys(words.dropna()))))
