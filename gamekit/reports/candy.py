"""The Candy assignment: its four match-ups on five boards, nodes and feasible depths, and the evaluation explained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ..core import Position
from ..games import game as game_of
from ..match import match
from ..players import player as player_of
from ..stats import wilson
from . import drawing
from .desk import printed

PLAIN = {1: (342, 324), 2: (8436, 7770), 3: (217740, 194736)}  # sums of products of the cells left, derived by hand


def board(name: str) -> str:
    return f"candy(board={name})"


def boards(names: Sequence[str]) -> pd.DataFrame:
    """The boards: their totals and spread of values."""
    rows = []
    for name in names:
        values = game_of(board(name)).start().record.cells["value"][:36].astype(int)
        rows.append({"board": name, "cells": len(values), "total": int(values.sum()), "least": int(values.min()),
                     "most": int(values.max()),
                     "rows": " / ".join(" ".join(map(str, row)) for row in values.reshape(6, 6))})
    return pd.DataFrame(rows)


def capture() -> tuple[Position, Position]:
    """The capture the assignment draws: Blue on C2, Green on D3 and C4, Blue drops on C3."""
    before = game_of(board("ReesesPieces")).replay(["C2", "D3", "A6", "C4"])
    return before, before.play(printed("001", "capture")["drop"])


def capture_table() -> pd.DataFrame:
    before, after = capture()
    facts = printed("001", "capture")
    rows = []
    for cell in (facts["own"], facts["drop"], *facts["captured"]):
        r, c = int(cell[1]) - 1, ord(cell[0]) - 65
        owners = [("nobody", "Blue", "Green")[p.game.cells(p.record)[r][c][0]] for p in (before, after)]
        drop = facts["drop"]
        lies = "the drop" if cell == drop else ("above or below"
                                                if cell[0] == drop[0] else "left or right") + " of the drop"
        rows.append({"cell": cell, "before": owners[0], "after": owners[1], "lies": lies})
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Played:
    """One game with what each move cost."""

    first: str
    second: str
    board: str
    end: Position
    nodes: list[int]
    seconds: list[float]

    @property
    def score(self) -> tuple[float, float]:
        outcome = self.end.outcome()
        assert outcome is not None
        assert outcome.score is not None
        return outcome.score


def play(first: str, second: str, name: str) -> Played:
    """One game, move by move."""
    pair, position = (player_of(first), player_of(second)), game_of(board(name)).start()
    for one in pair:
        one.begin(position.game)
    nodes, seconds = [], []
    while position.winner is None:
        choice = pair[position.turn - 1].choose(position)
        nodes.append(choice.counters["generated"])
        seconds.append(choice.seconds)
        position = position.after(choice.code)
    return Played(first, second, name, position, nodes, seconds)


def matchups(minimax_depth: int, alphabeta_depth: int, heuristic: str, names: Sequence[str]) -> list[Played]:
    """The four match-ups on every board, Blue (the first named) moving first."""
    specs = {"minimax": f"minimax(depth={minimax_depth},heuristic={heuristic})",
             "alphabeta": f"alphabeta(depth={alphabeta_depth},heuristic={heuristic})"}
    return [play(specs[one], specs[other], name) for one, other in printed("001", "matchups") for name in names]


def _short(spec: str) -> str:
    return spec.split("(")[0]


def results(games: Sequence[Played]) -> pd.DataFrame:
    """Scores and nodes of every game."""
    rows = []
    for g in games:
        blue, green = g.score
        n1, n2 = g.nodes[::2], g.nodes[1::2]
        rows.append({"blue": _short(g.first), "green": _short(g.second), "board": g.board, "blue_total": int(blue),
                     "green_total": int(green),
                     "winner": "Blue" if blue > green else "Green" if green > blue else "draw", "blue_nodes": sum(n1),
                     "green_nodes": sum(n2),
                     "blue_nodes_per_move": round(np.mean(n1), 1), "green_nodes_per_move": round(np.mean(n2), 1)})
    return pd.DataFrame(rows)


def transcripts(games: Sequence[Played]) -> pd.DataFrame:
    """The moves in order and the final owners, row by row (B Blue, G Green)."""
    rows = []
    for g in games:
        drops = ", ".join(f"{('Blue', 'Green')[i % 2]}: drop {move}" for i, move in enumerate(g.end.line))
        owners = " / ".join("".join(".BG"[owner] for owner, _ in row) for row in g.end.game.cells(g.end.record))
        rows.append({"blue": _short(g.first), "green": _short(g.second), "board": g.board, "moves": drops,
                     "final_owners": owners})
    return pd.DataFrame(rows)


def times(games: Sequence[Played]) -> pd.DataFrame:
    """Milliseconds a move, by player."""
    return pd.DataFrame([{"blue": _short(g.first), "green": _short(g.second), "board": g.board,
                          "blue_ms_per_move": round(1000 * np.mean(g.seconds[::2]), 3),
                          "green_ms_per_move": round(1000 * np.mean(g.seconds[1::2]), 3)}
                         for g in games])


def plain_nodes(depths: Sequence[int], heuristic: str, names: Sequence[str]) -> pd.DataFrame:
    """Nodes of plain minimax over a whole game: the same on every board, since nothing is pruned."""
    rows = []
    for depth in depths:
        spec = f"minimax(depth={depth},heuristic={heuristic})"
        found = {(sum(g.nodes[::2]), sum(g.nodes[1::2])) for g in (play(spec, spec, name) for name in names)}
        first, second = sorted(found)[0]
        start = player_of(spec).choose(game_of(board(names[0])).start())
        rows.append({"depth": depth, "boards": len(names), "different_counts": len(found), "first_player": first,
                     "second_player": second,
                     "expected_first": PLAIN.get(depth, (None, None))[0],
                     "expected_second": PLAIN.get(depth, (None, None))[1],
                     "leaves_of_first_move": start.counters["leaves"],
                     "printed_leaves": printed("001", "leaves_depth_3") if depth == 3 else None})
    return pd.DataFrame(rows)


def same_game(depths: Sequence[int], heuristic: str, names: Sequence[str]) -> pd.DataFrame:
    """Does alpha-beta play minimax's game, and for how much less?"""
    rows = []
    for depth in depths:
        for name in names:
            plain, pruned = (play(spec, spec, name) for spec in (f"{kind}(depth={depth},heuristic={heuristic})"
                                                                 for kind in ("minimax", "alphabeta")))
            rows.append({"depth": depth, "board": name,
                         "same_moves": "yes" if plain.end.line == pruned.end.line else "no",
                         "minimax_nodes": sum(plain.nodes), "alphabeta_nodes": sum(pruned.nodes),
                         "share": round(100 * sum(pruned.nodes) / sum(plain.nodes), 2)})
    return pd.DataFrame(rows)


