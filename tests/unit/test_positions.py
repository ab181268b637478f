"""Measurements on positions: searches, exact judgements, values; and the positions themselves."""

from __future__ import annotations

import pandas as pd
import pytest

import gamekit as gk
from gamekit.errors import GamekitError

BOARD = "mnk(m=3,n=4,k=3)"
SEARCHES = (
    "game player number position ply move value decided reached generated expanded leaves cutoffs "
    "first_move_cutoffs table_probes table_hits table_cutoffs by_ply expected stopped_by sampled deterministic timed"
).split()
ROOT_MOVES = (
    "game player number position ply move value decided best first_best reached stopped_by sampled deterministic timed"
).split()
ACCURACY = (
    "game player number position ply move exact_before exact_after kept exact loss best_moves legal_moves generated "
    "solved sampled deterministic timed"
).split()
VALUES = "game heuristic number position ply side value sampled".split()


# -------------------------------------------------------------------------------------- positions


def test_positions_are_seeded_and_no_two_are_mirror_images():
    first, again, other = (gk.positions(BOARD, 20, (3, 4), seed) for seed in (1, 1, 2))
    assert [p.key for p in first] == [p.key for p in again] != [p.key for p in other]
    assert len({p.canonical() for p in first}) == len(first) == 20
    assert {p.ply for p in first} == {3, 4}
    assert all(p.winner is None and len(p.moves()) > 1 for p in first)
    assert [p.key for p in gk.positions(BOARD, 30, (3, 4), 1)][:20] == [p.key for p in first]  # more of the same


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0,), "positions=0 is not allowed"),
        ((5, (4, 3)), r"plies=\(4, 3\) is not allowed"),
        ((5, "4-6"), "plies='4-6' is not allowed"),
        ((5, (1, 2, 3)), r"plies=\(1, 2, 3\) is not allowed"),
        ((1000, (0, 1)), "only .* distinct positions of mnk.* were found; 1000 were asked for"),
    ],
)
def test_positions_that_cannot_be_drawn(arguments, said):
    with pytest.raises(GamekitError, match=said):
        gk.positions(BOARD, *arguments)


def test_every_form_of_positions():
    game = gk.game("connect_four")
    played = game.replay("4435")
    for given in (["4435"], [played], "4435", played, pd.DataFrame({"position": ["4435"]})):
        frame = gk.values(game, "windows", given)
        assert frame.position.tolist() == ["4435"]
        assert frame.ply.tolist() == [4]
        assert not frame.sampled.any()
    start = gk.values(game, "windows", "start")
    assert start.ply.tolist() == [0]
    assert gk.replay(start.iloc[0]) == game.start()
    assert gk.values(game, "windows", 3, seed=1).sampled.all()
    board = game.position(str(played))  # a board without a line of moves
    assert gk.replay(gk.values(game, "windows", board).iloc[0]) == board
    for wrong, said in (
        ([], "positions is empty"), (None, "positions=None"), (0, "positions=0"), (2.5, "positions=2.5"),
        ("9", "9"), ([5], "given 5"), (pd.DataFrame({"moves": ["4"]}), "a column 'position'"),
    ):  # fmt: skip
        with pytest.raises(GamekitError, match=said):
            gk.values(game, "windows", wrong)


def test_the_other_columns_of_a_frame_of_positions_are_kept():
    game = gk.game("connect_four").replay("4435261")
    turns = pd.DataFrame(
        {"position": game.history[:-1], "played": game.moves[: len(game.history) - 1], "turn": range(1, 8), "odd": None}
        if isinstance(getattr(game, "moves", None), list)
        else {"position": game.history[:-1], "played": game.line, "turn": range(1, 8), "odd": None}
    )
    frame = gk.searches("connect_four", gk.grid("alphabeta", depth=[1, 2]), turns, moves=True, workers=1)
    again = frame.drop_duplicates(["player", "position"])
    assert again.played.tolist() == [*turns.played] * 2
    assert again.turn.tolist() == [*range(1, 8)] * 2
    assert frame.odd.isna().all()
    assert (frame.groupby("turn").size() == 2 * 7).all()
    with pytest.raises(GamekitError, match="a column of the positions is called 'value' like another column"):
        gk.searches("connect_four", "random", turns.assign(value=1))
    with pytest.raises(GamekitError, match="a column of the positions is called 'depth' like another column"):
        gk.searches("connect_four", "alphabeta(depth=1)", turns.assign(depth=1))


def test_labels_may_change_without_measuring_again(tmp_path):
    turns = pd.DataFrame({"position": ["4", "44"], "label": ["a", "b"]})
    gk.values("connect_four", "windows", turns, out=tmp_path / "v")
    parts = sorted((tmp_path / "v" / "parts").iterdir())
    before = [f.stat().st_mtime_ns for f in parts]
    frame = gk.values("connect_four", "windows", turns.assign(label=["c", "d"]), out=tmp_path / "v")
    assert frame.label.tolist() == gk.load(tmp_path / "v").label.tolist() == ["c", "d"]
    assert before == [f.stat().st_mtime_ns for f in parts]


