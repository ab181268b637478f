"""The Connect-K report: its windows, what its search tricks save, and how it fares against a ladder of ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ..core import Position
from ..games import game as game_of
from ..heuristics import heuristic_of
from ..match import match
from ..openings import openings
from ..players import player as player_of
from ..stats import wilson
from . import drawing
from .desk import printed

LADDER = ("poor_ai", "average_ai", "good_ai")


def short(game: str) -> str:
    """`9×7 k=5, gravity off` for a board's spec."""
    board = game_of(game)
    return (f"{board.settings['columns']}×{board.settings['rows']} k={board.settings['k']}, gravity "
            f"{'on' if board.settings['gravity'] else 'off'}")


def window_values(ks: Sequence[int], count: float, empty: float) -> pd.DataFrame:
    """What a window of one colour is worth by the stones in it; below zero a stone makes things worse."""
    rows = []
    for k in ks:
        values = [count * stones - empty * (k - stones) for stones in range(1, k + 1)]
        rows.append({"k": k, **{f"stones_{i + 1}": values[i] if i < k else None for i in range(4)}, "full": values[-1],
                     "negative": "yes" if values[0] < 0 else "no", "least_ratio": k - 1})
    return pd.DataFrame(rows)


def example(game: str) -> tuple[Position, pd.DataFrame]:
    """A small position with every window that scores, taken apart."""
    position = game_of(game).start()
    for move in openings(position.game, 1, 3, plies=6)[0]:
        position = position.after(move)
    parts = heuristic_of("windows", position.game).explain(position, 1)
    frame = pd.DataFrame([{"windows": p.what, "side": "own" if p.value > 0 else "enemy", "value": p.value}
                          for p in parts])
    table = frame.groupby(["side", "windows"], sort=True).value.agg(["size", "sum"]).reset_index()
    return position, table.rename(columns={"size": "count", "sum": "points"})


def positions(game: str, count: int, seed: int) -> list[Position]:
    board = game_of(game)
    found = []
    for line in openings(board, count, seed, plies=6):
        position = board.start()
        for code in line:
            position = position.after(code)
        found.append(position)
    return found


ORDERINGS = {"no pruning": "prune=off", "alpha-beta, as listed": "order=none", "move to front": "order=front,deepen=on",
             "deepening only": "order=none,deepen=on", "best first + history": "order=best+history,deepen=on",
             "centre first": "order=centre"}


def ordering(games: Sequence[str], depths: Sequence[int], count: int, seed: int, plain_limit: int = 3) -> pd.DataFrame:
    """Nodes to a depth, iterations before it included, summed over the same positions; the value never differs."""
    rows = []
    for game in games:
        sample = positions(game, count, seed)
        for depth in depths:
            truth: list[float] = []
            for label, switches in ORDERINGS.items():
                if label == "no pruning" and depth > plain_limit:
                    continue
                choices = [player_of(f"search(depth={depth},{switches},win_bonus=on)").choose(p) for p in sample]
                values = [c.value for c in choices]
                truth = truth or values  # type: ignore[assignment]
                cut = sum(c.counters["cutoffs"] for c in choices)
                rows.append({"board": short(game), "depth": depth, "search": label, "positions": count,
                             "nodes": sum(c.counters["generated"] for c in choices),
                             "first_move_cutoffs": round(100 * sum(c.counters["first_move_cutoffs"]
                                                                   for c in choices) / cut, 1) if cut else None,
                             "same_value": "yes" if values == truth else "no"})
    return pd.DataFrame(rows)


def iterations(games: Sequence[str], deepest: int, count: int, seed: int) -> pd.DataFrame:
    """What the depths before the last cost beside the last alone: the most that a kept tree can save."""
    rows = []
    for game in games:
        sample = positions(game, count, seed)
        total = [sum(player_of(f"search(depth={d},order=front,deepen=on)").choose(p).counters["generated"]
                     for p in sample) for d in range(1, deepest + 1)]
        for depth in range(2, deepest + 1):
            before, all_ = total[depth - 2], total[depth - 1]
            rows.append({"board": short(game), "depth": depth, "depths_before": before, "this_depth": all_ - before,
                         "share_before": round(100 * before / all_, 1)})
    return pd.DataFrame(rows)


