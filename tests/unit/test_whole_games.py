"""A whole game in one compiled call is the game move by move: the same records, whatever the players and switches."""

import itertools
import random
import signal
import threading
import time

import pandas as pd
import pytest

import gamekit as gk
from gamekit.matches import whole_game
from gamekit.matches.openings import opening_lines
from gamekit.matches.referee import Referee, Rules, fixtures, two_players
from gamekit.players.base import Player

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


class ByMoves(Player):
    """Passes every question on to another player. Players of classes from elsewhere are asked move by move."""

    name = "by_moves"

    def __init__(self, player):
        super().__init__()
        self.player = player

    def begin(self, game, seed=0):
        super().begin(game, seed)
        self.player.begin(game, seed)

    def pick(self, position):
        code = self.player.pick(position)
        self.nodes = self.player.nodes
        return code


def records(game, first, second, *, games=6, openings=0, at_once=True, seed=1, guarded=False, **rules):
    """What a referee tells of some games, without how long they took."""
    board = gk.game(game)
    pair = two_players(first, second, board)
    if at_once:
        assert goes_at_once(board, *pair), "these players are asked move by move anyway"
    else:
        pair = tuple(map(ByMoves, pair))
    schedule = fixtures(seed, board, "", opening_lines(board, openings, seed, "test"), range(games))
    told = Referee(board, pair, Rules(**rules)).games(schedule, guarded)
    return [record._replace(elapsed=0.0) for record in told]


def goes_at_once(board, *pair):
    for player in pair:
        player.begin(board, 1)
    return None not in [player.native() for player in pair]


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
        options = {"openings": rng.choice([0, 2]), "seed": rng.randrange(1000), "max_plies": rng.choice([None, 9, 40])}
        told = records(game, first, second, **options), records(game, first, second, at_once=False, **options)
        assert told[0] == told[1], (first, second, options)


def test_rows_of_moves_tell_of_the_same_games():
    """They are played move by move, and a frame of games is not."""
    for game in ("connect_four", "conga"):
        options = {"games_each": 8, "openings": 2, "seed": 3, "workers": 1}
        players = game, "search(depth=2,ties=random)", "random"
        games, moves = gk.sweep(*players, **options), gk.sweep(*players, rows="moves", **options)
        told = moves.groupby(["pair", "player_first"], sort=False).agg(list)
        board = gk.game(game)
        assert len(told) == len(games) == 8
        for row in games.itertuples():
            found = told.loc[row.pair, row.player_first]
            assert board.split(row.moves) == [*board.split(row.opening), *found.move]
            by_player = [n for n, who in zip(found.generated, found.mover, strict=True) if who == "player"]
            assert (sum(by_player), len(by_player)) == (row.generated, row.own_moves)


@pytest.mark.parametrize("portion", [1, 2, 7, 100])
def test_slices_do_not_show(portion, monkeypatch):
    """A search may pause after any number of nodes."""
    play = whole_game.WholeGame.play

    def in_portions(game):
        game.seats["portion"] = portion
        return play(game)

    for first, second in (("alphabeta(depth=2)", "search(nodes=30)"), ("search(depth=3,deepen=on,table=on)", "random")):
        with monkeypatch.context() as patched:
            patched.setattr(whole_game.WholeGame, "play", in_portions)
            told = records("conga", first, second)
        assert told == records("conga", first, second, at_once=False)


