"""The Conga report: heuristics against a random player, the switches it does not mention, its sample game reviewed."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ..core import Position
from ..games import game as game_of
from ..heuristics import heuristic_of
from ..players import player as player_of
from ..stats import wilson
from . import drawing
from .desk import printed

GAME = "conga"
RANK = ["first", "random"]


def perft(depth: int) -> pd.DataFrame:
    """Sequences of moves by length; a won position has none."""
    counts, layer = [], Counter({game_of(GAME).start(): 1})
    for ply in range(1, depth + 1):
        following: Counter[Position] = Counter()
        for position, times in layer.items():
            for code in position.codes():
                following[position.after(code)] += times
        layer = following
        counts.append({"depth": ply, "sequences": sum(layer.values()), "positions": len(layer),
                       "wins": sum(n for p, n in layer.items() if p.winner is not None)})
    return pd.DataFrame(counts)


def spec(heuristic: str, depth: int, win_bonus: bool, ties: str) -> str:
    """The report's rational player with the two switches it leaves open."""
    return f"search(depth={depth},heuristic={heuristic},win_bonus={'on' if win_bonus else 'off'},ties={ties})"


def play(rational: str, opponent: str, games: int, cap: int, seed: int) -> pd.DataFrame:
    """Games by the report's own rules: no repetition rule, only a win or the cap ends one; A moves first."""
    board, pair = game_of(GAME), (player_of(rational), player_of(opponent))
    rows = []
    for number in range(games):
        digest = hashlib.sha256(f"{seed} {rational} {opponent} {number}".encode()).digest()
        for i, one in enumerate(pair):
            one.begin(board, int.from_bytes(digest[8 * i : 8 * i + 8], "little") >> 1)
        position, plies, loop, seen = board.start(), 0, 0, Counter[bytes]()
        while position.winner is None and plies < 2 * cap:
            position = position.after(pair[position.turn - 1].pick(position))
            plies += 1
            if not loop:
                seen[position.key] += 1
                loop = plies if seen[position.key] == 3 else 0
        rows.append((number, position.winner or 0, (plies + 1) // 2, loop))
    return pd.DataFrame(rows, columns=["game", "winner", "turns", "loop_ply"])


def _summary(games: pd.DataFrame) -> dict[str, Any]:
    n, won, lost = len(games), int((games.winner == 1).sum()), int((games.winner == 2).sum())
    low, high = wilson(won, n)
    decided = won + lost
    mean, reach = float(games.turns.mean()), 1.96 * float(games.turns.std(ddof=0)) / n**0.5
    return {"games": n, "won": won, "lost": lost, "unfinished": n - decided, "looped": int((games.loop_ply > 0).sum()),
            "rate": round(100 * won / n, 1), "low": round(100 * low, 1), "high": round(100 * high, 1),
            "rate_of_decided": round(100 * won / decided, 1) if decided else None,
            "turns_all": round(mean, 1), "turns_low": round(mean - reach, 1), "turns_high": round(mean + reach, 1),
            "turns_won": round(float(games[games.winner == 1].turns.mean()), 1) if won else None}


def games_of(names: Sequence[str], depth: int, games: int, cap: int, seed: int, win_bonus: bool,
             ties: str) -> pd.DataFrame:
    """The report's experiment: each heuristic against the random player, game by game."""
    return pd.concat([play(spec(name, depth, win_bonus, ties), "random", games, cap, seed).assign(heuristic=name)
                      for name in names],
                     ignore_index=True)


def heuristics(games: pd.DataFrame) -> pd.DataFrame:
    """The report's table, ours and theirs in one row."""
    theirs = {row["heuristic"]: row for row in printed("000", "heuristics")}
    found = pd.DataFrame([{"heuristic": name, **_summary(part), "printed_rate": theirs.get(name, {}).get("win_rate"),
                           "printed_turns": theirs.get(name, {}).get("turns")}
                          for name, part in games.groupby("heuristic", sort=False)])
    front = ["heuristic", "rate", "low", "high", "printed_rate", "turns_all", "turns_low", "turns_high",
             "printed_turns"]
    return found[[*front, *(column for column in found if column not in front)]]


def switches(names: Sequence[str], depths: Sequence[int], games: int, cap: int, seed: int) -> pd.DataFrame:
    """The same with the win bonus on and off, ties to the first or at random, at every depth."""
    rows = []
    for depth in depths:
        for bonus in (False, True):
            for ties in RANK:
                for name in names:
                    found = _summary(play(spec(name, depth, bonus, ties), "random", games, cap, seed))
                    rows.append({"heuristic": name, "depth": depth, "win_bonus": "on" if bonus else "off", "ties": ties,
                                 **found})
    return pd.DataFrame(rows)


def spreads(frame: pd.DataFrame) -> pd.DataFrame:
    """How far the win rate moves when one thing changes and all else stays."""
    rows = []
    for what in ("heuristic", "depth", "win_bonus", "ties"):
        others = [c for c in ("heuristic", "depth", "win_bonus", "ties") if c != what]
        gaps = frame.groupby(others)["rate"].agg(lambda rates: rates.max() - rates.min())
        rows.append({"changed": what, "settings": len(gaps), "mean_spread": round(float(gaps.mean()), 1),
                     "largest": round(float(gaps.max()), 1)})
    return pd.DataFrame(rows)


def caps(games: pd.DataFrame, limits: Sequence[int]) -> pd.DataFrame:
    """The same games cut off at each of the caps the report speaks of."""
    rows = []
    for name, part in games.groupby("heuristic", sort=False):
        for cap in limits:
            won = part[(part.winner == 1) & (part.turns <= cap)]
            decided = part[(part.winner > 0) & (part.turns <= cap)]
            low, high = wilson(len(won), len(part))
            rows.append({"heuristic": name, "cap_turns": cap, "games": len(part), "won": len(won),
                         "unfinished": len(part) - len(decided),
                         "rate": round(100 * len(won) / len(part), 1), "low": round(100 * low, 1),
                         "high": round(100 * high, 1),
                         "rate_without_unfinished": round(100 * len(won) / len(decided), 1) if len(decided) else None,
                         "mean_turns": round(float(part.turns.clip(upper=cap).mean()), 1)})
    return pd.DataFrame(rows)


# ------------------------------------------------------------------- are 1 and 3 the same?


def sample(count: int, seed: int) -> list[Position]:
    """Positions met in random games, one after another."""
    choose, position = random.Random(f"conga {seed}"), game_of(GAME).start()
    found: list[Position] = []
    while len(found) < count:
        codes = position.codes()
        position = position.after(codes[int(choose.random() * len(codes))])
        found.append(position)
        if position.winner is not None or position.ply > 60:
            position = game_of(GAME).start()
    return found


def same_function(count: int, seed: int) -> pd.DataFrame:
    """Every two of the heuristics compared on the same random positions."""
    names = [row["heuristic"] for row in printed("000", "heuristics")]
    positions = sample(count, seed)
    values = {name: np.array([heuristic_of(name, GAME).value(p, 1) for p in positions]) for name in names}
    return pd.DataFrame([{"first": a, "second": b, "positions": count, "equal": int((values[a] == values[b]).sum()),
                          "largest_difference": float(abs(values[a] - values[b]).max())}
                         for i, a in enumerate(names) for b in names[i + 1 :]])


# ----------------------------------------------------------------------- the sample game


def sample_game() -> list[Position]:
    """The positions of part 4, from the start."""
    position = game_of(GAME).start()
    found = [position]
    for move in printed("000", "sample")["moves"].split():
        position = position.play(move)
        found.append(position)
    return found


def best_moves(position: Position, heuristic: str, depth: int, win_bonus: bool) -> tuple[list[str], float]:
    """Every move as good as the best, and their value."""
    choice = player_of(spec(heuristic, depth, win_bonus, "random")).choose(position)
    assert choice.value is not None
    return [move for move, value in choice.values.items() if value == choice.value], choice.value


def fits(heuristic_names: Sequence[str], depths: Sequence[int]) -> pd.DataFrame:
    """How many of A's moves each setting would have played: among its best, and as its first best."""
    line = sample_game()
    turns = [(before, after.line[-1]) for before, after in pairwise(line) if before.turn == 1]
    rows = []
    for name in heuristic_names:
        for bonus in (False, True):
            for depth in depths:
                found = [(best_moves(p, name, depth, bonus)[0], move) for p, move in turns]
                rows.append({"heuristic": name, "win_bonus": "on" if bonus else "off", "depth": depth,
                             "moves": len(turns),
                             "among_best": sum(move in best for best, move in found),
                             "first_best": sum(move == best[0] for best, move in found)})
    return pd.DataFrame(rows)


def review(depth: int) -> pd.DataFrame:
    """The game move by move: what it was worth to A, what was best, whether a win lay at hand."""
    line, moves = sample_game(), heuristic_of("moves", GAME)
    rows = []
    for before, after in pairwise(line):
        best, value = best_moves(before, "moves", depth, True)
        wins = [m for m in before.moves() if before.play(m).winner == before.turn]
        rows.append({"ply": after.ply, "turn": (after.ply + 1) // 2, "player": before.game.players[before.turn - 1],
                     "move": after.line[-1],
                     "moves_A_minus_B": int(moves.value(after, 1)), "best": best[0], "best_moves": len(best),
                     "among_best": "yes" if after.line[-1] in best else "no", "win_in_one": " ".join(wins),
                     "decided": "" if abs(value) < 1e11 else "won" if value > 0 else "lost"})
    return pd.DataFrame(rows)


def comments() -> pd.DataFrame:
    """What the report says of three moves, put to the test."""
    line, turn = sample_game(), printed("000", "sample")["comments"]
    rows: list[dict[str, Any]] = []

    def at(name: str) -> tuple[Position, Position]:
        ply = 2 * turn[name] - 2
        return line[ply], line[ply + 1]

    before, after = at("corners_nine")
    free = {m: len(before.play(m).moves()) for m in before.moves()}
    large = max(int(cell["stones"]) for row in after.record.board for cell in row if cell["owner"] == 2)
    rows.append({"turn": turn["corners_nine"], "about": "moves B has left after it", "found": len(after.moves()),
                 "beside": f"{min(free.values())} at best, {max(free.values())} at worst, over A's {len(free)} moves"})
    fewer = sum(count < len(after.moves()) for count in free.values())
    rows.append({"turn": turn["corners_nine"], "about": "moves of A that leave B fewer", "found": fewer,
                 "beside": f"of {len(free)}"})
    rows.append({"turn": turn["corners_nine"], "about": "B's largest heap", "found": large,
                 "beside": "9 stones in the corner, as printed"})
    before, after = at("four_way_tie")
    for depth in (1, 2, 3):
        best, _ = best_moves(before, "moves", depth, False)
        rows.append({"turn": turn["four_way_tie"], "about": f"best moves at depth {depth}", "found": len(best),
                     "beside": "4 printed; the move played is "
                               f"{'one of them' if after.line[-1] in best else 'not among them'}"})
    for name in ("four_way_tie", "fills_gap"):
        before, after = at(name)
        depth = next((d for d in range(1, 9) if best_moves(before, "moves", d, True)[1] > 1e11), 0)
        rows.append({"turn": turn[name], "about": "least depth that sees a forced win",
                     "found": depth or "none up to 8", "beside": "the report supposes look-ahead saw a quick win"})
    best, _ = best_moves(before, "moves", 3, False)
    rows.append({"turn": turn["fills_gap"], "about": "best moves at depth 3", "found": len(best),
                 "beside": f"the move played is {'one of them' if after.line[-1] in best else 'not among them'}"})
    missed = [p for p in line[:-1] if p.turn == 1 and any(p.play(m).winner == 1 for m in p.moves())]
    first = missed[0]
    wins = [m for m in first.moves() if first.play(m).winner == 1]
    rows.append({"turn": first.ply // 2 + 1, "about": "first win in one for A", "found": " ".join(wins),
                 "beside": f"played {line[first.ply + 1].line[-1]} instead; the game went on to turn "
                           f"{line[-1].ply // 2 + 1}"})
    return pd.DataFrame(rows)


# ------------------------------------------------------------------------------- figures


def draw_heuristics(frame: pd.DataFrame) -> Figure:
    figure, axes = drawing.canvas(1, 2, height=2.9, width=9.5)
    drawing.rates(frame, "heuristic", "Games won against random", "games won, %", printed="printed_rate", ax=axes[0, 0])
    axes[0, 0].get_legend().remove()
    drawing.rates(frame, "heuristic", "Length of a game", "turns", value="turns_all", low="turns_low",
                  high="turns_high", printed="printed_turns", limits=None, ax=axes[0, 1])
    axes[0, 1].get_legend().remove()
    axes[0, 1].set_xlim(left=0)
    axes[0, 1].set_yticklabels([])
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def draw_switches(frame: pd.DataFrame) -> Figure:
    shown = frame.assign(setting=[f"bonus {b}, ties {t}" for b, t in zip(frame.win_bonus, frame.ties, strict=True)],
                         panel=[f"depth {d}" for d in frame.depth])
    return drawing.heat(shown, "setting", "heuristic", "rate",
                        "Games won against random, by the switches the report leaves open",
                        panel="panel", label="games won, %", limits=(0, 100))


def draw_review(frame: pd.DataFrame) -> Figure:
    figure, axes = drawing.canvas(height=3.8, width=9.0)
    ax = axes[0, 0]
    ax.axhline(0, color="#888888", lw=1)
    ax.plot(frame.ply, frame.moves_A_minus_B, color=drawing.COLOURS[0], lw=1.8, zorder=2)
    for who, colour, mark in (("A", drawing.COLOURS[0], "o"), ("B", drawing.COLOURS[2], "s")):
        part = frame[frame.player == who]
        ax.plot(part.ply, part.moves_A_minus_B, mark, color=colour, ms=6, label=f"after a move of {who}")
    missed = frame[(frame.win_in_one != "") & (frame.player == "A")]
    ax.plot(missed.ply, missed.moves_A_minus_B, "*", color=drawing.PRINTED, ms=15, label="A had a win in one", zorder=4)
    for turn in printed("000", "sample")["comments"].values():
        row = frame[(frame.turn == turn) & (frame.player == "A")].iloc[0]
        ax.annotate(f"turn {turn}", (row.ply, row.moves_A_minus_B), xytext=(0, -28), textcoords="offset points",
                    ha="center", fontsize=10,
                    arrowprops={"arrowstyle": "-", "color": "#555555"})
    ax.set_title("The sample game: A's moves minus B's after every ply")
    ax.set_xlabel("ply (two plies are a turn)")
    ax.set_ylabel("A's moves − B's moves")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def draw_fits(frame: pd.DataFrame) -> Figure:
    shown = frame.assign(setting=[f"{h}, bonus {b}" for h, b in zip(frame.heuristic, frame.win_bonus, strict=True)])
    return drawing.heat(shown, "setting", "depth", "among_best",
                        f"How many of A's {frame.moves.iloc[0]} moves each setting would have played",
                        column_label="depth, plies", label="moves among the best", limits=(0, int(frame.moves.iloc[0])))
