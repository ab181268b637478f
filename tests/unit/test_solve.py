"""`Solver` and `gamekit solve`: one convention of values, honest budgets, files, and wrong use in one sentence."""

import json
import random

import pytest

import gamekit as gk
from gamekit.errors import GamekitError
from gamekit.solvers.solver import Solver

BOARDS = (
    "connect_four(columns=5,rows=4)",
    "connect_k(columns=4,rows=4,k=3,gravity=on)",
    "connect_k(columns=4,rows=3,k=1,gravity=on)",
    "connect_k(columns=32,rows=3,k=3,gravity=on)",
    "mnk(m=3,n=4,k=3)",
    "mnk(m=4,n=4,k=4)",
    "mnk(m=3,n=3,k=1)",
    "candy(board=Ayds)",
    "conga",
)


def near_the_end(board, rng):
    """A position from the last moves of a game: Conga's need a player who wins, the others' end by themselves."""
    first = "alphabeta(depth=3)" if board.name == "conga" else "random"
    played = gk.play_game(board, first, "random", seed=rng.randrange(10**6))
    return board.replay(played.moves[: -rng.randint(1, min(6, len(played.moves)))])


@pytest.mark.parametrize("game", BOARDS)
def test_a_position_is_worth_its_best_move(game):
    """Whichever solver has it, on a word, by search or over already: the same convention."""
    board, rng = gk.game(game), random.Random(game)
    solver, compared, endless = Solver(board), 0, board.longest is None or board.longest > 64
    for _ in range(15):
        position = near_the_end(board, rng)
        value, moves = solver.solve(position, 0.3).value, solver.moves(position, 0.6)
        if endless and (value is None or None in moves.values()):
            continue  # withheld, not guessed
        assert value == max(moves.values())
        compared += 1
    assert compared >= (2 if endless else 15)


def test_a_win_counts_the_stones_in_hand():
    """Beyond 64 bits as within: how many the winner still holds when about to win."""
    for columns in (7, 8, 32):
        board = gk.game(f"connect_four(columns={columns},rows=6)")
        position = board.replay(["1", "1", "2", "2", "3", "3"])
        assert Solver(board).solve(position, 5).value == (6 * columns - 6) // 2
        assert Solver(board).solve(position.play("4"), 5).value == -((6 * columns - 6) // 2)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_time_that_is_none_is_refused(seconds):
    with pytest.raises(GamekitError, match=r"seconds=.* is not allowed"):
        Solver("connect_four").solve(gk.game("connect_four").start(), seconds)


def test_what_cannot_be_solved_is_said():
    for game in ("connect_four", "mnk(m=15,n=15,k=5)", "mnk(m=7,n=7,k=5)", "candy", "conga"):
        found = Solver(game).solve(gk.game(game).start(), 0.05)
        assert found.value is None
        assert str(found).startswith("not solved (")


def test_files(cli, tmp_path):
    file = tmp_path / "positions.txt"
    file.write_text("121212\n1 2 1 2 1 2\n121212 5 # somebody's score\n\n# nothing\n1 2\n", encoding="utf-8")
    ran = cli("solve", "connect_four(columns=4,rows=4)", "--file", str(file))
    assert (ran.code, ran.out.splitlines()) == (0, ["121212 5"] * 3 + ["1 0"])
    found = json.loads(cli("solve", "connect_four(columns=4,rows=4)", "--file", str(file), "--json").out)
    assert [row["value"] for row in found] == [5, 5, 5, 0]
    file.write_text("0,0 1,1\n", encoding="utf-8")
    assert cli("solve", "mnk", "--file", str(file)).out == "0,0 1,1 0\n"


def test_one_position(cli):
    ran = json.loads(cli("solve", "connect_four", "--moves", "4444441111", "--all", "--json").out)
    assert ran["value"] == max(ran["moves"].values())
    assert set(ran["moves"]) <= set("1234567")
    assert cli("solve", "mnk", "--moves", "0,0 1,1 0,1 2,2").out.startswith("1 (the side to move wins")
    ran = cli("solve", "conga", "--seconds", "0.05")
    assert (ran.code, ran.out.startswith("not solved")) == (1, True)


@pytest.mark.parametrize(
    "wrong",
    [
        ("--seconds", "nan"),
        ("--seconds", "0"),
        ("--seconds", "-2"),
        ("--megabytes", "0"),
        ("--moves", "8"),
        ("--moves", "rubbish"),
        ("--file", ""),
        ("--file", "no/such/file"),
        ("--file", "{empty}"),
        ("--file", "{binary}"),
        ("--file", "{bad}"),
        ("--file", "{good}", "--all"),
    ],
)
def test_wrong_use(cli, tmp_path, wrong):
    for name, data in (
        ("empty", b""),
        ("binary", b"\xff\xfe\x00\x81"),
        ("bad", b"44444412121\n4x\n"),
        ("good", b"44444412\n"),
    ):
        (tmp_path / name).write_bytes(data)
    ran = cli("solve", "connect_four", *(word.replace("{", f"{tmp_path}/").replace("}", "") for word in wrong))
    assert ran.code == 2
    assert len(ran.err.strip().splitlines()) == 1
    assert "Traceback" not in ran.err


@pytest.mark.long
def test_the_empty_board_and_its_seven_first_moves():
    solver = Solver("connect_four")
    start = gk.game("connect_four").start()
    assert solver.solve(start).value == 1
    assert list(solver.moves(start).values()) == [-2, -1, 0, 1, 0, -1, -2]
