"""Exact values of k-in-a-row without gravity (m,n,k) on any board of up to 64 bits.

A position is two words, the stones of the side to move and of the other side. One bit a cell, row
by row, and one spare bit at the end of each row. 3 rows, 4 columns:

     0  1  2  3 | 4           spare bits: 4, 9, 14, always empty
     5  6  7  8 | 9
    10 11 12 13 |14

A value is 1, 0 or -1: the side to move wins, draws, loses. The search asks a yes-or-no question, so
one side is the attacker, who wants a line, and the other the defender, who is content with none.
"""

from __future__ import annotations

import numpy as np
from numba import types

from gamekit.compiled import compiled, helper, popcount, trailing_zeros

__all__ = ["LineSolver"]

WORD = np.uint64
ONE, NONE = WORD(1), WORD(0)
STOPPED = -1000  # no value: the search was told to stop
CELLS = 64
SYMMETRIC = 12  # with fewer stones than this a position shares its entry with its images
CERTAIN = 1 << 40  # the danger of a completed line; each missing stone halves it
SPREAD, SPREAD_2 = WORD(0x9E3779B97F4A7C15), WORD(0xC2B2AE3D27D4EB4F)


# ---------------------------------------------------------------------- lines


@helper(forceinline=True)
def scan(mine, theirs, lines, k, pairs):
    """One look at every line still open to one side.

    Returns the cells that win at once for either side, either side's danger, and how many lines lack
    just two stones; the two cells of each are left in `pairs`, mine from 0, theirs from half-way.
    """
    wins, losses = NONE, NONE
    danger, risk = 0, 0
    n, m = 0, pairs.size // 2
    for line in lines:
        own, other = line & mine, line & theirs
        if other == 0:
            missing = k - popcount(own)
            danger += CERTAIN >> min(missing, 40)
            if missing == 1:
                wins |= line ^ own
            elif missing == 2:
                pairs[n] = line ^ own
                n += 1
        if own == 0:
            missing = k - popcount(other)
            risk += CERTAIN >> min(missing, 40)
            if missing == 1:
                losses |= line ^ other
            elif missing == 2:
                pairs[m] = line ^ other
                m += 1
    return wins, losses, danger, risk, n, m - pairs.size // 2


@helper
def has_fork(pairs, begin, end):
    """Do two of these pairs share one cell? A stone there makes two threats at once."""
    for i in range(begin, end):
        for j in range(begin, i):
            if pairs[i] & pairs[j] != 0 and pairs[i] != pairs[j]:
                return True
    return False


@helper
def fork_stoppers(pairs, begin, end):
    """Cells that meet every fork the opponent could make next."""
    cells = ~NONE
    for i in range(begin, end):
        for j in range(begin, i):
            if pairs[i] & pairs[j] != 0 and pairs[i] != pairs[j]:
                cells &= pairs[i] | pairs[j]
    return cells


@helper
def union(pairs, begin, end):
    cells = NONE
    for i in range(begin, end):
        cells |= pairs[i]
    return cells


@helper(forceinline=True)
def sort_moves(mine, theirs, allowed, first, lines, k, weight, base, moves):
    """Write the allowed cells on open lines into `moves`, best first; `first` goes before all others.

    A cell weighs more the more open lines cross there and the fuller they are. A cell on no open
    line is left out: a stone there changes nothing, and an extra stone is never worse than that.
    """
    weight[:] = 0
    for line in lines:
        own, other = line & mine, line & theirs
        if own != 0 and other != 0:
            continue
        worth = 1 << min(2 * popcount(own | other), 40)
        rest = (line ^ own ^ other) & allowed
        while rest != 0:
            weight[trailing_zeros(rest)] += worth
            rest &= rest - ONE
    count = 0
    if first >= 0 and weight[first] > 0:
        weight[first] = 1 << 50
    rest = allowed
    while rest != 0:
        cell = trailing_zeros(rest)
        rest &= rest - ONE
        if weight[cell] == 0:
            continue
        at = base + count
        while at > base and weight[moves[at - 1]] < weight[cell]:
            moves[at] = moves[at - 1]
            at -= 1
        moves[at] = cell
        count += 1
    return count


# ---------------------------------------------------------------------- table
# An entry is three words: mine + 1 (a fresh entry matches nothing), theirs, and
# upper bound + 1 | lower bound + 1 | work, where work is log2 of the positions it cost.


@helper
def image(stones, symmetry, cell_of):
    turned = NONE
    while stones != 0:
        turned |= ONE << WORD(cell_of[symmetry * CELLS + trailing_zeros(stones)])
        stones &= stones - ONE
    return turned


