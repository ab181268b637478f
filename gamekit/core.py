"""What a game, a position and an outcome are; knows no particular game."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from .errors import GamekitError, IllegalMove, MalformedMove, PositionError
from .jit.intrinsics import BLOCK, block
from .jit.rules import Rules, list_moves, make_move
from .jit.user_code import fingerprint
from .specs import Param, Spec

RUNNING, WON, DRAW, LOST = 0, 1, 2, 3  # what `play` says, seen by the player who moved
assert BLOCK == 64  # the search copies positions in chunks of this size

Record = Any  # one np.record of a game's state


@dataclass(frozen=True)
class Outcome:
    """How a game ended: `winner` is 1, 2 or 0 for a draw; `score` the totals of a game that counts."""

    winner: int
    termination: str
    score: tuple[float, float] | None = None


@dataclass(frozen=True)
class Symmetry:
    """A way to turn the board that maps the game onto itself.

    `cells[i]` is where cell `i` goes, `moves[code]` where a move goes.
    """

    name: str
    cells: np.ndarray
    moves: np.ndarray


@dataclass
class Leaf:
    """An evaluation as the search takes it: where its code is, and its weights."""

    address: int
    weights: np.ndarray
    explain_failure: Callable[..., Exception] | None = None


class Game:
    """A rule with its parameters fixed. A subclass is a game; see `gamekit/games` for five of them.

    A subclass gives the record of a position (`state`, whose first field is the player to move,
    `("turn", "i4")`), the most moves a position can have (`width`), and two plain functions on
    that record, compiled on first use:

    - `moves(s, out)` writes the legal moves, as numbers below `codes`, in canonical order; returns how many;
    - `play(s, move)` changes `s` in place and returns RUNNING, WON, DRAW or LOST for the player who moved.

    It also says how a position starts (`setup`) and how a move is written and read; one with symmetries gives
    `symmetries`, and `derive` if its record holds more than the board. `games.grid` has what boards share.
    """

    name: ClassVar[str]
    params: ClassVar[dict[str, Param]] = {}
    state: ClassVar[np.dtype]
    width: ClassVar[int]
    moves: ClassVar[Callable]
    play: ClassVar[Callable]
    move_help: str = "a number"
    players: ClassVar[tuple[str, str]] = ("1", "2")
    marks: ClassVar[str] = ".XO"
    infers_turn: ClassVar[bool] = True  # the stones on the board tell who is to move
    default_heuristic: str | None = None
    view: ClassVar[Callable | None] = None  # (record, pointer, shape) → the board a heuristic sees; None: s.board
    shape: tuple[int, int] | None = None  # of that board; heuristics are compiled for it, which makes them faster
    longest: int | None = None  # the most plies a game can last, where there is a bound
    codes: int  # moves are numbers below this; if not given, `width`
    used: int  # bytes of the record that this game uses (a large board's tail may be idle); if not given, all
    identity: int  # leading bytes that tell two positions apart; if not given, all
    _rules: Rules
    _stamp: ClassVar[tuple[bytes, bytes] | None] = None  # of a custom game: what its rules read

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        if not {"state", "play"} & set(cls.__dict__):
            return
        inside = cls.__module__.startswith(__package__ + ".")
        needed = ("state", "width", "moves", "play") if inside else ("name", "state", "width", "moves", "play")
        if missing := [name for name in needed if not hasattr(cls, name)]:
            needs = "a game gives name, state, width, moves and play"
            raise GamekitError(f"game {cls.__name__} lacks {', '.join(missing)}; {needs}")
        state, own = cls.state, cls.__dict__
        if not isinstance(state, np.dtype) or (state.names or " ")[0] != "turn" or state["turn"].str[1:] != "i4":
            raise GamekitError(f"game {cls.__name__}: the first field of state must be ('turn', 'i4'); given {state}")
        cls.codes = own.get("codes", cls.width)
        cls.used, cls.identity = (own.get(name, state.itemsize) for name in ("used", "identity"))
        moves, play = cls.moves, cls.play
        cls.moves, cls.play = staticmethod(moves), staticmethod(play)
        cls._rules = Rules(moves, play, cls.state, cls.width, f"{cls.__module__}.{cls.__name__}" if inside else None)
        cls._stamp = None if inside else (fingerprint(moves), fingerprint(play))

    def __init__(self, **settings: Any):
        self.settings = settings

    # ------------------------------------------------------------- to be given by a game

    def setup(self, s: Record) -> None:
        """Fill a zeroed record with the first position."""
        s.turn = 1

    def write(self, code: int) -> str:
        """A move's number as text."""
        return str(code)

    def read(self, text: str) -> int:
        """The number of a written move; raises ValueError on anything else."""
        return int(text)

    def cells(self, s: Record) -> list[list[tuple[int, str]]]:
        """The board as rows of (owner, label), for text and pictures."""
        return [[(int(owner), "") for owner in row] for row in self.grid(s)]

    def token(self, owner: int, label: str) -> str:
        """A cell in a line of text."""
        return self.marks[owner]

    def derive(self, s: Record) -> None:
        """Set the fields of a record that follow from its board."""

    def left(self, data: np.ndarray) -> int | None:
        """The most plies that can still follow a position, where there is a bound."""
        return self.longest

    def centrality(self) -> np.ndarray:
        """For every move number, how far from the middle it plays: 0 is the middle."""
        return np.zeros(self.codes, np.int32)

    def symmetries(self) -> list[Symmetry]:
        """Every symmetry of the game but the identity."""
        return []

    def score(self, s: Record) -> tuple[float, float] | None:
        """Both players' totals, in a game that counts."""
        return None

    def split(self, line: str) -> list[str]:
        """A line of moves written as one text → the moves."""
        return line.split()

    def join(self, moves: Iterable[str]) -> str:
        """Moves → a line that `split` takes apart."""
        return " ".join(moves)

    # ------------------------------------------------------------------------- for users

    def start(self) -> Position:
        """The first position; a custom game's rules are compiled again if a global they read has changed."""
        cls = type(self)
        if cls._stamp is not None and cls._stamp != (stamp := (fingerprint(cls.moves), fingerprint(cls.play))):
            cls._rules, cls._stamp = Rules(cls.moves, cls.play, cls.state, cls.width, None), stamp
        data, s = self.blank()
        self.setup(s)
        return Position(self, data[: self.size].copy())

    def position(self, text: str, check: bool = True) -> Position:
        """The position a text shows.

        Args:
            text: a board as `str` prints it, with or without its last line, which says who is to move.
            check: refuse a position that cannot arise.
        """
        raise PositionError(f"{self.name} cannot read positions from text")

    def replay(self, moves: Iterable[str] | str) -> Position:
        """The position after a line of moves, given as texts or as one text."""
        if not isinstance(moves, Iterable):
            raise MalformedMove(f"a line of moves is a text or several texts; given {moves!r}")
        position = self.start()
        for move in self.split(moves) if isinstance(moves, str) else moves:
            position = position.play(move)
        return position

    def parameters(self) -> dict[str, Any]:
        """Every parameter with its value in effect."""
        return {name: self.settings.get(name, param.default) for name, param in self.params.items()}

    # --------------------------------------------------------------------------- records

    @property
    def size(self) -> int:
        """Bytes of a position as the search copies it."""
        return block(self.used)

    def blank(self) -> tuple[np.ndarray, Record]:
        """Room for a whole record, zeroed, and its fields."""
        data = np.zeros(block(self.state.itemsize), np.uint8)
        return data, self.record(data)

    def record(self, data: np.ndarray) -> Record:
        """The fields of a position's bytes (a shorter one is completed by idle zeros)."""
        if data.size < self.state.itemsize:
            data = np.concatenate([data, np.zeros(self.state.itemsize - data.size, np.uint8)])
        return data[: self.state.itemsize].view(self.state).view(np.recarray)[0]

    def grid(self, s: Record) -> np.ndarray:
        """The board in a record as a heuristic sees it; writing to it writes to the record."""
        view = type(self).view
        return view(s, None, self.shape) if view else s.board

    @cached_property
    def mirrors(self) -> list[Symmetry]:
        """The symmetries, worked out once."""
        return self.symmetries()

    def __str__(self) -> str:
        return str(Spec(self.name, self.settings))

    def __repr__(self) -> str:
        return f"gk.game({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Game) and str(self) == str(other))

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> Any:
        return partial(type(self), **self.settings), ()