def test_a_slow_player_is_not_given_the_slices_of_a_fast_one(slow):
    """However fast one side is, Python is asked often: Ctrl-C and limits live there."""
    asked = []
    before = signal.signal(signal.SIGALRM, lambda *_: asked.append(time.monotonic()))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
        records("connect_four", "alphabeta(depth=8)", f"search(nodes=1500,heuristic={slow})", games=1, max_plies=6)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(asked) > 10
    assert max(later - sooner for sooner, later in itertools.pairwise(asked)) < 0.5


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("openings", "cap"), [(["44"], 1), (["44"], 2), (["44", "4443"], 3), (["4443"], 4), (["44"], 3)]
)
def test_openings_as_long_as_the_cap(at_once, openings, cap):
    options = {"openings": openings, "max_plies": cap, "at_once": at_once, "games": 4}
    told = records("connect_four", "random", "alphabeta(depth=1)", **options)
    assert {record.termination for record in told} == {"cap"}
    assert {record.winner for record in told} == {0}
    assert [r.plies for r in told] == [max(cap, len(openings[i // 2 % len(openings)])) for i in range(4)]


def test_one_referee_guards_or_not_as_it_is_told():
    board = gk.game("connect_four")
    referee = Referee(board, two_players("alphabeta(depth=2)", "leftmost", board), Rules(move_seconds=5))
    schedule = fixtures(1, board, "", [], range(2))
    told = [
        [r._replace(elapsed=0.0) for r in referee.games(schedule, guarded=guarded)] for guarded in (True, False, True)
    ]
    assert told[0] == told[1] == told[2]


def test_a_sweep_with_and_without_its_guard(tmp_path, monkeypatch):
    """Trusting the package's own players changes no byte."""
    frames, files = [], []
    for name, trusted in (("trusted", True), ("guarded", False)):
        monkeypatch.setattr(Referee, "trusted", trusted)
        frames.append(
            gk.sweep(
                ["connect_four", "conga"],
                ["alphabeta(depth=2)", "random"],
                "search(nodes=50,ties=random)",
                games_each=12,
                openings=3,
                seed=3,
                out=tmp_path / name,
                workers=1,
            )
        )
        files.append((tmp_path / name / "games.parquet").read_bytes())
    pd.testing.assert_frame_equal(*frames)
    assert files[0] == files[1]
    assert len(frames[0]) == 48


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
            told = records(game, first, second, max_plies=cap, games=30)
            assert told == records(game, first, second, max_plies=cap, games=30, at_once=False)
            seen |= {record.termination for record in told}
    assert seen == {"win", "draw", "repetition", "cap"}


@pytest.mark.parametrize("repetition", [None, 2, 5])
def test_every_repetition_rule_is_the_same(repetition):
    """Without one a loop goes on until the cap."""
    pair = "alphabeta(depth=1)", "alphabeta(depth=1)"
    told = records("conga", *pair, repetition=repetition, max_plies=200, games=2)
    assert told == records("conga", *pair, repetition=repetition, max_plies=200, games=2, at_once=False)
    assert {record.termination for record in told} == {"repetition" if repetition else "cap"}


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
            told = records("connect_four", first, second, games=20)
            assert told == records("connect_four", first, second, games=20, at_once=False)
            assert {record.termination for record in told} & {"crash"}
            assert any(name in record.note for record in told)


@pytest.mark.parametrize("guarded", [False, True])
def test_a_late_move_forfeits_guarded_or_not(guarded):
    told = records("connect_four", "alphabeta(depth=12)", "leftmost", move_seconds=0.03, games=4, guarded=guarded)
    assert [(r.termination, r.winner, r.plies) for r in told] == [("timeout", 2, 0), ("timeout", 1, 1)] * 2
    assert {r.note for r in told} <= {"no answer within the limit", "answered after the limit"}


def test_an_answer_after_the_limit_is_late():
    """Guarded, but answering before anybody ends it: the clock inside the game tells."""
    (told,) = records("connect_four", "alphabeta(depth=9)", "leftmost", move_seconds=0.002, games=1, guarded=True)
    assert (told.termination, told.winner, told.plies, told.note) == ("timeout", 2, 0, "answered after the limit")


def test_only_code_of_the_package_goes_unguarded(failing):
    board = gk.game("connect_four")

    def trusted(first, second="random", **rules):
        return Referee(board, two_players(first, second, board), Rules(**rules)).trusted

    assert trusted("alphabeta(depth=2)")
    assert trusted("search(nodes=50,table=on,megabytes=8)")
    assert not trusted(f"alphabeta(depth=2,heuristic={failing[0]})")
    assert not trusted("random", lambda position: position.moves()[0])
    assert not trusted("montecarlo(playouts=5)")
    assert not trusted("search(nodes=50,table=on,megabytes=128)", megabytes=64)


def test_a_heuristic_written_anew_counts_from_the_next_game_on():
    board, mine = gk.game("connect_four"), gk.player("greedy(heuristic=mine)")
    opened = []
    for column in (2, 5):

        @gk.heuristic("connect_four", params={"column": float(column)})
        def mine_now(board, me, params):
            return 1.0 if board[5, int(params[0])] == me else 0.0

        mine_now.name = "mine"
        gk.HEURISTICS["connect_four", "mine"] = mine_now
        referee = Referee(board, two_players(mine, "leftmost", board), Rules())
        (told,) = referee.games(fixtures(1, board, "", [], range(1)), guarded=False)
        assert goes_at_once(board, *referee.players)
        opened.append(told.moves[0])
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
        assert not goes_at_once(board, gk.player(spec))

    class Mine(type(gk.player("random"))):
        """A custom class may do anything in `pick`, whatever it inherits."""

        def pick(self, position):
            return position.codes()[-1]

    told = gk.match(board, Mine(), "leftmost", games=2)
    assert [moves[0] for moves in told.moves] == ["7", "1"]
