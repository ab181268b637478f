"""The Connect Four report: `valhalla` taken apart, its twenty games, many more, and its order of moves measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ..core import Position
from ..games import game as game_of
from ..heuristics import heuristic_of
from ..match import match, play_game
from ..openings import openings
from ..players import player as player_of
from ..stats import wilson
from ..transcripts import text
from . import drawing
from .connect_k import meeting
from .desk import printed

GAME = "connect_four"
OPPONENTS = {"StupidAI": "leftmost", "RandomAI": "random", "MonteCarloAI": "montecarlo(playouts={playouts})"}
VARIANTS = {"as printed": "valhalla", "corrected": "valhalla(variant=corrected)",
            "strict wording": "valhalla(variant=strict)",
            "matrices top first": "valhalla(matrix=top_first)"}
FIRST_MOVES = (-2, -1, 0, 1, 0, -1, -2)  # exact scores of the seven first moves, known since Connect Four was solved


def position_of(rows: Sequence[str]) -> Position:
    return game_of(GAME).position("\n".join(" ".join(row) for row in rows))


# ------------------------------------------------------------------------ the evaluation


def matrices() -> pd.DataFrame:
    """Where the printed left matrix is not the mirror image of the right one."""
    left, right = (np.array(printed("004", name)) for name in ("left", "right"))
    return pd.DataFrame([{"row": int(r), "column": int(c), "printed": int(left[r, c]),
                          "mirror_of_right": int(right[:, ::-1][r, c])}
                         for r, c in np.argwhere(left != right[:, ::-1])])


def example() -> pd.DataFrame:
    """The worked example, token by token."""
    facts = printed("004", "example")
    position = position_of(facts["board"])
    parts = heuristic_of("valhalla", GAME).explain(position, 1)
    rows: list[dict[str, Any]] = []
    for token in facts["tokens"]:
        here = [p for p in parts if p.cells[0] == (5 - token["row"], 3) and "attack" in p.what]
        rows.append({"part": f"token in column 3, row {token['row']}", "printed_terms": token["terms"],
                     "ours": sum(p.value for p in here), "printed": token["total"],
                     "directions": ", ".join(f"{p.what.split()[0]} {p.value:g}" for p in here)})
    blocks = [p for p in parts if "block" in p.what]
    rows.append({"part": "blocks", "printed_terms": f"{facts['blocks']} · 50", "ours": sum(p.value for p in blocks),
                 "printed": facts["defence"], "directions": ", ".join(p.what for p in blocks)})
    rows.append({"part": "total", "printed_terms": "", "ours": sum(p.value for p in parts), "printed": facts["total"],
                 "directions": ""})
    return pd.DataFrame(rows)


def readings() -> pd.DataFrame:
    """The same position under every reading of the text."""
    position = position_of(printed("004", "example")["board"])
    rows = []
    for label, spec in VARIANTS.items():
        parts = heuristic_of(spec, GAME).explain(position, 1)
        offence = sum(p.value for p in parts if "attack" in p.what)
        rows.append({"reading": label, "offence": offence, "defence": sum(p.value for p in parts) - offence,
                     "total": sum(p.value for p in parts),
                     "printed_offence": printed("004", "example")["offence"],
                     "printed_total": printed("004", "example")["total"]})
    return pd.DataFrame(rows)


# ---------------------------------------------------------------------- the twenty games


def printed_games() -> pd.DataFrame:
    """The report's twenty final boards: can they arise, who has four in a row, which of them are the same?"""
    seen: dict[str, int] = {}
    rows = []
    for number, one in enumerate(printed("004", "games"), 1):
        flat = "/".join(one["board"])
        end = position_of(one["board"])
        same = seen.setdefault(flat, number)
        valhalla = 1 if one["first"] == "valhalla" else 2
        rows.append({"game": number, "opponent": one["opponent"], "seed": one.get("seed", ""), "first": one["first"],
                     "printed_winner": one["winner"],
                     "four_in_a_row": end.winner, "agree": "yes" if end.winner == one["winner"] else "no",
                     "valhalla_won": "yes" if one["winner"] == valhalla else "no",
                     "same_board_as": same if same != number else "", "board": flat})
    return pd.DataFrame(rows)


