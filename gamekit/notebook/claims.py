"""What the reports claim (`data/claims.yaml`), and the verdicts that notebooks gave with `report.claim`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import GamekitError
from .data import ROOT, data_file

if TYPE_CHECKING:
    import pandas as pd

FIELDS = ("id", "report", "section", "claim", "test")
VERDICTS = {"reproduced": "#009E73", "refuted": "#D55E00", "undecided": "#8A8A8A"}  # and their colours
NOT_JUDGED = {"verdict": "undecided", "because": "not judged in this profile"}


@cache
def statements() -> dict[str, dict[str, str]]:
    """Every claim by its id: report, section, claim and test, each a text. Anything else in the file is refused."""
    found: dict[str, dict[str, str]] = {}
    for one in data_file("claims.yaml"):
        where = f"data/claims.yaml: claim {one.get('id', one)!r}"
        if unknown := [key for key in one if key not in FIELDS]:
            raise GamekitError(f"{where} has an unknown field {unknown[0]!r}; quote texts with commas or colons")
        for field in FIELDS:
            if not isinstance(one.get(field), str) or not one[field].strip():
                raise GamekitError(f"{where}: {field} has to be a text; it is {one.get(field)!r}")
        if one["id"] in found:
            raise GamekitError(f"{where} is there twice")
        found[one["id"]] = {field: one[field].strip() for field in FIELDS[1:]}
    return found


def collect(results: str | Path) -> pd.DataFrame:
    """All claims with the verdicts of the notebooks that ran.

    Args:
        results: a folder of runs, such as `results/quick` (`report.results` in a notebook).
    Returns:
        One row per claim: id, report, section, claim, verdict, because, notebook, evidence, test. A claim that no
        notebook judged is undecided; `evidence` lists the tables and figures shown before the verdict.
    """
    import pandas as pd

    given: dict[str, dict[str, str]] = {}
    for path in sorted((ROOT / results).glob("*/claims.json")):
        notebook = path.parent.name
        for id_, one in {} if notebook.startswith(".") else json.loads(path.read_text(encoding="utf-8")).items():
            if id_ in given:
                both = f"{given[id_]['notebook']} and {notebook}"
                raise GamekitError(f"claim {id_!r} is judged by {both}; one of them is out of date, run it again")
            given[id_] = {**one, "evidence": ", ".join(one["evidence"]), "notebook": notebook}
    columns = ["id", "report", "section", "claim", "verdict", "because", "notebook", "evidence", "test"]
    rows = [{"id": id_, **one, **given.get(id_, NOT_JUDGED)} for id_, one in statements().items()]
    return pd.DataFrame(rows).reindex(columns=columns).fillna("")
