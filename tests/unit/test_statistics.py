"""Intervals, tests, Elo and ratings against published numbers, and SPRT against the error rates it promises."""

import csv
import itertools
import math
import random
from pathlib import Path

import choix
import numpy as np
import pytest
from scipy.stats import binomtest, norm, t

from gamekit.errors import GamekitError
from gamekit.statistics import (
    ELO,
    SPRT,
    bradley_terry,
    elo_score,
    llr,
    mean_interval,
    paired,
    score_elo,
    sign_test,
    strength,
    student,
    wilson,
)

FILE = Path(__file__).parents[1] / "data" / "statistics.csv"
CASES = list(csv.DictReader(FILE.read_text(encoding="utf-8").splitlines()))
OTHER_MODELS = {"llr_bayeselo_wdl"}  # cutechess's BayesElo, which is neither of our models
GAMES, PAIRS = ("losses", "draws", "wins"), ("LL", "LD", "WL_DD", "WD", "WW")


# ----------------------------------------------------------------------------- published numbers


def fields(text):
    """`a=1 b=x` as a dictionary, numbers as numbers."""
    found = dict(part.split("=", 1) for part in text.split(" "))
    return {
        k: float(v) if v.replace("-", "").replace(".", "").replace("e", "").isdigit() else v for k, v in found.items()
    }


def computed(kind, given):
    """What we say to a case of the file, under the file's names."""
    counts = [given[name] for name in (GAMES if "losses" in given else PAIRS) if name in given]
    if kind == "wilson":
        return dict(zip(("low", "high"), wilson(given["wins"], given["games"], given["confidence"]), strict=True))
    if kind == "elo_score":
        return {"score": elo_score(given["elo"])}
    if kind == "sprt_bounds":
        return dict(zip(("low", "high"), SPRT(0, 1, given["alpha"], given["beta"]).bounds, strict=True))
    if kind == "sign_test":
        return {"p": sign_test(int(given["better"]), int(given["worse"]))}
    if kind.startswith("llr"):
        return {
            "llr": float(llr(counts, given["elo0"], given["elo1"], "normalized" if "normal" in kind else "logistic"))
        }
    if kind.startswith("paired"):
        found = paired(*([float(x) for x in str(given[name]).split(",")] for name in ("first", "second")))
        return {"difference": found.difference, "low": found.low, "high": found.high}
    if kind.startswith("bradley_terry"):
        games = [meeting.split(":") for meeting in given["results"].split(";")]
        found = bradley_terry({tuple(pair.split("-")): (float(a), float(b)) for pair, a, b in games}, prior=0)
        elo, error = (dict(zip(found.names, x, strict=True)) for x in (found.elo, found.error))
        return {"elo": elo[given["of"]] - elo.get(given.get("to"), 0), "error": error[given["of"]]}
    found = strength(counts)
    errors = {"error": found.elo_high - found.elo_low, "nelo_error": found.nelo_high - found.nelo_low}
    return found._asdict() | {name: width / 2 for name, width in errors.items()}


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=f"{i}-{case['kind']}") for i, case in enumerate(CASES) if case["kind"] not in OTHER_MODELS],
)
def test_published(case):
    ours = computed(case["kind"], fields(case["inputs"]))
    checked = {name: value for name, value in fields(case["expected"]).items() if name in ours}
    assert checked
    for name, value in checked.items():
        assert ours[name] == pytest.approx(value, abs=float(case["tolerance"])), name


def test_the_file_is_whole():
    assert len(CASES) == 608
    assert sum(case["kind"] in OTHER_MODELS for case in CASES) == 3


def test_fastchess_pull_request_783():
    counts = [379, 10170, 21828, 10640, 343]
    found = strength(counts)
    assert (round(found.nelo, 2), round(found.nelo_high - found.nelo, 2)) == (3.05, 2.31)
    assert float(llr(counts, 0, 2)) == pytest.approx(2.946, abs=6e-4)


# ----------------------------------------------------------------------------- intervals and tests


@pytest.mark.parametrize(("wins", "games"), [(0, 1), (1, 1), (0, 40), (40, 40), (7, 20), (500, 1000), (3, 99_999)])
def test_wilson_agrees_with_scipy(wins, games):
    theirs = binomtest(wins, games).proportion_ci(method="wilson")
    assert wilson(wins, games) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_wilson_without_games():
    assert wilson(0, 0) == (0.0, 1.0)


