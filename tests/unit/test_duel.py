"""A game in one compiled call is the game move by move: the same records, whatever the players, switches and slices."""

import random
import threading
import time
from functools import partial
from unittest import mock

import pytest
from gamekit.matches.match import opening_lines

import gamekit as gk
from gamekit.matches import sandbox as guard
from gamekit.matches import whole_game as duel
from gamekit.matches.referee import Referee, fixtures, root_seed, two_players

GAMES = (
    "connect_four",
    "conga",
    "candy(board=Ayds)",
    "mnk(m=4,n=5,k=4)",
    "mnk",
    "mnk(m=15,n=15,k=5)",
    "connect_k(columns=6,rows=5,k=4,gravity=on)",
    "connect_k(columns=9,rows=7,k=5)",
)


def records(game, first, second, *, games=6, openings=0, at_once=True, seed=1, portion=None, **limits):
    board = gk.game(game)
    pair = two_players(first, second, board)
    referee = Referee(board, pair, **limits)
    if at_once:
        assert all(player.mind() for player in pair), "these players are asked move by move anyway"
    schedule = fixtures(root_seed(seed, board, *pair), opening_lines(board, openings, seed, games), range(games))
    with mock.patch.object(referee, "_open_log", partial(set_up, referee, at_once, portion)):
        return list(referee.games(schedule, guarded=False))


def set_up(referee, at_once, portion, *given, **named):
    """As the referee does, but by moves where that is wanted, or in portions of so many nodes to begin with."""
    Referee._open_log(referee, *given, **named)
    if not at_once:
        referee.duel = None
    elif portion:
        play = referee.duel.play

        def in_portions():
            referee.duel.table[duel.PORTION : duel.PORTION + 2] = portion
            return play()

        referee.duel.play = in_portions


def some_player(rng, wide):
    """Any player and switches; on a wide board no search that looks far."""
    kind = rng.choice(["random", "leftmost", "greedy", "search", "search", "search"])
    if kind in ("random", "leftmost"):
        return kind
    ties, bonus = rng.choice(["first", "random", "last"]), rng.choice(["on", "off"])
    if kind == "greedy":
        return f"greedy(ties={ties},win_bonus={bonus})"
    order = rng.choice(["none", "centre", "sides+best", "best+history", "front"])
    limit = rng.choice(
        ["nodes=1", "nodes=40", "nodes=700", "depth=3,nodes=60", "depth=1", *([] if wide else ["depth=2", "depth=3"])]
    )
    table = rng.choice(["on,megabytes=0.01", "off"])
    on = {name: rng.choice(["on", "off"]) for name in ("prune", "deepen")}
    return (
        f"search({limit},table={table},order={order},ties={ties},win_bonus={bonus},prune={on['prune']},"
        f"deepen={on['deepen']})"
    )


@pytest.mark.parametrize("game", GAMES)
def test_at_once_is_move_by_move(game):
    rng, wide = random.Random(game), gk.game(game).codes > 20
    for _ in range(8):
        first, second = some_player(rng, wide), some_player(rng, wide)
        options = {"openings": rng.choice([0, 2]), "seed": rng.randrange(1000), "cap": rng.choice([None, 9, 40])}
        told = records(game, first, second, **options), records(game, first, second, at_once=False, **options)
        assert told[0] == told[1], (first, second, options)


@pytest.mark.parametrize("portion", [1, 2, 7, 100])
def test_slices_do_not_show(portion):
    for first, second in (("alphabeta(depth=2)", "search(nodes=30)"), ("search(depth=3,deepen=on,table=on)", "random")):
        assert records("conga", first, second, portion=portion) == records("conga", first, second, at_once=False)


