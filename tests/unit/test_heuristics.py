"""The reports' evaluations: worked examples, compiled against plain, symmetry, explanations; and a user's own."""

from __future__ import annotations

import math
import pickle
import random
import types

import cloudpickle
import numpy as np
import plain_rules
import pytest

import gamekit as gk

BOARDS = {
    "conga": ["conga"],
    "candy": ["candy(board=ReesesPieces)", "candy(board=Ayds)", "candy(board=Mounds)"],
    "mnk": [
        "mnk(m=4,n=5,k=4)",
        "mnk(m=9,n=8,k=5)",
        "mnk(m=11,n=5,k=6)",
        "mnk(m=15,n=4,k=5)",
        "mnk(m=15,n=4,k=8)",
        "mnk(m=19,n=3,k=4)",
        "mnk(m=1,n=7,k=3)",
        "mnk(m=3,n=3,k=1)",
        "mnk(m=8,n=7,k=8)",
    ],
    "connect_k": [
        "connect_k(columns=6,rows=5,k=4)",
        "connect_k(columns=6,rows=5,k=4,gravity=on)",
        "connect_k(columns=2,rows=31,k=3)",
        "connect_k(columns=3,rows=20,k=4)",
        "connect_k(columns=10,rows=7,k=9)",
    ],
    "connect_four": ["connect_four", "connect_four(columns=9,rows=7)", "connect_four(columns=4,rows=5)"],
}
VARIANTS = {
    ("connect_four", "valhalla"): [
        f"valhalla(variant={v},matrix={m})"
        for v in ("as_printed", "corrected", "strict")
        for m in ("bottom_first", "top_first")
    ],
    ("mnk", "potential_streak"): [
        "potential_streak",
        "potential_streak(contiguous=on)",
        "potential_streak(alive=off)",
        "potential_streak(alive=off,contiguous=on,diagonal=1,open_end=0.5,opponent=1)",
    ],
    ("mnk", "windows"): ["windows", "windows(count=1,empty=7)"],
    ("conga", "weighted"): ["weighted", "weighted(corner=-1,edge=0.5,centre=2)"],
    ("candy", "safe_score"): ["safe_score", "safe_score(exposed=0)"],
    ("candy", "capture_threat"): ["capture_threat", "capture_threat(threat=2)"],
}
CASES = [
    (game, spec, board)
    for (game, name) in gk.HEURISTICS
    for spec in VARIANTS.get((game, name), [name])
    for board in BOARDS[game]
    if not (name == "valhalla" and board != "connect_four")
]


def placed(game, rows):
    """A position with any stones, as the reports print their examples (who is to move does not matter)."""
    return game.position("\n".join(" ".join(".XO"[owner] for owner in row) for row in rows), check=False)


# --------------------------------------------------------------------------------- worked examples


def test_the_mnk_report_s_two_boards_for_k_five():
    game = gk.game("mnk(m=5,n=6,k=5)")
    one = placed(game, [[0] * 6, [0, 0, 1, 1, 1, 0], [0, 0, 2, 0, 0, 0], [0, 0, 0, 2, 0, 0], [0] * 6])
    two = placed(game, [[0] * 6, [0, 1, 1, 1, 0, 0], [0, 0, 2, 0, 0, 0], [0, 0, 0, 2, 0, 0], [0] * 6])
    own = gk.heuristic_of("potential_streak(opponent=0)", game)
    both = gk.heuristic_of("potential_streak", game)
    for position, figures in ((one, (0.7, 0.54, 0.43)), (two, (0.7, 0.3, 0.55))):
        assert [own.value(position, 1), own.value(position, 2), both.value(position, 1)] == pytest.approx(figures)
    other = gk.heuristic_of("potential_streak(open_end=0.5,opponent=0)", game)
    assert other.value(one, 1) != pytest.approx(0.7)  # the text's other number does not give the example


