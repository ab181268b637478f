"""The rules of the five games against slow rules written apart, known counts, and every bad text we could think of."""

from __future__ import annotations

import contextlib
import pickle
import random
import subprocess
import sys

import numpy as np
import plain_rules
import pytest

import gamekit as gk
from gamekit.search.perft import distinct, perft, tree_size

BOARDS = ["AlmondJoy", "Ayds", "Bit-O-Honey", "Mounds", "ReesesPieces"]
FIVE = ["conga", "candy(board=ReesesPieces)", "connect_k", "mnk", "connect_four"]
MANY = [
    *FIVE,
    "candy(board=Mounds)",
    "mnk(m=3,n=4,k=3)",
    "mnk(m=1,n=9,k=3)",
    "mnk(m=8,n=8,k=4)",
    "mnk(m=7,n=8,k=4)",
    "mnk(m=10,n=9,k=5)",
    "connect_k(columns=12,rows=8,k=5,gravity=on)",
    "connect_k(columns=5,rows=9,k=5,gravity=on)",
    "connect_k(columns=8,rows=7,k=4,gravity=on)",
    "connect_k(columns=8,rows=8,k=4,gravity=on)",
    "connect_four(columns=5,rows=4)",
]
# boards that just fit a word of 64 bits (columns × (rows + 1) ≤ 64), just do not, and thin ones
BORDER = [
    "mnk(m=15,n=4,k=8)",
    "mnk(m=15,n=4,k=12)",
    "mnk(m=15,n=4,k=4)",
    "mnk(m=14,n=4,k=8)",
    "mnk(m=14,n=4,k=9)",
    "mnk(m=7,n=8,k=8)",
    "mnk(m=8,n=7,k=8)",
    "mnk(m=9,n=6,k=7)",
    "mnk(m=11,n=5,k=6)",
    "mnk(m=3,n=16,k=4)",
    "mnk(m=3,n=16,k=16)",
    "mnk(m=19,n=3,k=4)",
    "mnk(m=4,n=12,k=12)",
    "mnk(m=4,n=13,k=5)",
    "mnk(m=1,n=19,k=4)",
    "mnk(m=19,n=1,k=4)",
    "mnk(m=1,n=1,k=1)",
    "mnk(m=2,n=2,k=1)",
    "mnk(m=2,n=2,k=2)",
    "connect_k(columns=2,rows=31,k=4)",
    "connect_k(columns=2,rows=31,k=2)",
    "connect_k(columns=2,rows=30,k=5)",
    "connect_k(columns=2,rows=30,k=4,gravity=on)",
    "connect_k(columns=2,rows=31,k=16,gravity=on)",
    "connect_k(columns=3,rows=20,k=4)",
    "connect_k(columns=32,rows=1,k=5)",
    "connect_k(columns=1,rows=32,k=5,gravity=on)",
    "connect_k(columns=1,rows=32,k=32,gravity=on)",
]
LARGE = [
    "mnk(m=19,n=19,k=6)",
    "mnk(m=19,n=19,k=1)",
    "mnk(m=19,n=19,k=19)",
    "connect_k(columns=32,rows=32,k=5)",
    "connect_k(columns=32,rows=32,k=5,gravity=on)",
    "connect_k(columns=32,rows=32,k=32)",
]


# ------------------------------------------------------------------------------------ known counts


def test_conga_perft_is_what_the_report_s_rules_give():
    assert perft(gk.game("conga").start(), 5) == [3, 8, 96, 1112, 13536]


def test_connect_four_perft_stops_at_a_win():
    assert perft(gk.game("connect_four").start(), 8) == [7, 49, 343, 2401, 16807, 117649, 823536, 5673234]


def test_connect_four_distinct_positions_by_ply():
    assert distinct(gk.game("connect_four").start(), 7) == [1, 7, 49, 238, 1120, 4263, 16422, 54859]


@pytest.mark.parametrize(
    ("spec", "size"),
    [
        ("mnk", 549946),
        ("mnk(m=2,n=3,k=2)", 285),
        ("mnk(m=1,n=1,k=1)", 2),
        ("mnk(m=2,n=2,k=2)", 1 + 4 + 12 + 24),
        ("mnk(m=3,n=3,k=1)", 10),
    ],
)
def test_the_size_of_a_whole_tree(spec, size):
    assert tree_size(gk.game(spec).start()) == size


