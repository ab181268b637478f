"""The board in a real browser: every game played to its end by clicking, and what it does when things go wrong."""

from __future__ import annotations

import os
import signal
import time

import pytest

pytestmark = pytest.mark.browser
GAMES = ["connect_four", "conga", "candy(board=ReesesPieces)", "mnk(m=3,n=3,k=3)", "connect_k(columns=5,rows=4,k=4)"]

# A click on any legal cell, and for a run of stones on a target; then wait for the answer. The clicks are random, from
# a seed, and so are Conga's opponent's equal moves: two fixed patterns can go round for ever.
CLICK_THROUGH = """async (board) => {
  const wait = (true_, ms = 8000) => new Promise((done, fail) => {
    const end = performance.now() + ms;
    const late = () => fail(new Error(board.innerText));
    const look = () => true_() ? done() : performance.now() > end ? late() : setTimeout(look, 4);
    look();
  });
  const status = () => board.querySelector('.gk-status').textContent;
  const click = (node) => node.dispatchEvent(new MouseEvent('click', {bubbles: true}));
  const over = () => /wins|draw/.test(status());
  const answers = [];
  let chance = 1;
  const any = (nodes) => nodes[(chance = (chance * 48271) % 2147483647) % nodes.length];
  for (let turn = 0; turn < 1500 && !over(); turn++) {
    await wait(() => over() || (status().startsWith('Your move') && board.querySelector('.gk-legal')));
    if (over()) break;
    const legal = [...board.querySelectorAll('.gk-legal')], before = board.querySelector('.gk-stage').innerHTML;
    click(any(legal));
    const targets = [...board.querySelectorAll('.gk-target')];
    const started = performance.now();
    if (targets.length) click(any(targets));
    const pieces = board.querySelectorAll('.gk-curve rect').length;
    await wait(() => over() || board.querySelectorAll('.gk-curve rect').length > pieces);
    answers.push(performance.now() - started);
  }
  return {status: status(), answers};
}"""


BROKEN = """@gk.heuristic('mnk')
def broken(board, me, params):
    return board[7, 7] / 0.0
gk.check_heuristic(broken, 'mnk')"""


@pytest.fixture(scope="module")
def page(lab):
    """One notebook with a board for every game, one for two agents, and a heuristic that fails."""
    cells = [
        "import gamekit as gk",
        *(f"gk.play_board({game!r}, 'alphabeta(depth=2,ties=random)')" for game in GAMES),
        "gk.play_board('conga', 'random', you='alphabeta(depth=2)')",
        BROKEN,
    ]
    page = lab.open(cells, "games.ipynb")
    lab.wait(lambda: page.locator(".jp-OutputArea-output", has_text="broken").count() > 0, "the last cell to have run")
    yield page
    page.close()


