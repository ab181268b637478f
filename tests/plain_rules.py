"""The rules of the games once more, slow and obvious: the judge of the real implementation.

Nothing here imports gamekit, keeps anything from one move to the next, or saves work: a position is a pair
``(board, player to move)`` of nested tuples, and whatever is asked of it is counted from scratch. Players are
1 and 2, and 0 stands for nobody. Run the file to check it against the known figures of the games.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

WIN = 1e12
EMPTY = 0

Cell = tuple[int, int]
Board = tuple[tuple[Any, ...], ...]
State = tuple[Board, int]
Evaluate = Callable[[State, int], float]
Counters = dict[str, int]

# Compass directions in reading order, as (row step, column step).
DIRECTIONS = {
    "NW": (-1, -1),
    "N": (-1, 0),
    "NE": (-1, 1),
    "W": (0, -1),
    "E": (0, 1),
    "SW": (1, -1),
    "S": (1, 0),
    "SE": (1, 1),
}
COUNTER_NAMES = ("generated", "expanded", "leaves", "cutoffs", "first_move_cutoffs")


class Game(Protocol):
    """What every rule below offers."""

    def start(self) -> State:
        """The position in which player 1 makes the first move."""

    def moves(self, state: State) -> list[str]:
        """The legal moves as texts in canonical order; none when the game is over."""

    def play(self, state: State, text: str) -> State:
        """The position after a move; a move that is not legal raises ValueError."""

    def winner(self, state: State) -> int | None:
        """None while the game runs, then 1, 2, or 0 for a draw."""

    def turn(self, state: State) -> int:
        """The player to move."""


def other(player: int) -> int:
    """The opponent of a player."""
    return 3 - player


def reading_order(rows: int, cols: int) -> list[Cell]:
    """All cells of a board, row by row from the top left."""
    return [(row, col) for row in range(rows) for col in range(cols)]


def empty_cells(board: Board) -> list[Cell]:
    """The cells without an owner, in reading order."""
    cells = reading_order(len(board), len(board[0]))
    return [(row, col) for row, col in cells if board[row][col] == EMPTY]


def with_cell(board: Board, cell: Cell, content: Any) -> Board:
    """A copy of a board in which one cell holds something else."""
    rows = [list(row) for row in board]
    rows[cell[0]][cell[1]] = content
    return tuple(tuple(row) for row in rows)


def require_legal(game: Game, state: State, text: str) -> None:
    """Raise ValueError unless the text is one of the position's moves."""
    if text not in game.moves(state):
        raise ValueError(f"{text!r} is not a legal move here")


class Conga:
    """Conga on 4x4: a cell holds ``(owner, stones)``; a player to move who has no move loses."""

    SIZE = 4
    STONES = 10
    NOBODY = (EMPTY, 0)

    def start(self) -> State:
        board = tuple(tuple(self.NOBODY for _ in range(self.SIZE)) for _ in range(self.SIZE))
        board = with_cell(board, (0, 0), (1, self.STONES))
        board = with_cell(board, (self.SIZE - 1, self.SIZE - 1), (2, self.STONES))
        return board, 1

    def turn(self, state: State) -> int:
        return state[1]

    def moves(self, state: State) -> list[str]:
        board, player = state
        return self.moves_of(board, player)

    def moves_of(self, board: Board, player: int) -> list[str]:
        """The moves a player would have on this board, whoever's turn it is."""
        return [
            f"{row}{col}{direction}"
            for row, col in self.cells_of(board, player)
            for direction in DIRECTIONS
            if self.run(board, player, (row, col), direction)
        ]

    def cells_of(self, board: Board, player: int) -> list[Cell]:
        """The cells a player owns."""
        cells = reading_order(self.SIZE, self.SIZE)
        return [(row, col) for row, col in cells if board[row][col][0] == player]

    def run(self, board: Board, player: int, cell: Cell, direction: str) -> list[Cell]:
        """The open cells a move would go over: at most three, up to the edge or an enemy cell."""
        cells = []
        for distance in (1, 2, 3):
            row = cell[0] + distance * DIRECTIONS[direction][0]
            col = cell[1] + distance * DIRECTIONS[direction][1]
            if not (0 <= row < self.SIZE and 0 <= col < self.SIZE) or board[row][col][0] == other(player):
                break
            cells.append((row, col))
        return cells

    def play(self, state: State, text: str) -> State:
        require_legal(self, state, text)
        board, player = state
        cell, direction = (int(text[0]), int(text[1])), text[2:]
        run = self.run(board, player, cell, direction)
        in_hand = board[cell[0]][cell[1]][1]
        board = with_cell(board, cell, self.NOBODY)
        for wanted, target in enumerate(run, start=1):
            dropped = in_hand if target == run[-1] else min(wanted, in_hand)
            in_hand -= dropped
            if dropped > 0:
                already_there = board[target[0]][target[1]][1]
                board = with_cell(board, target, (player, already_there + dropped))
        return board, other(player)

    def winner(self, state: State) -> int | None:
        return None if self.moves(state) else other(self.turn(state))

    def move_difference(self, state: State, me: int) -> int:
        """Own moves minus the opponent's, a move being a cell and a direction."""
        return len(self.moves_of(state[0], me)) - len(self.moves_of(state[0], other(me)))

    def square_difference(self, state: State, me: int) -> int:
        """Own cells minus the opponent's."""
        return len(self.cells_of(state[0], me)) - len(self.cells_of(state[0], other(me)))

    def weighted_difference(self, state: State, me: int) -> int:
        """As the cells, each worth its directions on the board: corner 3, edge 5, centre 8."""
        own = sum(self.weight(cell) for cell in self.cells_of(state[0], me))
        return own - sum(self.weight(cell) for cell in self.cells_of(state[0], other(me)))

    def weight(self, cell: Cell) -> int:
        """How many of the eight directions stay on the board for one step."""
        on_edges = (cell[0] in (0, self.SIZE - 1)) + (cell[1] in (0, self.SIZE - 1))
        return {0: 8, 1: 5, 2: 3}[on_edges]


