"""Conga loops: every one ends, with its label."""

import pytest
from gamekit.experiments.old_sweep import sweep


def check_loops(games):
    found = sweep(
        "conga", ["alphabeta(depth=2,heuristic=moves)", "alphabeta(depth=1)"], "random", games_each=games // 2, seed=1
    ).frame()
    assert len(found) == games
    assert set(found.termination) <= {"win", "repetition", "cap"}
    assert found.plies.max() <= 500
    loops = found[found.termination != "win"]
    assert (loops.winner == 0).all()
    assert len(loops) > 0


def test_some_conga_games_all_end():
    check_loops(400)


@pytest.mark.long
def test_ten_thousand_conga_games_all_end():
    check_loops(10_000)
