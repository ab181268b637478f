"""The three kinds of figure the reports need: rates with intervals, curves, heat maps. Colours are Okabe and Ito's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib

matplotlib.use("agg")
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, MaxNLocator

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F"]
MARKS = ["o", "s", "^", "D", "v", "P", "X", "*"]
PRINTED = "#D55E00"  # the report's own number, everywhere
STYLE = {"font.size": 11, "axes.titlesize": 12, "axes.titleweight": "bold", "axes.titlelocation": "left",
         "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#dddddd",
         "grid.linewidth": 0.8, "axes.axisbelow": True, "legend.frameon": False, "figure.constrained_layout.use": True,
         "svg.hashsalt": "gamekit", "svg.fonttype": "path", "figure.dpi": 100}
matplotlib.rcParams.update(STYLE)  # type: ignore[arg-type]


def canvas(rows: int = 1, cols: int = 1, height: float = 3.6, width: float = 8.0,
           **more: Any) -> tuple[Figure, np.ndarray]:
    """Axes in the house style, always as a two-dimensional array."""
    figure, axes = plt.subplots(rows, cols, figsize=(width, height), squeeze=False, **more)
    return figure, axes


def rates(frame: pd.DataFrame, label: str, title: str, xlabel: str, *, value: str = "rate", low: str = "low",
          high: str = "high", by: str | None = None, printed: str | None = None,
          limits: tuple[float, float] | None = (0, 100),
          printed_label: str = "printed in the report", ax: Axes | None = None, line: float | None = None) -> Figure:
    """A row a label: a dot with its interval, beside it what the report printed (a diamond)."""
    labels = list(dict.fromkeys(frame[label]))
    groups = list(dict.fromkeys(frame[by])) if by else [None]
    if ax is None:
        figure, axes = canvas(height=0.9 + 0.24 * len(labels) * max(len(groups),
                                                                    1.6) + (0.25 * len(groups) if by else 0))
        ax = axes[0, 0]
    else:
        figure = ax.figure  # type: ignore[assignment]
    spread = 0.62 / max(len(groups), 1)
    for g, group in enumerate(groups):
        part = frame if by is None else frame[frame[by] == group]
        y = np.array([labels.index(text) for text in part[label]]) + (g - (len(groups) - 1) / 2) * spread
        x = part[value].to_numpy(float)
        if low in part:
            ends = part[[low, high]].to_numpy(float)
            ax.hlines(y, ends[:, 0], ends[:, 1], color=COLOURS[(g * 2 if len(groups) < 4 else g) % 8], lw=2.2,
                      alpha=0.75)
        ax.plot(x, y, MARKS[g % 8], color=COLOURS[(g * 2 if len(groups) < 4 else g) % 8], ms=6.5,
                label=str(group) if by else "ours, 95 % interval")
    if printed and frame[printed].notna().any():
        part = frame.drop_duplicates(label)
        ax.plot(part[printed].astype(float), [labels.index(text) for text in part[label]], "D", color=PRINTED,
                mfc="white", mew=2,
                ms=8, label=printed_label, zorder=5)
    if line is not None:
        ax.axvline(line, color="#888888", lw=1, ls="--")
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    if limits:
        ax.set_xlim(limits[0] - 0.02 * (limits[1] - limits[0]), limits[1] + 0.02 * (limits[1] - limits[0]))
    ax.set_title(title)
    ax.set_xlabel(xlabel)
    if by or printed:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=10)
    return figure


def curves(frame: pd.DataFrame, x: str, y: str, by: str, title: str, xlabel: str, ylabel: str, *,
           panel: str | None = None,
           log: bool = True, low: str | None = None, high: str | None = None, height: float = 3.8,
           columns: int = 3, share_y: bool = True) -> Figure:
    """A curve a group, a panel a game; logarithmic where counts grow by depth."""
    panels = list(dict.fromkeys(frame[panel])) if panel else [None]
    cols = min(columns, len(panels))
    rows = -(-len(panels) // cols)
    figure, axes = canvas(rows, cols, height=height if rows == 1 else 2.9 * rows, width=8.0 if cols < 3 else 9.5,
                          sharey=share_y)
    groups = list(dict.fromkeys(frame[by]))
    for i, name in enumerate(panels):
        ax = axes[i // cols, i % cols]
        part = frame if panel is None else frame[frame[panel] == name]
        for g, group in enumerate(groups):
            one = part[part[by] == group]
            if one.empty:
                continue
            if low and high:
                ax.fill_between(one[x].astype(float), one[low].astype(float), one[high].astype(float),
                                color=COLOURS[g % 8], alpha=0.15, lw=0)
            ax.plot(one[x], one[y], marker=MARKS[(g + g // 8) % 8], ms=5, lw=1.8, color=COLOURS[g % 8],
                    label=str(group))
        if log:
            ax.set_yscale("log")
        if name is not None:
            ax.set_title(str(name), fontsize=11)
        if i // cols == rows - 1 or i + cols >= len(panels):
            ax.set_xlabel(xlabel)
        if i % cols == 0:
            ax.set_ylabel(ylabel)
        if pd.api.types.is_integer_dtype(frame[x]):
            whole = part[x].unique()
            ax.xaxis.set_major_locator(FixedLocator(sorted(whole)) if len(whole) < 12 else MaxNLocator(integer=True))
    for i in range(len(panels), rows * cols):
        axes[i // cols, i % cols].axis("off")
    handles = {}
    for ax in axes.ravel():
        handles.update(dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True)))
    if panel:
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=12)
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=min(4, len(handles)),
                      fontsize=10)
    else:
        axes[0, 0].set_title(title)
        axes[0, 0].legend(handles.values(), handles.keys(), loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=10)
    return figure


def heat(frame: pd.DataFrame, row: str, column: str, value: str, title: str, *, row_label: str = "",
         column_label: str = "",
         label: str = "", panel: str | None = None, limits: tuple[float, float] | None = None, form: str = "{:.0f}",
         colours: str = "cividis") -> Figure:
    """A heat map with every number written in its cell."""
    panels = list(dict.fromkeys(frame[panel])) if panel else [None]
    tallest = max(frame[frame[panel] == p][row].nunique() if panel else frame[row].nunique() for p in panels)
    figure, axes = canvas(1, len(panels), height=1.5 + 0.42 * tallest, width=8.0 if len(panels) < 3 else 9.5)
    values = frame[value].astype(float)
    bottom, top = limits or (values.min(), values.max())
    for i, name in enumerate(panels):
        ax = axes[0, i]
        part = frame if panel is None else frame[frame[panel] == name]
        rows, cols = list(dict.fromkeys(part[row])), list(dict.fromkeys(part[column]))
        grid = np.full((len(rows), len(cols)), np.nan)
        for r, c, v in zip(part[row], part[column], part[value], strict=True):
            grid[rows.index(r), cols.index(c)] = v
        image = ax.imshow(grid, vmin=bottom, vmax=top, cmap=colours, aspect="auto")
        write_cells(ax, image, grid, form)
        ax.set_xticks(range(len(cols)), cols)
        if max(len(str(c)) for c in cols) * len(cols) * len(panels) > 50:
            ax.tick_params(axis="x", rotation=30)
            for tick in ax.get_xticklabels():
                tick.set_horizontalalignment("right")
        ax.set_yticks(range(len(rows)), rows if i == 0 or len(panels) == 1 else [""] * len(rows))
        ax.set_xlabel(column_label)
        ax.set_ylabel(row_label if i == 0 else "")
        ax.grid(False)
        ax.set_title(title if name is None else str(name), fontsize=12 if name is None else 11)
    if panel:
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=12)
    figure.colorbar(image, ax=axes.ravel().tolist(), label=label, shrink=0.9)
    return figure


def write_cells(ax: Axes, image: AxesImage, grid: np.ndarray, form: str) -> None:
    """Every number in its cell, black or white, whichever stands out from the colour below it."""
    for (r, c), v in np.ndenumerate(grid):
        if np.isfinite(v):
            red, green, blue, _ = image.cmap(image.norm(v))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            ax.text(c, r, form.format(v), ha="center", va="center", fontsize=10, color="white" if dark else "black")


def mark_cell(ax: Axes, row: int, column: int) -> None:
    """Frame the cell that is the report's own setting."""
    ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, ec=PRINTED, lw=3, clip_on=False))


def percent(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Shares as percent with one decimal, the way the tables print them."""
    out = frame.copy()
    for column in columns:
        out[column] = (100 * out[column].astype(float)).round(1)
    return out