def test_a_line_of_moves_is_replayed_in_every_game():
    boards = gk.grid("mnk", m=[3, 4], n=4, k=3)
    frame = gk.searches(boards, "alphabeta(depth=1)", gk.game("mnk").replay("1,1 0,0"), workers=1)
    assert frame.game.tolist() == [str(gk.game(board)) for board in boards]
    assert frame.m.tolist() == [3, 4]
    assert frame.generated.tolist() == [10, 14]


# --------------------------------------------------------------------------------------- searches


def test_searches_have_the_contract_s_columns():
    frame = gk.searches(BOARD, ["alphabeta(depth={1,2})", "random"], 6, plies=(2, 3), workers=1)
    assert list(frame.columns[: len(SEARCHES)]) == SEARCHES
    assert len(frame) == 18
    searched = frame[frame.player != "random"]
    assert (searched.generated == searched.by_ply.map(sum)).all()
    assert searched.decided.isin([-1, 0, 1]).all()
    assert searched.expected[searched.reached > 1].ne("").all()
    assert "elapsed" not in frame
    assert gk.searches(BOARD, "alphabeta(depth=1)", 2, plies=(2, 3), timing=True, workers=1).elapsed.gt(0).all()
    for row in searched.head(5).itertuples():
        choice = gk.player(str(row.player)).choose(gk.replay(row))
        assert (row.move, row.value, row.generated) == (choice.move, choice.value, choice.counters["generated"])


def test_won_and_lost_positions_are_told_without_large_numbers():
    frame = gk.searches("mnk", "alphabeta(depth=9)", ["", "0,0 1,0 0,1 1,1", "0,0 1,0 0,1 1,1 2,2"], workers=1)
    assert frame.decided.tolist() == [0, 1, 1]


def test_one_row_per_root_move():
    whole = gk.searches("mnk", "alphabeta(depth=2)", ["", "1,1"], workers=1)
    frame = gk.searches("mnk", "alphabeta(depth=2)", ["", "1,1"], moves=True, workers=1)
    assert list(frame.columns[: len(ROOT_MOVES)]) == ROOT_MOVES
    assert frame.groupby("number").size().tolist() == [9, 8]
    assert frame[frame.first_best].move.tolist() == whole.move.tolist()
    for _, rows in frame.groupby("number"):
        assert (rows.best == rows.value.eq(rows.value.max())).all()
        assert rows.first_best.sum() == 1


def test_beyond_a_depth_that_ran_out_of_nodes_the_rest_is_skipped():
    players = gk.grid(["minimax", "alphabeta"], depth=[5, 1, 3, 4, 2], nodes=300)
    frame = gk.searches(BOARD, players, "start", workers=1).sort_values(["player"])
    for _, rows in frame.groupby(frame.player.str.split("(").str[0]):
        rows = rows.sort_values("depth")
        stopped = rows.stopped_by.tolist()
        at = stopped.index("nodes")
        assert stopped[at + 1 :] == ["skipped"] * (len(stopped) - at - 1)
        assert 0 < at < len(stopped) - 1
        assert rows.generated[rows.stopped_by == "skipped"].isna().all()
    free = gk.searches(BOARD, gk.grid("alphabeta", depth=[1, 3]), "start", workers=1)
    assert "skipped" not in set(free.stopped_by)


def test_a_failure_is_a_row():
    def sulks(position):
        raise ValueError("not today")

    frame = gk.searches("mnk", [sulks, "leftmost"], 3, plies=(0, 3), workers=1)
    assert frame[frame.player == "sulks"].error.tolist() == ["ValueError: not today"] * 3
    assert frame[frame.player == "leftmost"].error.isna().all()
    assert frame[frame.player == "leftmost"].move.notna().all()
    judged = gk.accuracy("mnk", [sulks, "leftmost"], 3, plies=(0, 3), workers=1)
    assert judged[judged.player == "sulks"].error.eq("ValueError: not today").all()
    assert judged[judged.player == "leftmost"].exact.notna().all()


def test_a_move_that_is_not_legal_is_a_row():
    def astray(position):
        return "9,9"

    for measure in (gk.searches, gk.accuracy):
        frame = measure("mnk", astray, 2, plies=(0, 3), workers=1)
        assert frame.error.notna().all()
        assert frame.move.isna().all()


def test_luck_on_positions_depends_on_the_position_alone():
    one = gk.searches("mnk", ["random", "leftmost"], ["", "0,0", "1,1"], seed=3, workers=1)
    two = gk.searches("mnk", ["uct(playouts=20)", "random"], ["1,1", "0,0"], seed=3, workers=1)
    moves = [
        dict(zip(f.position, f.move.astype(str), strict=True))
        for f in (one[one.player == "random"], two[two.player == "random"])
    ]
    assert moves[1].items() < moves[0].items()
    other = gk.searches("mnk", "random", 30, plies=(0, 4), seed=4, workers=1).move.tolist()
    assert other != gk.searches("mnk", "random", 30, plies=(0, 4), seed=5, workers=1).move.tolist()


# --------------------------------------------------------------------------------------- accuracy


