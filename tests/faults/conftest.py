"""What the fault tests share: sweeps in processes that may be killed, and what a folder holds afterwards."""

import itertools
import os
import re
import sys
import traceback
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def in_child(work):
    """Run `work` in a forked process; its exit code, or minus the signal that ended it."""
    pid = start_child(work)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def start_child(work):
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def products(folder):
    """Everything derived from the parts, byte by byte: the frame, tables, figures and the mark that it is complete."""
    kept = [folder / "games.parquet", folder / "done.json"]
    kept += [f for place in ("tables", "figures") if (folder / place).is_dir() for f in (folder / place).iterdir()]
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(kept) if f.exists()}


def parts(folder):
    """The parts by name: (group, first unit, unit after the last)."""
    found = {}
    for file in (folder / "parts").glob("*.parquet") if (folder / "parts").is_dir() else ():
        group, first, end = re.match(r"(\w+)\.(\d+)-(\d+)\.\w+\.parquet$", file.name).groups()
        found[file.name] = group, int(first), int(end)
    return found


def stored(folder):
    """How many games the parts hold; none twice."""
    spans = sorted(parts(folder).values())
    for (group, _, end), (following, first, _) in itertools.pairwise(spans):
        assert group != following or first >= end, f"games of {group} are stored twice"
    return sum(end - first for _, first, end in spans)


@pytest.fixture(scope="session")
def small():
    """A short sweep in eight parts: wins and loops, random and deterministic players."""
    return {
        "games": ["conga"],
        "players": ["alphabeta(depth={1,2})", "random", "leftmost"],
        "opponents": ["alphabeta(depth=1,ties=random)", "greedy"],
        "games_each": 4,
        "openings": 2,
        "seed": 3,
    }


@pytest.fixture(scope="session")
def sweep_file(small, tmp_path_factory):
    """The same sweep as a file, which leaves tables and figures too."""
    import yaml

    file = tmp_path_factory.mktemp("file") / "small.yaml"
    file.write_text(yaml.safe_dump(small))
    return file


@pytest.fixture(scope="session")
def expected(sweep_file, tmp_path_factory):
    """What that sweep leaves when nothing happens to it."""
    from gamekit.analysis.overview import run_file

    folder = tmp_path_factory.mktemp("expected") / "s"
    run_file(sweep_file, out=folder, workers=1)
    return folder
