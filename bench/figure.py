"""The benchmark as one picture."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from .measure import Row, number

BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#999999"
GAME_COLOURS = {"connect_four": BLUE, "candy": ORANGE, "conga": GREEN, "mnk": RED, "connect_k": PURPLE}
MARKERS = dict(zip(GAME_COLOURS, "osD^v", strict=True))


def draw(rows: list[Row], folder: Path, preface: str) -> None:
    """`bench.png` and `bench.svg`."""
    plt.rcParams.update({"svg.hashsalt": "gamekit", "font.size": 9})
    figure, axes = plt.subplots(2, 2, figsize=(13, 9), layout="constrained")
    bars(
        axes[0, 0],
        [r for r in rows if r.group in ("c", "bits")],
        "Beside the same search in C",
        "speed, C = 1",
        log=False,
    )
    bars(
        axes[0, 1],
        [r for r in rows if r.group in ("peers", "montecarlo")],
        "Beside other libraries",
        "times as fast (logarithmic)",
        log=True,
    )
    by_depth(axes[1, 0], [r for r in rows if r.group == "growth" and ", depth " in r.what])
    bars(axes[1, 1], [r for r in rows if r.group == "startup"], "Until it is ready", "CPU seconds", log=False)
    figure.suptitle(f"gamekit's benchmark. {preface}", fontsize=10)
    figure.savefig(folder / "bench.png", dpi=150)
    figure.savefig(folder / "bench.svg", metadata={"Date": None})
    plt.close(figure)


def bars(axis: Axes, rows: list[Row], title: str, label: str, log: bool) -> None:
    """A bar a row, with its quartiles, its floor (line) and its aim (diamond)."""
    rows = [row for row in rows if row.ratio is not None][::-1]
    for y, row in enumerate(rows):
        value, low, high = row.ratio or 0.0, row.low, row.high
        spread = None if low is None or high is None else [[max(value - low, 0)], [max(high - value, 0)]]
        axis.barh(y, value, color=RED if row.failed else BLUE, xerr=spread, ecolor="black", height=0.62, capsize=2)
        axis.text(1.02, y, number(value), transform=axis.get_yaxis_transform(), va="center")
        if row.floor is not None:
            axis.plot([row.floor, row.floor], [y - 0.42, y + 0.42], color=ORANGE, linewidth=2.5)
        if row.aim is not None:
            axis.plot([row.aim], [y], marker="D", color=GREEN, markeredgecolor="white", linestyle="none")
    axis.set_yticks(range(len(rows)), [short(row.what) for row in rows])
    axis.set_xlabel(label)
    axis.set_title(title + "\nbars: median, quartiles; | floor, ◆ aim", fontsize=10)
    if log and rows:
        axis.set_xscale("log")
        axis.set_xlim(left=1)


def by_depth(axis: Axes, rows: list[Row]) -> None:
    for game, colour in GAME_COLOURS.items():
        points = [(int(r.what.rsplit(" ", 1)[1]), r.ours) for r in rows if r.what.startswith(f"{game},")]
        if points:
            axis.plot(*zip(*points, strict=True), marker=MARKERS[game], color=colour, label=game)
    axis.set_yscale("log")
    axis.set_xlabel("depth, plies")
    axis.set_ylabel("CPU seconds")
    axis.set_title("Cost of alpha-beta by depth", fontsize=10)
    axis.grid(alpha=0.3)
    if rows:
        axis.legend()


BRIEFER = {
    ", beside C": "",
    "alpha-beta to 6, ": "",
    "Connect Four, tree of random playouts": "random playouts",
    ", from cache": "\nfrom cache",
    ", numba's own first use": "\nnumba's own first use",
}


def short(what: str) -> str:
    """What a row is, where the title has said the rest."""
    for long, brief in BRIEFER.items():
        what = what.replace(long, brief)
    return what
