"""Every player: legal games of every game it fits, seeds, the custom agent's eight parts, Monte-Carlo's sums."""

from __future__ import annotations

import pickle
import random
from collections import Counter

import cloudpickle
import numpy as np
import plain_rules
import pytest

import gamekit as gk
from gamekit.games.k_in_a_row import KInARow

GAMES = [
    "conga",
    "candy(board=Mounds)",
    "mnk(m=4,n=4,k=3)",
    "connect_k(columns=5,rows=4,k=3,gravity=on)",
    "connect_k(columns=5,rows=4,k=4)",
    "connect_four",
]
SMALL = {
    "random": "random",
    "leftmost": "leftmost",
    "greedy": "greedy",
    "minimax": "minimax(depth=2)",
    "alphabeta": "alphabeta(depth=2)",
    "search": "search(nodes=300,table=on,order=best+history+centre)",
    "montecarlo": "montecarlo(playouts=60)",
    "uct": "uct(playouts=60)",
    "custom": "custom(depth=2)",
    "poor_ai": "poor_ai",
    "average_ai": "average_ai",
    "good_ai": "good_ai",
    "connect_k_agent": "connect_k_agent(seconds=0.005)",
}
FITS_ALL = {"random", "leftmost", "greedy", "minimax", "alphabeta", "search", "montecarlo", "uct", "connect_k_agent"}


def full_game(game, first, second, seed=0, most=80):
    """Two players to the end (or `most` plies, for Conga may go round); every move checked against the rules."""
    players = [gk.player(first), gk.player(second)]
    for number, player in enumerate(players):
        player.begin(game, seed + number)
    position = game.start()
    while position.winner is None and position.ply < most:
        choice = players[position.turn - 1].choose(position)
        assert position.code(choice.move) == choice.code
        if choice.line:
            assert choice.line[0] == choice.move
        position = position.play(choice.move)
    for player in players:
        player.close()
    return position


def test_no_registered_player_is_forgotten_here():
    assert set(gk.PLAYERS) == {*SMALL, "human", "perfect"}


@pytest.mark.parametrize("name", list(SMALL))
@pytest.mark.parametrize("spec", GAMES)
def test_every_player_plays_a_full_legal_game_of_every_game_it_fits(spec, name):
    game = gk.game(spec)
    if name not in FITS_ALL and not isinstance(game, KInARow):
        with pytest.raises(gk.GamekitError, match=game.name):
            gk.player(SMALL[name]).choose(game.start())
        return
    for first, second in ((SMALL[name], "random"), ("random", SMALL[name])):
        position = full_game(game, first, second, seed=7)
        assert position.winner is not None or game.name == "conga"


@pytest.mark.parametrize("name", [n for n in SMALL if n != "connect_k_agent"])
def test_the_same_seed_plays_the_same_game_and_pickled_players_too(name):
    game = gk.game("connect_k(columns=5,rows=4,k=3)")
    spec = SMALL[name]
    line = full_game(game, spec, "random", seed=3).line
    assert full_game(game, spec, "random", seed=3).line == line
    for load in (pickle, cloudpickle):
        again = pickle.loads(load.dumps(gk.player(spec)))
        assert again.spec == gk.player(spec).spec
        assert full_game(game, again, "random", seed=3).line == line


@pytest.mark.parametrize("name", ["random", "montecarlo", "uct", "poor_ai"])
def test_another_seed_plays_another_game(name):
    game = gk.game("connect_k(columns=6,rows=5,k=4)")
    assert len({tuple(full_game(game, SMALL[name], SMALL[name], seed=s).line) for s in range(8)}) > 1


@pytest.mark.parametrize("name", list(SMALL))
def test_a_player_leaves_the_global_generators_alone(name):
    game = gk.game("mnk(m=4,n=4,k=3)")
    before = random.getstate(), np.random.get_state()[1].tolist()
    full_game(game, SMALL[name], "random", seed=1)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


@pytest.mark.parametrize("name", [*SMALL, "perfect"])
def test_every_player_tells_its_parameters_for_a_table_s_row(name):
    player = gk.player(name)
    row = player.parameters()
    assert set(player.takes) <= set(row)
    assert gk.player(player.spec).parameters() == row
    assert player.about
    assert all(param.about for param in player.takes.values())
    assert str(player) == name
    assert eval(repr(player), {"gk": gk}).spec == player.spec


