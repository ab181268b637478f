"""What a notebook may be given: read off its parameters cell, and checked before and inside every run.

A parameters cell holds one literal a line, and what is allowed in brackets in front of its comment:

    depth: int = 3               # [1..8] plies to look ahead
    ties: str = "first"          # [first|random] among equal best moves
    heuristics: list = ["moves"] # [heuristic] evaluations to compare

A list's brackets speak of its elements. `game`, `player` and `heuristic` are specs of that kind.
"""

from __future__ import annotations

import ast
import io
import json
import math
import re
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import GamekitError, nearest

KINDS: dict[str, type] = {"int": int, "float": float, "str": str, "bool": bool, "list": list}
WORDS = {int: "a whole number", float: "a number", str: "a text", bool: "True or False", list: "a list"}
SHELL = {"In", "Out", "exit", "quit", "open", "get_ipython"}  # what IPython itself puts among the globals


class ParameterError(GamekitError):
    """A parameter that a notebook does not have, or a value it does not allow."""


@dataclass(frozen=True)
class Declared:
    """One line of a parameters cell."""

    name: str
    kind: type
    default: Any
    allowed: str = ""
    about: str = ""

    @property
    def element(self) -> type:
        """The type of a list's elements, told by the default."""
        return type(self.default[0]) if self.kind is list and self.default else self.kind

    def check(self, owner: str, value: Any) -> Any:
        """The value, a whole number made a float where one is wanted; refused unless allowed."""
        if self.kind is not list:
            return self._one(owner, value)
        if not isinstance(value, (list, tuple)) or not value:
            raise ParameterError(
                f"{owner}: {self.name}={value!r} is not allowed; {self.name} is a list with at least one element"
            )
        return [self._one(owner, one) for one in value]

    def _one(self, owner: str, value: Any) -> Any:
        kind = self.element
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        good = type(value) is kind or kind is list
        if good and kind is float:
            good = math.isfinite(value)
        if not good or not self._fits(owner, value):
            hint = nearest(value, self.allowed.split("|")) if "|" in self.allowed else ""
            raise ParameterError(f"{owner}: {self.name}={value!r} is not allowed; {self._wanted(kind)}{hint}")
        return value

    def _wanted(self, kind: type) -> str:
        each = f"each element of {self.name}" if self.kind is list else self.name
        if "|" in self.allowed:
            return f"{each} is one of {', '.join(self.allowed.split('|'))}"
        low, dots, high = self.allowed.partition("..")
        span = f" from {low}" + (f" to {high}" if high else " up") if dots else ""
        return f"{each} is {WORDS.get(kind, kind.__name__)}{span}"

    def _fits(self, owner: str, value: Any) -> bool:
        if self.allowed in ("game", "player", "heuristic"):
            return _known(owner, self.name, self.allowed, value)
        if "|" in self.allowed:
            return str(value) in self.allowed.split("|")
        low, dots, high = self.allowed.partition("..")
        return not dots or ((not low or value >= float(low)) and (not high or value <= float(high)))

    def read(self, owner: str, text: str) -> Any:
        """A value typed at the command line; lists are separated by commas outside brackets."""
        if self.kind is list:
            inside = text.strip()
            inside = inside[1:-1] if inside.startswith("[") and inside.endswith("]") else inside
            return self.check(owner, [_literal(part, self.element) for part in split(inside)])
        return self.check(owner, _literal(text, self.kind))


def _known(owner: str, name: str, kind: str, value: str) -> bool:
    """Does a spec name something that exists, with parameters that are allowed?"""
    from ..games import game
    from ..heuristics import HEURISTICS
    from ..players import player
    from ..specs import SpecError, find, parse

    try:
        if kind == "heuristic":
            find("heuristic", parse(value).name, sorted({name for _, name in HEURISTICS}))
        else:
            (game if kind == "game" else player)(value)
    except (SpecError, GamekitError) as error:
        raise ParameterError(f"{owner}: {name}={value!r} is not allowed; {error}") from None
    return True


def split(text: str) -> list[str]:
    """Cut at commas that stand outside brackets.

    >>> split("random, alphabeta(depth=2,heuristic=moves)")
    ['random', 'alphabeta(depth=2,heuristic=moves)']
    >>> split("[1,2],[3]")
    ['[1,2]', '[3]']
    """
    return [part.strip().strip("'\"") for part in re.split(r",(?![^()\[\]]*[)\]])", text) if part.strip()]


def _literal(text: str, kind: type) -> Any:
    """Typed text in its type; text that is not of that type stays text, and is refused by name later."""
    words = {"true": True, "on": True, "false": False, "off": False}
    try:
        if kind is bool:
            return words.get(text.strip().lower(), text)
        return kind(text) if kind in (int, float) else text
    except ValueError:
        return text


def declared(notebook: Path) -> dict[str, Declared]:
    """What the parameters cell of a notebook declares, in order."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    tagged = [c for c in cells if "parameters" in c.get("metadata", {}).get("tags", [])]
    if len(tagged) != 1:
        raise ParameterError(
            f"{notebook.name} has {len(tagged)} cells tagged 'parameters'; a notebook to be run has one"
        )
    return read_cell(notebook.stem, "".join(tagged[0]["source"]))


def read_cell(owner: str, source: str) -> dict[str, Declared]:
    """The declarations of a parameters cell; anything but literals is refused."""
    comments = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    found = {}
    for line in ast.parse(source).body:
        plain = isinstance(line, ast.Assign)
        target = line.targets[0] if plain else getattr(line, "target", None)  # type: ignore[attr-defined]
        if not isinstance(target, ast.Name) or line.value is None:  # type: ignore[attr-defined]
            raise ParameterError(f"{owner}: line {line.lineno} of the parameters cell is no assignment of a literal")
        try:
            default = ast.literal_eval(line.value)  # type: ignore[attr-defined]
        except ValueError:
            raise ParameterError(f"{owner}: {target.id} is given no literal in the parameters cell") from None
        word = ast.unparse(line.annotation) if isinstance(line, ast.AnnAssign) else type(default).__name__
        rule = re.match(r"(?:\[([^\]]*)\]\s*)?(.*)", comments.get(line.end_lineno or line.lineno, ""))
        found[target.id] = Declared(
            target.id,
            KINDS.get(word.split("[")[0], type(default)),
            default,
            (rule[1] or "").strip() if rule else "",
            rule[2] if rule else "",
        )
    return found


def check(owner: str, allowed: Mapping[str, Declared], given: Mapping[str, Any]) -> dict[str, Any]:
    """The given parameters, checked by name, type and range."""
    for name in given:
        if name not in allowed:
            raise ParameterError(
                f"{owner} has no parameter {name!r}; its parameters are {', '.join(allowed)}" + nearest(name, allowed)
            )
    return {name: allowed[name].check(owner, value) for name, value in given.items()}


def check_globals(owner: str, allowed: Mapping[str, Declared], variables: Mapping[str, Any], strict: bool) -> None:
    """Check a running notebook's parameters among its globals.

    With `strict` a plain value under any other name is refused as a misspelt parameter.
    """
    given = {name: variables[name] for name in allowed if name in variables}
    if strict:
        plain = (int, float, str, bool, list, dict, tuple, type(None))
        given |= {
            name: value
            for name, value in variables.items()
            if isinstance(value, plain) and not name.startswith("_") and not name.isupper() and name not in SHELL
        }
    check(owner, allowed, given)
