"""`"mnk(m=7,n=7,k=4)"` ⇄ a name with checked parameters: one grammar for games, players and heuristics.

    spec  = name [ "(" name "=" value { "," name "=" value } ")" ]
    value = number | on | off | word | 'quoted text' | spec
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .core import GamekitError, literal, nearest, write


class SpecError(GamekitError):
    """A spec that cannot be read, or names something that does not exist."""


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


_WORD = re.compile(r"[^\s,()=\"']+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


def parse(text: str | Spec) -> Spec:
    """Read a spec; every mistake is one sentence.

    >>> print(parse("alphabeta( depth = 4, heuristic=windows(count=30) )"))
    alphabeta(depth=4,heuristic=windows(count=30))
    """
    if isinstance(text, Spec):
        return text
    if not isinstance(text, str):
        raise SpecError(f"a spec is a text such as 'alphabeta(depth=4)'; given {text!r}")
    if len(text) > 4000:
        raise SpecError(f"a spec has at most 4000 characters; given {len(text)}")
    reader = _Reader(text)
    value = reader.value(0)
    reader.blank()
    if reader.at < len(text):
        raise reader.error(f"unexpected {text[reader.at]!r}")
    if not isinstance(value, Spec):
        value = Spec(str(value)) if isinstance(value, str) else value
    if not isinstance(value, Spec) or not _NAME.match(value.name):
        raise reader.error("a spec starts with a name")
    return value


class _Reader:
    def __init__(self, text: str):
        self.text, self.at = text, 0

    def error(self, what: str) -> SpecError:
        shown = self.text if len(self.text) <= 80 else self.text[:77] + "…"
        return SpecError(f"cannot read {shown!r} at character {self.at + 1}: {what}; "
                         "a spec looks like name or name(key=value,key=value)")

    def blank(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def take(self, char: str) -> bool:
        self.blank()
        if self.text.startswith(char, self.at):
            self.at += 1
            return True
        return False

    def word(self) -> str:
        self.blank()
        found = _WORD.match(self.text, self.at)
        if not found:
            raise self.error("a name or a value is missing")
        self.at = found.end()
        return found.group()

    def value(self, level: int) -> Any:
        if level > 8:
            raise self.error("nested more than eight deep")
        self.blank()
        for quote in "'\"":
            if self.text.startswith(quote, self.at):
                end = self.text.find(quote, self.at + 1)
                if end < 0:
                    raise self.error("a quotation that does not end")
                inside, self.at = self.text[self.at + 1 : end], end + 1
                return inside
        word = self.word()
        if not self.take("("):
            return literal(word)
        settings: dict[str, Any] = {}
        while not self.take(")"):
            if settings and not self.take(","):
                raise self.error("',' or ')' is missing")
            key = self.word()
            if not self.take("="):
                raise self.error(f"'=' is missing after {key!r}")
            if key in settings:
                raise self.error(f"{key!r} is set twice")
            settings[key] = self.value(level + 1)
        return Spec(word, settings)


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
        if isinstance(value, Spec) and not value.settings and kind is str:
            value = value.name
        if self.choices:
            good = any(value == choice and isinstance(value, bool) == isinstance(choice, bool)
                       for choice in self.choices)
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
            raise SpecError(f"{owner}: {name}={_shortened(write(value))} is not allowed; {name} is {self.allowed}"
                            + (nearest(value, map(write, self.choices)) if self.choices else ""))
        return value


def check(owner: str, params: Mapping[str, Param], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter in declared order: the given ones checked, the others by default."""
    for key in settings:
        if key not in params:
            there = ", ".join(params) if params else "none"
            raise SpecError(f"{owner} has no parameter {key!r}; its parameters are {there}{nearest(key, params)}")
    return {name: param.check(owner, name, settings[name]) if name in settings else param.default
            for name, param in params.items()}


def find(kind: str, name: str, known: Iterable[str]) -> str:
    """`name` if it is known, else an error that lists what is and guesses what was meant."""
    names = list(known)
    if name in names:
        return name
    raise SpecError(f"there is no {kind} {name!r}; there are {', '.join(sorted(names))}{nearest(name, names)}")
