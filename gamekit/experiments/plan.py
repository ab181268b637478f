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
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

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
        self._ids: set[str] = set()
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
        if digest in self._ids:
            raise SpecError(f"{self.owner}: {', '.join(map(str, about.values()))[:200]} is given twice; list each once")
        self._ids.add(digest)
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
        taken = list(COLUMNS[self.measure].names)
        prefixes = ["", "opponent_"] if "opponent" in taken else [""]
        for known, before in ((self.players, prefixes), (self.games, [""]), (self.extras, [""])):
            names = dict.fromkeys(start + name for values in known.values() for start in before for name in values)
            if twice := [name for name in names if name in taken]:
                what = "a column of the positions" if known is self.extras else "a parameter"
                raise SpecError(
                    f"{self.owner}: {what} is called {twice[0]!r} like another column; give it another name"
                )
            taken += names

    # ------------------------------------------------------------------------- as it is stored

    @functools.cached_property
    def described(self) -> dict[str, Any]:
        """What `plan.json` holds; equal plans, equal bytes."""
        extras = [[key, repr(columns)] for key, columns in self.extras.items()]
        found = {
            "measure": self.measure,
            "code": code(),
            "versions": _versions(),
            "arguments": self.arguments,
            "extras": hash_of(repr(extras)) if extras else None,
            "groups": [{"id": group.id, "units": group.units, **group.about} for group in self.groups],
        }
        return json.loads(json.dumps(found))

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

        def refuse(what: str) -> NoReturn:
            raise FolderError(f"{path} holds {what}; choose another folder")

        here = self.described
        if there["code"] != here["code"]:
            refuse(f"results of other code of gamekit: there {there['code']}, here {here['code']}")
        was, now = there["arguments"], here["arguments"]
        sizes = {group["id"]: group["units"] for group in here["groups"]}
        missing = [group for group in there["groups"] if sizes.get(group["id"], 0) < group["units"]]
        if not missing and was.get("sprt") == now.get("sprt"):
            return
        codes = {_but_for_code(group): group["code"] for group in here["groups"]}
        for old in missing:
            fresh = codes.get(_but_for_code(old), old["code"])
            for named, digest in old["code"].items():
                if fresh.get(named) != digest:
                    refuse(f"another measurement: the code of {named} has changed")
        for name in [*now, *was]:
            if was.get(name) != now.get(name):
                refuse(f"another measurement: {name} there {_brief(was.get(name))}, here {_brief(now.get(name))}")
        refuse("another measurement")


def _but_for_code(group: Mapping[str, Any]) -> str:
    return json.dumps({**group, "id": 0, "units": 0, "code": 0}, sort_keys=True)


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