AGENTS = {"minimax": "minimax(depth={d},heuristic={h})", "alphabeta": "alphabeta(depth={d},heuristic={h})",
          "alphabeta, table and ordering": "search(depth={d},heuristic={h},table=on,order=best+history,deepen=on)"}


def first_move(budget: int, heuristic: str, names: Sequence[str], deepest: int = 12) -> pd.DataFrame:
    """Nodes of the first move by depth, for as long as they stay within a budget."""
    rows = []
    for label, form in AGENTS.items():
        for name in names:
            for depth in range(1, deepest + 1):
                choice = player_of(form.format(d=depth, h=heuristic)).choose(game_of(board(name)).start())
                nodes = choice.counters["generated"]
                rows.append({"agent": label, "board": name, "depth": depth, "nodes": nodes})
                if nodes * (36 if label == "minimax" else 4) > budget:
                    break
    return pd.DataFrame(rows)


def feasible(frame: pd.DataFrame, budget: int) -> pd.DataFrame:
    """The deepest first move within the budget, agent by agent."""
    within = frame[frame.nodes <= budget]
    deepest = within.groupby(["agent", "board"], sort=False).depth.max().unstack("agent")[list(AGENTS)]
    return deepest.reset_index().rename_axis(columns=None)


def evaluations(heuristics: Sequence[str], depth: int, games: int, names: Sequence[str], seed: int) -> pd.DataFrame:
    """The evaluations against each other at one depth, from random openings played by both sides."""
    rows: list[dict[str, Any]] = []
    for i, one in enumerate(heuristics):
        for other in heuristics[i + 1 :]:
            for name in names:
                first, second = (f"alphabeta(depth={depth},heuristic={h})" for h in (one, other))
                result = match(board(name), first, second, games=games, openings=games // 2 or 1, seed=seed)
                low, high = wilson(result.wins[0], result.games)
                rows.append({"evaluation": one, "against": other, "board": name, "games": result.games,
                             "distinct": result.distinct, "won": result.wins[0],
                             "lost": result.wins[1], "drawn": result.draws,
                             "rate": round(100 * result.wins[0] / result.games, 1),
                             "low": round(100 * low, 1), "high": round(100 * high, 1)})
    return pd.DataFrame(rows)


def draw_margins(frame: pd.DataFrame) -> Figure:
    total = frame.blue_total + frame.green_total
    shown = frame.assign(matchup=[f"{b} – {g}" for b, g in zip(frame.blue, frame.green, strict=True)],
                         margin=(100 * (frame.blue_total - frame.green_total) / total).round() + 0.0)
    return drawing.heat(shown, "matchup", "board", "margin", "Blue's margin, in percent of the board's total",
                        row_label="Blue – Green",
                        label="Blue − Green, %", form="{:+.0f}", limits=(-40, 40), colours="PuOr")


def draw_ends(games: Sequence[Played]) -> Figure:
    """The final owners of one match-up on every board, the cells' values written in."""
    figure, axes = drawing.canvas(1, len(games), height=2.6, width=9.5)
    for ax, g in zip(axes[0], games, strict=True):
        rows = g.end.game.cells(g.end.record)
        values = g.end.record.cells["value"][:36].astype(int).reshape(6, 6)
        ax.imshow([[owner for owner, _ in row] for row in rows], cmap=_two_colours(), vmin=1, vmax=2)
        for (r, c), value in np.ndenumerate(values):
            ax.text(c, r, str(value), ha="center", va="center", fontsize=8,
                    color="white" if rows[r][c][0] == 1 else "black")
        ax.set_xticks(range(6), "ABCDEF", fontsize=8)
        ax.set_yticks(range(6), "123456", fontsize=8)
        ax.grid(False)
        ax.set_title(f"{g.board}\n{g.score[0]:g} : {g.score[1]:g}", fontsize=9.5, loc="center", fontweight="normal")
    figure.suptitle(f"Final boards, {_short(games[0].first)} (Blue, dark) against {_short(games[0].second)} (Green, "
                    "light)", x=0.01, ha="left", fontweight="bold", fontsize=12)
    return figure


def _two_colours() -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap(["#0072B2", "#7FD6B4"])


def draw_nodes(frame: pd.DataFrame) -> Figure:
    mean = frame.groupby(["agent", "depth"], sort=False).nodes.agg(["mean", "min", "max", "size"]).reset_index()
    mean = mean[mean["size"] == frame.board.nunique()]  # beyond, only the easy boards are left
    mean["mean"] = mean["mean"].round(1)
    return drawing.curves(mean, "depth", "mean", "agent",
                          "Nodes for the first move (band: least and most of the boards)", "depth, plies",
                          "nodes generated",
                          low="min", high="max")


def draw_evaluations(frame: pd.DataFrame) -> Figure:
    rows = []
    for (one, other), part in frame.groupby(["evaluation", "against"], sort=False):
        low, high = wilson(part.won.sum(), part.games.sum())
        rows.append({"pair": f"{one} against {other}", "rate": 100 * part.won.sum() / part.games.sum(),
                     "low": 100 * low, "high": 100 * high})
    return drawing.rates(pd.DataFrame(rows), "pair", "Evaluations against each other, all boards",
                         "games won by the first named, %", line=50)
