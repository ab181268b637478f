"""The project's own files: dependencies, commands, paths, the one-way flow of imports, docstrings, examples."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import re
import subprocess
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import yaml

import gamekit as gk
from gamekit.cli import build

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "gamekit"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = sorted(PACKAGE.rglob("*.py"))


# -------------------------------------------------------------------------------------- dependencies


def _extras(text):
    """The extras in `-e .[a,b]` or `EXTRAS := a,b`."""
    found = re.search(r"\.\[([^\]]+)\]|^EXTRAS\s*:?=\s*(\S+)", text, re.MULTILINE)
    return set((found[1] or found[2]).split(","))


def test_environment_yml_asks_for_what_pyproject_declares():
    asked = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    declared = set(PYPROJECT["project"]["optional-dependencies"])
    assert asked["name"] == PYPROJECT["project"]["name"]
    pip = next(item["pip"] for item in asked["dependencies"] if isinstance(item, dict))
    assert _extras(" ".join(pip)) == declared - {"bench"} == _extras(MAKEFILE)
    assert f"python{PYPROJECT['project']['requires-python']}" in asked["dependencies"]


def test_the_lock_has_hashes_and_no_addresses():
    assert not re.search(r"https?:|git\+|file:|--index-url|--extra-index|--find-links|--trusted-host|@ ", LOCK)
    pinned = [block for block in re.split(r"\n(?=\S)", LOCK) if block.strip() and not block.startswith("#")]
    assert len(pinned) > 20
    for block in pinned:
        assert re.match(r"[A-Za-z0-9._-]+(\[[^\]]+\])?==[^\s]+", block), block[:80]
        assert "--hash=sha256:" in block, block[:80]


def test_everything_pyproject_asks_for_is_in_the_lock():
    project = PYPROJECT["project"]
    asked = project["dependencies"] + [
        line for name, extra in project["optional-dependencies"].items() if name != "bench" for line in extra
    ]

    def plain(name):
        return re.sub(r"[-_.]+", "-", re.match(r"[A-Za-z0-9._-]+", name)[0]).lower()

    locked = {plain(line) for line in LOCK.splitlines() if line[:1].isalnum()}
    assert {plain(line) for line in asked} <= locked


# ------------------------------------------------------------------------------------------ commands


def test_the_makefile_has_every_target_that_is_promised():
    targets = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))
    assert {"setup", "test", "report", "lab", "bench", "lint", "lock"} <= targets
    told = set(re.findall(r"^\s*make ([a-z-]+)", README, re.MULTILINE)) | set(re.findall(r"`make ([a-z-]+)`", README))
    assert {"report", "test"} <= told <= targets
    for target in ("test", "report", "lab", "bench", "lint"):
        assert re.search(rf"^{target}:.*\bsetup\b", MAKEFILE, re.MULTILINE), f"{target} sets up what it needs"


def test_every_command_the_readme_shows_exists():
    known = next(action.choices for action in build()._actions if hasattr(action, "choices") and action.choices)
    shown = {
        word
        for line in re.findall(r"^gamekit (.+)$", README, re.MULTILINE)
        for word in re.match(r"[a-z |]+", line)[0].split(" | ")
    }
    shown = {word.split()[0] for word in shown if word.strip()}
    assert shown
    assert shown <= set(known)


def test_ci_runs_the_tests():
    run = ROOT / ".ci" / "run"
    assert "make test" in run.read_text(encoding="utf-8")
    assert run.stat().st_mode & 0o111


def test_the_licence_is_mit_and_the_version_is_one():
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
    assert PYPROJECT["project"]["version"] == gk.__version__
    assert (ROOT / "CHANGELOG.md").is_file()


# ---------------------------------------------------------------------------------------------- files


def _tracked():
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, timeout=30).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()]


def test_no_tracked_file_names_a_place_on_somebody_s_machine():
    place = re.compile(r"/home/\w+/|/Users/\w+/|/root/|/work/|/tmp/\w|[A-Z]:\\\\?Users")
    found = []
    for file in _tracked():
        if file.suffix in (".png", ".svg", ".parquet", ".gz", ".ico", ".woff2", ".sqlite", ".lock") or file == Path(
            __file__
        ):
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if place.search(line):
                found.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert not found, "\n".join(found)


def test_no_tracked_file_is_generated_or_private():
    for file in _tracked():
        name = str(file.relative_to(ROOT))
        assert not re.search(r"__pycache__|\.pyc$|\.egg-info|\.ipynb_checkpoints|^\.venv|\.DS_Store|~$", name), name


# -------------------------------------------------------------------------------------------- imports

CHAIN = [
    "compiled",
    "core",
    "specs",
    "games",
    "heuristics",
    "engine",
    "players",
    "match",
    "sweep",
]  # an import only goes to the left
BACK = {("players", "agents")}  # the reports' agents register themselves when players are loaded
GAMELESS = [
    "workspace",
    "kernel",
    "walk",
    "table",
    "order",
    "deepen",
    "duel",
    "montecarlo",
    "perft",
]  # engine rooms that know no game and no heuristic


def _imports(file, lazy=False):
    """The package's own modules that a file imports when loaded, as dotted names without `gamekit.`."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    inside = list(file.relative_to(PACKAGE).with_suffix("").parts)
    package = inside[:-1]
    nodes = ast.walk(tree) if lazy else tree.body
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            if node.level:
                base = package[: len(package) - node.level + 1]
                path = base + (node.module.split(".") if node.module else [])
            elif node.module and node.module.split(".")[0] == "gamekit":
                path = node.module.split(".")[1:]
            else:
                continue
            names = [".".join([*path, alias.name]) for alias in node.names]
            for name in names:
                as_module = PACKAGE / (name.replace(".", "/") + ".py")
                yield name if as_module.is_file() or (PACKAGE / name.replace(".", "/")).is_dir() else ".".join(path)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("gamekit."):
                    yield alias.name.removeprefix("gamekit.")


