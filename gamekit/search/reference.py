"""The reference search: the same search in readable Python, with a trace of every node.

It teaches, it draws trees, and it judges: value, move and every counter equal those of the compiled
search. It shares none of its code; positions come from the game, values from the uncompiled heuristic.
Read `_Reference._node` first: it is minimax with alpha-beta pruning, and all else serves it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from ..core import Position, a_position
from ..errors import GamekitError
from ..heuristics import Heuristic, heuristic_of
from .deepening import DEEPEST, NAMES, TIES
from .ordering import NODE, order_flags
from .table import DECIDED, WIN, entries


@dataclass
class Node:
    """What happened at one node, in the order of the search. Moves cut off unseen appear with kind `cut`."""

    id: int
    parent: int | None
    ply: int
    move: str | None
    alpha: float
    beta: float
    depth_left: int
    kind: str  # max, min, leaf, over, table, cut
    value: float | None = None
    cut: bool = False
    why: str = ""
    best: bool = False


@dataclass
class Plain:
    """What the reference search found."""

    code: int
    move: str
    value: float | None
    depth: int
    line: list[str]
    counters: dict[str, int]
    by_ply: list[int]
    stopped_by: str
    trace: list[Node] = field(default_factory=list)


@dataclass
class _Entry:
    """A move in a list of `front`: the list below it, and its value once decided."""

    code: int
    children: list[_Entry] | None = None
    decided: tuple[int, float] | None = None


class _OutOfNodes(Exception):
    pass


def search_plain(
    position: Position,
    heuristic: str | Heuristic | None = None,
    depth: int | None = 3,
    *,
    prune: bool = True,
    table: bool = False,
    order: str = "none",
    deepen: bool = False,
    win_bonus: bool = True,
    ties: str = "first",
    nodes: int | None = None,
    megabytes: float = 16,
    trace: bool = False,
) -> Plain:
    """Search a position as `gk.player("search(…)")` would, in plain Python.

    Args:
        position: where to search.
        heuristic, depth, prune, table, order, deepen, win_bonus, ties, nodes, megabytes: as in `search(…)`.
        trace: keep every node, for `gk.search_tree`.
    Returns:
        Value, best line, counters and, with `trace`, the tree.
    """
    evaluate: Callable[[Position, int], float] = heuristic_of(heuristic, a_position(position).game).plain
    if depth is None and nodes is None:
        raise GamekitError("a search needs a limit; give depth or nodes")
    for name, limit, most in (("depth", depth, DEEPEST), ("nodes", nodes, 10**12)):
        if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= most):
            raise GamekitError(f"{name}={limit!r} is not allowed; {name} is a whole number from 1 to {most}")
    if ties not in TIES or not megabytes > 0:
        raise GamekitError(
            f"ties={ties!r}, megabytes={megabytes!r} are not allowed; ties is {', '.join(TIES)}, "
            "megabytes a number above 0"
        )
    order_flags(order)
    if position.winner is not None:
        raise GamekitError("the game is over: there is no move to search for")
    search = _Reference(position, evaluate, prune, table, order, win_bonus, ties, nodes, megabytes, trace)
    deepest = min(depth or DEEPEST, position.game.left(position.data) or DEEPEST, DEEPEST)
    code, value, reached, stopped_by = position.codes()[0], None, 0, "depth"
    line: list[int] = []
    for d in range(1 if deepen or depth is None else deepest, deepest + 1):
        try:
            if nodes is not None and search.count["generated"] >= nodes:
                raise _OutOfNodes
            value, line = search.iterate(d)
        except _OutOfNodes:
            stopped_by = "nodes"
            if reached == 0 and search.so_far is not None:
                code = search.so_far
            break
        code, reached = line[0], d
        if win_bonus and abs(value) > DECIDED:
            stopped_by = "decided" if d < deepest else "depth"
            break
    search.mark_line(line)
    by_ply, write = [search.by_ply.get(ply, 0) for ply in range(1, deepest + 1)], position.game.write
    moves = [write(move) for move in line]
    return Plain(code, write(code), value, reached, moves, search.count, by_ply, stopped_by, search.trace)


class _Reference:
    """One search: its switches, what it has learned, and what it has counted."""

    def __init__(self, root, evaluate, prune, table, order, win_bonus, ties, nodes, megabytes, trace):
        self.root, self.evaluate, self.me = root, evaluate, root.turn
        self.prune, self.use_values, self.win_bonus, self.ties, self.limit = prune, table, win_bonus, ties, nodes
        self.order = set(order.split("+")) - {"none"}
        self.use_table = table or "best" in self.order
        self.size = entries(megabytes)
        self.slots: dict[int, dict] = {}
        self.rank = root.game.centrality().tolist()
        self.count = dict.fromkeys(NAMES, 0)
        self.by_ply: dict[int, int] = {}
        self.history: dict[tuple[int, int], int] = {}
        self.killers: dict[int, list[int]] = {}
        self.lists: list[_Entry] | None = None  # of the root, with order `front`
        self.room = int(megabytes * 2**20 / NODE.itemsize) - 1
        self.tracing, self.trace = trace, []
        self.so_far: int | None = None

    def iterate(self, depth: int) -> tuple[float, list[int]]:
        self.depth, self.trace, self.so_far = depth, [], None
        root_entry = _Entry(-1, self.lists)
        node = self._note(None, 0, None, -math.inf, math.inf, "max")
        value, line = self._node(self.root, 0, -math.inf, math.inf, root_entry, node)
        self.lists = root_entry.children
        return value, line

    # ---------------------------------------------------------------------- one node

    def _node(self, position, ply, alpha, beta, entry, node):
        """(value, line) of a position that is running, searched with a window."""
        left, maximising = self.depth - ply, position.turn == self.me
        low, high = alpha, beta
        remembered, key = None, None
        if self.use_table:
            key = digest(position)
            found = self._probe(key)
            if found is not None:
                remembered = found["move"]
                known = self._known(found, ply, left, alpha, beta)
                if ply > 0 and self.use_values and known is not None:
                    self.count["table_cutoffs"] += 1
                    self._done(node, known, "table", "the table knows this position")
                    return known, []
        self.count["expanded"] += 1
        moves = self._ordered(position, ply, maximising, remembered, entry)
        place = {code: i for i, code in enumerate(position.codes())}
        best, best_code, line = (-math.inf if maximising else math.inf), None, []
        for tried, code in enumerate(list(moves), 1):
            child_alpha, preferred = alpha, False
            if ply == 0 and best_code is not None:  # an equal value may replace the best: it must show as equal
                preferred = (place[code] < place[best_code]) != (self.ties == "last")
                if self.prune and (preferred or self.ties == "random"):
                    child_alpha = math.nextafter(best, -math.inf)
            value, below = self._child(position, code, ply, child_alpha, beta, entry, node)
            if best_code is None or (value > best if maximising else value < best) or (preferred and value == best):
                best, best_code, line = value, code, [code, *below]
                if ply == 0:
                    self.so_far = code
                if entry.children is not None:
                    at = next(i for i, e in enumerate(entry.children) if e.code == code)
                    entry.children.insert(0, entry.children.pop(at))
            if self.prune:
                alpha, beta = (max(alpha, best), beta) if maximising else (alpha, min(beta, best))
                if alpha >= beta:
                    self._cut(position, code, ply, tried, left, node, moves[tried:], value, alpha, beta, maximising)
                    break
        exact = not self.prune or low < best < high
        if self.use_table:
            bound = "exact" if exact else "lower" if best >= high else "upper"
            self._store(key, _from_here(best, ply), best_code, left, bound)
        if "front" in self.order and ply > 0 and exact and abs(best) > DECIDED:
            entry.decided = (left, _from_here(best, ply))
        self._done(node, best)
        return best, line

    def _child(self, position, code, ply, alpha, beta, entry, parent):
        """(value, line) of a child: over, at the horizon, or searched in turn."""
        below = next((e for e in entry.children if e.code == code), None) if entry.children is not None else None
        if self.limit is not None and self.count["generated"] >= self.limit:
            raise _OutOfNodes
        if below is not None and below.decided is not None:
            searched, value = below.decided
            if _usable(searched, value, self.depth - ply - 1):
                return _from_here(value, -(ply + 1)), []
        child = position.after(code)
        self.count["generated"] += 1
        self.by_ply[ply + 1] = self.by_ply.get(ply + 1, 0) + 1
        move = position.game.write(code) if self.tracing else None
        if child.winner is None and ply + 1 < self.depth:
            node = self._note(parent, ply + 1, move, alpha, beta, "max" if child.turn == self.me else "min")
            return self._node(child, ply + 1, alpha, beta, below or _Entry(code), node)
        self.count["leaves"] += 1
        if child.winner is not None and self.win_bonus:
            value = 0.0 if child.winner == 0 else WIN - ply - 1
            value = -value if child.winner not in (0, self.me) else value
        else:
            value = self.evaluate(child, self.me)
        node = self._note(parent, ply + 1, move, alpha, beta, "leaf" if child.winner is None else "over")
        self._done(node, value)
        return value, []

    def _cut(self, position, code, ply, tried, left, node, unseen, value, alpha, beta, maximising):
        self.count["cutoffs"] += 1
        self.count["first_move_cutoffs"] += tried == 1
        if "history" in self.order:
            killers = self.killers.setdefault(ply, [-1, -1])
            if killers[0] != code:
                self.killers[ply] = [code, killers[0]]
            side = (position.turn, code)
            self.history[side] = self.history.get(side, 0) + left * left
        if node is not None:
            node.cut = True
            who, limit = ("MIN", "beta") if maximising else ("MAX", "alpha")
            sign = "≥" if maximising else "≤"
            bound = beta if maximising else alpha
            node.why = (
                f"{position.game.write(code)} is worth {_text(value)} {sign} {limit} {_text(bound)}: "
                f"{who} above has something at least as good, so the other moves cannot matter"
            )
            for other in unseen:
                self._note(node, ply + 1, position.game.write(other), alpha, beta, "cut").why = "never looked at"

    # -------------------------------------------------------------------------- order

    def _ordered(self, position, ply, maximising, remembered, entry):
        """The moves in the order they are tried; with `front`, a node's own list, made on the first visit."""
        moves = list(position.codes())
        if "front" in self.order:
            if entry.children is None and self.room >= len(moves):
                self.room -= len(moves)
                entry.children = [_Entry(code) for code in moves]
            return [e.code for e in entry.children] if entry.children is not None else moves
        if self.order & {"centre", "sides", "report"}:
            outwards = "centre" in self.order or ("report" in self.order and not maximising)
            moves.sort(key=lambda code: self.rank[code] if outwards else -self.rank[code])

        def promise(code):
            if "best" in self.order and code == remembered:
                return 4 * 2**60
            if "history" not in self.order:
                return 0
            killers = self.killers.get(ply, [-1, -1])
            if code in killers:
                return (2 - killers.index(code)) * 2**60
            return self.history.get((position.turn, code), 0)

        moves.sort(key=lambda code: -promise(code))
        return moves

    # -------------------------------------------------------------------------- table

    def _probe(self, key):
        self.count["table_probes"] += 1
        pair = key % self.size // 2 * 2
        for slot in (pair, pair + 1):
            found = self.slots.get(slot)
            if found is not None and found["key"] == key:
                self.count["table_hits"] += 1
                return found
        return None

    def _known(self, found, ply, left, alpha, beta):
        """The value a table entry settles for this window, or None."""
        if not _usable(found["depth"], found["value"], left):
            return None
        value = _from_here(found["value"], -ply)
        settled = {"exact": True, "lower": value >= beta, "upper": value <= alpha}[found["bound"]]
        return value if settled else None

    def _store(self, key, value, move, depth, bound):
        slot = key % self.size // 2 * 2
        there = self.slots.get(slot)
        if there is not None and there["key"] != key and there["depth"] > depth:
            slot += 1
        self.slots[slot] = {"key": key, "value": value, "move": move, "depth": depth, "bound": bound}

    # -------------------------------------------------------------------------- trace

    def _note(self, parent, ply, move, alpha, beta, kind):
        if not self.tracing:
            return None
        above = None if parent is None else parent.id
        node = Node(len(self.trace), above, ply, move, alpha, beta, self.depth - ply, kind)
        self.trace.append(node)
        return node

    def _done(self, node, value, kind=None, why=""):
        if node is not None:
            node.value = value
            node.kind, node.why = kind or node.kind, why or node.why

    def mark_line(self, line):
        """Mark the principal line in the trace."""
        if not self.trace:
            return
        at, self.trace[0].best = 0, True
        for code in line:
            move = self.root.game.write(code)
            step = next((n for n in self.trace if n.parent == at and n.move == move and n.kind != "cut"), None)
            if step is None:
                return
            step.best, at = True, step.id


def digest(position: Position) -> int:
    """64 bits that stand for a position in the table."""
    h, raw = 0x9E3779B97F4A7C15, position.data.tobytes()
    for at in range(0, position.game.identity, 8):
        h = (h ^ int.from_bytes(raw[at : at + 8], "little")) * 0xFF51AFD7ED558CCD % 2**64
        h ^= h >> 32
    return h


def _from_here(value: float, ply: int) -> float:
    """A win counted from the root → counted from `ply` (and back with −ply)."""
    return value + ply if value > DECIDED else value - ply if value < -DECIDED else value


def _usable(kept_depth: int, kept_value: float, depth: int) -> bool:
    """An entry speaks for a search of `depth` if it searched as deep, or decided the game no deeper."""
    return kept_depth == depth or (kept_depth < depth and abs(kept_value) > DECIDED)


def _text(value: float) -> str:
    """A value as people read it: wins by the plies to go."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) > DECIDED:
        return f"{'win' if value > 0 else 'loss'} at ply {round(WIN - abs(value))}"
    return f"{value:g}"
