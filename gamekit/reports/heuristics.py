"""Every heuristic of every game: who beats whom at equal depth and equal nodes, ratings, exact truth, weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ..accuracy import accuracy
from ..core import GamekitError
from ..games import game as game_of
from ..heuristics import HEURISTICS, names_of
from ..stats import bradley_terry, wilson
from ..sweep import sweep
from . import drawing
from .connect_k import meeting
from .search import short

# For each game: a heuristic, two of its weights, and the values tried. The report's own stand among them.
WEIGHTS: dict[str, tuple[str, str, tuple[float, ...], str, tuple[float, ...]]] = {
    "conga": ("weighted", "corner", (1, 3, 5, 8), "centre", (3, 5, 8, 12)),
    "candy": ("capture_threat", "threat", (0, 0.25, 0.5, 0.75, 1.0, 1.5), "", ()),
    "connect_k": ("windows", "count", (5, 15, 30, 60), "empty", (0, 5, 15)),
    "mnk": ("potential_streak", "opponent", (0.0, 0.25, 0.5, 1.0), "open_end", (0.0, 0.25, 0.5)),
    "connect_four": ("valhalla", "block", (0, 10, 50, 200), "third", (1, 4, 8)),
}


def chosen(game: str, wanted: Sequence[str]) -> list[str]:
    """The heuristics of a game among those wanted; `all` is every one it has."""
    there = names_of(game_of(game).name)
    fitting = []
    for name in there:
        if "all" in wanted or any(w.split("(")[0] == name for w in wanted):
            fitting += [name] if "all" in wanted else [w for w in wanted if w.split("(")[0] == name]
    if not fitting:
        raise GamekitError(f"none of {', '.join(wanted)} is a heuristic of {game}; it has {', '.join(there)}")
    return [h for h in fitting if _suits(h, game)]


def _suits(name: str, game: str) -> bool:
    from ..heuristics import heuristic_of

    try:
        heuristic_of(name, game)
    except GamekitError:
        return False
    return True


def win_rates(games: Sequence[str], wanted: Sequence[str], depths: Sequence[int], opponents: Sequence[str], count: int,
              cap: int, seed: int) -> pd.DataFrame:
    """Heuristics × depths × opponents, one sweep a game."""
    frames = []
    for game in games:
        players = [f"alphabeta(depth={d},heuristic={h})" for h in chosen(game, wanted) for d in depths]
        found = sweep([game], players, list(opponents), games_each=count, openings=max(count // 2, 1), cap=cap,
                      seed=seed, workers=1, limit=None, memory=None,
                      progress=False).table("win_rates", params=True)
        frames.append(found.assign(game=short(game)))
    table = pd.concat(frames, ignore_index=True)
    table["heuristic"] = table.heuristic.fillna("default")
    shown = drawing.percent(table, ["win_rate", "low", "high"]).rename(columns={"win_rate": "rate"})
    return shown[["game", "heuristic", "depth", "opponent", "games", "distinct", "wins", "draws", "losses", "rate",
                  "low", "high"]]


def round_robin(games: Sequence[str], wanted: Sequence[str], condition: str, count: int, cap: int,
                seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every two heuristics of a game under one condition (`depth=3`, `nodes=2000`): crosstable and ratings."""
    cross, ratings = [], []
    for game in games:
        names = chosen(game, wanted)
        if len(names) < 2:
            continue
        spec = {h: f"search({condition},heuristic={h})" for h in names}
        back = {text: h for h, text in spec.items()}
        found = sweep([game], list(spec.values()), None, games_each=count, openings=max(count // 2, 1), cap=cap,
                      seed=seed, workers=1, limit=None, memory=None,
                      progress=False).table("win_rates")
        results: dict[tuple[str, str], tuple[float, float]] = {}
        for row in found.itertuples():
            one, other = _named(row.player, back), _named(row.opponent, back)
            results[one, other] = (row.wins + row.draws / 2, row.losses + row.draws / 2)
            low, high = wilson(row.wins, row.games)
            cross.append({"game": short(game), "condition": condition, "heuristic": one, "against": other,
                          "games": row.games, "distinct": row.distinct, "won": row.wins,
                          "drawn": row.draws, "lost": row.losses, "rate": round(100 * row.wins / row.games, 1),
                          "low": round(100 * low, 1), "high": round(100 * high, 1),
                          "score": round(100 * (row.wins + row.draws / 2) / row.games, 1)})
        rated = bradley_terry(results)
        order = np.argsort(-rated.elo, kind="stable")
        ratings += [{"game": short(game), "condition": condition, "heuristic": rated.names[i],
                     "elo": round(float(rated.elo[i]), 1), "low": round(float(rated.elo[i] - rated.error[i]), 1),
                     "high": round(float(rated.elo[i] + rated.error[i]), 1), "games": int(rated.games[i])}
                    for i in order]
    return pd.DataFrame(cross), pd.DataFrame(ratings)


def _named(spec: Any, back: dict[str, str]) -> str:
    text = str(spec)
    return back.get(text) or next(h for s, h in back.items() if h in text and s.split(",heuristic")[0] in text)


def truth(games: Sequence[str], wanted: Sequence[str], depths: Sequence[int], positions: int,
          plies: dict[str, Sequence[int]], seed: int) -> pd.DataFrame:
    """Moves judged by exact values, where they can be had."""
    frames = []
    for game in games:
        if game_of(game).name not in plies:
            continue
        players = ["random", *(f"alphabeta(depth={d},heuristic={h})" for h in chosen(game, wanted) for d in depths)]
        found = accuracy(game, players, positions=positions, plies=plies[game_of(game).name], seed=seed)
        frames.append(found.assign(game=short(game), heuristic=["(random)",
                                                                *(h for h in chosen(game, wanted) for _ in depths)],
                                   depth=[0, *(d for _ in chosen(game, wanted) for d in depths)]))
    if not frames:
        return pd.DataFrame(columns=["game", "heuristic", "depth", "positions", "kept", "kept_low", "kept_high",
                                     "exact", "exact_low", "exact_high", "mean_loss"])
    table = drawing.percent(pd.concat(frames, ignore_index=True),
                            ["kept", "kept_low", "kept_high", "exact", "exact_low", "exact_high"])
    table["mean_loss"] = table.mean_loss.round(3)
    return table[["game", "heuristic", "depth", "positions", "kept", "kept_low", "kept_high", "exact", "exact_low",
                  "exact_high", "mean_loss"]]


def weights(games: Sequence[str], depth: int, count: int, seed: int) -> pd.DataFrame:
    """Other weights against the report's own, at one depth; the score of the other weights, draws half."""
    rows = []
    for game in games:
        heuristic, a, values_a, b, values_b = WEIGHTS[game_of(game).name]
        for one in values_a:
            for other in values_b or (None,):
                inside = f"{a}={one:g}" + (f",{b}={other:g}" if other is not None else "")
                found = meeting(game, f"alphabeta(depth={depth},heuristic={heuristic}({inside}))",
                                f"alphabeta(depth={depth},heuristic={heuristic})", count, seed)
                rows.append({"game": short(game), "heuristic": heuristic, "weight": a, "value": f"{one:g}",
                             "weight_2": b, "value_2": "" if other is None else f"{other:g}", **found})
    return pd.DataFrame(rows)


# ------------------------------------------------------------------------------- figures


def draw_win_rates(frame: pd.DataFrame) -> Figure:
    opponent = frame.opponent.iloc[-1]
    shown = frame[frame.opponent == opponent].assign(depth=lambda f: f.depth.astype(int))
    return drawing.curves(shown, "depth", "rate", "heuristic", f"Games won against {opponent}, by depth (95 % band)",
                          "depth, plies", "games won, %", panel="game", log=False, low="low", high="high")


def draw_ratings(equal_depth: pd.DataFrame, equal_nodes: pd.DataFrame) -> Figure:
    both = pd.concat([equal_depth, equal_nodes], ignore_index=True)
    games = list(dict.fromkeys(both.game))
    heights = [both[both.game == g].heuristic.nunique() for g in games]
    figure, axes = drawing.canvas(len(games), 1, height=1.1 + 0.42 * sum(heights) + 0.35 * len(games), width=8.0,
                                  height_ratios=heights, sharex=True)
    for ax, game in zip(axes[:, 0], games, strict=True):
        drawing.rates(both[both.game == game], "heuristic", game, "", value="elo", by="condition", limits=None, ax=ax,
                      line=0)
        ax.get_legend().remove()
    axes[-1, 0].set_xlabel("Elo within the game (mean 0, 95 % interval)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, [f"equal {text.split('=')[0]} ({text})" for text in labels], loc="outside lower center",
                  ncols=2)
    figure.suptitle("Heuristics rated at equal depth and at equal nodes", x=0.01, ha="left", fontweight="bold",
                    fontsize=12)
    return figure


def _own_weight(heuristic: str, weight: str) -> float:
    return next(h.params[weight].default for (_, name), h in HEURISTICS.items() if name == heuristic)


def draw_weights(frame: pd.DataFrame) -> Figure:
    games = [g for g in dict.fromkeys(frame.game) if (frame[frame.game == g].value_2 != "").any()]
    figure, axes = drawing.canvas(1, len(games), height=3.6, width=9.5)
    image: Any = None
    for ax, game in zip(axes[0], games, strict=True):
        part = frame[frame.game == game]
        rows, cols = list(dict.fromkeys(part.value)), list(dict.fromkeys(part.value_2))
        grid = part.pivot(index="value", columns="value_2", values="score").loc[rows, cols].to_numpy(float)
        image = ax.imshow(grid, vmin=0, vmax=100, cmap="cividis", aspect="auto")
        drawing.write_cells(ax, image, grid, "{:.0f}")
        own = [f"{_own_weight(part.heuristic.iloc[0], name):g}"
               for name in (part.weight.iloc[0], part.weight_2.iloc[0])]
        if own[0] in rows and own[1] in cols:
            drawing.mark_cell(ax, rows.index(own[0]), cols.index(own[1]))
        ax.set_xticks(range(len(cols)), cols)
        ax.set_yticks(range(len(rows)), rows)
        ax.set_xlabel(f"{part.weight_2.iloc[0]}")
        ax.set_ylabel(part.weight.iloc[0])
        ax.set_title(f"{game}\n{part.heuristic.iloc[0]}", fontsize=10.5)
        ax.grid(False)
    figure.colorbar(image, ax=axes.ravel().tolist(), label="score against the report's weights, %")
    figure.suptitle("Weights swept: 50 is as good as the report's own (framed)", x=0.01, ha="left", fontweight="bold",
                    fontsize=12)
    return figure


def draw_truth(frame: pd.DataFrame) -> Figure:
    shown = frame.assign(label=[f"{h}, depth {d}" if d else h for h,
                                d in zip(frame.heuristic, frame.depth, strict=True)])
    games = list(dict.fromkeys(shown.game))
    heights = [max((shown.game == g).sum(), 2) for g in games]
    figure, axes = drawing.canvas(len(games), 1, height=0.9 + 0.3 * sum(heights) + 0.3 * len(games), width=8.0,
                                  height_ratios=heights, sharex=True)
    for ax, game in zip(axes[:, 0], games, strict=True):
        drawing.rates(shown[shown.game == game], "label", game, "", value="exact", low="exact_low", high="exact_high",
                      ax=ax)
    axes[-1, 0].set_xlabel("moves that are exactly best, % (95 % interval)")
    figure.suptitle("Heuristics judged by exact values", x=0.01, ha="left", fontweight="bold", fontsize=12)
    return figure
