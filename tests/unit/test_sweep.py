"""A sweep: one row per game, a frame and a folder; how it was run does not show."""

from __future__ import annotations

import math
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import gamekit as gk
from gamekit.analysis.overview import finish, read_file, repair, run_file
from gamekit.errors import GamekitError
from gamekit.experiments.folder import Folder, verify

GRID = {
    "games": ["connect_four"],
    "players": ["alphabeta(depth={1,2})", "random"],
    "opponents": ["leftmost", "random"],
    "games_each": 12,
    "openings": 4,
    "seed": 5,
}
COLUMNS = {  # the contract: names, order and dtypes of the measured columns
    "game": "category", "player": "category", "opponent": "category", "number": "int64", "pair": "int64",
    "player_first": "bool", "opening": "category", "opening_plies": "int64", "plies": "int64", "turns": "int64",
    "result": "category", "points": "float64", "winner": "int64", "termination": "category", "own_moves": "int64",
    "opponent_moves": "int64", "generated": "int64", "opponent_generated": "int64", "score": "float64",
    "opponent_score": "float64", "deterministic": "bool", "timed": "bool", "luck": "int64", "moves_id": "int64",
    "moves": "str", "note": "str",
}  # fmt: skip
MOVE_COLUMNS = {
    "game": "category", "player": "category", "opponent": "category", "pair": "int64", "player_first": "bool",
    "opening": "category", "luck": "int64", "moves_id": "int64", "termination": "category", "winner": "int64",
    "ply": "int64", "mover": "category", "move": "category", "value": "float64", "reached": "int64",
    "generated": "int64",
    "stopped_by": "category", "expected": "category", "deterministic": "bool", "timed": "bool",
}  # fmt: skip


class Refusing(Executor):
    """Nothing is measured through this one."""

    def submit(self, *_arguments, **_named):
        raise AssertionError("something was measured")


class Inside(Executor):
    """Works at once in this process; a group of work that `fails` picks raises instead."""

    def __init__(self, fails=lambda number: False):
        self.fails, self.count, self.kept = fails, 0, []

    def submit(self, work, /, *arguments, **named):
        future: Future = Future()
        self.count += 1
        if self.fails(self.count):
            future.set_exception(OSError("the network is down"))
        else:
            future.set_result(work(*arguments, **named))
        return future


def contents(folder):
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def derived(folder):
    return {name: data for name, data in contents(folder).items() if not name.startswith("parts")}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep") / "one"
    gk.sweep(**GRID, out=folder, workers=1)
    return folder


# ---------------------------------------------------------------------------------------- the frame


def test_columns_and_dtypes_are_those_of_the_contract(done):
    frame = gk.load(done)
    measured = frame.iloc[:, : len(COLUMNS)]
    assert {name: str(kind) for name, kind in measured.dtypes.items()} == COLUMNS
    assert list(measured.columns) == list(COLUMNS)
    looser = gk.sweep("mnk", "leftmost", "random", 2, workers=1)
    for name in COLUMNS:
        assert looser[name].dtype.name == frame[name].dtype.name, name