def test_the_mnk_report_s_four_by_four_counts_a_streak_of_one():
    game = gk.game("mnk(m=4,n=4,k=4)")
    position = placed(game, [[0, 2, 1, 0], [0, 1, 2, 0], [0] * 4, [0] * 4])
    assert gk.heuristic_of("potential_streak(opponent=0,diagonal=1,open_end=0)", game).value(
        position, 1
    ) * 4 == pytest.approx(1)
    assert gk.heuristic_of("potential_streak(opponent=0,diagonal=1,open_end=0,alive=off)", game).value(
        position, 1
    ) * 4 == pytest.approx(2)
    assert gk.heuristic_of("longest_streak", game).value(position, 1) == 2 / 4


def test_a_blank_breaks_a_streak_only_when_asked():
    game = gk.game("mnk(m=1,n=7,k=4)")
    position = placed(game, [[0, 1, 0, 1, 1, 0, 0]])
    for contiguous, stones in (("off", 3), ("on", 2)):
        spec = f"potential_streak(opponent=0,open_end=0,contiguous={contiguous})"
        assert gk.heuristic_of(spec, game).value(position, 1) == pytest.approx(stones / 4)


EXAMPLE = [
    [0] * 7,
    [0, 0, 0, 1, 0, 0, 0],
    [0, 0, 0, 1, 0, 0, 0],
    [0, 0, 0, 1, 0, 0, 0],
    [0, 0, 2, 2, 0, 0, 0],
    [0, 2, 2, 1, 0, 0, 0],
]


def test_the_connect_four_report_s_449():
    position = placed(gk.game("connect_four"), EXAMPLE)
    valhalla = gk.heuristic_of("valhalla", position.game)
    assert valhalla.value(position, 1) == 449
    parts = valhalla.explain(position, 1)
    attacks = {
        cell: sum(p.value for p in parts if "attack" in p.what and p.cells[0] == cell)
        for cell in ((5, 3), (3, 3), (2, 3), (1, 3))
    }
    assert sorted(attacks.values()) == [35, 62, 83, 119]
    assert sum(attacks.values()) == 299
    assert [p.value for p in parts if "block" in p.what] == [50] * 3


def test_the_strict_reading_gives_24():
    position = placed(gk.game("connect_four"), EXAMPLE)
    parts = gk.heuristic_of("valhalla(variant=strict)", position.game).explain(position, 1)
    assert sum(p.value for p in parts if "attack" in p.what) == 24


def test_a_token_with_a_clear_field_by_hand():
    """One token in the middle of the bottom row: five free directions, 1 + 2 + 4 times the weight each."""
    position = gk.game("connect_four").replay("4")
    value = gk.heuristic_of("valhalla(variant=corrected)", position.game).value(position, 1)
    up, across, left, right = 1, 4, 1, 1
    assert value == 7 * (up + 2 * across + left + right)
    assert gk.heuristic_of("valhalla", position.game).value(position, 2) == 0  # no own token, nothing to block