class Position:
    """A position that never changes; `play` gives a new one.

    >>> import gamekit as gk
    >>> gk.game("connect_four").start().play("4").play("4").moves()
    ['1', '2', '3', '4', '5', '6', '7']
    """

    __slots__ = ("_codes", "data", "game", "last", "parent", "ply", "winner")
    drawn_by: ClassVar[str] = "gamekit.drawing"  # loaded when a notebook shows a position

    def __init__(
        self,
        game: Game,
        data: np.ndarray,
        winner: int | None = None,
        parent: Position | None = None,
        last: int | None = None,
    ):
        data.flags.writeable = False
        self.game, self.data, self.winner, self.parent, self.last = game, data, winner, parent, last
        self.ply: int = parent.ply + 1 if parent is not None else 0
        self._codes: tuple[int, ...] | None = None

    # ------------------------------------------------------------------------- the rules

    def codes(self) -> tuple[int, ...]:
        """The legal moves as numbers, in canonical order; none when the game is over."""
        if self._codes is None:
            if self.winner is not None:
                self._codes = ()
            else:
                out = np.zeros(self.game.width, np.int32)
                count = list_moves(self.game._rules.moves.address, self.data, out)
                self._codes = tuple(out[:count].tolist())
        return self._codes

    def moves(self) -> list[str]:
        """The legal moves as texts, in canonical order; none when the game is over."""
        return [self.game.write(code) for code in self.codes()]

    def after(self, code: int) -> Position:
        """The position after a legal move given by its number."""
        if not 0 <= code < self.game.codes:  # compiled rules would write beyond the board
            raise IllegalMove(f"{code} is no move's number in {self.game}; they run from 0 to {self.game.codes - 1}")
        data = self.data.copy()
        mover = self.turn
        status = make_move(self.game._rules.play.address, data, code)
        winner = None if status == RUNNING else 0 if status == DRAW else mover if status == WON else 3 - mover
        return Position(self.game, data, winner, self, code)

    def copy(self) -> Position:
        """The same position, sharing no memory with this one."""
        other = Position(self.game, self.data.copy(), self.winner, self.parent, self.last)
        other.ply = self.ply
        return other

    def code(self, move: str) -> int:
        """The number of a move written as text; refused when malformed or not legal here."""
        game = self.game
        try:
            if not isinstance(move, str):
                raise ValueError
            code = game.read(move.strip())
        except ValueError:
            raise MalformedMove(f"{move!r} is not a move of {game.name}; a move is {game.move_help}") from None
        if code not in self.codes():
            legal = self.moves()
            if not legal:
                raise IllegalMove(f"{move!r} cannot be played: the game is over")
            some = " ".join(legal[:12]) + (f" … ({len(legal)} in all)" if len(legal) > 12 else "")
            raise IllegalMove(f"{move!r} is not legal in this position; legal moves are {some}")
        return code

    def play(self, move: str) -> Position:
        """The position after a move."""
        return self.after(self.code(move))

    def outcome(self) -> Outcome | None:
        """How the game ended, or None while it runs."""
        if self.winner is None:
            return None
        return Outcome(self.winner, "win" if self.winner else "draw", self.game.score(self.record))

    # --------------------------------------------------------------------------- to look

    @property
    def turn(self) -> int:
        """The player to move, 1 or 2: the first byte of the record."""
        return self.data.item(0)

    @property
    def key(self) -> bytes:
        """Equal exactly when two positions of a game are."""
        return self.data[: self.game.identity].tobytes()

    @property
    def record(self) -> Record:
        """The fields of the position; a copy, so that writing to it changes nothing here."""
        return self.game.record(self.data.copy())

    @property
    def board(self) -> np.ndarray:
        """The board as a heuristic sees it; a copy."""
        return self.game.grid(self.record)

    @property
    def history(self) -> list[Position]:
        """The positions of the game so far, from its start to this one."""
        found, position = [self], self
        while position.parent is not None:
            position = position.parent
            found.append(position)
        return found[::-1]

    @property
    def line(self) -> list[str]:
        """The moves that led here."""
        return [self.game.write(one.last) for one in self.history if one.last is not None]

    def turned(self, symmetry: Symmetry) -> Position:
        """This position seen through a symmetry of the game."""
        game, (data, out) = self.game, self.game.blank()
        data[: self.data.size] = self.data
        game.grid(out).reshape(-1)[symmetry.cells] = game.grid(self.record).reshape(-1)
        game.derive(out)
        return Position(game, data[: game.size].copy(), self.winner)

    def canonical(self) -> bytes:
        """The smallest key among this position and its mirror images."""
        return min([self.key, *(self.turned(g).key for g in self.game.mirrors)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self.game == other.game and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        text = [[self.game.token(*cell) for cell in row] for row in self.game.cells(self.record)]
        wide = max(len(cell) for row in text for cell in row)
        lines = [" ".join(cell.rjust(wide) for cell in row).rstrip() for row in text]
        if self.winner is None or not self.game.infers_turn:
            lines.append(f"{self.game.players[self.turn - 1]} to move")
        return "\n".join(lines)

    def __repr__(self) -> str:
        if self.history[0].key != self.game.start().key:  # it comes from a position that was read from text
            return f"{self.game!r}.position({str(self)!r})"
        return f"{self.game!r}.replay({self.game.join(self.line)!r})"

    def _repr_svg_(self) -> str:
        return import_module(Position.drawn_by).svg(self)

    def __reduce__(self) -> Any:
        return Position, (self.game, self.data, self.winner)


def a_position(given: Any) -> Position:
    """What was given, if it is a position; else an error that says so."""
    if not isinstance(given, Position):
        raise PositionError(f"a position is wanted, such as gk.game('conga').start(); given {given!r}")
    return given
