"""Whatever a player does, its game has a label, its opponent has the point, and the sweep goes on."""

import os
import signal
import time

import bad_players
import psutil
import pytest
from bad_players import HARMLESS, QUICK, SLOW, Liar, dies, good, hangs, reseeds, writes
from conftest import start_child

import gamekit as gk
from gamekit.players.base import Player

LIMIT = 0.4
OFTEN = {  # the rest of the slow ones is for the long tests
    bad_players.hangs_compiled,
    bad_players.swallows,
    bad_players.stops_itself,
    bad_players.is_stopped_by_a_helper,
    bad_players.closes_descriptors,
    bad_players.forks_and_hangs,
    bad_players.hanging_repr,
}


def played(bad, games=4, move_seconds=20.0, megabytes=300):
    limits = {"move_seconds": move_seconds, "megabytes": megabytes}
    found = gk.sweep("connect_four", [bad, good], "random", games_each=games, workers=1, **limits)
    assert len(found) == 2 * games  # every game accounted for, the other player's too
    other = found[found.player == "good"]
    assert set(other.termination) == {"win"}
    return found[found.player == bad.__name__]


@pytest.fixture(autouse=True)
def nothing_is_left_running(tmp_path, monkeypatch):
    """Processes that players start are gone when the sweep is, and no test waits for a hung player for ever."""
    note = tmp_path / "left_behind"
    monkeypatch.setenv(bad_players.LEFT_BEHIND, str(note))
    signal.alarm(60)
    yield
    signal.alarm(0)
    started = [int(line) for line in note.read_text().split()] if note.exists() else []
    alive = [pid for pid in started if psutil.pid_exists(pid)]
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    assert not alive


@pytest.fixture(autouse=True, scope="module")
def an_alarm_is_a_failure():
    def hung(*_):
        raise AssertionError("the sweep hangs")

    before = signal.signal(signal.SIGALRM, hung)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(("bad", "label"), QUICK.items(), ids=lambda x: getattr(x, "__name__", None))
def test_a_bad_player_forfeits(bad, label):
    found = played(bad)
    assert set(found.termination) == {label}
    assert set(found.result) == {"loss"}
    assert (found.note.str.len() > 0).all()
    assert not found.note.str.contains("0x[0-9a-f]").any()  # addresses would differ from run to run


def test_the_moves_before_a_forfeit_are_kept():
    def dies_late(position):
        return position.moves()[0] if len(position.line) < 6 else dies(position)

    found = gk.match("connect_four", dies_late, "random", games=2, move_seconds=20)
    assert list(found.termination) == ["crash", "crash"]
    assert list(found.plies) == [6, 7]
    assert [len(moves) for moves in found.moves] == [6, 7]


@pytest.mark.parametrize(
    "bad",
    [bad if bad in OFTEN else pytest.param(bad, marks=pytest.mark.long) for bad in SLOW],
    ids=lambda x: x.__name__,
)
def test_a_hung_player_is_gone_in_time(bad):
    started = time.monotonic()
    found = played(bad, games=2, move_seconds=LIMIT)
    assert set(found.termination) == {"timeout"}
    assert set(found.result) == {"loss"}
    assert time.monotonic() - started < 2 * (LIMIT + 1) + 3


@pytest.mark.parametrize(
    "bad", [hangs, bad_players.stops_itself, bad_players.forks_and_hangs], ids=lambda x: x.__name__
)
def test_limit_and_a_second(bad):
    gk.match("connect_four", good, "random", games=1, move_seconds=LIMIT)
    started = time.monotonic()
    found = gk.match("connect_four", bad, "random", games=1, move_seconds=LIMIT)
    assert set(found.termination) == {"timeout"}
    assert time.monotonic() - started < LIMIT + 1


def test_a_crash_is_told_at_once_whatever_still_holds_the_pipe():
    started = time.monotonic()
    assert set(gk.match("connect_four", bad_players.forks, "random", games=1).termination) == {"crash"}
    assert time.monotonic() - started < 3


def test_no_player_outlives_its_sweep(tmp_path):
    """Killed outright, the sweep cannot end the player's process; the kernel does."""

    def hangs_somewhere(position):
        (tmp_path / "pid").write_text(str(os.getpid()))
        hangs(position)

    pid = start_child(lambda: gk.match("connect_four", hangs_somewhere, "random", games=1, move_seconds=60))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        time.sleep(0.01)
    player = int((tmp_path / "pid").read_text())
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    deadline = time.monotonic() + 2
    while psutil.pid_exists(player) and psutil.Process(player).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, os.kill(player, signal.SIGKILL)
        time.sleep(0.02)