class Candy:
    """The candy game on a board of values: a cell of a position holds its owner."""

    def __init__(self, values: Sequence[Sequence[int]]) -> None:
        self.values = [list(row) for row in values]
        self.rows, self.cols = len(self.values), len(self.values[0])
        if self.cols > len(string.ascii_uppercase):
            raise ValueError("a column is named by one letter, so there are at most 26")

    def start(self) -> State:
        return tuple((EMPTY,) * self.cols for _ in range(self.rows)), 1

    def turn(self, state: State) -> int:
        return state[1]

    def moves(self, state: State) -> list[str]:
        cells = empty_cells(state[0])
        return [f"{string.ascii_uppercase[col]}{row + 1}" for row, col in cells]

    def play(self, state: State, text: str) -> State:
        require_legal(self, state, text)
        board, player = state
        cell = (int(text[1:]) - 1, string.ascii_uppercase.index(text[0]))
        beside = self.neighbours(cell)
        captures = any(board[row][col] == player for row, col in beside)
        board = with_cell(board, cell, player)
        for row, col in beside:
            if captures and board[row][col] == other(player):
                board = with_cell(board, (row, col), player)
        return board, other(player)

    def neighbours(self, cell: Cell) -> list[Cell]:
        """The cells that share a side with this one."""
        row, col = cell
        around = [(row - 1, col), (row, col - 1), (row, col + 1), (row + 1, col)]
        return [(r, c) for r, c in around if 0 <= r < self.rows and 0 <= c < self.cols]

    def winner(self, state: State) -> int | None:
        if self.moves(state):
            return None
        first, second = self.totals(state)
        return 1 if first > second else 2 if second > first else 0

    def totals(self, state: State) -> tuple[int, int]:
        """The value owned by player 1 and by player 2."""
        sums = [0, 0, 0]
        for row, col in reading_order(self.rows, self.cols):
            sums[state[0][row][col]] += self.values[row][col]
        return sums[1], sums[2]

    def total_difference(self, state: State, me: int) -> int:
        """Own total minus the opponent's."""
        totals = self.totals(state)
        return totals[me - 1] - totals[other(me) - 1]


