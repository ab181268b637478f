"""How certain a result is: intervals, paired tests, Elo with its error, ratings, SPRT. Numbers in, numbers out."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from .errors import GamekitError

PRIOR = 0.25  # virtual wins each way between any two players: a perfect record has no finite rating without them
ELO = 400 / math.log(10)  # Elo per unit of log-odds
UNSEEN = 0.001  # what SPRT takes for an outcome that has not occurred, as fishtest and fastchess do
Numbers = Sequence[float] | np.ndarray
Paired = namedtuple("Paired", "pairs better worse difference low high p_value")
Strength = namedtuple("Strength", "score elo elo_low elo_high nelo nelo_low nelo_high los")
Ratings = namedtuple("Ratings", "names elo error games")


def wilson(wins: float, games: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a proportion, lower and upper end; (0, 1) without games. Half wins are allowed.

    >>> [round(x, 3) for x in wilson(8, 10)]
    [0.49, 0.943]
    """
    _check("wilson", 0 <= wins <= games < math.inf, f"wins={wins} games={games}", "0 <= wins <= games")
    z = _normal(confidence)
    if games == 0:
        return 0.0, 1.0
    p, z2 = wins / games, z * z / games
    centre, spread = p + z2 / 2, z * math.sqrt(p * (1 - p) / games + z2 / games / 4)
    low, high = (centre - spread) / (1 + z2), (centre + spread) / (1 + z2)
    return (0.0 if wins == 0 else max(low, 0.0)), (1.0 if wins == games else min(high, 1.0))


def mean_interval(values: Numbers, confidence: float = 0.95) -> tuple[float, float, float]:
    """The mean of independent values and both ends of its Student's t interval.

    The ends are NaN if there are fewer than two values or all are equal: without any spread, the formula would
    claim certainty.

    >>> [round(x, 3) for x in mean_interval([1, 2, 3, 4])]
    [2.5, 0.446, 4.554]
    """
    data = np.asarray(values, float)
    _check("mean", data.ndim == 1 and data.size > 0 and bool(np.isfinite(data).all()), "values", "finite numbers")
    mean = float(data.mean())
    if np.ptp(data) <= 1e-12 * np.abs(data).max():
        return mean, math.nan, math.nan
    reach = student(len(data) - 1, confidence) * float(data.std(ddof=1)) / math.sqrt(len(data))
    return mean, mean - reach, mean + reach


def student(freedom: int, confidence: float = 0.95) -> float:
    """The bound that |T| stays below with this probability, for Student's T with so many degrees of freedom.

    >>> round(student(7), 4), round(student(1000), 4)
    (2.3646, 1.9623)
    """
    from scipy.special import stdtrit  # here, as it takes a tenth of a second to import

    return float(stdtrit(freedom, _upper(confidence)))


