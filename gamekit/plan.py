"""What a sweep is asked for, checked before anything runs: lists of specs → pairs of players → jobs with ids."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import re
import types
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import cloudpickle

from .core import Game, GamekitError
from .games import game as game_of
from .heuristics import HEURISTICS
from .match import PARAMS, opening_lines
from .openings import Opening
from .players import Function, Human, Player
from .players import player as player_of
from .referee import MEMORY, fixtures, make_ready, ours, root_seed
from .specs import Param, SpecError, nearest
from .store import SCHEMA, Job

LIMIT = 600.0  # seconds a move may take in a sweep, unless told otherwise: a hung player must not hold it up for ever
BLOCK = 100  # games a job
CHECKS = {
    "games_each": Param(100, "games of every pair", 1, 10_000_000), "seed": PARAMS["seed"], "cap": PARAMS["cap"],
    "limit": PARAMS["limit"], "memory": Param(MEMORY, "megabytes a player may take", 64, 1_000_000),
    "block": Param(BLOCK, "games a job", 2, 1_000_000), "workers": Param(1, "processes", 1, 4096),
}
OPTIONAL = ("cap", "limit", "memory", "workers", "openings", "opponents", "out", "scheduler")
KEYS = ("games", "players", "opponents", "games_each", "openings", "cap", "seed", "limit", "memory", "block", "out")


def expand(spec: str) -> list[str]:
    """Braces are choices: one text for many players.

    >>> expand("alphabeta(depth={1,2},heuristic={moves,squares})")[1]
    'alphabeta(depth=1,heuristic=squares)'
    """
    parts = re.split(r"[{}]", spec)
    if re.sub(r"[^{}]", "", spec) != "{}" * (len(parts) // 2):
        raise SpecError(f"cannot read {spec!r}: a brace that does not close; choices look like depth={{1,2,3}}")
    choices = [part.split(",") if i % 2 else [part] for i, part in enumerate(parts)]
    return ["".join(chosen) for chosen in itertools.product(*choices)]


def _listed(name: str, given: Any, make: Callable[[Any], Any]) -> dict[str, Any]:
    """A list of specs or objects, each made once, by its canonical spec."""
    items = [given] if isinstance(given, (str, Game, Player)) or callable(given) else given
    if not isinstance(items, Iterable) or isinstance(items, (dict, bytes)):
        raise SpecError(f"sweep: {name}={given!r} is not allowed; {name} is a list of specs")
    found: dict[str, Any] = {}
    for item in items:
        for one in expand(item) if isinstance(item, str) else [item]:
            made = make(one)
            spec = str(made)
            if spec in found:
                raise SpecError(f"sweep: {name} lists {spec!r} twice")
            found[spec] = made
    if not found:
        raise SpecError(f"sweep: {name} is empty; {name} is a list of at least one spec")
    return found


def _player(given: Any) -> Player:
    found = player_of(given)
    if isinstance(found, Human):
        raise SpecError("sweep: players=human is not allowed; a sweep plays by itself")
    return found


class Plan:
    """A checked sweep. `described` is all that defines its results, as plain values; `jobs` the work to do."""

    def __init__(self, games: Any, players: Any, opponents: Any = None, games_each: int = 100, openings: Any = None,
                 cap: int | None = None, seed: int = 0, limit: float | None = LIMIT, memory: int | None = MEMORY,
                 block: int = BLOCK, pairs: Sequence[tuple[str, str]] | None = None):
        """Without `opponents` every player meets every other; `pairs` of specs chooses among all meetings."""
        numbers: dict[str, Any] = {
            name: value if value is None and name in OPTIONAL else CHECKS[name].check("sweep", name, value)
            for name, value in {"games_each": games_each, "cap": cap, "seed": seed, "limit": limit, "memory": memory,
                                "block": block}.items()}
        self.games: dict[str, Game] = _listed("games", games, game_of)
        first = _listed("players", players, _player)
        second = first if opponents is None else _listed("opponents", opponents, _player)
        self.players: dict[str, Player] = {**second, **first}
        met = list(pairs) if pairs is not None else (
            list(itertools.combinations(first, 2)) if opponents is None else list(itertools.product(first, second)))
        if not met:
            raise SpecError("sweep: there is nobody to play; give opponents, or at least two players")
        self.pairs = [(game, one, other) for game in self.games for one, other in met]
        self.limit, self.memory, self.cap, self.seed = (numbers[n] for n in ("limit", "memory", "cap", "seed"))
        self.games_each = numbers["games_each"]
        block = numbers["block"] + numbers["block"] % 2  # both games of an opening stay together
        for game, one, other in self.pairs:
            make_ready(self.players[one], self.games[game])
            make_ready(self.players[other], self.games[game])
        self.lines: dict[str, list[Opening]] = {
            name: opening_lines(game, openings, self.seed, self.games_each, "sweep")
            for name, game in self.games.items()}
        self.described: dict[str, Any] = {
            "games": {name: _game_digest(game) for name, game in self.games.items()},
            "players": {spec: self._about(p) for spec, p in self.players.items()},
            "pairs": [list(pair) for pair in self.pairs], "openings": openings if openings else None,
            **{name: numbers[name] for name in ("games_each", "cap", "seed", "limit", "memory")}, "block": block,
        }
        self.described = json.loads(json.dumps(self.described))  # exactly what can be read back
        self.jobs = [Job(number, self._id(pair, start, count), pair, start, count) for number, (pair, start, count) in
                     enumerate((pair, start, min(block, self.games_each - start)) for pair in range(len(self.pairs))
                               for start in range(0, self.games_each, block))]
        self.described["jobs"] = len(self.jobs)

    @classmethod
    def again(cls, described: dict[str, Any]) -> Plan:
        """The plan that a store describes, from names alone."""
        game = next(iter(described["games"]))
        keys = ("games_each", "openings", "cap", "seed", "limit", "memory", "block")
        plan = cls(list(described["games"]), list(described["players"]), **{key: described[key] for key in keys},
                   pairs=[(one, other) for board, one, other in described["pairs"] if board == game])
        unlike = difference(described, plan.described)
        if unlike:
            raise SpecError(f"the sweep cannot be set up again: {unlike}")
        return plan

    def _about(self, player: Player) -> dict[str, Any]:
        params = {key: value if isinstance(value, (int, float, str, type(None))) else str(value)
                  for key, value in player.params().items()}
        return {"deterministic": player.deterministic, "timed": player.timed, "params": params,
                "code": self._code(player)}

    def _code(self, player: Player) -> str | None:
        """A digest of the user's own code behind a name: the same name may mean something else tomorrow."""
        own = [heuristic.function for (game, name), heuristic in sorted(HEURISTICS.items())
               if heuristic.own and names(player.spec, name) and any(g.name == game for g in self.games.values())]
        if isinstance(player, Function):
            own.append(player.function)
        elif not ours(player):
            own.append(type(player))
        return hashlib.sha256("\n".join(map(_source, own)).encode()).hexdigest()[:16] if own else None

    def _id(self, pair: int, start: int, count: int) -> str:
        game, one, other = self.pairs[pair]
        about = self.described
        parts = [SCHEMA, game, about["games"][game], *((spec, about["players"][spec]["code"]) for spec in (one, other)),
                 *(about[name] for name in ("openings", "cap", "seed", "limit", "memory")), start, count]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def table_for(self, pair: int) -> bytes:
        """All a worker needs to seat a pair: game, players, openings, and heuristics of the user's own."""
        game, one, other = self.pairs[pair]
        board = self.games[game]
        own = {key: h for key, h in HEURISTICS.items() if h.own and key[0] == board.name
               and (names(one, key[1]) or names(other, key[1]))}
        players = self.players[one], self.players[other]
        return cloudpickle.dumps((board, players, own, self.lines[game], root_seed(self.seed, board, *players),
                                  self.cap, self.limit, self.memory))

    def schedule(self, job: Job) -> list[Any]:
        game, one, other = self.pairs[job.pair]
        root = root_seed(self.seed, self.games[game], self.players[one], self.players[other])
        return fixtures(root, self.lines[game], range(job.start, job.start + job.games))


