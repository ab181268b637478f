"""Two sweeps on one folder, full disks, folders that cannot be written, other schemas: refused with the path."""

import json
import os
import resource
import sqlite3
import sys
import time

import pytest
from conftest import games, in_child, products, start_child
from gamekit.experiments.old_store import Lock, StoreError
from gamekit.experiments.old_sweep import sweep
from gamekit.experiments.old_verify import verify

from gamekit.errors import GamekitError


def test_the_second_sweep_is_told_who_holds_the_folder(tmp_path):
    folder = tmp_path / "s"

    def hold():
        Lock(folder)
        time.sleep(30)

    pid = start_child(hold)
    while not (folder / "lock").exists() or not (folder / "lock").read_text():
        time.sleep(0.01)
    started = time.monotonic()
    with pytest.raises(GamekitError, match=f"in use by process {pid} on "):
        sweep("mnk", "random", "random", games_each=2, out=folder, workers=1)
    assert time.monotonic() - started < 1
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    with pytest.warns(RuntimeWarning, match=f"process {pid} .* is gone") as told:
        sweep("mnk", "random", "random", games_each=2, out=folder, workers=1)
    assert len(told) == 1
    assert verify(folder).complete


def test_a_player_process_does_not_keep_the_lock(tmp_path):
    """Children of a killed sweep may live a moment longer; the folder is free at once all the same."""

    def hold():
        Lock(tmp_path)
        if os.fork() == 0:
            time.sleep(3)
        os._exit(0)

    in_child(hold)
    with pytest.warns(RuntimeWarning, match="is gone"):
        Lock(tmp_path).release()


@pytest.mark.parametrize("room", [4_000, 22_000, 40_000])
def test_a_full_disk_leaves_no_half_file(small, expected, tmp_path, room):
    """No file may grow beyond `room` bytes, wherever that strikes; with space again the sweep goes on."""
    folder = tmp_path / "s"
    said = tmp_path / "said"

    def run():
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        try:
            sweep(**small, out=folder, workers=1)
        except StoreError as error:
            said.write_text(str(error))
            os._exit(7)

    assert in_child(run) == 7
    assert "cannot write" in said.read_text()
    assert str(folder) in said.read_text()
    report = verify(folder, quick=True)
    assert report.ok, report.problems
    assert not report.complete
    right = products(expected)
    assert all(data == right[name] for name, data in products(folder).items())
    sweep(**small, out=folder, workers=1)
    assert products(folder) == products(expected)
    assert games(folder) == games(expected)


def test_what_cannot_be_written_is_refused_before_the_first_game(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(sys.modules["gamekit.sweep"], "run", None)  # playing would fail
    for folder in (tmp_path / "file", tmp_path / "file" / "below", "/proc/gamekit/results"):
        with pytest.raises(StoreError, match="cannot write") as caught:
            sweep("mnk", "random", "random", games_each=2, out=folder)
        assert str(folder) in str(caught.value)


def test_a_readonly_folder_is_refused_before_the_first_game(expected, tmp_path, monkeypatch):
    """Root may write anywhere, so the refusal is made by hand where the kernel would."""

    def readonly(path, flags, *rest, **named):
        if flags & (os.O_WRONLY | os.O_RDWR) and str(path).startswith(str(tmp_path)):
            raise PermissionError(13, "Read-only file system", str(path))
        return real(path, flags, *rest, **named)

    real = os.open
    monkeypatch.setattr(os, "open", readonly)
    monkeypatch.setattr(sys.modules["gamekit.sweep"], "run", None)
    with pytest.raises(StoreError, match="Read-only file system"):
        sweep("mnk", "random", "random", games_each=2, out=tmp_path)
    assert os.listdir(tmp_path) == []


def test_records_of_another_schema(tmp_path):
    from gamekit.experiments.old_store import digest

    folder = tmp_path / "s"
    grid = {"games": "mnk", "players": "random", "opponents": "random", "games_each": 2, "out": folder, "workers": 1}
    sweep(**grid)
    (folder / "seal.json").unlink()
    with sqlite3.connect(folder / "records.sqlite") as db:
        db.execute("UPDATE meta SET value = '7', digest = ? WHERE key = 'schema'", (digest("schema", "7"),))
    before = {f: f.read_bytes() for f in folder.rglob("*") if f.is_file()}
    with pytest.raises(StoreError, match=r"schema 7; this version reads schema 1"):
        sweep(**grid)
    assert before == {f: f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def test_at_any_moment_absent_or_n_of_m(small, tmp_path):
    """A folder watched while a sweep runs never says anything else, and never `complete` too soon."""
    folder = tmp_path / "s"
    pid = start_child(lambda: sweep(**small, out=folder, workers=1))
    seen = []
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        report = verify(folder, quick=True)
        assert report.ok, report.problems
        if report.complete:
            assert report.done == report.jobs
            assert len(json.loads((folder / "seal.json").read_text())["content"]["files"]) > 10
        seen.append(report.status)
        time.sleep(0.02)
    assert verify(folder).status == "complete"
    assert any(" of 8" in status for status in seen)
