"""What all plots share: reading a frame, the house style, a sheet of panels with their legend, and files."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from ..errors import GamekitError, nearest
from .frames import need, numbers

Names = str | Sequence[str]
Colours = Mapping[str, str] | None

WIDTH = 8.0  # inches: text of 9 points stays readable in print
# Okabe and Ito's colours, which colour-blind readers tell apart; their yellow is too pale for lines and is brown here
BLUE, RED, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
COLOURS = (BLUE, RED, GREEN, "#CC79A7", ORANGE, "#56B4E9", "#000000", "#8C6D1F")
INK, GREY, SILVER, PALE = "#222222", "#777777", "#BDBDBD", "#E2E2E2"
MEANINGS = {"wins": BLUE, "draws": SILVER, "losses": ORANGE, "reproduced": GREEN, "refuted": RED, "undecided": SILVER}
STYLE: Any = {
    "axes.edgecolor": "#999999",
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "figure.titlesize": 12,
    "figure.titleweight": "bold",
    "legend.fontsize": 9.5,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "gamekit",
}


def percent_signs() -> PercentFormatter:
    """Fractions in percent, for the ticks of an axis."""
    return PercentFormatter(1, symbol="\u00a0%")


def ink_on(colour: Any) -> str:
    """Black or white, whichever stands out from a colour."""
    red, green, blue = to_rgb(colour)
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "black"


class Panels(Figure):
    """A figure that Jupyter shows once: if it is the value of a cell, pyplot does not show it again."""

    def _ipython_display_(self) -> None:
        from matplotlib import pyplot

        if "inline" in mpl.get_backend():
            pyplot.close(self)
        raise NotImplementedError  # IPython then shows it like any figure


@contextmanager
def style() -> Iterator[None]:
    """The house style for a `with` block: matplotlib's defaults with a few changes, restored afterwards."""
    from matplotlib import pyplot

    pyplot.draw_if_interactive()  # a notebook's backend is set up now: in the block, its settings would be undone
    with matplotlib.style.context(["default", STYLE]):
        yield


def colour_of(names: Iterable[object], colors: Colours = None) -> dict[str, str]:
    """One colour for each name, in order of first appearance; names in `colors` keep theirs.

    Pass the result as `colors=` to give the same names the same colours in several figures.

    >>> colour_of(["moves", "squares", "moves"])
    {'moves': '#0072B2', 'squares': '#D55E00'}
    """
    found = {str(name): colour for name, colour in (colors or {}).items()}
    free = [colour for colour in COLOURS if colour not in found.values()] or COLOURS
    new = [name for name in dict.fromkeys(map(str, names)) if name not in found]
    return found | {name: free[i % len(free)] for i, name in enumerate(new)}


