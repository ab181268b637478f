"""What runs in a worker: one slice of a measurement → a Parquet file's bytes.

A work object knows how to measure a range of units (games or positions) of one group. It is sent to a worker once,
works through as many units as fit a second or two, and gives back the rows it made; the rest is sent again.
"""

from __future__ import annotations

import functools
import io
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import cloudpickle
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..core import Game
from ..errors import GamekitError
from ..heuristics import HEURISTICS, Heuristic
from ..jit.source import code_digest
from ..matches import sandbox
from ..matches.openings import Opening
from ..matches.referee import Record, Referee, Rules, fixtures, two_players
from ..players import Choice, Player
from ..players.searchers import SearchPlayer
from ..search.table import DECIDED
from ..solvers.solver import Solver
from .columns import COLUMNS
from .positions import position_from

Row = dict[str, Any]
SLICE = 1.5  # seconds a slice may take before it gives back what it has


class OtherCode(GamekitError):
    """A worker has other code than the one who sends it work."""


def code() -> str:
    """A digest of all code that decides what is measured."""
    return code_digest(__name__)


@functools.lru_cache(maxsize=32)
def _unpacked(packed: bytes, _thread: int) -> Any:
    """A group's work, set up and compiled; kept, for many slices share it, though no two threads do."""
    with sandbox.FORK:
        own, work = cloudpickle.loads(packed)
        HEURISTICS.update(own)
        work.prepare()
    return work


def run_slice(packed: bytes, measure: str, first: int, end: int, expected: str) -> tuple[bytes, int]:
    """Measure units from `first` until `end` or until time is up; the rows as Parquet, and where it stopped."""
    if expected != code():
        raise OtherCode(f"a worker runs other code of gamekit ({code()}) than this process ({expected})")
    rows, reached = _unpacked(packed, threading.get_ident()).run(first, end, time.monotonic() + SLICE)
    return parquet(rows, measure), reached


def parquet(rows: list[Row], measure: str) -> bytes:
    """Rows as the bytes of a Parquet file, the same for the same rows."""
    schema = COLUMNS[measure]
    arrays = [pa.array([row.get(name) for row in rows], schema.field(name).type) for name in schema.names]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), out, write_page_checksum=True)
    return out.getvalue()


# ------------------------------------------------------------------------------------------ games


@dataclass
class Games:
    """Games between two players; a unit is a game, and both games of a pair stay in one slice."""

    game: Game
    players: tuple[Player, Player]
    specs: tuple[str, str]
    lines: list[Opening]
    rules: Rules
    seed: int
    luck_of: str  # the opponent's spec, or "" where players meet each other
    swap: bool
    move_rows: bool
    timing: bool

    def prepare(self) -> None:
        """Seat the players and compile what they need."""
        self._referee = Referee(self.game, two_players(*self.players, self.game), self.rules, self.move_rows)
        first, second = self._referee.players
        self._facts = {
            "game": str(self.game),
            "player": self.specs[0],
            "opponent": self.specs[1],
            "deterministic": first.deterministic and second.deterministic,
            "timed": first.timed or second.timed,
        }

    def run(self, first: int, end: int, deadline: float) -> tuple[list[Row], int]:
        schedule = fixtures(self.seed, self.game, self.luck_of, self.lines, range(first, end), self.swap)
        referee, rows = self._referee, []
        for record in referee.games(schedule, guarded=not referee.trusted):
            rows += list(self._move_rows(record)) if self.move_rows else [self._row(record)]
            if time.monotonic() > deadline and (not self.swap or record.number % 2):
                return rows, record.number + 1
        return rows, end

    def _row(self, r: Record) -> Row:
        seat = 1 if r.player_first else 2
        played = r.plies - r.opening_plies
        leads = r.player_first == (r.opening_plies % 2 == 0)  # who makes the odd move out
        own = played // 2 + (played % 2 if leads else 0)
        result = "draw" if not r.winner else "win" if r.winner == seat else "loss"
        known = {name: getattr(r, name) for name in r._fields if name in COLUMNS["games"].names}
        return {
            **self._facts,
            **known,
            "turns": (r.plies + 1) // 2,
            "result": result,
            "points": {"win": 1.0, "draw": 0.5, "loss": 0.0}[result],
            "own_moves": own,
            "opponent_moves": played - own,
            "moves_id": hash_of(r.moves),
            "elapsed": r.elapsed if self.timing else None,
        }

    def _move_rows(self, r: Record) -> Iterator[Row]:
        shared = {
            name: getattr(r, name) for name in ("pair", "player_first", "opening", "luck", "termination", "winner")
        }
        for ply, seat, move, value, reached, generated, stopped_by, expected, seconds in r.rows:
            yield {
                **self._facts,
                **shared,
                "moves_id": hash_of(r.moves),
                "ply": ply,
                "mover": "player" if (seat == 1) == r.player_first else "opponent",
                "move": move,
                "value": value,
                "reached": reached,
                "generated": generated,
                "stopped_by": stopped_by,
                "expected": expected,
                "elapsed": seconds if self.timing else None,
            }


def hash_of(text: str) -> int:
    """Sixty-three bits that stand for a text."""
    import hashlib

    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


# -------------------------------------------------------------------------------------- positions