def _room(dotted):
    return dotted.split(".")[0]


def test_imports_between_rooms_flow_one_way():
    flow = {}
    for file in MODULES:
        room = _room(".".join(file.relative_to(PACKAGE).with_suffix("").parts))
        if room in ("__init__", "cli"):
            continue
        flow.setdefault(room, set()).update(_room(name) for name in _imports(file) if name and _room(name) != room)
    for room, needed in flow.items():
        needed -= {other for here, other in BACK if here == room}
        needed -= {"__init__"}
    TopologicalSorter(flow).prepare()  # raises on a circle, naming it


@pytest.mark.parametrize("room", CHAIN)
def test_no_room_of_the_chain_imports_one_below_it(room):
    files = [PACKAGE / f"{room}.py"] if (PACKAGE / f"{room}.py").is_file() else sorted((PACKAGE / room).rglob("*.py"))
    below = set(CHAIN[CHAIN.index(room) + 1 :])
    for file in files:
        assert not {_room(name) for name in _imports(file, lazy=True) if name} & below, file.name


@pytest.mark.parametrize("name", GAMELESS)
def test_the_search_knows_no_game_and_no_heuristic(name):
    found = {_room(target) for target in _imports(PACKAGE / "engine" / f"{name}.py", lazy=True) if target}
    assert not found & {"games", "heuristics", "players", "agents"}


def test_the_judge_imports_nothing_of_the_package():
    assert "gamekit" not in "".join(
        line
        for line in (ROOT / "tests" / "plain_rules.py").read_text(encoding="utf-8").splitlines()
        if line.lstrip().startswith(("import", "from"))
    )


# ------------------------------------------------------------------------------- docstrings and examples


@pytest.mark.parametrize("file", MODULES, ids=[str(f.relative_to(PACKAGE)) for f in MODULES])
def test_every_module_says_its_duty_in_its_first_line(file):
    told = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    assert told, f"{file.name} has no docstring"
    assert len(told.splitlines()[0]) <= 120


def _names():
    return sorted(
        module.name for module in pkgutil.walk_packages(gk.__path__, "gamekit.") if not module.name.endswith("__main__")
    )


@pytest.mark.parametrize("name", _names())
def test_the_examples_in_docstrings_hold(name):
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert failed == 0
