"""The columns of every measurement: fixed here, never inferred; and frames made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd

_TYPES = {
    "word": pa.dictionary(pa.int32(), pa.string()),
    "text": pa.string(),
    "yes": pa.bool_(),
    "int": pa.int64(),
    "number": pa.float64(),
    "list": pa.list_(pa.int64()),
}
_ON_POSITION = "number:int position:text ply:int"
_ENDING = "sampled:yes deterministic:yes timed:yes error:text"


def _schema(text: str) -> pa.Schema:
    """`name:type` words → a schema."""
    return pa.schema([(word.split(":")[0], _TYPES[word.split(":")[1]]) for word in text.split()])


COLUMNS: dict[str, pa.Schema] = {
    "games": _schema(
        "game:word player:word opponent:word number:int pair:int player_first:yes opening:word opening_plies:int "
        "plies:int turns:int result:word points:number winner:int termination:word own_moves:int opponent_moves:int "
        "generated:int opponent_generated:int score:number opponent_score:number deterministic:yes timed:yes "
        "luck:int moves_id:int moves:text note:text elapsed:number"
    ),
    "moves": _schema(
        "game:word player:word opponent:word pair:int player_first:yes opening:word luck:int moves_id:int "
        "termination:word winner:int ply:int mover:word move:word value:number reached:int generated:int "
        "stopped_by:word expected:word deterministic:yes timed:yes elapsed:number"
    ),
    "searches": _schema(
        f"game:word player:word {_ON_POSITION} move:word value:number decided:int reached:int generated:int "
        "expanded:int leaves:int cutoffs:int first_move_cutoffs:int table_probes:int table_hits:int table_cutoffs:int "
        f"played_out:int by_ply:list expected:word stopped_by:word {_ENDING} elapsed:number"
    ),
    "root_moves": _schema(
        f"game:word player:word {_ON_POSITION} move:word value:number decided:int best:yes first_best:yes reached:int "
        f"stopped_by:word {_ENDING}"
    ),
    "accuracy": _schema(
        f"game:word player:word {_ON_POSITION} move:word exact_before:int exact_after:int kept:yes exact:yes loss:int "
        f"best_moves:int legal_moves:int generated:int solved:yes {_ENDING}"
    ),
    "values": _schema(f"game:word heuristic:word {_ON_POSITION} side:int value:number sampled:yes error:text"),
}
OPTIONAL = ("elapsed", "played_out", "error")  # left out where nothing stands in them
Known = Mapping[tuple[str, str], Mapping[str, Any]]


def frame(measure: str, tables: Iterable[pa.Table], players: Known, games: Known, extras: Known) -> pd.DataFrame:
    """Measured rows with every parameter of player, opponent and game as a column.

    Args:
        measure: which columns.
        tables: the parts, in plan order.
        players: parameters by (game, player), or weights by (game, heuristic).
        games: parameters by (game, "").
        extras: further columns of listed positions by (game, ""); each is a list by number.
    """
    import pandas as pd

    schema = COLUMNS[measure]
    whole = pa.concat_tables([schema.empty_table(), *tables]).unify_dictionaries()
    found = {name: whole.column(name) for name in schema.names}
    made = pd.DataFrame({
        name: _series(column)
        for name, column in found.items()
        if name not in OPTIONAL or column.null_count < len(column)
    })  # fmt: skip
    _join(made, "heuristic" if measure == "values" else "player", players, "")
    if "opponent" in made:
        _join(made, "opponent", players, "opponent_")
    _join(made, None, games, "")
    for name in dict.fromkeys(name for columns in extras.values() for name in columns):
        cells = {game: columns[name] for (game, _), columns in extras.items() if name in columns}
        rows = zip(made["game"], made["number"], strict=True)
        made[name] = [cells[game][number] if game in cells else None for game, number in rows]
    return made


def _series(column: pa.ChunkedArray) -> Any:
    """A column in the dtype its kind always has: category, text, boolean, Int64 where something is missing."""
    import pandas as pd

    if pa.types.is_dictionary(column.type):
        text = column.cast(pa.string()).to_pandas()
        return pd.Categorical(text, categories=list(dict.fromkeys(text.dropna())))
    nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()} if column.null_count else {}
    return column.to_pandas(types_mapper=nullable.get)


def _join(made: pd.DataFrame, by: str | None, known: Known, prefix: str) -> None:
    """Parameters of each row's player (or opponent, or game) as columns in nullable dtypes."""
    keys = list(known)
    place = {key: i for i, key in enumerate(keys)}
    game = made["game"].cat
    names = list(made[by].cat.categories) if by else [""]
    codes = made[by].cat.codes.to_numpy() if by else np.zeros(len(made), int)
    grid = np.array([[place.get((one, name), -1) for name in names] for one in game.categories], dtype=int)
    rows = grid.reshape(len(game.categories), len(names))[game.codes.to_numpy(), codes] if len(made) else codes
    for name in dict.fromkeys(name for values in known.values() for name in values):
        column = _typed([known[key].get(name) for key in keys])
        made[prefix + name] = column.take(rows).set_axis(made.index)


def _typed(values: list[Any]) -> pd.Series:
    """A parameter's values, with a missing one at the end; one that is not set is given by its type."""
    import pandas as pd

    kinds = {value if isinstance(value, type) else type(value) for value in values if value is not None}
    values = [None if isinstance(value, type) else value for value in values] + [None]
    for allowed, dtype in (({bool}, "boolean"), ({int}, "Int64"), ({int, float}, "Float64")):
        if kinds <= allowed:
            return pd.Series(values, dtype=dtype)
    words = [None if value is None else str(value) for value in values]
    return pd.Series(pd.Categorical(words, categories=[*dict.fromkeys(word for word in words if word is not None)]))
