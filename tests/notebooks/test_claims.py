"""Claims and printed numbers as data: complete, judged once by a notebook, and read with care."""

from __future__ import annotations

import ast
import json
from collections import Counter

import pandas as pd
import pytest

import gamekit as gk
from gamekit.errors import GamekitError
from gamekit.notebook import claims, data, printed
from gamekit.notebook.data import NOTEBOOKS
from gamekit.notebook.runner import code_cells


def judged(notebook):
    """The claims that a notebook's cells give a verdict on, by the ids they name."""
    known = claims.statements()
    cells = [ast.parse(source) for source in code_cells(notebook) if "report.claim(" in source]
    named = [{node.value for node in ast.walk(cell) if isinstance(node, ast.Constant)} for cell in cells]
    return [one for names in named for one in names if one in known]


def test_every_claim_is_complete_and_gets_one_verdict():
    found = claims.statements()
    assert len(found) >= 50
    assert {one["report"] for one in found.values()} == {"000", "001", "002", "003", "004", "all five"}
    verdicts = Counter(id for path in NOTEBOOKS.glob("[0-9]*_*.ipynb") for id in judged(path))
    assert set(verdicts) == set(found)
    assert max(verdicts.values()) == 1, verdicts.most_common(3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tset": "x."}, "unknown field 'tset'"),
        ({"test": None}, "test has to be a text"),
        ({"claim": ""}, "claim has to be a text"),
    ],
)
def test_a_claim_that_is_not_whole_is_refused(monkeypatch, change, said):
    good = {"id": "a", "report": "000", "section": "1", "claim": "c.", "test": "t."}
    monkeypatch.setattr(claims, "data_file", lambda name: [good | change])
    claims.statements.cache_clear()
    try:
        with pytest.raises(GamekitError, match=said):
            claims.statements()
    finally:
        claims.statements.cache_clear()


def test_verdicts_are_collected_and_what_no_notebook_judged_is_undecided(tmp_path):
    verdict = {"verdict": "refuted", "because": "it is so", "evidence": ["tables/a", "figures/a"]}
    for name in ("10_conga", ".10_conga.123.draft"):  # the draft of a running notebook does not count
        (tmp_path / name).mkdir()
        (tmp_path / name / "claims.json").write_text(json.dumps({"conga_rates": verdict}))
    found = claims.collect(tmp_path).set_index("id")
    assert found.loc["conga_rates", ["verdict", "notebook", "evidence"]].tolist() == [
        "refuted",
        "10_conga",
        "tables/a, figures/a",
    ]
    assert set(found.verdict.drop("conga_rates")) == {"undecided"}
    (tmp_path / "20_candy").mkdir()
    (tmp_path / "20_candy" / "claims.json").write_text(json.dumps({"conga_rates": verdict}))
    with pytest.raises(GamekitError, match="judged by 10_conga and 20_candy"):
        claims.collect(tmp_path)


def test_printed_numbers_are_frames_mappings_and_facts():
    table = printed("000", "heuristics")
    assert isinstance(table, pd.DataFrame)
    assert table.win_rate.between(0, 1).all()
    sample = printed("000", "sample")
    assert gk.game("conga").replay(sample.moves).winner == 1
    with pytest.raises(GamekitError, match="did you mean 'heuristics'"):
        printed("000", "heuristcs")
    with pytest.raises(AttributeError, match="did you mean 'moves'"):
        _ = sample.move


def test_a_missing_data_file_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(data, "DATA", tmp_path)
    data.data_file.cache_clear()
    try:
        with pytest.raises(GamekitError, match=r"data/reports\.yaml is missing"):
            printed("000", "heuristics")
    finally:
        data.data_file.cache_clear()