def test_a_tree_without_bound_has_no_size():
    with pytest.raises(gk.GamekitError, match="conga has no longest game"):
        tree_size(gk.game("conga").start())


@pytest.mark.parametrize(
    "spec",
    [
        "conga",
        "candy(board=Ayds)",
        "mnk(m=3,n=4,k=3)",
        "mnk(m=15,n=4,k=8)",
        "connect_four",
        "connect_k(columns=6,rows=8,k=4)",
        "connect_k(columns=9,rows=8,k=4,gravity=on)",
    ],
)
def test_perft_of_random_positions_agrees_with_the_slow_rules(spec, judge, scramble):
    game, rng = gk.game(spec), random.Random(spec)
    slow = judge(game)
    for _ in range(4):
        position = scramble(game, rng, 30)
        depth = 2 if len(position.codes()) > 12 else 3
        state = plain_rules.replay(slow, position.line)
        assert perft(position, depth) == [plain_rules.perft(slow, state, d + 1) for d in range(depth)]


def test_perft_of_a_finished_game_is_nothing():
    position = gk.game("connect_four").replay("1213141")
    assert position.winner == 1
    assert perft(position, 3) == [0, 0, 0]
    assert tree_size(position) == 1


@pytest.mark.parametrize("depth", [0, -1, 1001, 2.5, "3", None])
def test_perft_refuses_a_depth_that_is_none(depth):
    with pytest.raises(gk.GamekitError, match="depth"):
        perft(gk.game("conga").start(), depth)


@pytest.mark.parametrize("board", BOARDS)
def test_candy_node_counts_are_the_closed_form_and_alpha_beta_plays_minimax_s_game(board):
    game = gk.game(f"candy(board={board})")
    for depth, counts in {1: (342, 324), 2: (8436, 7770), 3: (217740, 194736)}.items():
        games = []
        for kind in ("minimax", "alphabeta"):
            players = [gk.player(f"{kind}(depth={depth})") for _ in range(2)]
            for player in players:
                player.begin(game)
            position = game.start()
            while position.winner is None:
                position = position.after(players[position.turn - 1].pick(position))
            games.append((position.line, [player.nodes for player in players]))
        assert games[0][0] == games[1][0]
        assert tuple(games[0][1]) == counts
        assert games[1][1] <= games[0][1]


def test_candy_totals_of_the_five_boards():
    assert [int(gk.game(f"candy(board={b})").values.sum(dtype=int)) for b in BOARDS] == [36, 1800, 378, 72, 1653]
    for board in BOARDS:
        assert gk.game(f"candy(board={board})").values.tolist() == plain_rules.CANDY_BOARDS[board]


def test_the_reports_capture_turns_both_neighbours():
    position = gk.game("candy(board=ReesesPieces)").replay("C2 D3 A6 C4 C3")
    assert position.game.score(position.record) == (50 + 59 + 80 + 43 + 39, 0)


# ------------------------------------------------------------------------------ against slow rules


def _same(game, slow, rng, most):
    """One random game in both: moves in order, winner and turn at every ply."""
    position, state = game.start(), slow.start()
    for _ in range(most):
        assert position.moves() == slow.moves(state)
        assert position.winner == slow.winner(state)
        if position.winner is not None:
            assert position.codes() == ()
            break
        assert position.turn == slow.turn(state)
        move = rng.choice(position.moves())
        position, state = position.play(move), slow.play(state, move)
    return position, state


@pytest.mark.parametrize("spec", MANY)
def test_random_games_agree_with_the_slow_rules(spec, judge):
    game, rng = gk.game(spec), random.Random(spec)
    for _ in range(12):
        position, state = _same(game, judge(game), rng, 120)
        if game.name == "candy":
            assert position.outcome().score == judge(game).totals(state)


@pytest.mark.parametrize("spec", BORDER)
def test_boards_around_the_64_bit_border_agree_with_the_slow_rules(spec, judge):
    game, rng = gk.game(spec), random.Random(spec)
    for _ in range(12):
        _same(game, judge(game), rng, 100)


@pytest.mark.long
@pytest.mark.parametrize("spec", MANY + BORDER)
def test_many_random_games_agree_with_the_slow_rules(spec, judge):
    game, rng = gk.game(spec), random.Random(spec + "long")
    for _ in range(150):
        _same(game, judge(game), rng, 300)


