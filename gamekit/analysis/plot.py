"""Frames and positions as matplotlib figures: dots, lines, heat maps, stacked bars, boards.

Every function takes a frame and names of columns. It reads an interval from `<value>_low` and `<value>_high`, and the
number that a report printed from `<value>_printed`. Rates are fractions in frames and percentages on axes.
It returns the Axes it drew on, or a Figure if it drew several panels. Neither importing this module nor drawing
changes matplotlib's backend or settings.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import CenteredNorm, Normalize, to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, MaxNLocator, PercentFormatter

from ..errors import GamekitError, nearest

Names = str | Sequence[str]
Line = float | Mapping[str, float] | None
Limits = tuple[float, float] | None
Colours = Mapping[str, str] | None

WIDTH = 8.0  # inches: text of 9 points stays readable in print
# Okabe and Ito's colours, which colour-blind readers tell apart; their yellow is too pale for lines and is brown here
BLUE, RED, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
COLOURS = (BLUE, RED, GREEN, "#CC79A7", ORANGE, "#56B4E9", "#000000", "#8C6D1F")
MARKS, DASHES = "os^Dv<PX*", ("-", "--", ":", "-.")  # one mark more than colours: all pairs differ
INK, GREY, SILVER, PALE = "#222222", "#777777", "#BDBDBD", "#E2E2E2"
MEANINGS = {"wins": BLUE, "draws": SILVER, "losses": ORANGE, "reproduced": GREEN, "refuted": RED, "undecided": SILVER}
MIDDLE: Any = {"ha": "center", "va": "center_baseline", "fontsize": 9.5}  # a text in a cell
DOT: Any = {"ls": "", "ms": 6.5, "mew": 1.6, "clip_on": False, "in_layout": False}
DIAMOND: Any = DOT | {"marker": "D", "ms": 9, "mfc": "none", "mec": INK, "zorder": 5}  # what the report printed
PRINTED = "printed in the report"
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

    drawn: what a plot returned. path: where to, without a suffix; missing folders are made. Returns the two paths.
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


@style()
def dots(
    frame: pd.DataFrame,
    label: Names,
    value: Names,
    *,
    by: Names | None = None,
    panel: Names | None = None,
    title: str = "",
    xlabel: Names = "",
    line: Line = None,
    limits: Limits = None,
    sort: bool = False,
    percent: bool | None = None,
    log: bool = False,
    connect: bool = False,
    colors: Colours = None,
    ax: Axes | None = None,
) -> Axes | Figure:
    """One row per label: a dot with its interval, and the printed number as a diamond.

    A dot is hollow if the frame has interval columns but no interval in this row. A row with only a lower bound (the
    value is missing, `<value>_low` is not) gets an arrowhead: more than this.

    frame: one row per dot. label: the column, or columns, that name the rows. value: the column to draw; several give
    panels side by side. by: columns told apart by colour and mark. panel: one panel for each, below each other.
    xlabel: one text, or one per value. line: a reference value, or {name: value}. limits: of the axis; a rate is
    drawn from 0 to 100 % otherwise. sort: largest on top. percent: whether values are fractions to show in percent;
    None: the column's name decides. log: logarithmic axis. connect: the dots of a label on one line, joined.
    colors: {name: colour}. ax: where to draw. Returns the Axes, or the Figure with several panels.
    """
    values = [value] if isinstance(value, str) else list(value)
    xlabels = [xlabel] * len(values) if isinstance(xlabel, str) else list(xlabel)
    frame, tidy = _tidy(frame, values, label=label, group=by, panel=panel)
    groups, panels = list(dict.fromkeys(tidy.group)), list(dict.fromkeys(tidy.panel))
    colour, measured = colour_of(groups, colors), [_measured(frame, name) for name in values]
    shares = [_is_share(name, data, percent) for name, data in zip(values, measured, strict=True)]
    placed = [_rows(tidy[tidy.panel == name], groups, measured[0].value if sort else None, connect) for name in panels]
    heights = [height for *_, height in placed]
    shared: Any = {"sharey": "row", "sharex": "col", "height_ratios": heights}
    figure, grid = _canvas(ax, len(panels), len(values), 0.9 + 0.3 * len(panels) + sum(heights), title, **shared)
    keys: dict[str, Line2D] = {}
    notes: dict[str, Line2D] = {}
    for i, at in enumerate(grid):
        down, across = divmod(i, len(values))
        part, rows, _ = placed[down]
        data = measured[across].loc[part.index].assign(y=part.y)
        samples = {f"{values[across]}_low", f"{values[across]}_high"} <= set(frame)
        if connect:
            ends = data.value.groupby(part.row).agg(["min", "max"])
            at.hlines(ends.index, ends["min"], ends["max"], color=SILVER, lw=2, zorder=1)
        for g, group in enumerate(groups):
            look = DOT | {"color": colour[group], "marker": MARKS[g % 9]}
            notes |= _draw_dots(at, data[part.group == group], look, samples)
            if by:
                keys[group] = Line2D([], [], **look)
        for row, some in data.dropna(subset="printed").groupby(part.row):
            if some.printed.nunique() == 1:  # one diamond, in the middle of the row
                some = some[:1].assign(y=row)
            at.plot(some.printed, some.y, **DIAMOND)
            notes[PRINTED] = Line2D([], [], **DIAMOND)
        at.set_yticks(range(len(rows)), rows)
        at.set(ylim=(len(rows) - 0.45, -0.55), xscale="log" if log else "linear")
        at.tick_params(axis="y", length=0)
        at.grid(axis="y", ls=":")
        at.spines["left"].set_visible(False)
        same = shares[across] == shares[0]  # the limits of a rate are not those of a count
        _scale(at.xaxis, measured[across], shares[across], limits if same else None, log)
        for name, x in _named(line).items() if same else ():
            at.axvline(x, color=GREY, lw=1.1, ls="--", zorder=1)
            at.text(x, 1, name, transform=at.get_xaxis_transform(), ha="center", va="bottom", fontsize=9, color=GREY)
        name = "" if across else panels[down]
        _around(at, i, len(values), len(grid), xlabels[across] or _words(values[across]), "", name)
    _legend(figure, ax, keys | notes)
    return grid[0] if len(grid) == 1 else figure


def _rows(part: pd.DataFrame, groups: list[str], rank: pd.Series | None, connect: bool) -> tuple[Any, list[str], float]:
    """Where the dots of a panel go: its part of the frame with `row` and `y`, the rows' names, the height in inches."""
    rows = list(dict.fromkeys(part.label))
    if rank is not None:
        means = rank[part.index].groupby(part.label, sort=False).mean()
        rows = list(means.sort_values(ascending=False, kind="stable").index)
    part = part.assign(row=part.label.map(rows.index), order=part.group.map(groups.index))
    part = part.sort_values(["row", "order"], kind="stable")
    each = part.groupby("row").row
    lanes, texts = each.size().max(), [_wrap(text, 34) for text in rows]
    part["y"] = part.row + (each.cumcount() - (each.transform("size") - 1) / 2) * (0.3 if connect else 0.76) / lanes
    height = max(0.3, 0.12 + 0.13 * (2 if connect else lanes), 0.3 + 0.16 * max(text.count("\n") for text in texts))
    return part, texts, 0.1 + height * len(rows)


