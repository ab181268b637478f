"""What runs in a worker: one slice of a measurement → a Parquet file's bytes.

A work object knows how to measure units (games or positions) that share a set-up. It is sent to a worker once, works
through as many units as fit a second or two, and gives back their rows; what is left of the slice is sent again.
"""

from __future__ import annotations

import functools
import hashlib
import io
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import cloudpickle
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..core import Game, Position
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
from .positions import Listed, position_from

Row = dict[str, Any]
SLICE = 1.5  # seconds a slice may take before it gives back what it has
AHEAD = 1000  # games scheduled at once: a slice of many games does not set up those it will not reach
LOST = "its worker died whenever it was tried"


class OtherCode(GamekitError):
    """A worker has other code than the process that sends it work."""


def code() -> str:
    """A digest of all code that decides what is measured."""
    return code_digest(__name__)


def hash_of(text: str) -> int:
    """Sixty-three bits that stand for a text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


@functools.lru_cache(maxsize=32)
def _unpacked(packed: bytes, _thread: int) -> Work:
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
    work, rows = _unpacked(packed, threading.get_ident()), list[Row]()
    deadline = time.monotonic() + SLICE
    for unit, found in work.results(first, end):
        rows += found
        if time.monotonic() > deadline and (unit + 1) % work.together == 0:
            return parquet(rows, measure), unit + 1
    return parquet(rows, measure), end


def parquet(rows: list[Row], measure: str) -> bytes:
    """Rows as the bytes of a Parquet file, the same for the same rows."""
    schema = COLUMNS[measure]
    arrays = [pa.array([row.get(name) for row in rows], schema.field(name).type) for name in schema.names]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), out, write_page_checksum=True)
    return out.getvalue()


def table(data: bytes) -> pa.Table:
    """The rows in a Parquet file's bytes."""
    return pq.ParquetFile(io.BytesIO(data)).read(use_threads=False)  # files are small: threads would only wait


@dataclass
class Work:
    """Units of a measurement that share a set-up. Its fields are all that its rows depend on."""

    game: Game
    seed: int
    unit: ClassVar = "position"

    @property
    def together(self) -> int:
        """Units that are never divided between slices."""
        return 1

    def prepare(self) -> None:
        """Set up and compile what the units share."""

    def results(self, first: int, end: int) -> Iterator[tuple[int, list[Row]]]:
        """The rows of each unit."""
        raise NotImplementedError

    def lost(self, unit: int) -> list[Row]:
        """The rows of a unit that killed its worker: nobody can tell which player did it."""
        raise NotImplementedError


# ------------------------------------------------------------------------------------------ games


@dataclass
class Games(Work):
    """Games between two players; a unit is a game."""

    player: Player
    opponent: Player
    luck: str  # the opponent's spec, or "" where players meet each other
    openings: list[Opening]
    rules: Rules
    swap: bool
    move_rows: bool
    timing: bool
    unit = "game"

    @property
    def together(self) -> int:
        """Both games of a pair are played by one worker."""
        return 2 if self.swap else 1

    def prepare(self) -> None:
        pair = two_players(self.player, self.opponent, self.game)
        self._referee = Referee(self.game, pair, self.rules, self.move_rows)

    def results(self, first: int, end: int) -> Iterator[tuple[int, list[Row]]]:
        facts = self._facts()
        for start in range(first, end, AHEAD):
            schedule = self._fixtures(range(start, min(end, start + AHEAD)))
            for record in self._referee.games(schedule, guarded=not self._referee.trusted):
                yield record.number, self._move_rows(record, facts) if self.move_rows else [_game_row(record, facts)]

    def lost(self, unit: int) -> list[Row]:
        (fixture,) = self._fixtures(range(unit, unit + 1))
        seat = fixture.pair, fixture.player_first, ""
        record = Record(unit, *seat, 0, 0, 0, "crash", 0, 0, None, None, fixture.luck, "", LOST, 0.0, ())
        return [] if self.move_rows else [_game_row(record, self._facts() | {"deterministic": False})]

    def _fixtures(self, numbers: range) -> list[Any]:
        return fixtures(self.seed, self.game, self.luck, self.openings, numbers, self.swap)

    def _facts(self) -> Row:
        """What the rows of all games share."""
        return {
            "game": str(self.game),
            "player": self.player.spec,
            "opponent": self.opponent.spec,
            "deterministic": self.player.deterministic and self.opponent.deterministic,
            "timed": self.player.timed or self.opponent.timed,
        } | ({} if self.timing else {"elapsed": None})

    def _move_rows(self, r: Record, facts: Row) -> list[Row]:
        names = "ply", "seat", "move", "value", "reached", "generated", "stopped_by", "expected", "elapsed"
        shared = r._asdict() | {"moves_id": hash_of(r.moves)}
        rows = [shared | dict(zip(names, values, strict=True)) | facts for values in r.rows]
        for row in rows:
            row["mover"] = "player" if (row["seat"] == 1) == r.player_first else "opponent"
        return rows


def _game_row(r: Record, facts: Row) -> Row:
    seat = 1 if r.player_first else 2
    played = r.plies - r.opening_plies
    leads = r.player_first == (r.opening_plies % 2 == 0)  # who makes the odd move out
    own = played // 2 + (played % 2 if leads else 0)
    result = "draw" if not r.winner else "win" if r.winner == seat else "loss"
    return {
        **r._asdict(),
        "turns": (r.plies + 1) // 2,
        "result": result,
        "points": {"win": 1.0, "draw": 0.5, "loss": 0.0}[result],
        "own_moves": own,
        "opponent_moves": played - own,
        "moves_id": hash_of(r.moves),
        **facts,
    }


