"""Frames and positions as matplotlib figures: dots, lines, heat maps, stacked bars, boards.

Every function takes a frame and names of columns. It reads an interval from `<value>_low` and `<value>_high`, and the
number that a report printed from `<value>_printed`. Rates are fractions in frames and percentages on axes.
It returns the Axes it drew on, or a Figure if it drew several panels. Neither importing this module nor drawing
changes matplotlib's backend or settings.

Options of several functions: `title` says the finding; `xlabel` and `ylabel` name the axes; `line` is a reference
value, or {name: value}; `limits` are those of the axis or colours that show the values (a rate is drawn from 0 to 100 %
otherwise); `percent` says whether values are fractions to show in percent (the column's name decides otherwise); `log`
makes the axis of values logarithmic; `columns` is the most panels side by side; `colors` is {name: colour}, as from
`colour_of`; `ax` is where to draw a single panel.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import CenteredNorm, Normalize, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Patch, Rectangle
from matplotlib.patheffects import withStroke

from ..errors import GamekitError
from . import figure as fig
from .figure import Names, Panels, Sheet, colour_of, save, style
from .frames import need, numbers

__all__ = ["Panels", "bars", "board", "colour_of", "dots", "heat", "lines", "save", "style"]

MARKS, DASHES = "os^Dv<PX*", ("-", "--", ":", "-.")  # one mark more than colours: all pairs differ
CENTRED: Any = {"ha": "center", "va": "center_baseline", "fontsize": 9.5}  # a text in a cell
REFERENCE: Any = {"color": fig.GREY, "lw": 1.1, "ls": "--", "zorder": 1}
DOT: Any = {"ls": "", "ms": 6.5, "mew": 1.6, "clip_on": False, "in_layout": False}
NO_INTERVAL: Any = DOT | {"marker": "o", "color": fig.GREY, "mfc": "white"}
BEYOND: Any = DOT | {"marker": ">", "color": fig.GREY}
PRINTED: Any = DOT | {"marker": "D", "ms": 9, "mfc": "none", "mec": fig.INK, "zorder": 5}
FRAME: Any = {"fill": False, "ec": fig.INK, "lw": 2.5, "path_effects": [withStroke(linewidth=5, foreground="white")]}
IN_REPORT = "printed in the report"


@style()
def dots(
    frame: pd.DataFrame,
    label: Names,
    value: Names,
    *,
    by: Names | None = None,
    panel: Names | None = None,
    sort: bool = False,
    connect: bool = False,
    **options: Any,
) -> Axes | Figure:
    """One row per label: a dot with its interval, and the printed number as a diamond.

    A dot is hollow if the frame has interval columns but no interval in this row. A row with only a lower bound (the
    value is missing, `<value>_low` is not) gets an arrowhead: more than this.

    Args:
        frame: one row per dot.
        label: the column, or columns, that name the rows.
        value: the column to draw; several give panels side by side, and may have one `xlabel` each.
        by: columns told apart by colour and mark.
        panel: columns; each of their values gets a panel, below each other.
        sort: put the largest on top.
        connect: put the dots of a label on one line and join them.
        options: title, xlabel, line, limits, percent, log, colors and ax, as above.
    Returns:
        The Axes, or the Figure with several panels.
    """
    sheet = Sheet.of("dots", "title xlabel line limits percent log colors ax", options)
    frame, values = fig.plain(frame), [value] if isinstance(value, str) else list(value)
    xlabels = [sheet.xlabel] * len(values) if isinstance(sheet.xlabel, str) else list(sheet.xlabel)
    points = [fig.points_of(frame, name, label, by, panel) for name in values]
    in_percent = [sheet.in_percent(name, some) for name, some in zip(values, points, strict=True)]
    groups, panels = list(points[0].group.unique()), list(points[0].panel.unique())
    colour = colour_of(groups, sheet.colors)
    looks = {group: DOT | {"color": colour[group], "marker": MARKS[i % 9]} for i, group in enumerate(groups)}
    sheet.keys = looks.copy() if by else {}
    lanes = points[0].groupby(["panel", "label"]).size().max()  # dots of one row lie in lanes, in the order of groups
    orders = []
    for name in panels:
        means = points[0][points[0].panel == name].groupby("label", sort=False).value.mean()
        orders.append(list((means.sort_values(ascending=False, kind="stable") if sort else means).index))
    texts = 1 + max(fig.wrapped(name, 34).count("\n") for name in points[0].label)
    each = max(0.3, 0.14 + 0.16 * texts, 0.12 + 0.13 * (2 if connect else lanes))
    heights = [0.1 + each * len(rows) for rows in orders]
    layout: Any = {"sharey": "row", "sharex": "col", "height_ratios": heights}
    height = 0.9 + 0.3 * len(panels) + sum(heights)
    for i, at in enumerate(sheet.lay_out(len(panels) * len(values), len(values), height, **layout)):
        down, across = divmod(i, len(values))
        rows, data = orders[down], points[across][points[across].panel == panels[down]]
        data = data.assign(row=data.label.map(rows.index), order=data.group.map(groups.index)).sort_values(
            "order", kind="stable"
        )
        dot = data.groupby("row").row
        data["y"] = data.row + (dot.cumcount() - (dot.transform("size") - 1) / 2) * (0.3 if connect else 0.76) / lanes
        if connect:
            ends = data.groupby("row").value.agg(["min", "max"])
            at.hlines(ends.index, ends["min"], ends["max"], color=fig.SILVER, lw=2, zorder=1)
        sampled = {f"{values[across]}_low", f"{values[across]}_high"} <= set(frame)
        for group, some in data.groupby("group", sort=False):
            sheet.keys |= _draw_dots(at, some, looks[group], sampled)
        for row, some in data.dropna(subset="printed").groupby("row"):
            same = some.printed.nunique() == 1  # one diamond, in the middle of the row
            at.plot(some.printed[:1] if same else some.printed, [row] if same else some.y, **PRINTED)
            sheet.keys[IN_REPORT] = PRINTED
        at.set(ylim=(len(rows) - 0.45, -0.55), xscale="log" if sheet.log else "linear")
        sheet.name_rows(at, rows)
        at.grid(axis="y", ls=":")
        alike = in_percent[across] == in_percent[0]  # the limits of a rate are not those of a count
        sheet.scale(at.xaxis, points[across], in_percent[across], alike)
        for name, x in sheet.lines.items() if alike else ():
            at.axvline(x, **REFERENCE)
            at.text(
                x, 1, name, transform=at.get_xaxis_transform(), ha="center", va="bottom", fontsize=9, color=fig.GREY
            )
        sheet.label(i, xlabels[across] or fig.words(values[across]), "", "" if across else panels[down])
    return sheet.finish()


def _draw_dots(ax: Axes, some: pd.DataFrame, look: dict[str, Any], sampled: bool) -> dict[str, Any]:
    """Dots of one colour with their intervals; returns what the legend has to explain."""
    hollow, beyond = some[some.value.notna() & some.low.isna() & sampled], some[some.value.isna() & some.low.notna()]
    full = some.drop(hollow.index)
    ax.hlines(some.y, some.low, some.high, color=look["color"], lw=2, alpha=0.8)
    ax.plot(full.value, full.y, **look)
    ax.plot(hollow.value, hollow.y, **look, mfc="white")
    ax.plot(beyond.low, beyond.y, **look | {"marker": ">", "ms": 8})
    notes = {"hollow: no interval": NO_INTERVAL} if len(hollow) else {}
    return notes | ({"more than this": BEYOND} if len(beyond) else {})


@style()
def lines(
    frame: pd.DataFrame,
    x: str,
    y: str,
    *,
    by: Names | None = None,
    panel: Names | None = None,
    band: bool = True,
    labels: str | None = "end",
    share_y: bool = True,
    **options: Any,
) -> Axes | Figure:
    """One line per group, with a band for its interval and diamonds for printed numbers.

    Args:
        frame: one row per point.
        x, y: columns; x holds numbers or texts.
        by: the columns that tell lines apart.
        panel: columns; each of their values gets a panel.
        band: draw `<y>_low` to `<y>_high`.
        labels: "end" writes the names where lines end, or in a legend if they have no room there; "legend"; or None.
        share_y: use the same y axis in all panels.
        options: title, xlabel, ylabel, line, limits, percent, log, columns, colors and ax, as above.
    Returns:
        The Axes, or the Figure with several panels.
    """
    sheet = Sheet.of("lines", "title xlabel ylabel line limits percent log columns colors ax", options)
    frame = fig.plain(frame)
    need(frame, [x])
    ticks = [] if pd.api.types.is_numeric_dtype(frame[x]) else list(dict.fromkeys(map(fig.text_of, frame[x])))
    points = fig.points_of(frame, y, None, by, panel)
    points["x"] = [ticks.index(fig.text_of(one)) for one in frame[x]] if ticks else numbers(frame, x)
    points = points.dropna(subset=["x", "value"])
    fig.once(points, ["panel", "group", "x"], f"lines draws one point per {x} in each line")
    in_percent, reference = sheet.in_percent(y, points), sheet.lines
    groups, panels = list(points.group.unique()), list(points.panel.unique())
    colour, names = (
        colour_of(groups, sheet.colors),
        {name: fig.wrapped(name, 18) for name in [*groups, *reference] if name},
    )
    tall = sum(1 + name.count("\n") for name in names.values())  # lines of text beside each panel
    end = labels == "end" and tall <= (16 if len(panels) <= sheet.columns else 9)
    room = 0.075 * max((len(text) for name in names.values() for text in name.split("\n")), default=0) if end else 0
    down, across = sheet.shape(len(panels), int(fig.WIDTH / (1.7 + room)))
    axes = sheet.lay_out(len(panels), across, 3.9 if down == 1 else 0.6 + 2.3 * down, sharey=share_y)
    for i, (at, name) in enumerate(zip(axes, panels, strict=True)):
        here = points[points.panel == name].sort_values("x", kind="stable")
        for group, some in here.groupby("group", sort=False):
            g, ink = groups.index(group), colour[group]
            look: Any = {"color": ink, "marker": MARKS[g % 9], "ls": DASHES[g // 8 % 4], "ms": 5, "lw": 1.8}
            if band:
                at.fill_between(some.x, some.low, some.high, color=ink, alpha=0.15, lw=0)
            at.plot(some.x, some.value, label=group, **look)
            at.plot(some.x, some.printed, **PRINTED | {"mec": ink})
            sheet.keys |= {group: look} if labels and group and not end else {}
        for text, height in reference.items():
            at.axhline(height, label=text, **REFERENCE)
        at.set_yscale("log" if sheet.log else "linear")
        if ticks:
            at.set_xticks(range(len(ticks)), [fig.wrapped(text, max(6, 70 / across / len(ticks))) for text in ticks])
        elif (here.x % 1 == 0).all() and here.x.nunique() <= 12:
            at.set_xticks(sorted(here.x.unique()))
        sheet.scale(at.yaxis, points if share_y else here, in_percent)
        sheet.label(i, sheet.xlabel or fig.words(x), sheet.ylabel or fig.words(y), name)
    sheet.keys |= {IN_REPORT: PRINTED} if points.printed.notna().any() else {}
    if end:
        sheet.name_ends(names)
    return sheet.finish()


@style()
def heat(
    frame: pd.DataFrame,
    row: str,
    column: str,
    value: str,
    *,
    panel: Names | None = None,
    label: str = "",
    centre: float | None = None,
    format: str | Callable[[float], str] | None = None,
    mark: Any = (),
    mute: str | None = None,
    **options: Any,
) -> Axes | Figure:
    """A heat map with the number written in every cell. Yellow means more; with `centre`, blue is above and red below.

    Args:
        frame: one row per cell.
        row, column, value: columns.
        panel: columns; each of their values gets a panel.
        label: what the colours mean, with the unit; without it there is no colour bar.
        centre: the value drawn white.
        format: such as "{:.1f}", or a function.
        mark: the cell (row, column) to frame, a list of cells, or {panel: cell or cells}.
        mute: a column of booleans; where it is true, the cell is grey (not significant).
        options: title, xlabel, ylabel, limits, percent, columns and ax, as above.
    Returns:
        The Axes, or the Figure with several panels.
    """
    sheet = Sheet.of("heat", "title xlabel ylabel limits percent columns ax", options)
    frame = fig.plain(frame)
    need(frame, [row, column, *([mute] if mute else [])])
    muted = frame[mute].fillna(False).astype(bool) if mute else False
    cells = fig.points_of(frame, value, None, None, panel)
    cells = cells.assign(row=[*map(fig.text_of, frame[row])], column=[*map(fig.text_of, frame[column])], mute=muted)
    fig.once(cells, ["panel", "row", "column"], f"heat draws one cell per {row} and {column}")
    in_percent, panels = sheet.in_percent(value, cells), list(cells.panel.unique())
    write = (
        format.format
        if isinstance(format, str)
        else format or (lambda v: fig.text_of(round(100 * v) if in_percent else v))
    )
    low, high = sheet.limits or (cells.value.min(), cells.value.max())
    reach = 0 if centre is None else max(high - centre, centre - low) or 1
    norm, colour_map = (Normalize(low, high), "cividis") if centre is None else (CenteredNorm(centre, reach), "RdBu")
    paint = ScalarMappable(norm, colour_map)
    down, across = sheet.shape(len(panels))
    height, before = 0.4 + down * (0.9 + 0.36 * cells.groupby("panel").row.nunique().max()), list[str]()
    for i, (at, name) in enumerate(zip(sheet.lay_out(len(panels), across, height), panels, strict=True)):
        here = cells[cells.panel == name]
        rows, cols = list(here.row.unique()), list(here.column.unique())
        ground = np.ones((len(rows), len(cols), 4))
        for cell in here.dropna(subset="value").itertuples():
            r, c = rows.index(cell.row), cols.index(cell.column)
            ground[r, c] = to_rgba(fig.PALE) if cell.mute else paint.to_rgba(cell.value)
            text = re.sub(r"^[-−+](?=[0.,]+\s?%?$)", "", write(cell.value))  # no "-0"
            at.text(c, r, text, color=fig.GREY if cell.mute else fig.ink_on(ground[r, c]), **CENTRED)
        at.imshow(ground, aspect="auto")
        marked = mark.get(name, ()) if isinstance(mark, Mapping) else mark
        for place in [marked] if len(marked) == 2 and not isinstance(marked[0], (tuple, list)) else marked:
            own_row, own_column = map(fig.text_of, place)
            if own_row in rows and own_column in cols:
                corner = cols.index(own_column) - 0.5, rows.index(own_row) - 0.5
                at.add_patch(Rectangle(corner, 1, 1, **FRAME)).set_clip_on(False)
        fit = max(4, int((fig.WIDTH - 1 - 0.08 * max(map(len, rows))) / across / len(cols) / 0.085))
        names = [fig.wrapped(text, fit) for text in cols]
        long = max(len(word) for name in names for word in name.split("\n")) > fit
        at.set_xticks(
            range(len(cols)), names, **{"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if long else {}
        )
        at.set_yticks(range(len(rows)), [fig.wrapped(text, 30) for text in rows])
        at.tick_params(length=0, labelleft=i % across == 0 or rows != before)
        at.grid(False)
        at.spines[:].set_visible(False)
        sheet.label(i, sheet.xlabel or fig.words(column), sheet.ylabel or fig.words(row), name)
        before = rows
    if label:
        bar: Any = {"label": fig.wrapped(label, height / 0.095), "format": fig.percent_signs() if in_percent else None}
        sheet.drawn.colorbar(paint, ax=sheet.axes, aspect=30, **bar).outline.set_visible(False)
    return sheet.finish()


@style()
def bars(
    frame: pd.DataFrame, label: Names, parts: Sequence[str], *, mark: str | None = None, **options: Any
) -> Axes | Figure:
    """One bar per row of the frame, divided into shares that add up to 100 %, such as wins, draws and losses.

    Args:
        frame: one row per bar.
        label: the column, or columns, that name the bars.
        parts: columns of counts or shares; counts are written inside as they are, shares in percent.
        mark: a column of fractions, such as the score, drawn as a black pointer above the bar, with its interval.
        options: title, xlabel, colors (by part) and ax, as above.
    Returns:
        The Axes.
    """
    sheet = Sheet.of("bars", "title xlabel colors ax", options)
    frame = fig.plain(frame)
    names = fig.texts_of(frame, label)
    counts = pd.DataFrame({part: numbers(frame, part) for part in parts}).fillna(0)
    shares = counts.div(counts.sum(axis=1).where(lambda total: total > 0), axis=0).fillna(0)
    whole = (counts % 1 == 0).all(axis=None) and counts.max(axis=None) > 1
    colour = colour_of(
        parts, {part: fig.MEANINGS[part] for part in parts if part in fig.MEANINGS} | dict(sheet.colors or {})
    )
    (at,), left = (
        sheet.lay_out(1, 1, 1.1 + sum(0.38 + 0.13 * fig.wrapped(name, 34).count("\n") for name in names)),
        0 * shares[parts[0]],
    )
    for part in parts:
        written = [f"{n:,.0f}" if whole else f"{100 * n:.0f}" for n in (counts if whole else shares)[part]]
        fits = [size > 0.005 + 0.014 * len(text) for text, size in zip(written, shares[part], strict=True)]
        bar = at.barh(left.index, shares[part], left=left, color=colour[part], ec="white", height=0.7)
        written = [text if room else "" for text, room in zip(written, fits, strict=True)]
        at.bar_label(bar, written, label_type="center", color=fig.ink_on(to_rgba(colour[part])), fontsize=9.5)
        sheet.keys[fig.words(part)] = Patch(color=colour[part])
        left += shares[part]
    if mark:
        points = fig.points_of(frame, mark)
        look = sheet.keys[fig.words(mark)] = DOT | {"marker": "v", "color": fig.INK}
        at.hlines(points.index - 0.41, points.low, points.high, color=fig.INK, lw=1.4)
        at.plot(points.value, points.index - 0.41, **look)
    at.set(xlim=(0, 1), ylim=(len(names) - 0.55, -0.6), xlabel=sheet.xlabel)
    at.xaxis.set_major_formatter(fig.percent_signs())
    at.grid(False)
    sheet.name_rows(at, names)
    return sheet.finish()


@style()
def board(positions: Any, *, titles: Names | None = None, columns: int = 5, **options: Any) -> Axes | Figure:
    """Positions as small boards: blue discs for the first player, orange squares for the second.

    The line that won is outlined. Columns and rows are named as in the game's moves.

    Args:
        positions: one Position, or several.
        titles: a text above each board.
        columns: the most boards side by side.
        options: title and ax, as above.
    Returns:
        The Axes, or the Figure of several.
    """
    sheet = Sheet.of("board", "title columns ax", {"columns": columns, **options})
    shown = [positions] if hasattr(positions, "record") else list(positions)
    above = [titles] if isinstance(titles, str) else list(titles or [""] * len(shown))
    if wrong := [one for one in shown if not hasattr(one, "record")]:
        raise GamekitError(f"board draws positions, such as gk.game('conga').start(); given {wrong[0]!r}")
    if not shown or len(above) != len(shown):
        raise GamekitError(f"board needs one title per position; given {len(shown)} positions and {len(above)} titles")
    boards = [one.game.cells(one.record) for one in shown]
    wide, high = max(len(rows[0]) for rows in boards), max(map(len, boards))
    down, across = sheet.shape(len(shown))
    cell = min(0.42, (fig.WIDTH / across - 0.35) / wide)
    above = [fig.wrapped(text, (cell * wide + 0.2) / 0.075) for text in above]
    height = cell * high + 0.35 + 0.17 * max(text.count("\n") + bool(text) for text in above)
    height, width = down * height + 0.3 * bool(sheet.title), across * (cell * wide + 0.35)
    axes = sheet.lay_out(len(shown), across, height, width)
    for at, one, rows, text in zip(axes, shown, boards, above, strict=True):
        find = getattr(one.game, "winning_cells", None)
        won = {tuple(place) for place in find(one.record)} if one.winner and find else ()
        for r, c in np.ndindex(len(rows), len(rows[0])):
            owner, name = rows[r][c]
            edge: Any = {"ec": fig.INK if (r, c) in won else "none", "lw": 2}
            at.add_patch(Rectangle((c - 0.47, r - 0.47), 0.94, 0.94, fc="#e8ecf1"))
            if owner == 1:
                at.add_patch(Circle((c, r), 0.4, fc=fig.BLUE, **edge))
            elif owner == 2:
                at.add_patch(Rectangle((c - 0.36, r - 0.36), 0.72, 0.72, fc=fig.ORANGE, **edge))
            ink = (fig.GREY, "white", "black")[owner]
            at.text(c, r, name, color=ink, **CENTRED | {"fontsize": max(7, min(10, 30 * cell))})
        letters, drops = one.game.name == "candy", bool(getattr(one.game, "gravity", False))
        at.set_xticks(range(len(rows[0])), [chr(65 + c) if letters else str(c + drops) for c in range(len(rows[0]))])
        at.set_yticks(range(len(rows)), ["" if drops else str(r + letters) for r in range(len(rows))])
        at.tick_params(length=0, pad=1, labelsize=max(7, min(9, 30 * cell)), labelcolor=fig.GREY)
        at.set(xlim=(-0.5, len(rows[0]) - 0.5), ylim=(len(rows) - 0.5, -0.5), aspect="equal")
        at.spines[:].set_visible(False)
        at.grid(False)
        if text:
            at.set_title(text, fontsize=9.5, fontweight="normal")
    return sheet.finish()
