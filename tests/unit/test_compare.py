"""One call that says which heuristic is better, by how much, and whether that is sure."""

import json

import pytest

import gamekit as gk
from gamekit.analysis.compare import Comparison, compare
from gamekit.errors import GamekitError


@pytest.fixture(scope="module")
def result():
    @gk.heuristic("connect_four")
    def blind(board, me, params):
        return 0.0

    @gk.heuristic("connect_four")
    def middle(board, me, params):
        score = 0.0
        for row in range(board.shape[0]):
            for column in range(2, 5):
                score += 1.0 if board[row, column] == me else -1.0 if board[row, column] == 3 - me else 0.0
        return score

    try:
        yield compare(
            "connect_four",
            [blind, "middle"],
            depths=[2],
            nodes=[60],
            opponents=["random"],
            games=40,
            seed=1,
            workers=1,
            exact=5,
        )
    finally:
        for name in ("blind", "middle"):
            gk.HEURISTICS.pop(("connect_four", name))


def test_the_better_one_is_found_at_equal_depth_and_equal_nodes(result):
    assert list(result.standings.condition.unique()) == ["depth 2", "60 nodes per move"]
    for _, group in result.standings.groupby("condition"):
        assert group.heuristic.iloc[0] == "middle"
        assert (group.elo_high > group.elo).all()
    duel = result.duels[result.duels.condition == "depth 2"].iloc[0]
    assert duel.better == "middle"
    assert duel.p_value < 0.05
    assert duel.games == 40 == duel.wins + duel.draws + duel.losses
    assert duel.openings == 20
    assert result.standings.exact.between(0, 1).all()


def test_equal_budgets_are_kept(result):
    spent = result.standings[result.standings.condition == "60 nodes per move"].nodes_per_move
    assert spent.max() <= 60


def test_it_says_so_in_words(result):
    assert "surely better than blind" in result.answers()[0]
    assert "virtual wins" in str(result)
    assert "<table" in result._repr_html_()
    json.dumps(result.to_dict())


def test_repeated_games_give_no_false_certainty():
    found = compare(
        "mnk",
        ["potential_streak", "potential_streak(opponent=1)"],
        depths=[1],
        nodes=[],
        opponents=[],
        games=200,
        openings=5,
        workers=1,
    )
    assert len(found.duels) == 1
    assert found.duels.openings[0] == 5  # repeating a game adds no observation
    assert found.duels.points_low.isna().all()


def test_replays_of_one_opening_give_no_false_certainty():
    found = compare("connect_four", ["windows", "middle"], [1], [], 100, nodes=[], openings=0, workers=1)
    assert found.duels.openings.tolist() == [1]
    assert found.duels.better.tolist() == [""]


def test_two_names_for_one_function_share_the_lead():
    found = compare("conga", ["weighted", "squares", "moves"], [1], games=20, nodes=[], workers=1)
    (answer,) = found.answers()
    assert "moves and weighted share the lead" in answer
    assert answer.count("moves") == answer.count("weighted") == 1
    assert set(found.duels.better) == {""}
    assert found.duels.p_value.tolist()[1] == 1


def test_words_of_a_tie_and_of_a_sure_lead(result):
    tied, beaten = result.standings[:2].assign(elo=20.2), result.duels[:1]
    open_ = Comparison("g", tied, beaten.assign(better=""), result.games)
    assert open_.answers()[0].startswith("depth 2: middle and blind share the lead with +20")
    assert "better" not in open_.answers()[0]
    sure = Comparison("g", tied, beaten, result.games)
    assert sure.answers()[0].startswith("depth 2: middle leads")
    assert "surely better than blind" in sure.answers()[0]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"heuristics": []}, "heuristics"),
        ({"heuristics": ["nonsense"]}, "nonsense"),
        ({"heuristics": ["moves", "moves"]}, "twice"),
        ({"depths": [0]}, "depths"),
        ({"depths": [], "nodes": []}, "depths or nodes"),
        ({"depths": ["x"]}, "depths"),
        ({"nodes": [-1]}, "nodes"),
        ({"games": 1}, "games"),
        ({"opponents": ["nobody"]}, "nobody"),
        ({"heuristics": ["moves"], "opponents": []}, "opponents"),
        ({"game": "chess"}, "chess"),
        ({"heuristics": ["valhalla"]}, "belongs to"),
    ],
)
def test_bad_questions(change, named):
    with pytest.raises(GamekitError) as caught:
        compare(**{"game": "conga", "heuristics": ["moves", "squares"], **change})
    assert named in str(caught.value)
