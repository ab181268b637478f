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
from typing import Any

from .errors import GamekitError, nearest

LONGEST, DEEPEST, MOST = 4000, 8, 100_000  # characters of a text, levels of brackets, specs of one grid
_TOKEN = re.compile(r"\s+|'[^']*'|\"[^\"]*\"|[(){}=,]|[^\s(){}=,'\"]+|['\"]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class SpecError(GamekitError):
    """A spec that cannot be read, or names something that does not exist."""


def literal(word: str) -> Any:
    """A word in a spec: a number, on or off, or itself."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return {"on": True, "off": False, "true": True, "false": False}.get(word.lower(), word)


def write(value: Any) -> str:
    """A parameter's value as it stands in a spec, quoted where it would be read as something else."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, Each):
        return "{" + ",".join(map(write, value)) + "}"
    text = str(value)
    if not isinstance(value, str) or (re.fullmatch(r"[\w.+\-/]+", text) and literal(text) == text):
        return text
    return f'"{text}"' if "'" in text else f"'{text}'"


class Each(tuple):
    """Several values of one parameter, each of which is meant."""


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


# ---------------------------------------------------------------------------------------- reading


def parse(text: str | Spec) -> Spec:
    """Read one spec; every mistake is one sentence.

    >>> print(parse("alphabeta( depth = 4, heuristic=windows(count=30) )"))
    alphabeta(depth=4,heuristic=windows(count=30))
    """
    found = read(text)
    if _choices(found) != 1 or _has_sets(found):
        raise SpecError(f"{_shortened(str(found))} names several; one is allowed here")
    return found


def read(text: str | Spec) -> Spec:
    """Read a spec in which sets may stand for several values."""
    if isinstance(text, Spec):
        return text
    if not isinstance(text, str):
        raise SpecError(f"a spec is a text such as 'alphabeta(depth=4)'; given {_shortened(repr(text))}")
    if len(text) > LONGEST:
        raise SpecError(f"a spec has at most {LONGEST} characters; given {len(text)}")
    tokens = [token for token in _TOKEN.findall(text) if token.strip()]
    try:
        value = _value(ast.parse(_as_python(tokens), mode="eval").body)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        said = str(error) if type(error) is ValueError else "brackets, commas or '=' do not match"
        raise SpecError(
            f"cannot read {_shortened(text)!r}: {said}; a spec looks like name or name(key=value,key=value)"
        ) from None
    value = Spec(value) if isinstance(value, str) else value
    if not isinstance(value, Spec) or not _NAME.match(value.name):
        raise SpecError(f"cannot read {_shortened(text)!r}: a spec starts with a name, such as alphabeta(depth=4)")
    return value


def _as_python(tokens: list[str]) -> str:
    """The same as a Python expression: every bare word that is a value becomes a constant."""
    found: list[str] = []
    depth = 0
    for before, token, following in zip(["", *tokens], tokens, [*tokens[1:], None], strict=False):
        if token == "(" and not _NAME.match(before):
            raise ValueError("brackets without a name before them")
        if token == "," and following in (")", "}"):
            raise ValueError("a comma without a value after it")
        if following is not None and token not in "(){}=," and following not in "(){}=,":
            raise ValueError(f"a comma is missing between {token!r} and {following!r}")
        depth += (token in "({") - (token in ")}")
        if depth > DEEPEST:
            raise ValueError(f"nested more than {DEEPEST} deep")
        if token in ("'", '"'):
            raise ValueError("a quotation mark is not closed")
        if token in "(){}=,":
            found.append(token)
        elif token[0] in "'\"":
            found.append(repr(token[1:-1]))
        elif following in ("(", "="):
            if not _NAME.match(token):
                raise ValueError(f"{token!r} is not a name")
            found.append(token)
        else:
            found.append(_constant(token))
    return " ".join(found)


def _constant(word: str) -> str:
    value = literal(word)
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    return repr(value)


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value  # type: ignore[operator]
    if isinstance(node, ast.Set):
        return Each(_value(one) for one in node.elts)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id == "float" and node.args:
            return float(node.args[0].value)  # type: ignore[attr-defined]
        if node.args:
            raise ValueError(f"'=' is missing in {node.func.id}(…)")
        settings: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg in settings:
                raise ValueError(f"{keyword.arg!r} is set twice")
            settings[str(keyword.arg)] = _value(keyword.value)
        return Spec(node.func.id, settings)
    raise ValueError("a name, a number, a call or a set is expected")


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


# --------------------------------------------------------------------------------------- choices


def _has_sets(value: Any) -> bool:
    return isinstance(value, Each) or (isinstance(value, Spec) and any(map(_has_sets, value.settings.values())))


def _choices(value: Any) -> int:
    """How many values a value with sets stands for."""
    if isinstance(value, Each):
        return sum(map(_choices, value))
    return math.prod(map(_choices, value.settings.values())) if isinstance(value, Spec) else 1


def expand(spec: str | Spec) -> list[Spec]:
    """Every spec that one with sets stands for, the last parameter varying fastest.

    >>> [str(one) for one in expand("alphabeta(depth={1,2},heuristic=moves)")]
    ['alphabeta(depth=1,heuristic=moves)', 'alphabeta(depth=2,heuristic=moves)']
    """
    found = read(spec)
    if (count := _choices(found)) > MOST:
        raise SpecError(f"{_shortened(str(found))} stands for {count:,} specs; at most {MOST:,} are allowed")
    return _expanded(found)


def _expanded(value: Any) -> list[Any]:
    if isinstance(value, Each):
        return [one for part in value for one in _expanded(part)]
    if not isinstance(value, Spec):
        return [value]
    grids = itertools.product(*map(_expanded, value.settings.values()))
    return [Spec(value.name, dict(zip(value.settings, point, strict=True))) for point in grids]


# ------------------------------------------------------------------------------------ parameters


@dataclass(frozen=True)
class Param:
    """What a parameter may be: its kind, default, range or choices, and a line about it."""

    default: Any
    about: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[Any, ...] | None = None
    kind: type | None = None  # where the default does not tell

    @property
    def allowed(self) -> str:
        if self.choices:
            return ", ".join(write(choice) for choice in self.choices)
        kind = self._kind()
        word = {int: "a whole number", float: "a number", bool: "on or off", str: "a name", Spec: "a spec"}[kind]
        if self.low is None and self.high is None:
            return word
        if self.high is None:
            return f"{word} of at least {write(self.low)}"
        return f"{word} from {write(self.low)} to {write(self.high)}"

    def _kind(self) -> type:
        return self.kind or type(self.default)

    def check(self, owner: str, name: str, value: Any) -> Any:
        """The value in its right type, or an error that names owner, parameter, value and what is allowed."""
        kind, good = self._kind(), True
        value = value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value
        if isinstance(value, Spec) and not value.settings and kind is str:
            value = value.name
        if self.choices:
            good = any(
                value == choice and isinstance(value, bool) == isinstance(choice, bool) for choice in self.choices
            )
        elif kind is bool:
            good = isinstance(value, bool)
        elif kind is Spec:
            good = isinstance(value, (str, Spec)) or hasattr(value, "spec")
            value = parse(value) if isinstance(value, str) else value
        elif kind is str:
            good = isinstance(value, str)
        else:
            good = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300
            good = good and (kind is float or isinstance(value, int) or value.is_integer())
            if good:
                value = kind(value)
                good = (self.low is None or value >= self.low) and (self.high is None or value <= self.high)
        if not good:
            raise SpecError(
                f"{owner}: {name}={_shortened(write(value))} is not allowed; {name} is {self.allowed}"
                + (nearest(value, map(write, self.choices)) if self.choices else "")
            )
        return value


def check(owner: str, params: Mapping[str, Param], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter in declared order: the given ones checked, the others by default."""
    for key in settings:
        if key not in params:
            there = ", ".join(params) if params else "none"
            raise SpecError(f"{owner} has no parameter {key!r}; its parameters are {there}{nearest(key, params)}")
    return {
        name: param.check(owner, name, settings[name]) if name in settings else param.default
        for name, param in params.items()
    }


def find(kind: str, name: str, known: Iterable[str]) -> str:
    """`name` if it is known, else an error that lists what is and guesses what was meant."""
    names = list(known)
    if name in names:
        return name
    raise SpecError(f"there is no {kind} {name!r}; there are {', '.join(sorted(names))}{nearest(name, names)}")


def changed(params: Mapping[str, Param], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Of checked settings those that differ from their default, in declared order: what a canonical spec names."""
    return {
        name: settings[name] for name, param in params.items() if name in settings and settings[name] != param.default
    }
