"""The two notebooks people begin with, run from top to bottom in a real browser."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect

from gamekit.notebook.lab import command

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]


def code_cells(name: str) -> int:
    cells = json.loads((ROOT / "notebooks" / name).read_text("utf-8"))["cells"]
    return sum(cell["cell_type"] == "code" for cell in cells)


def test_the_server_asks_for_its_token_and_listens_here_only(lab):
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(f"{lab.url}/api/sessions", timeout=5)
    started = command(ROOT, 8888, browser=True)
    assert "--ServerApp.ip=127.0.0.1" in started
    assert not any("token" in word.lower() for word in started), "the token is not for all to see"


@pytest.mark.parametrize(
    ("name", "theme", "widgets"),
    [
        ("00_start_here.ipynb", "dark", [".gk-play", ".gk-tree", ".gk-review"]),
        ("90_lab.ipynb", "light", [".gk-ranking", ".gk-weights", ".gk-play"]),
    ],
)
def test_runs_from_top_to_bottom(lab, shots, name, theme, widgets):
    started = time.monotonic()
    page = lab.open(ROOT / "notebooks" / name, name, theme)
    lab.finished(page, code_cells(name), 60)
    assert time.monotonic() - started < 60
    for widget in widgets:
        page.locator(widget).first.scroll_into_view_if_needed()
        assert page.locator(widget).first.is_visible()
        if shots:
            page.wait_for_timeout(300)
            page.locator(widget).first.screenshot(path=shots / f"{name[:2]}{widget[3:]}-{theme}.png")
    if name.startswith("90"):
        page.locator(".gk-ranking").first.scroll_into_view_if_needed()
        expect(page.locator(".gk-ranking").first).to_contain_text("place", timeout=15_000)  # drawn when it is in view
        slider = page.locator(".gk-weights .gk-slider").first
        slider.scroll_into_view_if_needed()
        expect(page.locator(".gk-weights .gk-title").first).not_to_be_empty()
        before = page.locator(".gk-weights .gk-title").first.text_content()
        slider.focus()
        slider.press("ArrowRight")
        page.wait_for_function("old => document.querySelector('.gk-weights .gk-title').textContent !== old", arg=before)
    page.close()