def test_timed_and_random_players_say_so():
    for spec, deterministic, timed in (
        ("alphabeta(depth=3)", True, False),
        ("search(nodes=50)", True, False),
        ("search(seconds=1)", False, True),
        ("search(depth=3,ties=random)", False, False),
        ("search(depth=2,ponder=on)", False, True),
        ("random", False, False),
        ("leftmost", True, False),
        ("uct(seconds=1)", False, True),
        ("montecarlo(playouts=5)", False, False),
        ("connect_k_agent", False, True),
    ):
        player = gk.player(spec)
        assert (player.deterministic, player.timed) == (deterministic, timed), spec


def test_minimax_and_alphabeta_are_search_with_switches_set(scramble):
    game, rng = gk.game("connect_four"), random.Random(2)
    for _ in range(6):
        position = scramble(game, rng, 20)
        for name, prune in (("minimax", "off"), ("alphabeta", "on")):
            one, two = (
                gk.player(f"{name}(depth=3)").choose(position),
                gk.player(f"search(depth=3,prune={prune})").choose(position),
            )
            assert (one.move, one.value, one.line, one.counters, one.by_ply) == (
                two.move,
                two.value,
                two.line,
                two.counters,
                two.by_ply,
            )


def test_greedy_takes_the_move_whose_position_evaluates_best(scramble):
    for spec in ("conga", "candy(board=ReesesPieces)", "mnk(m=5,n=5,k=4)", "connect_four"):
        game, rng = gk.game(spec), random.Random(spec)
        heuristic = gk.heuristic_of(None, game)
        for _ in range(8):
            position = scramble(game, rng, 14)
            values = [heuristic.value(position.after(code), position.turn) for code in position.codes()]
            choice = gk.player("greedy").choose(position)
            assert (choice.code, choice.value) == (position.codes()[int(np.argmax(values))], max(values))
            assert list(choice.values.values()) == values


def test_random_is_uniform_and_leftmost_is_the_first():
    position = gk.game("connect_four").replay("4444")
    player = gk.player("random")
    player.begin(position.game, 5)
    counts = Counter(player.pick(position) for _ in range(3500))
    assert set(counts) == set(position.codes())
    assert sum((n - 500) ** 2 / 500 for n in counts.values()) < 22.5  # chi square, 6 degrees: p < 0.001
    assert gk.player("leftmost").choose(gk.game("connect_four").replay("111111")).move == "2"


def test_any_function_of_a_position_is_a_player():
    def rightmost(position):
        return position.moves()[-1]

    player = gk.player(rightmost)
    assert player.spec == "rightmost"
    assert full_game(gk.game("mnk"), rightmost, "leftmost").winner in (0, 1, 2)
    for wrong in (None, 3, "9,9", float("nan")):
        with pytest.raises(gk.MoveError):
            gk.player(lambda position, wrong=wrong: wrong).choose(gk.game("mnk").start())


def test_a_human_is_asked_until_the_move_is_legal(monkeypatch, capsys):
    answers = iter(["", "x", "9,9", "0,0", "1,1"])
    monkeypatch.setattr("builtins.input", lambda _prompt="": next(answers))
    choice = gk.player("human").choose(gk.game("mnk").replay("0,0"))
    assert choice.move == "1,1"
    said = capsys.readouterr().out
    assert "is not a move of mnk" in said
    assert "is not legal in this position" in said


def test_a_player_starts_anew_when_the_game_changes():
    player = gk.player("search(depth=2,table=on,reuse=on)")
    for spec in ("conga", "mnk", "conga", "connect_four", "mnk(m=4,n=4,k=3)"):
        game = gk.game(spec)
        assert player.choose(game.start()).move == gk.player("search(depth=2)").choose(game.start()).move


# ----------------------------------------------------------------------------- the custom agent's parts


def board(text, game):
    return gk.game(game).position(text)