def save(drawn: Figure | Axes, path: str | Path) -> list[Path]:
    """Write a figure as PNG and SVG, with the same bytes in every run, and close it.

    Args:
        drawn: what a plot returned.
        path: where to, without a suffix; missing folders are made.
    Returns:
        The paths of the two files.
    """
    from matplotlib import pyplot

    figure: Any = drawn if isinstance(drawn, Figure) else drawn.get_figure(root=True)
    paths = [Path(f"{path}.png"), Path(f"{path}.svg")]
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    with style():
        figure.savefig(paths[0], dpi=150, metadata={"Software": None})
        figure.savefig(paths[1], metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    return paths


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with a plain index; what the index named becomes columns."""
    if not isinstance(frame, pd.DataFrame):
        raise GamekitError(f"a plot needs a pandas DataFrame; given {type(frame).__name__}")
    return frame.reset_index(drop=all(name is None or name in frame for name in frame.index.names))


def points_of(
    frame: pd.DataFrame, value: str, label: Names | None = None, group: Names | None = None, panel: Names | None = None
) -> pd.DataFrame:
    """A value with its interval and printed number, NaN if missing, and the texts that name each row."""
    need(frame, [value])
    points = pd.DataFrame(index=frame.index)
    for key, end in {"value": "", "low": "_low", "high": "_high", "printed": "_printed"}.items():
        points[key] = numbers(frame, value + end) if value + end in frame else np.nan
    return points.assign(label=texts_of(frame, label), group=texts_of(frame, group), panel=texts_of(frame, panel))


def texts_of(frame: pd.DataFrame, columns: Names | None) -> list[str]:
    """What columns call each row, "" without columns."""
    names = [columns] if isinstance(columns, str) else list(columns or [])
    need(frame, names)
    cells = [[text_of(value, name) for value in frame[name]] for name in names]
    return [", ".join(filter(None, some)) for some in zip(*cells, strict=True)] if cells else [""] * len(frame)


def once(points: pd.DataFrame, columns: list[str], rule: str) -> None:
    """Refuse points that share a place."""
    if repeats := int(points.duplicated(columns).sum()):
        raise GamekitError(f"{rule}, but {repeats} rows repeat another; average them first, or add by= or panel=")


def words(name: str) -> str:
    """The name of a column as words."""
    return name.replace("_", " ")


def text_of(value: Any, name: str = "") -> str:
    """A cell of a frame as a label: text as it is, a number or switch after the name of its column."""
    if pd.isna(value):
        return ""
    if isinstance(value, (bool, np.bool_)):
        value = "on" if value else "off"
    elif isinstance(value, (int, float, np.number)):
        number = float(value)
        value = f"{number:,.0f}" if number.is_integer() or abs(number) >= 1000 else f"{number:.3g}"
    else:
        name = ""
    return f"{words(name)} {value}".strip()


def wrapped(text: str, width: float) -> str:
    """Lines of at most `width` characters where words allow; a long spec is broken after its commas."""
    if len(text) <= width:
        return text
    text = re.sub(r",(?=[^\s\d])", ", ", text)
    return textwrap.fill(text, max(1, int(width)), break_long_words=False, break_on_hyphens=False)


@dataclass(kw_only=True)
class Sheet:
    """The options of a plot, which `plot` explains, and the figure: one Axes per panel, or the reader's own Axes."""

    title: str = ""
    xlabel: Any = ""
    ylabel: str = ""
    line: float | Mapping[str, float] | None = None
    limits: tuple[float, float] | None = None
    percent: bool | None = None
    log: bool = False
    columns: int = 3
    colors: Colours = None
    ax: Axes | None = None
    keys: dict[str, Any] = field(default_factory=dict)  # what the legend explains: an artist, or the look of a line

    @classmethod
    def of(cls, plot: str, allowed: str, options: Mapping[str, Any]) -> Sheet:
        """The sheet with these options; others are refused by name."""
        for name in options:
            if name not in allowed.split():
                hint = nearest(name, allowed.split())
                raise GamekitError(f"{plot} has no option {name!r}{hint}; allowed: {', '.join(allowed.split())}")
        return cls(**options)

    def shape(self, count: int, most: int | None = None) -> tuple[int, int]:
        """Rows and columns for so many panels, the last row as full as can be."""
        down = -(-count // max(1, min(self.columns, most or count)))
        return down, -(-count // down)

    def lay_out(self, count: int, across: int, height: float, width: float = WIDTH, **layout: Any) -> list[Any]:
        """Make the figure, or take the reader's Axes; returns the Axes of the panels."""
        self.across, title = across, self.title.replace(" %", "\u00a0%")
        if self.ax is not None:
            if count > 1:
                raise GamekitError(f"ax= has room for one panel, but this plot has {count}; leave ax out")
            self.drawn: Any = self.ax.get_figure(root=True)
            self.axes: list[Any] = [self.ax]
            if title:
                self.ax.set_title(title, loc="left", wrap=True)
            return self.axes
        from matplotlib import pyplot

        layout |= {"figsize": (width, height), "layout": "constrained", "FigureClass": Panels}
        self.drawn, axes = pyplot.subplots(-(-count // across), across, squeeze=False, **layout)
        self.axes = list(axes.flat[:count])
        for spare in axes.flat[count:]:
            spare.remove()
        for at in self.axes:  # said here, ticks look the same if they are made later, outside the style
            at.tick_params(color="#999999", labelsize=9.5, grid_color="#dddddd", grid_linewidth=0.8)
            at.set_axisbelow(True)
        self.drawn.get_layout_engine().set(wspace=0.05)
        if title:
            self.drawn.suptitle(title, x=0.08 / width, ha="left", wrap=True)
        return self.axes

    def label(self, i: int, xlabel: str, ylabel: str, name: str) -> None:
        """Name a panel and its axes, these at the left and at the bottom only."""
        bottom, left = i + self.across >= len(self.axes), i % self.across == 0
        self.axes[i].set(xlabel=xlabel if bottom else "", ylabel=ylabel if left else "")
        if name:
            self.axes[i].set_title(wrapped(name, 80 / self.across))

    @property
    def lines(self) -> Mapping[str, float]:
        """The reference values by name."""
        return self.line if isinstance(self.line, Mapping) else {} if self.line is None else {"": self.line}

    def in_percent(self, value: str, points: pd.DataFrame) -> bool:
        """Whether a value is a fraction to show in percent."""
        rate = not {"rate", "share", "points", "kept", "exact"}.isdisjoint(value.split("_"))
        return rate and _within(points) if self.percent is None else self.percent

    def scale(self, axis: Any, points: pd.DataFrame, in_percent: bool, limited: bool = True) -> None:
        """Percent signs and limits of the axis that shows the values."""
        limits = self.limits if limited else None
        if in_percent:
            axis.set_major_formatter(percent_signs())
            limits = limits or ((0, 1) if _within(points) and not self.log else None)
        if limits:
            space = 0 if self.log else 0.02 * (limits[1] - limits[0])
            axis.axes.set(**{f"{axis.axis_name}lim": (limits[0] - space, limits[1] + space)})

    def name_rows(self, at: Axes, names: list[str]) -> None:
        """Name the rows of a panel on its y axis."""
        at.set_yticks(range(len(names)), [wrapped(name, 34) for name in names])
        at.tick_params(axis="y", length=0)
        at.spines["left"].set_visible(False)

    def name_ends(self, names: Mapping[str, str]) -> None:
        """Write the names of lines beside their ends, moved up or down until no two overlap."""
        self.drawn.draw_without_rendering()  # how far apart they have to be depends on the height of the axes
        for ax in self.axes:
            _name_ends(ax, [one for one in ax.get_lines() if one.get_label() in names], names)

    def finish(self) -> Axes | Figure:
        """Draw the legend, below a figure of ours or inside axes of the reader's; return what a plot returns."""
        handles = [Line2D([], [], **look) if isinstance(look, dict) else look for look in self.keys.values()]
        if handles and self.ax is not None:
            self.ax.legend(handles, self.keys)
        elif handles:
            across = max(1, min(len(handles), int(WIDTH / (0.6 + 0.08 * max(map(len, self.keys))))))
            self.drawn.legend(handles, self.keys, loc="outside lower left", ncols=across)
        return self.axes[0] if len(self.axes) == 1 else self.drawn


def _within(points: pd.DataFrame) -> bool:
    known = points[["value", "low", "high", "printed"]].stack().dropna()
    return bool(known.between(0, 1).all())


def _name_ends(ax: Any, ends: list[Any], names: Mapping[str, str]) -> None:
    to_axes = ax.transAxes.inverted().transform
    paths = [to_axes(one.get_transform().transform(one.get_xydata()[-2:])) for one in ends]
    wanted = np.array([path[-1, 1] for path in paths])
    line_height = 0.16 * ax.get_figure(root=True).dpi / ax.get_window_extent().height
    sizes = np.array([line_height * (1 + names[one.get_label()].count("\n")) for one in ends])
    order, n = np.argsort(wanted, kind="stable"), range(len(ends))
    piled = np.cumsum(sizes[order]) - sizes[order] / 2  # the centres of a pile without gaps
    lifts = np.clip(wanted[order], 0, 1) - piled
    # The rising sequence that is nearest to these (isotonic regression): the least moves that keep names apart.
    lifts = np.array([max(min(lifts[j : k + 1].mean() for k in n[i:]) for j in n[: i + 1]) for i in n])
    lifts = np.clip(lifts, -0.05, max(-0.05, 1.05 - sizes.sum()))
    for i, y in zip(order, piled + lifts, strict=True):
        colour, ink = ends[i].get_color(), [0.75 * part for part in to_rgb(ends[i].get_color())]
        leader = {"arrowstyle": "-", "ls": ":", "color": colour, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 4}
        place = {"xycoords": "axes fraction", "xytext": (1.04, y), "va": "center", "annotation_clip": False}
        ax.annotate(names[ends[i].get_label()], paths[i][-1], fontsize=9, color=ink, arrowprops=leader, **place)
