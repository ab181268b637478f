"""The committed results: made by these notebooks, complete, and without an interval that the rule withholds."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from gamekit.notebook import runner
from gamekit.notebook.data import NOTEBOOKS, RESULTS

FULL = RESULTS / "full"
TABLES = sorted(FULL.glob("*/tables/*.csv"))
CHANCE = re.compile(r"random|monte|uct|_ai\b", re.IGNORECASE)  # players that do not only replay their games

BREAK_TIES_AT_RANDOM = {"40_mnk/first_stone"}  # tables whose rows do not name the opponent, which plays by chance


def test_every_experiment_notebook_has_its_committed_results():
    for notebook in sorted(NOTEBOOKS.glob("[1-8]0_*.ipynb")):
        home = FULL / notebook.stem
        assert json.loads((home / "mark.json").read_text(encoding="utf-8"))["notebook"] == notebook.stem
        promised = [name for name in runner.promised(notebook) if not name.startswith("timed/")]
        missing = [name for name in promised if not (home / name).is_file()]
        assert not missing, f"{notebook.stem}: {missing}"


@pytest.mark.parametrize("path", TABLES, ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_no_interval_where_players_only_replayed_games(path):
    """Fewer distinct games than games, and nothing in the row that plays by chance: then there is no interval."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    ends = [name for name in table if name.endswith(("_low", "_high"))]
    if not ends or not {"games", "distinct"} <= {*table}:
        return
    for row in table.to_dict("records"):
        replayed = float(row["distinct"]) < float(row["games"])
        by_chance = f"{path.parts[-3]}/{path.stem}" in BREAK_TIES_AT_RANDOM or any(
            CHANCE.search(row[name]) for name in row if name not in ends
        )
        assert not (replayed and not by_chance and any(row[name] for name in ends)), row


@pytest.mark.parametrize("path", TABLES, ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_an_interval_holds_its_value(path):
    table = pd.read_csv(path)
    for name in [name.removesuffix("_low") for name in table if name.endswith("_low") and name[:-4] in table]:
        known = table[[name, f"{name}_low", f"{name}_high"]].apply(pd.to_numeric, errors="coerce").dropna()
        assert (known[f"{name}_low"] <= known[name] + 1e-5 * known[name].abs()).all(), name
        assert (known[name] <= known[f"{name}_high"] + 1e-5 * known[name].abs()).all(), name