@pytest.mark.parametrize("spec", LARGE)
def test_large_boards_agree_with_the_slow_rules_at_the_end(spec, judge):
    game, rng = gk.game(spec), random.Random(spec)
    slow = judge(game)
    position = game.start()
    while position.winner is None:
        position = position.after(rng.choice(position.codes()))
    grid = tuple(map(tuple, position.board.tolist()))
    assert position.winner == slow.winner((grid, 1))
    before = position.parent
    assert slow.winner((tuple(map(tuple, before.board.tolist())), 1)) is None


def _placed(game, cells):
    """A position with these cells as the first player's and as many others as needed elsewhere, by playing."""
    position = game.start()
    others = [(r, c) for r in range(game.rows) for c in range(game.cols) if (r, c) not in cells]
    spare = iter(sorted(others, key=lambda cell: (cell[0] * 7 + cell[1] * 3) % 11))  # scattered: no line of their own
    for r, c in cells:
        if position.winner is not None:
            return position
        position = position.play(f"{r},{c}")
        if position.winner is None and (r, c) != cells[-1]:
            position = position.play("{},{}".format(*next(spare)))
    return position


@pytest.mark.parametrize("spec", ["mnk(m=6,n=7,k=4)", "mnk(m=9,n=9,k=4)", "mnk(m=8,n=7,k=3)", "mnk(m=15,n=4,k=4)"])
def test_every_line_on_every_edge_wins_with_its_last_stone_wherever_that_is(spec, judge):
    """All windows of the board, each completed by each of its cells last."""
    game = gk.game(spec)
    for number, window in enumerate(judge(game).all_windows):
        last = number % game.k
        cells = window[:last] + window[last + 1 :] + [window[last]]
        position = _placed(game, cells)
        slow = judge(game).winner((tuple(map(tuple, position.board.tolist())), 1))
        assert position.winner == slow, (spec, window, last)
        short = _placed(game, cells[:-1])
        assert short.winner == judge(game).winner((tuple(map(tuple, short.board.tolist())), 1))


@pytest.mark.parametrize("m", [6, 9, 19])
def test_a_line_longer_than_k_wins_too(m):
    """Two threes with a hole between, filled last: seven in a row where four are asked for."""
    game = gk.game(f"mnk(m={m},n={m},k=4)")
    for step in ((0, 1), (1, 0)):
        cells = [(step[0] * i, step[1] * i) for i in (0, 1, 2, 4, 5)] + [(step[0] * 3, step[1] * 3)]
        position = game.start()
        spare = iter([(5, 5), (4, 3), (3, 5), (5, 2), (2, 4)])
        for cell in cells[:-1]:
            position = position.play("{},{}".format(*cell)).play("{},{}".format(*next(spare)))
        assert position.winner is None
        assert position.play("{},{}".format(*cells[-1])).winner == 1


def test_the_last_square_may_win_or_draw():
    assert gk.game("mnk(m=3,n=3,k=3)").replay("0,0 0,1 0,2 1,1 1,0 1,2 2,1 2,0 2,2").outcome() == gk.Outcome(0, "draw")
    won = gk.game("mnk(m=3,n=3,k=3)").replay("0,0 0,1 0,2 1,0 1,1 1,2 2,1 2,0 2,2")
    assert won.outcome() == gk.Outcome(1, "win")
    assert won.ply == 9


@pytest.mark.parametrize("spec", ["mnk(m=4,n=4,k=1)", "connect_k(columns=3,rows=3,k=1,gravity=on)", "mnk(m=1,n=1,k=1)"])
def test_with_k_one_the_first_move_wins(spec):
    game = gk.game(spec)
    for move in game.start().moves():
        assert game.start().play(move).winner == 1


def test_conga_a_player_without_a_move_has_lost():
    position = gk.game("conga").replay(plain_rules.CONGA_TRANSCRIPT)
    assert (position.winner, position.moves(), position.turn, position.ply) == (1, [], 2, 35)
    missed = gk.game("conga").replay(plain_rules.CONGA_TRANSCRIPT[:20]).play("12SW")
    assert missed.winner == 1


# --------------------------------------------------------------------------------- text in and out


