"""Why an evaluation failed or cannot be compiled, in a sentence that names the heuristic and the line."""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core.errors import NumbaError

from ..core import Position
from ..errors import GamekitError, HeuristicError

# How lines begin that say nothing to someone who does not know Numba.
NOISE = (
    *("Failed in nopython", "During:", "Pass ", "raised from", "- Resolution", "There are", "File ", "Overload"),
    *("- Of which", "With argument", "Rejected as", "This error may"),
)


def failed(
    name: str, function: Callable, position: Position, ask: Callable[[], Any], error: Exception | None
) -> Exception:
    """What to raise where a compiled evaluation raised `error`, by asking (`ask`) once more in plain Python."""
    what = f"{type(error).__name__}: {error}" if error else "an error in compiled code"
    try:
        with np.errstate(all="raise"):
            answer = ask()
    except Exception as again:
        file, what = function.__code__.co_filename, f"{type(again).__name__}: {again}"
        here = [frame for frame in traceback.extract_tb(again.__traceback__) if frame.filename == file]
        if here:
            where = f"{_short(file)}, line {here[-1].lineno}: {here[-1].line}"
            return HeuristicError(f"heuristic {name!r} failed with {what} at {where}\nin the position\n{position}")
    else:
        if not isinstance(answer, (int, float, np.number)):
            told = f"heuristic {name!r} returned {answer!r}; a value is a number"
            return HeuristicError(f"{told}\nin the position\n{position}")
    # the evaluation does not fail here, so the rules did
    return GamekitError(f"the rules of {position.game.name} (or {name!r}) failed with {what}")


def no_number(name: str, position: Position, value: float) -> HeuristicError:
    """An evaluation returned something that the search cannot compare."""
    what = f"returned {value}; a value is a finite number below 1e11"
    return HeuristicError(f"heuristic {name!r} {what}\nin the position\n{position}")


def not_compiled(name: str, function: Callable, error: NumbaError) -> HeuristicError:
    """Numba's report → one sentence with the line."""
    code = function.__code__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = next((line for line in lines if not line.startswith(NOISE)), "".join(lines[:1]) or "unknown reason")
    numbers = re.findall(re.escape(code.co_filename.rsplit("/", 1)[-1]) + r".*?line (\d+)", str(error))
    line = int(numbers[-1]) if numbers else code.co_firstlineno
    where = f"{_short(code.co_filename)}, line {line}: {linecache.getline(code.co_filename, line).strip()}"
    advice = "use plain Python on numbers and arrays, and decorate functions it calls with @gk.helper"
    return HeuristicError(f"heuristic {name!r} cannot be compiled: {reason} ({where}); {advice}")


def _short(file: str) -> str:
    return "the cell" if "ipykernel" in file or file.startswith("<") else file.rsplit("/", 1)[-1]
