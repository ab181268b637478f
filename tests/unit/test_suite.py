"""The runner: parameters refused before any work, and every way a notebook can fail said aloud."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gamekit.notebook import runner, suite
from gamekit.notebook.parameters import ParameterError, check, check_globals, declared, read_cell, split

CELL = """depth: int = 3      # [1..8] plies
ties: str = "first"  # [first|random] ties
rate: float = 0.5   # [0..1] a share
on: bool = True     # a switch
depths: list = [1, 2]  # [1..6] several
boards: list = ["conga"]  # [game] games
players: list = ["random"]  # [player] players
names: list = ["moves"]  # [heuristic] evaluations
"""
DECLARED = read_cell("book", CELL)


def test_a_cell_is_read():
    assert list(DECLARED) == ["depth", "ties", "rate", "on", "depths", "boards", "players", "names"]
    assert DECLARED["depth"].allowed == "1..8"
    assert DECLARED["depth"].about == "plies"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("depth", "3"),
        ("depth", 0),
        ("depth", 9),
        ("depth", 2.5),
        ("depth", True),
        ("depth", None),
        ("depth", float("nan")),
        ("ties", "frist"),
        ("ties", 1),
        ("rate", 1.5),
        ("rate", float("nan")),
        ("rate", "0.5"),
        ("on", 1),
        ("on", "yes"),
        ("depths", []),
        ("depths", 3),
        ("depths", [1, 7]),
        ("depths", [1, "2"]),
        ("boards", ["chess"]),
        ("boards", ["mnk(m=0)"]),
        ("players", ["alphabeta(dpeth=2)"]),
        ("names", ["movse"]),
        ("names", "moves"),
    ],
)
def test_a_wrong_value_is_refused_by_name(name, value):
    with pytest.raises(ParameterError) as error:
        check("book", DECLARED, {name: value})
    assert name in str(error.value)
    assert "not allowed" in str(error.value)


def test_a_misspelt_name_is_refused_with_the_right_one():
    with pytest.raises(ParameterError, match=r"no parameter 'dpeth'.*did you mean 'depth'"):
        check("book", DECLARED, {"dpeth": 3})


def test_a_running_notebook_refuses_what_papermill_let_through():
    given = {"depth": 3, "_private": 1, "In": [], "module": json, "COLOURS": {"a": 1}}
    check_globals("book", DECLARED, given, strict=True)
    with pytest.raises(ParameterError, match="dpeth"):
        check_globals("book", DECLARED, {**given, "dpeth": 4}, strict=True)
    check_globals("book", DECLARED, {**given, "line": "44"}, strict=False)  # a second Run All
    with pytest.raises(ParameterError, match="depth=9"):
        check_globals("book", DECLARED, {**given, "depth": 9}, strict=False)


def test_good_values_pass_and_typed_ones_are_read():
    assert check("book", DECLARED, {"depth": 8, "rate": 1, "depths": [6]}) == {"depth": 8, "rate": 1.0, "depths": [6]}
    assert DECLARED["depths"].read("book", "1,3") == [1, 3]
    assert DECLARED["on"].read("book", "off") is False
    typed = DECLARED["players"].read("book", "random,alphabeta(depth=2,heuristic=moves)")
    assert typed == ["random", "alphabeta(depth=2,heuristic=moves)"]
    assert split("[a,b],[c]") == ["[a,b]", "[c]"]
    with pytest.raises(ParameterError, match="depth='three'"):
        DECLARED["depth"].read("book", "three")


def test_a_cell_with_anything_but_literals_is_refused():
    with pytest.raises(ParameterError, match="no literal"):
        read_cell("book", "depth: int = len('abc')")
    with pytest.raises(ParameterError, match="line 1"):
        read_cell("book", "import os")


def test_unknown_profiles_and_notebooks_are_refused():
    with pytest.raises(ParameterError, match="did you mean 'quick'"):
        suite.plan("quik")
    with pytest.raises(ParameterError, match="no notebook"):
        suite.plan("quick", ["11_nothing"])
    assert [run.home.name for run in suite.plan("quick", "10")] == ["10_conga"]


# --------------------------------------------------------------- notebooks that misbehave


def book(folder: Path, *sources: str) -> Path:
    """A notebook of these code cells, the first being its parameters."""
    cells = [
        {
            "cell_type": "code",
            "id": f"c{i}",
            "metadata": {"tags": ["parameters"]} if i == 0 else {},
            "source": text,
            "execution_count": None,
            "outputs": [],
        }
        for i, text in enumerate(sources)
    ]
    path = folder / "50_book.ipynb"
    path.write_text(
        json.dumps(
            {
                "cells": cells,
                "metadata": {"kernelspec": {"name": "python3", "display_name": "x", "language": "python"}},
                "nbformat": 4,
                "nbformat_minor": 5,
            }
        )
    )
    return path


PARAMETERS = "size: int = 1  # [1..9] a size\n"
DESK = """import os, pathlib
out = os.environ["GAMEKIT_RUN"]
class Desk:
    def table(self, name, text):
        pathlib.Path(out, "tables").mkdir(exist_ok=True)
        pathlib.Path(out, "tables", name + ".csv").write_text(text)
