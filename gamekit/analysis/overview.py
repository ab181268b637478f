"""A sweep file → its folder with tables and figures: what `gamekit sweep` leaves behind."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import yaml

from ..errors import GamekitError, nearest
from ..experiments import measure
from ..experiments.folder import Folder, Report, drop_damaged, verify
from ..matches.referee import TERMINATIONS
from . import plot
from .summaries import MEETING, elo, ratings, win_rates

RULES = ["openings", "swap", "repetition", "max_plies", "move_seconds", "megabytes", "rows", "timing", "seed"]
KEYS = ["games", "players", "opponents", "games_each", *RULES, "out"]
LARGEST = 1_000_000  # bytes of a sweep file
SHOWN = 60  # rows of a figure that can still be read


def run_file(
    path: str | Path, out: str | Path | None = None, workers: int | None = None, scheduler: str | None = None
) -> pd.DataFrame:
    """Run or resume a sweep file.

    Args:
        path: a YAML file with the arguments of `gk.sweep`.
        out: the folder (default: what the file says, or `results/` and the file's name).
        workers: processes on this machine.
        scheduler: the address of a Dask scheduler instead.

    Returns:
        The win rates; the folder holds the games, tables and figures.
    """
    given = read_file(path)
    folder = out or given.pop("out", None) or Path("results") / Path(path).stem
    played = measure.sweep(**{**given, "out": folder}, workers=workers, executor=scheduler)
    return finish(Folder(folder), played)


def finish(folder: Folder, played: pd.DataFrame) -> pd.DataFrame:
    """Write tables and figures of a complete sweep, unless they are there as they were left."""
    if "result" not in played:
        return played
    rates = win_rates(played, by=MEETING)
    made = [name for name in folder.done() or {} if name.startswith(("tables/", "figures/"))]
    if not made or not all(map(folder.intact, made)):
        ends = played.groupby(MEETING, observed=True, sort=False)["termination"].value_counts().unstack(fill_value=0)
        ends = ends.reindex(columns=list(TERMINATIONS), fill_value=0).reset_index()
        tables = {"win_rates": rates, "terminations": ends, "elo": elo(played, by=MEETING), "ratings": ratings(played)}
        folder.finish({f"tables/{name}.csv": csv(table) for name, table in tables.items()} | _figures(rates))
    return rates


def csv(table: pd.DataFrame) -> bytes:
    """A table as text, the same bytes every time."""
    return table.to_csv(index=False, float_format="%.6g", lineterminator="\n").encode()


def _figures(rates: pd.DataFrame) -> dict[str, bytes]:
    label = MEETING[1:] if rates["game"].nunique() == 1 else MEETING
    found: dict[str, bytes] = {}
    with TemporaryDirectory() as place:
        for name, title in {
            "win_rate": "Win rate of the first-named player",
            "turns": "Length of games in turns",
        }.items():
            for page, first in enumerate(range(0, len(rates), SHOWN)):
                file = name.replace("rate", "rates") + (f"_{page + 1}" if len(rates) > SHOWN else "")
                drawn = plot.dots(rates.iloc[first : first + SHOWN], label, name, title=title)
                found |= {f"figures/{path.name}": path.read_bytes() for path in plot.save(drawn, Path(place) / file)}
    return found


def repair(path: str | Path) -> Report:
    """Drop what is damaged and measure it again; with code of the user's own, the sweep itself has to be run again."""
    folder = Folder(path)
    if not drop_damaged(path).complete:
        played = measure.again(folder)
        if played is not None and (folder.path / "tables").is_dir():
            finish(folder, played)
    return verify(path)


class _Loader(yaml.SafeLoader):
    """Plain YAML: a key that is given twice and a part that stands for another are refused, not guessed at."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise GamekitError("YAML aliases (*) are not allowed in a sweep file")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        if twice := [key for key in keys if keys.count(key) > 1]:
            raise GamekitError(f"{twice[0]!r} is given twice")
        return super().construct_mapping(node, deep)


def read_file(path: str | Path) -> dict[str, Any]:
    """A sweep file → the arguments of `gk.sweep`, every key known; values are checked by the sweep."""
    path = Path(path)
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise GamekitError("this is not a file")
        if size > LARGEST:
            raise GamekitError(f"{size:,} bytes are too large for a sweep file; at most {LARGEST:,} are allowed")
        read = yaml.load(path.read_text(encoding="utf-8-sig"), _Loader)
        if not isinstance(read, dict):
            raise GamekitError(f"a sweep file has lines 'name: value' with the names {', '.join(KEYS)}")
        for key in read:
            if key not in KEYS:
                raise GamekitError(f"a sweep has no {str(key)[:80]!r}; allowed: {', '.join(KEYS)}{nearest(key, KEYS)}")
        for key in ("games", "players"):
            if read.get(key) is None:
                lack = "has no value" if key in read else "is missing"
                raise GamekitError(f"{key!r} {lack}; a sweep names games and players")
        out = read.get("out", "results")
        if not isinstance(out, str) or not out.isprintable() or not out:
            raise GamekitError(f"out={str(out)[:80]!r} is not allowed; out is the path of a folder")
    except GamekitError as error:
        raise GamekitError(f"{path}: {error}") from None
    except FileNotFoundError:
        raise GamekitError(f"there is no sweep file {str(path)!r}") from None
    except OSError as error:
        raise GamekitError(f"{str(path)[:200]} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise GamekitError(f"{path} is not YAML: {' '.join(str(error).split())[:200]}") from None
    return read
