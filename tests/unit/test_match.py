"""Games and matches: who moves, who wins, how it ends, and that chance comes from the seed alone."""

import json

import pytest
from gamekit.matches.match import match, opening_lines, play_game

import gamekit as gk
from gamekit.errors import GamekitError
from gamekit.matches.openings import openings
from gamekit.matches.referee import Referee, fixtures, root_seed, two_players

DEEP = "alphabeta(depth=2)"


def first_move(position):
    return position.moves()[0]


def test_every_game_is_accounted_for():
    result = match("connect_four", "random", DEEP, games=31, seed=1)
    assert result.games == 31 == sum(result.wins) + result.draws == sum(result.terminations.values())
    assert [r.number for r in result.records] == list(range(31))
    assert set(result.to_dict()) >= {"games", "wins", "draws", "distinct", "terminations", "interval", "turns", "nodes"}
    json.dumps(result.to_dict())


def test_colours_swap_and_wins_are_by_name():
    result = match("connect_four", DEEP, "random", games=20, seed=2)
    assert [r.first for r in result.records] == [1, 2] * 10
    assert result.wins[0] >= 18
    for record in result.records:
        end = gk.game("connect_four").replay(record.moves)
        assert {0: 0, record.first: 1, 3 - record.first: 2}[record.winner] == end.winner
    assert result.nodes[0] > 0 == result.nodes[1]
    assert {r.first for r in match("mnk", "random", "random", games=4, swap=False).records} == {1}


def test_the_same_seed_plays_the_same_games():
    one, two, other = (match("conga", "random", DEEP, games=6, seed=s).records for s in (5, 5, 6))
    assert one == two != other


def test_a_game_does_not_depend_on_the_games_before_it():
    game = gk.game("connect_four")
    pair = two_players("random", DEEP, game)
    root = root_seed(3, game, *pair)
    all_at_once = list(Referee(game, pair).games(fixtures(root, [], range(10)), guarded=False))
    assert list(Referee(game, pair).games(fixtures(root, [], range(7, 10)), guarded=False)) == all_at_once[7:]


def test_guarded_games_are_the_same_games():
    plain = match("connect_four", "random", DEEP, games=10, seed=4, openings=3)
    guarded = match("connect_four", "random", DEEP, games=10, seed=4, openings=3, limit=30)
    assert plain.records == guarded.records


def test_openings_are_distinct_and_played_by_both_sides():
    game = gk.game("connect_four")
    lines = openings(game, 40, seed=7)
    keys = set()
    for line in lines:
        position = game.start()
        for code in line:
            position = position.after(code)
        assert position.winner is None
        keys.add(position.canonical())
    assert len(keys) == 40
    assert lines == openings(game, 40, seed=7) != openings(game, 40, seed=8)
    result = match(game, "random", "random", games=20, openings=10, seed=7)
    starts = [r.moves[: r.opening] for r in result.records]
    assert starts[::2] == starts[1::2]
    assert len(set(starts)) == 10


def test_openings_by_hand_and_too_many():
    result = match("connect_four", "random", "random", games=4, openings=["44", "12"])
    assert [r.moves[:2] for r in result.records] == ["44", "44", "12", "12"]
    with pytest.raises(GamekitError, match=r"only \d+ distinct openings"):
        openings(gk.game("mnk(m=2,n=2,k=2)"), 50)
    with pytest.raises(GamekitError, match="the game is over"):
        opening_lines(gk.game("connect_four"), ["1212121"], 0, 2)


def test_deterministic_players_without_openings_are_found_out():
    result = match("connect_four", DEEP, DEEP, games=10)
    assert result.distinct == 1
    assert result.interval is None
    assert result.to_dict()["interval"] is None
    for text in (str(result), result._repr_html_()):
        assert "distinct games = 1" in text
        assert "95 %" not in text
    assert match("connect_four", DEEP, DEEP, games=10, openings=5).distinct == 5  # swapping the same player: a replay
    varied = match("connect_four", DEEP, "alphabeta(depth=1)", games=10, openings=5)
    assert varied.interval is not None
    assert varied.warning is None