def test_rows_are_consistent(done):
    frame = gk.load(done)
    assert len(frame) == 72
    assert frame.groupby(["player", "opponent"], observed=True).size().eq(12).all()
    assert (frame.own_moves + frame.opponent_moves == frame.plies - frame.opening_plies).all()
    assert (frame.turns == -(-frame.plies // 2)).all()
    assert (frame.pair == frame.number // 2).all()
    assert (frame.player_first == (frame.number % 2 == 0)).all()
    seat = np.where(frame.player_first, 1, 2)
    result = np.select([frame.winner == 0, frame.winner == seat], ["draw", "win"], "loss")
    assert (frame.result == result).all()
    assert (frame.points == frame.result.astype(str).map({"win": 1.0, "draw": 0.5, "loss": 0.0})).all()
    assert (frame[frame.player == "random"].generated == 0).all()
    assert (frame[frame.player != "random"].generated > 0).all()
    assert frame.groupby("moves_id").moves.nunique().eq(1).all()
    assert frame.moves_id.nunique() == frame.moves.nunique()
    assert frame[["luck", "moves_id"]].ge(0).all(axis=None)
    assert set(frame.opening) == set(frame.opening.cat.categories)
    assert frame.opening.nunique() == 4


def test_parameters_become_columns_with_nullable_dtypes():
    heuristics = gk.grid("windows", count=[5, 15])
    players = [*gk.grid("search", depth=[1, 2], heuristic=heuristics, table=[True, False]), "random"]
    frame = gk.sweep("connect_k(k=4)", players, "alphabeta(depth=1)", games_each=2, workers=1)
    kinds = {"depth": "Int64", "table": "boolean", "heuristic": "category", "heuristic_count": "Float64",
             "seconds": "Float64", "nodes": "Int64", "columns": "Int64", "gravity": "boolean",
             "opponent_depth": "Int64", "opponent_heuristic": "category",
             "opponent_heuristic_count": "Float64"}  # fmt: skip
    assert {name: str(frame[name].dtype) for name in kinds} == kinds
    random = frame.player == "random"
    assert frame[random].depth.isna().all()
    assert set(frame[~random].depth) == {1, 2}
    assert set(frame[~random].heuristic_count) == {5, 15}
    assert frame.opponent_depth.eq(1).all()
    assert frame.k.eq(4).all()  # the game's own, and those it did not name
    assert frame.groupby(["depth", "heuristic_count", "table"], dropna=False).size().tolist() == [2] * 9
    assert "playouts" not in frame  # no player in the plan has it


def test_scores_of_games_that_count():
    frame = gk.sweep("candy", "alphabeta(depth=2)", "random", games_each=2, workers=1, seed=1)
    assert (frame.result == np.sign(frame.score - frame.opponent_score).map({1: "win", 0: "draw", -1: "loss"})).all()
    assert gk.replay(frame.iloc[1]).winner == frame.winner[1]


def test_one_row_per_move():
    frame = gk.sweep("connect_four", "alphabeta(depth=3)", "random", 4, rows="moves", seed=2, workers=1)
    games = gk.sweep("connect_four", "alphabeta(depth=3)", "random", 4, seed=2, workers=1)
    assert {name: str(frame[name].dtype) for name in MOVE_COLUMNS} == MOVE_COLUMNS
    assert list(frame.columns[: len(MOVE_COLUMNS)]) == list(MOVE_COLUMNS)
    played = frame.groupby(["pair", "player_first"], sort=False)
    assert played.move.agg("".join).tolist() == games.moves.tolist()
    assert played.moves_id.first().tolist() == games.moves_id.tolist()
    assert played.generated.sum().tolist() == (games.generated + games.opponent_generated).tolist()
    mine = frame[frame.mover == "player"]
    assert mine.reached.between(1, 3).all()
    assert mine.expected.ne("").mean() > 0.5  # nothing is expected after a winning move
    assert frame.depth.eq(3).all()
    with pytest.raises(GamekitError, match=r"rows='turns' is not allowed; rows is 'games' or 'moves'"):
        gk.sweep("mnk", "random", "random", rows="turns")


def test_seconds_only_where_asked_for():
    assert "elapsed" not in gk.sweep("mnk", "random", "leftmost", 2, workers=1)
    assert gk.sweep("mnk", "random", "leftmost", 2, timing=True, workers=1).elapsed.gt(0).all()
    moves = gk.sweep("mnk", "random", "leftmost", 2, rows="moves", timing=True, workers=1)
    assert moves.elapsed.ge(0).all()


def test_replay_gives_the_end_of_a_game_with_its_history(done):
    for row in gk.load(done).head(4).to_dict("records"):
        end = gk.replay(row)
        assert end.winner == row["winner"]
        assert len(end.history) == row["plies"] + 1
    with pytest.raises(GamekitError, match="replay takes one row"):
        gk.replay({"player": "random"})


# --------------------------------------------------------------------------------- how it is run


def test_workers_threads_and_folders_do_not_show(done, tmp_path):
    gk.sweep(**GRID, out=tmp_path / "two", workers=2)
    with ThreadPoolExecutor(3) as pool:
        gk.sweep(**GRID, out=tmp_path / "threads", executor=pool)
    assert derived(done) == derived(tmp_path / "two") == derived(tmp_path / "threads")
    kept = gk.load(done)
    assert_frame_equal(kept, gk.sweep(**GRID, workers=1))
    assert_frame_equal(kept, gk.sweep(**GRID, workers=2, progress=False))


def test_the_folder_is_the_frame(done):
    frame = gk.sweep(**GRID, out=done, executor=Refusing())  # read, not played
    assert_frame_equal(frame, pd.read_parquet(done / "games.parquet"))  # without us
    assert_frame_equal(frame[["player", "points"]], gk.load(done, columns=["player", "points"]))
    with pytest.raises(GamekitError, match="no column 'winners'; did you mean 'winner'"):
        gk.load(done, columns=["winners"])


@pytest.mark.parametrize(
    "measured",
    [
        lambda out: gk.sweep(["mnk", "connect_four"], ["alphabeta(depth={1,2})", "random"], games_each=2, out=out),
        lambda out: gk.sweep("connect_four", "random", "alphabeta(depth=2)", 2, rows="moves", out=out),
        lambda out: gk.searches("mnk", ["alphabeta(depth={1,2})", "random"], 5, plies=(0, 3), out=out),
        lambda out: gk.searches("mnk", ["alphabeta(depth={2,1})", "random"], 5, plies=(0, 3), moves=True, out=out),
        lambda out: gk.accuracy("mnk", ["alphabeta(depth={1,2})", "random"], 5, plies=(0, 3), out=out),
        lambda out: gk.values("mnk", positions=5, plies=(0, 3), sides="both", out=out),
        lambda out: gk.match("mnk", "random", "leftmost", 400, sprt=(0, 50), out=out),
    ],
    ids=["sweep", "moves", "searches", "root_moves", "accuracy", "values", "match"],
)
def test_what_is_returned_is_what_is_stored(measured, tmp_path):
    fresh, first = measured(None), measured(tmp_path / "m")
    assert_frame_equal(fresh, first)
    assert_frame_equal(first, measured(tmp_path / "m"))
    assert_frame_equal(first, gk.load(tmp_path / "m"))
    assert verify(tmp_path / "m").complete


def test_a_sweep_plays_what_a_match_plays(done):
    games = gk.load(done)
    games = games[(games.player == "alphabeta(depth=2)") & (games.opponent == "random")]
    played = gk.match("connect_four", "alphabeta(depth=2)", "random", games=12, openings=4, seed=5, workers=1)
    assert games.moves.tolist() == played.moves.tolist()
    assert games.winner.tolist() == played.winner.tolist()
    with pytest.raises(GamekitError, match="match has no parameter 'meetings'"):
        gk.match("mnk", "random", "leftmost", meetings=[])


def test_a_match_stops_when_its_test_is_decided():
    options = {"game": "connect_four", "first": "alphabeta(depth=3)", "second": "random", "games": 4000, "seed": 1}
    played = gk.match(**options, sprt=(0, 300), workers=1)
    assert 0 < len(played) < 1000
    assert played.sequential.all()
    assert_frame_equal(played, gk.match(**options, sprt=(0, 300), workers=2))
    # Deterministic players only replay two games, which decide nothing however often they are played.
    replayed = gk.match("connect_four", "alphabeta(depth=2)", "leftmost", 400, sprt=(0, 50), workers=1)
    assert len(replayed) == 400


def test_a_decided_match_is_complete(tmp_path):
    match = {"game": "connect_four", "first": "alphabeta(depth=3)", "second": "random", "games": 4000, "seed": 1}
    played = gk.match(**match, sprt=(0, 300), out=tmp_path / "m", workers=1)
    assert len(played) < 4000
    assert verify(tmp_path / "m").complete
    assert_frame_equal(played, gk.match(**match, sprt=(0, 300), out=tmp_path / "m", executor=Refusing()))
    (tmp_path / "m" / "games.parquet").unlink()  # what is derived is made again from the parts
    assert_frame_equal(played, gk.match(**match, sprt=(0, 300), out=tmp_path / "m", executor=Refusing()))


def test_a_failure_outside_the_players_lets_the_rest_be_stored(tmp_path):
    with pytest.raises(GamekitError, match=r"1 of the jobs failed: .*network is down.*run the same again"):
        gk.sweep(**GRID, out=tmp_path / "s", executor=Inside(fails=lambda number: number == 2))
    report = verify(tmp_path / "s")
    assert report.ok
    assert 0 < report.done == report.units - 12
    gk.sweep(**GRID, out=tmp_path / "s", executor=Inside())
    assert verify(tmp_path / "s").complete


def test_workers_and_executor_are_one_choice():
    with pytest.raises(GamekitError, match="workers or executor"):
        gk.sweep("mnk", "random", "leftmost", 2, workers=1, executor=Inside())
    for wrong in (0, -1, 1.5, "two", True):
        with pytest.raises(GamekitError, match="workers="):
            gk.sweep("mnk", "random", "leftmost", 2, workers=wrong)


# -------------------------------------------------------------------------------- luck and meetings


def test_all_players_meet_the_same_luck():
    def first(position):
        return position.moves()[0]

    def also_first(position):
        return position.moves()[0]

    frame = gk.sweep(
        "connect_four", [first, also_first, "leftmost"], ["random", "uct(playouts=5)"], 6, seed=4, workers=1
    )
    for _, rows in frame.groupby(["opponent", "number"], observed=True):
        assert rows.luck.nunique() == rows.moves.nunique() == 1
    again = gk.sweep("connect_four", ["leftmost"], ["random"], 6, seed=4, workers=1)
    both = frame[(frame.player == "leftmost") & (frame.opponent == "random")]
    assert again.moves.tolist() == both.moves.tolist()
    assert frame.groupby("opponent", observed=True).luck.unique().map(set).agg(lambda s: not s.iloc[0] & s.iloc[1])
    assert frame.groupby(["opponent", "pair"], observed=True).luck.nunique().eq(1).all()  # a pair shares its luck
    other = gk.sweep("connect_four", ["leftmost"], ["random"], 6, seed=5, workers=1)
    assert not set(other.luck) & set(again.luck)


def test_luck_in_a_round_robin_does_not_depend_on_the_opponent():
    frame = gk.sweep("mnk", ["random", "leftmost", "alphabeta(depth=1)"], games_each=4, workers=1)
    met = frame[["player", "opponent"]].astype(str).drop_duplicates().to_numpy().tolist()
    assert met == [["random", "leftmost"], ["random", "alphabeta(depth=1)"], ["leftmost", "alphabeta(depth=1)"]]
    assert frame.luck.nunique() == frame.pair.nunique() == 2


def test_meetings_instead_of_the_product():
    meetings = [("mnk", f"alphabeta(depth={d})", f"alphabeta(depth={d},ties=random)") for d in (1, 2)]
    meetings.append(("connect_four", "random", "leftmost"))
    frame = gk.sweep(None, None, games_each=2, meetings=meetings, workers=1)
    assert frame.groupby(["game", "player", "opponent"], observed=True).size().tolist() == [2, 2, 2]
    assert frame[frame.game.str.startswith("mnk")].eval("depth == opponent_depth").all()
    with pytest.raises(GamekitError, match=r"a meeting is \(game, player, opponent\)"):
        gk.sweep(None, None, meetings=[("mnk", "random")])
    with pytest.raises(GamekitError, match="opponents or meetings"):
        gk.sweep("mnk", "random", "random", meetings=meetings)
    with pytest.raises(GamekitError, match="twice"):
        gk.sweep(None, None, meetings=[meetings[0], meetings[0]])
    with pytest.raises(GamekitError, match="nobody meets anybody"):
        gk.sweep("mnk", "random")


def test_swap_off_and_lines_of_moves():
    frame = gk.sweep("connect_four", "leftmost", "random", 6, swap=False, openings=["44", "351"], workers=1)
    assert frame.player_first.all()
    assert frame.opening.tolist() == ["44", "351"] * 3
    assert frame.pair.tolist() == list(range(6))
    assert (frame.moves.str.slice(0, 2) == frame.opening.astype(str).str.slice(0, 2)).all()


def test_one_function_under_the_name_of_another_player_is_refused():
    def random(position):
        return position.moves()[0]

    with pytest.raises(GamekitError, match="two different players are called 'random'"):
        gk.sweep("mnk", [random], "random", games_each=4, workers=1)
    with pytest.raises(GamekitError, match="two different players are called '<lambda>'"):
        gk.sweep("mnk", [lambda p: p.moves()[0]], [lambda p: p.moves()[-1]], games_each=4, workers=1)
    with pytest.raises(GamekitError, match=r"'alphabeta\(depth=2,ties=first\)' are the same"):
        gk.sweep("mnk", ["alphabeta(depth=2)", "alphabeta(depth=2,ties=first)"], "random", workers=1)


def test_own_heuristics_travel_to_workers():
    @gk.heuristic("mnk")
    def corner_lover(board, me, params):
        return 1.0 if board[0, 0] == me else 0.0

    found = [
        gk.sweep("mnk", "alphabeta(depth=1,heuristic=corner_lover)", "random", games_each=8, workers=n) for n in (1, 2)
    ]
    assert_frame_equal(*found)
    assert found[0].moves.str.split().str[0].iloc[0] == "0,0"


# -------------------------------------------------------------------- one folder, one measurement


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"games_each": 10}, "games_each there 12, here 10"),
        ({"seed": 6}, "seed there 5, here 6"),
        ({"players": ["random"]}, "player"),
        ({"opponents": None}, "opponents"),
        ({"openings": 5}, "openings there 4, here 5"),
        ({"repetition": None}, "repetition there 3, here null"),
        ({"swap": False}, "swap there true, here false"),
        ({"games": ["mnk"]}, "games"),
        ({"rows": "moves"}, "another measurement"),
    ],
)
def test_another_measurement_is_refused_and_nothing_written(done, change, named):
    before = contents(done)
    with pytest.raises(GamekitError) as caught:
        gk.sweep(**GRID | change, out=done, executor=Refusing())
    assert "another measurement" in str(caught.value)
    assert named in str(caught.value)
    assert before == contents(done)
    assert gk.load(done) is not None


