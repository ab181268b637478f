"""A frame as CSV for programs, with plain numbers in full, and as HTML for people."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Collection, Iterable
from typing import Any

import pandas as pd
from pandas.api import types

from ..errors import GamekitError

# A column of fractions whose name ends in one of these words is shown in percent.
RATES = {"rate", "rates", "share", "shares", "points", "score", "kept", "exact", "los"}
LOW, HIGH, PRINTED = "_low", "_high", "_printed"
THIN, MINUS = "\u2009", "−"


def flat(frame: pd.DataFrame | pd.Series) -> pd.DataFrame:
    """The frame with text as column names, an index that says something as columns, and whole numbers as integers."""
    frame = frame.to_frame() if isinstance(frame, pd.Series) else frame
    numbered = frame.index.nlevels == 1 and frame.index.name is None and types.is_integer_dtype(frame.index.dtype)
    levels = list(frame.columns.names)
    frame = frame.reset_index(drop=numbered)
    frame.columns = pd.Index([_name(c if isinstance(c, tuple) else (c,), levels) for c in frame.columns])
    if not frame.columns.is_unique:
        raise GamekitError(f"a table has two columns {frame.columns[frame.columns.duplicated()][0]!r}; rename one")
    whole = [c for c in frame if types.is_float_dtype(frame[c].dtype) and not _is_rate(frame, c) and _whole(frame[c])]
    return frame.astype(dict.fromkeys(whole, "Int64"))


def _name(parts: tuple[Any, ...], levels: list[Any]) -> str:
    """A column of a pivot as `depth 3 win_rate`: the value's name last, so that intervals are found."""
    named = zip(parts, levels, strict=False)
    words = [f"{level} {one}" if level and not isinstance(one, str) else str(one) for one, level in named]
    return " ".join(word for word in reversed(words) if word)


def _whole(column: pd.Series) -> bool:
    known = column.dropna()
    return len(known) > 0 and all(float(x).is_integer() and abs(x) < 2**53 for x in known)


def csv_text(frame: pd.DataFrame) -> str:
    """A flat frame as CSV: six significant digits, never an exponent for a large number."""
    mixed = [c for c in frame if not types.is_numeric_dtype(frame[c].dtype)]
    plain = frame.assign(**{c: frame[c].astype(object).map(lambda x: _plain(x) if _number(x) else x) for c in mixed})
    return plain.to_csv(index=False, float_format=_plain, lineterminator="\n")


def _plain(x: Any) -> str:
    return f"{x:.0f}" if not isinstance(x, float) or 1e6 <= abs(x) < 1e15 else f"{x:.6g}"


def numeric_text(frame: pd.DataFrame) -> list[str]:
    """Text columns that look like numbers (moves such as 1414111414): a reader has to be told that they are text."""
    found = (c for c in frame if any(isinstance(x, str) for x in frame[c]))
    return [c for c in found if pd.to_numeric(frame[c].astype(object), errors="coerce").notna().any()]


# -------------------------------------------------------------------------------------------- HTML


def html_table(frame: pd.DataFrame, title: str, note: str = "", percent: Collection[str] = ()) -> str:
    """A flat frame as an HTML table.

    Args:
        title: the caption.
        note: a line below the table.
        percent: further columns that hold fractions.
    Returns:
        The table: an interval stands beside its value, a printed number in the column after it; rates in percent,
        thousands apart, headers in words, everything escaped.
    """
    columns = []
    for name in frame:
        base, end = _split(name)
        if end and base in frame and (end == PRINTED or {base + LOW, base + HIGH} <= {*frame}):
            continue  # shown with its value
        shown = _texts(frame, name, percent)
        columns.append((name, shown, _numeric(frame[name])))
        if name + PRINTED in frame:
            columns.append(("printed", _texts(frame, name, percent, PRINTED), _numeric(frame[name + PRINTED])))
    style = {True: "class=num style='text-align:right;white-space:nowrap'", False: "style='text-align:left'"}
    head = "".join(f"<th {style[right]}>{html.escape(name.replace('_', ' '))}</th>" for name, _, right in columns)
    cells = [[f"<td {style[right]}>{_escaped(text)}</td>" for text in shown] for _, shown, right in columns]
    rows = zip(*cells, strict=True)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    caption = f"<caption style='text-align:left;font-weight:bold'>{html.escape(title)}</caption>"
    foot = f"<p class=note>{html.escape(note)}</p>" if note else ""
    return f"<div class=table><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{foot}"


