"""Tables → verdicts: every claim of the reports (data/claims.yaml) reproduced, refuted or undecided, with evidence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import GamekitError
from .data import ROOT, data_file

REPRODUCED, REFUTED, UNDECIDED = "reproduced", "refuted", "undecided"
Verdict = tuple[str, str]
Judge = Callable[..., Verdict]
JUDGES: dict[str, Judge] = {}


class Evidence:
    """The tables of a results folder, by `notebook/table`."""

    def __init__(self, results: str | Path):
        folder = Path(results)
        self.folder = folder if folder.is_absolute() else ROOT / folder

    def __call__(self, name: str) -> pd.DataFrame:
        notebook, table = name.split("/")
        path = self.folder / notebook / "tables" / f"{table}.csv"
        if not path.is_file():
            raise GamekitError(f"table {name} is missing under {self.folder.name}; notebook {notebook} makes it and "
                               "has to run first")
        return pd.read_csv(path)


def judge(function: Judge) -> Judge:
    """Register a judge under its own name, which is the claim's id."""
    JUDGES[function.__name__] = function
    return function


def claims() -> list[dict[str, Any]]:
    """Every claim as it stands in the data, refused when a field is missing or a judge is."""
    from ..reports import judges  # noqa: F401  (they register themselves)

    found = data_file("claims.yaml")
    for one in found:
        lacking = [field for field in ("id", "report", "section", "claim", "test", "tables") if not one.get(field)]
        if lacking:
            raise GamekitError(f"data/claims.yaml: claim {one.get('id', one)!r} lacks {', '.join(lacking)}")
        if one["id"] not in JUDGES:
            raise GamekitError(f"data/claims.yaml: claim {one['id']!r} has no judge in gamekit/reports/judges.py")
    return found


def verdicts(results: str | Path) -> pd.DataFrame:
    """The scoreboard: a row a claim."""
    evidence, rows = Evidence(results), []
    for one in claims():
        verdict, why = JUDGES[one["id"]](*(evidence(name) for name in one["tables"]))
        rows.append({"id": one["id"], "report": one["report"], "section": one["section"], "claim": one["claim"],
                     "verdict": verdict, "evidence": why,
                     "test": one["test"], "tables": ", ".join(one["tables"])})
    return pd.DataFrame(rows)
