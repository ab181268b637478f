"""The report object of a notebook: every table and figure is a file first, and verdicts stand beside their evidence.

from gamekit.notebook import printed, report

report.begin("10_conga", globals())
played = gk.sweep(…, out=report.folder("heuristics"))
report.table("heuristics", gk.win_rates(played, by="heuristic"), "Games won against a random player")
report.claim("conga_squares_worst", "refuted", "its interval overlaps that of counting moves")
"""

from __future__ import annotations

import html
import json
import os
import platform
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import GamekitError, nearest
from ..experiments.folder import write_file
from ..experiments.run import Beside, Plan
from .claims import VERDICTS, statements
from .data import NOTEBOOKS, RESULTS, ROOT
from .parameters import check_globals, declared
from .tables import csv_text, flat, html_table, numeric_text

if TYPE_CHECKING:
    import pandas as pd

RUN = "GAMEKIT_RUN"  # set by the runner for a kernel: the folder of the run
MEASURED = "measured"  # beside the runs' folders: measurements survive a killed run there
TABLES = "tables.json"  # what a CSV file cannot say of itself: title, note, columns that are text


class _Noted(Beside):
    """The folder of a measurement, told to the report once it is chosen."""

    def __init__(self, base: Path, name: str, note: Callable[[Path], None]):
        super().__init__(base, name)
        self.note = note

    def at(self, plan: Plan) -> Path:
        folder = super().at(plan)
        self.note(folder)
        return folder


