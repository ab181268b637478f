"""A real JupyterLab, its own port, token and folders, in a real browser; both are stopped by what was started here."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, sync_playwright

from gamekit.notebook.lab import command, environment

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def find_chromium() -> str:
    """The browser; its absence fails the tests, for a skipped one shows nothing."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    assert found, "no chromium on this machine: install Debian's chromium, or name another in CHROMIUM"
    return found


class Lab:
    """The running server: notebooks are put into its folder and opened in a page that keeps account of its requests."""

    def __init__(self, folder: Path, browser):
        self.folder, self.browser, self.token, self.faults = folder, browser, secrets.token_hex(16), []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        places = {
            name: str(folder / name.lower())
            for name in (
                "JUPYTER_CONFIG_DIR",
                "JUPYTER_DATA_DIR",
                "JUPYTER_RUNTIME_DIR",
                "IPYTHONDIR",
                "JUPYTERLAB_SETTINGS_DIR",
                "JUPYTERLAB_WORKSPACES_DIR",
            )
        }
        self.work = folder / "work"
        self.work.mkdir()
        self.log = (folder / "server.log").open("wb")
        self.server = subprocess.Popen(
            command(self.work, self.port, browser=False),
            cwd=self.work,
            stdout=self.log,
            stderr=self.log,
            env={**environment(self.token), **places},
        )
        self.url = f"http://127.0.0.1:{self.port}"
        for _ in range(300):
            try:
                self.ask("/api/status")
                return
            except OSError:
                if self.server.poll() is not None:
                    break
                time.sleep(0.1)
        raise AssertionError((folder / "server.log").read_text())

    def ask(self, path: str):
        request = urllib.request.Request(f"{self.url}{path}", headers={"Authorization": f"token {self.token}"})
        with urllib.request.urlopen(request, timeout=5) as answer:
            return json.loads(answer.read())

    def sessions(self, name: str) -> list[dict]:
        return [s for s in self.ask("/api/sessions") if s["path"] == name]

    def open(self, notebook: Path | list[str], name: str = "test.ipynb", theme: str = "light") -> Page:
        """A notebook, given as a file or as the texts of its cells, opened and run from top to bottom."""
        target = self.work / name
        if isinstance(notebook, Path):
            shutil.copy(notebook, target)
        else:
            nbformat.write(
                nbformat.v4.new_notebook(
                    cells=[nbformat.v4.new_code_cell(text) for text in notebook],
                    metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
                ),
                target,
            )
        page = self.browser.new_page(viewport={"width": 1320, "height": 1150})
        page.on("pageerror", lambda error: self.faults.append(f"page error: {error}"))
        page.on("request", lambda request: self._watch(request.url))
        page.on("websocket", lambda socket: self._watch(socket.url))
        page.set_default_timeout(20_000)
        page.goto(f"{self.url}/lab/tree/{name}?token={self.token}&reset")
        self.wait(
            lambda: any(
                s["kernel"]["execution_state"] == "idle" and s["kernel"]["connections"] >= 1
                for s in self.sessions(name)
            ),
            "the kernel to be idle and connected",
        )
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        wanted = f"body[data-jp-theme-light='{'true' if theme == 'light' else 'false'}']"
        if not page.locator(wanted).count():
            self.menu(page, "Settings", "Theme", f"JupyterLab {theme.title()}")
            page.wait_for_selector(wanted, state="attached")
        self.menu(page, "Run", "Run All Cells")
        return page

    @staticmethod
    def menu(page: Page, *path: str) -> None:
        page.locator(".lm-MenuBar-itemLabel", has_text=path[0]).first.click()
        for text in path[1:]:
            item = page.locator(".lm-Menu-itemLabel").get_by_text(text, exact=True).first
            item.wait_for()
            item.hover() if text != path[-1] else item.click()

    def _watch(self, url: str) -> None:
        if not url.startswith((f"{self.url}/", f"ws://127.0.0.1:{self.port}/", "data:", "blob:")):
            self.faults.append(f"a request left the machine: {url}")

    @staticmethod
    def wait(true, what: str, seconds: float = 25) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if true():
                return
            time.sleep(0.1)
        raise AssertionError(f"waited {seconds} s for {what}")

    def finished(self, page: Page, cells: int, seconds: float = 40) -> None:
        """Every code cell has run, and none ended in an error."""
        ran = "all => all.filter(p => /^\\[\\d+\\]:$/.test(p.textContent)).length"
        prompts = page.locator(".jp-CodeCell .jp-InputArea-prompt")
        self.wait(lambda: prompts.evaluate_all(ran) >= cells, f"{cells} cells to have run", seconds)
        errors = page.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr'], .jp-mod-error")
        wrong = [text for text in errors.all_inner_texts() if "Error" in text]
        assert not wrong, wrong

    def close(self) -> None:
        self.server.terminate()
        try:
            self.server.wait(10)
        except subprocess.TimeoutExpired:
            self.server.kill()
        self.log.close()


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        lab = Lab(tmp_path_factory.mktemp("lab"), browser)
        try:
            yield lab
        finally:
            lab.close()
            browser.close()


@pytest.fixture(autouse=True)
def _nothing_wrong(request):
    """After every test here: no error on the page, no request that left the machine."""
    yield
    if "lab" in request.fixturenames:
        lab = request.getfixturevalue("lab")
        faults, lab.faults = lab.faults, []
        assert not faults, faults


@pytest.fixture
def shots() -> Path | None:
    """Where screenshots go, if anyone wants to look at them."""
    folder = os.environ.get("GAMEKIT_SHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder) if folder else None
