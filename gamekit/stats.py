"""How sure a result is: Wilson intervals, paired tests, Bradley–Terry ratings, SPRT. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from .core import GamekitError

PRIOR = 0.25  # virtual wins each way between any two players: a perfect record has no finite rating without
ELO = 400 / math.log(10)


def wilson(wins: float, games: float, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of a proportion; it stays inside 0 … 1 and says something even after a perfect score.

    >>> [round(x, 3) for x in wilson(8, 10)]
    [0.49, 0.943]
    """
    if games <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    p, z2 = wins / games, z * z / games
    centre, spread = p + z2 / 2, z * math.sqrt(p * (1 - p) / games + z2 / games / 4)
    low, high = (centre - spread) / (1 + z2), (centre + spread) / (1 + z2)
    return (0.0 if wins <= 0 else max(low, 0.0)), (1.0 if wins >= games else min(high, 1.0))


@dataclass(frozen=True)
class Paired:
    """Two players on the same openings: `difference` of their mean scores (first minus second), its interval,
    and the chance of a split this uneven among the `better + worse` openings that told them apart."""

    pairs: int
    better: int
    worse: int
    difference: float
    low: float
    high: float
    p_value: float


def paired(first: Sequence[float], second: Sequence[float], confidence: float = 0.95) -> Paired:
    """Compare scores opening by opening: what an opening gives to both cancels out."""
    if len(first) != len(second) or not len(first):
        raise GamekitError(f"a paired comparison needs one score of each on every opening; "
                           f"given {len(first)} and {len(second)}")
    gaps = np.asarray(first, float) - np.asarray(second, float)
    n, mean = len(gaps), float(gaps.mean())
    better, worse = int((gaps > 0).sum()), int((gaps < 0).sum())
    # One virtual opposite pair keeps the spread above zero when every opening agrees.
    spread = math.sqrt((float(gaps.var()) * n + 1) / (n + 1) / n)
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * spread
    return Paired(n, better, worse, mean, max(mean - reach, -1.0), min(mean + reach, 1.0), sign_test(better, worse))


def sign_test(better: int, worse: int) -> float:
    """The two-sided chance of a split at least this uneven, if both sides were equally likely.

    >>> sign_test(9, 1)
    0.021484375
    """
    n, few = better + worse, min(better, worse)
    if n == 0:
        return 1.0
    log_half = n * math.log(2)
    tail = sum(math.exp(math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) - log_half)
               for i in range(few + 1))
    return min(1.0, round(2 * tail, 12))


def elo_score(elo: float) -> float:
    """The mean score that a difference in Elo promises."""
    return 1 / (1 + math.exp(-elo / ELO))


@dataclass(frozen=True)
class Ratings:
    """Elo ratings (mean 0) with the half width of their 95 % interval, and the prior they were made with."""

    names: list[str]
    elo: np.ndarray
    error: np.ndarray
    games: np.ndarray
    prior: float


def bradley_terry(results: Mapping[tuple[str, str], tuple[float, float]], prior: float = PRIOR) -> Ratings:
    """Ratings from `{(a, b): (a's points, b's points)}`, a draw giving half a point to each.

    >>> r = bradley_terry({("a", "b"): (75, 25)}, prior=0.001)
    >>> [round(float(x)) for x in r.elo]
    [95, -95]
    """
    names = sorted({name for pair in results for name in pair})
    n, place = len(names), {name: i for i, name in enumerate(names)}
    points = np.zeros((n, n))
    for (a, b), (won, lost) in results.items():
        if a != b:
            points[place[a], place[b]] += won
            points[place[b], place[a]] += lost
    played = points + points.T
    if n < 2:
        return Ratings(names, np.zeros(n), np.zeros(n), played.sum(axis=1), prior)
    smooth = points + prior * (1 - np.eye(n))
    strength = np.zeros(n)
    for _ in range(200):  # Newton's way up a likelihood that has one summit, no step longer than one
        expected = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
        weight = (smooth + smooth.T) * expected * (1 - expected)
        information = np.diag(weight.sum(axis=1)) - weight
        step = np.linalg.pinv(information) @ (smooth - (smooth + smooth.T) * expected).sum(axis=1)
        step /= max(1.0, np.abs(step).max())
        strength = strength + step - step.mean()
        if np.abs(step).max() < 1e-7:
            break
    variance = np.clip(np.diag(np.linalg.pinv(information)), 0, None)
    z = NormalDist().inv_cdf(0.975)
    return Ratings(names, strength * ELO, z * np.sqrt(variance) * ELO, played.sum(axis=1), prior)


