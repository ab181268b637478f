"""Each notebook runs at a tiny size, and the site that is built of them holds together."""

from __future__ import annotations

import html.parser
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import which
from urllib.parse import unquote

import nbformat
import pytest
from nbclient import NotebookClient
from playwright.sync_api import sync_playwright

from gamekit.notebook import runner, site, suite


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """All notebooks, once, at the tiny size, in a folder of their own."""
    home = tmp_path_factory.mktemp("results")
    before = suite.RESULTS
    suite.RESULTS = home
    try:
        done = runner.execute_all(suite.plan("tiny"))
        yield home, {result.run.home.name: result for result in done}
    finally:
        suite.RESULTS = before


@pytest.fixture(scope="module")
def built(results):
    home, _ = results
    return site.build(home / "tiny", home / "site", "tiny").parent


@pytest.mark.parametrize("name", [path.stem for path in sorted(suite.NOTEBOOKS.glob("[0-9]*_*.ipynb"))])
def test_runs_and_leaves_what_it_promised(results, name):
    home, done = results
    assert done[name].error is None, done[name].error
    for file in runner.promised(suite.NOTEBOOKS / f"{name}.ipynb"):
        assert (home / "tiny" / name / file).stat().st_size > 0


def test_a_second_run_runs_nothing(results):
    _, done = results
    again = runner.execute_all([result.run for result in done.values() if not result.error])
    assert not any(result.fresh for result in again)


def test_a_changed_parameter_or_a_damaged_table_runs_again(results):
    _, done = results
    run = done["10_conga"].run
    assert runner.is_done(run)
    assert not runner.is_done(runner.Run(run.notebook, {**run.parameters, "seed": 2}, run.home))
    table = run.home / "tables" / "perft.csv"
    kept = table.read_bytes()
    try:
        table.write_bytes(kept[:-3])
        assert not runner.is_done(run)
    finally:
        table.write_bytes(kept)


def test_two_runs_give_the_same_bytes(results, tmp_path):
    _, done = results
    run = done["20_candy"].run
    again = runner.Run(run.notebook, run.parameters, tmp_path / run.home.name)
    assert runner.execute(again).error is None
    for folder in ("tables", "figures"):
        for path in (run.home / folder).iterdir():
            assert path.read_bytes() == (again.home / folder / path.name).read_bytes(), path.name


def test_cells_can_be_run_twice_in_one_kernel(results, tmp_path):
    """Run All, then Run All again: the notebook's own variables are no misspelt parameters."""
    _, done = results
    for name in ("10_conga", "60_search"):
        run = done[name].run
        book = json.loads(run.notebook.read_text(encoding="utf-8"))
        first, *rest = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
        first["source"] = "".join(first["source"]) + "".join(f"\n{k} = {v!r}" for k, v in run.parameters.items())
        book["cells"] = [{**cell, "id": f"{i}-{cell['id']}"} for i in (1, 2) for cell in (first, *rest)]
        twice = nbformat.reads(json.dumps(book), as_version=4)
        client = NotebookClient(twice, timeout=300)
        client.execute(env={**os.environ, "GAMEKIT_RUN": str(tmp_path / name), "GAMEKIT_WORKERS": "1"})
        assert (tmp_path / name / "findings.json").is_file()


