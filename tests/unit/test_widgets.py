"""The widgets without a page: what they answer, what they refuse, and that no thread stays."""

from __future__ import annotations

import threading
import time

import pytest

import gamekit as gk
from gamekit.heuristics import HEURISTICS
from gamekit.matches.single_game import play_game
from gamekit.widgets import check_heuristic, play_board, rank, review, search_tree, weights

GAMES = ["connect_four", "conga", "candy(board=Ayds)", "mnk", "connect_k(columns=5,rows=4,k=4)", "mnk(m=19,n=19,k=5)"]


def ask(widget, what, **data):
    """A message from the page; what was said to it meanwhile."""
    said = []
    widget.send = said.append
    widget._hear(widget, {"do": what, "n": "1", **data}, [])
    assert said[-1] == {"answer": "1"}, "every message is answered"
    return said[:-1]


def settle(board, seconds=5.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with board.lock:
            if board.thought is None:
                return
        time.sleep(0.005)
    raise AssertionError("still thinking")


def thinking():
    return [thread for thread in threading.enumerate() if thread.name == "gamekit-think"]


@pytest.mark.parametrize("spec", GAMES)
def test_a_move_is_answered_at_once(spec):
    board = play_board(spec, "random")
    move = board.state["moves"][0]
    assert move["does"], "a preview of what the move changes"
    started = time.monotonic()
    ask(board, "play", move=move["m"])
    assert time.monotonic() - started < 0.1
    settle(board)
    assert board.position.ply == 2
    assert board.state["yours"]
    board.close()


@pytest.mark.parametrize("spec", GAMES[:5])
def test_every_move_can_be_clicked(spec):
    """No two moves mean the same click, and each has one."""
    board = play_board(spec, "random")
    columns = board.state["columns"]
    clicks = [(m["at"][1] if columns else tuple(m["at"]), tuple(m["to"] or ())) for m in board.state["moves"]]
    assert len(set(clicks)) == len(board.position.codes())
    board.close()


def test_a_long_search_stops_when_asked_and_plays_the_best_so_far():
    board = play_board("connect_four", "search(depth=40,deepen=on)")
    ask(board, "play", move="4")
    time.sleep(0.2)
    assert len(thinking()) == 1
    assert board.state["thinking"]
    ask(board, "play", move="4")
    assert "not your turn" in board.note
    ask(board, "stop")
    settle(board, 1.0)
    assert board.told["stopped_by"] == "stopped"
    assert board.position.ply == 2
    assert board.told["depth"] > 1
    board.close()
    assert not thinking()


@pytest.mark.parametrize(
    "agent",
    [
        "alphabeta(depth=40)",
        "montecarlo(seconds=60)",
        "uct(seconds=60)",
        "custom(depth=12)",
        "connect_k_agent(seconds=30)",
    ],
)
def test_nothing_is_left_when_the_page_goes(agent):
    before = set(threading.enumerate())
    board = play_board("mnk(m=9,n=9,k=5)", agent)
    ask(board, "hello", view="a")
    ask(board, "play", move="4,4")
    time.sleep(0.1)
    ask(board, "bye", view="a")
    assert board.thought is None
    board.close()
    time.sleep(0.05)
    assert not [thread for thread in threading.enumerate() if thread not in before and thread.is_alive()]


def test_undo_swap_hint_new_and_seats():
    board = play_board("connect_four", "leftmost")
    for move in ("4", "4"):
        ask(board, "play", move=move)
        settle(board)
    ask(board, "undo")
    assert board.position.line == ["4", "1"], "back to your last turn"
    ask(board, "hint")
    settle(board)
    assert board.hint in board.position.moves()
    assert board.state["told"]["bars"]
    ask(board, "swap")
    settle(board)
    assert board.names == ["leftmost", "you"]
    assert board.position.ply == 3, "the agent moves for its new side"
    ask(board, "seat", seat=0, who="alphabetta")
    assert "did you mean" in board.note
    assert board.names[0] == "leftmost", "a mistake changes nothing"
    ask(board, "seat", seat=0, who="you")
    ask(board, "new")
    assert board.position.ply == 0
    ask(board, "undo")
    assert "no move to take back" in board.note
    board.close()


def test_agents_play_pause_and_step():
    board = play_board("mnk", "random", you="alphabeta(depth=2)", seed=3)
    assert board.position.ply == 0, "two agents wait for Play or Step"
    ask(board, "step")
    settle(board)
    assert board.position.ply == 1
    ask(board, "run")
    end = time.monotonic() + 5
    while board.position.winner is None and time.monotonic() < end:
        time.sleep(0.01)
    settle(board)
    assert board.position.winner is not None
    ask(board, "step")
    assert "over" in board.note
    board.close()


@pytest.mark.parametrize(
    ("spec", "moves", "cell", "start", "why"),
    [
        ("connect_four", "111111", (0, 0), None, "full"),
        ("mnk", "1,1 0,0", (1, 1), None, "taken by X"),
        ("conga", "00S 33NW", (0, 0), None, "opponent's"),
        ("conga", "00S 33NW", (3, 3), None, "your own"),
        ("conga", "00S 33NW", (0, 0), [1, 0], "onto your opponent's"),
        ("candy", "A1 B1", (0, 0), None, "taken by Blue"),
    ],
)
def test_an_illegal_click_says_why(spec, moves, cell, start, why):
    board = play_board(spec, "random", moves=moves)
    before = board.position
    ask(board, "why", row=cell[0], col=cell[1], start=start)
    assert why in board.note
    assert board.state["note"] == board.note
    assert board.position is before
    board.close()


def test_what_is_wrong_is_refused_before_anything_is_shown():
    for wrong in (
        lambda: play_board("chess"),
        lambda: play_board("conga", "alphabeta(depth=0)"),
        lambda: play_board("conga", "alphabeta(heuristic=windows)"),
        lambda: play_board("conga", seat=3),
        lambda: play_board("mnk", moves="9,9"),
        lambda: search_tree(gk.game("mnk").start(), "random"),
        lambda: search_tree(gk.game("mnk").replay("0,0 1,0 0,1 1,1 0,2"), "minimax"),
        lambda: review("44"),
        lambda: review(5, "conga"),
        lambda: review("4", "connect_four", judge="x"),
        lambda: rank("moves"),
        lambda: rank("moves", "conga", depth=0),
    ):
        with pytest.raises(gk.GamekitError):
            wrong()


def test_an_agent_that_fails_says_so_on_the_board():
    def resigns(position):
        raise RuntimeError("no idea")

    board = play_board("mnk", resigns)
    ask(board, "play", move="1,1")
    settle(board)
    assert "no idea" in board.note
    assert not board.running
    board.close()


def test_tree_counts_what_the_search_counts():
    position = gk.game("connect_four").replay("4435")
    tree = search_tree(position, "alphabeta(depth=4)")
    minimax, alphabeta = tree.sides
    assert minimax.found.value == alphabeta.found.value
    for side, spec in ((minimax, "minimax(depth=4)"), (alphabeta, "alphabeta(depth=4)")):
        counters = gk.player(spec).choose(position).counters
        assert side.counters(None) == {name: counters[name] for name in side.counters(None)}
        assert side.counters(len(side.searched) - 1)["generated"] == counters["generated"] - 1
    card = next(node for node in alphabeta.nodes if node.cut)
    said = ask(tree, "cut", side=1)
    assert said[0]["cut"] == card.id
    assert "cannot matter" in card.why
    ask(tree, "cut", side=0)
    assert tree.note == "minimax cut nothing off here"


def test_a_large_tree_stays_light():
    started = time.monotonic()
    tree = search_tree(gk.game("connect_four").start(), "alphabeta(depth=8)")
    assert time.monotonic() - started < 20
    assert not tree.sides[0].complete
    assert len(tree.sides[0].nodes) > 50_000
    assert len(str(tree.state)) < 200_000, "only what is open is sent"
    started = time.monotonic()
    ask(tree, "step", step=40_000)
    ask(tree, "open", side=0, id=1)
    assert time.monotonic() - started < 0.5


def test_review_marks_moves_that_lost_value():
    game = gk.game("mnk")
    through = review("1,1 0,1 0,0 1,0 2,2", game)
    assert 2 in through.lost, "an edge loses against the centre"
    assert through.judged == 5
    ask(through, "at", ply=2)
    assert through.state["at"] == 2
    assert through.state["bars"]
    played = play_game("connect_four", "alphabeta(depth=3)", "random", seed=2)
    assert review(played, judge=None).judged == 0
    swept = gk.sweep("mnk", "leftmost", "random", games_each=2, workers=1, seed=1).iloc[1]
    assert review(swept, judge=None).final == gk.replay(swept)
    told = review(gk.game("conga").replay("00S 33NW"), judge=lambda position: dict.fromkeys(position.moves(), 0.0))
    assert told.judged == 2
    assert not told.lost


def test_check_and_rank_a_custom_heuristic():
    @gk.heuristic("conga", params={"own": 1.0})
    def lonely(board, me, params):
        score = 0.0
        for row in range(4):
            for col in range(4):
                if board[row, col].owner == me:
                    score += params[0]
        return score

    try:
        found = check_heuristic(lonely)
        assert found.good
        assert {name: good for name, good, _ in found.findings}["symmetry"] is True
        ranking = rank(lonely, games=6, seconds=5)
        assert len(ranking.table) >= 4
        table = ranking.table
        known = table.points_low.notna()  # two names for one function only replay each other's games
        assert known.any()
        assert (table.points_low <= table.points)[known].all()
        assert (table.points <= table.points_high)[known].all()
        assert table.points.is_monotonic_decreasing
        assert table.heuristic[ranking.place - 1] == "lonely"
        assert table.met.sum() == table.games[ranking.place - 1], "its games are those against each of the others"
        assert "lonely" in ranking._repr_html_()
        knobs = weights(lonely, gk.game("conga").start())
        ask(knobs, "set", name="own", value=3.0)
        assert knobs.heuristic.settings["own"] == 3.0
        assert knobs.state["spec"] == "lonely(own=3)"
        ask(knobs, "set", name="own", value="much")
        assert "own" in knobs.note
        ask(knobs, "reset")
        assert knobs.heuristic.settings["own"] == 1.0
    finally:
        HEURISTICS.pop(("conga", "lonely"))


@pytest.mark.parametrize(
    "make",
    [
        lambda p: play_board("connect_four", "random"),
        lambda p: search_tree(p, "alphabeta(depth=2)"),
        lambda p: review(p, judge=None),
        lambda p: weights("windows", p),
    ],
)
def test_a_still_picture_where_no_widget_can_run(make):
    widget = make(gk.game("connect_four").replay("4435"))
    data, _ = widget._repr_mimebundle_()
    assert data["image/svg+xml"].startswith("<svg")
    assert "<svg" in data["text/html"]
    assert "script" not in data["text/html"]
    assert data["text/plain"]
    widget.close()
