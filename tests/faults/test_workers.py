"""Workers that die or have other code: on one machine, on a cluster, by accident or by a player's hand."""

import contextlib
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future
from pathlib import Path

import cloudpickle
import psutil
import pytest
from conftest import parts, products, stored

import gamekit as gk
from gamekit.analysis.overview import finish
from gamekit.errors import GamekitError
from gamekit.experiments.folder import Folder, verify

LARGER = {
    "games": ["connect_four"],
    "players": ["alphabeta(depth={5,6})"],
    "opponents": ["random"],
    "games_each": 500,
    "openings": 20,
    "seed": 3,
}


def swept(folder, **how):
    """The larger sweep with its tables and figures."""
    finish(Folder(folder), gk.sweep(**LARGER, out=folder, **how))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "s"
    swept(folder, workers=1)
    return folder


def workers():
    """The processes of the sweep's workers (not the players' processes inside them)."""
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if any("loky" in word for word in child.cmdline()) and "resource_tracker" not in " ".join(child.cmdline()):
                found.append(child)
    return found


def killer(folder, times, pause, deaths, over):
    """Wait until games come in, then kill one worker after the other."""
    chance = random.Random(1)
    while not stored(folder) and not over.is_set():
        time.sleep(0.02)
    while len(deaths) < times and not over.is_set():
        time.sleep(pause * (0.5 + chance.random()))
        if victims := workers():
            victim = chance.choice(victims)
            with contextlib.suppress(psutil.Error):
                victim.kill()
                deaths.append(victim.pid)


def check_killed(times, pause, undisturbed, folder):
    deaths, over = [], threading.Event()
    thread = threading.Thread(target=killer, args=(folder, times, pause, deaths, over))
    thread.start()
    try:
        swept(folder, workers=2)
    finally:
        over.set()
        thread.join()
    assert stored(folder) == 1000
    assert products(folder) == products(undisturbed)
    return len(deaths)


def test_a_killed_worker_does_not_show(undisturbed, tmp_path):
    assert check_killed(1, 0.1, undisturbed, tmp_path / "s") == 1


@pytest.mark.long
def test_ten_killed_workers_do_not_show(tmp_path, monkeypatch):
    """A longer sweep, so that there is something to kill ten times."""
    monkeypatch.setitem(LARGER, "players", ["alphabeta(depth={7,8})"])
    swept(tmp_path / "undisturbed", workers=2)
    assert check_killed(10, 1.5, tmp_path / "undisturbed", tmp_path / "s") == 10


def assassin(position):
    """Kills the process above its own, which is the worker."""
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(5)


def test_a_game_that_kills_its_worker_is_recorded(tmp_path):
    """It is not tried for ever, and the others play on."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        found = gk.sweep("mnk", [assassin, "leftmost"], ["random"], games_each=2, workers=2, out=tmp_path / "s")
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    assert found.player.tolist() == ["assassin"] * 2 + ["leftmost"] * 2
    bad = found[found.player == "assassin"]
    assert set(bad.termination) == {"crash"}
    assert set(bad.result) == {"draw"}
    assert bad.note.str.contains("worker died").all()
    assert set(found[found.player == "leftmost"].termination) <= {"win", "draw"}
    assert found.luck.nunique() == 1
    assert verify(tmp_path / "s").complete


def test_a_search_that_kills_its_worker_is_a_row():
    """Positions are searched in the worker itself, so a player that ends the process ends the worker."""

    def leaves(position):
        os._exit(3)

    found = gk.searches("mnk", [leaves, "leftmost"], [""], workers=2)
    assert found.player.tolist() == ["leaves", "leftmost"]
    assert found[found.player == "leaves"].error.str.contains("worker died").all()
    assert found[found.player == "leftmost"].move.tolist() == ["0,0"]


class Elsewhere(Executor):
    """A worker of its own for every call, with the code of another folder."""

    def __init__(self, code):
        self.code = code

    def submit(self, work, /, *arguments, **named):
        future: Future = Future()
        loader = "import sys, cloudpickle as c\ntry: r = c.load(sys.stdin.buffer)()\nexcept Exception as e: r = e\n"
        done = subprocess.run(
            [sys.executable, "-c", loader + "sys.stdout.buffer.write(c.dumps(r))"],
            input=cloudpickle.dumps(lambda: work(*arguments, **named)),
            env={**os.environ, "PYTHONPATH": str(self.code)},
            cwd=self.code,
            stdout=subprocess.PIPE,
            check=True,
        )
        result = cloudpickle.loads(done.stdout)
        future.set_exception(result) if isinstance(result, Exception) else future.set_result(result)
        return future


@pytest.mark.parametrize("changed", [False, True])
def test_a_worker_with_other_code_is_refused(changed, tmp_path):
    package = Path(gk.__file__).parent
    shutil.copytree(package, tmp_path / "gamekit", ignore=shutil.ignore_patterns("__pycache__"))
    simple = tmp_path / "gamekit" / "players" / "simple.py"
    if changed:
        simple.write_text(simple.read_text() + "\n\nEXTRA = 1\n")
    sweep = {"games": "mnk", "players": "random", "opponents": "leftmost", "games_each": 4, "out": tmp_path / "s"}
    if not changed:
        assert len(gk.sweep(**sweep, executor=Elsewhere(tmp_path))) == 4
        return
    with pytest.raises(
        GamekitError, match=r"other code of gamekit \([0-9a-f]{16}\) than this process \([0-9a-f]{16}\)"
    ):
        gk.sweep(**sweep, executor=Elsewhere(tmp_path))
    assert parts(tmp_path / "s") == {}


# ---------------------------------------------------------------------------------------- cluster


@contextlib.contextmanager
def cluster(workers, tmp_path, protocol="tcp", **settings):
    """A Dask scheduler and workers as processes of their own, on loopback; yields address and processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"{protocol}://127.0.0.1:{port}"
    environment = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "20s", **settings}
    shared = ["--host", "127.0.0.1", "--protocol", protocol]
    processes = []

    def start(kind, *arguments):
        processes.append(
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments, *shared],
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )

    start("scheduler", "--port", str(port), "--no-dashboard")
    for _ in range(workers):
        start("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", str(tmp_path))
    deadline = time.monotonic() + 30
    with contextlib.closing(socket.socket()) as knock:
        while knock.connect_ex(("127.0.0.1", port)) and time.monotonic() < deadline:
            time.sleep(0.1)
    try:
        yield address, processes
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.long
def test_a_cluster_plays_the_same_games(undisturbed, tmp_path):
    with cluster(2, tmp_path) as (address, _):
        swept(tmp_path / "s", executor=address)
    assert products(tmp_path / "s") == products(undisturbed)