def paired(first: Numbers, second: Numbers, confidence: float = 0.95, ratio: bool = False) -> Paired:
    """Compare pair by pair, first minus second or first over second: what a pair has in common cancels out.

    Args:
        first, second: one number of each per pair.
        confidence: of the interval.
        ratio: take the geometric mean of ratios instead of the mean difference.
    Returns:
        The numbers of pairs, and of those in which the first is better or worse; the mean difference (or ratio) with
        Student's t interval; the p-value of the sign test.

    >>> paired([1, 1, 0, 1], [0, 1, 0, 0]).difference
    0.5
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    sizes = a.ndim == b.ndim == 1 and len(a) == len(b) > 0
    _check("paired", sizes, f"{a.size} and {b.size} numbers", "one number of each per pair")
    if ratio:
        _check("paired", min(a.min(), b.min()) > 0, "a ratio of other numbers", "positive numbers")
        a, b = np.log(a), np.log(b)
    gaps = np.where(np.isclose(a, b, rtol=1e-12, atol=1e-12), 0, a - b)  # rounding is no difference
    better, worse = int((gaps > 0).sum()), int((gaps < 0).sum())
    mean, low, high = map(math.exp, mean_interval(gaps, confidence)) if ratio else mean_interval(gaps, confidence)
    return Paired(len(gaps), better, worse, mean, low, high, sign_test(better, worse))


def sign_test(better: int, worse: int) -> float:
    """The two-sided probability of a split at least this uneven, if both sides were equally likely.

    >>> round(sign_test(9, 1), 9)
    0.021484375
    """
    _check("sign_test", better >= 0 and worse >= 0, f"better={better} worse={worse}", "0 or more")
    from scipy.special import bdtr

    return float(min(1.0, 2 * bdtr(min(better, worse), better + worse, 0.5)))


def elo_score(elo: float) -> float:
    """The mean score that a lead in Elo predicts."""
    return 1 / (1 + math.exp(-elo / ELO))


def score_elo(score: float) -> float:
    """The lead in Elo that a mean score stands for; infinite from 0 downwards and from 1 upwards."""
    return ELO * math.log(score / (1 - score)) if 0 < score < 1 else math.copysign(math.inf, score - 0.5)


def strength(counts: Numbers, independent: float | None = None) -> Strength:
    """Elo from the results of games or, better, of game pairs, whose games depend on each other.

    Args:
        counts: three numbers (lost, drawn, won games) or five (pairs with 0, ½, 1, 1½ and 2 points).
        independent: the number of independent games or pairs, if it is below their sum.
    Returns:
        The mean score s, Elo of s, normalised Elo (s − ½) / √(σ² of games or 2σ² of pairs) · 800 / ln 10, both with
        normal intervals of 95 %, and the likelihood of superiority (los). NaN if all results are equal.

    >>> found = strength([34, 54, 63, 64, 75])
    >>> f"{found.elo:.2f} ± {(found.elo_high - found.elo_low) / 2:.2f}, normalised {found.nelo:.2f}"
    '55.58 ± 27.65, normalised 57.94'
    """
    results = _outcomes(counts)
    total, points = results.sum(), np.linspace(0, 1, len(results))
    _check("strength", total > 0, "no games", "at least one game")
    score = float(results @ points / total)
    sigma = math.sqrt(results @ (points - score) ** 2 / total)
    if sigma == 0:
        return Strength(score, score_elo(score), *[math.nan] * 6)
    error = sigma / math.sqrt(independent or total)
    ends = [score, score - _normal(0.95) * error, score + _normal(0.95) * error]
    scale = 2 * ELO / (sigma * math.sqrt(len(results) // 2))
    elos = [*map(score_elo, ends), *((end - 0.5) * scale for end in ends)]
    return Strength._make([score, *elos, NormalDist().cdf((score - 0.5) / error)])


def bradley_terry(results: Mapping[tuple, tuple[float, float]], prior: float = PRIOR) -> Ratings:
    """The ratings that make the results of all meetings most likely.

    Args:
        results: `{(a, b): (points of a, points of b)}`, half a point for a draw.
        prior: virtual wins each way between any two players.
    Returns:
        The names, their Elo (with mean 0), half the width of its 95 % interval, and their numbers of games.

    >>> [round(float(x)) for x in bradley_terry({("a", "b"): (75, 25)}, prior=0.001).elo]
    [95, -95]
    """
    right = all(0 <= x < math.inf for x in (prior, *(x for both in results.values() for x in both)))
    _check("bradley_terry", right, "a negative or infinite number", "points and prior from 0")
    names = sorted({name for pair in results for name in pair})
    n, place = len(names), {name: i for i, name in enumerate(names)}
    points = np.zeros((n, n))
    for (a, b), (won, lost) in results.items():
        if a != b:
            points[place[a], place[b]] += won
            points[place[b], place[a]] += lost
    smooth = points + prior * (1 - np.eye(n))
    if prior == 0:
        from scipy.sparse.csgraph import connected_components

        finite = n == 0 or connected_components(points > 0, connection="strong")[0] == 1
        _check("bradley_terry", finite, "prior=0", "a prior above 0, as some have no finite rating without")
    strengths, information = np.zeros(n), np.zeros((n, n))
    for _ in range(200):  # Newton's method on a concave likelihood, no step longer than one
        expected = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
        weight = (smooth + smooth.T) * expected * (1 - expected)
        information = np.diag(weight.sum(axis=1)) - weight
        step = np.linalg.pinv(information) @ (smooth - (smooth + smooth.T) * expected).sum(axis=1)
        step /= max(1.0, np.abs(step).max(initial=0))
        strengths = strengths + step - step.sum() / max(n, 1)
        if np.abs(step).max(initial=0) < 1e-7:
            break
    error = np.sqrt(np.clip(np.diag(np.linalg.pinv(information)), 0, None))
    return Ratings(names, strengths * ELO, _normal(0.95) * error * ELO, (points + points.T).sum(axis=1))


def llr(counts: Numbers, elo0: float, elo1: float, model: str = "normalized") -> np.ndarray:
    """The generalised log-likelihood ratio: how much likelier the results are under elo1 than under elo0.

    Under each hypothesis the outcomes have their most likely probabilities, so the rate of draws need not be known.

    Args:
        counts: three counts of games or five of pairs, as for `strength`; many matches in an array of such rows.
        elo0, elo1: the hypotheses, in the Elo of the model.
        model: "logistic" (Elo) or "normalized" (normalised Elo: the same effort whatever the rate of draws).

    >>> round(float(llr([379, 10170, 21828, 10640, 343], 0, 2)), 2)
    2.95
    """
    _check("sprt", model in ("logistic", "normalized"), f"model={model!r}", "'logistic', 'normalized'")
    results = _outcomes(counts)
    results = np.where(results == 0, UNSEEN, results)
    share = results / results.sum(axis=-1, keepdims=True)
    under0, under1 = (_likeliest(share, elo, model) for elo in (elo0, elo1))
    return (results * np.log(under1 / under0)).sum(axis=-1)


def _likeliest(share: np.ndarray, elo: float, model: str) -> np.ndarray:
    """Among all probabilities of the outcomes that have this Elo, those under which the shares are likeliest."""
    points = np.linspace(0, 1, share.shape[-1]) - 0.5
    if model == "logistic":
        return _tilted(share, points + 0.5 - elo_score(elo) + 0 * share)
    # Normalised Elo fixes t = mean / deviation, hence mean = c √square, where square is the mean of points².
    # √square is the least (square / r + r) / 2 of all r, and linear in the probabilities once r is fixed.
    t = elo / (2 * ELO) * math.sqrt(share.shape[-1] // 2)
    c, r = t / math.sqrt(1 + t * t), np.full((*share.shape[:-1], 1), 0.5)
    for _ in range(100):
        found = _tilted(share, points - c / 2 * (points**2 / r + r))
        last, r = r, np.sqrt((found * points**2).sum(axis=-1, keepdims=True))
        if (np.abs(r - last) < 1e-9).all():
            break
    return found


def _tilted(share: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """share / (1 + x gap), with the one x for which the mean of gap is zero (and the sum is then one)."""
    low, high = -1 / gap.max(axis=-1, keepdims=True), -1 / gap.min(axis=-1, keepdims=True)
    x, left, right = np.zeros_like(low), low * (1 - 1e-14), high * (1 - 1e-14)
    for _ in range(100):
        part = gap / (1 + x * gap)
        mean, slope = (share * part).sum(axis=-1, keepdims=True), -(share * part**2).sum(axis=-1, keepdims=True)
        left, right = np.where(mean > 0, x, left), np.where(mean > 0, right, x)
        # The mean has a pole at both ends; times `span` it is almost straight, which suits Newton's method.
        span = (x - low) * (high - x)
        new = x - mean * span / (slope * span + mean * (low + high - 2 * x))
        last, x = x, np.where((new >= left) & (new <= right), new, (left + right) / 2)
        if (np.abs(x - last) <= 1e-13 * (high - low)).all():
            break
    return share / (1 + x * gap)


@dataclass
class SPRT:
    """A sequential test: is the first player `elo0` or `elo1` stronger than the second?

    It counts single games; start it with `counts=[0] * 5` to count game pairs, which is better.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05  # probability of accepting elo1 when elo0 is true
    beta: float = 0.05  # probability of accepting elo0 when elo1 is true
    model: str = "normalized"
    counts: list[int] = field(default_factory=lambda: [0, 0, 0])  # by rising score

    def __post_init__(self) -> None:
        for name, low, high in (("elo0", -2000, 2000), ("elo1", -2000, 2000), ("alpha", 0, 0.5), ("beta", 0, 0.5)):
            value = getattr(self, name)
            number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
            _check("sprt", number and low < value < high, f"{name}={value}", f"a number between {low} and {high}")
        _check("sprt", self.elo0 < self.elo1, f"elo0={self.elo0} elo1={self.elo1}", "elo0 below elo1")
        llr(self.counts, self.elo0, self.elo1, self.model)  # refuses other counts and models

    @property
    def bounds(self) -> tuple[float, float]:
        """Wald's bounds: elo0 is accepted at or below the first, elo1 at or above the second."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    @property
    def llr(self) -> float:
        return float(llr(self.counts, self.elo0, self.elo1, self.model))

    @property
    def decision(self) -> str | None:
        """The accepted hypothesis, `elo0` or `elo1`; None while more games are needed."""
        (low, high), value = self.bounds, self.llr
        return "elo1" if value >= high else "elo0" if value <= low else None

    def add_until_decided(self, scores: Numbers) -> int | None:
        """Count games or pairs in order, up to the one that decides. Return its number, or None if there is none."""
        kinds, (low, high), data = len(self.counts), self.bounds, np.asarray(scores, float)
        _check("sprt", bool(((data >= 0) & (data <= 1)).all()), "a score beyond 0 and 1", "mean scores from 0 to 1")
        places = np.rint(data * (kinds - 1)).astype(int)
        for start in range(0, len(places), 4096):
            sums = np.cumsum(np.eye(kinds, dtype=int)[places[start : start + 4096]], axis=0) + self.counts
            values = llr(sums, self.elo0, self.elo1, self.model)
            decided = np.flatnonzero((values <= low) | (values >= high))
            self.counts = sums[decided[0] if len(decided) else -1].tolist()
            if len(decided):
                return start + int(decided[0]) + 1
        return None

    def to_dict(self) -> dict[str, object]:
        found = {name: getattr(self, name) for name in ("elo0", "elo1", "alpha", "beta", "model")}
        bounds = [round(bound, 6) for bound in self.bounds]
        return found | {"llr": round(self.llr, 6), "bounds": bounds, "decision": self.decision}


def _check(owner: str, right: bool, given: str, allowed: str) -> None:
    if not right:
        raise GamekitError(f"{owner}: {given} is not allowed; allowed: {allowed}")


def _upper(confidence: float) -> float:
    """The probability below the upper end of a two-sided interval."""
    _check("confidence", 0 < confidence < 1, str(confidence), "a number between 0 and 1")
    return (1 + confidence) / 2


def _normal(confidence: float) -> float:
    return NormalDist().inv_cdf(_upper(confidence))


def _outcomes(counts: Numbers) -> np.ndarray:
    """The counts as an array, three or five per match."""
    found = np.asarray(counts, float)
    right = found.ndim > 0 and found.shape[-1] in (3, 5) and bool(np.isfinite(found).all() and (found >= 0).all())
    _check("counts", right, str(counts)[:80], "three or five numbers from 0")
    return found
