"""`"mnk(m=7,n=7,k=4)"` ⇄ a name with checked parameters: one grammar for games, players and heuristics.

A spec is a Python call read by Python's own `ast`. Bare words stand for themselves, `on` and `off` for True and
False, and a set means "each of these": `alphabeta(depth={1,2,3})` are three players.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any

import numpy as np

from .errors import SpecError, nearest

LONGEST, DEEPEST, MOST = 4000, 8, 100_000  # characters of a text, levels of brackets, specs of one grid
# white space, a quoted value, a bare word and what follows it, a quotation mark that is not closed
_PIECE = re.compile(r"""\s+|('[^']*'|"[^"]*")|([^\s(){}=,'"]+)(?=\s*([(=]?))|(['"])""")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

# What the measurements say of a game, a search or a position (`experiments/columns.py`). Parameters are columns of
# the same tables, so none may have one of these names.
_COLUMNS = """best best_moves by_ply cutoffs decided deterministic elapsed error exact exact_after exact_before
expanded expected first_best first_move_cutoffs game generated kept leaves legal_moves loss luck move mover moves
moves_id note number opening opening_plies opponent opponent_generated opponent_moves opponent_score own_moves pair
played_out player player_first plies ply points position reached result sampled score side solved stopped_by
table_cutoffs table_hits table_probes termination timed turns value winner"""
RESERVED = frozenset(_COLUMNS.split())


@dataclass(frozen=True)
class Spec:
    """A name and what was set: the parsed form of a text such as `alphabeta(depth=4)`."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        inside = ",".join(f"{key}={write(value)}" for key, value in self.settings.items())
        return f"{self.name}({inside})" if inside else self.name

    def __hash__(self) -> int:
        return hash(str(self))


class Each(tuple):
    """Several values of one parameter, each of which is meant."""


def write(value: Any) -> str:
    """A parameter's value as it stands in a spec, quoted where it would be read as something else."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, Each):
        return "{" + ",".join(map(write, value)) + "}"
    text = str(value)
    if not isinstance(value, str) or (re.fullmatch(r"[\w.+\-/]+", text) and _literal(text) == text):
        return text
    return f'"{text}"' if "'" in text else f"'{text}'"


def _literal(word: str) -> Any:
    """A bare word in a spec: a number, on or off, or itself."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return {"on": True, "off": False, "true": True, "false": False}.get(word.lower(), word)


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


# ---------------------------------------------------------------------------------------- reading


def parse(text: str | Spec, more: Mapping[str, Any] | None = None) -> Spec:
    """Read one spec; every mistake is one sentence.

    Args:
        text: such as `alphabeta(depth=4)`.
        more: further settings, which win over those in the text.

    >>> print(parse("alphabeta( depth = 4, heuristic=windows(count=30) )"))
    alphabeta(depth=4,heuristic=windows(count=30))
    """
    found = expand(text)
    if len(found) > 1:
        raise SpecError(f"{_shortened(str(text))} names several; one is allowed here")
    return Spec(found[0].name, {**found[0].settings, **more}) if more else found[0]


def expand(spec: str | Spec) -> list[Spec]:
    """Every spec that one with sets stands for, the last parameter varying fastest.

    >>> [str(one) for one in expand("alphabeta(depth={1,2},heuristic=moves)")]
    ['alphabeta(depth=1,heuristic=moves)', 'alphabeta(depth=2,heuristic=moves)']
    """
    found = _expanded(_read(spec))
    if len(found) > MOST:
        raise SpecError(f"{_shortened(str(spec))} stands for too many specs; at most {MOST:,} are allowed")
    return found


def _expanded(value: Any) -> list[Any]:
    """Every value that one with sets stands for; one too many where there are more than is allowed."""
    if isinstance(value, Each):
        return [one for part in value for one in _expanded(part)]
    if not isinstance(value, Spec) or not any(isinstance(one, (Each, Spec)) for one in value.settings.values()):
        return [value]
    points = itertools.islice(itertools.product(*map(_expanded, value.settings.values())), MOST + 1)
    return [Spec(value.name, dict(zip(value.settings, point, strict=True))) for point in points]


def _read(text: str | Spec) -> Spec:
    """Read a spec in which sets (`Each`) may stand for several values."""
    if isinstance(text, Spec):
        return text
    if not isinstance(text, str):
        raise SpecError(f"a spec is a text such as 'alphabeta(depth=4)'; given {_shortened(repr(text))}")
    if len(text) > LONGEST:
        raise SpecError(f"a spec has at most {LONGEST} characters; given {len(text)}")
    try:
        found = _value(*_as_python(text))
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        why = str(error) if type(error) is ValueError else "brackets, commas or '=' do not match"
        example = "a spec looks like name or name(key=value,key=value)"
        raise SpecError(f"cannot read {_shortened(text)!r}: {why}; {example}") from None
    found = Spec(found) if isinstance(found, str) else found
    if not isinstance(found, Spec) or not _NAME.match(found.name):
        raise SpecError(f"cannot read {_shortened(text)!r}: a spec starts with a name, such as alphabeta(depth=4)")
    return found


