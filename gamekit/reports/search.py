"""The search itself over all five games: what pruning, tables, orders, deepening and reuse are worth, in nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ..core import Position
from ..games import game as game_of
from ..openings import openings
from ..players import player as player_of
from . import drawing

SEARCHES = {"minimax": "prune=off", "alpha-beta": "", "alpha-beta, table": "table=on",
            "alpha-beta, middle first": "order=centre",
            "alpha-beta, killers + history": "order=history", "deepening, best first": "deepen=on,order=best",
            "all together": "deepen=on,table=on,order=best+history+centre"}


def spec(search: str, limit: str) -> str:
    more = SEARCHES[search]
    return f"search({limit}{',' + more if more else ''})"


def short(game: str) -> str:
    """A panel's title: the game, with a board's size where there is one."""
    board = game_of(game)
    size = f" {board.settings['m']}×{board.settings['n']} k={board.settings['k']}" if board.name == "mnk" else ""
    size = f" {board.settings['columns']}×{board.settings['rows']}" if board.name == "connect_k" else size
    return board.name.replace("_", " ") + size


def positions(game: str, count: int, seed: int, plies: int = 4) -> list[Position]:
    """Positions after random openings, distinct up to symmetry."""
    board, found = game_of(game), []
    for line in openings(board, count, seed, plies=plies):
        position = board.start()
        for code in line:
            position = position.after(code)
        found.append(position)
    return found


def nodes(games: Sequence[str], depths: Sequence[int], count: int, budget: int, seed: int) -> pd.DataFrame:
    """Nodes, leaves and cut-offs by depth; a search whose next depth would pass the budget stops there."""
    rows = []
    for game in games:
        sample = positions(game, count, seed)
        for search in SEARCHES:
            last, grown = 0, 10.0
            for depth in depths:
                if last * grown > budget:
                    break
                choices = [player_of(spec(search, f"depth={depth}")).choose(p) for p in sample]
                total = {key: sum(c.counters[key] for c in choices) for key in choices[0].counters}
                grown, last = total["generated"] / last if last else 10.0, total["generated"]
                rows.append({"game": short(game), "search": search, "depth": depth, "positions": count,
                             "nodes": total["generated"], "leaves": total["leaves"],
                             "cutoffs": total["cutoffs"],
                             "first_move_cutoffs": round(100 * total["first_move_cutoffs"] / total["cutoffs"], 1)
                             if total["cutoffs"] else None,
                             "value_sum": round(sum(c.value or 0 for c in choices), 3)})
    frame = pd.DataFrame(rows)
    plain = frame.groupby(["game", "depth"]).value_sum.transform("nunique")
    return frame.assign(values_agree=np.where(plain == 1, "yes", "no")).drop(columns="value_sum")


def branching(frame: pd.DataFrame) -> pd.DataFrame:
    """The effective branching factor: by how much two more plies multiply the nodes, per ply."""
    rows = []
    for (game, search), part in frame.groupby(["game", "search"], sort=False):
        by_depth = part.set_index("depth").nodes
        deepest = int(by_depth.index.max())
        if deepest - 2 in by_depth.index:
            rows.append({"game": game, "search": search, "depth": deepest,
                         "branching": round(math.sqrt(by_depth[deepest] / by_depth[deepest - 2]), 2)})
    return pd.DataFrame(rows)


def minimum(frame: pd.DataFrame) -> pd.DataFrame:
    """Leaves beside Knuth and Moore's minimum for a uniform tree as wide as this one, b^⌈d/2⌉ + b^⌊d/2⌋ − 1."""
    rows = []
    plain = frame[frame.search == "minimax"].set_index(["game", "depth"])
    for row in frame[(frame.search != "minimax") & (frame.depth > 1)].itertuples():
        if (row.game, row.depth) not in plain.index:
            continue
        leaves = plain.leaves[row.game, row.depth] / row.positions
        width = leaves ** (1 / row.depth)
        least = width ** math.ceil(row.depth / 2) + width ** (row.depth // 2) - 1
        rows.append({"game": row.game, "search": row.search, "depth": row.depth, "width": round(width, 2),
                     "minimax_leaves": round(leaves, 1), "leaves": round(row.leaves / row.positions, 1),
                     "knuth_moore": round(least, 1), "times_minimum": round(row.leaves / row.positions / least, 2)})
    return pd.DataFrame(rows)


def reached(games: Sequence[str], budget: int, count: int, seed: int) -> pd.DataFrame:
    """The depth finished within a node budget, deepening ply by ply."""
    rows = []
    for game in games:
        sample = positions(game, count, seed)
        for search in SEARCHES:
            found = [player_of(spec(search, f"nodes={budget}").replace("deepen=on,",
                                                                       "").replace(")", ",deepen=on)")).choose(p)
                     for p in sample]
            depths = [c.depth for c in found if c.stopped_by == "nodes"] or [c.depth for c in found]
            rows.append({"game": short(game), "search": search, "budget": budget, "positions": len(depths),
                         "mean_depth": round(float(np.mean(depths)), 2),
                         "least": min(depths), "most": max(depths)})
    return pd.DataFrame(rows)


def in_time(games: Sequence[str], seconds: float, seed: int) -> pd.DataFrame:
    """The depth finished within seconds, from one position a game."""
    rows = []
    for game in games:
        position = positions(game, 1, seed)[0]
        for search in ("minimax", "alpha-beta", "all together"):
            choice = player_of(spec(search, f"seconds={seconds:g}")).choose(position)
            rows.append({"game": short(game), "search": search, "seconds": seconds, "depth": choice.depth,
                         "nodes": choice.counters["generated"],
                         "nodes_per_second": round(choice.counters["generated"] / max(choice.seconds, 1e-9))})
    return pd.DataFrame(rows)


def memory(games: Sequence[str], depth: int, plies: int, seed: int) -> pd.DataFrame:
    """A game against itself: what a kept table and kept lists save, and how often the expected reply is played."""
    rows = []
    for game in games:
        row: dict[str, object] = {"game": short(game), "depth": depth, "plies": plies}
        for label, switches in (("table", "table=on,order=best+history,deepen=on"), ("lists", "order=front,deepen=on")):
            for kept in ("off", "on"):
                spent = _self_play(game, f"search(depth={depth},{switches},reuse={kept})", plies, seed)[0]
                row[f"{label}_{'kept' if kept == 'on' else 'new'}"] = spent
        hits, asked = _self_play(game, f"search(depth={depth},table=on)", plies, seed,
                                 f"search(depth={max(depth - 1, 1)},table=on)")[1:]
        row |= {"table_saved": _saved(row, "table"), "lists_saved": _saved(row, "lists"), "replies": asked,
                "foreseen": round(100 * hits / asked, 1) if asked else None}
        rows.append(row)
    return pd.DataFrame(rows)


def _saved(row: dict[str, object], label: str) -> float:
    return round(100 * (1 - float(row[f"{label}_kept"]) / float(row[f"{label}_new"])), 1)  # type: ignore[arg-type]


def _self_play(game: str, one: str, plies: int, seed: int, other: str | None = None) -> tuple[int, int, int]:
    """The first player's nodes over a few plies, and how often the second played what it expected."""
    pair, position = (player_of(one), player_of(other or one)), positions(game, 1, seed)[0]
    for player in pair:
        player.begin(position.game, seed)
    total = hits = asked = 0
    expected: str | None = None
    first = position.turn
    for _ in range(plies):
        if position.winner is not None:
            break
        choice = pair[0 if position.turn == first else 1].choose(position)
        if position.turn == first:
            total += choice.counters["generated"]
            expected = choice.line[1] if len(choice.line) > 1 else None
        elif expected:
            asked, hits = asked + 1, hits + (choice.move == expected)
        position = position.after(choice.code)
    return total, hits, asked


def feasible(frame: pd.DataFrame, budget: int) -> pd.DataFrame:
    """The deepest search of each kind whose mean position stays within a budget."""
    within = frame[frame.nodes / frame.positions <= budget]
    return within.groupby(["game", "search"],
                          sort=False).depth.max().unstack("game")[list(dict.fromkeys(frame.game))].reset_index().rename_axis(columns=None)


def by_ply(game: str, depth: int, seed: int) -> pd.DataFrame:
    """One search ply by ply: how many positions each level of the tree has, with and without pruning."""
    position = positions(game, 1, seed)[0]
    plain, pruned, best = (player_of(spec(search, f"depth={depth}")).choose(position).by_ply
                           for search in ("minimax", "alpha-beta", "alpha-beta, killers + history"))
    return pd.DataFrame([{"ply": i + 1, "minimax": a, "alpha_beta": b, "with_history": c} for i,
                         (a, b, c) in enumerate(zip(plain, pruned, best, strict=True))])


def draw_nodes(frame: pd.DataFrame) -> Figure:
    mean = frame.assign(mean=frame.nodes / frame.positions)
    return drawing.curves(mean, "depth", "mean", "search", "Nodes for a move, by depth", "depth, plies",
                          "nodes a position", panel="game", share_y=False)


def draw_reached(frame: pd.DataFrame, budget: int) -> Figure:
    return drawing.heat(frame, "search", "game", "mean_depth", f"Depth finished within {budget:,} nodes",
                        label="mean depth, plies", form="{:.1f}")


def draw_minimum(frame: pd.DataFrame) -> Figure:
    deepest = frame[frame.depth == frame.groupby("game").depth.transform("max")]
    labels = {g: f"{g}\ndepth {part.depth.iloc[0]}" for g, part in deepest.groupby("game", sort=False)}
    return drawing.heat(deepest.assign(panel=deepest.game.map(labels)), "search", "panel", "times_minimum",
                        "Leaves, as a multiple of Knuth and Moore's minimum", label="times the minimum", form="{:.1f}")


def draw_first(frame: pd.DataFrame) -> Figure:
    pruned = frame[(frame.search != "minimax") & frame.first_move_cutoffs.notna()]
    deepest = pruned[pruned.depth == pruned.groupby(["game", "search"]).depth.transform("max")]
    return drawing.heat(deepest, "search", "game", "first_move_cutoffs", "Cut-offs made by the first move tried",
                        label="% of all cut-offs", limits=(0, 100))