@pytest.mark.parametrize("spec", [*MANY, "connect_k(columns=2,rows=31,k=4)", "mnk(m=19,n=19,k=6)"])
def test_text_and_line_round_trip_at_every_ply(spec):
    game, rng = gk.game(spec), random.Random(spec)
    position = game.start()
    for _ in range(24):
        again = game.position(str(position))
        assert again == position
        assert again.winner == position.winner
        assert again.turn == position.turn
        assert game.replay(game.join(position.line)) == position
        assert eval(repr(position), {"gk": gk}) == position
        assert eval(repr(again), {"gk": gk}) == position
        for move in position.moves():
            assert game.write(game.read(move)) == move
        if position.winner is not None:
            break
        position = position.after(rng.choice(position.codes()))


@pytest.mark.parametrize("spec", [*MANY, "connect_k(columns=32,rows=32,k=5)"])
def test_games_and_positions_survive_pickling(spec, scramble):
    game = gk.game(spec)
    position = scramble(game, random.Random(1), 20, running=False)
    assert pickle.loads(pickle.dumps(game)) == game
    again = pickle.loads(pickle.dumps(position))
    assert again == position
    assert again.winner == position.winner
    assert again.moves() == position.moves()
    assert gk.game(str(game)) == game
    assert eval(repr(game), {"gk": gk}) == game


def test_lines_of_moves_are_read_in_all_their_forms():
    four = gk.game("connect_four")
    for line in (
        "4435",
        "4 4 3 5",
        "4,4,3,5",
        " 44 35".replace(" 35", "35"),
        "4\t4\t3\t5",
        "4\n4\n3\n5",
        ["4", "4", "3", "5"],
    ):
        assert four.replay(line).line == ["4", "4", "3", "5"], line
    wide = gk.game("connect_k(columns=12,rows=5,k=4,gravity=on)")
    assert wide.replay("10,12,1").line == wide.replay("10 12 1").line == ["10", "12", "1"]
    assert wide.join(["10", "12"]) == "10,12"
    assert gk.game("mnk").replay("0,0 1,1").line == ["0,0", "1,1"]
    assert gk.game("conga").replay("").line == []


@pytest.mark.parametrize(
    ("spec", "moves"),
    [
        ("conga", ["00S", "33NW"]),
        ("candy", ["D4", "d5", "C04"]),
        ("connect_four", ["4", " 4 "]),
        ("mnk", ["1,1", "00,2"]),
    ],
)
def test_moves_are_read_with_small_letters_and_spaces_around(spec, moves):
    position = gk.game(spec).start()
    for move in moves:
        position = position.play(f" {move.lower()}\n")
    assert position.ply == len(moves)


RUBBISH = [
    "",
    " ",
    "x",
    "-1",
    "0",
    "999999999999999999999",
    "9" * 5000,
    "1e3",
    "1.0",
    "0x1",
    "½",
    "²",
    "٣",
    "1,",
    ",1",
    "1,1,1",
    "0;0",
    "(0,0)",
    "__import__('os').system('true')",
    "../../x",
    "<b>4</b>",
    "{0}",
    "%s",
    "\x00",
    "4\x00",
    "A0",
    "A7",
    "G1",
    "AA1",
    "A-1",
    "D4D4",
    "00",
    "00X",
    "44N",
    "00NN",
    "00SN",
    "00ſ",
    "ſ1",
    "\ud800",
    "💥",
    "1_0",
    "+1",
    "nan",
    "None",
    "a" * 10000,
    "４",
]


@pytest.mark.parametrize("spec", FIVE)
@pytest.mark.parametrize("text", RUBBISH, ids=[repr(t)[:20] for t in RUBBISH])
def test_rubbish_is_no_move_and_changes_nothing(spec, text):
    position = gk.game(spec).start()
    before = position.data.tobytes(), str(position)
    if text in position.moves():  # a few of them are moves of one game
        assert position.play(text).line == [text]
    else:
        with pytest.raises(gk.MoveError, match=r"is not a move of|legal"):
            position.play(text)
    assert (position.data.tobytes(), str(position)) == before


@pytest.mark.parametrize("thing", [None, 4, 4.0, ["4"], b"4", object(), float("nan"), True])
@pytest.mark.parametrize("spec", FIVE)
def test_what_is_no_text_is_no_move(spec, thing):
    with pytest.raises(gk.MalformedMove, match="is not a move of"):
        gk.game(spec).start().play(thing)