def test_a_slow_player_is_not_given_the_slices_of_a_fast_one(slow):
    """However fast one side is, Python is asked often: Ctrl-C and limits live there."""
    board, longest = gk.game("connect_four"), [0.0]
    referee = Referee(board, two_players("alphabeta(depth=8)", f"search(nodes=1500,heuristic={slow})", board))
    referee._open_log()
    play = referee.duel.play

    def watched():
        started = time.monotonic()
        try:
            return play()
        finally:
            longest[0] = max(longest[0], time.monotonic() - started)

    referee.duel.play = watched
    referee.play(fixtures("x", [], range(1))[0])
    assert 0 < longest[0] < 0.5


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("openings", "cap"), [(["44"], 1), (["44"], 2), (["44", "4443"], 3), (["4443"], 4), (["44"], 3)]
)
def test_openings_as_long_as_the_cap(at_once, openings, cap):
    told = records("connect_four", "random", "alphabeta(depth=1)", openings=openings, cap=cap, at_once=at_once, games=4)
    assert {record.termination for record in told} == {"cap"}
    assert {record.winner for record in told} == {0}
    assert [r.plies for r in told] == [max(cap, len(openings[i // 2 % len(openings)])) for i in range(4)]


def test_a_referee_keeps_no_watch_it_was_told_to_give_up():
    board = gk.game("connect_four")
    referee = Referee(board, two_players("alphabeta(depth=2)", "leftmost", board), limit=5)
    schedule = fixtures("x", [], range(2))
    assert list(referee.games(schedule, guarded=True)) == list(referee.games(schedule, guarded=False))
    assert not referee.log[guard.WATCHED]


def test_a_sweep_with_and_without_its_guard(tmp_path):
    """Trusting the package's own players changes no byte."""
    for name, trusted in (("trusted", True), ("guarded", False)):
        with mock.patch.object(Referee, "trusted", trusted):
            gk.sweep(
                ["connect_four", "conga"],
                ["alphabeta(depth=2)", "random"],
                ["search(nodes=50,ties=random)"],
                games_each=12,
                openings=3,
                seed=3,
                out=tmp_path / name,
                workers=1,
                progress=False,
            )
    products = [
        {
            file.relative_to(tmp_path / name): file.read_bytes()
            for kind in ("tables", "figures")
            for file in (tmp_path / name / kind).iterdir()
        }
        for name in ("trusted", "guarded")
    ]
    assert products[0] == products[1]
    assert len(products[0]) > 8


def test_two_threads_with_one_player_are_told():
    board, player = gk.game("connect_four"), gk.player("alphabeta(depth=9)")
    player.begin(board, 1)
    said = []

    def think():
        try:
            player.pick(board.start())
        except gk.GamekitError as error:
            said.append(str(error))

    threads = [threading.Thread(target=think) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said
    assert set(said) == {"this player is thinking in another thread; give each thread a player of its own"}
    assert player.pick(board.start()) in board.start().codes()


def test_every_way_to_end_is_the_same():
    seen = set()
    for game, cap in (("conga", None), ("conga", 30), ("mnk", None)):
        for first, second in (("random", "random"), ("alphabeta(depth=2)", "alphabeta(depth=1)")):
            told = records(game, first, second, cap=cap, games=30)
            assert told == records(game, first, second, cap=cap, games=30, at_once=False)
            seen |= {record.termination for record in told}
    assert seen == {"win", "draw", "repetition", "cap"}


@pytest.fixture
def slow():
    """An evaluation of a fraction of a millisecond."""

    @gk.heuristic("connect_four")
    def sluggish(board, me, params):
        x = 0.0
        for i in range(100_000):
            x = (x * 1.1 + board[5, i % 7]) % 3.7
        return x

    return "sluggish"


@pytest.fixture
def failing():
    """Evaluations that go wrong once enough stones lie on the board."""

    @gk.heuristic("connect_four")
    def divides(board, me, params):
        stones = 0
        for row in range(6):
            for col in range(7):
                if board[row, col] != 0:
                    stones += 1
        return 1 // (14 - stones)

    @gk.heuristic("connect_four")
    def infinite(board, me, params):
        return 1e300 * 1e300 if board[5, 3] != 0 and board[4, 3] != 0 else 0.0

    return "divides", "infinite"


def test_failures_have_the_same_label_note_and_moves(failing):
    for name in failing:
        player = f"alphabeta(depth=2,heuristic={name})"
        for first, second in ((player, "random"), ("random", player)):
            told = records("connect_four", first, second)
            assert told == records("connect_four", first, second, at_once=False)
            assert {record.termination for record in told} & {"crash"}
            assert any(name in record.note for record in told)


def test_a_late_move_forfeits_watched_or_not():
    for guarded in (False, True):
        board = gk.game("connect_four")
        referee = Referee(board, two_players("alphabeta(depth=12)", "leftmost", board), limit=0.03)
        told = list(referee.games(fixtures("x", [], range(4)), guarded))
        assert [(r.termination, r.winner, r.plies) for r in told] == [("timeout", 2, 0), ("timeout", 2, 1)] * 2
        assert {r.note for r in told} <= {"no answer within the limit", "answered after the limit"}


def test_an_answer_after_the_limit_is_late():
    """Watched, but answering before anybody ends it: the clock inside the game tells."""
    board = gk.game("connect_four")
    judge = Referee(board, two_players("alphabeta(depth=9)", "leftmost", board), limit=0.002)
    judge.log[guard.WATCHED] = 1
    told = judge.play(fixtures("x", [], range(1))[0])
    assert (told.termination, told.winner, told.plies, told.note) == ("timeout", 2, 0, "answered after the limit")


def test_a_suspension_costs_nothing(monkeypatch):
    """By the clock every move here is late; by the guard's reckoning the process was asleep."""
    from gamekit.matches import referee

    monkeypatch.setattr(guard, "overdue", lambda log, limit, started: False)
    monkeypatch.setattr(referee, "thread_time", lambda: 0.0)
    expected = records("connect_four", "alphabeta(depth=5)", "leftmost", at_once=False)
    assert records("connect_four", "alphabeta(depth=5)", "leftmost", limit=1e-5) == expected
    board = gk.game("connect_four")
    judge = Referee(board, two_players("alphabeta(depth=5)", "leftmost", board), limit=1e-5)
    judge.log[guard.WATCHED] = 1
    schedule = fixtures(root_seed(1, board, *judge.players), [], range(6))
    assert list(map(judge.play, schedule)) == expected


def test_only_code_of_the_package_goes_unguarded(failing):
    board = gk.game("connect_four")

    def trusted(first, second="random", **limits):
        return Referee(board, two_players(first, second, board), **limits).trusted

    assert trusted("alphabeta(depth=2)")
    assert trusted("search(nodes=50,table=on,megabytes=8)")
    assert not trusted(f"alphabeta(depth=2,heuristic={failing[0]})")
    assert not trusted("random", lambda position: position.moves()[0])
    assert not trusted("montecarlo(playouts=5)")
    assert not trusted("search(nodes=50,table=on,megabytes=128)", memory=64)


def test_a_heuristic_written_anew_counts_from_the_next_game_on():
    board, mine = gk.game("connect_four"), gk.player("greedy(heuristic=mine)")
    opened = []
    for column in (2, 5):

        @gk.heuristic("connect_four", params={"column": float(column)})
        def mine_now(board, me, params):
            return 1.0 if board[5, int(params[0])] == me else 0.0

        mine_now.name = "mine"
        gk.HEURISTICS["connect_four", "mine"] = mine_now
        referee = Referee(board, two_players(mine, "leftmost", board))
        opened.append(next(iter(referee.games(fixtures("x", [], range(1)), guarded=False))).moves[0])
        assert referee.duel
    assert opened == ["3", "6"]


def test_who_is_asked_move_by_move():
    board = gk.game("connect_four")
    for spec in (
        "search(seconds=0.01)",
        "search(depth=2,reuse=on)",
        "search(depth=2,ponder=on)",
        "montecarlo",
        "uct",
        "perfect",
    ):
        player = gk.player(spec)
        player.begin(board, 1)
        assert player.mind() is None

    class Mine(type(gk.player("random"))):
        """A class of one's own may do anything in `pick`, whatever it inherits."""

        def pick(self, position):
            return position.codes()[-1]

    mine = Mine()
    told = list(Referee(board, (mine, gk.player("leftmost"))).games(fixtures("x", [], range(2)), guarded=False))
    assert [r.moves[0] for r in told] == ["7", "1"]


def test_the_table_has_a_place_for_everything():
    """Words of the table do not overlap."""
    pairs = (duel.KIND, duel.ROW_AT, duel.DEPTH, duel.NODES, duel.FROM_ONE, duel.PORTION)
    single = (
        duel.MOVES_AT,
        duel.PLAY_AT,
        duel.LEFT,
        duel.CAP,
        duel.REPEATS,
        duel.LIMIT,
        duel.IDENTITY,
        duel.STATE,
        duel.CODE,
        duel.BEGAN,
        duel.WINNER,
        duel.TURNS,
    )
    used = [*single, *pairs, *(word + 1 for word in pairs)]
    assert sorted(used) == list(range(duel.TABLE))
