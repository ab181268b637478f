"""Accuracy against exact values: a perfect player loses nothing, and samples are what they say."""

from __future__ import annotations

import pytest
from gamekit.experiments.old_accuracy import measure, sample, truths

import gamekit as gk

BOARD = "mnk(m=3,n=4,k=3)"


def test_a_perfect_player_keeps_every_value_and_random_does_not():
    players = ["perfect", "random", "alphabeta(depth=2)"]
    table = gk.accuracy(BOARD, players, positions=30, plies=(2, 3, 4)).set_index("player")
    assert table.loc["perfect", "kept"] == table.loc["perfect", "exact"] == 1.0
    assert table.loc["perfect", "mean_loss"] == 0
    assert table.loc["random", "kept"] < table.loc["alphabeta(depth=2)", "kept"]
    assert (table.kept_low <= table.kept).all()
    assert (table.kept <= table.kept_high).all()


def test_samples_are_seeded_and_no_two_are_mirror_images():
    first, again, other = (sample(BOARD, 20, (3, 4), seed) for seed in (1, 1, 2))
    assert [p.key for p in first] == [p.key for p in again] != [p.key for p in other]
    assert len({p.canonical() for p in first}) == len(first) == 20


def test_every_truth_offers_a_choice():
    for truth in truths("connect_four", 5, (24,), seed=3):
        assert len(set(truth.values.values())) > 1
        assert set(truth.values) == set(truth.position.moves())


def test_compare_takes_the_measure_as_columns():
    result = gk.compare(
        BOARD, ["windows", "positional"], depths=[1], opponents=["random"], games=4, seed=1, measure=measure(10, (3, 4))
    )
    assert {"kept", "exact", "mean_loss"} <= set(result.standings.columns)


def test_no_positions_is_said():
    with pytest.raises(gk.GamekitError, match="at least one position"):
        sample(BOARD, 0, (3,))