def test_part_1_it_opens_in_the_centre():
    game = gk.game("mnk(m=19,n=19,k=6)")
    choice = gk.player("custom").choose(game.start())
    assert (choice.move, choice.stopped_by) == ("9,9", "centre")
    assert gk.player("custom(centre=off,depth=1,near=off)").choose(game.start()).stopped_by != "centre"
    assert gk.player("custom").choose(gk.game("connect_four").start()).move == "4"
    assert gk.player("custom").choose(game.start().play("0,0")).stopped_by != "centre"


DEAD = "mnk(m=5,n=5,k=4)"


def test_part_2_without_alive_it_puts_stones_on_dead_lines():
    """X's three on the top row can never be four: O stands at its end and the board ends on the other side."""
    position = board("X X . O .\n. . . . .\n. O . X .\n. . . . O\n. . . . .", DEAD)
    base = "custom(depth=1,block=off,win=off,bonus=off,rival=off,near=off,contiguous=on"
    dead = gk.player(base + ",alive=off)").choose(position)
    assert dead.move == "0,2"
    live = gk.player(base + ",alive=on)").choose(position)
    assert live.move != "0,2"
    after = position.play(live.move)
    assert (
        gk.heuristic_of("potential_streak(opponent=0,open_end=0,diagonal=1)", position.game).value(after, position.turn)
        == 2 / 4
    )


def test_part_3_the_bonus_prefers_diagonals_and_open_ends():
    """1,0 is first in reading order; 1,2 makes two on a diagonal with both ends open."""
    position = board(". . . . .\n. . . . .\n. X . . .\n. . . . .\n. . . . O", "mnk(m=5,n=5,k=3)")
    base = "custom(depth=1,block=off,win=off,rival=off,contiguous=on"
    assert gk.player(f"{base},bonus=on)").choose(position).move == "1,2"
    assert gk.player(f"{base},bonus=off)").choose(position).move == "1,0"


def test_part_4_without_the_opponent_s_streak_values_are_only_its_own():
    position = board("X . . . .\n. O O . .\n. . . . .\n. . . . .\n. . . . X", DEAD)
    base = "custom(depth=1,block=off,win=off"
    both, own = (gk.player(f"{base},rival={o})").choose(position).value for o in ("on", "off"))
    assert own > both


def test_part_5_it_takes_a_win_at_once():
    position = board("X X X . .\nO O O . .\n. . . . .\n. . . . .\n. . . . .", DEAD)
    choice = gk.player("custom").choose(position)
    assert (choice.move, choice.stopped_by, choice.counters["generated"]) == ("0,3", "win", len(position.codes()))
    assert gk.player("custom(win=off)").choose(position).stopped_by != "win"


def test_part_6_it_keeps_its_limits_only_with_the_best_so_far():
    position = gk.game("mnk(m=15,n=15,k=5)").replay("7,7 7,8")
    tried = 2 * len(position.codes())
    kept = gk.player("custom(nodes=50,depth=3)").choose(position)
    assert kept.counters["generated"] <= 50 + tried
    assert kept.stopped_by == "nodes"
    let_go = gk.player("custom(nodes=50,depth=3,so_far=off)").choose(position)
    assert let_go.counters["generated"] > 50 + tried
    assert let_go.depth == 3


def test_part_7_it_looks_only_near_the_stones():
    position = gk.game("mnk(m=15,n=15,k=5)").replay("7,7 7,8")
    near = gk.player("custom(depth=1)").choose(position)
    far = gk.player("custom(depth=1,near=off)").choose(position)
    assert near.by_ply == [10]
    assert far.by_ply == [223]
    row, col = (int(x) for x in near.move.split(","))
    assert abs(row - 7) <= 1
    assert 6 <= col <= 9


def test_part_8_without_block_a_block_is_missed():
    position = board("O O O . .\nX . X . .\n. . . . .\n. . X . .\n. . . . .", DEAD)
    assert position.turn == 1
    base = "custom(depth=1,rival=off"
    blocked = gk.player(base + ")").choose(position)
    assert (blocked.move, blocked.stopped_by) == ("0,3", "block")
    missed = gk.player(base + ",block=off)").choose(position)
    assert missed.move != "0,3"
    assert position.play(missed.move).play("0,3").winner == 2
    assert gk.player(base + ",limit=5)").choose(position).stopped_by == "block"  # a win passes every limit


