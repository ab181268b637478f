"""What must always be true: the first ten invariants, over every registered game and random parameters."""

from __future__ import annotations

import contextlib
import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gamekit as gk
from gamekit.games.k_in_a_row import KInARow
from gamekit.search.deepening import Search
from gamekit.search.ordering import order_flags
from gamekit.search.reference import digest, search_plain

BOARDS = ["AlmondJoy", "Ayds", "Bit-O-Honey", "Mounds", "ReesesPieces"]


@st.composite
def games(draw, largest=9):
    """Any game with any parameters it allows, boards up to `largest` on a side."""
    name = draw(st.sampled_from(["conga", "candy", "connect_k", "mnk", "connect_four"]))
    if name == "candy":
        return gk.game(f"candy(board={draw(st.sampled_from(BOARDS))})")
    if name in ("mnk", "connect_k"):
        rows, cols = draw(st.integers(1, largest)), draw(st.integers(1, largest))
        k = draw(st.integers(1, max(rows, cols)))
        gravity = draw(st.sampled_from(["on", "off"]))
        return gk.game(
            f"mnk(m={rows},n={cols},k={k})"
            if name == "mnk"
            else f"connect_k(columns={cols},rows={rows},k={k},gravity={gravity})"
        )
    if name == "connect_four":
        return gk.game(f"connect_four(columns={draw(st.integers(4, largest))},rows={draw(st.integers(1, largest))})")
    return gk.game(name)


@st.composite
def positions(draw, running=False, plies=50, largest=9):
    """A position of any game, by random moves."""
    position = draw(games(largest)).start()
    rng = random.Random(draw(st.integers(0, 2**32)))
    for _ in range(draw(st.integers(0, plies))):
        if position.winner is not None:
            break
        after = position.after(rng.choice(position.codes()))
        if running and after.winner is not None:
            break
        position = after
    return position


def test_the_generator_knows_every_registered_game():
    assert set(gk.GAMES) == {"conga", "candy", "connect_k", "mnk", "connect_four"}


# 1 ---------------------------------------------------------------------------------------------------


@given(positions(), st.integers(-3, 2000))
def test_1_moves_are_empty_exactly_at_the_end_and_all_others_are_refused(position, number):
    game = position.game
    assert (position.moves() == []) == (position.outcome() is not None) == (position.winner is not None)
    assert len(set(position.codes())) == len(position.codes()) <= game.width
    assert all(0 <= code < game.codes for code in position.codes())
    before = position.data.tobytes(), position.winner, position.line
    for move in position.moves():
        assert position.play(move).line == [*position.line, move]
    if 0 <= number < game.codes and number not in position.codes():
        with pytest.raises(gk.IllegalMove):
            position.play(game.write(number))
    assert (position.data.tobytes(), position.winner, position.line) == before


# 2 ---------------------------------------------------------------------------------------------------


@given(positions())
def test_2_play_is_pure(position):
    before = position.data.tobytes()
    for code in position.codes():
        once, twice = position.after(code), position.after(code)
        assert once == twice
        assert (once.data.tobytes(), once.winner) == (twice.data.tobytes(), twice.winner)
    assert position.data.tobytes() == before


def _look(position):
    """All that can be seen of a position, by a way that knows nothing of keys."""
    return position.turn, tuple(itertools.chain.from_iterable(position.game.cells(position.record)))


