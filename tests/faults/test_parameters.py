"""Wrong parameters of sweeps, from Python and from YAML: refused before any work, by name, in one sentence."""

import pytest
import yaml

import gamekit as gk
from gamekit.analysis.overview import run_file
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
    ("max_plies", 0),
    ("max_plies", -1),
    ("max_plies", "x"),
    ("max_plies", 1.5),
    ("seed", -1),
    ("seed", 1.5),
    ("seed", "x"),
    ("seed", None),
    ("seed", NAN),
    ("move_seconds", 0),
    ("move_seconds", -1),
    ("move_seconds", "fast"),
    ("move_seconds", INF),
    ("megabytes", 1),
    ("megabytes", "x"),
    ("repetition", 1),
    ("repetition", "x"),
    ("swap", "yes"),
    ("swap", 1),
    ("timing", "yes"),
    ("rows", "turns"),
    ("rows", None),
    ("players", ["alphabeta(depth=2)", "alphabeta(depth=2,ties=first)"]),
]


def said(call):
    with pytest.raises(GamekitError) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(("name", "value"), BAD, ids=lambda x: str(x)[:40])
def test_from_python(name, value, tmp_path):
    text = said(lambda: gk.sweep(**{**GOOD, name: value}, out=tmp_path / "out"))
    assert len(text) > 20
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "value"), BAD, ids=lambda x: str(x)[:40])
def test_from_yaml(name, value, tmp_path):
    file = tmp_path / "sweep.yaml"
    file.write_text(yaml.safe_dump({**GOOD, name: value}))
    said(lambda: run_file(file, out=tmp_path / "out"))
    assert not (tmp_path / "out").exists()


NUMBERS = ("games_each", "max_plies", "seed", "move_seconds", "megabytes", "repetition")


@pytest.mark.parametrize(("name", "value"), [bad for bad in BAD if bad[0] in NUMBERS], ids=lambda x: str(x)[:40])
def test_numbers_are_named_with_what_is_allowed(name, value):
    text = said(lambda: gk.sweep(**{**GOOD, name: value}))
    assert f"{name}=" in text
    assert "whole number" in text or "a number" in text


ON_POSITIONS = [
    ("games", []),
    ("games", "chess"),
    ("positions", 0),
    ("positions", -1),
    ("positions", 2.5),
    ("positions", True),
    ("positions", []),
    ("positions", None),
    ("positions", "99 99"),
    ("positions", [5]),
    ("positions", 10**6),
    ("plies", (3, 1)),
    ("plies", (-1, 2)),
    ("plies", "4"),
    ("plies", (1, 2, 3)),
    ("plies", None),
    ("seed", -1),
    ("seed", None),
]


@pytest.mark.parametrize(
    ("measure", "own"),
    [
        (gk.searches, [("players", []), ("players", "nobody"), ("moves", 1), ("timing", None)]),
        (gk.accuracy, [("players", []), ("players", "nobody"), ("solve_seconds", 0), ("solve_seconds", "x")]),
        (gk.values, [("heuristics", []), ("heuristics", "nobody"), ("sides", 3), ("sides", None)]),
    ],
    ids=["searches", "accuracy", "values"],
)
def test_measurements_on_positions(measure, own, tmp_path):
    good = {"games": "mnk", "positions": 2, "plies": (0, 3)}
    good |= {"heuristics": "all"} if measure is gk.values else {"players": "leftmost"}
    for name, value in ON_POSITIONS + own:
        assert len(said(lambda given={**good, name: value}: measure(**given, out=tmp_path / "out"))) > 20
        assert not (tmp_path / "out").exists(), (name, value)


@pytest.mark.parametrize("sprt", [(0,), 5, (5, 0), (0, 5, 1), "elo", (0, 5, 0.05, 0.05, "odd")])
def test_sequential_tests(sprt, tmp_path):
    said(lambda: gk.match("mnk", "random", "leftmost", sprt=sprt, out=tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("workers", [0, -1, 1.5, "two", True])
def test_workers(workers, tmp_path):
    assert "workers=" in said(lambda: gk.sweep(**GOOD, workers=workers, out=tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_two_places_to_play(tmp_path):
    text = said(lambda: gk.sweep(**GOOD, workers=2, executor="tcp://127.0.0.1:1", out=tmp_path / "out"))
    assert "workers or executor" in text
    assert not (tmp_path / "out").exists()


def test_unknown_parameters():
    assert "did you mean 'openings'" in said(lambda: gk.match("mnk", "random", "leftmost", opening=3))
    for spec in ("alphabeta(dept=2)", "alphabeta"):
        assert "did you mean 'depth'" in said(lambda spec=spec: gk.grid(spec.split("(")[0], dept=[1, 2]))