@pytest.mark.parametrize("odd", HARMLESS, ids=lambda x: x.__name__)
def test_odd_habits_harm_nobody(odd, capfd):
    found = played(odd, games=2, megabytes=2048)
    assert set(found.termination) == {"win"}
    out, err = capfd.readouterr()
    assert len(out) + len(err) < 10_000


def test_reseeding_the_global_generators_changes_nothing():
    one, other = (gk.match("connect_four", player, "random", games=6, seed=1) for player in (reseeds, good))
    assert list(one.moves) == list(other.moves)


class TestAPositionThatIsWrittenInto:
    """It is a copy: the game, its history and what the opponent sees stay what they are."""

    @pytest.mark.parametrize("guarded", [True, False])
    @pytest.mark.parametrize("opponent", ["random", "alphabeta(depth=3)"])
    def test_the_game_goes_on_as_if_nothing_had_happened(self, opponent, guarded):
        options = {"moves": "44", "move_seconds": 20 if guarded else None}
        for seed in range(3):
            for seats in (slice(None), slice(None, None, -1)):
                told, true = (
                    gk.play_game("connect_four", *[player, opponent][seats], seed=seed, **options)
                    for player in (writes, good)
                )
                assert (told.moves, told.winner, told.termination) == (true.moves, true.winner, true.termination)

    def test_every_game_of_a_match_begins_at_the_start(self):
        one, other = (gk.match("conga", player, "random", games=6, openings=2) for player in (writes, good))
        assert list(one.moves) == list(other.moves)

    def test_the_opponent_sees_the_true_history(self):
        def trusting(position):
            assert position.key == gk.game("connect_four").replay(position.line).key
            assert [one.ply for one in position.history] == list(range(position.ply + 1))
            for one, line in zip(position.history, range(position.ply + 1), strict=True):
                assert one.key == gk.game("connect_four").replay(position.line[:line]).key
            return position.moves()[-1]

        found = gk.match("connect_four", writes, trusting, games=4, openings=["44"])
        assert set(found.termination) == {"win"}

    def test_a_class_may_write_as_little_as_a_function(self):
        class Writes(Player):
            name = "writes"

            def pick(self, position):
                code = position.codes()[0]
                writes(position)
                return code

        one, other = (gk.match("connect_four", player, "random", games=6) for player in (Writes(), good))
        assert list(one.moves) == list(other.moves)


@pytest.mark.parametrize("code", [7, -1, 3.0, True, None, "3", float("nan"), Liar()], ids=repr)
def test_a_player_of_a_custom_class_is_checked_too(code):
    class Odd(Player):
        name = "odd"

        def pick(self, position):
            return code

    found = gk.match("connect_four", Odd(), "random", games=2)
    assert set(found.termination) == {"illegal"}
    assert set(found.result) == {"loss"}


@pytest.mark.parametrize("what", [7, -1, 3.0, None, "3", Liar()], ids=repr)
def test_a_choice_of_a_custom_class_is_checked_too(what):
    """With one row per move a player is asked for its evidence, which it may make up."""

    class Odd(Player):
        name = "odd"

        def think(self, position):
            code = what if len(position.line) > 1 else position.codes()[0]
            return gk.Choice("\ud800", code, stopped_by="\ud800", line=["\ud800", "\ud800"])

    found = gk.sweep("connect_four", Odd(), "random", games_each=2, rows="moves")
    assert set(found.termination) == {"illegal"}
    assert set(found[found.mover == "player"].move) == {"1"}
    found.to_json().encode()


def test_a_player_that_will_not_leave():
    class Sulks(Player):
        name = "sulks"
        deterministic = False

        def pick(self, position):
            return position.codes()[0]

        def close(self):
            raise RuntimeError("I will not go")

    assert set(gk.match("connect_four", Sulks(), "random", games=2).termination) == {"win"}


def test_a_player_that_hangs_on_leaving():
    class Lingers(Player):
        name = "lingers"

        def pick(self, position):
            return position.codes()[0]

        def close(self):
            time.sleep(1000)

    started = time.monotonic()
    found = gk.match("connect_four", Lingers(), "random", games=2, move_seconds=LIMIT)
    assert set(found.termination) == {"timeout"}
    assert set(found.result) == {"loss"}
    assert time.monotonic() - started < 2 * (LIMIT + 1) + 1


def test_a_player_that_fails_to_begin():
    class Absent(Player):
        name = "absent"

        def begin(self, game, seed=0):
            raise RuntimeError("not today")

    found = gk.match("connect_four", "random", Absent(), games=4)
    assert set(found.termination) == {"crash"}
    assert set(found.result) == {"win"}
    assert set(found.plies) == {0}
