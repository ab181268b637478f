"""Conga loops: every one ends, with its label."""

import pytest

import gamekit as gk


def check_loops(games):
    players = ["alphabeta(depth=2,heuristic=moves)", "alphabeta(depth=1)"]
    found = gk.sweep("conga", players, "random", games_each=games // 2, seed=1)
    assert len(found) == games
    assert set(found.termination) <= {"win", "repetition", "cap"}
    assert found.plies.max() <= 500
    loops = found[found.termination != "win"]
    assert (loops.winner == 0).all()
    assert (loops.points == 0.5).all()
    assert len(loops) > 0


def test_some_conga_games_all_end():
    check_loops(400)


@pytest.mark.long
def test_ten_thousand_conga_games_all_end():
    check_loops(10_000)


@pytest.mark.parametrize("repetition", [2, 3, 7])
def test_a_loop_ends_when_a_position_has_been_seen_so_often(repetition):
    (found,) = gk.match("conga", "alphabeta(depth=1)", "alphabeta(depth=1)", 1, repetition=repetition).itertuples()
    assert found.termination == "repetition"
    position, seen = gk.game("conga").start(), []  # the first position is not counted: no player made it
    for move in found.moves.split():
        position = position.play(move)
        seen.append(position.key)
    assert seen.count(seen[-1]) == repetition
    assert max(seen[:-1].count(key) for key in set(seen)) < repetition


def test_without_a_repetition_rule_a_loop_ends_at_the_cap():
    found = gk.match("conga", "alphabeta(depth=1)", "alphabeta(depth=1)", 2, repetition=None)
    assert set(found.termination) == {"cap"}
    assert set(found.plies) == {500}


def test_a_game_with_a_bound_of_its_own_knows_no_repetition():
    found = gk.match("connect_four", "random", "random", 50, repetition=2)
    assert set(found.termination) <= {"win", "draw"}
