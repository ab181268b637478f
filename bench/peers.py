"""gamekit beside other libraries: the same tree of Connect Four, searched to the same depth.

All of them prune, list columns from left to right and use the same evaluation, so they visit the same nodes;
that is checked before anything is timed. No game ends within the depth, so their values of a win do not matter.
Each evaluation is whole all the same: where a library leaves it to the evaluation to see a lost game, it does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

import gamekit as gk
from gamekit.search.deepening import Search
from gamekit.search.montecarlo import MonteCarlo
from gamekit.search.reference import search_plain
from gamekit.solvers.drop_solver import DropSolver

from .evaluations import COLUMN_WEIGHTS, bench_centre, bench_nothing
from .measure import ABSENT, Row, paired, timed

Score = Callable[[Any, int], float]  # a board as a NumPy array of 0, 1, 2; the player it is for
Peer = tuple[Callable[[], object], Callable[[], int], str]  # a run, a count of what it visits, the counter to match
COLUMNS = list(COLUMN_WEIGHTS.values())
WEIGHTS = np.array(COLUMNS)


def word_for_word(board: Any, me: int) -> float:
    """What a user of gamekit writes, given to another library as it stands."""
    return bench_centre.function(board, me, WEIGHTS)


def on_lists(board: Any, me: int) -> float:
    """The same rewritten for speed: plain Python reads lists faster than arrays."""
    value = 0.0
    for row in board.tolist():
        for owner, weight in zip(row, COLUMNS, strict=True):
            if owner:
                value += weight if owner == me else -weight
    return value


def missing(module: str) -> bool:
    try:
        import_module(module)
    except ImportError:
        return True
    return False


def plain_twin(depth: int, score: Score | None) -> Peer:
    start = gk.game("connect_four").start()
    heuristic = bench_centre if score else bench_nothing

    def run():
        return search_plain(start, heuristic, depth)

    return run, lambda: run().counters["generated"], "generated"


def easy_ai(depth: int, score: Score | None) -> Peer:
    from easyAI import AI_Player, Negamax
    from easyAI.games.ConnectFour import ConnectFour

    made = [0]

    class Game(ConnectFour):
        def scoring(self):
            if self.lose():
                return -100
            return score(self.board, self.current_player) if score else 0

    class Counting(Game):
        def make_move(self, column):
            made[0] += 1
            super().make_move(column)

    algorithm = Negamax(depth)

    def run(kind: type = Game):
        return algorithm(kind([AI_Player(algorithm), AI_Player(algorithm)]))

    def count() -> int:
        made[0] = 0
        run(Counting)
        return made[0]

    return run, count, "generated"


def aima(depth: int, score: Score | None) -> Peer:
    from aima3.games import ConnectFour, alphabeta_cutoff_search

    made = [0]

    class Counting(ConnectFour):
        def result(self, state, move):
            made[0] += 1
            return super().result(state, move)

    def evaluate(state):
        if state.utility or not score:
            return state.utility
        board = np.zeros((6, 7), np.int8)
        for (x, y), mark in state.board.items():
            board[y - 1, x - 1] = 1 if mark == "X" else 2
        return score(board, 1)

    def run(game: Any = ConnectFour()):
        return alphabeta_cutoff_search(
            game.initial,
            game,
            eval_fn=evaluate,
            cutoff_test=lambda state, ply: ply >= depth or game.terminal_test(state),
        )

    def count() -> int:
        made[0] = 0
        run(Counting())
        return made[0]

    return run, count, "generated"


def open_spiel(depth: int, score: Score | None) -> Peer:
    import pyspiel
    from open_spiel.python.algorithms import minimax

    game = pyspiel.load_game("connect_four")
    made = [0]

    def evaluate(state):
        if not score:
            return 0.0
        marks = np.frombuffer(str(state).encode(), np.uint8).reshape(6, 8)[:, :7]  # faster than its tensor
        return score((marks == ord("x")) + 2 * (marks == ord("o")), 1)

    def counting(state):
        made[0] += 1
        return evaluate(state)

    def run(function: Callable = evaluate):
        return minimax.alpha_beta_search(game, value_function=function, maximum_depth=depth)

    def count() -> int:
        made[0] = 0
        run(counting)
        return made[0]

    return run, count, "leaves"


PEERS = (
    # name, module, what to run, floor, aim, rounds
    ("the plain twin", "gamekit", plain_twin, 150, 400, 5),
    ("open_spiel's Python", "pyspiel", open_spiel, 200, 500, 5),
    ("aima3", "aima3", aima, 200, 500, 5),
    ("easyAI", "easyAI", easy_ai, 3000, 15000, 2),
)
EVALUATIONS: tuple[tuple[str, gk.Heuristic, Score | None, bool], ...] = (
    # what it is, ours, theirs, judged
    ("a heuristic word for word", bench_centre, word_for_word, True),
    ("rewritten on lists", bench_centre, on_lists, False),
    ("no evaluation", bench_nothing, None, False),
)


def peers(quick: bool) -> Iterator[Row]:
    """Alpha-beta beside each of them, three times.

    The ratio hangs on the evaluation as much as on the search. Floors are judged on what the project is for, a
    user's heuristic given to every library word for word. Beside it stand two rows less kind to gamekit: the
    heuristic rewritten for the others' sake, and no evaluation at all, which leaves the bare rules (open_spiel's
    are C++).
    """
    depth, game = 4 if quick else 6, gk.game("connect_four")
    start = game.start()
    for how, heuristic, score, judged in EVALUATIONS:
        search = Search(game, heuristic.leaf(game))
        found = search.run(start, depth=depth)
        for name, module, make, floor, aim, rounds in PEERS:
            if name == "the plain twin" and not judged:
                continue
            row = Row("peers", f"alpha-beta to {depth}, {how}, beside {name}")
            if judged:
                row.floor, row.aim = floor, aim
            if missing(module):
                row.note = f"{ABSENT}: {module}"
                yield row
                continue
            run, count, counter = make(depth, score)
            visited, expected = count(), found.counters[counter]
            if visited != expected:
                raise AssertionError(f"{row.what}: {visited} {counter}, gamekit {expected}")
            pair = paired(partial(search.run, start, depth=depth), run, 1 if quick else rounds, repeat=20)
            yield pair.row(
                "peers",
                row.what,
                floor=row.floor,
                aim=row.aim,
                nodes=found.counters["generated"],
                note=f"{counter} equal" + ("" if judged else "; not judged"),
            )


def montecarlo(quick: bool) -> Iterator[Row]:
    """Tree search by random playouts: simulations a second beside open_spiel's in C++."""
    what = "Connect Four, tree of random playouts, beside pyspiel's C++"
    if missing("pyspiel"):
        yield Row("montecarlo", what, floor=8, aim=15, note=f"{ABSENT}: pyspiel")
        return
    import pyspiel

    theirs_count, times = 2000 if quick else 10000, 5
    game, spiel = gk.game("connect_four"), pyspiel.load_game("connect_four")
    engine, start, state = MonteCarlo(game, 1, True), game.start(), spiel.new_initial_state()

    def theirs():
        bot = pyspiel.MCTSBot(spiel, pyspiel.RandomRolloutEvaluator(1, 1), 2**0.5, theirs_count, 1000, False, 1, False)
        return bot.step(state)

    engine.run(start, 100, None)
    pair = paired(lambda: engine.run(start, times * theirs_count, None), theirs, 3 if quick else 7)
    pair.ratios = [times * ratio for ratio in pair.ratios]
    rates = times * theirs_count / pair.ours, theirs_count / pair.theirs
    yield pair.row(
        "montecarlo", what, floor=8, aim=15, note=f"{rates[0] / 1e6:.2f} M simulations/s, theirs {rates[1] / 1e6:.2f}"
    )


