"""What was recorded once and must come out again: playthroughs, the Conga transcript, expanded nodes, node counts.

`pytest tests/golden --regenerate` writes the files anew; a changed number belongs in the commit's message.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import plain_rules
import pytest

import gamekit as gk
from gamekit.search.reference import search_plain

HERE = Path(__file__).parent
PLAYTHROUGHS = HERE / "playthroughs"

# ------------------------------------------------------------------------------------- playthroughs

RECORDED = {
    "conga": ["conga"],
    "candy": [
        "candy(board=AlmondJoy)",
        "candy(board=Ayds)",
        "candy(board=Bit-O-Honey)",
        "candy(board=Mounds)",
        "candy(board=ReesesPieces)",
    ],
    "connect_k": [
        "connect_k",
        "connect_k(columns=9,rows=5,k=5,gravity=on)",
        "connect_k(columns=12,rows=4,k=4,gravity=on)",
    ],
    "mnk": ["mnk", "mnk(m=3,n=4,k=3)", "mnk(m=9,n=9,k=4)"],
    "connect_four": ["connect_four", "connect_four(columns=8,rows=7)"],
}


def playthrough(spec: str) -> str:
    """One game by fixed chance, with all that can be asked of each position."""
    game, rng = gk.game(spec), random.Random(f"playthrough of {spec}")
    position, parts = game.start(), [f"game: {game}"]
    while True:
        parts.append(
            f"ply {position.ply}, turn {position.turn}, moves: {' '.join(position.moves()) or 'none'}\n{position}"
        )
        if position.winner is not None or position.ply == 60:
            break
        move = position.moves()[int(rng.random() * len(position.moves()))]
        parts.append(f"play {move}")
        position = position.play(move)
    return "\n".join([*parts, f"line: {game.join(position.line)}", f"outcome: {position.outcome()}"]) + "\n"


def test_no_registered_game_lacks_a_playthrough():
    assert set(RECORDED) == set(gk.GAMES)
    assert {file.stem for file in PLAYTHROUGHS.glob("*.txt")} == set(gk.GAMES)


@pytest.mark.parametrize("name", list(RECORDED))
def test_playthroughs_come_out_as_recorded(name, regenerate):
    text = "\n".join(playthrough(spec) for spec in RECORDED[name])
    file = PLAYTHROUGHS / f"{name}.txt"
    if regenerate:
        file.write_text(text, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", list(RECORDED))
def test_recorded_playthroughs_obey_the_slow_rules(name, judge):
    """What is on file was not only written by the code it tests: every line replays in rules written apart."""
    games = (PLAYTHROUGHS / f"{name}.txt").read_text(encoding="utf-8").split("game: ")[1:]
    assert len(games) == len(RECORDED[name])
    for text in games:
        lines = text.splitlines()
        slow = judge(gk.game(lines[0]))
        state = slow.start()
        for line in lines[1:]:
            if line.startswith("ply "):
                listed = line.split("moves: ")[1]
                assert listed == (" ".join(slow.moves(state)) or "none")
                assert f"turn {slow.turn(state)}," in line
            elif line.startswith("play "):
                state = slow.play(state, line.removeprefix("play "))
        winner = slow.winner(state)
        assert ("outcome: None" if winner is None else f"winner={winner},") in text


# ------------------------------------------------------------------------------ the Conga transcript


def _printed(text: str) -> list[list[tuple[int, int]]]:
    """A board as the report prints it → owners and stones; a cell left blank is empty."""
    return [
        [(0, 0) if not cell.strip() else ("0AB".index(cell[0]), int(cell[2:])) for cell in row.split("\t")]
        for row in text.splitlines()
    ]


def test_the_report_s_conga_game_replays_board_by_board():
    blocks = (HERE / "conga_transcript.txt").read_text(encoding="utf-8").strip().split("\n\n")[1:]
    assert len(blocks) == 35
    position = gk.game("conga").start()
    for number, block in enumerate(blocks):
        head, board = block.split("\n", 1)
        player, turn, move = head.split()
        assert (player, int(turn)) == ("AB"[number % 2], number // 2 + 1)
        assert move == plain_rules.CONGA_TRANSCRIPT[number]
        position = position.play(move)
        assert [[(int(c["owner"]), int(c["stones"])) for c in row] for row in position.board] == _printed(board)
    assert position.outcome() == gk.Outcome(1, "win")


# ----------------------------------------------------------------------------------- hand-made trees

MOST = 32
TREE = np.dtype(
    [("turn", "i4"), ("node", "i4"), ("first", "i4", (MOST,)), ("count", "i4", (MOST,)), ("worth", "f8", (MOST,))]
)


def _list(s, out):
    for i in range(s.count[s.node]):
        out[i] = i
    return s.count[s.node]


def _step(s, move):
    s.node = s.first[s.node] + move
    s.turn = 3 - s.turn
    return 0 if s.count[s.node] > 0 else 2


# A tree is a list of children; a leaf is a number. A node is named by the way to it: "ac" is the first's third child.
TREES = {
    "textbook": [[3, 12, 8], [2, 4, 6], [14, 5, 2]],  # Russell and Norvig's figure
    "last is best": [[1, 9], [2, 9], [3, 9]],
    "first is best": [[3, 9], [2, 9], [1, 9]],
    "equal everywhere": [[5, 5], [5, 5], [5, 5]],
    "three plies": [[[3, 5], [6, 9]], [[1, 2], [0, -1]]],
    "deep cut": [[5, 5], [[[1, 9], 4], 6], 7],  # the root's 5 cuts three plies further down
    "forced": [[[[1]]]],
    "one move wide": [[4], [3], [5]],
}
# The nodes whose moves are listed, worked out by hand: cut at alpha ≥ beta, children from left to right.
EXPANDED = {
    "textbook": {"", "a", "b", "c"},
    "last is best": {"", "a", "b", "c"},
    "first is best": {"", "a", "b", "c"},
    "equal everywhere": {"", "a", "b", "c"},
    "three plies": {"", "a", "aa", "ab", "b", "ba"},
    "deep cut": {"", "a", "b", "ba", "baa"},
    "forced": {"", "a", "aa", "aaa"},
    "one move wide": {"", "a", "b", "c"},
}
# Leaves that are looked at; the others are cut off.
LOOKED_AT = {
    "textbook": {"aa", "ab", "ac", "ba", "ca", "cb", "cc"},
    "last is best": {"aa", "ab", "ba", "bb", "ca", "cb"},
    "first is best": {"aa", "ab", "ba", "ca"},
    "equal everywhere": {"aa", "ab", "ba", "ca"},
    "three plies": {"aaa", "aab", "aba", "baa", "bab"},
    "deep cut": {"aa", "ab", "baaa", "bab", "c"},
    "forced": {"aaaa"},
    "one move wide": {"aa", "ba", "ca"},
}
VALUES = {
    "textbook": (3, "0"),
    "last is best": (3, "2"),
    "first is best": (3, "0"),
    "equal everywhere": (5, "0"),
    "three plies": (5, "0"),
    "deep cut": (7, "2"),
    "forced": (1, "0"),
    "one move wide": (5, "2"),
}


@pytest.fixture(scope="module")
def hand_made():
    class HandMade(gk.Game):
        name, state, width, moves, play = "hand_made_tree", TREE, 8, _list, _step

        def __init__(self, tree="textbook"):
            super().__init__(tree=tree)
            self.tree = TREES[tree]

        def setup(self, s):
            s.turn = 1
            queue, free = [(0, self.tree)], 1
            while queue:
                node, children = queue.pop(0)
                if isinstance(children, list):
                    s.first[node], s.count[node] = free, len(children)
                    queue += [(free + i, child) for i, child in enumerate(children)]
                    free += len(children)
                else:
                    s.worth[node] = children

        def cells(self, s):
            return [[(0, "")]]

    gk.register(HandMade)

    @gk.heuristic("hand_made_tree")
    def worth(state, me, params):
        return state.worth[state.node]

    yield HandMade
    del gk.GAMES["hand_made_tree"], gk.HEURISTICS["hand_made_tree", "worth"]


def _names(found):
    """The way to each node of a trace, in letters."""
    names = {}
    for node in found.trace:
        names[node.id] = "" if node.parent is None else names[node.parent] + "abcdefgh"[int(node.move)]
    return names


@pytest.mark.parametrize("tree", list(TREES))
def test_exactly_the_nodes_worked_out_by_hand_are_expanded(tree, hand_made):
    """A finished game is evaluated like any other here, so that leaves may lie at any depth."""
    start = hand_made(tree).start()
    found = search_plain(start, "worth", 4, win_bonus=False, trace=True)
    names = _names(found)
    assert {names[n.id] for n in found.trace if n.kind in ("max", "min")} == EXPANDED[tree]
    assert {names[n.id] for n in found.trace if n.kind in ("leaf", "over")} == LOOKED_AT[tree]
    assert (found.value, found.move) == VALUES[tree]
    fast = gk.player("alphabeta(depth=4,win_bonus=off,heuristic=worth)").choose(start)
    assert (fast.value, fast.move, fast.line, fast.counters, fast.by_ply) == (
        found.value,
        found.move,
        found.line,
        found.counters,
        found.by_ply,
    )
    assert (fast.counters["expanded"], fast.counters["leaves"]) == (len(EXPANDED[tree]), len(LOOKED_AT[tree]))


@pytest.mark.parametrize("tree", list(TREES))
def test_minimax_looks_at_every_node_of_a_hand_made_tree(tree, hand_made):
    def size(node):
        return 1 + sum(map(size, node)) if isinstance(node, list) else 1

    start = hand_made(tree).start()
    found = search_plain(start, "worth", 4, prune=False, win_bonus=False, trace=True)
    assert len(found.trace) == size(TREES[tree]) == found.counters["generated"] + 1
    assert (found.value, found.move) == VALUES[tree]
    assert gk.player("minimax(depth=4,win_bonus=off,heuristic=worth)").choose(start).counters == found.counters


# ------------------------------------------------------------------------------- node-count signature

SIGNED = {
    "conga": ("moves", 4),
    "candy(board=ReesesPieces)": ("score_difference", 3),
    "connect_k": ("windows", 3),
    "connect_k(columns=9,rows=5,k=5,gravity=on)": ("windows", 5),
    "mnk(m=5,n=5,k=4)": ("potential_streak", 3),
    "connect_four": ("valhalla", 5),
    "mnk(m=15,n=15,k=5)": ("longest_streak", 2),
}
SWITCHES = [
    "prune=off",
    "",
    "order=centre",
    "order=report",
    "table=on,order=best+history+centre,deepen=on",
    "order=front,deepen=on",
    "ties=random",
    "win_bonus=off,table=on,order=sides",
]


def signature() -> dict[str, dict[str, list]]:
    """Value and counters of every switch on a few positions of every game."""
    found: dict[str, dict[str, list]] = {}
    for spec, (heuristic, depth) in SIGNED.items():
        game, rng = gk.game(spec), random.Random(f"signature of {spec}")
        lines = []
        while len(lines) < 3:
            position = game.start()
            for _ in range(6 * len(lines)):
                if position.winner is None:
                    position = position.after(position.codes()[int(rng.random() * len(position.codes()))])
            if position.winner is None:
                lines.append(position)
        for switches in SWITCHES:
            player = gk.player(
                f"search(depth={min(depth, 3) if switches == 'prune=off' else depth},heuristic={heuristic}"
                + (f",{switches})" if switches else ")")
            )
            rows = []
            for position in lines:
                player.begin(game, 1)
                choice = player.choose(position)
                rows.append([game.join(position.line), choice.value, *choice.counters.values()])
            found.setdefault(spec, {})[switches or "plain alpha-beta"] = rows
    return found


def _lines(signed: dict[str, dict[str, list]]) -> str:
    """JSON with a row a line, so that a difference is one line of a diff."""
    games = []
    for spec, by_switch in signed.items():
        kinds = [
            f"  {json.dumps(switch)}: [\n" + ",\n".join("   " + json.dumps(row) for row in rows) + "]"
            for switch, rows in by_switch.items()
        ]
        games.append(f" {json.dumps(spec)}: {{\n" + ",\n".join(kinds) + "}")
    return "{\n" + ",\n".join(games) + "}\n"


def test_node_counts_are_the_recorded_ones(regenerate):
    signed, file = signature(), HERE / "node_counts.json"
    if regenerate:
        file.write_text(_lines(signed), encoding="utf-8")
    recorded = json.loads(file.read_text(encoding="utf-8"))
    assert set(recorded) == set(signed)
    for spec, by_switch in signed.items():
        for switch, rows in by_switch.items():
            assert recorded[spec][switch] == rows, (spec, switch)
    assert {spec.split("(")[0] for spec in recorded} == set(RECORDED)


def test_in_the_recorded_counts_values_do_not_depend_on_pruning_table_or_order():
    recorded = json.loads((HERE / "node_counts.json").read_text(encoding="utf-8"))
    for by_switch in recorded.values():
        for switch in SWITCHES[2:7]:
            assert [row[:2] for row in by_switch[switch]] == [row[:2] for row in by_switch["plain alpha-beta"]]