def our_games(depth: int, playouts: int, seed: int) -> pd.DataFrame:
    """The same twenty games played by ours, with their final boards."""
    rows = []
    for number, one in enumerate(printed("004", "games"), 1):
        other = OPPONENTS[one["opponent"]].format(playouts=playouts)
        pair = (valhalla(depth), other) if one["first"] == "valhalla" else (other, valhalla(depth))
        game = play_game(GAME, *pair, seed=seed + one.get("seed", 0))
        won = game.winner == (1 if one["first"] == "valhalla" else 2)
        board = "/".join(text(game.final).split("\n"))
        rows.append({"game": number, "opponent": one["opponent"], "first": one["first"], "moves": "".join(game.moves),
                     "valhalla_won": "yes" if won else "no",
                     "printed_won": "yes" if one["winner"] == (1 if one["first"] == "valhalla" else 2) else "no",
                     "board": board,
                     "printed_board": "/".join(one["board"]),
                     "same_board": "yes" if board == "/".join(one["board"]) else "no"})
    return pd.DataFrame(rows)


def valhalla(depth: int, heuristic: str = "valhalla", more: str = "") -> str:
    return f"alphabeta(depth={depth},heuristic={heuristic}{more})"


def stupid_boards(depths: Sequence[int]) -> pd.DataFrame:
    """Which settings end on the boards the report shows against StupidAI, as first and as second player?"""
    wanted = {one["first"]: "/".join(one["board"]) for one in printed("004", "games") if one["opponent"] == "StupidAI"}
    rows = []
    for reading, heuristic in VARIANTS.items():
        for who, column in (("valhalla", "first"), ("StupidAI", "second")):
            settings = [(d, bonus, ties) for d in depths for bonus in ("on", "off") for ties in ("first", "last")]
            specs = [f"alphabeta(depth={d},heuristic={heuristic},win_bonus={bonus},ties={ties})"
                     for d, bonus, ties in settings]
            games = [play_game(GAME, *((one, "leftmost") if who == "valhalla" else ("leftmost", one)))
                     for one in specs]
            boards = ["/".join(text(g.final).split("\n")) for g in games]
            fits = [s for s, board in zip(settings, boards, strict=True) if board == wanted[who]]
            rows.append({"reading": reading, "valhalla_moves": column, "settings": len(games),
                         "won": sum(g.winner == (1 if who == "valhalla" else 2) for g in games),
                         "printed_board": len(fits),
                         "with": "; ".join("depth {}, bonus {}, {} best".format(*one) for one in fits) or "none",
                         "different_boards": len(set(boards)),
                         "shortest": min(len(g.moves) for g in games)})
    return pd.DataFrame(rows)


def strength(depth: int, playouts: Sequence[int], games: int, seed: int) -> pd.DataFrame:
    """Many games against each opponent, with what the report counted in five or ten."""
    theirs = printed_games()
    rows = []
    for name, form in OPPONENTS.items():
        part = theirs[theirs.opponent == name]
        for budget in playouts if "{" in form else [0]:
            count = games if name != "StupidAI" else 2
            result = match(GAME, valhalla(depth), form.format(playouts=budget), games=count, seed=seed)
            low, high = wilson(result.wins[0], result.games) if name != "StupidAI" else (None, None)
            rows.append({"opponent": name + (f", {budget:,} playouts" if budget else ""), "games": result.games,
                         "distinct": result.distinct, "won": result.wins[0],
                         "drawn": result.draws, "lost": result.wins[1],
                         "rate": round(100 * result.wins[0] / result.games, 1),
                         "low": None if low is None else round(100 * low, 1),
                         "high": None if high is None else round(100 * high, 1),
                         "mean_plies": round(result.turns, 1), "printed_games": len(part),
                         "printed_won": int((part.valhalla_won == "yes").sum()),
                         "printed_rate": round(100 * float((part.valhalla_won == "yes").mean()), 1),
                         "printed_distinct": int(part.board.nunique())})
    return pd.DataFrame(rows)