def test_one_player_object_may_sit_on_both_sides():
    one = gk.player("random")
    assert (
        match("connect_four", one, one, games=6, seed=1).records
        == match("connect_four", "random", "random", games=6, seed=1).records
    )


def test_loops_and_caps_have_their_label():
    found = match("conga", "alphabeta(depth=1)", "alphabeta(depth=1)", games=2)
    assert set(found.terminations) == {"repetition"}
    assert found.draws == 2
    capped = match("conga", "random", "random", games=4, cap=6)
    assert capped.terminations == {"cap": 4}
    assert {r.plies for r in capped.records} == {6}


def test_a_misfit_is_refused_before_the_first_game():
    with pytest.raises(GamekitError, match="belongs to"):
        match("conga", "alphabeta(depth=2,heuristic=valhalla)", "random")


@pytest.mark.parametrize(
    ("move", "label"),
    [
        ("9", "illegal"),
        (None, "illegal"),
        (3, "illegal"),
        (float("nan"), "illegal"),
        (ValueError("x"), "crash"),
        (SystemExit(0), "crash"),
        (MemoryError(), "memory"),
    ],
)
def test_forfeits_without_a_guard(move, label):
    def bad(position):
        if isinstance(move, BaseException):
            raise move
        return move

    result = match("connect_four", bad, "random", games=4)
    assert result.terminations == {label: 4}
    assert result.wins == (0, 4)


def test_ctrl_c_is_not_a_forfeit():
    def interrupted(position):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        match("connect_four", interrupted, "random", games=2)


def test_play_says_everything():
    played = play_game("candy(board=AlmondJoy)", "alphabeta(depth=1)", "random", seed=1, moves="A1 B2")
    found = played.to_dict()
    assert set(found) == {"game", "players", "moves", "winner", "termination", "score", "nodes", "final"}
    assert found["moves"][:2] == ["A1", "B2"]
    assert len(found["moves"]) == 36
    assert sum(found["score"]) == 36
    assert found["nodes"][0] > 0
    assert str(gk.game(found["game"]).replay(found["moves"])) == found["final"]
    assert found["final"] in str(played)


def test_play_from_a_finished_position():
    assert play_game("connect_four", "random", "random", moves="1212121").to_dict()["winner"] == 1


def test_functions_play():
    result = match("mnk", first_move, "leftmost", games=2)
    assert result.players == ("first_move", "leftmost")


def test_hostile_names_are_escaped():
    def evil(position):
        return position.moves()[0]

    evil.__name__ = "<script>alert(1)</script>"
    assert "<script>" not in match("mnk", evil, "random", games=2)._repr_html_()


def test_sprt_ends_a_match():
    result = match("connect_four", DEEP, "random", games=500, seed=1, sprt=(0, 100))
    assert result.games < 200
    assert result.sprt.decision == "elo1"
    assert result.to_dict()["sprt"]["decision"] == "elo1"
    assert "elo1 accepted" in str(result)


@pytest.mark.parametrize(
    "bad",
    [
        {"games": 0},
        {"games": -1},
        {"games": 1.5},
        {"games": "10"},
        {"games": True},
        {"games": float("nan")},
        {"seed": -1},
        {"seed": "x"},
        {"cap": 0},
        {"cap": 2.5},
        {"limit": 0},
        {"limit": float("inf")},
        {"openings": -1},
        {"openings": 1.5},
        {"openings": [3]},
        {"openings": ["99"]},
        {"sprt": (3, 1)},
    ],
)
def test_bad_arguments_are_named(bad):
    name = next(iter(bad))
    with pytest.raises(GamekitError) as caught:
        match("connect_four", "random", "random", **bad)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