# -------------------------------------------------------------------------------------- positions


@dataclass
class OnPositions(Work):
    """What all measurements on positions share; a unit is a position."""

    positions: Listed

    def results(self, first: int, end: int) -> Iterator[tuple[int, list[Row]]]:
        for number in range(first, end):
            position = position_from(self.game, self.positions.texts[number])
            facts = self._facts(number) | {"ply": position.ply}
            yield number, [{**facts, **row} for row in self.measured(position, number)]

    def lost(self, unit: int) -> list[Row]:
        return [{**self._facts(unit), **row, "error": LOST} for row in self.subjects()]

    def _facts(self, number: int) -> Row:
        text = self.positions.texts[number]
        return {"game": str(self.game), "position": text, "number": number, "sampled": self.positions.sampled}

    def measured(self, position: Position, number: int) -> Iterator[Row]:
        """The rows of a position."""
        raise NotImplementedError

    def subjects(self) -> list[Row]:
        """What is measured on every position: players or heuristics."""
        raise NotImplementedError


@dataclass
class Choices(OnPositions):
    """Players that choose a move in every position."""

    players: dict[str, Player]

    def subjects(self) -> list[Row]:
        return [
            {"player": spec, "deterministic": player.deterministic, "timed": player.timed}
            for spec, player in self.players.items()
        ]

    def choose(self, player: Player, position: Position, number: int) -> Choice | str:
        """A player's choice, or what went wrong. Its luck depends on seed, game and position alone."""
        try:
            player.begin(self.game, hash_of(f"{self.seed} {self.game} {self.positions.texts[number]}"))
            choice = player.choose(position)
            player.close()
            return choice
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:300]


@dataclass
class Searches(Choices):
    """Players that differ in depth only: beyond a depth that ran out of nodes the others are skipped."""

    root_moves: bool
    timing: bool

    def prepare(self) -> None:
        self._players = self.players
        if self.root_moves:  # only where ties are random has every best move its exact value
            self._players = {spec: _with_random_ties(player) for spec, player in self.players.items()}

    def measured(self, position: Position, number: int) -> Iterator[Row]:
        skip = False
        for facts, player in zip(self.subjects(), self._players.values(), strict=True):
            choice = "" if skip else self.choose(player, position, number)
            if isinstance(choice, str):
                yield {**facts, **({"stopped_by": "skipped"} if skip else {"error": choice})}
                continue
            skip = choice.stopped_by == "nodes" and len(self.players) > 1
            facts |= {"reached": choice.depth, "stopped_by": choice.stopped_by}
            if self.root_moves:
                yield from ({**facts, **row} for row in _root_moves(choice))
            else:
                yield {**facts, **_choice(choice), "elapsed": choice.seconds if self.timing else None}


def _with_random_ties(player: Player) -> Player:
    return type(player)(**{**player.given, "ties": "random"}) if isinstance(player, SearchPlayer) else player


def _decided(value: float | None) -> int | None:
    return None if value is None else int(value > DECIDED) - int(value < -DECIDED)


def _choice(choice: Choice) -> Row:
    return {
        "move": choice.move,
        "value": choice.value,
        "decided": _decided(choice.value),
        "by_ply": choice.by_ply,
        "expected": choice.line[1] if len(choice.line) > 1 else "",
        **choice.counters,
        "played_out": choice.counters.get("playouts"),  # a player's own limit is called playouts
    }


def _root_moves(choice: Choice) -> Iterator[Row]:
    values: dict[str, Any] = choice.values or {choice.move: choice.value}
    top = max((v for v in values.values() if v is not None and not np.isnan(v)), default=None)
    first = next((move for move, value in values.items() if value == top), None)
    for move, value in values.items():
        best = {"best": value == top, "first_best": move == first}
        yield {"move": move, "value": value, "decided": _decided(value), **best}


@dataclass
class Accuracy(Choices):
    """Every player's move on positions that are solved exactly."""

    solve_seconds: float

    def prepare(self) -> None:
        self._solver = Solver(self.game)

    def measured(self, position: Position, number: int) -> Iterator[Row]:
        values = self._solver.moves(position, self.solve_seconds)
        solved = all(value is not None for value in values.values())
        top = max(value or 0 for value in values.values()) if solved else None
        shared = {"solved": solved, "exact_before": top, "legal_moves": len(values)}
        if top is not None:
            shared["best_moves"] = sum(value == top for value in values.values())
        for facts, player in zip(self.subjects(), self.players.values(), strict=True):
            facts |= shared
            choice = self.choose(player, position, number)
            if isinstance(choice, str):
                yield {**facts, "error": choice}
                continue
            facts |= {"move": choice.move, "generated": choice.counters.get("generated", 0)}
            if top is not None:
                after = int(values[choice.move] or 0)
                facts |= {"exact_after": after, "exact": after == top, "loss": top - after}
                facts["kept"] = np.sign(after) == np.sign(top)
            yield facts


@dataclass
class Values(OnPositions):
    """What a heuristic says of positions, for the side to move, one side or both."""

    heuristic: Heuristic
    sides: str

    def subjects(self) -> list[Row]:
        return [{"heuristic": str(self.heuristic)}]

    def measured(self, position: Position, number: int) -> Iterator[Row]:
        for side in {"mover": [position.turn], "both": [1, 2]}.get(self.sides) or [int(self.sides)]:
            row = {"heuristic": str(self.heuristic), "side": side}
            try:
                yield {**row, "value": self.heuristic.value(position, side)}
            except GamekitError as error:
                yield {**row, "error": str(error)[:300]}