@dataclass
class SPRT:
    """Stops a comparison as soon as it is decided: is the first player `elo0` or `elo1` better than the second?

    The generalised test: wins, draws and losses are as likely as they may be under each hypothesis,
    so that the rate of draws need not be known.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05  # the chance to accept elo1 when elo0 is true
    beta: float = 0.05  # the chance to accept elo0 when elo1 is true
    counts: list[int] = field(default_factory=lambda: [0, 0, 0])  # losses, draws, wins

    def __post_init__(self) -> None:
        for name in ("elo0", "elo1"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or isinstance(value, bool) or not abs(value) <= 2000:
                raise GamekitError(f"sprt: {name}={value} is not allowed; {name} is a number from -2000 to 2000")
        if not self.elo0 < self.elo1:
            raise GamekitError(f"sprt: elo0={self.elo0} elo1={self.elo1} is not allowed; elo0 is below elo1")
        for name in ("alpha", "beta"):
            if not 0 < getattr(self, name) < 0.5:
                raise GamekitError(f"sprt: {name}={getattr(self, name)} is not allowed; "
                                   f"{name} is a number between 0 and 0.5")

    @property
    def llr(self) -> float:
        """The logarithm of how much likelier the results are under elo1 than under elo0."""
        n = sum(self.counts)
        if n == 0:
            return 0.0
        # An outcome not seen yet is not impossible: half a game of it keeps the first games from deciding.
        seen = [max(count, 0.5) for count in self.counts]
        share = [count / sum(seen) for count in seen]
        under = [_likeliest(share, elo_score(elo)) for elo in (self.elo0, self.elo1)]
        return n * sum(p * math.log(p1 / p0) for p, p0, p1 in zip(share, *under, strict=True))

    @property
    def bounds(self) -> tuple[float, float]:
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    @property
    def decision(self) -> str | None:
        """`elo1` or `elo0`, whichever is accepted; None while games are needed."""
        low, high = self.bounds
        llr = self.llr
        return "elo1" if llr >= high else "elo0" if llr <= low else None

    def add(self, score: float) -> str | None:
        """Count a game (1 won, 0.5 drawn, 0 lost) and say whether that decides."""
        self.counts[round(2 * score)] += 1
        return self.decision

    def to_dict(self) -> dict[str, object]:
        return {"elo0": self.elo0, "elo1": self.elo1, "alpha": self.alpha, "beta": self.beta,
                "llr": round(self.llr, 6), "bounds": [round(b, 6) for b in self.bounds], "decision": self.decision}


def _likeliest(share: Sequence[float], mean: float) -> list[float]:
    """The chances of loss, draw and win nearest to those seen among all that score `mean`.

    They are p / (1 + x (a − mean)) for the one x that makes them sum to one; found by halving.
    """
    gaps = [score - mean for score in (0.0, 0.5, 1.0)]
    low, high = -1 / gaps[2], -1 / gaps[0]
    for _ in range(60):
        x = (low + high) / 2
        if sum(p * gap / (1 + x * gap) for p, gap in zip(share, gaps, strict=True)) > 0:
            low = x
        else:
            high = x
    return [p / (1 + x * gap) for p, gap in zip(share, gaps, strict=True)]