@pytest.mark.parametrize("count", [10_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_moves_equals_weighted_on_random_conga_positions(count):
    game, rng = gk.game("conga"), random.Random(0)
    moves, weighted = gk.heuristic_of("moves", game), gk.heuristic_of("weighted", game)
    slow, seen = plain_rules.Conga(), 0
    while seen < count:
        position = game.start()
        for _ in range(60):
            if position.winner is not None:
                break
            position = position.after(rng.choice(position.codes()))
            assert moves.value(position, 1) == weighted.value(position, 1) == -weighted.value(position, 2)
            seen += 1
            if seen % 500 == 0:
                state = plain_rules.replay(slow, position.line)
                assert moves.value(position, 1) == slow.move_difference(state, 1) == slow.weighted_difference(state, 1)
                assert gk.heuristic_of("squares", game).value(position, 1) == slow.square_difference(state, 1)


def test_the_reason_why_moves_equals_weighted_is_in_a_docstring():
    assert "cancels in the difference" in gk.heuristic_of("moves", "conga").function.__doc__


@pytest.mark.parametrize("k", range(2, 12))
def test_windows_of_one_colour_are_negative_from_k_eight_on(k):
    """A single stone counts 30 − 5 (k − 1): positive up to k = 6, nothing at 7, negative beyond."""
    game = gk.game(f"connect_k(columns=12,rows=12,k={k})")
    windows, position = gk.heuristic_of("windows", game), game.start().play("0,0")
    assert np.sign(windows.value(position, 1)) == np.sign(30 - 5 * (k - 1))
    assert windows.value(position, 1) == 3 * (30 - 5 * (k - 1))
    assert windows.value(position, 1) == -windows.value(position, 2)


def test_windows_for_a_single_colour_are_never_negative_up_to_k_seven():
    rng = random.Random(1)
    for k in range(1, 8):
        game = gk.game(f"mnk(m=8,n=8,k={k})")
        for _ in range(20):
            rows = [[int(rng.random() < 0.3) for _ in range(8)] for _ in range(8)]
            assert gk.heuristic_of("windows", game).value(placed(game, rows), 1) >= 0


def test_conga_s_transcript_fits_moves_at_depth_three_without_a_win_bonus():
    position, fits = gk.game("conga").start(), 0
    player = gk.player("minimax(depth=3,win_bonus=off,heuristic=moves)")
    for move in plain_rules.CONGA_TRANSCRIPT:
        if position.turn == 1:
            choice = player.choose(position)
            fits += choice.values[move] == choice.value
        position = position.play(move)
    assert fits == 18


def test_turn_fourteen_of_the_transcript_is_a_tie_of_four():
    position = gk.game("conga").replay(plain_rules.CONGA_TRANSCRIPT[:26])
    ties = []
    for depth in (1, 2, 3):
        choice = gk.player(f"minimax(depth={depth},win_bonus=off,heuristic=moves)").choose(position)
        ties.append(sum(value == choice.value for value in choice.values.values()))
    assert ties == [4, 4, 10]


# ------------------------------------------------------------------------ compiled, plain, explained


def _agree(game_name, spec, board, count, scramble):
    game, rng = gk.game(board), random.Random(f"{spec}{board}")
    heuristic = gk.heuristic_of(spec, game)
    for number in range(count):
        position, me = scramble(game, rng, 60, running=False), rng.choice((1, 2))
        compiled = heuristic.value(position, me)
        assert compiled == pytest.approx(heuristic.plain(position, me), abs=1e-9), position
        if number % 4 == 0:
            parts = heuristic.explain(position, me)
            assert sum(part.value for part in parts) == pytest.approx(compiled, abs=1e-9), position
            for part in parts:
                assert all(0 <= r < position.board.shape[0] and 0 <= c < position.board.shape[1] for r, c in part.cells)


@pytest.mark.parametrize(("game", "spec", "board"), CASES, ids=[f"{b}-{s}" for _g, s, b in CASES])
def test_compiled_plain_and_explained_agree(game, spec, board, scramble):
    _agree(game, spec, board, 16, scramble)


@pytest.mark.long
@pytest.mark.parametrize(("game", "spec", "board"), CASES, ids=[f"{b}-{s}" for _g, s, b in CASES])
def test_compiled_plain_and_explained_agree_on_thousands(game, spec, board, scramble):
    _agree(game, spec, board, 10_000 // len(BOARDS[game]), scramble)


@pytest.mark.parametrize(
    "spec",
    [
        "mnk(m=5,n=6,k=4)",
        "mnk(m=15,n=4,k=5)",
        "mnk(m=11,n=5,k=6)",
        "mnk(m=7,n=8,k=3)",
        "mnk(m=8,n=7,k=8)",
        "connect_k(columns=2,rows=31,k=3)",
        "connect_k(columns=2,rows=30,k=4)",
        "connect_four",
        "mnk(m=14,n=4,k=5)",
        "mnk(m=9,n=6,k=7)",
        "connect_k(columns=3,rows=20,k=4)",
        "mnk(m=3,n=16,k=16)",
    ],
)
def test_windows_by_words_equals_one_pass_equals_the_judge(spec, judge, scramble):
    from gamekit.heuristics.connect_k import by_words, in_one_pass

    game, rng = gk.game(spec), random.Random(spec)
    weights, slow = np.array([30.0, 5.0]), judge(game)
    for _ in range(25):
        position, me = scramble(game, rng, 40, running=False), rng.choice((1, 2))
        record = position.record
        words = by_words(record, me, weights) - by_words(record, 3 - me, weights)
        passed = in_one_pass(record, me, weights)
        state = tuple(map(tuple, position.board.tolist())), 1
        compiled = gk.heuristic_of("windows", game).value(position, me)
        assert words == passed == compiled == slow.windows(state, me), position


def test_candy_s_score_difference_equals_the_judge(judge, scramble):
    game, rng = gk.game("candy(board=ReesesPieces)"), random.Random(1)
    for _ in range(100):
        position = scramble(game, rng, 36, running=False)
        state = plain_rules.replay(judge(game), position.line)
        assert gk.heuristic_of("score_difference", game).value(position, 1) == judge(game).total_difference(state, 1)


def test_on_a_full_candy_board_every_heuristic_is_the_difference(scramble):
    game = gk.game("candy(board=ReesesPieces)")
    position = game.start()
    rng = random.Random(3)
    while position.winner is None:
        position = position.after(rng.choice(position.codes()))
    first, second = position.outcome().score
    for name in ("score_difference", "safe_score", "capture_threat"):
        assert gk.heuristic_of(name, game).value(position, 1) == pytest.approx(first - second)


# ------------------------------------------------------------------------------------------ symmetry

# Which heuristics do not look the same in a mirror, and why. All others do, on every symmetry of their game.
LOPSIDED = {
    "valhalla": "as printed, the left diagonal matrix is no mirror image of the right one (two slips)",
    "valhalla(matrix=top_first)": "the same",
}


@pytest.mark.parametrize(("game", "spec", "board"), CASES, ids=[f"{b}-{s}" for _g, s, b in CASES])
def test_a_heuristic_obeys_its_game_s_symmetries_or_the_table_says_not(game, spec, board, scramble):
    game, rng = gk.game(board), random.Random(spec)
    heuristic = gk.heuristic_of(spec, game)
    differs = False
    for _ in range(30):
        position, me = scramble(game, rng, 40, running=False), rng.choice((1, 2))
        for symmetry in game.symmetries():
            differs |= heuristic.value(position, me) != pytest.approx(
                heuristic.value(position.turned(symmetry), me), abs=1e-9
            )
    assert differs == (heuristic.spec in LOPSIDED or "variant=as_printed" in spec)


SIDED = {"longest_streak", "valhalla", "potential_streak"}  # their value for one is not minus the other's


@pytest.mark.parametrize(("game", "name"), list(gk.HEURISTICS), ids=[f"{g}-{n}" for g, n in gk.HEURISTICS])
def test_which_heuristics_are_antisymmetric_is_as_the_table_says(game, name, scramble):
    board, rng = gk.game(BOARDS[game][0]), random.Random(name)
    heuristic = gk.heuristic_of(name, board)
    anti = all(
        heuristic.value(p, 1) == pytest.approx(-heuristic.value(p, 2))
        for p in (scramble(board, rng, 15, running=False) for _ in range(80))
    )
    assert anti == (name not in SIDED)


# ---------------------------------------------------------------------------------- objects and weights


@pytest.mark.parametrize(("game", "name"), list(gk.HEURISTICS), ids=[f"{g}-{n}" for g, n in gk.HEURISTICS])
def test_every_heuristic_is_described_and_survives_pickling(game, name, scramble):
    heuristic = gk.HEURISTICS[game, name]
    assert heuristic.about
    assert heuristic.report
    assert all(param.about for param in heuristic.params.values())
    position = scramble(gk.game(BOARDS[game][0]), random.Random(1), 20)
    for load in (pickle, cloudpickle):
        assert pickle.loads(load.dumps(heuristic)).value(position, 1) == heuristic.value(position, 1)
    assert heuristic.spec == name
    assert gk.heuristic_of(str(heuristic), game).settings == heuristic.settings


def test_weights_change_values_and_compile_nothing():
    game = gk.game("mnk(m=6,n=6,k=4)")
    position = game.replay("0,0 5,5")
    base = gk.heuristic_of("windows", game)
    before = base.leaf(game).address
    assert base.with_(count=60, empty=0).value(position, 1) == 0
    assert base.with_(count=60, empty=10).leaf(game).address == before
    assert base.spec == "windows"
    assert base.with_(count=60).spec == "windows(count=60)"
    assert pickle.loads(pickle.dumps(base.with_(count=60))).spec == "windows(count=60)"


@pytest.mark.parametrize("me", [0, 3, -1, "1", 1.5, math.nan])
def test_a_value_is_for_player_one_or_two(me):
    heuristic, position = gk.heuristic_of("moves", "conga"), gk.game("conga").start()
    for ask in (heuristic.value, heuristic.plain, heuristic.explain):
        with pytest.raises(gk.HeuristicError, match="a player is 1 or 2"):
            ask(position, me)


def test_without_a_name_the_game_s_default_counts():
    for name, kind in gk.GAMES.items():
        assert gk.heuristic_of(None, name).name == kind().default_heuristic
    assert gk.heuristic_of(None, "connect_four(columns=8,rows=7)").name == "windows"


@pytest.mark.parametrize("weights", [{"count": 1e200}, {"count": 1e11}, {"empty": -1e12}])
def test_a_value_too_large_is_reported_with_the_number(weights):
    game = gk.game("connect_k")
    heuristic = gk.heuristic_of("windows", game).with_(**weights)
    player = gk.PLAYERS["alphabeta"](depth=1, heuristic=heuristic)
    with pytest.raises(gk.HeuristicError, match=r"'windows' returned -?\d.*; a value is a finite number below 1e11"):
        player.choose(game.start())


# -------------------------------------------------------------------------------- a heuristic of one's own


def test_one_s_own_heuristic_is_usable_wherever_a_name_is():
    @gk.heuristic("connect_four", params={"middle": 1.0})
    def middle_column(board, me, params):
        """Stones in the middle."""
        score = 0.0
        for row in range(board.shape[0]):
            if board[row, 3] == me:
                score += params[0]
        return score

    game = gk.game("connect_four")
    position = game.replay("414")
    assert middle_column.value(position, 1) == 2 == middle_column.plain(position, 1)
    assert gk.heuristic_of("middle_column(middle=3)", game).value(position, 1) == 6
    assert gk.player("alphabeta(depth=1,heuristic=middle_column)").choose(game.start()).move == "4"
    assert gk.PLAYERS["alphabeta"](depth=1, heuristic=middle_column).choose(game.start()).move == "4"
    assert middle_column.about == "Stones in the middle."
    again = pickle.loads(cloudpickle.dumps(middle_column))
    assert again.value(position, 1) == 2
    assert [part.value for part in middle_column.explain(position, 1)] == [2]


@pytest.mark.parametrize("spec", ["conga", "candy", "mnk(m=9,n=9,k=5)", "connect_k", "connect_four"])
def test_the_board_one_s_own_heuristic_sees_is_the_documented_array(spec, scramble):
    game = gk.game(spec)

    def counts(board, me, params):
        total = 0
        for r in range(board.shape[0]):
            for c in range(board.shape[1]):
                if board[r, c] == me:
                    total += 1 + r * 10 + c
        return total

    def owners(board, me, params):
        total = 0
        for r in range(board.shape[0]):
            for c in range(board.shape[1]):
                if board[r, c].owner == me:
                    total += 1 + r * 10 + c
        return total

    made = gk.heuristic(game.name)(owners if spec in ("conga", "candy") else counts)
    for seed in range(10):
        position = scramble(game, random.Random(seed), 30)
        grid = position.game.cells(position.record)
        for me in (1, 2):
            by_hand = sum(1 + r * 10 + c for r, row in enumerate(grid) for c, cell in enumerate(row) if cell[0] == me)
            assert made.value(position, me) == made.plain(position, me) == by_hand


def _fails(function, *words, game="conga", moves="00S", me=1, **facts):
    """Both evaluation and search report the failure by name; never a number."""
    made = gk.heuristic(game, **facts)(function)
    position = gk.game(game).replay(moves)
    for ask in (
        lambda: made.value(position, me),
        lambda: gk.player(f"alphabeta(depth=1,heuristic={made.name})").choose(position),
        lambda: gk.player(f"minimax(depth=2,table=on,heuristic={made.name})").choose(position),
    ):
        with pytest.raises(gk.HeuristicError) as caught:
            ask()
        for word in (f"'{made.name}'", *words):
            assert word in str(caught.value), str(caught.value)


HERE = "test_heuristics.py, line"


def test_division_by_zero_is_reported_with_the_line():
    def divides(board, me, params):
        nothing = board[0, 0].owner * 0
        return 1.0 / nothing

    _fails(divides, "by zero", HERE, "return 1.0 / nothing", "in the position")


def test_whole_division_and_remainder_by_zero_are_reported_too():
    def whole(board, me, params):
        return 5 // (board[0, 0].owner * 0)

    def rest(board, me, params):
        return 5 % (board[0, 0].owner * 0)

    _fails(whole, HERE, "return 5 //")
    _fails(rest, HERE, "return 5 %")


def test_an_index_error_is_reported_with_the_line():
    def beyond(board, me, params):
        return float(board[4, 0].stones)

    def weights(board, me, params):
        return params[3]

    def before(board, me, params):
        return float(board[-5, 0].stones)

    _fails(beyond, "IndexError", HERE, "board[4, 0]")
    _fails(weights, "IndexError", HERE, "params[3]", params={"one": 1.0})
    _fails(before, "IndexError", HERE, "board[-5, 0]")


@gk.helper
def _row(board, row):
    return board[row, 0].stones


def test_an_index_error_in_a_helper_is_reported_with_the_line():
    def through_a_helper(board, me, params):
        return 1.0 * _row(board, 4 + board[0, 0].owner)

    _fails(through_a_helper, "IndexError", HERE, "board[row, 0]")


def test_an_error_raised_on_purpose_is_reported_with_the_line():
    def picky(board, me, params):
        if board[0, 0].owner != 7:
            raise ValueError("no seven")
        return 0.0

    _fails(picky, "ValueError", "no seven", HERE)


def test_an_error_only_for_the_second_player_is_found_for_that_player():
    def second(board, me, params):
        if me == 2:
            return 1.0 / (board[0, 0].owner * 0)
        return 0.0

    _fails(second, "by zero", HERE, me=2)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e12, -1e11])
def test_values_that_are_no_numbers_are_reported(value):
    def wild(board, me, params):
        return value

    made = gk.heuristic("conga")(wild)
    with pytest.raises(gk.HeuristicError, match=r"'wild' returned .*; a value is a finite number"):
        gk.player("alphabeta(depth=2,heuristic=wild)").choose(gk.game("conga").start())
    if not math.isfinite(value):
        with pytest.raises(gk.HeuristicError, match=f"'wild' returned {value}"):
            made.value(gk.game("conga").start(), 1)


def test_a_wrong_return_type_is_refused_with_the_line():
    def text(board, me, params):
        return "good"

    def nothing(board, me, params):
        _ = board[0, 0].owner

    def pair(board, me, params):
        return 1.0, 2.0

    def whole_board(board, me, params):
        return board

    for function in (text, nothing, pair, whole_board):
        _fails(function, "cannot be compiled", HERE)


def test_sometimes_returning_nothing_is_reported():
    def half(board, me, params):
        if board[0, 0].owner == 0:
            return None
        return 1.0

    _fails(half, "half")


def test_calling_a_function_that_is_not_decorated_is_refused_and_says_what_to_do():
    def undecorated(x):
        return x + 1

    def calls(board, me, params):
        return undecorated(board[0, 0].owner)

    _fails(calls, "cannot be compiled", "@gk.helper")


def test_python_that_cannot_be_compiled_is_refused_in_one_sentence_with_the_line():
    def objects(board, me, params):
        return float(sorted({"a": 1}.items(), key=str)[0][1])

    made = gk.heuristic("conga")(objects)
    with pytest.raises(gk.HeuristicError, match=rf"'objects' cannot be compiled: .*{HERE} \d+"):
        made.value(gk.game("conga").start(), 1)


@pytest.mark.parametrize(
    "function", [lambda: 0.0, lambda board: 0.0, lambda board, me: 0.0, lambda board, me, params, more: 0.0]
)
def test_a_wrong_number_of_arguments_is_refused_at_once(function):
    function.__name__ = "odd"
    with pytest.raises(gk.HeuristicError, match=r"'odd' takes \(board, me, params\); given"):
        gk.heuristic("conga")(function)


def test_names_that_cannot_be_are_refused():
    def moves(board, me, params):
        return 0.0

    with pytest.raises(gk.GamekitError, match="conga already has a built-in heuristic 'moves'"):
        gk.heuristic("conga")(moves)
    with pytest.raises(gk.GamekitError, match=r"there is no game 'cogna'.*did you mean 'conga'"):
        gk.heuristic("cogna")
    with pytest.raises(gk.GamekitError):
        gk.heuristic("conga")(lambda board, me, params: 0.0)
    for bad in (math.nan, math.inf, "1", None, True):
        with pytest.raises(gk.GamekitError, match="weight"):
            gk.heuristic("conga", params={"weight": bad})
    for bad in (3, None, [3]):
        with pytest.raises(gk.GamekitError):
            gk.heuristic(bad)


# ------------------------------------------------------------------------------ never an old compilation


def _cell(source, **names):
    """Run a notebook cell in a namespace of its own."""
    names |= {"gk": gk, "np": np, "math": math, "__name__": "cell"}
    exec(compile(source, "<cell>", "exec"), names)
    return names


START = "@gk.heuristic('conga')\ndef mine(board, me, params):\n    return {}\n"


def _value(names):
    return names["mine"].value(gk.game("conga").replay("00S"), 1)


def test_a_changed_global_is_seen_at_once():
    names = _cell("W = 1.0\n" + START.format("W * 2"))
    assert _value(names) == 2
    names["W"] = 5.0
    assert _value(names) == 10


def test_a_changed_global_array_is_seen_even_when_changed_in_place():
    names = _cell("W = np.array([1.0, 2.0])\n" + START.format("W[1]"))
    assert _value(names) == 2
    names["W"][1] = 7.0
    assert _value(names) == 7


@pytest.mark.parametrize(
    ("before", "after", "values"),
    [
        ("def part(cell):\n    return cell.owner", "def part(cell):\n    return cell.stones", (1, 2)),
        ("def part(cell, w=1.0):\n    return 3 * w", "def part(cell, w=2.0):\n    return 3 * w", (3, 6)),
        ("def part(cell):\n    return math.cos(0.0)", "def part(cell):\n    return math.sin(0.0)", (1, 0)),
        ("def part(cell):\n    return 3", "def part(cell):\n    return 4", (3, 4)),
        ("def part(cell):\n    return 7 - 2", "def part(cell):\n    return 7 + cell.owner", (5, 8)),
    ],
)
def test_a_changed_helper_is_seen_at_once(before, after, values):
    names = _cell(f"@gk.helper\n{before}\n" + START.format("part(board[2, 0]) * 1.0"))
    assert _value(names) == values[0]
    exec(compile(f"@gk.helper\n{after}\n", "<cell 2>", "exec"), names)
    assert _value(names) == values[1]


@pytest.mark.parametrize(
    "helpers",
    [
        "@gk.helper\ndef part(x):\n    return x * W\n",
        "@gk.helper\ndef inner(x):\n    return x * W\n@gk.helper\ndef part(x):\n    return inner(x)\n",
    ],
)
def test_a_helper_s_changed_global_is_seen_at_once(helpers):
    names = _cell("W = 1.0\n" + helpers + START.format("part(3.0)"))
    assert _value(names) == 3
    names["W"] = 4.0
    assert _value(names) == 12


def test_a_changed_number_in_a_module_is_seen_at_once():
    settings = types.ModuleType("settings")
    settings.W = 1.0
    names = _cell(START.format("settings.W * 1.0"), settings=settings)
    assert _value(names) == 1
    settings.W = 2.0
    assert _value(names) == 2


def test_a_closure_s_changed_cell_is_seen_at_once():
    def make():
        weight = 1.0

        def closed(board, me, params):
            return weight * 1.0

        def change(to):
            nonlocal weight
            weight = to

        return closed, change

    closed, change = make()
    made = gk.heuristic("conga")(closed)
    position = gk.game("conga").start()
    assert made.value(position, 1) == 1
    change(9.0)
    assert made.value(position, 1) == 9


def test_a_player_kept_from_before_sees_changes_too():
    names = _cell("W = 1.0\n" + START.format("W * 2"))
    position = gk.game("conga").start()
    player = gk.player("search(depth=1,table=on,reuse=on,heuristic=mine)")
    assert player.choose(position).value == 2
    names["W"] = 5.0
    assert player.choose(position).value == 10
    _cell(START.format("77.0"))
    assert player.choose(position).value == 77
    player.begin(position.game)
    assert player.choose(position).value == 77


def test_a_custom_pondering_player_sees_changes_too():
    names = _cell("W = 1.0\n" + START.format("W * 2"))
    position = gk.game("conga").start()
    player = gk.player("search(depth=2,table=on,ponder=on,heuristic=mine)")
    assert player.choose(position).value == 2
    names["W"] = 3.0
    assert player.choose(position).value == 6
    player.close()


def test_two_heuristics_of_one_name_for_two_games_stay_apart():
    _cell("@gk.heuristic('conga')\ndef mine(board, me, params):\n    return 1.0\n")
    _cell("@gk.heuristic('mnk')\ndef mine(board, me, params):\n    return 2.0\n")
    assert gk.heuristic_of("mine", "conga").value(gk.game("conga").start(), 1) == 1
    assert gk.heuristic_of("mine", "mnk").value(gk.game("mnk").start(), 1) == 2


def test_one_heuristic_for_several_games():
    names = _cell(
        "@gk.heuristic(('mnk', 'connect_four'))\ndef mine(board, me, params):\n    return board.shape[1] * 1.0\n"
    )
    assert names["mine"].value(gk.game("mnk").start(), 1) == 3
    assert names["mine"].value(gk.game("connect_four").start(), 1) == 7
    with pytest.raises(gk.HeuristicError, match="belongs to mnk and connect_four, not to conga"):
        names["mine"].value(gk.game("conga").start(), 1)


def test_old_code_stays_callable_while_somebody_holds_its_address():
    """A leaf is an address: the code behind it may not be freed while a search might still call it."""
    import gc

    names = _cell("W = 1.0\n" + START.format("W * 2"))
    game = gk.game("conga")
    leaf = names["mine"].leaf(game)
    for w in range(3):
        names["W"] = float(w)
        names["mine"].value(game.start(), 1)
        gc.collect()
    from gamekit.heuristics.base import evaluate

    assert evaluate(leaf.address, game.start().data, 1, leaf.weights) == 2


def test_a_heuristic_may_use_linear_algebra():
    """Numba asks scipy for it, which is therefore among the packages that are needed."""

    @gk.heuristic("connect_four", params={"a": 2.0, "b": 3.0})
    def dotted(board, me, params):
        found = np.zeros(2)
        for col in range(7):
            if board[5, col] == me:
                found[col % 2] += 1
        return np.dot(found, params)

    position = gk.game("connect_four").replay("1121")
    assert dotted.value(position, 1) == dotted.plain(position, 1) > 0