def test_wilson_covers():
    """The true rate lies inside in about 95 of 100 samples."""
    wins = np.random.default_rng(1).binomial(60, 0.3, 2000)
    inside = [low <= 0.3 <= high for low, high in (wilson(int(w), 60) for w in wins)]
    assert 0.93 < np.mean(inside) < 0.975


@pytest.mark.parametrize("bad", [(5, 3), (-1, 3), (math.nan, 3), (1, math.nan), (1, math.inf), (1, 2, 1), (1, 2, 0)])
def test_wilson_refuses(bad):
    with pytest.raises(GamekitError, match="not allowed; allowed"):
        wilson(*bad)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 30, 99, 100, 101, 1000])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
def test_student_agrees_with_scipy(freedom, confidence):
    assert student(freedom, confidence) == pytest.approx(t.ppf((1 + confidence) / 2, freedom), rel=1e-7)


def test_mean_interval():
    data = np.random.default_rng(2).normal(3, 2, 40)
    theirs = t.interval(0.95, 39, loc=data.mean(), scale=data.std(ddof=1) / 40**0.5)
    assert mean_interval(data) == pytest.approx((data.mean(), *theirs))
    for spreadless in ([2.0], [0.1] * 7):
        mean, low, high = mean_interval(spreadless)
        assert mean == pytest.approx(spreadless[0])
        assert math.isnan(low)
        assert math.isnan(high)
    for bad in ([], [1, math.nan], [math.inf, 2]):
        with pytest.raises(GamekitError, match="finite numbers"):
            mean_interval(bad)


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (1, 0), (5, 5), (9, 1), (300, 240), (0, 60), (50_000, 49_000)])
def test_sign_test_agrees_with_scipy(better, worse):
    theirs = binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert sign_test(better, worse) == pytest.approx(theirs, rel=1e-9)


def test_sign_test_refuses_negative_counts():
    with pytest.raises(GamekitError, match="0 or more"):
        sign_test(-1, 3)


def test_pairing_removes_what_openings_have_in_common():
    openings = [0.0, 1.0] * 50  # half of them lost for everybody
    stronger = [min(1.0, x + (0.5 if i % 10 == 0 else 0)) for i, x in enumerate(openings)]
    found = paired(stronger, openings)
    assert (found.better, found.worse, found.pairs) == (10, 0, 100)
    assert found.p_value < 0.01
    assert 0 < found.low <= found.difference <= found.high
    assert paired([1, 0], [0, 1]).p_value == 1.0


def test_equal_pairs_show_no_difference_and_claim_no_certainty():
    found = paired([1, 0, 0.5], [1, 0, 0.5])
    assert (found.difference, found.better, found.worse, found.p_value) == (0, 0, 0, 1.0)
    assert math.isnan(found.low)


def test_ratio_is_the_geometric_mean():
    found = paired([2, 8, 1, 5], [1, 2, 1, 2.5], ratio=True)
    assert found.difference == pytest.approx(16**0.25)
    assert found.low < 1 < found.high
    assert (found.better, found.worse) == (3, 0)
    assert paired([3, 6.6], [1, 2], ratio=True).low > 1


@pytest.mark.parametrize("bad", [([1.0], []), ([], []), ([1, 2], [1]), ([[1]], [[1]])])
def test_paired_needs_pairs(bad):
    with pytest.raises(GamekitError, match="one number of each"):
        paired(*bad)


def test_ratio_needs_positive_numbers():
    with pytest.raises(GamekitError, match="positive"):
        paired([0, 1], [1, 1], ratio=True)


# ----------------------------------------------------------------------------- Elo and ratings


def test_elo_and_score_are_inverse():
    for elo in (-700, -3, 0, 55.5, 400):
        assert score_elo(elo_score(elo)) == pytest.approx(elo)
    assert (score_elo(1), score_elo(0)) == (math.inf, -math.inf)


def test_a_perfect_match_has_no_interval():
    found = strength([0, 0, 0, 0, 9])
    assert found.score == 1
    assert found.elo == math.inf
    assert math.isnan(found.elo_low)
    assert math.isnan(found.nelo)


