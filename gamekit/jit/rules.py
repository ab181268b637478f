"""A game's two rules as machine code: compiled on first use, called by address."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import carray, njit, types

from .compiled import Compiled, compiled
from .intrinsics import MOVES, PLAY, address, call_moves, call_play
from .user_code import fresh


def _nothing(s):
    pass


class Rules:
    """A game's two rules as the search calls them: compiled on first use, addressed by number."""

    def __init__(
        self, moves: Callable, play: Callable, state: np.dtype, width: int, name: str | None, pin: Callable = _nothing
    ):
        """Two plain functions on records of type `state`, in which at most `width` moves can be listed.

        `name` files the machine code in the cache; None stands for a user's rules, which are never cached. `pin` sets
        fields that are the same in all positions of a game, so that the compiler knows them.
        """
        pinned = njit(forceinline=True)(pin)
        if name is None:
            moves, play = fresh(moves), fresh(play)
        # A game from outside the package is checked at every index: a slip there writes into memory.
        list_moves, make_move = (njit(boundscheck=name is None, forceinline=True)(rule) for rule in (moves, play))

        def moves_at(position, out):
            s = carray(position, (1,), state)[0]
            pinned(s)
            return list_moves(s, carray(out, (width,), np.int32))

        def play_at(position, move):
            s = carray(position, (1,), state)[0]
            pinned(s)
            return make_move(s, move)

        self.moves = Compiled(moves_at, MOVES, name and f"{name}.moves", moves.__module__)
        self.play = Compiled(play_at, PLAY, name and f"{name}.play", play.__module__)


@compiled(types.intp, types.Array(types.uint8, 1, "C", readonly=True), types.int32[::1], returns=types.int32)
def list_moves(function, data, out):
    """List the moves of a position by the rules at an address."""
    return call_moves(function, address(data, 0), address(out, 0))


@compiled(types.intp, types.uint8[::1], types.int32, returns=types.int32)
def make_move(function, data, move):
    """Play a move by the rules at an address; the position is changed in place."""
    return call_play(function, address(data, 0), move)