@pytest.mark.parametrize(
    "more",
    [{"games_each": 20}, {"players": ["alphabeta(depth={1,2,3})", "random"]}, {"games": ["mnk", "connect_four"]}],
)
def test_a_plan_may_be_extended(more, tmp_path):
    gk.sweep(**GRID, out=tmp_path / "s", workers=1)
    before = {f.name: f.stat().st_mtime_ns for f in (tmp_path / "s" / "parts").iterdir()}
    wider = gk.sweep(**GRID | more, out=tmp_path / "s", workers=1)
    after = {f.name: f.stat().st_mtime_ns for f in (tmp_path / "s" / "parts").iterdir()}
    assert before.items() < after.items()  # what was there is not measured again
    assert_frame_equal(wider, gk.sweep(**GRID | more, workers=1))
    assert verify(tmp_path / "s").complete


LEVEL = 0


@gk.helper
def helper(board):
    return LEVEL


def closing(value):
    def player(position):
        return position.moves()[value]

    return player


def by_global(position):
    return position.moves()[LEVEL]


def through_a_call(position):
    return by_global(position)


class Base(gk.Player):
    name = "based"
    deterministic = True

    def pick(self, position):
        return position.codes()[LEVEL]


class Derived(Base):
    pass


def with_helper():
    def leveled(board, me, params):
        return helper(board)

    gk.HEURISTICS.pop(("mnk", "leveled"), None)
    gk.heuristic("mnk")(leveled)
    return "alphabeta(depth=1,heuristic=leveled)"


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: closing(LEVEL), "player"),
        (lambda: by_global, "by_global"),
        (lambda: through_a_call, "through_a_call"),
        (lambda: Derived(), "based"),
        (with_helper, "leveled"),
    ],
    ids=["closure", "global", "helper of a player", "base class", "helper of a heuristic"],
)
@pytest.mark.parametrize("finished", [True, False])
def test_changed_code_under_the_same_name_is_refused(make, named, finished, tmp_path, monkeypatch):
    gk.sweep("mnk", make(), "random", games_each=2, out=tmp_path / "s", workers=1)
    gk.sweep("mnk", make(), "random", games_each=2, out=tmp_path / "s", workers=1)
    if not finished:
        (tmp_path / "s" / "done.json").unlink()
        (tmp_path / "s" / "games.parquet").unlink()
    monkeypatch.setitem(globals(), "LEVEL", 1)
    with pytest.raises(GamekitError, match=f"the code of .*{named} has changed"):
        gk.sweep("mnk", make(), "random", games_each=2, out=tmp_path / "s", workers=1)