class Lines:
    """k or more in a row on any board, stones placed freely or falling to the bottom of a column."""

    def __init__(self, rows: int, cols: int, k: int, gravity: bool) -> None:
        self.rows, self.cols, self.k, self.gravity = rows, cols, k, gravity
        self.all_windows = list(self.find_windows())

    def find_windows(self) -> Iterator[list[Cell]]:
        """Every k cells in line: along rows, columns, falling and rising diagonals."""
        for row_step, col_step in ((0, 1), (1, 0), (1, 1), (1, -1)):
            for row, col in reading_order(self.rows, self.cols):
                last_row, last_col = row + (self.k - 1) * row_step, col + (self.k - 1) * col_step
                if last_row < self.rows and 0 <= last_col < self.cols:
                    yield [(row + i * row_step, col + i * col_step) for i in range(self.k)]

    def start(self) -> State:
        return tuple((EMPTY,) * self.cols for _ in range(self.rows)), 1

    def turn(self, state: State) -> int:
        return state[1]

    def moves(self, state: State) -> list[str]:
        if self.winner(state) is not None:
            return []
        board = state[0]
        if self.gravity:
            return [str(col + 1) for col in range(self.cols) if board[0][col] == EMPTY]
        return [f"{row},{col}" for row, col in empty_cells(board)]

    def play(self, state: State, text: str) -> State:
        require_legal(self, state, text)
        board, player = state
        if self.gravity:
            col = int(text) - 1
            row = max(row for row in range(self.rows) if board[row][col] == EMPTY)
        else:
            row, col = (int(number) for number in text.split(","))
        return with_cell(board, (row, col), player), other(player)

    def winner(self, state: State) -> int | None:
        board = state[0]
        for window in self.all_windows:
            stones = [board[row][col] for row, col in window]
            for player in (1, 2):
                if stones.count(player) == self.k:
                    return player
        return None if any(EMPTY in row for row in board) else 0

    def windows(self, state: State, me: int) -> int:
        """30 a stone less 5 a gap for every window of one colour, own minus the opponent's."""
        score = 0
        for window in self.all_windows:
            stones = [state[0][row][col] for row, col in window]
            mine, theirs, gaps = stones.count(me), stones.count(other(me)), stones.count(EMPTY)
            if mine > 0 and theirs == 0:
                score += 30 * mine - 5 * gaps
            if theirs > 0 and mine == 0:
                score -= 30 * theirs - 5 * gaps
        return score


def replay(game: Game, texts: Sequence[str]) -> State:
    """The position after a list of moves from the start."""
    state = game.start()
    for text in texts:
        state = game.play(state, text)
    return state


def perft(game: Game, state: State, depth: int) -> int:
    """How many paths of exactly this many moves begin here; a finished game has none."""
    if depth == 0:
        return 1
    return sum(perft(game, game.play(state, text), depth - 1) for text in game.moves(state))


def tree_size(game: Game, state: State | None = None) -> int:
    """How many nodes the whole tree has, its root included."""
    if state is None:
        state = game.start()
    return 1 + sum(tree_size(game, game.play(state, text)) for text in game.moves(state))


def value_of_leaf(game: Game, state: State, ply: int, evaluate: Evaluate, me: int, win_bonus: bool) -> float:
    """What a position is worth that is not looked into any further."""
    winner = game.winner(state)
    if winner is None or not win_bonus:
        return evaluate(state, me)
    if winner == 0:
        return 0.0
    return WIN - ply if winner == me else -(WIN - ply)


def minimax(
    game: Game, state: State, depth: int, evaluate: Evaluate, me: int, prune: bool, win_bonus: bool
) -> tuple[float, list[str], Counters]:
    """Search to a depth for player ``me``, who is to move: the value, the best moves, the counters.

    Without pruning, the best moves are all that attain the value; with it, only the first that does, since
    the values of later ones may be mere bounds. A finished position is a leaf at any depth, evaluated like
    any other unless ``win_bonus`` sets a win above every evaluation, the sooner the better.
    """
    counters = dict.fromkeys(COUNTER_NAMES, 0)

    def search(state: State, ply: int, alpha: float, beta: float) -> tuple[float, list[str]]:
        if ply == depth or game.winner(state) is not None:
            counters["leaves"] += 1
            return value_of_leaf(game, state, ply, evaluate, me, win_bonus), []
        counters["expanded"] += 1
        maximising = game.turn(state) == me
        best, best_moves = (-math.inf if maximising else math.inf), []
        for number, text in enumerate(game.moves(state)):
            counters["generated"] += 1
            value, _ = search(game.play(state, text), ply + 1, alpha, beta)
            if (value > best) if maximising else (value < best):
                best, best_moves = value, [text]
            elif value == best and not prune:
                best_moves.append(text)
            if maximising:
                alpha = max(alpha, best)
            else:
                beta = min(beta, best)
            if prune and alpha >= beta:
                counters["cutoffs"] += 1
                counters["first_move_cutoffs"] += number == 0
                break
        return best, best_moves

    value, best_moves = search(state, 0, -math.inf, math.inf)
    return value, best_moves, counters