@pytest.mark.long
def test_an_executor_of_dask_plays_the_same_games(undisturbed, tmp_path):
    from distributed import Client

    with cluster(2, tmp_path) as (address, _), Client(address) as client:
        swept(tmp_path / "s", executor=client.get_executor())
    assert products(tmp_path / "s") == products(undisturbed)


def when_stored(folder, count, act):
    """Do something as soon as so many games are stored."""

    def watch():
        while stored(folder) < count:
            time.sleep(0.01)
        act()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


@pytest.mark.long
def test_a_killed_cluster_worker_does_not_show(undisturbed, tmp_path):
    with cluster(2, tmp_path) as (address, processes):
        watching = when_stored(tmp_path / "s", 30, lambda: os.killpg(processes[1].pid, signal.SIGKILL))
        swept(tmp_path / "s", executor=address)
        watching.join()
    assert products(tmp_path / "s") == products(undisturbed)


@pytest.mark.long
def test_a_killed_scheduler_is_said_in_one_sentence(undisturbed, tmp_path):
    killed = []

    def kill():
        os.killpg(processes[0].pid, signal.SIGKILL)
        killed.append(time.monotonic())

    with cluster(2, tmp_path) as (address, processes):
        when_stored(tmp_path / "s", 30, kill)
        with pytest.raises(GamekitError, match=re.escape(address) + r".*run the same again to resume"):
            swept(tmp_path / "s", executor=address)
        assert time.monotonic() - killed[0] < 15
    assert verify(tmp_path / "s").ok
    swept(tmp_path / "s", workers=2)
    assert products(tmp_path / "s") == products(undisturbed)


@pytest.mark.long
def test_a_scheduler_without_workers_is_said_in_one_sentence(tmp_path):
    with cluster(0, tmp_path) as (address, _):
        begun = time.monotonic()
        with pytest.raises(GamekitError, match="has no workers"):
            swept(tmp_path / "s", executor=address)
        assert time.monotonic() - begun < 15


@pytest.mark.long
def test_a_cluster_with_other_code_is_refused(tmp_path):
    code = tmp_path / "code"
    shutil.copytree(Path(gk.__file__).parent, code / "gamekit", ignore=shutil.ignore_patterns("__pycache__"))
    simple = code / "gamekit" / "players" / "simple.py"
    simple.write_text(simple.read_text() + "\n\nEXTRA = 1\n")
    with cluster(1, tmp_path, PYTHONPATH=str(code)) as (address, _):
        refused = pytest.raises(GamekitError, match="other code of gamekit")
        with refused:
            swept(tmp_path / "s", executor=address)
    assert parts(tmp_path / "s") == {}


@pytest.mark.long
def test_a_cluster_behind_tls(tmp_path):
    """Dask's own settings decide: with a certificate the sweep is played, without one the scheduler stays shut."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    make = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=gamekit -keyout".split()
    subprocess.run([*make, key, "-out", certificate], check=True, capture_output=True)
    prefix = "DASK_DISTRIBUTED__COMM__"
    settings = {f"{prefix}REQUIRE_ENCRYPTION": "True", f"{prefix}TLS__CA_FILE": str(certificate)}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        settings |= {f"{prefix}TLS__{role}__CERT": str(certificate), f"{prefix}TLS__{role}__KEY": str(key)}
    (tmp_path / "sweep.yaml").write_text(
        "{games: [mnk], players: [random], opponents: ['alphabeta(depth=2)'], games_each: 40, seed: 1}"
    )

    def run(folder, *where, **environment):
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
        closed = run("closed", "--scheduler", address)
        assert closed.returncode == 2
        assert closed.stderr.splitlines()[-1].startswith("gamekit: no Dask scheduler answers at 'tls://")
        assert run("far", "--scheduler", address, **settings).returncode == 0
    assert run("near", "--workers", "1").returncode == 0
    assert products(tmp_path / "far") == products(tmp_path / "near")


@pytest.mark.parametrize("address", ["nonsense://x", "http://127.0.0.1:1", "x", "", "a\nb", "inproc://x", "processes"])
def test_an_address_that_is_none_is_refused_at_once(address, tmp_path):
    begun = time.monotonic()
    with pytest.raises(GamekitError, match="no Dask scheduler answers at") as caught:
        gk.sweep("mnk", "random", "leftmost", games_each=2, executor=address, out=tmp_path / "s")
    assert "\n" not in str(caught.value)
    assert time.monotonic() - begun < 2
    assert parts(tmp_path / "s") == {}


@pytest.mark.long
def test_nobody_at_an_address_is_said_within_15_seconds():
    begun = time.monotonic()
    with pytest.raises(GamekitError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        gk.sweep("mnk", "random", "leftmost", games_each=2, executor="tcp://127.0.0.1:9")
    assert time.monotonic() - begun < 15
