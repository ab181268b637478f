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
        if found == [] and not plies:
            break  # every game ends before this ply
    of = f" of {plies} plies" if plies else ""
    raise GamekitError(f"openings={count} is not allowed for {game}: only {best} distinct openings{of} were found")


def _sample(game: Game, count: int, seed: int, plies: int) -> list[Opening]:
    # The text of a seed, not its hash: hashes of texts change between processes.
    choose = random.Random(f"openings {seed} {game} {plies}")
    seen: dict[bytes, Opening] = {}
    reached: dict[Opening, Position] = {(): game.start()}  # most lines begin like another
    lines: set[Opening] = set()
    missed = 0
    while missed < 100 + 3 * len(seen):  # a stranger still out there would have been met by now
        missed += 1
        line: Opening = ()
        position = reached[line]
        while len(line) < plies and position.winner is None:
            codes = position.codes()
            line += (codes[int(choose.random() * len(codes))],)
            if line not in reached:
                reached[line] = position.after(line[-1])
            position = reached[line]
        if position.winner is None and line not in lines:
            lines.add(line)
            before = len(seen)
            seen.setdefault(position.canonical(), line)
            if len(seen) == count:
                break
            missed = 0 if len(seen) > before else missed
    return list(seen.values())


def read_openings(game: Game, lines: Sequence[str]) -> list[Opening]:
    """Openings written as lines of moves, such as `["44", "35"]`; refused when the game is over after one."""
    found = []
    for line in lines:
        if not isinstance(line, str):
            raise GamekitError(f"openings are a number or a list of lines of moves; given {line!r}")
        position, codes = game.start(), []
        for move in game.split(line):
            try:
                codes.append(position.code(move))
            except MoveError as error:
                raise GamekitError(f"openings: {line!r} is not allowed: {error}") from None
            position = position.after(codes[-1])
        if position.winner is not None:
            raise GamekitError(f"openings: {line!r} is not allowed: the game is over after it")
        found.append(tuple(codes))
    return found


def opening_lines(game: Game, wanted: int | Sequence[str] | None, seed: int, owner: str) -> list[Opening]:
    """The openings of a measurement: so many at random from the seed, or the lines given."""
    if wanted is None or isinstance(wanted, (int, float)):
        count = COUNT.check(owner, "openings", wanted or 0)
        return openings(game, count, seed) if count else []
    if not isinstance(wanted, (str, list, tuple)):
        raise GamekitError(
            f"{owner}: openings={wanted!r} is not allowed; openings is a number or a list of moves"[:400]
        )
    return read_openings(game, [wanted] if isinstance(wanted, str) else wanted)