def stones_of(position: gk.Position) -> tuple[int, int]:
    """Stones of the side to move and of the other, as bits."""
    s = position.record
    return int(s.stones[position.turn - 1]), int(s.stones[2 - position.turn])


def openings(count: int, seed: int = 7) -> list[gk.Position]:
    """Random positions of 12 to 16 stones in which nobody wins with the next move."""
    chance, game = random.Random(seed), gk.game("connect_four")
    found: list[gk.Position] = []
    while len(found) < count:
        position = game.start()
        while position.winner is None and position.ply < 12 + len(found) % 5:
            position = position.after(chance.choice(position.codes()))
        nexts = [position.after(code) for code in position.codes()]
        if position.winner is None and all(p.winner is None for p in nexts) and not threatened(position):
            found.append(position)
    return found


def threatened(position: gk.Position) -> bool:
    """Whether the side not to move has two ways to win at once: solved at a glance."""
    mine, theirs = stones_of(position)
    solver = DropSolver(megabytes=0.01)
    mask, wins = mine | theirs, 0
    for column in range(7):
        cell = (mask + (1 << 7 * column)) & (0x3F << 7 * column) & ~mask
        wins += bool(cell) and solver.has_won(theirs | cell)
    return wins > 1


def solver(quick: bool) -> Iterator[Row]:
    """Exact scores of positions with 12 to 16 stones, beside bitbully; both start with an empty table."""
    what = "Connect Four, 12 to 16 stones solved, time beside bitbully's"
    if missing("bitbully"):
        yield Row("solver", what, floor=2, aim=1, at_most=True, note=f"{ABSENT}: bitbully")
        return
    from bitbully import BitBully, Board

    positions = openings(10 if quick else 60)
    boards = [Board(line_of(p)) for p in positions]
    pairs = [stones_of(p) for p in positions]
    bully = BitBully(opening_book=None)

    def ours():
        mine = DropSolver()
        return [mine.solve(*pair) for pair in pairs]

    def theirs():
        bully.reset_transposition_table()
        return [bully.mtdf(board) for board in boards]

    if ours() != theirs():
        raise AssertionError(f"{what}: scores differ")
    pair = paired(ours, theirs, 3 if quick else 5)
    pair.ratios = [1 / ratio for ratio in pair.ratios]
    yield pair.row(
        "solver",
        what,
        floor=2,
        aim=1,
        at_most=True,
        unit="× the time",
        note=f"{len(positions)} positions, scores equal",
    )


def line_of(position: gk.Position) -> list[int]:
    """The columns played, from 0."""
    return [int(move) - 1 for move in position.line]


def empty_board(_quick: bool) -> Iterator[Row]:
    """The empty 7×6 board: minutes, so only when asked for by name."""
    solver = DropSolver(megabytes=64)
    score: list[int | None] = []
    spent = timed(lambda: score.append(solver.solve(0, 0)))
    yield Row(
        "empty",
        "Connect Four, the empty 7×6 board solved",
        spent / 60,
        floor=15,
        aim=4,
        at_most=True,
        unit="CPU min",
        ours=spent,
        nodes=solver.nodes,
        note=f"score {score[0]}",
    )
