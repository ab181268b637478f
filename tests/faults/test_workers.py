"""Workers that die: on one machine, on a cluster, by accident or by a player's hand."""

import contextlib
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import cloudpickle
import psutil
import pytest
from conftest import games, products
from gamekit.experiments.old_sweep import sweep

from gamekit.experiments import old_pool as pool

LARGER = {
    "games": ["connect_four"],
    "players": ["alphabeta(depth={2,3})"],
    "opponents": ["random"],
    "games_each": 200,
    "openings": 20,
    "seed": 3,
    "block": 10,
}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "s"
    sweep(**LARGER, out=folder, workers=1)
    return folder


def workers():
    """The processes of the sweep's workers (not the players' processes inside them)."""
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if any("loky" in word for word in child.cmdline()) and "resource_tracker" not in " ".join(child.cmdline()):
                found.append(child)
    return found


def stored(folder):
    try:
        return len(games(folder))
    except sqlite3.Error:
        return 0


def killer(folder, times, pause, deaths, over):
    """Wait until games come in, then kill one worker after the other."""
    chance = random.Random(1)
    while not stored(folder) and not over.is_set():
        time.sleep(0.02)
    while len(deaths) < times and not over.is_set():
        time.sleep(pause * (0.5 + chance.random()))
        victims = workers()
        if victims:
            victim = chance.choice(victims)
            with contextlib.suppress(psutil.Error):
                victim.kill()
                deaths.append(victim.pid)


def check_killed(times, pause, undisturbed, folder):
    deaths, over = [], threading.Event()
    thread = threading.Thread(target=killer, args=(folder, times, pause, deaths, over))
    thread.start()
    try:
        sweep(**LARGER, out=folder, workers=2)
    finally:
        over.set()
        thread.join()
    assert games(folder) == games(undisturbed)
    assert products(folder) == products(undisturbed)
    return len(deaths)


def test_a_killed_worker_does_not_show(undisturbed, tmp_path):
    assert check_killed(1, 0.1, undisturbed, tmp_path / "s") == 1


@pytest.mark.long
def test_ten_killed_workers_do_not_show(undisturbed, tmp_path, monkeypatch):
    """The games are slowed down so that there is something to kill ten times."""
    monkeypatch.setitem(LARGER, "games_each", 200)
    slow = pool.play_job

    def slowed(packed, job):
        time.sleep(0.7)
        return slow(packed, job)

    monkeypatch.setattr(pool, "play_job", slowed)
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        assert check_killed(10, 1.5, undisturbed, tmp_path / "s") == 10
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@pytest.mark.long
def test_a_job_that_kills_its_worker_is_recorded(monkeypatch):
    """Even a player that kills the process above its own ends in a record, and the others play on."""

    def assassin(position):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(5)

    monkeypatch.setattr(pool, "BREAKS", 1)
    found = sweep("mnk", [assassin, "random"], "random", games_each=4, block=2, workers=2).frame()
    assert len(found) == 8
    bad = found[found.player == "assassin"]
    assert set(bad.termination) == {"crash"}
    assert set(found[found.player == "random"].termination) <= {"win", "draw"}


# ------------------------------------------------------------------------------ cluster


@contextlib.contextmanager
def cluster(workers, tmp_path, protocol="tcp", **settings):
    """A Dask scheduler and workers as processes of their own, on loopback; yields address and processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"{protocol}://127.0.0.1:{port}"
    environment = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "20s", **settings}
    dask = [sys.executable, "-m", "distributed.cli.dask_worker"]

    def start(*command):
        return subprocess.Popen(
            command,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    processes = [
        start(
            sys.executable,
            "-m",
            "distributed.cli.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--protocol",
            protocol,
            "--port",
            str(port),
            "--no-dashboard",
        )
    ]
    processes += [
        start(
            *dask,
            address,
            "--nthreads",
            "1",
            "--no-dashboard",
            "--no-nanny",
            "--local-directory",
            str(tmp_path),
            "--host",
            "127.0.0.1",
            "--protocol",
            protocol,
        )
        for _ in range(workers)
    ]
    try:
        yield address, processes[1:]
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.long
def test_a_cluster_plays_the_same_games(undisturbed, tmp_path):
    with cluster(2, tmp_path) as (address, _):
        sweep(**LARGER, out=tmp_path / "s", scheduler=address)
    assert games(tmp_path / "s") == games(undisturbed)
    assert products(tmp_path / "s") == products(undisturbed)


@pytest.mark.long
def test_a_killed_cluster_worker_does_not_show(undisturbed, tmp_path):
    with cluster(2, tmp_path) as (address, processes):
        at = []

        def kill():
            while stored(tmp_path / "s") < 30:
                time.sleep(0.01)
            os.killpg(processes[0].pid, signal.SIGKILL)
            at.append(stored(tmp_path / "s"))

        thread = threading.Thread(target=kill)
        thread.start()
        sweep(**LARGER, out=tmp_path / "s", scheduler=address)
        thread.join()
        assert at[0] < 400  # in the middle
    assert games(tmp_path / "s") == games(undisturbed)
    assert products(tmp_path / "s") == products(undisturbed)


@pytest.mark.long
def test_a_cluster_behind_tls(tmp_path):
    """Dask's own settings decide: with a certificate the sweep is played, without one the scheduler stays shut."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=gamekit",
            "-keyout",
            key,
            "-out",
            certificate,
        ],
        check=True,
        capture_output=True,
    )
    settings = {
        "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "True",
        "DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(certificate),
    }
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        settings |= {
            f"DASK_DISTRIBUTED__COMM__TLS__{role}__CERT": str(certificate),
            f"DASK_DISTRIBUTED__COMM__TLS__{role}__KEY": str(key),
        }
    (tmp_path / "sweep.yaml").write_text(
        "{games: [mnk], players: [random], opponents: ['alphabeta(depth=2)'], games_each: 40, seed: 1}",
        encoding="utf-8",
    )

    def swept(folder, *where, **environment):
        return subprocess.run(
            [sys.executable, "-m", "gamekit.cli", "sweep", "sweep.yaml", "--out", folder, *where],
            cwd=tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    with cluster(1, tmp_path, "tls", **settings) as (address, _):
        closed = swept("closed", "--scheduler", address)
        assert closed.returncode == 2
        assert closed.stderr.splitlines()[-1].startswith("gamekit: no Dask scheduler answers at 'tls://")
        assert swept("far", "--scheduler", address, **settings).returncode == 0
    assert swept("near", "--workers", "1").returncode == 0
    assert products(tmp_path / "far") == products(tmp_path / "near")


def test_no_scheduler_is_said_in_one_sentence(monkeypatch):
    from gamekit.errors import GamekitError

    with pytest.raises(GamekitError, match="no Dask scheduler answers at 'nonsense://x'"):
        sweep("mnk", "random", "random", games_each=2, scheduler="nonsense://x")
