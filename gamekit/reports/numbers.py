"""Every number in the reports' tables and examples, with ours beside it."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ..claims import REFUTED, REPRODUCED, UNDECIDED, Evidence
from . import drawing
from .desk import printed


def side_by_side(results: str) -> pd.DataFrame:
    """A row a printed number: ours, its interval where there is one, and the table it comes from."""
    evidence, rows = Evidence(results), []

    def row(report: str, what: str, theirs: Any, ours: Any, table: str, low: Any = None, high: Any = None) -> None:
        rows.append({"report": report, "what": what, "printed": theirs, "ours": ours, "low": low, "high": high,
                     "table": table})

    for r in evidence("10_conga/heuristics").itertuples():
        row("000", f"{r.heuristic}: games won, %", r.printed_rate, r.rate, "10_conga/heuristics", r.low, r.high)
        row("000", f"{r.heuristic}: average turns", r.printed_turns, r.turns_all, "10_conga/heuristics", r.turns_low,
            r.turns_high)
    table = evidence("10_conga/heuristics")
    row("000", "all three with draws counted, %", printed("000", "with_draws"),
        round(100 * table.won.sum() / table.games.sum(), 1), "10_conga/heuristics")
    comments = evidence("10_conga/comments")
    row("000", "equal best moves at turn 14", printed("000", "sample")["ties_at_turn_14"],
        " / ".join(comments[comments.about.str.startswith("best moves") & (comments.turn == 14)].found),
        "10_conga/comments")
    for r in evidence("20_candy/plain_nodes").dropna(subset=["printed_leaves"]).itertuples():
        row("001", f"leaves at depth {r.depth}", int(r.printed_leaves), r.leaves_of_first_move, "20_candy/plain_nodes")
    for name in ("count", "empty"):
        row("002", f"weight: {name}", printed("002", name), "kept, see the weights swept", "30_connect_k/ratios")
    examples = evidence("40_mnk/examples")
    for r in examples[(examples.open_end == printed("003", "open_end")) & (examples.blank_breaks == "no")].itertuples():
        for part in ("own", "opponent", "h"):
            row("003", f"board {r.board}: {part}", getattr(r, f"printed_{part}"), getattr(r, part), "40_mnk/examples")
    squares = evidence("40_mnk/squares")
    for one in printed("003", "squares"):
        done = squares[(squares.agent == one["agent"]) & (squares.finished == "yes")]
        row("003", f"{one['agent']}: most empty squares", one["empty_squares"], int(done.empty_squares.max()),
            "40_mnk/squares")
    for r in evidence("40_mnk/ten_games").itertuples():
        row("003", f"game {r.game}, {r.board}, K = {r.k}, {r.printed_seconds} s", r.printed_winner, r.three_games,
            "40_mnk/ten_games")
    for r in evidence("50_connect_four/example").itertuples():
        row("004", f"example: {r.part}", r.printed, r.ours, "50_connect_four/example")
    for r in evidence("50_connect_four/strength").itertuples():
        row("004", f"games won against {r.opponent}, %", f"{r.printed_rate:g} ({r.printed_won} of {r.printed_games})",
            r.rate, "50_connect_four/strength", r.low, r.high)
    games = evidence("50_connect_four/our_games")
    row("004", "games won of twenty", printed("004", "won"), int((games.valhalla_won == "yes").sum()),
        "50_connect_four/our_games")
    return pd.DataFrame(rows)


def scoreboard(claims: pd.DataFrame) -> pd.DataFrame:
    """Verdicts by report."""
    counts = claims.groupby(["report", "verdict"]).size().unstack(fill_value=0).reindex(columns=[REPRODUCED, REFUTED,
                                                                                                 UNDECIDED],
                                                                                        fill_value=0)
    return counts.assign(claims=counts.sum(axis=1)).reset_index().rename_axis(columns=None)


def draw_scoreboard(board: pd.DataFrame) -> Figure:
    figure, axes = drawing.canvas(height=0.9 + 0.42 * len(board), width=8.0)
    ax, left = axes[0, 0], pd.Series(0, index=board.index)
    for verdict, colour, hatch in ((REPRODUCED, "#009E73", ""), (REFUTED, "#D55E00", "//"),
                                   (UNDECIDED, "#BBBBBB", "..")):
        ax.barh(range(len(board)), board[verdict], left=left, color=colour, hatch=hatch, edgecolor="white",
                label=verdict)
        for y, (start, count) in enumerate(zip(left, board[verdict], strict=True)):
            if count:
                ax.text(start + count / 2, y, str(count), ha="center", va="center", fontsize=11, fontweight="bold",
                        bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.85})
        left = left + board[verdict]
    ax.set_yticks(range(len(board)), [f"report {r}" for r in board.report])
    ax.invert_yaxis()
    ax.set_xlabel("claims")
    ax.set_title("Verdicts by report")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure
