"""What a measurement consists of: groups of work with identities, and what is known of their games and players."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import cloudpickle
import numpy as np

from ..core import Game, Position
from ..heuristics import HEURISTICS, Heuristic
from ..jit.user_code import Unclear, identity
from ..matches.referee import RULES, Rules, make_ready, ours
from ..players import Player
from ..players.base import Function
from ..specs import SpecError
from .columns import COLUMNS, frame
from .folder import FolderError
from .grids import games_of, parameters, weights
from .jobs import Work, code, hash_of
from .positions import Listed, listed

if TYPE_CHECKING:
    import pandas as pd

HOW = ("out", "workers", "executor", "progress")  # arguments that do not change what is measured


class Beside:
    """A folder whose name ends in the plan's digest: a changed plan gets a folder of its own."""

    def __init__(self, base: Path, name: str):
        self.base, self.name = base, name

    def at(self, plan: Plan) -> Path:
        """Where this plan's results are."""
        return self.base / f"{self.name}-{plan.digest}"


class Group(NamedTuple):
    """Units of work that share a set-up."""

    id: str  # the same for the same work, in every process
    units: int
    about: dict[str, Any]  # all that the rows depend on, as plain values
    work: Work


class Plan:
    """A checked measurement.

    Args:
        owner: the function that was called, for messages.
        measure: which columns its rows have.
        given: the arguments of that function.
    """

    def __init__(self, owner: str, measure: str, given: Mapping[str, Any]):
        self.owner, self.measure, self.given = owner, measure, given
        self.seed: int = RULES["seed"].check(owner, "seed", given["seed"])
        self.arguments = {name: _plain(value) for name, value in given.items() if name not in HOW}
        self.groups: list[Group] = []
        self.players: dict[tuple[str, str], dict[str, Any]] = {}  # parameters; of heuristics: weights
        self.games: dict[tuple[str, str], dict[str, Any]] = {}
        self.extras: dict[tuple[str, str], dict[str, list[Any]]] = {}
        self.enough: Callable[[list[Any]], int | None] | None = None  # tables so far → units after which to stop
        self._own: dict[tuple[str, str], Heuristic] = {}  # the user's own heuristics, for the workers
        self._named: dict[str, Any] = {}
        self._identities: dict[Any, str | None] = {}

    def boards(self) -> Iterator[tuple[Game, Listed]]:
        """Every game with the positions to measure on."""
        for board in games_of(self.owner, self.given["games"]).values():
            yield board, listed(self.owner, board, self.given["positions"], self.given["plies"], self.seed)

    def add(self, work: Work, units: int) -> None:
        """Plan a group of work. What its fields name is checked, and enters its identity with the code behind it."""
        own: dict[str, str | None] = {}
        about: dict[str, Any] = {"measure": self.measure}
        for field in dataclasses.fields(work):
            about[field.name] = self._told(getattr(work, field.name), work.game, own)
        about |= {"start": hash_of(work.game.start().data.tobytes().hex()), "code": own}
        digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
        if any(group.id == digest[:16] for group in self.groups):
            raise SpecError(f"{self.owner}: {', '.join(map(str, about.values()))[:200]} is given twice; list each once")
        self.groups.append(Group(digest[:16], units, about, work))

    def _told(self, value: Any, board: Game, own: dict[str, str | None]) -> Any:
        """A field as a plain value; digests of the user's code that it brings along go to `own`."""
        if isinstance(value, Game):
            self.games[str(value), ""] = value.parameters()
            if not ours(value):
                own[f"game {value}"] = self._identity(type(value), f"game {value}")
        elif isinstance(value, Player):
            self._player(value, board, own)
        elif isinstance(value, Heuristic):
            self.players[str(board), str(value)] = weights(value)
            self._heuristic(value, board, own)
        elif isinstance(value, Listed):
            if value.extras:
                self.extras[str(board), ""] = value.extras
            return value.identity
        elif isinstance(value, Rules):
            return vars(value)
        elif isinstance(value, dict):
            return [self._told(one, board, own) for one in value.values()]
        elif isinstance(value, list):  # of openings, which may be many
            return hash_of(repr(value))
        else:
            return value
        return str(value)

    def _player(self, player: Player, board: Game, own: dict[str, str | None]) -> None:
        spec, kind = player.spec, player.function if isinstance(player, Function) else type(player)
        if self._named.setdefault(spec, kind) is not kind:
            raise SpecError(f"{self.owner}: two different players are called {spec!r}; give one another name")
        if (str(board), spec) not in self.players:
            make_ready(player, board)
            self.players[str(board), spec] = parameters(player, board)
        if not ours(player) or isinstance(player, Function):
            if self.given["out"] is not None and getattr(kind, "__name__", "") == "<lambda>":
                raise SpecError(f"{self.owner}: a lambda cannot be stored; write it as a function with a name")
            own[f"player {spec}"] = self._identity(kind, f"player {spec}")
        heuristic = HEURISTICS.get((board.name, self.players[str(board), spec].get("heuristic", "")))
        if heuristic is not None:
            self._heuristic(heuristic, board, own)

    def _heuristic(self, heuristic: Heuristic, board: Game, own: dict[str, str | None]) -> None:
        if heuristic.own:
            self._own[board.name, heuristic.name] = HEURISTICS[board.name, heuristic.name]
            own[f"heuristic {heuristic.name}"] = self._identity(heuristic.function, f"heuristic {heuristic.name}")

    def _identity(self, thing: Any, called: str) -> str | None:
        """A digest of the user's code; None where there can be none and nothing is stored."""
        if thing not in self._identities:
            try:
                self._identities[thing] = identity(thing)
            except Unclear as error:
                if self.given["out"] is not None:
                    raise SpecError(f"{self.owner}: {called} cannot be stored: {error}") from None
                self._identities[thing] = None
        return self._identities[thing]

    def check_columns(self) -> None:
        """Refuse parameters and columns of listed positions that are named like another column of the frame."""
        opponent = "opponent" in COLUMNS[self.measure].names
        taken = dict.fromkeys(COLUMNS[self.measure].names, "measured column")
        del taken["heuristic" if self.measure == "values" else "game"]
        for kind, known in (("parameter", self.players), ("parameter", self.games), ("positions", self.extras)):
            for name in dict.fromkeys(name for values in known.values() for name in values):
                if name in taken:
                    where = "of the positions" if kind == "positions" else "of a player or game"
                    raise SpecError(
                        f"{self.owner}: the column {name!r} {where} is also a {taken[name]}; give it another name"
                    )
                taken[name] = kind
                if known is self.players and opponent:
                    taken[f"opponent_{name}"] = kind

    # ------------------------------------------------------------------------- as it is stored

    @functools.cached_property
    def described(self) -> dict[str, Any]:
        """What `plan.json` holds; equal plans, equal bytes."""
        groups = [{"id": group.id, "units": group.units, **group.about} for group in self.groups]
        extras = [[key, repr(columns)] for key, columns in self.extras.items()]
        return json.loads(
            json.dumps(
                {
                    "measure": self.measure,
                    "code": code(),
                    "versions": _versions(),
                    "arguments": self.arguments,
                    "extras": hash_of(repr(extras)) if extras else None,
                    "groups": groups,
                }
            )
        )

    @property
    def digest(self) -> str:
        """A short name for what is measured and with which code."""
        parts = [self.measure, code(), [(group.id, group.units) for group in self.groups], self.described["extras"]]
        return hashlib.sha256(json.dumps([*parts, self.arguments.get("sprt")]).encode()).hexdigest()[:12]

    def packed(self, number: int) -> bytes:
        """A group's work as it is sent to workers."""
        return cloudpickle.dumps((self._own, self.groups[number].work))

    def frame(self, tables: Iterable[Any]) -> pd.DataFrame:
        """The rows with their parameters."""
        made = frame(self.measure, tables, self.players, self.games, self.extras)
        return made.assign(sequential=True) if self.enough else made

    def refuse_other(self, path: Path, there: Mapping[str, Any]) -> None:
        """Accept a stored plan that this one extends, under equal code; anything else is refused, both named."""
        other = f"{path} holds another measurement"
        if there["code"] != self.described["code"]:
            raise FolderError(
                f"{path} holds results of other code of gamekit: there {there['code']}, here {self.described['code']}; "
                "choose another folder"
            )
        was, now = there["arguments"], self.described["arguments"]
        sizes = {group.id: group.units for group in self.groups}
        missing = [group for group in there["groups"] if sizes.get(group["id"], 0) < group["units"]]
        if not missing and was.get("sprt") == now.get("sprt"):
            return
        here = {json.dumps({**group.about, "code": 0}, sort_keys=True): group.about["code"] for group in self.groups}
        for old in missing:
            about = {name: value for name, value in old.items() if name not in ("id", "units")}
            fresh = here.get(json.dumps({**about, "code": 0}, sort_keys=True), about["code"])
            for named, digest in about["code"].items():
                if fresh.get(named) != digest:
                    raise FolderError(f"{other}: the code of {named} has changed; choose another folder")
        for name in [*now, *was]:
            if was.get(name) != now.get(name):
                both = f"{name} there {_brief(was.get(name))}, here {_brief(now.get(name))}"
                raise FolderError(f"{other}: {both}; choose another folder")
        raise FolderError(f"{other}; choose another folder")


@functools.lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version()}
    for name in ("gamekit", "numpy", "numba", "pandas", "pyarrow"):
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:119] + "…"


def _plain(value: Any) -> Any:
    """An argument as it is written down: lists as lists, everything else by its spec or name."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "columns") or (isinstance(value, Iterable) and any(isinstance(one, Position) for one in value)):
        return f"{len(value)} given"
    if isinstance(value, (list, tuple, range, set, np.ndarray)):
        return [_plain(one) for one in value]
    return getattr(value, "__name__", None) or str(value)
