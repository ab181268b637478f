"""The command line: what it prints, its exit codes, and wrong use in one sentence without a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import plain_rules
import pytest

import gamekit as gk
from gamekit.jit.cache import cache_folder


def shell(*arguments, text=None, **environment):
    """`python -m gamekit.cli …` as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "gamekit.cli", *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **environment},
        check=False,
    )


# ------------------------------------------------------------------------------------ listings


def test_games_lists_every_game_with_its_parameters(cli):
    ran = cli("games")
    assert (ran.code, ran.err) == (0, "")
    for name, kind in gk.GAMES.items():
        assert name in ran.out
        assert all(param in ran.out for param in kind.params)
    found = json.loads(cli("games", "--json").out)
    assert [entry["name"] for entry in found] == list(gk.GAMES)
    assert all({"name", "about", "params", "heuristics", "default"} <= set(entry) for entry in found)
    assert {p["name"]: p["default"] for p in found[3]["params"]} == {"m": "3", "n": "3", "k": "3"}


def test_heuristics_lists_every_heuristic_with_its_parameters_ranges_and_report(cli):
    found = json.loads(cli("heuristics", "--json").out)
    assert {(entry["game"], entry["name"]) for entry in found} == set(gk.HEURISTICS)
    assert all(entry["about"] and entry["report"] for entry in found)
    assert all(p["allowed"] and p["about"] for entry in found for p in entry["params"])
    text = cli("heuristics").out
    assert all(name in text for _, name in gk.HEURISTICS)
    assert "from 0 to 1" in text
    only = json.loads(cli("heuristics", "conga", "--json").out)
    assert {entry["game"] for entry in only} == {"conga"}
    assert cli("heuristics", "congo").code == 2


def test_players_lists_every_player_with_its_parameters(cli):
    found = json.loads(cli("players", "--json").out)
    assert [entry["name"] for entry in found] == list(gk.PLAYERS)
    assert all(entry["about"] for entry in found)
    assert all(p["allowed"] and p["about"] for entry in found for p in entry["params"])
    text = cli("players").out
    assert all(name in text for name in gk.PLAYERS)


# --------------------------------------------------------------------------------- positions and games


def test_perft_prints_depth_and_count_on_each_line(cli):
    assert cli("perft", "conga", "4").out == "1 3\n2 8\n3 96\n4 1112\n"
    assert json.loads(cli("perft", "connect_four", "3", "--json").out) == [7, 49, 343]
    assert cli("perft", "conga", "1", "--moves", "00S 33NW").out == "1 10\n"
    assert cli("perft", "mnk(k=1)", "2", "--moves", "0,0").out == "1 0\n2 0\n"


def test_eval_gives_the_value_for_the_player_asked_for(cli):
    moves = " ".join(plain_rules.CONGA_TRANSCRIPT[:6])
    position = gk.game("conga").replay(moves)
    for me in (1, 2):
        for name in ("moves", "squares", "weighted"):
            ran = cli("eval", "conga", "--moves", moves, "--heuristic", name, "--for", str(me), "--json")
            assert json.loads(ran.out) == {"value": gk.heuristic_of(name, "conga").value(position, me)}
    assert json.loads(cli("eval", "conga", "--moves", moves, "--json").out)["value"] == gk.heuristic_of(
        "moves", "conga"
    ).value(position)


def test_eval_explains_the_parts(cli):
    found = json.loads(cli("eval", "connect_four", "--moves", "4435", "--for", "1", "--explain", "--json").out)
    assert sum(part["value"] for part in found["parts"]) == pytest.approx(found["value"])
    text = cli("eval", "connect_four", "--moves", "4435", "--for", "1", "--explain").out.splitlines()
    assert float(text[0]) == found["value"]
    assert len(text) == 1 + len(found["parts"])


def test_play_prints_one_object_with_the_documented_keys(cli):
    ran = cli("play", "candy(board=Ayds)", "alphabeta(depth=1)", "random", "--seed", "4", "--json")
    assert ran.code == 0
    played = json.loads(ran.out)
    assert set(played) == {"game", "players", "moves", "winner", "termination", "score", "nodes", "final"}
    position = gk.game("candy(board=Ayds)").replay(played["moves"])
    assert position.outcome() == gk.Outcome(played["winner"], played["termination"], tuple(played["score"]))
    assert str(position) == played["final"]
    assert played["players"] == ["alphabeta(depth=1)", "random"]
    assert played["nodes"] == [342, 0]


def test_play_is_the_same_for_the_same_seed_and_starts_where_told(cli):
    once = [cli("play", "conga", "random", "random", "--seed", "9", "--json").out for _ in range(2)]
    assert once[0] == once[1]
    assert once[0] != cli("play", "conga", "random", "random", "--seed", "10", "--json").out
    started = json.loads(cli("play", "connect_four", "leftmost", "leftmost", "--moves", "4435", "--json").out)
    assert started["moves"][:4] == ["4", "4", "3", "5"]


def test_match_prints_the_documented_keys_and_says_the_same_in_words(cli):
    asked = ("match", "mnk", "alphabeta(depth=2)", "random", "--games", "6", "--seed", "3", "--workers", "1")
    found = json.loads(cli(*asked, "--json").out)
    keys = ("games", "wins", "draws", "distinct", "terminations", "interval", "turns", "nodes")
    assert set(found) >= {"game", "players", *keys}
    assert sum(found["wins"]) + found["draws"] == found["games"] == sum(found["terminations"].values()) == 6
    assert found["interval"][0] <= found["wins"][0] / 6 <= found["interval"][1]
    lines = dict(line.split(maxsplit=1) for line in cli(*asked).out.splitlines())
    assert set(lines) == set(found)
    assert lines["wins"] == f"{found['wins'][0]} and {found['wins'][1]}"


