"""The errors users meet, and the hint at what they probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class GamekitError(ValueError):
    """Something given was wrong; the message says what, and what is allowed."""


class SpecError(GamekitError):
    """A spec that cannot be read, or names something that does not exist."""


class HeuristicError(GamekitError):
    """A heuristic that is unknown, does not fit, does not compile, or failed on a position."""


class MoveError(GamekitError):
    """A move that cannot be played; the position is unchanged."""


class MalformedMove(MoveError):
    """Text that is no move of this game in any position."""


class IllegalMove(MoveError):
    """A well-formed move that this position does not allow."""


class PositionError(GamekitError):
    """Text that describes no position, or one that cannot arise."""


def nearest(word: object, allowed: Iterable[str]) -> str:
    """A hint at the word that was probably meant, or nothing.

    >>> nearest("conect_four", ["conga", "connect_four"])
    "; did you mean 'connect_four'?"
    """
    close = difflib.get_close_matches(str(word), list(allowed), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""
