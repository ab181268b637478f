"""Every example in the documents runs: README, CONTRIBUTING and the pages in docs."""

from __future__ import annotations

import doctest
import json
import re
import sqlite3
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest
import yaml

import gamekit as gk
from gamekit.analysis.overview import read_file
from gamekit.notebook import report
from gamekit.notebook.parameters import check, declared, read_cell
from gamekit.notebook.runner import promised

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PYTHON_OF = ["README.md", "CONTRIBUTING.md", "architecture.md"]  # documents with Python to run
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Block(NamedTuple):
    """A fenced block: its language, its first line's number, its text without the common indentation."""

    language: str
    line: int
    text: str


def blocks(document: Path) -> list[Block]:
    """The fenced blocks of a document in order."""
    text = document.read_text(encoding="utf-8")
    found = []
    for match in re.finditer(r"^( *)```(\w*)\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL):
        body = re.sub(rf"^{match[1]}", "", match[3], flags=re.MULTILINE)
        found.append(Block(match[2], text.count("\n", 0, match.start(3)) + 1, body))
    return found


def only(document: str, language: str, beginning: str = "") -> str:
    """The one block of a document in this language that begins so."""
    (found,) = [b.text for b in blocks(ROOT / document) if b.language == language and b.text.startswith(beginning)]
    return found


@pytest.fixture(autouse=True)
def _one_worker_in_an_empty_folder(monkeypatch, tmp_path):
    """Examples measure in this process, and what they write stays here."""
    monkeypatch.setenv("GAMEKIT_WORKERS", "1")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if d.name in PYTHON_OF], ids=lambda path: path.name)
def test_the_python_of_a_document_runs(document):
    """Blocks share their names: `>>>` is a doctest, anything else a file, and notebooks have a test of their own."""
    names: dict[str, Any] = {"__name__": "documents"}
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    examples = 0
    for block in blocks(document):
        if block.language != "python" or block.text.startswith("# %%"):
            continue
        if ">>>" not in block.text:
            exec(compile(block.text, f"{document.name}, line {block.line}", "exec"), names)
            continue
        example = doctest.DocTestParser().get_doctest(block.text, names, document.name, str(document), block.line - 1)
        runner.run(example, clear_globs=False)
        names.update(example.globs)
        examples += len(example.examples)
    failed, tried = runner.summarize()
    assert examples == tried > 3
    assert failed == 0


def test_only_documents_that_are_run_have_python():
    assert all(b.language != "python" for d in DOCUMENTS if d.name not in PYTHON_OF for b in blocks(d))


def notebook_cells(text: str) -> list[tuple[str, list[str], str]]:
    """Kind, tags and source of each cell of a notebook written with `# %%`."""
    found = []
    for head, body in re.findall(r"^# %%(.*)\n((?:(?!# %%).*\n?)*)", text, re.MULTILINE):
        kind = "markdown" if "[markdown]" in head else "code"
        source = re.sub(r"^# ?", "", body, flags=re.MULTILINE) if kind == "markdown" else body
        tags = re.search(r"tags=(\[.*\])", head)
        found.append((kind, json.loads(tags[1]) if tags else [], source.strip()))
    return found


def test_the_notebook_of_contributing_runs_and_leaves_what_it_promises(monkeypatch, tmp_path):
    cells = notebook_cells(only("CONTRIBUTING.md", "python", "# %%"))
    name = "95_first_move"
    path = tmp_path / "notebooks" / f"{name}.ipynb"
    path.parent.mkdir()
    made = [{"cell_type": kind, "metadata": {"tags": tags}, "source": source} for kind, tags, source in cells]
    path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    (parameters,) = [source for _, tags, source in cells if tags == ["parameters"]]
    allowed = read_cell(name, parameters)
    assert allowed == declared(path)
    assert all(one.about and one.check(name, one.default) == one.default for one in allowed.values())
    tiny = check(name, allowed, yaml.safe_load(only("CONTRIBUTING.md", "yaml"))[name])

    run = tmp_path / "tiny" / name
    monkeypatch.setenv("GAMEKIT_RUN", str(run))
    monkeypatch.setattr(import_module("gamekit.notebook.report"), "NOTEBOOKS", path.parent)
    monkeypatch.setattr(report, "_started", False)  # as in a new kernel: misspelt parameters are refused
    names: dict[str, Any] = {"__name__": "__main__"}
    for kind, tags, source in cells:
        if kind == "code":
            exec(compile(source, path.name, "exec"), names)
        if tags == ["parameters"]:
            names.update(tiny)
    assert {name: names[name] for name in tiny} == tiny, "no cell assigns a parameter"
    files = promised(path)
    assert {"tables/first_move.csv", "figures/first_move.png", "findings.json"} <= set(files)
    assert all((run / file).stat().st_size for file in files)
    assert len(pd.read_csv(run / "tables" / "first_move.csv")) == len(tiny["columns"])
    assert next((tmp_path / "tiny" / "measured" / name).glob("first_move-*/games.parquet"))


def test_the_sweep_file_of_the_readme_is_one(tmp_path):
    file = tmp_path / "my_sweep.yaml"
    file.write_text(only("README.md", "yaml"), encoding="utf-8")
    played = gk.sweep(**{**read_file(file), "games_each": 2})
    assert len(played) == 2 * played.groupby(["game", "player", "opponent"], observed=True).ngroups


def test_the_sql_of_the_architecture_page_names_columns_that_exist():
    """SQLite stands in for DuckDB, with a table in place of the file."""
    query = re.sub(r"'[^']*games\.parquet'", "games", only("docs/architecture.md", "sql"))
    players = gk.grid("alphabeta", depth=[1, 2], heuristic=["moves", "squares"])
    played = gk.sweep("conga", players, "random", games_each=4, max_plies=40)
    with sqlite3.connect(":memory:") as database:
        played.astype(dict.fromkeys(played.select_dtypes("category"), str)).to_sql("games", database)
        assert len(database.execute(query).fetchall()) == 4


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document):
    text = document.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        there = (document.parent / path) if path else document
        if path.startswith("results/") and there.suffix == ".png":
            continue  # figures are made by the full profile
        assert there.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w -]", "", h).strip().lower().replace(" ", "-") for h in headings], target
