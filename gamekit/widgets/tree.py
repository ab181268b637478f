"""The search tree to look into: the plain twin's trace of a real search, loaded node by node as it is opened."""

from __future__ import annotations

import html
from typing import Any

from ..core import Position
from ..drawing import svg, value_text
from ..errors import GamekitError
from ..heuristics import heuristic_of
from ..players import Player
from ..players import player as player_of
from ..players.searchers import SearchPlayer
from ..search.reference import Node, Plain, search_plain
from .base import Live

CAP = 50_000  # positions generated a side
BATCH = 60  # children sent at a time
COUNTERS = ("generated", "expanded", "leaves", "cutoffs")


class Side:
    """One search with its trace, and what was known of it at every step."""

    def __init__(self, name: str, position: Position, found: Plain, cap: int):
        self.name, self.position, self.found, self.nodes = name, position, found, found.trace
        self.children: dict[int, list[int]] = {}
        for node in self.nodes[1:]:
            assert node.parent is not None
            self.children.setdefault(node.parent, []).append(node.id)
        self.seen = [node.id for node in self.nodes if node.kind != "cut"]  # the order of the search
        self.done = list(range(len(self.nodes)))  # the last node searched below each one
        for node in reversed(self.nodes):
            if node.parent is not None and node.kind != "cut":
                self.done[node.parent] = max(self.done[node.parent], self.done[node.id])
        self.complete = found.stopped_by != "nodes"
        self.cap = cap

    def counters(self, step: int | None) -> dict[str, int]:
        """The counters after so many nodes; at the end, the search's own."""
        if step is None or step >= len(self.seen):
            return {name: self.found.counters[name] for name in COUNTERS}
        last = self.seen[max(step - 1, 0)]
        so_far = [self.nodes[i] for i in self.seen[:step]]
        return {
            "generated": max(step - 1, 0),
            "expanded": sum(n.kind in ("max", "min") for n in so_far),
            "leaves": sum(n.kind in ("leaf", "over") for n in so_far),
            "cutoffs": sum(n.cut and self.done[n.id] <= last for n in so_far),
        }

    def batch(self, of: int, start: int = 0) -> list[dict[str, Any]]:
        return [self.card(self.nodes[i]) for i in self.children.get(of, [])[start : start + BATCH]]

    def card(self, node: Node) -> dict[str, Any]:
        """What the page shows of a node."""
        window = f"[{value_text(node.alpha)}, {value_text(node.beta)}]"
        return {
            "id": node.id,
            "parent": node.parent,
            "move": node.move or "root",
            "kind": node.kind,
            "ply": node.ply,
            "value": value_text(node.value),
            "window": window,
            "cut": node.cut,
            "why": node.why,
            "best": node.best,
            "done": self.done[node.id],
            "count": len(self.children.get(node.id, [])),
        }

    def path(self, node: int) -> list[int]:
        found = [node]
        while (parent := self.nodes[found[-1]].parent) is not None:
            found.append(parent)
        return found[::-1]

    def at(self, node: int) -> Position:
        """The position at a node."""
        position = self.position
        for i in self.path(node)[1:]:
            position = position.play(self.nodes[i].move or "")
        return position


