"""Flipped and missing bytes: every one is found, resuming refuses, and repair plays only what was lost."""

import random
import shutil

import pytest
from conftest import games, products
from gamekit.experiments.old_store import StoreError
from gamekit.experiments.old_sweep import repair, sweep
from gamekit.experiments.old_verify import keep_whole, verify

PLACES = 200


def damages(data, count, seed=1):
    """So many damaged copies: most with one flipped bit anywhere, some cut short."""
    chance = random.Random(seed)
    for number in range(count):
        if number % 8 == 0:
            yield f"cut {(at := chance.randrange(len(data)))}", data[:at]
        else:
            at = chance.randrange(len(data))
            changed = bytearray(data)
            changed[at] ^= 1 << chance.randrange(8)
            yield f"bit {at}", bytes(changed)


def test_every_damage_is_found(expected, tmp_path):
    folder = shutil.copytree(expected, tmp_path / "s")
    records = folder / "records.sqlite"
    whole = records.read_bytes()
    missed = []
    for what, data in damages(whole, PLACES):
        records.write_bytes(data)
        if verify(folder).ok:
            missed.append(what)
    assert missed == []
    records.write_bytes(whole)
    assert verify(folder).complete


def test_damage_elsewhere_is_found_too(expected, tmp_path):
    folder = shutil.copytree(expected, tmp_path / "s")
    for file in [f for f in folder.rglob("*") if f.is_file() and f.name != "records.sqlite"]:
        data = file.read_bytes()
        for at in (0, len(data) // 2, len(data) - 2):
            changed = bytearray(data)
            changed[at] ^= 4
            file.write_bytes(changed)
            assert not verify(folder).ok, (file, at)
        file.write_bytes(data)
    assert verify(folder).complete


def test_without_a_seal_every_row_is_still_checked(expected, tmp_path):
    """After a hard kill there is no seal; what a row says is checked all the same."""
    folder = shutil.copytree(expected, tmp_path / "s")
    (folder / "seal.json").unlink()
    records = folder / "records.sqlite"
    whole = records.read_bytes()
    right = games(folder)
    for what, data in damages(whole, 60, seed=2):
        records.write_bytes(data)
        if verify(folder).ok:
            assert games(folder) == right, what  # it struck where nothing is


def check_repair(count, small, expected, tmp_path, seed):
    folder = shutil.copytree(expected, tmp_path / "s")
    records = folder / "records.sqlite"
    whole = records.read_bytes()
    dropped = []
    for what, data in damages(whole, count, seed):
        if what.startswith("cut"):
            continue
        shutil.rmtree(folder)
        shutil.copytree(expected, folder)
        records.write_bytes(data)
        with pytest.raises(StoreError) as caught:
            sweep(**small, out=folder, workers=1)
        assert str(folder) in str(caught.value)
        assert "--repair" in str(caught.value) or "another" in str(caught.value)
        report = repair(folder, workers=1)
        assert report.complete, what
        assert games(folder) == games(expected)
        assert products(folder) == products(expected)
        dropped.append(report.dropped)
    return dropped


def test_repair_plays_only_what_was_lost(small, expected, tmp_path):
    dropped = check_repair(4, small, expected, tmp_path, seed=3)
    assert sorted(dropped)[len(dropped) // 2] <= 1  # of 8


@pytest.mark.long
def test_repair_of_many(small, expected, tmp_path):
    dropped = check_repair(60, small, expected, tmp_path, seed=4)
    assert sorted(dropped)[len(dropped) * 3 // 4] <= 1


def test_a_lost_first_page_costs_nothing(small, expected, tmp_path):
    """SQLite reads nothing without its header; the header is the same in every store and is made anew."""
    folder = shutil.copytree(expected, tmp_path / "s")
    records = folder / "records.sqlite"
    data = bytearray(records.read_bytes())
    data[:200] = bytes(200)
    records.write_bytes(data)
    kept = keep_whole(folder)
    assert (kept.done, kept.jobs) == (8, 8)
    assert games(folder) == games(expected)
    assert repair(folder, workers=1).complete
    assert products(folder) == products(expected)


def test_a_truncated_file_gives_what_is_left(small, expected, tmp_path):
    folder = shutil.copytree(expected, tmp_path / "s")
    records = folder / "records.sqlite"
    records.write_bytes(records.read_bytes()[: records.stat().st_size * 2 // 3])
    assert repair(folder, workers=1).complete
    assert games(folder) == games(expected)
