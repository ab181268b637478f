"""What a game, a position, an outcome and a move error are; knows no particular game."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numba import carray, njit, types

from .errors import GamekitError, IllegalMove, MalformedMove, PositionError
from .jit.compiled import Compiled, compiled
from .jit.intrinsics import BLOCK, MOVES, PLAY, address, block, call_moves, call_play
from .jit.user_code import fingerprint, fresh
from .specs import write

RUNNING, WON, DRAW, LOST = 0, 1, 2, 3  # what `play` says, seen by the player who moved

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


def _nothing(s):
    pass


class Rules:
    """A game's two rules as the search calls them: compiled on first use, addressed by number."""

    def __init__(
        self,
        moves: Callable,
        play: Callable,
        state: np.dtype,
        width: int,
        name: str | None,
        pin: Callable | None = None,
    ):
        """`pin` sets fields that are the same in all positions of a game, so that the compiler knows them."""
        pinned = njit(forceinline=True)(pin or _nothing)
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


class Game:
    """A rule with its parameters fixed. A subclass is a game; see `gamekit/games` for five of them.

    A subclass gives the record of a position (`state`, whose first field is the player to move,
    `("turn", "i4")`), the most moves a position can have (`width`), and two plain functions on
    that record, compiled on first use:

    - `moves(s, out)` writes the legal moves, as numbers below `codes`, in canonical order; returns how many;
    - `play(s, move)` changes `s` in place and returns RUNNING, WON, DRAW or LOST for the player who moved.

    It also says how a position starts (`setup`) and how a move is written and read.
    """

    name: ClassVar[str]
    params: ClassVar[dict[str, Any]] = {}
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
    _rules: Rules
    _stamp: ClassVar[tuple[bytes, bytes] | None] = None  # of a game of one's own: what its rules read

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        if "state" in cls.__dict__ or "play" in cls.__dict__:
            missing = [
                name
                for name in ("name", "state", "width", "moves", "play")
                if not hasattr(cls, name) and not (name == "name" and cls.__module__.startswith(__package__ + "."))
            ]
            if missing:
                raise GamekitError(
                    f"game {cls.__name__} lacks {', '.join(missing)}; a game gives name, state, width, moves and play"
                )
            inside = cls.__module__.startswith(__package__ + ".")
            name = f"{cls.__module__}.{cls.__name__}" if inside else None
            moves, play = cls.__dict__["moves"], cls.__dict__["play"]
            cls.moves, cls.play = staticmethod(moves), staticmethod(play)
            cls._rules = Rules(moves, play, cls.state, cls.width, name)
            cls._stamp = None if inside else (fingerprint(moves), fingerprint(play))

    def __init__(self, **settings: Any):
        self.settings = settings

    # ------------------------------------------------------------- to be given by a game

    def setup(self, s: Record) -> None:
        """Fill a zeroed record with the first position."""
        s.turn = 1

    def write(self, code: int) -> str:
        return str(code)

    def read(self, text: str) -> int:
        """The number of a written move; raises ValueError on anything else."""
        return int(text)

    def cells(self, s: Record) -> list[list[tuple[int, str]]]:
        """The board as rows of (owner, label), for text and pictures."""
        return [[(int(owner), "") for owner in row] for row in s.board]

    def token(self, owner: int, label: str) -> str:
        """A cell in a line of text."""
        return self.marks[owner]

    def judge(self, s: Record) -> int:
        """RUNNING, or the end of a position read from text, seen by the player who is NOT to move."""
        raise PositionError(f"{self.name} cannot read positions from text")

    def fill(self, s: Record, rows: list[list[str]], check: bool = True) -> None:
        """Fill a started record from the tokens of a text; with `check` refuse what cannot arise."""
        raise PositionError(f"{self.name} cannot read positions from text")

    @property
    def used(self) -> int:
        """Bytes of the record that this game uses (a large board's tail may be idle)."""
        return self.state.itemsize

    @property
    def identity(self) -> int:
        """Leading bytes that tell two positions apart."""
        return self.used

    @property
    def codes(self) -> int:
        """Moves are numbers below this."""
        return self.width

    @property
    def longest(self) -> int | None:
        """The most plies a game can last, where there is a bound."""
        return None

    def left(self, data: np.ndarray) -> int | None:
        """The most plies that can still follow a position, where there is a bound."""
        return self.longest

    def centrality(self) -> np.ndarray:
        """For every move number, how far from the middle it plays: 0 is the middle."""
        return np.zeros(self.codes, np.int32)

    def symmetries(self) -> list[Symmetry]:
        """Every symmetry of the game but the identity."""
        return []

    @cached_property
    def mirrors(self) -> list[Symmetry]:
        """The symmetries, worked out once."""
        return self.symmetries()

    def turned(self, s: Record, symmetry: Symmetry, out: Record) -> None:
        """Write the position `s` turned by `symmetry` into `out` (a copy of `s`)."""
        raise NotImplementedError

    def score(self, s: Record) -> tuple[float, float] | None:
        return None

    # ------------------------------------------------------------------------- for users

    def parameters(self) -> dict[str, Any]:
        """Every parameter with its value in effect."""
        return {name: self.settings.get(name, param.default) for name, param in self.params.items()}

    @property
    def size(self) -> int:
        """Bytes of a position as the search copies it."""
        return block(self.used)

    def start(self) -> Position:
        """The first position; rules of one's own are compiled anew if a global they read has changed."""
        cls = type(self)
        if cls._stamp is not None and cls._stamp != (stamp := (fingerprint(cls.moves), fingerprint(cls.play))):
            cls._rules, cls._stamp = Rules(cls.moves, cls.play, cls.state, cls.width, None), stamp
        data = np.zeros(block(self.state.itemsize), np.uint8)
        self.setup(self.record(data))
        return Position(self, data[: self.size].copy())

    def record(self, data: np.ndarray) -> Record:
        """The fields of a position's bytes (a shorter one is completed by idle zeros)."""
        if data.size < self.state.itemsize:
            data = np.concatenate([data, np.zeros(self.state.itemsize - data.size, np.uint8)])
        return data[: self.state.itemsize].view(self.state).view(np.recarray)[0]

    def position(self, text: str, check: bool = True) -> Position:
        """The position a text shows, as `str` prints it; with `check` refused if it cannot arise."""
        if not isinstance(text, str):
            raise PositionError(f"a position is read from a text; given {text!r}")
        lines = [line.split() for line in text.strip().splitlines() if line.strip()]
        turn = 0
        if lines and lines[-1][-2:] == ["to", "move"]:
            names = {n.lower(): i + 1 for i, n in enumerate(self.players)}
            who = " ".join(lines.pop()[:-2])
            turn = names.get(who.lower(), 0)
            if not turn:
                raise PositionError(f"{who!r} is not a player of {self.name}; allowed: {' and '.join(self.players)}")
        data = np.zeros(block(self.state.itemsize), np.uint8)
        s = self.record(data)
        self.setup(s)
        s.turn = turn
        self.fill(s, lines, check)
        status = self.judge(s)
        mover = 3 - int(s.turn)
        winner = {RUNNING: None, WON: mover, DRAW: 0, LOST: 3 - mover}[status]
        return Position(self, data[: self.size].copy(), winner)

    def replay(self, moves: Iterable[str] | str) -> Position:
        """The position after a line of moves, given as texts or as one text."""
        if not isinstance(moves, Iterable):
            raise MalformedMove(f"a line of moves is a text or several texts; given {moves!r}")
        position = self.start()
        for move in self.split(moves) if isinstance(moves, str) else moves:
            position = position.play(move)
        return position

    def split(self, line: str) -> list[str]:
        """A line of moves written as one text → the moves."""
        return line.split()

    def join(self, moves: Iterable[str]) -> str:
        return " ".join(moves)

    def __str__(self) -> str:
        inside = ",".join(f"{k}={write(v)}" for k, v in self.settings.items())
        return f"{self.name}({inside})" if inside else self.name

    def __repr__(self) -> str:
        return f"gk.game({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Game) and str(self) == str(other))

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> Any:
        return type(self)._again, (self.settings,)

    @classmethod
    def _again(cls, settings: dict[str, Any]) -> Game:
        return cls(**settings)


