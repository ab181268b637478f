"""Each notebook runs at a tiny size, and the site that is built of them holds together."""

from __future__ import annotations

import html.parser
from concurrent.futures import ThreadPoolExecutor
from shutil import which
from urllib.parse import unquote

import pytest
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
        yield home, {result.run.name: result for result in done}
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
    again = runner.Run(run.notebook, run.parameters, tmp_path / run.name)
    assert runner.execute(again).error is None
    for folder in ("tables", "figures"):
        for path in (run.home / folder).iterdir():
            assert path.read_bytes() == (again.home / folder / path.name).read_bytes(), path.name


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
