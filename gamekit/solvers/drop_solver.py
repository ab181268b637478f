"""Exact scores of k-in-a-row with gravity (Connect Four, Connect-K) on any board of up to 64 bits.

A position is two words: the stones of the side to move, and all stones. One bit a cell, column by
column from the bottom, and one spare bit on top of each column, so that no line wraps.
6 rows, 7 columns:

     6 13 20 27 34 41 48      spare, always empty
     5 12 19 26 33 40 47      top row
     4 11 18 25 32 39 46
     3 10 17 24 31 38 45
     2  9 16 23 30 37 44
     1  8 15 22 29 36 43
     0  7 14 21 28 35 42      bottom row

A score counts the stones the winner holds before placing the winning one: a win with one's very
last stone is 1, each own stone earlier is 1 more; a draw is 0; who loses has the winner's score
negated. Scores are for the side to move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import int64, uint8, uint64

from ..jit.compiled import compiled
from ..jit.intrinsics import helper, popcount, prefetch
from .bits import NONE, ONE, SPREAD, STOPPED, WORD, BitSolver, work_of

TWO, THREE, ALL = WORD(2), WORD(3), WORD(2**64 - 1)
PLIES, WIDTH = 64, 32  # room for the longest line of play, and for the moves of one ply
COLUMNS = 7  # where the column masks begin in a shape
MIRRORED = 18  # with fewer stones than this a position shares its entry with its mirror image


class Board(NamedTuple):
    """What the compiled functions know of a board; `odd_rest` are the cells with an odd number of
    cells from there to the top, themselves included."""

    rows: WORD
    height: WORD  # rows + 1: the step from a cell to its right neighbour
    cols: np.int64
    k: np.int64
    bottom: WORD
    full: WORD
    odd_rest: WORD
    shift: WORD  # bits of a key that a table entry has to hold


@helper
def board_of(shape):
    rows = shape[0]
    return Board(rows, rows + ONE, np.int64(shape[1]), np.int64(shape[2]), shape[3], shape[4], shape[5], shape[6])


# ---------------------------------------------------------------------- lines


@helper
def spots_along(own, step, k):
    """Cells that would complete k in a row in one direction: j stones behind, the rest ahead."""
    spots, behind, shifted = NONE, ALL, own
    for j in range(k):
        ahead, rest = ALL, own
        for _ in range(k - 1 - j):
            rest >>= step
            ahead &= rest
        spots |= behind & ahead
        shifted <<= step
        behind &= shifted
    return spots


@helper
def spots_of_four(own, step):
    """The same for k = 4, where most solving happens."""
    behind, ahead = own << step, own >> step
    two_behind, two_ahead = behind & (own << (step * TWO)), ahead & (own >> (step * TWO))
    return (two_behind & ((own << (step * THREE)) | ahead)) | (two_ahead & ((own >> (step * THREE)) | behind))


@helper
def winning_spots(own, free, board):
    """Free cells, reachable yet or not, that complete a line of `own`."""
    height, k = board.height, board.k
    if k == 4 and board.cols >= 4:
        spots = (own << ONE) & (own << TWO) & (own << THREE)
        spots |= spots_of_four(own, height) | spots_of_four(own, height - ONE) | spots_of_four(own, height + ONE)
    else:
        spots = spots_along(own, ONE, k)
        if board.cols >= k:  # also keeps every shift below a whole word
            spots |= spots_along(own, height, k) | spots_along(own, height - ONE, k) | spots_along(own, height + ONE, k)
    return spots & free


@helper
def line_along(own, step, k):
    """Does `own` hold k in a row in one direction?"""
    run = 1
    while run < k:
        more = min(run, k - run)
        own &= own >> (WORD(more) * step)
        run += more
    return own != 0


@helper
def has_line(own, board):
    """Does `own` hold k in a row anywhere?"""
    height, k = board.height, board.k
    if k <= np.int64(board.rows) and line_along(own, ONE, k):
        return True
    if k > board.cols:
        return False
    return line_along(own, height, k) or line_along(own, height - ONE, k) or line_along(own, height + ONE, k)


@helper
def safe_moves(possible, threats):
    """Moves after which the opponent, who completes lines at `threats`, cannot win at once."""
    moves = possible & ~(threats >> ONE)
    forced = possible & threats
    if forced == 0:
        return moves
    return moves & forced if forced & (forced - ONE) == 0 else NONE


@helper
def settled_draw(mine, mask, alpha, left, board):
    """Does the board alone show that the score is not above alpha >= 0, or not below alpha + 1 <= 0?

    One reason is that a side has no line left. The other is follow-up: with an even number of cells
    free the opponent can answer each stone with the one on top of it. In a column with an even rest
    the side to move so gets the first, third, ... free cell and no other. Columns with an odd rest
    come in pairs (who fills one to the top lets the other be started); there we grant it every cell.
    """
    if alpha < 0:
        return not has_line(board.full & ~mine, board)
    empty = board.full & ~mask
    if left & 1 == 1:
        return not has_line(mine | empty, board)
    starts = (mask + board.bottom) & board.odd_rest
    tops = (empty + starts) & ~board.full  # the carry runs up through the free cells to the spare bit
    return not has_line(mine | (tops - starts) | (empty & ~board.odd_rest), board)


# ---------------------------------------------------------------------- table
# An entry: rest of the key | upper bound | lower bound | work (log2 of the positions it cost).
# Bounds are stored plus 32, so an entry in use is never 0 and a fresh table matches no position.

KEY, UPPER, LOWER, WORK = WORD(20), WORD(14), WORD(8), WORD(255)
BOUND, ZERO = WORD(63), 32


@helper
def key_of(mine, mask, stones, board):
    """A number that only this position has, stirred so that its high bits choose a slot.

    Adding the stones, and a bit on top of each column, gives every column a value of its own.
    """
    key = mine + mask + board.bottom
    if stones < MIRRORED:
        image, rest = NONE, key
        for _ in range(board.cols):
            image = (image << board.height) | (rest & ((ONE << board.height) - ONE))
            rest >>= board.height
        key = min(key, image)
    return (key * SPREAD) & (ALL >> (WORD(64) - WORD(board.cols) * board.height))


@helper
def slot_of(key, shift):
    """The first of two slots. The pair stands for the key's high bits, an entry holds the rest."""
    return key >> shift << ONE


