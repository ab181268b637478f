"""Files never half written, parts and derived files with digests, one measurement a folder."""

from __future__ import annotations

import json
import os

import pytest

import gamekit as gk
from gamekit.errors import GamekitError
from gamekit.experiments.files import FolderError, Lock, write_file
from gamekit.experiments.folder import drop_damaged, verify

SWEEP = {"games": "mnk", "players": ["random", "leftmost"], "opponents": "random", "games_each": 4, "seed": 1}


@pytest.fixture
def folder(tmp_path):
    gk.sweep(**SWEEP, out=tmp_path / "s", workers=1)
    return tmp_path / "s"


def test_the_layout_is_the_documented_one(folder):
    assert {f.name for f in folder.iterdir()} == {"plan.json", "parts", "games.parquet", "done.json"}
    plan = json.loads((folder / "plan.json").read_text())["content"]
    assert plan["measure"] == "games"
    assert plan["arguments"]["games_each"] == 4
    assert {"python", "gamekit", "numpy", "numba"} <= set(plan["versions"])
    assert len(list((folder / "parts").glob("*.parquet"))) == 2


def test_a_folder_says_what_it_is(folder, tmp_path):
    assert verify(tmp_path / "nothing").status == "absent"
    assert not verify(tmp_path / "nothing").ok
    report = verify(folder)
    assert (report.status, report.done, report.units) == ("complete", 8, 8)
    assert report.complete
    (folder / "done.json").unlink()
    report = verify(folder)
    assert report.status == "8 of 8"  # all games, but what is derived is not marked as whole
    assert report.ok
    assert not report.complete
    sorted((folder / "parts").iterdir())[0].unlink()
    assert verify(folder).status == "4 of 8"
    assert verify(folder).ok


def test_a_missing_part_of_a_complete_folder_is_found(folder):
    sorted((folder / "parts").iterdir())[0].unlink()
    report = verify(folder)
    assert not report.ok
    assert "4 of 8 are missing" in str(report)
    assert len(gk.load(folder)) == 8  # the frame itself is whole
    gk.sweep(**SWEEP, out=folder, workers=1)
    assert verify(folder).complete


@pytest.mark.parametrize("name", ["plan.json", "done.json", "games.parquet", "parts"])
def test_changed_bytes_are_found_and_named(folder, name):
    file = folder / name if name != "parts" else sorted((folder / "parts").iterdir())[1]
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 4
    file.write_bytes(data)
    report = verify(folder)
    assert not report.complete
    assert str(file) in report.problems[0]
    assert report.to_dict()["damaged"] == [file.name]
    drop_damaged(folder)
    again = gk.sweep(**SWEEP, out=folder, workers=1)  # what is left is enough, or measured again
    assert verify(folder).complete
    assert len(again) == 8


def test_parts_are_not_mixed_up(folder):
    one, two = sorted((folder / "parts").iterdir())
    (folder / "done.json").unlink()
    (folder / "games.parquet").unlink()
    copy = one.rename(one.with_name(one.name.replace("0-4", "2-6")))
    report = verify(folder)
    assert not report.ok
    assert copy.name in str(report)
    copy.rename(one)
    copied = two.with_name(two.name.replace("0-4", "0-2"))
    copied.write_bytes(two.read_bytes())
    assert not verify(folder).ok
    with pytest.raises(FolderError, match=r"parts/.* and .* hold the same"):
        gk.sweep(**SWEEP, out=folder, workers=1)


def test_write_file_leaves_no_half_file(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "table.csv"
    write_file(path, "old")

    def full(*_):
        raise OSError(28, "No space left on device")

    for call in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, full)
            with pytest.raises(FolderError, match=r"table.csv: No space left"):
                write_file(path, "new")
        assert path.read_text() == "old"
        assert os.listdir(path.parent) == ["table.csv"]
    write_file(path, "new")
    assert path.read_text() == "new"


def test_one_measurement_a_folder(tmp_path):
    with Lock(tmp_path), pytest.raises(FolderError, match="in use by another measurement of this process"):
        Lock(tmp_path)
    assert os.listdir(tmp_path) == []
    with Lock(tmp_path):
        assert os.listdir(tmp_path) == ["lock"]


def test_a_dead_owner_is_taken_over_with_a_warning(tmp_path):
    (tmp_path / "lock").write_text(json.dumps({"pid": 1234567, "host": "there", "since": "then"}))
    with pytest.warns(RuntimeWarning, match="process 1234567 on there"), Lock(tmp_path):
        pass


def test_drafts_of_a_running_measurement_are_left_alone(folder):
    """Whoever is refused has no business removing what the other is writing."""
    draft = folder / ".gamekit-abc.part"
    draft.write_text("half")
    with Lock(folder), pytest.raises(GamekitError, match="in use"):
        gk.sweep(**SWEEP, out=folder)
    assert draft.exists()
    gk.sweep(**SWEEP, out=folder, workers=1)
    assert not draft.exists()


# ------------------------------------------------------------------------- other people's files


@pytest.mark.parametrize("name", ["thesis.tex", ".thesis.part1.tex", "lock.txt", "sub", "notes.parquet"])
def test_a_folder_with_other_files_is_refused_and_left_as_it_was(tmp_path, name):
    home = tmp_path / "home"
    (home / "parts").mkdir(parents=True)
    mine = home / name
    mine.mkdir() if name == "sub" else mine.write_text("mine")
    (home / "parts" / ".download.partial").write_text("mine")
    with pytest.raises(GamekitError, match="holds other files"):
        gk.sweep(**SWEEP, out=home)
    assert sorted(p.name for p in home.rglob("*")) == sorted([name, "parts", ".download.partial"])


def test_a_file_called_lock_that_is_not_ours_is_left_as_it_was(tmp_path):
    (tmp_path / "lock").write_text("my notes")
    with pytest.raises(GamekitError, match="lock"):
        gk.sweep(**SWEEP, out=tmp_path, workers=1)
    assert (tmp_path / "lock").read_text() == "my notes"


@pytest.mark.parametrize("name", ["lock", "plan.json", "done.json", "games.parquet", "parts", "tables"])
def test_links_are_not_followed(tmp_path, name):
    victim, home = tmp_path / "victim", tmp_path / "home"
    gk.sweep(**SWEEP, out=home, workers=1)
    victim.mkdir() if name in ("parts", "tables") else victim.write_text("precious")
    if (home / name).is_dir():
        for part in (home / name).iterdir():
            part.unlink()
        (home / name).rmdir()
    (home / name).unlink(missing_ok=True)
    (home / name).symlink_to(victim)
    with pytest.raises(GamekitError, match=rf"{name} is a symbolic link"):
        gk.sweep(**SWEEP | {"games_each": 6}, out=home, workers=1)
    assert (home / name).is_symlink()
    assert list(victim.iterdir()) == [] if victim.is_dir() else victim.read_text() == "precious"


def test_rubbish_in_place_of_results(tmp_path):
    (tmp_path / "plan.json").write_bytes(b"\x80\x04cos\nsystem\n")  # a pickle is never evaluated
    assert not verify(tmp_path).ok
    with pytest.raises(FolderError, match=r"plan.json is damaged"):
        gk.sweep(**SWEEP, out=tmp_path)
    assert os.listdir(tmp_path) == ["plan.json"]
