"""The lint of our notebooks: every rule on their shape that can be checked is."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from gamekit.notebook.parameters import declared
from gamekit.notebook.runner import promised
from gamekit.notebook.suite import NOTEBOOKS, profiles

ALL = sorted(NOTEBOOKS.glob("[0-9]*_*.ipynb"))
NAMES = [
    "00_start_here",
    "10_conga",
    "20_candy",
    "30_connect_k",
    "40_mnk",
    "50_connect_four",
    "60_search",
    "70_heuristics",
    "80_claims",
    "90_lab",
]
EXPERIMENTS = [path for path in ALL if path.stem in NAMES[1:8]]
REPORTS = [path for path in ALL if path.stem in NAMES[1:9]]  # a lab defines things, and a tour need not find any


def cells(path: Path, kind: str) -> list[dict]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


def source(cell: dict) -> str:
    return "".join(cell["source"])


def test_the_ten_notebooks_are_there():
    assert [path.stem for path in ALL] == NAMES


@pytest.mark.parametrize("path", ALL, ids=lambda p: p.stem)
def test_parameters_first_then_validation(path):
    first, second = cells(path, "code")[:2]
    assert first["metadata"].get("tags") == ["parameters"]
    for one in declared(path).values():
        assert one.about, f"{one.name} has no comment"
        assert one.check(path.stem, one.default) == one.default, f"the default of {one.name} is outside its own range"
    assert "begin(" in source(second), "the second code cell validates the parameters"


@pytest.mark.parametrize("path", ALL, ids=lambda p: p.stem)
def test_no_outputs_and_a_title(path):
    for cell in cells(path, "code"):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
    assert source(cells(path, "markdown")[0]).startswith("# ")


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda p: p.stem)
def test_the_experiment_is_in_the_cells(path):
    """Each experiment notebook measures by itself, in the package's general verbs, and keeps what it measured."""
    code = "\n".join(map(source, cells(path, "code")))
    called = {ast.unparse(node.func) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)}
    assert called & {"gk.sweep", "gk.searches", "gk.accuracy", "gk.values"}
    assert "report.folder" in called
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("gamekit"):
            assert node.module == "gamekit.notebook", f"{node.module} is no verb of the package"
    assert "interval(" not in code, "intervals come from the summaries"


@pytest.mark.parametrize("path", ALL, ids=lambda p: p.stem)
def test_no_cell_changes_a_parameter(path):
    names = set(declared(path))
    for cell in cells(path, "code")[1:]:
        for node in ast.walk(ast.parse(source(cell))):
            assert not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names), node.id
            assert not (isinstance(node, ast.arg) and node.arg in names), node.arg


@pytest.mark.parametrize("path", REPORTS, ids=lambda p: p.stem)
def test_the_story_has_its_parts(path):
    text = "\n".join(source(cell) for cell in cells(path, "markdown"))
    assert "**The question.**" in text
    assert re.search(r"\*\*The (rules|method)\.\*\*", text)
    headings = re.findall(r"^## (.+)$", text, re.M)
    assert headings[-2:] == ["Findings", "Limits"]
    assert "findings.json" in promised(path)
    assert any(name.startswith("tables/") for name in promised(path))
    assert any(name.startswith("figures/") for name in promised(path))


@pytest.mark.parametrize("path", REPORTS, ids=lambda p: p.stem)
def test_prose_has_no_number_that_a_table_should_give(path):
    """Percentages in markdown are quoted from a report; our own come out of code."""
    for cell in cells(path, "markdown"):
        for found in re.findall(r"(\d[\d.,]*) ?%", source(cell)):
            assert found in {"81", "79", "65", "95"}, f"{found} % stands in prose"


@pytest.mark.parametrize("path", REPORTS, ids=lambda p: p.stem)
def test_every_promise_is_made_once(path):
    files = promised(path)
    assert len(files) == len(set(files))


@pytest.mark.parametrize("name", [path.stem for path in ALL])
def test_profiles_name_parameters_and_allowed_values(name):
    allowed = declared(NOTEBOOKS / f"{name}.ipynb")
    for profile, sizes in profiles()["profiles"].items():
        for key, value in (sizes.get(name) or {}).items():
            assert allowed[key].check(name, value) == value, f"{profile}: {key}"
    assert not profiles()["profiles"]["quick"], "the quick profile is the notebooks' own defaults"