def test_fewer_independent_pairs_give_a_wider_interval():
    all_of_them, half = strength([5, 10, 30, 20, 8]), strength([5, 10, 30, 20, 8], independent=73 / 2)
    assert half.nelo == all_of_them.nelo
    assert half.nelo_high - half.nelo == pytest.approx(2**0.5 * (all_of_them.nelo_high - all_of_them.nelo))
    assert half.los == pytest.approx(norm.cdf(norm.ppf(all_of_them.los) / 2**0.5))


@pytest.mark.parametrize("bad", [[1, 2], [1, 2, -3], [1, math.nan, 2], [0, 0, 0], 3])
def test_strength_refuses(bad):
    with pytest.raises(GamekitError, match="not allowed"):
        strength(bad)


def test_ratings_agree_with_choix():
    """Tables with gaps, perfect records and very unequal numbers of games."""
    chance = random.Random(2)
    for _ in range(25):
        names = [f"p{i}" for i in range(chance.randint(2, 8))]
        results = {}
        for a, b in itertools.combinations(names, 2):
            if chance.random() < 0.8:
                games = chance.choice([1, 10, 1000, 30_000])
                won = chance.choice([0, games, chance.randint(0, games)])
                results[a, b] = (won, games - won)
        if not results:
            continue
        ours = bradley_terry(results, prior=0.25)
        place = {name: i for i, name in enumerate(ours.names)}
        points = 0.25 * (1 - np.eye(len(place)))
        for (a, b), (won, lost) in results.items():
            points[place[a], place[b]] += won
            points[place[b], place[a]] += lost
        theirs = choix.ilsr_pairwise_dense(points, alpha=0.0, max_iter=20_000, tol=1e-10)
        assert ours.elo == pytest.approx((theirs - theirs.mean()) * ELO, abs=0.01)


def test_ratings_find_the_truth():
    """Games drawn from known strengths give them back within their error."""
    truth = {"a": 120.0, "b": 0.0, "c": -120.0}
    chance = np.random.default_rng(1)
    results = {}
    for x, y in (("a", "b"), ("a", "c"), ("b", "c")):
        won = int(chance.binomial(2000, elo_score(truth[x] - truth[y])))
        results[x, y] = (won, 2000 - won)
    found = bradley_terry(results)
    for name, elo, error in zip(found.names, found.elo, found.error, strict=True):
        assert abs(elo - truth[name]) < 1.5 * error
        assert error < 20


def test_a_perfect_record_has_a_rating():
    results = {("a", "b"): (50, 0), ("b", "c"): (50, 0)}
    found = bradley_terry(results)
    assert list(found.elo) == sorted(found.elo, reverse=True)
    assert np.isfinite([found.elo, found.error]).all()
    with pytest.raises(GamekitError, match="prior above 0"):
        bradley_terry(results, prior=0)


def test_one_player_alone_is_average():
    assert bradley_terry({("a", "a"): (3, 4)}).elo.tolist() == [0.0]
    assert bradley_terry({}).names == []


@pytest.mark.parametrize(
    ("points", "prior"), [((-1, 2), 0.25), ((math.nan, 2), 0.25), ((1, 2), -1), ((1, 2), math.inf)]
)
def test_ratings_refuse(points, prior):
    with pytest.raises(GamekitError, match="from 0"):
        bradley_terry({("a", "b"): points}, prior)


# ----------------------------------------------------------------------------- SPRT


def with_nelo(nelo, shares=(0.06, 0.2, 0.48, 0.2, 0.06)):
    """Five probabilities near the given ones with this normalised Elo: the better results gain what the others lose."""
    points, low, high = np.linspace(0, 1, 5), -5.0, 5.0
    for _ in range(80):
        tilt = (low + high) / 2
        found = np.array(shares) * np.exp(tilt * points)
        found /= found.sum()
        low, high = (tilt, high) if strength(found).nelo < nelo else (low, tilt)
    return found


def error_rate(truth, wrong, test, runs=1500, seed=1):
    """How often the test accepts the wrong hypothesis: every run is judged after every pair."""
    chance, kinds = np.random.default_rng(seed), len(test.counts)
    low, high = test.bounds
    counts, errors = np.zeros((runs, kinds)), 0
    while len(counts):
        counts = counts + np.eye(kinds)[chance.choice(kinds, len(counts), p=truth)]
        values = llr(counts, test.elo0, test.elo1, test.model)
        errors += int(((values >= high) if wrong == "elo1" else (values <= low)).sum())
        counts = counts[(values > low) & (values < high)]
    return errors / runs