@pytest.mark.parametrize("count", [2500, pytest.param(100_000, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "spec",
    [
        "conga",
        "candy(board=Mounds)",
        "mnk(m=4,n=4,k=4)",
        "mnk(m=9,n=8,k=5)",
        "connect_four",
        "connect_k(columns=5,rows=4,k=4,gravity=on)",
    ],
)
def test_2_keys_are_equal_exactly_when_positions_are(spec, count):
    game, rng = gk.game(spec), random.Random(spec)
    seen, looks, sampled = {}, {}, 0
    while sampled < count:
        position = game.start()
        while position.winner is None and position.ply < 60 and sampled < count:
            position = position.after(rng.choice(position.codes()))
            look = _look(position)
            assert seen.setdefault(position.key, look) == look
            assert looks.setdefault(look, position.key) == position.key
            sampled += 1


def test_2_the_search_s_digests_do_not_collide():
    """The table trusts 64 bits; a weak digest would show here."""
    for spec in ("conga", "connect_four", "mnk(m=9,n=9,k=5)"):
        game, rng, seen = gk.game(spec), random.Random(spec), {}
        position = game.start()
        for _ in range(8000):
            position = (
                game.start()
                if position.winner is not None or position.ply > 80
                else position.after(rng.choice(position.codes()))
            )
            assert seen.setdefault(digest(position), position.key) == position.key


# 3 ---------------------------------------------------------------------------------------------------


@given(positions())
def test_3_conservation(position):
    game, record, ply = position.game, position.record, position.ply
    if game.name == "conga":
        for who in (1, 2):
            mine = position.board["owner"] == who
            assert int(position.board["stones"][mine].sum()) == 10
            assert int(record.owned[who - 1]).bit_count() == int(mine.sum())
        assert (position.board["stones"][position.board["owner"] == 0] == 0).all()
        assert position.turn == ply % 2 + 1
    elif game.name == "candy":
        owner, value = position.board["owner"], position.board["value"]
        assert int((owner != 0).sum()) == ply == int(record.filled)
        totals = [int(value[owner == who].sum(dtype=int)) for who in (1, 2)]
        assert totals == record.total.tolist()
        assert sum(totals) == int(value[owner != 0].sum(dtype=int))
        assert (value == game.values).all()
    else:
        assert isinstance(game, KInARow)
        board = position.board
        first, second = int((board == 1).sum()), int((board == 2).sum())
        assert (first - second, first + second) == (ply % 2, ply)
        assert int(record.filled) == ply
        if game.gravity:
            assert not ((board[:-1] != 0) & (board[1:] == 0)).any()
            assert record.height[: game.cols].tolist() == (board != 0).sum(axis=0).tolist()
        if game.small:
            for who in (1, 2):
                cells = {(int(r), int(c)) for r, c in np.argwhere(board == who)}
                assert {divmod(bit, game.rows + 1) for bit in range(64) if int(record.stones[who - 1]) >> bit & 1} == {
                    (c, game.rows - 1 - r) for r, c in cells
                }


# 4 ---------------------------------------------------------------------------------------------------


@given(positions())
def test_4_text_and_transcripts_round_trip_to_the_same_end(position):
    game = position.game
    again = game.position(str(position))
    assert (again.key, again.winner, again.turn, again.moves()) == (
        position.key,
        position.winner,
        position.turn,
        position.moves(),
    )
    replayed = game.replay(game.join(position.line))
    assert (replayed.key, replayed.winner, replayed.outcome()) == (position.key, position.winner, position.outcome())
    assert gk.game(str(game)) == game


@settings(max_examples=300)
@given(games(), st.text(max_size=30))
def test_4_parsers_raise_the_move_error_and_nothing_else(game, text):
    for read, error in (
        (game.start().play, gk.MoveError),
        (game.replay, gk.MoveError),
        (game.position, gk.PositionError),
    ):
        with contextlib.suppress(error):
            read(text)


# 5 ---------------------------------------------------------------------------------------------------


@given(positions())
def test_5_a_symmetry_maps_moves_onto_moves_and_ends_onto_ends(position):
    for symmetry in position.game.symmetries():
        turned = position.turned(symmetry)
        assert set(turned.codes()) == {int(symmetry.moves[code]) for code in position.codes()}
        assert (turned.winner, turned.turn) == (position.winner, position.turn)
        assert turned.canonical() == position.canonical()
        for code in position.codes()[:6]:
            one, two = position.after(code).turned(symmetry), turned.after(int(symmetry.moves[code]))
            assert (one.key, one.winner) == (two.key, two.winner)


@pytest.mark.parametrize(
    "spec", ["conga", "candy(board=Mounds)", "connect_four", "mnk", "connect_k(columns=4,rows=3,k=3)"]
)
def test_5_exact_values_are_the_same_in_the_mirror(spec, scramble):
    game, rng = gk.game(spec), random.Random(spec)
    player = gk.player(
        "search(depth=4,table=on,heuristic={})".format(
            {"conga": "squares", "candy": "score_difference"}.get(game.name, "windows")
        )
    )
    for _ in range(6):
        position = scramble(game, rng, 30)
        value = player.choose(position).value
        assert all(player.choose(position.turned(symmetry)).value == value for symmetry in game.symmetries())


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ("conga", 1),
        ("candy(board=AlmondJoy)", 7),
        ("candy(board=ReesesPieces)", 0),
        ("candy(board=Bit-O-Honey)", 1),
        ("mnk", 7),
        ("mnk(m=3,n=4,k=3)", 3),
        ("connect_four", 1),
        ("connect_k(columns=4,rows=4,k=3,gravity=on)", 1),
    ],
)
def test_5_every_game_declares_its_symmetries(spec, count):
    symmetries = gk.game(spec).symmetries()
    assert len(symmetries) == len({s.name for s in symmetries}) == count
    for symmetry in symmetries:
        assert sorted(symmetry.cells.tolist()) == list(range(len(symmetry.cells)))
        assert sorted(symmetry.moves.tolist()) == list(range(len(symmetry.moves)))


# 6 ---------------------------------------------------------------------------------------------------


def _slow_winner(board, k):
    """Whoever has k in a row, by walking from every stone; None for nobody."""
    rows, cols = len(board), len(board[0])
    for r, c in itertools.product(range(rows), range(cols)):
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            cells = [(r + i * down, c + i * right) for i in range(k)]
            if board[r][c] and all(0 <= x < rows and 0 <= y < cols and board[x][y] == board[r][c] for x, y in cells):
                return board[r][c]
    return None


