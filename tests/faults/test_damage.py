"""Flipped and missing bytes: every one is found, resuming refuses, and repair measures only what was lost."""

import random
import shutil

import pytest
from conftest import parts, products

import gamekit as gk
from gamekit.analysis.overview import repair, run_file
from gamekit.errors import GamekitError
from gamekit.experiments.folder import verify


def damages(data, count, chance):
    """So many damaged copies: most with one flipped bit anywhere, some cut short."""
    for number in range(count):
        at = chance.randrange(len(data))
        if number % 4 == 0:
            yield f"cut {at}", data[:at]
        else:
            changed = bytearray(data)
            changed[at] ^= 1 << chance.randrange(8)
            yield f"bit {at}", bytes(changed)


def check_found(folder, count):
    """Damage in so many places, over all files in turn; every one is found and its file named."""
    chance = random.Random(1)
    files = [f for f in folder.rglob("*") if f.is_file()]
    missed = []
    for number in range(count):
        file = files[number % len(files)]
        whole = file.read_bytes()
        for what, data in damages(whole, 1, chance) if number % 3 else list(damages(whole, 2, chance))[1:]:
            file.write_bytes(data)
            report = verify(folder)
            if report.complete or str(file) not in str(report):
                missed.append((file.name, what))
        file.write_bytes(whole)
    assert missed == []
    assert verify(folder).complete


def test_damage_anywhere_is_found(expected, tmp_path):
    check_found(shutil.copytree(expected, tmp_path / "s"), 40)


@pytest.mark.long
def test_damage_in_200_places_is_found(expected, tmp_path):
    check_found(shutil.copytree(expected, tmp_path / "s"), 200)


def check_repair(count, sweep_file, expected, tmp_path, seed):
    """Damage one part of an unfinished sweep; it is refused by name, and repair replays that part alone."""
    chance = random.Random(seed)
    folder = tmp_path / "s"
    for _ in range(count):
        shutil.copytree(expected, folder)
        for name in ("done.json", "games.parquet"):
            (folder / name).unlink()
        victim = chance.choice(sorted((folder / "parts").iterdir()))
        ((what, data),) = damages(victim.read_bytes(), 1, chance)
        victim.write_bytes(data)
        kept = {f.name: f.stat().st_mtime_ns for f in (folder / "parts").iterdir() if f != victim}
        with pytest.raises(GamekitError) as caught:
            run_file(sweep_file, out=folder, workers=1)
        assert str(victim) in str(caught.value)
        assert "--repair" in str(caught.value)
        report = repair(folder)
        assert report.complete, what
        assert products(folder) == products(expected)
        assert kept.items() <= {f.name: f.stat().st_mtime_ns for f in (folder / "parts").iterdir()}.items()
        group = parts(expected)[victim.name][0]
        assert {g for name, (g, _, _) in parts(folder).items() if name not in kept} == {group}
        shutil.rmtree(folder)


def test_repair_plays_only_what_was_lost(sweep_file, expected, tmp_path):
    check_repair(3, sweep_file, expected, tmp_path, seed=3)


@pytest.mark.long
def test_repair_of_many(sweep_file, expected, tmp_path):
    check_repair(60, sweep_file, expected, tmp_path, seed=4)


@pytest.mark.parametrize("name", ["games.parquet", "done.json", "tables/win_rates.csv", "figures/turns.svg"])
def test_what_is_derived_is_made_again_from_the_parts(name, sweep_file, expected, tmp_path):
    folder = shutil.copytree(expected, tmp_path / "s")
    (folder / name).write_bytes((folder / name).read_bytes()[:-7] + b"rubbish")
    kept = {f.name: f.stat().st_mtime_ns for f in (folder / "parts").iterdir()}
    assert repair(folder).complete
    assert products(folder) == products(expected)
    assert kept == {f.name: f.stat().st_mtime_ns for f in (folder / "parts").iterdir()}
    (folder / name).write_bytes(b"")
    run_file(sweep_file, out=folder, workers=1)  # and without repair, when the sweep is run again
    assert products(folder) == products(expected)


def test_a_damaged_plan_is_refused_and_can_be_made_again(small, sweep_file, expected, tmp_path):
    folder = shutil.copytree(expected, tmp_path / "s")
    (folder / "plan.json").write_bytes((folder / "plan.json").read_bytes()[:-40])
    with pytest.raises(GamekitError, match=r"plan.json is damaged.*--repair"):
        gk.sweep(**small, out=folder, workers=1)
    with pytest.raises(GamekitError, match=r"plan.json.*run the measurement again"):
        repair(folder)
    run_file(sweep_file, out=folder, workers=1)  # the parts say by their names what they hold
    assert products(folder) == products(expected)
    assert parts(folder) == parts(expected)


def test_repair_of_games_in_any_order(tmp_path):
    folder = tmp_path / "s"
    played = gk.sweep(["mnk", "connect_four", "candy"], ["random", "leftmost"], games_each=4, out=folder, workers=1)
    sorted((folder / "parts").iterdir())[1].write_bytes(b"PAR1")
    assert not verify(folder).ok
    assert repair(folder).complete
    assert gk.load(folder).equals(played)


@pytest.mark.parametrize(
    ("measure", "options"),
    [
        (gk.searches, {"players": "alphabeta(depth={1,2})"}),
        (gk.accuracy, {"players": ["random", "leftmost"]}),
        (gk.values, {"heuristics": "all"}),
    ],
)
def test_other_measurements_are_repaired_too(measure, options, tmp_path):
    folder = tmp_path / "s"
    found = measure("mnk", positions=4, plies=(0, 4), **options, out=folder, workers=1)
    victim = sorted((folder / "parts").iterdir())[0]
    victim.write_bytes(victim.read_bytes()[:-9])
    (folder / "done.json").unlink()
    with pytest.raises(GamekitError, match="--repair"):
        measure("mnk", positions=4, plies=(0, 4), **options, out=folder, workers=1)
    assert repair(folder).complete
    assert gk.load(folder).equals(found)


def test_with_code_of_the_user_s_own_repair_leaves_the_rest_to_the_sweep(tmp_path):
    def mine(position):
        return position.moves()[0]

    folder = tmp_path / "s"
    found = gk.sweep("mnk", mine, ["random", "leftmost"], games_each=2, out=folder, workers=1)
    victim = sorted((folder / "parts").iterdir())[0]
    victim.write_bytes(victim.read_bytes()[:-9])
    report = repair(folder)
    assert not report.complete
    assert "2 of 4 are missing" in str(report)
    (folder / "games.parquet").unlink()
    assert gk.sweep("mnk", mine, ["random", "leftmost"], games_each=2, out=folder, workers=1).equals(found)
    assert verify(folder).complete
