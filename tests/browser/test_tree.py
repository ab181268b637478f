"""The search tree in a real browser: a cut branch opened, the search stepped through, 50 000 nodes behind it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser


def test_open_a_cut_branch_and_step_through(lab, shots):
    page = lab.open(
        ["import gamekit as gk", "gk.search_tree(gk.game('connect_four').replay('4435'), 'alphabeta(depth=6)')"],
        "tree.ipynb",
    )
    lab.finished(page, 2)
    tree = page.locator(".gk-tree")
    minimax, alphabeta = tree.locator(".gk-side").nth(0), tree.locator(".gk-side").nth(1)
    assert "stopped at 50" in minimax.inner_text(), "the cap is said"
    alphabeta.locator(".gk-next-cut").click()
    cutting = alphabeta.locator(".gk-cutting.gk-shown")
    cutting.wait_for()
    assert "cannot matter" in cutting.inner_text(), "a cut says its reason"
    number = cutting.get_attribute("data-id")
    assert alphabeta.locator(".gk-is-cut").count() > 0, "the moves never looked at are there, and marked"
    seen = alphabeta.locator(".gk-node").count()
    cutting.locator(".gk-toggle").click()
    assert alphabeta.locator(".gk-node").count() < seen, "collapsed"
    alphabeta.locator(f"[data-id='{number}'] .gk-toggle").click()
    assert alphabeta.locator(".gk-node").count() == seen, "expanded again"
    if shots:
        tree.screenshot(path=shots / "tree-light.png")
    closed = minimax.locator(".gk-node[aria-expanded='false']").first
    took = closed.evaluate("""async (node) => {
      const list = node.parentElement, before = list.children.length, started = performance.now();
      node.querySelector('.gk-toggle').click();
      const waiting = () => list.children.length === before && performance.now() - started < 3000;
      while (waiting()) await new Promise(requestAnimationFrame);
      return performance.now() - started;
    }""")
    assert took < 500, f"a node of fifty thousand opened in {took:.0f} ms"

    before = tree.locator(".gk-facts").nth(1).inner_text()
    tree.locator(".gk-step").click()
    tree.locator(".gk-step").click()
    tree.locator(".gk-step").click()
    page.wait_for_function("document.querySelectorAll('.gk-now').length === 2")
    page.wait_for_function("document.querySelector('.gk-slide .gk-live').textContent.startsWith('node 3 ')")
    assert tree.locator(".gk-facts").nth(1).inner_text() != before, "counters run"
    tree.locator(".gk-run").click()
    page.wait_for_function("Number(document.querySelector('.gk-slider').value) > 400")
    tree.locator(".gk-run").click()
    if shots:
        tree.screenshot(path=shots / "tree-steps.png")
    tree.locator(".gk-whole").click()
    page.wait_for_function("document.querySelectorAll('.gk-now').length === 0")
    alphabeta.locator(".gk-node b").nth(3).click()
    page.wait_for_function("!document.querySelector('.gk-look .gk-line').textContent.startsWith('the root')")
    page.close()
