"""Paired measurements and the rows they become.

The machine is never quiet, so no time stands alone: two things are measured in turns, and what counts is
the median of the ratios of neighbouring turns.
"""

from __future__ import annotations

import csv
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

ABSENT = "not installed"


@dataclass
class Row:
    """One line of the table. `ratio` is gamekit's speed over the other's unless `unit` says otherwise."""

    group: str
    what: str
    ratio: float | None = None
    low: float | None = None  # quartiles of the paired ratios
    high: float | None = None
    floor: float | None = None
    aim: float | None = None
    at_most: bool = False  # floor and aim are upper bounds
    unit: str = "×"
    ours: float | None = None  # seconds
    theirs: float | None = None
    nodes: int | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.ratio is None:
            return ABSENT if self.note.startswith(ABSENT) else "no result"
        if self.floor is None:
            return ""
        sign = -1 if self.at_most else 1
        if sign * self.ratio < sign * self.floor:
            return "BELOW FLOOR" if not self.at_most else "ABOVE FLOOR"
        return "aim" if self.aim is not None and sign * self.ratio >= sign * self.aim else "floor"

    @property
    def failed(self) -> bool:
        return self.verdict.endswith(" FLOOR")


@dataclass
class Pair:
    """Seconds of both, and the paired ratios theirs / ours."""

    ours: float
    theirs: float
    ratios: list[float]

    @property
    def quartiles(self) -> tuple[float, float, float]:
        if len(self.ratios) < 3:
            return min(self.ratios), statistics.median(self.ratios), max(self.ratios)
        low, middle, high = statistics.quantiles(self.ratios, n=4, method="inclusive")
        return low, middle, high

    def row(self, group: str, what: str, **facts: object) -> Row:
        low, middle, high = self.quartiles
        return Row(group, what, middle, low, high, ours=self.ours, theirs=self.theirs, **facts)  # type: ignore[arg-type]


def paired(ours: Callable[[], object], theirs: Callable[[], object], rounds: int, repeat: int = 1) -> Pair:
    """Run both in turns; `repeat` runs of ours stand beside one of theirs. CPU time, for others use the machine too."""
    ratios, mine, others = [], [], []
    for _ in range(rounds):
        mine.append(timed(ours, repeat))
        others.append(timed(theirs))
        ratios.append(others[-1] / mine[-1])
    return Pair(statistics.median(mine), statistics.median(others), ratios)


def timed(work: Callable[[], object], repeat: int = 1, clock: Callable[[], float] = time.process_time) -> float:
    """Seconds a run."""
    start = clock()
    for _ in range(repeat):
        work()
    return max(clock() - start, 1e-9) / repeat


# ----------------------------------------------------------------------------------------------- tables

COLUMNS = ("group", "what", "result", "quartiles", "floor", "aim", "verdict", "ours", "theirs", "nodes", "note")


def cells(row: Row) -> tuple[str, ...]:
    """A row as the table prints it."""

    def bound(value: float | None) -> str:
        return "" if value is None else ("≤ " if row.at_most else "≥ ") + number(value)

    result = "" if row.ratio is None else f"{number(row.ratio)} {row.unit}"
    between = "" if row.low is None or row.high is None else f"{number(row.low)} to {number(row.high)}"
    return (
        row.group,
        row.what,
        result,
        between,
        bound(row.floor),
        bound(row.aim),
        row.verdict,
        seconds(row.ours),
        seconds(row.theirs),
        "" if row.nodes is None else f"{row.nodes:,}".replace(",", " "),
        row.note,
    )


def number(value: float) -> str:
    """Three figures.

    >>> number(0.8349), number(15234.0)
    ('0.835', '15 200')
    """
    if abs(value) >= 1000:
        return f"{int(float(f'{value:.3g}')):,}".replace(",", " ")
    return f"{value:.3g}"


def seconds(value: float | None) -> str:
    if value is None:
        return ""
    for size, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def write_table(rows: Iterable[Row], folder: Path, preface: str) -> None:
    """`bench.csv` with plain numbers, `bench.md` to read."""
    rows = list(rows)
    with (folder / "bench.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(
            (
                "group",
                "what",
                "result",
                "unit",
                "low",
                "high",
                "floor",
                "aim",
                "verdict",
                "ours_seconds",
                "theirs_seconds",
                "nodes",
                "note",
            )
        )
        for r in rows:
            plain = [None if v is None else float(f"{v:.4g}") for v in (r.ratio, r.low, r.high, r.floor, r.aim)]
            spent = [None if v is None else float(f"{v:.4g}") for v in (r.ours, r.theirs)]
            writer.writerow((r.group, r.what, plain[0], r.unit, *plain[1:], r.verdict, *spent, r.nodes, r.note))
    lines = [preface, "", "| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    (folder / "bench.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
