"""Exact values of k-in-a-row without gravity (m,n,k) on any board of up to 64 bits.

A position is two words, the stones of the side to move and of the other side. One bit a cell, row
by row, and one spare bit at the end of each row. 3 rows, 4 columns:

     0  1  2  3 | 4           spare bits: 4, 9, 14, always empty
     5  6  7  8 | 9
    10 11 12 13 |14

A value is 1, 0 or -1: the side to move wins, draws, loses. The search asks a yes-or-no question, so
one side is the attacker, who wants a line, and the other the defender, who is content with none.

Three things keep the search small. Threats: a line that lacks one stone must be blocked, and two
lines that lack two and cross make a fork. Danger: a line that lacks j stones counts 1/2^j, and a
defender to move holds if the sum is below 1 (Erdos and Selfridge): each stone of his takes away at
least what the next attacking stone can add. Quiet moves: the attacker is first granted few moves
that threaten nothing, so that wins, which are mostly one threat after another, are found early.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint8, uint64

from ..jit.compiled import compiled
from ..jit.intrinsics import helper, popcount, trailing_zeros
from .bits import NONE, ONE, SPREAD, STOPPED, WORD, BitSolver, work_of

TENTATIVE = -999  # no value: the attacker does not win with so few quiet moves
ENDLESS = 63  # more quiet moves than any game has
HORIZONS = (1, 2, 3, 4, ENDLESS)  # quiet moves granted to the attacker, search after search
CELLS = 64
SYMMETRIC = 12  # with fewer stones than this a position shares its entry with its images
CERTAIN = 1 << 40  # the danger of a completed line; each missing stone halves it
SPREAD_2 = WORD(0xC2B2AE3D27D4EB4F)

# A position on the way; `low` and `high` are the least of its images, `began` the positions visited before it, `quiet`
# the attacker's quiet moves so far, `costless` those that cost nothing (forced or forcing), `cut` whether moves were
# left out below it.
FRAME = np.dtype(
    [(name, "u8") for name in ("mine", "theirs", "low", "high", "costless")]
    + [(name, "i8") for name in ("began", "best", "quiet", "cut", "count", "tried")]
)


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
def sort_moves(mine, theirs, allowed, alpha, total, first, lines, k, weight, peril, base, moves):
    """Write the allowed cells worth a try into `moves`, best first (`first` before all); how many,
    or -1 if the defender, who is to move, can take enough danger away with one stone.

    A cell weighs more the more open lines cross there and the fuller they are. A cell on no open
    line is left out: a stone there changes nothing, and any other is at least as good. So is a
    stone of the attacker that leaves the defender to move with less danger than a certain line.
    """
    weight[:] = 0
    peril[:] = 0
    attacker = mine if alpha == 0 else theirs
    defender = theirs if alpha == 0 else mine
    for line in lines:
        own, other = line & mine, line & theirs
        if own != 0 and other != 0:
            continue
        worth = 1 << min(2 * popcount(own | other), 40)
        rest = (line ^ own ^ other) & allowed
        share = CERTAIN >> min(k - popcount(line & attacker), 40) if line & defender == 0 else 0
        while rest != 0:
            cell = trailing_zeros(rest)
            weight[cell] += worth
            peril[cell] += share
            rest &= rest - ONE
    count = 0
    if first >= 0 and weight[first] > 0:
        weight[first] = 1 << 50
    rest = allowed
    while rest != 0:
        cell = trailing_zeros(rest)
        rest &= rest - ONE
        if alpha == -1 and total - peril[cell] < CERTAIN // 2:
            return -1
        if weight[cell] == 0 or (alpha == 0 and total + peril[cell] < CERTAIN):
            continue
        at = base + count
        while at > base and weight[moves[at - 1]] < weight[cell]:
            moves[at] = moves[at - 1]
            at -= 1
        moves[at] = cell
        count += 1
    return count


# ---------------------------------------------------------------------- table
# An entry is three words: mine + 1 (so that a fresh entry matches nothing), theirs, and
# upper's horizon | lower's horizon | upper bound + 1 | lower bound + 1 | work (log2 of its positions).
# A bound that only says "no win within so many quiet moves" has that number for its horizon.


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
    for at in (slot, slot ^ 1):
        if table[at, 0] == mine + ONE and table[at, 1] == theirs:
            return at
    return -1


@helper
def unpack(info):
    """Upper and lower bound, and the horizon of each."""
    upper, lower = np.int64((info >> WORD(10)) & WORD(3)) - 1, np.int64((info >> WORD(8)) & WORD(3)) - 1
    return upper, lower, np.int64((info >> WORD(18)) & WORD(63)), np.int64((info >> WORD(12)) & WORD(63))


@helper
def look_up(table, mine, theirs, alpha, horizon):
    """(known, value, tentative): what is on file about the question, if searched this far."""
    slot = find(table, mine, theirs)
    if slot >= 0:
        upper, lower, upper_horizon, lower_horizon = unpack(table[slot, 2])
        if upper <= alpha and upper_horizon >= horizon:
            return True, upper, upper_horizon < ENDLESS
        if lower > alpha and lower_horizon >= horizon:
            return True, lower, lower_horizon < ENDLESS
    return False, 0, False


@helper
def keep(table, mine, theirs, value, is_lower, horizon, spent):
    """File a bound. Of a pair of slots one keeps what was costly, and ages each time it is spared."""
    work = work_of(spent)
    upper, lower, upper_horizon, lower_horizon = 1, -1, ENDLESS, ENDLESS
    slot = find(table, mine, theirs)
    if slot >= 0:
        upper, lower, upper_horizon, lower_horizon = unpack(table[slot, 2])
    else:
        slot = slot_of(mine, theirs, table)
        if work < table[slot, 2] & WORD(255):
            table[slot, 2] -= ONE
            slot ^= 1
    if is_lower:
        lower, lower_horizon = value, horizon
    else:
        upper, upper_horizon = value, horizon
    table[slot, 0], table[slot, 1] = mine + ONE, theirs
    table[slot, 2] = (
        (WORD(upper_horizon) << WORD(18))
        | (WORD(lower_horizon) << WORD(12))
        | (WORD(upper + 1) << WORD(10))
        | (WORD(lower + 1) << WORD(8))
        | work
    )


# --------------------------------------------------------------------- search


@helper
def search(mine, theirs, alpha, horizon, k, full, lines, cell_of, table, stop, progress, limit):
    """Is the value above alpha (0: does the side to move win? -1: does it hold?). Returns

    result <= alpha     if value <= result
    result >  alpha     if value >= result
    result == TENTATIVE if the attacker does not win with `horizon` quiet moves
    result == STOPPED   if nothing is known yet (the table keeps what was found)
    """
    frames = np.empty(CELLS + 1, FRAME)
    moves = np.empty((CELLS + 1) * CELLS, np.int64)  # each ply's moves, best first
    refutation = np.full(CELLS + 1, -1, np.int64)  # what last answered the question at a ply
    pairs = np.empty(2 * lines.size + 2, np.uint64)
    half = pairs.size // 2
    weight, peril = np.empty(CELLS, np.int64), np.empty(CELLS, np.int64)
    nodes, ply, spent = progress[0], 0, 0
    while True:  # enter a position
        nodes += 1
        if nodes & 255 == 0:
            progress[0] = nodes
            if stop[0] != 0 or nodes >= limit:
                return STOPPED
        value, settled, tentative = 0, True, False
        wins, losses, danger, risk, n, m = scan(mine, theirs, lines, k, pairs)
        allowed = full & ~(mine | theirs)
        if wins != 0:
            value = 1
        elif losses & (losses - ONE) != 0:
            value = -1
        elif losses == 0 and has_fork(pairs, 0, n):
            value = 1
        elif danger + risk == 0 or (alpha == 0 and danger < CERTAIN // 2) or (alpha == -1 and risk < CERTAIN):
            value = 0
        else:
            settled = False
        if not settled:
            low, high = mine, theirs
            if popcount(mine | theirs) < SYMMETRIC:
                low, high = canonical(mine, theirs, cell_of)
            settled, value, tentative = look_up(table, low, high, alpha, horizon - spent)
        if not settled:
            if losses != 0:
                allowed = losses
            else:
                forcing = union(pairs, 0, n)
                allowed &= fork_stoppers(pairs, half, half + m) | forcing
                if alpha == 0 and spent >= horizon:
                    tentative = allowed & ~forcing != 0
                    allowed &= forcing
            total, first, base = danger if alpha == 0 else risk, refutation[ply], ply * CELLS
            n = sort_moves(mine, theirs, allowed, alpha, total, first, lines, k, weight, peril, base, moves)
            if n <= 0:
                settled = True
                value = -1 if n == 0 and alpha == -1 else 0
        if not settled:
            frame = frames[ply]
            frame.mine, frame.theirs, frame.low, frame.high = mine, theirs, low, high
            frame.began, frame.count, frame.tried, frame.quiet, frame.cut = nodes, n, 0, spent, tentative
            frame.costless = forcing if alpha == 0 and losses == 0 else ~NONE
            frame.best = 0 if alpha == 0 else -1  # an attacker's moves left out might still draw
        while settled:  # leave it, and every parent whose question is answered by that
            if ply == 0:
                progress[0] = nodes
                return TENTATIVE if tentative else value
            ply -= 1
            alpha = -alpha - 1
            frame = frames[ply]
            value = max(frame.best, -value)
            frame.best, frame.cut = value, frame.cut != 0 or tentative
            if value > alpha:
                refutation[ply] = moves[ply * CELLS + frame.tried]
            frame.tried += 1
            settled = value > alpha or frame.tried == frame.count
            if settled:
                # a win is a win however few moves were looked at; only its absence may be tentative
                tentative = frame.cut != 0 and (value > alpha) == (alpha == -1)
                reach = horizon - frame.quiet if tentative else ENDLESS
                keep(table, frame.low, frame.high, value, value > alpha, reach, nodes - frame.began)
        frame = frames[ply]
        cell = ONE << WORD(moves[ply * CELLS + frame.tried])
        spent = frame.quiet
        if cell & frame.costless == 0:
            spent += 1
        mine, theirs = frame.theirs, frame.mine | cell
        alpha = -alpha - 1
        ply += 1


@helper
def answer(mine, theirs, alpha, k, full, lines, cell_of, table, stop, progress, limit):
    """Search with more and more quiet moves granted to the attacker, until that makes no difference."""
    for horizon in HORIZONS:
        bound = search(mine, theirs, alpha, horizon, k, full, lines, cell_of, table, stop, progress, limit)
        if bound != TENTATIVE:
            return bound
    return STOPPED


@compiled(uint64, uint64, int64, uint64, uint64[::1], int64[::1], uint64[:, ::1], uint8[::1], int64[::1], int64)
def value_of(mine, theirs, k, full, lines, cell_of, table, stop, progress, limit):
    """1, 0 or -1 for the side to move, or STOPPED."""
    progress[1], progress[2] = -1, 1
    bound = answer(mine, theirs, 0, k, full, lines, cell_of, table, stop, progress, limit)
    if bound == STOPPED or bound != 0:
        return bound
    progress[2] = 0
    if mine | theirs == 0:  # were there a win for the second, the first could make it his own
        return 0
    bound = answer(mine, theirs, -1, k, full, lines, cell_of, table, stop, progress, limit)
    return bound if bound == STOPPED else min(bound, 0)


class LineSolver(BitSolver):
    """Values 1, 0 and -1; the stones are laid out as above.

    >>> LineSolver(rows=3, cols=4, k=3).solve(0, 0)
    1
    """

    gravity, compiled = False, value_of

    def __init__(self, rows: int, cols: int, k: int, megabytes: float = 48):
        super().__init__(rows, cols, k, least_k=1)
        full = sum(1 << self.bit(row, col) for row in range(rows) for col in range(cols))
        slots = max(int(megabytes * 2**20 / 24), 2).bit_length() - 1
        table = np.zeros((1 << slots, 3), np.uint64)
        self._board = k, WORD(full), np.array(self._all_lines(), np.uint64), self._symmetries(), table

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
        turns = [(swap, over, aside) for swap in (0, 1) for over in (0, 1) for aside in (0, 1)]
        turns = turns if self.rows == self.cols else turns[:4]  # the first is to leave all in place
        cell_of = np.zeros((len(turns), CELLS), np.int64)
        for number, (swap, over, aside) in enumerate(turns):
            for row in range(self.rows):
                for col in range(self.cols):
                    r, c = (col, row) if swap else (row, col)
                    r, c = self.rows - 1 - r if over else r, self.cols - 1 - c if aside else c
                    cell_of[number, self.bit(row, col)] = self.bit(r, c)
        return cell_of.ravel()
