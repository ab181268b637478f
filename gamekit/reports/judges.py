"""A judge a claim: each reads the tables its claim names and gives a verdict with the numbers that decide it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..claims import REFUTED, REPRODUCED, UNDECIDED, Verdict, judge
from ..stats import wilson
from .desk import printed


def _says(yes: bool, why: str) -> Verdict:
    return (REPRODUCED if yes else REFUTED), why


def _against(value: float, low: float, high: float, why: str) -> Verdict:
    """Reproduced above the value, refuted below, undecided while the interval holds it."""
    return (REPRODUCED if low > value else REFUTED if high < value else UNDECIDED), why


# ---------------------------------------------------------------------------------- Conga


@judge
def conga_moves_best(same: pd.DataFrame, rates: pd.DataFrame) -> Verdict:
    twin = same[(same["first"] == "moves") & (same["second"] == "weighted")].iloc[0]
    if twin.equal == twin.positions:
        return REFUTED, (f"moves and weighted squares are the same function: equal on {twin.equal} of "
                         f"{twin.positions} positions")
    best = rates.sort_values("rate").iloc[-1]
    return _says(best.heuristic == "moves", f"best is {best.heuristic} with {best.rate} %")


@judge
def conga_rates(swept: pd.DataFrame) -> Verdict:
    wanted = {row["heuristic"]: row["win_rate"] for row in printed("000", "heuristics")}
    inside = swept[[low <= wanted.get(h, -1) <= high for h, low,
                    high in zip(swept.heuristic, swept.low, swept.high, strict=True)]]
    held = inside.groupby(["depth", "win_bonus", "ties"]).size()
    whole = held[held == len(wanted)]
    n = swept.groupby(["depth", "win_bonus", "ties"]).ngroups
    games = int(swept.games.iloc[0])
    if len(whole):
        depth, bonus, ties = whole.index[0]
        return (REPRODUCED
                if games >= 100 else UNDECIDED), (f"all three lie in our intervals at depth {depth}, bonus {bonus}, "
                                                  f"ties {ties}, with {games} games a cell")
    return REFUTED, (f"under none of {n} settings do all three printed rates lie in our intervals; at most "
                     f"{int(held.max()) if len(held) else 0} do")


@judge
def conga_squares_worst(rates: pd.DataFrame) -> Verdict:
    by = rates.set_index("heuristic")
    squares, moves = by.loc["squares"], by.loc["moves"]
    why = f"squares {squares.rate} % [{squares.low}, {squares.high}], moves {moves.rate} % [{moves.low}, {moves.high}]"
    return (REPRODUCED if squares.high < moves.low else REFUTED if squares.low > moves.high else UNDECIDED), why


@judge
def conga_reasonable(rates: pd.DataFrame) -> Verdict:
    return _says(bool((rates.won > rates.lost).all()),
                 f"won {rates.won.tolist()}, lost {rates.lost.tolist()} of {rates.games.iloc[0]} each")


@judge
def conga_loops(rates: pd.DataFrame) -> Verdict:
    share = rates.unfinished.sum() / rates.games.sum()
    return _says(share >= 0.25,
                 f"{share:.0%} of {rates.games.sum()} games reach the cap; {rates.looped.sum()} repeat a position "
                 "three times")


@judge
def conga_cap(caps: pd.DataFrame) -> Verdict:
    most = max(row["turns"] for row in printed("000", "heuristics"))
    ours = caps[caps.cap_turns == printed("000", "cap_text")].mean_turns.max()
    return _says(most <= printed("000", "cap_text"),
                 f"under a cap of 50 our averages stay below {ours}; the report prints averages up to {most}")


@judge
def conga_draws_removed(caps: pd.DataFrame) -> Verdict:
    rates = caps.rate_without_unfinished.dropna()
    return _says(bool((rates < 90).any()),
                 f"without unfinished games the rate is {rates.min():g} to {rates.max():g} %, not 65 to 81 %")


def _remark(comments: pd.DataFrame, turn: int, about: str) -> str:
    return str(comments[(comments.turn == turn) & (comments.about == about)].found.iloc[0])


@judge
def conga_corner(comments: pd.DataFrame) -> Verdict:
    heap, left, fewer = (_remark(comments, 3, about) for about in ("B's largest heap", "moves B has left after it",
                                                                   "moves of A that leave B fewer"))
    return _says(int(heap) == 9 and int(fewer) <= 3,
                 f"a heap of {heap}, {left} moves left to B; {fewer} of A's moves would have left fewer")


@judge
def conga_tie(comments: pd.DataFrame, fits: pd.DataFrame) -> Verdict:
    fitting = sorted(fits[fits.among_best == fits.moves].depth.unique())
    ties = {d: int(_remark(comments, 14, f"best moves at depth {d}")) for d in (1, 2, 3)}
    return _says(ties[3] == 4,
                 f"{ties[1]} best moves at depth 1, {ties[2]} at depth 2, {ties[3]} at depth 3; A's moves fit depths "
                 f"{', '.join(map(str, fitting))}")


@judge
def conga_quick_win(review: pd.DataFrame) -> Verdict:
    row = review[(review.turn == 14) & (review.player == "A")].iloc[0]
    if row.decided != "won":
        return UNDECIDED, "no forced win is in sight at the depth searched"
    return _says(row.among_best == "yes",
                 f"a forced win was in sight, by {row.best} among {row.best_moves} moves; {row.move} is "
                 f"{'' if row.among_best == 'yes' else 'not '}one of them")


@judge
def conga_gap(review: pd.DataFrame, comments: pd.DataFrame) -> Verdict:
    row = review[(review.turn == 15) & (review.player == "A")].iloc[0]
    remark = comments[(comments.turn == 15) & (comments.about == "best moves at depth 3")].iloc[0]
    why = (f"{remark.beside.removeprefix('the move played is ')} of {remark.found} best moves at depth 3 without a "
           f"bonus; a forced win lay in {row.best}")
    return (UNDECIDED if "not" not in remark.beside else REFUTED), why


# ---------------------------------------------------------------------------------- Candy


@judge
def candy_leaves(nodes: pd.DataFrame) -> Verdict:
    row = nodes[nodes.depth == 3]
    if row.empty:
        return UNDECIDED, "depth three was not searched in this profile"
    return _says(int(row.leaves_of_first_move.iloc[0]) == printed("001", "leaves_depth_3"),
                 f"{int(row.leaves_of_first_move.iloc[0])} leaves of the first move; a whole game has "
                 f"{int(row.first_player.iloc[0])} nodes")


@judge
def candy_minimax_3(feasible: pd.DataFrame) -> Verdict:
    return _says(bool((feasible.minimax >= 3).all()),
                 f"minimax reaches depth {feasible.minimax.min()} on every board within the budget")


@judge
def candy_deeper(feasible: pd.DataFrame) -> Verdict:
    more = int((feasible.alphabeta > feasible.minimax).sum())
    why = f"deeper on {more} of {len(feasible)} boards: " + ", ".join(f"{r.board} {r.minimax} and {r.alphabeta}"
                                                                      for r in feasible.itertuples())
    return (REPRODUCED if more == len(feasible) else REFUTED if more == 0 else UNDECIDED), why


@judge
def candy_same(same: pd.DataFrame) -> Verdict:
    return _says(bool((same.same_moves == "yes").all()),
                 f"the same moves in {(same.same_moves == 'yes').sum()} of {len(same)} games")


@judge
def candy_capture(cells: pd.DataFrame) -> Verdict:
    taken = cells[cells.cell.isin(printed("001", "capture")["captured"])]
    return _says(bool(((taken.before == "Green") & (taken.after == "Blue")).all()),
                 f"{' and '.join(taken.cell)} turn from Green to Blue")


@judge
def candy_horizontal(cells: pd.DataFrame) -> Verdict:
    row = cells[cells.cell == printed("001", "capture")["own"]].iloc[0]
    return _says("left" in row.lies, f"{row.cell} lies {row.lies}")


# ------------------------------------------------------------------------------ Connect-K


@judge
def ck_front(frame: pd.DataFrame) -> Verdict:
    deep = frame[frame.depth == frame.depth.max()].pivot(index="board", columns="search", values="nodes")
    ratio = deep["alpha-beta, as listed"] / deep["move to front"]
    wide = ratio[[("off" in name) for name in ratio.index]]
    return _says(bool((wide > 1).all()), "listed order takes " + ", ".join(f"{r:.1f} times the nodes ({b})" for b,
                                                                           r in ratio.items()))


@judge
def ck_reuse(frame: pd.DataFrame) -> Verdict:
    nodes = frame.pivot(index="board", columns="tree_kept", values="nodes_to_depth")
    saved = 100 * (1 - nodes["on"] / nodes["off"])
    return _says(bool((saved < 20).all()), "the kept tree saves " + ", ".join(f"{s:.1f} % ({b})" for b,
                                                                              s in saved.items()))


@judge
def ck_ponder(frame: pd.DataFrame) -> Verdict:
    rungs = frame[frame.opponent != "itself"]
    why = ", ".join(f"{r.opponent} {r.rate} % [{r.low}, {r.high}]" for r in frame.itertuples())
    return (REPRODUCED if (rungs.high < 50).all() else REFUTED
            if (rungs.low > 50).all() else _says(bool((rungs.rate < 50).all()), "")[0]), f"replies foreseen: {why}"


@judge
def ck_last_depth(frame: pd.DataFrame) -> Verdict:
    return _says(bool((frame.this_depth > frame.depths_before).all()),
                 f"earlier depths take {frame.share_before.min()} to {frame.share_before.max()} % of the nodes")


@judge
def ck_decided(frame: pd.DataFrame) -> Verdict:
    return _says(bool((frame.same_value == "yes").all()),
                 f"the same values in {(frame.same_value == 'yes').sum()} of {len(frame)} rows")


@judge
def ck_positive(frame: pd.DataFrame) -> Verdict:
    bad = frame[frame.negative == "yes"]
    return _says(bad.empty, f"below zero from K = {bad.k.min()} on" if len(bad) else "never below zero for K up to 12")


@judge
def ck_ratio(frame: pd.DataFrame) -> Verdict:
    low = frame[frame["count"].astype(float) <= frame["empty"].astype(float)]
    if low.empty:
        return UNDECIDED, "no weights with a ratio of 1 or less were tried"
    bottom, top = wilson(float((low.won + low.drawn / 2).sum()), float(low.games.sum()))
    score = 100 * (low.won + low.drawn / 2).sum() / low.games.sum()
    verdict = REPRODUCED if top < 0.5 else REFUTED if bottom > 0.5 else UNDECIDED
    return verdict, (f"ratios of 1 or less score {score:.0f} % [{100 * bottom:.0f}, {100 * top:.0f}] against 30 to 5 "
                     f"in {low.games.sum()} games")


@judge
def ck_good_ai(frame: pd.DataFrame) -> Verdict:
    ours = frame[frame.opponent == "good_ai"]
    return UNDECIDED, (f"GoodAI is not at hand; against our rung in its role the agent wins {ours.won.sum()}, draws "
                       f"{ours.drawn.sum()} and loses {ours.lost.sum()} of {ours.games.sum()}")


# ---------------------------------------------------------------------------------- m,n,k


@judge
def mnk_example(frame: pd.DataFrame) -> Verdict:
    part = frame[frame.open_end == printed("003", "open_end")]
    return _says(bool((part.fits == "yes").all()),
                 f"H = {part.h.iloc[0]} and {part.h.iloc[1]}; all {len(part)} rows with 0.25 fit")


@judge
def mnk_half_end(frame: pd.DataFrame) -> Verdict:
    part = frame[frame.open_end == printed("003", "open_end_text")]
    return _says(bool((part.fits == "yes").any()),
                 f"with 0.5 the example would give H = {part.h.iloc[0]} and {part.h.iloc[1]}")


@judge
def mnk_dead(frame: pd.DataFrame) -> Verdict:
    row = frame.iloc[0]
    return _says(row.streak_alive == row.printed, f"{row.streak_alive} on live lines, {row.streak_any_line} on any")


@judge
def mnk_six(frame: pd.DataFrame) -> Verdict:
    done = frame[(frame.agent == "minimax") & (frame.finished == "yes")].sort_values("empty_squares").iloc[-1]
    return _says(done.empty_squares <= 6,
                 f"minimax searches out {done.board} ({done.empty_squares} squares) in {int(done.nodes)} nodes")


@judge
def mnk_sixteen(frame: pd.DataFrame) -> Verdict:
    row = frame[(frame.agent == "alphabeta") & (frame.board == "4×4 k=3")]
    if row.empty:
        return UNDECIDED, "4×4 with K = 3 was not searched in this profile"
    largest = frame[(frame.agent == "alphabeta") & (frame.finished == "yes")].empty_squares.max()
    nodes = f" in {int(row.nodes.iloc[0])} nodes" if row.finished.iloc[0] == "yes" else ""
    return _says(row.finished.iloc[0] == "yes",
                 f"4×4, K = 3 searched out{nodes}; the largest board it finished here has {largest} squares")


@judge
def mnk_table(frame: pd.DataFrame) -> Verdict:
    both = frame[frame.finished == "yes"].pivot(index="board", columns="agent",
                                                values="nodes")[["minimax", "alphabeta"]].dropna()
    share = 100 * both.alphabeta / both.minimax
    return _says(bool((share < 100).all()),
                 "alpha-beta with a table takes " + ", ".join(f"{s:.1f} % of minimax's nodes on {b}" for b,
                                                              s in share.items()))


@judge
def mnk_draws(frame: pd.DataFrame) -> Verdict:
    played = frame[frame.distinct_games.notna()]
    decided = played[~played.three_games.str.contains("3 drawn")]
    names = ", ".join(f"{r.board} K = {r.k}: {r.three_games}" for r in decided.itertuples())
    return _says(decided.empty, names or f"all {len(played)} rows drawn")


@judge
def mnk_three(frame: pd.DataFrame) -> Verdict:
    distinct = frame.distinct_games.dropna()
    return _says(bool((distinct == 3).all()),
                 f"{int(distinct.max())} distinct game of three in every one of {len(distinct)} rows")


@judge
def mnk_near(frame: pd.DataFrame) -> Verdict:
    return _says(bool((frame.times_fewer >= 2).all()), ", ".join(f"{r.times_fewer} times fewer nodes on {r.board}"
                                                                 for r in frame.itertuples()))


def _parts(frame: pd.DataFrame, *numbers: int) -> Verdict:
    rows = frame[[int(part[0]) in numbers for part in frame.part]]
    points, games = float((rows.won + rows.drawn / 2).sum()), float(rows.games.sum())
    low, high = wilson(points, games)
    each = ", ".join(f"{r.part} {r.score} % ({r.board})" for r in rows.itertuples())
    return _against(50, 100 * low, 100 * high,
                    f"{100 * points / games:.0f} % [{100 * low:.0f}, {100 * high:.0f}] over {games:.0f} games: {each}")


@judge
def mnk_part_7(frame: pd.DataFrame) -> Verdict:
    return _parts(frame, 7)


@judge
def mnk_part_8(frame: pd.DataFrame) -> Verdict:
    spans = [wilson(r.won + r.drawn / 2, r.games) for r in frame.itertuples()]
    why = ", ".join(f"limit {r.limit}: {r.score} % ({r.board})" for r in frame.itertuples())
    verdict = REPRODUCED if any(low > 0.5 for low, _ in spans) else REFUTED if all(high < 0.5 for _,
                                                                                   high in spans) else UNDECIDED
    return verdict, f"score with the part against without it, by the limit the report does not print: {why}"


@judge
def mnk_evaluation(frame: pd.DataFrame) -> Verdict:
    return _parts(frame, 2, 3, 4)


@judge
def mnk_centre(frame: pd.DataFrame) -> Verdict:
    on, off = (frame[frame.centre_first == word].iloc[0] for word in ("on", "off"))
    why = (f"with the centre {on.rate} % [{on.low}, {on.high}], without {off.rate} % [{off.low}, {off.high}] of games "
           "won moving first")
    return (REPRODUCED if on.low > off.high else REFUTED if on.high < off.low else UNDECIDED), why


def _two_shares(whole: Any, without: Any, part: str, of: str) -> Verdict:
    spans = [wilson(row[part], row[of]) for row in (whole, without)]
    why = ", ".join(f"{row.agent} {row[part]} of {row[of]}" for row in (without, whole))
    return (REPRODUCED if spans[0][1] < spans[1][0] else REFUTED if spans[0][0] > spans[1][1] else UNDECIDED), why


@judge
def mnk_missed(frame: pd.DataFrame) -> Verdict:
    by = frame.set_index("agent", drop=False)
    return _two_shares(by.loc["whole agent"], by.loc["without 8"], "left_standing", "threats_met")


@judge
def mnk_dead_cells(frame: pd.DataFrame) -> Verdict:
    by = frame.set_index("agent", drop=False)
    return _two_shares(by.loc["whole agent"], by.loc["without 2"], "on_dead_cells", "moves")


# --------------------------------------------------------------------------- Connect Four


@judge
def c4_example(frame: pd.DataFrame) -> Verdict:
    return _says(bool((frame.ours == frame.printed).all()),
                 f"{frame.ours.iloc[-1]:g} in all, {frame.ours.iloc[-2]:g} of them blocks; "
                 f"{(frame.ours == frame.printed).sum()} of {len(frame)} lines agree")


@judge
def c4_wording(frame: pd.DataFrame) -> Verdict:
    row = frame[frame.reading == "strict wording"].iloc[0]
    return _says(row.total == row.printed_total,
                 f"the strict wording gives {row.total:g}, the example {row.printed_total}; empty cells count there "
                 "too")


@judge
def c4_matrices(frame: pd.DataFrame) -> Verdict:
    return _says(frame.empty, "; ".join(f"row {r.row}, column {r.column}: {r.printed} for {r.mirror_of_right}"
                                        for r in frame.itertuples()))


@judge
def c4_won(frame: pd.DataFrame) -> Verdict:
    won = int((frame.valhalla_won == "yes").sum())
    return _says(won == printed("004", "won"),
                 f"{won} of {len(frame)} by the headings; {frame.board.nunique()} different boards among them")


@judge
def c4_game_15(frame: pd.DataFrame) -> Verdict:
    row = frame[(frame.opponent == "MonteCarloAI") & (frame["first"] == "valhalla")].iloc[0]
    twin = row.same_board_as
    if pd.isna(twin):
        return UNDECIDED, "its board stands alone"
    return UNDECIDED, (f"game {row.game} ends on the very board of game {int(twin)}, which valhalla won as second "
                       "player: a heading may be wrong")


def _strength(frame: pd.DataFrame, opponent: str) -> pd.DataFrame:
    return frame[frame.opponent.str.startswith(opponent)]


@judge
def c4_stupid(frame: pd.DataFrame) -> Verdict:
    row = _strength(frame, "Stupid").iloc[0]
    return _says(row.won == row.games, f"{row.won} of {row.games} games won, {row.distinct} distinct")


@judge
def c4_random(frame: pd.DataFrame) -> Verdict:
    row = _strength(frame, "Random").iloc[0]
    verdict = REPRODUCED if row.low >= 90 else REFUTED if row.high < 90 else UNDECIDED
    return verdict, f"{row.won} of {row.games} won [{row.low}, {row.high}]"


@judge
def c4_montecarlo(frame: pd.DataFrame) -> Verdict:
    rows = _strength(frame, "Monte")
    why = ", ".join(f"{r.rate} % [{r.low}, {r.high}] at {r.opponent.split(', ')[1]}" for r in rows.itertuples())
    return (REPRODUCED if (rows.low > 50).all() else REFUTED
            if (rows.high < 50).all() else UNDECIDED), f"{why}; the report's budget of 500 ms is not known in playouts"


@judge
def c4_middle(frame: pd.DataFrame) -> Verdict:
    return _says(bool((frame.exact_score == 1).all()),
                 f"valhalla opens in the middle at {(frame.column == 4).sum()} of {len(frame)} depths, the only first "
                 "move that wins")


@judge
def c4_order(frame: pd.DataFrame) -> Verdict:
    row = frame[(frame.depth == frame.depth.max()) & frame.order.str.startswith("report")].iloc[0]
    verdict = REPRODUCED if row.high < 100 else REFUTED if row.low > 100 else UNDECIDED
    return verdict, f"{row.of_listed} % [{row.low}, {row.high}] of the listed order's nodes at depth {row.depth}"


@judge
def c4_max_half(frame: pd.DataFrame) -> Verdict:
    deep = frame[frame.depth == frame.depth.max()].set_index("order")
    report, middle = deep[deep.index.str.startswith("report")].iloc[0], deep.loc["middle first for both"]
    return _says(report.nodes < middle.nodes,
                 f"sides first for MAX {report.nodes} nodes, middle first for both {middle.nodes}, at depth "
                 f"{deep.depth.iloc[0]}")


@judge
def c4_block(frame: pd.DataFrame) -> Verdict:
    here = frame[(frame.game == "connect four") & (frame.weight == "block")]
    row = here[(here.value.astype(float) == 0) & (here.value_2.astype(float) == 4)]
    if row.empty:
        return UNDECIDED, "the weights of Connect Four were not swept in this profile"
    one = row.iloc[0]
    low, high = wilson(one.won + one.drawn / 2, one.games)
    verdict = REPRODUCED if high < 0.5 else REFUTED if low > 0.5 else UNDECIDED
    return verdict, (f"without the block it scores {one.score} % [{100 * low:.0f}, {100 * high:.0f}] against itself "
                     f"with it, {one.games} games")


@judge
def all_alphabeta(frame: pd.DataFrame) -> Verdict:
    table = frame[frame.search.isin(["minimax", "alpha-beta"])].pivot_table(index=["game", "depth"], columns="search",
                                                                            values="nodes").dropna()
    fewer = bool((table["alpha-beta"] <= table["minimax"]).all()) and bool((frame.values_agree == "yes").all())
    last = 100 * (table["alpha-beta"] / table["minimax"]).groupby("game", sort=False).last()
    return _says(fewer, "same values; at the deepest depth " + ", ".join(f"{s:.1f} % ({g})" for g,
                                                                         s in last.items()) + " of minimax's nodes")