def _against(agent: Any, other: Any, game: str, opening: Sequence[int], seed: int, plies: int) -> list[Any]:
    """The agent's choices in the first plies of a game after an opening, the agent moving first."""
    position, choices = game_of(game).start(), []
    for code in opening:
        position = position.after(code)
    for one in (agent, other):
        one.begin(position.game, seed)
    while position.winner is None and position.ply < plies:
        choice = (agent if position.turn == 1 else other).choose(position)
        if position.turn == 1:
            choices.append(choice)
        position = position.after(choice.code)
    return choices


def reuse(games: Sequence[str], nodes: int, depth: int, count: int, seed: int) -> pd.DataFrame:
    """What the last move's tree is worth: depth reached in a node budget, and nodes to a fixed depth."""
    rows = []
    for game in games:
        lines = openings(game_of(game), count, seed, plies=4)
        for kept in ("off", "on"):
            row: dict[str, Any] = {"board": short(game), "tree_kept": kept, "games": count}
            for column, limit in (("mean_depth", f"nodes={nodes}"), ("nodes_to_depth", f"depth={depth},deepen=on")):
                agent = player_of(f"search({limit},order=front,reuse={kept})")
                found = [c for i, line in enumerate(lines)
                         for c in _against(agent, player_of("average_ai(ties=first)"), game, line, i, 16)]
                if column == "mean_depth":
                    reached = [c.depth for c in found if c.stopped_by == "nodes"]
                    row |= {"budget": nodes, column: round(sum(reached) / max(len(reached), 1), 2)}
                else:
                    row |= {"depth": depth, column: sum(c.counters["generated"] for c in found)}
            rows.append(row)
    return pd.DataFrame(rows)


def predictions(game: str, nodes: int, count: int, seed: int) -> pd.DataFrame:
    """How often an opponent plays the reply the search expected: pondering helps on those moves only."""
    rows = []
    for opponent in ("random", *LADDER, f"search(nodes={nodes},order=front)"):
        hits = asked = 0
        for number, opening in enumerate(openings(game_of(game), count, seed, plies=4)):
            agent, other = player_of(f"search(nodes={nodes},order=front)"), player_of(opponent)
            position, expected = game_of(game).start(), None
            for code in opening:
                position = position.after(code)
            for one in (agent, other):
                one.begin(position.game, number)
            while position.winner is None and position.ply < 20:
                if position.turn == 1:
                    choice = agent.choose(position)
                    expected = choice.line[1] if len(choice.line) > 1 else None
                else:
                    choice = other.choose(position)
                    if expected is not None:
                        asked, hits = asked + 1, hits + (choice.move == expected)
                position = position.after(choice.code)
        low, high = wilson(hits, asked)
        rows.append({"opponent": opponent.split("(")[0]
                     if opponent != f"search(nodes={nodes},order=front)" else "itself", "replies": asked,
                     "expected": hits,
                     "rate": round(100 * hits / max(asked, 1), 1), "low": round(100 * low, 1),
                     "high": round(100 * high, 1)})
    return pd.DataFrame(rows)


def ladder(games: Sequence[str], nodes: int, count: int, seed: int) -> pd.DataFrame:
    """The report's agent against our three rungs, from random openings played by both sides."""
    agent = f"connect_k_agent(nodes={nodes},seconds=600,ponder=off)"
    rows = []
    for game in games:
        for rung in LADDER:
            rows.append({"board": short(game), "opponent": rung, **meeting(game, agent, rung, count, seed)})
    return pd.DataFrame(rows)


