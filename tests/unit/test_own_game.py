"""A sixth game in thirty lines works everywhere; a broken one is refused or reported by name."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys

import numpy as np
import pytest

import gamekit as gk
from gamekit.search.perft import distinct, perft
from gamekit.search.reference import search_plain

# ------------------------------------------------------------ the game: three in a row loses (30 lines)
MISERE = """
import numpy as np
import gamekit as gk

def moves(s, out):
    count = 0
    for cell in range(9):
        if s.board[cell // 3, cell % 3] == 0:
            out[count] = cell
            count += 1
    return count

def play(s, move):
    s.board[move // 3, move % 3] = s.turn
    s.turn = 3 - s.turn
    s.filled += 1
    b = s.board
    for i in range(3):
        if b[i, 0] == b[i, 1] == b[i, 2] != 0 or b[0, i] == b[1, i] == b[2, i] != 0:
            return gk.LOST
    if b[1, 1] != 0 and (b[0, 0] == b[1, 1] == b[2, 2] or b[0, 2] == b[1, 1] == b[2, 0]):
        return gk.LOST
    return gk.DRAW if s.filled == 9 else gk.RUNNING

@gk.register
class Misere(gk.Game):
    name, width, moves, play = "misere", 9, moves, play
    state = np.dtype([("turn", "i4"), ("filled", "i4"), ("board", "i1", (3, 3))])
    longest = 9
"""


@pytest.fixture(scope="module")
def misere():
    namespace = {"__name__": "my_games"}
    exec(compile(MISERE, "my_games.py", "exec"), namespace)
    yield namespace["Misere"]
    del gk.GAMES["misere"]


def test_the_sixth_game_is_at_most_thirty_lines():
    assert len([line for line in MISERE.splitlines() if line.strip()]) <= 30


def won_by_line(board, who):
    return any(
        all(board[c] == who for c in line)
        for line in ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
    )


def exact(board, turn, seen):
    """+1, 0, −1 for the first player, by looking at everything."""
    if board not in seen:
        loser = next((who for who in (1, 2) if won_by_line(board, who)), None)
        if loser:
            seen[board] = 1 if loser == 2 else -1
        elif 0 not in board:
            seen[board] = 0
        else:
            values = [exact((*board[:c], turn, *board[c + 1 :]), 3 - turn, seen) for c in range(9) if board[c] == 0]
            seen[board] = max(values) if turn == 1 else min(values)
    return seen[board]


def test_its_counts_are_those_of_tic_tac_toe(misere):
    start, known = gk.game("misere").start(), gk.game("mnk").start()
    assert perft(start, 9) == perft(known, 9)
    assert distinct(start, 5) == distinct(known, 5)


def test_its_search_is_exact_without_any_heuristic_ever_asked(misere):
    @gk.heuristic("misere")
    def nothing(board, me, params):
        return 0.0

    game, seen, rng = gk.game("misere"), {}, random.Random(1)
    player = gk.player("search(depth=9,table=on,order=best+history,heuristic=nothing)")
    for _ in range(25):
        position = game.start()
        while position.ply < rng.randrange(1, 8) and position.winner is None:
            position = position.after(rng.choice(position.codes()))
        if position.winner is not None:
            continue
        value = exact(tuple(int(x) for x in position.board.ravel()), position.turn, seen)
        assert np.sign(player.choose(position).value) == (value if position.turn == 1 else -value)
    assert player.choose(game.start()).value == 0
    plain = search_plain(game.replay("0 1"), "nothing", 4, table=True, order="history")
    fast = gk.player("search(depth=4,table=on,order=history,heuristic=nothing)").choose(game.replay("0 1"))
    assert (fast.value, fast.move, fast.line, fast.counters) == (plain.value, plain.move, plain.line, plain.counters)


def test_every_player_that_needs_no_heuristic_plays_it(misere):
    game = gk.game("misere")
    for spec in ("random", "leftmost", "montecarlo(playouts=50)", "uct(playouts=50)"):
        players = [gk.player(spec), gk.player("random")]
        for seed, player in enumerate(players):
            player.begin(game, seed)
        position = game.start()
        while position.winner is None:
            position = position.play(players[position.turn - 1].choose(position).move)
        assert position.outcome().winner in (0, 1, 2)


def test_search_says_that_a_heuristic_is_missing(misere):
    with pytest.raises(gk.GamekitError, match="misere has no default heuristic; name one of your own"):
        gk.player("alphabeta").choose(gk.game("misere").start())


def test_its_positions_behave_like_all_others(misere):
    game = gk.game("misere")
    position = game.replay("4 0 8")
    assert position.line == ["4", "0", "8"]
    assert str(position) == "O . .\n. X .\n. . X\n2 to move"
    assert position == game.replay(["4", "0", "8"])
    assert position.key != game.replay("4 0 7").key
    assert eval(repr(position), {"gk": gk}) == position
    assert game == gk.game("misere")
    for wrong in ("9", "-1", "x", "4", ""):
        with pytest.raises(gk.MoveError):
            position.play(wrong)
    with pytest.raises(gk.PositionError, match="misere cannot read positions from text"):
        game.position(str(position))
    lost = game.replay("0 3 1 4 2")
    assert (lost.winner, lost.outcome().termination, lost.moves()) == (2, "win", [])
    assert lost._repr_svg_() is None or "<svg" in lost._repr_svg_()


def test_it_plays_a_match(misere):
    played = gk.match("misere", "random", "leftmost", games=4, seed=1, workers=1)
    assert len(played) == 4
    assert set(played.termination) <= {"win", "draw"}
    assert [gk.replay(row).winner for row in played.to_dict("records")] == played.winner.tolist()


def test_a_second_definition_replaces_the_first(misere):
    namespace = {"__name__": "my_games"}
    exec(compile(MISERE.replace("return gk.LOST", "return gk.WON"), "my_games.py", "exec"), namespace)
    assert gk.game("misere").replay("0 3 1 4 2").winner == 1
    gk.GAMES["misere"] = misere
    assert gk.game("misere").replay("0 3 1 4 2").winner == 2


def test_a_changed_global_of_the_rules_is_seen(misere):
    namespace = {"__name__": "my_games"}
    source = MISERE.replace("return gk.LOST", "return VERDICT").replace("def moves", "VERDICT = 3\ndef moves", 1)
    exec(compile(source, "my_games.py", "exec"), namespace)
    assert gk.game("misere").replay("0 3 1 4 2").winner == 2
    namespace["VERDICT"] = 1
    assert gk.game("misere").replay("0 3 1 4 2").winner == 1


# ----------------------------------------------------------------------------------- broken games

STATE = np.dtype([("turn", "i4"), ("filled", "i4"), ("board", "i1", (3, 3))])


def _moves(s, out):
    count = 0
    for cell in range(9):
        if s.board[cell // 3, cell % 3] == 0:
            out[count] = cell
            count += 1
    return count


def _play(s, move):
    s.board[move // 3, move % 3] = s.turn
    s.turn = 3 - s.turn
    s.filled += 1
    return 2 if s.filled == 9 else 0


def made(**changed):
    """A sound toy game but for what is changed; None leaves a thing out."""
    body = {"name": "toy", "state": STATE, "width": 9, "moves": _moves, "play": _play, "__module__": "toys", **changed}
    return type("Toy", (gk.Game,), {k: v for k, v in body.items() if v is not None})


def test_the_sound_toy_is_accepted():
    assert gk.register(made()) is gk.GAMES["toy"]


@pytest.mark.parametrize("missing", ["name", "state", "width", "moves", "play"])
def test_a_game_that_lacks_something_is_refused_by_name(missing):
    with pytest.raises(gk.GamekitError, match=f"(?i)toy.*{missing}|needs a {missing}"):
        gk.register(made(**{missing: None}))
    assert "toy" not in gk.GAMES


@pytest.mark.parametrize(
    "state",
    [
        np.dtype([("filled", "i4"), ("turn", "i4"), ("board", "i1", (3, 3))]),
        np.dtype([("turn", "i8"), ("filled", "i4"), ("board", "i1", (3, 3))]),
        np.dtype([("turn", "f4"), ("filled", "i4"), ("board", "i1", (3, 3))]),
        np.dtype("i4"),
        "i4",
        3,
    ],
)
def test_a_state_that_does_not_start_with_the_turn_is_refused(state):
    with pytest.raises(gk.GamekitError, match=r"Toy.*state"):
        gk.register(made(state=state))


@pytest.mark.parametrize("name", ["", "two words", "x-y", "3d", "conga", "connect_four", 5])
def test_a_name_that_cannot_be_is_refused(name):
    before = dict(gk.GAMES)
    with pytest.raises(gk.GamekitError):
        gk.register(made(name=name))
    assert before == gk.GAMES


def _negative(s, out):
    return -1


def _too_many(s, out):
    return 20


def _twice(s, out):
    out[0] = 1
    out[1] = 1
    return 2


def _high(s, out):
    out[0] = 12
    return 1


def _never(s, out):
    return 0


@pytest.mark.parametrize("rule", [_negative, _too_many, _twice, _high, _never])
def test_moves_that_break_their_word_are_refused(rule):
    with pytest.raises(gk.GamekitError, match="toy"):
        gk.register(made(moves=rule))


@pytest.mark.parametrize("width", [8, 0, "nine", 2.5])
def test_a_width_that_is_too_small_or_no_number_is_refused(width):
    with pytest.raises(gk.GamekitError, match=r"toy.*width"):
        gk.register(made(width=width))


def _outside(s, move):
    s.board[move // 3 + 5, 0] = 1
    return 0


def _third_player(s, move):
    s.board[move // 3, move % 3] = s.turn
    s.turn += 1
    s.filled += 1
    return 2 if s.filled == 9 else 0


def _odd_status(s, move):
    s.board[move // 3, move % 3] = s.turn
    s.turn = 3 - s.turn
    s.filled += 1
    return 9 if s.filled == 9 else 0


def _text(s, move):
    return "won"


def _silent(s, move):
    s.board[move // 3, move % 3] = s.turn


def _divides(s, move):
    s.board[move // 3, move % 3] = s.turn
    return 1 // (s.filled * 0)


def _unknown_field(s, move):
    s.boord[0, 0] = 1
    return 0


@pytest.mark.parametrize("rule", [_outside, _third_player, _odd_status, _text, _silent, _divides, _unknown_field])
def test_a_play_that_breaks_its_word_is_refused_in_one_sentence(rule):
    with pytest.raises(gk.GamekitError, match="toy") as caught:
        gk.register(made(play=rule))
    assert len(str(caught.value).splitlines()) == 1
    assert "toy" not in gk.GAMES


def test_an_index_error_in_a_helper_of_the_rules_is_refused():
    """In a process of its own: unchecked, it writes into foreign memory."""
    source = MISERE.replace(
        "def moves(s, out)", "@gk.helper\ndef put(board, row, value):\n    board[row, 0] = value\n\ndef moves(s, out)"
    )
    source = source.replace("s.filled += 1", "put(s.board, move + 500000, 1)")
    ran = subprocess.run([sys.executable, "-"], input=source, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 1
    assert "GamekitError: misere" in ran.stderr


def _rarely_outside(s, move):
    s.board[move // 3, move % 3] = s.turn
    s.turn = 3 - s.turn
    s.filled += 1
    if s.filled == 4 and s.board[0, 0] == 1 and s.board[0, 1] == 2 and s.board[0, 2] == 1 and s.board[2, 2] == 2:
        s.board[7, 0] = 1
    return 2 if s.filled == 9 else 0


def test_an_error_in_the_rules_deep_in_a_search_is_not_blamed_on_the_heuristic():
    gk.register(made(play=_rarely_outside))

    @gk.heuristic("toy")
    def flat(board, me, params):
        return 0.0

    start = gk.game("toy").start()
    with pytest.raises(Exception, match=r"(?i)index|rules") as caught:
        gk.player("minimax(depth=4,heuristic=flat)").choose(start)
    assert not (isinstance(caught.value, gk.HeuristicError) and "rules" not in str(caught.value))
    with pytest.raises(Exception, match=r"(?i)index|rules"):
        perft(start, 4)


def test_a_registered_game_s_class_and_positions_survive_cloudpickle():
    import cloudpickle

    kind = gk.register(made())
    position = gk.game("toy").start().play("4")
    again = pickle.loads(cloudpickle.dumps(position))
    assert again.moves() == position.moves()
    assert again.key == position.key
    assert type(again.game).__name__ == kind.__name__