def variants(depth: int, games: int, seed: int) -> pd.DataFrame:
    """Do the two slips in the matrix, the wording, or the way up matter? Each reading against the printed one."""
    rows = [{"reading": label, **meeting(GAME, valhalla(depth, spec), valhalla(depth), games, seed)} for label,
            spec in VARIANTS.items() if label != "as printed"]
    rows += [{"reading": "positional (ours)", **meeting(GAME, valhalla(depth, "positional"), valhalla(depth), games,
                                                        seed)},
             {"reading": "windows (Connect-K's)", **meeting(GAME, valhalla(depth, "windows"), valhalla(depth), games,
                                                            seed)}]
    return pd.DataFrame(rows)


# ----------------------------------------------------------------------------- the order


ORDERS = {"as listed": "none", "report: MIN middle, MAX sides": "report", "middle first for both": "centre",
          "sides first for both": "sides",
          "killers and history": "history"}


def sample(count: int, seed: int, plies: int) -> list[Position]:
    found = []
    for line in openings(game_of(GAME), count, seed, plies=plies):
        position = game_of(GAME).start()
        for code in line:
            position = position.after(code)
        found.append(position)
    return found


def ordering(depths: Sequence[int], positions: int, seed: int) -> pd.DataFrame:
    """Nodes of each order at each depth on the same positions; the value is the same for all."""
    sampled = sample(positions, seed, 6)
    rows = []
    for depth in depths:
        base: list[int] = []
        for label, order in ORDERS.items():
            choices = [player_of(valhalla(depth, more=f",order={order}")).choose(p) for p in sampled]
            nodes = [c.counters["generated"] for c in choices]
            base = base or nodes
            ratio = np.log(np.array(nodes) / np.array(base))
            reach = 1.96 * float(ratio.std(ddof=0)) / len(ratio) ** 0.5
            cuts = sum(c.counters["cutoffs"] for c in choices)
            rows.append({"depth": depth, "order": label, "positions": positions, "nodes": sum(nodes),
                         "of_listed": round(100 * float(np.exp(ratio.mean())), 1),
                         "low": round(100 * float(np.exp(ratio.mean() - reach)), 1),
                         "high": round(100 * float(np.exp(ratio.mean() + reach)), 1),
                         "first_move_cutoffs": round(100 * sum(c.counters["first_move_cutoffs"]
                                                               for c in choices) / max(cuts, 1), 1)})
    return pd.DataFrame(rows)


# ----------------------------------------------------------------------------- the truth


def first_moves(depths: Sequence[int]) -> pd.DataFrame:
    """The first move at each depth, beside the exact scores of the seven."""
    rows = []
    for depth in depths:
        choice = player_of(valhalla(depth)).choose(game_of(GAME).start())
        rows.append({"depth": depth, "column": choice.move, "exact_score": FIRST_MOVES[int(choice.move) - 1],
                     "value": choice.value, "nodes": choice.counters["generated"]})
    return pd.DataFrame(rows)


def draw_strength(frame: pd.DataFrame) -> Figure:
    shown = frame.assign(low=frame.low.fillna(frame.rate), high=frame.high.fillna(frame.rate))
    return drawing.rates(shown, "opponent", "Games won by valhalla", "games won, %", printed="printed_rate",
                         printed_label="printed: 5, 5 and 10 games")


def draw_ordering(frame: pd.DataFrame) -> Figure:
    return drawing.curves(frame, "depth", "of_listed", "order", "Nodes of each order, in percent of the listed order",
                          "depth, plies", "nodes, % (geometric mean)",
                          log=False, low="low", high="high")


def percent_accuracy(frame: pd.DataFrame) -> pd.DataFrame:
    """The accuracy table in percent, as it is printed."""
    found = drawing.percent(frame, ["kept", "kept_low", "kept_high", "exact", "exact_low", "exact_high"])
    return found.assign(mean_loss=found.mean_loss.round(3), nodes_per_move=found.nodes_per_move.round(1))


def draw_accuracy(frame: pd.DataFrame) -> Figure:
    return drawing.rates(frame, "player", "Moves that are exactly best", "moves, % (95 % interval)", value="exact",
                         low="exact_low", high="exact_high")


def draw_variants(frame: pd.DataFrame) -> Figure:
    from .mnk import with_score_interval

    return drawing.rates(with_score_interval(frame), "reading",
                         "Other readings and evaluations against the printed one", "score, % (draws half)",
                         value="score",
                         low="score_low", high="score_high", line=50)
