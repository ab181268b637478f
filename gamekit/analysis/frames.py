"""Columns of a frame, checked: what summaries read is there, and holds what it should."""

from __future__ import annotations

from collections.abc import Iterable
from math import nan

import numpy as np
import pandas as pd

from ..errors import GamekitError, nearest


def need(frame: pd.DataFrame, columns: Iterable[str]) -> None:
    """Refuse a frame without these columns, or without rows."""
    for column in columns:
        if column not in frame:
            hint = nearest(column, map(str, frame)) or f"; the frame has {', '.join(map(str, frame))}"
            raise GamekitError(f"column {column!r} is missing{hint}")
    if not len(frame):
        raise GamekitError("the frame has no rows")


def codes_of(frame: pd.DataFrame, columns: list[str]) -> np.ndarray:
    """The number of each row's group, by first appearance."""
    if not columns:
        return np.zeros(len(frame), int)
    return frame.groupby(columns, dropna=False, observed=True, sort=False).ngroup().to_numpy()


def numbers(frame: pd.DataFrame, column: str) -> np.ndarray:
    """A column as floats, NaN where a value is missing."""
    try:
        return frame[column].astype(object).to_numpy(float, na_value=nan)
    except (TypeError, ValueError) as error:
        raise GamekitError(f"column {column!r} does not hold numbers") from error


def flags(frame: pd.DataFrame, column: str) -> np.ndarray:
    """A yes/no column, missing values as no."""
    return frame[column].fillna(False).to_numpy(bool)