def test_a_notebook_killed_in_its_sweep_resumes_with_the_games_already_played(tmp_path):
    """Runner and kernel are killed; the next run reads what was stored, and ends with the same tables."""
    sizes = ["games=3000", "switch_games=2", "depths=1", "positions=200", "heuristics=moves"]
    options = [word for size in sizes for word in ("-p", size)]
    command = [sys.executable, "-m", "gamekit.cli", "run", "10_conga", *options, "--out"]
    quiet = {**os.environ, "GAMEKIT_WORKERS": "1"}
    process = subprocess.Popen([*command, str(tmp_path / "killed")], env=quiet, start_new_session=True)
    parts: list[Path] = []
    while not parts and process.poll() is None:
        time.sleep(0.05)
        parts = list((tmp_path / "killed" / "measured" / "10_conga").glob("heuristics-*/parts/*.parquet"))
    kernels = [
        int(pid) for task in Path(f"/proc/{process.pid}/task").glob("*/children") for pid in task.read_text().split()
    ]
    assert kernels
    for pid in (process.pid, *kernels):  # the kernel has a session of its own
        os.kill(pid, signal.SIGKILL)
    process.wait()
    assert parts, "it ended before it could be killed"
    kept = {path: path.stat().st_mtime_ns for path in parts}
    assert not (tmp_path / "killed" / "run").exists()
    for folder in ("killed", "whole"):
        subprocess.run([*command, str(tmp_path / folder)], env=quiet, check=True, capture_output=True)
    assert {path: path.stat().st_mtime_ns for path in parts} == kept
    for path in sorted((tmp_path / "whole" / "run").glob("tables/*.csv")):
        assert path.read_bytes() == (tmp_path / "killed" / "run" / "tables" / path.name).read_bytes(), path.name


class Links(html.parser.HTMLParser):
    """Everything a page refers to, and the anchors it offers."""

    def __init__(self, text: str):
        super().__init__()
        self.to: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.to.append(value)
            if name == "id" and value is not None:
                self.ids.add(value)


def test_every_link_of_the_site_resolves(built):
    pages = {path.name: Links(path.read_text(encoding="utf-8")) for path in built.glob("*.html")}
    assert len(pages) == len(list(suite.NOTEBOOKS.glob("[0-9]*_*.ipynb"))) + 1
    for name, page in pages.items():
        for link in page.to:
            if link.startswith("data:"):
                continue
            assert "://" not in link, f"{name} leads outside: {link}"
            file, _, anchor = unquote(link).partition("#")
            assert (built / (file or name)).is_file(), f"{name}: {link}"
            if anchor and (file or name) in pages:
                assert anchor in pages[file or name].ids, f"{name}: {link}"


def test_the_front_page_has_findings_scoreboard_and_provenance(built):
    front = (built / "index.html").read_text(encoding="utf-8")
    assert "reproduced" in front
    assert "refuted" in front
    assert "gamekit" in front[front.index("<footer>") :]
    page = (built / "10_conga.html").read_text(encoding="utf-8")
    assert "files/10_conga/tables/heuristics.csv" in page
    assert "files/10_conga/figures/heuristics.svg" in page
    assert "viewport" in page


def test_no_path_of_the_machine_is_published(built):
    for path in built.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert str(suite.ROOT) not in text, path.name
        assert not [line for line in text.splitlines() if str(built.parent) in line and "results" not in line], (
            path.name
        )


@pytest.mark.browser
def test_a_browser_opens_every_page_without_error_or_outside_request(built):
    """Chromium on a phone's screen: no console error, no failed image, no request but for files, no sideways scroll."""
    with ThreadPoolExecutor(1) as thread:  # papermill leaves an event loop behind in this one
        assert thread.submit(_browse, built).result() == []


def _browse(built):
    """Every page of a site in a real browser; what went wrong."""
    chromium = which("chromium") or which("chromium-browser") or which("google-chrome")
    assert chromium, "the browser tests need chromium"
    flags = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
    ]
    trouble: list[str] = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=flags)
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("requestfailed", lambda request: trouble.append(f"failed: {request.url}"))
        page.on(
            "request",
            lambda request: (
                trouble.append(f"outside: {request.url}")
                if not request.url.startswith(("file:", "data:", "blob:"))
                else None
            ),
        )
        for path in sorted(built.glob("*.html")):
            page.goto(path.as_uri())
            assert page.title()
            broken = page.evaluate("[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)")
            assert broken == [], path.name
            wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert wide <= 1, f"{path.name} is {wide} px wider than a phone"
        browser.close()
    return trouble
