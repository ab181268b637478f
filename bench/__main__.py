"""Measure gamekit beside C and beside its peers; tables and a figure in results/bench/.

Exit 0: every floor is held; 1: one is not, or two searches that must agree do not; 2: wrong use.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numba

from . import growth, peers, sweeps
from .beside_c import beside_c, compiler
from .measure import Row, cells, write_table

RESULTS = Path(__file__).resolve().parents[1] / "results" / "bench"
Section = Callable[[bool], Iterator[Row]]
SECTIONS: dict[str, tuple[Section, str]] = {
    "c": (lambda quick: beside_c(quick, {"c"}), "a user's heuristic beside C, five games"),
    "bits": (lambda quick: beside_c(quick, {"bits"}), "an evaluation on bits beside C"),
    "peers": (peers.peers, "the plain twin, open_spiel, aima3, easyAI"),
    "montecarlo": (peers.montecarlo, "random playouts beside pyspiel's C++"),
    "solver": (peers.solver, "exact Connect Four beside bitbully"),
    "scaling": (growth.scaling, "threads and workers"),
    "sweep": (sweeps.sweeps, "what a sweep costs beside its searches; a million games"),
    "growth": (growth.growth, "cost by depth and by board"),
    "startup": (growth.startup, "until a new process is ready"),
    "empty": (peers.empty_board, "the empty Connect Four board; minutes, only with --only"),
}


def about() -> str:
    """The machine and the tools, for a number means nothing without them."""
    models = [line.split(":", 1)[1].strip() for line in _read("/proc/cpuinfo") if line.startswith("model name")]
    processor = models[0] if models else platform.processor() or platform.machine()
    tool = "no gcc"
    if found := compiler():
        tool = subprocess.run([found, "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    return f"{processor}, Python {platform.python_version()}, numba {numba.__version__}, {tool}"


def _read(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def main(arguments: list[str] | None = None) -> int:
    listing = "\n".join(f"  {name:11} {what}" for name, (_, what) in SECTIONS.items())
    parser = argparse.ArgumentParser(
        "gamekit bench",
        description=__doc__,
        epilog=f"sections:\n{listing}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=list(SECTIONS),
        metavar="NAME",
        help="just this section, printed and not kept; may be given several times",
    )
    parser.add_argument("--quick", action="store_true", help="smaller trees, fewer rounds; floors are not judged")
    parser.add_argument("--out", type=Path, help="folder of table and figure (default: results/bench, full runs only)")
    options = parser.parse_args(arguments)
    wanted = options.only or [name for name in SECTIONS if name != "empty"]
    rows: list[Row] = []
    wrong = 0
    started = time.monotonic()
    print(about(), flush=True)
    for name in wanted:
        try:
            for row in SECTIONS[name][0](options.quick):
                if options.quick:
                    row.floor = row.aim = None  # the trees are too small to judge by
                rows.append(row)
                show(row)
        except AssertionError as error:
            wrong += 1
            print(f"WRONG  {error}", flush=True)
    failed = [row for row in rows if row.failed]
    folder = options.out or (RESULTS if not options.only and not options.quick else None)
    if folder:
        from .figure import draw  # here, for matplotlib takes a second

        folder.mkdir(parents=True, exist_ok=True)
        write_table(rows, folder, about())
        draw(rows, folder, about())
        print(f"table and figure in {folder}")
    spent = time.monotonic() - started
    print(f"{len(rows)} measurements in {spent:.0f} s, {len(failed)} beyond their floor, {wrong} wrong")
    for row in failed:
        print(f"  {row.what}: {cells(row)[2]}, floor {cells(row)[4]}")
    return 1 if wrong or failed else 0


def show(row: Row) -> None:
    group, what, result, _between, floor, aim, verdict, *_rest, note = cells(row)
    bounds = f"floor {floor}, aim {aim}" if floor and aim else f"floor {floor}" if floor else ""
    print(f"{group:10}  {what:62}  {result:>14}  {verdict:13} {bounds:28} {note}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