def _split(name: str) -> tuple[str, str]:
    end = next((end for end in (LOW, HIGH, PRINTED) if name.endswith(end)), "")
    return name.removesuffix(end), end


def _escaped(text: str) -> str:
    lines = html.escape(text)
    return f"<span style='white-space:pre;font-family:monospace'>{lines}</span>" if "\n" in lines else lines


def _numeric(column: pd.Series) -> bool:
    return all(_number(x) or _missing(x) for x in column) and any(_number(x) for x in column)


def _number(x: Any) -> bool:
    return types.is_number(x) and not types.is_bool(x) and not _missing(x)


def _missing(x: Any) -> bool:
    return x is None or (types.is_scalar(x) and bool(pd.isna(x)))


def _is_rate(frame: pd.DataFrame, name: str, percent: Collection[str] = ()) -> bool:
    """Whether a column holds fractions to be shown in percent; its interval and printed number go with it."""
    base = _split(name)[0]
    if base in percent:
        return True
    named = any(word.rsplit("_", 1)[-1] in RATES for word in base.split())
    if not named or base not in frame or not types.is_float_dtype(frame[base].dtype):
        return False
    return all(0 <= x <= 1 for x in _known(frame, base))


def _known(frame: pd.DataFrame, base: str) -> list[float]:
    group = (frame[base + end] for end in ("", LOW, HIGH, PRINTED) if base + end in frame)
    return [float(x) for column in group for x in column if _number(x)]


def _texts(frame: pd.DataFrame, base: str, percent: Collection[str], end: str = "") -> list[str]:
    """The cells of a column, each with its interval if it has one."""
    rate, digits = _is_rate(frame, base, percent), _digits(_known(frame, base))

    def one(x: Any, unit: bool = True) -> str:
        if not _number(x):
            return _words(x)
        return (_percent(float(x)) + " %" * unit) if rate else number(x, digits)

    shown = [one(x) for x in frame[base + end]]
    if end or not {base + LOW, base + HIGH} <= {*frame}:
        return shown
    for i, (text, low, high) in enumerate(zip(shown, frame[base + LOW], frame[base + HIGH], strict=True)):
        if _number(low) and _number(high):
            shown[i] = f"{text} [{one(low, False)}, {one(high, False)}]"
        elif not _missing(frame[base].iloc[i]):
            shown[i] = f"{text}, no interval"
    return shown


def _words(x: Any) -> str:
    if isinstance(x, (list, tuple)):
        return ", ".join(_words(one) if not _number(one) else number(one, _digits([one])) for one in x)
    if _missing(x):
        return "–"
    return ("yes" if x else "no") if types.is_bool(x) else str(x)


def _percent(x: float) -> str:
    """One decimal; a second one where a rate that is not 0 or 100 would look as if it were."""
    text = f"{100 * x:.1f}"
    return _signed(f"{100 * x:.2f}" if text in ("0.0", "100.0") and x not in (0, 1) else text)


def _digits(values: Iterable[float]) -> int:
    """Digits after the point that a column needs: fewer for large numbers, none for whole ones."""
    values = [abs(float(x)) for x in values if math.isfinite(x)]
    top = max(values, default=0.0)
    most = 0 if top >= 1000 else 1 if top >= 10 else 2 if top >= 1 else 3
    return next(d for d in range(most + 1) if d == most or all(abs(x - round(x, d)) < 1e-9 for x in values))


def number(x: float, digits: int = 0) -> str:
    """A number for people: thousands apart from 10 000 on, no exponent, no -0.

    >>> number(1331590.4), number(-0.0), number(0.0123, 1), number(2000)
    ('1\u2009331\u2009590', '0', '0.012', '2000')
    """
    if not math.isfinite(x):
        return f"{MINUS if x < 0 else ''}∞"
    if isinstance(x, float) and x and abs(x) < 10:  # at least two significant digits
        digits = max(digits, min(1 - math.floor(math.log10(abs(x))), 9) if not x.is_integer() else 0)
    text = f"{x:,.{digits}f}" if abs(x) >= 10_000 else f"{x:.{digits}f}"
    return _signed(text.replace(",", THIN))


def _signed(text: str) -> str:
    return text.lstrip("-") if not re.search("[1-9]", text) else text.replace("-", MINUS)