def test_a_perfect_player_keeps_every_value_and_random_does_not():
    frame = gk.accuracy(BOARD, ["perfect", "random", "alphabeta(depth=2)"], 30, plies=(2, 4), workers=1)
    assert list(frame.columns[: len(ACCURACY)]) == ACCURACY
    assert len(frame) == 90
    assert frame.solved.all()
    assert (frame.loss == frame.exact_before - frame.exact_after).all()
    assert (frame.exact == frame.loss.eq(0)).all()
    assert frame.kept.ge(frame.exact).all()
    assert frame.best_moves.between(1, frame.legal_moves).all()
    table = gk.rate(frame, "kept", by="player").set_index("player")
    exact = gk.rate(frame, "exact", by="player").set_index("player")
    assert table.loc["perfect", "kept"] == exact.loc["perfect", "exact"] == 1.0
    assert table.loc["random", "kept"] < table.loc["alphabeta(depth=2)", "kept"]
    assert (table.kept_low <= table.kept).all()
    assert (table.kept <= table.kept_high).all()


def test_exact_values_are_those_of_the_solver():
    frame = gk.accuracy(BOARD, "random", 5, plies=(3, 5), seed=2, workers=1)
    for row in frame.itertuples():
        position = gk.replay(row)
        exact = gk.Solver(position.game).moves(position)
        assert row.exact_before == max(exact.values())
        assert row.exact_after == exact[row.move]
        assert row.best_moves == sum(value == row.exact_before for value in exact.values())


def test_what_is_not_solved_in_time_says_so():
    frame = gk.accuracy("connect_four", "leftmost", "start", solve_seconds=0.001, workers=1)
    assert not frame.solved.any()
    assert frame[["exact_before", "exact_after", "exact", "kept", "loss"]].isna().all(axis=None)
    assert frame.move.tolist() == ["1"]
    with pytest.raises(GamekitError, match="solve_seconds=0"):
        gk.accuracy("mnk", "leftmost", solve_seconds=0)


# ----------------------------------------------------------------------------------------- values


def test_values_of_every_heuristic():
    frame = gk.values("connect_four", positions=4, seed=1, workers=1)
    assert list(frame.columns[: len(VALUES)]) == VALUES
    assert frame.heuristic.nunique() > 2
    assert frame.groupby("heuristic", observed=True).size().eq(4).all()
    for row in frame.itertuples():
        position = gk.replay(row)
        assert row.side == position.turn
        assert row.value == gk.heuristic_of(str(row.heuristic), position.game).value(position, row.side)


def test_sides_and_weights():
    heuristics = gk.grid("windows", count=[5, 30])
    frame = gk.values("connect_k", heuristics, 3, sides="both", workers=1)
    assert len(frame) == 3 * 2 * 2
    assert sorted(set(frame.heuristic_count)) == [5, 30]
    assert set(frame.side) == {1, 2}
    assert gk.values("connect_k", heuristics, 3, sides=2, workers=1).side.eq(2).all()
    with pytest.raises(GamekitError, match="sides='white' is not allowed; sides is 'mover', 'both', 1 or 2"):
        gk.values("connect_k", sides="white")


def test_a_heuristic_that_fails_is_a_row():
    @gk.heuristic("mnk")
    def lost(board, me, params):
        return board[99, 99] * 1.0

    frame = gk.values("mnk", ["lost", "lines"] if ("mnk", "lines") in gk.HEURISTICS else ["lost"], 2, plies=(0, 3))
    assert frame[frame.heuristic == "lost"].error.notna().all()


# ------------------------------------------------------------------------------------ all of them


@pytest.mark.parametrize(
    ("measure", "what"),
    [(gk.searches, "alphabeta(depth={1,2})"), (gk.accuracy, "alphabeta(depth={1,2})"), (gk.values, "all")],
)
def test_how_it_is_run_does_not_show(measure, what, tmp_path):
    one = measure(BOARD, what, 12, plies=(2, 4), seed=1, workers=1)
    two = measure(BOARD, what, 12, plies=(2, 4), seed=1, workers=2, out=tmp_path / "m")
    pd.testing.assert_frame_equal(one, two)


@pytest.mark.parametrize("measure", [gk.searches, gk.accuracy, gk.values])
def test_more_positions_extend_a_folder(measure, tmp_path):
    what = "all" if measure is gk.values else "alphabeta(depth=1)"
    measure(BOARD, what, 6, plies=(2, 4), out=tmp_path / "m", workers=1)
    parts = {f.name for f in (tmp_path / "m" / "parts").iterdir()}
    more = measure(BOARD, what, 9, plies=(2, 4), out=tmp_path / "m", workers=1)
    assert parts < {f.name for f in (tmp_path / "m" / "parts").iterdir()}
    pd.testing.assert_frame_equal(more, measure(BOARD, what, 9, plies=(2, 4), workers=1))
    with pytest.raises(GamekitError, match="seed there 0, here 1"):
        measure(BOARD, what, 9, plies=(2, 4), seed=1, out=tmp_path / "m")
    with pytest.raises(GamekitError, match="positions there 9, here 4"):
        measure(BOARD, what, 4, plies=(2, 4), out=tmp_path / "m")
