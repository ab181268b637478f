"""Whatever a player does, its game has a label, its opponent has the point, and the sweep goes on."""

import os
import signal
import time

import psutil
import pytest
from bad_players import HARMLESS, QUICK, SLOW, Liar, good, hangs, hangs_compiled, reseeds, swallows
from gamekit.experiments.old_sweep import sweep
from gamekit.matches.match import match

LIMIT = 0.4


def played(bad, games=4, limit=20.0, memory=300):
    found = sweep(
        "connect_four", [bad, good], "random", games_each=games, limit=limit, memory=memory, workers=1
    ).frame()
    assert len(found) == 2 * games  # every game accounted for, the other pair's too
    other = found[found.player == "good"]
    assert set(other.termination) == {"win"}
    return found[found.player == bad.__name__]


@pytest.mark.parametrize(("bad", "label"), QUICK.items(), ids=lambda x: getattr(x, "__name__", None))
def test_a_bad_player_forfeits(bad, label):
    found = played(bad)
    assert set(found.termination) == {label}
    assert set(found.winner) == {2}
    assert (found.note.str.len() > 0).all()
    assert not found.note.str.contains("0x[0-9a-f]").any()  # addresses would differ from run to run


def test_the_moves_before_a_forfeit_are_kept():
    from bad_players import dies

    def dies_late(position):
        return position.moves()[0] if len(position.line) < 6 else dies(position)

    found = match("connect_four", dies_late, "random", games=2, limit=20).records
    assert [r.termination for r in found] == ["crash", "crash"]
    assert [r.plies for r in found] == [6, 7]
    assert all(len(r.moves) == r.plies for r in found)


@pytest.mark.parametrize(
    "bad",
    [bad if bad in (hangs_compiled, swallows) else pytest.param(bad, marks=pytest.mark.long) for bad in SLOW],
    ids=lambda x: x.__name__,
)
def test_a_hung_player_is_gone_in_time(bad):
    started = time.monotonic()
    found = played(bad, games=2, limit=LIMIT)
    assert set(found.termination) == {"timeout"}
    assert set(found.winner) == {2}
    assert time.monotonic() - started < 2 * (LIMIT + 1) + 3


def test_limit_and_a_second(tmp_path):
    started = time.monotonic()
    result = match("connect_four", hangs, "random", games=1, limit=LIMIT)
    assert result.terminations == {"timeout": 1}
    assert time.monotonic() - started < LIMIT + 1


def test_no_player_outlives_its_sweep(tmp_path):
    """Killed outright, the sweep cannot end the player's process; the kernel does."""
    from conftest import start_child

    def hangs_somewhere(position):
        (tmp_path / "pid").write_text(str(os.getpid()))
        hangs(position)

    pid = start_child(lambda: match("connect_four", hangs_somewhere, "random", games=1, limit=60))
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
    found = played(odd, games=2, memory=2048)
    assert set(found.termination) == {"win"}
    out, err = capfd.readouterr()
    assert len(out) + len(err) < 10_000


def test_reseeding_the_global_generators_changes_nothing():
    def first(position):
        return position.moves()[0]

    first.__name__ = "reseeds"  # chance hangs on the name, so that only the reseeding differs
    for limit in (None, 20):
        assert (
            match("connect_four", reseeds, "random", games=6, seed=1, limit=limit).records
            == match("connect_four", first, "random", games=6, seed=1, limit=limit).records
        )


@pytest.mark.parametrize("code", [7, -1, 3.0, True, None, "3", float("nan"), Liar()], ids=repr)
def test_a_player_of_ones_own_class_is_checked_too(code):
    from gamekit.players.base import Player

    class Odd(Player):
        name = "odd"

        def pick(self, position):
            return code

    result = match("connect_four", Odd(), "random", games=2)
    assert result.terminations == {"illegal": 2}
    assert result.wins == (0, 2)


def test_a_player_that_will_not_leave():
    from gamekit.players.base import Player

    class Sulks(Player):
        name = "sulks"
        deterministic = False

        def pick(self, position):
            return position.codes()[0]

        def close(self):
            raise RuntimeError("I will not go")

    assert match("connect_four", Sulks(), "random", games=2).terminations == {"win": 2}


def test_a_player_that_fails_to_begin():
    from gamekit.players.base import Player

    class Absent(Player):
        name = "absent"

        def begin(self, game, seed=0):
            raise RuntimeError("not today")

    result = match("connect_four", "random", Absent(), games=4)
    assert result.terminations == {"crash": 4}
    assert result.wins == (4, 0)
