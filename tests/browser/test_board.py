"""The board in a real browser: every game played to its end by clicking."""

from __future__ import annotations

import time

import pytest

pytestmark = pytest.mark.browser
GAMES = ["connect_four", "conga", "candy(board=ReesesPieces)", "mnk(m=3,n=3,k=3)", "connect_k(columns=5,rows=4,k=4)"]


def play(page, game: int) -> None:
    """Click through one board until its game is over: the first legal cell, and for a run the first target."""
    board = page.locator(".gk-play").nth(game)
    for _ in range(400):
        text = board.locator(".gk-status").inner_text()
        if "wins" in text or "draw" in text:
            return
        if text.startswith("Your move"):
            ply = board.evaluate("b => b.querySelectorAll('.gk-curve rect').length")
            board.locator(".gk-hit.gk-legal").nth(ply % 3 if board.locator(".gk-hit.gk-legal").count() > 3 else 0).click()
            if board.locator(".gk-target").count():
                board.locator(".gk-target").first.click()
            board.page.wait_for_function("([b, n]) => b.querySelectorAll('.gk-curve rect').length > n",
                                         arg=[board.element_handle(), ply])
        else:
            time.sleep(0.02)
    raise AssertionError(f"{GAMES[game]} did not end")


def test_every_game_is_played_to_its_end_by_clicking(lab, shots):
    cells = ["import gamekit as gk", *(f"gk.play_board({game!r}, 'alphabeta(depth=3)')" for game in GAMES)]
    page = lab.open(cells, "games.ipynb")
    lab.finished(page, len(cells))
    for number in range(len(GAMES)):
        page.locator(".gk-play").nth(number).scroll_into_view_if_needed()
        play(page, number)
        if shots:
            page.locator(".gk-play").nth(number).screenshot(path=shots / f"board{number}.png")
    page.close()