report = Desk()
"""


def run(folder: Path, *sources: str, **parameters: object) -> runner.Result:
    return runner.execute(runner.Run(book(folder, PARAMETERS, *sources), parameters, folder / "home"))


def test_a_good_run_leaves_a_complete_folder_and_is_resumed(tmp_path):
    result = run(tmp_path, DESK, 'report.table("x", "a,b\\n1,2\\n")', size=2)
    assert result.error is None
    assert (tmp_path / "home" / "tables" / "x.csv").read_text() == "a,b\n1,2\n"
    assert runner.is_done(result.run)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    mark = json.loads((tmp_path / "home" / "mark.json").read_text())
    assert mark["parameters"] == {"size": 2}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("assert size > 5, 'too small'", "AssertionError: too small"),
        ("import sys\nsys.exit(0)", "left the notebook early"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "DeadKernelError"),
        ("open('/nowhere/at/all')", "FileNotFoundError"),
        ("import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start(); t.join()", "thread that failed"),
        ("if False: report.table('y', '')", "did not leave tables/y.csv"),
    ],
    ids=["assertion", "sys.exit", "killed", "missing file", "thread", "missing table"],
)
def test_every_failure_is_said_and_leaves_nothing(tmp_path, source, said):
    result = run(tmp_path, source)
    assert result.error is not None
    assert said in result.error
    assert "50_book home" in result.error
    assert not (tmp_path / "home").exists()
    assert not runner.is_done(result.run)


def test_a_failure_keeps_the_last_good_result_and_stops_nothing_else(tmp_path):
    good = run(tmp_path, "1 + 1")
    assert good.error is None
    broken, whole = tmp_path / "a", tmp_path / "b"
    broken.mkdir()
    whole.mkdir()
    runs = [
        runner.Run(book(broken, PARAMETERS, "raise ValueError('no')"), {}, broken / "home"),
        runner.Run(book(whole, PARAMETERS, "2 + 2"), {}, whole / "home"),
        runner.Run(book(whole, PARAMETERS, "2 + 2"), {}, tmp_path / "c" / "home", needs=(broken / "home",)),
    ]
    results = runner.execute_all(runs, workers=2)
    assert "cell 2 failed with ValueError: no" in results[0].error or "ValueError: no" in results[0].error
    assert results[1].error is None
    assert "not run, since" in results[2].error
    assert suite.say_failures(results) == 1
    assert (tmp_path / "home" / "mark.json").is_file()


def test_changes_are_seen(tmp_path):
    result = run(tmp_path, "1 + 1", size=2)
    here = result.run
    assert runner.is_done(here)
    assert not runner.is_done(runner.Run(here.notebook, {"size": 3}, here.home))
    book(tmp_path, PARAMETERS, "1 + 2")
    assert not runner.is_done(here)


def test_run_refuses_before_any_work(tmp_path):
    for given, grid, said in [
        ({"szie": "1"}, {}, "did you mean 'size'"),
        ({"size": "many"}, {}, "whole number"),
        ({"size": "10"}, {}, "from 1 to 9"),
        ({}, {"size": ["1", "x"]}, "whole number"),
        ({"size": "1"}, {"size": ["2"]}, "both"),
        ({}, {"size": ["1", "1"]}, "same values twice"),
    ]:
        with pytest.raises(ParameterError, match=said):
            suite.run_notebook(str(book(tmp_path, PARAMETERS, "1 / 0")), given, grid, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_declared_wants_one_parameters_cell(tmp_path):
    path = book(tmp_path, "a: int = 1", "b = 2")
    text = json.loads(path.read_text())
    text["cells"][0]["metadata"] = {}
    path.write_text(json.dumps(text))
    with pytest.raises(ParameterError, match="0 cells tagged"):
        declared(path)


def test_a_grid_is_collected_into_one_table(tmp_path):
    path = book(tmp_path, PARAMETERS, DESK, 'report.table("x", f"a,b\\n{size},2\\n")')
    assert suite.run_notebook(str(path), {}, {"size": ["2", "3"]}, out=tmp_path / "grid") == 0
    assert (tmp_path / "grid" / "tables" / "x.csv").read_text() == "size,a,b\n2,2,2\n3,3,2\n"
    assert "tables/x.csv" in (tmp_path / "grid" / "index.html").read_text()
    assert json.loads((tmp_path / "grid" / "size=3" / "mark.json").read_text())["parameters"] == {"size": 3}


def test_what_a_killed_run_left_is_swept_up(tmp_path):
    left, own = tmp_path / ".home.999999999.abc", tmp_path / ".home.notes"
    left.mkdir()
    own.mkdir()
    assert run(tmp_path, "1 + 1").error is None
    assert not left.exists()
    assert own.exists()
