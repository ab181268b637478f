"""Wrong parameters of sweeps, from Python, YAML and the command line: refused before any work, by name."""

import pytest
import yaml

import gamekit as gk
from gamekit.analysis.overview import run_file
from gamekit.errors import GamekitError

GOOD = {"games": ["mnk"], "players": ["random"], "opponents": ["leftmost"], "games_each": 2}
NAN, INF = float("nan"), float("inf")
NUMBERS = {  # more than None is allowed to switch these off
    "games_each": [0, -5, 2.5, "many", NAN, INF, True, [3], None, 10**9],
    "max_plies": [0, -1, "x", 1.5, True, NAN, [3]],
    "repetition": [0, 1, -3, "x", 2.5, True, INF],
    "seed": [-1, 1.5, "x", NAN, True, [1], None, 2**64],
    "move_seconds": [0, -1, "fast", INF, NAN, True, 10**9],
    "megabytes": [1, -64, "x", NAN, 64.5, True],
    "openings": [-1, 1.5, NAN, INF, True, 10**9],
}
BAD = [
    ("games", []),
    ("games", None),
    ("games", 5),
    ("games", ["chess"]),
    ("games", ["mnk", "mnk"]),
    ("games", ["mnk", "mnk(m=3)"]),
    ("games", ["mnk(m=0)"]),
    ("games", ["mnk(k=9)"]),
    ("games", ["mnk(q=1)"]),
    ("games", ["mnk("]),
    ("games", ["mnk(m={})"]),
    ("games", ["mnk(m=3,m=3)"]),
    ("games", [""]),
    ("games", {"a": 1}),
    ("games", ["candy(board=../../x)"]),
    ("games", ["candy(board=Nougat)"]),
    ("games", [None]),
    ("games", "random"),
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
    ("players", ["alphabeta(depth={1,1})"]),
    ("players", ["human"]),
    ("players", ["random", "random"]),
    ("players", ["greedy", "greedy(ties=first)"]),
    ("players", ["search(order=sideways)"]),
    ("players", ["search(prune=perhaps)"]),
    ("players", ["uct(playouts=0)"]),
    ("players", ["__import__('os')"]),
    ("players", ["random; import os"]),
    ("players", [["random"]]),
    ("players", "mnk"),
    ("opponents", []),
    ("opponents", ["nobody"]),
    ("opponents", 7),
    ("opponents", {"a": 1}),
    ("opponents", "mnk"),
    ("openings", "x"),
    ("openings", [1]),
    ("openings", ["99"]),
    ("openings", [["1,1"]]),
    ("openings", ["0,0 1,0 0,1 1,1 0,2"]),
    ("openings", {"a": 1}),
    ("swap", "x"),
    ("swap", 1),
    ("swap", None),
    ("rows", "moved"),
    ("rows", 1),
    ("rows", None),
    ("timing", "x"),
    ("timing", 1),
    *((name, value) for name, values in NUMBERS.items() for value in values),
]


def shown(value):
    return str(value)[:40]


def said(call):
    with pytest.raises(GamekitError) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    assert 20 < len(text) < 1000
    return text


@pytest.mark.parametrize(("name", "value"), BAD, ids=shown)
def test_from_python(name, value, tmp_path):
    said(lambda: gk.sweep(**{**GOOD, name: value}, out=tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "value"), BAD, ids=shown)
def test_from_yaml(name, value, tmp_path):
    file = tmp_path / "sweep.yaml"
    file.write_text(yaml.safe_dump({**GOOD, name: value}))
    said(lambda: run_file(file, out=tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, v in BAD if n in NUMBERS or n == "rows"], ids=shown)
def test_from_the_command_line(name, value, tmp_path, cli):
    file = tmp_path / "sweep.yaml"
    file.write_text(yaml.safe_dump({**GOOD, name: value}))
    ran = cli("sweep", str(file), "--out", str(tmp_path / "out"))
    assert ran.code == 2
    assert name in ran.err
    assert "Traceback" not in ran.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "value"), [(n, v) for n in NUMBERS for v in NUMBERS[n]], ids=shown)
def test_numbers_are_named_with_what_is_allowed(name, value):
    text = said(lambda: gk.sweep(**{**GOOD, name: value}))
    assert f"{name}=" in text
    assert "number" in text


@pytest.mark.parametrize("name", ["games", "players", "opponents"])
def test_lists_are_named_with_what_is_allowed(name):
    assert f"{name}=3 is not allowed; {name} is a list of specs" in said(lambda: gk.sweep(**{**GOOD, name: 3}))


@pytest.mark.parametrize("name", ["game", "limit", "cap", "memory", "block", "workerz"])
def test_unknown_names(name, tmp_path, cli):
    with pytest.raises(TypeError, match=name):
        gk.sweep(**GOOD, **{name: 1})
    file = tmp_path / "sweep.yaml"
    file.write_text(yaml.safe_dump({**GOOD, name: 1}))
    assert name in said(lambda: run_file(file, out=tmp_path / "out"))
    assert cli("sweep", str(file), "--out", str(tmp_path / "out")).code == 2


@pytest.mark.parametrize(
    "meetings",
    [[], 5, "mnk", [("mnk", "random")], [("mnk", "random", "nobody")], [("go", "random", "leftmost")], [None]],
)
def test_meetings(meetings, tmp_path):
    said(lambda: gk.sweep(None, None, meetings=meetings, out=tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_meetings_and_opponents():
    text = said(lambda: gk.sweep("mnk", "random", "leftmost", meetings=[("mnk", "random", "leftmost")]))
    assert "opponents" in text
    assert "meetings" in text


def test_one_player_meets_nobody():
    assert "opponents" in said(lambda: gk.sweep("mnk", "random"))


def test_two_players_of_one_name():
    one, other = (lambda position: position.moves()[0]), (lambda position: position.moves()[-1])
    one.__name__ = other.__name__ = "twin"
    assert "'twin'" in said(lambda: gk.match("mnk", one, other))
    one.__name__ = "random"
    assert "'random'" in said(lambda: gk.match("mnk", one, "random"))


@pytest.mark.parametrize("workers", [0, -1, 1.5, "two", True])
def test_workers(workers):
    assert "workers=" in said(lambda: gk.sweep(**GOOD, workers=workers))


def test_two_places_to_play():
    assert "workers or executor" in said(lambda: gk.sweep(**GOOD, workers=2, executor="tcp://127.0.0.1:1"))
