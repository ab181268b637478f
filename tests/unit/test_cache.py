"""The compile cache truncated, flipped, unwritable, stale, raced for: never another result, at most one warning."""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import plain_rules
import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import warnings
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import gamekit.games
    position = gamekit.games.game("conga").start().play("00E").play("33NW").play("03SW")
    print(" ".join(position.moves()))
print(sum("gamekit" in str(w.message) for w in said))
for w in said:
    print(w.message)
"""
LINE = ["00E", "33NW", "03SW"]
RULES = plain_rules.Conga()
RIGHT = " ".join(RULES.moves(plain_rules.replay(RULES, LINE)))


def start(cache, package=ROOT, **more):
    environment = {**os.environ, "GAMEKIT_CACHE": str(cache), "PYTHONPATH": str(package), **more}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """(warnings, their texts) of a run that gave the right counts and nothing else."""
    out, err = process.communicate(timeout=180)
    assert process.returncode == 0, err
    lines = out.splitlines()
    assert lines[0] == RIGHT
    assert "Traceback" not in err
    return int(lines[1]), "\n".join(lines[2:])


def run(cache, package=ROOT, **more):
    return finish(start(cache, package, **more))


def files(cache):
    return sorted(file for file in Path(cache).rglob("*") if file.is_file())


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache that one run has filled."""
    cache = tmp_path_factory.mktemp("cache") / "filled" / "which" / "is" / "not" / "there"
    assert run(cache) == (0, "")
    assert files(cache)
    return cache


@pytest.fixture
def cache(filled, tmp_path):
    return Path(shutil.copytree(filled, tmp_path / "cache"))


def test_a_full_cache_is_read_and_left_as_it_is(cache):
    before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in files(cache)}
    assert run(cache) == (0, "")
    assert {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in files(cache)} == before


def _truncate(raw):
    return raw[: len(raw) // 2]


def _flip(raw):
    middle = len(raw) // 2
    return raw[:middle] + bytes([raw[middle] ^ 1]) + raw[middle + 1 :]


def _flip_the_sum(raw):
    return bytes([raw[0] ^ 128]) + raw[1:]


MILD = [_truncate, _flip, _flip_the_sum, lambda raw: b""]
ODD = [lambda raw: raw[:1], lambda raw: b"hello" * 50, lambda raw: b"\x80\x04N.", lambda raw: raw + raw]


@pytest.mark.parametrize("damages", [MILD, pytest.param(ODD, marks=pytest.mark.long)], ids=["mild", "odd"])
def test_damaged_files_are_compiled_anew_with_one_warning_and_healed(cache, damages):
    """Every file damaged, each in another way."""
    whole = {file: file.read_bytes() for file in files(cache)}
    assert len(whole) >= len(damages)
    for number, (file, raw) in enumerate(whole.items()):
        file.write_bytes(damages[number % len(damages)](raw))
    warned, text = run(cache)
    assert warned == 1
    assert "damaged" in text
    assert files(cache) == sorted(whole)
    assert run(cache) == (0, "")


def test_a_file_where_the_folder_should_be(tmp_path):
    blocked = tmp_path / "cache"
    blocked.write_text("not a folder")
    warned, text = run(blocked)
    assert warned == 1
    assert "cannot be written" in text
    assert str(blocked) in text
    assert blocked.read_text() == "not a folder"


@pytest.mark.long
def test_a_folder_where_a_cache_file_should_be(cache):
    for file in files(cache):
        file.unlink()
        file.mkdir()
        (file / "inside").write_text("x")
    assert run(cache)[0] <= 1


@pytest.mark.long
def test_a_folder_that_cannot_be_written(tmp_path):
    assert run("/proc/gamekit-cache")[0] == 1
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(0o500)
    try:
        assert run(locked)[0] == (0 if os.access(locked, os.W_OK) else 1)  # root may write anywhere
    finally:
        locked.chmod(0o700)


def test_two_processes_compiling_at_once_agree(tmp_path):
    cache = tmp_path / "cache"
    racing = [start(cache) for _ in range(2)]
    assert [finish(process) for process in racing] == [(0, ""), (0, "")]
    assert run(cache) == (0, "")
    assert all(file.suffix == ".code" for file in files(cache)), "nothing half-written is left"


def test_changed_source_is_never_answered_from_the_old_cache(cache, tmp_path):
    """A rule edited in a file that others import: Numba's own cache would not notice."""
    package = tmp_path / "package"
    shutil.copytree(ROOT / "gamekit", package / "gamekit", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "data").symlink_to(ROOT / "data")
    before = files(cache)
    rules = package / "gamekit" / "games" / "conga.py"
    text = rules.read_text()
    rules.write_text(f"{text}\n# a comment is no change\n")
    assert run(cache, package) == (0, "")
    assert files(cache) == before
    changed = text.replace("range(8)", "range(6)")  # the two last directions are forgotten
    assert changed != text
    rules.write_text(changed)
    out, err = (process := start(cache, package)).communicate(timeout=180)
    assert process.returncode == 0, err
    assert out.splitlines()[0] == " ".join(move for move in RIGHT.split() if not move.endswith(("S", "SE")))
    rules.write_text(text)
    assert run(cache, package) == (0, "")


def test_unloadable_content_is_compiled_again_with_one_warning(cache):
    """Whole and checksummed, but nothing that this process can load."""
    for number, file in enumerate(files(cache)):
        payload = [pickle.dumps("hello"), b"cno_such_module\nnothing\n.", b"\x80"][number % 3]
        file.write_bytes(hashlib.sha256(payload).digest() + payload)
    warned, text = run(cache)
    assert warned == 1
    assert str(cache) in text
    assert run(cache) == (0, "")


def test_a_folder_that_others_can_write_to_is_not_used(cache):
    """What lies in it would be run; here it is a file that leaves a mark when it is loaded."""
    mark = cache.parent / "mark"
    payload = pickle.dumps(Trap(str(mark)))
    for file in files(cache):
        file.write_bytes(hashlib.sha256(payload).digest() + payload)
    trapped = {file: file.read_bytes() for file in files(cache)}
    cache.chmod(0o777)
    warned, text = run(cache)
    assert warned == 1
    assert str(cache) in text
    assert not mark.exists()
    assert {file: file.read_bytes() for file in files(cache)} == trapped


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.long
def test_a_home_that_is_not_there_is_no_traceback(tmp_path):
    environment = {"HOME": "/proc/no-home", "XDG_CACHE_HOME": ""}
    environment = {**os.environ, **environment}
    environment.pop("GAMEKIT_CACHE", None)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env={**environment, "PYTHONPATH": str(ROOT)},
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert finish(process)[0] <= 1
