"""Where the project's files are, and what `data/` holds."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ..errors import GamekitError

ROOT = Path(__file__).resolve().parents[1]
DATA, NOTEBOOKS = ROOT / "data", ROOT / "notebooks"


@cache
def data_file(name: str) -> Any:
    """A file of `data/`, read once; its absence is said with its name."""
    path = DATA / name
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise GamekitError(f"data file data/{name} is missing; the reports' numbers and claims are kept there"
                           ) from None
    except yaml.YAMLError as error:
        raise GamekitError(f"data file data/{name} cannot be read: {error}") from None