@dataclass
class Leaf:
    """An evaluation as the search takes it: where its code is, and its weights."""

    address: int
    weights: np.ndarray
    explain_failure: Callable[..., Exception] | None = None


@compiled(types.intp, types.Array(types.uint8, 1, "C", readonly=True), types.int32[::1], returns=types.int32)
def list_moves(function, data, out):
    return call_moves(function, address(data, 0), address(out, 0))


@compiled(types.intp, types.uint8[::1], types.int32, returns=types.int32)
def make_move(function, data, move):
    return call_play(function, address(data, 0), move)


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
        """The same position in memory of its own."""
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
        """The player to move, 1 or 2: the record's first word, of which the first byte tells."""
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
        """The board as a heuristic sees it."""
        view = type(self.game).view
        return view(self.record, None, self.game.shape) if view else self.record.board

    @property
    def line(self) -> list[str]:
        """The moves that led here."""
        moves, position = [], self
        while position.parent is not None and position.last is not None:
            moves.append(self.game.write(position.last))
            position = position.parent
        return moves[::-1]

    @property
    def history(self) -> list[Position]:
        """The positions of the game so far, from its start to this one."""
        found, position = [self], self
        while position.parent is not None:
            position = position.parent
            found.append(position)
        return found[::-1]

    def turned(self, symmetry: Symmetry) -> Position:
        """This position seen through a symmetry of the game."""
        data = np.zeros(block(self.game.state.itemsize), np.uint8)
        data[: self.data.size] = self.data
        out = self.game.record(data)
        self.game.turned(self.record, symmetry, out)
        return Position(self.game, data[: self.game.size].copy(), self.winner)

    def canonical(self) -> bytes:
        """The smallest key among this position and its mirror images."""
        return min([self.key, *(self.turned(g).key for g in self.game.mirrors)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self.game == other.game and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        rows = self.game.cells(self.record)
        text = [[self.game.token(*cell) for cell in row] for row in rows]
        wide = max(len(cell) for row in text for cell in row)
        lines = [" ".join(cell.rjust(wide) for cell in row).rstrip() for row in text]
        if self.winner is None or not self.game.infers_turn:
            lines.append(f"{self.game.players[self.turn - 1]} to move")
        return "\n".join(lines)

    def __repr__(self) -> str:
        line = self.line
        if not line and self.key != self.game.start().key:
            return f"{self.game!r}.position({str(self)!r})"
        return f"{self.game!r}.replay({self.game.join(line)!r})"

    def _repr_svg_(self) -> str:
        return import_module(Position.drawn_by).svg(self)

    def __reduce__(self) -> Any:
        return _position, (self.game, self.data.tobytes(), self.winner)


def a_position(given: Any) -> Position:
    """What was given, if it is a position; else an error that says so."""
    if not isinstance(given, Position):
        raise PositionError(f"a position is wanted, such as gk.game('conga').start(); given {given!r}")
    return given


def _position(game: Game, raw: bytes, winner: int | None) -> Position:
    return Position(game, np.frombuffer(raw, np.uint8).copy(), winner)


assert BLOCK == 64  # the search copies positions in chunks of this size