def meeting(game: str, one: str, other: str, count: int, seed: int) -> dict[str, Any]:
    """A match in a table's columns: wins of the first named with their interval; draws count half in the score."""
    result = match(game, one, other, games=count, openings=max(count // 2, 1), seed=seed)
    low, high = wilson(result.wins[0], result.games)
    return {"games": result.games, "distinct": result.distinct, "won": result.wins[0], "drawn": result.draws,
            "lost": result.wins[1],
            "rate": round(100 * result.wins[0] / result.games, 1), "low": round(100 * low, 1),
            "high": round(100 * high, 1),
            "score": round(100 * (result.wins[0] + result.draws / 2) / result.games, 1)}


def ratios(game: str, counts: Sequence[float], empties: Sequence[float], depth: int, count: int,
           seed: int) -> pd.DataFrame:
    """Other weights against the report's 30 : 5, at one depth."""
    base = f"alphabeta(depth={depth},heuristic=windows)"
    rows = []
    for stones in counts:
        for empty in empties:
            spec = f"alphabeta(depth={depth},heuristic=windows(count={stones:g},empty={empty:g}))"
            same = (stones, empty) == (printed("002", "count"), printed("002", "empty"))
            found = meeting(game, spec, base, count, seed)
            rows.append({"count": f"{stones:g}", "empty": f"{empty:g}", "report": "yes" if same else "no", **found})
    return pd.DataFrame(rows)


def draw_ordering(frame: pd.DataFrame) -> Figure:
    return drawing.curves(frame, "depth", "nodes", "search", "Nodes to a depth, all iterations included",
                          "depth, plies", "nodes generated", panel="board")


def draw_ladder(frame: pd.DataFrame) -> Figure:
    return drawing.rates(frame, "opponent", "The report's agent against a ladder of three", "games won, %", by="board")


def draw_predictions(frame: pd.DataFrame) -> Figure:
    return drawing.rates(frame, "opponent", "Replies the search had expected", "replies foreseen, % (95 % interval)")


def draw_ratios(frame: pd.DataFrame, depth: int) -> Figure:
    figure = drawing.heat(frame, "count", "empty", "score", f"Other weights against 30 : 5 at depth {depth}",
                          row_label="points a stone", column_label="points off an empty cell",
                          label="score, % (draws half)", limits=(0, 100))
    own = frame[frame.report == "yes"]
    if len(own):
        drawing.mark_cell(figure.axes[0], list(dict.fromkeys(frame["count"])).index(own["count"].iloc[0]),
                          list(dict.fromkeys(frame["empty"])).index(own["empty"].iloc[0]))
    return figure


def _nothing(_position: Position) -> Any:
    return None


def _occupied(position: Position) -> str:
    """The cell just taken."""
    return position.line[-1] if position.line else position.moves()[0]


def _late(position: Position) -> str:
    import time

    time.sleep(2)
    return position.moves()[0]


def forfeits(game: str, seed: int) -> pd.DataFrame:
    """The course's rule that a null, occupied or late move loses the game."""
    rows = []
    for what, bad in (("null", _nothing), ("occupied", _occupied), ("late (2 s where 0.5 s are allowed)", _late)):
        result = match(game, bad, "leftmost", games=1, seed=seed, limit=0.5,
                       swap=False) if bad is not _occupied else match(
            game, "leftmost", bad, games=1, seed=seed, limit=0.5, swap=False)
        record = result.records[0]
        rows.append({"move": what, "termination": record.termination,
                     "loses": "yes" if record.winner == (1 if bad is _occupied else 2) else "no"})
    return pd.DataFrame(rows)


def pondering(game: str, seconds: float, count: int, seed: int) -> pd.DataFrame:
    """With the clock running: depth reached with and without thinking on the opponent's time."""
    rows = []
    for label, switches in (("nothing kept", "reuse=off,ponder=off"), ("tree kept", "reuse=on,ponder=off"),
                            ("tree kept, pondering", "reuse=on,ponder=on")):
        depths: list[int] = []
        for i, line in enumerate(openings(game_of(game), count, seed, plies=4)):
            agent = player_of(f"connect_k_agent(seconds={seconds:g},{switches})")
            depths += [c.depth for c in _against(agent, player_of(f"search(seconds={seconds:g})"), game, line, i, 10)]
            agent.close()
        rows.append({"search": label, "seconds_a_move": seconds, "moves": len(depths),
                     "mean_depth": round(sum(depths) / max(len(depths), 1), 2)})
    return pd.DataFrame(rows)