def _as_python(text: str) -> tuple[ast.expr, list[Any]]:
    """A text as Python's parser reads it, each value replaced by a list with its number, and the values.

    `a(x=Bit-O-Honey)` becomes `a(x=[0])`. As lists, two values without a comma between them are never read as one.
    """
    values: list[Any] = []

    def numbered(piece: re.Match[str]) -> str:
        quoted, bare, following, stray = piece.groups()
        if stray:
            raise ValueError("a quotation mark is not closed")
        if not bare and not quoted:
            return " "
        if following and not _NAME.match(bare):
            raise ValueError(f"{bare!r} is not a name")
        if following:
            return bare
        values.append(_literal(bare) if bare else quoted[1:-1])
        return f"[{len(values) - 1}]"

    python = _PIECE.sub(numbered, text).strip()
    if re.search(r"(^|[({=,])\s*\(", python):
        raise ValueError("brackets without a name before them")
    if re.search(r",\s*[)}]", python):
        raise ValueError("a comma without a value after it")
    return ast.parse(python, mode="eval").body, values


def _value(node: ast.expr, values: list[Any], depth: int = 0) -> Any:
    """What a node stands for: a value by its number, several (`Each`), or a `Spec`."""
    if depth > DEEPEST:
        raise ValueError(f"nested more than {DEEPEST} deep")
    match node:
        case ast.List(elts=[ast.Constant(value=int(number))]):
            return values[number]
        case ast.Set(elts=parts):
            return Each(_value(part, values, depth + 1) for part in parts)
        case ast.Call(func=ast.Name(id=name), args=[], keywords=keywords):
            settings: dict[str, Any] = {}
            for keyword in keywords:
                if keyword.arg in settings:
                    raise ValueError(f"{keyword.arg!r} is set twice")
                settings[str(keyword.arg)] = _value(keyword.value, values, depth + 1)
            return Spec(name, settings)
        case ast.Call(func=ast.Name(id=name)):
            raise ValueError(f"'=' is missing in {name}(…)")
        case ast.Subscript():
            raise ValueError("a comma is missing between two values")
    raise ValueError("a name, a number, a call or a set is expected")


# ------------------------------------------------------------------------------------ parameters


@dataclass(frozen=True)
class Param:
    """What a parameter may be: its default, a line about it, its range or choices, and its kind."""

    default: Any
    about: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[Any, ...] | None = None
    kind: Any = None  # a type; where it is not given, the default's

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", self.kind or type(self.default))

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        if self.choices:
            return ", ".join(write(choice) for choice in self.choices)
        kinds = {int: "a whole number", float: "a number", bool: "on or off", str: "a name", Spec: "a spec"}
        least = "" if self.low is None else f" of at least {write(self.low)}"
        return kinds[self.kind] + (least if self.high is None else f" from {write(self.low)} to {write(self.high)}")

    def check(self, owner: str, name: str, value: Any) -> Any:
        """The value in its right type, or an error that names owner, parameter, value and what is allowed."""
        found = self._converted(value.item() if isinstance(value, np.generic) else value)
        if found is None:
            wrong = f"{owner}: {name}={_shortened(write(value))} is not allowed; {name} is {self.allowed}"
            raise SpecError(wrong + nearest(value, map(write, self.choices or ())))
        return found

    def _converted(self, value: Any) -> Any:
        """The value in this parameter's type, or None if it is not allowed."""
        if self.choices:
            same = (c for c in self.choices if c == value and isinstance(c, bool) == isinstance(value, bool))
            return next(same, None)
        if self.kind is Spec:
            if isinstance(value, str):
                return parse(value)
            return value if isinstance(value, Spec) or hasattr(value, "spec") else None
        if self.kind in (bool, str):
            return value if isinstance(value, self.kind) else None
        number = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300
        if not number or (self.kind is int and value != int(value)):
            return None
        value = self.kind(value)
        low, high = (-math.inf if self.low is None else self.low), (math.inf if self.high is None else self.high)
        return value if low <= value <= high else None


def check(owner: str, params: Mapping[str, Param], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter in declared order: the given ones checked, the others by default."""
    for key in settings:
        if key not in params:
            known = ", ".join(params) if params else "none"
            raise SpecError(f"{owner} has no parameter {key!r}; its parameters are {known}{nearest(key, params)}")
    return {
        name: param.check(owner, name, settings[name]) if name in settings else param.default
        for name, param in params.items()
    }


def changed(params: Mapping[str, Param], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Of checked settings those that differ from their default, in declared order: what a canonical spec names."""
    return {k: settings[k] for k, param in params.items() if k in settings and settings[k] != param.default}


def find(kind: str, name: str, known: Iterable[str]) -> str:
    """`name` if it is known, else an error that lists what is and guesses what was meant."""
    names = list(known)
    if name in names:
        return name
    raise SpecError(f"there is no {kind} {name!r}; there are {', '.join(sorted(names))}{nearest(name, names)}")


def check_names(owner: str, params: Iterable[str], prefix: str = "") -> None:
    """Refuse parameters that no spec can name, or whose column in a table of results has another meaning.

    Args:
        owner: the game, player or heuristic that declares them.
        params: their names.
        prefix: what the column's name has before the parameter's.
    """
    for name in params:
        if not isinstance(name, str) or not _NAME.match(name) or iskeyword(name):
            raise SpecError(f"{owner}: {name!r} is no name for a parameter; use letters, digits and underscores")
        if prefix + name in RESERVED or (not prefix and name.startswith(("opponent_", "heuristic_"))):
            raise SpecError(f"{owner}: a parameter may not be named {name!r}: results have a column of that name")