def test_the_limit_of_part_8_decides_what_is_dangerous():
    position = board(". . . . .\n. O O . .\n. . . . .\n. X . X .\n. . . . .", DEAD)
    assert gk.player("custom(depth=1,limit=0.5)").choose(position).stopped_by == "block"
    assert gk.player("custom(depth=1,limit=9)").choose(position).stopped_by == "depth"


@pytest.mark.parametrize(
    ("switch", "beside"),
    [
        ("centre", ""),
        ("alive", ""),
        ("bonus", ""),
        ("rival", ",block=off"),
        ("win", ""),
        ("near", ",block=off,bonus=off"),
        ("block", ""),
        ("contiguous", ""),
    ],
)
def test_every_switch_of_the_custom_agent_changes_some_game(switch, beside):
    game = gk.game("mnk(m=6,n=6,k=4)")
    other = "on" if switch == "contiguous" else "off"
    assert any(
        full_game(game, f"custom(depth=1,{switch}={other}{beside})", "random", seed=s).line
        != full_game(game, f"custom(depth=1{beside})", "random", seed=s).line
        for s in range(20)
    )


def _in_time(moves, seconds, crowded, more=""):
    """How late each answer was, and how late those that used up their time were, both sorted."""
    game, rng = gk.game("mnk(m=19,n=19,k=6)"), random.Random(int(crowded))
    player = gk.player(f"custom(seconds={seconds},depth=20{more})")
    player.begin(game)
    position, late, timed = game.start(), [], []
    while len(late) < moves:
        if position.winner is not None or not late:
            position = game.start()
            while crowded and position.ply < 200 and position.winner is None:
                position = position.after(rng.choice(position.codes()))
            if position.winner is not None:
                continue
        choice = player.choose(position)
        late.append(choice.seconds - seconds)
        if choice.stopped_by == "time":
            timed.append(late[-1])
        position = position.play(choice.move)
        if position.winner is None:
            position = position.after(rng.choice(position.codes()))
    return sorted(late), sorted(timed)


@pytest.mark.parametrize("crowded", [False, True])
def test_the_custom_agent_answers_in_time_on_nineteen_by_nineteen(crowded):
    """Without blocking, for among many stones a block is nearly always at hand, and then no clock is ever asked."""
    _, timed = _in_time(12, 0.05, crowded, ",block=off,win=off")
    assert len(timed) >= 8
    assert timed[len(timed) // 2] <= 0.020  # the median: another process may take any one of them


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "searched"), [("", 0), (",block=off,win=off", 80)], ids=["as it is", "always searching"]
)
@pytest.mark.parametrize("crowded", [False, True])
def test_the_custom_agent_answers_a_hundred_times_in_a_second_each(crowded, more, searched):
    late, timed = _in_time(100, 1.0, crowded, more)
    assert len(timed) >= searched
    assert late[-5] <= 0.020


# -------------------------------------------------------------------------------------- Monte-Carlo


def expected(slow, state, me):
    """The mean result of uniform play, exactly, by looking at every line."""
    winner = slow.winner(state)
    if winner is not None:
        return 0.0 if winner == 0 else 1.0 if winner == me else -1.0
    moves = slow.moves(state)
    return sum(expected(slow, slow.play(state, move), me) for move in moves) / len(moves)


@pytest.mark.parametrize("line", ["0,0 1,1 2,2 0,2 2,0", "0,0 0,1 1,1 2,2", "1,1 0,0 0,1 2,1 1,0"])
def test_flat_monte_carlo_s_sums_are_those_of_uniform_play(line):
    position, slow = gk.game("mnk").replay(line), plain_rules.Lines(3, 3, 3, False)
    state = plain_rules.replay(slow, position.line)
    player = gk.player("montecarlo(playouts=40000)")
    player.begin(position.game, 11)
    choice = player.choose(position)
    played = player._engine.run(position, 40000, None)
    assert played.tries.sum() == played.playouts == 40000
    share = 40000 / len(played.codes)
    assert sum((n - share) ** 2 / share for n in played.tries) < 25
    for code, total, tries in zip(played.codes, played.sums, played.tries, strict=True):
        mean = expected(slow, slow.play(state, position.game.write(code)), position.turn)
        assert total / tries == pytest.approx(mean, abs=5 / tries**0.5)
    assert choice.move == max(choice.values, key=choice.values.get)
    assert choice.counters["playouts"] == 40000