@dataclass
class OnPositions:
    """What all measurements on positions share; a unit is a position."""

    game: Game
    texts: list[str]
    sampled: bool
    seed: int
    _prepared: bool = field(default=False, init=False)

    def prepare(self) -> None:
        """Set up what every position needs."""

    def run(self, first: int, end: int, deadline: float) -> tuple[list[Row], int]:
        rows: list[Row] = []
        for index in range(first, end):
            position = position_from(self.game, self.texts[index])
            facts = {
                "game": str(self.game),
                "position": self.texts[index],
                "number": index,
                "ply": position.ply,
                "sampled": self.sampled,
            }
            rows += [{**facts, **row} for row in self.measure(position, index)]
            if time.monotonic() > deadline:
                return rows, index + 1
        return rows, end

    def measure(self, position: Any, index: int) -> Iterator[Row]:
        raise NotImplementedError

    def begin(self, player: Player, index: int) -> None:
        """A player starts each position afresh, with luck that depends on seed, game and position alone."""
        player.begin(self.game, hash_of(f"{self.seed} {self.game} {self.texts[index]}"))


@dataclass
class Searches(OnPositions):
    """Players that differ in depth only, on positions: beyond a depth that ran out of nodes the rest is skipped."""

    players: dict[str, Player]
    root_moves: bool
    timing: bool

    def measure(self, position: Any, index: int) -> Iterator[Row]:
        skip = False
        for spec, player in self.players.items():
            facts = {"player": spec, "deterministic": player.deterministic, "timed": player.timed}
            if skip:
                yield {**facts, "stopped_by": "skipped"}
                continue
            try:
                self.begin(player, index)
                choice = choose_all(player, position) if self.root_moves else player.choose(position)
                player.close()
            except Exception as error:
                yield {**facts, "error": f"{type(error).__name__}: {error}"[:300]}
                continue
            skip = choice.stopped_by == "nodes" and len(self.players) > 1
            if self.root_moves:
                yield from ({**facts, **row} for row in _root_rows(position, choice))
            else:
                yield {**facts, **_search_row(choice), "elapsed": choice.seconds if self.timing else None}


def choose_all(player: Player, position: Any) -> Choice:
    """A choice in which every best move shows its exact value, whatever the player's tie-breaking."""
    if not isinstance(player, SearchPlayer):
        return player.choose(position)
    return type(player)(**{**player.given, "ties": "random"}).choose(position)


def _decided(value: float | None) -> int | None:
    return None if value is None else int(value > DECIDED) - int(value < -DECIDED)


def _search_row(choice: Choice) -> Row:
    return {
        "move": choice.move,
        "value": choice.value,
        "decided": _decided(choice.value),
        "reached": choice.depth,
        "stopped_by": choice.stopped_by,
        "by_ply": choice.by_ply,
        "expected": choice.line[1] if len(choice.line) > 1 else "",
        "played_out": choice.counters.get("playouts"),
        **choice.counters,
    }


def _root_rows(position: Any, choice: Choice) -> Iterator[Row]:
    values = choice.values or {choice.move: choice.value}
    top = max((v for v in values.values() if v is not None and not np.isnan(v)), default=None)
    first = next((move for move, value in values.items() if value == top), None)
    for move, value in values.items():
        yield {
            "move": move,
            "value": value,
            "decided": _decided(value),
            "best": value == top,
            "first_best": move == first,
            "reached": choice.depth,
            "stopped_by": choice.stopped_by,
        }


@dataclass
class Accuracy(OnPositions):
    """Every player's move on positions that are solved exactly."""

    players: dict[str, Player]
    solve_seconds: float

    def prepare(self) -> None:
        self._solver = Solver(self.game)

    def measure(self, position: Any, index: int) -> Iterator[Row]:
        values = self._solver.moves(position, self.solve_seconds)
        solved = all(value is not None for value in values.values())
        top = max(value or 0 for value in values.values()) if solved else None
        facts = {"solved": solved, "exact_before": top, "legal_moves": len(values)}
        if top is not None:
            facts["best_moves"] = sum(value == top for value in values.values())
        for spec, player in self.players.items():
            row = {**facts, "player": spec, "deterministic": player.deterministic, "timed": player.timed}
            try:
                self.begin(player, index)
                choice = player.choose(position)
                player.close()
            except Exception as error:
                yield {**row, "error": f"{type(error).__name__}: {error}"[:300]}
                continue
            row |= {"move": choice.move, "generated": choice.counters.get("generated", 0)}
            if top is not None:
                after = int(values[choice.move] or 0)
                row |= {"exact_after": after, "exact": after == top, "loss": top - after}
                row["kept"] = (after > 0) - (after < 0) == (top > 0) - (top < 0)
            yield row


@dataclass
class Values(OnPositions):
    """What heuristics say of positions, for the side to move, one side or both."""

    heuristics: dict[str, Heuristic]
    sides: str

    def measure(self, position: Any, index: int) -> Iterator[Row]:
        sides = {"mover": [position.turn], "both": [1, 2], "1": [1], "2": [2]}[self.sides]
        for name, heuristic in self.heuristics.items():
            for side in sides:
                try:
                    yield {"heuristic": name, "side": side, "value": heuristic.value(position, side)}
                except GamekitError as error:
                    yield {"heuristic": name, "side": side, "error": str(error)[:300]}


Work = Games | Searches | Accuracy | Values
Slice = Callable[..., tuple[bytes, int]]