@pytest.mark.parametrize(("true_nelo", "wrong"), [(0, "elo1"), (60, "elo0")])
@pytest.mark.parametrize("shares", [(0.06, 0.2, 0.48, 0.2, 0.06), (0.3, 0.0, 0.4, 0.0, 0.3)])
def test_sprt_keeps_its_error_rates(true_nelo, wrong, shares):
    """Pairs, normalised Elo; with draws and without."""
    found = error_rate(with_nelo(true_nelo, shares), wrong, SPRT(0, 60, counts=[0] * 5))
    assert 0.01 < found <= 0.05 + 2.6 * (0.05 * 0.95 / 1500) ** 0.5


def test_sprt_on_games_keeps_its_error_rates():
    score = elo_score(50)
    found = error_rate([1 - score - 0.15, 0.3, score - 0.15], "elo0", SPRT(0, 50, model="logistic"), runs=800)
    assert found <= 0.05 + 2.6 * (0.05 * 0.95 / 800) ** 0.5


def test_sprt_does_not_decide_on_the_first_games():
    test = SPRT(0, 10)
    for _ in range(5):
        assert test.add_until_decided([1.0]) is None
    assert test.counts == [0, 0, 5]


@pytest.mark.parametrize("model", ["logistic", "normalized"])
@pytest.mark.parametrize("bias", [0.35, 0.6])
def test_many_at_once_decide_as_one_by_one(model, bias):
    scores = np.random.default_rng(3).binomial(4, bias, 400) / 4
    many, single = SPRT(0, 60, model=model, counts=[0] * 5), SPRT(0, 60, model=model, counts=[0] * 5)
    number = many.add_until_decided(scores)
    one_by_one = next(i for i, score in enumerate(scores, 1) if single.add_until_decided([score]))
    assert number == one_by_one == sum(many.counts)
    assert many.to_dict() == single.to_dict()
    assert many.decision == ("elo1" if bias > 0.5 else "elo0")
    assert SPRT(0, 1, counts=[0] * 5).add_until_decided(scores[:20]) is None


def test_the_decision_is_where_the_bounds_are_crossed():
    test = SPRT(0, 2, counts=[379, 10170, 21828, 10640, 343])
    assert test.llr > test.bounds[1]
    assert test.decision == "elo1"
    assert SPRT(2, 4, counts=[379, 10170, 21828, 10640, 343]).decision is None
    assert SPRT(20, 40, counts=[379, 10170, 21828, 10640, 343]).decision == "elo0"


@pytest.mark.parametrize(
    "counts", [[0, 0, 5], [0, 50, 0], [9, 0, 0, 0, 0], [0, 0, 10**6, 0, 1], [0] * 5, [1, 0, 0, 0, 10**7]]
)
@pytest.mark.parametrize(("elo0", "elo1"), [(0, 5), (-300, 300), (0, 900)])
def test_extreme_counts_have_a_ratio(counts, elo0, elo1):
    for model in ("logistic", "normalized"):
        there, back = llr(counts, elo0, elo1, model), llr(counts[::-1], -elo1, -elo0, model)
        assert np.isfinite(there)
        assert there == pytest.approx(-back, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    "bad",
    [
        (5, 5),
        (10, 0),
        (math.nan, 3),
        (0, math.inf),
        (True, 3),
        ("0", 3),
        (0, 5, 0),
        (0, 5, 0.05, 0.5),
        (0, 5, math.nan),
    ],
)
def test_sprt_refuses_hypotheses(bad):
    with pytest.raises(GamekitError, match="sprt"):
        SPRT(*bad)


def test_sprt_refuses_models_counts_and_scores():
    with pytest.raises(GamekitError, match="'logistic', 'normalized'"):
        SPRT(0, 5, model="bayes")
    with pytest.raises(GamekitError, match="three or five"):
        SPRT(0, 5, counts=[0] * 4)
    with pytest.raises(GamekitError, match="from 0 to 1"):
        SPRT(0, 5).add_until_decided([1.5])