def self_play(game: Game, depth: int, evaluate: Evaluate, prune: bool) -> tuple[list[str], list[int]]:
    """A game of two equal searchers, each taking its first best move: the moves, what each generated."""
    state, texts, generated = game.start(), [], [0, 0]
    while game.winner(state) is None:
        me = game.turn(state)
        _, best_moves, counters = minimax(game, state, depth, evaluate, me, prune, win_bonus=True)
        generated[me - 1] += counters["generated"]
        texts.append(best_moves[0])
        state = game.play(state, best_moves[0])
    return texts, generated


CONGA_TRANSCRIPT = (
    "00S 33NW 30NE 11NW 20NE 00E 03S 22S 13SW 01W 02W 32W 23N 31E 03W 32W 33W 31W "
    "22SW 30N 32NE 20S 12S 30N 02S 20S 10S 00S 12N 10N 01SW 00E 13W 01W 02W"
).split()

CANDY_BOARDS = {
    "AlmondJoy": [[1] * 6 for _ in range(6)],
    "Ayds": [[99 if (row + col) % 2 == 0 else 1 for col in range(6)] for row in range(6)],
    "Bit-O-Honey": [[2**row] * 6 for row in range(6)],
    "Mounds": [[int(value) for value in row] for row in "111111 134431 142241 142241 134431 111111".split()],
    "ReesesPieces": [
        [66, 76, 28, 66, 11, 9],
        [31, 39, 50, 8, 33, 14],
        [80, 76, 39, 59, 2, 48],
        [50, 73, 43, 3, 13, 3],
        [99, 45, 72, 87, 49, 4],
        [80, 63, 92, 28, 61, 53],
    ],
}


def known_figures() -> Iterator[tuple[str, object, object]]:
    """What is known of the games: a name, what the rules above give, what it has to be."""
    conga, four, candy = Conga(), Lines(6, 7, 4, gravity=True), Candy(CANDY_BOARDS["ReesesPieces"])
    yield "Conga perft", [perft(conga, conga.start(), d) for d in range(1, 6)], [3, 8, 96, 1112, 13536]
    yield "Connect Four perft", [perft(four, four.start(), d) for d in range(1, 6)], [7, 49, 343, 2401, 16807]
    three = Lines(3, 3, 3, gravity=False)
    yield "tic-tac-toe tree", tree_size(three), 549946
    yield "tic-tac-toe windows", three.windows(replay(three, ["1,1", "0,0"]), 1), 3 * 20 - 2 * 20
    yield "2x3, K = 2 tree", tree_size(Lines(2, 3, 2, gravity=False)), 285

    yield "Conga transcript plies", len(CONGA_TRANSCRIPT), 35
    yield "Conga transcript winner", conga.winner(replay(conga, CONGA_TRANSCRIPT)), 1
    turn_11, turn_14 = replay(conga, CONGA_TRANSCRIPT[:20]), replay(conga, CONGA_TRANSCRIPT[:26])
    missed = minimax(conga, turn_11, 1, conga.move_difference, 1, False, True)[:2]
    yield "Conga win missed at turn 11", missed, (WIN - 1, ["12SW"])
    ties = [len(minimax(conga, turn_14, d, conga.move_difference, 1, False, False)[1]) for d in (1, 2, 3)]
    yield "Conga ties at turn 14", ties, [4, 4, 10]

    totals = [sum(map(sum, board)) for board in CANDY_BOARDS.values()]
    yield "Candy board totals", totals, [36, 1800, 378, 72, 1653]
    capture = replay(candy, ["C2", "D3", "A6", "C4", "C3"])
    yield "Candy capture example", candy.totals(capture), (50 + 59 + 80 + 43 + 39, 0)
    plain, pruned = (self_play(candy, 2, candy.total_difference, prune) for prune in (False, True))
    yield "Candy depth 2, positions generated", plain[1], [8436, 7770]
    yield "Candy depth 2, same game when pruned", pruned[0] == plain[0], True


def self_check() -> bool:
    """Print each known figure beside what it should be; say whether all hold."""
    all_hold = True
    for name, found, expected in known_figures():
        all_hold = all_hold and found == expected
        print(f"{'ok   ' if found == expected else 'WRONG'} {name}: {found}, expected {expected}")
    return all_hold


if __name__ == "__main__":
    raise SystemExit(0 if self_check() else 1)