def test_a_changed_function_is_refused(tmp_path):
    def mine(position):
        return position.moves()[0]

    gk.sweep("mnk", mine, "random", games_each=2, out=tmp_path / "s", workers=1)

    def mine(position):
        return position.moves()[-1]

    with pytest.raises(GamekitError, match="the code of player mine has changed"):
        gk.sweep("mnk", mine, "random", games_each=2, out=tmp_path / "s", workers=1)


def test_what_cannot_be_compared_between_runs_is_not_stored(tmp_path):
    with pytest.raises(GamekitError, match="lambda cannot be stored; write it as a function with a name"):
        gk.sweep("mnk", lambda p: p.moves()[0], "random", games_each=2, out=tmp_path / "s")
    secret = object()

    def opaque(position):
        return position.moves()[0] if secret else None

    with pytest.raises(GamekitError, match=r"player opaque cannot be stored.*secret"):
        gk.sweep("mnk", opaque, "random", games_each=2, out=tmp_path / "s")
    assert not (tmp_path / "s").exists()
    assert len(gk.sweep("mnk", opaque, "random", games_each=2, workers=1)) == 2  # in memory it may


TAKE = """
import numpy as np
import gamekit as gk

def moves(s, out):
    for i in range(min(3, s.left)):
        out[i] = i + 1
    return min(3, s.left)

def play(s, move):
    s.left -= move
    s.turn = 3 - s.turn
    return RESULT if s.left == 0 else gk.RUNNING

@gk.register
class Take(gk.Game):
    \"""Take one to three of twelve.\"""
    name, width, moves, play, longest = "take", 4, moves, play, 12
    state = np.dtype([("turn", "i4"), ("left", "i4")])

    def setup(self, s):
        s.turn, s.left = 1, COUNT
"""


