"""Random openings from a seed, distinct up to symmetry; a match plays each of them from both sides."""

from __future__ import annotations

import random
from collections.abc import Sequence

from ..core import Game, Position
from ..errors import GamekitError, MoveError
from ..specs import Param

Opening = tuple[int, ...]  # the moves' numbers
COUNT = Param(0, "random openings, each played by both sides", 0, 100_000)
DEEPEST = 40  # plies; a game without that many distinct starts has too few


def openings(game: Game, count: int, seed: int = 0, plies: int | None = None) -> list[Opening]:
    """`count` openings of random moves that leave the game open, no two alike or mirrored.

    Unless `plies` is given it is the smallest even number that yields enough of them, so the player who
    moves first in the game also moves first after the opening.

    >>> import gamekit as gk
    >>> len(set(openings(gk.game("connect_four"), 20, seed=1)))
    20
    """
    best = 0
    for depth in [plies] if plies else range(2, DEEPEST + 1, 2):
        found = _sample(game, count, seed, depth)
        if len(found) == count:
            return found
        best = max(best, len(found))
        if not found:
            break  # every game ends before this ply
    of = f" of {plies} plies" if plies else ""
    raise GamekitError(f"openings={count} is not allowed for {game}: only {best} distinct openings{of} were found")


def _sample(game: Game, count: int, seed: int, plies: int) -> list[Opening]:
    # The text of a seed, not its hash: hashes of texts change between processes.
    choose = random.Random(f"openings {seed} {game} {plies}")
    found: dict[bytes, Opening] = {}
    reached: dict[Opening, Position] = {(): game.start()}  # most lines begin like another
    tried: set[Opening] = set()
    missed = 0
    while len(found) < count and missed < 100 + 3 * len(found):  # a new one would have been met by now
        line: Opening = ()
        position = reached[line]
        while len(line) < plies and position.winner is None:
            codes = position.codes()
            line += (codes[int(choose.random() * len(codes))],)
            if line not in reached:
                reached[line] = position.after(line[-1])
            position = reached[line]
        new = position.winner is None and line not in tried and found.setdefault(position.canonical(), line) == line
        missed = 0 if new else missed + 1
        tried.add(line)
    return list(found.values())


def codes_of(position: Position) -> Opening:
    """The numbers of the moves that led to a position."""
    return tuple(one.last for one in position.history[1:] if one.last is not None)


def opening_lines(game: Game, wanted: int | Sequence[str] | None, seed: int, owner: str) -> list[Opening]:
    """The openings of a measurement: so many at random from the seed, or the lines given, such as `["44", "35"]`."""
    if not isinstance(wanted, (str, list, tuple)):
        count = COUNT.check(owner, "openings", 0 if wanted is None else wanted)
        return openings(game, count, seed) if count else []
    lines = [wanted] if isinstance(wanted, str) else wanted
    if not all(isinstance(line, str) for line in lines):
        raise GamekitError(
            f"{owner}: openings={wanted!r} is not allowed; openings is a number or a list of moves"[:400]
        )
    found = []
    for line in lines:
        try:
            position = game.replay(line)
        except MoveError as error:
            raise GamekitError(f"{owner}: openings={line!r} is not allowed: {error}") from None
        if position.winner is not None:
            raise GamekitError(f"{owner}: openings={line!r} is not allowed: the game is over after it")
        found.append(codes_of(position))
    return found