class Tree(Live):
    """One search, or minimax and alpha-beta side by side, on one position."""

    script = "tree.js"

    def __init__(self, position: Position, sides: list[Side]):
        super().__init__()
        self.position, self.sides = position, sides
        self.show()

    def __repr__(self) -> str:
        return "\n".join(
            f"{s.name}: {s.found.move} ({value_text(s.found.value)}), "
            + ", ".join(f"{v} {k}" for k, v in s.counters(None).items())
            for s in self.sides
        )

    def snapshot(self) -> dict[str, Any]:
        return {
            "title": str(self.position.game),
            "svg": svg(self.position),
            "batch": BATCH,
            "max": self.position.game.players[self.position.turn - 1],
            "steps": max(len(side.seen) for side in self.sides),
            "sides": [
                {
                    "name": side.name,
                    "move": side.found.move,
                    "value": value_text(side.found.value),
                    "line": side.position.game.join(side.found.line),
                    "counters": side.counters(None),
                    "steps": len(side.seen),
                    "complete": side.complete,
                    "cap": side.cap,
                    "root": side.card(side.nodes[0]),
                    "open": self._first(side),
                }
                for side in self.sides
            ],
        }

    @staticmethod
    def _first(side: Side) -> dict[int, list[dict[str, Any]]]:
        """What is open at the beginning: the principal line."""
        line = [node.id for node in side.nodes if node.best and node.id in side.children]
        return {i: side.batch(i) for i in line}

    def do_open(self, side: int, id: int, start: int = 0) -> None:
        self.send({"side": side, "of": id, "start": start, "children": self.sides[side].batch(id, start)})

    def do_look(self, side: int, id: int) -> None:
        """The board at a node."""
        here = self.sides[side]
        line = [here.nodes[i].move for i in here.path(id)[1:]]
        self.send({"side": side, "look": id, "svg": svg(here.at(id)), "line": line})

    def do_step(self, step: int) -> None:
        """The search after so many nodes: the way to the node at work, and the counters."""
        for number, side in enumerate(self.sides):
            now = side.seen[min(max(step, 1), len(side.seen)) - 1]
            path = side.path(now)
            batches = {i: self._around(side, i, path) for i in path if i in side.children}
            self.send(
                {
                    "side": number,
                    "step": step,
                    "now": now,
                    "path": path,
                    "open": batches,
                    "counters": side.counters(step),
                }
            )

    @staticmethod
    def _around(side: Side, of: int, path: list[int]) -> list[dict[str, Any]]:
        """A node's children up to the one on the way, at least one batch."""
        ids = side.children[of]
        here = next((k for k, i in enumerate(ids) if i in path), 0)
        return [side.card(side.nodes[i]) for i in ids[: max(BATCH, here + 1)]]

    def do_cut(self, side: int, after: int = -1) -> None:
        """The way to the next node whose other moves were cut off."""
        here = self.sides[side]
        cuts = [n.id for n in here.nodes if n.cut and n.id in here.children]
        if not cuts:
            raise GamekitError(f"{here.name} cut nothing off here")
        target = next((i for i in cuts if i > after), cuts[0])
        path = here.path(target)
        self.send({"side": side, "cut": target, "open": {i: self._around(here, i, path) for i in path}})

    # ----------------------------------------------------------------------------- still

    def picture(self) -> str:
        return svg(self.position)

    def still(self) -> str:
        """The principal line and its neighbours as an outline, for where nothing can be opened."""
        columns = []
        for side in self.sides:
            facts = ", ".join(f"{count:,} {name}" for name, count in side.counters(None).items())
            columns.append(
                f"<div><b>{html.escape(side.name)}</b>: {html.escape(side.found.move)} "
                f"({value_text(side.found.value)})<br><small>{facts}</small>{self._outline(side, 0)}</div>"
            )
        return (
            "<div class='gk-still' style='display:flex;flex-wrap:wrap;gap:24px'>"
            f"{self.picture()}{''.join(columns)}</div>"
        )

    def _outline(self, side: Side, of: int) -> str:
        items = []
        for i in side.children.get(of, [])[:12]:
            node = side.nodes[i]
            move, value = html.escape(node.move or ""), value_text(node.value)
            text = f"<s>{move}</s> cut" if node.kind == "cut" else f"{move} <code>{value}</code>"
            text = f"<b>{text}</b>" if node.best else text
            items.append(
                f"<li>{text}{f' <i>{html.escape(node.why)}</i>' if node.cut else ''}"
                + (self._outline(side, i) if node.best else "")
                + "</li>"
            )
        return f"<ul>{''.join(items)}</ul>" if items else ""


def search_tree(
    position: Position, player: str | Player = "alphabeta(depth=3)", beside: bool = True, cap: int = CAP
) -> Tree:
    """Look into the search a player would make of a position; `beside` puts minimax and alpha-beta side by side.

    A search that would generate more than `cap` positions is shown as far as it came.
    """
    searcher = player_of(player)
    if not isinstance(searcher, SearchPlayer):
        raise GamekitError(f"{searcher.name} makes no search tree; give minimax, alphabeta or search with a depth")
    if not 1 <= cap <= 10 * CAP:
        raise GamekitError(f"cap={cap} is not allowed; cap is a number from 1 to {10 * CAP}")
    s = searcher.switch
    heuristic = heuristic_of(s["heuristic"], position.game).with_()
    heuristic.plain = heuristic.value  # type: ignore[method-assign]  # the same numbers, from the compiled one
    sides = []
    for prune in (False, True) if beside else (s["prune"],):
        found = search_plain(
            position,
            heuristic,
            s["depth"],
            prune=prune,
            table=s["table"],
            order=s["order"],
            deepen=s["deepen"],
            win_bonus=s["win_bonus"],
            ties=s["ties"],
            megabytes=s["megabytes"],
            nodes=min(cap, s["nodes"] or cap),
            trace=True,
        )
        sides.append(Side("alpha-beta" if prune else "minimax", position, found, cap))
    return Tree(position, sides)
