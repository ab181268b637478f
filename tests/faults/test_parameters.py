"""Wrong parameters of sweeps, from Python and from YAML: refused before any work, by name, in one sentence."""

import sys

import pytest
import yaml
from gamekit.experiments.old_sweep import run_file, sweep

from gamekit.errors import GamekitError

GOOD = {"games": ["mnk"], "players": ["random"], "opponents": ["leftmost"], "games_each": 2}
NAN, INF = float("nan"), float("inf")

BAD = [
    ("games", []),
    ("games", None),
    ("games", 5),
    ("games", ["chess"]),
    ("games", ["mnk", "mnk"]),
    ("games", ["mnk(m=0)"]),
    ("games", ["mnk(k=9)"]),
    ("games", ["mnk(q=1)"]),
    ("games", ["mnk("]),
    ("games", [""]),
    ("games", {"a": 1}),
    ("games", ["candy(board=../../x)"]),
    ("games", ["candy(board=Nougat)"]),
    ("games", [None]),
    ("players", []),
    ("players", None),
    ("players", 3),
    ("players", ["nobody"]),
    ("players", ["alphabet(depth=2)"]),
    ("players", ["alphabeta(depth=0)"]),
    ("players", ["alphabeta(depth=-2)"]),
    ("players", ["alphabeta(depth=2.5)"]),
    ("players", ["alphabeta(depth=x)"]),
    ("players", ["alphabeta(dept=2)"]),
    ("players", ["alphabeta(depth=nan)"]),
    ("players", ["alphabeta(depth=2,depth=3)"]),
    ("players", ["alphabeta(heuristic=nope)"]),
    ("players", ["alphabeta(heuristic=valhalla)"]),
    ("players", ["alphabeta(depth={1,2)"]),
    ("players", ["human"]),
    ("players", ["random", "random"]),
    ("players", ["search(order=sideways)"]),
    ("players", ["uct(playouts=0)"]),
    ("players", ["__import__('os')"]),
    ("players", [["random"]]),
    ("opponents", []),
    ("opponents", ["nobody"]),
    ("opponents", 7),
    ("games_each", 0),
    ("games_each", -5),
    ("games_each", 2.5),
    ("games_each", "many"),
    ("games_each", None),
    ("games_each", NAN),
    ("games_each", INF),
    ("games_each", True),
    ("games_each", [3]),
    ("openings", -1),
    ("openings", 1.5),
    ("openings", "x"),
    ("openings", NAN),
    ("openings", 10**9),
    ("openings", [1]),
    ("cap", 0),
    ("cap", -1),
    ("cap", "x"),
    ("cap", 1.5),
    ("seed", -1),
    ("seed", 1.5),
    ("seed", "x"),
    ("seed", None),
    ("seed", NAN),
    ("limit", 0),
    ("limit", -1),
    ("limit", "fast"),
    ("limit", INF),
    ("memory", 1),
    ("memory", "x"),
    ("block", 0),
    ("block", 1.5),
    ("block", None),
]


@pytest.fixture(autouse=True)
def nothing_is_played(monkeypatch):
    monkeypatch.setattr(sys.modules["gamekit.sweep"], "run_plan", None)


def said(call):
    with pytest.raises(GamekitError) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(("name", "value"), BAD, ids=lambda x: str(x)[:40])
def test_from_python(name, value, tmp_path):
    text = said(lambda: sweep(**{**GOOD, name: value}, out=tmp_path / "out"))
    assert len(text) > 20
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "value"), BAD, ids=lambda x: str(x)[:40])
def test_from_yaml(name, value, tmp_path):
    file = tmp_path / "sweep.yaml"
    file.write_text(yaml.safe_dump({**GOOD, name: value}))
    said(lambda: run_file(file, out=tmp_path / "out"))
    assert not (tmp_path / "out").exists()


NUMBERS = ("games_each", "cap", "seed", "limit", "memory", "block")


@pytest.mark.parametrize(("name", "value"), [bad for bad in BAD if bad[0] in NUMBERS], ids=lambda x: str(x)[:40])
def test_numbers_are_named_with_what_is_allowed(name, value):
    text = said(lambda: sweep(**{**GOOD, name: value}))
    assert f"{name}=" in text
    assert "whole number" in text or "a number" in text


@pytest.mark.parametrize("workers", [0, -1, 1.5, "two", True])
def test_workers(workers, monkeypatch):
    from gamekit.experiments.old_pool import Pool

    assert "workers=" in said(lambda: Pool(workers, None, None, 1))


def test_two_places_to_play():
    from gamekit.experiments.old_pool import Pool

    assert "one of workers, scheduler and executor" in said(lambda: Pool(2, "tcp://127.0.0.1:1", None, 1))