def take(result="gk.WON", count=12):
    text = TAKE.replace("RESULT", result).replace("COUNT", str(count))
    exec(compile(text, "take.py", "exec"), {"__name__": "my_games"})


@pytest.mark.parametrize("changed", [{"result": "gk.LOST"}, {"count": 11}])
@pytest.mark.parametrize("finished", [True, False])
def test_changed_rules_of_a_custom_game_are_refused(tmp_path, changed, finished):
    sweep = {"games": "take", "players": "random", "opponents": "leftmost", "games_each": 6, "workers": 1}
    take()
    before = gk.sweep(**sweep, out=tmp_path / "s")
    take()  # the same cell, run again
    assert_frame_equal(before, gk.sweep(**sweep, out=tmp_path / "s"))
    if not finished:
        (tmp_path / "s" / "done.json").unlink()
    take(**changed)
    with pytest.raises(
        GamekitError, match="another measurement.*take" if "result" in changed else "another measurement"
    ):
        gk.sweep(**sweep, out=tmp_path / "s")
    assert gk.sweep(**sweep).moves.tolist() != before.moves.tolist() or "result" in changed


def test_a_changed_board_file_is_refused(tmp_path):
    board = tmp_path / "mine.txt"
    board.write_text("1 2\n3 4\n")
    sweep = {"games": gk.grid("candy", board=str(board)), "players": "random", "opponents": "leftmost", "games_each": 2}
    gk.sweep(**sweep, out=tmp_path / "s", workers=1)
    board.write_text("1 2\n3 5\n")
    with pytest.raises(GamekitError, match="another measurement"):
        gk.sweep(**sweep, out=tmp_path / "s", workers=1)


