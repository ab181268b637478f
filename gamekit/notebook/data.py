"""Where the project's files are, and what the five reports printed (`data/reports.yaml`)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ..errors import GamekitError, nearest

ROOT = Path(__file__).resolve().parents[2]
DATA, NOTEBOOKS, RESULTS = ROOT / "data", ROOT / "notebooks", ROOT / "results"


class Printed(dict):
    """A mapping whose values can be read as attributes: `printed("000", "sample").moves`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no {name!r} here; available: {', '.join(self)}{nearest(name, self)}") from None


@cache
def data_file(name: str) -> Any:
    """The content of a YAML file in `data/`, read once."""
    try:
        return yaml.safe_load((DATA / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise GamekitError(f"data/{name} is missing; it holds what the reports printed or claim") from None
    except yaml.YAMLError as error:
        raise GamekitError(f"data/{name} cannot be read: {error}") from None


def printed(report: str, part: str) -> Any:
    """What a report printed.

    Args:
        report: the report's number, "000" to "004".
        part: a part of it in `data/reports.yaml`, for example "heuristics".
    Returns:
        A DataFrame for a list of rows (without the report's own spelling of names, `printed_name`), a mapping with
        attributes for a mapping, otherwise the plain value. Rates are fractions.

    >>> printed("000", "sample").turns, list(printed("000", "heuristics").columns)
    (18, ['heuristic', 'win_rate', 'turns'])
    """
    reports = data_file("reports.yaml")
    if report not in reports:
        raise GamekitError(f"data/reports.yaml has no report {report!r}; available: {', '.join(reports)}")
    if part not in reports[report]:
        available = ", ".join(reports[report])
        raise GamekitError(f"report {report} has no {part!r}; available: {available}{nearest(part, reports[report])}")
    return _shaped(reports[report][part])


def _shaped(value: Any) -> Any:
    """A fresh copy, with rows as frames and mappings as `Printed`."""
    if isinstance(value, dict):
        return Printed({name: _shaped(one) for name, one in value.items()})
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        import pandas as pd

        return pd.DataFrame(value).drop(columns="printed_name", errors="ignore")
    return [_shaped(one) for one in value] if isinstance(value, list) else value