@pytest.mark.parametrize("thing", [44, None, 4.0])
def test_a_line_that_is_no_text_is_refused_by_name(thing):
    with pytest.raises(gk.GamekitError):
        gk.game("connect_four").replay(thing)


@pytest.mark.parametrize("count", [2000, pytest.param(20_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("spec", FIVE)
def test_parsers_never_crash_on_random_text(spec, count):
    game, rng = gk.game(spec), random.Random(spec)
    position = game.start()
    likely = "0123456789ABCDEFGNSWE,. ()xXoO\n\t-+'\"" + "é½ſ０"
    legal = set(position.moves())
    for _ in range(count):
        alphabet = likely if rng.random() < 0.8 else [chr(rng.randrange(0x110000)) for _ in range(4)]
        text = "".join(rng.choice(alphabet) for _ in range(rng.randrange(8)))
        with contextlib.suppress(gk.MoveError):
            assert position.play(text).line[0] in legal
        with contextlib.suppress(gk.MoveError):
            game.replay(text)
        with contextlib.suppress(gk.PositionError):
            game.position(text)


@pytest.mark.parametrize("spec", ["conga", "candy", "connect_four", "mnk(m=3,n=3,k=3)", "connect_k"])
def test_damaged_position_texts_are_refused_or_are_positions(spec, scramble):
    game, rng = gk.game(spec), random.Random(spec)
    for _ in range(300):
        text = list(str(scramble(game, rng, 12, running=False)))
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(text))
            text[at] = rng.choice(["", text[at] * 2, rng.choice("012.XOABG19\n ")])
        try:
            position = game.position("".join(text))
        except gk.PositionError:
            continue
        assert game.position(str(position)) == position


def test_a_move_error_says_what_was_given_and_what_is_allowed():
    position = gk.game("connect_four").start()
    with pytest.raises(gk.MalformedMove, match=r"'9' is not a move of connect_four; a move is a column from 1 to 7"):
        position.play("9")
    for _ in range(3):
        position = position.play("1").play("1")
    with pytest.raises(gk.IllegalMove, match=r"'1' is not legal in this position; legal moves are 2 3 4 5 6 7"):
        position.play("1")
    over = gk.game("connect_four").replay("1213141")
    with pytest.raises(gk.IllegalMove, match="the game is over"):
        over.play("2")


# ----------------------------------------------------------------------------- impossible positions

IMPOSSIBLE = [
    ("conga", "A5 A6 . .\n. . . .\n. . . .\n. . . B10\nA to move", "A has 11 stones"),
    ("conga", "A10 . . .\n. . . .\n. . . .\n. . . B9\nA to move", "B has 9 stones"),
    ("conga", "A11 . . .\n. . . .\n. . . .\n. . . B10", "'A11' is no cell"),
    ("conga", "A0 A10 . .\n. . . .\n. . . .\n. . . B10", "'A0' is no cell"),
    ("conga", "A10 . . .\n. . . .\n. . . B10", "4 rows of 4"),
    ("conga", "A10 . . .\n. . . .\n. . . .\n. . . B10\nC to move", "'C' is not a player of conga"),
    (
        "connect_four",
        "\n".join([". . . . . . ."] * 4 + ["X . . . . . .", ". . . . . . ."]),
        "floating stone in column 1",
    ),
    ("connect_four", "\n".join([". . . . . . ."] * 4 + ["X X X X . . .", "O O O O . . ."]), "both players have a line"),
    ("connect_four", "\n".join([". . . . . . ."] * 5 + ["X X . . . . ."]), "X has 2 stones and O 0"),
    ("connect_four", "\n".join([". . . . . . ."] * 5 + ["O . . . . . ."]), "X has 0 stones and O 1"),
    ("connect_four", "\n".join([". . . . . . ."] * 5 + ["X O . . . . ."]) + "\nO to move", "it is X's turn"),
    ("connect_four", "\n".join([". . . . . . ."] * 4 + ["O O O . . . .", "X X X X O . ."]), "X has a line but"),
    ("connect_four", "\n".join([". . . . . . ."] * 5), "6 rows of 7"),
    ("connect_four", "\n".join([". . . . . . ."] * 5 + ["X O . . . . Q"]), "row 6, column 7: 'Q' is no cell"),
    ("mnk", "X X X\nO O O\n. . .", "both players have a line"),
    ("mnk", "X X X\nO O .\nO . .", "X has a line but"),
    ("mnk", "X X .\nX O .\n. . .", "X has 3 stones and O 1"),
    ("mnk(m=5,n=5,k=3)", "XXX..\nOO.O.\n.....\nO.O..\nXXX..", "line"),
    ("candy", "\n".join(["1 1 1 1 1 1"] * 5 + ["1 1 1 1 1 2B"]), "'2B' is no cell of this board; allowed: 1, 1B, 1G"),
    ("candy", "\n".join(["1 1 1 1 1 1"] * 5 + ["1 1 1 1 1"]), "6 rows of 6"),
    ("candy", "\n".join(["1 1 1 1 1 1"] * 5 + ["1 1 1 1 1 1B"]) + "\nBlue to move", "it is Green's turn"),
    ("connect_k", "", "7 rows of 9"),
]


@pytest.mark.parametrize(("spec", "text", "why"), IMPOSSIBLE, ids=[f"{s}-{w[:24]}" for s, _t, w in IMPOSSIBLE])
def test_impossible_positions_are_refused_by_name(spec, text, why):
    with pytest.raises(gk.PositionError, match=why.replace(".", r"\.")):
        gk.game(spec).position(text)


@pytest.mark.parametrize("thing", [None, 3, b"X", ["X"]])
def test_a_position_that_is_no_text_is_refused(thing):
    with pytest.raises(gk.PositionError):
        gk.game("mnk").position(thing)


# ---------------------------------------------------------------------------------------- board files


def _file(tmp_path, content, name="board.txt"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


BAD_FILES = [
    ("short row", "1 2 3\n4 5\n", "line 2, column 4: 2 values where the first row has 3"),
    ("long row", "1 2\n4 5 6\n", "line 2, column 6: 3 values where the first row has 2"),
    ("zero", "1 2\n0 5\n", "line 2, column 1: '0' is not a value from 1 to 99"),
    ("hundred", "1 2\n4 100\n", "line 2, column 3: '100' is not a value from 1 to 99"),
    ("negative", "1 -2\n4 5\n", "line 1, column 3: '-2' is not a value"),
    ("fraction", "1 2.5\n4 5\n", "line 1, column 3: '2.5' is not a value"),
    ("letters", "1 2\nx 5\n", "line 2, column 1: 'x' is not a value"),
    ("digits of another script", "1 ٣\n4 5\n", "line 1, column 3"),
    ("full-width digits", "1 ９\n4 5\n", "line 1, column 3"),
    ("empty", "", "line 1, column 1: the file holds no values"),
    ("blank lines only", "\n \n\t\n", "line 1, column 1: the file holds no values"),
    ("huge", "1 " * 20_000, "line 1, column 1: too large"),
    ("too many cells", "1 1 1 1 1 1 1 1 1\n" * 8, "line 8, column 1: a board has at most 64 cells"),
    ("too many columns", "1 " * 27, "26 columns"),
    ("hash comment", "# a board\n1 2\n", "line 1, column 1: '#' is not a value"),
    ("code", "__import__('os')\n", "line 1, column 1"),
    ("null bytes", "1 2\n\x00 3\n", "line 2, column 1"),
    ("a pickle", pickle.dumps([[1, 2], [3, 4]]), "board.txt"),
    ("latin-1", b"1 2\n\xe9 3\n", "board.txt cannot be read as text"),
    ("utf-16", "1 2\n3 4\n".encode("utf-16"), "board.txt cannot be read as text"),
]


@pytest.mark.parametrize(("content", "why"), [c[1:] for c in BAD_FILES], ids=[c[0] for c in BAD_FILES])
def test_bad_board_files_are_refused_with_file_line_and_column(tmp_path, content, why):
    path = _file(tmp_path, content)
    with pytest.raises(gk.GamekitError, match=why) as caught:
        gk.game(f"candy(board='{path}')")
    assert str(path) in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "content",
    [
        "1 2 3\n4 5 6\n",
        "\ufeff1 2 3\n4 5 6\n",
        "1 2 3\r\n4 5 6\r\n",
        "1\t2\t3\n4\t5\t6",
        "1,2,3\n4,5,6\n",
        "\n1 2  3  \n\n  4 5 6\n\n",
        "01 02 03\n4, 5, 6",
        "1 2 3\r4 5 6\r",
    ],
    ids=["plain", "BOM", "CRLF", "tabs", "commas", "blank lines", "zeros in front", "CR"],
)
def test_board_files_with_other_habits_are_accepted(tmp_path, content):
    game = gk.game(f"candy(board='{_file(tmp_path, content)}')")
    assert game.values.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert game.start().moves() == ["A1", "B1", "C1", "A2", "B2", "C2"]


@pytest.mark.parametrize("name", ["a board.txt", "o'neil.txt", "ein(e),=Tafel.txt", "1.5", "on.txt", "täfel.txt"])
def test_a_board_file_s_game_reads_back_from_its_own_text(tmp_path, name):
    path = _file(tmp_path, "1 2\n3 4\n", name)
    quote = '"' if "'" in name else "'"
    game = gk.game(f"candy(board={quote}{path}{quote})")
    assert gk.game(str(game)) == game
    assert eval(repr(game.start().play("A1")), {"gk": gk}).line == ["A1"]


def test_a_board_file_that_changed_is_another_game(tmp_path):
    path = _file(tmp_path, "1 2\n3 4\n")
    first = gk.game(f"candy(board='{path}')")
    path.write_text("9 9\n9 9 \n")
    second = gk.game(f"candy(board='{path}')")
    assert second.values.tolist() == [[9, 9], [9, 9]]
    assert first.values.tolist() == [[1, 2], [3, 4]]
    assert first.start().play("A1") != second.start().play("A1")


@pytest.mark.parametrize(
    "name",
    [
        "../../x",
        "/no/such/file.txt",
        "a/../../b.txt",
        "Almond",
        "almondjoy",
        "x" * 3000 + ".txt",
        "a.\\0",
        "./",
        "/",
        "..",
        "\x00.txt",
        "/dev/null",
        "/proc/self/mem",
    ],
)
def test_board_names_that_lead_nowhere_are_refused(name):
    with pytest.raises(gk.GamekitError) as caught:
        gk.game(gk.Spec("candy", {"board": name}))
    assert "board" in str(caught.value) or name in str(caught.value)


def test_boards_of_other_sizes_follow_the_slow_rules(tmp_path, judge):
    rng = random.Random(4)
    for rows, cols in ((1, 1), (1, 5), (7, 1), (8, 8), (2, 26), (64, 1), (3, 4)):
        text = "\n".join(" ".join(str(rng.randrange(1, 100)) for _ in range(cols)) for _ in range(rows))
        game = gk.game(f"candy(board='{_file(tmp_path, text, f'b{rows}x{cols}.txt')}')")
        for _ in range(4):
            position, state = _same(game, judge(game), rng, 100)
            assert position.outcome().score == judge(game).totals(state)
            assert game.position(str(position)) == position


def test_a_candy_position_unpickles_where_its_file_is_gone(tmp_path):
    path = _file(tmp_path, "1 2\n3 4\n")
    packed = pickle.dumps(gk.game(f"candy(board='{path}')").start().play("B2"))
    path.unlink()
    position = pickle.loads(packed)
    assert position.play("A1").moves() == ["B1", "A2"]


# --------------------------------------------------------------------------------- immutable positions


@pytest.mark.parametrize("spec", FIVE)
def test_a_position_cannot_be_changed_from_outside(spec):
    position = gk.game(spec).start()
    before = position.key
    with pytest.raises((ValueError, AttributeError)):
        position.data[0] = 9
    record, board = position.record, position.board
    record.turn = 2
    if board.dtype.names:
        board["owner"][0, 0] = 2
    else:
        board[0, 0] = 2
    assert position.key == before
    assert position.turn == 1


def test_the_reports_move_order_is_canonical():
    assert gk.game("conga").start().moves() == ["00E", "00S", "00SE"]
    assert gk.game("conga").replay("00S 33NW").moves()[:3] == ["10NE", "10S", "10SE"]
    assert gk.game("conga").start().play("00E").moves() == ["33NW", "33N", "33W"]
    assert gk.game("mnk(m=2,n=2,k=2)").start().moves() == ["0,0", "0,1", "1,0", "1,1"]
    assert gk.game("candy").start().moves()[:8] == ["A1", "B1", "C1", "D1", "E1", "F1", "A2", "B2"]
    assert gk.game("connect_k(columns=11,rows=5,k=4,gravity=on)").start().moves() == [str(c) for c in range(1, 12)]


# The order in which Conga lists the directions of a cell, written out by hand.
DIRECTIONS = {"rows": "NW N NE W E SW S SE", "columns": "NW W SW N S NE E SE", "clockwise": "N NE E SE S SW W NW"}


def test_every_order_of_directions_is_written_out_here():
    assert gk.GAMES["conga"].params["directions"].choices == tuple(DIRECTIONS)
    assert gk.game("conga") == gk.game("conga", directions="rows")
    assert str(gk.game("conga")) == "conga"
    assert str(gk.game("conga", directions="columns")) == "conga(directions=columns)"


@pytest.mark.parametrize("directions", list(DIRECTIONS))
def test_directions_change_the_order_of_moves_and_nothing_else(directions, scramble):
    game, usual, rng = gk.game("conga", directions=directions), gk.game("conga"), random.Random(directions)
    assert perft(game.start(), 6) == perft(usual.start(), 6)
    order = DIRECTIONS[directions].split()
    for _ in range(20):
        position = scramble(usual, rng, 40)
        moves = game.replay(position.line).moves()
        assert sorted(moves) == sorted(position.moves())
        assert moves == sorted(moves, key=lambda move: (move[:2], order.index(move[2:])))
        for one in (game.replay(position.line), pickle.loads(pickle.dumps(game)).replay(position.line)):
            assert [one.play(move).key for move in moves] == [position.play(move).key for move in moves]


def test_parameters_given_as_arguments_are_those_of_the_spec():
    assert gk.game("mnk", m=4, n=5, k=4) == gk.game("mnk(m=4,n=5,k=4)") == gk.game("mnk(m=4,n=9,k=4)", n=5)
    assert gk.game(gk.game("mnk(m=4,n=5,k=4)"), k=3) == gk.game("mnk(m=4,n=5,k=3)")
    assert gk.player("search", depth=2, ties="last").spec == "search(depth=2,ties=last)"
    assert gk.player(gk.player("search(depth=2)"), ties="last").spec == "search(depth=2,ties=last)"
    assert gk.heuristic_of("windows(count=3)", "mnk", empty=1).spec == "windows(count=3,empty=1)"
    with pytest.raises(gk.SpecError, match="mnk has no parameter 'rows'"):
        gk.game("mnk", rows=3)


@pytest.mark.parametrize("spec", FIVE)
def test_the_ply_of_a_position_is_the_length_of_its_line(spec, scramble):
    position = scramble(gk.game(spec), random.Random(spec), 20)
    assert position.ply == len(position.line) == len(position.history) - 1
    assert position.copy().ply == position.ply


def test_a_position_played_on_from_a_text_is_written_as_a_text():
    position = gk.game("mnk").position("X O .\n. . .\n. . .").play("1,1")
    assert eval(repr(position), {"gk": gk}) == position


def test_centrality_ranks_the_middle_lowest():
    four = gk.game("connect_four").centrality()
    assert int(four.argmin()) == 3
    assert four.tolist() == four[::-1].tolist()
    big = gk.game("mnk(m=19,n=19,k=6)").centrality().reshape(19, 19)
    assert np.unravel_index(int(big.argmin()), big.shape) == (9, 9)
    conga = gk.game("conga").centrality().reshape(16, 8)[:, 0]
    assert sorted(set(conga.tolist())) == [0, 3, 5]


def test_a_number_that_is_no_move_writes_nowhere():
    """`after` is the fast way for numbers from `codes`; in a process of its own, for others once reached the memory."""
    program = f"""
import gamekit as gk
for spec in {FIVE!r}:
    for code in (-1, 5000, 10**6):
        try:
            gk.game(spec).start().after(code)
        except gk.MoveError:
            print("refused")
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout.split()) == (0, ["refused"] * 15)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("mnk", {"m": 99, "n": 99, "k": 3}),
        ("mnk", {"m": 0, "n": 3, "k": 3}),
        ("mnk", {"m": 3, "n": 3, "k": 0}),
        ("connect_k", {"columns": 33}),
        ("connect_four", {"columns": 40, "rows": 40}),
    ],
)
def test_a_class_called_directly_keeps_its_limits(name, settings):
    with pytest.raises(gk.GamekitError):
        gk.GAMES[name](**settings)