def test_every_game_is_played_to_its_end_by_clicking(page, lab, shots):
    late = []
    for number, game in enumerate(GAMES):
        board = page.locator(".gk-play").nth(number)
        board.scroll_into_view_if_needed()
        board.locator(".gk-legal").last.hover()
        first = board.locator(".gk-legal").first
        first.click()  # one by the real mouse, the rest by events
        if game == "conga":
            board.locator(".gk-target").first.click()
        result = board.evaluate(CLICK_THROUGH)
        assert "wins" in result["status"] or "draw" in result["status"], (game, result)
        late += result["answers"]
        if shots:
            board.screenshot(path=shots / f"board-{game.split('(')[0]}-light.png")
    late.sort()
    usual = late[len(late) // 4]  # a busy machine is not the board's doing
    assert usual < 100, f"a click was answered in {usual:.0f} ms (lower quartile of {len(late)})"
    if shots:
        print(f"{len(late)} clicks: median {late[len(late) // 2]:.0f} ms, 95 % {late[int(len(late) * 0.95)]:.0f} ms")
        lab.menu(page, "Settings", "Theme", "JupyterLab Dark")
        page.wait_for_selector("body[data-jp-theme-light='false']", state="attached")
        for number, game in enumerate(GAMES):
            page.locator(".gk-play").nth(number).scroll_into_view_if_needed()
            page.wait_for_timeout(200)
            page.locator(".gk-play").nth(number).screenshot(path=shots / f"board-{game.split('(')[0]}-dark.png")


COUNT = """import threading, ipywidgets
print("threads", sum(t.name == "gamekit-think" for t in threading.enumerate()),
      "boards", sum(type(w).__name__ == "Board" and w.comm is not None
                    for w in ipywidgets.widgets.widget._instances.values()))"""


def test_a_long_search_can_be_stopped_and_nothing_is_left_behind(lab):
    page = lab.open(
        [
            "import gamekit as gk, os\nprint('pid', os.getpid())",
            "gk.play_board('connect_four', 'alphabeta(depth=40)')",
            COUNT,
        ],
        "stop.ipynb",
    )
    lab.finished(page, 3)
    board, outputs = page.locator(".gk-play"), page.locator(".jp-OutputArea-output pre")
    status = board.locator(".gk-status")
    pid = int(outputs.first.inner_text().split()[1])

    def count_again() -> str:
        page.locator(".jp-CodeCell .jp-InputArea-editor").nth(2).click()
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(400)
        return outputs.last.inner_text()

    board.locator(".gk-hit[data-cell='5,3']").click()
    page.wait_for_function("/\\d nodes/.test(document.querySelector('.gk-live').textContent)")
    assert "thinking" in status.inner_text()
    assert "threads 1 boards 1" in count_again(), "the notebook goes on while the agent thinks"
    board.locator(".gk-hit[data-cell='5,0']").click()
    page.wait_for_function("document.querySelector('.gk-note').textContent.includes('not your turn')")
    board.locator(".gk-stop").click()
    page.wait_for_function("document.querySelector('.gk-status').textContent.startsWith('Your move')")
    assert "stopped" in board.locator(".gk-told").inner_text()
    assert "threads 0 boards 1" in count_again()

    board.locator(".gk-undo").click()
    page.wait_for_function("document.querySelectorAll('.gk-play .gk-piece').length === 0")
    page.locator(".gk-hit[data-cell='5,3']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")  # the keys play column 5
    page.wait_for_function("document.querySelector('.gk-play .gk-piece')?.dataset.cell === '5,4'")

    lab.menu(page, "Run", "Run All Cells")  # while the agent thinks: the old board goes, and its thread with it
    page.wait_for_function("document.querySelectorAll('.gk-play .gk-piece').length === 0")
    lab.wait(lambda: "threads 0 boards 1" in outputs.last.inner_text(), "the old board to be gone")

    page.keyboard.press("Control+s")
    page.wait_for_timeout(500)
    page.reload()
    page.wait_for_selector(".gk-play .gk-hit")
    page.locator(".gk-hit[data-cell='5,2']").click()
    page.wait_for_function("document.querySelector('.gk-status').textContent.includes('thinking')")

    os.kill(pid, signal.SIGKILL)  # the kernel this test started
    page.wait_for_function("[...document.querySelectorAll('.gk-lost')].some((lost) => !lost.hidden)")
    assert "kernel" in board.locator(".gk-lost").inner_text()
    page.close()


def test_a_broken_heuristic_shows_its_error_in_the_cell(page):
    text = page.locator(".jp-OutputArea-output").last.inner_text()
    assert "HeuristicError" in text
    assert "broken" in text


def test_an_illegal_click_says_why(page):
    human = page.locator(".gk-play").nth(3)
    human.scroll_into_view_if_needed()
    human.locator(".gk-new").click()
    ready(human, "b => b.querySelectorAll('.gk-piece').length === 0")
    human.locator(".gk-hit[data-cell='1,1']").click()
    ready(human, "b => b.querySelectorAll('.gk-piece').length === 2")
    human.locator(".gk-hit[data-cell='1,1']").click()
    ready(human, "b => b.querySelector('.gk-note').textContent.includes('taken by X')")
    assert human.locator(".gk-piece").count() == 2, "an illegal click changes nothing"
    human.locator("button.gk-hint").click()
    ready(human, "b => b.querySelector('rect.gk-hint')")
    human.locator(".gk-seat").nth(1).fill("alphabetta(depth=2)")
    human.locator(".gk-seat").nth(1).press("Enter")
    ready(human, "b => b.querySelector('.gk-note').textContent.includes('did you mean')")


def test_agents_play_each_other(page):
    agents = page.locator(".gk-play").nth(5)
    agents.scroll_into_view_if_needed()
    agents.locator(".gk-step").click()
    ready(agents, "b => b.querySelectorAll('.gk-curve rect').length === 2")
    agents.locator(".gk-run").click()
    ready(agents, "b => b.querySelectorAll('.gk-curve rect').length > 5")
    agents.locator(".gk-pause").click()
    ready(agents, "b => !b.querySelector('.gk-run').hidden")
    moves = agents.locator(".gk-curve rect").count()
    time.sleep(0.3)
    assert agents.locator(".gk-curve rect").count() == moves, "paused agents do not move"


def ready(board, condition: str) -> None:
    """Wait until something is true of a board."""
    board.page.wait_for_function(condition, arg=board.element_handle())
