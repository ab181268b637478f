"""Two sweeps on one folder, full disks, folders that cannot be written: refused with the path, nothing half done."""

import os
import resource
import time
from concurrent.futures import Executor

import pytest
from conftest import in_child, parts, products, start_child

import gamekit as gk
from gamekit.analysis.overview import run_file
from gamekit.errors import GamekitError
from gamekit.experiments.files import Lock
from gamekit.experiments.folder import verify

SHORT = {"games": "mnk", "players": "random", "opponents": "leftmost", "games_each": 2}


class Refusing(Executor):
    """Nothing is measured through this one."""

    def submit(self, *_arguments, **_named):
        raise AssertionError("something was measured")


def test_the_second_sweep_is_told_who_holds_the_folder(tmp_path):
    folder = tmp_path / "s"
    long = {"games": "connect_four", "players": "alphabeta(depth=6)", "opponents": "random", "games_each": 100_000}
    pid = start_child(lambda: gk.sweep(**long, out=folder, workers=1))
    while not parts(folder):
        time.sleep(0.05)
    started = time.monotonic()
    with pytest.raises(GamekitError, match=f"in use by process {pid} on "):
        gk.sweep(**long, out=folder, workers=1)
    assert time.monotonic() - started < 1
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    fewer = max(end for _, _, end in parts(folder).values())
    with pytest.warns(RuntimeWarning, match=f"process {pid} .* is gone") as told, pytest.raises(GamekitError):
        gk.sweep(**long | {"games_each": fewer}, out=folder, workers=1)  # refused: fewer games than were asked for
    assert len(told) == 1
    assert verify(folder).ok
    assert not (folder / "lock").exists()


def test_a_player_process_does_not_keep_the_lock(tmp_path):
    """Children of a killed sweep may live a moment longer; the folder is free at once all the same."""

    def hold():
        Lock(tmp_path)
        if os.fork() == 0:
            time.sleep(3)
        os._exit(0)

    in_child(hold)
    with pytest.warns(RuntimeWarning, match="is gone"), Lock(tmp_path):
        pass


@pytest.mark.parametrize("room", [2_000, 9_000, 30_000])
def test_a_full_disk_leaves_no_half_file(sweep_file, expected, tmp_path, room):
    """No file may grow beyond `room` bytes, wherever that strikes; with space again the sweep goes on."""
    folder = tmp_path / "s"
    said = tmp_path / "said"

    def run():
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        try:
            run_file(sweep_file, out=folder, workers=1)
        except GamekitError as error:
            said.write_text(str(error))
            os._exit(7)

    assert in_child(run) == 7
    assert "cannot write" in said.read_text()
    assert str(folder) in said.read_text()
    report = verify(folder)
    assert report.ok or not folder.exists() or report.status == "absent", report.problems
    assert not report.complete
    whole = {**products(expected), **{f"parts/{name}": None for name in parts(expected)}}
    kept = products(folder)
    kept.pop("done.json", None)
    assert all(data == whole[name] for name, data in kept.items())
    assert not list(folder.rglob("*.part"))
    run_file(sweep_file, out=folder, workers=1)
    assert products(folder) == products(expected)
    assert parts(folder) == parts(expected)


def test_what_cannot_be_written_is_refused_before_the_first_game(tmp_path):
    (tmp_path / "file").write_text("in the way")
    for folder in (tmp_path / "file", tmp_path / "file" / "below", "/proc/gamekit/results"):
        with pytest.raises(GamekitError) as caught:
            gk.sweep(**SHORT, out=folder, executor=Refusing())
        assert str(folder) in str(caught.value)
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_readonly_folder_is_refused_before_the_first_game(tmp_path, monkeypatch):
    """Root may write anywhere, so the refusal is made by hand where the kernel would."""

    def readonly(path, flags, *rest, **named):
        if flags & (os.O_WRONLY | os.O_RDWR) and str(path).startswith(str(tmp_path)):
            raise PermissionError(13, "Read-only file system", str(path))
        return real(path, flags, *rest, **named)

    real = os.open
    monkeypatch.setattr(os, "open", readonly)
    with pytest.raises(GamekitError, match="Read-only file system"):
        gk.sweep(**SHORT, out=tmp_path, executor=Refusing())
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_at_any_moment_absent_or_n_of_m(small, sweep_file, tmp_path, workers):
    """A folder watched while a sweep runs never says anything else, and never `complete` too soon."""
    folder = tmp_path / "s"
    pid = start_child(lambda: run_file(sweep_file, out=folder, workers=workers))
    seen = []
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        report = verify(folder)
        assert report.ok or report.status == "absent", report.problems
        if report.complete:
            assert report.done == report.units == 32
            assert len(gk.load(folder)) == 32
        seen.append(report.status)
        time.sleep(0.01)
    assert verify(folder).status == "complete"
    counts = [int(status.split()[0]) for status in seen if " of 32" in status]
    assert counts == sorted(counts)
    assert counts
    assert "complete" not in seen or seen.index("complete") > max(i for i, s in enumerate(seen) if " of " in s)
