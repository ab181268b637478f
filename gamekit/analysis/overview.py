"""A sweep file → its folder with tables and figures: what `gamekit sweep` leaves behind."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..errors import GamekitError, nearest
from ..experiments import measure
from ..experiments.folder import Folder, Report, drop_damaged, verify
from ..matches.referee import TERMINATIONS
from . import plot
from .summaries import elo, ratings, win_rates

if TYPE_CHECKING:
    import pandas as pd

KEYS = [
    "games",
    "players",
    "opponents",
    "games_each",
    "openings",
    "swap",
    "repetition",
    "max_plies",
    "move_seconds",
    "megabytes",
    "rows",
    "timing",
    "seed",
    "out",
]
MEETING = ["game", "player", "opponent"]
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
    rates = win_rates(played, by=MEETING) if "result" in played else played
    done = folder.done() or {}
    made = [name for name in done if name.startswith(("tables/", "figures/"))]
    if "result" in played and not (made and all(map(folder.intact, made))):
        tables = {"win_rates": rates, "terminations": _terminations(played), "elo": elo(played, by=MEETING)}
        tables["ratings"] = ratings(played)
        files = {f"tables/{name}.csv": csv(table) for name, table in tables.items()}
        folder.finish({**files, **_figures(rates)})
    return rates


def csv(table: pd.DataFrame) -> bytes:
    """A table as text, the same bytes every time."""
    return table.to_csv(index=False, float_format="%.6g", lineterminator="\n").encode()


def _terminations(played: pd.DataFrame) -> pd.DataFrame:
    """How games ended, every way in a column."""
    counts = played.groupby(MEETING, observed=True, sort=False)["termination"].value_counts().unstack(fill_value=0)
    return counts.reindex(columns=list(TERMINATIONS), fill_value=0).rename_axis(columns=None).reset_index()


def _figures(rates: pd.DataFrame) -> dict[str, bytes]:
    label = ["player", "opponent"] if rates["game"].nunique() == 1 else ["game", "player", "opponent"]
    titles = {"win_rate": "Win rate of the first-named player", "turns": "Length of games in turns"}
    found: dict[str, bytes] = {}
    with TemporaryDirectory() as place:
        for value, title in titles.items():
            for page, first in enumerate(range(0, len(rates), SHOWN)):
                part = rates.iloc[first : first + SHOWN]
                name = f"{value}s" if value == "win_rate" else value
                name += f"_{page + 1}" if len(rates) > SHOWN else ""
                for path in plot.save(plot.dots(part, label, value, title=title), Path(place) / name):
                    found[f"figures/{Path(path).name}"] = Path(path).read_bytes()
    return found


def repair(path: str | Path) -> Report:
    """Drop what is damaged and measure it again; with code of the user's own, the sweep itself has to be run again."""
    folder = Folder(path)
    if not drop_damaged(path).complete:
        played = measure.again(folder)
        if played is not None and (folder.path / "tables").is_dir():
            finish(folder, played)
    return verify(path)


def read_file(path: str | Path) -> dict[str, Any]:
    """A sweep file → the arguments of `gk.sweep`, every key known; values are checked by the sweep."""
    import yaml

    path = Path(path)
    try:
        if path.exists() and not path.is_file():
            raise GamekitError(f"{path} is not a file")
        if path.stat().st_size > LARGEST:
            raise GamekitError(f"{path} is too large for a sweep file ({path.stat().st_size:,} bytes)")
        text = path.read_text(encoding="utf-8-sig")
        if "&" in text and "*" in text:
            raise GamekitError(f"{path}: YAML anchors and aliases (& and *) are not allowed in a sweep file")
        read = yaml.safe_load(text)
    except FileNotFoundError:
        raise GamekitError(f"there is no sweep file {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise GamekitError(f"{path} cannot be read: {error}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, GamekitError):
            raise
        raise GamekitError(f"{path} is not YAML: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(read, dict):
        raise GamekitError(f"{path}: a sweep file has lines 'name: value' with the names {', '.join(KEYS)}")
    for key in read:
        if key not in KEYS:
            hint = nearest(key, KEYS)
            raise GamekitError(f"{path}: a sweep has no {key!r}; allowed: {', '.join(KEYS)}{hint}")
    for key in ("games", "players"):
        if key not in read:
            raise GamekitError(f"{path}: {key!r} is missing; a sweep names games and players")
    if "out" in read and not isinstance(read["out"], str):
        raise GamekitError(f"{path}: out={read['out']!r} is not allowed; out is the path of a folder"[:300])
    return read
