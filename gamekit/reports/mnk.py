"""The m,n,k report: its worked examples, how large a board each agent searches out, ten draws, eight parts ablated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ..core import Position
from ..engine.solve import Solver
from ..games import game as game_of
from ..heuristics import heuristic_of
from ..match import match
from ..openings import openings
from ..players import player as player_of
from ..stats import wilson
from . import drawing
from .connect_k import meeting
from .desk import printed

PARTS = {"centre": "1 centre first", "alive": "2 live streaks only", "bonus": "3 diagonals and open ends",
         "opponent": "4 minus half the opponent",
         "win": "5 take a win", "so_far": "6 best so far", "near": "7 only near stones", "block": "8 block"}


def mnk(m: int, n: int, k: int) -> str:
    return f"mnk(m={m},n={n},k={k})"


def board_of(rows: Sequence[str], k: int) -> Position:
    """A position from the report's digits: 0 empty, 1 the agent, 2 the opponent."""
    marks = "\n".join(" ".join(".XO"[int(c)] for c in row) for row in rows)
    return game_of(mnk(len(rows), len(rows[0]), k)).position(marks)


# ------------------------------------------------------------------------ the evaluation


def examples() -> pd.DataFrame:
    """The worked example under every reading of the text: 0.25 or 0.5 an open end, blanks breaking a streak or not."""
    rows = []
    for contiguous in (False, True):
        for end in (printed("003", "open_end"), printed("003", "open_end_text")):
            for one in printed("003", "examples")[1:]:
                position = board_of(one["rows"], one["k"])
                alone = heuristic_of("potential_streak", position.game).with_(open_end=end, contiguous=contiguous,
                                                                              opponent=0.0)
                own, other = alone.value(position, 1), alone.value(position, 2)
                h = own - printed("003", "opponent") * other
                fits = all(abs(a - b) < 5e-4 for a, b in ((own, one["own"]), (other, one["opponent"]), (h, one["h"])))
                rows.append({"board": one["board"], "open_end": end, "blank_breaks": "yes" if contiguous else "no",
                             "own": round(own, 4), "printed_own": one["own"],
                             "opponent": round(other, 4), "printed_opponent": one["opponent"], "h": round(h, 4),
                             "printed_h": one["h"], "fits": "yes" if fits else "no"})
    return pd.DataFrame(rows)


def dead_lines() -> pd.DataFrame:
    """The two small boards of the text: stones in a streak, dead lines left out or counted."""
    rows = []
    for name in ("dead_line", "limit_example"):
        one = printed("003", name)
        position = _any_board(one["rows"], one["k"])
        plain = heuristic_of("potential_streak", position.game).with_(diagonal=1.0, open_end=0.0, opponent=0.0)
        rows.append({"board": " / ".join(one["rows"]), "k": one["k"],
                     "streak_alive": round(plain.value(position, 1) * one["k"]), "printed": one["streak"],
                     "streak_any_line": round(plain.with_(alive=False).value(position, 1) * one["k"])})
    return pd.DataFrame(rows)


def _any_board(rows: Sequence[str], k: int) -> Position:
    """A position whose stones need not balance (the text draws some that could not arise in a game)."""
    position = game_of(mnk(len(rows), len(rows[0]), k)).start()
    record = position.record
    record.cells[: len(rows) * len(rows[0])] = [int(c) for row in rows for c in row]
    data = position.data.copy()
    data[:] = np.frombuffer(np.asarray(record).tobytes(), np.uint8)[: data.size]
    return Position(position.game, data)


# ---------------------------------------------------------------------------- how large


SEARCHES = {"minimax": "search(depth={cells},prune=off,nodes={budget})",
            "alphabeta": "search(depth={cells},table=on,nodes={budget},megabytes=64)",
            "alphabeta, ordered": "search(depth={cells},table=on,order=best+history+centre,nodes={budget},"
                                  "megabytes=64)"}


