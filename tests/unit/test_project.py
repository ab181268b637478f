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

HOUSE = (
    "jit errors specs core games heuristics search solvers players statistics matches experiments analysis drawing "
    "notebook widgets cli"
).split()  # a room imports only rooms before it, lazily or not
KNOWS_NO_GAME = ["workspace", "kernel", "inner_loop", "table", "ordering", "deepening", "montecarlo", "perft"]


def _modules():
    """Every module by dotted name without `gamekit.`, and what it imports of the package, lazily or not."""
    found = {}
    for file in MODULES:
        parts = list(file.relative_to(PACKAGE).with_suffix("").parts)
        package = parts[:-1]
        parts = package if parts[-1] == "__init__" else parts
        found[".".join(parts)] = set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] == "gamekit"):
                base = package[: len(package) - node.level + 1] if node.level else []
                path = [*base, *(node.module or "").split(".")][0 if node.level else 1 :]
                for alias in node.names:
                    name = [*filter(None, path), alias.name]
                    is_module = PACKAGE.joinpath(*name).with_suffix(".py").is_file() or PACKAGE.joinpath(*name).is_dir()
                    found[".".join(parts)].add(".".join(name if is_module else name[:-1]))
            elif isinstance(node, ast.Import):
                inside = [
                    alias.name.removeprefix("gamekit.") for alias in node.names if alias.name.startswith("gamekit.")
                ]
                found[".".join(parts)] |= set(inside)
    return found


IMPORTS = _modules()


def test_rooms_import_only_rooms_before_them():
    assert {name.split(".")[0] for name in IMPORTS if name} == set(HOUSE)
    wrong = [
        f"{name} imports {other}"
        for name, needed in IMPORTS.items()
        for other in needed
        if name and other and HOUSE.index(other.split(".")[0]) > HOUSE.index(name.split(".")[0])
    ]
    assert not wrong, "\n".join(wrong)


def test_no_module_imports_itself_in_a_circle():
    graph = {name: needed - {name, "", name.rpartition(".")[0]} for name, needed in IMPORTS.items() if name}
    TopologicalSorter(graph).prepare()  # raises on a circle, naming it


def test_the_package_reads_its_imports_as_this_test_does():
    """What a stored result depends on is read off the import lines; nothing may be overlooked there."""
    from gamekit.jit.source import imports

    for name, needed in IMPORTS.items():
        if name:
            assert {other for other in needed if other} <= {
                one.removeprefix("gamekit.") for one in imports(f"gamekit.{name}")
            }


@pytest.mark.parametrize("name", KNOWS_NO_GAME)
def test_the_search_knows_no_game_and_no_heuristic(name):
    assert not {other.split(".")[0] for other in IMPORTS[f"search.{name}"]} & {"games", "heuristics", "players"}


def test_the_package_is_small():
    lines = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in MODULES}
    assert max(lines.values()) <= 400, max(lines, key=lines.get)
    top = [file for file in MODULES if file.parent == PACKAGE and file.name not in ("__init__.py", "__main__.py")]
    assert len(top) <= 8


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
