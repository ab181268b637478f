"""Sweep files: what they leave behind, what is refused in one sentence, and what `verify --repair` makes again."""

import itertools
import os
import time

import pytest

import gamekit as gk
from gamekit.analysis.overview import KEYS, read_file, repair, run_file
from gamekit.errors import GamekitError
from gamekit.experiments.folder import verify

SMALL = "games: mnk\nplayers:\n  - alphabeta(depth={1,2})\nopponents: [random]\ngames_each: 4\nseed: 2\n"


def contents(folder):
    """All files but the parts: how many games a part holds depends on the time they took."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "parts"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture
def swept(tmp_path):
    file = tmp_path / "small.yaml"
    file.write_text(SMALL)
    return run_file(file, out=tmp_path / "out", workers=1), file, tmp_path / "out"


def test_a_sweep_file_leaves_games_tables_and_figures(swept):
    rates, file, folder = swept
    assert rates.games.tolist() == [4, 4]
    assert "depth=2" in rates.player.iloc[1]
    assert len(gk.load(folder)) == 8
    tables = {path.stem for path in (folder / "tables").iterdir()}
    assert tables == {"win_rates", "terminations", "elo", "ratings"}
    assert {path.name for path in (folder / "figures").iterdir()} >= {"win_rates.png", "turns.svg"}
    before = contents(folder)
    assert run_file(file, out=folder, workers=1).equals(rates)
    assert contents(folder) == before
    assert verify(folder).complete


@pytest.mark.parametrize("name", ["parts", "games.parquet", "tables/elo.csv", "figures/turns.png"])
def test_repair_makes_again_what_was_damaged(swept, name):
    _, _, folder = swept
    before = contents(folder)
    path = next((folder / name).iterdir()) if name == "parts" else folder / name
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert not verify(folder).ok
    assert repair(folder).complete
    assert contents(folder) == before


def test_repair_of_a_match_that_stopped_early(tmp_path):
    folder = tmp_path / "match"
    found = gk.match("mnk", "alphabeta(depth=3)", "random", 400, sprt=(0, 100), seed=1, out=folder, workers=1)
    assert len(found) < 400
    before = contents(folder)
    part = next((folder / "parts").iterdir())
    part.write_bytes(b"")
    assert not repair(folder).damaged
    assert contents(folder) == before


def test_repair_without_results(tmp_path):
    with pytest.raises(GamekitError, match="is missing; run the measurement"):
        repair(tmp_path)


# ----------------------------------------------------------------------------- what is refused


BOMB = "a: &a [x, x]\n" + "".join(f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}]\n" for a, b in itertools.pairwise("abcdefghi"))
BAD = {
    "": "names games, players",
    "- a\n- b": "names games, players",
    "games: [mnk": "not YAML",
    "games: mnk": "'players' is missing",
    "players: random": "'games' is missing",
    "games: mnk\nplayers:": "'players' has no value",
    "games: mnk\nplayers: random\ngame_each: 3": "did you mean 'games_each'",
    "games: mnk\nplayers: random\nplayers: leftmost": "'players' is given twice",
    "games: mnk\nplayers: random\ngames_each: 1\n'games_each': 2": "'games_each' is given twice",
    "games: mnk\nplayers: [{a: 1, a: 2}]": "'a' is given twice",
    "games: &g mnk\nplayers: *g": r"aliases \(\*\) are not allowed",
    f"games: mnk\nplayers: random\n{BOMB}": "not allowed",
    "games: mnk\nplayers: random\nout: 3": "out='3' is not allowed",
    'games: mnk\nplayers: random\nout: "a\\0b"': "out=.* is not allowed",
    'games: mnk\nplayers: random\nout: "\\ud800"': "out=.* is not allowed|not YAML",
    f"games: mnk\nplayers: random\nseed: {'1' * 5000}": "not YAML",
    "games: !!python/object/apply:os.getcwd []\nplayers: random": "not YAML",
    "? [games]\n: mnk": "not YAML",
    "3: mnk": "a sweep has no '3'",
    "games: " + "[" * 5000: "not YAML",
    "games: " + "{a: " * 5000: "not YAML",
    "games: mnk\x00": "not YAML",
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD.items(), ids=lambda text: text[:40].replace("\0", "0"))
def test_a_bad_file_is_refused_at_once_in_one_sentence(tmp_path, text, message):
    file, start = tmp_path / "bad.yaml", time.process_time()
    file.write_text(text)
    with pytest.raises(GamekitError, match=message) as caught:
        read_file(file)
    assert "bad.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400 + len(str(file))
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "line", ["openings: 2024-01-01", "openings: !!set {a, b}", "seed: x", "games_each: 0", "swap: 3"]
)
def test_values_are_checked_by_the_sweep(tmp_path, line):
    file = tmp_path / "bad.yaml"
    kept = [one for one in ("games: mnk", "players: [random, leftmost]") if one.split(":")[0] != line.split(":")[0]]
    file.write_text("\n".join([*kept, line]))
    with pytest.raises(GamekitError) as caught:
        run_file(file, out=tmp_path / "out", workers=1)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "large.yaml").write_text("#" * 1_000_001)
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00\x81")
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    for path, message in {
        tmp_path / "fifo": "not a file",
        tmp_path: "not a file",
        "/dev/zero": "not a file",
        tmp_path / "large.yaml": "too large",
        tmp_path / "binary.yaml": "not YAML",
        tmp_path / "loop.yaml": "cannot be read",
        tmp_path / ("x" * 300): "cannot be read",
        tmp_path / "none.yaml": "there is no sweep file",
    }.items():
        with pytest.raises(GamekitError, match=message) as caught:
            read_file(path)
        assert "\n" not in str(caught.value)


def test_an_ampersand_and_a_star_are_no_alias(tmp_path):
    file = tmp_path / "good.yaml"
    file.write_text("# 4 * 4 & more\ngames: mnk\nplayers: [random, leftmost]\n")
    assert read_file(file) == {"games": "mnk", "players": ["random", "leftmost"]}
    assert set(read_file(file)) <= set(KEYS)