def test_match_of_deterministic_players_without_openings_has_no_interval(cli):
    asked = ("match", "connect_four", "leftmost", "leftmost", "--games", "4", "--workers", "1", "--json")
    found = json.loads(cli(*asked).out)
    assert (found["interval"], found["distinct"]) == (None, 1)
    assert "openings" in found["warning"]


def test_compare_takes_depths_and_nodes(cli):
    asked = ("compare", "mnk", "windows", "potential_streak", "--games", "4", "--depths", "1", "--nodes", "50,100")
    found = json.loads(cli(*asked, "--json").out)
    assert {row["condition"] for row in found["standings"]} == {"depth 1", "50 nodes per move", "100 nodes per move"}


# --------------------------------------------------------------------------------------------- wrong use

WRONG = [
    [],
    ["nonsense"],
    ["perft"],
    ["perft", "conga"],
    ["perft", "conga", "x"],
    ["perft", "conga", "0"],
    ["perft", "conga", "-1"],
    ["perft", "conga", "1.5"],
    ["perft", "conga", "1001"],
    ["perft", "conga", "2", "--moves", "99X"],
    ["eval"],
    ["eval", "congo"],
    ["eval", "conga", "--for", "3"],
    ["eval", "conga", "--for", "x"],
    ["eval", "conga", "--moves", "33N"],
    ["eval", "conga", "--heuristic", ""],
    ["eval", "conga", "--moves", "<script>"],
    ["eval", "conga", "--moves", "__import__('os')"],
    ["play", "conga"],
    ["play", "conga", "random"],
    ["play", "conga", "random", "nobody"],
    ["play", "conga", "random", "random", "--seed", "x"],
    ["play", "connect_four", "random", "random", "--max-plies", "0"],
    ["play", "conga", "random", "random", "--max-plies", "-1"],
    ["play", "conga", "random", "random", "--move-seconds", "nan"],
    ["play", "conga", "random", "random", "--move-seconds", "-1"],
    ["play", "conga", "random", "random", "--moves", "00X"],
    ["games", "--nope"],
    ["match", "mnk", "random", "random", "--games", "0"],
    ["match", "mnk", "random", "random", "--sprt", "5", "1"],
    ["compare", "mnk", "windows", "--depths", "1,x"],
    ["run", "10_conga", "-p", "games"],
    ["sweep", "no/such.yaml"],
    ["verify"],
    ["heuristics", "../../x"],
    ["perft", "candy(board=../../x)", "1"],
    ["perft", "candy(board=/etc/passwd)", "1"],
    ["perft", "mnk(m=3", "1"],
    ["play", "mnk", "custom(k=3)", "random"],
    ["play", "conga", "custom", "random"],
    ["play", "mnk(k=1)", "random", "random", "--moves", "0,0 0,1"],
    ["play", "conga", "alphabeta(heuristic=windows)", "random"],
    ["perft", "\ud800", "1"],
    ["perft", "conga\x00", "1"],
    ["eval", "x" * 5000],
]


@pytest.mark.parametrize(
    "arguments", WRONG, ids=[" ".join(a)[:40].encode("ascii", "replace").decode() or "nothing" for a in WRONG]
)
def test_wrong_use_exits_with_two_and_says_why_without_a_traceback(arguments, cli):
    ran = cli(*arguments)
    assert ran.code == 2
    assert "Traceback" not in ran.err + ran.out
    said = ran.err.strip() or ran.out.strip()
    assert said
    if ran.err.startswith("gamekit: ") and "\nusage" not in ran.err:
        assert len(ran.err.strip().splitlines()) == 1
        assert len(ran.err) < 700


def test_wrong_use_from_a_real_shell():
    ran = shell("perft", "conect_four", "3")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.strip() == (
        "gamekit: there is no game 'conect_four'; there are candy, conga, connect_four, connect_k, mnk; "
        "did you mean 'connect_four'?"
    )


def test_a_terminal_that_knows_no_unicode_gets_no_traceback():
    ran = shell("heuristics", PYTHONIOENCODING="ascii")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "windows" in ran.stdout


def test_a_reader_that_goes_away_is_no_traceback():
    ran = subprocess.run(
        f"{sys.executable} -m gamekit.cli heuristics --json | head -c 5",
        shell=True,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in ran.stderr
    assert ran.stdout.startswith("[{")


def test_version_and_help(cli):
    ran = cli("--version")
    assert (ran.code, ran.out.strip()) == (0, f"gamekit {gk.__version__}")
    ran = cli("--help")
    assert ran.code == 0
    for command in (
        "games",
        "heuristics",
        "players",
        "perft",
        "eval",
        "play",
        "match",
        "solve",
        "sweep",
        "run",
        "report",
        "verify",
        "bench",
        "warm",
        "lab",
    ):
        assert command in ran.out


def test_a_human_whose_input_ends_gets_no_traceback():
    ran = shell("play", "mnk", "human", "random", text="0,0\nrubbish\n")
    assert "Traceback" not in ran.stderr
    assert "is not a move of mnk" in ran.stdout


def test_warm_compiles_everything_and_says_where(cli):
    ran = cli("warm")
    assert ran.code == 0
    assert "functions" in ran.err
    assert str(cache_folder()) in ran.err
    assert cli("warm", "--quiet").err == ""