class Report:
    """Tables, figures, verdicts and findings of the notebook that runs in this kernel."""

    def __init__(self) -> None:
        self.name = ""
        self._started = False
        self._reset()

    def _reset(self) -> None:
        self._tables: dict[str, dict[str, Any]] = {}
        self._claims: dict[str, dict[str, Any]] = {}
        self._folders: set[str] = set()
        self._shown: list[str] = []  # tables and figures that the next verdict rests on
        self._judged = False  # the last thing shown was a verdict

    def begin(self, name: str, variables: Mapping[str, Any]) -> None:
        """Check the notebook's parameters and choose its folder.

        Args:
            name: the notebook's file name without its ending.
            variables: `globals()`. On the first call in a kernel a plain variable that is no declared parameter is
                refused as misspelt; later, when the notebook runs again, it is taken for one of the notebook's own.
        """
        check_globals(name, declared(NOTEBOOKS / f"{name}.ipynb"), variables, strict=not self._started)
        self._started, self.name = True, name
        self._reset()

    @property
    def out(self) -> Path:
        """Where files go: the run's folder, or `results/scratch/<notebook>` where a person runs the notebook."""
        if not self.name:
            raise GamekitError(
                "report.begin(NAME, globals()) has to run first; it is in the notebook's second code cell"
            )
        return Path(os.environ[RUN]) if RUN in os.environ else RESULTS / "scratch" / self.name

    @property
    def results(self) -> Path:
        """The folder of all runs: that of this profile, else the quick or the full one, whichever is there."""
        known = [*([self.out.parent] if RUN in os.environ else []), RESULTS / "quick", RESULTS / "full"]
        return next((home for home in known if any(home.glob("*_*/mark.json"))), known[0])

    @property
    def profile(self) -> str:
        """The profile's name, for prose."""
        return self.results.name

    def folder(self, name: str) -> Beside:
        """Where a measurement is stored and resumed: pass it as `out=`. Its name ends in a digest of the plan, so a
        changed cell measures anew, and an unchanged one reads what is there."""
        return _Noted(self.out.parent / MEASURED / self.name, name, self._note)

    def _note(self, folder: Path) -> None:
        """Remember which measurements this run reads; the runner removes the others."""
        self._folders.add(folder.name)
        write_file(self.out / "measured.json", json.dumps(sorted(self._folders), indent=1) + "\n")

    def table(
        self, name: str, frame: pd.DataFrame | pd.Series, title: str, note: str = "", percent: Collection[str] = ()
    ) -> None:
        """Write a table as `tables/<name>.csv` and show it.

        Args:
            name: the file's name.
            frame: the rows; `<value>_low`, `<value>_high` and `<value>_printed` are shown beside `<value>`.
            title: the caption: what was found, or what the rows are.
            note: a line below.
            percent: further columns of fractions to show in percent.
        """
        self._table("tables", name, frame, title, note, percent)

    def timed(self, name: str, frame: pd.DataFrame, title: str, note: str = "") -> None:
        """The same for seconds, as `timed/<name>.csv`: no two runs agree on them, so they are kept apart and shown
        with the machine's name."""
        self._table("timed", name, frame, title, f"{note} Seconds on {machine()}; they differ from run to run.".strip())

    def _table(self, folder: str, name: str, frame: Any, title: str, note: str, percent: Collection[str] = ()) -> None:
        from IPython.display import HTML, display

        rows = flat(frame)
        write_file(self.out / folder / f"{name}.csv", csv_text(rows))
        self._tables[f"{folder}/{name}"] = {"title": title, "note": note, "text": numeric_text(rows)}
        self._write_json(TABLES, self._tables)
        self._show(f"{folder}/{name}")
        about = {folder.rstrip("s"): name, "title": title, "note": note}
        display(HTML(html_table(rows, title, note, percent)), metadata={"gamekit": about})

    def figure(self, name: str, drawn: Any, caption: str = "") -> None:
        """Write a figure as `figures/<name>.svg` and `.png` and show it.

        Args:
            name: the file's name.
            drawn: what a plot returned: matplotlib's Axes or Figure.
            caption: a line below the figure.
        """
        from IPython.display import Image, Markdown, display

        from ..analysis.plot import save

        png, _ = save(drawn, self.out / "figures" / name)
        self._show(f"figures/{name}")
        display(Image(str(png)), metadata={"gamekit": {"figure": name, "caption": caption}})
        if caption:  # a page has it in the figure already
            display(Markdown(f"*{caption}*"), metadata={"gamekit": {"caption_of": name}})

    def _show(self, name: str) -> None:
        if self._judged:
            self._shown, self._judged = [], False
        self._shown.append(name)

    def say(self, text: str) -> None:
        """Show prose (Markdown) whose numbers come from a table."""
        from IPython.display import Markdown, display

        display(Markdown(text))

    def claim(self, id: str, verdict: str, because: str, evidence: Sequence[str] = ()) -> None:
        """Give a verdict on a claim in `data/claims.yaml`.

        Args:
            id: the claim.
            verdict: "reproduced", "refuted" or "undecided".
            because: the evidence in one sentence, with its numbers.
            evidence: names of tables and figures; without, those shown since the verdict before.
        """
        from IPython.display import HTML, display

        known = statements()
        if id not in known:
            raise GamekitError(f"there is no claim {id!r} in data/claims.yaml{nearest(id, known)}")
        if verdict not in VERDICTS:
            raise GamekitError(f"claim {id}: verdict={verdict!r} is not allowed; a verdict is {', '.join(VERDICTS)}")
        self._judged = True
        rests_on = [one for one in self._shown if not evidence or one.partition("/")[2] in evidence]
        self._claims[id] = {"verdict": verdict, "because": because, "evidence": rests_on}
        self._write_json("claims.json", self._claims)
        one = known[id]
        where = f"Report {one['report']}, {one['section']}"
        chip = f"<b style='color:{VERDICTS[verdict]}'>{verdict}</b>"
        text = f"{html.escape(where)}: “{html.escape(one['claim'])}” {chip}: {html.escape(because)}."
        display(HTML(f"<p class=claim>{text}</p>"), metadata={"gamekit": {"claim": id}})

    def findings(self, *texts: str) -> None:
        """Show what was found (Markdown), the headline first; the site's front page quotes it."""
        self._write_json("findings.json", texts)
        self.say("\n".join(f"- {text}" for text in texts))

    def read(self, table: str) -> pd.DataFrame:
        """A table that another notebook wrote: `report.read("10_conga/heuristics")`."""
        import pandas as pd

        notebook, _, name = table.partition("/")
        home = self.results / notebook
        path = home / "tables" / f"{name}.csv"
        if not path.is_file():
            raise GamekitError(
                f"{path} is missing; run {notebook} first, for example 'gamekit report --only {notebook}'"
            )
        about = json.loads((home / TABLES).read_text(encoding="utf-8")) if (home / TABLES).is_file() else {}
        text = about.get(f"tables/{name}", {}).get("text", [])
        return pd.read_csv(path, dtype=dict.fromkeys(text, str))

    def _write_json(self, name: str, content: Any) -> None:
        write_file(self.out / name, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def machine() -> str:
    """The processor's name, shown wherever seconds are."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores"


def shown_path(path: Path) -> str:
    """A path from the project's root, where it lies inside."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


report = Report()