@helper
def find(table, key, shift):
    """The entry of a position, or 0."""
    slot, rest = slot_of(key, shift), key & ((ONE << shift) - ONE)
    entry = table[slot]
    if entry >> KEY == rest and entry != 0:
        return entry
    entry = table[slot ^ ONE]
    if entry >> KEY == rest and entry != 0:
        return entry
    return NONE


@helper
def upper_of(entry):
    return np.int64((entry >> UPPER) & BOUND) - ZERO


@helper
def lower_of(entry):
    return np.int64((entry >> LOWER) & BOUND) - ZERO


@helper
def keep(table, key, shift, value, is_lower, spent):
    """File a bound. Of a pair of slots one keeps what was costly, and ages each time it is spared."""
    slot, rest, work = slot_of(key, shift), key & ((ONE << shift) - ONE), work_of(spent)
    lower, upper = -ZERO, ZERO - 1
    known = find(table, key, shift)
    if known != 0:
        lower, upper = lower_of(known), upper_of(known)
        if table[slot] != known:
            slot ^= ONE
    elif work < table[slot] & WORK:
        table[slot] -= ONE
        slot ^= ONE
    if is_lower:
        lower = max(lower, value)
    else:
        upper = min(upper, value)
    table[slot] = (rest << KEY) | (WORD(upper + ZERO) << UPPER) | (WORD(lower + ZERO) << LOWER) | work


# --------------------------------------------------------------------- search


@helper(forceinline=True)  # a call with so many arrays would cost a tenth of the speed
def list_moves(mine, mask, moves, stones, board, shape, table, base, stone, reply, promise):
    """Sort the safe moves, best first, with the opponent's safe answers to each; -1 if one wins by force.

    Best is what makes most winning spots; a spot that can be blocked at once counts half.
    Ties go to the centre: `shape` lists the columns from there.
    """
    count = 0
    for column in range(board.cols):
        move = moves & shape[COLUMNS + column]
        if move == 0:
            continue
        after = mask | move
        possible = (after + board.bottom) & board.full
        spots = winning_spots(mine | move, board.full & ~after, board)
        answers = safe_moves(possible, spots)
        if answers == 0:
            return -1
        slot = slot_of(key_of(mask ^ mine, after, stones + 1, board), board.shift)
        prefetch(table, slot)
        worth = 2 * popcount(spots) - popcount(spots & possible)
        at = base + count
        while at > base and promise[at - 1] < worth:
            promise[at], stone[at], reply[at] = promise[at - 1], stone[at - 1], reply[at - 1]
            at -= 1
        promise[at], stone[at], reply[at] = worth, move, answers
        count += 1
    return count


