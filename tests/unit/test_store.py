"""Files never half written, rows with digests, a seal over all bytes, one sweep a folder."""

import json
import os
import sqlite3

import pytest
from gamekit.analysis.old_tables import frame
from gamekit.experiments.old_store import Job, Lock, Store, StoreError, sealed_rows, write_file
from gamekit.experiments.old_verify import keep_whole, seal, verify

from gamekit.experiments import old_store as rooms
from gamekit.matches.referee import Record

PLAN = {"jobs": 3, "pairs": [["mnk", "a", "b"], ["mnk", "a", "c"]], "players": {}, "openings": None}


def job(number, games=4):
    return Job(number, f"id{number}", number % 2, 0, games)


def rows(of):
    return sealed_rows(
        of, [Record(i, 1, i % 3, "win", 0, 5, f"{i}{of.job}", 3, 4, 1.5, None, "") for i in range(of.games)]
    )


@pytest.fixture
def folder(tmp_path):
    store = Store.create(tmp_path, PLAN, {"code": "x"})
    for number in (2, 0):
        store.add(job(number), rows(job(number)))
    store.close()
    return tmp_path


def test_what_is_stored_comes_back(folder):
    store = Store(folder / "records.sqlite")
    assert store.plan == PLAN
    assert store.done() == {0, 2}
    assert store.rows(2) == (job(2), rows(job(2)))
    found = frame(store)
    assert len(found) == 8
    assert found.player.tolist() == ["a"] * 8
    assert found.moves.tolist()[:2] == ["00", "10"]
    assert found.termination.tolist() == ["win"] * 8
    assert found.score2.isna().all()


def test_a_job_is_stored_whole_or_not_at_all(folder):
    store = Store(folder / "records.sqlite")
    twice = [rows(job(1))[0]] * 4
    with pytest.raises(StoreError, match="UNIQUE"):
        store.add(job(1), twice)
    assert store.done() == {0, 2}
    assert store.db.execute("SELECT count(*) FROM games").fetchone() == (8,)
    damaged = [(*row[:-1], row[-1] + 1) for row in rows(job(1))]
    with pytest.raises(StoreError, match="came back damaged"):
        store.add(job(1), damaged)
    with pytest.raises(StoreError, match="3 games of 4"):
        store.add(job(1), rows(job(1))[:3])


def test_a_folder_says_what_it_is(folder, tmp_path):
    assert verify(folder).status == "2 of 3"
    assert verify(tmp_path / "nothing", quick=True).status == "absent"
    assert not verify(tmp_path / "nothing").ok
    store = Store(folder / "records.sqlite")
    store.add(job(1), rows(job(1)))
    store.close()
    assert verify(folder).status == "3 of 3"  # all games, but tables are not made and nothing is sealed
    seal(folder, complete=True)
    assert verify(folder).status == "complete"
    assert verify(folder).complete


def test_a_changed_row_is_named(folder):
    with sqlite3.connect(folder / "records.sqlite") as db:
        db.execute("UPDATE games SET winner = 2 WHERE job = 2 AND number = 1")
    report = verify(folder)
    assert report.damaged == [2]
    assert "job 2, game 1" in report.problems[0]
    after = keep_whole(folder)
    assert after.ok
    assert (after.done, after.dropped) == (1, 1)
    assert Store(folder / "records.sqlite").done() == {0}


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM games WHERE number = 3",
        "DELETE FROM jobs WHERE job = 0",
        "UPDATE jobs SET games = 3",
        "UPDATE meta SET value = '9' WHERE key = 'schema'",
        "INSERT INTO games VALUES (7, 0, 1, 1, 'win', 0, 1, '', 0, 0, NULL, NULL, '', 1)",
        "DROP TABLE jobs",
        "DELETE FROM meta",
    ],
)
def test_changes_by_hand_are_found(folder, change):
    with sqlite3.connect(folder / "records.sqlite") as db:
        db.execute(change)
    assert not verify(folder).ok


def test_a_seal_covers_bytes_outside_any_row(folder):
    seal(folder, complete=False)
    path = folder / "records.sqlite"
    data = bytearray(path.read_bytes())
    hole = data.rindex(b"\0" * 64)
    data[hole + 7] ^= 1
    path.write_bytes(data)
    assert any("damage between byte" in text for text in verify(folder).problems)


def test_write_file_leaves_no_half_file(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "table.csv"
    write_file(path, "old")

    def full(*_):
        raise OSError(28, "No space left on device")

    for call in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(rooms.os, call, full)
            with pytest.raises(StoreError, match=r"table.csv: No space left"):
                write_file(path, "new")
        assert path.read_text() == "old"
        assert os.listdir(path.parent) == ["table.csv"]
    write_file(path, "new")
    assert path.read_text() == "new"


def test_one_sweep_a_folder(tmp_path):
    lock = Lock(tmp_path)
    with pytest.raises(StoreError, match="in use by another sweep of this process"):
        Lock(tmp_path)
    lock.release()
    assert os.listdir(tmp_path) == []
    Lock(tmp_path).release()


def test_a_dead_owner_is_taken_over_with_a_warning(tmp_path):
    (tmp_path / "lock").write_text(json.dumps({"pid": 1234567, "host": "there", "since": "then"}))
    with pytest.warns(RuntimeWarning, match="process 1234567 on there"):
        Lock(tmp_path).release()


def test_rubbish_in_place_of_records(tmp_path):
    (tmp_path / "records.sqlite").write_bytes(b"\x80\x04cos\nsystem\n")  # a pickle is never evaluated
    assert not verify(tmp_path).ok
    with pytest.raises(StoreError, match="cannot be repaired"):
        keep_whole(tmp_path)