def test_other_code_of_the_package_is_refused(tmp_path, monkeypatch):
    gk.sweep("mnk", "random", "leftmost", games_each=2, out=tmp_path / "s", workers=1)
    before = contents(tmp_path / "s")
    for module in ("plan", "run", "jobs"):
        monkeypatch.setattr(f"gamekit.experiments.{module}.code", lambda: "0123456789abcdef")
    with pytest.raises(GamekitError, match=r"other code of gamekit.*there [0-9a-f]{16}, here 0123456789abcdef"):
        gk.sweep("mnk", "random", "leftmost", games_each=2, out=tmp_path / "s", workers=1)
    assert before == contents(tmp_path / "s")


def test_the_schema_of_other_versions_is_refused(tmp_path):
    import json

    from gamekit.experiments.files import digest

    folder = tmp_path / "s"
    gk.sweep("mnk", "random", "leftmost", games_each=2, out=folder, workers=1)
    sealed = json.loads((folder / "plan.json").read_text())
    sealed["content"]["schema"] = 7
    sealed["digest"] = digest(json.dumps(sealed["content"]).encode())
    (folder / "plan.json").write_text(json.dumps(sealed, indent=1) + "\n")
    before = contents(folder)
    with pytest.raises(GamekitError, match=r"schema 7; this version reads schema \d"):
        gk.sweep("mnk", "random", "leftmost", games_each=2, out=folder, workers=1)
    assert before == contents(folder)
    assert not verify(folder).ok


