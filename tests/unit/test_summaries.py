"""Summaries of synthetic frames: what is counted, which rows are samples, and which questions are refused."""

import itertools
import math
import time

import numpy as np
import pandas as pd
import pytest

from gamekit.analysis.summaries import both_sides, elo, mean, paired, rate, ratings, sprt, win_rates
from gamekit.errors import GamekitError
from gamekit.statistics import SPRT, llr, mean_interval, strength, wilson

WIN_RATE_COLUMNS = (
    "games distinct wins draws losses forfeits unfinished win_rate win_rate_low win_rate_high points points_low "
    "points_high turns turns_low turns_high nodes opponent_nodes timed"
).split()


def sweep(meetings, games=20, *, swap=True, deterministic=False, seed=0, score=None, **columns):
    """A frame as `gk.sweep` makes it: the luck depends on game, opponent and pair, never on the player."""
    rows = []
    for (player, opponent), number in itertools.product(meetings, range(games)):
        pair, first = (number // 2, number % 2 == 0) if swap else (number, True)
        chance = np.random.default_rng([seed, pair, int(first), *map(ord, player)])
        points = score(player, opponent, pair, first) if score else int(chance.integers(3)) / 2
        depth = next((int(c) for c in player if c.isdigit()), None)
        rival = next((int(c) for c in opponent if c.isdigit()), None)
        winner = 0 if points == 0.5 else 1 if (points == 1) == first else 2
        rows.append(
            {
                "game": "conga",
                "player": player,
                "opponent": opponent,
                "pair": pair,
                "player_first": first,
                "plies": 30 + pair % 7,
                "turns": 15 + pair % 4,
                "result": {1: "win", 0.5: "draw", 0: "loss"}[points],
                "points": float(points),
                "winner": winner,
                "termination": "win" if winner else "draw",
                "own_moves": 10,
                "opponent_moves": 10,
                "generated": 100 * (depth or 1),
                "opponent_generated": 50,
                "score": 3,
                "opponent_score": 2,
                "deterministic": deterministic,
                "timed": False,
                "luck": hash((seed, opponent, pair)) % 2**60,
                "moves_id": hash((frozenset((player, opponent)), pair, first == (player < opponent))) % 2**60,
                "depth": depth,
                "opponent_depth": rival,
                "heuristic": player[0],
                "opponent_heuristic": opponent[0],
            }
        )
    kinds = dict.fromkeys(
        ["game", "player", "opponent", "result", "termination", "heuristic", "opponent_heuristic"], "category"
    )
    kinds |= dict.fromkeys(["depth", "opponent_depth", "turns", "generated"], "Int64") | {"points": "Float64"}
    kinds |= {"deterministic": "boolean", "timed": "boolean", "player_first": "boolean"}
    return pd.DataFrame(rows).astype(kinds).assign(**columns)


def searches(players=("a", "b"), positions=30, sampled=True, **columns):
    """A frame as `gk.searches` makes it, with twice the nodes for each next player."""
    rows = [
        {"game": "conga", "player": player, "position": f"p{i}", "ply": 4, "sampled": sampled,
         "generated": (50 + i) * 2**k, "kept": (i + k) % 3 > 0, "deterministic": True}
        for k, player in enumerate(players)
        for i in range(positions)
    ]  # fmt: skip
    return pd.DataFrame(rows).astype({"generated": "Int64", "kept": "boolean", "player": "category"}).assign(**columns)


def only(frame):
    assert len(frame) == 1
    return frame.iloc[0]


def withheld(row, *names):
    return all(math.isnan(row[f"{name}_{end}"]) for name in names for end in ("low", "high"))


# ----------------------------------------------------------------------------- win rates, rates, means


def test_win_rates_count_and_average():
    frame = sweep([("m1", "random")], 40)
    frame["termination"] = pd.Series(["timeout", "cap", "repetition", *["win"] * 37])
    row = only(table := win_rates(frame))
    assert list(table) == WIN_RATE_COLUMNS
    assert (row.games, row.distinct, row.forfeits, row.unfinished) == (40, 40, 1, 2)
    assert row.wins + row.draws + row.losses == 40
    assert row.win_rate == row.wins / 40
    assert (row.win_rate_low, row.win_rate_high) == pytest.approx(wilson(row.wins, 40))
    assert row.points == pytest.approx((row.wins + row.draws / 2) / 40)
    assert mean_interval(frame.points) == pytest.approx((row.points, row.points_low, row.points_high))
    assert mean_interval(frame.turns) == pytest.approx((row.turns, row.turns_low, row.turns_high))
    assert (row.nodes, row.opponent_nodes, row.timed) == (10, 5, False)


def test_groups_with_missing_values_are_kept():
    frame = sweep([("m1", "x"), ("m2", "x"), ("random", "x")])
    table = win_rates(frame, "depth")
    assert table.depth.tolist() == [1, 2, pd.NA]
    assert table.depth.dtype == "Int64"
    assert table.games.tolist() == [20, 20, 20]
    assert mean(frame, "generated", ["heuristic", "depth"]).n.tolist() == [20, 20, 20]
    assert len(win_rates(frame[frame.player == "m1"], ["player", "opponent"])) == 1  # no unused categories


def test_groups_keep_the_order_of_the_frame():
    assert win_rates(sweep([("z", "x"), ("a", "x"), ("k", "x")]), "player").player.tolist() == ["z", "a", "k"]


def test_a_perfect_score_has_an_interval():
    row = only(win_rates(sweep([("m1", "random")], score=lambda *_: 1)))
    assert (row.points, row.points_low, row.points_high) == pytest.approx((1, *wilson(20, 20)))
    assert (row.win_rate, row.win_rate_low) == pytest.approx((1, wilson(20, 20)[0]))


def test_points_stay_between_zero_and_one():
    row = only(win_rates(sweep([("m1", "random")], 4, score=lambda *a: 0.5 if a[2:] == (0, True) else 1)))
    assert 0 < row.points_low < row.points < row.points_high == 1


def test_rates_and_means_of_positions():
    frame = searches()
    table = rate(frame, "kept", "player")
    assert list(table) == ["player", "n", "count", "kept", "kept_low", "kept_high"]
    assert table.n.tolist() == [30, 30]
    assert tuple(table.loc[0, ["kept_low", "kept_high"]]) == pytest.approx(wilson(table["count"][0], 30))
    row = only(mean(frame[frame.player == "a"], "generated"))
    assert (row.n, row.generated, row.generated_low, row.generated_high) == pytest.approx(
        (30, *mean_interval(50 + np.arange(30)))
    )


def test_missing_values_are_left_out():
    frame = searches(("a",))
    frame.loc[:9, ["generated", "kept"]] = pd.NA
    assert only(mean(frame, "generated")).n == 20
    assert only(rate(frame, "kept")).n == 20
    frame["generated"] = pd.NA
    row = only(mean(frame, "generated"))
    assert row.n == 0
    assert math.isnan(row.generated)


# ----------------------------------------------------------------------------- the interval rule


def test_replayed_deterministic_games_have_no_interval():
    frame = sweep([("m1", "leftmost")], deterministic=True)
    assert not withheld(only(win_rates(frame)), "win_rate", "points", "turns")  # every game differs
    frame["moves_id"] = frame.player_first.astype(int)
    row = only(win_rates(frame))
    assert row.distinct == 2
    assert withheld(row, "win_rate", "points", "turns")
    assert withheld(only(mean(frame, "plies")), "plies")
    assert withheld(only(rate(frame.assign(won=frame.result == "win"), "won")), "won")
    assert withheld(only(found := elo(frame)), "elo", "nelo")
    assert math.isnan(found.los[0])
    frame["deterministic"] = False  # chance may lead to the same game twice
    assert not withheld(only(win_rates(frame)), "win_rate", "points", "turns")


def test_a_single_replay_withholds_the_interval():
    frame = sweep([("m1", "leftmost")], deterministic=True)
    frame.loc[19, "moves_id"] = frame.loc[0, "moves_id"]
    row = only(win_rates(frame))
    assert (row.games, row.distinct) == (20, 19)
    assert withheld(row, "win_rate", "points", "turns")


@pytest.mark.parametrize("opponent", ["m1", "w1"])
def test_one_function_under_two_names_replays_its_games_when_seats_are_swapped(opponent):
    """Game, player, opponent and moves make a game: who is said to move first does not."""
    frame = sweep([("m1", opponent)], deterministic=True, score=lambda *a: float(a[3]))
    frame["moves_id"] = frame.pair
    row = only(win_rates(frame))
    assert (row.games, row.distinct) == (20, 10)
    assert withheld(row, "win_rate", "points", "turns")
    assert withheld(only(elo(frame)), "elo", "nelo")
    assert win_rates(frame, "player_first").win_rate_low.notna().all()  # no group has both games of a pair
    if opponent == "w1":
        table = ratings(frame)  # counts each game of a replay once, so seats stay balanced
        assert table.elo.tolist() == pytest.approx([0, 0])
        assert (table.elo_low < 0).all()


def test_the_same_moves_of_other_players_are_no_replay():
    frames = [sweep([(player, "leftmost")], deterministic=True) for player in ("m1", "w1")]
    frame = pd.concat(frames).assign(moves_id=[*range(20), *range(20)])
    assert not withheld(only(win_rates(frame)), "win_rate", "points", "turns")


def test_moves_of_one_game_are_one_sample():
    game = sweep([("m1", "leftmost")], 20, opening=range(20)).drop(columns=["moves_id"])
    moves = pd.concat([game.assign(ply=ply, generated=10 * ply + game.pair) for ply in range(1, 6)])
    row = only(mean(moves, "generated"))
    assert row.n == 100
    assert (row.generated, row.generated_low, row.generated_high) == pytest.approx(mean_interval(30 + game.pair))
    assert not withheld(only(mean(moves.assign(deterministic=True), "generated")), "generated")
    assert withheld(only(mean(moves.assign(deterministic=True, opening=""), "generated")), "generated")


def test_one_replayed_group_leaves_the_others_alone():
    fixed, free = sweep([("m1", "x")], deterministic=True, moves_id=1), sweep([("m2", "x")])
    table = win_rates(pd.concat([fixed, free]), "player")
    assert table.win_rate_low.isna().tolist() == [True, False]


def test_the_same_luck_counts_once():
    """Five players who meet the same luck are not five times as many samples."""
    same = lambda player, opponent, pair, first: (pair * 7 + first) % 3 / 2  # noqa: E731
    one = only(win_rates(sweep([("m1", "random")], 40, score=same)))
    five = only(win_rates(sweep([(f"m{i}", "random") for i in range(5)], 40, score=same)))
    assert five.games == 200
    names = [f"{name}_{end}" for name in ("win_rate", "points", "turns") for end in ("low", "high")]
    assert five[names].tolist() == pytest.approx(one[names].tolist())


def test_pooled_rows_are_averaged_before_the_interval():
    frame = pd.concat([sweep([(f"m{i}", "random")], 40, seed=0) for i in range(3)])
    averages = frame.groupby(["luck", "player_first"]).points.mean()
    row = only(win_rates(frame))
    assert (row.points, row.points_low, row.points_high) == pytest.approx(mean_interval(averages))
    unequal = only(win_rates(frame.iloc[:-15]))
    assert unequal.points == pytest.approx(frame.points.iloc[:-15].mean())
    assert unequal.points_low < unequal.points < unequal.points_high


def test_the_same_position_counts_once():
    frame = searches(("a", "b", "c"), kept=True)
    assert only(rate(frame, "kept")).kept_low == pytest.approx(wilson(30, 30)[0])


def test_listed_positions_are_no_sample():
    frame = searches(sampled=False)
    assert withheld(only(rate(frame, "kept")), "kept")
    assert withheld(only(mean(frame, "generated")), "generated")
    assert withheld(row := only(paired(frame, "player", "a", "generated")), "difference")
    assert math.isnan(row.p_value)
    both = pd.concat([frame, searches()])
    assert mean(both, "generated", "sampled").generated_low.isna().tolist() == [True, False]
    assert withheld(only(mean(both, "generated")), "generated")


def test_a_match_stopped_early_has_no_interval():
    frame = sweep([("m1", "m2")], sequential=True)
    assert withheld(only(win_rates(frame)), "win_rate", "points", "turns")
    assert withheld(only(elo(frame)), "elo", "nelo")
    assert withheld(ratings(frame).iloc[0], "elo")


# ----------------------------------------------------------------------------- both sides


ROUND_ROBIN = [("m1", "m2"), ("m1", "s3"), ("m2", "s3")]


def test_both_sides_mirror_every_game():
    frame = sweep(ROUND_ROBIN, opening="44", generated=7, directions="rows")
    both = both_sides(frame)
    assert list(both) == list(frame)
    assert both.dtypes.astype(str).to_dict() == frame.dtypes.astype(str).to_dict()
    there, back = both.iloc[: len(frame)], both.iloc[len(frame) :].reset_index(drop=True)
    assert there.astype(object).equals(frame.astype(object))
    for one, other in (("player", "opponent"), ("depth", "opponent_depth"), ("heuristic", "opponent_heuristic"),
                       ("own_moves", "opponent_moves"), ("generated", "opponent_generated"),
                       ("score", "opponent_score")):  # fmt: skip
        assert back[one].tolist() == frame[other].tolist()
        assert back[other].tolist() == frame[one].tolist()
    assert (back.points == 1 - frame.points).all()
    assert (back.player_first != frame.player_first).all()
    for same in ("winner", "luck", "moves_id", "opening", "directions", "turns"):
        assert back[same].tolist() == frame[same].tolist()
    assert (back.result == "win").sum() == (frame.result == "loss").sum()


def test_both_sides_only_once():
    with pytest.raises(GamekitError, match="already"):
        both_sides(both_sides(sweep(ROUND_ROBIN)))


def test_both_sides_do_not_give_a_players_parameter_to_the_opponent():
    frame = sweep([("m1", "random")]).drop(columns=["opponent_depth"])
    with pytest.raises(GamekitError, match="depth may describe one side only"):
        both_sides(frame)
    assert len(both_sides(frame.drop(columns="depth"))) == 40


@pytest.mark.parametrize("by", ["player", "heuristic", ["game", "depth"]])
def test_one_side_of_a_round_robin_is_refused(by):
    frame = sweep(ROUND_ROBIN)
    for summary in (win_rates, elo, lambda f, by: mean(f, "turns", by)):
        with pytest.raises(GamekitError, match=r"gk\.both_sides"):
            summary(frame, by)
    assert len(win_rates(both_sides(frame), by)) == len(both_sides(frame)[by].drop_duplicates())


def test_both_sides_give_every_player_all_games():
    table = win_rates(both_sides(sweep(ROUND_ROBIN)), "player").set_index("player")
    assert table.games.to_dict() == {"m1": 40, "m2": 40, "s3": 40}
    assert table.points.sum() == pytest.approx(1.5)


@pytest.mark.parametrize("meetings", [
    [("m1", "random"), ("m2", "random")],
    [(a, b) for a in ("m1", "m2") for b in ("m2", "random")],  # an opponent who is a player as well
    [(a, b) for a in ("m1", "m2") for b in ("m1", "m2")],
    [("m1", "m1"), ("m2", "m2")],
    [("m1", "m2")],
])  # fmt: skip
def test_other_meetings_are_not_refused(meetings):
    assert set(win_rates(sweep(meetings), "player").player) == {player for player, _ in meetings}


def test_a_round_robin_may_be_grouped_by_game_or_by_meeting():
    frame = sweep(ROUND_ROBIN)
    assert only(win_rates(frame, "game")).games == 60
    assert len(win_rates(frame, ["player", "opponent"])) == 3
    assert len(win_rates(frame, ["depth", "opponent_depth"])) == 3


# ----------------------------------------------------------------------------- ratings


def stronger(player, opponent, pair, first):
    """The higher number wins, except in every fifth pair."""
    better = player[-1] > opponent[-1]
    return float(better != (pair % 5 == 0))


def test_ratings_of_a_round_robin():
    frame = sweep(ROUND_ROBIN, 40, score=stronger)
    table = ratings(frame)
    assert list(table) == ["game", "player", "elo", "elo_low", "elo_high", "games", "prior"]
    assert table.player.tolist() == ["s3", "m2", "m1"]
    assert table.games.tolist() == [80, 80, 80]
    assert table.elo.sum() == pytest.approx(0, abs=1e-6)
    assert (table.elo_low < table.elo).all()
    assert ratings(frame, None).elo.tolist() == table.elo.tolist()


def test_mirrored_games_count_once():
    frame = sweep(ROUND_ROBIN, 40, score=stronger)
    pd.testing.assert_frame_equal(ratings(both_sides(frame)), ratings(frame))


def test_replayed_games_count_once_in_ratings():
    once = sweep([("m1", "m2")], 2, deterministic=True, score=lambda *a: float(a[3]))
    often = pd.concat([once.assign(pair=i, luck=i) for i in range(50)])
    assert ratings(often).games.tolist() == [2, 2]
    pd.testing.assert_frame_equal(ratings(often), ratings(once))


def test_ratings_of_a_parameter():
    frame = sweep(ROUND_ROBIN, 40, score=stronger)
    by_heuristic = ratings(frame, of="heuristic")
    assert by_heuristic.heuristic.tolist() == ["s", "m"]
    assert by_heuristic.games.tolist() == [80, 80]  # m against m says nothing
    with_missing = ratings(sweep([("m1", "m2"), ("m1", "r"), ("m2", "r")], score=stronger), of="depth")
    assert len(with_missing) == 3
    assert with_missing.depth.isna().sum() == 1
    with pytest.raises(GamekitError, match="'opponent_ties' is missing"):
        ratings(frame.assign(ties="first"), of="ties")


# ----------------------------------------------------------------------------- paired


def test_paired_with_itself_is_zero():
    same = lambda player, opponent, pair, first: (pair * 7 + first) % 3 / 2  # noqa: E731
    frame = sweep([("a1", "random"), ("b1", "random")], 40, score=same)
    table = paired(frame, "heuristic", "a")
    row = only(table)
    assert list(table) == ["heuristic", "baseline", "pairs", "difference", "difference_low", "difference_high",
                           "better", "worse", "p_value"]  # fmt: skip
    assert (row.heuristic, row.baseline, row.pairs) == ("b", "a", 20)
    assert (row.difference, row.better, row.worse, row.p_value) == (0, 0, 0, 1)


def test_paired_averages_the_two_games_of_an_opening():
    frame = sweep([("a1", "random"), ("b1", "random")], 60)
    a, b = (frame[frame.heuristic == h].groupby("pair").points.mean().astype(float) for h in "ab")
    row = only(paired(frame, "heuristic", "a"))
    assert row.pairs == 30
    assert (row.difference, row.difference_low, row.difference_high) == pytest.approx(mean_interval(b - a))
    assert (row.better, row.worse) == ((b > a).sum(), (b < a).sum())


def test_paired_ignores_the_order_of_rows_and_what_has_no_partner():
    frame = sweep([("a1", "random"), ("b1", "random")], 60)
    shuffled = frame.sample(frac=1, random_state=1)
    columns = ["pairs", "difference", "difference_low", "p_value"]
    assert only(paired(shuffled, "heuristic", "a"))[columns].tolist() == pytest.approx(
        only(paired(frame, "heuristic", "a"))[columns].tolist()
    )
    assert only(paired(frame[(frame.pair > 9) | (frame.heuristic == "a")], "heuristic", "a")).pairs == 20


def test_paired_by_groups():
    frame = sweep([(f"{h}{d}", "random") for h in "abc" for d in (1, 2)], 20)
    table = paired(frame, "heuristic", "b", by="depth")
    assert table[["depth", "heuristic"]].values.tolist() == [[1, "a"], [1, "c"], [2, "a"], [2, "c"]]
    assert (table.pairs == 10).all()
    assert paired(frame, "heuristic", "b").pairs.tolist() == [10, 10]  # both depths of one luck: one observation
    alone = paired(frame[(frame.heuristic != "b") | (frame.depth == 1)], "heuristic", "b", by="depth")
    assert alone.pairs.tolist() == [10, 10, 0, 0]
    assert alone.difference.isna().tolist() == [False, False, True, True]


def test_paired_keeps_players_without_the_parameter():
    frame = sweep([("a1", "random"), ("random", "random")], 20)
    row = only(paired(frame, "depth", 1))
    assert pd.isna(row.depth)
    assert row.pairs == 10


def test_paired_refuses_to_compare_one_player_with_two():
    frame = sweep([("a1", "random"), ("a2", "random"), ("b1", "random")])
    with pytest.raises(GamekitError, match="differ in rows per game"):
        paired(frame, "heuristic", "b")


def test_paired_counts_luck_shared_by_opponents_once():
    frame = sweep([(p, o) for p in ("a1", "b1") for o in ("x", "y")], 20)
    assert only(paired(frame, "heuristic", "a")).pairs == 20
    frame["luck"] = frame.pair
    assert only(paired(frame, "heuristic", "a")).pairs == 10


def test_replays_have_no_paired_interval():
    frame = sweep([("a1", "x"), ("b1", "x")], deterministic=True)
    frame.loc[frame.heuristic == "b", "moves_id"] = 1
    row = only(paired(frame, "heuristic", "a"))
    assert withheld(row, "difference")
    assert math.isnan(row.p_value)
    assert not math.isnan(row.difference)


def test_paired_ratio_of_nodes():
    frame = searches(("a", "b", "c"))
    table = paired(frame, "player", "a", "generated", ratio=True)
    assert table.ratio.tolist() == pytest.approx([2, 4])
    assert table.better.tolist() == [30, 30]
    frame.loc[frame.player == "b", "generated"] += pd.array(range(30), "Int64")
    row = paired(frame, "player", "a", "generated", ratio=True).iloc[0]
    assert 2 < row.ratio_low < row.ratio < row.ratio_high < 4
    frame.loc[3, "generated"] = 0
    with pytest.raises(GamekitError, match="positive"):
        paired(frame, "player", "a", "generated", ratio=True)


# ----------------------------------------------------------------------------- Elo and SPRT


def test_elo_counts_pairs():
    frame = sweep([("m1", "m2")], 61)
    row = only(elo(frame))
    scores = frame[frame.pair < 30].groupby("pair").points.sum().astype(float)
    counts = [int((scores == x / 2).sum()) for x in range(5)]
    assert (row.model, row.games, row.left_out) == ("pentanomial", 60, 1)
    assert row[["pairs_0", "pairs_half", "pairs_1", "pairs_1half", "pairs_2"]].tolist() == counts
    for name, value in strength(counts)._asdict().items():
        assert row[name] == pytest.approx(value)


def test_elo_without_swapped_colours_counts_games():
    row = only(elo(sweep([("m1", "m2")], 30, swap=False)))
    assert (row.model, row.games, row.left_out, row.pairs_1) == ("trinomial", 30, 0, 0)
    assert row.elo == pytest.approx(strength([row.losses, row.draws, row.wins]).elo)


def test_elo_of_pooled_players_counts_luck_once():
    same = lambda player, opponent, pair, first: (pair * 7 + first) % 3 / 2  # noqa: E731
    one, three = (only(elo(sweep(m, 40, score=same))) for m in ([("m1", "r")], [(f"m{i}", "r") for i in range(3)]))
    assert three.games == 120
    assert (three.elo_low, three.los) == pytest.approx((one.elo_low, one.los))


def test_sprt_of_a_frame():
    frame = sweep([("m1", "m2")], 400, score=lambda *a: 1.0 if a[2] % 3 else 0.5)
    row = only(sprt(frame, 0, 20))
    assert list(row.index) == ["outcomes", "pairs", "llr", "lower", "upper", "decision"]
    assert (row.outcomes, row.decision) == (5, "elo1")
    assert row.pairs < 200
    assert row.llr >= row.upper == SPRT(0, 20).bounds[1]
    shuffled = frame.sample(frac=1, random_state=3)
    assert only(sprt(shuffled, 0, 20)).to_dict() == row.to_dict()  # the order of the rows does not matter
    start = frame[frame.pair < row.pairs - 1]
    assert only(sprt(start, 0, 20)).decision == ""
    assert only(sprt(start, 0, 20)).pairs == row.pairs - 1


def test_sprt_of_single_games():
    frame = sweep([("m1", "m2")], 20, swap=False)
    row = only(sprt(frame, 0, 5, model="logistic"))
    counts = [(frame.result == word).sum() for word in ("loss", "draw", "win")]
    assert (row.outcomes, row.pairs) == (3, 20)
    assert row.llr == pytest.approx(float(llr(counts, 0, 5, "logistic")))


def test_sprt_counts_distinct_games_only():
    frame = sweep([("m1", "m2")], 400, deterministic=True, score=lambda *_: 1.0)
    frame["moves_id"] = frame.pair % 3 * 2 + frame.player_first
    row = only(sprt(frame, 0, 20))
    assert (row.pairs, row.decision) == (3, "")
    assert only(sprt(frame.assign(deterministic=False), 0, 20)).decision == "elo1"


def test_sprt_needs_one_meeting_and_hypotheses():
    with pytest.raises(GamekitError, match="3 meetings"):
        sprt(sweep(ROUND_ROBIN), 0, 5)
    with pytest.raises(GamekitError, match="elo0 below elo1"):
        sprt(sweep([("m1", "m2")]), 5, 0)


def test_a_hundred_thousand_pairs_are_quick():
    pairs = np.repeat(np.arange(100_000), 2)
    frame = pd.DataFrame({"game": "conga", "player": "a", "opponent": "b", "pair": pairs, "luck": pairs,
                          "player_first": np.arange(200_000) % 2 == 0, "moves_id": np.arange(200_000),
                          "deterministic": False, "points": np.random.default_rng(1).integers(3, size=200_000) / 2,
                          })  # fmt: skip
    start = time.perf_counter()
    assert only(sprt(frame, -0.01, 0.01)).decision == ""
    assert time.perf_counter() - start < 5


# ----------------------------------------------------------------------------- errors


@pytest.mark.parametrize(("call", "message"), [
    (lambda f: win_rates(f, "heuristics"), "'heuristics' is missing; did you mean 'heuristic'"),
    (lambda f: win_rates(f.drop(columns="result")), "'result' is missing; the frame has game, "),
    (lambda f: mean(f, "elapsed"), "'elapsed' is missing"),
    (lambda f: mean(f, "result"), "'result' does not hold numbers"),
    (lambda f: rate(f, "turns"), "'turns' is not yes/no; use gk.mean"),
    (lambda f: paired(f, "heuristic", "z"), "baseline='z' is not in column 'heuristic'; allowed: m$"),
    (lambda f: paired(f, "weights", "z"), "'weights' is missing"),
    (lambda f: win_rates(f[:0]), "no rows"),
    (lambda f: mean(f.drop(columns=["luck"]), "turns"), "'position' is missing"),
    (lambda f: elo(f.drop(columns=["pair"])), "'pair' is missing"),
])  # fmt: skip
def test_errors_are_one_sentence(call, message):
    with pytest.raises(GamekitError, match=message) as found:
        call(sweep([("m1", "random")]))
    assert "\n" not in str(found.value)


def test_the_frame_is_not_changed():
    frame = sweep(ROUND_ROBIN)
    before = frame.copy()
    for call in (win_rates, ratings, elo, both_sides):
        call(frame)
    paired(frame, "player", "m1")
    pd.testing.assert_frame_equal(frame, before)


def test_equal_games_from_both_sides_of_an_opening_are_no_replay():
    """Two players that choose alike: with openings each game of a pair is one game, without they only replay one."""
    opened = pd.DataFrame(
        {
            "game": "conga",
            "player": "a",
            "opponent": "b",
            "opening": [f"line {i // 2}" for i in range(20)],
            "pair": [i // 2 for i in range(20)],
            "player_first": [i % 2 == 0 for i in range(20)],
            "luck": [i // 2 for i in range(20)],
            "moves_id": [i // 2 for i in range(20)],
            "deterministic": True,
            "result": ["win", "loss"] * 10,
            "points": [1.0, 0.0] * 10,
        }
    )
    assert mean(opened, "points").points_low.notna().all()
    assert mean(opened.assign(opening=""), "points").points_low.isna().all()
    assert mean(pd.concat([opened, opened]), "points").points_low.isna().all()
