"""A grid becomes records and tables; how it was run does not show."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest
from gamekit.analysis.old_tables import csv
from gamekit.experiments.old_plan import Plan, expand, read_sweep
from gamekit.experiments.old_sweep import load, repair, run_file, sweep
from gamekit.experiments.old_verify import verify
from gamekit.matches.match import match

import gamekit as gk
from gamekit.errors import GamekitError

GRID = {
    "games": ["connect_four"],
    "players": ["alphabeta(depth={1,2})", "random"],
    "opponents": ["leftmost", "random"],
    "games_each": 12,
    "openings": 4,
    "seed": 5,
}


def contents(folder):
    return {
        str(f.relative_to(folder)): f.read_bytes() for part in ("tables", "figures") for f in (folder / part).iterdir()
    }


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep") / "one"
    sweep(**GRID, out=folder, workers=1, block=4)
    return folder


def test_a_folder_holds_tables_and_figures(done):
    assert verify(done).complete
    tables = {"win_rates", "turns", "nodes", "terminations", "crosstable", "ratings"}
    assert {f.stem for f in (done / "tables").iterdir()} >= tables
    assert {f.suffix for f in (done / "figures").iterdir()} == {".png", ".svg"}
    rates = load(done).table("win_rates")
    assert len(rates) == 6
    assert (rates.wins + rates.draws + rates.losses == rates.games).all()
    assert rates.games.sum() == 72
    replayed = rates[(rates.player != "random") & (rates.opponent == "leftmost")]
    assert replayed.low.isna().all()
    assert (replayed.distinct < 12).all()


def test_workers_blocks_and_threads_do_not_show(done, tmp_path):
    sweep(**GRID, out=tmp_path / "two", workers=2, block=4)
    with ThreadPoolExecutor(3) as pool:
        sweep(**GRID, out=tmp_path / "threads", executor=pool, block=4)
    assert contents(done) == contents(tmp_path / "two") == contents(tmp_path / "threads")
    whole = sweep(**GRID, workers=1, block=100)  # in memory, in other blocks
    assert csv(whole.table("win_rates")).encode() == contents(done)["tables/win_rates.csv"]
    assert whole.frame().equals(load(done).frame())


def test_a_sweep_plays_what_a_match_plays(done):
    games = load(done).frame()
    games = games[(games.player == "alphabeta(depth=2)") & (games.opponent == "random")]
    records = match("connect_four", "alphabeta(depth=2)", "random", games=12, openings=4, seed=5).records
    assert games.moves.tolist() == [r.moves for r in records]
    assert games.winner.tolist() == [r.winner for r in records]


def test_a_finished_sweep_is_read_not_played(done, monkeypatch):
    monkeypatch.setattr(sys.modules["gamekit.sweep"], "run", None)
    assert len(sweep(**GRID, out=done, block=4).frame()) == 72


def test_nodes_are_counted_by_player(done):
    nodes = load(done).table("nodes")
    mine = nodes[(nodes.of == "alphabeta(depth=1)")]
    assert (mine.nodes > 0).all()
    assert (nodes[nodes.of == "random"].nodes == 0).all()
    games = load(done).frame()
    assert nodes.moves.sum() == (games.plies - games.opening).sum()


def test_params_become_columns(done):
    table = load(done).table("win_rates", params=True)
    assert table[table.player == "alphabeta(depth=2)"].depth.unique().tolist() == [2]


def test_exports_hold_every_game(done, tmp_path):
    result = load(done)
    read = pd.read_parquet(result.export(tmp_path / "games.parquet"))
    assert len(read) == len(pd.read_csv(result.export(tmp_path / "games.csv"))) == 72
    with pytest.raises(GamekitError, match=r"\.csv or \.parquet"):
        result.export(tmp_path / "games.pickle")
    with pytest.raises(GamekitError, match="did you mean 'win_rates'"):
        result.table("win_rate")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"games_each": 14}, "games_each there 12, here 14"),
        ({"seed": 6}, "seed there 5, here 6"),
        ({"players": ["random"]}, "players"),
        ({"openings": 5}, "openings"),
        ({"games": ["mnk"]}, "games"),
    ],
)
def test_another_grid_is_refused_and_nothing_written(done, change, named):
    before = {f: f.read_bytes() for f in done.rglob("*") if f.is_file()}
    with pytest.raises(GamekitError) as caught:
        sweep(**GRID | change, out=done, block=4)
    assert "another sweep" in str(caught.value)
    assert named in str(caught.value)
    assert before == {f: f.read_bytes() for f in done.rglob("*") if f.is_file()}


def test_the_same_name_with_other_code_is_another_sweep(tmp_path):
    def mine(position):
        return position.moves()[0]

    sweep("mnk", mine, "random", games_each=2, out=tmp_path / "s", workers=1)

    def mine(position):
        return position.moves()[-1]

    with pytest.raises(GamekitError, match="players: mine: code there"):
        sweep("mnk", mine, "random", games_each=2, out=tmp_path / "s", workers=1)


def test_own_heuristics_travel_to_workers():
    @gk.heuristic("mnk")
    def corner_lover(board, me, params):
        return 1.0 if board[0, 0] == me else 0.0

    try:
        found = [
            sweep("mnk", "alphabeta(depth=1,heuristic=corner_lover)", "random", games_each=8, block=2, workers=n)
            for n in (1, 2)
        ]
    finally:
        gk.HEURISTICS.pop(("mnk", "corner_lover"))
    assert found[0].frame().equals(found[1].frame())
    assert found[0].frame().moves.str.split().str[0].iloc[0] == "0,0"


def test_without_opponents_everyone_meets_everyone():
    assert Plan("mnk", ["random", "leftmost", "alphabeta(depth=1)"]).pairs == [
        ("mnk(m=3,n=3,k=3)", "random", "leftmost"),
        ("mnk(m=3,n=3,k=3)", "random", "alphabeta(depth=1)"),
        ("mnk(m=3,n=3,k=3)", "leftmost", "alphabeta(depth=1)"),
    ]


def test_ids_depend_on_what_a_job_is_and_nothing_else():
    one = Plan("mnk", ["random", "leftmost"], ["random"], games_each=200, block=50)
    two = Plan("mnk", ["leftmost"], ["random"], games_each=200, block=50)
    assert {job.id for job in two.jobs} < {job.id for job in one.jobs}
    assert len({job.id for job in one.jobs}) == 8
    assert not {j.id for j in one.jobs} & {j.id for j in Plan("mnk", "leftmost", "random", 200, seed=1, block=50).jobs}


def test_choices_in_braces():
    assert expand("random") == ["random"]
    assert expand("a(b={1,2},c={x,y})") == ["a(b=1,c=x)", "a(b=1,c=y)", "a(b=2,c=x)", "a(b=2,c=y)"]
    for bad in ("a(b={1,2)", "a(b=1})", "a{b{c}}"):
        with pytest.raises(GamekitError, match="brace"):
            expand(bad)


def test_a_sweep_file(tmp_path):
    file = tmp_path / "small.yaml"
    file.write_text("games: mnk\nplayers:\n  - alphabeta(depth={1,2})\nopponents: [random]\ngames_each: 4\nseed: 2\n")
    result = run_file(file, out=tmp_path / "out", workers=1)
    assert len(result.frame()) == 8
    assert "alphabeta(depth=2)" in str(result)


def test_repair_plays_only_what_was_damaged(tmp_path):
    import sqlite3

    folder = tmp_path / "s"
    sweep("mnk", ["random", "leftmost"], "random", games_each=8, block=2, out=folder, workers=1)
    before = contents(folder)
    with sqlite3.connect(folder / "records.sqlite") as db:
        db.execute("UPDATE games SET moves = '' WHERE job = 5")
    with pytest.raises(GamekitError, match=r"job 5, game 2.*verify .* --repair|damage between"):
        sweep("mnk", ["random", "leftmost"], "random", games_each=8, block=2, out=folder, workers=1)
    report = repair(folder, workers=1)
    assert report.complete
    assert report.dropped == 1
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "names"),
        ("games: [mnk", "not YAML"),
        ("- a\n- b", "names"),
        ("games: mnk", "'players' is missing"),
        ("games: mnk\nplayers: random\ngame_each: 3", "did you mean 'games_each'"),
        ("games: mnk\nplayers:", "no value"),
        ("games: mnk\nplayers: random\nout: 3", "out=3"),
    ],
)
def test_bad_sweep_files(tmp_path, text, named):
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(GamekitError) as caught:
        read_sweep(file)
    assert named in str(caught.value)
    assert "bad.yaml" in str(caught.value)