@helper
def canonical(mine, theirs, cell_of):
    """The least of a position's mirror images and rotations."""
    least, other = mine, theirs
    for symmetry in range(1, cell_of.size // CELLS):
        turned = image(mine, symmetry, cell_of)
        if turned <= least:
            beside = image(theirs, symmetry, cell_of)
            if turned < least or beside < other:
                least, other = turned, beside
    return least, other


@helper
def slot_of(mine, theirs, table):
    stirred = (mine * SPREAD) ^ (theirs * SPREAD_2)
    stirred ^= stirred >> WORD(32)
    stirred *= SPREAD
    return np.int64((stirred >> WORD(20)) & WORD(table.shape[0] - 1))


@helper
def find(table, mine, theirs):
    """Where the position is filed, or -1."""
    slot = slot_of(mine, theirs, table)
    if table[slot, 0] == mine + ONE and table[slot, 1] == theirs:
        return slot
    slot ^= 1
    if table[slot, 0] == mine + ONE and table[slot, 1] == theirs:
        return slot
    return -1


@helper
def upper_of(table, slot):
    return np.int64(table[slot, 2] >> WORD(10)) - 1


@helper
def lower_of(table, slot):
    return np.int64((table[slot, 2] >> WORD(8)) & WORD(3)) - 1


@helper
def keep(table, mine, theirs, value, is_lower, spent):
    """File a bound. Of a pair of slots one keeps what was costly, and ages each time it is spared."""
    work = NONE
    while spent > 0:
        spent >>= 1
        work += ONE
    lower, upper = -1, 1
    slot = find(table, mine, theirs)
    if slot >= 0:
        lower, upper = lower_of(table, slot), upper_of(table, slot)
    else:
        slot = slot_of(mine, theirs, table)
        if work < table[slot, 2] & WORD(255):
            table[slot, 2] -= ONE
            slot ^= 1
    if is_lower:
        lower = max(lower, value)
    else:
        upper = min(upper, value)
    table[slot, 0], table[slot, 1] = mine + ONE, theirs
    table[slot, 2] = (WORD(upper + 1) << WORD(10)) | (WORD(lower + 1) << WORD(8)) | work


# --------------------------------------------------------------------- search


@helper
def search(mine, theirs, alpha, k, full, lines, cell_of, table, stop, progress, limit):
    """Is the value above alpha (0: does the side to move win? -1: does it hold?). Returns

        result <= alpha    if  value <= result
        result >  alpha    if  value >= result
        result == STOPPED  if  nothing is known yet (the table keeps what was found)
    """
    own = np.empty(CELLS + 1, np.uint64)  # a frame a ply: the position,
    other = np.empty(CELLS + 1, np.uint64)
    key = np.empty((CELLS + 1, 2), np.uint64)  # the least of its images,
    began = np.empty(CELLS + 1, np.int64)  # the positions visited before it,
    best = np.empty(CELLS + 1, np.int64)
    count = np.empty(CELLS + 1, np.int64)
    tried = np.empty(CELLS + 1, np.int64)
    moves = np.empty((CELLS + 1) * CELLS, np.int64)  # its moves, best first
    refutation = np.full(CELLS + 1, -1, np.int64)  # what last answered the question at a ply
    pairs = np.empty(2 * lines.size + 2, np.uint64)
    half = pairs.size // 2
    weight = np.empty(CELLS, np.int64)
    nodes, ply = progress[0], 0
    while True:  # enter a position
        nodes += 1
        if nodes & 255 == 0:
            progress[0] = nodes
            if stop[0] != 0 or nodes >= limit:
                return STOPPED
        value, settled = 0, True
        wins, losses, danger, risk, n, m = scan(mine, theirs, lines, k, pairs)
        allowed = full & ~(mine | theirs)
        if wins != 0:
            value = 1
        elif losses & (losses - ONE) != 0:
            value = -1
        elif losses == 0 and has_fork(pairs, 0, n):
            value = 1
        elif danger + risk == 0:
            value = 0
        elif alpha == 0 and danger < CERTAIN // 2:  # a defender to answer can always halve the danger
            value = 0
        elif alpha == -1 and risk < CERTAIN:
            value = 0
        else:
            settled = False
        if not settled:
            low, high = mine, theirs
            if popcount(mine | theirs) < SYMMETRIC:
                low, high = canonical(mine, theirs, cell_of)
            slot = find(table, low, high)
            if slot >= 0 and upper_of(table, slot) <= alpha:
                value, settled = upper_of(table, slot), True
            elif slot >= 0 and lower_of(table, slot) > alpha:
                value, settled = lower_of(table, slot), True
        if not settled:
            if losses != 0:
                allowed = losses
            else:
                allowed &= fork_stoppers(pairs, half, half + m) | union(pairs, 0, n)
            count[ply] = sort_moves(mine, theirs, allowed, refutation[ply], lines, k, weight, ply * CELLS, moves)
            if count[ply] == 0:
                value, settled = -1, True
        if not settled:
            own[ply], other[ply], key[ply, 0], key[ply, 1] = mine, theirs, low, high
            began[ply], tried[ply] = nodes, 0
            best[ply] = -1
        while settled:  # leave it, and every parent whose question is answered by that
            if ply == 0:
                progress[0] = nodes
                return value
            ply -= 1
            alpha = -alpha - 1
            best[ply] = value = max(best[ply], -value)
            settled = value > alpha
            if settled:
                refutation[ply] = moves[ply * CELLS + tried[ply]]
            tried[ply] += 1
            settled = settled or tried[ply] == count[ply]
            if settled:
                keep(table, key[ply, 0], key[ply, 1], value, value > alpha, nodes - began[ply])
        cell = ONE << WORD(moves[ply * CELLS + tried[ply]])
        mine, theirs = other[ply], own[ply] | cell
        alpha = -alpha - 1
        ply += 1


@compiled(types.uint64, types.uint64, types.int64, types.uint64, types.uint64[::1], types.int64[::1],
          types.uint64[:, ::1], types.uint8[::1], types.int64[::1], types.int64)
def value_of(mine, theirs, k, full, lines, cell_of, table, stop, progress, limit):
    """1, 0 or -1 for the side to move, or STOPPED."""
    progress[1], progress[2] = -1, 1
    bound = search(mine, theirs, 0, k, full, lines, cell_of, table, stop, progress, limit)
    if bound == STOPPED or bound == 1:
        return bound
    progress[2] = bound
    if bound == -1:
        return bound
    if mine | theirs == 0:  # were there a win for the second, the first could make it his own
        return 0
    bound = search(mine, theirs, -1, k, full, lines, cell_of, table, stop, progress, limit)
    return bound if bound == STOPPED else min(bound, 0)


class LineSolver:
    """Values of positions of one board; what it learns from one helps with the next.

    `mine` and `theirs` are the stones of the side to move and of the other side, laid out as above,
    of a game that is not over. `progress` holds the positions visited so far and the bounds known of
    the value being sought, and may be read while another thread solves.

    >>> LineSolver(rows=3, cols=4, k=3).solve(0, 0)
    1
    """

    def __init__(self, rows: int, cols: int, k: int, megabytes: float = 48):
        if rows < 1 or cols < 1 or rows * (cols + 1) > 64:
            raise ValueError(f"{rows} rows and {cols} columns do not fit 64 bits: rows x (columns + 1) = "
                             f"{rows * (cols + 1)}")
        if k < 1:
            raise ValueError(f"k is at least 1, not {k}")
        self.rows, self.cols, self.k = rows, cols, k
        self._full = sum(1 << self.bit(row, col) for row in range(rows) for col in range(cols))
        self._lines = np.array(self._all_lines(), np.uint64)
        self._cell_of = self._symmetries()
        slots = max(int(megabytes * 2**20 / 24), 2).bit_length() - 1
        self._table = np.zeros((1 << slots, 3), np.uint64)
        self._never = np.zeros(1, np.uint8)
        self.progress = np.zeros(3, np.int64)

    def bit(self, row: int, col: int) -> int:
        return row * (self.cols + 1) + col

    def _all_lines(self) -> list[int]:
        lines = set()
        for row in range(self.rows):
            for col in range(self.cols):
                for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                    end_row, end_col = row + (self.k - 1) * down, col + (self.k - 1) * right
                    if end_row < self.rows and 0 <= end_col < self.cols:
                        lines.add(sum(1 << self.bit(row + i * down, col + i * right) for i in range(self.k)))
        return sorted(lines)

    def _symmetries(self) -> np.ndarray:
        """For each symmetry of the board and each bit, where that bit goes."""
        last_row, last_col = self.rows - 1, self.cols - 1
        maps = [lambda r, c: (r, c), lambda r, c: (last_row - r, c), lambda r, c: (r, last_col - c),
                lambda r, c: (last_row - r, last_col - c)]
        if self.rows == self.cols:
            maps += [lambda r, c, turn=turn: turn(c, r) for turn in maps[:4]]
        cell_of = np.zeros((len(maps), CELLS), np.int64)
        for number, turn in enumerate(maps):
            for row in range(self.rows):
                for col in range(self.cols):
                    cell_of[number, self.bit(row, col)] = self.bit(*turn(row, col))
        return cell_of.ravel()

    @property
    def nodes(self) -> int:
        return int(self.progress[0])

    def solve(self, mine: int, theirs: int, stop: np.ndarray | None = None, nodes: int | None = None) -> int | None:
        """The value for the side to move; None if `stop` was set, or `nodes` visited, before it was known."""
        limit = 2**62 if nodes is None else self.nodes + nodes
        result = value_of(WORD(mine), WORD(theirs), self.k, WORD(self._full), self._lines, self._cell_of,
                          self._table, self._never if stop is None else stop, self.progress, limit)
        return None if result == STOPPED else int(result)

    def values(self, mine: int, theirs: int, stop: np.ndarray | None = None,
               nodes: int | None = None) -> dict[int, int] | None:
        """What playing each free cell is worth to the mover, by bit; None if stopped."""
        end = None if nodes is None else self.nodes + nodes
        result = {}
        for cell in range(CELLS):
            if not (self._full & ~mine & ~theirs) >> cell & 1:
                continue
            after = mine | 1 << cell
            if any(int(line) & after == int(line) for line in self._lines):
                result[cell] = 1
                continue
            value = self.solve(theirs, after, stop, None if end is None else max(end - self.nodes, 0))
            if value is None:
                return None
            result[cell] = -value
        return result