def test_flat_monte_carlo_generates_what_it_says():
    """On a board where every game lasts exactly one move more, playouts and positions are the same number."""
    position = gk.game("mnk").replay("0,0 0,1 0,2 1,1 1,0 1,2 2,1 2,0")
    choice = gk.player("montecarlo(playouts=123)").choose(position)
    assert choice.counters == {"generated": 123, "playouts": 123}
    assert choice.values == {"2,2": 0.0}


@pytest.mark.parametrize("name", ["uct(playouts=2000)", "montecarlo(playouts=3000)"])
def test_a_win_in_one_is_found_and_a_loss_in_two_is_stopped(name):
    assert gk.player(name).choose(gk.game("connect_four").replay("414243")).move == "4"
    assert gk.player("uct(playouts=4000)").choose(gk.game("connect_four").replay("41424")).move == "4"


def test_uct_converges_to_the_draw_of_tic_tac_toe():
    choice = gk.player("uct(playouts=60000)").choose(gk.game("mnk").start())
    assert choice.value == pytest.approx(0, abs=0.12)
    for seed in range(3):
        assert full_game(gk.game("mnk"), "uct(playouts=6000)", "uct(playouts=6000)", seed=seed).winner == 0
    lost = gk.game("mnk").replay("0,0 0,1")  # a mistake: X wins by force
    assert gk.player("uct(playouts=60000)").choose(lost).value > 0.75


def test_uct_s_line_is_legal_and_its_tree_bounded():
    game = gk.game("connect_four")
    player = gk.player("uct(playouts=30000)")
    choice = player.choose(game.start())
    position = game.start()
    for move in choice.line:
        position = position.play(move)
    assert sum(player._engine.tree[1:8]["visits"]) == 30000
    from gamekit.search.montecarlo import MonteCarlo

    tiny = MonteCarlo(game, 1, True, megabytes=0.0001)
    assert tiny.run(game.start(), 3000, None).tries.sum() == 3000


def test_playouts_of_conga_end_although_games_may_go_round():
    choice = gk.player("montecarlo(playouts=50)").choose(gk.game("conga").start())
    assert choice.move in ("00E", "00S", "00SE")


# ------------------------------------------------------------------------------- perfect and the ladder


def test_perfect_never_loses_tic_tac_toe_and_punishes():
    for seed in range(6):
        assert full_game(gk.game("mnk"), "perfect", "random", seed=seed).winner in (0, 1)
        assert full_game(gk.game("mnk"), "random", "perfect", seed=seed).winner in (0, 2)
    assert full_game(gk.game("mnk"), "perfect", "perfect").winner == 0
    assert full_game(gk.game("mnk(m=3,n=4,k=3)"), "perfect", "alphabeta(depth=4)").winner == 1


def test_the_ladder_is_labelled_as_ours():
    for name in ("poor_ai", "average_ai", "good_ai"):
        assert "ours" in gk.PLAYERS[name].about
        assert "role" in gk.PLAYERS[name].report


def _ladder(games, spec):
    game, shares = gk.game(spec), []
    for lower, upper in (("poor_ai", "average_ai"), ("average_ai", "good_ai")):
        won = 0
        for number in range(games):
            first, second = (upper, lower) if number % 2 == 0 else (lower, upper)
            winner = full_game(game, first, second, seed=1000 + 2 * number).winner
            won += winner == (1 if number % 2 == 0 else 2)
        shares.append(won / games)
    return shares


def test_each_step_of_the_ladder_beats_the_one_below():
    assert min(_ladder(10, "connect_k")) >= 0.6


@pytest.mark.long
def test_each_step_of_the_ladder_beats_the_one_below_in_eighty_of_a_hundred():
    assert min(_ladder(200, "connect_k")) >= 0.8
