"""The desk a notebook writes at: every table and figure becomes a file first, and what is shown is that file."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..core import GamekitError
from ..data import NOTEBOOKS, ROOT, data_file
from ..parameters import declared, given_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure

def printed(report: str, part: str | None = None) -> Any:
    """What a report printed: `printed("000", "heuristics")` are the rows of its table."""
    reports = data_file("reports.yaml")
    if report not in reports or (part is not None and part not in reports[report]):
        there = ", ".join(reports.get(report, reports))
        raise GamekitError(f"data/reports.yaml has no {part if report in reports else report!r}; it has {there}")
    return reports[report] if part is None else reports[report][part]


def machine() -> str:
    """The processor's name, said wherever seconds are."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores"


def begin(name: str, names: Mapping[str, Any]) -> Report:
    """Check a running notebook's parameters (its globals) against its parameters cell, and open its desk."""
    given = given_in(names, declared(NOTEBOOKS / f"{name}.ipynb"), name)
    return Report(name, given)


class Report:
    """Writes a notebook's tables, figures and findings into its folder and shows them."""

    def __init__(self, name: str, parameters: dict[str, Any]):
        self.name, self.parameters = name, parameters
        out = Path(parameters.get("out", f"results/scratch/{name}"))
        self.out = out if out.is_absolute() else ROOT / out

    def table(self, name: str, frame: pd.DataFrame, title: str, note: str = "") -> None:
        """Counts and rates: the same bytes in every run."""
        self._table("tables", name, frame, title, note)

    def timed(self, name: str, frame: pd.DataFrame, title: str, note: str = "") -> None:
        """Seconds: kept apart from the tables, since no two runs agree on them, and shown with the machine."""
        self._table("timed", name, frame, title, f"{note} Seconds on {machine()}; they differ from run to run.".strip())

    def figure(self, name: str, figure: Figure, caption: str) -> None:
        """A figure as SVG and PNG."""
        from IPython.display import Image, display
        from matplotlib import pyplot

        for kind in ("svg", "png"):
            # Dates and random ids are left out, so that two runs give the same bytes.
            facts = {"Date": None} if kind == "svg" else {"Software": None}
            self._write(f"figures/{name}.{kind}", lambda path, kind=kind, facts=facts: figure.savefig(
                path, format=kind, metadata=facts, dpi=150))
        pyplot.close(figure)
        display(Image(str(self.out / f"figures/{name}.png")),
                metadata={"gamekit": {"figure": name, "caption": caption}})

    def say(self, text: str) -> None:
        """Prose whose numbers come out of a table."""
        from IPython.display import Markdown, display

        display(Markdown(text))

    def findings(self, *texts: str) -> None:
        """What was found, the headline first; the site's front page shows it."""
        self._write("findings.json", lambda path: path.write_text(
            json.dumps(texts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"))
        self.say("\n".join(f"- {text}" for text in texts))

    def _table(self, folder: str, name: str, frame: pd.DataFrame, title: str, note: str) -> None:
        from IPython.display import HTML, display

        path = self._write(f"{folder}/{name}.csv", lambda path: frame.to_csv(
            path, index=False, float_format="%.6g", lineterminator="\n"))
        shown = pd.read_csv(path, dtype=str, keep_default_na=False)
        facts = {folder.rstrip("s"): name, "title": title, "note": note}
        display(HTML(html_table(shown, title, note)), metadata={"gamekit": facts})

    def _write(self, name: str, write: Any) -> Path:
        """Write under a temporary name, then rename: no half file ever stands under a final name."""
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part")
        write(part)
        os.replace(part, path)
        return path


def html_table(frame: pd.DataFrame, title: str, note: str = "") -> str:
    """A table as HTML: numbers to the right, everything escaped."""
    import html

    numeric = {c for c in frame.columns if frame[c].map(lambda v: v == "" or _is_number(v)).all()}
    head = "".join(f"<th{' class=num' if c in numeric else ''}>{html.escape(str(c).replace('_', ' '))}</th>"
                   for c in frame.columns)
    rows = "".join("<tr>" + "".join(f"<td{' class=num' if c in numeric else ''}>{_cell(v, c in numeric)}</td>"
                                    for c, v in zip(frame.columns, row, strict=True)) + "</tr>"
                   for row in frame.itertuples(index=False))
    foot = f"<p class=note>{html.escape(note)}</p>" if note else ""
    return (f"<div class=table><table><caption>{html.escape(title)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table></div>{foot}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _cell(text: str, number: bool) -> str:
    """Thousands apart with a thin space; line breaks kept."""
    import html

    if number and text.lstrip("-").isdigit() and len(text.lstrip("-")) > 4:
        return f"{int(text):,}".replace(",", " ")
    return html.escape(text).replace("\n", "<br>")
