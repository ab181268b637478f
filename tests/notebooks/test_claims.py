"""Claims and printed numbers as data: complete, judged, and read with care."""

from __future__ import annotations

import pandas as pd
import pytest
from gamekit.reports import conga, connect_four, judges, mnk, printed

from gamekit.errors import GamekitError
from gamekit.notebook import claims, data


def test_every_claim_is_complete_and_judged():
    found = claims.claims()
    assert len(found) >= 25
    assert {one["report"] for one in found} >= {"000", "001", "002", "003", "004"}
    assert len({one["id"] for one in found}) == len(found)
    assert set(claims.JUDGES) == {one["id"] for one in found}


def test_the_tables_a_claim_reads_are_promised():
    from gamekit.notebook.runner import promised
    from gamekit.notebook.suite import NOTEBOOKS

    for one in claims.claims():
        for table in one["tables"]:
            notebook, name = table.split("/")
            assert f"tables/{name}.csv" in promised(NOTEBOOKS / f"{notebook}.ipynb"), one["id"]


def test_a_missing_table_is_named_with_the_notebook_that_makes_it(tmp_path):
    with pytest.raises(GamekitError, match=r"10_conga/same_function is missing.*10_conga makes it"):
        claims.verdicts(tmp_path)


def test_a_missing_data_file_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(data, "DATA", tmp_path)
    data.data_file.cache_clear()
    try:
        with pytest.raises(GamekitError, match=r"data/reports\.yaml is missing"):
            printed("000", "heuristics")
    finally:
        data.data_file.cache_clear()


def test_verdicts_follow_the_interval():
    table = pd.DataFrame(
        [
            {"heuristic": "squares", "rate": 20, "low": 10, "high": 30},
            {"heuristic": "moves", "rate": 50, "low": 40, "high": 60},
        ]
    )
    assert judges.conga_squares_worst(table)[0] == "reproduced"
    assert judges.conga_squares_worst(table.assign(high=[45, 60]))[0] == "undecided"
    assert judges.conga_squares_worst(table.assign(low=[70, 40], high=[80, 60]))[0] == "refuted"
    order = pd.DataFrame([{"depth": 6, "order": "report: x", "of_listed": 120, "low": 105, "high": 140}])
    assert judges.c4_order(order)[0] == "refuted"
    assert judges.c4_order(order.assign(low=90))[0] == "undecided"
    assert judges.c4_order(order.assign(low=60, high=90))[0] == "reproduced"


def test_printed_numbers_are_reproduced_where_they_are_facts():
    assert (connect_four.example().ours == connect_four.example().printed).all()
    assert mnk.examples().query("open_end == 0.25").fits.eq("yes").all()
    assert mnk.examples().query("open_end == 0.5").fits.eq("no").all()
    assert mnk.dead_lines().eval("streak_alive == printed").all()
    assert connect_four.printed_games().agree.eq("yes").all()
    assert conga.perft(5).sequences.tolist() == [3, 8, 96, 1112, 13536]
    assert conga.sample_game()[-1].winner == 1