@settings(max_examples=150)
@given(st.integers(1, 19), st.integers(1, 19), st.data())
def test_6_a_win_is_found_exactly_when_a_slow_checker_finds_it(rows, cols, data):
    k = data.draw(st.integers(1, max(rows, cols)))
    game = gk.game(f"mnk(m={rows},n={cols},k={k})")
    rng = random.Random(data.draw(st.integers(0, 2**32)))
    position = game.start()
    near = rng.random() < 0.5  # half of the games crowd into one corner, so that long lines come about
    ply = 0
    while position.winner is None:
        codes, ply = position.codes(), ply + 1
        position = position.after(codes[min(int(rng.expovariate(0.5)), len(codes) - 1)] if near else rng.choice(codes))
        slow = (
            _slow_winner(position.board.tolist(), k) if position.winner is not None or ply % 9 == 0 else position.winner
        )
        full = ply == rows * cols
        assert position.winner == (slow if slow is not None else 0 if full else None)
    if position.winner:
        assert _slow_winner(position.parent.board.tolist(), k) is None
        cells = game.winning_cells(position.record)
        assert len(cells) >= k
        assert {int(position.board[cell]) for cell in cells} == {position.winner}


# 7, 8 ------------------------------------------------------------------------------------------------

HEURISTIC = {"conga": "squares", "candy": "score_difference"}


@settings(max_examples=80)
@given(
    positions(running=True, plies=40, largest=5),
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from(["first", "last"]),
    st.sampled_from(["none", "centre", "sides", "report", "history", "best", "front", "best+history+centre"]),
)
def test_7_all_searches_find_minimax_s_value_and_move_and_8_none_expands_more(position, depth, bonus, ties, order):
    game = position.game
    leaf = gk.heuristic_of(HEURISTIC.get(game.name, "windows"), game).leaf(game)
    depth = min(depth, 2) if len(position.codes()) > 16 else depth
    true = Search(game, leaf, prune=False, win_bonus=bonus, ties=ties).run(position, depth)
    for table, deepen, prune in itertools.product((False, True), repeat=3):
        engine = Search(
            game,
            leaf,
            prune=prune,
            table=table,
            deepen=deepen,
            order=order_flags(order),
            win_bonus=bonus,
            ties=ties,
            megabytes=0.1,
        )
        found = engine.run(position, depth)
        assert (found.value, found.code) == (true.value, true.code)
        if not deepen:
            assert found.counters["expanded"] <= true.counters["expanded"]
    best = np.flatnonzero(true.values == true.value)
    assert position.codes()[best[0] if ties == "first" else best[-1]] == true.code


@settings(max_examples=40)
@given(
    positions(running=True, plies=40, largest=5),
    st.integers(1, 2),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["none", "report", "history", "front", "best+history+centre"]),
    st.one_of(st.none(), st.integers(1, 200)),
)
def test_7_the_twin_agrees_in_every_counter(position, depth, table, deepen, order, nodes):
    game = position.game
    name = HEURISTIC.get(game.name, "positional")
    fast = Search(
        game,
        gk.heuristic_of(name, game).leaf(game),
        table=table,
        deepen=deepen,
        order=order_flags(order),
        megabytes=0.01,
    )
    found = fast.run(position, depth, nodes)
    plain = search_plain(position, name, depth, table=table, deepen=deepen, order=order, nodes=nodes, megabytes=0.01)
    assert (found.value, found.code, found.depth, found.counters, found.by_ply, found.stopped_by) == (
        plain.value,
        plain.code,
        plain.depth,
        plain.counters,
        plain.by_ply,
        plain.stopped_by,
    )


# 9, 10 -----------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(positions(running=True, plies=30, largest=7), st.integers(1, 400), st.integers(0, 1000))
def test_9_there_is_always_a_move_and_10_the_same_budget_gives_the_same_search(position, nodes, seed):
    told = []
    for _ in range(2):
        player = gk.player(f"search(nodes={nodes},table=on,order=best+history,ties=random)")
        player.begin(position.game, seed)
        choice = player.choose(position)
        assert choice.move in position.moves()
        assert choice.counters["generated"] <= nodes
        told.append((choice.move, choice.value, choice.depth, choice.line, choice.counters, choice.stopped_by))
    assert told[0] == told[1]


@settings(max_examples=25)
@given(
    positions(running=True, plies=30, largest=6),
    st.integers(1, 60),
    st.integers(0, 2**40),
    st.sampled_from(["montecarlo", "uct"]),
)
def test_10_playouts_are_reproduced_by_their_seed(position, playouts, seed, name):
    told = []
    for _ in range(2):
        player = gk.player(f"{name}(playouts={playouts})")
        player.begin(position.game, seed)
        choice = player.choose(position)
        assert choice.move in position.moves()
        assert choice.counters["playouts"] == playouts
        told.append((choice.move, choice.value, choice.values, choice.counters))
    assert told[0] == told[1]