def names(spec: str, heuristic: str) -> bool:
    """Whether a player's spec names a heuristic."""
    return heuristic in re.findall(r"heuristic='?([A-Za-z_0-9]+)", spec)


def _game_digest(game: Game) -> str:
    """What the name of a game stands for: a board's file may change."""
    return hashlib.sha256(bytes(game.start().data)).hexdigest()[:16]


def _source(thing: Any) -> str:
    """The text of a function or class; where there is none, its compiled code."""
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        code = getattr(thing, "__code__", None)
        return _code_text(code) if code else repr(getattr(thing, "__qualname__", type(thing).__qualname__))


def _code_text(code: types.CodeType) -> str:
    constants = [_code_text(c) if isinstance(c, types.CodeType)
                 else repr(sorted(c, key=repr) if isinstance(c, frozenset) else c) for c in code.co_consts]
    return repr((code.co_code, code.co_names, constants))


def difference(there: dict[str, Any], here: dict[str, Any]) -> str | None:
    """The first thing in which two sweeps differ, naming both; None when they are the same."""
    for key in sorted({*there, *here} - {"jobs"}, key=lambda key: (key == "pairs", key)):  # pairs follow from the rest
        if there.get(key) != here.get(key):
            was, now = there.get(key), here.get(key)
            if isinstance(was, dict) and isinstance(now, dict):
                inner = difference(was, now)
                return f"{key}: {inner}"
            return f"{key} there {_brief(was)}, here {_brief(now)}"
    return None


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:117] + "…"


def read_sweep(path: str | Path) -> dict[str, Any]:
    """A sweep file (YAML) → the arguments of `sweep`, with every key known; values are checked by `Plan`."""
    import yaml

    path = Path(path)
    try:
        read = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise GamekitError(f"there is no sweep file {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise GamekitError(f"{path} cannot be read: {error}") from None
    except yaml.YAMLError as error:
        raise GamekitError(f"{path} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(read, dict):
        raise GamekitError(f"{path}: a sweep file is a list of 'name: value' lines with the names {', '.join(KEYS)}")
    for key in read:
        if key not in KEYS:
            raise GamekitError(f"{path}: {key!r} is no part of a sweep; allowed: {', '.join(KEYS)}{nearest(key, KEYS)}")
    for key in ("games", "players"):
        if key not in read:
            raise GamekitError(f"{path}: {key!r} is missing; a sweep names games and players")
    for key, value in read.items():
        if value is None and key not in OPTIONAL:
            raise GamekitError(f"{path}: {key!r} has no value")
    if "out" in read and not isinstance(read["out"], str):
        raise GamekitError(f"{path}: out={read['out']!r} is not allowed; out is the path of a folder")
    return read