def squares(boards: Sequence[Sequence[int]], budget: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Nodes to search a board out to its end, agent by agent, blank beyond the budget; and the seconds."""
    theirs = {(r["agent"], r["m"], r["n"], r["k"]): r["empty_squares"] for r in printed("003", "squares")}
    rows, times = [], []
    for m, n, k in boards:
        for agent, form in SEARCHES.items():
            choice = player_of(form.format(cells=m * n, budget=budget)).choose(game_of(mnk(m, n, k)).start())
            done = choice.stopped_by != "nodes"
            worth = choice.value or 0.0
            value = "" if not done else "first wins" if worth > 1e9 else "second wins" if worth < -1e9 else "draw"
            rows.append({"board": f"{m}×{n} k={k}", "empty_squares": m * n, "agent": agent,
                         "nodes": choice.counters["generated"] if done else None,
                         "finished": "yes" if done else "no", "value": value,
                         "printed_squares": theirs.get((agent, m, n, k))})
            times.append({"board": f"{m}×{n} k={k}", "agent": agent, "finished": "yes" if done else "no",
                          "seconds": round(choice.seconds, 4)})
    return pd.DataFrame(rows), pd.DataFrame(times)


def facts(boards: Sequence[Sequence[int]]) -> pd.DataFrame:
    """What perfect play gives on small boards."""
    words = {1: "first player wins", 0: "draw", -1: "second player wins"}
    rows = []
    for m, n, k in boards:
        board = game_of(mnk(m, n, k))
        solved = Solver(board).solve(board.start())
        rows.append({"m": m, "n": n, "k": k, "value": words[int(np.sign(solved.value))]
                     if solved.value is not None else "not solved"})
    return pd.DataFrame(rows)


# ----------------------------------------------------------------------------- ten draws


def ten_rows(numbers: Sequence[int], nodes: int, depth: int, varied_largest: int, openings_each: int,
             seed: int) -> pd.DataFrame:
    """The report's ten games as it played them (equal agents, three times), then with unequal depths and openings.

    Only the games of these `numbers` are played; beyond `varied_largest` cells only by equal agents."""
    rows = []
    for one in printed("003", "games"):
        cells = one["m"] * one["n"]
        row = {"game": one["game"], "board": f"{one['m']}×{one['n']}", "k": one["k"], "printed_seconds": one["seconds"],
               "printed_winner": one["winner"]}
        if one["game"] not in numbers:
            rows.append({**row, "three_games": "not played in this profile"})
            continue
        spec = f"custom(depth={depth},nodes={nodes})"
        board = mnk(one["m"], one["n"], one["k"])
        same = match(board, spec, spec, games=printed("003", "games_each"), seed=seed, swap=False)
        row |= {"three_games": f"{same.wins[0]} first, {same.wins[1]} second, {same.draws} drawn",
                "distinct_games": same.distinct}
        if openings_each and cells <= varied_largest:
            other = match(board, spec, f"custom(depth=1,nodes={nodes})", games=2 * openings_each,
                          openings=openings_each, seed=seed)
            row |= {"deep_won": other.wins[0], "deep_drawn": other.draws, "deep_lost": other.wins[1],
                    "distinct_varied": other.distinct}
        rows.append(row)
    frame = pd.DataFrame(rows)
    return frame.astype({c: "Int64" for c in ("distinct_games", "deep_won", "deep_drawn", "deep_lost",
                                              "distinct_varied") if c in frame})


def depth_table(board: str, depths: Sequence[int], games: int, seed: int) -> pd.DataFrame:
    """Copies with different depth limits against each other, as was asked: wins, losses, ties."""
    rows = []
    for i, one in enumerate(depths):
        for other in depths[i + 1 :]:
            rows.append({"board": board, "depth": other, "against_depth": one,
                         **meeting(board, f"custom(depth={other})", f"custom(depth={one})", games, seed)})
    return pd.DataFrame(rows)


def agents(board: str, games: int, nodes: int, depth: int, seed: int) -> pd.DataFrame:
    """The report's agents against each other."""
    specs = {"evaluation player": "greedy(heuristic=longest_streak)",
             "minimax": f"minimax(depth={depth},heuristic=longest_streak)",
             "alpha-beta, table": f"search(depth={depth},table=on,heuristic=longest_streak)",
             "custom": f"custom(depth={depth},nodes={nodes})"}
    names = list(specs)
    return pd.DataFrame([{"agent": one, "against": other, **meeting(board, specs[one], specs[other], games, seed)}
                         for i, other in enumerate(names) for one in names[i + 1 :]])


# ------------------------------------------------------------------------------ ablation


def ablation(boards: Sequence[str], nodes: int, depth: int, games: int, seed: int) -> pd.DataFrame:
    """The whole agent against itself with one part switched off; above 50 the part helps.

    Openings are given, so part 1 (the first move) is tried apart; part 6 only changes whether a limit is kept."""
    whole = f"custom(depth={depth},nodes={nodes})"
    rows = [{"board": board, "part": label, **meeting(board, whole, f"custom(depth={depth},nodes={nodes},{part}=off)",
                                                      games, seed)}
            for board in boards for part, label in PARTS.items() if part not in ("centre", "so_far")]
    return with_score_interval(pd.DataFrame(rows))


def first_stone(boards: Sequence[str], nodes: int, depth: int, playouts: int, games: int, seed: int) -> pd.DataFrame:
    """Part 1 from the empty board: the agent moves first against a Monte-Carlo player, with the centre and without."""
    rows = []
    for board in boards:
        for centre in ("on", "off"):
            result = match(board, f"custom(depth={depth},nodes={nodes},centre={centre})",
                           f"montecarlo(playouts={playouts})", games=games, seed=seed, swap=False)
            low, high = wilson(result.wins[0], result.games)
            rows.append({"board": board, "centre_first": centre, "games": result.games, "distinct": result.distinct,
                         "won": result.wins[0], "drawn": result.draws,
                         "lost": result.wins[1], "rate": round(100 * result.wins[0] / result.games, 1),
                         "low": round(100 * low, 1), "high": round(100 * high, 1)})
    return pd.DataFrame(rows)


def limit_kept(board: str, nodes: int, depth: int, seed: int) -> pd.DataFrame:
    """Part 6: the most a move costs with the best move so far to fall back on, and without."""
    rows = []
    for so_far in ("on", "off"):
        agent = player_of(f"custom(depth={depth},nodes={nodes},so_far={so_far},block=off)")
        position, most = game_of(board).start(), 0
        for _ in range(8):
            choice = agent.choose(position)
            most, position = max(most, choice.counters["generated"]), position.after(choice.code)
        rows.append({"board": board, "best_so_far": so_far, "limit": nodes, "most_nodes_a_move": most})
    return pd.DataFrame(rows)


def block_limits(boards: Sequence[str], limits: Sequence[float], nodes: int, depth: int, games: int,
                 seed: int) -> pd.DataFrame:
    """Part 8 at other limits of danger than (k − 1) / k (written 0): the agent against itself without the part."""
    rows = [{"board": board, "limit": "(k-1)/k" if not limit else "wins only" if limit >= 10 else f"{limit:g}",
             **meeting(board, f"custom(depth={depth},nodes={nodes},limit={limit:g})",
                       f"custom(depth={depth},nodes={nodes},block=off)", games, seed)}
            for board in boards for limit in limits]
    return with_score_interval(pd.DataFrame(rows))


def moves_saved(boards: Sequence[str], depth: int, count: int, seed: int) -> pd.DataFrame:
    """What looking only near stones saves, and whether it changes the move."""
    rows = []
    for board in boards:
        total, same = {"on": 0, "off": 0}, 0
        for line in openings(game_of(board), count, seed, plies=4):
            position, moves = game_of(board).start(), []
            for code in line:
                position = position.after(code)
            for near in total:
                choice = player_of(f"custom(depth={depth},near={near},block=off)").choose(position)
                total[near] += choice.counters["generated"]
                moves.append(choice.move)
            same += moves[0] == moves[1]
        rows.append({"board": board, "depth": depth, "positions": count, "nodes_near": total["on"],
                     "nodes_all": total["off"],
                     "times_fewer": round(total["off"] / total["on"], 1), "same_move": same})
    return pd.DataFrame(rows)


def irrational(board: str, depth: int, games: int, seed: int) -> pd.DataFrame:
    """How often each half-built agent plays on a dead cell, or lets a threat stand, against the whole one."""
    rows = []
    for label, spec in (("whole agent", f"custom(depth={depth})"), ("without 2", f"custom(depth={depth},alive=off)"),
                        ("without 8", f"custom(depth={depth},block=off)"),
                        ("evaluation player", "greedy(heuristic=longest_streak)")):
        seen: dict[str, int] = {"moves": 0, "dead": 0, "threats": 0, "unanswered": 0}
        result = match(board, spec, f"custom(depth={depth})", games=games, openings=max(games // 2, 1), seed=seed)
        for record in result.records:
            _watch(game_of(board), record, seen)
        rows.append({"agent": label, "games": result.games, "moves": seen["moves"], "on_dead_cells": seen["dead"],
                     "dead_share": round(100 * seen["dead"] / max(seen["moves"], 1), 2), "threats_met": seen["threats"],
                     "left_standing": seen["unanswered"],
                     "missed_share": round(100 * seen["unanswered"] / max(seen["threats"], 1), 1)})
    return pd.DataFrame(rows)


def _watch(board: Any, record: Any, seen: dict[str, int]) -> None:
    """Count a game's dead-cell moves and unanswered threats of the first named player."""
    position, seat = board.start(), 1 if record.first == 1 else 2
    for i, text in enumerate(board.split(record.moves)):
        if i >= record.opening and position.turn == seat:
            here = position.code(text)
            live = live_cells(position, seat)
            seen["moves"] += 1
            seen["dead"] += bool(live) and here not in live
            threats = completions(position, 3 - seat)
            if threats and not completions(position, seat):
                seen["threats"] += 1
                seen["unanswered"] += here not in threats
        position = position.play(text)


def _lines(position: Position) -> list[list[int]]:
    rows, cols, k = (int(position.record[name]) for name in ("rows", "cols", "k"))
    return [[(r + i * dr) * cols + c + i * dc for i in range(k)] for dr,
            dc in ((0, 1), (1, 0), (1, 1), (1, -1)) for r in range(rows) for c in range(cols)
            if 0 <= r + (k - 1) * dr < rows and 0 <= c + (k - 1) * dc < cols]


def live_cells(position: Position, who: int) -> set[int]:
    """Empty cells on a line that `who` could still fill."""
    owners = position.record.cells
    return {cell for line in _lines(position) if all(owners[c] != 3 - who for c in line) for cell in line
            if owners[cell] == 0}


def completions(position: Position, who: int) -> set[int]:
    """Cells that would complete a line of `who` at once."""
    owners = position.record.cells
    return {next(c for c in line if owners[c] == 0) for line in _lines(position)
            if sum(owners[c] == who for c in line) == len(line) - 1 and sum(owners[c] == 0 for c in line) == 1}


# ------------------------------------------------------------------------------- figures


def draw_squares(frame: pd.DataFrame) -> Figure:
    figure, axes = drawing.canvas(height=3.9, width=9.0)
    ax = axes[0, 0]
    boards = list(dict.fromkeys(frame.board))
    for g, (agent, part) in enumerate(frame.groupby("agent", sort=False)):
        done = part[part.finished == "yes"]
        ax.plot([boards.index(b) for b in done.board], done.nodes.astype(float), marker=drawing.MARKS[g],
                color=drawing.COLOURS[g], lw=1.8, label=agent)
    for one in printed("003", "squares"):
        at = f"{one['m']}×{one['n']} k={one['k']}"
        if at in boards:
            ax.axvline(boards.index(at), color=drawing.PRINTED, lw=1.2, ls="--")
            ax.annotate(f"printed: {one['agent']} {one['empty_squares']}", (boards.index(at), 1),
                        xycoords=("data", "axes fraction"), xytext=(3, -12),
                        textcoords="offset points", fontsize=9.5, color=drawing.PRINTED)
    ax.set_yscale("log")
    ax.set_xticks(range(len(boards)), [f"{b}\n{frame[frame.board == b].empty_squares.iloc[0]} squares" for b in boards],
                  fontsize=9.5)
    ax.set_title("Nodes to search a board out (missing: more than the budget)")
    ax.set_ylabel("nodes generated")
    ax.legend(loc="lower right")
    return figure


def draw_ablation(frame: pd.DataFrame) -> Figure:
    return drawing.rates(frame, "part", "The whole agent against itself without one part",
                         "score of the whole agent, % (50: the part does nothing)", value="score", low="score_low",
                         high="score_high", by="board", line=50)


def with_score_interval(frame: pd.DataFrame) -> pd.DataFrame:
    """An interval of the score, draws counted half, from the spread of single games."""
    n = frame.games.astype(float)
    mean = frame.score / 100
    spread = (frame.won + frame.drawn / 4) / n - mean**2
    reach = 1.96 * np.sqrt((spread.clip(lower=0) * n + 0.25) / (n + 1) / n)  # a virtual half-point keeps it above zero
    return frame.assign(score_low=(100 * (mean - reach)).clip(lower=0).round(1),
                        score_high=(100 * (mean + reach)).clip(upper=100).round(1))


def draw_depths(frame: pd.DataFrame) -> Figure:
    shown = frame.assign(pair=[f"depth {a} against {b}" for a, b in zip(frame.depth, frame.against_depth, strict=True)])
    return drawing.rates(with_score_interval(shown), "pair", "Deeper against shallower copies of the custom agent",
                         "score of the deeper, % (draws half)", value="score",
                         low="score_low", high="score_high", by="board" if shown.board.nunique() > 1 else None, line=50)
