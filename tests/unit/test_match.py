"""Games and matches: who moves, who wins, how it ends, and that chance comes from the seed alone."""

import json

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import gamekit as gk
from gamekit.errors import GamekitError
from gamekit.matches.openings import opening_lines, openings
from gamekit.matches.referee import Referee, Rules, fixtures, two_players

DEEP = "alphabeta(depth=2)"
MADE = ["result", "points", "winner", "termination", "plies", "moves", "moves_id", "generated", "luck", "pair"]


def first_move(position):
    return position.moves()[0]


def made(games):
    """What happened in the games, as plain values."""
    return games[MADE].astype(object).reset_index(drop=True)


def replayed(row):
    """The end of a game that a row tells of."""
    end = gk.replay(row._asdict())
    assert str(end.game) == row.game
    return end


def test_every_game_is_accounted_for():
    games = gk.match("connect_four", "random", DEEP, games=31, seed=1)
    assert len(games) == 31
    assert list(games.pair) == [i // 2 for i in range(31)]
    (table,) = gk.win_rates(games).to_dict("records")
    assert table["games"] == 31 == table["wins"] + table["draws"] + table["losses"]
    assert sum(games.termination.value_counts()) == 31


def test_colours_swap_and_results_are_the_player_s():
    games = gk.match("connect_four", DEEP, "random", games=20, seed=2)
    assert list(games.player_first) == [True, False] * 10
    assert (games.result == "win").sum() >= 18
    for row in games.itertuples():
        assert replayed(row).winner == row.winner
        seat = 1 if row.player_first else 2
        assert row.result == {0: "draw", seat: "win", 3 - seat: "loss"}[row.winner]
        assert row.points == {"win": 1, "draw": 0.5, "loss": 0}[row.result]
        assert row.plies == row.own_moves + row.opponent_moves
    assert games.generated.sum() > 0 == games.opponent_generated.sum()
    assert gk.match("mnk", "random", "random", games=4, swap=False).player_first.all()


def test_the_same_seed_plays_the_same_games():
    one, two, other = (gk.match("conga", "random", DEEP, games=6, seed=s) for s in (5, 5, 6))
    assert_frame_equal(one, two)
    assert list(one.moves) != list(other.moves)


def test_a_game_does_not_depend_on_the_games_before_it():
    game = gk.game("connect_four")
    pair = two_players("random", DEEP, game)

    def records(numbers):
        told = Referee(game, pair, Rules()).games(fixtures(3, game, "", [], numbers), guarded=False)
        return [record._replace(elapsed=0.0) for record in told]

    assert records(range(7, 10)) == records(range(10))[7:]


def test_guarded_games_are_the_same_games():
    board = gk.game("connect_four")
    schedule = fixtures(4, board, "", openings(board, 3, seed=4), range(10))
    told = [
        [r._replace(elapsed=0.0) for r in referee.games(schedule, guarded)]
        for guarded in (False, True)
        for referee in [Referee(board, two_players("random", DEEP, board), Rules(move_seconds=30))]
    ]
    assert told[0] == told[1]


# -------------------------------------------------------------------------------------- openings


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
    games = gk.match(game, "random", "random", games=20, openings=10, seed=7)
    assert all(
        moves[:n] == line for moves, n, line in zip(games.moves, games.opening_plies, games.opening, strict=True)
    )
    starts = list(games.opening)
    assert starts[::2] == starts[1::2]
    assert len(set(starts)) == 10


def test_openings_by_hand_and_too_many():
    games = gk.match("connect_four", "random", "random", games=4, openings=["44", "12"])
    assert [moves[:2] for moves in games.moves] == ["44", "44", "12", "12"]
    assert list(games.opening) == ["44", "44", "12", "12"]
    with pytest.raises(GamekitError, match=r"only \d+ distinct openings"):
        openings(gk.game("mnk(m=2,n=2,k=2)"), 50)
    with pytest.raises(GamekitError, match="the game is over"):
        opening_lines(gk.game("connect_four"), ["1212121"], 0, "test")


def test_openings_depend_on_game_and_seed_alone():
    one = gk.match("connect_four", "random", DEEP, games=8, openings=4, seed=1)
    other = gk.match("connect_four", "leftmost", "alphabeta(depth=1)", games=8, openings=4, seed=1)
    assert list(one.opening) == list(other.opening)


def test_deterministic_players_without_openings_are_found_out():
    (table,) = gk.win_rates(gk.match("connect_four", DEEP, DEEP, games=10)).to_dict("records")
    assert table["distinct"] <= 2  # one game, told once from either side
    assert pd.isna(table["win_rate_low"])
    assert pd.isna(table["win_rate_high"])
    games = gk.match("connect_four", DEEP, DEEP, games=10)
    assert games.moves_id.nunique() == 1
    assert gk.match("connect_four", DEEP, DEEP, games=10, openings=5).moves_id.nunique() == 5
    varied = gk.win_rates(gk.match("connect_four", DEEP, "alphabeta(depth=1)", games=10, openings=5)).iloc[0]
    assert varied["win_rate_low"] < varied["win_rate_high"]


# ------------------------------------------------------------------------------------------ luck


def by_name(name, function=first_move):
    """The same function under a name."""

    def player(position):
        return function(position)

    player.__name__ = name
    return player


def test_two_names_for_one_function_give_the_same_games():
    games = gk.sweep("conga", [by_name("ann"), by_name("bob")], "random", games_each=6, openings=2, seed=5)
    ann, bob = (games[games.player == name] for name in ("ann", "bob"))
    assert len(ann) == 6
    assert_frame_equal(made(ann), made(bob))


def test_the_player_under_test_never_influences_the_luck():
    """All players meet the same random opponent, as far as they play the same moves."""
    players = ["random", "leftmost", DEEP, "search(depth=1,ties=random)", first_move]
    games = gk.sweep("connect_four", players, "random", games_each=8, openings=2, seed=5)
    lucks = [list(part.luck) for _, part in games.groupby("player", observed=True)]
    assert len(lucks) == 5
    assert all(luck == lucks[0] for luck in lucks)
    assert len(set(lucks[0])) == 4  # one for each pair of games
    same = games[games.player.isin(["leftmost", "first_move"])]
    one, other = (list(part.moves) for _, part in same.groupby("player", observed=True))
    assert one == other


def test_the_opponent_the_pair_and_the_opening_have_their_own_luck():
    def luck(opponent="random", **options):
        return list(gk.match("connect_four", "leftmost", opponent, games=4, seed=5, **options).luck)

    assert luck() == luck()
    assert len({*luck(), *luck("search(depth=1,ties=random)"), *luck(openings=["44"])}) == 6


def test_luck_is_the_same_alone_and_in_company():
    alone = gk.sweep("conga", DEEP, "random", games_each=6, seed=5)
    company = gk.sweep(["mnk", "conga"], ["leftmost", DEEP], ["random", "leftmost"], games_each=6, seed=5)
    found = company.query("game == 'conga' and player == @DEEP and opponent == 'random'")
    assert_frame_equal(made(found), made(alone))


def test_more_games_begin_with_the_same_games():
    few, many = (gk.match("conga", DEEP, "random", games=n, openings=["00S"], seed=5) for n in (6, 14))
    assert_frame_equal(made(many[:6]), made(few))


def test_one_player_object_may_sit_on_both_sides():
    one = gk.player("random")
    same, two = (gk.match("connect_four", *pair, games=6, seed=1) for pair in ((one, one), ("random", "random")))
    assert_frame_equal(same, two)


# ----------------------------------------------------------------------------------- how games end


def test_loops_and_caps_have_their_label():
    loops = gk.match("conga", "alphabeta(depth=1)", "alphabeta(depth=1)", games=2)
    assert set(loops.termination) == {"repetition"}
    assert set(loops.result) == {"draw"}
    capped = gk.match("conga", "random", "random", games=4, max_plies=6)
    assert set(capped.termination) == {"cap"}
    assert set(capped.plies) == {6}
    endless = gk.match("conga", "alphabeta(depth=1)", "alphabeta(depth=1)", games=2, repetition=None, max_plies=150)
    assert set(endless.termination) == {"cap"}


def test_a_misfit_is_refused_before_the_first_game():
    with pytest.raises(GamekitError, match="belongs to"):
        gk.match("conga", "alphabeta(depth=2,heuristic=valhalla)", "random")


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize(
    ("move", "label"),
    [
        ("9", "illegal"),
        (None, "illegal"),
        (3, "illegal"),
        (float("nan"), "illegal"),
        (ValueError("x"), "crash"),
        (ValueError("\ud800"), "crash"),
        (SystemExit(0), "crash"),
        (MemoryError(), "memory"),
    ],
    ids=repr,
)
def test_forfeits_with_and_without_a_guard(move, label, guarded):
    def bad(position):
        if isinstance(move, BaseException):
            raise move
        return move

    for pair, winner in (((bad, "random"), 2), (("random", bad), 1)):
        played = gk.play_game("connect_four", *pair, move_seconds=20 if guarded else None)
        assert (played.termination, played.winner) == (label, winner)
        assert played.note
        json.dumps(played.to_dict()).encode()
        played.note.encode()


def test_ctrl_c_is_not_a_forfeit():
    def interrupted(position):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gk.play_game("connect_four", interrupted, "random")


def test_play_says_everything():
    played = gk.play_game("candy(board=AlmondJoy)", "alphabeta(depth=1)", "random", seed=1, moves="A1 B2")
    found = played.to_dict()
    assert set(found) == {"game", "players", "moves", "winner", "termination", "score", "nodes", "final"}
    assert found["moves"][:2] == ["A1", "B2"]
    assert len(found["moves"]) == 36
    assert sum(found["score"]) == 36
    assert found["nodes"][0] > 0
    assert str(gk.game(found["game"]).replay(found["moves"])) == found["final"]
    assert found["final"] in str(played)
    json.dumps(found)


def test_play_from_a_finished_position():
    assert gk.play_game("connect_four", "random", "random", moves="1212121").to_dict()["winner"] == 1


def test_functions_play():
    games = gk.match("mnk", first_move, "leftmost", games=2)
    assert (set(games.player), set(games.opponent)) == ({"first_move"}, {"leftmost"})


def test_hostile_names_are_escaped():
    games = gk.match("mnk", by_name("<script>alert(1)</script>"), "random", games=2)
    assert "<script>" not in games._repr_html_()
    assert "<script>" not in gk.win_rates(games, by="player")._repr_html_()


# ------------------------------------------------------------------------------------------ SPRT


def test_sprt_ends_a_match():
    games = gk.match("connect_four", DEEP, "random", games=500, seed=1, sprt=(0, 100))
    assert len(games) < 200
    assert gk.sprt(games, 0, 100).decision.item() == "elo1"
    assert gk.sprt(games[:-2], 0, 100).decision.item() == ""  # it stopped as soon as it was decided
    assert (
        gk.sprt(gk.match("connect_four", "random", DEEP, games=500, seed=1, sprt=(0, 100)), 0, 100).decision.item()
        == "elo0"
    )


def test_sprt_stops_at_the_same_game_whoever_works(tmp_path):
    options = {"games": 500, "seed": 1, "sprt": (0, 100), "openings": 20}
    one, two = (gk.match("connect_four", DEEP, "random", workers=n, **options) for n in (1, 2))
    assert_frame_equal(one, two)
    stored = gk.match("connect_four", DEEP, "random", out=tmp_path / "m", **options)
    again = gk.match("connect_four", DEEP, "random", out=tmp_path / "m", **options)
    assert_frame_equal(stored, again)
    assert list(stored.moves) == list(one.moves)


def test_sprt_plays_the_games_of_the_match_without_it():
    games = gk.match("connect_four", DEEP, "random", games=500, seed=1, sprt=(0, 100))
    whole = gk.match("connect_four", DEEP, "random", games=500, seed=1)
    assert_frame_equal(made(games), made(whole[: len(games)]))


def test_sprt_does_not_decide_on_repeated_games():
    games = gk.match("connect_four", DEEP, "leftmost", games=400, sprt=(0, 50))
    assert len(games) == 400
    assert games.moves_id.nunique() == 2
    assert gk.sprt(games, 0, 50).decision.item() == ""


def test_sprt_withholds_the_intervals_of_a_match_that_stopped_early():
    games = gk.match("connect_four", DEEP, "random", games=500, seed=1, sprt=(0, 100))
    (table,) = gk.win_rates(games).to_dict("records")
    assert pd.isna(table["win_rate_low"])


def test_sprt_undecided_plays_every_game():
    games = gk.match("connect_four", "random", "random", games=20, sprt=(-5, 5), seed=1)
    assert len(games) == 20
    assert gk.sprt(games, -5, 5).decision.item() == ""


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
        {"max_plies": 0},
        {"max_plies": 2.5},
        {"move_seconds": 0},
        {"move_seconds": float("inf")},
        {"repetition": 1},
        {"repetition": "x"},
        {"megabytes": 3},
        {"swap": "x"},
        {"openings": -1},
        {"openings": 1.5},
        {"openings": [3]},
        {"openings": ["99"]},
        *(
            {"sprt": s}
            for s in [(3, 1), (0,), (), "x", 5, (0, "x"), (0, float("nan")), (0, 5, 2), {"elo2": 3}, (1,) * 9]
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("sprt", [False, True])
def test_bad_arguments_are_named(bad, sprt):
    name = next(iter(bad))
    with pytest.raises(GamekitError) as caught:
        gk.match("connect_four", "random", "random", **({"sprt": (0, 10)} if sprt else {}) | bad)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "bad",
    [{"seed": "x"}, {"seed": -1}, {"move_seconds": 0}, {"max_plies": 0}, {"repetition": 1}, {"moves": "9"}],
    ids=str,
)
def test_bad_arguments_of_one_game_are_named(bad):
    ((name, value),) = bad.items()
    with pytest.raises(GamekitError) as caught:
        gk.play_game("connect_four", "random", "random", **bad)
    assert (name if name != "moves" else value) in str(caught.value)