@helper
def search(mine, mask, alpha, shape, table, stop, progress, limit):
    """Is the position's score above alpha? Returns a bound that answers:

        result <= alpha    means  score <= result
        result >  alpha    means  score >= result
        result == STOPPED  means  nothing is known yet (the table keeps what was found)

    The side to move must have no winning move and at least one safe one. Every position of the
    search keeps to that: wins, and losses at the next ply, are seen when moves are listed.
    """
    board = board_of(shape)
    own = np.empty(PLIES, np.uint64)  # a frame a ply: the position,
    both = np.empty(PLIES, np.uint64)
    key = np.empty(PLIES, np.uint64)  # its key (0 where it has one move only and is not filed),
    began = np.empty(PLIES, np.int64)  # the positions visited before it,
    best = np.empty(PLIES, np.int64)
    count = np.empty(PLIES, np.int64)
    tried = np.empty(PLIES, np.int64)
    stone = np.empty(PLIES * WIDTH, np.uint64)  # its moves, best first,
    reply = np.empty(PLIES * WIDTH, np.uint64)  # the safe answers to each,
    promise = np.empty(PLIES * WIDTH, np.int64)  # and what they are sorted by

    first = popcount(mask)
    cells = np.int64(board.rows) * board.cols
    threats = winning_spots(mask ^ mine, board.full & ~mask, board)
    moves = safe_moves((mask + board.bottom) & board.full, threats)
    nodes, ply = progress[0], 0
    while True:  # enter a position
        nodes += 1
        if nodes & 1023 == 0:
            progress[0] = nodes
            if stop[0] != 0 or nodes >= limit:
                return STOPPED
        stones = first + ply
        left = cells - stones
        value, upper, lower = 0, (left - 1) // 2, -((left - 2) // 2)
        code, several = NONE, moves & (moves - ONE) != 0
        settled = True
        if left <= 2:
            value = 0
        elif upper <= alpha:
            value = upper
        elif lower > alpha:
            value = lower
        else:
            settled = False
            if several:
                code = key_of(mine, mask, stones, board)
                entry = find(table, code, board.shift)
                if entry != 0 and upper_of(entry) <= alpha:
                    value, settled = upper_of(entry), True
                elif entry != 0 and lower_of(entry) > alpha:
                    value, settled = lower_of(entry), True
                elif settled_draw(mine, mask, alpha, left, board):
                    settled = True
        if not settled:
            base = ply * WIDTH
            n = list_moves(mine, mask, moves, stones, board, shape, table, base, stone, reply, promise)
            if n < 0:
                value, settled = upper, True
            elif several:
                for at in range(base, base + n):  # an answer may be on file already
                    if reply[at] & (reply[at] - ONE) != 0:
                        after = key_of(mask ^ mine, mask | stone[at], stones + 1, board)
                        entry = find(table, after, board.shift)
                        if entry != 0 and -upper_of(entry) > alpha:
                            value, settled = -upper_of(entry), True
                            break
        if not settled:
            own[ply], both[ply], key[ply], began[ply] = mine, mask, code, nodes
            best[ply], count[ply], tried[ply] = -PLIES, n, 0
        while settled:  # leave it, and every parent whose question is answered by that
            if ply == 0:
                progress[0] = nodes
                return value
            ply -= 1
            alpha = -alpha - 1
            best[ply] = max(best[ply], -value)
            tried[ply] += 1
            value = best[ply]
            settled = value > alpha or tried[ply] == count[ply]
            if settled and key[ply] != 0:
                keep(table, key[ply], board.shift, value, value > alpha, nodes - began[ply])
        at = ply * WIDTH + tried[ply]
        mine, mask, moves = own[ply] ^ both[ply], both[ply] | stone[at], reply[at]
        alpha = -alpha - 1
        ply += 1


@compiled(uint64, uint64, uint64[::1], uint64[::1], uint8[::1], int64[::1], int64)
def score(mine, theirs, shape, table, stop, progress, limit):
    """The exact score, or STOPPED: narrowed down by asking whether it lies above the middle."""
    mask, board = mine | theirs, board_of(shape)
    left = np.int64(board.rows) * board.cols - popcount(mask)
    free = board.full & ~mask
    possible = (mask + board.bottom) & board.full
    if winning_spots(mine, free, board) & possible != 0:
        return (left + 1) // 2
    if left > 0 and safe_moves(possible, winning_spots(theirs, free, board)) == 0:
        return -(left // 2)
    low, high = min(0, -((left - 2) // 2)), max(0, (left - 1) // 2)
    while low < high:
        progress[1], progress[2] = low, high
        middle = (low + high) // 2  # drawn towards 0: who wins is cheaper to tell than how soon
        middle = min(middle, -(-low // 2)) if middle <= 0 else max(middle, high // 2)
        bound = search(mine, mask, middle, shape, table, stop, progress, limit)
        if bound == STOPPED:
            return STOPPED
        if bound > middle:
            low = bound
        else:
            high = bound
    progress[1], progress[2] = low, high
    return low


class DropSolver(BitSolver):
    """Exact scores; the stones are laid out as above.

    >>> DropSolver(rows=4, cols=5).solve(0, 0)
    0
    """

    gravity, compiled = True, score

    def __init__(self, rows: int = 6, cols: int = 7, k: int = 4, megabytes: float = 16):
        super().__init__(rows, cols, k, least_k=2)
        column, bits = (1 << rows) - 1, cols * (rows + 1)
        bottom = sum(1 << self.bit(rows - 1, col) for col in range(cols))
        odd_rest = sum(bottom << row for row in range(rows) if (rows - row) % 2)
        slots = max(int(megabytes * 2**17), 2).bit_length() - 1
        slots = min(max(slots, bits - 43), bits)  # an entry has room for 44 bits of the key
        centre_first = sorted(range(cols), key=lambda col: abs(2 * col - cols + 1))
        columns = [column << self.bit(rows - 1, col) for col in centre_first]
        board = [rows, cols, k, bottom, bottom * column, odd_rest, bits - slots + 1, *columns]
        self._board = np.array(board, np.uint64), np.zeros(1 << slots, np.uint64)

    def has_won(self, stones: int) -> bool:
        """Do these stones hold k in a row?"""
        for step in (1, self.rows, self.rows + 1, self.rows + 2):
            run = stones
            for _ in range(self.k - 1):
                run &= run >> step
            if run:
                return True
        return False