def _draw_dots(ax: Axes, some: pd.DataFrame, look: dict[str, Any], samples: bool) -> dict[str, Line2D]:
    """Dots of one colour with their intervals; returns what the legend has to explain."""
    hollow, beyond = some.low.isna() & samples, some[some.value.isna() & some.low.notna()]
    ax.hlines(some.y, some.low, some.high, color=look["color"], lw=2, alpha=0.8)
    ax.plot(some.value[~hollow], some.y[~hollow], **look)
    ax.plot(some.value[hollow], some.y[hollow], **look, mfc="white")
    ax.plot(beyond.low, beyond.y, **look | {"marker": ">", "ms": 8})
    notes = {}
    if (hollow & some.value.notna()).any():
        notes["hollow: no interval"] = Line2D([], [], **DOT, marker="o", color=GREY, mfc="white")
    if len(beyond):
        notes["more than this"] = Line2D([], [], **DOT, marker=">", color=GREY)
    return notes


@style()
def lines(
    frame: pd.DataFrame,
    x: str,
    y: str,
    *,
    by: Names | None = None,
    panel: Names | None = None,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    log: bool = False,
    band: bool = True,
    labels: str | None = "end",
    columns: int = 3,
    share_y: bool = True,
    line: Line = None,
    limits: Limits = None,
    percent: bool | None = None,
    colors: Colours = None,
    ax: Axes | None = None,
) -> Axes | Figure:
    """One line per group, with a band for its interval and diamonds for printed numbers.

    frame: one row per point. x, y: columns; x holds numbers or texts. by: the columns that tell lines apart.
    panel: one panel for each, at most `columns` in a row (fewer if the names need the room). log: logarithmic y axis.
    band: draw `<y>_low` to `<y>_high`. labels: "end" writes the names where lines end (or a legend, if they are more
    than eight or have no room), "legend", or None. share_y: the same y axis in all panels.
    line, limits, percent, colors, ax: as in `dots`. Returns the Axes, or the Figure with several panels.
    """
    frame, tidy = _tidy(frame, [x, y], group=by, panel=panel)
    ticks = [] if pd.api.types.is_numeric_dtype(frame[x]) else list(dict.fromkeys(map(_text, frame[x])))
    tidy = tidy.join(_measured(frame, y))
    tidy["x"] = [ticks.index(_text(one)) for one in frame[x]] if ticks else _numbers(frame, x)
    tidy = tidy.dropna(subset=["x", "value"])
    _once(tidy, ["panel", "group", "x"], f"lines draws one point per {x} in each line")
    groups, panels = list(dict.fromkeys(tidy.group)), list(dict.fromkeys(tidy.panel))
    colour, names = colour_of(groups, colors), {text: _wrap(text, 18) for text in [*groups, *_named(line)]}
    piled = tidy.drop_duplicates(["panel", "group"])
    lengths = piled.group.map(lambda text: 1 + names[text].count("\n")).groupby(piled.panel).agg(["size", "sum"])
    fits = lengths["size"].max() <= 8 and lengths["sum"].max() <= (16 if len(panels) <= columns else 9)
    end = labels == "end" and fits
    room = 0.075 * max(len(text) for name in names.values() for text in name.split("\n")) if end else 0
    down, across = _shape(len(panels), min(columns, int(WIDTH / (1.7 + room))))
    height = 3.9 if down == 1 else 0.6 + 2.3 * down
    figure, grid = _canvas(ax, down, across, height, title, len(panels), sharey=share_y)
    share, keys = _is_share(y, tidy, percent), {}
    for i, (at, name) in enumerate(zip(grid, panels, strict=True)):
        here = tidy[tidy.panel == name].sort_values("x", kind="stable")
        for group, some in here.groupby("group", sort=False):
            g = groups.index(group)
            look: Any = {"color": colour[group], "marker": MARKS[g % 9], "ls": DASHES[g // 8 % 4], "ms": 5, "lw": 1.8}
            if band:
                at.fill_between(some.x, some.low, some.high, color=colour[group], alpha=0.15, lw=0)
            keys[group] = at.plot(some.x, some.value, label=group, **look)[0]
            at.plot(some.x, some.printed, **DIAMOND | {"mec": colour[group]})
        if log:
            at.set_yscale("log")
        if ticks:
            at.set_xticks(range(len(ticks)), [_wrap(text, max(6, int(70 / across / len(ticks)))) for text in ticks])
        elif (here.x % 1 == 0).all():
            whole = sorted(here.x.unique())
            at.xaxis.set_major_locator(FixedLocator(whole) if len(whole) <= 12 else MaxNLocator(integer=True))
        _scale(at.yaxis, tidy if share_y else here, share, limits, log)
        for text, height in _named(line).items():
            at.axhline(height, color=GREY, lw=1.1, ls="--", zorder=1, label=text)
        _around(at, i, across, len(panels), xlabel or _words(x), ylabel or _words(y), name)
    keys = {group: keys[group] for group in groups} if by and labels and not end else {}
    _legend(figure, ax, keys | ({PRINTED: Line2D([], [], **DIAMOND)} if tidy.printed.notna().any() else {}))
    if end:
        figure.draw_without_rendering()  # how far apart the names have to be depends on the height of the axes
        for at in grid:
            _name_ends(at, names)
    return grid[0] if len(grid) == 1 else figure


@style()
def heat(
    frame: pd.DataFrame,
    row: str,
    column: str,
    value: str,
    *,
    panel: Names | None = None,
    title: str = "",
    label: str = "",
    xlabel: str = "",
    ylabel: str = "",
    centre: float | None = None,
    limits: Limits = None,
    format: str | Callable[[float], str] | None = None,
    mark: Any = (),
    mute: str | None = None,
    percent: bool | None = None,
    columns: int = 3,
    ax: Axes | None = None,
) -> Axes | Figure:
    """A heat map with the number written in every cell. Yellow means more; with `centre`, blue is above and red below.

    frame: one row per cell. row, column, value: columns. panel: one panel for each, at most `columns` side by side.
    label: what the colours mean, with the unit; without it there is no colour bar. centre: the value drawn white.
    limits: of the colours. format: such as "{:.1f}", or a function. mark: the cell (row, column) to frame, a list of
    cells, or {panel: cell}. mute: a column of booleans; where it is true, the cell is grey (not significant).
    percent, ax: as in `dots`. Returns the Axes, or the Figure with several panels.
    """
    frame, tidy = _tidy(frame, [row, column, value, *([mute] if mute else [])], panel=panel)
    tidy = tidy.assign(row=[*map(_text, frame[row])], column=[*map(_text, frame[column])], value=_numbers(frame, value))
    tidy["mute"] = frame[mute].fillna(False).astype(bool) if mute else False
    _once(tidy, ["panel", "row", "column"], f"heat draws one cell per {row} and {column}")
    share = _is_share(value, tidy[["value"]], percent)
    write = format.format if isinstance(format, str) else format or (lambda v: _text(round(100 * v) if share else v))
    low, high = limits or (tidy.value.min(), tidy.value.max())
    reach = 0 if centre is None else max(high - centre, centre - low) or 1
    norm, colour_map = (Normalize(low, high), "cividis") if centre is None else (CenteredNorm(centre, reach), "RdBu")
    paint = ScalarMappable(norm, colour_map)
    panels = list(dict.fromkeys(tidy.panel))
    down, across = _shape(len(panels), columns)
    height = 0.4 + down * (0.9 + 0.36 * tidy.groupby("panel").row.nunique().max())
    figure, grid = _canvas(ax, down, across, height, title, len(panels))
    before: list[str] = []
    for i, (at, name) in enumerate(zip(grid, panels, strict=True)):
        here = tidy[tidy.panel == name]
        rows, cols = list(dict.fromkeys(here.row)), list(dict.fromkeys(here.column))
        ground = np.ones((len(rows), len(cols), 4))
        for cell in here.dropna(subset="value").itertuples():
            r, c = rows.index(cell.row), cols.index(cell.column)
            ground[r, c] = to_rgba(PALE) if cell.mute else paint.to_rgba(cell.value)
            text = re.sub(r"^[-−+](?=[0.,]+\s?%?$)", "", write(cell.value))  # no "-0"
            at.text(c, r, text, color=GREY if cell.mute else _ink_on(ground[r, c]), **MIDDLE)
        at.imshow(ground, aspect="auto")
        for own in _marked(mark, name):
            if own[0] in rows and own[1] in cols:
                corner = cols.index(own[1]) - 0.5, rows.index(own[0]) - 0.5
                border = Rectangle(corner, 1, 1, fill=False, ec=INK, lw=2.5)
                border.set(clip_on=False, path_effects=[withStroke(linewidth=5, foreground="white")])
                at.add_patch(border)
        fit = max(4, int((WIDTH - 1 - 0.08 * max(map(len, rows))) / across / len(cols) / 0.085))
        at.set_xticks(range(len(cols)), [_wrap(text, fit) for text in cols])
        if max(len(word) for text in at.get_xticklabels() for word in text.get_text().split("\n")) > fit:
            for tick in at.get_xticklabels():
                tick.set(rotation=30, ha="right", rotation_mode="anchor")
        at.set_yticks(range(len(rows)), [_wrap(text, 30) for text in rows])
        at.tick_params(length=0, labelleft=i % across == 0 or rows != before)
        at.grid(False)
        at.spines[:].set_visible(False)
        _around(at, i, across, len(panels), xlabel or _words(column), ylabel or _words(row), name)
        before = rows
    if label:
        label = _wrap(label, int(height / 0.095))
        bar = figure.colorbar(paint, ax=grid, label=label, aspect=30, format=_percent() if share else None)
        bar.outline.set_visible(False)
    return grid[0] if len(grid) == 1 else figure


@style()
def bars(
    frame: pd.DataFrame,
    label: Names,
    parts: Sequence[str],
    *,
    mark: str | None = None,
    title: str = "",
    xlabel: str = "",
    colors: Colours = None,
    ax: Axes | None = None,
) -> Axes:
    """One bar per row of the frame, divided into shares that add up to 100 %, such as wins, draws and losses.

    frame: one row per bar. label: the columns that name the bars. parts: columns of counts or shares; counts are
    written inside as they are, shares in percent. mark: a column of fractions, such as the score, drawn as a black
    pointer above the bar, with its interval. colors: {part: colour}. ax: where to draw. Returns the Axes.
    """
    frame, tidy = _tidy(frame, [*parts, *([mark] if mark else [])], label=label)
    names = [_wrap(text, 34) for text in tidy.label]
    counts = pd.DataFrame({part: _numbers(frame, part) for part in parts}).fillna(0)
    shares = counts.div(counts.sum(axis=1).where(lambda total: total > 0), axis=0).fillna(0)
    whole = (counts % 1 == 0).all(axis=None) and counts.max(axis=None) > 1
    colour = colour_of(parts, {part: MEANINGS[part] for part in parts if part in MEANINGS} | dict(colors or {}))
    figure, (at,) = _canvas(ax, 1, 1, 1.1 + sum(0.38 + 0.13 * text.count("\n") for text in names), title)
    left, keys = pd.Series(0.0, index=shares.index), dict[str, Any]()
    for part in parts:
        keys[_words(part)] = at.barh(left.index, shares[part], left=left, color=colour[part], ec="white", height=0.7)
        for y, (start, size) in enumerate(zip(left, shares[part], strict=True)):
            text = f"{counts[part][y]:,.0f}" if whole else f"{100 * size:.0f}"
            if size > 0.005 + 0.014 * len(text):  # a smaller part has no room for its number
                at.text(start + size / 2, y, text, color=_ink_on(to_rgba(colour[part])), **MIDDLE)
        left += shares[part]
    if mark:
        data = _measured(frame, mark)
        at.hlines(data.index - 0.41, data.low, data.high, color=INK, lw=1.4)
        (keys[_words(mark)],) = at.plot(data.value, data.index - 0.41, **DOT, marker="v", color=INK)
    at.set_yticks(range(len(names)), names)
    at.set(xlim=(0, 1), ylim=(len(names) - 0.55, -0.6), xlabel=xlabel)
    at.xaxis.set_major_formatter(_percent())
    at.tick_params(axis="y", length=0)
    at.grid(False)
    at.spines["left"].set_visible(False)
    _legend(figure, ax, keys)
    return at


@style()
def board(
    positions: Any, *, titles: Names | None = None, columns: int = 5, title: str = "", ax: Axes | None = None
) -> Axes | Figure:
    """Positions as small boards: blue discs for the first player, orange squares for the second.

    The line that won is outlined. Columns and rows are named as in the game's moves.

    positions: one Position, or several. titles: a text above each board. columns: most boards side by side.
    title: above all of them. ax: where to draw a single one. Returns the Axes, or the Figure of several.
    """
    shown = [positions] if hasattr(positions, "record") else list(positions)
    above = [titles] if isinstance(titles, str) else list(titles or [""] * len(shown))
    if wrong := [one for one in shown if not hasattr(one, "record")]:
        raise GamekitError(f"board draws positions, such as gk.game('conga').start(); given {wrong[0]!r}")
    if not shown or len(above) != len(shown):
        raise GamekitError(f"board needs one title per position; given {len(shown)} positions and {len(above)} titles")
    boards = [one.game.cells(one.record) for one in shown]
    wide, high = max(len(rows[0]) for rows in boards), max(map(len, boards))
    down, across = -(-len(shown) // columns), min(columns, len(shown))
    cell = min(0.42, (WIDTH / across - 0.35) / wide)
    above = [_wrap(text, int((cell * wide + 0.2) / 0.075)) for text in above]
    height = down * (cell * high + 0.35 + 0.17 * max(text.count("\n") + bool(text) for text in above))
    figure, grid = _canvas(
        ax, down, across, height + 0.3 * bool(title), title, len(shown), width=across * (cell * wide + 0.35)
    )
    for at, one, rows, text in zip(grid, shown, boards, above, strict=True):
        find = getattr(one.game, "winning_cells", None)
        won = {tuple(place) for place in find(one.record)} if one.winner and find else ()
        for r, c in np.ndindex(len(rows), len(rows[0])):
            owner, name = rows[r][c]
            edge: Any = {"ec": INK if (r, c) in won else "none", "lw": 2}
            at.add_patch(Rectangle((c - 0.47, r - 0.47), 0.94, 0.94, fc="#e8ecf1"))
            if owner == 1:
                at.add_patch(Circle((c, r), 0.4, fc=BLUE, **edge))
            elif owner == 2:
                at.add_patch(Rectangle((c - 0.36, r - 0.36), 0.72, 0.72, fc=ORANGE, **edge))
            ink = (GREY, "white", "black")[owner]
            at.text(c, r, name, color=ink, **MIDDLE | {"fontsize": max(7, min(10, 30 * cell))})
        letters, drops = one.game.name == "candy", bool(getattr(one.game, "gravity", False))
        at.set_xticks(range(len(rows[0])), [chr(65 + c) if letters else str(c + drops) for c in range(len(rows[0]))])
        at.set_yticks(range(len(rows)), ["" if drops else str(r + letters) for r in range(len(rows))])
        at.tick_params(length=0, pad=1, labelsize=max(7, min(9, 30 * cell)), labelcolor=GREY)
        at.set(xlim=(-0.5, len(rows[0]) - 0.5), ylim=(len(rows) - 0.5, -0.5), aspect="equal")
        at.spines[:].set_visible(False)
        at.grid(False)
        if text:
            at.set_title(text, fontsize=9.5, fontweight="normal")
    return grid[0] if shown[0] is positions else figure


def _shape(count: int, columns: int) -> tuple[int, int]:
    """Rows and columns for so many panels, the last row as full as can be."""
    down = -(-count // max(columns, 1))
    return down, -(-count // down)


def _canvas(
    ax: Axes | None,
    down: int,
    across: int,
    height: float,
    title: str,
    count: int = 0,
    width: float = WIDTH,
    **more: Any,
) -> tuple[Any, list[Any]]:
    """A figure and its first `count` axes, the others removed; or the reader's own axes."""
    count, title = count or down * across, title.replace(" %", "\u00a0%")
    if ax is not None:
        if count > 1:
            raise GamekitError(f"ax= has room for one panel, but this plot has {count}; leave ax out")
        if title:
            ax.set_title(title, loc="left", wrap=True)
        return ax.get_figure(root=True), [ax]
    from matplotlib import pyplot

    more |= {"figsize": (width, height), "layout": "constrained", "FigureClass": Panels}
    figure, axes = pyplot.subplots(down, across, squeeze=False, **more)
    for spare in axes.flat[count:]:
        spare.remove()
    for at in axes.flat[:count]:  # said here, ticks look the same if they are made later, outside the style
        at.tick_params(color="#999999", labelsize=9.5, grid_color="#dddddd", grid_linewidth=0.8)
        at.set_axisbelow(True)
    figure.get_layout_engine().set(wspace=0.05)
    if title:
        figure.suptitle(title, x=0.08 / width, ha="left", wrap=True)
    return figure, list(axes.flat[:count])


def _around(at: Axes, i: int, across: int, count: int, xlabel: str, ylabel: str, name: str) -> None:
    """Names of the axes, at the left and at the bottom only, and of the panel."""
    at.set(xlabel=xlabel if i + across >= count else "", ylabel=ylabel if i % across == 0 else "")
    if name:
        at.set_title(name)


def _legend(figure: Figure, ax: Axes | None, keys: Mapping[str, Any]) -> None:
    """The legend: below a figure of ours, inside axes of the reader's."""
    if keys and ax is not None:
        ax.legend(keys.values(), keys.keys())
    elif keys:
        across = max(1, min(len(keys), int(WIDTH / (0.6 + 0.08 * max(map(len, keys))))))
        figure.legend(keys.values(), keys.keys(), loc="outside lower left", ncols=across)


def _name_ends(ax: Any, names: Mapping[str, str]) -> None:
    """Write the name of each line beside its end, moved up or down until no two overlap."""
    ends = [one for one in ax.get_lines() if names.get(one.get_label())]
    if not ends:
        return
    to_axes = ax.transAxes.inverted().transform
    paths = [to_axes(one.get_transform().transform(one.get_xydata()[-2:])) for one in ends]
    wanted = np.array([p[-1, 1] for p in paths])
    for i, ((x0, y0), (x1, y1)) in ((i, p) for i, p in enumerate(paths) if len(p) == 2):
        if x1 < max(p[-1, 0] for p in paths):  # a line that stops early is continued, so that names keep its order
            wanted[i] = y1 + (y1 - y0) / (x1 - x0) * (1 - x1)
    inch = ax.get_figure(root=True).dpi / ax.get_window_extent().height
    sizes = np.array([0.16 * inch * (1 + names[one.get_label()].count("\n")) for one in ends])
    order = np.argsort(wanted, kind="stable")
    centres = np.cumsum(sizes[order]) - sizes[order] / 2  # of a pile without gaps
    piles: list[tuple[float, int]] = []  # how far each is lifted, and of how many names: the least that keeps order
    for lift in np.clip(wanted[order], 0, 1) - centres:
        piles.append((lift, 1))
        while len(piles) > 1 and piles[-2][0] > piles[-1][0]:
            (a, n), (b, m) = piles[-2:]
            piles[-2:] = [((a * n + b * m) / (n + m), n + m)]
    lifts = np.repeat([pile[0] for pile in piles], [pile[1] for pile in piles])
    lifts = np.clip(lifts, -0.05, max(-0.05, 1.05 - sizes.sum()))
    for i, y in zip(order, lifts + centres, strict=True):
        colour, ink = ends[i].get_color(), [0.75 * part for part in to_rgb(ends[i].get_color())]
        leader = {"arrowstyle": "-", "ls": ":", "color": colour, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 4}
        place = {"xycoords": "axes fraction", "xytext": (1.04, y), "va": "center", "annotation_clip": False}
        ax.annotate(names[ends[i].get_label()], paths[i][-1], fontsize=9, color=ink, arrowprops=leader, **place)


def _scale(axis: Any, data: pd.DataFrame, share: bool, limits: Limits, log: bool) -> None:
    """Percent signs and limits of the axis that shows the values."""
    if share:
        axis.set_major_formatter(_percent())
        if limits is None and not log and _within(data):
            limits = (0, 1)
    if limits:
        space = 0 if log else 0.02 * (limits[1] - limits[0])
        axis.axes.set(**{f"{axis.axis_name}lim": (limits[0] - space, limits[1] + space)})


def _percent() -> PercentFormatter:
    return PercentFormatter(1, symbol="\u00a0%")


def _named(line: Line) -> Mapping[str, float]:
    return line if isinstance(line, Mapping) else {} if line is None else {"": line}


def _tidy(frame: pd.DataFrame, needed: Sequence[str], **texts: Names | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The frame with a plain index, and what its rows are called ("" without columns); unknown names are refused."""
    if not isinstance(frame, pd.DataFrame):
        raise GamekitError(f"a plot needs a pandas DataFrame; given {type(frame).__name__}")
    if frame.empty:
        raise GamekitError("nothing to draw: the frame has no rows")
    frame = frame.reset_index(drop=all(name is None or name in frame for name in frame.index.names))
    lists = {key: [one] if isinstance(one, str) else list(one or []) for key, one in texts.items()}
    for name in [*needed, *(one for some in lists.values() for one in some)]:
        if name not in frame:
            have = [str(column) for column in frame.columns]
            raise GamekitError(f"the frame has no column {name!r}{nearest(name, have)}; it has {', '.join(have)}")
    tidy = pd.DataFrame(index=frame.index)
    for key in ("label", "group", "panel"):
        columns = [[_text(value, name) for value in frame[name]] for name in lists.get(key, [])]
        tidy[key] = [", ".join(filter(None, some)) for some in zip(*columns, strict=True)] if columns else ""
    return frame, tidy


def _once(tidy: pd.DataFrame, columns: list[str], rule: str) -> None:
    if repeats := int(tidy.duplicated(columns).sum()):
        raise GamekitError(f"{rule}, but {repeats} rows repeat another; average them first, or add by= or panel=")


def _measured(frame: pd.DataFrame, value: str) -> pd.DataFrame:
    """A value with its interval and printed number, NaN if missing."""
    ends = {"value": "", "low": "_low", "high": "_high", "printed": "_printed"}
    return pd.DataFrame({key: _numbers(frame, value + end) for key, end in ends.items()})


def _numbers(frame: pd.DataFrame, column: str) -> pd.Series:
    """A column as floats; NaN throughout if there is none."""
    if column not in frame:
        return pd.Series(np.nan, frame.index)
    try:
        return pd.to_numeric(frame[column]).astype("Float64").astype(float)
    except (TypeError, ValueError):
        raise GamekitError(f"column {column!r} has to hold numbers; it has {frame[column].iloc[0]!r}") from None


def _is_share(name: str, data: pd.DataFrame, percent: bool | None) -> bool:
    """Whether a column holds fractions to be shown in percent."""
    named = {"rate", "share", "points", "kept", "exact"} & set(name.split("_"))
    return bool(named) and _within(data) if percent is None else percent


def _within(data: pd.DataFrame) -> bool:
    known = data.filter(["value", "low", "high", "printed"]).stack().dropna()
    return bool(known.between(0, 1).all())


def _text(value: Any, name: str = "") -> str:
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
    return f"{_words(name)} {value}".strip()


def _words(name: str) -> str:
    return name.replace("_", " ")


def _wrap(text: str, width: int) -> str:
    """Lines of at most `width` characters where words allow; a long spec is broken after its commas."""
    if len(text) <= width:
        return text
    return textwrap.fill(re.sub(r",(?=[^\s\d])", ", ", text), width, break_long_words=False, break_on_hyphens=False)


def _ink_on(colour: Sequence[float]) -> str:
    """Black or white, whichever stands out from a colour."""
    return "white" if 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2] < 0.5 else "black"


def _marked(mark: Any, panel: str) -> list[tuple[str, str]]:
    """The cells to frame in one panel, as texts."""
    cells = mark.get(panel, ()) if isinstance(mark, Mapping) else mark
    cells = [cells] if len(cells) == 2 and not isinstance(cells[0], (tuple, list)) else cells
    return [(_text(row), _text(column)) for row, column in cells]
