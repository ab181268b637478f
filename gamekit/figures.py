"""Tables → figures, the same bytes every time: no dates, fixed names inside the SVG."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# Okabe and Ito's colours: told apart by colour-blind readers
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
STYLE: Any = {"svg.hashsalt": "gamekit", "svg.fonttype": "path", "figure.dpi": 110, "font.size": 9,
         "axes.spines.top": False, "axes.spines.right": False}


def drawn(figure: Figure) -> dict[str, bytes]:
    """A figure as PNG and SVG bytes."""
    import matplotlib as mpl

    found = {}
    with mpl.rc_context(STYLE):
        for kind in ("png", "svg"):
            out = io.BytesIO()
            meta = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
            figure.savefig(out, format=kind, metadata=meta)
            found[kind] = out.getvalue()
    return found


def _rows(labels: list[str], title: str, axis: str) -> tuple[Figure, Any]:
    """A figure with a line for each label, the first on top. No window, no state beside it."""
    from matplotlib.figure import Figure

    long = max(map(len, labels), default=0)  # the plot keeps its width beside labels of any length
    figure = Figure(figsize=(5 + 0.07 * long, 1.2 + 0.28 * max(len(labels), 2)), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left")
    axes.set_xlabel(axis)
    axes.set_ylim(max(len(labels), 1) - 0.5, -0.5)
    axes.set_yticks(range(len(labels)), labels)
    axes.grid(axis="x", alpha=0.3)
    return figure, axes


def _labels(table: pd.DataFrame) -> list[str]:
    many = table.game.nunique() > 1
    return [f"{row.game}: {row.player} – {row.opponent}" if many else f"{row.player} – {row.opponent}"
            for row in _each(table)]


def _each(table: pd.DataFrame) -> Any:
    return table.itertuples()


def win_rates(table: pd.DataFrame) -> Figure:
    """A dot a pair with its 95 % interval; a hollow dot where games were only replayed and there is none."""
    figure, axes = _rows(_labels(table), "Win rate of the first-named player", "win rate, with 95 % interval")
    for i, row in enumerate(_each(table)):
        sure = row.low is not None and row.low == row.low
        if sure:
            axes.plot([row.low, row.high], [i, i], color=COLOURS[0], lw=2, solid_capstyle="butt")
        axes.plot(row.win_rate, i, "o", color=COLOURS[0], mfc=COLOURS[0] if sure else "white", ms=6)
    axes.set_xlim(-0.02, 1.02)
    axes.axvline(0.5, color="#888888", lw=0.8, ls=":")
    return figure


def nodes(table: pd.DataFrame) -> Figure:
    """Positions generated a move, by player."""
    table = table[table.nodes > 0].reset_index(drop=True)
    labels = [f"{row.of} (against {row.opponent if row.side == 'player' else row.player})" for row in _each(table)]
    figure, axes = _rows(labels, "Positions generated a move", "nodes a move (logarithmic)")
    for i, row in enumerate(_each(table)):
        axes.plot(row.per_move, i, "o", color=COLOURS[row.side == "opponent"], ms=6)
    if len(table):
        axes.set_xscale("log")
    return figure


def turns(table: pd.DataFrame) -> Figure:
    """Lengths of games: shortest to longest, with the mean."""
    figure, axes = _rows(_labels(table), "Length of games", "plies: shortest, mean, longest")
    for i, row in enumerate(_each(table)):
        axes.plot([row.least, row.most], [i, i], color="#888888", lw=1)
        axes.plot(row.mean, i, "o", color=COLOURS[0], ms=6)
    axes.set_xlim(left=0)
    return figure


FIGURES = {f.__name__: f for f in (win_rates, nodes, turns)}
MOST = 80  # rows of a figure that can still be read


def of_sweep(tables: Mapping[str, pd.DataFrame]) -> dict[str, bytes]:
    """The figures a sweep's folder gets, by file name; pages of rows where there are many."""
    found: dict[str, bytes] = {}
    for name, draw in FIGURES.items():
        for page, start in enumerate(range(0, max(len(tables[name]), 1), MOST)):
            figure = draw(tables[name].iloc[start : start + MOST].reset_index(drop=True))
            suffix = f"_{page + 1}" if len(tables[name]) > MOST else ""
            found |= {f"{name}{suffix}.{kind}": data for kind, data in drawn(figure).items()}
    return found