def test_load_checks_what_it_reads(tmp_path):
    folder = tmp_path / "s"
    with pytest.raises(GamekitError, match="no results found"):
        gk.load(folder)
    gk.sweep("mnk", "random", "leftmost", games_each=2, out=folder, workers=1)
    frame = pd.read_parquet(folder / "games.parquet")
    frame.assign(winner=2).to_parquet(folder / "games.parquet")
    with pytest.raises(GamekitError, match=r"games.parquet is damaged"):
        gk.load(folder)
    again = gk.sweep("mnk", "random", "leftmost", games_each=2, out=folder, executor=Refusing())
    assert_frame_equal(again, frame)  # made again from the parts, which are the record
    assert_frame_equal(again, gk.load(folder))
    (folder / "done.json").unlink()
    with pytest.raises(GamekitError, match="not complete"):
        gk.load(folder)


# ------------------------------------------------------------------------------------ sweep files


def test_a_sweep_file_leaves_tables_and_figures(tmp_path):
    file = tmp_path / "small.yaml"
    file.write_text("games: mnk\nplayers:\n  - alphabeta(depth={1,2})\nopponents: [random]\ngames_each: 4\nseed: 2\n")
    rates = run_file(file, out=tmp_path / "out", workers=1)
    assert rates.games.tolist() == [4, 4]
    assert rates.player.tolist() == ["alphabeta(depth=1)", "alphabeta(depth=2)"]
    before = contents(tmp_path / "out")
    assert {name.split("/")[0] for name in before} >= {"plan.json", "done.json", "games.parquet", "tables", "figures"}
    assert {"tables/win_rates.csv", "tables/terminations.csv", "tables/ratings.csv"} <= set(before)
    assert any(name.endswith(".svg") for name in before)
    assert any(name.endswith(".png") for name in before)
    table = pd.read_csv(tmp_path / "out" / "tables" / "win_rates.csv")
    assert (table.wins + table.draws + table.losses == table.games).all()
    assert len(gk.load(tmp_path / "out")) == 8
    run_file(file, out=tmp_path / "out", workers=1)
    assert before == contents(tmp_path / "out")


def test_repair_plays_only_what_was_damaged(tmp_path):
    folder = tmp_path / "s"
    sweep = {"games": "mnk", "players": ["random", "leftmost"], "opponents": "random", "games_each": 8, "seed": 1}
    finish(Folder(folder), gk.sweep(**sweep, out=folder, workers=1))
    before = contents(folder)
    victim = sorted((folder / "parts").iterdir())[0]
    victim.write_bytes(victim.read_bytes()[:-5])
    kept = {f.name: f.stat().st_mtime_ns for f in (folder / "parts").iterdir() if f != victim}
    (folder / "games.parquet").unlink()
    with pytest.raises(GamekitError, match=rf"{victim.name} is damaged; 'gamekit verify .* --repair'"):
        gk.sweep(**sweep, out=folder, workers=1)
    report = repair(folder)
    assert report.complete
    assert derived(folder) == {k: v for k, v in before.items() if not k.startswith("parts")}
    assert kept.items() < {f.name: f.stat().st_mtime_ns for f in (folder / "parts").iterdir()}.items()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "names"),
        ("games: [mnk", "not YAML"),
        ("- a\n- b", "names"),
        ("games: mnk", "'players' is missing"),
        ("games: mnk\nplayers: random\ngame_each: 3", "did you mean 'games_each'"),
        ("games: mnk\nplayers: random\nout: 3", "out="),
    ],
)
def test_bad_sweep_files(tmp_path, text, named):
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(GamekitError) as caught:
        read_file(file)
    assert named in str(caught.value)
    assert "bad.yaml" in str(caught.value)


def test_seeds_are_whole_numbers():
    one = gk.sweep("mnk", "random", "leftmost", 2, seed=1, workers=1)
    assert_frame_equal(one, gk.sweep("mnk", "random", "leftmost", 2, seed=1.0, workers=1))
    assert_frame_equal(one, gk.match("mnk", "random", "leftmost", 2, seed=1.0, sprt=None, workers=1))
    for seed in (-1, 1.5, "x", None, math.nan, True):
        with pytest.raises(GamekitError, match="seed="):
            gk.sweep("mnk", "random", "leftmost", 2, seed=seed)
        with pytest.raises(GamekitError, match="seed="):
            gk.match("mnk", "random", "leftmost", 2, seed=seed, sprt=(0, 10))
