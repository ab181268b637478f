"""All notebooks of a profile, one notebook with given parameters, or a grid of them; checked before anything runs."""

from __future__ import annotations

import hashlib
import itertools
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ..errors import nearest
from . import site
from .data import NOTEBOOKS, RESULTS, ROOT
from .parameters import ParameterError, check, declared
from .report import shown_path
from .runner import Result, Run, execute_all

# ------------------------------------------------------------------------------- profiles


def profiles() -> dict[str, Any]:
    """All sizes in one place: `gamekit/notebook/profiles.yaml`."""
    return yaml.safe_load((Path(__file__).parent / "profiles.yaml").read_text(encoding="utf-8"))


def plan(profile: str, only: str | Sequence[str] | None = None) -> list[Run]:
    """The runs of a profile, long ones first; `only` names notebooks by name or number."""
    known = profiles()
    if profile not in known["profiles"]:
        raise ParameterError(
            f"profile {profile!r} is not known; allowed: {', '.join(known['profiles'])}"
            + nearest(profile, known["profiles"])
        )
    names = [path.stem for path in sorted(NOTEBOOKS.glob("[0-9]*_*.ipynb"))]
    chosen = names if not only else [_named(one, names) for one in ([only] if isinstance(only, str) else only)]
    home = RESULTS / profile
    order = {name: i for i, name in enumerate(known["order"])}
    runs = []
    for name in sorted(chosen, key=lambda n: order.get(n, -1)):
        given = dict(known["profiles"][profile].get(name) or {})
        allowed = declared(NOTEBOOKS / f"{name}.ipynb")
        needs = tuple(home / need for need in known["needs"].get(name, ()))
        runs.append(Run(NOTEBOOKS / f"{name}.ipynb", check(name, allowed, given), home / name, needs))
    return runs


def _named(wanted: str, names: Sequence[str]) -> str:
    stem = Path(wanted).stem
    for name in names:
        if stem == name or stem == name.split("_")[0] or stem == name.split("_", 1)[1]:
            return name
    raise ParameterError(f"there is no notebook {wanted!r}; there are {', '.join(names)}{nearest(stem, names)}")


def say_failures(results: Iterable[Result]) -> int:
    """Every failure with its cell and error; 1 if there was one."""
    failed = [result for result in results if result.error]
    for result in failed:
        print(f"failed: {result.error}", file=sys.stderr)
    return 1 if failed else 0


def report(profile: str = "quick", only: str | Sequence[str] | None = None, workers: int | None = None) -> int:
    """All notebooks of a profile and the site; 0 when all is well, 1 when a notebook failed."""
    started = time.monotonic()
    results = execute_all(plan(profile, only), workers)
    index = site.build(RESULTS / profile, RESULTS / "site", profile)
    code = say_failures(results)
    fresh = sum(result.fresh for result in results)
    print(
        f"{fresh} of {len(results)} notebooks run, {len(results) - fresh} unchanged, "
        f"{time.monotonic() - started:.1f} s; open {shown_path(index)}"
    )
    return code


# ------------------------------------------------------------------------------ one's own


def run_notebook(
    notebook: str,
    given: Mapping[str, Any],
    grid: Mapping[str, Sequence[Any]] | None = None,
    out: str | Path | None = None,
    workers: int | None = None,
) -> int:
    """One notebook with parameters of one's own; with `grid` one run a combination, collected into one folder."""
    path = Path(notebook)
    if not path.is_file():
        path = NOTEBOOKS / f"{_named(notebook, [p.stem for p in sorted(NOTEBOOKS.glob('*.ipynb'))])}.ipynb"
    allowed = declared(path)
    unknown = [name for name in (*given, *(grid or {})) if name not in allowed]
    if unknown:
        check(path.stem, allowed, dict.fromkeys(unknown))
    fixed = {
        k: allowed[k].read(path.stem, v) if isinstance(v, str) else allowed[k].check(path.stem, v)
        for k, v in given.items()
    }
    twice = [name for name in grid or {} if name in fixed]
    if twice:
        raise ParameterError(f"{path.stem}: {twice[0]} is given both as a parameter and as a grid; give it once")
    points = [
        dict(zip(grid or {}, values, strict=True))
        for values in itertools.product(
            *(
                [
                    allowed[k].read(path.stem, v) if isinstance(v, str) else allowed[k].check(path.stem, v)
                    for v in values
                ]
                for k, values in (grid or {}).items()
            )
        )
    ]
    base = Path(out) if out else RESULTS / "runs" / path.stem
    base = base if base.is_absolute() else ROOT / base
    runs = [
        Run(path, fixed | point, base / ("run" if not point else ",".join(f"{k}={_word(v)}" for k, v in point.items())))
        for point in points
    ]
    if len({run.home for run in runs}) < len(runs):
        raise ParameterError(f"{path.stem}: the grid names the same values twice")
    results = execute_all(runs, workers)
    code = say_failures(results)
    if grid:
        collect(base, [(point, r.run.home) for point, r in zip(points, results, strict=True) if not r.error])
    where = base if grid else runs[0].home
    print(f"{sum(not r.error for r in results)} of {len(results)} runs complete; see {shown_path(where)}")
    return code


def _word(value: Any) -> str:
    """A value as a part of a folder's name."""
    text = "+".join(map(str, value)) if isinstance(value, list) else str(value)
    short = "".join(c if c.isalnum() or c in "._-+=" else "_" for c in text)
    return short if len(short) <= 60 else short[:50] + hashlib.sha256(text.encode()).hexdigest()[:8]


def collect(base: Path, runs: Sequence[tuple[Mapping[str, Any], Path]]) -> None:
    """The tables of all runs of a grid in one, with a column a grid parameter; their figures side by side."""
    import pandas as pd

    frames: dict[str, list[Any]] = {}
    figures: list[tuple[str, str]] = []
    for point, home in runs:
        for table in sorted((home / "tables").glob("*.csv")):
            frame = pd.read_csv(table, dtype=str, keep_default_na=False)
            for at, (name, value) in enumerate(point.items()):
                frame.insert(at, f"{name}" if name not in frame else f"grid_{name}", str(value))
            frames.setdefault(table.name, []).append(frame)
        figures += [
            (home.name, f"{home.name}/figures/{path.name}") for path in sorted((home / "figures").glob("*.svg"))
        ]
    (base / "tables").mkdir(parents=True, exist_ok=True)
    for name, parts in frames.items():
        part = base / "tables" / f".{name}.part"
        pd.concat(parts, ignore_index=True).to_csv(part, index=False, lineterminator="\n")
        os.replace(part, base / "tables" / name)
    site.contact_sheet(base / "index.html", base.name, figures, sorted(frames))
