"""Intervals, tests and ratings against known answers, and SPRT against the error rates it promises."""

import itertools
import random

import choix
import numpy as np
import pytest
from scipy.stats import binomtest

from gamekit.errors import GamekitError
from gamekit.statistics import ELO, SPRT, bradley_terry, elo_score, paired, sign_test, wilson


@pytest.mark.parametrize(("wins", "games"), [(0, 1), (1, 1), (0, 40), (40, 40), (7, 20), (500, 1000), (3, 99_999)])
def test_wilson_is_scipys(wins, games):
    theirs = binomtest(wins, games).proportion_ci(method="wilson")
    assert wilson(wins, games) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_no_games_say_nothing():
    assert wilson(0, 0) == (0.0, 1.0)


def test_wilson_covers():
    """The true rate lies inside in about 95 of 100 samples."""
    chance = random.Random(1)
    inside = 0
    for _ in range(2000):
        wins = sum(chance.random() < 0.3 for _ in range(60))
        low, high = wilson(wins, 60)
        inside += low <= 0.3 <= high
    assert 0.93 < inside / 2000 < 0.975


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (1, 0), (5, 5), (9, 1), (300, 240)])
def test_sign_test_is_scipys(better, worse):
    theirs = binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert sign_test(better, worse) == pytest.approx(theirs, abs=1e-9)


def test_pairing_takes_out_what_openings_give():
    openings = [0.0, 1.0] * 50  # half of them lost for everybody
    stronger = [min(1.0, x + (0.5 if i % 10 == 0 else 0)) for i, x in enumerate(openings)]
    found = paired(stronger, openings)
    assert (found.better, found.worse, found.pairs) == (10, 0, 100)
    assert found.p_value < 0.01
    assert found.low <= found.difference <= found.high
    assert paired([1, 0], [0, 1]).p_value == 1.0


def test_paired_needs_pairs():
    with pytest.raises(GamekitError, match="one score of each"):
        paired([1.0], [])


def test_ratings_are_choix_s():
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
    results = {(x, y): (w := int(chance.binomial(2000, elo_score(truth[x] - truth[y]))), 2000 - w)
               for x, y in (("a", "b"), ("a", "c"), ("b", "c"))}
    found = bradley_terry(results)
    for name, elo, error in zip(found.names, found.elo, found.error, strict=True):
        assert abs(elo - truth[name]) < 1.5 * error
        assert error < 20
    assert found.prior > 0


def test_a_perfect_record_has_a_rating():
    found = bradley_terry({("a", "b"): (50, 0), ("b", "c"): (50, 0)})
    assert list(found.elo) == sorted(found.elo, reverse=True)
    assert np.isfinite(found.elo).all()
    assert np.isfinite(found.error).all()


def test_one_player_alone_is_average():
    assert bradley_terry({("a", "a"): (3, 4)}).elo.tolist() == [0.0]


@pytest.mark.parametrize("draws", [0.0, 0.4])
@pytest.mark.parametrize(("true_elo", "wrong"), [(0, "elo1"), (40, "elo0")])
def test_sprt_keeps_its_error_rates(draws, true_elo, wrong):
    chance = random.Random(f"{draws} {true_elo}")
    score = elo_score(true_elo)
    errors, lengths = 0, []
    runs = 100
    for _ in range(runs):
        test = SPRT(0, 40)
        while test.decision is None:
            for _batch in range(8):  # judged every eight games: quicker, and no less strict
                x = chance.random()
                test.counts[1 if x < draws else 2 if x < draws + (score - draws / 2) else 0] += 1
        errors += test.decision == wrong
        lengths.append(sum(test.counts))
    assert errors / runs <= 0.05 + 2.6 * (0.05 * 0.95 / runs) ** 0.5
    assert max(lengths) > min(lengths)


def test_sprt_does_not_decide_on_the_first_games():
    test = SPRT(0, 10)
    for _ in range(5):
        assert test.add(1.0) is None


@pytest.mark.parametrize("bad", [(5, 5), (10, 0), (float("nan"), 3), (0, float("inf")), (True, 3), ("0", 3)])
def test_sprt_refuses_hypotheses(bad):
    with pytest.raises(GamekitError, match="sprt"):
        SPRT(*bad)
